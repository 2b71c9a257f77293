"""Rules about what goes in and out: kinds, element types, dimensions."""

from collections.abc import Iterable, Sequence

from bridge.model.lint.ceilings import Ceiling
from bridge.model.lint.facts import Facts, Port
from bridge.model.lint.finding import Level
from bridge.model.lint.rule import REPAIR, Rule

_FED = frozenset({"float", "double", "int64", "int32", "bool"})
_TOLD_APART = frozenset({"string", "float16", "bfloat16"})
_ANSWERS = frozenset({"float", "double"})


def _sides(facts: Facts) -> Iterable[tuple[str, Port]]:
    yield from (("input", each) for each in facts.inputs)
    yield from (("output", each) for each in facts.outputs)


def _no_tensor(facts: Facts, _: Ceiling) -> Iterable[str]:
    for side, port in _sides(facts):
        if port.kind != "tensor":
            kind = port.kind.replace("_", " ")
            yield f"its {side} {port.name} is a {kind}, not a tensor"


def _tensors_of(facts: Facts, element: str) -> Iterable[str]:
    for side, port in _sides(facts):
        if port.kind == "tensor" and port.element == element:
            yield f"its {side} {port.name} is {element}"


def _strings(facts: Facts, _: Ceiling) -> Iterable[str]:
    yield from _tensors_of(facts, "string")


def _halves(facts: Facts, _: Ceiling) -> Iterable[str]:
    yield from _tensors_of(facts, "float16")


def _brain(facts: Facts, _: Ceiling) -> Iterable[str]:
    ports = {port.name for _, port in _sides(facts) if port.element == "bfloat16"}
    inner = {name for name, element in facts.elements.items() if element == "bfloat16"}
    for name in sorted(ports | inner):
        yield f"its tensor {name} is bfloat16"


def _odd_inputs(facts: Facts, _: Ceiling) -> Iterable[str]:
    for port in facts.inputs:
        if port.kind == "tensor" and port.element not in _FED | _TOLD_APART:
            yield f"its input {port.name} is {port.element}"


def _no_answer(facts: Facts, _: Ceiling) -> Iterable[str]:
    if any(port.kind != "tensor" for port in facts.outputs):
        return  # a sequence may hold the answer; that is told already
    if not any(port.element in _ANSWERS for port in facts.outputs):
        kinds = ", ".join(f"{port.name} is {port.element}" for port in facts.outputs)
        yield f"none of its outputs holds numbers that can decide ({kinds})"


def _free_batch(facts: Facts, _: Ceiling) -> Iterable[str]:
    ports = [port for _, port in _sides(facts) if _is_free(port, batch=True)]
    if ports:
        yield f"{_named(ports)} without a fixed batch; the EA's template sets {_filled(ports)}"


def _free_inside(facts: Facts, _: Ceiling) -> Iterable[str]:
    ports = [port for _, port in _sides(facts) if _is_free(port, batch=False)]
    if ports:
        yield f"{_named(ports)} with free dimensions beside the batch"


def _is_free(port: Port, *, batch: bool) -> bool:
    if port.kind != "tensor":
        return False
    if port.dims is None:
        return not batch
    return None in (port.dims[:1] if batch else port.dims[1:])


def _named(ports: Sequence[Port]) -> str:
    return ", ".join(f"{port.name} {port.shape}" for port in ports)


def _filled(ports: Sequence[Port]) -> str:
    shapes = (tuple(size or 1 for size in port.dims or ()) for port in ports)
    return ", ".join("{" + ",".join(map(str, shape)) + "}" for shape in shapes)


def _wide_batch(facts: Facts, _: Ceiling) -> Iterable[str]:
    for port in facts.inputs:
        if port.dims and len(port.dims) > 1 and port.dims[0] is not None and port.dims[0] > 1:
            yield f"its input {port.name} {port.shape} takes {port.dims[0]} rows at once"


def _one_row(facts: Facts, _: Ceiling) -> Iterable[str]:
    ports = [port for port in facts.inputs if port.dims and port.dims[0] == 1]
    if ports and len(ports) == len(facts.inputs):
        yield f"{_named(ports)}: the batch is fixed to 1"


def _several_inputs(facts: Facts, ceiling: Ceiling) -> Iterable[str]:
    if len(facts.inputs) > 1 and facts.contract != "":
        names = ", ".join(port.name for port in facts.inputs)
        yield f"it has {len(facts.inputs)} inputs ({names})"


def _several_outputs(facts: Facts, _: Ceiling) -> Iterable[str]:
    if len(facts.outputs) > 1 and facts.contract != "":
        names = ", ".join(f"{port.name} ({port.element})" for port in facts.outputs)
        yield f"it has {len(facts.outputs)} outputs: {names}"


def _constants(facts: Facts, _: Ceiling) -> Iterable[str]:
    if facts.constants:
        yield f"{len(facts.constants)} of its weights are listed as inputs, {facts.constants[0]}"


def _declared(facts: Facts, _: Ceiling) -> Iterable[str]:
    """Yield outputs whose real shape for one row differs from the declared one."""
    for trial, rows in (("random", "one row"), ("several", "three rows")):
        for port in facts.outputs:
            real = getattr(facts.trials.answers.get(trial, {}).get(port.name), "shape", None)
            if real is None or port.dims is None or _fits(port.dims, real):
                continue
            yield f"its output {port.name} says {port.shape} and is {list(real)} for {rows}"
            return


def _fits(dims: tuple[int | None, ...], real: tuple[int, ...]) -> bool:
    return len(dims) == len(real) and all(
        size is None or size == got for size, got in zip(dims, real, strict=True)
    )


RULES = (
    Rule(
        name="no-tensor",
        look=_no_tensor,
        level=Level.BLOCKED,
        why="a classifier's ZipMap gives a list of maps; an EA can read it only into arrays of "
        "structs that can't be checked, and the daemon takes tensors only",
        fix=f"export with zipmap=False, or have the map taken off: {REPAIR}",
    ),
    Rule(
        name="string",
        look=_strings,
        level=Level.BLOCKED,
        why="MQL5 refuses string tensors (5802), and bars hold no text",
        fix="train on whole-number labels and categories; repair drops an output of text where "
        "another output has the answer",
    ),
    Rule(
        name="float16",
        look=_halves,
        level=Level.BLOCKED,
        why="half precision ends at 65504 and has 11 bits: BTC becomes infinite, EURUSD loses 20 "
        "points, and no MQL5 type beside ushort fits",
        fix="export in float32 (keep_io_types=True where only the weights are to be halves)",
    ),
    Rule(
        name="bfloat16",
        look=_brain,
        level=Level.BLOCKED,
        why="MQL5 refuses it (5802), and it has 8 bits",
        fix="export in float32",
    ),
    Rule(
        name="odd-input",
        look=_odd_inputs,
        level=Level.BLOCKED,
        why="bars and features can't fill such a tensor without loss",
        fix="export with float, double or int64 inputs",
    ),
    Rule(
        name="no-answer",
        look=_no_answer,
        level=Level.BLOCKED,
        why="a label alone says nothing of how sure the model is, and the daemon decides by shares",
        fix="export the probabilities or the forecast as a float output, too",
    ),
    Rule(
        name="wide-batch",
        look=_wide_batch,
        level=Level.WRONG,
        why="live there is one window, so the other rows would be made up",
        fix="export with a batch of 1, or a free one",
    ),
    Rule(
        name="free-inside",
        look=_free_inside,
        level=Level.CARE,
        why="every free dimension must be set before the first OnnxRun, of inputs and outputs: "
        "else 5805 or 5808",
        fix=f"fix them (--dim NAME=SIZE): {REPAIR}",
    ),
    Rule(
        name="free-batch",
        look=_free_batch,
        level=Level.CARE,
        levels={"this": Level.NOTE},
        why="OnnxSetInputShape and OnnxSetOutputShape have to be called once, else 5805 or 5808; "
        "5805 'parameter is empty' means that the output array was not sized",
        fix=f"use the template, which does it, or fix the batch: {REPAIR}",
    ),
    Rule(
        name="declared-shape",
        look=_declared,
        level=Level.CARE,
        levels={"this": Level.NOTE},
        why="what is declared is not what runs, so an EA that sizes its arrays by it gets 5807 or "
        "5808; converters of LightGBM write a label so",
        fix=f"declare what runs: {REPAIR}",
    ),
    Rule(
        name="several-inputs",
        look=_several_inputs,
        level=Level.CARE,
        why="graphs keep nothing between two calls: a state (h_in, h_out) must be fed back by the "
        "caller, and every input must be described",
        fix="describe each input with mt5-onnx model wrap; a state needs a sequence as its input "
        "instead",
    ),
    Rule(
        name="several-outputs",
        look=_several_outputs,
        level=Level.CARE,
        levels={"this": Level.NOTE},
        why="OnnxRun wants an array for every output, in order (else 5804), and the first one is "
        "often the label or an extra",
        fix=f"keep the one that decides (--keep NAME): {REPAIR}",
    ),
    Rule(
        name="weights-as-inputs",
        look=_constants,
        level=Level.CARE,
        why="files of IR 3 list them; they keep the runtime from folding constants, and some tools "
        "ask you to feed them",
        fix=f"take them off the inputs: {REPAIR}",
    ),
    Rule(
        name="one-row",
        look=_one_row,
        level=Level.NOTE,
        why="right for live trading; a back-test asks row by row, which is slower",
        fix="nothing to do, or export with a free batch for faster back-tests",
    ),
)
