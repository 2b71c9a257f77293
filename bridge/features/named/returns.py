"""Returns: how far the price has come."""

from bridge.features.expr import Bars, Expr, safe_div


def log_return(close: Expr, bars: int = 1) -> Expr:
    """Return the logarithmic return over some bars.

    Formula: ln(close / close[bars ago]).
    Range: unbounded, 0.01 is about 1 %.
    Lookback: bars.
    TA-Lib: none; ln(1 + ROCP).
    MT5: none.
    """
    return (close / close.lag(bars)).log()


def simple_return(close: Expr, bars: int = 1) -> Expr:
    """Return the simple return over some bars.

    Formula: close / close[bars ago] - 1.
    Range: above -1, 0.01 is 1 %.
    Lookback: bars.
    TA-Lib: ROCP, equal.
    MT5: iMomentum is 100 * (this + 1).
    """
    return close / close.lag(bars) - 1.0


def roc(close: Expr, bars: int = 10) -> Expr:
    """Return the rate of change.

    Formula: 100 * (close / close[bars ago] - 1).
    Range: above -100, percent.
    Lookback: bars.
    TA-Lib: ROC, equal.
    MT5: iMomentum is this + 100.
    """
    return simple_return(close, bars) * 100.0


def momentum(close: Expr, bars: int = 10) -> Expr:
    """Return the move over some bars as a part of today's price.

    Formula: (close - close[bars ago]) / close.
    Range: below 1, a part of the price.
    Lookback: bars.
    TA-Lib: MOM is the move itself, a price.
    MT5: iMomentum is 100 * close / close[bars ago].
    """
    return (close - close.lag(bars)) / close


def scaled_return(close: Expr, bars: int = 20) -> Expr:
    """Return the return over some bars in units of what a random walk would do.

    Formula: mean / population standard deviation of the last one-bar log returns, * sqrt(bars).
    Range: unbounded, mostly -3 to 3; 0 when flat.
    Lookback: bars.
    TA-Lib: none.
    MT5: none.
    """
    one = log_return(close)
    return safe_div(one.mean(bars) * float(bars) ** 0.5, one.std(bars), default=0.0, scale=1e-4)


def drawdown(close: Expr, bars: int = 50) -> Expr:
    """Return how far the close is below its highest one.

    Formula: close / highest close of the last bars - 1.
    Range: -1 to 0.
    Lookback: bars - 1.
    TA-Lib: none; from MAX.
    MT5: none.
    """
    return close / close.highest(bars) - 1.0


def gap(bars: Bars) -> Expr:
    """Return the logarithmic return between the last close and the open.

    Formula: ln(open / close[1 ago]).
    Range: unbounded, mostly 0; weekends stand out.
    Lookback: 1.
    TA-Lib: none.
    MT5: none.
    """
    return (bars.open / bars.close.lag(1)).log()
