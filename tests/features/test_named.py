"""Every named feature against TA-Lib or pandas: other libraries, other algorithms."""

import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest
from markets import SAMPLE
from numpy.typing import NDArray

from bridge.errors import ConfigError
from bridge.features import named
from bridge.features.catalogue import entries, table
from bridge.features.expr import Bars
from bridge.features.history import evaluate
from bridge.market.aggregate import aggregate
from bridge.mt5.rates import sealed
from bridge.mt5.timeframes import timeframe

Column = NDArray[np.float64]
Series: TypeAlias = "pd.Series[float]"

RATES = SAMPLE[:3000].copy()
# The sample's spread stands still.
RATES["spread"] = 8 + np.arange(len(RATES)) * 7 % 5
sealed(RATES)
OPEN, HIGH, LOW, CLOSE, VOLUME, SPREAD = (
    pd.Series(RATES[name].astype(np.float64))
    for name in ("open", "high", "low", "close", "tick_volume", "spread")
)
H, L, C, V = (each.to_numpy() for each in (HIGH, LOW, CLOSE, VOLUME))
RANGE, TYPICAL = HIGH - LOW, (HIGH + LOW + CLOSE) / 3.0
MOVE = CLOSE.diff()
SIGN = MOVE.gt(0.0).astype(float) - MOVE.lt(0.0).astype(float)
TIME = pd.to_datetime(pd.Series(RATES["time"]), unit="s")
DAY = TIME.dt.floor("D")
EXAMPLES = {entry.name: entry for entry in entries()}
LATE = slice(1500, None)
"""Recursive means have forgotten where they began by then."""


def z(values: Series, bars: int = 20) -> Series:
    rolling = values.rolling(bars)
    return ((values - rolling.mean()) / rolling.std(ddof=0)).where(rolling.std(ddof=0) > 1e-12, 0.0)


def ratio(values: Series, bars: int = 20) -> Series:
    return values / values.rolling(bars).mean() - 1.0


def total(values: Series, bars: int) -> Series:
    return values.rolling(bars).sum()


def weighted(values: Series, bars: int) -> Series:
    weights = np.arange(1.0, bars + 1.0)
    return values.rolling(bars).apply(lambda each: each @ weights / weights.sum(), raw=True)


def wilder(values: Series, period: int) -> Series:
    return values.ewm(alpha=1.0 / period, adjust=False).mean()


def log(first: Series, second: Series) -> Series:
    return (first / second).map(math.log, na_action="ignore")


def satchell() -> Series:
    return log(HIGH, CLOSE) * log(HIGH, OPEN) + log(LOW, CLOSE) * log(LOW, OPEN)


def true_range() -> Series:
    before = CLOSE.shift()
    return pd.concat([HIGH, before], axis=1).max(axis=1) - pd.concat([LOW, before], axis=1).min(
        axis=1
    )


def yang_zhang() -> Series:
    share = 0.34 / (1.34 + 21.0 / 19.0)
    night, day = log(OPEN, CLOSE.shift()).rolling(20).var(), log(CLOSE, OPEN).rolling(20).var()
    return (night + share * day + (1.0 - share) * satchell().rolling(20).mean()) ** 0.5


def garman_klass() -> Series:
    each = log(HIGH, LOW) ** 2 / 2.0 - (2.0 * math.log(2.0) - 1.0) * log(CLOSE, OPEN) ** 2
    return each.rolling(20).mean() ** 0.5


def vortex() -> Series:
    up, down = (HIGH - LOW.shift()).abs(), (LOW - HIGH.shift()).abs()
    return total(up - down, 14) / total(true_range(), 14)


def keltner() -> tuple[Series, Series]:
    middle, wide = CLOSE.ewm(span=20, adjust=False).mean(), wilder(true_range(), 20)
    return (CLOSE - middle) / (2.0 * wide), 4.0 * wide / middle


def channel(bars: int) -> tuple[Series, Series]:
    return HIGH.rolling(bars).max(), LOW.rolling(bars).min()


def breakout() -> Series:
    high, low = (each.shift() for each in channel(20))
    return (high < CLOSE).astype(float) - (low > CLOSE).astype(float)


def location() -> Series:
    return ((2.0 * CLOSE - HIGH - LOW) / RANGE).fillna(0.0)


def demarker() -> Series:
    up, down = HIGH.diff().clip(lower=0.0), -LOW.diff().clip(upper=0.0)
    return total(up, 14) / total(up + down, 14)


def engulfing() -> Series:
    up, down = CLOSE > OPEN, CLOSE < OPEN
    top, bottom = OPEN.where(OPEN > CLOSE, CLOSE), OPEN.where(OPEN < CLOSE, CLOSE)
    over = (top >= top.shift()) & (bottom <= bottom.shift())
    over &= top - bottom > top.shift() - bottom.shift()
    rises, falls = (
        over & up & down.shift(fill_value=False),
        over & down & up.shift(fill_value=False),
    )
    return rises.astype(float) - falls.astype(float)


def cycle(place: "pd.Series[int]", places: int) -> tuple[Series, Series]:
    turn = place * (2.0 * np.pi / places)
    return turn.map(math.sin).round(6), turn.map(math.cos).round(6)


def frames(name: str) -> tuple[Series, dict[str, Series]]:
    """Return which higher bar is the newest complete one at each bar, and the higher bars."""
    frame = timeframe(name)
    made = aggregate(RATES, timeframe("H1"), frame)
    opens = pd.Series(made["time"])
    ended = np.searchsorted(opens + frame.seconds, RATES["time"] + 3600, side="right") - 1
    columns = {
        each: pd.Series(made[each].astype(np.float64)) for each in ("open", "high", "low", "close")
    }
    return pd.Series(ended), columns


def of_day(values: Series) -> Series:
    newest, _ = frames("D1")
    return newest.map(values)


LOG = log(CLOSE, CLOSE.shift())
HIGHER = frames("D1")[1]
H4 = frames("H4")
SO_FAR = {"high": HIGH.groupby(DAY).cummax(), "low": LOW.groupby(DAY).cummin()}
PAID = (TYPICAL * VOLUME).groupby(DAY).cumsum() / VOLUME.groupby(DAY).cumsum()
MACD = CLOSE.ewm(span=12, adjust=False).mean() - CLOSE.ewm(span=26, adjust=False).mean()

PANDAS: dict[str, Callable[[], Series]] = {
    "log_return": lambda: LOG,
    "momentum": lambda: CLOSE.diff(10) / CLOSE,
    "scaled_return": lambda: LOG.rolling(20).mean() / LOG.rolling(20).std(ddof=0) * 20**0.5,
    "drawdown": lambda: CLOSE / CLOSE.rolling(50).max() - 1.0,
    "gap": lambda: log(OPEN, CLOSE.shift()),
    "volatility": lambda: LOG.rolling(20).std(ddof=0),
    "volatility_ratio": lambda: LOG.rolling(10).std(ddof=0) / LOG.rolling(50).std(ddof=0) - 1.0,
    "parkinson": lambda: ((log(HIGH, LOW) ** 2).rolling(20).mean() / (4.0 * math.log(2.0))) ** 0.5,
    "garman_klass": garman_klass,
    "rogers_satchell": lambda: satchell().rolling(20).mean() ** 0.5,
    "yang_zhang": yang_zhang,
    "wilder": lambda: wilder(CLOSE, 14),
    "hma": lambda: weighted(2.0 * weighted(CLOSE, 8) - weighted(CLOSE, 16), 4),
    "sma_ratio": lambda: ratio(CLOSE),
    "ema_ratio": lambda: CLOSE / CLOSE.ewm(span=20, adjust=False).mean() - 1.0,
    "wma_ratio": lambda: CLOSE / weighted(CLOSE, 20) - 1.0,
    "sma_cross": lambda: CLOSE.rolling(10).mean() / CLOSE.rolling(50).mean() - 1.0,
    "vortex": vortex,
    "cmo": lambda: 100.0 * total(MOVE, 14) / total(MOVE.abs(), 14),
    "efficiency_ratio": lambda: CLOSE.diff(10).abs() / total(MOVE.abs(), 10),
    "awesome": lambda: (
        (((HIGH + LOW) / 2.0).rolling(5).mean() - ((HIGH + LOW) / 2.0).rolling(34).mean()) / CLOSE
    ),
    "demarker": demarker,
    "zscore": lambda: z(CLOSE),
    "bollinger_position": lambda: z(CLOSE) / 2.0,
    "bollinger_width": lambda: 4.0 * CLOSE.rolling(20).std(ddof=0) / CLOSE.rolling(20).mean(),
    "donchian_position": lambda: (CLOSE - channel(20)[1]) / (channel(20)[0] - channel(20)[1]),
    "donchian_width": lambda: (channel(20)[0] - channel(20)[1]) / CLOSE,
    "donchian_breakout": breakout,
    "keltner_position": lambda: keltner()[0],
    "keltner_width": lambda: keltner()[1],
    "volume_zscore": lambda: z(VOLUME),
    "volume_ratio": lambda: ratio(VOLUME),
    "volume_balance": lambda: total(SIGN * VOLUME, 20) / total(VOLUME, 20),
    "chaikin_money_flow": lambda: total(location() * VOLUME, 20) / total(VOLUME, 20),
    "vwap_distance": lambda: CLOSE * total(VOLUME, 20) / total(TYPICAL * VOLUME, 20) - 1.0,
    "spread_ratio": lambda: ratio(SPREAD),
    "spread_zscore": lambda: z(SPREAD),
    "upper_wick": lambda: ((HIGH - CLOSE.clip(lower=OPEN)) / RANGE).fillna(0.0),
    "lower_wick": lambda: ((CLOSE.clip(upper=OPEN) - LOW) / RANGE).fillna(0.0),
    "close_location": location,
    "bar_range": lambda: RANGE / CLOSE,
    "range_ratio": lambda: ratio(RANGE),
    "inside_bar": lambda: ((HIGH.shift() > HIGH) & (LOW.shift() < LOW)).astype(float),
    "outside_bar": lambda: ((HIGH.shift() < HIGH) & (LOW.shift() > LOW)).astype(float),
    "engulfing": engulfing,
    "doji": lambda: ((CLOSE - OPEN).abs() < RANGE * 0.1).astype(float),
    "hour_sin": lambda: cycle(TIME.dt.hour, 24)[0],
    "hour_cos": lambda: cycle(TIME.dt.hour, 24)[1],
    # pandas counts from Monday, the terminal from Sunday.
    "weekday_sin": lambda: cycle((TIME.dt.day_of_week + 1) % 7, 7)[0],
    "weekday_cos": lambda: cycle((TIME.dt.day_of_week + 1) % 7, 7)[1],
    "minute_sin": lambda: cycle(TIME.dt.minute, 60)[0],
    "minute_cos": lambda: cycle(TIME.dt.minute, 60)[1],
    "session": lambda: TIME.dt.hour.between(9, 16).astype(float),
    "weekday": lambda: (TIME.dt.day_of_week == 4).astype(float),
    "higher_return": lambda: of_day(log(HIGHER["close"], HIGHER["close"].shift())),
    "higher_sma_ratio": lambda: CLOSE / of_day(HIGHER["close"].rolling(10).mean()) - 1.0,
    "higher_body": lambda: of_day(
        (HIGHER["close"] - HIGHER["open"]) / (HIGHER["high"] - HIGHER["low"])
    ),
    "higher_position": lambda: (
        (CLOSE - of_day(HIGHER["low"])) / of_day(HIGHER["high"] - HIGHER["low"])
    ),
    "since_open": lambda: log(CLOSE, OPEN.groupby(DAY).transform("first")),
    "position_so_far": lambda: ((CLOSE - SO_FAR["low"]) / (SO_FAR["high"] - SO_FAR["low"])).fillna(
        0.5
    ),
    "vwap_so_far": lambda: CLOSE / PAID - 1.0,
}


def talib_cases() -> dict[str, Callable[[], Column]]:
    ta = pytest.importorskip("talib", reason="needs TA-Lib")
    return {
        "simple_return": lambda: ta.ROCP(C, 1),
        "roc": lambda: ta.ROC(C, 10),
        "true_range": lambda: ta.TRANGE(H, L, C),
        "atr": lambda: ta.ATR(H, L, C, 14),
        "atr_ratio": lambda: ta.NATR(H, L, C, 14) / 100.0,
        "natr": lambda: ta.NATR(H, L, C, 14),
        "sma": lambda: ta.SMA(C, 20),
        "ema": lambda: ta.EMA(C, 20),
        "wma": lambda: ta.WMA(C, 20),
        "dema": lambda: ta.DEMA(C, 20),
        "tema": lambda: ta.TEMA(C, 20),
        "dema_ratio": lambda: C / ta.DEMA(C, 20) - 1.0,
        "tema_ratio": lambda: C / ta.TEMA(C, 20) - 1.0,
        "macd": lambda: ta.MACD(C)[0] / C,
        "macd_signal": lambda: ta.MACD(C)[1] / C,
        "macd_histogram": lambda: ta.MACD(C)[2] / C,
        "ppo": lambda: ta.PPO(C, 12, 26, 1),
        "trix": lambda: ta.TRIX(C, 15),
        "slope": lambda: ta.LINEARREG_SLOPE(C, 20) / C,
        "plus_di": lambda: ta.PLUS_DI(H, L, C, 14),
        "minus_di": lambda: ta.MINUS_DI(H, L, C, 14),
        "di_difference": lambda: ta.PLUS_DI(H, L, C, 14) - ta.MINUS_DI(H, L, C, 14),
        "dx": lambda: ta.DX(H, L, C, 14),
        "adx": lambda: ta.ADX(H, L, C, 14),
        "aroon_up": lambda: ta.AROON(H, L, 25)[1],
        "aroon_down": lambda: ta.AROON(H, L, 25)[0],
        "aroon": lambda: ta.AROONOSC(H, L, 25),
        "rsi": lambda: ta.RSI(C, 14),
        "stochastic_rsi": lambda: ta.STOCHRSI(C, 14, 14, 3, 0)[0],
        "stochastic": lambda: ta.STOCHF(H, L, C, 14, 3, 0)[0],
        "stochastic_slow": lambda: ta.STOCH(H, L, C, 14, 3, 0, 3, 0)[0],
        "stochastic_signal": lambda: ta.STOCH(H, L, C, 14, 3, 0, 3, 0)[1],
        "williams_r": lambda: ta.WILLR(H, L, C, 14),
        "cci": lambda: ta.CCI(H, L, C, 20),
        "ultimate": lambda: ta.ULTOSC(H, L, C, 7, 14, 28),
        "money_flow_index": lambda: ta.MFI(H, L, C, V, 14),
        "body": lambda: ta.BOP(OPEN.to_numpy(), H, L, C),
        "higher_rsi": lambda: H4[0].map(pd.Series(ta.RSI(H4[1]["close"].to_numpy(), 7))).to_numpy(),
    }


@pytest.fixture(scope="module")
def values() -> dict[str, Column]:
    """Return every named feature, in doubles."""
    found = evaluate([entry.example for entry in EXAMPLES.values()], RATES)
    return dict(zip(EXAMPLES, found.T, strict=True))


def off(ours: Column, theirs: Column) -> float:
    """Return the largest distance beyond the warm-up, in standard deviations."""
    wanted = theirs[LATE]
    assert np.isfinite(wanted).all()
    return float(np.abs(ours[LATE] - wanted).max() / max(float(wanted.std()), 1e-12))


def test_named_features_are_what_talib_says(values: dict[str, Column]) -> None:
    distance = {name: off(values[name], theirs()) for name, theirs in talib_cases().items()}
    # Their rolling sums are updated online, the weights that our finite means leave out are 1e-10.
    assert {name: each for name, each in distance.items() if not each <= 1e-7} == {}


@pytest.mark.parametrize("name", PANDAS)
def test_a_named_feature_is_what_pandas_says(name: str, values: dict[str, Column]) -> None:
    # Pandas' rolling deviations are updated online, which leaves them about 1e-9 off.
    assert off(values[name], np.asarray(PANDAS[name](), dtype=np.float64)) <= 1e-7


def test_no_named_feature_is_without_a_second_opinion() -> None:
    assert set(EXAMPLES) == set(PANDAS) | set(talib_cases())
    assert len(EXAMPLES) == 99


def test_docstrings_tell_the_lookback_that_a_feature_has() -> None:
    for entry in EXAMPLES.values():
        known = {"max": max, "isqrt": math.isqrt, **entry.defaults}
        if "of" in entry.defaults:
            hours = {"H4": 4, "D1": 24}
            known["per"] = hours[entry.defaults["timeframe"]]
        told = eval(entry.facts["Lookback"].removesuffix("."), {}, known)  # noqa: S307 - our own text
        assert (entry.name, told) == (entry.name, entry.example.lookback)
        assert entry.says.startswith("Return ")
        assert all(entry.facts.values())


def test_the_readme_lists_every_named_feature() -> None:
    readme = Path(str(resources.files("bridge.features"))) / "README.md"
    text = readme.read_text(encoding="utf-8")
    begin, end = "<!-- catalogue -->\n", "<!-- end of catalogue -->\n"
    if os.environ.get("UPDATE_FEATURES_README"):
        head, tail = text.split(begin)[0], text.split(end)[1]
        readme.write_text(f"{head}{begin}\n{table()}\n{end}{tail}", encoding="utf-8")
        text = readme.read_text(encoding="utf-8")
    assert text.split(begin)[1].split(end)[0].strip() == table().strip(), (
        "run this test with UPDATE_FEATURES_README=1"
    )
    assert f"{len(EXAMPLES)} named features" in text


def test_the_code_in_the_readme_runs() -> None:
    readme = Path(str(resources.files("bridge.features"))) / "README.md"
    blocks = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    scope: dict[str, Any] = {"df": pd.DataFrame(SAMPLE[:1500]), "__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)  # noqa: S102 - our own text
    assert scope["x"].shape == (1500, len(scope["features"].names))
    assert str(scope["x"].dtypes.unique().tolist()) == "[dtype('float32')]"
    assert scope["x"].iloc[scope["features"].lookback :].notna().all(axis=None)
    assert scope["x"].iloc[: scope["features"].lookback].isna().all(axis=None)
    # The own features of the text, computed another way.
    close, high = (pd.Series(SAMPLE[name][:1500]) for name in ("close", "high"))
    push = close / high.rolling(24).max().shift() - 1.0
    late = slice(scope["features"].lookback, None)
    np.testing.assert_allclose(scope["x"]["push"][late], push[late], rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: named.session(9, 9), "a session from 9 to 9 is none"),
        (lambda: named.session(9, 24), "a session from 9 to 24 is none"),
        (lambda: named.weekday(7), "day 7 is in no week"),
        (lambda: named.slope(Bars.close, 1), "a line through 1 bars"),
        (lambda: named.yang_zhang(Bars(), 1), "a sample variance over 1 bars"),
        (lambda: named.sma(Bars.close, 0), "over 0 bars"),
        (lambda: named.higher_return(Bars.close, "MN1"), "MN1 bars have no fixed length"),
    ],
)
def test_parameters_that_make_no_feature_are_refused(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


def test_a_session_over_midnight_is_one() -> None:
    night = evaluate([named.session(22, 3)], RATES)[:, 0]
    assert set(TIME[night == 1.0].dt.hour) == {22, 23, 0, 1, 2}


def test_the_history_side_loads_neither_onnx_nor_pandas() -> None:
    code = (
        "import sys; import bridge.features.codec, bridge.features.catalogue; "
        "sys.exit(bool({'onnx', 'onnxruntime', 'pandas', 'sklearn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
