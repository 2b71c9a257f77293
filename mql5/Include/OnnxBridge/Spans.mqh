//+------------------------------------------------------------------+
//| Spans.mqh: hours, spans and weekdays, read from text             |
//| Twin: bridge/risk/spans.py, bridge/settings/hours.py             |
//| A span holds its first moment and not its last; one that ends    |
//| before it begins goes over midnight.                             |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_SPANS_MQH
#define ONNXBRIDGE_SPANS_MQH

#include <OnnxBridge\Recent.mqh>

#define SPANS_MOST 8
#define SPANS_DAYS "sun mon tue wed thu fri sat"

// Seconds of the server's day.
struct Span
  {
   int               begin;
   int               end;
  };

struct Spans
  {
   int               count;
   Span              at[SPANS_MOST];
   string            text;
  };
//+------------------------------------------------------------------+
//| Two digits at a place of a text; -1 when they are none           |
//+------------------------------------------------------------------+
int TwoDigits(const string text,const int from)
  {
   if(from+2>StringLen(text))
      return(-1);
   const int tens=(int)StringGetCharacter(text,from)-'0';
   const int ones=(int)StringGetCharacter(text,from+1)-'0';
   if(tens<0 || tens>9 || ones<0 || ones>9)
      return(-1);
   return(10*tens+ones);
  }
//+------------------------------------------------------------------+
//| Second of the day of a time such as 23:55; -1 when it is none    |
//+------------------------------------------------------------------+
int SecondsOf(const string text)
  {
   const int hours=TwoDigits(text,0);
   const int minutes=TwoDigits(text,3);
   if(StringLen(text)!=5 || StringSubstr(text,2,1)!=":" || hours<0 || hours>24 ||
      minutes<0 || minutes>59 || (hours==24 && minutes!=0))
      return(-1);
   return(hours*3600+minutes*60);
  }
//+------------------------------------------------------------------+
//| Time of day in Friday's inputs: 24:00 is none; "" and off are -1 |
//+------------------------------------------------------------------+
bool ReadTimeOfDay(const string text,int &second)
  {
   second=-1;
   if(text=="" || text=="off")
      return(true);
   second=SecondsOf(text);
   return(second>=0 && second<RECENT_DAY);
  }
//+------------------------------------------------------------------+
//| A span such as 08:00-12:00                                       |
//+------------------------------------------------------------------+
bool ReadSpan(const string text,Span &span)
  {
   if(StringLen(text)!=11 || StringSubstr(text,5,1)!="-")
      return(false);
   span.begin=SecondsOf(StringSubstr(text,0,5));
   span.end=SecondsOf(StringSubstr(text,6,5));
   return(span.begin>=0 && span.begin<RECENT_DAY && span.end>=0);
  }
//+------------------------------------------------------------------+
//| Spans separated by spaces; "" and off are none at all            |
//+------------------------------------------------------------------+
bool ReadSpans(const string text,Spans &spans)
  {
   spans.count=0;
   spans.text=text;
   if(text=="" || text=="off")
      return(true);
   string parts[];
   const int count=StringSplit(text,' ',parts);
   if(count<1 || count>SPANS_MOST)
      return(false);
   for(int i=0; i<count; i++)
      if(!ReadSpan(parts[i],spans.at[i]))
         return(false);
   spans.count=count;
   return(true);
  }
//+------------------------------------------------------------------+
//| Mask of weekdays, Sunday is bit 0; "" and off are 0, all days    |
//+------------------------------------------------------------------+
bool ReadWeekdays(const string text,int &mask)
  {
   mask=0;
   if(text=="" || text=="off")
      return(true);
   string parts[];
   const int count=StringSplit(text,' ',parts);
   for(int i=0; i<count; i++)
     {
      const int at=StringFind(SPANS_DAYS,parts[i]);
      if(StringLen(parts[i])!=3 || at<0 || at%4!=0)
         return(false);
      mask|=1<<(at/4);
     }
   return(count>0);
  }
//+------------------------------------------------------------------+
//| Short name of a weekday, 0 is Sunday                             |
//+------------------------------------------------------------------+
string WeekdayName(const int day)
  {
   return(StringSubstr(SPANS_DAYS,day*4,3));
  }
//+------------------------------------------------------------------+
//| Whether a moment lies in a span                                  |
//+------------------------------------------------------------------+
bool IsInSpan(const datetime time,const Span &span)
  {
   const int now=SecondOfDay(time);
   if(span.begin<span.end)
      return(span.begin<=now && now<span.end);
   return(now>=span.begin || now<span.end);
  }
//+------------------------------------------------------------------+
//| Whether a moment lies in one of the spans                        |
//+------------------------------------------------------------------+
bool IsInSpans(const datetime time,const Spans &spans)
  {
   for(int i=0; i<spans.count; i++)
      if(IsInSpan(time,spans.at[i]))
         return(true);
   return(false);
  }
#endif
//+------------------------------------------------------------------+
