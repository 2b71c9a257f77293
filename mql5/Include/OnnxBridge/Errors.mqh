//+------------------------------------------------------------------+
//| Errors.mqh: codes of the terminal's ONNX, files and trade calls  |
//| in words, with the next step                                     |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_ERRORS_MQH
#define ONNXBRIDGE_ERRORS_MQH
//+------------------------------------------------------------------+
//| Codes of the ONNX calls                                          |
//+------------------------------------------------------------------+
string OnnxErrorWords(const int code)
  {
   switch(code)
     {
      case 5800:
         return("the runtime refused the model: too new an opset or IR for this build, or a "
                "damaged file; the Experts log has its own line above");
      case 5801:
         return("the ONNX runtime did not start; reinstall or update the terminal");
      case 5802:
         return("a type or property that MQL5 does not support; export without string labels "
                "and ZipMap");
      case 5803:
         return("the runtime failed while running; the Experts log has its own line above");
      case 5804:
         return("OnnxRun got another number of inputs and outputs than the model has");
      case 5805:
         return("a bad value: a dead handle, an empty container or an index that is not there");
      case 5806:
         return("an element type that does not fit the model");
      case 5807:
         return("a container of another size than the tensor");
      case 5808:
         return("a dimension that is not set or is wrong; set input and output shapes");
      default:
         return("");
     }
  }
//+------------------------------------------------------------------+
//| Codes of the calls around it                                     |
//+------------------------------------------------------------------+
string OtherErrorWords(const int code)
  {
   switch(code)
     {
      case 4014:
         return("the function is not allowed in this kind of program");
      case 4016:
         return("the resource is not in the EX5; compile again");
      case 4401:
         return("the history is not loaded yet");
      case 4752:
         return("trading by expert advisors is switched off");
      case 4756:
         return("the trade request failed");
      case 5002:
         return("the file name is wrong");
      case 5004:
         return("the file can't be opened: it has to lie under MQL5\\Files of this terminal or in "
                "the common folder, and no other program may hold it");
      case 5019:
         return("the file is not there: it has to lie under MQL5\\Files of this terminal; in the "
                "tester embed the model instead");
      default:
         return("");
     }
  }
//+------------------------------------------------------------------+
//| A code as a person reads it, with the call that gave it          |
//+------------------------------------------------------------------+
string ErrorText(const string call,const int code)
  {
   string words=OnnxErrorWords(code);
   if(words=="")
      words=OtherErrorWords(code);
   if(words=="")
      words="see the terminal's list of runtime errors";
   return(StringFormat("%s failed with error %d: %s",call,code,words));
  }
#endif
//+------------------------------------------------------------------+
