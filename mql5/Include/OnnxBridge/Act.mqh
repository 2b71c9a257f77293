//+------------------------------------------------------------------+
//| Act.mqh: opens, closes, protects                                 |
//| Twin: bridge/engine/act.py. Methods of CDesk, which Desk.mqh     |
//| declares and includes.                                           |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_ACT_MQH
#define ONNXBRIDGE_ACT_MQH
//+------------------------------------------------------------------+
//| Does what a decision asks for                                    |
//| bar_age: how long its bar has been closed, seconds               |
//+------------------------------------------------------------------+
void CDesk::CarryOut(const Decision &decision,const double bar_age,Scene &scene)
  {
   if(decision.action==ACTION_HOLD || !m_settings.trades)
      return;
   if(decision.action==ACTION_OPEN)
     {
      Open(decision,bar_age,scene);
      return;
     }
   if(!CloseAll(scene) || decision.action==ACTION_CLOSE)
      return;
   // A reversal opens only what the terminal shows to be closed.
   if(!Look(scene) || scene.own_count>0)
      return;
   Open(decision,bar_age,scene);
  }
//+------------------------------------------------------------------+
//| Closes the strategy's own positions; whether every request that  |
//| was sent has happened                                            |
//+------------------------------------------------------------------+
bool CDesk::CloseAll(Scene &scene)
  {
   ulong     tickets[];
   const int count=scene.own_count;
   m_all_happened=true;
   if(ArrayResize(tickets,count)!=count)
      return(false);
   for(int i=0; i<count; i++)
      tickets[i]=scene.own[i].ticket;
   for(int i=0; i<count; i++)
      CloseOne(tickets[i],0.0,scene);
   return(m_all_happened);
  }
//+------------------------------------------------------------------+
//| Closes a position as the terminal shows it at each try           |
//| volume: lots of it; 0.0 closes the whole, a partial fill's rest  |
//| included. Returns whether it is done, or nobody knows yet.       |
//+------------------------------------------------------------------+
bool CDesk::CloseOne(const ulong ticket,const double volume,Scene &scene)
  {
   bool is_done=false;
   for(int i=0; i<m_settings.execution.tries; i++)
     {
      const int at=FindOwn(scene,ticket);
      if(at<0)
         break;
      Order order;
      BuildClose(scene.own[at],volume>0.0 ? volume : scene.own[at].volume,scene,
                 m_settings.magic,m_settings.execution,order);
      Ruling ruling;
      CheckReducing(ticket,IsPending(ticket),scene.quote,ruling);
      if(!ruling.is_allowed)
        {
         Deny(ruling.rule,DenialText(ruling),order);
         is_done=false;
         break;
        }
      Send(order);
      is_done=order.outcome==OUTCOME_DONE || order.outcome==OUTCOME_PLACED ||
              order.outcome==OUTCOME_UNRESOLVED;
      const bool goes_on=IsRetryCode(order.result.retcode) ||
                         (volume<=0.0 && order.outcome==OUTCOME_PARTIAL);
      if(!Look(scene) || !goes_on)
         break;
     }
   // What could not be had is asked for again, until the position is gone.
   if(volume<=0.0 && !is_done && m_settings.execution.retry_exits)
      PutOff(ticket,scene);
   return(is_done);
  }
//+------------------------------------------------------------------+
//| Opens what a decision asks for                                   |
//+------------------------------------------------------------------+
bool CDesk::Open(const Decision &decision,const double bar_age,Scene &scene)
  {
   string       words;
   const double volume=SizeEntry(decision,scene,m_settings,words);
   if(volume<=0.0)
     {
      Order order;
      ClearOrder(PURPOSE_ENTRY,order);
      Deny("size",words,order);
      return(false);
     }
   for(int i=0; i<m_settings.execution.tries; i++)
     {
      EntryRequest entry;
      entry.volume=volume;
      LevelsOf(decision,scene,m_settings.execution,entry);
      Order order;
      BuildEntry(entry,scene,m_settings.magic,m_settings.execution,order);
      if(!CheckOpening(entry,bar_age,scene,order))
         return(false);
      Send(order);
      if(!Look(scene) || !IsRetryCode(order.result.retcode))
        {
         Settle(scene);
         return(HasHappened(order.outcome));
        }
     }
   return(false);
  }
//+------------------------------------------------------------------+
//| Asks the guard, and whether the margin is enough                 |
//+------------------------------------------------------------------+
bool CDesk::CheckOpening(const EntryRequest &entry,const double bar_age,const Scene &scene,
                         Order &order)
  {
   Facts  facts;
   Ruling ruling;
   ReadFacts(scene,bar_age,facts);
   CheckEntry(entry,m_settings.rules,scene.terms,facts,ruling);
   if(ruling.halts)
      Halt(ruling.halt_reason);
   if(!ruling.is_allowed)
     {
      Deny(ruling.rule,DenialText(ruling),order);
      return(false);
     }
   const string fault=MarginFault(order);
   if(fault=="")
      return(true);
   Deny("margin",fault,order);
   return(false);
  }
//+------------------------------------------------------------------+
//| Does what a kept position needs                                  |
//+------------------------------------------------------------------+
void CDesk::Keep(const OwnPosition &position,const Care &care,Scene &scene)
  {
   if(!m_settings.trades)
      return;
   if(care.has_sl)
      Protect(position,care.sl,scene);
   if(care.close_share<=0.0)
      return;
   const double part=FloorToStep(scene.terms,position.volume*care.close_share);
   const double least=scene.terms.volume_min;
   if(part<least || position.volume-part<least)
      return;
   m_any_happened=false;
   CloseOne(position.ticket,part,scene);
   if(m_any_happened)
      m_books.NoteReduced(position.identifier);
  }
//+------------------------------------------------------------------+
//| Moves the stop loss of a position; what would be refused for     |
//| sure is not sent                                                 |
//+------------------------------------------------------------------+
void CDesk::Protect(const OwnPosition &position,const double sl,Scene &scene)
  {
   double level=ToTick(sl,scene.terms.tick_size,scene.terms.digits);
   if(m_settings.execution.widen_stops)
      level=WidenedStop(position.side,level,scene.terms,scene.quote);
   if(level==position.sl)
      return;
   Order order;
   BuildLevels(position,level,scene,m_settings.magic,order);
   const string fault=LevelFault(position.side,position.sl,position.tp,level,scene.terms,
                                 scene.quote);
   if(fault!="")
     {
      Deny("level",fault,order);
      return;
     }
   for(int i=0; i<m_settings.execution.tries; i++)
     {
      Ruling ruling;
      BuildLevels(position,level,scene,m_settings.magic,order);
      CheckReducing(position.ticket,IsPending(position.ticket),scene.quote,ruling);
      if(!ruling.is_allowed)
        {
         Deny(ruling.rule,DenialText(ruling),order);
         return;
        }
      Send(order);
      if(!Look(scene) || !IsRetryCode(order.result.retcode))
         return;
     }
  }
#endif
//+------------------------------------------------------------------+
