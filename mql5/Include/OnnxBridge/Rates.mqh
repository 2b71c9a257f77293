//+------------------------------------------------------------------+
//| Rates.mqh: closed bars, and raw bars into a model's inputs       |
//| Twin: bridge/market/feed.py, bridge/model/session.py             |
//| A bar is closed when the terminal shows a newer one. Arrays are  |
//| never set as series: a model reads memory, oldest bar first.     |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_RATES_MQH
#define ONNXBRIDGE_RATES_MQH

#include <OnnxBridge\Contract.mqh>
#include <OnnxBridge\Recent.mqh>

enum ENUM_FEED
  {
   FEED_NOTHING, // no bar closed since the last one, or not ready
   FEED_SHORT,   // too little history; asked for again
   FEED_FAULTY,  // an impossible bar; not asked for again
   FEED_BAR      // a bar has closed
  };

// The largest number that a float holds; anything above becomes infinity.
#define RATES_FLOAT_MAX 3.4028235677973366e+38
//+------------------------------------------------------------------+
//| Value of a column of a bar                                       |
//+------------------------------------------------------------------+
double ColumnOf(const MqlRates &bar,const int column)
  {
   switch(column)
     {
      case COLUMN_TIME:
         return((double)(long)bar.time);
      case COLUMN_OPEN:
         return(bar.open);
      case COLUMN_HIGH:
         return(bar.high);
      case COLUMN_LOW:
         return(bar.low);
      case COLUMN_CLOSE:
         return(bar.close);
      case COLUMN_TICK_VOLUME:
         return((double)bar.tick_volume);
      case COLUMN_SPREAD:
         return((double)bar.spread);
      default:
         return((double)bar.real_volume);
     }
  }
//+------------------------------------------------------------------+
//| Fills one input with a window of bars, row after row             |
//| from: of the window's oldest bar. false: a number can't be used. |
//+------------------------------------------------------------------+
bool FillInput(const ContractInput &feed,const MqlRates &rates[],const int from,const int window,
               double &values[])
  {
   const bool is_float=feed.data_type==ONNX_DATA_TYPE_FLOAT;
   if(ArrayResize(values,window*feed.count)!=window*feed.count)
      return(false);
   for(int i=0; i<window; i++)
      for(int j=0; j<feed.count; j++)
        {
         const double value=ColumnOf(rates[from+i],feed.columns[j]);
         if(!MathIsValidNumber(value) || (is_float && MathAbs(value)>=RATES_FLOAT_MAX))
            return(false);
         values[i*feed.count+j]=value;
        }
   return(true);
  }
//+------------------------------------------------------------------+
//| Hands out each closed bar at most once, with the bars before it  |
//+------------------------------------------------------------------+
class CFeed
  {
private:
   string            m_symbol;
   ENUM_TIMEFRAMES   m_period;
   int               m_depth;
   datetime          m_seen_open;
   datetime          m_after;
   datetime          m_closed_at;
   string            m_fault;

public:
                     CFeed(void);
   void              Init(const string symbol,const ENUM_TIMEFRAMES period,const int depth,
                          const datetime after);
   ENUM_FEED         Next(MqlRates &rates[]);
   datetime          After(void) const { return(m_after); }
   datetime          ClosedAt(void) const { return(m_closed_at); }
   string            Fault(void) const { return(m_fault); }
  };
//+------------------------------------------------------------------+
//| Constructor                                                      |
//+------------------------------------------------------------------+
CFeed::CFeed(void)
  {
   m_symbol="";
   m_period=PERIOD_CURRENT;
   m_depth=0;
   m_seen_open=0;
   m_after=0;
   m_closed_at=0;
   m_fault="";
  }
//+------------------------------------------------------------------+
//| depth: closed bars handed out; after: the last bar decided       |
//+------------------------------------------------------------------+
void CFeed::Init(const string symbol,const ENUM_TIMEFRAMES period,const int depth,
                 const datetime after)
  {
   m_symbol=symbol;
   m_period=period;
   m_depth=depth;
   m_seen_open=0;
   m_after=after;
   m_closed_at=0;
   m_fault="";
  }
//+------------------------------------------------------------------+
//| The newest closed bar that was not handed out yet                |
//| rates: shape (depth), closed bars, oldest first                  |
//+------------------------------------------------------------------+
ENUM_FEED CFeed::Next(MqlRates &rates[])
  {
   // One cheap look on every tick; bars are read only when a new one has opened.
   const datetime opened=iTime(m_symbol,m_period,0);
   if(opened==0 || opened==m_seen_open)
      return(FEED_NOTHING);
   ResetLastError();
   const int count=CopyRates(m_symbol,m_period,0,m_depth+1,rates);
   if(count<m_depth+1)
     {
      m_fault=StringFormat("the terminal has %d of %d closed bars; scroll its chart back until it "
                           "has loaded them",MathMax(count-1,0),m_depth);
      return(FEED_SHORT);
     }
   const datetime newest=rates[m_depth-1].time;
   m_closed_at=rates[m_depth].time;
   // Marked before any work, so that a bar that fails is not tried on every tick.
   m_seen_open=m_closed_at;
   if(newest<=m_after || ArrayResize(rates,m_depth)!=m_depth)
      return(FEED_NOTHING);
   m_after=newest;
   m_fault=FaultOfBars(rates);
   return(m_fault=="" ? FEED_BAR : FEED_FAULTY);
  }
#endif
//+------------------------------------------------------------------+
