//+------------------------------------------------------------------+
//| Books.mqh: what changed between two looks                        |
//| Twin: bridge/engine/scene.py (Lookout), bridge/engine/tally.py,  |
//| bridge/risk/streak.py                                            |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_BOOKS_MQH
#define ONNXBRIDGE_BOOKS_MQH

#include <OnnxBridge\Baselines.mqh>
#include <OnnxBridge\Scene.mqh>
#include <OnnxBridge\State.mqh>

// A ten-millionth of a unit is the noise of a sum, no loss.
#define BOOKS_NET_DIGITS 7
// Rise of the highest equity that is written down between two decisions.
#define BOOKS_RISE 1.002

// Losses one after the other on a server day.
struct Streak
  {
   int               day;
   int               losses;
   int               longest;
  };

// A position that the strategy has opened: lots still open, and what its deals came to so far.
struct Opened
  {
   long              identifier;
   double            lots;
   double            net;
  };
//+------------------------------------------------------------------+
//| Takes in a closed position; net: costs included, 0 is neither    |
//+------------------------------------------------------------------+
void CountClosed(const int day,const double net,Streak &streak)
  {
   if(day<streak.day)
      return;
   if(day>streak.day)
     {
      streak.day=day;
      streak.losses=0;
      streak.longest=0;
     }
   if(IsNan(net) || net>0.0)
      streak.losses=0;
   else if(net<0.0)
      streak.losses++;
   if(streak.losses>streak.longest)
      streak.longest=streak.losses;
  }
//+------------------------------------------------------------------+
//| The longest row of losses on a day                               |
//+------------------------------------------------------------------+
int LongestOn(const Streak &streak,const int day)
  {
   return(day==streak.day ? streak.longest : 0);
  }
//+------------------------------------------------------------------+
//| Keeps the books of one strategy                                  |
//+------------------------------------------------------------------+
class CBooks
  {
private:
   ulong             m_magic;
   Baselines         m_known;
   Streak            m_streak;
   Opened            m_opened[];
   OwnPosition       m_held[];
   int               m_held_count;
   bool              m_has_balance;
   double            m_balance;      // with credit
   datetime          m_deals_since;
   ulong             m_last_deal;
   ENUM_SIDE         m_declined;
   long              m_reduced[];
   double            m_noted_peak;
   int               m_noted_day;
   string            m_news;

   bool              IsChanged(const Scene &scene) const;
   void              ReadDeals(const datetime now,const Scene &scene);
   void              TakeDeal(const ulong deal,const Scene &scene);
   void              TakeTrade(const ulong deal,const ENUM_SIDE side);
   void              TakeExit(const ulong deal,const Scene &scene);
   void              Remember(const Scene &scene);

public:
                     CBooks(void);
   void              Init(const ulong magic);
   void              Look(const Scene &scene);
   bool              See(const datetime time,const double equity,const double balance);
   bool              IsNoteworthy(void) const;
   void              Write(CState &state);
   void              Read(const CState &state);
   void              Known(Baselines &known) const { known=m_known; }
   int               Losses(const datetime now) const;
   ENUM_SIDE         Declined(void) const { return(m_declined); }
   void              Accept(void) { m_declined=SIDE_NONE; }
   bool              IsReduced(const long identifier) const;
   void              NoteReduced(const long identifier);
   string            News(void);
  };
//+------------------------------------------------------------------+
//| Constructor                                                      |
//+------------------------------------------------------------------+
CBooks::CBooks(void)
  {
   Init(0);
  }
//+------------------------------------------------------------------+
//| Begins with nothing known                                        |
//+------------------------------------------------------------------+
void CBooks::Init(const ulong magic)
  {
   m_magic=magic;
   ZeroMemory(m_known);
   ZeroMemory(m_streak);
   m_streak.day=-1;
   ArrayResize(m_opened,0);
   ArrayResize(m_held,0);
   ArrayResize(m_reduced,0);
   m_held_count=0;
   m_has_balance=false;
   m_balance=0.0;
   m_deals_since=0;
   m_last_deal=0;
   m_declined=SIDE_NONE;
   m_noted_peak=0.0;
   m_noted_day=-1;
   m_news="";
  }
//+------------------------------------------------------------------+
//| Whether balance or own positions differ from the last look       |
//+------------------------------------------------------------------+
bool CBooks::IsChanged(const Scene &scene) const
  {
   if(!m_has_balance || scene.balance+scene.credit!=m_balance || scene.own_count!=m_held_count)
      return(true);
   for(int i=0; i<m_held_count; i++)
      if(m_held[i].ticket!=scene.own[i].ticket || m_held[i].volume!=scene.own[i].volume ||
         m_held[i].side!=scene.own[i].side)
         return(true);
   return(false);
  }
//+------------------------------------------------------------------+
//| Takes in what a look has shown; moves the baselines              |
//+------------------------------------------------------------------+
void CBooks::Look(const Scene &scene)
  {
   const datetime ticked=(datetime)(long)MathFloor(scene.ticked);
   if(IsChanged(scene))
      ReadDeals((datetime)(long)MathFloor(scene.now),scene);
   m_balance=scene.balance+scene.credit;
   m_has_balance=true;
   AdvanceBaselines(ticked,scene.equity,m_balance,m_known);
   Remember(scene);
  }
//+------------------------------------------------------------------+
//| Takes in an equity between two looks; false: the balance has     |
//| changed, so that a look has to say first whether money was paid  |
//+------------------------------------------------------------------+
bool CBooks::See(const datetime time,const double equity,const double balance)
  {
   if(!m_has_balance || balance!=m_balance)
      return(false);
   AdvanceBaselines(time,equity,balance,m_known);
   return(true);
  }
//+------------------------------------------------------------------+
//| Keeps the own positions for the next look                        |
//+------------------------------------------------------------------+
void CBooks::Remember(const Scene &scene)
  {
   if(ArrayResize(m_held,scene.own_count)!=scene.own_count)
      return;
   for(int i=0; i<scene.own_count; i++)
      m_held[i]=scene.own[i];
   m_held_count=scene.own_count;
  }
//+------------------------------------------------------------------+
//| Reads the deals since the last look; the second of the last one  |
//| is read again, since it may have brought more                    |
//+------------------------------------------------------------------+
void CBooks::ReadDeals(const datetime now,const Scene &scene)
  {
   const datetime from=m_deals_since>0 ? m_deals_since : (datetime)((long)now-2*RECENT_DAY);
   // A symbol's newest tick may be of last week, while money is paid in.
   if(!HistorySelect(from,(datetime)((long)now+RECENT_DAY)))
      return;
   ulong     newest=m_last_deal;
   datetime  since=from;
   const int total=HistoryDealsTotal();
   for(int i=0; i<total; i++)
     {
      const ulong deal=HistoryDealGetTicket(i);
      if(deal<=m_last_deal)
         continue;
      TakeDeal(deal,scene);
      newest=deal>newest ? deal : newest;
      since=(datetime)HistoryDealGetInteger(deal,DEAL_TIME);
     }
   m_last_deal=newest;
   m_deals_since=since;
  }
//+------------------------------------------------------------------+
//| Takes in one deal                                                |
//+------------------------------------------------------------------+
void CBooks::TakeDeal(const ulong deal,const Scene &scene)
  {
   const long type=HistoryDealGetInteger(deal,DEAL_TYPE);
   if(type==DEAL_TYPE_BALANCE || type==DEAL_TYPE_CREDIT || type==DEAL_TYPE_BONUS)
     {
      const double amount=HistoryDealGetDouble(deal,DEAL_PROFIT);
      // The first look finds the deposit, which is no news.
      if(!m_has_balance || !m_known.is_known)
         return;
      ShiftBaselines(amount,m_known);
      m_news+=StringFormat("%+.2f was paid in or out; limits follow. ",amount);
      return;
     }
   if(type!=DEAL_TYPE_BUY && type!=DEAL_TYPE_SELL)
      return;
   TakeTrade(deal,type==DEAL_TYPE_BUY ? SIDE_LONG : SIDE_SHORT);
   if(HistoryDealGetInteger(deal,DEAL_ENTRY)!=DEAL_ENTRY_IN)
      TakeExit(deal,scene);
  }
//+------------------------------------------------------------------+
//| Counts what a position comes to, costs included                  |
//+------------------------------------------------------------------+
void CBooks::TakeTrade(const ulong deal,const ENUM_SIDE side)
  {
   const long identifier=HistoryDealGetInteger(deal,DEAL_POSITION_ID);
   const int  count=ArraySize(m_opened);
   int        at=-1;
   for(int i=0; i<count; i++)
      if(m_opened[i].identifier==identifier)
         at=i;
   if(at<0)
     {
      if(HistoryDealGetInteger(deal,DEAL_ENTRY)!=DEAL_ENTRY_IN ||
         (ulong)HistoryDealGetInteger(deal,DEAL_MAGIC)!=m_magic ||
         ArrayResize(m_opened,count+1)!=count+1)
         return;
      at=count;
      m_opened[at].identifier=identifier;
      m_opened[at].lots=0.0;
      m_opened[at].net=0.0;
     }
   m_opened[at].lots=RoundTo(m_opened[at].lots+
                             (double)side*HistoryDealGetDouble(deal,DEAL_VOLUME),8);
   m_opened[at].net+=HistoryDealGetDouble(deal,DEAL_PROFIT)+
                     HistoryDealGetDouble(deal,DEAL_SWAP)+
                     HistoryDealGetDouble(deal,DEAL_COMMISSION)+
                     HistoryDealGetDouble(deal,DEAL_FEE);
   if(m_opened[at].lots!=0.0)
      return;
   CountClosed(ServerDay((datetime)HistoryDealGetInteger(deal,DEAL_TIME)),
               RoundTo(m_opened[at].net,BOOKS_NET_DIGITS),m_streak);
   const int last=ArraySize(m_opened)-1;
   m_opened[at]=m_opened[last];
   ArrayResize(m_opened,last);
  }
//+------------------------------------------------------------------+
//| Takes a closing that is neither ours nor the broker's as a       |
//| person's word: not undone, and not opened again on this signal   |
//+------------------------------------------------------------------+
void CBooks::TakeExit(const ulong deal,const Scene &scene)
  {
   const long identifier=HistoryDealGetInteger(deal,DEAL_POSITION_ID);
   const long reason=HistoryDealGetInteger(deal,DEAL_REASON);
   const bool is_asked=reason==DEAL_REASON_CLIENT || reason==DEAL_REASON_MOBILE ||
                       reason==DEAL_REASON_WEB || reason==DEAL_REASON_EXPERT;
   if(!is_asked || (ulong)HistoryDealGetInteger(deal,DEAL_MAGIC)==m_magic)
      return;
   for(int i=0; i<m_held_count; i++)
     {
      if(m_held[i].identifier!=identifier)
         continue;
      NoteReduced(identifier);
      const bool is_gone=FindOwn(scene,m_held[i].ticket)<0;
      m_news+=StringFormat("position #%I64u was %s by hand (or another program). ",
                           m_held[i].ticket,is_gone ? "closed" : "closed in part");
      if(is_gone)
         m_declined=m_held[i].side;
     }
  }
//+------------------------------------------------------------------+
//| Longest row of losses on the day of a server time                |
//+------------------------------------------------------------------+
int CBooks::Losses(const datetime now) const
  {
   return(LongestOn(m_streak,ServerDay(now)));
  }
//+------------------------------------------------------------------+
//| Whether a part of a position was closed already                  |
//+------------------------------------------------------------------+
bool CBooks::IsReduced(const long identifier) const
  {
   for(int i=0; i<ArraySize(m_reduced); i++)
      if(m_reduced[i]==identifier)
         return(true);
   return(false);
  }
//+------------------------------------------------------------------+
//| Notes that a part of a position was closed                       |
//+------------------------------------------------------------------+
void CBooks::NoteReduced(const long identifier)
  {
   const int count=ArraySize(m_reduced);
   if(IsReduced(identifier) || ArrayResize(m_reduced,count+1)!=count+1)
      return;
   m_reduced[count]=identifier;
  }
//+------------------------------------------------------------------+
//| What is to be told since the last time; empty when nothing       |
//+------------------------------------------------------------------+
string CBooks::News(void)
  {
   const string news=m_news;
   m_news="";
   return(news);
  }
//+------------------------------------------------------------------+
//| Whether a restart would forget a day's beginning, or much of the |
//| highest equity                                                   |
//+------------------------------------------------------------------+
bool CBooks::IsNoteworthy(void) const
  {
   return(m_known.is_known && (m_known.day!=m_noted_day ||
                               m_known.peak_equity>m_noted_peak*BOOKS_RISE));
  }
//+------------------------------------------------------------------+
//| Writes what outlasts a restart                                   |
//+------------------------------------------------------------------+
void CBooks::Write(CState &state)
  {
   state.SetWhole("day",m_known.is_known ? m_known.day : -1);
   state.SetNumber("day_equity",m_known.day_equity);
   state.SetNumber("peak_equity",m_known.peak_equity);
   state.SetNumber("day_low",m_known.day_low);
   state.SetNumber("day_balance",m_known.day_balance);
   state.SetNumber("week_equity",m_known.week_equity);
   state.SetNumber("week_low",m_known.week_low);
   state.SetNumber("deposits",m_known.deposits);
   state.SetNumber("balance",m_balance);
   state.SetWhole("deals_since",(long)m_deals_since);
   state.SetWhole("last_deal",(long)m_last_deal);
   state.SetWhole("declined",(long)m_declined);
   state.SetWhole("streak_day",m_streak.day);
   state.SetWhole("streak_losses",m_streak.losses);
   state.SetWhole("streak_longest",m_streak.longest);
   string reduced="";
   for(int i=0; i<ArraySize(m_reduced); i++)
      reduced+=StringFormat("%I64d ",m_reduced[i]);
   state.Set("reduced",reduced);
   m_noted_day=m_known.day;
   m_noted_peak=m_known.peak_equity;
  }
//+------------------------------------------------------------------+
//| Reads what a run before has written                              |
//+------------------------------------------------------------------+
void CBooks::Read(const CState &state)
  {
   const long day=state.Whole("day",-1);
   if(day<0)
      return;
   m_known.is_known=true;
   m_known.day=(int)day;
   m_known.day_equity=state.Number("day_equity",0.0);
   m_known.peak_equity=state.Number("peak_equity",0.0);
   m_known.day_low=state.Number("day_low",0.0);
   m_known.day_balance=state.Number("day_balance",0.0);
   m_known.week_equity=state.Number("week_equity",0.0);
   m_known.week_low=state.Number("week_low",0.0);
   m_known.deposits=state.Number("deposits",0.0);
   m_balance=state.Number("balance",0.0);
   m_has_balance=true;
   m_deals_since=(datetime)state.Whole("deals_since",0);
   m_last_deal=(ulong)state.Whole("last_deal",0);
   m_declined=(ENUM_SIDE)state.Whole("declined",0);
   m_streak.day=(int)state.Whole("streak_day",-1);
   m_streak.losses=(int)state.Whole("streak_losses",0);
   m_streak.longest=(int)state.Whole("streak_longest",0);
   m_noted_day=m_known.day;
   m_noted_peak=m_known.peak_equity;
   string    parts[];
   const int count=StringSplit(state.Get("reduced",""),' ',parts);
   for(int i=0; i<count; i++)
      if(parts[i]!="")
         NoteReduced(StringToInteger(parts[i]));
  }
#endif
//+------------------------------------------------------------------+
