//+------------------------------------------------------------------+
//| SelfTest.mq5: whether this terminal runs the model as it was made|
//| Put it on the chart that the EA is meant for; it trades nothing. |
//+------------------------------------------------------------------+
#property copyright   "MIT; what is generated from it belongs to whoever generates it"
#property version     "1.00"
#property description "Checks the embedded ONNX model against its golden rows, and this chart."
#property script_show_inputs

// The one line that names the model; a generator writes it, with the include.
#include <OnnxBridge\Generated\eurusd_h1_direction.mqh>
#include <OnnxBridge\OnnxModel.mqh>
#include <OnnxBridge\Start.mqh>

input string InpSymbolAlias=SET_SYMBOL_ALIAS; // Model's name of this symbol (empty: same)

int ExtFailed=0;
//+------------------------------------------------------------------+
//| Tells one check                                                  |
//+------------------------------------------------------------------+
void Tell(const string what,const string fault,const string fine)
  {
   if(fault!="")
      ExtFailed++;
   Print(MODEL_NAME,": ",fault=="" ? "ok     " : "FAILED ",what,": ",fault=="" ? fine : fault);
  }
//+------------------------------------------------------------------+
//| Whether the chart has the bars that one answer needs             |
//+------------------------------------------------------------------+
string FaultOfHistory(const int window,string &fine)
  {
   MqlRates  rates[];
   const int found=CopyRates(_Symbol,_Period,1,window,rates);
   fine=StringFormat("%d closed bars",found);
   if(found!=window)
      return(StringFormat("%d of %d closed bars; scroll the chart back until it has loaded them",
                          found,window));
   return(FaultOfBars(rates));
  }
//+------------------------------------------------------------------+
//| What the model says now                                          |
//+------------------------------------------------------------------+
string FaultOfAnswer(COnnxModel &model,const Contract &contract,string &fine)
  {
   MqlRates rates[];
   double   values[];
   fine="";
   if(CopyRates(_Symbol,_Period,1,contract.window,rates)!=contract.window)
      return("there are not enough bars");
   if(!model.Run(contract,rates,0,values))
      return(model.Problem());
   for(int i=0; i<contract.width; i++)
      fine+=contract.labels[i]+StringFormat(" %.6g ",values[i]);
   return(ProblemOf(contract.kind,contract.output,contract.width,values));
  }
//+------------------------------------------------------------------+
//| Script program start function                                    |
//+------------------------------------------------------------------+
void OnStart()
  {
   Contract contract;
   ReadContract(contract);
   PrintFormat("%s: terminal build %d, account %I64d",MODEL_NAME,
               TerminalInfoInteger(TERMINAL_BUILD),AccountInfoInteger(ACCOUNT_LOGIN));
   const string sha256=Sha256Of(ExtModelBytes);
   Tell("embedded model",sha256==contract.sha256 ? "" : "its sha256 is "+sha256+
        ", the contract says "+contract.sha256,"sha256 "+StringSubstr(sha256,0,12));
   Tell("chart",FaultOfPlace(contract,_Symbol,_Period,InpSymbolAlias),
        _Symbol+" "+contract.timeframe_name);
   Tell("permissions",FaultOfPermission(),"trading is allowed");
   string fine;
   const string history=FaultOfHistory(contract.window,fine);
   Tell("history",history,fine);
   COnnxModel model;
   if(!model.Create(ExtModelBytes,contract))
      Tell("session",model.Problem(),"");
   else
     {
      double worst=0.0;
      const string golden=FaultOfGolden(model,contract,ExtGoldenBars,ExtGoldenOutputs,true,worst);
      Tell("golden rows",golden,StringFormat("%d rows, largest difference %.3g",
           ArraySize(ExtGoldenOutputs)/contract.width,worst));
      const string answer=FaultOfAnswer(model,contract,fine);
      Tell("answer now",answer,fine);
     }
   model.Release();
   Print(MODEL_NAME,ExtFailed==0 ? ": PASSED" : ": FAILED");
  }
//+------------------------------------------------------------------+
