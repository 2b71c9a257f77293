"""What the host's terminal answers: files, shared things, the timer, orders and the ONNX codes."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from mql5.host.compiler import Built, Compiler
from mql5.host.play import play
from mql5.support import build, program, terminal

# ruff: noqa: E501  programs keep a call on a line

FILES = """
void OnStart()
  {
   int h=FileOpen("a\\\\b.csv",FILE_WRITE|FILE_CSV|FILE_ANSI,';');
   FileWrite(h,1,2.5,"x",D'2024.01.01',true);
   const int second=FileOpen("a\\\\b.csv",FILE_READ|FILE_TXT|FILE_ANSI);
   Print(second," ",GetLastError());
   FileClose(h);
   h=FileOpen("a\\\\b.csv",FILE_READ|FILE_CSV|FILE_ANSI,';');
   string line="";
   while(!FileIsEnding(h))
      line+=FileReadString(h)+"|";
   Print(line," ",FileSize(h));
   FileClose(h);
   h=FileOpen("b.bin",FILE_WRITE|FILE_BIN|FILE_COMMON);
   double numbers[]={1.5,-2.5};
   Print(FileWriteArray(h,numbers));
   FileClose(h);
   double back[];
   h=FileOpen("b.bin",FILE_READ|FILE_BIN|FILE_COMMON);
   uint count=FileReadArray(h,back);
   Print(count," ",back[1]);
   FileClose(h);
   ResetLastError();
   Print(FileOpen("..\\\\c.txt",FILE_WRITE|FILE_TXT)," ",FileIsExist("b.bin")," ",FileIsExist("b.bin",FILE_COMMON));
   const bool is_deleted=FileDelete("b.bin",FILE_COMMON);
   Print(is_deleted," ",FileIsExist("b.bin",FILE_COMMON));
   GlobalVariableSet("seen",GlobalVariableCheck("seen") ? GlobalVariableGet("seen")+1.0 : 1.0);
   Print(GlobalVariableGet("seen")," ",GlobalVariableSetOnCondition("seen",9.0,5.0));
   MqlTradeRequest request={};
   MqlTradeResult  result={};
   request.action=TRADE_ACTION_DEAL;
   request.symbol=_Symbol;
   request.volume=0.105;
   request.type=ORDER_TYPE_BUY;
   request.price=SymbolInfoDouble(_Symbol,SYMBOL_ASK);
   request.type_filling=ORDER_FILLING_FOK;
   bool is_sent=OrderSend(request,result);
   Print(is_sent," ",result.retcode," ",GetLastError());
   request.volume=0.1;
   request.sl=request.price+1.0;
   is_sent=OrderSend(request,result);
   Print(is_sent," ",result.retcode);
   request.sl=0.0;
   is_sent=OrderSend(request,result);
   const bool is_there=PositionSelectByTicket(result.order);
   Print(is_sent," ",result.retcode," ",PositionsTotal()," ",is_there," ",PositionGetDouble(POSITION_VOLUME));
   const bool is_known=HistorySelect(0,TimeTradeServer());
   Print(is_known," ",HistoryDealsTotal()," ",HistoryDealGetInteger(HistoryDealGetTicket(1),DEAL_ENTRY)==DEAL_ENTRY_IN);
  }
"""
SAID = [
    "-1 5004",
    "1|2.5|x|2024.01.01 00:00:00|true| 34",
    "2",
    "2 -2.5",
    "-1 false true",
    "true false",
    "1 false",
    "false 10014 4756",
    "false 10016",
    "true 10009 1 true 0.1",
    "true 2 true",
]


def test_files_variables_and_orders_are_the_terminal_s(compiler: Compiler, tmp_path: Path) -> None:
    built = build(compiler, tmp_path, FILES)
    desktop = terminal(tmp_path)
    one = program(built, desktop)
    one.script()
    assert one.log == SAID
    assert (desktop.folder / "MQL5" / "Files" / "a" / "b.csv").read_bytes().endswith(b"\r\n")
    # Variables outlive a program, its own globals do not.
    again = program(built, desktop)
    again.script()
    assert again.log[6] == "2 false"


TIMER = """
int ExtTicks=0;
int ExtTimers=0;
int OnInit() { return(EventSetTimer(7200) ? INIT_SUCCEEDED : INIT_FAILED); }
void OnTick() { ExtTicks++; if(ExtTicks==8) ExpertRemove(); }
void OnTimer() { ExtTimers++; }
void OnDeinit(const int reason) { Print(ExtTicks," ",ExtTimers," ",reason," ",UninitializeReason()); }
double OnTester() { return(TesterStatistics(STAT_INITIAL_DEPOSIT)+0.5); }
"""


def test_a_timer_goes_off_when_its_time_has_passed(compiler: Compiler, tmp_path: Path) -> None:
    one = program(build(compiler, tmp_path, TIMER), terminal(tmp_path))
    assert one.start() == 0
    assert play(terminal(tmp_path / "other"), one, bars=1) == 1
    assert one.result() == 10_000.5
    one.stop()
    assert one.log == ["1 0 1 1"]
    desktop = terminal(tmp_path / "third")
    two = program(build(compiler, tmp_path, TIMER), desktop)
    assert two.start() == 0
    assert play(desktop, two) == 8
    two.stop()
    # Two hours at hourly bars: at the third, fifth and seventh tick.
    assert two.log == ["8 3 1 1"]


CODES = """
input string InpFile="model.onnx"; // File
void OnStart()
  {
   double  wide[6];
   float   in[6];
   float   out[2];
   float   few[5];
   float   none[];
   ArrayInitialize(wide,1.0);
   ArrayInitialize(in,1.0f);
   ArrayInitialize(few,1.0f);
   ResetLastError();
   long h=OnnxCreate(InpFile,ONNX_DEFAULT);
   Print(h>0," ",GetLastError());
   if(h==INVALID_HANDLE)
      return;
   const long wrong[]={1,4};
   const long shape[]={2,3};
   const long answer[]={2,1};
   ResetLastError();
   bool is_done=OnnxRun(h,ONNX_DEFAULT,in,out);
   Print(is_done," ",GetLastError());
   is_done=OnnxSetInputShape(h,0,wrong);
   Print(is_done," ",GetLastError());
   is_done=OnnxSetInputShape(h,0,shape) && OnnxSetOutputShape(h,0,answer);
   Print(is_done);
   is_done=OnnxRun(h,ONNX_DEFAULT,in);
   Print(is_done," ",GetLastError());
   is_done=OnnxRun(h,ONNX_DEFAULT,in,none);
   Print(is_done," ",GetLastError());
   is_done=OnnxRun(h,ONNX_NO_CONVERSION,wide,out);
   Print(is_done," ",GetLastError());
   is_done=OnnxRun(h,ONNX_NO_CONVERSION,few,out);
   Print(is_done," ",GetLastError());
   ResetLastError();
   is_done=OnnxRun(h,ONNX_DEFAULT,wide,out);
   Print(is_done," ",GetLastError()," ",out[0]," ",out[1]);
   OnnxTypeInfo info;
   is_done=OnnxGetInputTypeInfo(h,0,info);
   Print(EnumToString(info.tensor.data_type)," ",info.tensor.dimensions[0]," ",info.tensor.dimensions[1]);
   OnnxRelease(h);
   is_done=OnnxRun(h,ONNX_DEFAULT,in,out);
   Print(is_done," ",GetLastError());
  }
"""


@pytest.fixture(scope="module")
def codes(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(compiler, tmp_path_factory.mktemp("codes"), CODES)


def _model(opset: int = 15, ir: int = 8) -> bytes:
    weights = numpy_helper.from_array(np.array([[1], [2], [4]], np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "sum",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 1])],
        [weights],
    )
    imports = [helper.make_opsetid("", opset)]
    made: bytes = helper.make_model(graph, opset_imports=imports, ir_version=ir).SerializeToString()
    return made


def test_onnx_refuses_with_the_terminal_s_codes(codes: Built, tmp_path: Path) -> None:
    desktop = terminal(tmp_path)
    files = desktop.folder / "MQL5" / "Files"
    (files / "model.onnx").write_bytes(_model())
    one = program(codes, desktop, InpFile="model")
    one.script()
    assert [line for line in one.log if not line.startswith("ONNX")] == [
        "true 0",
        "false 5808",
        "false 5808",
        "true",
        "false 5804",
        "false 5805",
        "false 5806",
        "false 5807",
        "true 0 7 7",
        "false 5805",
    ]
    assert "ONNX_DATA_TYPE_FLOAT -1 3" in one.log
    for name, model in {
        "new": _model(opset=19),
        "newer": _model(ir=9),
        "broken": b"no model",
    }.items():
        (files / f"{name}.onnx").write_bytes(model)
        refused = program(codes, desktop, InpFile=name)
        refused.script()
        assert refused.log[-1] == "false 5800"
    missing = program(codes, desktop, InpFile="missing")
    missing.script()
    assert missing.log == ["false 5019"]
