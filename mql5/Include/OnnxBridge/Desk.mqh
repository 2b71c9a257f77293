//+------------------------------------------------------------------+
//| Desk.mqh: one strategy's orders: what is known, asked and sent   |
//| Twin: bridge/engine/act.py, scene.py (Lookout)                   |
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
   void              CountEntry(const double sent);
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
   bool              HaltOnLoss(const double equity);
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
//| Halts once a limit is reached that ends entries for good: equity |
//| may be back before the next entry is asked for                   |
//+------------------------------------------------------------------+
bool CDesk::HaltOnLoss(const double equity)
  {
   Baselines known;
   m_books.Known(known);
   if(m_halted || !known.is_known)
      return(false);
   const string reason=HaltingLoss(m_settings.rules.losses,known,equity);
   if(reason=="")
      return(false);
   Halt(reason);
   return(true);
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
// The rest of the class.
#include <OnnxBridge\Act.mqh>
#include <OnnxBridge\Errands.mqh>
#endif
//+------------------------------------------------------------------+
