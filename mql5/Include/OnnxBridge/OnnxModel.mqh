//+------------------------------------------------------------------+
//| OnnxModel.mqh: one session over a model's bytes                  |
//| Twin: bridge/model/session.py, bridge/model/files.py             |
//| Values cross as doubles and the terminal converts: a double holds|
//| every float and every bar time exactly, and what would overflow  |
//| a float is refused before (Rates.mqh).                           |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_ONNXMODEL_MQH
#define ONNXBRIDGE_ONNXMODEL_MQH

#include <OnnxBridge\Contract.mqh>
#include <OnnxBridge\Errors.mqh>
#include <OnnxBridge\Hash.mqh>
#include <OnnxBridge\Rates.mqh>

// Small models gain nothing on a graphics card. Terminals older than about build 5572 do not know
// the name and do not compile it: take this line out there.
#define ONNXBRIDGE_CPU ONNX_USE_CPU_ONLY

#define ONNXMODEL_OUTPUTS 2
//+------------------------------------------------------------------+
//| One model: made from bytes, asked once a bar, released           |
//+------------------------------------------------------------------+
class COnnxModel
  {
private:
   long              m_handle;
   int               m_inputs;
   int               m_outputs;
   int               m_source[CONTRACT_INPUTS]; // graph's input -> contract's
   int               m_decides;                 // output that decides
   double            m_in0[];
   double            m_in1[];
   double            m_out0[];
   double            m_out1[];
   string            m_problem;

   bool              Fail(const string problem);
   bool              Open(const uchar &bytes[]);
   bool              FitInput(const Contract &contract,const int at);
   bool              FitOutput(const Contract &contract,const int at);
   bool              Ask(void);

public:
                     COnnxModel(void);
                    ~COnnxModel(void);
   bool              Create(const uchar &bytes[],const Contract &contract);
   void              Release(void);
   bool              Run(const Contract &contract,const MqlRates &rates[],const int from,
                         double &values[]);
   string            Problem(void) const { return(m_problem); }
  };
//+------------------------------------------------------------------+
//| Constructor                                                      |
//+------------------------------------------------------------------+
COnnxModel::COnnxModel(void)
  {
   m_handle=INVALID_HANDLE;
   m_inputs=0;
   m_outputs=0;
   m_decides=-1;
   m_problem="the model is not loaded";
   for(int i=0; i<CONTRACT_INPUTS; i++)
      m_source[i]=-1;
  }
//+------------------------------------------------------------------+
//| Destructor                                                       |
//+------------------------------------------------------------------+
COnnxModel::~COnnxModel(void)
  {
   Release();
  }
//+------------------------------------------------------------------+
//| Gives the session back; may be called twice                      |
//+------------------------------------------------------------------+
void COnnxModel::Release(void)
  {
   if(m_handle!=INVALID_HANDLE)
      OnnxRelease(m_handle);
   m_handle=INVALID_HANDLE;
  }
//+------------------------------------------------------------------+
//| Notes the problem, gives the session back                        |
//+------------------------------------------------------------------+
bool COnnxModel::Fail(const string problem)
  {
   m_problem=problem;
   Release();
   return(false);
  }
//+------------------------------------------------------------------+
//| Opens the session, on the processor where the terminal can say so|
//+------------------------------------------------------------------+
bool COnnxModel::Open(const uchar &bytes[])
  {
   Release();
   ResetLastError();
#ifdef ONNXBRIDGE_CPU
   m_handle=OnnxCreateFromBuffer(bytes,ONNXBRIDGE_CPU);
   if(m_handle!=INVALID_HANDLE)
      return(true);
   ResetLastError();
#endif
   m_handle=OnnxCreateFromBuffer(bytes,ONNX_DEFAULT);
   if(m_handle!=INVALID_HANDLE)
      return(true);
   return(Fail(ErrorText("OnnxCreateFromBuffer",GetLastError())));
  }
//+------------------------------------------------------------------+
//| Makes a session whose inputs and outputs are the contract's      |
//+------------------------------------------------------------------+
bool COnnxModel::Create(const uchar &bytes[],const Contract &contract)
  {
   if(!Open(bytes))
      return(false);
   m_inputs=(int)OnnxGetInputCount(m_handle);
   m_outputs=(int)OnnxGetOutputCount(m_handle);
   m_decides=-1;
   if(m_inputs!=contract.inputs)
      return(Fail(StringFormat("the model has %d inputs, the contract describes %d",m_inputs,
                               contract.inputs)));
   if(m_outputs<1 || m_outputs>ONNXMODEL_OUTPUTS)
      return(Fail(StringFormat("the model has %d outputs, at most %d can be asked for: drop the "
                               "others from the graph",m_outputs,ONNXMODEL_OUTPUTS)));
   for(int i=0; i<m_inputs; i++)
      if(!FitInput(contract,i))
         return(false);
   for(int i=0; i<m_outputs; i++)
      if(!FitOutput(contract,i))
         return(false);
   if(m_decides<0)
      return(Fail("output "+contract.output+" is in the contract and not in the model"));
   m_problem="";
   return(true);
  }
//+------------------------------------------------------------------+
//| Checks an input of the model against the contract, sets its shape|
//+------------------------------------------------------------------+
bool COnnxModel::FitInput(const Contract &contract,const int at)
  {
   const string name=OnnxGetInputName(m_handle,at);
   m_source[at]=-1;
   for(int i=0; i<contract.inputs; i++)
      if(contract.feed[i].name==name)
         m_source[at]=i;
   if(m_source[at]<0)
      return(Fail("input "+name+" is in the model and not in the contract"));
   const int    source=m_source[at];
   OnnxTypeInfo info;
   ResetLastError();
   if(!OnnxGetInputTypeInfo(m_handle,at,info))
      return(Fail(ErrorText("OnnxGetInputTypeInfo",GetLastError())));
   if(info.type!=ONNX_TYPE_TENSOR || (int)info.tensor.data_type!=contract.feed[source].data_type)
      return(Fail(StringFormat("input %s has the element type %d, the contract says %d",name,
                               (int)info.tensor.data_type,contract.feed[source].data_type)));
   ulong shape[];
   const int rank=contract.feed[source].has_columns ? 3 : 2;
   if(ArrayResize(shape,rank)!=rank)
      return(Fail("no memory"));
   shape[0]=1;
   shape[1]=(ulong)contract.window;
   if(rank==3)
      shape[2]=(ulong)contract.feed[source].count;
   if(ArraySize(info.tensor.dimensions)!=rank)
      return(Fail(StringFormat("input %s has %d dimensions, the contract says %d",name,
                               ArraySize(info.tensor.dimensions),rank)));
   for(int i=0; i<rank; i++)
      if(info.tensor.dimensions[i]>0 && info.tensor.dimensions[i]!=(long)shape[i])
         return(Fail(StringFormat("dimension %d of input %s is %I64d, the contract says %I64d",i,
                                  name,info.tensor.dimensions[i],(long)shape[i])));
   ResetLastError();
   if(!OnnxSetInputShape(m_handle,at,shape))
      return(Fail(ErrorText("OnnxSetInputShape",GetLastError())));
   return(true);
  }
//+------------------------------------------------------------------+
//| Checks an output, sets its shape, sizes its container            |
//+------------------------------------------------------------------+
bool COnnxModel::FitOutput(const Contract &contract,const int at)
  {
   const string name=OnnxGetOutputName(m_handle,at);
   OnnxTypeInfo info;
   ResetLastError();
   if(!OnnxGetOutputTypeInfo(m_handle,at,info))
      return(Fail(ErrorText("OnnxGetOutputTypeInfo",GetLastError())));
   if(info.type!=ONNX_TYPE_TENSOR)
      return(Fail("output "+name+" is no tensor: export with ZipMap off"));
   const bool decides=name==contract.output;
   const int  data_type=(int)info.tensor.data_type;
   if(decides && data_type!=ONNX_DATA_TYPE_FLOAT && data_type!=ONNX_DATA_TYPE_DOUBLE)
      return(Fail(StringFormat("output %s has the element type %d, only float and double decide",
                               name,data_type)));
   const int rank=ArraySize(info.tensor.dimensions);
   ulong     shape[];
   int       total=1;
   if(ArrayResize(shape,rank)!=rank)
      return(Fail("no memory"));
   for(int i=0; i<rank; i++)
     {
      long size=info.tensor.dimensions[i];
      if(size<=0)
         size=decides && i>0 && i==rank-1 ? contract.width : 1;
      shape[i]=(ulong)size;
      total*=(int)size;
     }
   if(decides && total!=contract.width)
      return(Fail(StringFormat("output %s has %d numbers, the contract says %d",name,total,
                               contract.width)));
   ResetLastError();
   if(rank>0 && !OnnxSetOutputShape(m_handle,at,shape))
      return(Fail(ErrorText("OnnxSetOutputShape",GetLastError())));
   if(decides)
      m_decides=at;
   const int sized=at==0 ? ArrayResize(m_out0,total) : ArrayResize(m_out1,total);
   return(sized==total ? true : Fail("no memory"));
  }
//+------------------------------------------------------------------+
//| Runs the session on the filled containers                        |
//+------------------------------------------------------------------+
bool COnnxModel::Ask(void)
  {
   if(m_inputs==1 && m_outputs==1)
      return(OnnxRun(m_handle,ONNX_DEFAULT,m_in0,m_out0));
   if(m_inputs==1)
      return(OnnxRun(m_handle,ONNX_DEFAULT,m_in0,m_out0,m_out1));
   if(m_outputs==1)
      return(OnnxRun(m_handle,ONNX_DEFAULT,m_in0,m_in1,m_out0));
   return(OnnxRun(m_handle,ONNX_DEFAULT,m_in0,m_in1,m_out0,m_out1));
  }
//+------------------------------------------------------------------+
//| What the model says about a window of bars                       |
//| from: of its oldest bar. false: nothing was run, or it failed;   |
//| Problem() says why.                                              |
//+------------------------------------------------------------------+
bool COnnxModel::Run(const Contract &contract,const MqlRates &rates[],const int from,
                     double &values[])
  {
   ArrayResize(values,0);
   if(m_handle==INVALID_HANDLE)
     {
      m_problem="the model is not loaded";
      return(false);
     }
   if(from<0 || from+contract.window>ArraySize(rates))
     {
      m_problem=StringFormat("%d closed bars, the model needs %d",ArraySize(rates)-from,
                             contract.window);
      return(false);
     }
   for(int i=0; i<m_inputs; i++)
     {
      const int  source=m_source[i];
      const bool is_filled=i==0 ?
                           FillInput(contract.feed[source],rates,from,contract.window,m_in0) :
                           FillInput(contract.feed[source],rates,from,contract.window,m_in1);
      if(!is_filled)
        {
         m_problem="input "+contract.feed[source].name+" holds a number that is not finite";
         return(false);
        }
     }
   ResetLastError();
   if(!Ask())
     {
      m_problem="the model failed: "+ErrorText("OnnxRun",GetLastError());
      return(false);
     }
   m_problem="";
   const int count=m_decides==0 ? ArrayCopy(values,m_out0) : ArrayCopy(values,m_out1);
   return(count==contract.width);
  }
//+------------------------------------------------------------------+
//| Reads a model file; what is hashed is what runs                  |
//| file: under MQL5\Files, or in the common folder                  |
//+------------------------------------------------------------------+
bool ReadModelFile(const string file,const bool is_common,uchar &bytes[],string &problem)
  {
   ResetLastError();
   const int handle=FileOpen(file,FILE_READ|FILE_BIN|FILE_SHARE_READ|(is_common ? FILE_COMMON : 0));
   if(handle==INVALID_HANDLE)
     {
      problem=file+": "+ErrorText("FileOpen",GetLastError());
      return(false);
     }
   const uint count=FileReadArray(handle,bytes);
   FileClose(handle);
   if(count==0)
      problem=file+" is empty";
   return(count>0);
  }
#endif
//+------------------------------------------------------------------+
