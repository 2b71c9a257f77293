"""Higher timeframes: of the last complete higher bars, and of the day so far.

``of`` is the timeframe of the bars themselves; the newest higher bar counts once its last bar has
closed. See ``expr.higher`` and ``expr.so_far`` for own features of this kind.
"""

from bridge.features.expr import Bars, Expr, higher, safe_div, so_far
from bridge.features.named.candles import body
from bridge.features.named.momentum import rsi
from bridge.features.named.returns import log_return


def higher_return(close: Expr, timeframe: str = "D1", of: str = "H1", bars: int = 1) -> Expr:
    """Return the log return of the last complete higher bars.

    Formula: ln(C / C[bars ago]), C the closes of the higher bars.
    Range: unbounded, 0.01 is about 1 %.
    Lookback: (bars + 2) * per - 1.
    TA-Lib: none.
    MT5: from iClose of that timeframe, shift 1.
    """
    return higher(log_return(close, bars), timeframe, of=of)


def higher_sma_ratio(close: Expr, timeframe: str = "D1", of: str = "H1", bars: int = 10) -> Expr:
    """Return today's close over the simple mean of the last complete higher closes, minus 1.

    Formula: close / SMA(C, bars) - 1, C the closes of the higher bars.
    Range: above -1, a part of the price.
    Lookback: (bars + 1) * per - 1.
    TA-Lib: none.
    MT5: from iMA of that timeframe, shift 1.
    """
    return close / higher(close.mean(bars), timeframe, of=of) - 1.0


def higher_rsi(close: Expr, timeframe: str = "H4", of: str = "H1", period: int = 7) -> Expr:
    """Return RSI of the last complete higher bars.

    Formula: RSI of the closes of the higher bars, its finite means 21 periods long.
    Range: 0 to 100; 50 when flat.
    Lookback: (21 * period + 2) * per - 1.
    TA-Lib: RSI of the higher bars, equal beyond its warm-up.
    MT5: iRSI of that timeframe, shift 1, equal once that has forgotten its start.
    """
    return higher(rsi(close, period), timeframe, of=of)


def higher_body(bars: Bars, timeframe: str = "D1", of: str = "H1") -> Expr:
    """Return the signed body of the last complete higher bar over its range.

    Formula: (C - O) / (H - L) of the higher bar.
    Range: -1 to 1; 0 when flat.
    Lookback: 2 * per - 1.
    TA-Lib: BOP of the higher bars, equal.
    MT5: none.
    """
    return higher(body(bars), timeframe, of=of)


def higher_position(bars: Bars, timeframe: str = "D1", of: str = "H1") -> Expr:
    """Return where the close stands in the range of the last complete higher bar.

    Formula: (close - L) / (H - L) of the higher bar.
    Range: unbounded, 0 its low, 1 its high; 0.5 when flat.
    Lookback: 2 * per - 1.
    TA-Lib: none.
    MT5: from iHigh and iLow of that timeframe, shift 1.
    """
    high, low = (higher(each, timeframe, of=of) for each in (bars.high, bars.low))
    return safe_div(bars.close - low, high - low, default=0.5, scale=bars.close)


def since_open(bars: Bars, timeframe: str = "D1", of: str = "H1") -> Expr:
    """Return the log return since the open of the day, or other higher bar, that is forming.

    Formula: ln(close / O), O the first open of the forming higher bar.
    Range: unbounded, 0.01 is about 1 %.
    Lookback: per.
    TA-Lib: none.
    MT5: from iOpen of that timeframe, shift 0.
    """
    return (bars.close / so_far(bars.open, "first", timeframe, of=of)).log()


def position_so_far(bars: Bars, timeframe: str = "D1", of: str = "H1") -> Expr:
    """Return where the close stands in the range so far of the day, or other higher bar.

    Formula: (close - L) / (H - L), H and L of the forming higher bar, the newest bar included.
    Range: 0 to 1; 0.5 when flat.
    Lookback: per.
    TA-Lib: none.
    MT5: from iHigh and iLow of that timeframe, shift 0.
    """
    high = so_far(bars.high, "max", timeframe, of=of)
    low = -so_far(-bars.low, "max", timeframe, of=of)
    return safe_div(bars.close - low, high - low, default=0.5, scale=bars.close)


def vwap_so_far(bars: Bars, timeframe: str = "D1", of: str = "H1") -> Expr:
    """Return close over the day's volume-weighted mean price so far, minus 1.

    Formula: close * sum(V) / sum(T * V) - 1 since the higher bar began, V the tick volume,
    T = (high + low + close) / 3.
    Range: above -1, a part of the price; 0 where there is no volume.
    Lookback: per.
    TA-Lib: none.
    MT5: none.
    """
    paid = so_far(bars.typical * bars.tick_volume, "sum", timeframe, of=of)
    volume = so_far(bars.tick_volume, "sum", timeframe, of=of)
    return safe_div(bars.close * volume, paid, default=1.0) - 1.0
