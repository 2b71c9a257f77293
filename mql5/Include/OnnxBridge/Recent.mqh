//+------------------------------------------------------------------+
//| Recent.mqh: what decisions need of recent bars                   |
//| Twin: bridge/strategy/recent.py, bridge/mt5/timeframes.py,       |
//| bridge/market/quality.py                                         |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_RECENT_MQH
#define ONNXBRIDGE_RECENT_MQH

#include <OnnxBridge\Numbers.mqh>

#define RECENT_DAY 86400
#define RECENT_WEEK 604800
// 1970-01-01 was a Thursday; weeks begin on Sunday, four days before.
#define RECENT_THURSDAY 4
//+------------------------------------------------------------------+
//| Mean true range of the last closed bars, points                  |
//| rates: closed bars, oldest first, at least bars+1                |
//+------------------------------------------------------------------+
double RangePoints(const MqlRates &rates[],const int bars,const double point)
  {
   double ranges[];
   const int count=ArraySize(rates);
   if(bars<1 || count<bars+1 || ArrayResize(ranges,bars)!=bars)
      return(0.0);
   for(int i=0; i<bars; i++)
     {
      const int    bar=count-bars+i;
      const double before=rates[bar-1].close;
      ranges[i]=MaxOf(rates[bar].high,before)-MinOf(rates[bar].low,before);
     }
   return(SumOf(ranges,0,bars)/bars/point);
  }
//+------------------------------------------------------------------+
//| Closed bars that opened at or after the given time               |
//+------------------------------------------------------------------+
int BarsSince(const MqlRates &rates[],const datetime opened)
  {
   int count=0;
   for(int i=ArraySize(rates)-1; i>=0 && rates[i].time>=opened; i--)
      count++;
   return(count);
  }
//+------------------------------------------------------------------+
//| Number of the server's day, 0 is 1970-01-01                      |
//+------------------------------------------------------------------+
int ServerDay(const datetime time)
  {
   return((int)((long)time/RECENT_DAY));
  }
//+------------------------------------------------------------------+
//| Day of the week, 0 is Sunday                                     |
//+------------------------------------------------------------------+
int WeekdayOf(const datetime time)
  {
   return((ServerDay(time)+RECENT_THURSDAY)%7);
  }
//+------------------------------------------------------------------+
//| Second of the server's day                                       |
//+------------------------------------------------------------------+
int SecondOfDay(const datetime time)
  {
   return((int)((long)time%RECENT_DAY));
  }
//+------------------------------------------------------------------+
//| Open time of the bar that holds the time                         |
//| period: not PERIOD_CURRENT; seconds: its length                  |
//+------------------------------------------------------------------+
datetime OpenOf(const datetime time,const ENUM_TIMEFRAMES period,const int seconds)
  {
   const long now=(long)time;
   if(period==PERIOD_MN1)
     {
      MqlDateTime parts;
      TimeToStruct(time,parts);
      return((datetime)(now-now%RECENT_DAY-(parts.day-1)*RECENT_DAY));
     }
   if(period==PERIOD_W1)
      return((datetime)(now-(now+RECENT_THURSDAY*RECENT_DAY)%RECENT_WEEK));
   return((datetime)(now-now%seconds));
  }
//+------------------------------------------------------------------+
//| What is wrong with a bar; empty when it is possible              |
//+------------------------------------------------------------------+
string FaultOfBar(const MqlRates &bar)
  {
   if(!MathIsValidNumber(bar.open) || !MathIsValidNumber(bar.high) ||
      !MathIsValidNumber(bar.low) || !MathIsValidNumber(bar.close))
      return("has a price that is not a positive number");
   if(bar.open<=0.0 || bar.high<=0.0 || bar.low<=0.0 || bar.close<=0.0)
      return("has a price that is not a positive number");
   if(bar.high<bar.open || bar.high<bar.low || bar.high<bar.close)
      return("has a high below another of its prices");
   if(bar.low>bar.open || bar.low>bar.close)
      return("has a low above another of its prices");
   if(bar.spread<0)
      return("has a negative spread");
   return("");
  }
//+------------------------------------------------------------------+
//| The first impossible bar, and why; empty when all are possible   |
//+------------------------------------------------------------------+
string FaultOfBars(const MqlRates &rates[])
  {
   for(int i=0; i<ArraySize(rates); i++)
     {
      string fault=FaultOfBar(rates[i]);
      if(fault=="" && i>0 && rates[i].time==rates[i-1].time)
         fault="stands twice";
      if(fault=="" && i>0 && rates[i].time<rates[i-1].time)
         fault="is older than the bar before it";
      if(fault!="")
         return("the bar of "+TimeToString(rates[i].time,TIME_DATE|TIME_SECONDS)+" "+fault);
     }
   return("");
  }
#endif
//+------------------------------------------------------------------+
