"""Volatility: how wide the price moves. All of one bar; times sqrt(bars a year) makes a year's."""

import math

from bridge.errors import ConfigError
from bridge.features.expr import Bars, Expr, maximum, safe_div
from bridge.features.named.returns import gap, log_return


def volatility(close: Expr, bars: int = 20) -> Expr:
    """Return the standard deviation of one-bar log returns.

    Formula: population standard deviation of ln(close / close[1 ago]).
    Range: 0 and above, a log return.
    Lookback: bars.
    TA-Lib: STDDEV of the log returns, equal.
    MT5: iStdDev is of prices.
    """
    return log_return(close).std(bars)


def volatility_ratio(close: Expr, fast: int = 10, slow: int = 50) -> Expr:
    """Return the volatility of late over that of the longer run, minus 1.

    Formula: volatility(fast) / volatility(slow) - 1.
    Range: -1 and above; 0 when flat.
    Lookback: max(fast, slow).
    TA-Lib: none.
    MT5: none.
    """
    late, long = volatility(close, fast), volatility(close, slow)
    return safe_div(late, long, default=1.0, scale=1e-4) - 1.0


def parkinson(bars: Bars, period: int = 20) -> Expr:
    """Return Parkinson's volatility, from highs and lows.

    Formula: sqrt(mean(ln(high / low) ** 2) / (4 ln 2)).
    Range: 0 and above, a log return.
    Lookback: period - 1.
    TA-Lib: none.
    MT5: none.
    Source: Parkinson (1980), The extreme value method.
    """
    wide = _log(bars.high, bars.low)
    return ((wide * wide).mean(period) * (0.25 / math.log(2.0))).sqrt()


def garman_klass(bars: Bars, period: int = 20) -> Expr:
    """Return Garman's and Klass's volatility, from all four prices.

    Formula: sqrt(mean(ln(high / low) ** 2 / 2 - (2 ln 2 - 1) ln(close / open) ** 2)).
    Range: 0 and above, a log return.
    Lookback: period - 1.
    TA-Lib: none.
    MT5: none.
    Source: Garman and Klass (1980), On the estimation of security price volatilities.
    """
    wide, move = _log(bars.high, bars.low), _log(bars.close, bars.open)
    each = wide * wide * 0.5 - move * move * (2.0 * math.log(2.0) - 1.0)
    return each.mean(period).sqrt()


def rogers_satchell(bars: Bars, period: int = 20) -> Expr:
    """Return Rogers's and Satchell's volatility, which a trend does not widen.

    Formula: sqrt(mean(ln(high / close) ln(high / open) + ln(low / close) ln(low / open))).
    Range: 0 and above, a log return.
    Lookback: period - 1.
    TA-Lib: none.
    MT5: none.
    Source: Rogers and Satchell (1991), Estimating variance from high, low and closing prices.
    """
    return _rogers_satchell(bars).mean(period).sqrt()


def yang_zhang(bars: Bars, period: int = 20) -> Expr:
    """Return Yang's and Zhang's volatility, which counts gaps, too.

    Formula: sqrt(var(gaps) + k var(ln(close / open)) + (1 - k) Rogers-Satchell variance), sample
    variances, k = 0.34 / (1.34 + (period + 1) / (period - 1)).
    Range: 0 and above, a log return.
    Lookback: period.
    TA-Lib: none.
    MT5: none.
    Source: Yang and Zhang (2000), Drift independent volatility estimation.

    Raises:
        ConfigError: The period is below 2.
    """
    if period < 2:
        raise ConfigError(f"a sample variance over {period} bars is none: use 2 or more")
    share = 0.34 / (1.34 + (period + 1.0) / (period - 1.0))
    sample = period / (period - 1.0)
    inside = _log(bars.close, bars.open).var(period) * (share * sample)
    drift = _rogers_satchell(bars).mean(period) * (1.0 - share)
    return (gap(bars).var(period) * sample + inside + drift).sqrt()


def true_range(bars: Bars) -> Expr:
    """Return the true range: the bar with the gap before it.

    Formula: max(high, close[1 ago]) - min(low, close[1 ago]).
    Range: 0 and above, price.
    Lookback: 1.
    TA-Lib: TRANGE, equal.
    MT5: the inner part of iATR.
    """
    before = bars.close.lag(1)
    return maximum(
        bars.high - bars.low,
        maximum((bars.high - before).abs(), (bars.low - before).abs()),
    )


def atr(bars: Bars, period: int = 14) -> Expr:
    """Return Wilder's average true range.

    Formula: Wilder's mean of the true range.
    Range: 0 and above, price; a model that lasts takes ``atr_ratio``.
    Lookback: 21 * period.
    TA-Lib: ATR, equal beyond its warm-up.
    MT5: iATR is a simple mean of true ranges, another number.
    """
    return true_range(bars).wilder(period)


def atr_ratio(bars: Bars, period: int = 14) -> Expr:
    """Return Wilder's average true range over close.

    Formula: ATR / close.
    Range: 0 and above, a part of the price.
    Lookback: 21 * period.
    TA-Lib: NATR / 100, equal beyond its warm-up.
    MT5: iATR is a simple mean of true ranges, another number.
    """
    return atr(bars, period) / bars.close


def natr(bars: Bars, period: int = 14) -> Expr:
    """Return the normalised average true range.

    Formula: 100 * ATR / close.
    Range: 0 and above, percent.
    Lookback: 21 * period.
    TA-Lib: NATR, equal beyond its warm-up.
    MT5: iATR is a simple mean of true ranges, another number.
    """
    return atr_ratio(bars, period) * 100.0


def _log(first: Expr, second: Expr) -> Expr:
    return (first / second).log()


def _rogers_satchell(bars: Bars) -> Expr:
    up = _log(bars.high, bars.close) * _log(bars.high, bars.open)
    return up + _log(bars.low, bars.close) * _log(bars.low, bars.open)
