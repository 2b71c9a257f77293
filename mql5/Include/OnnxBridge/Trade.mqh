//+------------------------------------------------------------------+
//| Trade.mqh: builds requests and sends each of them once           |
//| Twin: bridge/trade/build.py, size.py, execute.py, reconcile.py   |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_TRADE_MQH
#define ONNXBRIDGE_TRADE_MQH

#include <OnnxBridge\Errors.mqh>
#include <OnnxBridge\Retcodes.mqh>
#include <OnnxBridge\Rules.mqh>
#include <OnnxBridge\Scene.mqh>
#include <OnnxBridge\Settings.mqh>
#include <OnnxBridge\Volume.mqh>

// Characters of a comment that every server keeps.
#define TRADE_COMMENT_LIMIT 29
// Lots are whole steps; this is far below the smallest.
#define TRADE_VOLUME_SLACK 1e-6

enum ENUM_PURPOSE
  {
   PURPOSE_ENTRY,  // adds risk
   PURPOSE_EXIT,   // closes, in whole or part
   PURPOSE_PROTECT // moves levels
  };

// A request with what became of it. is_denied: it was not sent; denied_by says which rule.
struct Order
  {
   ENUM_PURPOSE      purpose;
   bool              is_denied;
   string            denied_by;
   string            denied_value;
   MqlTradeRequest   request;
   MqlTradeResult    result;
   ENUM_OUTCOME      outcome;
   string            words;
   datetime          sent;        // by the server's clock
   ulong             last_deal;   // newest deal of the history when it was sent
  };
//+------------------------------------------------------------------+
//| The purpose in words, as the daemon writes it                    |
//+------------------------------------------------------------------+
string PurposeName(const ENUM_PURPOSE purpose)
  {
   if(purpose==PURPOSE_ENTRY)
      return("entry");
   return(purpose==PURPOSE_EXIT ? "exit" : "protect");
  }
//+------------------------------------------------------------------+
//| An order before it is filled in                                  |
//+------------------------------------------------------------------+
void ClearOrder(const ENUM_PURPOSE purpose,Order &order)
  {
   order.purpose=purpose;
   order.is_denied=false;
   order.denied_by="";
   order.denied_value="";
   ZeroMemory(order.request);
   ZeroMemory(order.result);
   order.outcome=OUTCOME_REJECTED;
   order.words="";
   order.sent=0;
   order.last_deal=0;
  }
//+------------------------------------------------------------------+
//| The market order that opens what the request asks for            |
//+------------------------------------------------------------------+
void BuildEntry(const EntryRequest &entry,const Scene &scene,const ulong magic,
                const ExecutionSettings &settings,Order &order)
  {
   ClearOrder(PURPOSE_ENTRY,order);
   order.request.action=TRADE_ACTION_DEAL;
   order.request.symbol=scene.terms.name;
   order.request.magic=magic;
   order.request.type=entry.side==SIDE_LONG ? ORDER_TYPE_BUY : ORDER_TYPE_SELL;
   order.request.volume=entry.volume;
   order.request.price=ToTick(OpeningPrice(entry.side,scene.quote),scene.terms.tick_size,
                              scene.terms.digits);
   order.request.sl=entry.has_sl ? entry.sl : 0.0;
   order.request.tp=entry.has_tp ? entry.tp : 0.0;
   order.request.deviation=(ulong)settings.deviation_points;
   order.request.type_filling=FillingOf(scene.terms);
   order.request.comment=StringSubstr(settings.comment,0,TRADE_COMMENT_LIMIT);
  }
//+------------------------------------------------------------------+
//| Levels of an entry at the prices of the moment                   |
//+------------------------------------------------------------------+
void LevelsOf(const Decision &decision,const Scene &scene,const ExecutionSettings &settings,
              EntryRequest &entry)
  {
   double stop_points=decision.stop_points;
   double take_points=decision.take_points;
   if(settings.widen_stops)
     {
      stop_points=WideStop(stop_points,scene.terms,scene.quote);
      take_points=WideTake(take_points,scene.terms,scene.quote);
     }
   entry.side=decision.side;
   entry.has_sl=decision.has_stop;
   entry.sl=entry.has_sl ? StopPrice(entry.side,stop_points,scene.terms,scene.quote) : 0.0;
   entry.has_tp=decision.has_take;
   entry.tp=entry.has_tp ? StopPrice(entry.side,-take_points,scene.terms,scene.quote) : 0.0;
  }
//+------------------------------------------------------------------+
//| The market order that closes a position, or some lots of it      |
//| It names the ticket: without it a hedging account would open an  |
//| opposite position.                                               |
//+------------------------------------------------------------------+
void BuildClose(const OwnPosition &position,const double volume,const Scene &scene,
                const ulong magic,const ExecutionSettings &settings,Order &order)
  {
   ClearOrder(PURPOSE_EXIT,order);
   order.request.action=TRADE_ACTION_DEAL;
   order.request.symbol=scene.terms.name;
   order.request.magic=magic;
   order.request.type=position.side==SIDE_LONG ? ORDER_TYPE_SELL : ORDER_TYPE_BUY;
   order.request.volume=volume;
   order.request.price=ToTick(ClosingPrice(position.side,scene.quote),scene.terms.tick_size,
                              scene.terms.digits);
   order.request.deviation=(ulong)settings.deviation_points;
   order.request.type_filling=FillingOf(scene.terms);
   order.request.position=position.ticket;
   order.request.comment=StringSubstr(settings.comment,0,TRADE_COMMENT_LIMIT);
  }
//+------------------------------------------------------------------+
//| The request that moves the stop loss; the target stays           |
//+------------------------------------------------------------------+
void BuildLevels(const OwnPosition &position,const double sl,const Scene &scene,const ulong magic,
                 Order &order)
  {
   ClearOrder(PURPOSE_PROTECT,order);
   order.request.action=TRADE_ACTION_SLTP;
   order.request.symbol=scene.terms.name;
   order.request.magic=magic;
   order.request.position=position.ticket;
   order.request.sl=sl;
   order.request.tp=position.tp==0.0 ? 0.0 :
                    ToTick(position.tp,scene.terms.tick_size,scene.terms.digits);
  }
//+------------------------------------------------------------------+
//| Volume of an entry by the terminal's own calculation of money    |
//| 0.0: do not trade; words say why                                 |
//+------------------------------------------------------------------+
double SizeEntry(const Decision &decision,const Scene &scene,const BridgeSettings &settings,
                 string &words)
  {
   if(settings.volume>0.0)
      return(FixedVolume(scene.terms,settings.volume,words));
   if(!decision.has_stop)
     {
      words=scene.terms.name+": risk_share sizes by the stop, and there is none; set stop_points "
            "or stop_ranges, or a fixed volume";
      return(0.0);
     }
   const double entry=ToTick(OpeningPrice(decision.side,scene.quote),scene.terms.tick_size,
                             scene.terms.digits);
   const double stop=StopPrice(decision.side,decision.stop_points,scene.terms,scene.quote);
   // Asked for one lot, or for the smallest order where that is larger: answers come in cents, and
   // dividing a small one would magnify its rounding.
   const double lots=MathMax(1.0,scene.terms.volume_min);
   double       profit=0.0;
   ResetLastError();
   if(!OrderCalcProfit(decision.side==SIDE_LONG ? ORDER_TYPE_BUY : ORDER_TYPE_SELL,
                       scene.terms.name,lots,entry,stop,profit))
     {
      words=scene.terms.name+": "+ErrorText("OrderCalcProfit",GetLastError());
      return(0.0);
     }
   if(profit>=0.0)
     {
      words=StringFormat("%s: the stop %g loses nothing against %g",scene.terms.name,stop,entry);
      return(0.0);
     }
   double volume=0.0;
   VolumeForRisk(scene.terms,scene.equity,settings.risk_share,-profit/lots,volume,words);
   return(volume);
  }
//+------------------------------------------------------------------+
//| What is missing in free margin for an entry; empty when nothing  |
//| Asked before sending: the server would answer 10019.             |
//+------------------------------------------------------------------+
string MarginFault(const Order &order)
  {
   double margin=0.0;
   if(!OrderCalcMargin(order.request.type,order.request.symbol,order.request.volume,
                       order.request.price,margin))
      return("");
   const double free=AccountInfoDouble(ACCOUNT_MARGIN_FREE);
   if(margin<=free)
      return("");
   return(StringFormat("%g lots need a margin of %.2f, %.2f is free",order.request.volume,margin,
                       free));
  }
//+------------------------------------------------------------------+
//| Ticket of the newest deal of the last days, 0 without one        |
//+------------------------------------------------------------------+
ulong NewestDeal(const datetime now)
  {
   if(!HistorySelect(now-2*RECENT_DAY,now+RECENT_DAY))
      return(0);
   ulong     newest=0;
   const int total=HistoryDealsTotal();
   for(int i=0; i<total; i++)
     {
      const ulong ticket=HistoryDealGetTicket(i);
      if(ticket>newest)
         newest=ticket;
     }
   return(newest);
  }
//+------------------------------------------------------------------+
//| Sends a request once; what became of it stands in the order      |
//| true of OrderSend only means that it passed: the retcode counts. |
//+------------------------------------------------------------------+
void SendOnce(Order &order)
  {
   ZeroMemory(order.result);
   order.sent=ServerNow();
   ResetLastError();
   const bool is_sent=OrderSend(order.request,order.result);
   const int  code=GetLastError();
   if(order.result.retcode!=0)
     {
      order.outcome=OutcomeOf(order.result.retcode);
      order.words=RetcodeWords(order.result.retcode);
      return;
     }
   // Without a code nobody knows, unless the terminal says that it did not even try.
   const bool is_kept=!is_sent && code>=4750 && code<=4755;
   order.outcome=is_kept ? OUTCOME_REJECTED : OUTCOME_UNRESOLVED;
   order.words=is_kept ? "nothing was sent: "+ErrorText("OrderSend",code)
               : "the terminal gave no answer";
  }
//+------------------------------------------------------------------+
//| Whether a deal of the selected history is that of an order       |
//| Recognised by order ticket where there is one, else by magic,    |
//| symbol, side and volume, never by the comment.                   |
//+------------------------------------------------------------------+
bool IsDealOf(const ulong deal,const Order &order)
  {
   if(order.result.order!=0)
      return((ulong)HistoryDealGetInteger(deal,DEAL_ORDER)==order.result.order);
   const long type=order.request.type==ORDER_TYPE_BUY ? DEAL_TYPE_BUY : DEAL_TYPE_SELL;
   return(deal>order.last_deal && HistoryDealGetInteger(deal,DEAL_TYPE)==type &&
          (ulong)HistoryDealGetInteger(deal,DEAL_MAGIC)==order.request.magic &&
          HistoryDealGetString(deal,DEAL_SYMBOL)==order.request.symbol &&
          HistoryDealGetDouble(deal,DEAL_VOLUME)<=order.request.volume+TRADE_VOLUME_SLACK);
  }
//+------------------------------------------------------------------+
//| The deal that an order has become, 0 when the terminal shows none|
//+------------------------------------------------------------------+
ulong FindDeal(const Order &order,const datetime now)
  {
   if(order.request.action!=TRADE_ACTION_DEAL ||
      !HistorySelect(order.sent-RECENT_DAY,now+RECENT_DAY))
      return(0);
   const int total=HistoryDealsTotal();
   for(int i=0; i<total; i++)
     {
      const ulong deal=HistoryDealGetTicket(i);
      if(deal!=0 && IsDealOf(deal,order))
         return(deal);
     }
   return(0);
  }
#endif
//+------------------------------------------------------------------+
