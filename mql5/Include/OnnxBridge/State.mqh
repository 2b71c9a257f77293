//+------------------------------------------------------------------+
//| State.mqh: what outlasts a restart, as lines key=value           |
//| Twin: bridge/engine/recover.py, which reads the daemon's journal |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_STATE_MQH
#define ONNXBRIDGE_STATE_MQH

#define STATE_MOST 40
// The last line; a file without it was cut off while it was written.
#define STATE_END "end"
//+------------------------------------------------------------------+
//| A small table of keys and texts, kept in a file                  |
//+------------------------------------------------------------------+
class CState
  {
private:
   string            m_file;
   bool              m_is_damaged;
   int               m_count;
   string            m_keys[STATE_MOST];
   string            m_values[STATE_MOST];

   int               Find(const string key) const;

public:
                     CState(void);
   void              Init(const string file);
   bool              Load(void);
   bool              IsDamaged(void) const { return(m_is_damaged); }
   bool              Save(void);
   void              Clear(void);
   void              Set(const string key,const string value);
   void              SetNumber(const string key,const double value);
   void              SetWhole(const string key,const long value);
   string            Get(const string key,const string otherwise) const;
   double            Number(const string key,const double otherwise) const;
   long              Whole(const string key,const long otherwise) const;
  };
//+------------------------------------------------------------------+
//| Constructor                                                      |
//+------------------------------------------------------------------+
CState::CState(void)
  {
   m_file="";
   m_is_damaged=false;
   m_count=0;
  }
//+------------------------------------------------------------------+
//| file: in the common folder; empty: nothing is kept               |
//+------------------------------------------------------------------+
void CState::Init(const string file)
  {
   m_file=file;
   m_is_damaged=false;
   m_count=0;
  }
//+------------------------------------------------------------------+
//| Forgets all keys                                                 |
//+------------------------------------------------------------------+
void CState::Clear(void)
  {
   m_count=0;
  }
//+------------------------------------------------------------------+
//| Index of a key; -1 without it                                    |
//+------------------------------------------------------------------+
int CState::Find(const string key) const
  {
   for(int i=0; i<m_count; i++)
      if(m_keys[i]==key)
         return(i);
   return(-1);
  }
//+------------------------------------------------------------------+
//| Sets a key                                                       |
//+------------------------------------------------------------------+
void CState::Set(const string key,const string value)
  {
   int at=Find(key);
   if(at<0)
     {
      if(m_count>=STATE_MOST)
         return;
      at=m_count;
      m_count++;
     }
   m_keys[at]=key;
   m_values[at]=value;
  }
//+------------------------------------------------------------------+
//| Sets a key to a number, so that the same number is read again    |
//+------------------------------------------------------------------+
void CState::SetNumber(const string key,const double value)
  {
   Set(key,StringFormat("%.17g",value));
  }
//+------------------------------------------------------------------+
//| Sets a key to a whole number                                     |
//+------------------------------------------------------------------+
void CState::SetWhole(const string key,const long value)
  {
   Set(key,StringFormat("%I64d",value));
  }
//+------------------------------------------------------------------+
//| Text of a key                                                    |
//+------------------------------------------------------------------+
string CState::Get(const string key,const string otherwise) const
  {
   const int at=Find(key);
   return(at<0 ? otherwise : m_values[at]);
  }
//+------------------------------------------------------------------+
//| Number of a key                                                  |
//+------------------------------------------------------------------+
double CState::Number(const string key,const double otherwise) const
  {
   const int at=Find(key);
   return(at<0 ? otherwise : StringToDouble(m_values[at]));
  }
//+------------------------------------------------------------------+
//| Whole number of a key                                            |
//+------------------------------------------------------------------+
long CState::Whole(const string key,const long otherwise) const
  {
   const int at=Find(key);
   return(at<0 ? otherwise : StringToInteger(m_values[at]));
  }
//+------------------------------------------------------------------+
//| Reads the file; false: there is none, or it can't be used        |
//+------------------------------------------------------------------+
bool CState::Load(void)
  {
   m_count=0;
   if(m_file=="" || !FileIsExist(m_file,FILE_COMMON))
      return(false);
   m_is_damaged=true;
   const int handle=FileOpen(m_file,FILE_READ|FILE_TXT|FILE_ANSI|FILE_COMMON,0,CP_UTF8);
   if(handle==INVALID_HANDLE)
      return(false);
   while(!FileIsEnding(handle))
     {
      const string line=FileReadString(handle);
      const int    at=StringFind(line,"=");
      if(at>0)
         Set(StringSubstr(line,0,at),StringSubstr(line,at+1));
     }
   FileClose(handle);
   m_is_damaged=Find(STATE_END)<0;
   if(m_is_damaged)
      m_count=0;
   return(!m_is_damaged);
  }
//+------------------------------------------------------------------+
//| Writes the file                                                  |
//+------------------------------------------------------------------+
bool CState::Save(void)
  {
   if(m_file=="")
      return(true);
   const int handle=FileOpen(m_file,FILE_WRITE|FILE_TXT|FILE_ANSI|FILE_COMMON,0,CP_UTF8);
   if(handle==INVALID_HANDLE)
      return(false);
   for(int i=0; i<m_count; i++)
      if(m_keys[i]!=STATE_END)
         FileWriteString(handle,m_keys[i]+"="+m_values[i]+"\r\n");
   const bool is_written=FileWriteString(handle,STATE_END+"=1\r\n")>0;
   FileClose(handle);
   return(is_written);
  }
#endif
//+------------------------------------------------------------------+
