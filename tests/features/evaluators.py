"""Both evaluators on the same bars, and how far apart two answers are."""

import numpy as np
import onnxruntime
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from bridge.features.expr import FIELDS
from bridge.features.featureset import FeatureSet
from bridge.features.graph import RATES_ROWS, Layout, features_graph
from bridge.features.target import MT5, Target
from bridge.mt5.rates import RatesArray

Floats = NDArray[np.float32]
Feeds = dict[str, NDArray[np.generic]]


def windows(rates: RatesArray, window: int) -> Feeds:
    """Return the graph's inputs for every window of ``rates``."""
    columns = np.stack([rates[name].astype(np.float64) for name in FIELDS], axis=1)
    views = np.moveaxis(sliding_window_view(columns, window, axis=0), -1, 1)
    times = sliding_window_view(rates["time"].astype(np.int64), window)
    return {"bars": np.ascontiguousarray(views), "time": np.ascontiguousarray(times)}


def rates_windows(rates: RatesArray, window: int) -> Feeds:
    """Return the one input of the layout ``rates`` for every window."""
    rows = np.stack([rates[name].astype(np.float64) for name in RATES_ROWS])
    views = np.moveaxis(sliding_window_view(rows, window, axis=1), 1, 0)
    return {"rates": np.ascontiguousarray(views)}


def run(
    features: FeatureSet,
    feeds: Feeds,
    target: Target = MT5,
    *,
    window: int | None = None,
    sequence: int | None = None,
    layout: Layout = "bars+time",
) -> Floats:
    """Return what the graph answers."""
    model = features_graph(
        features.expressions, target=target, window=window, sequence=sequence, layout=layout
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    found: Floats = session.run(None, feeds)[0]
    return found


def window_values(features: FeatureSet, rates: RatesArray) -> Floats:
    """Return the graph's answer for every window of ``rates``."""
    return run(features, windows(rates, features.window))


def ulps(first: Floats, second: Floats) -> int:
    """Return how many float32 numbers lie between two arrays, at the worst place.

    What is less than 1e-12 apart counts as equal: a MACD in a market of one tick is a difference of
    prices that agree in nine digits, and the noise of a double is all that is left below.
    """
    return int(_steps(first, second).max(initial=0))


def differing(first: Floats, second: Floats) -> int:
    """Return how many cells of two arrays differ at all."""
    return int((first != second).sum())


def _steps(first: Floats, second: Floats) -> NDArray[np.int64]:
    assert first.shape == second.shape
    assert (np.isnan(first) == np.isnan(second)).all()
    near = np.abs(first.astype(np.float64) - second) < 1e-12
    second = np.where(near, first, second)
    steps = [
        np.where(bits < 0, np.int64(-(2**31)) - bits, bits)
        for bits in (each.view(np.int32).astype(np.int64) for each in (first, second))
    ]
    return np.where(np.isnan(first), 0, np.abs(steps[0] - steps[1]))
