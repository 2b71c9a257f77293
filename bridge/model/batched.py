"""A session over bars that are all known: its answers are made ahead, many at once.

It answers as the single session does, bit for bit: what it made ahead is compared with it on real
windows, and what differs is asked one by one. A window that is not one of its bars is asked singly.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from bridge.features import codec
from bridge.features.featureset import sequences
from bridge.model.contract import Contract
from bridge.model.files import read_model_file
from bridge.model.load import LoadedModel
from bridge.model.session import RUNTIME_ERRORS, Answer, ModelSession, numpy_type, open_session
from bridge.model.signal import SHARES_TOLERANCE
from bridge.model.windows import windows_of
from bridge.mt5.rates import RatesArray

Numbers = NDArray[np.float64 | np.float32]
Fill = Callable[[int, int], Numbers]
"""Gives the answers at the bars from a place to another."""

# Numbers that a chunk of windows may hold, and rows of features that are worked on at a time.
_NUMBERS, _ROWS = 2_000_000, 32_768
# Windows that are compared with the single session, in each chunk and over all bars.
_PROBES = 128
# Far more than the last bits of shares in float32, far less than what tells two answers apart.
_LAST_BITS = 1e-6
# Tensor that features and estimator share, as ``authoring`` names it.
_FEATURES = "features"


class BatchedSession(ModelSession):
    """Looks answers up by the bar.

    Args:
        model: Loaded as always.
        rates: All bars, shape ``(n,)``, oldest first.

    Attributes:
        values: The answers, shape ``(n, width)``; NaN before the first whole window.
        method: How they were made: ``history``, ``windows`` or ``single``.
    """

    def __init__(self, model: LoadedModel, rates: RatesArray) -> None:
        contract = model.contract
        super().__init__(model.session.session, contract)
        self._rates = rates
        self._times = np.ascontiguousarray(rates["time"])
        self._next = contract.window - 1
        self._known = _finite(contract, rates)
        self.method, self.values = self._filled(model)

    def run(self, rates: RatesArray) -> Answer:
        """Return what the model says about a window; one of another history is asked singly."""
        place = self._place(rates)
        if place < 0 or not self._known[place]:
            return super().run(rates)
        self._next = place + 1
        return Answer(tuple(self.values[place].tolist()))

    def ask_singly(self, places: NDArray[np.intp]) -> None:
        """Ask the model again about some bars, one by one: where a last bit would decide.

        Args:
            places: Of the bars.
        """
        for place in places.tolist():
            self.values[place] = self._singly(place, place + 1)[0]

    def _place(self, rates: RatesArray) -> int:
        """Return where a window ends among the bars; -1 when it is none of them."""
        if len(rates) != self._window:
            return -1
        place, time = self._next, rates["time"][-1]
        if not (place < len(self._times) and self._times[place] == time):
            place = int(np.searchsorted(self._times, time))
        if not self._window - 1 <= place < len(self._times):
            return -1
        own = self._rates[place + 1 - self._window : place + 1]
        return place if own.tobytes() == rates.tobytes() else -1

    def _filled(self, model: LoadedModel) -> tuple[str, Numbers]:
        if len(self._rates) < self._window:
            return "single", np.full((len(self._rates), self._width), np.nan)
        for method, fill in self._fills(model):
            if (values := self._try(fill)) is not None:
                return method, values
        return "single", self._all(self._singly)

    def _fills(self, model: LoadedModel) -> Iterator[tuple[str, Fill]]:
        if model.contract.features is not None and (fill := _from_history(model, self._rates)):
            yield "history", fill
        if _is_free(self.session):
            yield "windows", _from_windows(self.session, model.contract, self._rates)

    def _try(self, fill: Fill) -> Numbers | None:
        """Return the answers of ``fill``; None when they are not those of the single session."""
        first, last = self._window - 1, len(self._rates)
        try:
            if not self._agrees(fill(first, min(last, first + _PROBES)), first):
                return None
            values = self._all(fill)
        except RUNTIME_ERRORS:  # the graph takes no batch, whatever it declares
            return None
        places = np.unique(np.linspace(first, last - 1, _PROBES).astype(int)).tolist()
        same = all(self._agrees(values[place : place + 1], place) for place in places)
        return values if same else None

    def _agrees(self, values: Numbers, first: int) -> bool:
        single = self._singly(first, first + len(values))
        known = self._known[first : first + len(values)]
        return bool(np.array_equal(single[known], values[known], equal_nan=True))

    def _singly(self, first: int, last: int) -> Numbers:
        width = self._width
        rows: list[tuple[float, ...]] = []
        for place in range(first, last):
            answer = super().run(self._rates[place + 1 - self._window : place + 1])
            if answer.problem is not None or len(answer.values) != width:
                self._known[place] = False
            rows.append(answer.values if self._known[place] else (np.nan,) * width)
        return np.array(rows, dtype=np.float64).reshape(-1, width)

    @property
    def _width(self) -> int:
        return self._contract.output.width

    def _all(self, fill: Fill) -> Numbers:
        first, last = self._window - 1, len(self._rates)
        parts = [np.full((min(first, last), self._width), np.nan)]
        parts += [fill(start, min(start + _ROWS, last)) for start in range(first, last, _ROWS)]
        kind = parts[-1].dtype
        return np.concatenate([part.astype(kind, copy=False) for part in parts])


def batched(model: LoadedModel, rates: RatesArray) -> LoadedModel:
    """Return ``model`` with its answers over ``rates`` (all bars, oldest first) made ahead."""
    return replace(model, session=BatchedSession(model, rates))


def near_limits(
    long: NDArray[np.float64], short: NDArray[np.float64], limits: Iterable[float]
) -> NDArray[np.intp]:
    """Return the bars at which a last bit of the answer may change a comparison.

    Args:
        long: What speaks for each side, shape ``(n,)``.
        short: Likewise.
        limits: What both are held against, and against each other; 0 is never passed.
    """
    apart = np.abs(long - short)
    near = (apart > 0.0) & (apart < _LAST_BITS)
    for limit in limits:
        if limit > 0.0:
            near |= np.abs(long - limit) < _LAST_BITS * max(1.0, limit)
            near |= np.abs(short - limit) < _LAST_BITS * max(1.0, limit)
    return np.flatnonzero(near)


def sides_of(
    contract: Contract, values: Numbers
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return what speaks for each side at each bar, and where that is certain.

    Args:
        contract: Of the model.
        values: Shape ``(n, width)``. Twin: ``signal.decode``, which also says what is wrong.

    Returns:
        Long and short, shape ``(n,)``, and where ``decode`` finds no problem for sure.
    """
    # A block at a time: ten years of doubles would be there twice.
    blocks = range(0, max(1, len(values)), _ROWS)
    parts = [_sides_of(contract, values[each : each + _ROWS].astype(np.float64)) for each in blocks]
    long, short, good = (np.concatenate(each) for each in zip(*parts, strict=True))
    return long, short, good


def _sides_of(
    contract: Contract, numbers: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    if contract.output.kind != "shares":
        only = numbers[:, 0]
        good = np.isfinite(only)
        if contract.output.kind == "target":
            good &= np.abs(only) <= 1 + SHARES_TOLERANCE
        return np.where(only > 0.0, only, 0.0), np.where(only < 0.0, -only, 0.0), good
    share = {side: np.zeros(len(numbers)) for side in ("long", "short", "flat")}
    for place, item in enumerate(contract.output.classes):
        share[item.side] += numbers[:, place]
    # Half of what is allowed: near its end the exact sum decides, bar by bar.
    near = np.abs(numbers.sum(axis=1) - 1) <= SHARES_TOLERANCE / 2
    good = np.isfinite(numbers).all(axis=1) & near & (numbers.min(axis=1) >= -SHARES_TOLERANCE)
    return share["long"], share["short"], good


def _finite(contract: Contract, rates: RatesArray) -> NDArray[np.bool_]:
    """Return which bars end a whole window of numbers that are finite in the inputs' types."""
    known = np.ones(len(rates), dtype=bool)
    with np.errstate(over="ignore"):
        for item in contract.inputs:
            for name in item.columns if item.dtype != "int64" else ():
                known &= np.isfinite(rates[name].astype(numpy_type(item.dtype)))
    if not known.all():
        bad = np.cumsum(~known)
        before = np.concatenate([np.zeros(contract.window, dtype=bad.dtype), bad])[: len(bad)]
        known = bad == before
    known[: contract.window - 1] = False
    return known


def _is_free(session: ort.InferenceSession) -> bool:
    """Whether the graph takes more than one window at a time."""
    return all(not isinstance(item.shape[0], int) for item in session.get_inputs())


def _from_windows(session: ort.InferenceSession, contract: Contract, rates: RatesArray) -> Fill:
    window = contract.window
    width = sum(len(item.columns) for item in contract.inputs)
    rows = max(1, _NUMBERS // (window * width))

    def fill(first: int, last: int) -> Numbers:
        parts = []
        for start in range(first, last, rows):
            stop = min(start + rows, last)
            views = windows_of(rates[start + 1 - window : stop], contract)
            feed = {name: np.ascontiguousarray(view) for name, view in views.items()}
            parts.append(_rows(session.run([contract.output.name], feed)[0], stop - start))
        return np.concatenate(parts)

    return fill


def _rows(output: NDArray[Any], count: int) -> Numbers:
    """Return an output as rows; one that does not have ``count`` is no batch."""
    if len(output) != count:
        raise ValueError(f"{len(output)} rows for {count} windows")
    return output.reshape(count, -1)


def _from_history(model: LoadedModel, rates: RatesArray) -> Fill | None:
    """Return a fill by the tree's own evaluator and what the graph does after it."""
    contract, steps = model.contract, model.contract.sequence
    features = codec.from_json(contract.features or {})
    before = features.lookback + (steps or 1) - 1
    if before > contract.window - 1:
        return None
    after = _after_features(model, [*([] if steps is None else [steps]), len(features.names)])
    if after is None and len(features.names) != contract.output.width:
        return None

    def fill(first: int, last: int) -> Numbers:
        rows = features.history(rates[first - before : last])
        rows = (rows if steps is None else sequences(rows, steps))[before:]
        if after is None:
            return rows
        return _rows(after.run([contract.output.name], {_FEATURES: rows})[0], last - first)

    return fill


def _after_features(model: LoadedModel, shape: Sequence[int]) -> ort.InferenceSession | None:
    """Return a session over what a graph does with its features; None where they are the answer.

    Args:
        model: With a feature tree.
        shape: Of the features of one answer.
    """
    import onnx
    from onnx import helper

    whole = onnx.load_from_string(read_model_file(model.path, pin=model.sha256).data)
    output = model.contract.output.name
    if not any(_FEATURES in node.output for node in whole.graph.node) or output == _FEATURES:
        return None
    wanted, nodes = {output}, []
    for node in reversed(whole.graph.node):
        if wanted.intersection(node.output) and _FEATURES not in node.output:
            wanted.update(node.input)
            nodes.append(node)
    rest = helper.make_model(
        helper.make_graph(
            nodes[::-1],
            "rest",
            [helper.make_tensor_value_info(_FEATURES, onnx.TensorProto.FLOAT, ["N", *shape])],
            [each for each in whole.graph.output if each.name == output],
            [each for each in whole.graph.initializer if each.name in wanted],
        ),
        opset_imports=whole.opset_import,
        ir_version=whole.ir_version,
    )
    return open_session(rest.SerializeToString())
