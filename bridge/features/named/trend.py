"""Trend: which way, and how strongly."""

from bridge.errors import ConfigError
from bridge.features.expr import Bars, Expr, maximum, safe_div, where
from bridge.features.named.volatility import true_range


def macd(close: Expr, fast: int = 12, slow: int = 26) -> Expr:
    """Return the MACD line over close.

    Formula: (EMA(fast) - EMA(slow)) / close.
    Range: unbounded, a part of the price.
    Lookback: 12 * max(fast, slow) - 1.
    TA-Lib: MACD / close, equal beyond its warm-up.
    MT5: main line of iMACD / close, equal once that has forgotten its start.
    """
    return _line(close, fast, slow) / close


def macd_signal(close: Expr, fast: int = 12, slow: int = 26, signal: int = 9) -> Expr:
    """Return MACD's exponential signal line over close.

    Formula: EMA of (EMA(fast) - EMA(slow)) / close.
    Range: unbounded, a part of the price.
    Lookback: 12 * max(fast, slow) + 12 * signal - 2.
    TA-Lib: MACD's second output / close, equal beyond its warm-up.
    MT5: iMACD's signal line is a simple mean, another number.
    """
    return _line(close, fast, slow).ema(signal) / close


def macd_histogram(close: Expr, fast: int = 12, slow: int = 26, signal: int = 9) -> Expr:
    """Return MACD minus its exponential signal line, over close.

    Formula: (line - EMA(line)) / close, line = EMA(fast) - EMA(slow).
    Range: unbounded, a part of the price.
    Lookback: 12 * max(fast, slow) + 12 * signal - 2.
    TA-Lib: MACD's third output / close, equal beyond its warm-up.
    MT5: iMACD has none, and its signal line is a simple mean: another number.
    """
    line = _line(close, fast, slow)
    return (line - line.ema(signal)) / close


def ppo(close: Expr, fast: int = 12, slow: int = 26) -> Expr:
    """Return the percentage price oscillator of exponential means.

    Formula: 100 * (EMA(fast) / EMA(slow) - 1).
    Range: above -100, percent.
    Lookback: 12 * max(fast, slow) - 1.
    TA-Lib: PPO with matype 1, equal beyond its warm-up.
    MT5: none.
    """
    return (close.ema(fast) / close.ema(slow) - 1.0) * 100.0


def trix(close: Expr, period: int = 15) -> Expr:
    """Return the one-bar rate of change of a triple-smoothed close.

    Formula: 100 * (E / E[1 ago] - 1), E = EMA of EMA of EMA.
    Range: above -100, percent.
    Lookback: 36 * period - 2.
    TA-Lib: TRIX, equal beyond its warm-up.
    MT5: iTriX is not in percent: this / 100, once that has forgotten its start.
    """
    smooth = close.ema(period).ema(period).ema(period)
    return (smooth / smooth.lag(1) - 1.0) * 100.0


def slope(close: Expr, bars: int = 20) -> Expr:
    """Return the slope of the straight line through the last closes, over close.

    Formula: least squares slope / close.
    Range: unbounded, a part of the price for each bar.
    Lookback: bars - 1.
    TA-Lib: LINEARREG_SLOPE / close, equal.
    MT5: none.

    Raises:
        ConfigError: There are fewer than 2 bars.
    """
    if bars < 2:
        raise ConfigError(f"a line through {bars} bars is none: use 2 or more")
    off = [place - (bars - 1) / 2.0 for place in range(bars)]
    square = sum(each * each for each in off)
    return close.fir([each / square for each in off]) / close


def plus_di(bars: Bars, period: int = 14) -> Expr:
    """Return Wilder's positive directional indicator.

    Formula: 100 * Wilder's mean of +DM / Wilder's mean of the true range.
    Range: 0 to 100; 0 when flat.
    Lookback: 21 * period.
    TA-Lib: PLUS_DI, equal beyond its warm-up.
    MT5: of iADXWilder; iADX takes exponential means of +DM / true range, another number.
    """
    return _of_true_range(bars, _rises(bars), period)


def minus_di(bars: Bars, period: int = 14) -> Expr:
    """Return Wilder's negative directional indicator.

    Formula: 100 * Wilder's mean of -DM / Wilder's mean of the true range.
    Range: 0 to 100; 0 when flat.
    Lookback: 21 * period.
    TA-Lib: MINUS_DI, equal beyond its warm-up.
    MT5: of iADXWilder; iADX takes exponential means of -DM / true range, another number.
    """
    return _of_true_range(bars, _falls(bars), period)


def dx(bars: Bars, period: int = 14) -> Expr:
    """Return Wilder's directional movement index.

    Formula: 100 * |+DI - -DI| / (+DI + -DI).
    Range: 0 to 100; 0 when flat.
    Lookback: 21 * period.
    TA-Lib: DX, equal beyond its warm-up.
    MT5: inside iADXWilder.
    """
    up, down = plus_di(bars, period), minus_di(bars, period)
    return safe_div((up - down).abs() * 100.0, up + down, default=0.0, scale=1.0)


def adx(bars: Bars, period: int = 14) -> Expr:
    """Return Wilder's average directional index: how strong a trend is, whichever way.

    Formula: Wilder's mean of DX.
    Range: 0 to 100; 0 when flat.
    Lookback: 42 * period - 1.
    TA-Lib: ADX, equal beyond its warm-up.
    MT5: iADXWilder; iADX takes exponential means, another number.
    """
    return dx(bars, period).wilder(period)


def di_difference(bars: Bars, period: int = 14) -> Expr:
    """Return the positive less the negative directional indicator.

    Formula: +DI - -DI.
    Range: -100 to 100; 0 when flat.
    Lookback: 21 * period.
    TA-Lib: PLUS_DI - MINUS_DI, equal beyond its warm-up.
    MT5: of iADXWilder; iADX differs.
    """
    return plus_di(bars, period) - minus_di(bars, period)


def aroon_up(bars: Bars, period: int = 25) -> Expr:
    """Return how fresh the highest high is.

    Formula: 100 * (period - age of the highest high of period + 1 bars) / period.
    Range: 0 to 100; 100 when the newest bar has it, or is level with it.
    Lookback: period.
    TA-Lib: AROON's second output, equal.
    MT5: none.
    """
    return _fresh(bars.high.bars_since_highest(period + 1), period)


def aroon_down(bars: Bars, period: int = 25) -> Expr:
    """Return how fresh the lowest low is.

    Formula: 100 * (period - age of the lowest low of period + 1 bars) / period.
    Range: 0 to 100; 100 when the newest bar has it, or is level with it.
    Lookback: period.
    TA-Lib: AROON's first output, equal.
    MT5: none.
    """
    return _fresh(bars.low.bars_since_lowest(period + 1), period)


def aroon(bars: Bars, period: int = 25) -> Expr:
    """Return Aroon's oscillator.

    Formula: Aroon up - Aroon down.
    Range: -100 to 100; 0 when flat.
    Lookback: period.
    TA-Lib: AROONOSC, equal.
    MT5: none.
    """
    return aroon_up(bars, period) - aroon_down(bars, period)


def vortex(bars: Bars, period: int = 14) -> Expr:
    """Return the positive less the negative vortex.

    Formula: (sum |high - low[1 ago]| - sum |low - high[1 ago]|) / sum of the true range.
    Range: unbounded, mostly -1 to 1; 0 when flat.
    Lookback: period.
    TA-Lib: none.
    MT5: none.
    """
    up, down = (bars.high - bars.low.lag(1)).abs(), (bars.low - bars.high.lag(1)).abs()
    whole = true_range(bars).sum(period)
    return safe_div((up - down).sum(period), whole, default=0.0, scale=bars.close)


def _line(close: Expr, fast: int, slow: int) -> Expr:
    return close.over_ema(slow) - close.over_ema(fast)


def _rises(bars: Bars) -> Expr:
    up, down = bars.high - bars.high.lag(1), bars.low.lag(1) - bars.low
    return where(up > down, maximum(up, 0.0), 0.0)


def _falls(bars: Bars) -> Expr:
    up, down = bars.high - bars.high.lag(1), bars.low.lag(1) - bars.low
    return where(down > up, maximum(down, 0.0), 0.0)


def _of_true_range(bars: Bars, moves: Expr, period: int) -> Expr:
    whole = true_range(bars).wilder(period)
    return safe_div(moves.wilder(period) * 100.0, whole, default=0.0, scale=bars.close)


def _fresh(age: Expr, period: int) -> Expr:
    return (float(period) - age) * (100.0 / period)
