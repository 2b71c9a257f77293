//+------------------------------------------------------------------+
//| Journal.mqh: CSV of every decision, order and event              |
//| Twin: bridge/journal/schema.py, bridge/engine/row.py             |
//| One header, four kinds of row: run, decision, order, event. What |
//| does not apply stays empty. Numbers have 17 digits, so that they |
//| are read as the same numbers; times are server epoch seconds.    |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_JOURNAL_MQH
#define ONNXBRIDGE_JOURNAL_MQH

#include <OnnxBridge\Contract.mqh>
#include <OnnxBridge\Scene.mqh>
#include <OnnxBridge\Trade.mqh>

#define JOURNAL_HEADER "row,bar_time,time,magic,symbol,timeframe,model_sha256,input_sha256,outputs,long,short,problem,action,side,stop_points,take_points,reason,held_side,held_volume,held_bars,state,bid,ask,balance,equity,purpose,order_type,volume,price,sl,tp,position,deviation,filling,denied,retcode,outcome,order,deal,deal_price,deal_volume,words"

// As many as the header has; ENUM_JOURNAL counts them.
#define JOURNAL_COLUMNS 42

enum ENUM_JOURNAL
  {
   JOURNAL_ROW,
   JOURNAL_BAR_TIME,
   JOURNAL_TIME,
   JOURNAL_MAGIC,
   JOURNAL_SYMBOL,
   JOURNAL_TIMEFRAME,
   JOURNAL_MODEL,
   JOURNAL_INPUT,
   JOURNAL_OUTPUTS,
   JOURNAL_LONG,
   JOURNAL_SHORT,
   JOURNAL_PROBLEM,
   JOURNAL_ACTION,
   JOURNAL_SIDE,
   JOURNAL_STOP_POINTS,
   JOURNAL_TAKE_POINTS,
   JOURNAL_REASON,
   JOURNAL_HELD_SIDE,
   JOURNAL_HELD_VOLUME,
   JOURNAL_HELD_BARS,
   JOURNAL_STATE,
   JOURNAL_BID,
   JOURNAL_ASK,
   JOURNAL_BALANCE,
   JOURNAL_EQUITY,
   JOURNAL_PURPOSE,
   JOURNAL_ORDER_TYPE,
   JOURNAL_VOLUME,
   JOURNAL_PRICE,
   JOURNAL_SL,
   JOURNAL_TP,
   JOURNAL_POSITION,
   JOURNAL_DEVIATION,
   JOURNAL_FILLING,
   JOURNAL_DENIED,
   JOURNAL_RETCODE,
   JOURNAL_OUTCOME,
   JOURNAL_ORDER,
   JOURNAL_DEAL,
   JOURNAL_DEAL_PRICE,
   JOURNAL_DEAL_VOLUME,
   JOURNAL_WORDS
  };
//+------------------------------------------------------------------+
//| A number that is read again as the same number                   |
//+------------------------------------------------------------------+
string ExactText(const double value)
  {
   if(IsNan(value))
      return("nan");
   if(!MathIsValidNumber(value))
      return(value>0.0 ? "inf" : "-inf");
   return(StringFormat("%.17g",value));
  }
//+------------------------------------------------------------------+
//| A text as a field, quoted where it has to be                     |
//+------------------------------------------------------------------+
string CsvText(const string text)
  {
   if(StringFind(text,",")<0 && StringFind(text,"\"")<0 && StringFind(text,"\n")<0)
      return(text);
   string quoted=text;
   StringReplace(quoted,"\"","\"\"");
   return("\""+quoted+"\"");
  }
//+------------------------------------------------------------------+
//| The file of one run                                              |
//+------------------------------------------------------------------+
class CJournal
  {
private:
   int               m_handle;
   string            m_magic;
   string            m_symbol;
   string            m_timeframe;
   string            m_sha256;
   long              m_bar;
   string            m_fields[JOURNAL_COLUMNS];

   void              Begin(const string row,const datetime now);
   void              Set(const ENUM_JOURNAL column,const string value);
   void              SetNumber(const ENUM_JOURNAL column,const double value);
   void              End(void);

public:
                     CJournal(void);
                    ~CJournal(void);
   bool              Open(const string file,const bool is_new);
   void              Close(void);
   bool              IsOpen(void) const { return(m_handle!=INVALID_HANDLE); }
   void              Mark(const ulong magic,const string symbol,const Contract &contract,
                          const string sha256);
   void              Run(const datetime now,const string words);
   void              Decided(const datetime now,const datetime bar,const string input_sha256,
                             const double &values[],const Signal &signal,const Decision &decision,
                             const Holding &holding,const string state,const bool has_scene,
                             const Scene &scene);
   void              Ordered(const datetime now,const Order &order);
   void              Event(const datetime now,const string kind,const string words);
  };
//+------------------------------------------------------------------+
//| Constructor                                                      |
//+------------------------------------------------------------------+
CJournal::CJournal(void)
  {
   m_handle=INVALID_HANDLE;
   m_bar=0;
   m_magic="";
   m_symbol="";
   m_timeframe="";
   m_sha256="";
  }
//+------------------------------------------------------------------+
//| Destructor                                                       |
//+------------------------------------------------------------------+
CJournal::~CJournal(void)
  {
   Close();
  }
//+------------------------------------------------------------------+
//| file: in the common folder; is_new: begin it again               |
//+------------------------------------------------------------------+
bool CJournal::Open(const string file,const bool is_new)
  {
   Close();
   const bool goes_on=!is_new && FileIsExist(file,FILE_COMMON);
   const int  flags=FILE_WRITE|FILE_TXT|FILE_ANSI|FILE_COMMON|FILE_SHARE_READ;
   m_handle=FileOpen(file,goes_on ? flags|FILE_READ : flags,0,CP_UTF8);
   if(m_handle==INVALID_HANDLE)
      return(false);
   if(goes_on)
      FileSeek(m_handle,0,SEEK_END);
   else
      FileWriteString(m_handle,JOURNAL_HEADER+"\r\n");
   return(true);
  }
//+------------------------------------------------------------------+
//| Ends the file; may be called twice                               |
//+------------------------------------------------------------------+
void CJournal::Close(void)
  {
   if(m_handle!=INVALID_HANDLE)
      FileClose(m_handle);
   m_handle=INVALID_HANDLE;
  }
//+------------------------------------------------------------------+
//| What stands in every row                                         |
//+------------------------------------------------------------------+
void CJournal::Mark(const ulong magic,const string symbol,const Contract &contract,
                    const string sha256)
  {
   m_magic=StringFormat("%I64u",magic);
   m_symbol=symbol;
   m_timeframe=contract.timeframe_name;
   m_sha256=sha256;
  }
//+------------------------------------------------------------------+
//| Begins a row                                                     |
//+------------------------------------------------------------------+
void CJournal::Begin(const string row,const datetime now)
  {
   for(int i=0; i<JOURNAL_COLUMNS; i++)
      m_fields[i]="";
   Set(JOURNAL_ROW,row);
   if(m_bar>0)
      Set(JOURNAL_BAR_TIME,StringFormat("%I64d",m_bar));
   Set(JOURNAL_TIME,StringFormat("%I64d",(long)now));
   Set(JOURNAL_MAGIC,m_magic);
   Set(JOURNAL_SYMBOL,m_symbol);
   Set(JOURNAL_TIMEFRAME,m_timeframe);
  }
//+------------------------------------------------------------------+
//| Fills a field with a text                                        |
//+------------------------------------------------------------------+
void CJournal::Set(const ENUM_JOURNAL column,const string value)
  {
   m_fields[(int)column]=CsvText(value);
  }
//+------------------------------------------------------------------+
//| Fills a field with a number                                      |
//+------------------------------------------------------------------+
void CJournal::SetNumber(const ENUM_JOURNAL column,const double value)
  {
   m_fields[(int)column]=ExactText(value);
  }
//+------------------------------------------------------------------+
//| Writes the row, at once on the disk: what comes next may be an   |
//| order                                                            |
//+------------------------------------------------------------------+
void CJournal::End(void)
  {
   string line=m_fields[0];
   for(int i=1; i<JOURNAL_COLUMNS; i++)
      line+=","+m_fields[i];
   FileWriteString(m_handle,line+"\r\n");
   FileFlush(m_handle);
  }
//+------------------------------------------------------------------+
//| A run has begun                                                  |
//+------------------------------------------------------------------+
void CJournal::Run(const datetime now,const string words)
  {
   if(!IsOpen())
      return;
   Begin("run",now);
   Set(JOURNAL_MODEL,m_sha256);
   Set(JOURNAL_WORDS,words);
   End();
  }
//+------------------------------------------------------------------+
//| A bar was decided                                                |
//+------------------------------------------------------------------+
void CJournal::Decided(const datetime now,const datetime bar,const string input_sha256,
                       const double &values[],const Signal &signal,const Decision &decision,
                       const Holding &holding,const string state,const bool has_scene,
                       const Scene &scene)
  {
   if(!IsOpen())
      return;
   m_bar=(long)bar;
   Begin("decision",now);
   string outputs="";
   for(int i=0; i<ArraySize(values); i++)
      outputs+=(i>0 ? " " : "")+ExactText(values[i]);
   Set(JOURNAL_MODEL,m_sha256);
   Set(JOURNAL_INPUT,input_sha256);
   Set(JOURNAL_OUTPUTS,outputs);
   SetNumber(JOURNAL_LONG,signal.long_value);
   SetNumber(JOURNAL_SHORT,signal.short_value);
   Set(JOURNAL_PROBLEM,signal.problem);
   Set(JOURNAL_ACTION,ActionName(decision.action));
   Set(JOURNAL_SIDE,SideName(decision.side));
   if(decision.has_stop)
      SetNumber(JOURNAL_STOP_POINTS,decision.stop_points);
   if(decision.has_take)
      SetNumber(JOURNAL_TAKE_POINTS,decision.take_points);
   Set(JOURNAL_REASON,decision.reason);
   if(holding.is_open)
     {
      Set(JOURNAL_HELD_SIDE,SideName(holding.side));
      SetNumber(JOURNAL_HELD_VOLUME,holding.volume);
      Set(JOURNAL_HELD_BARS,StringFormat("%d",holding.bars));
     }
   Set(JOURNAL_STATE,state);
   if(has_scene)
     {
      SetNumber(JOURNAL_BID,scene.quote.bid);
      SetNumber(JOURNAL_ASK,scene.quote.ask);
      SetNumber(JOURNAL_BALANCE,scene.balance);
      SetNumber(JOURNAL_EQUITY,scene.equity);
     }
   End();
  }
//+------------------------------------------------------------------+
//| A request was sent, or denied                                    |
//+------------------------------------------------------------------+
void CJournal::Ordered(const datetime now,const Order &order)
  {
   if(!IsOpen())
      return;
   Begin("order",now);
   Set(JOURNAL_PURPOSE,PurposeName(order.purpose));
   if(order.request.action==TRADE_ACTION_DEAL)
     {
      Set(JOURNAL_ORDER_TYPE,StringFormat("%d",(int)order.request.type));
      SetNumber(JOURNAL_VOLUME,order.request.volume);
      SetNumber(JOURNAL_PRICE,order.request.price);
      Set(JOURNAL_DEVIATION,StringFormat("%I64u",order.request.deviation));
      Set(JOURNAL_FILLING,StringFormat("%d",(int)order.request.type_filling));
     }
   if(order.request.sl!=0.0)
      SetNumber(JOURNAL_SL,order.request.sl);
   if(order.request.tp!=0.0)
      SetNumber(JOURNAL_TP,order.request.tp);
   if(order.request.position!=0)
      Set(JOURNAL_POSITION,StringFormat("%I64u",order.request.position));
   if(order.is_denied)
      Set(JOURNAL_DENIED,order.denied_by);
   else
     {
      Set(JOURNAL_RETCODE,StringFormat("%u",order.result.retcode));
      Set(JOURNAL_OUTCOME,OutcomeName(order.outcome));
      Set(JOURNAL_ORDER,StringFormat("%I64u",order.result.order));
      Set(JOURNAL_DEAL,StringFormat("%I64u",order.result.deal));
      SetNumber(JOURNAL_DEAL_PRICE,order.result.price);
      SetNumber(JOURNAL_DEAL_VOLUME,order.result.volume);
     }
   Set(JOURNAL_WORDS,order.is_denied ? order.denied_value : order.words);
   End();
  }
//+------------------------------------------------------------------+
//| Something happened that is neither                               |
//+------------------------------------------------------------------+
void CJournal::Event(const datetime now,const string kind,const string words)
  {
   if(!IsOpen())
      return;
   Begin("event",now);
   Set(JOURNAL_ACTION,kind);
   Set(JOURNAL_WORDS,words);
   End();
  }
#endif
//+------------------------------------------------------------------+
