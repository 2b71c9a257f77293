//+------------------------------------------------------------------+
//| Terms.mqh: sides, prices and a symbol's terms, as plain values   |
//| Twin: bridge/mt5/sides.py, the fields of bridge/mt5/records.py   |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_TERMS_MQH
#define ONNXBRIDGE_TERMS_MQH

// The values are the signs: +1 when a rising price wins.
enum ENUM_SIDE
  {
   SIDE_SHORT=-1, // short
   SIDE_NONE=0,   // none
   SIDE_LONG=1    // long
  };

struct Quote
  {
   double            bid;
   double            ask;
  };

struct SymbolTerms
  {
   string            name;
   int               digits;
   double            point;        // price of one point
   double            tick_size;    // price of one tick
   int               stops_level;  // points
   int               freeze_level; // points
   int               filling_mode; // mask: 1 fill or kill, 2 immediate or cancel
   int               execution;    // ENUM_SYMBOL_TRADE_EXECUTION
   int               trade_mode;   // ENUM_SYMBOL_TRADE_MODE
   double            volume_min;   // lots, as are the next two
   double            volume_max;
   double            volume_step;
  };
//+------------------------------------------------------------------+
//| The opposite side                                                |
//+------------------------------------------------------------------+
ENUM_SIDE OtherSide(const ENUM_SIDE side)
  {
   if(side==SIDE_NONE)
      return(SIDE_NONE);
   return(side==SIDE_LONG ? SIDE_SHORT : SIDE_LONG);
  }
//+------------------------------------------------------------------+
//| The side in words                                                |
//+------------------------------------------------------------------+
string SideName(const ENUM_SIDE side)
  {
   if(side==SIDE_NONE)
      return("");
   return(side==SIDE_LONG ? "long" : "short");
  }
//+------------------------------------------------------------------+
//| Price at which a side is opened                                  |
//+------------------------------------------------------------------+
double OpeningPrice(const ENUM_SIDE side,const Quote &quote)
  {
   return(side==SIDE_LONG ? quote.ask : quote.bid);
  }
//+------------------------------------------------------------------+
//| Price at which a side is closed, and its stops are watched       |
//+------------------------------------------------------------------+
double ClosingPrice(const ENUM_SIDE side,const Quote &quote)
  {
   return(side==SIDE_LONG ? quote.bid : quote.ask);
  }
#endif
//+------------------------------------------------------------------+
