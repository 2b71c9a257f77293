"""Faults put into the real sources, one at a time, and how far each of them gets.

An entry is the file below ``mql5/``, what stands there, and what is put in its place.
"""

# ruff: noqa: E501  a line of source, and what stands in its place, belong on one line

Fault = tuple[str, str, str]

_LIB = "Include/OnnxBridge/"
_EA = "Experts/OnnxBridge/Classifier.mq5"
_GENERATED = f"{_LIB}Generated/eurusd_h1_direction.mqh"

# The grammar or the names refuse them.
READ: tuple[Fault, ...] = (
    (_EA, "string         problem;", "string         problem"),
    (_EA, "ExtBridge.Deinit(reason);\n  }", "ExtBridge.Deinit(reason);"),
    (_EA, "ReadContract(contract);", "ReadContract(contract;"),
    (_EA, "ReadContract(contract);", "ReadContrakt(contract);"),
    (_EA, "Refused(INIT_FAILED,MODEL_NAME,", "Refused(INIT_FAILURE,MODEL_NAME,"),
    (_EA, "CBridge ExtBridge;", "CBridge *ExtBridge;"),
    (_EA, "CBridge ExtBridge;", "CBridge ExtBridge=new CBridge;"),
    (_EA, "ExtBridge.Tick();", "ExtBridge->Tick();"),
    (_EA, "int OnInit()", "void OnInit(int x)"),
    (_EA, "#property version     \"1.00\"", "#property strict"),
    (_EA, "#property version     \"1.00\"", "#property version     \"one\""),
    (_EA, "#include <OnnxBridge\\Bridge.mqh>", "#include <OnnxBridge\\Brigde.mqh>"),
    (_EA, "#include <OnnxBridge\\Tester.mqh>", "#import \"kernel32.dll\""),
    (_EA, "One model, raw", "Un mod\u00e8le, raw"),
    (_GENERATED, "#resource \"eurusd_h1_direction.onnx\"", "#resource \"eurusd_h1_direct.onnx\""),
    (_GENERATED, " as uchar ExtModelBytes[]", ""),
    (f"{_LIB}Numbers.mqh", "MathFloor(value)", "MathFloor(value,1)"),
    (f"{_LIB}Numbers.mqh", "double RoundEven(const double value)", "auto RoundEven(const double value)"),
    (f"{_LIB}Numbers.mqh", "const double &values[],const int from", "const double values[],const int from"),
    (f"{_LIB}Numbers.mqh", "double part[8];", "double part[8]{};"),
    (f"{_LIB}Numbers.mqh", "#define NUMBERS_BLOCK 128", "#define NUMBERS_BLOCK(x) 128"),
    (f"{_LIB}Numbers.mqh", "4503599627370496.0", "4503599627370496L"),
    (f"{_LIB}Volume.mqh", "const SymbolTerms &terms,const double lots)", "const SymbolTerms terms,const double lots)"),
    (f"{_LIB}Volume.mqh", "terms.volume_min)", "terms.volume_least)"),
    (f"{_LIB}Decide.mqh", "OUTPUT_SHARES,  ", "OUTPUT_SHARES  "),
    (f"{_LIB}Decide.mqh", "for(int i=0; i<width; i++)", "for(int i : sides)"),
    (f"{_LIB}Decide.mqh", "double total=0.0;", "double vector=0.0;"),
    (f"{_LIB}Hash.mqh", "union DoubleBits", "template<typename T> union DoubleBits"),
    (f"{_LIB}OnnxModel.mqh", "OnnxSetInputShape(m_handle,at,shape)", "OnnxSetInputShape(m_handle,at,1,211)"),
    (f"{_LIB}OnnxModel.mqh", "OnnxRelease(m_handle);", "OnnxFree(m_handle);"),
    (f"{_LIB}OnnxModel.mqh", "int               m_inputs;", "static int        m_inputs;"),
)  # fmt: skip

# g++ refuses them, all in one reading, each at its own line.
COMPILED: tuple[Fault, ...] = (
    (f"{_LIB}Numbers.mqh", "const double below=MathFloor(value);", "const int below=MathFloor(value);"),
    (f"{_LIB}Numbers.mqh", "return(value ? \"True\" : \"False\");", "return(value ? 1 : \"False\");"),
    (f"{_LIB}Volume.mqh", "const double volume=FloorToStep(terms,lots);", "const int volume=FloorToStep(terms,lots);"),
    (f"{_LIB}Volume.mqh", "words=StringFormat(\"%g lots, fixed\",volume);", "words=StringFormat(\"%g lots, fixed\");"),
    (f"{_LIB}Decide.mqh", "   decision.side=SIDE_NONE;", "   decision.side=0;"),
    (f"{_LIB}Decide.mqh", "   decision.action=action;", "   decision.action=SIDE_NONE;"),
    (f"{_LIB}Decide.mqh", "ProblemOf(kind,name,width,values)", "ProblemOf(width,name,width,values)"),
    (f"{_LIB}Prices.mqh", "the freeze level is %d", "the freeze level is %s"),
    (f"{_LIB}Prices.mqh", "   const double sign=(double)side;\n   return", "   const string sign=(double)side;\n   return"),
    (f"{_LIB}Spans.mqh", "   second=SecondsOf(text);\n", "   second=text;\n"),
    (f"{_LIB}Hash.mqh", "StringFormat(\"%02x\",(int)digest[i])", "StringFormat(\"%02x\",digest)"),
    (f"{_LIB}Rates.mqh", "datetime          After(void) const { return(m_after); }", "datetime          After(void) const { m_after=0; return(m_after); }"),
    (f"{_LIB}Rates.mqh", "CopyRates(m_symbol,m_period,0,m_depth+1,rates)", "CopyRates(m_symbol,m_period,0,m_depth+1,m_fault)"),
    (f"{_LIB}OnnxModel.mqh", "   const int  data_type=(int)info.tensor.data_type;", "   const int  data_type=(int)info.data_type;"),
    (f"{_LIB}OnnxModel.mqh", "if(info.type!=ONNX_TYPE_TENSOR)\n", "if(info.type!=ONNX_DATA_TYPE_FLOAT)\n"),
    (f"{_LIB}OnnxModel.mqh", "OnnxSetOutputShape(m_handle,at,shape)", "OnnxSetOutputShape(m_handle,at,m_source)"),
    (f"{_LIB}OnnxModel.mqh", "for(int i=0; i<rank; i++)\n     {", "for(uint i=0; i<rank; i++)\n     {"),
    (f"{_LIB}Trade.mqh", "   order.request.magic=magic;\n   order.request.type=entry", "   magic=order.request.magic;\n   order.request.type=entry"),
    (f"{_LIB}Trade.mqh", "   order.request.volume=entry.volume;", "   order.request.volume=entry;"),
    (f"{_LIB}Trade.mqh", "OrderSend(order.request,order.result)", "OrderSend(order.result,order.request)"),
    (f"{_LIB}Trade.mqh", "   const int  code=GetLastError();", "   const ENUM_OUTCOME code=GetLastError();"),
    (f"{_LIB}Bridge.mqh", "   m_model.Release();\n   m_lease", "   m_model.m_handle=0;\n   m_lease"),
)  # fmt: skip

# Only a run shows them: the program dies or refuses to start, or daemon and EA part.
RUN: tuple[Fault, ...] = (
    (f"{_LIB}Prices.mqh", "      return(ORDER_FILLING_FOK);\n   if", "      return(ORDER_FILLING_RETURN);\n   if"),
    (f"{_LIB}Rates.mqh", "ColumnOf(rates[from+i]", "ColumnOf(rates[from+i+1]"),
    (f"{_LIB}OnnxModel.mqh", "OnnxRun(m_handle,ONNX_DEFAULT,m_in0,m_in1,m_out0))", "OnnxRun(m_handle,ONNX_DEFAULT,m_in1,m_in0,m_out0))"),
    (f"{_LIB}Numbers.mqh", "   return(RoundTo(ticks*tick_size,digits));", "   return(ticks*tick_size);"),
    (f"{_LIB}OnnxModel.mqh", "   shape[1]=(ulong)contract.window;", "   shape[1]=(ulong)contract.window+1;"),
    (f"{_LIB}OnnxModel.mqh", "ArrayResize(m_out0,total)", "ArrayResize(m_out0,total+1)-1"),
    (f"{_LIB}Rates.mqh", "CopyRates(m_symbol,m_period,0,m_depth+1,rates)", "CopyRates(m_symbol,m_period,1,m_depth+1,rates)"),
    (f"{_LIB}Decide.mqh", "signal.long_value>signal.short_value ? SIDE_LONG : SIDE_SHORT", "signal.long_value<signal.short_value ? SIDE_LONG : SIDE_SHORT"),
    (f"{_LIB}Prices.mqh", "OpeningPrice(side,quote)-sign*stop_points", "OpeningPrice(side,quote)+sign*stop_points"),
    (f"{_LIB}Trade.mqh", "   order.request.position=position.ticket;\n   order.request.comment", "   order.request.comment"),
    (f"{_LIB}Trade.mqh", "entry.side==SIDE_LONG ? ORDER_TYPE_BUY : ORDER_TYPE_SELL", "entry.side==SIDE_LONG ? ORDER_TYPE_SELL : ORDER_TYPE_BUY"),
    (f"{_LIB}Trade.mqh", "   ZeroMemory(order.request);\n", ""),
    (f"{_LIB}Hash.mqh", "%02x", "%2x"),
    (f"{_LIB}Volume.mqh", "/terms.volume_step+\n                                VOLUME_STEP_SLACK", "/terms.volume_step-\n                                VOLUME_STEP_SLACK"),
    (_GENERATED, "0.160704888", "0.170704888"),
    (_GENERATED, "360480272f2a", "360480272f2b"),
    (f"{_LIB}Decide.mqh", "   decision.reason=reason;\n", ""),
)  # fmt: skip
