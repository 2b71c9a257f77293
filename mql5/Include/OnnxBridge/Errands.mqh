//+------------------------------------------------------------------+
//| Errands.mqh: what is left over of orders, between two bars       |
//| Twin: bridge/engine/errands.py, settle.py. Methods of CDesk that |
//| Desk.mqh declares. Nothing here opens a position.                |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_ERRANDS_MQH
#define ONNXBRIDGE_ERRANDS_MQH
//+------------------------------------------------------------------+
//| Remembers what is not known to be over                           |
//+------------------------------------------------------------------+
void CDesk::Remember(const Order &order)
  {
   const bool is_entry=order.purpose==PURPOSE_ENTRY;
   if(is_entry)
      CountEntry((double)(long)order.sent);
   if(is_entry && order.outcome!=OUTCOME_REJECTED)
      NoteStop(order);
   const bool is_open=order.outcome==OUTCOME_UNRESOLVED || order.outcome==OUTCOME_PLACED ||
                      (is_entry && HasHappened(order.outcome));
   const int  count=ArraySize(m_pending);
   if(!is_open || ArrayResize(m_pending,count+1)!=count+1)
      return;
   m_pending[count]=order;
   if(order.outcome==OUTCOME_UNRESOLVED)
      Say("unresolved","no more entries: "+order.words);
  }
//+------------------------------------------------------------------+
//| Counts an entry that was sent; those of a minute ago are dropped |
//+------------------------------------------------------------------+
void CDesk::CountEntry(const double sent)
  {
   int kept=0;
   for(int i=0; i<ArraySize(m_entries); i++)
      if(sent-m_entries[i]<DESK_MINUTE)
        {
         m_entries[kept]=m_entries[i];
         kept++;
        }
   if(ArrayResize(m_entries,kept+1)==kept+1)
      m_entries[kept]=sent;
  }
//+------------------------------------------------------------------+
//| Notes the stop loss that an entry asked for                      |
//+------------------------------------------------------------------+
void CDesk::NoteStop(const Order &order)
  {
   const int count=ArraySize(m_stops);
   if(order.result.order==0 || order.request.sl==0.0 ||
      ArrayResize(m_stops,count+1)!=count+1)
      return;
   m_stops[count].identifier=(long)order.result.order;
   m_stops[count].sl=order.request.sl;
   m_stops[count].tries=0;
  }
//+------------------------------------------------------------------+
//| Notes that a position could not be closed                        |
//+------------------------------------------------------------------+
void CDesk::PutOff(const ulong ticket,const Scene &scene)
  {
   const int count=ArraySize(m_refused);
   int       at=-1;
   for(int i=0; i<count; i++)
      if(m_refused[i].ticket==ticket)
         at=i;
   if(at<0)
     {
      if(ArrayResize(m_refused,count+1)!=count+1)
         return;
      at=count;
      m_refused[at].ticket=ticket;
      m_refused[at].times=0;
      Say("deferred",StringFormat("position #%I64u can't be closed now: asked for again",ticket));
     }
   double pause=DESK_FIRST_PAUSE;
   for(int i=0; i<m_refused[at].times && pause<DESK_LONGEST_PAUSE; i++)
      pause*=2.0;
   m_refused[at].times++;
   m_refused[at].ticked=scene.ticked;
   m_refused[at].due=(double)(long)ServerNow()+MathMin(pause,DESK_LONGEST_PAUSE);
  }
//+------------------------------------------------------------------+
//| Whether there is anything to do between two bars                 |
//+------------------------------------------------------------------+
bool CDesk::HasErrands(void) const
  {
   return(ArraySize(m_pending)>0 || ArraySize(m_refused)>0 || ArraySize(m_stops)>0);
  }
//+------------------------------------------------------------------+
//| Finishes what the server has put off, keeps stops in place       |
//| Nothing here opens a position.                                   |
//+------------------------------------------------------------------+
void CDesk::RunErrands(Scene &scene)
  {
   Settle(scene);
   RetryExits(scene);
   RestoreStops(scene);
  }
//+------------------------------------------------------------------+
//| Whether the end of an order is known now                         |
//+------------------------------------------------------------------+
bool CDesk::IsSettled(const Order &order,const Scene &scene) const
  {
   const long ticket=(long)order.result.order;
   if(order.purpose==PURPOSE_ENTRY && ticket!=0)
      for(int i=0; i<scene.own_count; i++)
         if(scene.own[i].identifier==ticket)
            return(true);
   return(FindDeal(order,ServerNow())!=0);
  }
//+------------------------------------------------------------------+
//| Searches for orders of unknown fate, or presumes them absent     |
//+------------------------------------------------------------------+
void CDesk::Settle(const Scene &scene)
  {
   int kept=0;
   for(int i=0; i<ArraySize(m_pending); i++)
     {
      if(IsSettled(m_pending[i],scene))
         continue;
      if((double)(long)ServerNow()-(double)(long)m_pending[i].sent>=DESK_SEARCH)
        {
         Say("absent","the terminal does not show the order: presumed absent; should it show up "
             "later, it is taken over");
         continue;
        }
      if(kept!=i)
         m_pending[kept]=m_pending[i];
      kept++;
     }
   ArrayResize(m_pending,kept);
  }
//+------------------------------------------------------------------+
//| Asks again for exits that were refused, at another price         |
//+------------------------------------------------------------------+
void CDesk::RetryExits(Scene &scene)
  {
   int kept=0;
   for(int i=0; i<ArraySize(m_refused); i++)
      if(FindOwn(scene,m_refused[i].ticket)>=0)
        {
         if(kept!=i)
            m_refused[kept]=m_refused[i];
         kept++;
        }
   ArrayResize(m_refused,kept);
   for(int i=kept-1; i>=0; i--)
     {
      const bool is_due=(double)(long)ServerNow()>=m_refused[i].due &&
                        scene.ticked!=m_refused[i].ticked;
      if(is_due)
         CloseOne(m_refused[i].ticket,0.0,scene);
     }
  }
//+------------------------------------------------------------------+
//| Sets stops that the broker did not take over                     |
//+------------------------------------------------------------------+
void CDesk::RestoreStops(Scene &scene)
  {
   int kept=0;
   for(int i=0; i<ArraySize(m_stops); i++)
      if(RestoreStop(i,scene))
        {
         if(kept!=i)
            m_stops[kept]=m_stops[i];
         kept++;
        }
   ArrayResize(m_stops,kept);
  }
//+------------------------------------------------------------------+
//| Whether the stop of an entry has to be looked at again           |
//+------------------------------------------------------------------+
bool CDesk::RestoreStop(const int at,Scene &scene)
  {
   int own=-1;
   for(int i=0; i<scene.own_count; i++)
      if(scene.own[i].identifier==m_stops[at].identifier)
         own=i;
   // Not shown yet, or gone already: a position that is gone is settled and needs no stop.
   if(own<0)
      return(ArraySize(m_pending)>0);
   if(scene.own[own].sl!=0.0)
      return(false);
   const OwnPosition position=scene.own[own];
   if(m_stops[at].tries<m_settings.execution.stop_tries)
     {
      m_stops[at].tries++;
      Say("unprotected",StringFormat("position #%I64u has no stop loss: it is set",
          position.ticket));
      Protect(position,m_stops[at].sl,scene);
      return(true);
     }
   const bool closes=m_settings.execution.without_stop==WITHOUT_STOP_CLOSE;
   Say("unprotected",StringFormat("the stop loss %g of position #%I64u can't be set: it is %s",
       m_stops[at].sl,position.ticket,closes ? "closed" : "kept without one"));
   if(closes)
      CloseOne(position.ticket,0.0,scene);
   return(false);
  }
#endif
//+------------------------------------------------------------------+
