//+------------------------------------------------------------------+
//| Settings.mqh: what an EA is told, checked before anything runs   |
//| Twin: bridge/settings/strategy.py, limits.py, hours.py, manage.py|
//| 0, an empty text and "off" switch a setting off.                 |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_SETTINGS_MQH
#define ONNXBRIDGE_SETTINGS_MQH

#include <OnnxBridge\Decide.mqh>
#include <OnnxBridge\Rules.mqh>
#include <OnnxBridge\Trailing.mqh>

enum ENUM_WITHOUT_STOP
  {
   WITHOUT_STOP_CLOSE, // close it
   WITHOUT_STOP_KEEP   // keep it
  };

struct ExecutionSettings
  {
   int               deviation_points;
   string            comment;
   int               tries;
   bool              widen_stops;
   bool              retry_exits;
   int               stop_tries;
   ENUM_WITHOUT_STOP without_stop;
  };

struct BridgeSettings
  {
   string            model_file;       // empty: the embedded model
   bool              model_is_common;  // whether the file lies in the common folder
   string            model_sha256;     // of the file
   string            alias;            // the contract's name of the symbol
   ulong             magic;
   bool              trades;           // false: decides and journals only
   bool              writes_journal;
   double            volume;           // lots; 0: by risk_share
   double            risk_share;
   double            min_margin_level; // percent
   DecisionSettings  decision;
   RuleSettings      rules;
   ManageSettings    manage;
   ExecutionSettings execution;
  };
//+------------------------------------------------------------------+
//| Keeps the first problem                                          |
//+------------------------------------------------------------------+
void Require(const bool ok,const string words,string &problem)
  {
   if(!ok && problem=="")
      problem=words;
  }
//+------------------------------------------------------------------+
//| Whether a share is one: 0 (off) to 1                             |
//+------------------------------------------------------------------+
bool IsShareOrOff(const double value)
  {
   return(MathIsValidNumber(value) && value>=0.0 && value<=1.0);
  }
//+------------------------------------------------------------------+
//| Whether a number is 0 (off) or above                             |
//+------------------------------------------------------------------+
bool IsZeroOrMore(const double value)
  {
   return(MathIsValidNumber(value) && value>=0.0);
  }
//+------------------------------------------------------------------+
//| Checks how a signal becomes a decision                           |
//+------------------------------------------------------------------+
void CheckDecision(const DecisionSettings &settings,const ENUM_OUTPUT_KIND kind,string &problem)
  {
   Require(MathIsValidNumber(settings.open_at) && settings.open_at>0.0,
           StringFormat("open_at %g has to be above 0",settings.open_at),problem);
   Require(kind==OUTPUT_FORECAST || settings.open_at<=1.0,
           StringFormat("open_at %g is above 1, which the model's answers never pass",
                        settings.open_at),problem);
   Require(IsZeroOrMore(settings.close_at),
           StringFormat("close_at %g is below 0",settings.close_at),problem);
   Require(IsZeroOrMore(settings.stop_points) && IsZeroOrMore(settings.stop_ranges) &&
           IsZeroOrMore(settings.take_points) && IsZeroOrMore(settings.take_ranges),
           "a distance of stop loss or take profit is below 0",problem);
   Require(settings.stop_points<=0.0 || settings.stop_ranges<=0.0,
           "stop_points and stop_ranges are both set: keep one of them",problem);
   Require(settings.take_points<=0.0 || settings.take_ranges<=0.0,
           "take_points and take_ranges are both set: keep one of them",problem);
   Require(settings.max_bars>=0,StringFormat("max_bars %d is below 0",settings.max_bars),problem);
   Require(settings.range_bars>=1 && settings.range_bars<=1000,
           StringFormat("range_bars %d is outside 1 to 1000",settings.range_bars),problem);
  }
//+------------------------------------------------------------------+
//| Checks what is put at stake, and the limits                      |
//+------------------------------------------------------------------+
void CheckRisk(const BridgeSettings &settings,string &problem)
  {
   Require(IsZeroOrMore(settings.volume) && IsShareOrOff(settings.risk_share) &&
           (settings.volume>0.0)!=(settings.risk_share>0.0),
           "set exactly one of volume and risk_share above 0",problem);
   const LossLimits losses=settings.rules.losses;
   Require(IsShareOrOff(losses.daily_loss) && IsShareOrOff(losses.weekly_loss) &&
           IsShareOrOff(losses.drawdown) && IsShareOrOff(losses.prop_daily_loss) &&
           IsShareOrOff(losses.prop_total_loss) && IsZeroOrMore(losses.prop_profit_target),
           "a loss limit is no share: 0.05 is 5%, 0 is off",problem);
   Require(IsZeroOrMore(losses.prop_start) && losses.losses_in_row>=0,
           "the prop firm's balance or the row of losses is below 0",problem);
   Require(settings.rules.max_positions>=1 && MathIsValidNumber(settings.rules.max_volume) &&
           settings.rules.max_volume>0.0,"max_positions and max_volume have to be above 0",
           problem);
   Require(IsZeroOrMore(settings.rules.max_spread_points) &&
           IsZeroOrMore(settings.rules.max_quote_age_seconds) &&
           IsZeroOrMore(settings.rules.max_bar_age_seconds) &&
           IsZeroOrMore(settings.min_margin_level) && settings.rules.max_orders_per_minute>=0,
           "a limit of spread, age, orders or margin is below 0",problem);
  }
//+------------------------------------------------------------------+
//| Checks how positions are looked after                            |
//+------------------------------------------------------------------+
void CheckManage(const ManageSettings &settings,string &problem)
  {
   Require(IsZeroOrMore(settings.trail_points) && IsZeroOrMore(settings.trail_ranges) &&
           IsZeroOrMore(settings.trail_after_points) && IsZeroOrMore(settings.trail_step_points) &&
           IsZeroOrMore(settings.breakeven_after_points) &&
           IsZeroOrMore(settings.breakeven_plus_points) && IsZeroOrMore(settings.partial_at_points),
           "a distance of trailing, break-even or partial close is below 0",problem);
   const bool trails=settings.trail_points>0.0 || settings.trail_ranges>0.0;
   Require(settings.trail_points<=0.0 || settings.trail_ranges<=0.0,
           "trail_points and trail_ranges are both set: keep one of them",problem);
   Require(settings.trail_step_points<=0.0 || trails,
           "trail_step_points needs trail_points or trail_ranges: set one",problem);
   Require(MathIsValidNumber(settings.partial_share) && settings.partial_share>0.0 &&
           settings.partial_share<1.0,StringFormat("partial_share %g is outside 0 to 1",
           settings.partial_share),problem);
  }
//+------------------------------------------------------------------+
//| The first problem of the settings; empty when they can be used   |
//+------------------------------------------------------------------+
string ProblemOfSettings(const BridgeSettings &settings,const ENUM_OUTPUT_KIND kind)
  {
   string problem="";
   Require(settings.magic>0,"the magic number has to be above 0",problem);
   Require(settings.model_file=="" || StringLen(settings.model_sha256)==64,
           "a model from a file needs its sha256, 64 hex digits",problem);
   CheckDecision(settings.decision,kind,problem);
   CheckRisk(settings,problem);
   CheckManage(settings.manage,problem);
   const ExecutionSettings execution=settings.execution;
   Require(execution.deviation_points>=0 && execution.tries>=1 && execution.tries<=10 &&
           execution.stop_tries>=1 && execution.stop_tries<=10,
           "deviation below 0, or tries outside 1 to 10",problem);
   return(problem);
  }
#endif
//+------------------------------------------------------------------+
