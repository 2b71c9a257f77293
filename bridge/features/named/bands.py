"""Bands: where the price stands between two lines, and how far apart those are."""

from bridge.features.expr import Bars, Expr, safe_div
from bridge.features.named.volatility import atr


def zscore(value: Expr, bars: int = 20) -> Expr:
    """Return how many population standard deviations a value is off its mean.

    Formula: (value - mean) / standard deviation.
    Range: unbounded, at most sqrt(bars - 1) either way; 0 when flat.
    Lookback: bars - 1.
    TA-Lib: from SMA and STDDEV, equal.
    MT5: from iMA and iStdDev, equal.
    """
    mean = value.mean(bars)
    return safe_div(value - mean, value.std(bars), default=0.0, scale=mean)


def bollinger_position(close: Expr, bars: int = 20, deviations: float = 2.0) -> Expr:
    """Return the place between Bollinger's bands.

    Formula: (close - SMA) / (deviations * population standard deviation); -1 and 1 are the bands.
    Range: unbounded, mostly -1 to 1; 0 when flat.
    Lookback: bars - 1.
    TA-Lib: from BBANDS, equal; %B is (this + 1) / 2.
    MT5: from iBands, equal.
    """
    mean = close.mean(bars)
    return safe_div(close - mean, close.std(bars) * deviations, default=0.0, scale=mean)


def bollinger_width(close: Expr, bars: int = 20, deviations: float = 2.0) -> Expr:
    """Return how far Bollinger's bands are apart, over their middle.

    Formula: 2 * deviations * population standard deviation / SMA.
    Range: 0 and above, a part of the price.
    Lookback: bars - 1.
    TA-Lib: from BBANDS, equal.
    MT5: from iBands, equal.
    """
    return close.std(bars) * (2.0 * deviations) / close.mean(bars)


def donchian_position(bars: Bars, period: int = 20) -> Expr:
    """Return the place in Donchian's channel, the newest bar included.

    Formula: (close - lowest low) / (highest high - lowest low).
    Range: 0 to 1; 0.5 when flat.
    Lookback: period - 1.
    TA-Lib: from MAX and MIN, equal.
    MT5: none built in.
    """
    high, low = bars.high.highest(period), bars.low.lowest(period)
    return safe_div(bars.close - low, high - low, default=0.5, scale=bars.close)


def donchian_width(bars: Bars, period: int = 20) -> Expr:
    """Return how wide Donchian's channel is, over close.

    Formula: (highest high - lowest low) / close.
    Range: 0 and above, a part of the price.
    Lookback: period - 1.
    TA-Lib: from MAX and MIN, equal.
    MT5: none built in.
    """
    return (bars.high.highest(period) - bars.low.lowest(period)) / bars.close


def donchian_breakout(bars: Bars, period: int = 20) -> Expr:
    """Return whether the close has left the channel of the bars before.

    Formula: 1 above the highest high of the period bars before, -1 below the lowest low, else 0.
    Range: -1, 0 or 1.
    Lookback: period.
    TA-Lib: from MAX and MIN, equal.
    MT5: none built in.
    """
    high, low = bars.high.highest(period).lag(1), bars.low.lowest(period).lag(1)
    return (bars.close > high) - (bars.close < low)


def keltner_position(bars: Bars, period: int = 20, ranges: float = 2.0) -> Expr:
    """Return the place in Keltner's channel.

    Formula: (close - EMA) / (ranges * ATR), both of the same period; -1 and 1 are the lines.
    Range: unbounded, mostly -1 to 1; 0 when flat.
    Lookback: 21 * period.
    TA-Lib: from EMA and ATR, equal beyond their warm-up.
    MT5: none built in; iATR is a simple mean.
    """
    return safe_div(
        bars.close.over_ema(period), atr(bars, period) * ranges, default=0.0, scale=bars.close
    )


def keltner_width(bars: Bars, period: int = 20, ranges: float = 2.0) -> Expr:
    """Return how wide Keltner's channel is, over its middle.

    Formula: 2 * ranges * ATR / EMA.
    Range: 0 and above, a part of the price.
    Lookback: 21 * period.
    TA-Lib: from EMA and ATR, equal beyond their warm-up.
    MT5: none built in; iATR is a simple mean.
    """
    return atr(bars, period) * (2.0 * ranges) / bars.close.ema(period)
