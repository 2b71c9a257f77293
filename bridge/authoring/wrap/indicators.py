"""Features by the names that the terminal gives its indicators, with the terminal's meaning.

Exponential means are the finite ones of ``bridge.features``: equal once the terminal's own have
forgotten the first bar of the chart.

Source: MQL5 reference, Technical Indicators, and the published sources of the indicators.
"""

from collections.abc import Callable

from bridge.features.expr import Bars, Expr, calendar
from bridge.features.named import rsi, true_range

_HOUR, _DAY = 3_600, 86_400
# 1970-01-01 was a Thursday; days are counted from Sunday, as the terminal does.
_THURSDAY = 4


def _atr(bars: Bars, period: int = 14) -> Expr:
    """Return iATR: a simple mean of true ranges, price; Wilder's is ``atr``."""
    return true_range(bars).mean(period)


def _macd(close: Expr, fast: int = 12, slow: int = 26) -> Expr:
    """Return iMACD's main line, price; ``macd`` is this over the close."""
    return close.ema(fast) - close.ema(slow)


def _macd_signal(close: Expr, fast: int = 12, slow: int = 26, signal: int = 9) -> Expr:
    """Return iMACD's signal line, price: a simple mean of the main line."""
    return _macd(close, fast, slow).mean(signal)


def _hour(shift: int = 0) -> Expr:
    """Return the hour of the bar's open, server time plus ``shift`` hours, 0 to 23."""
    return calendar([float(hour) for hour in range(24)], unit=_HOUR, shift=shift % 24)


def _day_of_week() -> Expr:
    """Return the day of the bar's open, server time, 0 Sunday to 6 Saturday."""
    return calendar([float(day) for day in range(7)], unit=_DAY, shift=_THURSDAY)


INDICATORS: dict[str, Callable[..., Expr]] = {
    "iRSI": rsi,
    "iATR": _atr,
    "iMACD": _macd,
    "iMACD_signal": _macd_signal,
    "hour": _hour,
    "day_of_week": _day_of_week,
}
"""Name in a formula to what makes the expression."""
