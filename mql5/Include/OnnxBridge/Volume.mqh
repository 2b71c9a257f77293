//+------------------------------------------------------------------+
//| Volume.mqh: volume of an entry, fixed or from risk               |
//| Twin: bridge/risk/volume.py. Always rounded down, never lifted.  |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_VOLUME_MQH
#define ONNXBRIDGE_VOLUME_MQH

#include <OnnxBridge\Numbers.mqh>
#include <OnnxBridge\Terms.mqh>

// Keeps 0.3/0.1 from flooring to 2; a billionth of a step moves no money.
#define VOLUME_STEP_SLACK 1e-9
//+------------------------------------------------------------------+
//| Whole steps in the lots, at most the symbol's maximum            |
//| Steps are counted from zero; the result may be below the minimum |
//+------------------------------------------------------------------+
double FloorToStep(const SymbolTerms &terms,const double lots)
  {
   if(IsNan(lots) || !MathIsValidNumber(terms.volume_step) || terms.volume_step<=0.0)
      return(0.0);
   const double steps=MathFloor(MinOf(lots,terms.volume_max)/terms.volume_step+
                                VOLUME_STEP_SLACK);
   return(RoundTo(steps*terms.volume_step,8));
  }
//+------------------------------------------------------------------+
//| Fixed lots, rounded down; 0.0 when below the minimum             |
//+------------------------------------------------------------------+
double FixedVolume(const SymbolTerms &terms,const double lots,string &words)
  {
   const double volume=FloorToStep(terms,lots);
   if(volume<terms.volume_min)
     {
      words=StringFormat("%s: %g lots are below the minimum of %g; raise volume in the settings",
                         terms.name,lots,terms.volume_min);
      return(0.0);
     }
   words=StringFormat("%g lots, fixed",volume);
   return(volume);
  }
//+------------------------------------------------------------------+
//| The largest volume that loses at most equity*share at the stop   |
//| equity: account currency; share: above 0, at most 1;             |
//| loss_per_lot: account currency. false: an argument is no number  |
//| in its range. volume 0.0: do not trade.                          |
//+------------------------------------------------------------------+
bool VolumeForRisk(const SymbolTerms &terms,const double equity,const double share,
                   const double loss_per_lot,double &volume,string &words)
  {
   volume=0.0;
   if(!MathIsValidNumber(equity) || !MathIsValidNumber(share) ||
      !MathIsValidNumber(loss_per_lot) || share<=0.0 || share>1.0 || loss_per_lot<=0.0)
     {
      words=terms.name+": equity, share or loss per lot out of range";
      return(false);
     }
   const double budget=MaxOf(0.0,equity*share);
   const double wanted=budget/loss_per_lot;
   const double floored=FloorToStep(terms,wanted);
   if(floored<terms.volume_min)
     {
      const double least=terms.volume_min*loss_per_lot;
      const string of_equity=equity>0.0 ?
                             StringFormat(" (%.1f%% of equity)",least/equity*100.0) : "";
      words=StringFormat("%s: risking %.2f needs %.4g lots, the minimum is %g, which would risk "
                         "%.2f%s; raise risk_share or narrow the stop",terms.name,budget,wanted,
                         terms.volume_min,least,of_equity);
      return(true);
     }
   volume=floored;
   words=StringFormat("%g lots risk %.2f of %.2f",volume,volume*loss_per_lot,budget);
   return(true);
  }
#endif
//+------------------------------------------------------------------+
