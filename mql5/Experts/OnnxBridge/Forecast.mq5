//+------------------------------------------------------------------+
//| Forecast.mq5: trades an ONNX model's forecast or target          |
//| One model, raw closed bars in, decided once a closed bar.        |
//+------------------------------------------------------------------+
#property copyright   "MIT; what is generated from it belongs to whoever generates it"
#property version     "1.00"
#property description "Trades the forecast or target of an embedded ONNX model, once a closed bar."
#property description "Checks model, chart, permissions and golden rows before it trades."

// The one line that names the model; a generator writes it, with the include.
#include <OnnxBridge\Generated\eurusd_h1_sma_cross.mqh>
#include <OnnxBridge\Inputs.mqh>
#include <OnnxBridge\Bridge.mqh>
#include <OnnxBridge\Tester.mqh>

CBridge ExtBridge;
//--- hand edits begin: globals
//--- hand edits end: globals
//+------------------------------------------------------------------+
//| Expert initialization function                                   |
//+------------------------------------------------------------------+
int OnInit()
  {
   Contract       contract;
   BridgeSettings settings;
   string         problem;
   ReadContract(contract);
   if(contract.kind==OUTPUT_SHARES)
      return(Refused(INIT_FAILED,MODEL_NAME,
                     "the model answers class shares: use the template Classifier"));
   if(!ReadInputs(true,settings,problem))
      return(Refused(INIT_PARAMETERS_INCORRECT,MODEL_NAME,problem));
   //--- hand edits begin: init
   //--- hand edits end: init
   return(ExtBridge.Init(settings,contract,ExtModelBytes,ExtGoldenBars,ExtGoldenOutputs));
  }
//+------------------------------------------------------------------+
//| Expert deinitialization function                                 |
//+------------------------------------------------------------------+
void OnDeinit(const int reason)
  {
   //--- hand edits begin: deinit
   //--- hand edits end: deinit
   ExtBridge.Deinit(reason);
  }
//+------------------------------------------------------------------+
//| Expert tick function                                             |
//+------------------------------------------------------------------+
void OnTick()
  {
   //--- hand edits begin: tick
   //--- hand edits end: tick
   ExtBridge.Tick();
  }
//+------------------------------------------------------------------+
//| Timer function                                                   |
//+------------------------------------------------------------------+
void OnTimer()
  {
   ExtBridge.Timer();
  }
//+------------------------------------------------------------------+
//| Tester function: see Tester.mqh for the formula                  |
//+------------------------------------------------------------------+
double OnTester()
  {
   return(TesterCriterionOfRun(InpMinTrades));
  }
//+------------------------------------------------------------------+
