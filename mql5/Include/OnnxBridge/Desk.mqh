//+------------------------------------------------------------------+
//| Desk.mqh: carries out decisions, and what is left over of them   |
//| Twin: bridge/engine/act.py, errands.py, settle.py                |
//| Nothing here decides. Each try of an order is a request of its   |
//| own: built at the prices of the moment, asked of the guard.      |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_DESK_MQH
#define ONNXBRIDGE_DESK_MQH

#include <OnnxBridge\Books.mqh>
#include <OnnxBridge\Journal.mqh>
#include <OnnxBridge\Trade.mqh>

// Seconds for which an order of unknown fate is searched for.
#define DESK_SEARCH 30.0
// Seconds before an exit that was refused is asked for again: doubled each time, up to the longest.
#define DESK_FIRST_PAUSE 5.0
#define DESK_LONGEST_PAUSE 60.0
#define DESK_MINUTE 60.0

// An exit that could not be had; the next try needs another tick.
struct Refusal
  {
   ulong             ticket;
   double            ticked;
   double            due;
   int               times;
  };

// The stop loss that an entry asked for, until it is seen in its place.
struct AskedStop
  {
   long              identifier;
   double            sl;
   int               tries;
  };
//+------------------------------------------------------------------+
//| Sends what one strategy decided                                  |
//+------------------------------------------------------------------+
class CDesk
  {
private:
   string            m_symbol;
   BridgeSettings    m_settings;
   string            m_title;
   bool              m_is_quiet;
   bool              m_halted;
   string            m_alarms;
   Order             m_pending[];
   Refusal           m_refused[];
   AskedStop         m_stops[];
   double            m_entries[];    // when entries were sent, server epoch seconds
   bool              m_all_happened; // of the requests since it was last set
   bool              m_any_happened;
   CJournal          m_journal;

   bool              IsPending(const ulong ticket) const;
   int               PendingEntries(void) const;
   int               RecentEntries(const double now) const;
   void              ReadFacts(const Scene &scene,const double bar_age,Facts &facts);
   void              Deny(const string rule,const string value,Order &order);
   void              Send(Order &order);
   void              Remember(const Order &order);
   void              NoteStop(const Order &order);
   bool              Open(const Decision &decision,const double bar_age,Scene &scene);
   bool              CheckOpening(const EntryRequest &entry,const double bar_age,
                                  const Scene &scene,Order &order);
   void              Protect(const OwnPosition &position,const double sl,Scene &scene);
   void              PutOff(const ulong ticket,const Scene &scene);
   void              Settle(const Scene &scene);
   bool              IsSettled(const Order &order,const Scene &scene) const;
   void              RetryExits(Scene &scene);
   void              RestoreStops(Scene &scene);
   bool              RestoreStop(const int at,Scene &scene);

public:
   CBooks            m_books;

                     CDesk(void);
   void              Init(const string symbol,const BridgeSettings &settings,const string title,
                          const bool is_quiet);
   bool              Look(Scene &scene);
   void              CarryOut(const Decision &decision,const double bar_age,Scene &scene);
   bool              CloseAll(Scene &scene);
   bool              CloseOne(const ulong ticket,const double volume,Scene &scene);
   void              Keep(const OwnPosition &position,const Care &care,Scene &scene);
   bool              HasErrands(void) const;
   void              RunErrands(Scene &scene);
   ENUM_TRADING_STATE State(void) const;
   void              Halt(const string reason);
   void              Resume(void);
   bool              IsHalted(void) const { return(m_halted); }
   void              RestoreHalt(const bool halted) { m_halted=halted; }
   void              SetAlarms(const string alarms) { m_alarms=alarms; }
   void              Say(const string kind,const string words);
   bool              OpenJournal(const string file,const bool is_new,const Contract &contract,
                                 const string sha256,const string words);
   void              CloseJournal(void) { m_journal.Close(); }
   bool              HasJournal(void) const { return(m_journal.IsOpen()); }
   void              Decided(const datetime bar,const string input_sha256,const double &values[],
                             const Signal &signal,const Decision &decision,const Holding &holding,
                             const bool has_scene,const Scene &scene);
  };
//+------------------------------------------------------------------+
//| Constructor                                                      |
//+------------------------------------------------------------------+
CDesk::CDesk(void)
  {
   m_symbol="";
   m_title="";
   m_is_quiet=false;
   m_halted=false;
   m_alarms="";
   m_all_happened=true;
   m_any_happened=false;
  }
//+------------------------------------------------------------------+
//| Begins with nothing pending                                      |
//+------------------------------------------------------------------+
void CDesk::Init(const string symbol,const BridgeSettings &settings,const string title,
                 const bool is_quiet)
  {
   m_symbol=symbol;
   m_settings=settings;
   m_title=title;
   m_is_quiet=is_quiet;
   m_halted=false;
   m_alarms="";
   ArrayResize(m_pending,0);
   ArrayResize(m_refused,0);
   ArrayResize(m_stops,0);
   ArrayResize(m_entries,0);
   m_books.Init(settings.magic);
  }
//+------------------------------------------------------------------+
//| Tells a person and the journal; silent while optimising          |
//+------------------------------------------------------------------+
void CDesk::Say(const string kind,const string words)
  {
   if(m_is_quiet)
      return;
   Print(m_title,": ",words);
   m_journal.Event(ServerNow(),kind,words);
  }
//+------------------------------------------------------------------+
//| Opens the journal and writes its first row                       |
//+------------------------------------------------------------------+
bool CDesk::OpenJournal(const string file,const bool is_new,const Contract &contract,
                        const string sha256,const string words)
  {
   m_journal.Mark(m_settings.magic,m_symbol,contract,sha256);
   if(!m_journal.Open(file,is_new))
      return(false);
   m_journal.Run(ServerNow(),words);
   return(true);
  }
//+------------------------------------------------------------------+
//| Writes a decision down                                           |
//+------------------------------------------------------------------+
void CDesk::Decided(const datetime bar,const string input_sha256,const double &values[],
                    const Signal &signal,const Decision &decision,const Holding &holding,
                    const bool has_scene,const Scene &scene)
  {
   m_journal.Decided(ServerNow(),bar,input_sha256,values,signal,decision,holding,
                     StateName(State()),has_scene,scene);
  }
//+------------------------------------------------------------------+
//| Looks at the terminal and keeps the books                        |
//+------------------------------------------------------------------+
bool CDesk::Look(Scene &scene)
  {
   if(!LookAt(m_symbol,m_settings.magic,scene))
      return(false);
   const ENUM_SIDE before=m_books.Declined();
   m_books.Look(scene);
   const string news=m_books.News();
   if(news!="")
      Say(before==m_books.Declined() ? "books" : "declined",news);
   return(true);
  }
//+------------------------------------------------------------------+
//| ACTIVE; REDUCING while an order's fate is unknown; HALTED        |
//+------------------------------------------------------------------+
ENUM_TRADING_STATE CDesk::State(void) const
  {
   if(m_halted)
      return(STATE_HALTED);
   for(int i=0; i<ArraySize(m_pending); i++)
      if(m_pending[i].outcome==OUTCOME_UNRESOLVED)
         return(STATE_REDUCING);
   return(STATE_ACTIVE);
  }
//+------------------------------------------------------------------+
//| Ends entries until somebody resumes                              |
//+------------------------------------------------------------------+
void CDesk::Halt(const string reason)
  {
   if(m_halted)
      return;
   m_halted=true;
   Say("halt","no more entries: "+reason);
  }
//+------------------------------------------------------------------+
//| Lets entries go on: a person has looked                          |
//+------------------------------------------------------------------+
void CDesk::Resume(void)
  {
   m_halted=false;
   ArrayResize(m_pending,0);
   Say("resume","a person asked for entries again");
  }
//+------------------------------------------------------------------+
//| Whether an order on a position has an unknown fate               |
//+------------------------------------------------------------------+
bool CDesk::IsPending(const ulong ticket) const
  {
   for(int i=0; i<ArraySize(m_pending); i++)
      if(m_pending[i].request.position==ticket)
         return(true);
   return(false);
  }
//+------------------------------------------------------------------+
//| Entries that neither a position nor a deal shows yet             |
//+------------------------------------------------------------------+
int CDesk::PendingEntries(void) const
  {
   return(ArraySize(m_pending));
  }
//+------------------------------------------------------------------+
//| Entries sent in the last 60 seconds                              |
//+------------------------------------------------------------------+
int CDesk::RecentEntries(const double now) const
  {
   int count=0;
   for(int i=0; i<ArraySize(m_entries); i++)
      if(now>=m_entries[i] && now-m_entries[i]<DESK_MINUTE)
         count++;
   return(count);
  }
//+------------------------------------------------------------------+
//| What the guard has to know                                       |
//+------------------------------------------------------------------+
void CDesk::ReadFacts(const Scene &scene,const double bar_age,Facts &facts)
  {
   const double server=(double)(long)ServerNow();
   facts.state=State();
   facts.alarms=m_alarms;
   if(m_settings.min_margin_level>0.0 && scene.margin!=0.0 &&
      scene.margin_level<m_settings.min_margin_level)
      facts.alarms+=facts.alarms=="" ? "margin_level" : ", margin_level";
   facts.unresolved=PendingEntries();
   facts.quote=scene.quote;
   facts.quote_age=server-scene.ticked;
   facts.bar_age=bar_age;
   facts.trade_allowed=scene.trade_allowed;
   facts.trade_expert=scene.trade_expert;
   facts.server_time=(datetime)(long)MathFloor(scene.now);
   facts.positions=scene.counted;
   facts.lots=scene.lots;
   facts.recent_entries=RecentEntries(server);
   facts.losses=m_books.Losses(facts.server_time);
   facts.equity=scene.equity;
   m_books.Known(facts.baselines);
  }
//+------------------------------------------------------------------+
//| Journals a request that is not sent                              |
//+------------------------------------------------------------------+
void CDesk::Deny(const string rule,const string value,Order &order)
  {
   order.is_denied=true;
   order.denied_by=rule;
   order.denied_value=value;
   m_journal.Ordered(ServerNow(),order);
   if(!m_is_quiet)
      Print(m_title,": not sent, ",value);
  }
//+------------------------------------------------------------------+
//| Sends a request once and notes what became of it                 |
//+------------------------------------------------------------------+
void CDesk::Send(Order &order)
  {
   order.last_deal=NewestDeal(ServerNow());
   SendOnce(order);
   m_journal.Ordered(ServerNow(),order);
   const bool happened=HasHappened(order.outcome);
   m_all_happened=m_all_happened && happened;
   m_any_happened=m_any_happened || happened;
   if(!happened && !m_is_quiet)
      PrintFormat("%s: %s of %g lots: %u, %s",m_title,PurposeName(order.purpose),
                  order.request.volume,order.result.retcode,order.words);
   Remember(order);
  }
//+------------------------------------------------------------------+
//| Remembers what is not known to be over                           |
//+------------------------------------------------------------------+
void CDesk::Remember(const Order &order)
  {
   const bool is_entry=order.purpose==PURPOSE_ENTRY;
   if(is_entry)
     {
      const int sent=ArraySize(m_entries);
      const int first=sent>=64 ? 1 : 0;
      if(first>0)
         for(int i=1; i<sent; i++)
            m_entries[i-1]=m_entries[i];
      else
         ArrayResize(m_entries,sent+1);
      m_entries[sent-first]=(double)(long)order.sent;
      if(order.outcome!=OUTCOME_REJECTED)
         NoteStop(order);
     }
   const bool is_open=order.outcome==OUTCOME_UNRESOLVED || order.outcome==OUTCOME_PLACED ||
                      (is_entry && HasHappened(order.outcome));
   const int  count=ArraySize(m_pending);
   if(!is_open || ArrayResize(m_pending,count+1)!=count+1)
      return;
   m_pending[count]=order;
   if(order.outcome==OUTCOME_UNRESOLVED)
      Say("unresolved","no more entries: "+order.words);
  }
//+------------------------------------------------------------------+
//| Notes the stop loss that an entry asked for                      |
//+------------------------------------------------------------------+
void CDesk::NoteStop(const Order &order)
  {
   const int count=ArraySize(m_stops);
   if(order.result.order==0 || order.request.sl==0.0 ||
      ArrayResize(m_stops,count+1)!=count+1)
      return;
   m_stops[count].identifier=(long)order.result.order;
   m_stops[count].sl=order.request.sl;
   m_stops[count].tries=0;
  }
//+------------------------------------------------------------------+
//| Does what a decision asks for                                    |
//| bar_age: how long its bar has been closed, seconds               |
//+------------------------------------------------------------------+
void CDesk::CarryOut(const Decision &decision,const double bar_age,Scene &scene)
  {
   if(decision.action==ACTION_HOLD || !m_settings.trades)
      return;
   if(decision.action==ACTION_OPEN)
     {
      Open(decision,bar_age,scene);
      return;
     }
   if(!CloseAll(scene) || decision.action==ACTION_CLOSE)
      return;
   // A reversal opens only what the terminal shows to be closed.
   if(!Look(scene) || scene.own_count>0)
      return;
   Open(decision,bar_age,scene);
  }
//+------------------------------------------------------------------+
//| Closes the strategy's own positions; whether every request that  |
//| was sent has happened                                            |
//+------------------------------------------------------------------+
bool CDesk::CloseAll(Scene &scene)
  {
   ulong     tickets[];
   const int count=scene.own_count;
   m_all_happened=true;
   if(ArrayResize(tickets,count)!=count)
      return(false);
   for(int i=0; i<count; i++)
      tickets[i]=scene.own[i].ticket;
   for(int i=0; i<count; i++)
      CloseOne(tickets[i],0.0,scene);
   return(m_all_happened);
  }
//+------------------------------------------------------------------+
//| Closes a position as the terminal shows it at each try           |
//| volume: lots of it; 0.0 closes the whole, a partial fill's rest  |
//| included. Returns whether it is done, or nobody knows yet.       |
//+------------------------------------------------------------------+
bool CDesk::CloseOne(const ulong ticket,const double volume,Scene &scene)
  {
   bool is_done=false;
   for(int i=0; i<m_settings.execution.tries; i++)
     {
      const int at=FindOwn(scene,ticket);
      if(at<0)
         break;
      Order order;
      BuildClose(scene.own[at],volume>0.0 ? volume : scene.own[at].volume,scene,
                 m_settings.magic,m_settings.execution,order);
      Ruling ruling;
      CheckReducing(ticket,IsPending(ticket),scene.quote,ruling);
      if(!ruling.is_allowed)
        {
         Deny(ruling.rule,DenialText(ruling),order);
         is_done=false;
         break;
        }
      Send(order);
      is_done=order.outcome==OUTCOME_DONE || order.outcome==OUTCOME_PLACED ||
              order.outcome==OUTCOME_UNRESOLVED;
      const bool goes_on=IsRetryCode(order.result.retcode) ||
                         (volume<=0.0 && order.outcome==OUTCOME_PARTIAL);
      if(!Look(scene) || !goes_on)
         break;
     }
   // What could not be had is asked for again, until the position is gone.
   if(volume<=0.0 && !is_done && m_settings.execution.retry_exits)
      PutOff(ticket,scene);
   return(is_done);
  }
//+------------------------------------------------------------------+
//| Opens what a decision asks for                                   |
//+------------------------------------------------------------------+
bool CDesk::Open(const Decision &decision,const double bar_age,Scene &scene)
  {
   string       words;
   const double volume=SizeEntry(decision,scene,m_settings,words);
   if(volume<=0.0)
     {
      Order order;
      ClearOrder(PURPOSE_ENTRY,order);
      Deny("size",words,order);
      return(false);
     }
   for(int i=0; i<m_settings.execution.tries; i++)
     {
      EntryRequest entry;
      entry.volume=volume;
      LevelsOf(decision,scene,m_settings.execution,entry);
      Order order;
      BuildEntry(entry,scene,m_settings.magic,m_settings.execution,order);
      if(!CheckOpening(entry,bar_age,scene,order))
         return(false);
      Send(order);
      if(!Look(scene) || !IsRetryCode(order.result.retcode))
        {
         Settle(scene);
         return(HasHappened(order.outcome));
        }
     }
   return(false);
  }
//+------------------------------------------------------------------+
//| Asks the guard, and whether the margin is enough                 |
//+------------------------------------------------------------------+
bool CDesk::CheckOpening(const EntryRequest &entry,const double bar_age,const Scene &scene,
                         Order &order)
  {
   Facts  facts;
   Ruling ruling;
   ReadFacts(scene,bar_age,facts);
   CheckEntry(entry,m_settings.rules,scene.terms,facts,ruling);
   if(ruling.halts)
      Halt(ruling.halt_reason);
   if(!ruling.is_allowed)
     {
      Deny(ruling.rule,DenialText(ruling),order);
      return(false);
     }
   const string fault=MarginFault(order);
   if(fault=="")
      return(true);
   Deny("margin",fault,order);
   return(false);
  }
//+------------------------------------------------------------------+
//| Does what a kept position needs                                  |
//+------------------------------------------------------------------+
void CDesk::Keep(const OwnPosition &position,const Care &care,Scene &scene)
  {
   if(!m_settings.trades)
      return;
   if(care.has_sl)
      Protect(position,care.sl,scene);
   if(care.close_share<=0.0)
      return;
   const double part=FloorToStep(scene.terms,position.volume*care.close_share);
   const double least=scene.terms.volume_min;
   if(part<least || position.volume-part<least)
      return;
   m_any_happened=false;
   CloseOne(position.ticket,part,scene);
   if(m_any_happened)
      m_books.NoteReduced(position.identifier);
  }
//+------------------------------------------------------------------+
//| Moves the stop loss of a position; what would be refused for     |
//| sure is not sent                                                 |
//+------------------------------------------------------------------+
void CDesk::Protect(const OwnPosition &position,const double sl,Scene &scene)
  {
   double level=ToTick(sl,scene.terms.tick_size,scene.terms.digits);
   if(m_settings.execution.widen_stops)
      level=WidenedStop(position.side,level,scene.terms,scene.quote);
   if(level==position.sl)
      return;
   Order order;
   BuildLevels(position,level,scene,m_settings.magic,order);
   const string fault=LevelFault(position.side,position.sl,position.tp,level,scene.terms,
                                 scene.quote);
   if(fault!="")
     {
      Deny("level",fault,order);
      return;
     }
   for(int i=0; i<m_settings.execution.tries; i++)
     {
      Ruling ruling;
      BuildLevels(position,level,scene,m_settings.magic,order);
      CheckReducing(position.ticket,IsPending(position.ticket),scene.quote,ruling);
      if(!ruling.is_allowed)
        {
         Deny(ruling.rule,DenialText(ruling),order);
         return;
        }
      Send(order);
      if(!Look(scene) || !IsRetryCode(order.result.retcode))
         return;
     }
  }
//+------------------------------------------------------------------+
//| Notes that a position could not be closed                        |
//+------------------------------------------------------------------+
void CDesk::PutOff(const ulong ticket,const Scene &scene)
  {
   const int count=ArraySize(m_refused);
   int       at=-1;
   for(int i=0; i<count; i++)
      if(m_refused[i].ticket==ticket)
         at=i;
   if(at<0)
     {
      if(ArrayResize(m_refused,count+1)!=count+1)
         return;
      at=count;
      m_refused[at].ticket=ticket;
      m_refused[at].times=0;
      Say("deferred",StringFormat("position #%I64u can't be closed now: asked for again",ticket));
     }
   double pause=DESK_FIRST_PAUSE;
   for(int i=0; i<m_refused[at].times && pause<DESK_LONGEST_PAUSE; i++)
      pause*=2.0;
   m_refused[at].times++;
   m_refused[at].ticked=scene.ticked;
   m_refused[at].due=(double)(long)ServerNow()+MathMin(pause,DESK_LONGEST_PAUSE);
  }
//+------------------------------------------------------------------+
//| Whether there is anything to do between two bars                 |
//+------------------------------------------------------------------+
bool CDesk::HasErrands(void) const
  {
   return(ArraySize(m_pending)>0 || ArraySize(m_refused)>0 || ArraySize(m_stops)>0);
  }
//+------------------------------------------------------------------+
//| Finishes what the server has put off, keeps stops in place       |
//| Nothing here opens a position.                                   |
//+------------------------------------------------------------------+
void CDesk::RunErrands(Scene &scene)
  {
   Settle(scene);
   RetryExits(scene);
   RestoreStops(scene);
  }
//+------------------------------------------------------------------+
//| Whether the end of an order is known now                         |
//+------------------------------------------------------------------+
bool CDesk::IsSettled(const Order &order,const Scene &scene) const
  {
   const long ticket=(long)order.result.order;
   if(order.purpose==PURPOSE_ENTRY && ticket!=0)
      for(int i=0; i<scene.own_count; i++)
         if(scene.own[i].identifier==ticket)
            return(true);
   return(FindDeal(order,ServerNow())!=0);
  }
//+------------------------------------------------------------------+
//| Searches for orders of unknown fate, or presumes them absent     |
//+------------------------------------------------------------------+
void CDesk::Settle(const Scene &scene)
  {
   int kept=0;
   for(int i=0; i<ArraySize(m_pending); i++)
     {
      if(IsSettled(m_pending[i],scene))
         continue;
      if((double)(long)ServerNow()-(double)(long)m_pending[i].sent>=DESK_SEARCH)
        {
         Say("absent","the terminal does not show the order: presumed absent; should it show up "
             "later, it is taken over");
         continue;
        }
      if(kept!=i)
         m_pending[kept]=m_pending[i];
      kept++;
     }
   ArrayResize(m_pending,kept);
  }
//+------------------------------------------------------------------+
//| Asks again for exits that were refused, at another price         |
//+------------------------------------------------------------------+
void CDesk::RetryExits(Scene &scene)
  {
   int kept=0;
   for(int i=0; i<ArraySize(m_refused); i++)
      if(FindOwn(scene,m_refused[i].ticket)>=0)
        {
         if(kept!=i)
            m_refused[kept]=m_refused[i];
         kept++;
        }
   ArrayResize(m_refused,kept);
   for(int i=kept-1; i>=0; i--)
     {
      const bool is_due=(double)(long)ServerNow()>=m_refused[i].due &&
                        scene.ticked!=m_refused[i].ticked;
      if(is_due)
         CloseOne(m_refused[i].ticket,0.0,scene);
     }
  }
//+------------------------------------------------------------------+
//| Sets stops that the broker did not take over                     |
//+------------------------------------------------------------------+
void CDesk::RestoreStops(Scene &scene)
  {
   int kept=0;
   for(int i=0; i<ArraySize(m_stops); i++)
      if(RestoreStop(i,scene))
        {
         if(kept!=i)
            m_stops[kept]=m_stops[i];
         kept++;
        }
   ArrayResize(m_stops,kept);
  }
//+------------------------------------------------------------------+
//| Whether the stop of an entry has to be looked at again           |
//+------------------------------------------------------------------+
bool CDesk::RestoreStop(const int at,Scene &scene)
  {
   int own=-1;
   for(int i=0; i<scene.own_count; i++)
      if(scene.own[i].identifier==m_stops[at].identifier)
         own=i;
   // Not shown yet, or gone already: a position that is gone is settled and needs no stop.
   if(own<0)
      return(ArraySize(m_pending)>0);
   if(scene.own[own].sl!=0.0)
      return(false);
   const OwnPosition position=scene.own[own];
   if(m_stops[at].tries<m_settings.execution.stop_tries)
     {
      m_stops[at].tries++;
      Say("unprotected",StringFormat("position #%I64u has no stop loss: it is set",
          position.ticket));
      Protect(position,m_stops[at].sl,scene);
      return(true);
     }
   const bool closes=m_settings.execution.without_stop==WITHOUT_STOP_CLOSE;
   Say("unprotected",StringFormat("the stop loss %g of position #%I64u can't be set: it is %s",
       m_stops[at].sl,position.ticket,closes ? "closed" : "kept without one"));
   if(closes)
      CloseOne(position.ticket,0.0,scene);
   return(false);
  }
#endif
//+------------------------------------------------------------------+
