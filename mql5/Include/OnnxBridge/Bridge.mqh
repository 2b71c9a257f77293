//+------------------------------------------------------------------+
//| Bridge.mqh: one strategy on one chart, from start to stop        |
//| Twin: bridge/engine/step.py, watch.py                            |
//| feed -> model -> decide -> journal -> build -> guard -> send. An |
//| EA's file holds handlers and inputs only.                        |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_BRIDGE_MQH
#define ONNXBRIDGE_BRIDGE_MQH

#include <OnnxBridge\Desk.mqh>
#include <OnnxBridge\Lease.mqh>
#include <OnnxBridge\OnnxModel.mqh>
#include <OnnxBridge\Start.mqh>

#define BRIDGE_VERSION "1.00"
#define BRIDGE_FOLDER "OnnxBridge\\"
// Files in the common folder that a person makes: the first ends entries of every EA while it is
// there and halts them, the second, with the magic number added, lets one EA go on.
#define BRIDGE_HALT_FILE "OnnxBridge\\HALT"
#define BRIDGE_RESUME_FILE "OnnxBridge\\RESUME_"
//+------------------------------------------------------------------+
//| One strategy on one chart                                        |
//+------------------------------------------------------------------+
class CBridge
  {
private:
   Contract          m_contract;
   BridgeSettings    m_settings;
   string            m_symbol;
   string            m_title;
   string            m_sha256;
   string            m_trouble;      // told last, so that it is told once
   bool              m_is_tester;
   bool              m_is_quiet;
   bool              m_is_begun;
   bool              m_is_ready;
   int               m_seconds;      // of a bar
   COnnxModel        m_model;
   CFeed             m_feed;
   CDesk             m_desk;
   CLease            m_lease;
   CState            m_state;

   int               Refuse(const int code,const string words);
   bool              LoadModel(const uchar &embedded[],string &problem);
   bool              HoldLease(string &problem);
   void              RestoreState(void);
   void              SaveState(void);
   string            JournalFile(void) const;
   void              OpenJournal(void);
   bool              IsReady(void);
   void              TellOnce(const string words);
   void              Watch(void);
   void              ObeyFiles(void);
   int               Depth(void) const;
   void              Step(const MqlRates &rates[]);
   void              ReadHolding(const MqlRates &rates[],const Scene &scene,
                                 Holding &holding) const;
   void              DecideBar(const MqlRates &rates[],const Signal &signal,
                               const Holding &holding,const bool has_scene,const Scene &scene,
                               Decision &decision);
   double            BarAge(const Scene &scene) const;
   void              LookAfter(const MqlRates &rates[],Scene &scene);

public:
                     CBridge(void);
   int               Init(const BridgeSettings &settings,const Contract &contract,
                          const uchar &embedded[],const double &golden_bars[],
                          const double &golden_outputs[]);
   void              Deinit(const int reason);
   void              Tick(void);
   void              Timer(void);
  };
//+------------------------------------------------------------------+
//| Constructor                                                      |
//+------------------------------------------------------------------+
CBridge::CBridge(void)
  {
   m_symbol="";
   m_title="OnnxBridge";
   m_sha256="";
   m_trouble="";
   m_is_tester=false;
   m_is_quiet=false;
   m_is_begun=false;
   m_is_ready=false;
   m_seconds=0;
  }
//+------------------------------------------------------------------+
//| Gives everything back, says why nothing will be traded           |
//+------------------------------------------------------------------+
int CBridge::Refuse(const int code,const string words)
  {
   m_is_begun=false;
   m_model.Release();
   m_lease.Release();
   return(Refused(code,m_title,words));
  }
//+------------------------------------------------------------------+
//| Closed bars that a step needs                                    |
//+------------------------------------------------------------------+
int CBridge::Depth(void) const
  {
   const int of_range=m_settings.decision.range_bars+1;
   const int of_hold=m_settings.decision.max_bars+1;
   return(MathMax(m_contract.window,MathMax(of_range,of_hold)));
  }
//+------------------------------------------------------------------+
//| Checks all that can be checked; the order is that of the checks' |
//| cost. Returns an ENUM_INIT_RETCODE.                              |
//+------------------------------------------------------------------+
int CBridge::Init(const BridgeSettings &settings,const Contract &contract,
                  const uchar &embedded[],const double &golden_bars[],
                  const double &golden_outputs[])
  {
   m_settings=settings;
   m_contract=contract;
   m_symbol=_Symbol;
   m_seconds=PeriodSeconds(_Period);
   m_is_tester=MQLInfoInteger(MQL_TESTER)!=0;
   m_is_quiet=MQLInfoInteger(MQL_OPTIMIZATION)!=0;
   m_title=StringFormat("%s %s %I64u",contract.name,m_symbol,settings.magic);
   m_trouble="";
   m_is_ready=false;
   if(contract.format!=ONNXBRIDGE_FORMAT)
      return(Refuse(INIT_FAILED,StringFormat("the generated include has form %d, this library "
             "reads %d: generate it again",contract.format,ONNXBRIDGE_FORMAT)));
   string problem=ProblemOfSettings(settings,contract.kind);
   if(problem!="")
      return(Refuse(INIT_PARAMETERS_INCORRECT,problem));
   problem=FaultOfPlace(contract,m_symbol,_Period,settings.alias);
   if(problem!="")
      return(Refuse(INIT_PARAMETERS_INCORRECT,problem));
   // A terminal that has just been started is not connected yet: then it is asked again later.
   const bool is_connected=m_is_tester || TerminalInfoInteger(TERMINAL_CONNECTED)!=0;
   problem=settings.trades && is_connected ? FaultOfPermission() : "";
   if(problem!="")
      return(Refuse(INIT_FAILED,problem));
   if(!LoadModel(embedded,problem))
      return(Refuse(INIT_FAILED,problem));
   double worst=0.0;
   problem=FaultOfGolden(m_model,m_contract,golden_bars,golden_outputs,
                         m_sha256==contract.sha256,worst);
   if(problem!="")
      return(Refuse(INIT_FAILED,problem));
   if(!HoldLease(problem))
      return(Refuse(INIT_FAILED,problem));
   m_desk.Init(m_symbol,m_settings,m_title,m_is_quiet);
   RestoreState();
   OpenJournal();
   m_is_begun=true;
   if(m_state.IsDamaged())
      m_desk.Halt("the state of the run before can't be read, so its limits are not known");
   if(!m_is_tester)
      EventSetTimer(1);
   m_desk.Say("start",StringFormat("model %s, golden rows within %.3g, %d closed bars needed, %s",
              StringSubstr(m_sha256,0,12),worst,Depth(),
              settings.trades ? "trading" : "logging only"));
   if(m_contract.reads_time)
      m_desk.Say("clock","the model reads the hours of a server clock "+m_contract.server_clock+
                 "; on a broker with another one they mean something else");
   return(INIT_SUCCEEDED);
  }
//+------------------------------------------------------------------+
//| Opens the model: the embedded one, or a file with its pinned hash|
//+------------------------------------------------------------------+
bool CBridge::LoadModel(const uchar &embedded[],string &problem)
  {
   if(m_settings.model_file=="")
     {
      m_sha256=Sha256Of(embedded);
      if(m_sha256!=m_contract.sha256)
        {
         problem="the embedded model's sha256 is "+m_sha256+", the contract says "+
                 m_contract.sha256+": generate and compile the program again";
         return(false);
        }
      if(m_model.Create(embedded,m_contract))
         return(true);
      problem=m_model.Problem();
      return(false);
     }
   uchar bytes[];
   if(!ReadModelFile(m_settings.model_file,m_settings.model_is_common,bytes,problem))
      return(false);
   m_sha256=Sha256Of(bytes);
   if(m_sha256!=m_settings.model_sha256)
     {
      problem="the sha256 of "+m_settings.model_file+" is "+m_sha256+", the input says "+
              m_settings.model_sha256+": name the file's own if you mean this file";
      return(false);
     }
   if(m_model.Create(bytes,m_contract))
      return(true);
   problem=m_settings.model_file+": "+m_model.Problem();
   return(false);
  }
//+------------------------------------------------------------------+
//| Takes the lease on account, magic and symbol                     |
//+------------------------------------------------------------------+
bool CBridge::HoldLease(string &problem)
  {
   // The tester's account is its own, and so is a program's that sends nothing.
   if(m_is_tester || !m_settings.trades)
      return(true);
   const string words=LeaseText(m_symbol,m_settings.magic,AccountInfoInteger(ACCOUNT_LOGIN),
                                AccountInfoString(ACCOUNT_SERVER));
   if(m_lease.Acquire(words))
      return(true);
   problem="another program of this computer trades "+words+
           ": stop it, or give this EA another magic";
   return(false);
  }
//+------------------------------------------------------------------+
//| Takes up what a run before has left                              |
//+------------------------------------------------------------------+
void CBridge::RestoreState(void)
  {
   string file="";
   if(!m_is_tester)
      file=BRIDGE_FOLDER+LeaseName(LeaseText(m_symbol,m_settings.magic,
           AccountInfoInteger(ACCOUNT_LOGIN),AccountInfoString(ACCOUNT_SERVER)))+
           (m_settings.trades ? ".state" : ".shadow");
   m_state.Init(file);
   const bool is_known=m_state.Load();
   if(is_known)
     {
      m_desk.m_books.Read(m_state);
      m_desk.RestoreHalt(m_state.Whole("halted",0)!=0);
     }
   // A bar that was decided once is never decided again.
   m_feed.Init(m_symbol,_Period,Depth(),
               (datetime)(is_known ? m_state.Whole("last_bar",0) : 0));
  }
//+------------------------------------------------------------------+
//| Writes down what a restart has to know                           |
//+------------------------------------------------------------------+
void CBridge::SaveState(void)
  {
   if(m_is_tester || !m_is_begun)
      return;
   m_desk.m_books.Write(m_state);
   m_state.SetWhole("halted",m_desk.IsHalted() ? 1 : 0);
   m_state.SetWhole("last_bar",(long)m_feed.After());
   if(!m_state.Save())
      TellOnce("the state can't be written: limits would begin anew after a restart");
  }
//+------------------------------------------------------------------+
//| Name of the journal; runs of the tester have one of their own    |
//+------------------------------------------------------------------+
string CBridge::JournalFile(void) const
  {
   string symbol=m_symbol;
   for(int i=0; i<StringLen(symbol); i++)
      if(!IsWordCharacter((int)StringGetCharacter(symbol,i)))
         symbol=StringSubstr(symbol,0,i)+"_"+StringSubstr(symbol,i+1);
   return(BRIDGE_FOLDER+(m_is_tester ? "tester_" : "decisions_")+
          (m_settings.trades ? "" : "shadow_")+symbol+"_"+m_contract.timeframe_name+
          StringFormat("_%I64u.csv",m_settings.magic));
  }
//+------------------------------------------------------------------+
//| Opens the journal, unless it is switched off or runs are many    |
//+------------------------------------------------------------------+
void CBridge::OpenJournal(void)
  {
   if(!m_settings.writes_journal || m_is_quiet)
      return;
   const string words=StringFormat("bridge %s, terminal build %d, %s, login %I64d, %s",
                                   BRIDGE_VERSION,TerminalInfoInteger(TERMINAL_BUILD),
                                   m_is_tester ? "tester" : "chart",
                                   AccountInfoInteger(ACCOUNT_LOGIN),
                                   AccountInfoString(ACCOUNT_SERVER));
   if(!m_desk.OpenJournal(JournalFile(),m_is_tester,m_contract,m_sha256,words))
      TellOnce("the journal "+JournalFile()+" can't be written");
  }
//+------------------------------------------------------------------+
//| Gives everything back; may follow a failed Init, and come twice  |
//+------------------------------------------------------------------+
void CBridge::Deinit(const int reason)
  {
   EventKillTimer();
   if(m_is_begun)
     {
      SaveState();
      m_desk.Say("stop",StringFormat("stopped, reason %d",reason));
     }
   m_desk.CloseJournal();
   m_model.Release();
   m_lease.Release();
   m_is_begun=false;
   m_is_ready=false;
  }
//+------------------------------------------------------------------+
//| Tells something until something else is to be told               |
//+------------------------------------------------------------------+
void CBridge::TellOnce(const string words)
  {
   if(words==m_trouble)
      return;
   m_trouble=words;
   m_desk.Say("trouble",words);
  }
//+------------------------------------------------------------------+
//| Whether connection and permissions are there, at the beginning   |
//+------------------------------------------------------------------+
bool CBridge::IsReady(void)
  {
   if(m_is_ready)
      return(true);
   if(!m_is_tester && TerminalInfoInteger(TERMINAL_CONNECTED)==0)
     {
      TellOnce("waiting for the connection to the broker");
      return(false);
     }
   const string fault=m_settings.trades ? FaultOfPermission() : "";
   if(fault!="")
     {
      TellOnce(fault);
      return(false);
     }
   m_is_ready=true;
   return(true);
  }
//+------------------------------------------------------------------+
//| What suspends entries now, and what ends them for good           |
//+------------------------------------------------------------------+
void CBridge::Watch(void)
  {
   string alarms="";
   if(!m_is_tester)
     {
      if(TerminalInfoInteger(TERMINAL_CONNECTED)==0)
         alarms="connection";
      if(m_settings.trades && FaultOfPermission()!="")
         alarms+=alarms=="" ? "algo_trading" : ", algo_trading";
     }
   m_desk.SetAlarms(alarms);
   const double balance=AccountInfoDouble(ACCOUNT_BALANCE)+AccountInfoDouble(ACCOUNT_CREDIT);
   const double equity=AccountInfoDouble(ACCOUNT_EQUITY);
   Scene        scene;
   if(!m_desk.m_books.See(TimeCurrent(),equity,balance))
      m_desk.Look(scene);
   if(m_desk.HaltOnLoss(equity))
      SaveState();
   if(m_settings.trades && m_desk.HasErrands() && m_desk.Look(scene))
      m_desk.RunErrands(scene);
  }
//+------------------------------------------------------------------+
//| A tick: ticks that arrive meanwhile are dropped by the terminal  |
//+------------------------------------------------------------------+
void CBridge::Tick(void)
  {
   if(!m_is_begun || !IsReady())
      return;
   Watch();
   MqlRates rates[];
   const ENUM_FEED found=m_feed.Next(rates);
   if(found==FEED_SHORT || found==FEED_FAULTY)
      TellOnce(m_feed.Fault());
   if(found==FEED_BAR)
     {
      ObeyFiles();
      Step(rates);
     }
   if(found==FEED_BAR || m_desk.m_books.IsNoteworthy())
      SaveState();
  }
//+------------------------------------------------------------------+
//| Each second outside the tester                                   |
//+------------------------------------------------------------------+
void CBridge::Timer(void)
  {
   if(m_is_begun)
      ObeyFiles();
  }
//+------------------------------------------------------------------+
//| Obeys files that a person has made; there are none in the tester |
//+------------------------------------------------------------------+
void CBridge::ObeyFiles(void)
  {
   if(m_is_tester)
      return;
   if(FileIsExist(BRIDGE_HALT_FILE,FILE_COMMON) && !m_desk.IsHalted())
     {
      m_desk.Halt("the file HALT is in the common folder");
      SaveState();
     }
   const string resume=BRIDGE_RESUME_FILE+StringFormat("%I64u",m_settings.magic);
   if(!FileIsExist(resume,FILE_COMMON))
      return;
   FileDelete(resume,FILE_COMMON);
   m_desk.Resume();
   SaveState();
  }
// The rest of the class.
#include <OnnxBridge\Step.mqh>
#endif
//+------------------------------------------------------------------+
