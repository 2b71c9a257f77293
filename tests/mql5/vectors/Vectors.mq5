//+------------------------------------------------------------------+
//| Vectors.mq5: answers the golden vectors with the MQL5 twins      |
//| Reads vectors.txt and writes answers.txt, both in MQL5\Files.    |
//+------------------------------------------------------------------+
#property version "1.00"

#include <OnnxBridge\Books.mqh>
#include <OnnxBridge\Contract.mqh>
#include <OnnxBridge\Hash.mqh>
#include <OnnxBridge\Journal.mqh>
#include <OnnxBridge\Lease.mqh>
#include <OnnxBridge\Prices.mqh>
#include <OnnxBridge\Recent.mqh>
#include <OnnxBridge\Retcodes.mqh>
#include <OnnxBridge\Rules.mqh>
#include <OnnxBridge\Trailing.mqh>
#include <OnnxBridge\Volume.mqh>

string ExtField[];
//+------------------------------------------------------------------+
//| A number that may be none                                        |
//+------------------------------------------------------------------+
double NumberOf(const string text)
  {
   DoubleBits bits;
   if(text=="nan")
     {
      bits.whole=0x7FF8000000000000;
      return(bits.number);
     }
   if(text=="inf" || text=="-inf")
     {
      bits.whole=0x7FF0000000000000;
      return(text=="inf" ? bits.number : -bits.number);
     }
   return(StringToDouble(text));
  }
//+------------------------------------------------------------------+
//| An argument as a number, a whole number, a side                  |
//+------------------------------------------------------------------+
double Num(const int at)
  {
   return(NumberOf(ExtField[at+3]));
  }
int Whole(const int at)
  {
   return((int)StringToInteger(ExtField[at+3]));
  }
ENUM_SIDE SideOf(const string text)
  {
   if(text=="none")
      return(SIDE_NONE);
   return(text=="long" ? SIDE_LONG : SIDE_SHORT);
  }
ENUM_SIDE SideAt(const int at)
  {
   return(SideOf(ExtField[at+3]));
  }
string YesOrNo(const bool value)
  {
   return(value ? "yes" : "no");
  }
//+------------------------------------------------------------------+
//| An argument as numbers                                           |
//+------------------------------------------------------------------+
void Nums(const int at,double &values[])
  {
   string    parts[];
   const int count=StringSplit(ExtField[at+3],' ',parts);
   ArrayResize(values,count);
   for(int i=0; i<count; i++)
      values[i]=NumberOf(parts[i]);
  }
//+------------------------------------------------------------------+
//| Terms of a symbol with a point                                   |
//+------------------------------------------------------------------+
void PlainTerms(const double point,SymbolTerms &terms)
  {
   terms.name="EURUSD";
   terms.digits=5;
   terms.point=point;
   terms.tick_size=point;
   terms.stops_level=0;
   terms.freeze_level=0;
   terms.filling_mode=3;
   terms.execution=2;
   terms.trade_mode=4;
   terms.volume_min=0.01;
   terms.volume_max=100.0;
   terms.volume_step=0.01;
  }
//+------------------------------------------------------------------+
//| A price; 0.0 says that there is none                             |
//+------------------------------------------------------------------+
string PriceText(const double price)
  {
   return(price==0.0 ? "refused" : ExactText(price));
  }
//+------------------------------------------------------------------+
//| Numbers and lots                                                 |
//+------------------------------------------------------------------+
string AnswerNumbers(const string name)
  {
   SymbolTerms terms;
   string      words;
   PlainTerms(0.00001,terms);
   if(name=="round_even")
      return(ExactText(RoundEven(Num(0))));
   if(name=="to_tick")
      return(PriceText(ToTick(Num(0),Num(1),Whole(2))));
   if(name=="floor_to_step")
     {
      terms.volume_step=Num(1);
      terms.volume_max=Num(2);
      return(ExactText(FloorToStep(terms,Num(0))));
     }
   if(name=="fixed_volume")
     {
      terms.volume_min=Num(1);
      terms.volume_step=Num(2);
      return(ExactText(FixedVolume(terms,Num(0),words)));
     }
   double volume;
   return(VolumeForRisk(terms,Num(0),Num(1),Num(2),volume,words) ? ExactText(volume) : "refused");
  }
//+------------------------------------------------------------------+
//| Prices                                                           |
//+------------------------------------------------------------------+
string AnswerPrices(const string name)
  {
   SymbolTerms terms;
   Quote       quote;
   PlainTerms(0.00001,terms);
   if(name=="filling")
     {
      terms.filling_mode=Whole(0);
      terms.execution=Whole(1);
      return(IntegerToString((long)FillingOf(terms)));
     }
   if(name=="stop_price")
     {
      quote.bid=Num(2);
      quote.ask=Num(3);
      terms.point=Num(4);
      terms.tick_size=Num(5);
      terms.digits=Whole(6);
      return(PriceText(StopPrice(SideAt(0),Num(1),terms,quote)));
     }
   if(name=="wide")
     {
      terms.stops_level=Whole(2);
      quote.bid=Num(3);
      quote.ask=Num(4);
      return(ExactText(WideStop(Num(0),terms,quote))+" "+ExactText(WideTake(Num(1),terms,quote)));
     }
   if(name=="widened")
     {
      terms.stops_level=Whole(2);
      quote.bid=Num(3);
      quote.ask=Num(4);
      return(ExactText(WidenedStop(SideAt(0),Num(1),terms,quote)));
     }
   quote.bid=Num(4);
   quote.ask=Num(5);
   terms.stops_level=Whole(7);
   terms.freeze_level=Whole(8);
   const string fault=LevelFault(SideAt(0),Num(1),Num(2),Num(3),terms,quote);
   if(fault=="")
      return("");
   return(StringFind(fault,"frozen")==0 ? "frozen" : "near");
  }
//+------------------------------------------------------------------+
//| Timeframe of a name                                              |
//+------------------------------------------------------------------+
ENUM_TIMEFRAMES PeriodOf(const string name,int &seconds)
  {
   if(name=="M1")
     {
      seconds=60;
      return(PERIOD_M1);
     }
   if(name=="H1")
     {
      seconds=3600;
      return(PERIOD_H1);
     }
   if(name=="H4")
     {
      seconds=14400;
      return(PERIOD_H4);
     }
   seconds=86400;
   if(name=="W1")
      return(PERIOD_W1);
   return(name=="MN1" ? PERIOD_MN1 : PERIOD_D1);
  }
//+------------------------------------------------------------------+
//| Recent bars and times                                            |
//+------------------------------------------------------------------+
string AnswerRecent(const string name)
  {
   MqlRates rates[];
   double   first[];
   double   second[];
   double   third[];
   if(name=="range_points")
     {
      Nums(2,first);
      Nums(3,second);
      Nums(4,third);
      ArrayResize(rates,ArraySize(first));
      for(int i=0; i<ArraySize(first); i++)
        {
         rates[i].high=first[i];
         rates[i].low=second[i];
         rates[i].close=third[i];
        }
      return(ExactText(RangePoints(rates,Whole(0),Num(1))));
     }
   if(name=="bars_since")
     {
      Nums(1,first);
      ArrayResize(rates,ArraySize(first));
      for(int i=0; i<ArraySize(first); i++)
         rates[i].time=(datetime)(long)first[i];
      return(IntegerToString(BarsSince(rates,(datetime)Whole(0))));
     }
   if(name=="open_of")
     {
      int                   seconds=0;
      const ENUM_TIMEFRAMES period=PeriodOf(ExtField[4],seconds);
      return(IntegerToString((long)OpenOf((datetime)Whole(0),period,seconds)));
     }
   if(name=="in_span")
     {
      Span span;
      if(!ReadSpan(ExtField[4],span))
         return("refused");
      return(YesOrNo(IsInSpan((datetime)Whole(0),span)));
     }
   ManageSettings manage;
   if(!ReadTimeOfDay(ExtField[4],manage.weekend_second))
      return("refused");
   return(YesOrNo(IsWeekendNear((datetime)Whole(0),manage)));
  }
//+------------------------------------------------------------------+
//| What is wrong with bars                                          |
//+------------------------------------------------------------------+
string AnswerBars(void)
  {
   string    rows[];
   MqlRates  rates[];
   const int count=StringSplit(ExtField[3],';',rows);
   ArrayResize(rates,count);
   for(int i=0; i<count; i++)
     {
      string part[];
      StringSplit(rows[i],' ',part);
      rates[i].time=(datetime)StringToInteger(part[0]);
      rates[i].open=NumberOf(part[1]);
      rates[i].high=NumberOf(part[2]);
      rates[i].low=NumberOf(part[3]);
      rates[i].close=NumberOf(part[4]);
      rates[i].spread=(int)StringToInteger(part[5]);
     }
   return(FaultOfBars(rates));
  }
//+------------------------------------------------------------------+
//| Losses in a row: of the last day, and the longest                |
//+------------------------------------------------------------------+
string AnswerStreak(void)
  {
   Streak streak={};
   streak.day=-1;
   string    closed[];
   const int count=StringSplit(ExtField[3],';',closed);
   for(int i=0; i<count; i++)
     {
      string part[];
      StringSplit(closed[i],' ',part);
      CountClosed((int)StringToInteger(part[0]),NumberOf(part[1]),streak);
     }
   return(IntegerToString(streak.losses)+" "+IntegerToString(LongestOn(streak,Whole(1))));
  }
//+------------------------------------------------------------------+
//| What a model's numbers mean                                      |
//+------------------------------------------------------------------+
string AnswerDecode(void)
  {
   string parts[];
   double values[];
   int    sides[CONTRACT_CLASSES];
   Signal signal;
   const int count=StringSplit(ExtField[5],' ',parts);
   for(int i=0; i<count; i++)
      sides[i]=(int)SideOf(parts[i]);
   Nums(3,values);
   const string kind=ExtField[3];
   DecodeSignal(kind=="shares" ? OUTPUT_SHARES : kind=="target" ? OUTPUT_TARGET : OUTPUT_FORECAST,
                "x",Whole(1),sides,values,signal);
   if(signal.problem!="")
      return("problem");
   return(ExactText(signal.long_value)+" "+ExactText(signal.short_value));
  }
//+------------------------------------------------------------------+
//| What is done about a signal                                      |
//+------------------------------------------------------------------+
string AnswerDecide(void)
  {
   Signal           signal;
   Holding          holding;
   DecisionSettings settings;
   Decision         decision;
   signal.long_value=Num(0);
   signal.short_value=Num(1);
   signal.problem=ExtField[5];
   holding.side=SideAt(3);
   holding.is_open=holding.side!=SIDE_NONE;
   holding.ticket=1;
   holding.volume=0.1;
   holding.bars=Whole(4);
   settings.open_at=Num(5);
   settings.close_at=Num(6);
   settings.reverse=Whole(7)!=0;
   settings.sides=ExtField[11]=="both" ? SIDES_BOTH : ExtField[11]=="long" ? SIDES_LONG
                  : SIDES_SHORT;
   settings.max_bars=Whole(9);
   settings.stop_points=Num(10);
   settings.stop_ranges=Num(11);
   settings.take_points=Num(12);
   settings.take_ranges=Num(13);
   settings.range_bars=24;
   Decide(signal,holding,settings,Num(14),SideAt(15),decision);
   const string side=decision.side==SIDE_NONE ? "none" : SideName(decision.side);
   return(ActionName(decision.action)+" "+side+" "+
          (decision.has_stop ? ExactText(decision.stop_points) : "-")+" "+
          (decision.has_take ? ExactText(decision.take_points) : "-"));
  }
//+------------------------------------------------------------------+
//| Where the stop of a kept position goes                           |
//+------------------------------------------------------------------+
string AnswerCare(void)
  {
   Kept           kept;
   ManageSettings settings;
   Care           care;
   kept.side=SideAt(0);
   kept.opened=Num(1);
   kept.sl=Num(2);
   kept.best=Num(3);
   kept.close=Num(4);
   kept.is_reduced=Whole(5)!=0;
   settings.trail_points=Num(6);
   settings.trail_ranges=Num(7);
   settings.trail_after_points=Num(8);
   settings.trail_step_points=Num(9);
   settings.breakeven_after_points=Num(10);
   settings.breakeven_plus_points=Num(11);
   settings.partial_at_points=Num(12);
   settings.partial_share=Num(13);
   CareFor(kept,settings,Num(14),Num(15),care);
   return((care.has_sl ? ExactText(care.sl) : "-")+" "+ExactText(care.close_share));
  }
//+------------------------------------------------------------------+
//| Baselines after looks and payments                               |
//+------------------------------------------------------------------+
string AnswerBaselines(void)
  {
   Baselines known;
   known.is_known=false;
   string    steps[];
   const int count=StringSplit(ExtField[3],';',steps);
   for(int i=0; i<count; i++)
     {
      string part[];
      StringSplit(steps[i],' ',part);
      if(part[0]=="pay")
         ShiftBaselines(NumberOf(part[2]),known);
      else
         AdvanceBaselines((datetime)StringToInteger(part[1]),NumberOf(part[2]),
                          NumberOf(part[3]),known);
     }
   return(IntegerToString(known.day)+" "+ExactText(known.day_equity)+" "+
          ExactText(known.peak_equity)+" "+ExactText(known.day_low)+" "+
          ExactText(known.day_balance)+" "+ExactText(known.week_equity)+" "+
          ExactText(known.week_low)+" "+ExactText(known.deposits));
  }
//+------------------------------------------------------------------+
//| Losses as shares                                                 |
//+------------------------------------------------------------------+
string AnswerLosses(const string name)
  {
   Baselines known;
   if(name=="shares")
     {
      known.day_equity=Num(0);
      known.day_low=Num(1);
      known.week_equity=Num(2);
      known.week_low=Num(3);
      known.peak_equity=Num(4);
      return(ExactText(DayLossShare(known,Num(5)))+" "+ExactText(WeekLossShare(known,Num(5)))+
             " "+ExactText(DrawdownShare(known,Num(5))));
     }
   LossLimits limits;
   Gauge      day;
   Gauge      total;
   Gauge      target;
   limits.prop_start=Num(0);
   known.deposits=Num(1);
   known.day_balance=Num(2);
   known.day_equity=Num(3);
   known.day_low=Num(4);
   limits.prop_daily_from=ExtField[9]=="larger" ? DAY_START_LARGER :
                          ExtField[9]=="balance" ? DAY_START_BALANCE : DAY_START_EQUITY;
   limits.prop_daily_loss=0.05;
   limits.prop_total_loss=0.1;
   limits.prop_profit_target=0.1;
   GaugePropDailyLoss(known,Num(5),limits,day);
   GaugePropTotalLoss(known,Num(5),limits,total);
   GaugePropTarget(known,Num(5),limits,target);
   return(ExactText(day.used)+" "+ExactText(total.used)+" "+ExactText(target.used));
  }
//+------------------------------------------------------------------+
//| The loss that halts, whether or not an entry is asked for        |
//+------------------------------------------------------------------+
string AnswerHalting(void)
  {
   Baselines  known;
   LossLimits limits;
   limits.drawdown=0.25;
   limits.prop_total_loss=0.1;
   known.peak_equity=Num(0);
   known.day_low=Num(1);
   known.deposits=Num(2);
   limits.prop_start=Num(3);
   const string reason=HaltingLoss(limits,known,Num(4));
   return(StringSubstr(reason,0,MathMax(0,StringFind(reason,":"))));
  }
//+------------------------------------------------------------------+
//| Value of a key among key=value; spaces are written as ;          |
//+------------------------------------------------------------------+
string Value(const string key,const string otherwise)
  {
   string    pairs[];
   const int count=StringSplit(ExtField[3],' ',pairs);
   for(int i=0; i<count; i++)
      if(StringFind(pairs[i],key+"=")==0)
        {
         string value=StringSubstr(pairs[i],StringLen(key)+1);
         StringReplace(value,";"," ");
         return(value);
        }
   return(otherwise);
  }
double Number(const string key,const double otherwise)
  {
   const string text=Value(key,"");
   return(text=="" ? otherwise : NumberOf(text));
  }
//+------------------------------------------------------------------+
//| The rule that denies an entry                                    |
//+------------------------------------------------------------------+
string AnswerEntry(void)
  {
   SymbolTerms  terms;
   EntryRequest entry;
   RuleSettings rules;
   Facts        facts;
   Ruling       ruling;
   PlainTerms(0.00001,terms);
   terms.trade_mode=(int)Number("trade_mode",4.0);
   terms.stops_level=(int)Number("stops_level",0.0);
   entry.side=SideOf(Value("side","long"));
   entry.volume=0.1;
   entry.has_sl=Value("sl","")!="none";
   entry.sl=entry.has_sl ? Number("sl",1.083) : 0.0;
   entry.has_tp=Value("tp","")!="none";
   entry.tp=entry.has_tp ? Number("tp",1.087) : 0.0;
   rules.max_quote_age_seconds=Number("max_quote_age",60.0);
   rules.max_bar_age_seconds=60.0;
   rules.weekdays_text=Value("weekdays","");
   rules.friday_text=Value("friday","");
   if(!ReadWeekdays(rules.weekdays_text,rules.weekdays) ||
      !ReadSpans(Value("windows",""),rules.windows) ||
      !ReadSpans(Value("rollover",""),rules.rollover) ||
      !ReadTimeOfDay(rules.friday_text,rules.friday_second))
      return("refused");
   rules.max_spread_points=Number("max_spread",30.0);
   rules.max_positions=(int)Number("max_positions",1.0);
   rules.max_volume=1.0;
   rules.require_stop=Value("require_stop","1")=="1";
   rules.max_orders_per_minute=(int)Number("max_orders",60.0);
   rules.losses.daily_loss=Number("daily",0.05);
   rules.losses.weekly_loss=Number("weekly",0.0);
   rules.losses.drawdown=0.25;
   rules.losses.losses_in_row=(int)Number("max_losses",0.0);
   rules.losses.prop_start=Number("prop",0.0);
   rules.losses.prop_daily_loss=0.05;
   rules.losses.prop_daily_from=DAY_START_LARGER;
   rules.losses.prop_total_loss=0.1;
   rules.losses.prop_profit_target=0.1;
   const string state=Value("state","active");
   facts.state=state=="active" ? STATE_ACTIVE : state=="halted" ? STATE_HALTED : STATE_REDUCING;
   facts.alarms=Value("alarms","");
   facts.unresolved=(int)Number("unresolved",0.0);
   facts.quote.bid=Number("bid",1.085);
   facts.quote.ask=Number("ask",1.08512);
   facts.quote_age=Number("quote_age",0.0);
   facts.bar_age=Number("bar_age",0.0);
   facts.trade_allowed=Value("trade_allowed","1")=="1";
   facts.trade_expert=Value("trade_expert","1")=="1";
   facts.server_time=(datetime)StringToInteger(Value("time","1490000000"));
   facts.positions=(int)Number("positions",0.0);
   facts.lots=Number("lots",0.0);
   facts.recent_entries=(int)Number("recent",0.0);
   facts.losses=(int)Number("losses",0.0);
   facts.equity=Number("equity",10000.0);
   facts.baselines.is_known=true;
   facts.baselines.day=17245;
   facts.baselines.day_equity=10000.0;
   facts.baselines.day_low=Number("day_low",10000.0);
   facts.baselines.day_balance=Number("day_balance",10000.0);
   facts.baselines.week_equity=10000.0;
   facts.baselines.week_low=Number("week_low",10000.0);
   facts.baselines.peak_equity=Number("peak",10000.0);
   facts.baselines.deposits=0.0;
   CheckEntry(entry,rules,terms,facts,ruling);
   return((ruling.is_allowed ? "" : ruling.rule)+(ruling.halts ? " halts" : ""));
  }
//+------------------------------------------------------------------+
//| The answer to a line                                             |
//+------------------------------------------------------------------+
string Answer(const string name)
  {
   if(name=="round_even" || name=="to_tick" || name=="floor_to_step" || name=="fixed_volume" ||
      name=="volume_for_risk")
      return(AnswerNumbers(name));
   if(name=="filling" || name=="stop_price" || name=="wide" || name=="level_fault" ||
      name=="widened")
      return(AnswerPrices(name));
   if(name=="range_points" || name=="bars_since" || name=="open_of" || name=="in_span" ||
      name=="weekend")
      return(AnswerRecent(name));
   if(name=="bars")
      return(AnswerBars());
   if(name=="streak")
      return(AnswerStreak());
   if(name=="lease")
      return(LeaseName(LeaseText(ExtField[3],(ulong)StringToInteger(ExtField[4]),
                                 StringToInteger(ExtField[5]),ExtField[6])));
   if(name=="decode")
      return(AnswerDecode());
   if(name=="decide")
      return(AnswerDecide());
   if(name=="care")
      return(AnswerCare());
   if(name=="baselines")
      return(AnswerBaselines());
   if(name=="shares" || name=="prop")
      return(AnswerLosses(name));
   if(name=="halting")
      return(AnswerHalting());
   if(name=="entry")
      return(AnswerEntry());
   if(name=="same_symbol")
      return(YesOrNo(IsSameSymbol(ExtField[3],ExtField[4],ExtField[5])));
   if(name=="retcode")
      return(OutcomeName(OutcomeOf((uint)Whole(0)))+" "+
             (IsRetryCode((uint)Whole(0)) ? "again" : "once"));
   return("unknown function");
  }
//+------------------------------------------------------------------+
//| Script program start function                                    |
//+------------------------------------------------------------------+
void OnStart()
  {
   const int in=FileOpen("vectors.txt",FILE_READ|FILE_TXT|FILE_ANSI,0,CP_UTF8);
   const int out=FileOpen("answers.txt",FILE_WRITE|FILE_TXT|FILE_ANSI,0,CP_UTF8);
   if(in==INVALID_HANDLE || out==INVALID_HANDLE)
     {
      Print("no files, error ",GetLastError());
      return;
     }
   while(!FileIsEnding(in))
     {
      const string line=FileReadString(in);
      if(line=="")
         continue;
      StringSplit(line,'|',ExtField);
      FileWriteString(out,Answer(ExtField[0])+"\n");
     }
   FileClose(in);
   FileClose(out);
  }
//+------------------------------------------------------------------+
