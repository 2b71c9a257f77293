//+------------------------------------------------------------------+
//| Scene.mqh: what the terminal shows at one moment                 |
//| Twin: bridge/engine/scene.py (Scene), bridge/risk/rules/size.py  |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_SCENE_MQH
#define ONNXBRIDGE_SCENE_MQH

#include <OnnxBridge\Prices.mqh>
#include <OnnxBridge\Terms.mqh>

struct OwnPosition
  {
   ulong             ticket;
   long              identifier; // stays for the position's life; the ticket may change
   ENUM_SIDE         side;
   double            volume;
   double            opened;     // price
   double            sl;         // 0.0 without one, as tp
   double            tp;
   datetime          time;
  };

struct Scene
  {
   SymbolTerms       terms;
   Quote             quote;
   double            ticked;     // of the quote, server epoch seconds
   double            now;        // by the server's clock, epoch seconds
   double            balance;
   double            credit;
   double            equity;
   double            margin;
   double            margin_level;
   bool              is_netting;
   bool              trade_allowed;
   bool              trade_expert;
   int               own_count;
   OwnPosition       own[];      // the strategy's: its magic on its symbol
   int               counted;    // positions that limits count
   double            lots;       // held by them
  };
//+------------------------------------------------------------------+
//| A scene in which nothing is seen                                 |
//+------------------------------------------------------------------+
void ClearScene(Scene &scene)
  {
   scene.quote.bid=0.0;
   scene.quote.ask=0.0;
   scene.ticked=0.0;
   scene.now=0.0;
   scene.balance=0.0;
   scene.equity=0.0;
   scene.terms.point=0.0;
   scene.own_count=0;
   scene.counted=0;
   scene.lots=0.0;
   ArrayResize(scene.own,0);
  }
//+------------------------------------------------------------------+
//| Reads the symbol's terms                                         |
//+------------------------------------------------------------------+
void ReadTerms(const string symbol,SymbolTerms &terms)
  {
   terms.name=symbol;
   terms.digits=(int)SymbolInfoInteger(symbol,SYMBOL_DIGITS);
   terms.point=SymbolInfoDouble(symbol,SYMBOL_POINT);
   terms.tick_size=SymbolInfoDouble(symbol,SYMBOL_TRADE_TICK_SIZE);
   terms.stops_level=(int)SymbolInfoInteger(symbol,SYMBOL_TRADE_STOPS_LEVEL);
   terms.freeze_level=(int)SymbolInfoInteger(symbol,SYMBOL_TRADE_FREEZE_LEVEL);
   terms.filling_mode=(int)SymbolInfoInteger(symbol,SYMBOL_FILLING_MODE);
   terms.execution=(int)SymbolInfoInteger(symbol,SYMBOL_TRADE_EXEMODE);
   terms.trade_mode=(int)SymbolInfoInteger(symbol,SYMBOL_TRADE_MODE);
   terms.volume_min=SymbolInfoDouble(symbol,SYMBOL_VOLUME_MIN);
   terms.volume_max=SymbolInfoDouble(symbol,SYMBOL_VOLUME_MAX);
   terms.volume_step=SymbolInfoDouble(symbol,SYMBOL_VOLUME_STEP);
  }
//+------------------------------------------------------------------+
//| Whether terms can be reckoned with                               |
//+------------------------------------------------------------------+
bool AreTerms(const SymbolTerms &terms)
  {
   return(MathIsValidNumber(terms.point) && terms.point>0.0 &&
          MathIsValidNumber(terms.tick_size) && terms.tick_size>0.0 &&
          MathIsValidNumber(terms.volume_step) && terms.volume_step>0.0);
  }
//+------------------------------------------------------------------+
//| Reads the account                                                |
//+------------------------------------------------------------------+
void ReadAccount(Scene &scene)
  {
   scene.balance=AccountInfoDouble(ACCOUNT_BALANCE);
   scene.credit=AccountInfoDouble(ACCOUNT_CREDIT);
   scene.equity=AccountInfoDouble(ACCOUNT_EQUITY);
   scene.margin=AccountInfoDouble(ACCOUNT_MARGIN);
   scene.margin_level=AccountInfoDouble(ACCOUNT_MARGIN_LEVEL);
   scene.is_netting=AccountInfoInteger(ACCOUNT_MARGIN_MODE)!=ACCOUNT_MARGIN_MODE_RETAIL_HEDGING;
   scene.trade_allowed=AccountInfoInteger(ACCOUNT_TRADE_ALLOWED)!=0;
   scene.trade_expert=AccountInfoInteger(ACCOUNT_TRADE_EXPERT)!=0;
  }
//+------------------------------------------------------------------+
//| Reads the selected position                                      |
//+------------------------------------------------------------------+
void ReadPosition(const ulong ticket,OwnPosition &position)
  {
   position.ticket=ticket;
   position.identifier=PositionGetInteger(POSITION_IDENTIFIER);
   position.side=PositionGetInteger(POSITION_TYPE)==POSITION_TYPE_BUY ? SIDE_LONG : SIDE_SHORT;
   position.volume=PositionGetDouble(POSITION_VOLUME);
   position.opened=PositionGetDouble(POSITION_PRICE_OPEN);
   position.sl=PositionGetDouble(POSITION_SL);
   position.tp=PositionGetDouble(POSITION_TP);
   position.time=(datetime)PositionGetInteger(POSITION_TIME);
  }
//+------------------------------------------------------------------+
//| Reads the positions of the symbol; the strategy's own by magic   |
//| On a netting account the symbol's one position counts as a whole,|
//| whoever opened it; its magic is that of its first deal.          |
//+------------------------------------------------------------------+
bool ReadPositions(const string symbol,const ulong magic,Scene &scene)
  {
   scene.own_count=0;
   scene.counted=0;
   scene.lots=0.0;
   const int total=PositionsTotal();
   if(ArrayResize(scene.own,total)!=total)
      return(false);
   for(int i=0; i<total; i++)
     {
      const ulong ticket=PositionGetTicket(i);
      if(ticket==0 || PositionGetString(POSITION_SYMBOL)!=symbol)
         continue;
      const bool is_own=(ulong)PositionGetInteger(POSITION_MAGIC)==magic;
      if(is_own || scene.is_netting)
        {
         scene.counted++;
         scene.lots+=PositionGetDouble(POSITION_VOLUME);
        }
      if(!is_own)
         continue;
      ReadPosition(ticket,scene.own[scene.own_count]);
      scene.own_count++;
     }
   return(true);
  }
//+------------------------------------------------------------------+
//| Now by the server's clock; in the tester the last tick's         |
//+------------------------------------------------------------------+
datetime ServerNow(void)
  {
   if(MQLInfoInteger(MQL_TESTER)!=0)
      return(TimeCurrent());
   return(TimeTradeServer());
  }
//+------------------------------------------------------------------+
//| Looks at the terminal; false: it shows no price or no terms      |
//+------------------------------------------------------------------+
bool LookAt(const string symbol,const ulong magic,Scene &scene)
  {
   MqlTick tick;
   if(!SymbolInfoTick(symbol,tick))
      return(false);
   scene.quote.bid=tick.bid;
   scene.quote.ask=tick.ask;
   scene.ticked=(double)tick.time_msc/1000.0;
   scene.now=MathMax(scene.ticked,(double)(long)ServerNow());
   ReadTerms(symbol,scene.terms);
   ReadAccount(scene);
   return(AreTerms(scene.terms) && ReadPositions(symbol,magic,scene));
  }
//+------------------------------------------------------------------+
//| Index of an own position by its ticket; -1 when it is gone       |
//+------------------------------------------------------------------+
int FindOwn(const Scene &scene,const ulong ticket)
  {
   for(int i=0; i<scene.own_count; i++)
      if(scene.own[i].ticket==ticket)
         return(i);
   return(-1);
  }
#endif
//+------------------------------------------------------------------+
