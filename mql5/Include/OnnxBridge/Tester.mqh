//+------------------------------------------------------------------+
//| Tester.mqh: the number by which the Strategy Tester ranks runs   |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_TESTER_MQH
#define ONNXBRIDGE_TESTER_MQH

// Least drawdown that is reckoned with, share of the deposit: a run without any is no miracle.
#define TESTER_LEAST_DRAWDOWN 0.001
//+------------------------------------------------------------------+
//| Net profit per unit of the deepest fall of equity, damped while  |
//| trades are few: profit / drawdown * trades / (trades + minimum). |
//| 0 below the minimum of trades. Losing runs are below 0, so that  |
//| a genetic search can tell bad from worse.                        |
//+------------------------------------------------------------------+
double TesterCriterion(const double profit,const double drawdown,const double deposit,
                       const int trades,const int least)
  {
   if(trades<least || trades<1)
      return(0.0);
   const double damping=(double)trades/(double)(trades+MathMax(least,0));
   const double fall=MathMax(drawdown,deposit*TESTER_LEAST_DRAWDOWN);
   if(!MathIsValidNumber(profit) || !MathIsValidNumber(fall) || fall<=0.0)
      return(0.0);
   return(profit/fall*damping);
  }
//+------------------------------------------------------------------+
//| The same of the run that has just ended                          |
//+------------------------------------------------------------------+
double TesterCriterionOfRun(const int least)
  {
   return(TesterCriterion(TesterStatistics(STAT_PROFIT),TesterStatistics(STAT_EQUITY_DD),
                          TesterStatistics(STAT_INITIAL_DEPOSIT),
                          (int)TesterStatistics(STAT_TRADES),least));
  }
#endif
//+------------------------------------------------------------------+
