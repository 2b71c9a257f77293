//+------------------------------------------------------------------+
//| Gauges.mqh: how much of each loss limit is used                  |
//| Twin: bridge/risk/gauges.py                                      |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_GAUGES_MQH
#define ONNXBRIDGE_GAUGES_MQH

#include <OnnxBridge\Baselines.mqh>

enum ENUM_DAY_START
  {
   DAY_START_LARGER,  // larger of balance and equity
   DAY_START_BALANCE, // balance
   DAY_START_EQUITY   // equity
  };

// Shares; a limit of 0 is off.
struct LossLimits
  {
   double            daily_loss;
   double            weekly_loss;
   double            drawdown;
   int               losses_in_row;
   double            prop_start;        // starting balance, account currency; 0 switches all off
   double            prop_daily_loss;
   ENUM_DAY_START    prop_daily_from;
   double            prop_total_loss;
   double            prop_profit_target;
  };

struct Gauge
  {
   string            name;
   double            used;  // share, or count where is_count
   double            limit; // 0 is off; it is broken once as much is used
   string            words;
   bool              is_count;
   bool              halts; // whether entries stay ended when it is broken
  };
//+------------------------------------------------------------------+
//| Whether a limit is off or not reached; what is no number breaks  |
//| it                                                               |
//+------------------------------------------------------------------+
bool IsUnder(const double used,const double limit)
  {
   if(limit<=0.0)
      return(true);
   if(IsNan(used))
      return(false);
   return(used<limit);
  }
//+------------------------------------------------------------------+
//| The same of a gauge                                              |
//+------------------------------------------------------------------+
bool IsWithin(const Gauge &gauge)
  {
   return(IsUnder(gauge.used,gauge.limit));
  }
//+------------------------------------------------------------------+
//| A share as a person reads it                                     |
//+------------------------------------------------------------------+
string Percent(const double share)
  {
   if(IsNan(share))
      return("nan%");
   return(StringFormat("%.2f%%",share*100.0));
  }
//+------------------------------------------------------------------+
//| The limit as a person reads it                                   |
//+------------------------------------------------------------------+
string LimitWords(const Gauge &gauge)
  {
   if(gauge.limit<=0.0)
      return("off");
   return(gauge.is_count ? StringFormat("%g",gauge.limit) : Percent(gauge.limit));
  }
//+------------------------------------------------------------------+
//| Fills a gauge of a share                                         |
//+------------------------------------------------------------------+
void SetGauge(const string name,const double used,const double limit,const string words,
              const bool halts,Gauge &gauge)
  {
   gauge.name=name;
   gauge.used=used;
   gauge.limit=limit;
   gauge.words=words;
   gauge.is_count=false;
   gauge.halts=halts;
  }
//+------------------------------------------------------------------+
//| The day's worst loss                                             |
//+------------------------------------------------------------------+
void GaugeDailyLoss(const Baselines &known,const double equity,const double limit,Gauge &gauge)
  {
   const double used=DayLossShare(known,equity);
   SetGauge("daily_loss",used,limit,Percent(used)+" lost today, closed and floating",false,gauge);
  }
//+------------------------------------------------------------------+
//| The week's worst loss                                            |
//+------------------------------------------------------------------+
void GaugeWeeklyLoss(const Baselines &known,const double equity,const double limit,Gauge &gauge)
  {
   const double used=WeekLossShare(known,equity);
   SetGauge("weekly_loss",used,limit,Percent(used)+" lost this week, closed and floating",false,
            gauge);
  }
//+------------------------------------------------------------------+
//| The fall from the highest equity                                 |
//+------------------------------------------------------------------+
void GaugeDrawdown(const Baselines &known,const double equity,const double limit,Gauge &gauge)
  {
   const double used=DrawdownShare(known,equity);
   SetGauge("drawdown",used,limit,"equity was "+Percent(used)+" below its peak",true,gauge);
  }
//+------------------------------------------------------------------+
//| The longest row of losses on the day                             |
//+------------------------------------------------------------------+
void GaugeLossesInRow(const int count,const int limit,Gauge &gauge)
  {
   SetGauge("losses_in_row",count,limit,StringFormat("%d losses in a row today",count),false,
            gauge);
   gauge.is_count=true;
  }
//+------------------------------------------------------------------+
//| From what a prop firm counts the day's loss                      |
//+------------------------------------------------------------------+
double PropDayStart(const Baselines &known,const ENUM_DAY_START from)
  {
   if(from==DAY_START_BALANCE)
      return(known.day_balance);
   if(from==DAY_START_EQUITY)
      return(known.day_equity);
   return(MaxOf(known.day_balance,known.day_equity));
  }
//+------------------------------------------------------------------+
//| What a prop firm counts from; deposits since raise it            |
//+------------------------------------------------------------------+
double PropStart(const Baselines &known,const LossLimits &limits)
  {
   return(limits.prop_start+known.deposits);
  }
//+------------------------------------------------------------------+
//| The day's loss by a prop firm's rules                            |
//+------------------------------------------------------------------+
void GaugePropDailyLoss(const Baselines &known,const double equity,const LossLimits &limits,
                        Gauge &gauge)
  {
   const double from=PropDayStart(known,limits.prop_daily_from);
   const double used=(from-MinOf(equity,known.day_low))/PropStart(known,limits);
   SetGauge("prop_daily_loss",used,limits.prop_daily_loss,
            Percent(used)+" of the starting balance lost today, closed and floating",false,gauge);
  }
//+------------------------------------------------------------------+
//| The whole loss by a prop firm's rules, share of its start        |
//+------------------------------------------------------------------+
double PropTotalLossShare(const Baselines &known,const double equity,const LossLimits &limits)
  {
   const double start=PropStart(known,limits);
   return((start-MinOf(equity,known.day_low))/start);
  }
//+------------------------------------------------------------------+
//| The same as a gauge                                              |
//+------------------------------------------------------------------+
void GaugePropTotalLoss(const Baselines &known,const double equity,const LossLimits &limits,
                        Gauge &gauge)
  {
   const double used=PropTotalLossShare(known,equity,limits);
   SetGauge("prop_total_loss",used,limits.prop_total_loss,
            Percent(used)+" of the starting balance lost, closed and floating",true,gauge);
  }
//+------------------------------------------------------------------+
//| What ends entries for good, whether or not one is asked for;     |
//| empty where nothing does. Asked at every tick, so that words are |
//| made only when they are needed.                                  |
//+------------------------------------------------------------------+
string HaltingLoss(const LossLimits &limits,const Baselines &known,const double equity)
  {
   Gauge gauge;
   if(!IsUnder(DrawdownShare(known,equity),limits.drawdown))
      GaugeDrawdown(known,equity,limits.drawdown,gauge);
   else if(limits.prop_start>0.0 &&
           !IsUnder(PropTotalLossShare(known,equity,limits),limits.prop_total_loss))
      GaugePropTotalLoss(known,equity,limits,gauge);
   else
      return("");
   return(gauge.name+": "+gauge.words);
  }
//+------------------------------------------------------------------+
//| The profit by a prop firm's rules                                |
//+------------------------------------------------------------------+
void GaugePropTarget(const Baselines &known,const double equity,const LossLimits &limits,
                     Gauge &gauge)
  {
   const double start=PropStart(known,limits);
   const double used=(equity-start)/start;
   SetGauge("prop_profit_target",used,limits.prop_profit_target,
            Percent(used)+" of the starting balance gained, floating included",false,gauge);
  }
#endif
//+------------------------------------------------------------------+
