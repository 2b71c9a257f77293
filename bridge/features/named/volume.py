"""Volume and spread. Volumes are tick counts: on most markets the only ones a terminal has."""

from bridge.features.expr import Bars, Expr, greater, safe_div, where
from bridge.features.named.bands import zscore


def volume_zscore(bars: Bars, period: int = 20) -> Expr:
    """Return the z-score of the tick volume.

    Formula: (tick volume - mean) / population standard deviation.
    Range: at most sqrt(period - 1) either way; 0 when flat.
    Lookback: period - 1.
    TA-Lib: from SMA and STDDEV, equal.
    MT5: from iVolumes.
    """
    return zscore(bars.tick_volume, period)


def volume_ratio(bars: Bars, period: int = 20) -> Expr:
    """Return the tick volume over its mean, minus 1.

    Formula: tick volume / mean - 1.
    Range: -1 and above; 0 where there is no volume at all.
    Lookback: period - 1.
    TA-Lib: from SMA, equal.
    MT5: from iVolumes.
    """
    return safe_div(bars.tick_volume, bars.tick_volume.mean(period), default=1.0) - 1.0


def volume_balance(bars: Bars, period: int = 20) -> Expr:
    """Return the volume of rising less that of falling bars, over all of it.

    Formula: sum(sign(close - close[1 ago]) * tick volume) / sum(tick volume).
    Range: -1 to 1; 0 where there is no volume at all.
    Lookback: period.
    TA-Lib: the change of OBV / the volume, equal.
    MT5: the change of iOBV / the volume, equal.
    """
    move = bars.close - bars.close.lag(1)
    signed = (greater(move, 0.0) - greater(0.0, move)) * bars.tick_volume
    return safe_div(signed.sum(period), bars.tick_volume.sum(period), default=0.0)


def money_flow_index(bars: Bars, period: int = 14) -> Expr:
    """Return the money flow index.

    Formula: 100 * P / (P + N), sums of T * tick volume of the bars whose T rises, and falls,
    T = (high + low + close) / 3.
    Range: 0 to 100; 50 when flat.
    Lookback: period.
    TA-Lib: MFI, equal; 0 when flat.
    MT5: iMFI of tick volumes, equal.
    """
    # Equal sums of three prices may differ in the last digit, depending on the order of adding.
    move, noise = bars.typical - bars.typical.lag(1), bars.typical * 1e-11
    flow = bars.typical * bars.tick_volume
    up, down = (where(each > noise, flow, 0.0).sum(period) for each in (move, -move))
    return safe_div(up * 100.0, up + down, default=50.0)


def chaikin_money_flow(bars: Bars, period: int = 20) -> Expr:
    """Return Chaikin's money flow.

    Formula: sum(C * tick volume) / sum(tick volume), C = (2 close - high - low) / (high - low).
    Range: -1 to 1; 0 where there is no volume or range.
    Lookback: period - 1.
    TA-Lib: the change of AD / the volume, equal.
    MT5: the change of iAD / the volume, equal.
    """
    place = (bars.close - bars.low) - (bars.high - bars.close)
    each = safe_div(place, bars.high - bars.low, default=0.0, scale=bars.close)
    top = (each * bars.tick_volume).sum(period)
    return safe_div(top, bars.tick_volume.sum(period), default=0.0)


def vwap_distance(bars: Bars, period: int = 20) -> Expr:
    """Return close over the volume-weighted mean price, minus 1.

    Formula: close * sum(tick volume) / sum(T * tick volume) - 1, T = (high + low + close) / 3.
    Range: above -1, a part of the price; 0 where there is no volume at all.
    Lookback: period - 1.
    TA-Lib: none.
    MT5: none.
    """
    paid = (bars.typical * bars.tick_volume).sum(period)
    volume = bars.tick_volume.sum(period)
    return safe_div(bars.close * volume, paid, default=1.0) - 1.0


def spread_ratio(bars: Bars, period: int = 20) -> Expr:
    """Return the spread over its mean, minus 1.

    Formula: spread / mean - 1.
    Range: -1 and above; 0 where no spread is known.
    Lookback: period - 1.
    TA-Lib: none.
    MT5: from CopySpread.
    """
    mean = bars.spread.mean(period)
    return safe_div(bars.spread - mean, mean, default=0.0)


def spread_zscore(bars: Bars, period: int = 20) -> Expr:
    """Return the z-score of the spread.

    Formula: (spread - mean) / population standard deviation.
    Range: at most sqrt(period - 1) either way; 0 while it stands still.
    Lookback: period - 1.
    TA-Lib: none.
    MT5: from CopySpread.
    """
    return zscore(bars.spread, period)
