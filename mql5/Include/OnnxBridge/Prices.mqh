//+------------------------------------------------------------------+
//| Prices.mqh: levels of an order, filling mode, broker's distances |
//| Twin: bridge/trade/build.py, bridge/trade/levels.py              |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_PRICES_MQH
#define ONNXBRIDGE_PRICES_MQH

#include <OnnxBridge\Numbers.mqh>
#include <OnnxBridge\Terms.mqh>

// Points; absorbs the rounding of differences of prices.
#define PRICES_NOISE 1e-3
// Bits of SYMBOL_FILLING_MODE, which is a mask; the order's filling is an enumeration.
#define PRICES_MASK_FOK 1
#define PRICES_MASK_IOC 2
//+------------------------------------------------------------------+
//| Filling of a market order on the symbol                          |
//| Market and exchange execution take only what the mask allows;    |
//| an empty mask leaves RETURN to an exchange.                      |
//+------------------------------------------------------------------+
ENUM_ORDER_TYPE_FILLING FillingOf(const SymbolTerms &terms)
  {
   if((terms.filling_mode&PRICES_MASK_FOK)!=0)
      return(ORDER_FILLING_FOK);
   if((terms.filling_mode&PRICES_MASK_IOC)!=0)
      return(ORDER_FILLING_IOC);
   if(terms.execution==SYMBOL_TRADE_EXECUTION_EXCHANGE)
      return(ORDER_FILLING_RETURN);
   return(ORDER_FILLING_FOK);
  }
//+------------------------------------------------------------------+
//| Level that lies so many points on the losing side of the opening |
//| price; below 0 points on the winning side                        |
//+------------------------------------------------------------------+
double StopPrice(const ENUM_SIDE side,const double stop_points,const SymbolTerms &terms,
                 const Quote &quote)
  {
   const double sign=(double)side;
   return(ToTick(OpeningPrice(side,quote)-sign*stop_points*terms.point,terms.tick_size,
                 terms.digits));
  }
//+------------------------------------------------------------------+
//| Distance of a stop, points, at least as far as the broker wants  |
//| The broker measures from the closing price: a spread nearer to   |
//| the stop. Rounding to the tick may cost half of one.             |
//+------------------------------------------------------------------+
double WideStop(const double stop_points,const SymbolTerms &terms,const Quote &quote)
  {
   const double least=terms.stops_level+terms.tick_size/terms.point/2.0;
   const double spread=(quote.ask-quote.bid)/terms.point;
   return(MaxOf(stop_points,least+spread));
  }
//+------------------------------------------------------------------+
//| The same of a target, which lies a spread farther away           |
//+------------------------------------------------------------------+
double WideTake(const double take_points,const SymbolTerms &terms,const Quote &quote)
  {
   const double least=terms.stops_level+terms.tick_size/terms.point/2.0;
   const double spread=(quote.ask-quote.bid)/terms.point;
   return(MaxOf(take_points,least-spread));
  }
//+------------------------------------------------------------------+
//| Why a level is frozen now; empty when it is not                  |
//+------------------------------------------------------------------+
string FrozenBy(const double level,const double price,const SymbolTerms &terms)
  {
   const double away=MathAbs(price-level)/terms.point;
   if(level==0.0 || away>terms.freeze_level-PRICES_NOISE)
      return("");
   return(StringFormat("frozen: %g is %.0f points from %g, the freeze level is %d",level,away,
                       price,terms.freeze_level));
  }
//+------------------------------------------------------------------+
//| Why the stop of a position can't be set to sl now; empty: it can |
//| old_sl, old_tp: its levels, 0.0 is none                          |
//+------------------------------------------------------------------+
string LevelFault(const ENUM_SIDE side,const double old_sl,const double old_tp,const double sl,
                  const SymbolTerms &terms,const Quote &quote)
  {
   const double price=ClosingPrice(side,quote);
   string fault=FrozenBy(old_sl,price,terms);
   if(fault=="")
      fault=FrozenBy(old_tp,price,terms);
   if(fault!="")
      return(fault);
   const double distance=(double)side*(price-sl)/terms.point;
   const int    least=terms.stops_level>1 ? terms.stops_level : 1;
   if(distance<least-PRICES_NOISE)
      return(StringFormat("%g is %.0f points from %g, the least is %d",sl,distance,price,least));
   return("");
  }
//+------------------------------------------------------------------+
//| The stop, moved away as far as the stops level wants it          |
//+------------------------------------------------------------------+
double WidenedStop(const ENUM_SIDE side,const double sl,const SymbolTerms &terms,
                   const Quote &quote)
  {
   const double price=ClosingPrice(side,quote);
   const double sign=(double)side;
   if(sign*(price-sl)/terms.point>=terms.stops_level-PRICES_NOISE)
      return(sl);
   return(ToTick(price-sign*terms.stops_level*terms.point,terms.tick_size,terms.digits));
  }
#endif
//+------------------------------------------------------------------+
