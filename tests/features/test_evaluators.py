"""One tree, two evaluators: numpy over a history, onnxruntime over windows."""

import json
import math
import os
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from evaluators import differing, rates_windows, run, ulps, windows
from hypothesis import given, settings
from hypothesis import strategies as st
from markets import MARKETS, SAMPLE, market
from onnx import checker, shape_inference
from onnx.reference import ReferenceEvaluator

from bridge.errors import ConfigError, ContractError
from bridge.features import emit, named
from bridge.features import history as history_side
from bridge.features.catalogue import entries
from bridge.features.codec import from_json, to_json
from bridge.features.expr import (
    FIELDS,
    Bars,
    Expr,
    as_expr,
    calendar,
    field,
    greater,
    higher,
    maximum,
    minimum,
    safe_div,
    so_far,
    where,
)
from bridge.features.featureset import FeatureSet, sequences
from bridge.features.graph import RATES_ROWS, features_graph
from bridge.features.operations import HOWS, OPERATIONS
from bridge.features.target import LEGACY, MT5, Target
from bridge.market.barfile import read_bars
from bridge.model.load import load_model
from bridge.mt5.rates import RatesArray
from bridge.share import share_dir

BARS = Bars()
CLOSE = BARS.close
ALL = FeatureSet(
    {
        "log_return": named.log_return(CLOSE),
        "earlier": named.log_return(CLOSE).lag(3),
        "return24": named.log_return(CLOSE, 24),
        "volatility": named.volatility(CLOSE, 20),
        "sma": named.sma_ratio(CLOSE, 20),
        "ema": named.ema_ratio(CLOSE, 12),
        "zscore": named.zscore(CLOSE, 50),
        "bollinger": named.bollinger_position(CLOSE, 20),
        "rsi": named.rsi(CLOSE, 10),
        "atr": named.atr_ratio(BARS, 10),
        "macd": named.macd_histogram(CLOSE),
        "stochastic": named.stochastic(BARS, 14),
        "body": named.body(BARS),
        "upper": named.upper_wick(BARS),
        "lower": named.lower_wick(BARS),
        "volume": named.volume_zscore(BARS, 20),
        "spread": named.spread_ratio(BARS, 20),
        "hour_sin": named.hour_sin(),
        "hour_cos": named.hour_cos(),
        "weekday_sin": named.weekday_sin(),
        "weekday_cos": named.weekday_cos(),
    }
)

EVERY = FeatureSet({entry.name: entry.example for entry in entries()})


@pytest.mark.parametrize("name", MARKETS)
def test_a_window_gives_what_the_history_gives(name: str) -> None:
    rates = MARKETS[name]
    history = ALL.history(rates)
    assert np.isnan(history[: ALL.lookback]).all()
    graph = run(ALL, windows(rates, ALL.window))
    assert np.isfinite(graph).all()
    # Sums run in another order in the two evaluators: at most the last bit of a float32 differs.
    assert ulps(graph, history[ALL.lookback :]) <= 1


@pytest.fixture(scope="module")
def every() -> onnxruntime.InferenceSession:
    """Return a session with every named feature."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = features_graph(EVERY.expressions).SerializeToString()
    return onnxruntime.InferenceSession(model, options)


def some_windows_give_the_history(session: onnxruntime.InferenceSession, rates: RatesArray) -> None:
    history = EVERY.history(rates)[EVERY.lookback :]
    # Every seventh hour: all hours and weekdays come up.
    rows = np.arange(0, len(history), 7)
    feeds = {name: array[rows] for name, array in windows(rates, EVERY.window).items()}
    graph = session.run(None, feeds)[0]
    assert np.isfinite(graph).all()
    assert ulps(graph, history[rows]) <= 1


@pytest.mark.parametrize("name", MARKETS)
def test_every_named_feature_agrees_in_every_market(
    name: str, every: onnxruntime.InferenceSession
) -> None:
    some_windows_give_the_history(every, MARKETS[name][: EVERY.window + 180])


@pytest.mark.parametrize("name", ["ADAUSD", "BRENT", "EURUSD", "SILVER"])
def test_every_named_feature_agrees_on_real_bars(
    name: str, every: onnxruntime.InferenceSession
) -> None:
    folder = os.environ.get("BRIDGE_TEST_DATA")
    if not folder:
        pytest.skip("needs BRIDGE_TEST_DATA")
    rates = read_bars(Path(folder) / "bars" / "mt5_export" / f"{name}_H1.csv")
    some_windows_give_the_history(every, rates[-EVERY.window - 200 :])


@pytest.mark.skipif("FEATURES_SWEEP" not in os.environ, reason="set FEATURES_SWEEP=1 for it")
def test_all_windows_of_all_real_bars(every: onnxruntime.InferenceSession) -> None:
    folder = Path(os.environ["BRIDGE_TEST_DATA"]) / "bars" / "mt5_export"
    cells = differ = worst = 0
    for path in sorted(folder.glob("*_H1.csv")):
        rates = read_bars(path)
        history = EVERY.history(rates)[EVERY.lookback :]
        for start in range(0, len(history), 64):
            part = rates[start : start + EVERY.lookback + 64]
            graph = every.run(None, windows(part, EVERY.window))[0]
            wanted = history[start : start + len(graph)]
            cells, differ = cells + wanted.size, differ + differing(graph, wanted)
            worst = max(worst, ulps(graph, wanted))
    assert (worst, differ) <= (1, cells // 10_000), f"{differ} of {cells} cells, {worst} ulp"


def test_flat_markets_give_the_documented_defaults() -> None:
    row = dict(zip(ALL.names, ALL.history(MARKETS["flat"])[-1].tolist(), strict=True))
    assert {row[name] for name in ("log_return", "volatility", "sma", "zscore", "body")} == {0.0}
    assert row["rsi"] == row["stochastic"] == 50.0


def test_what_is_no_number_is_none_in_both_and_never_0() -> None:
    nothing = CLOSE - CLOSE
    broken = FeatureSet({"ratio": nothing / nothing, "log": (nothing - 1.0).log(), "move": CLOSE})
    rates = SAMPLE[:50]
    for values in (run(broken, windows(rates, 1)), broken.history(rates)):
        assert np.isnan(values[:, :2]).all()
        assert np.isfinite(values[:, 2]).all()


def test_one_window_gives_what_a_batch_gives() -> None:
    feeds = windows(SAMPLE[:600], ALL.window)
    batch = run(ALL, feeds)
    for number in (0, 17, len(batch) - 1):
        one = run(ALL, {name: array[number : number + 1] for name, array in feeds.items()})
        assert one.tobytes() == batch[number].tobytes()


def test_the_runtime_gives_what_the_reference_evaluator_gives() -> None:
    feeds = {name: each[::40] for name, each in windows(SAMPLE[:1500], ALL.window).items()}
    reference = ReferenceEvaluator(features_graph(ALL.expressions)).run(None, feeds)
    assert ulps(run(ALL, feeds), np.asarray(next(iter(reference)))) <= 1


def test_what_came_before_the_window_changes_nothing() -> None:
    rates = SAMPLE[1000:2000]
    late = ALL.history(SAMPLE[:2000])[-500:]
    # The rolling sums start at another place of memory; one bit is what that may move.
    assert ulps(late, ALL.history(rates)[-500:]) <= 1


def test_a_long_history_has_no_seams() -> None:
    rates = market(np.resize(SAMPLE["close"], 18_000), 1e-4)
    whole = EVERY.history(rates)
    assert np.isfinite(whole[EVERY.lookback :]).all()
    for seam in (8_192, 16_384):
        around = rates[seam - EVERY.lookback - 30 : seam + 30]
        part = EVERY.history(around)[EVERY.lookback :]
        assert ulps(whole[seam - 30 : seam + 30], part) <= 1


def test_cutting_the_future_changes_no_value_before() -> None:
    whole, cut = ALL.history(SAMPLE[:1500]), ALL.history(SAMPLE[:1000])
    assert ulps(whole[ALL.lookback : 1000], cut[ALL.lookback :]) <= 1


@pytest.mark.parametrize("target", [MT5, LEGACY])
def test_graphs_are_checked_and_keep_to_their_versions(target: Target) -> None:
    model = features_graph(ALL.expressions, target=target)
    checker.check_model(model, full_check=True)
    shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    assert model.ir_version == target.ir
    assert [(each.domain, each.version) for each in model.opset_import] == [("", target.opset)]
    feeds = {name: each[:5] for name, each in windows(SAMPLE[:500], ALL.window).items()}
    assert run(ALL, feeds, target).tobytes() == run(ALL, feeds).tobytes()


def test_equal_features_give_equal_bytes() -> None:
    once, again = (features_graph(ALL.expressions).SerializeToString() for _ in range(2))
    assert once == again


def test_a_longer_window_gives_the_same() -> None:
    feeds = windows(SAMPLE[:600], ALL.window + 20)
    short = run(ALL, windows(SAMPLE[20:600], ALL.window))
    assert ulps(run(ALL, feeds, window=ALL.window + 20), short) == 0
    with pytest.raises(ConfigError, match="is too short"):
        features_graph(ALL.expressions, window=ALL.window - 1)


def test_a_sequence_is_the_newest_rows_of_the_history_oldest_first() -> None:
    steps, rates = 16, SAMPLE[2000:2600]
    history = ALL.history(rates)
    found = run(ALL, windows(rates, ALL.window + steps - 1), sequence=steps)
    assert found.shape == (len(rates) - ALL.window - steps + 2, steps, len(ALL.names))
    wanted = sequences(history, steps)
    assert np.isnan(wanted[ALL.lookback + steps - 2]).any()
    assert ulps(found, np.ascontiguousarray(wanted[ALL.lookback + steps - 1 :])) <= 1
    with pytest.raises(ConfigError, match="is too short"):
        features_graph(ALL.expressions, window=ALL.window + steps - 2, sequence=steps)


def test_rows_of_rates_are_in_the_order_of_the_flags_of_copyrates() -> None:
    # ENUM_COPY_RATES: 1, 2, 4, 8, 16, 32 and 128; 64 are real volumes.
    assert RATES_ROWS == ("open", "high", "low", "close", "time", "tick_volume", "spread")


def test_one_input_of_rates_gives_the_same_bits_as_bars_and_time() -> None:
    rates = SAMPLE[:600]
    two = run(ALL, windows(rates, ALL.window))
    one = run(ALL, rates_windows(rates, ALL.window), layout="rates")
    assert one.tobytes() == two.tobytes()
    late = run(ALL, rates_windows(rates, ALL.window + 2), layout="rates", sequence=3)
    assert ulps(np.ascontiguousarray(late[:, -1]), two[2:]) <= 1


EXAMPLES = 2000 if "FEATURES_SWEEP" in os.environ else 100
LEAVES = st.sampled_from(
    [*(field(name) for name in FIELDS), calendar([0.0, 0.5, -1.0], unit=3600, shift=1)]
)
PERIODS = st.integers(1, 9)


def grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pair = st.tuples(inner, inner)
    number = st.floats(-2, 2, allow_nan=False).map(as_expr)
    return st.one_of(
        pair.map(lambda two: two[0] + two[1]),
        pair.map(lambda two: two[0] - two[1]),
        st.tuples(inner, number).map(lambda two: two[0] * two[1]),
        pair.map(lambda two: maximum(*two)),
        pair.map(lambda two: minimum(*two)),
        pair.map(lambda two: where(greater(*two), two[1], two[0])),
        pair.map(lambda two: safe_div(two[0], two[1].abs(), default=0.5)),
        inner.map(lambda one: one.abs().sqrt()),
        inner.map(lambda one: (one.abs() + 1.0).log()),
        st.tuples(inner, PERIODS).map(lambda two: two[0].lag(two[1])),
        st.tuples(inner, PERIODS).map(lambda two: two[0].mean(two[1])),
        st.tuples(inner, PERIODS).map(lambda two: two[0].std(two[1])),
        st.tuples(inner, PERIODS).map(lambda two: two[0].highest(two[1])),
        st.tuples(inner, PERIODS).map(lambda two: two[0].lowest(two[1])),
        st.tuples(inner, PERIODS).map(lambda two: two[0].wilder(two[1], 7)),
        st.tuples(inner, PERIODS).map(lambda two: two[0].over_ema(two[1])),
        st.tuples(inner, PERIODS).map(lambda two: two[0].deviation(two[1])),
        st.tuples(inner, PERIODS).map(lambda two: two[0].bars_since_lowest(two[1])),
        st.tuples(inner, st.sampled_from(HOWS)).map(lambda two: so_far(*two, "H4", of="H1")),
        inner.filter(lambda one: not one.is_clocked).map(lambda one: higher(one, "H4", of="H1")),
    )


# Always the same ones: a comparison of values that are equal but for rounding may fall either way.
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@given(st.recursive(LEAVES, grown, max_leaves=6))
def test_random_expressions_agree(expression: Expr) -> None:
    features = FeatureSet({"x": expression})
    rates = SAMPLE[3000 : 3000 + features.window + 40]
    history = features.history(rates)[features.lookback :]
    graph = run(features, windows(rates, features.window))
    # Differences of near-equal sums lose digits in both evaluators, relative to the prices or
    # volumes (up to 1e5) that they are differences of: 1e-10 of that is all it may be.
    np.testing.assert_allclose(graph, history, rtol=1e-5, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(st.recursive(LEAVES, grown, max_leaves=6))
def test_a_tree_written_and_read_is_the_same_tree(expression: Expr) -> None:
    text = json.dumps(to_json(FeatureSet({"x": expression})))
    assert from_json(json.loads(text)).expressions == (expression,)


def test_the_whole_set_survives_json() -> None:
    again = from_json(json.loads(json.dumps(to_json(ALL))))
    assert again.names == ALL.names
    assert all(a is b for a, b in zip(again.expressions, ALL.expressions, strict=True))


@pytest.mark.parametrize("name", ["eurusd_h1_direction", "eurusd_h1_sma_cross"])
def test_trees_of_files_that_are_out_there_are_read_and_written_the_same(name: str) -> None:
    model = load_model(share_dir("models") / name / "model.onnx", probe=False)
    tree = model.contract.features
    assert tree is not None
    features = from_json(tree)
    assert to_json(features) == tree
    rates = SAMPLE[: features.window + 50]
    assert ulps(run(features, windows(rates, features.window)), features.history(rates)[-51:]) <= 1


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"names": ["x"], "outputs": [0], "nodes": []},
        {"names": ["x"], "outputs": [0], "nodes": [{"op": "exec", "args": []}]},
        {"names": ["x"], "outputs": [0], "nodes": [{"op": "neg", "args": [0]}]},
        {"names": ["x"], "outputs": [0], "nodes": [{"op": "field", "args": [], "name": 3}]},
        {"names": ["x", "y"], "outputs": [0], "nodes": [{"op": "neg", "args": [-1]}]},
    ],
)
def test_a_malformed_tree_is_refused_in_a_sentence(tree: dict[str, object]) -> None:
    with pytest.raises(ContractError, match="feature tree is malformed"):
        from_json(tree)


def test_both_evaluators_know_every_operation() -> None:
    assert set(emit.EMIT) == set(history_side._OPERATIONS) == set(OPERATIONS)


def test_equal_expressions_are_one_object() -> None:
    assert CLOSE.mean(3) + 1.0 is field("close").mean(3) + 1.0
    assert CLOSE.mean(3) is not CLOSE.mean(4)
    assert as_expr(0.0) is not as_expr(-0.0)


def test_lookbacks_are_derived() -> None:
    assert CLOSE.lookback == 0
    assert CLOSE.lag(3).mean(5).lookback == 7
    assert named.rsi(CLOSE, 10).lookback == 210
    assert (CLOSE.ema(12) - CLOSE.lag(200)).lookback == 200


def test_what_is_no_feature_is_refused() -> None:
    with pytest.raises(ConfigError, match="bars have no column 'price'"):
        field("price")
    for bad in (math.nan, math.inf):
        with pytest.raises(ConfigError, match="finite"):
            CLOSE + bad
    with pytest.raises(ConfigError, match="over 0 bars"):
        CLOSE.mean(0)
    with pytest.raises(ConfigError, match="without bars or time"):
        FeatureSet({"one": as_expr(1.0)})
    with pytest.raises(ConfigError, match="without features"):
        FeatureSet({})


def test_a_condition_is_no_truth_of_python() -> None:
    with pytest.raises(ConfigError, match="neither true nor false"):
        assert CLOSE > 1.0
    assert (CLOSE > 1.0) is greater(CLOSE, 1.0)
    assert (CLOSE < 1.0) is greater(1.0, CLOSE)


def test_short_histories_are_all_unknown() -> None:
    assert np.isnan(ALL.history(SAMPLE[:5])).all()
    assert ALL.history(SAMPLE[:0]).shape == (0, len(ALL.names))
