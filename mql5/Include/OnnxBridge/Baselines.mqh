//+------------------------------------------------------------------+
//| Baselines.mqh: what losses are measured from                     |
//| Twin: bridge/risk/baselines.py                                   |
//| A limit that a day or week has broken stays broken until the     |
//| next one, however equity moves: its lowest equity counts.        |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_BASELINES_MQH
#define ONNXBRIDGE_BASELINES_MQH

#include <OnnxBridge\Numbers.mqh>
#include <OnnxBridge\Recent.mqh>

// Account currency; day: number of the server's day.
struct Baselines
  {
   bool              is_known;    // false before the first look
   int               day;
   double            day_equity;  // first of the day
   double            peak_equity;
   double            day_low;
   double            day_balance; // first of the day, credit included
   double            week_equity; // first of the week, which begins on Sunday
   double            week_low;
   double            deposits;    // paid in since the first look
  };
//+------------------------------------------------------------------+
//| Number of the week that holds a day                              |
//+------------------------------------------------------------------+
int WeekOfDay(const int day)
  {
   return((day+RECENT_THURSDAY)/7);
  }
//+------------------------------------------------------------------+
//| Baselines of an account seen for the first time                  |
//+------------------------------------------------------------------+
void FirstBaselines(const datetime time,const double equity,const double balance,
                    Baselines &known)
  {
   known.is_known=true;
   known.day=ServerDay(time);
   known.day_equity=equity;
   known.peak_equity=equity;
   known.day_low=equity;
   known.day_balance=balance;
   known.week_equity=equity;
   known.week_low=equity;
   known.deposits=0.0;
  }
//+------------------------------------------------------------------+
//| Takes in an equity seen at a server time                         |
//| balance: with credit. An older day than the known one is over.   |
//+------------------------------------------------------------------+
void AdvanceBaselines(const datetime time,const double equity,const double balance,
                      Baselines &known)
  {
   if(!known.is_known)
     {
      FirstBaselines(time,equity,balance,known);
      return;
     }
   const int day=ServerDay(time);
   known.peak_equity=MaxOf(known.peak_equity,equity);
   if(day<known.day)
      return;
   if(day==known.day)
     {
      known.week_low=MinOf(MinOf(known.week_low,known.day_low),equity);
      known.day_low=MinOf(known.day_low,equity);
      return;
     }
   if(WeekOfDay(day)>WeekOfDay(known.day))
     {
      known.week_equity=equity;
      known.week_low=equity;
     }
   else
      known.week_low=MinOf(MinOf(known.week_low,known.day_low),equity);
   known.day=day;
   known.day_equity=equity;
   known.day_low=equity;
   known.day_balance=balance;
  }
//+------------------------------------------------------------------+
//| Takes money paid in (above 0) or out for neither gain nor loss   |
//+------------------------------------------------------------------+
void ShiftBaselines(const double amount,Baselines &known)
  {
   known.day_equity+=amount;
   known.peak_equity+=amount;
   known.day_low+=amount;
   known.day_balance+=amount;
   known.week_equity+=amount;
   known.week_low+=amount;
   known.deposits+=MaxOf(amount,0.0);
  }
//+------------------------------------------------------------------+
//| Loss as a share; without equity everything is lost               |
//+------------------------------------------------------------------+
double ShareOf(const double loss,const double of)
  {
   if(IsNan(of) || of<=0.0)
      return(1.0);
   return(loss/of);
  }
//+------------------------------------------------------------------+
//| The day's worst loss, share of its first equity                  |
//+------------------------------------------------------------------+
double DayLossShare(const Baselines &known,const double equity)
  {
   return(ShareOf(known.day_equity-MinOf(equity,known.day_low),known.day_equity));
  }
//+------------------------------------------------------------------+
//| The week's worst loss, share of its first equity                 |
//+------------------------------------------------------------------+
double WeekLossShare(const Baselines &known,const double equity)
  {
   const double lowest=MinOf(MinOf(equity,known.day_low),known.week_low);
   return(ShareOf(known.week_equity-lowest,known.week_equity));
  }
//+------------------------------------------------------------------+
//| The fall from the highest equity, share of it                    |
//+------------------------------------------------------------------+
double DrawdownShare(const Baselines &known,const double equity)
  {
   return(ShareOf(known.peak_equity-equity,known.peak_equity));
  }
#endif
//+------------------------------------------------------------------+
