//+------------------------------------------------------------------+
//| Outputs.mq5: plots what an ONNX model answers to each closed bar |
//| The same model, filled in the same way as in the EA.             |
//+------------------------------------------------------------------+
#property copyright   "MIT; what is generated from it belongs to whoever generates it"
#property version     "1.00"
#property description "Plots the outputs of an embedded ONNX model, up to four of them."
#property description "A value stands at the bar that was the newest closed one."
#property indicator_separate_window
#property indicator_buffers 4
#property indicator_plots   4
#property indicator_type1   DRAW_LINE
#property indicator_color1  clrTomato
#property indicator_type2   DRAW_LINE
#property indicator_color2  clrGray
#property indicator_type3   DRAW_LINE
#property indicator_color3  clrDodgerBlue
#property indicator_type4   DRAW_LINE
#property indicator_color4  clrGold

// The one line that names the model; a generator writes it, with the include.
#include <OnnxBridge\Generated\eurusd_h1_direction.mqh>
#include <OnnxBridge\OnnxModel.mqh>
#include <OnnxBridge\Start.mqh>

#define PLOTS 4

input int    InpBars=500; // Bars that are computed at the beginning
input string InpSymbolAlias=SET_SYMBOL_ALIAS; // Model's name of this symbol (empty: same)

COnnxModel ExtModel;
Contract   ExtContract;
double     ExtBuffer1[];
double     ExtBuffer2[];
double     ExtBuffer3[];
double     ExtBuffer4[];
string     ExtTrouble="";
//+------------------------------------------------------------------+
//| Says something once; nothing while a tester optimises            |
//+------------------------------------------------------------------+
void TellOnce(const string words)
  {
   if(words==ExtTrouble || MQLInfoInteger(MQL_OPTIMIZATION)!=0)
      return;
   ExtTrouble=words;
   Print(MODEL_NAME,": ",words);
  }
//+------------------------------------------------------------------+
//| Custom indicator initialization function                         |
//+------------------------------------------------------------------+
int OnInit()
  {
   SetIndexBuffer(0,ExtBuffer1,INDICATOR_DATA);
   SetIndexBuffer(1,ExtBuffer2,INDICATOR_DATA);
   SetIndexBuffer(2,ExtBuffer3,INDICATOR_DATA);
   SetIndexBuffer(3,ExtBuffer4,INDICATOR_DATA);
   ReadContract(ExtContract);
   for(int i=0; i<PLOTS; i++)
     {
      PlotIndexSetDouble(i,PLOT_EMPTY_VALUE,EMPTY_VALUE);
      if(i<ExtContract.width)
         PlotIndexSetString(i,PLOT_LABEL,ExtContract.labels[i]);
      else
         PlotIndexSetInteger(i,PLOT_DRAW_TYPE,DRAW_NONE);
     }
   IndicatorSetString(INDICATOR_SHORTNAME,MODEL_NAME);
   string problem=FaultOfPlace(ExtContract,_Symbol,_Period,InpSymbolAlias);
   if(InpBars<1)
      problem="the number of bars has to be above 0";
   if(problem!="")
      return(Refused(INIT_PARAMETERS_INCORRECT,MODEL_NAME,problem));
   if(Sha256Of(ExtModelBytes)!=ExtContract.sha256)
      problem="the embedded model is not the contract's: generate and compile it again";
   else if(!ExtModel.Create(ExtModelBytes,ExtContract))
      problem=ExtModel.Problem();
   double worst=0.0;
   if(problem=="")
      problem=FaultOfGolden(ExtModel,ExtContract,ExtGoldenBars,ExtGoldenOutputs,true,worst);
   if(problem=="")
      return(INIT_SUCCEEDED);
   ExtModel.Release();
   return(Refused(INIT_FAILED,MODEL_NAME,problem));
  }
//+------------------------------------------------------------------+
//| Custom indicator deinitialization function                       |
//+------------------------------------------------------------------+
void OnDeinit(const int reason)
  {
   ExtModel.Release();
  }
//+------------------------------------------------------------------+
//| Writes one bar's values; what the model does not have is empty   |
//+------------------------------------------------------------------+
void Put(const int bar,const double &values[])
  {
   const int count=ArraySize(values);
   ExtBuffer1[bar]=count>0 ? values[0] : EMPTY_VALUE;
   ExtBuffer2[bar]=count>1 ? values[1] : EMPTY_VALUE;
   ExtBuffer3[bar]=count>2 ? values[2] : EMPTY_VALUE;
   ExtBuffer4[bar]=count>3 ? values[3] : EMPTY_VALUE;
  }
//+------------------------------------------------------------------+
//| Computes the closed bars from first on; false: asked for again   |
//+------------------------------------------------------------------+
bool Compute(const int first,const int count)
  {
   MqlRates  rates[];
   const int needed=count+ExtContract.window-1;
   ResetLastError();
   // Start 1 is the newest closed bar.
   if(CopyRates(_Symbol,_Period,1,needed,rates)!=needed)
     {
      TellOnce(ErrorText("CopyRates",GetLastError()));
      return(false);
     }
   for(int i=0; i<count; i++)
     {
      double values[];
      if(!ExtModel.Run(ExtContract,rates,i,values))
        {
         TellOnce(ExtModel.Problem());
         ArrayResize(values,0);
        }
      Put(first+i,values);
     }
   return(true);
  }
//+------------------------------------------------------------------+
//| Custom indicator iteration function                              |
//+------------------------------------------------------------------+
int OnCalculate(const int rates_total,const int prev_calculated,const datetime &time[],
                const double &open[],const double &high[],const double &low[],
                const double &close[],const long &tick_volume[],const long &volume[],
                const int &spread[])
  {
   double nothing[];
   int    first=prev_calculated-1;
   if(prev_calculated<=0)
     {
      for(int i=0; i<rates_total; i++)
         Put(i,nothing);
      first=rates_total-1-InpBars;
     }
   if(first<ExtContract.window-1)
      first=ExtContract.window-1;
   const int count=rates_total-1-first;
   if(count>0 && !Compute(first,count))
      return(0);
   if(rates_total>0)
      Put(rates_total-1,nothing);
   return(rates_total);
  }
//+------------------------------------------------------------------+
