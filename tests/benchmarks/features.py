"""Features of a whole history and of one window, and a whole answer, beside pandas, in one run.

Pandas computes the same definitions with its own rolling and recursive means. Times are those of
the processor, on one thread, so that other work on the computer counts less; the ratios count most.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import onnxruntime
import pandas as pd
from onnx import ModelProto
from sklearn.ensemble import HistGradientBoostingClassifier

from bridge.authoring.build import build
from bridge.features import named
from bridge.features.catalogue import entries
from bridge.features.expr import FIELDS, Bars, Expr
from bridge.features.featureset import FeatureSet
from bridge.features.graph import features_graph
from bridge.market.barfile import read_bars
from bridge.mt5.rates import RatesArray, sealed
from bridge.share import share_dir

_BARS = Bars()
_CLOSE = _BARS.close
NINE: dict[str, Expr] = {
    "return1": named.log_return(_CLOSE),
    "volatility": named.volatility(_CLOSE, 20),
    "sma": named.sma_ratio(_CLOSE, 20),
    "ema": named.ema_ratio(_CLOSE, 20),
    "zscore": named.zscore(_CLOSE, 50),
    "rsi": named.rsi(_CLOSE, 14),
    "atr": named.atr_ratio(_BARS, 14),
    "stochastic": named.stochastic(_BARS, 14),
    "hour": named.hour_sin(),
}
MORE = """
    macd macd_histogram adx di_difference cci money_flow_index bollinger_position bollinger_width
    donchian_position donchian_width keltner_position garman_klass parkinson roc slope volume_zscore
    spread_ratio body upper_wick lower_wick since_open higher_return weekday_sin
"""
THIRTY_TWO = NINE | {each.name: each.example for each in entries() if each.name in MORE.split()}
SETS = {"9 features": NINE, f"{len(THIRTY_TWO)} features": THIRTY_TWO}


def pandas_nine(df: pd.DataFrame) -> pd.DataFrame:
    """Return the nine features as a person writes them with pandas."""
    close, high, low = df["close"], df["high"], df["low"]
    move, before = close.diff(), close.shift()
    log = pd.Series(np.log(close / before))
    up = move.clip(lower=0.0).ewm(alpha=1 / 14, adjust=False).mean()
    down = (-move).clip(lower=0.0).ewm(alpha=1 / 14, adjust=False).mean()
    ranges = pd.concat([high - low, (high - before).abs(), (low - before).abs()], axis=1).max(
        axis=1
    )
    top, bottom = high.rolling(14).max(), low.rolling(14).min()
    rolling = close.rolling(50)
    hours = pd.to_datetime(df["time"], unit="s").dt.hour
    return pd.DataFrame(
        {
            "return1": log,
            "volatility": log.rolling(20).std(ddof=0),
            "sma": close / close.rolling(20).mean() - 1,
            "ema": close / close.ewm(span=20, adjust=False).mean() - 1,
            "zscore": (close - rolling.mean()) / rolling.std(ddof=0),
            "rsi": 100 * up / (up + down),
            "atr": ranges.ewm(alpha=1 / 14, adjust=False).mean() / close,
            "stochastic": 100 * (close - bottom) / (top - bottom),
            "hour": np.sin(2 * np.pi * hours / 24),
        }
    )


def market(bars: int) -> RatesArray:
    """Return the sample bars, one copy after the other in time."""
    sample = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
    rates = np.resize(sample, bars).copy()
    rates["time"] = sample["time"][0] + 3600 * np.arange(bars)
    return sealed(rates)


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of the processor that ``work`` took."""
    took = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        took.append(time.process_time() - begun)
    return min(took)


def session(model: ModelProto) -> onnxruntime.InferenceSession:
    """Return a session on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def feeds(rates: RatesArray, window: int, count: int) -> dict[str, np.ndarray]:
    """Return ``count`` windows as the graph takes them."""
    part = rates[: window + count - 1]
    columns = np.stack([part[name].astype(np.float64) for name in FIELDS], axis=1)
    views = np.lib.stride_tricks.sliding_window_view(columns, window, axis=0)
    times = np.lib.stride_tricks.sliding_window_view(part["time"], window)
    return {"bars": np.ascontiguousarray(np.moveaxis(views, -1, 1)), "time": times.copy()}


def check(rates: RatesArray) -> None:
    """Raise where pandas and the history don't compute the same nine features."""
    ours = FeatureSet(NINE).history(rates[:4000])[1500:]
    theirs = pandas_nine(pd.DataFrame(rates[:4000])).to_numpy()[1500:]
    if not np.allclose(ours, theirs, rtol=1e-5, atol=1e-6):
        raise SystemExit("pandas computes something else")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bars", type=int, default=100_000)
    arguments.add_argument("--repeats", type=int, default=5)
    chosen = arguments.parse_args()
    rates = market(chosen.bars)
    check(rates)
    frame = pd.DataFrame(rates)
    theirs = seconds(lambda: pandas_nine(frame), chosen.repeats)
    last = frame.iloc[-1000:]
    single = seconds(lambda: pandas_nine(last).iloc[-1], 20)
    print(f"{chosen.bars} bars; best of {chosen.repeats}, one thread")
    print(f"  pandas, 9 features         {chosen.bars / theirs / 1e6:8.2f} M bars/s")
    print(f"  pandas, newest bar of 1000 {single * 1e6:8.0f} us")
    for name, features in SETS.items():
        report(name, FeatureSet(features), rates, chosen.repeats, theirs, single)
    answers(rates, last)


def report(
    name: str, features: FeatureSet, rates: RatesArray, repeats: int, theirs: float, single: float
) -> None:
    took = seconds(lambda: features.history(rates), repeats)
    graph = session(features_graph(features.expressions))
    many, one = feeds(rates, features.window, 1024), feeds(rates, features.window, 1)
    batch = seconds(lambda: graph.run(None, many), repeats)
    alone = seconds(lambda: graph.run(None, one), 200)
    print(f"{name}, window {features.window}")
    print(f"  history                    {len(rates) / took / 1e6:8.2f} M bars/s")
    print(f"  history over pandas' nine  {theirs / took:8.2f} times as fast")
    print(f"  graph, 1024 windows        {1024 / batch / 1e3:8.1f} k windows/s")
    print(f"  graph, one window          {alone * 1e6:8.0f} us")
    print(f"  pandas' newest bar over it {single / alone:8.0f} times as slow")


def answers(rates: RatesArray, last: pd.DataFrame) -> None:
    """Print what one answer of a model costs: the usual bot's way, and as one graph."""
    features = FeatureSet(NINE)
    x = features.history(rates[:5000])[features.lookback :]
    sides = np.digitize(x[1:, 0], [-1e-4, 1e-4])
    print("one answer of 100 boosted trees on the nine features")
    for name, estimator in estimators().items():
        fitted = estimator.fit(x[:-1], sides)
        usual = seconds(lambda: fitted.predict_proba(pandas_nine(last).iloc[[-1]].to_numpy()), 20)  # noqa: B023
        graph, one = session(build(features, fitted).model), feeds(rates, features.window, 1)
        alone = seconds(lambda: graph.run(None, one), 200)  # noqa: B023
        print(f"  {name:<16} pandas + estimator {usual * 1e6:8.0f} us")
        print(f"  {'as one graph':<16} {alone * 1e6:27.0f} us, {usual / alone:.0f} times as fast")


def estimators() -> dict[str, Any]:
    """Return estimators that are not fitted yet."""
    return {
        "LightGBM": lightgbm.LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=1),
        "hist. boosting": HistGradientBoostingClassifier(max_iter=100, random_state=0),
    }


if __name__ == "__main__":
    main()
