"""Proof: what is about to be written does what was trained, or it is not written.

Each check measures one thing on real bars and holds it against a limit.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator

from bridge.errors import ProofError
from bridge.features.expr import FIELDS
from bridge.features.featureset import FeatureSet
from bridge.features.target import Target
from bridge.model.contract import Contract
from bridge.model.session import open_session
from bridge.model.signal import decode
from bridge.mt5.rates import RATES_DTYPE, RatesArray
from bridge.mt5.servertime import text
from bridge.strategy.decide import decide

Floats = NDArray[np.float32]
Expected = Callable[[Floats], NDArray[np.floating]]
"""From float32 features ``(n, features)`` to the outputs ``(n, width)`` that they should give."""

FEATURES = "features"
"""Name, inside a merged graph, of the float32 tensor that the estimator sees."""
SHARE_LIMIT = 1e-6
_REFERENCE_WINDOWS = 100
_SINGLE_WINDOWS = 200
_WORST_SHOWN = 3
_DOMAINS = frozenset({"", "ai.onnx.ml"})


@dataclass(frozen=True, slots=True)
class Check:
    """One thing measured.

    Attributes:
        value: The worst that was found.
        limit: What it may be.
        where: The worst rows, in words; empty when nothing is off.
    """

    name: str
    value: float
    limit: float
    where: str = ""

    @property
    def ok(self) -> bool:
        """Whether the value keeps the limit; NaN does not."""
        return self.value <= self.limit

    def __str__(self) -> str:
        return f"{self.name}: {self.value:.3g}, limit {self.limit:.3g}"


def prove(
    model: ModelProto,
    *,
    features: FeatureSet,
    expected: Expected,
    rates: RatesArray,
    contract: Contract,
    target: Target,
) -> tuple[Check, ...]:
    """Return the checks, all passed.

    Args:
        model: Without its contract yet.
        features: The tree that its training data came from.
        expected: The estimator itself, asked with the history's features.
        rates: Real bars, all that there are.
        contract: Says how outputs become decisions.
        target: Versions that the file has to keep to.

    Raises:
        ProofError: A check failed; the message has its value, its limit and the worst rows.
    """
    _check_structure(model, target)
    feeds = windows_of(rates, contract.window)
    wanted = features.history(rates)[contract.window - 1 :]
    answers, seen = _run(model, feeds, contract, len(features.names))
    truth = np.asarray(expected(wanted), dtype=np.float64).reshape(len(wanted), -1)
    times = rates["time"][contract.window - 1 :]
    # The output of a rule is its feature: there the next check compares window and history.
    inner = () if seen is None else (_window_is_history(seen, wanted, features, times),)
    checks = (
        *inner,
        _distance("ONNX equals the estimator", answers, truth, times),
        _decisions("decisions of both differ", answers, truth, contract, times),
        _reference(model, feeds, answers, times),
        _single(model, feeds, answers, contract, times),
        _flat(model, features, contract),
    )
    for check in checks:
        if not check.ok:
            raise ProofError(
                f"{contract.name} is not written: {check}; worst: {check.where or 'everywhere'}"
            )
    return checks


def windows_of(rates: RatesArray, window: int) -> dict[str, NDArray[np.generic]]:
    """Return the inputs of every window of ``rates``: ``bars`` and ``time``."""
    columns = np.stack([rates[name].astype(np.float64) for name in FIELDS], axis=1)
    bars = np.moveaxis(sliding_window_view(columns, window, axis=0), -1, 1)
    return {"bars": bars, "time": sliding_window_view(rates["time"].astype(np.int64), window)}


def _run(
    model: ModelProto, feeds: dict[str, NDArray[np.generic]], contract: Contract, width: int
) -> tuple[Floats, Floats | None]:
    """Return the outputs, and the features inside where the model has them, window by window."""
    names = [contract.output.name]
    if any(FEATURES in node.output for node in model.graph.node):
        model = _with_features_shown(model, width)
        names.append(FEATURES)
    session, parts = open_session(model.SerializeToString()), []
    for start in range(0, len(feeds["time"]), 1024):
        chunk = {name: np.ascontiguousarray(a[start : start + 1024]) for name, a in feeds.items()}
        parts.append(session.run(names, chunk))
    joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
    return joined[0], joined[1] if len(joined) > 1 else None


def _with_features_shown(model: ModelProto, width: int) -> ModelProto:
    shown = ModelProto()
    shown.CopyFrom(model)
    info = helper.make_tensor_value_info(FEATURES, TensorProto.FLOAT, ["N", width])
    shown.graph.output.append(info)
    return shown


def _window_is_history(
    seen: Floats, wanted: Floats, features: FeatureSet, times: NDArray[np.int64]
) -> Check:
    """Compare in units in the last place; what is below 1e-12 apart is equal."""
    apart = np.abs(seen.astype(np.float64) - wanted)
    steps = apart / np.spacing(np.maximum(np.abs(wanted), np.float32(1e-12)))
    steps[apart < 1e-12] = 0.0
    worst = steps.max(axis=1)
    named = [features.names[column] for column in steps.argmax(axis=1)]
    return Check("window equals history, ulp", _worst(worst), 1.0, _where(worst, times, named))


def _distance(
    name: str, first: NDArray[np.floating], second: NDArray[np.floating], times: NDArray[np.int64]
) -> Check:
    apart = np.abs(first.astype(np.float64) - second).max(axis=1)
    return Check(name, _worst(apart), SHARE_LIMIT, _where(apart, times))


def _decisions(
    name: str,
    first: NDArray[np.floating],
    second: NDArray[np.floating],
    contract: Contract,
    times: NDArray[np.int64],
) -> Check:
    asked = [[_asks(row, contract) for row in rows.tolist()] for rows in (first, second)]
    differ = np.array([a != b for a, b in zip(*asked, strict=True)], dtype=np.float64)
    return Check(name, float(differ.sum()), 0.0, _where(differ, times))


def _asks(outputs: list[float], contract: Contract) -> tuple[str, str | None]:
    signal = decode(contract, 0, "", outputs)
    decision = decide(signal, None, contract.decision, range_points=100.0)
    return decision.action, decision.side


def _reference(
    model: ModelProto,
    feeds: dict[str, NDArray[np.generic]],
    answers: Floats,
    times: NDArray[np.int64],
) -> Check:
    rows = _spread(len(answers), _REFERENCE_WINDOWS)
    evaluator = ReferenceEvaluator(model)
    outputs = evaluator.run(
        None, {name: np.ascontiguousarray(a[rows]) for name, a in feeds.items()}
    )
    reference = np.asarray(next(iter(outputs)))
    return _distance("runtime equals reference", answers[rows], reference, times[rows])


def _single(
    model: ModelProto,
    feeds: dict[str, NDArray[np.generic]],
    answers: Floats,
    contract: Contract,
    times: NDArray[np.int64],
) -> Check:
    rows = _spread(len(answers), _SINGLE_WINDOWS)
    session = open_session(model.SerializeToString())
    one_by_one = np.concatenate(
        [
            session.run(
                [contract.output.name],
                {name: np.ascontiguousarray(a[row : row + 1]) for name, a in feeds.items()},
            )[0]
            for row in rows
        ]
    )
    return _distance("one window equals many", one_by_one, answers[rows], times[rows])


def _flat(model: ModelProto, features: FeatureSet, contract: Contract) -> Check:
    """Count flat windows, at prices from tiny to huge, that have no usable answer.

    Trees answer NaN, too, so the features themselves have to be numbers, and those of the history:
    noise divided by noise is a number that differs between the two.
    """
    unusable = []
    for price in (1e-6, 1.1, 1e5):
        flat = np.zeros(contract.window, dtype=RATES_DTYPE)
        flat["time"] = 3600 * np.arange(contract.window)
        for name in ("open", "high", "low", "close"):
            flat[name] = price
        answers, seen = _run(model, windows_of(flat, len(flat)), contract, len(features.names))
        inside = answers if seen is None else seen
        # One unit in the last place of a float32 is 1.2e-7 of it.
        is_history = np.allclose(inside, features.history(flat)[-1], rtol=1.5e-7, atol=1e-12)
        if not is_history or decode(contract, 0, "", answers[0].tolist()).problem:
            unusable.append(f"price {price:g} gives {inside[0].tolist()}")
    return Check("flat markets without an answer", len(unusable), 0.0, "; ".join(unusable))


def _check_structure(model: ModelProto, target: Target) -> None:
    """Refuse what a terminal could not read.

    Raises:
        ProofError: What it is.
    """
    try:
        onnx.checker.check_model(model, full_check=True)
        onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise ProofError(f"the graph is no valid ONNX: {str(error).strip()}") from error
    allowed = {"": target.opset, "ai.onnx.ml": target.ml}
    versions = {each.domain: each.version for each in model.opset_import}
    if model.ir_version != target.ir or any(allowed.get(d) != v for d, v in versions.items()):
        raise ProofError(
            f"the graph has IR {model.ir_version} and opsets {versions}; {target.name} takes IR "
            f"{target.ir} and {allowed}"
        )
    if foreign := {node.domain for node in model.graph.node} - _DOMAINS:
        raise ProofError(f"the graph uses the operators of {sorted(foreign)}: no terminal has them")
    for info in (*model.graph.input, *model.graph.output):
        sizes = [each.dim_value for each in info.type.tensor_type.shape.dim]
        if not sizes or min(sizes[1:], default=0) < 1:
            raise ProofError(f"{info.name} has the shape {sizes}: only the batch may be free")


def _spread(count: int, wanted: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))


def _worst(values: NDArray[np.floating]) -> float:
    return float(values.max()) if len(values) else float("nan")


def _where(
    values: NDArray[np.floating], times: NDArray[np.int64], named: list[str] | None = None
) -> str:
    order = np.argsort(-np.nan_to_num(values, nan=np.inf), kind="stable")[:_WORST_SHOWN]
    return "; ".join(
        f"{text(int(times[row]))}{f' {named[row]}' if named else ''} {values[row]:.3g}"
        for row in order
        if values[row] > 0 or np.isnan(values[row])
    )
