//+------------------------------------------------------------------+
//| Start.mqh: what has to be right before an EA may trade           |
//| Twin: bridge/model/load.py (check_fits), bridge/doctor           |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_START_MQH
#define ONNXBRIDGE_START_MQH

#include <OnnxBridge\Contract.mqh>
#include <OnnxBridge\OnnxModel.mqh>
#include <OnnxBridge\Recent.mqh>

// Numbers of one golden bar: the columns of the daemon's rates.
#define START_BAR_NUMBERS 8
//+------------------------------------------------------------------+
//| Says why a program does not start; silent while optimising, where|
//| thousands of runs would say it. Returns the code.                |
//+------------------------------------------------------------------+
int Refused(const int code,const string title,const string problem)
  {
   if(MQLInfoInteger(MQL_OPTIMIZATION)==0)
      Print(title,": not started: ",problem);
   return(code);
  }
//+------------------------------------------------------------------+
//| Why the model is not for this chart; empty when it is            |
//+------------------------------------------------------------------+
string FaultOfPlace(const Contract &contract,const string symbol,const ENUM_TIMEFRAMES period,
                    const string alias)
  {
   if(!IsSameSymbol(symbol,contract.symbol,alias))
      return("the model was made for "+contract.symbol+", the chart shows "+symbol+
             ": set the alias to "+contract.symbol+" if it is the same market");
   if(period!=contract.timeframe)
      return("the model was made for "+contract.timeframe_name+", the chart shows "+
             EnumToString(period));
   return("");
  }
//+------------------------------------------------------------------+
//| Which permission to trade is missing; empty when none            |
//+------------------------------------------------------------------+
string FaultOfPermission(void)
  {
   // The tester trades whatever the buttons of its terminal say.
   if(MQLInfoInteger(MQL_TESTER)!=0)
      return("");
   if(TerminalInfoInteger(TERMINAL_TRADE_ALLOWED)==0)
      return("Algo Trading is off in the terminal's toolbar: switch it on");
   if(MQLInfoInteger(MQL_TRADE_ALLOWED)==0)
      return("algo trading is not allowed in this program's properties: allow it there");
   if(AccountInfoInteger(ACCOUNT_TRADE_ALLOWED)==0)
      return("the account may not trade (investor password, or closed): ask the broker");
   if(AccountInfoInteger(ACCOUNT_TRADE_EXPERT)==0)
      return("the broker does not let expert advisors trade this account");
   return("");
  }
//+------------------------------------------------------------------+
//| A golden row's bars                                              |
//| numbers: rows x window x 8, as the generated include has them    |
//+------------------------------------------------------------------+
bool GoldenBars(const double &numbers[],const int row,const int window,MqlRates &rates[])
  {
   const int first=row*window*START_BAR_NUMBERS;
   if(ArraySize(numbers)<first+window*START_BAR_NUMBERS || ArrayResize(rates,window)!=window)
      return(false);
   for(int i=0; i<window; i++)
     {
      const int at=first+i*START_BAR_NUMBERS;
      rates[i].time=(datetime)(long)numbers[at];
      rates[i].open=numbers[at+1];
      rates[i].high=numbers[at+2];
      rates[i].low=numbers[at+3];
      rates[i].close=numbers[at+4];
      rates[i].tick_volume=(long)numbers[at+5];
      rates[i].spread=(int)numbers[at+6];
      rates[i].real_volume=(long)numbers[at+7];
     }
   return(true);
  }
//+------------------------------------------------------------------+
//| Why the model's answers to the golden rows are not those that    |
//| were written with it; empty when they are                        |
//| compares: false only asks whether the answers can be used, for a |
//| model from a file, whose answers are not known here              |
//| worst: the largest difference                                    |
//+------------------------------------------------------------------+
string FaultOfGolden(COnnxModel &model,const Contract &contract,const double &bars[],
                     const double &outputs[],const bool compares,double &worst)
  {
   worst=0.0;
   const int rows=ArraySize(outputs)/contract.width;
   if(rows<1)
      return("there is no golden row: generate the program again");
   for(int row=0; row<rows; row++)
     {
      MqlRates rates[];
      double   values[];
      if(!GoldenBars(bars,row,contract.window,rates))
         return("a golden row is cut off: generate the program again");
      if(!model.Run(contract,rates,0,values))
         return(StringFormat("golden row %d: ",row)+model.Problem());
      const string problem=ProblemOf(contract.kind,contract.output,contract.width,values);
      if(problem!="")
         return(StringFormat("golden row %d: ",row)+problem);
      for(int i=0; i<contract.width && compares; i++)
        {
         const double wanted=outputs[row*contract.width+i];
         worst=MaxOf(worst,MathAbs(values[i]-wanted));
         if(worst>contract.tolerance)
            return(StringFormat("golden row %d: %s is %.9g, it was %.9g where the model was "
                                "made; the tolerance is %g",row,contract.labels[i],values[i],
                                wanted,contract.tolerance));
        }
     }
   return("");
  }
#endif
//+------------------------------------------------------------------+
