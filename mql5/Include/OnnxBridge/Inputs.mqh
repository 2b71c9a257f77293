//+------------------------------------------------------------------+
//| Inputs.mqh: the inputs of every EA, and what they set            |
//| Defaults are the SET_ constants of the generated include, which  |
//| come from the model's contract and from bridge.toml: so include  |
//| it before. Names of keys in bridge.toml stand in mql5/README.md. |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_INPUTS_MQH
#define ONNXBRIDGE_INPUTS_MQH

#include <OnnxBridge\Settings.mqh>

input group "Model"
sinput string            InpModelFile=""; // Model file under MQL5\Files (empty: embedded)
sinput bool              InpModelIsCommon=false; // Model file lies in the common folder
sinput string            InpModelSha256=""; // Its sha256, 64 hex digits
sinput string            InpSymbolAlias=SET_SYMBOL_ALIAS; // Model's name of this symbol (empty: same)
sinput ulong             InpMagic=SET_MAGIC; // Magic number
input group "Decision (in the unit of the model's output)"
input double             InpOpenAt=SET_OPEN_AT; // Open when a side reaches this
input double             InpCloseAt=SET_CLOSE_AT; // Close when it falls below this
input bool               InpReverse=SET_REVERSE; // Open the other side at once
input ENUM_SIDES         InpSides=SET_SIDES; // Sides that may be opened
input int                InpMaxBars=SET_MAX_BARS; // Close after so many bars (0: off)
input double             InpStopPoints=SET_STOP_POINTS; // Stop loss, points (0: off)
input double             InpStopRanges=SET_STOP_RANGES; // Stop loss, recent ranges (0: off)
input double             InpTakePoints=SET_TAKE_POINTS; // Take profit, points (0: off)
input double             InpTakeRanges=SET_TAKE_RANGES; // Take profit, recent ranges (0: off)
input int                InpRangeBars=SET_RANGE_BARS; // Bars of the recent range
input group "Risk"
input double             InpVolume=SET_VOLUME; // Lots (0: by share of equity)
input double             InpRiskShare=SET_RISK_SHARE; // Share of equity lost at the stop (0: off)
sinput bool              InpRequireStop=SET_REQUIRE_STOP; // Open only with a stop loss
sinput int               InpMaxPositions=SET_MAX_POSITIONS; // Most positions
sinput double            InpMaxVolume=SET_MAX_VOLUME; // Most lots
sinput double            InpMaxSpreadPoints=SET_MAX_SPREAD_POINTS; // Widest spread, points (0: off)
sinput double            InpMaxQuoteAge=SET_MAX_QUOTE_AGE; // Oldest quote, seconds (0: off)
sinput double            InpMaxBarAge=SET_MAX_BAR_AGE; // Latest entry after a close, seconds (0: off)
sinput int               InpMaxOrdersPerMinute=SET_MAX_ORDERS_PER_MINUTE; // Most entries a minute (0: off)
input group "Loss limits (shares: 0.05 is 5%, 0 is off)"
sinput double            InpDailyLoss=SET_DAILY_LOSS; // Loss of the server day
sinput double            InpWeeklyLoss=SET_WEEKLY_LOSS; // Loss of the week since Sunday
sinput double            InpMaxDrawdown=SET_MAX_DRAWDOWN; // Fall below the highest equity: halt
sinput int               InpMaxLossesInRow=SET_MAX_LOSSES_IN_ROW; // Losses in a row on a day
sinput double            InpMinMarginLevel=SET_MIN_MARGIN_LEVEL; // Least margin level, percent
input group "Prop firm (shares of the starting balance)"
sinput double            InpPropStart=SET_PROP_START; // Starting balance (0: no prop firm)
sinput double            InpPropDailyLoss=SET_PROP_DAILY_LOSS; // Loss of the server day
sinput ENUM_DAY_START    InpPropDailyFrom=SET_PROP_DAILY_FROM; // Day's loss is counted from
sinput double            InpPropTotalLoss=SET_PROP_TOTAL_LOSS; // Total loss: halt
sinput double            InpPropTarget=SET_PROP_TARGET; // Profit target: no more entries
input group "Hours (server time)"
sinput string            InpWeekdays=SET_WEEKDAYS; // Days, such as mon tue wed (empty: all)
sinput string            InpWindows=SET_WINDOWS; // Spans, such as 08:00-12:00 22:00-02:00
sinput string            InpRollover=SET_ROLLOVER; // No entries in, such as 23:55-00:15
sinput string            InpFridayUntil=SET_FRIDAY_UNTIL; // No entries on Friday from, such as 20:00
input group "Open position (points, 0 is off)"
input double             InpTrailPoints=SET_TRAIL_POINTS; // Stop follows at this distance
input double             InpTrailRanges=SET_TRAIL_RANGES; // Or at so many recent ranges
input double             InpTrailAfter=SET_TRAIL_AFTER; // Profit from which it follows
input double             InpTrailStep=SET_TRAIL_STEP; // Smallest move
input double             InpBreakevenAfter=SET_BREAKEVEN_AFTER; // Profit for break-even
input double             InpBreakevenPlus=SET_BREAKEVEN_PLUS; // Beyond the open price
input double             InpPartialAt=SET_PARTIAL_AT; // Profit at which a part is closed
input double             InpPartialShare=SET_PARTIAL_SHARE; // The part, share of the volume
sinput string            InpFlatBeforeWeekend=SET_FLAT_BEFORE_WEEKEND; // Close on Friday from
input group "Orders"
sinput int               InpDeviation=SET_DEVIATION; // Deviation, points
sinput string            InpComment=SET_COMMENT; // Comment
sinput int               InpTries=SET_TRIES; // Tries while the price moves, 1 to 10
sinput bool              InpWidenStops=SET_WIDEN_STOPS; // Move levels out to the broker's distance
sinput bool              InpRetryExits=SET_RETRY_EXITS; // Ask again for exits that were refused
sinput int               InpStopTries=SET_STOP_TRIES; // Tries to set a missing stop, 1 to 10
sinput ENUM_WITHOUT_STOP InpWithoutStop=SET_WITHOUT_STOP; // A position whose stop can't be set
input group "Program"
sinput bool              InpJournal=true; // Write every decision into a CSV
sinput int               InpMinTrades=30; // Least trades of a tester run that counts
//+------------------------------------------------------------------+
//| Reads the hours                                                  |
//+------------------------------------------------------------------+
bool ReadHours(RuleSettings &rules,ManageSettings &manage,string &problem)
  {
   rules.weekdays_text=InpWeekdays;
   rules.friday_text=InpFridayUntil;
   if(!ReadWeekdays(InpWeekdays,rules.weekdays))
      problem="weekdays "+InpWeekdays+": write them as mon tue wed thu fri sat sun";
   else if(!ReadSpans(InpWindows,rules.windows))
      problem="hours "+InpWindows+": write spans as 08:00-12:00 22:00-02:00";
   else if(!ReadSpans(InpRollover,rules.rollover))
      problem="rollover "+InpRollover+": write a span as 23:55-00:15";
   else if(!ReadTimeOfDay(InpFridayUntil,rules.friday_second))
      problem="Friday "+InpFridayUntil+": write a time as 20:00";
   else if(!ReadTimeOfDay(InpFlatBeforeWeekend,manage.weekend_second))
      problem="weekend "+InpFlatBeforeWeekend+": write a time as 20:00";
   return(problem=="");
  }
//+------------------------------------------------------------------+
//| Reads how a signal becomes a decision                            |
//+------------------------------------------------------------------+
void ReadDecision(DecisionSettings &decision)
  {
   decision.open_at=InpOpenAt;
   decision.close_at=InpCloseAt;
   decision.reverse=InpReverse;
   decision.sides=InpSides;
   decision.max_bars=InpMaxBars;
   decision.stop_points=InpStopPoints;
   decision.stop_ranges=InpStopRanges;
   decision.take_points=InpTakePoints;
   decision.take_ranges=InpTakeRanges;
   decision.range_bars=InpRangeBars;
  }
//+------------------------------------------------------------------+
//| Reads the limits                                                 |
//+------------------------------------------------------------------+
void ReadRules(RuleSettings &rules)
  {
   rules.max_quote_age_seconds=InpMaxQuoteAge;
   rules.max_bar_age_seconds=InpMaxBarAge;
   rules.max_spread_points=InpMaxSpreadPoints;
   rules.max_positions=InpMaxPositions;
   rules.max_volume=InpMaxVolume;
   rules.require_stop=InpRequireStop;
   rules.max_orders_per_minute=InpMaxOrdersPerMinute;
   rules.losses.daily_loss=InpDailyLoss;
   rules.losses.weekly_loss=InpWeeklyLoss;
   rules.losses.drawdown=InpMaxDrawdown;
   rules.losses.losses_in_row=InpMaxLossesInRow;
   rules.losses.prop_start=InpPropStart;
   rules.losses.prop_daily_loss=InpPropDailyLoss;
   rules.losses.prop_daily_from=InpPropDailyFrom;
   rules.losses.prop_total_loss=InpPropTotalLoss;
   rules.losses.prop_profit_target=InpPropTarget;
  }
//+------------------------------------------------------------------+
//| Reads how open positions are looked after                        |
//+------------------------------------------------------------------+
void ReadManage(ManageSettings &manage)
  {
   manage.trail_points=InpTrailPoints;
   manage.trail_ranges=InpTrailRanges;
   manage.trail_after_points=InpTrailAfter;
   manage.trail_step_points=InpTrailStep;
   manage.breakeven_after_points=InpBreakevenAfter;
   manage.breakeven_plus_points=InpBreakevenPlus;
   manage.partial_at_points=InpPartialAt;
   manage.partial_share=InpPartialShare;
  }
//+------------------------------------------------------------------+
//| Reads how orders are sent                                        |
//+------------------------------------------------------------------+
void ReadExecution(ExecutionSettings &execution)
  {
   execution.deviation_points=InpDeviation;
   execution.comment=InpComment;
   execution.tries=InpTries;
   execution.widen_stops=InpWidenStops;
   execution.retry_exits=InpRetryExits;
   execution.stop_tries=InpStopTries;
   execution.without_stop=InpWithoutStop;
  }
//+------------------------------------------------------------------+
//| All inputs as settings; false: a text can't be read              |
//| trades: false only decides and journals                          |
//+------------------------------------------------------------------+
bool ReadInputs(const bool trades,BridgeSettings &settings,string &problem)
  {
   problem="";
   settings.trades=trades;
   settings.writes_journal=InpJournal;
   settings.model_file=InpModelFile;
   settings.model_is_common=InpModelIsCommon;
   settings.model_sha256=InpModelSha256;
   settings.alias=InpSymbolAlias;
   settings.magic=InpMagic;
   settings.volume=InpVolume;
   settings.risk_share=InpRiskShare;
   settings.min_margin_level=InpMinMarginLevel;
   ReadDecision(settings.decision);
   ReadRules(settings.rules);
   ReadManage(settings.manage);
   ReadExecution(settings.execution);
   return(ReadHours(settings.rules,settings.manage,problem));
  }
#endif
//+------------------------------------------------------------------+
