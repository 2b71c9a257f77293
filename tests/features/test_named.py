"""Named features against pandas: another library, other algorithms, the same definitions."""

import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from markets import SAMPLE

from bridge.features import named
from bridge.features.expr import Bars, Expr
from bridge.features.featureset import FeatureSet

RATES = SAMPLE[:3000]
OPEN, HIGH, LOW, CLOSE, VOLUME = (
    pd.Series(RATES[name].astype(np.float64))
    for name in ("open", "high", "low", "close", "tick_volume")
)
RANGE = HIGH - LOW
TIME = pd.to_datetime(pd.Series(RATES["time"]), unit="s")
BARS = Bars()


def z(values: "pd.Series[float]", bars: int) -> "pd.Series[float]":
    rolling = values.rolling(bars)
    return (values - rolling.mean()) / rolling.std(ddof=0)


def ema(values: "pd.Series[float]", period: int) -> "pd.Series[float]":
    return values.ewm(span=period, adjust=True).mean()


def macd() -> "pd.Series[float]":
    line = ema(CLOSE, 12) - ema(CLOSE, 26)
    return (line - ema(line, 9)) / CLOSE


def cycle(place: "pd.Series[int]", places: int) -> "tuple[pd.Series[float], pd.Series[float]]":
    turn = place * (2.0 * np.pi / places)
    return turn.map(math.sin).round(6), turn.map(math.cos).round(6)


CASES: dict[str, tuple[Expr, "pd.Series[float]"]] = {
    "sma": (named.sma_ratio(BARS.close, 20), CLOSE / CLOSE.rolling(20).mean() - 1.0),
    "bollinger": (named.bollinger_position(BARS.close, 20), z(CLOSE, 20) / 2.0),
    "macd": (named.macd_histogram(BARS.close), macd()),
    "upper wick": (
        named.upper_wick(BARS),
        ((HIGH - CLOSE.clip(lower=OPEN)) / RANGE).fillna(0.0),
    ),
    "lower wick": (named.lower_wick(BARS), ((CLOSE.clip(upper=OPEN) - LOW) / RANGE).fillna(0.0)),
    "volume": (named.volume_zscore(BARS, 20), z(VOLUME, 20)),
    "spread": (named.spread_ratio(BARS, 20), CLOSE * 0.0),
    "hour sin": (named.hour_sin(), cycle(TIME.dt.hour, 24)[0]),
    "hour cos": (named.hour_cos(), cycle(TIME.dt.hour, 24)[1]),
    # pandas counts from Monday, the terminal from Sunday.
    "weekday sin": (named.weekday_sin(), cycle((TIME.dt.day_of_week + 1) % 7, 7)[0]),
    "weekday cos": (named.weekday_cos(), cycle((TIME.dt.day_of_week + 1) % 7, 7)[1]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_named_feature_is_what_pandas_says(name: str) -> None:
    expression, theirs = CASES[name]
    ours = FeatureSet({name: expression}).history(RATES)[:, 0]
    # Recursive means still know where they began; 500 bars in, that is below 1e-12.
    late = slice(500, None)
    wanted = theirs.to_numpy()[late]
    # 3e-7: rounding to float32. Pandas' rolling deviations are updated online, which leaves them
    # about 1e-9 off.
    limit = 3e-7 * np.maximum(np.abs(wanted), wanted.std())
    assert (np.abs(ours[late].astype(np.float64) - wanted) <= limit).all()


def test_the_history_side_loads_neither_onnx_nor_pandas() -> None:
    code = (
        "import sys; import bridge.features.codec, bridge.features.named; "
        "sys.exit(bool({'onnx', 'onnxruntime', 'pandas', 'sklearn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
