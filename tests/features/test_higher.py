"""Higher bars inside the graph, against the importer's own aggregation and plain loops."""

import numpy as np
import pytest
from evaluators import run, ulps, window_values, windows
from markets import SAMPLE
from numpy.typing import NDArray
from onnx import checker, shape_inference
from onnx.reference import ReferenceEvaluator

from bridge.errors import ConfigError, DataError
from bridge.features import named
from bridge.features.codec import from_json, to_json
from bridge.features.expr import Bars, Expr, calendar, higher, so_far
from bridge.features.featureset import FeatureSet, sequences
from bridge.features.graph import features_graph
from bridge.features.target import LEGACY, MT5, Target
from bridge.market.aggregate import aggregate
from bridge.mt5.rates import RatesArray
from bridge.mt5.timeframes import timeframe

BARS = Bars()
H1, H4, D1, W1 = (timeframe(name) for name in ("H1", "H4", "D1", "W1"))
RATES = SAMPLE[1000:2200]


def at_newest_complete(rates: RatesArray, inner: Expr, frame: str) -> NDArray[np.float64]:
    """Return ``inner`` of the finished higher bars bar by bar, cutting the future."""
    found = np.full(len(rates), np.nan)
    for last in range(len(rates)):
        made = aggregate(rates[: last + 1], H1, timeframe(frame))
        end = timeframe(frame).next_open(int(made["time"][-1]))
        finished = made if rates["time"][last] + 3600 >= end else made[:-1]
        if len(finished) > inner.lookback:
            tail = finished[-inner.lookback - 1 :]
            found[last] = FeatureSet({"x": inner}).history(tail)[-1, 0]
    return found


@pytest.mark.parametrize(
    ("frame", "inner"),
    [
        ("H4", BARS.open / BARS.low - BARS.high / BARS.close),
        ("H4", named.zscore(BARS.close, 5)),
        ("D1", (BARS.tick_volume.mean(2) + BARS.spread) * (BARS.high - BARS.low.lag(1))),
        ("W1", BARS.close - BARS.open),
    ],
)
def test_higher_bars_are_those_of_the_importer_and_never_the_unfinished_one(
    frame: str, inner: Expr
) -> None:
    features = FeatureSet({"x": higher(inner, frame, of="H1")})
    rates = RATES[: features.window + 150]
    history = features.history(rates)
    assert ulps(window_values(features, rates), history[features.lookback :]) <= 1
    wanted = at_newest_complete(rates, inner, frame).astype(np.float32)[features.lookback :, None]
    assert ulps(history[features.lookback :], wanted) <= 1
    # Weekends and the steps between higher bars are in it.
    assert len(np.unique(wanted)) > 5 or frame == "W1"


def day_so_far(rates: RatesArray, how: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    days, found = rates["time"] // 86_400, np.empty(len(rates))
    for last in range(len(rates)):
        since = values[: last + 1][days[: last + 1] == days[last]]
        found[last] = {"first": since[0], "max": since.max(), "sum": since.sum()}[how]
    return found


@pytest.mark.parametrize("how", ["first", "max", "sum"])
def test_the_day_so_far_is_its_bars_up_to_now(how: str) -> None:
    features = FeatureSet({"x": so_far(BARS.high - BARS.open, how, "D1", of="H1")})
    rates = RATES[:300]
    wanted = day_so_far(rates, how, rates["high"] - rates["open"]).astype(np.float32)[24:, None]
    assert features.lookback == 24
    assert ulps(features.history(rates)[24:], wanted) <= 1
    assert ulps(window_values(features, rates), wanted) <= 1


def test_higher_bars_can_be_lagged_and_averaged_on_the_bars_below() -> None:
    yesterday = higher(named.log_return(BARS.close), "D1", of="H1")
    mixed = FeatureSet({"x": yesterday.mean(30) - yesterday.lag(24), "y": BARS.close / 2.0})
    rates = RATES[: mixed.window + 100]
    assert ulps(window_values(mixed, rates), mixed.history(rates)[mixed.lookback :]) <= 1


@pytest.mark.parametrize("target", [MT5, LEGACY])
def test_a_sequence_of_higher_bars_is_that_of_the_history_in_both_targets(target: Target) -> None:
    features = FeatureSet(
        {
            "rsi": higher(named.rsi(BARS.close, 2), "H4", of="H1"),
            "place": named.position_so_far(BARS),
            "body": named.higher_body(BARS),
        }
    )
    rates, steps = RATES[:400], 5
    model = features_graph(features.expressions, sequence=steps, target=target)
    checker.check_model(model, full_check=True)
    shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    feeds = windows(rates, features.lookback + steps)
    found = run(features, feeds, target, sequence=steps)
    wanted = sequences(features.history(rates), steps)[features.lookback + steps - 1 :]
    assert ulps(found, np.ascontiguousarray(wanted)) <= 1
    few = {name: each[:20] for name, each in feeds.items()}
    reference = ReferenceEvaluator(model).run(None, few)
    assert ulps(np.asarray(next(iter(reference))), found[:20]) <= 1


def test_bars_finer_than_told_have_no_value() -> None:
    features = FeatureSet(
        {
            "higher": higher(BARS.close, "D1", of="H4"),
            "so_far": so_far(BARS.close, "sum", "D1", of="H4"),
        }
    )
    assert np.isnan(window_values(features, RATES[:100])).all()
    with pytest.raises(DataError, match="follows less than H4 after the one before"):
        features.history(RATES[:100])


def test_higher_bars_survive_json_and_know_what_they_are_of() -> None:
    features = FeatureSet({"x": higher(named.rsi(BARS.close, 3), "H4", of="H1")})
    again = from_json(to_json(features))
    assert again.expressions[0] is features.expressions[0]
    assert features.timeframe == "H1"
    assert features.lookback == (3 * 21 + 2) * 4 - 1
    with pytest.raises(ConfigError, match="bars of both H1 and M5"):
        FeatureSet({"x": features.expressions[0], "y": higher(BARS.close, "H1", of="M5")})


@pytest.mark.parametrize(
    ("frame", "of", "message"),
    [
        ("H3", "H2", "are not made of whole bars of H2"),
        ("H1", "H1", "are not made of whole bars of H1"),
        ("MN1", "D1", "no fixed length"),
        ("H5", "H1", "timeframe 'H5' is unknown"),
    ],
)
def test_what_is_no_higher_timeframe_is_refused(frame: str, of: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        higher(BARS.close, frame, of=of)


def test_what_higher_bars_cannot_do_is_refused() -> None:
    with pytest.raises(ConfigError, match="read the clock"):
        higher(calendar([0.0, 1.0], unit=3600) + BARS.close, "H4", of="H1")
    with pytest.raises(ConfigError, match="295 bars of D1 out of 7104 bars of H1 are too many"):
        higher(named.rsi(BARS.close, 14), "D1", of="H1")
    with pytest.raises(ConfigError, match="can't be 'mean'"):
        so_far(BARS.close, "mean", "D1", of="H1")
