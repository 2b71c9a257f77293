//+------------------------------------------------------------------+
//| Retcodes.mqh: what each answer of the trade server means         |
//| Twin: bridge/mt5/retcodes.py. A code that is not here is         |
//| UNRESOLVED: nobody knows whether the order is out.               |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_RETCODES_MQH
#define ONNXBRIDGE_RETCODES_MQH

enum ENUM_OUTCOME
  {
   OUTCOME_DONE,      // it happened
   OUTCOME_PARTIAL,   // it happened in part
   OUTCOME_PLACED,    // accepted, not executed yet
   OUTCOME_REJECTED,  // it did not happen
   OUTCOME_UNRESOLVED // nobody knows yet
  };
//+------------------------------------------------------------------+
//| The outcome in words, as the daemon writes it                    |
//+------------------------------------------------------------------+
string OutcomeName(const ENUM_OUTCOME outcome)
  {
   switch(outcome)
     {
      case OUTCOME_DONE:
         return("done");
      case OUTCOME_PARTIAL:
         return("partial");
      case OUTCOME_PLACED:
         return("placed");
      case OUTCOME_REJECTED:
         return("rejected");
      default:
         return("unresolved");
     }
  }
//+------------------------------------------------------------------+
//| Whether volume changed hands or levels were set                  |
//+------------------------------------------------------------------+
bool HasHappened(const ENUM_OUTCOME outcome)
  {
   return(outcome==OUTCOME_DONE || outcome==OUTCOME_PARTIAL);
  }
//+------------------------------------------------------------------+
//| Whether a new request at a new price may follow at once          |
//+------------------------------------------------------------------+
bool IsRetryCode(const uint retcode)
  {
   return(retcode==10004 || retcode==10020 || retcode==10021);
  }
//+------------------------------------------------------------------+
//| What happened, for a person                                      |
//+------------------------------------------------------------------+
string RetcodeWords(const uint retcode)
  {
   switch((int)retcode)
     {
      case 10004:
         return("the price moved; a new one was offered");
      case 10006:
         return("the server refused the request");
      case 10007:
         return("the request was canceled");
      case 10008:
         return("the order is accepted and not executed yet");
      case 10009:
         return("the request is executed");
      case 10010:
         return("only part of the volume was filled");
      case 10011:
         return("the server could not process the request");
      case 10012:
         return("the server did not answer in time");
      case 10013:
         return("the request is malformed");
      case 10014:
         return("the volume is below the minimum, above the maximum or off the step");
      case 10015:
         return("the price is zero or on the wrong side");
      case 10016:
         return("stop loss or take profit is too near or on the wrong side");
      case 10017:
         return("trading is disabled for the symbol or the account");
      case 10018:
         return("the market is closed");
      case 10019:
         return("the free margin is not enough");
      case 10020:
         return("the price changed");
      case 10021:
         return("there are no quotes");
      case 10022:
         return("the expiration is not allowed");
      case 10023:
         return("the order changed meanwhile");
      case 10024:
         return("too many requests");
      case 10025:
         return("the levels are those already set");
      case 10026:
         return("the server forbids automatic trading");
      case 10027:
         return("the terminal forbids automatic trading");
      case 10028:
         return("the dealer holds the request");
      case 10029:
         return("the price is within the freeze level");
      case 10030:
         return("the filling mode is not allowed");
      case 10031:
         return("the terminal has no connection to the trade server");
      case 10032:
         return("only real accounts may do this");
      case 10033:
         return("there are too many pending orders");
      case 10034:
         return("the symbol's volume limit is reached");
      case 10035:
         return("the order type is forbidden for the symbol");
      case 10036:
         return("the position is closed already");
      case 10038:
         return("more was to be closed than is open");
      case 10039:
         return("a closing order exists already");
      case 10040:
         return("the account's limit of positions is reached");
      case 10041:
         return("the pending order was refused and canceled");
      case 10042:
         return("the symbol may only be bought");
      case 10043:
         return("the symbol may only be sold");
      case 10044:
         return("positions may only be closed");
      case 10045:
         return("the oldest position has to be closed first");
      case 10046:
         return("the account forbids opposite positions on a symbol");
      default:
         return(StringFormat("the server answered %u, which has no meaning here",retcode));
     }
  }
//+------------------------------------------------------------------+
//| What became of a request                                         |
//+------------------------------------------------------------------+
ENUM_OUTCOME OutcomeOf(const uint retcode)
  {
   switch((int)retcode)
     {
      case 10009:
         return(OUTCOME_DONE);
      case 10010:
         return(OUTCOME_PARTIAL);
      case 10008:
         return(OUTCOME_PLACED);
      case 10004:
      case 10006:
      case 10007:
      case 10011:
      case 10013:
      case 10014:
      case 10015:
      case 10016:
      case 10017:
      case 10018:
      case 10019:
      case 10020:
      case 10021:
      case 10022:
      case 10023:
      case 10024:
      case 10025:
      case 10026:
      case 10027:
      case 10028:
      case 10029:
      case 10030:
      case 10032:
      case 10033:
      case 10034:
      case 10035:
      case 10036:
      case 10038:
      case 10039:
      case 10040:
      case 10041:
      case 10042:
      case 10043:
      case 10044:
      case 10045:
      case 10046:
         return(OUTCOME_REJECTED);
      default:
         return(OUTCOME_UNRESOLVED);
     }
  }
#endif
//+------------------------------------------------------------------+
