//+------------------------------------------------------------------+
//| Lease.mqh: one program trades an account, magic and symbol       |
//| Twin: bridge/engine/lease.py: the same words, hash and file name,|
//| here in the common folder of all terminals of this computer.     |
//| The lock is the open file itself, so that it goes with the       |
//| program, however that ends; no stale one has to be broken.       |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_LEASE_MQH
#define ONNXBRIDGE_LEASE_MQH

#include <OnnxBridge\Hash.mqh>

#define LEASE_FOLDER "OnnxBridge"
//+------------------------------------------------------------------+
//| What a program holds, in words                                   |
//+------------------------------------------------------------------+
string LeaseText(const string symbol,const ulong magic,const long login,const string server)
  {
   return(StringFormat("magic %I64u on %s of %I64d at %s",magic,symbol,login,server));
  }
//+------------------------------------------------------------------+
//| Name of what belongs to the words, without its extension         |
//+------------------------------------------------------------------+
string LeaseName(const string words)
  {
   return(StringSubstr(Sha256OfText(words),0,32));
  }
//+------------------------------------------------------------------+
//| A lease that is held while its file is open                      |
//+------------------------------------------------------------------+
class CLease
  {
private:
   int               m_handle;

public:
                     CLease(void);
                    ~CLease(void);
   bool              Acquire(const string words);
   void              Release(void);
  };
//+------------------------------------------------------------------+
//| Constructor                                                      |
//+------------------------------------------------------------------+
CLease::CLease(void)
  {
   m_handle=INVALID_HANDLE;
  }
//+------------------------------------------------------------------+
//| Destructor                                                       |
//+------------------------------------------------------------------+
CLease::~CLease(void)
  {
   Release();
  }
//+------------------------------------------------------------------+
//| Takes the lease; false: another program holds it                 |
//| No FILE_SHARE flag: nobody else can open the file meanwhile.     |
//+------------------------------------------------------------------+
bool CLease::Acquire(const string words)
  {
   Release();
   const string file=LEASE_FOLDER+"\\"+LeaseName(words)+".lock";
   m_handle=FileOpen(file,FILE_READ|FILE_WRITE|FILE_BIN|FILE_COMMON);
   return(m_handle!=INVALID_HANDLE);
  }
//+------------------------------------------------------------------+
//| Gives the lease back; may be called twice                        |
//+------------------------------------------------------------------+
void CLease::Release(void)
  {
   if(m_handle!=INVALID_HANDLE)
      FileClose(m_handle);
   m_handle=INVALID_HANDLE;
  }
#endif
//+------------------------------------------------------------------+
