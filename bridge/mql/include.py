"""The generated include: all that differs between two models, as constants of MQL5."""

from collections.abc import Iterable, Iterator

from bridge.model.contract import Contract, Input
from bridge.model.load import LoadedModel
from bridge.model.load import reads_time as reads_time
from bridge.mql.golden import TOLERANCE, Golden, tolerance_of
from bridge.mql.literals import RULE, Value, banner, double, literal

FORMAT = 1
"""Form of the include; the library refuses another one."""
_ELEMENTS = {"double": "DOUBLE", "float": "FLOAT", "int64": "INT64"}
_SIDES = {"long": "SIDE_LONG", "short": "SIDE_SHORT", "flat": "SIDE_NONE"}
_COLUMN = 28


def include(model: LoadedModel, name: str, values: dict[str, Value], golden: Golden) -> str:
    """Return the text of ``Generated/NAME.mqh``.

    Args:
        model: With its contract.
        name: Of program and files.
        values: Of the ``SET_`` constants, in order.
        golden: Rows that the program tries before it trades.

    Raises:
        ConfigError: A value has no literal in MQL5.
    """
    contract = model.contract
    inside = "Generated: do not edit, it is written anew with the model."
    parts = [
        banner([f"{name}.mqh: for programs of OnnxBridge", inside]),
        "#ifndef ONNXBRIDGE_MODEL_MQH\n#define ONNXBRIDGE_MODEL_MQH\n",
        "#include <OnnxBridge\\Contract.mqh>\n",
        f'#resource "{name}.onnx" as uchar ExtModelBytes[]\n',
        _defines("identity", _identity(model, name, values)),
        _defines(
            'defaults of the inputs: the contract\'s decision, then bridge.toml; 0 and "" are off',
            ((what, literal(what, value)) for what, value in values.items()),
        ),
        _read_contract(contract, tolerance_of(contract, golden)),
        _golden(contract, golden),
        "#endif",
        RULE,
    ]
    return "\n".join(parts) + "\n"


def _defines(title: str, constants: Iterable[tuple[str, str]]) -> str:
    lines = [f"#define {name:{_COLUMN}} {value}" for name, value in constants]
    return "\n".join([f"//--- {title}", *lines, ""])


def _identity(model: LoadedModel, name: str, values: dict[str, Value]) -> Iterator[tuple[str, str]]:
    contract = model.contract
    yield "MODEL_FORMAT", str(FORMAT)
    yield "MODEL_NAME", f'"{name}"'
    yield "MODEL_SHA256", f'"{model.sha256}"'
    yield "MODEL_SYMBOL", literal("the symbol of the contract", contract.symbol)
    yield "MODEL_TIMEFRAME", f"PERIOD_{contract.timeframe}"
    yield "MODEL_WINDOW", str(contract.window)
    yield "MODEL_WIDTH", str(contract.output.width)


def _read_contract(contract: Contract, tolerance: float) -> str:
    output = contract.output
    clock = "true" if reads_time(contract) else "false"
    lines = [
        "contract.format=MODEL_FORMAT;",
        "contract.name=MODEL_NAME;",
        "contract.sha256=MODEL_SHA256;",
        "contract.symbol=MODEL_SYMBOL;",
        "contract.timeframe=MODEL_TIMEFRAME;",
        f'contract.timeframe_name="{contract.timeframe}";',
        "contract.window=MODEL_WINDOW;",
        "contract.inputs=0;",
        f"contract.output={literal('the name of the output', output.name)};",
        f"contract.kind=OUTPUT_{output.kind.upper()};",
        "contract.width=0;",
        f'contract.server_clock="{contract.server_clock}";',
        f"contract.reads_time={clock};",
        f"contract.tolerance={'1e-6' if tolerance == TOLERANCE else repr(tolerance)};",
    ]
    for at, each in enumerate(contract.inputs):
        lines += _input(at, each)
    for label, side in _labels(contract):
        lines.append(f"AddOutput(contract,{literal('the name of a class', label)},{side});")
    head = banner(["What the model is for and what its numbers mean"])
    body = "\n".join(f"   {line}" for line in lines)
    return f"{head}\nvoid ReadContract(Contract &contract)\n  {{\n{body}\n  }}\n"


def _input(at: int, each: Input) -> list[str]:
    columns = ",".join(f"COLUMN_{name.upper()}" for name in each.columns)
    has_columns = "true" if each.layout == "batch,window,columns" else "false"
    name = literal("the name of an input", each.name)
    return [
        f"int columns{at}[{len(each.columns)}]={{{columns}}};",
        f"AddInput(contract,{name},ONNX_DATA_TYPE_{_ELEMENTS[each.dtype]},{has_columns},columns{at});",
    ]


def _labels(contract: Contract) -> list[tuple[str, str]]:
    if contract.output.classes:
        return [(each.name, _SIDES[each.side]) for each in contract.output.classes]
    return [(contract.output.kind, "SIDE_LONG")]


def _golden(contract: Contract, golden: Golden) -> str:
    bars = [_bar(bar) for row in golden.rows for bar in row.bars.tolist()]
    outputs = [
        ",".join(double("a golden answer", value) for value in row.outputs) for row in golden.rows
    ]
    title = (
        "//--- golden rows: time, open, high, low, close, tick volume, spread, real volume of "
        "each bar"
    )
    who = "the model's estimator" if golden.by_estimator else "the model, where this was written,"
    answers = ", ".join(label for label, _ in _labels(contract))
    return "\n".join(
        [
            title,
            _array("ExtGoldenBars", bars),
            "",
            f"//--- what {who} answered to them: {answers}",
            _array("ExtGoldenOutputs", outputs),
        ]
    )


def _bar(bar: tuple[int | float, ...]) -> str:
    return ",".join(repr(value) for value in bar)


def _array(name: str, rows: list[str]) -> str:
    inside = ",\n".join(f"   {row}" for row in rows)
    return f"const double {name}[]=\n  {{\n{inside}\n  }};"
