//+------------------------------------------------------------------+
//| Contract.mqh: what a model file is for and what its numbers mean |
//| Twin: bridge/model/contract.py. A generated include fills it.    |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_CONTRACT_MQH
#define ONNXBRIDGE_CONTRACT_MQH

#include <OnnxBridge\Decide.mqh>

// Form of the generated include that this library reads; another one is refused at start.
#define ONNXBRIDGE_FORMAT 1

#define CONTRACT_INPUTS 2
#define CONTRACT_COLUMNS 8
#define CONTRACT_CLASSES 16

// Columns of a bar in the order of the daemon's rates.
enum ENUM_COLUMN
  {
   COLUMN_TIME,
   COLUMN_OPEN,
   COLUMN_HIGH,
   COLUMN_LOW,
   COLUMN_CLOSE,
   COLUMN_TICK_VOLUME,
   COLUMN_SPREAD,
   COLUMN_REAL_VOLUME
  };

// One input tensor: shape {1, window} with a single column, or {1, window, count}.
struct ContractInput
  {
   string            name;
   int               data_type; // ENUM_ONNX_DATA_TYPE
   bool              has_columns; // whether the tensor has a dimension for them
   int               count;
   int               columns[CONTRACT_COLUMNS];
  };

struct Contract
  {
   int               format;       // of the generated include
   string            name;
   string            sha256;
   string            symbol;
   ENUM_TIMEFRAMES   timeframe;
   string            timeframe_name;
   int               window;       // closed bars that one answer needs
   int               inputs;
   ContractInput     feed[CONTRACT_INPUTS];
   string            output;
   ENUM_OUTPUT_KIND  kind;
   int               width;        // numbers of one answer
   int               sides[CONTRACT_CLASSES];
   string            labels[CONTRACT_CLASSES];
   string            server_clock;
   bool              reads_time;   // whether answers depend on the hour
   double            tolerance;    // largest difference of a golden row
  };
//+------------------------------------------------------------------+
//| Adds an input; columns are ENUM_COLUMN in the tensor's order     |
//+------------------------------------------------------------------+
void AddInput(Contract &contract,const string name,const int data_type,const bool has_columns,
              const int &columns[])
  {
   const int at=contract.inputs;
   const int count=ArraySize(columns);
   if(at>=CONTRACT_INPUTS || count>CONTRACT_COLUMNS)
      return;
   contract.feed[at].name=name;
   contract.feed[at].data_type=data_type;
   contract.feed[at].has_columns=has_columns;
   contract.feed[at].count=count;
   for(int i=0; i<count; i++)
      contract.feed[at].columns[i]=columns[i];
   contract.inputs=at+1;
  }
//+------------------------------------------------------------------+
//| Adds a number of the answer: a class and its side, or a forecast |
//+------------------------------------------------------------------+
void AddOutput(Contract &contract,const string label,const ENUM_SIDE side)
  {
   const int at=contract.width;
   if(at>=CONTRACT_CLASSES)
      return;
   contract.labels[at]=label;
   contract.sides[at]=(int)side;
   contract.width=at+1;
  }
//+------------------------------------------------------------------+
//| Whether a mark or letter may begin or continue a broker's suffix |
//+------------------------------------------------------------------+
bool IsWordCharacter(const int character)
  {
   return((character>='0' && character<='9') || (character>='a' && character<='z') ||
          (character>='A' && character<='Z') || character=='_');
  }
//+------------------------------------------------------------------+
//| Whether a text may be a broker's suffix: a mark and word         |
//| characters (.pro, _i, #), or up to four small letters (m)        |
//+------------------------------------------------------------------+
bool IsSuffix(const string text)
  {
   const int count=StringLen(text);
   if(count==0)
      return(true);
   const int first=(int)StringGetCharacter(text,0);
   const bool is_marked=first>' ' && (first=='_' || !IsWordCharacter(first));
   if(!is_marked && (count>4 || first<'a' || first>'z'))
      return(false);
   for(int i=1; i<count; i++)
     {
      const int character=(int)StringGetCharacter(text,i);
      if(is_marked && !IsWordCharacter(character))
         return(false);
      if(!is_marked && (character<'a' || character>'z'))
         return(false);
     }
   return(true);
  }
//+------------------------------------------------------------------+
//| Whether a broker's symbol is the market that the model is for    |
//| alias: the contract's name of it, when it differs by more than a |
//| suffix; empty otherwise                                          |
//+------------------------------------------------------------------+
bool IsSameSymbol(const string symbol,const string made_for,const string alias)
  {
   if(alias!="")
      return(alias==made_for);
   if(StringFind(symbol,made_for)!=0)
      return(false);
   return(IsSuffix(StringSubstr(symbol,StringLen(made_for))));
  }
#endif
//+------------------------------------------------------------------+
