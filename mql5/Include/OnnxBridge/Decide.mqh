//+------------------------------------------------------------------+
//| Decide.mqh: what to do about a signal, given what is held        |
//| Twin: bridge/strategy/decide.py, bridge/model/signal.py          |
//| Pure: no terminal call, so that both sides run the same vectors. |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_DECIDE_MQH
#define ONNXBRIDGE_DECIDE_MQH

#include <OnnxBridge\Numbers.mqh>
#include <OnnxBridge\Terms.mqh>

// Float32 shares of many classes add up to a rounding error, never to this.
#define SHARES_TOLERANCE 1e-3

enum ENUM_OUTPUT_KIND
  {
   OUTPUT_SHARES,   // class shares that sum to 1
   OUTPUT_FORECAST, // forecast of the move, above 0 is up
   OUTPUT_TARGET    // position from -1 to 1
  };

enum ENUM_SIDES
  {
   SIDES_BOTH,  // both
   SIDES_LONG,  // long only
   SIDES_SHORT  // short only
  };

enum ENUM_ACTION
  {
   ACTION_HOLD,   // hold
   ACTION_OPEN,   // open
   ACTION_CLOSE,  // close
   ACTION_REVERSE // reverse
  };

// Distances of 0 are off. Thresholds are in the unit of the model's output.
struct DecisionSettings
  {
   double            open_at;
   double            close_at;
   bool              reverse;
   ENUM_SIDES        sides;
   int               max_bars;
   double            stop_points;
   double            stop_ranges;
   double            take_points;
   double            take_ranges;
   int               range_bars;
  };

struct Signal
  {
   double            long_value;  // what speaks for each side, >= 0
   double            short_value;
   string            problem;     // why there is no usable signal; empty when there is one
  };

struct Holding
  {
   bool              is_open;
   ulong             ticket;
   ENUM_SIDE         side;
   double            volume; // lots, all own positions together
   int               bars;   // closed since it was opened
  };

struct Decision
  {
   ENUM_ACTION       action;
   ENUM_SIDE         side;        // to open; SIDE_NONE when nothing is opened
   bool              has_stop;
   double            stop_points;
   bool              has_take;
   double            take_points;
   string            reason;      // never empty
  };
//+------------------------------------------------------------------+
//| The action in words, as the daemon writes it                     |
//+------------------------------------------------------------------+
string ActionName(const ENUM_ACTION action)
  {
   switch(action)
     {
      case ACTION_OPEN:
         return("open");
      case ACTION_CLOSE:
         return("close");
      case ACTION_REVERSE:
         return("reverse");
      default:
         return("hold");
     }
  }
//+------------------------------------------------------------------+
//| No signal, and why                                               |
//+------------------------------------------------------------------+
void NoSignal(const string problem,Signal &signal)
  {
   signal.long_value=0.0;
   signal.short_value=0.0;
   signal.problem=problem;
  }
//+------------------------------------------------------------------+
//| Why the shares can't be used; empty when they can                |
//+------------------------------------------------------------------+
string ProblemOfShares(const string name,const double &values[])
  {
   double lowest=values[0];
   double total=0.0;
   for(int i=0; i<ArraySize(values); i++)
     {
      lowest=MinOf(lowest,values[i]);
      total+=values[i];
     }
   if(lowest<-SHARES_TOLERANCE)
      return(StringFormat("output %s holds the share %.6g, below 0",name,lowest));
   if(MathAbs(total-1.0)>SHARES_TOLERANCE)
      return(StringFormat("the shares of output %s sum to %.6g, not to 1",name,total));
   return("");
  }
//+------------------------------------------------------------------+
//| A number that is none, as Python writes it                       |
//+------------------------------------------------------------------+
string OddNumber(const double value)
  {
   if(IsNan(value))
      return("nan");
   return(value>0.0 ? "inf" : "-inf");
  }
//+------------------------------------------------------------------+
//| Why the outputs can't be used; empty when they can               |
//+------------------------------------------------------------------+
string ProblemOf(const ENUM_OUTPUT_KIND kind,const string name,const int width,
                 const double &values[])
  {
   const int count=ArraySize(values);
   if(count!=width)
      return(StringFormat("output %s has %d numbers, the contract says %d",name,count,width));
   for(int i=0; i<count; i++)
      if(!MathIsValidNumber(values[i]))
         return("output "+name+" holds "+OddNumber(values[i]));
   if(kind==OUTPUT_SHARES)
      return(ProblemOfShares(name,values));
   if(kind==OUTPUT_TARGET && MathAbs(values[0])>1.0+SHARES_TOLERANCE)
      return(StringFormat("target %.6g is outside -1 to 1",values[0]));
   return("");
  }
//+------------------------------------------------------------------+
//| What the model's numbers mean                                    |
//| sides: of each class in order; only read for shares              |
//+------------------------------------------------------------------+
void DecodeSignal(const ENUM_OUTPUT_KIND kind,const string name,const int width,
                  const int &sides[],const double &values[],Signal &signal)
  {
   NoSignal(ProblemOf(kind,name,width,values),signal);
   if(signal.problem!="")
      return;
   if(kind!=OUTPUT_SHARES)
     {
      signal.long_value=MaxOf(values[0],0.0);
      signal.short_value=MaxOf(-values[0],0.0);
      return;
     }
   for(int i=0; i<width; i++)
     {
      if(sides[i]==SIDE_LONG)
         signal.long_value+=values[i];
      if(sides[i]==SIDE_SHORT)
         signal.short_value+=values[i];
     }
  }
//+------------------------------------------------------------------+
//| What speaks for a side                                           |
//+------------------------------------------------------------------+
double ValueOf(const Signal &signal,const ENUM_SIDE side)
  {
   return(side==SIDE_LONG ? signal.long_value : signal.short_value);
  }
//+------------------------------------------------------------------+
//| Whether a side may be opened                                     |
//+------------------------------------------------------------------+
bool IsAllowedSide(const ENUM_SIDES sides,const ENUM_SIDE side)
  {
   if(sides==SIDES_BOTH)
      return(true);
   return(side==(sides==SIDES_LONG ? SIDE_LONG : SIDE_SHORT));
  }
//+------------------------------------------------------------------+
//| The side that the signal asks for, and why                       |
//+------------------------------------------------------------------+
ENUM_SIDE WantedSide(const Signal &signal,const DecisionSettings &settings,string &why)
  {
   const string both=StringFormat("long %.6g, short %.6g",signal.long_value,signal.short_value);
   if(signal.long_value==signal.short_value)
     {
      why=both+": neither side is above the other";
      return(SIDE_NONE);
     }
   const ENUM_SIDE side=signal.long_value>signal.short_value ? SIDE_LONG : SIDE_SHORT;
   if(ValueOf(signal,side)<settings.open_at)
     {
      why=both+StringFormat(": neither reaches open_at %g",settings.open_at);
      return(SIDE_NONE);
     }
   if(!IsAllowedSide(settings.sides,side))
     {
      why=both+": "+SideName(side)+" is switched off (sides = "+
          (settings.sides==SIDES_LONG ? "long)" : "short)");
      return(SIDE_NONE);
     }
   why=both+StringFormat(": %s reaches open_at %g",SideName(side),settings.open_at);
   return(side);
  }
//+------------------------------------------------------------------+
//| A decision that opens nothing                                    |
//+------------------------------------------------------------------+
void DecideOnly(const ENUM_ACTION action,const string reason,Decision &decision)
  {
   decision.action=action;
   decision.side=SIDE_NONE;
   decision.has_stop=false;
   decision.stop_points=0.0;
   decision.has_take=false;
   decision.take_points=0.0;
   decision.reason=reason;
  }
//+------------------------------------------------------------------+
//| A decision that opens a side, with the distances of its levels   |
//+------------------------------------------------------------------+
void DecideOpening(const ENUM_ACTION action,const ENUM_SIDE side,const string why,
                   const DecisionSettings &settings,const double range_points,
                   Decision &decision)
  {
   DecideOnly(action,why,decision);
   decision.side=side;
   decision.has_stop=settings.stop_points>0.0 || settings.stop_ranges>0.0;
   if(decision.has_stop)
      decision.stop_points=settings.stop_points>0.0 ? settings.stop_points
                           : settings.stop_ranges*range_points;
   decision.has_take=settings.take_points>0.0 || settings.take_ranges>0.0;
   if(decision.has_take)
      decision.take_points=settings.take_points>0.0 ? settings.take_points
                           : settings.take_ranges*range_points;
  }
//+------------------------------------------------------------------+
//| What to do with an open position                                 |
//+------------------------------------------------------------------+
void DecideHeld(const Signal &signal,const Holding &holding,const DecisionSettings &settings,
                const double range_points,Decision &decision)
  {
   if(settings.max_bars>0 && holding.bars>=settings.max_bars)
     {
      DecideOnly(ACTION_CLOSE,StringFormat("held for %d bars, the limit is %d",holding.bars,
                 settings.max_bars),decision);
      return;
     }
   if(signal.problem!="")
     {
      DecideOnly(ACTION_HOLD,"no signal: "+signal.problem,decision);
      return;
     }
   string why;
   const ENUM_SIDE side=WantedSide(signal,settings,why);
   if(side==OtherSide(holding.side))
     {
      if(settings.reverse)
         DecideOpening(ACTION_REVERSE,side,why,settings,range_points,decision);
      else
         DecideOnly(ACTION_CLOSE,why,decision);
      return;
     }
   const double value=ValueOf(signal,holding.side);
   if(value<settings.close_at)
      DecideOnly(ACTION_CLOSE,StringFormat("%s %.6g is below close_at %g",
                 SideName(holding.side),value,settings.close_at),decision);
   else
      DecideOnly(ACTION_HOLD,StringFormat("%s %.6g keeps the position",
                 SideName(holding.side),value),decision);
  }
//+------------------------------------------------------------------+
//| What to do at the bar that gave the signal                       |
//| range_points: the recent range; declined: side that a person has |
//| closed, which is not opened again on the same signal             |
//+------------------------------------------------------------------+
void Decide(const Signal &signal,const Holding &holding,const DecisionSettings &settings,
            const double range_points,const ENUM_SIDE declined,Decision &decision)
  {
   if(holding.is_open)
     {
      DecideHeld(signal,holding,settings,range_points,decision);
      return;
     }
   if(signal.problem!="")
     {
      DecideOnly(ACTION_HOLD,"no signal: "+signal.problem,decision);
      return;
     }
   string why;
   const ENUM_SIDE side=WantedSide(signal,settings,why);
   if(side==SIDE_NONE)
     {
      DecideOnly(ACTION_HOLD,why,decision);
      return;
     }
   if(side==declined)
     {
      DecideOnly(ACTION_HOLD,why+"; a person closed "+SideName(side)+
                 ", and the signal is still the same",decision);
      return;
     }
   DecideOpening(ACTION_OPEN,side,why,settings,range_points,decision);
  }
#endif
//+------------------------------------------------------------------+
