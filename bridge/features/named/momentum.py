"""Momentum: oscillators between bounds."""

from bridge.features.expr import Bars, Expr, maximum, minimum, safe_div
from bridge.features.named.volatility import true_range


def rsi(close: Expr, period: int = 14) -> Expr:
    """Return Wilder's relative strength index.

    Formula: 100 * U / (U + D), Wilder's means of the rises and of the falls.
    Range: 0 to 100; 50 when flat.
    Lookback: 21 * period.
    TA-Lib: RSI, equal beyond its warm-up.
    MT5: iRSI starts from a simple mean and recurses; equal once that is forgotten.
    """
    move = close - close.lag(1)
    up, down = maximum(move, 0.0).wilder(period), maximum(-move, 0.0).wilder(period)
    return safe_div(up * 100.0, up + down, default=50.0, scale=close)


def stochastic_rsi(close: Expr, period: int = 14, bars: int = 14) -> Expr:
    """Return where RSI stands between its own extremes.

    Formula: 100 * (RSI - lowest RSI) / (highest RSI - lowest RSI).
    Range: 0 to 100; 50 when flat.
    Lookback: 21 * period + bars - 1.
    TA-Lib: STOCHRSI's first output, equal beyond its warm-up.
    MT5: none.
    """
    each = rsi(close, period)
    low = each.lowest(bars)
    return safe_div((each - low) * 100.0, each.highest(bars) - low, default=50.0, scale=100.0)


def cmo(close: Expr, period: int = 14) -> Expr:
    """Return Chande's momentum oscillator.

    Formula: 100 * (U - D) / (U + D), plain sums of the rises and of the falls.
    Range: -100 to 100; 0 when flat.
    Lookback: period.
    TA-Lib: CMO takes Wilder's means (it is 2 RSI - 100), another number.
    MT5: none as a line; the factor inside iVIDyA.
    """
    move = close - close.lag(1)
    return safe_div(move.sum(period) * 100.0, move.abs().sum(period), default=0.0, scale=close)


def efficiency_ratio(close: Expr, period: int = 10) -> Expr:
    """Return Kaufman's efficiency ratio: how straight the way was.

    Formula: |close - close[period ago]| / sum of |one-bar moves|.
    Range: 0 to 1; 0 when flat.
    Lookback: period.
    TA-Lib: the factor inside KAMA.
    MT5: the factor inside iAMA.
    """
    way = (close - close.lag(1)).abs().sum(period)
    return safe_div((close - close.lag(period)).abs(), way, default=0.0, scale=close)


def stochastic(bars: Bars, period: int = 14) -> Expr:
    """Return the raw stochastic %K.

    Formula: 100 * (close - lowest low) / (highest high - lowest low).
    Range: 0 to 100; 50 when flat.
    Lookback: period - 1.
    TA-Lib: STOCHF's first output, equal.
    MT5: main line of iStochastic with slowing 1.
    """
    high, low = bars.high.highest(period), bars.low.lowest(period)
    return safe_div((bars.close - low) * 100.0, high - low, default=50.0, scale=bars.close)


def stochastic_slow(bars: Bars, period: int = 14, slowing: int = 3) -> Expr:
    """Return the slow stochastic %K.

    Formula: simple mean of the raw %K.
    Range: 0 to 100; 50 when flat.
    Lookback: period + slowing - 2.
    TA-Lib: STOCH's first output, equal.
    MT5: iStochastic divides the sums of numerator and denominator, another number.
    """
    return stochastic(bars, period).mean(slowing)


def stochastic_signal(bars: Bars, period: int = 14, slowing: int = 3, signal: int = 3) -> Expr:
    """Return the slow stochastic %D.

    Formula: simple mean of the slow %K.
    Range: 0 to 100; 50 when flat.
    Lookback: period + slowing + signal - 3.
    TA-Lib: STOCH's second output, equal.
    MT5: iStochastic's main line differs, so does its signal line.
    """
    return stochastic_slow(bars, period, slowing).mean(signal)


def williams_r(bars: Bars, period: int = 14) -> Expr:
    """Return Williams' %R.

    Formula: -100 * (highest high - close) / (highest high - lowest low).
    Range: -100 to 0; -50 when flat.
    Lookback: period - 1.
    TA-Lib: WILLR, equal; 0 when flat.
    MT5: iWPR, equal.
    """
    return stochastic(bars, period) - 100.0


def cci(bars: Bars, period: int = 20) -> Expr:
    """Return the commodity channel index.

    Formula: (T - mean T) / (0.015 * mean distance of T from its mean),
    T = (high + low + close) / 3.
    Range: unbounded, mostly -200 to 200; 0 when flat.
    Lookback: period - 1.
    TA-Lib: CCI, equal.
    MT5: iCCI of PRICE_TYPICAL, equal.
    """
    price = bars.typical
    mean = price.mean(period)
    off = price.deviation(period) * 0.015
    return safe_div(price - mean, off, default=0.0, scale=mean)


def ultimate(bars: Bars, fast: int = 7, middle: int = 14, slow: int = 28) -> Expr:
    """Return Williams' ultimate oscillator.

    Formula: 100 * (4 A(fast) + 2 A(middle) + A(slow)) / 7, A = sum(close - min(low,
    close[1 ago])) / sum(true range).
    Range: 0 to 100; 50 when flat.
    Lookback: max(fast, middle, slow).
    TA-Lib: ULTOSC, equal.
    MT5: none built in.
    """
    pressure = bars.close - minimum(bars.low, bars.close.lag(1))
    whole = true_range(bars)

    def part(period: int) -> Expr:
        top, bottom = pressure.sum(period), whole.sum(period)
        return safe_div(top, bottom, default=0.5, scale=bars.close)

    return (part(fast) * 4.0 + part(middle) * 2.0 + part(slow)) * (100.0 / 7.0)


def awesome(bars: Bars, fast: int = 5, slow: int = 34) -> Expr:
    """Return Williams' awesome oscillator over close.

    Formula: (SMA(M, fast) - SMA(M, slow)) / close, M = (high + low) / 2.
    Range: unbounded, a part of the price.
    Lookback: max(fast, slow) - 1.
    TA-Lib: APO with matype 0 of M, / close.
    MT5: iAO / close, equal.
    """
    return (bars.median.mean(fast) - bars.median.mean(slow)) / bars.close


def demarker(bars: Bars, period: int = 14) -> Expr:
    """Return DeMark's oscillator.

    Formula: A / (A + B), simple means of the highs' rises and of the lows' falls.
    Range: 0 to 1; 0.5 when flat.
    Lookback: period.
    TA-Lib: none.
    MT5: iDeMarker, equal.
    """
    up = maximum(bars.high - bars.high.lag(1), 0.0).mean(period)
    down = maximum(bars.low.lag(1) - bars.low, 0.0).mean(period)
    return safe_div(up, up + down, default=0.5, scale=bars.close)
