//+------------------------------------------------------------------+
//| Step.mqh: decides a closed bar and acts on it                    |
//| Twin: bridge/engine/step.py. Methods of CBridge, which Bridge.mqh|
//| declares and includes.                                           |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_STEP_MQH
#define ONNXBRIDGE_STEP_MQH
//+------------------------------------------------------------------+
//| Decides the newest closed bar and acts on it                     |
//+------------------------------------------------------------------+
void CBridge::Step(const MqlRates &rates[])
  {
   const int      from=ArraySize(rates)-m_contract.window;
   const datetime bar=rates[ArraySize(rates)-1].time;
   double         values[];
   Signal         signal;
   if(m_model.Run(m_contract,rates,from,values))
      DecodeSignal(m_contract.kind,m_contract.output,m_contract.width,m_contract.sides,values,
                   signal);
   else
      NoSignal(m_model.Problem(),signal);
   Scene      scene;
   Holding    holding;
   Decision   decision;
   const bool has_scene=m_desk.Look(scene);
   if(!has_scene)
     {
      ClearScene(scene);
      TellOnce("the terminal shows no price or no terms of "+m_symbol);
     }
   ReadHolding(rates,scene,holding);
   DecideBar(rates,signal,holding,has_scene,scene,decision);
   const string input_sha256=m_desk.HasJournal() ?
                             Sha256OfBars(rates,from,m_contract.window) : "";
   m_desk.Decided(bar,input_sha256,values,signal,decision,holding,has_scene,scene);
   if(!has_scene)
      return;
   m_desk.CarryOut(decision,BarAge(scene),scene);
   if(decision.action==ACTION_HOLD)
      LookAfter(rates,scene);
  }
//+------------------------------------------------------------------+
//| The open position, if any                                        |
//+------------------------------------------------------------------+
void CBridge::ReadHolding(const MqlRates &rates[],const Scene &scene,Holding &holding) const
  {
   ZeroMemory(holding);
   if(scene.own_count<1)
      return;
   holding.is_open=true;
   holding.ticket=scene.own[0].ticket;
   holding.side=scene.own[0].side;
   double lots=0.0;
   for(int i=0; i<scene.own_count; i++)
      lots+=scene.own[i].volume;
   holding.volume=RoundTo(lots,8);
   holding.bars=BarsSince(rates,OpenOf(scene.own[0].time,m_contract.timeframe,m_seconds));
  }
//+------------------------------------------------------------------+
//| What to do at this bar                                           |
//+------------------------------------------------------------------+
void CBridge::DecideBar(const MqlRates &rates[],const Signal &signal,const Holding &holding,
                        const bool has_scene,const Scene &scene,Decision &decision)
  {
   if(!has_scene)
     {
      DecideOnly(ACTION_HOLD,"the terminal did not answer",decision);
      return;
     }
   string why;
   const ENUM_SIDE declined=m_desk.m_books.Declined();
   if(declined!=SIDE_NONE && WantedSide(signal,m_settings.decision,why)!=declined)
     {
      m_desk.m_books.Accept();
      m_desk.Say("accepted","the signal has changed");
     }
   if(IsWeekendNear(m_feed.ClosedAt(),m_settings.manage))
     {
      DecideOnly(holding.is_open ? ACTION_CLOSE : ACTION_HOLD,"the weekend is near",decision);
      return;
     }
   const double recent=RangePoints(rates,m_settings.decision.range_bars,scene.terms.point);
   Decide(signal,holding,m_settings.decision,recent,m_desk.m_books.Declined(),decision);
  }
//+------------------------------------------------------------------+
//| How long the bar has been closed, seconds: the longer of what    |
//| the server's tick and this computer's clock say                  |
//+------------------------------------------------------------------+
double CBridge::BarAge(const Scene &scene) const
  {
   return(MathMax(0.0,scene.now-(double)(long)m_feed.ClosedAt()));
  }
//+------------------------------------------------------------------+
//| Gives the positions that are kept what they need                 |
//+------------------------------------------------------------------+
void CBridge::LookAfter(const MqlRates &rates[],Scene &scene)
  {
   if(!HasCare(m_settings.manage) || !m_settings.trades)
      return;
   const MqlRates last=rates[ArraySize(rates)-1];
   const double   of_bar=(double)last.spread*scene.terms.point;
   const double   spread=of_bar!=0.0 ? of_bar : scene.quote.ask-scene.quote.bid;
   const double   recent=RangePoints(rates,m_settings.decision.range_bars,scene.terms.point);
   OwnPosition    held[];
   const int      count=scene.own_count;
   if(ArrayResize(held,count)!=count)
      return;
   for(int i=0; i<count; i++)
      held[i]=scene.own[i];
   for(int i=0; i<count; i++)
     {
      if(held[i].time>=m_feed.ClosedAt())
         continue;
      const bool is_short=held[i].side==SIDE_SHORT;
      Kept       kept;
      kept.side=held[i].side;
      kept.opened=held[i].opened;
      kept.sl=held[i].sl;
      kept.best=is_short ? last.low+spread : last.high;
      kept.close=is_short ? last.close+spread : last.close;
      kept.is_reduced=m_desk.m_books.IsReduced(held[i].identifier);
      Care care;
      CareFor(kept,m_settings.manage,recent,scene.terms.point,care);
      if(care.reason=="")
         continue;
      m_desk.Say("care",StringFormat("position #%I64u: ",held[i].ticket)+care.reason);
      m_desk.Keep(held[i],care,scene);
     }
  }
#endif
//+------------------------------------------------------------------+
