//+------------------------------------------------------------------+
//| Trailing.mqh: looks after a kept position, once per closed bar   |
//| Twin: bridge/strategy/manage.py                                  |
//| The old stop was tested while the bar ran; what is decided here  |
//| counts from the next bar on.                                     |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_TRAILING_MQH
#define ONNXBRIDGE_TRAILING_MQH

#include <OnnxBridge\Numbers.mqh>
#include <OnnxBridge\Recent.mqh>
#include <OnnxBridge\Terms.mqh>

// Points; the noise of differences of prices.
#define TRAILING_NOISE 1e-3
#define TRAILING_FRIDAY 5

// Distances and profits are points; 0 is off. weekend_second: second of Friday, -1 is off.
struct ManageSettings
  {
   double            trail_points;
   double            trail_ranges;
   double            trail_after_points;
   double            trail_step_points;
   double            breakeven_after_points;
   double            breakeven_plus_points;
   double            partial_at_points;
   double            partial_share;
   int               weekend_second;
  };

// A kept position and the bar that has just closed. best: its best closing price, the high for a
// long position, the low plus the spread for a short one; close: its last closing price, likewise.
struct Kept
  {
   ENUM_SIDE         side;
   double            opened;
   double            sl;      // 0.0 without one
   double            best;
   double            close;
   bool              is_reduced;
  };

struct Care
  {
   bool              has_sl;
   double            sl;          // not on the tick yet
   double            close_share; // 0.0 closes nothing
   string            reason;      // empty when nothing is needed
  };
//+------------------------------------------------------------------+
//| Whether anything is to be looked after                           |
//+------------------------------------------------------------------+
bool HasCare(const ManageSettings &settings)
  {
   return(settings.trail_points>0.0 || settings.trail_ranges>0.0 ||
          settings.breakeven_after_points>0.0 || settings.partial_at_points>0.0);
  }
//+------------------------------------------------------------------+
//| Profit at a price, points                                        |
//+------------------------------------------------------------------+
double ProfitPoints(const Kept &kept,const double price,const double point)
  {
   return((double)kept.side*(price-kept.opened)/point);
  }
//+------------------------------------------------------------------+
//| Takes a level when it is better than what was wanted before      |
//+------------------------------------------------------------------+
void WantLevel(const double level,const string why,const double sign,Care &care)
  {
   if(care.has_sl && sign*level<=sign*care.sl)
      return;
   care.has_sl=true;
   care.sl=level;
   care.reason=why;
  }
//+------------------------------------------------------------------+
//| The best of what trailing and break-even ask for, if it is       |
//| better than the stop                                             |
//+------------------------------------------------------------------+
void CareForStop(const Kept &kept,const ManageSettings &settings,const double range_points,
                 const double point,Care &care)
  {
   const double sign=(double)kept.side;
   const double profit=ProfitPoints(kept,kept.best,point);
   const double distance=settings.trail_ranges>0.0 ? settings.trail_ranges*range_points
                         : settings.trail_points;
   const bool   trails=settings.trail_ranges>0.0 || settings.trail_points>0.0;
   if(trails && profit>=settings.trail_after_points-TRAILING_NOISE)
      WantLevel(kept.best-sign*distance*point,StringFormat("the stop trails %.0f",distance),sign,
                care);
   const double after=settings.breakeven_after_points;
   const double plus=settings.breakeven_plus_points;
   if(after>0.0 && profit>=after-TRAILING_NOISE)
      WantLevel(kept.opened+sign*plus*point,StringFormat("break-even plus %g",plus),sign,care);
   if(!care.has_sl)
      return;
   const double least=MaxOf(settings.trail_step_points-TRAILING_NOISE,TRAILING_NOISE);
   if(kept.sl!=0.0 && sign*(care.sl-kept.sl)/point<least)
     {
      care.has_sl=false;
      care.sl=0.0;
      care.reason="";
      return;
     }
   care.reason+=StringFormat(" points at %.0f points of profit",profit);
  }
//+------------------------------------------------------------------+
//| What a kept position needs                                       |
//+------------------------------------------------------------------+
void CareFor(const Kept &kept,const ManageSettings &settings,const double range_points,
             const double point,Care &care)
  {
   care.has_sl=false;
   care.sl=0.0;
   care.close_share=0.0;
   care.reason="";
   CareForStop(kept,settings,range_points,point,care);
   const double profit=ProfitPoints(kept,kept.close,point);
   const double at=settings.partial_at_points;
   if(at<=0.0 || kept.is_reduced || profit<at-TRAILING_NOISE)
      return;
   care.close_share=settings.partial_share;
   const string why=StringFormat("profit is %.0f points: %.0f%% is closed",profit,
                                 settings.partial_share*100.0);
   care.reason=care.reason=="" ? why : care.reason+"; "+why;
  }
//+------------------------------------------------------------------+
//| Whether positions are to be closed before the weekend            |
//+------------------------------------------------------------------+
bool IsWeekendNear(const datetime time,const ManageSettings &settings)
  {
   if(settings.weekend_second<0)
      return(false);
   const int day=WeekdayOf(time);
   return(day>TRAILING_FRIDAY ||
          (day==TRAILING_FRIDAY && SecondOfDay(time)>=settings.weekend_second));
  }
#endif
//+------------------------------------------------------------------+
