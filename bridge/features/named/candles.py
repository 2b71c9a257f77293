"""The shape of one bar, or of two."""

from bridge.features.expr import Bars, Expr, maximum, minimum, safe_div


def body(bars: Bars) -> Expr:
    """Return the bar's signed body over its range.

    Formula: (close - open) / (high - low).
    Range: -1 to 1; 0 when flat.
    Lookback: 0.
    TA-Lib: BOP, equal.
    MT5: none.
    """
    return _of_range(bars, bars.close - bars.open)


def upper_wick(bars: Bars) -> Expr:
    """Return the part of the bar's range above its body.

    Formula: (high - max(open, close)) / (high - low).
    Range: 0 to 1; 0 when flat.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.
    """
    return _of_range(bars, bars.high - maximum(bars.open, bars.close))


def lower_wick(bars: Bars) -> Expr:
    """Return the part of the bar's range below its body.

    Formula: (min(open, close) - low) / (high - low).
    Range: 0 to 1; 0 when flat.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.
    """
    return _of_range(bars, -maximum(-bars.open, -bars.close) - bars.low)


def close_location(bars: Bars) -> Expr:
    """Return where the close is between the bar's middle and its ends.

    Formula: (2 close - high - low) / (high - low).
    Range: -1 to 1; 0 when flat.
    Lookback: 0.
    TA-Lib: the factor inside AD.
    MT5: the factor inside iAD.
    """
    return _of_range(bars, (bars.close - bars.low) - (bars.high - bars.close))


def bar_range(bars: Bars) -> Expr:
    """Return the bar's range over its close.

    Formula: (high - low) / close.
    Range: 0 and above, a part of the price.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.
    """
    return (bars.high - bars.low) / bars.close


def range_ratio(bars: Bars, period: int = 20) -> Expr:
    """Return the bar's range over the mean range, minus 1.

    Formula: (high - low) / mean(high - low) - 1.
    Range: -1 and above; 0 when flat.
    Lookback: period - 1.
    TA-Lib: none.
    MT5: none.
    """
    each = bars.high - bars.low
    return safe_div(each, each.mean(period), default=1.0, scale=bars.close) - 1.0


def inside_bar(bars: Bars) -> Expr:
    """Return whether the bar lies inside the one before; touching it counts as outside.

    Formula: 1 where high < high[1 ago] and low > low[1 ago], else 0.
    Range: 0 or 1.
    Lookback: 1.
    TA-Lib: none; CDLHARAMI is about bodies.
    MT5: none.
    """
    return (bars.high < bars.high.lag(1)) * (bars.low > bars.low.lag(1))


def outside_bar(bars: Bars) -> Expr:
    """Return whether the bar reaches over both ends of the one before.

    Formula: 1 where high > high[1 ago] and low < low[1 ago], else 0.
    Range: 0 or 1.
    Lookback: 1.
    TA-Lib: none; CDLENGULFING is about bodies.
    MT5: none.
    """
    return (bars.high > bars.high.lag(1)) * (bars.low < bars.low.lag(1))


def engulfing(bars: Bars) -> Expr:
    """Return whether the bar's body swallows the body before, which went the other way.

    Formula: 1 a rising body over a falling one, -1 a falling over a rising one, else 0; touching
    ends count as swallowed, but not both of them.
    Range: -1, 0 or 1.
    Lookback: 1.
    TA-Lib: CDLENGULFING / 100; theirs is 80 or -80 where one end touches.
    MT5: none.
    """
    top, bottom = maximum(bars.open, bars.close), minimum(bars.open, bars.close)
    longer = top - bottom > top.lag(1) - bottom.lag(1)
    over = (1.0 - (top < top.lag(1))) * (1.0 - (bottom > bottom.lag(1))) * longer
    rises, falls = bars.close > bars.open, bars.close < bars.open
    return over * (rises * falls.lag(1) - falls * rises.lag(1))


def doji(bars: Bars, share: float = 0.1) -> Expr:
    """Return whether the body is a small part of the range.

    Formula: 1 where |close - open| < share * (high - low), else 0.
    Range: 0 or 1; 0 when flat.
    Lookback: 0.
    TA-Lib: CDLDOJI holds the body against the mean range of ten bars, another answer.
    MT5: none.
    """
    return (bars.high - bars.low) * share > (bars.close - bars.open).abs()


def _of_range(bars: Bars, part: Expr) -> Expr:
    return safe_div(part, bars.high - bars.low, default=0.0, scale=bars.close)
