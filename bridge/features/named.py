"""Features by the names of the field, each a small function that makes an expression.

Exponential means are finite sums here (see ``Expr.ema`` and ``Expr.wilder``), so a window and a
history give the same number. They agree with recursive ones to about 1e-9 standard deviations
once those have forgotten where they began.
"""

import math

from bridge.features.expr import Bars, Expr, calendar, maximum, safe_div

_HOUR, _DAY = 3_600, 86_400


def log_return(close: Expr, bars: int = 1) -> Expr:
    """Return ``ln(close / close[bars earlier])``."""
    return (close / close.lag(bars)).log()


def volatility(close: Expr, bars: int) -> Expr:
    """Return the population standard deviation of the last ``bars`` one-bar log returns."""
    return log_return(close).std(bars)


def sma_ratio(close: Expr, bars: int) -> Expr:
    """Return close over its simple mean, minus 1."""
    return close / close.mean(bars) - 1.0


def ema_ratio(close: Expr, period: int) -> Expr:
    """Return close over its exponential mean, minus 1."""
    return close / close.ema(period) - 1.0


def zscore(value: Expr, bars: int) -> Expr:
    """Return how many population standard deviations ``value`` is off its mean; 0 when flat."""
    mean = value.mean(bars)
    return safe_div(value - mean, value.std(bars), default=0.0, scale=mean)


def bollinger_position(close: Expr, bars: int, deviations: float = 2.0) -> Expr:
    """Return the place between Bollinger's bands: -1 the lower, 0 the middle, 1 the upper."""
    mean = close.mean(bars)
    return safe_div(close - mean, close.std(bars) * deviations, default=0.0, scale=mean)


def rsi(close: Expr, period: int) -> Expr:
    """Return Wilder's relative strength index, 0 to 100; 50 when flat.

    The terminal's iRSI starts from a simple mean and recurses; after some hundred bars both agree.
    """
    move = close - close.lag(1)
    up, down = maximum(move, 0.0).wilder(period), maximum(-move, 0.0).wilder(period)
    return safe_div(up * 100.0, up + down, default=50.0, scale=close)


def true_range(bars: Bars) -> Expr:
    """Return the true range, price: the bar with the gap before it."""
    before = bars.close.lag(1)
    return maximum(
        bars.high - bars.low,
        maximum((bars.high - before).abs(), (bars.low - before).abs()),
    )


def atr_ratio(bars: Bars, period: int) -> Expr:
    """Return Wilder's average true range over close.

    The terminal's iATR is a simple mean of true ranges, another number.
    """
    return true_range(bars).wilder(period) / bars.close


def macd_histogram(close: Expr, fast: int = 12, slow: int = 26, signal: int = 9) -> Expr:
    """Return MACD minus its exponential signal line, over close.

    The terminal's signal line is a simple mean, another number.
    """
    line = close.ema(fast) - close.ema(slow)
    return (line - line.ema(signal)) / close


def stochastic(bars: Bars, period: int) -> Expr:
    """Return the raw stochastic %K, 0 to 100; 50 when flat."""
    high, low = bars.high.highest(period), bars.low.lowest(period)
    return safe_div((bars.close - low) * 100.0, high - low, default=50.0, scale=bars.close)


def body(bars: Bars) -> Expr:
    """Return the bar's signed body over its range, -1 to 1; 0 when flat."""
    return _of_range(bars, bars.close - bars.open)


def upper_wick(bars: Bars) -> Expr:
    """Return the part of the bar's range above its body, 0 to 1; 0 when flat."""
    return _of_range(bars, bars.high - maximum(bars.open, bars.close))


def lower_wick(bars: Bars) -> Expr:
    """Return the part of the bar's range below its body, 0 to 1; 0 when flat."""
    return _of_range(bars, -maximum(-bars.open, -bars.close) - bars.low)


def _of_range(bars: Bars, part: Expr) -> Expr:
    return safe_div(part, bars.high - bars.low, default=0.0, scale=bars.close)


def volume_zscore(bars: Bars, period: int) -> Expr:
    """Return the z-score of the tick volume."""
    return zscore(bars.tick_volume, period)


def spread_ratio(bars: Bars, period: int) -> Expr:
    """Return the spread over its mean, minus 1; 0 where no spread is known."""
    mean = bars.spread.mean(period)
    return safe_div(bars.spread - mean, mean, default=0.0)


def _cycle(function: str, places: int) -> list[float]:
    wave = {"sin": math.sin, "cos": math.cos}[function]
    # Rounded, so that sin(30 degrees) and sin(150 degrees) are the same number.
    return [round(wave(2.0 * math.pi * place / places), 6) for place in range(places)]


def hour_sin() -> Expr:
    """Return the sine of the hour of the bar's open, server time, a day a turn."""
    return calendar(_cycle("sin", 24), unit=_HOUR)


def hour_cos() -> Expr:
    """Return the cosine of the hour of the bar's open, server time, a day a turn."""
    return calendar(_cycle("cos", 24), unit=_HOUR)


def weekday_sin() -> Expr:
    """Return the sine of the day of week of the bar's open, server time; 0 is Sunday."""
    return calendar(_cycle("sin", 7), unit=_DAY, shift=4)


def weekday_cos() -> Expr:
    """Return the cosine of the day of week of the bar's open, server time; 0 is Sunday."""
    return calendar(_cycle("cos", 7), unit=_DAY, shift=4)
