"""What is measured of a graph on real bars: each check one thing, held against its limit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator

from bridge.features.featureset import FeatureSet, sequences
from bridge.model.contract import Contract
from bridge.model.session import open_session
from bridge.model.signal import decode
from bridge.model.windows import windows_of
from bridge.mt5.rates import RATES_DTYPE, RatesArray
from bridge.mt5.servertime import text
from bridge.mt5.timeframes import timeframe
from bridge.strategy.decide import decide

Floats = NDArray[np.float32]
Numbers = NDArray[np.floating]
Times = NDArray[np.int64]
Feeds = dict[str, NDArray[np.generic]]

FEATURES = "features"
"""Name, inside a merged graph, of the float32 tensor that the estimator sees."""
LIMIT = 1e-6
"""Of shares and targets; of a forecast, this times its largest value."""
_REFERENCE_WINDOWS = 100
_SINGLE_WINDOWS = 200
_WORST_SHOWN = 3
# Windows of a call: features of some hundred bars take some MB.
_BATCH = 1024


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


def limit_of(contract: Contract, answers: Numbers) -> float:
    """Return how far two answers may be apart: a forecast's unit may be points or shares of one."""
    if contract.output.kind != "forecast":
        return LIMIT
    usable = np.abs(answers[np.isfinite(answers)])
    return LIMIT * float(usable.max(initial=0.0)) or LIMIT


def rows_of(features: FeatureSet, rates: RatesArray, contract: Contract) -> Floats:
    """Return the history's features of every window, as the estimator sees them."""
    rows, steps = features.history(rates), contract.sequence
    return (rows if steps is None else sequences(rows, steps))[contract.window - 1 :]


def run(
    model: ModelProto, feeds: Feeds, contract: Contract, features: FeatureSet | None
) -> tuple[Floats, Floats | None]:
    """Return the answers, and the features inside where the model has them, window by window."""
    names = [contract.output.name]
    if features is not None and any(FEATURES in node.output for node in model.graph.node):
        model = _with_features_shown(model, len(features.names), contract.sequence)
        names.append(FEATURES)
    session, parts = open_session(model.SerializeToString()), []
    batch = _batch(model)
    for start in range(0, _count(feeds), batch):
        chunk = {name: np.ascontiguousarray(a[start : start + batch]) for name, a in feeds.items()}
        parts.append(session.run(names, chunk))
    joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
    return joined[0].reshape(len(joined[0]), -1), joined[1] if len(joined) > 1 else None


def _batch(model: ModelProto) -> int:
    """Return how many windows a call takes: some files are made for one only."""
    dims = model.graph.input[0].type.tensor_type.shape.dim
    return 1 if dims and dims[0].dim_value == 1 else _BATCH


def _count(feeds: Feeds) -> int:
    return len(next(iter(feeds.values())))


def _with_features_shown(model: ModelProto, width: int, steps: int | None) -> ModelProto:
    shown = ModelProto()
    shown.CopyFrom(model)
    shape: list[str | int | None] = ["N", *([] if steps is None else [steps]), width]
    shown.graph.output.append(helper.make_tensor_value_info(FEATURES, TensorProto.FLOAT, shape))
    return shown


def window_is_history(seen: Floats, wanted: Floats, features: FeatureSet, times: Times) -> Check:
    """Compare in units in the last place; what is below 1e-12 apart is equal."""
    apart = np.abs(seen.astype(np.float64) - wanted)
    steps = apart / np.spacing(np.maximum(np.abs(wanted), np.float32(1e-12)))
    steps[apart < 1e-12] = 0.0
    steps = steps.reshape(len(steps), -1)
    worst = steps.max(axis=1)
    named = [features.names[at % len(features.names)] for at in steps.argmax(axis=1)]
    return Check("window equals history, ulp", _worst(worst), 1.0, _where(worst, times, named))


def distance(name: str, first: Numbers, second: Numbers, limit: float, times: Times) -> Check:
    """Compare two ways to the same answers."""
    apart = np.abs(first.astype(np.float64) - second).reshape(len(first), -1).max(axis=1)
    return Check(name, _worst(apart), limit, _where(apart, times))


def decisions(
    name: str, first: Numbers, second: Numbers, contract: Contract, times: Times
) -> Check:
    """Count where two ways ask for something else."""
    asked = [[_asks(row, contract) for row in rows.tolist()] for rows in (first, second)]
    differ = np.array([a != b for a, b in zip(*asked, strict=True)], dtype=np.float64)
    return Check(name, float(differ.sum()), 0.0, _where(differ, times))


def _asks(outputs: list[float], contract: Contract) -> tuple[str, str | None]:
    signal = decode(contract, 0, "", outputs)
    decision = decide(signal, None, contract.decision, range_points=100.0)
    return decision.action, decision.side


def reference(
    model: ModelProto, feeds: Feeds, answers: Floats, contract: Contract, times: Times
) -> Check:
    """Compare the runtime with the reference evaluator of onnx, on some windows."""
    rows = spread(len(answers), _REFERENCE_WINDOWS)
    evaluator = ReferenceEvaluator(model)
    size, found = _batch(model), []
    with np.errstate(all="ignore"):  # it is numpy, and works out both ways of a Where
        for start in range(0, len(rows), size):
            few = {n: np.ascontiguousarray(a[rows[start : start + size]]) for n, a in feeds.items()}
            found += [np.asarray(each) for each in evaluator.run([contract.output.name], few)]
    return distance(
        "runtime equals reference",
        answers[rows],
        np.concatenate([each.reshape(-1, answers.shape[1]) for each in found]),
        limit_of(contract, answers),
        times[rows],
    )


def single(
    model: ModelProto, feeds: Feeds, answers: Floats, contract: Contract, times: Times
) -> Check:
    """Compare one window at a time with many at once, on some windows."""
    rows = spread(len(answers), _SINGLE_WINDOWS)
    session, names = open_session(model.SerializeToString()), [contract.output.name]
    alone = [
        session.run(names, {n: np.ascontiguousarray(a[row : row + 1]) for n, a in feeds.items()})[0]
        for row in rows
    ]
    return distance(
        "one window equals many",
        np.stack([each.ravel() for each in alone]),
        answers[rows],
        limit_of(contract, answers),
        times[rows],
    )


def flat(model: ModelProto, features: FeatureSet, contract: Contract) -> Check:
    """Count flat windows, at prices from tiny to huge, that have no usable answer.

    Trees answer NaN, too, so the features themselves have to be numbers, and those of the history:
    noise divided by noise is a number that differs between the two.
    """
    unusable = []
    for price in (1e-6, 1.1, 1e5):
        market = np.zeros(contract.window, dtype=RATES_DTYPE)
        market["time"] = timeframe(contract.timeframe).seconds * np.arange(contract.window)
        for name in ("open", "high", "low", "close"):
            market[name] = price
        answers, seen = run(model, windows_of(market, contract), contract, features)
        inside = answers if seen is None else seen
        wanted = rows_of(features, market, contract)
        # One unit in the last place of a float32 is 1.2e-7 of it.
        is_history = np.allclose(inside, wanted, rtol=1.5e-7, atol=1e-12)
        if not is_history or decode(contract, 0, "", answers[0].tolist()).problem:
            unusable.append(f"price {price:g} gives {inside[0].tolist()}")
    return Check("flat markets without an answer", len(unusable), 0.0, "; ".join(unusable))


def usable(answers: Numbers, contract: Contract, times: Times) -> Check:
    """Count answers that mean nothing: not finite, shares that don't sum to 1."""
    bad = np.array(
        [bool(decode(contract, 0, "", row).problem) for row in answers.tolist()], np.float64
    )
    return Check("answers that mean nothing", float(bad.sum()), 0.0, _where(bad, times))


def spread(count: int, wanted: int) -> NDArray[np.int64]:
    """Return up to ``wanted`` places evenly among ``count``."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))


def _worst(values: Numbers) -> float:
    return float(values.max()) if len(values) else float("nan")


def _where(values: Numbers, times: Times, named: Sequence[str] | None = None) -> str:
    order = np.argsort(-np.nan_to_num(values, nan=np.inf), kind="stable")[:_WORST_SHOWN]
    return "; ".join(
        f"{text(int(times[row]))}{f' {named[row]}' if named else ''} {values[row]:.3g}"
        for row in order
        if values[row] > 0 or np.isnan(values[row])
    )
