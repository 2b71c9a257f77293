//+------------------------------------------------------------------+
//| Shadow.mq5: decides and journals, and never sends an order       |
//| One model, raw closed bars in, decided once a closed bar.        |
//+------------------------------------------------------------------+
#property copyright   "MIT; what is generated from it belongs to whoever generates it"
#property version     "1.00"
#property description "Writes what an embedded ONNX model would do into a CSV, once a closed bar."
#property description "It holds nothing and sends nothing; mt5-onnx ea parity reads the CSV."

// The one line that names the model; a generator writes it, with the include.
#include <OnnxBridge\Generated\eurusd_h1_direction.mqh>
#include <OnnxBridge\Inputs.mqh>
#include <OnnxBridge\Bridge.mqh>

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
   if(!ReadInputs(false,settings,problem))
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
