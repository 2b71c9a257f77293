"""Moving averages, as prices for own features, and the close's distance from them for models."""

import math

from bridge.features.expr import Expr


def sma(close: Expr, bars: int = 20) -> Expr:
    """Return the simple moving average.

    Formula: mean of the last bars.
    Range: price.
    Lookback: bars - 1.
    TA-Lib: SMA, equal.
    MT5: iMA with MODE_SMA, equal.
    """
    return close.mean(bars)


def ema(close: Expr, period: int = 20) -> Expr:
    """Return the exponential moving average, over 12 periods.

    Formula: weights (1 - a) ** age, a = 2 / (period + 1), over 12 * period bars, summing to 1.
    Range: price.
    Lookback: 12 * period - 1.
    TA-Lib: EMA, equal beyond its warm-up.
    MT5: iMA with MODE_EMA recurses from the first bar of the chart; equal once that is forgotten.
    """
    return close.ema(period)


def wilder(close: Expr, period: int = 14) -> Expr:
    """Return Wilder's moving average, over 21 periods.

    Formula: weights (1 - 1 / period) ** age over 21 * period bars, summing to 1.
    Range: price.
    Lookback: 21 * period - 1.
    TA-Lib: none by name; the mean inside RSI and ATR.
    MT5: iMA with MODE_SMMA, equal once that has forgotten its start.
    """
    return close.wilder(period)


def wma(close: Expr, bars: int = 20) -> Expr:
    """Return the linearly weighted moving average.

    Formula: weights 1, 2, ... bars, the newest the heaviest.
    Range: price.
    Lookback: bars - 1.
    TA-Lib: WMA, equal.
    MT5: iMA with MODE_LWMA, equal.
    """
    return close.wma(bars)


def dema(close: Expr, period: int = 20) -> Expr:
    """Return the double exponential moving average.

    Formula: 2 EMA - EMA of EMA.
    Range: price.
    Lookback: 24 * period - 2.
    TA-Lib: DEMA, equal beyond its warm-up.
    MT5: iDEMA, equal once that has forgotten its start.
    """
    once = close.ema(period)
    return once * 2.0 - once.ema(period)


def tema(close: Expr, period: int = 20) -> Expr:
    """Return the triple exponential moving average.

    Formula: 3 EMA - 3 EMA of EMA + EMA of EMA of EMA.
    Range: price.
    Lookback: 36 * period - 3.
    TA-Lib: TEMA, equal beyond its warm-up.
    MT5: iTEMA, equal once that has forgotten its start.
    """
    once = close.ema(period)
    twice = once.ema(period)
    return (once - twice) * 3.0 + twice.ema(period)


def hma(close: Expr, bars: int = 16) -> Expr:
    """Return Hull's moving average.

    Formula: WMA(2 WMA(close, bars // 2) - WMA(close, bars), isqrt(bars)).
    Range: price.
    Lookback: bars + isqrt(bars) - 2.
    TA-Lib: none.
    MT5: none.
    """
    half = max(1, bars // 2)
    return (close.wma(half) * 2.0 - close.wma(bars)).wma(math.isqrt(bars))


def sma_ratio(close: Expr, bars: int = 20) -> Expr:
    """Return close over its simple mean, minus 1.

    Formula: close / SMA - 1.
    Range: above -1, a part of the price.
    Lookback: bars - 1.
    TA-Lib: from SMA, equal.
    MT5: from iMA with MODE_SMA, equal.
    """
    return close / sma(close, bars) - 1.0


def ema_ratio(close: Expr, period: int = 20) -> Expr:
    """Return close over its exponential mean, minus 1.

    Formula: close / EMA - 1.
    Range: above -1, a part of the price.
    Lookback: 12 * period - 1.
    TA-Lib: from EMA, equal beyond its warm-up.
    MT5: from iMA with MODE_EMA, equal once that has forgotten its start.
    """
    return close / ema(close, period) - 1.0


def wma_ratio(close: Expr, bars: int = 20) -> Expr:
    """Return close over its linearly weighted mean, minus 1.

    Formula: close / WMA - 1.
    Range: above -1, a part of the price.
    Lookback: bars - 1.
    TA-Lib: from WMA, equal.
    MT5: from iMA with MODE_LWMA, equal.
    """
    return close / wma(close, bars) - 1.0


def dema_ratio(close: Expr, period: int = 20) -> Expr:
    """Return close over its double exponential mean, minus 1.

    Formula: close / DEMA - 1.
    Range: above -1, a part of the price.
    Lookback: 24 * period - 2.
    TA-Lib: from DEMA, equal beyond its warm-up.
    MT5: from iDEMA, equal once that has forgotten its start.
    """
    return close / dema(close, period) - 1.0


def tema_ratio(close: Expr, period: int = 20) -> Expr:
    """Return close over its triple exponential mean, minus 1.

    Formula: close / TEMA - 1.
    Range: above -1, a part of the price.
    Lookback: 36 * period - 3.
    TA-Lib: from TEMA, equal beyond its warm-up.
    MT5: from iTEMA, equal once that has forgotten its start.
    """
    return close / tema(close, period) - 1.0


def sma_cross(close: Expr, fast: int = 10, slow: int = 50) -> Expr:
    """Return the fast simple mean over the slow one, minus 1: it crosses 0 where they cross.

    Formula: SMA(fast) / SMA(slow) - 1.
    Range: above -1, a part of the price.
    Lookback: max(fast, slow) - 1.
    TA-Lib: from SMA, equal.
    MT5: from iMA with MODE_SMA, equal.
    """
    return sma(close, fast) / sma(close, slow) - 1.0
