//+------------------------------------------------------------------+
//| Rules.mqh: the guard, the last stop before OrderSend             |
//| Twin: bridge/risk/guard.py, bridge/risk/rules/                   |
//| An entry needs a yes of every rule. A request that reduces risk  |
//| is stopped only by an order of unknown fate on its own ticket or |
//| by a missing quote.                                              |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_RULES_MQH
#define ONNXBRIDGE_RULES_MQH

#include <OnnxBridge\Gauges.mqh>
#include <OnnxBridge\Spans.mqh>
#include <OnnxBridge\Terms.mqh>

// Seconds by which a tick may be ahead of the server's clock.
#define RULES_LONGEST_AHEAD 900.0

enum ENUM_TRADING_STATE
  {
   STATE_ACTIVE,   // all may be sent
   STATE_REDUCING, // only what reduces risk, an order's fate is unknown
   STATE_HALTED    // only what reduces risk, a limit or a person said so
  };

// 0 or an empty text is off.
struct RuleSettings
  {
   double            max_quote_age_seconds;
   double            max_bar_age_seconds;
   int               weekdays;       // mask, Sunday is bit 0
   string            weekdays_text;
   Spans             windows;
   Spans             rollover;
   int               friday_second;  // -1 is off
   string            friday_text;
   double            max_spread_points;
   int               max_positions;
   double            max_volume;
   bool              require_stop;
   int               max_orders_per_minute;
   LossLimits        losses;
  };

// What the guard knows at the moment of the request.
struct Facts
  {
   ENUM_TRADING_STATE state;
   string            alarms;       // empty without one
   int               unresolved;   // orders of unknown fate
   Quote             quote;
   double            quote_age;    // seconds, by the server's clock
   double            bar_age;      // seconds since the decided bar closed
   bool              trade_allowed;
   bool              trade_expert;
   datetime          server_time;
   int               positions;    // of the strategy; of the symbol on a netting account
   double            lots;         // held by them, long and short added up
   int               recent_entries; // in the last 60 seconds
   int               losses;       // longest row today
   double            equity;
   Baselines         baselines;
  };

// The entry that is asked about; a level of 0.0 with its flag unset is none.
struct EntryRequest
  {
   ENUM_SIDE         side;
   double            volume;
   bool              has_sl;
   double            sl;
   bool              has_tp;
   double            tp;
  };

// The first rule that said no, if any; halts: whether any rule ends all entries.
struct Ruling
  {
   bool              is_allowed;
   string            rule;
   string            value;
   string            limit;
   bool              halts;
   string            halt_reason;
  };
//+------------------------------------------------------------------+
//| Takes in a rule's answer; only the first no is kept              |
//+------------------------------------------------------------------+
void Tell(Ruling &ruling,const string rule,const bool ok,const string value,const string limit)
  {
   if(ok || !ruling.is_allowed)
      return;
   ruling.is_allowed=false;
   ruling.rule=rule;
   ruling.value=value;
   ruling.limit=limit;
  }
//+------------------------------------------------------------------+
//| Takes in how much of a loss limit is used                        |
//+------------------------------------------------------------------+
void TellGauge(Ruling &ruling,const Gauge &gauge)
  {
   const bool ok=IsWithin(gauge);
   Tell(ruling,gauge.name,ok,gauge.words,LimitWords(gauge));
   if(ok || !gauge.halts)
      return;
   ruling.halts=true;
   ruling.halt_reason=gauge.name+": "+gauge.words;
  }
//+------------------------------------------------------------------+
//| The denial as a person reads it                                  |
//+------------------------------------------------------------------+
string DenialText(const Ruling &ruling)
  {
   return(ruling.rule+": "+ruling.value+", limit "+ruling.limit);
  }
//+------------------------------------------------------------------+
//| The trading state in words                                       |
//+------------------------------------------------------------------+
string StateName(const ENUM_TRADING_STATE state)
  {
   if(state==STATE_ACTIVE)
      return("active");
   return(state==STATE_HALTED ? "halted" : "reducing");
  }
//+------------------------------------------------------------------+
//| A limit as a person reads it                                     |
//+------------------------------------------------------------------+
string Shown(const double limit,const string unit)
  {
   return(limit>0.0 ? StringFormat("%g %s",limit,unit) : "off");
  }
//+------------------------------------------------------------------+
//| Whether there are a bid and an ask                               |
//+------------------------------------------------------------------+
bool IsQuote(const Quote &quote)
  {
   if(!MathIsValidNumber(quote.bid) || !MathIsValidNumber(quote.ask))
      return(false);
   return(quote.bid>0.0 && quote.bid<=quote.ask);
  }
//+------------------------------------------------------------------+
//| A quote in words                                                 |
//+------------------------------------------------------------------+
string QuoteWords(const Quote &quote)
  {
   return(StringFormat("bid %g, ask %g",quote.bid,quote.ask));
  }
//+------------------------------------------------------------------+
//| Trading state, alarms and orders of unknown fate                 |
//+------------------------------------------------------------------+
void RuleState(const Facts &facts,Ruling &ruling)
  {
   Tell(ruling,"state",facts.state==STATE_ACTIVE,StateName(facts.state),"active");
   Tell(ruling,"alarms",facts.alarms=="",facts.alarms,"none");
   Tell(ruling,"unresolved",facts.unresolved==0,
        StringFormat("%d orders of unknown fate",facts.unresolved),"0");
  }
//+------------------------------------------------------------------+
//| Age of quote and bar                                             |
//+------------------------------------------------------------------+
void RuleAge(const RuleSettings &settings,const Facts &facts,Ruling &ruling)
  {
   const double quote_limit=settings.max_quote_age_seconds;
   const double age=facts.quote_age;
   Tell(ruling,"quote_age",quote_limit<=0.0 || (age>=-RULES_LONGEST_AHEAD && age<=quote_limit),
        StringFormat("the quote is %.1f s old",age),Shown(quote_limit,"s"));
   const double bar_limit=settings.max_bar_age_seconds;
   Tell(ruling,"bar_age",bar_limit<=0.0 || facts.bar_age<=bar_limit,
        StringFormat("the bar closed %.1f s ago",facts.bar_age),Shown(bar_limit,"s"));
  }
//+------------------------------------------------------------------+
//| What account and broker allow now                                |
//+------------------------------------------------------------------+
void RulePermission(const EntryRequest &request,const SymbolTerms &terms,const Facts &facts,
                    Ruling &ruling)
  {
   Tell(ruling,"account",facts.trade_allowed && facts.trade_expert,
        "trade_allowed "+YesNo(facts.trade_allowed)+", trade_expert "+YesNo(facts.trade_expert),
        "both true");
   const bool is_long=request.side==SIDE_LONG;
   const bool ok=terms.trade_mode==SYMBOL_TRADE_MODE_FULL ||
                 (is_long && terms.trade_mode==SYMBOL_TRADE_MODE_LONGONLY) ||
                 (!is_long && terms.trade_mode==SYMBOL_TRADE_MODE_SHORTONLY);
   Tell(ruling,"trade_mode",ok,StringFormat("order type %d",is_long ? 0 : 1),
        StringFormat("trade mode %d",terms.trade_mode));
  }
//+------------------------------------------------------------------+
//| A moment in words                                                |
//+------------------------------------------------------------------+
string MomentWords(const datetime time)
  {
   const int second=SecondOfDay(time);
   return(WeekdayName(WeekdayOf(time))+StringFormat(" %02d:%02d:%02d",second/3600,
          second/60%60,second%60));
  }
//+------------------------------------------------------------------+
//| Days and hours, rollover, weekend                                |
//+------------------------------------------------------------------+
void RuleTimes(const RuleSettings &settings,const Facts &facts,Ruling &ruling)
  {
   const datetime now=facts.server_time;
   const int      day=WeekdayOf(now);
   const bool     is_day=settings.weekdays==0 || (settings.weekdays&(1<<day))!=0;
   const bool     is_hour=settings.windows.count==0 || IsInSpans(now,settings.windows);
   const string   space=settings.weekdays!=0 && settings.windows.count>0 ? " " : "";
   Tell(ruling,"hours",is_day && is_hour,MomentWords(now),
        settings.weekdays_text+space+settings.windows.text);
   Tell(ruling,"rollover",settings.rollover.count==0 || !IsInSpans(now,settings.rollover),
        MomentWords(now),"not "+settings.rollover.text);
   const bool is_near=day==6 || (day==5 && SecondOfDay(now)>=settings.friday_second);
   Tell(ruling,"weekend",settings.friday_second<0 || !is_near,MomentWords(now),
        "before "+settings.friday_text+" on Friday");
  }
//+------------------------------------------------------------------+
//| Spread                                                           |
//+------------------------------------------------------------------+
void RuleSpread(const RuleSettings &settings,const SymbolTerms &terms,const Facts &facts,
                Ruling &ruling)
  {
   const double limit=settings.max_spread_points;
   const double points=(facts.quote.ask-facts.quote.bid)/terms.point;
   // Half a point absorbs the rounding of a difference of two prices.
   Tell(ruling,"spread",limit<=0.0 || points<limit+0.5,StringFormat("%.1f points",points),
        Shown(limit,"points"));
  }
//+------------------------------------------------------------------+
//| How much is held, and how often something is opened              |
//+------------------------------------------------------------------+
void RuleSize(const EntryRequest &request,const RuleSettings &settings,const SymbolTerms &terms,
              const Facts &facts,Ruling &ruling)
  {
   const int count=facts.positions+1;
   Tell(ruling,"positions",count<=settings.max_positions,StringFormat("%d with this one",count),
        StringFormat("%d",settings.max_positions));
   const double total=facts.lots+request.volume;
   // A tenth of a step absorbs the rounding of sums such as 0.1 + 0.2.
   const bool ok=!IsNan(total) && request.volume>0.0 &&
                 total<=settings.max_volume+terms.volume_step/10.0;
   Tell(ruling,"volume",ok,StringFormat("%g lots with this one",total),
        StringFormat("%g lots",settings.max_volume));
   const int sent=facts.recent_entries+1;
   Tell(ruling,"orders_per_minute",settings.max_orders_per_minute<=0 ||
        sent<=settings.max_orders_per_minute,
        StringFormat("%d entries in 60 s with this one",sent),
        StringFormat("%d",settings.max_orders_per_minute));
  }
//+------------------------------------------------------------------+
//| A level from the price at which the position closes              |
//+------------------------------------------------------------------+
void RuleLevel(const string rule,const double level,const double towards,
               const EntryRequest &request,const SymbolTerms &terms,const Facts &facts,
               Ruling &ruling)
  {
   const double closing=ClosingPrice(request.side,facts.quote);
   const double points=towards*(double)request.side*(level-closing)/terms.point;
   const int    limit=terms.stops_level>0 ? terms.stops_level : 0;
   // The level has to lie beyond the price; half a point absorbs the rounding of the difference.
   const bool ok=!IsNan(points) && points>MathMax(limit-0.5,0.5);
   Tell(ruling,rule,ok,StringFormat("%g is %.1f points beyond %g",level,points,closing),
        StringFormat("at least %d points",limit>1 ? limit : 1));
  }
//+------------------------------------------------------------------+
//| Stop loss and take profit                                        |
//+------------------------------------------------------------------+
void RuleLevels(const EntryRequest &request,const RuleSettings &settings,const SymbolTerms &terms,
                const Facts &facts,Ruling &ruling)
  {
   if(request.has_sl)
      RuleLevel("stop",request.sl,-1.0,request,terms,facts,ruling);
   else
      Tell(ruling,"stop",!settings.require_stop,"no stop loss","one on the server");
   if(request.has_tp)
      RuleLevel("take",request.tp,1.0,request,terms,facts,ruling);
  }
//+------------------------------------------------------------------+
//| Losses of day, week, strategy and account, and a prop firm's     |
//+------------------------------------------------------------------+
void RuleLosses(const LossLimits &limits,const Facts &facts,Ruling &ruling)
  {
   Gauge gauge;
   GaugeDailyLoss(facts.baselines,facts.equity,limits.daily_loss,gauge);
   TellGauge(ruling,gauge);
   GaugeWeeklyLoss(facts.baselines,facts.equity,limits.weekly_loss,gauge);
   TellGauge(ruling,gauge);
   GaugeDrawdown(facts.baselines,facts.equity,limits.drawdown,gauge);
   TellGauge(ruling,gauge);
   GaugeLossesInRow(facts.losses,limits.losses_in_row,gauge);
   TellGauge(ruling,gauge);
   if(limits.prop_start<=0.0)
      return;
   GaugePropDailyLoss(facts.baselines,facts.equity,limits,gauge);
   TellGauge(ruling,gauge);
   GaugePropTotalLoss(facts.baselines,facts.equity,limits,gauge);
   TellGauge(ruling,gauge);
   GaugePropTarget(facts.baselines,facts.equity,limits,gauge);
   TellGauge(ruling,gauge);
  }
//+------------------------------------------------------------------+
//| Asks every rule about an entry                                   |
//+------------------------------------------------------------------+
void CheckEntry(const EntryRequest &request,const RuleSettings &settings,const SymbolTerms &terms,
                const Facts &facts,Ruling &ruling)
  {
   ruling.is_allowed=true;
   ruling.rule="";
   ruling.value="";
   ruling.limit="";
   ruling.halts=false;
   ruling.halt_reason="";
   RuleState(facts,ruling);
   const bool is_quote=IsQuote(facts.quote);
   Tell(ruling,"quote",is_quote,QuoteWords(facts.quote),"0 < bid <= ask");
   RuleAge(settings,facts,ruling);
   RulePermission(request,terms,facts,ruling);
   RuleTimes(settings,facts,ruling);
   if(is_quote)
      RuleSpread(settings,terms,facts,ruling);
   RuleSize(request,settings,terms,facts,ruling);
   if(is_quote)
      RuleLevels(request,settings,terms,facts,ruling);
   RuleLosses(settings.losses,facts,ruling);
  }
//+------------------------------------------------------------------+
//| Asks about a request that reduces risk                           |
//| is_unresolved: whether an order on its ticket has an unknown fate|
//+------------------------------------------------------------------+
void CheckReducing(const ulong ticket,const bool is_unresolved,const Quote &quote,Ruling &ruling)
  {
   ruling.is_allowed=true;
   ruling.rule="";
   ruling.value="";
   ruling.limit="";
   ruling.halts=false;
   ruling.halt_reason="";
   Tell(ruling,"unresolved",!is_unresolved,StringFormat("ticket %I64u",ticket),
        "no order of unknown fate on it");
   Tell(ruling,"quote",IsQuote(quote),QuoteWords(quote),"0 < bid <= ask");
  }
#endif
//+------------------------------------------------------------------+
