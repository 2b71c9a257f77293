"""The expression tree: what a feature is, without saying how it is computed.

Every value is a double, one for each bar. Each node knows how many bars it looks back, so that a
window of ``lookback + 1`` bars gives its newest value and any longer history gives the same one.
Equal expressions are one object: building the same thing twice costs nothing in either evaluator.
"""

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from bridge.errors import ConfigError
from bridge.features.operations import FIELDS, OPERATIONS, Attribute, check, checked_bars, per

__all__ = [
    "FIELDS",
    "OPERATIONS",
    "Bars",
    "Expr",
    "as_expr",
    "calendar",
    "decay",
    "field",
    "greater",
    "higher",
    "maximum",
    "minimum",
    "safe_div",
    "so_far",
    "where",
]

# Bars times higher bars that one answer may compare: 8 MB of doubles.
_LARGEST_GRID = 1_000_000


class Expr:
    """A node: an operation, its arguments, its attributes. Immutable, equal means identical.

    Attributes:
        reach: Bars before the asked one that this node needs of its arguments.
        lookback: Bars before the asked one that it needs of the market.
        is_clocked: Whether the value depends on the server's clock.
    """

    __slots__ = ("__weakref__", "args", "attrs", "is_clocked", "lookback", "op", "reach")
    _known: ClassVar["WeakValueDictionary[tuple[object, ...], Expr]"] = WeakValueDictionary()

    op: str
    args: tuple["Expr", ...]
    attrs: dict[str, Any]
    reach: int
    lookback: int
    is_clocked: bool

    def __new__(cls, op: str, args: Sequence["Expr"] = (), **attrs: Attribute) -> "Expr":
        """Return the node, the existing one if there is an equal one."""
        check(op, len(args), attrs)
        # Doubles as hex: 0.0 and -0.0 are two constants, and NaN would never be found again.
        spelled = tuple((name, _spelled(value)) for name, value in sorted(attrs.items()))
        key = (op, tuple(id(arg) for arg in args), spelled)
        found = cls._known.get(key)
        if found is not None:
            return found
        made = super().__new__(cls)
        made.op, made.args, made.attrs = op, tuple(args), dict(attrs)
        operation = OPERATIONS[op]
        made.reach = operation.reach(attrs)
        made.lookback = made.reach + max((arg.lookback for arg in args), default=0)
        made.is_clocked = operation.is_clocked or any(arg.is_clocked for arg in args)
        if operation.is_scoped:
            made.lookback = _scoped_lookback(args[0], attrs)
        cls._known[key] = made
        return made

    @property
    def inputs(self) -> tuple["Expr", ...]:
        """The arguments that are evaluated on the same bars as the node itself."""
        return () if OPERATIONS[self.op].is_scoped else self.args

    def __repr__(self) -> str:
        inside = [repr(arg) for arg in self.args]
        inside += [f"{name}={value!r}" for name, value in self.attrs.items()]
        return f"{self.op}({', '.join(inside)})"

    def __add__(self, other: "Expr | float") -> "Expr":
        return Expr("add", (self, as_expr(other)))

    def __radd__(self, other: float) -> "Expr":
        return Expr("add", (as_expr(other), self))

    def __sub__(self, other: "Expr | float") -> "Expr":
        return Expr("sub", (self, as_expr(other)))

    def __rsub__(self, other: float) -> "Expr":
        return Expr("sub", (as_expr(other), self))

    def __mul__(self, other: "Expr | float") -> "Expr":
        return Expr("mul", (self, as_expr(other)))

    def __rmul__(self, other: float) -> "Expr":
        return Expr("mul", (as_expr(other), self))

    def __truediv__(self, other: "Expr | float") -> "Expr":
        """Divide; the divisor must never be 0: prices are not, differences are (``safe_div``)."""
        return Expr("div", (self, as_expr(other)))

    def __rtruediv__(self, other: float) -> "Expr":
        return Expr("div", (as_expr(other), self))

    def __gt__(self, other: "Expr | float") -> "Expr":
        return greater(self, other)

    def __lt__(self, other: "Expr | float") -> "Expr":
        return greater(other, self)

    def __bool__(self) -> bool:
        raise ConfigError(
            "a feature is neither true nor false while it is written: choose with where(...), join "
            "conditions with * for both and maximum(...) for either"
        )

    def __neg__(self) -> "Expr":
        return Expr("neg", (self,))

    def abs(self) -> "Expr":
        """Return the absolute value."""
        return Expr("abs", (self,))

    def log(self) -> "Expr":
        """Return the natural logarithm; the value must be above 0."""
        return Expr("log", (self,))

    def sqrt(self) -> "Expr":
        """Return the square root; the value must not be below 0."""
        return Expr("sqrt", (self,))

    def lag(self, bars: int) -> "Expr":
        """Return the value ``bars`` bars earlier."""
        return Expr("lag", (self,), bars=checked_bars(bars)) if bars else self

    def fir(self, weights: Sequence[float]) -> "Expr":
        """Return the sum of the last ``len(weights)`` values, weighted, oldest first."""
        checked_bars(len(weights))
        return Expr("fir", (self,), weights=tuple(float(weight) for weight in weights))

    def mean(self, bars: int) -> "Expr":
        """Return the mean of the last ``bars`` values."""
        return self.fir([1.0 / checked_bars(bars)] * bars)

    def sum(self, bars: int) -> "Expr":
        """Return the sum of the last ``bars`` values."""
        return self.fir([1.0] * checked_bars(bars))

    def var(self, bars: int) -> "Expr":
        """Return the population variance of the last ``bars`` values."""
        return Expr("rolling_var", (self,), bars=checked_bars(bars))

    def std(self, bars: int) -> "Expr":
        """Return the population standard deviation of the last ``bars`` values."""
        return self.var(bars).sqrt()

    def deviation(self, bars: int) -> "Expr":
        """Return the mean distance of the last ``bars`` values from their mean."""
        return Expr("rolling_dev", (self,), bars=checked_bars(bars))

    def highest(self, bars: int) -> "Expr":
        """Return the highest of the last ``bars`` values."""
        return Expr("rolling_max", (self,), bars=checked_bars(bars))

    def lowest(self, bars: int) -> "Expr":
        """Return the lowest of the last ``bars`` values."""
        return -((-self).highest(bars))

    def bars_since_highest(self, bars: int) -> "Expr":
        """Return how old the highest of the last ``bars`` values is, bars; of equals the newest.

        For prices and volumes: of computed values that are equal but for rounding it may be any.
        """
        return Expr("bars_since_max", (self,), bars=checked_bars(bars))

    def bars_since_lowest(self, bars: int) -> "Expr":
        """Return how old the lowest of the last ``bars`` values is, bars; of equals the newest."""
        return (-self).bars_since_highest(bars)

    def wma(self, bars: int) -> "Expr":
        """Return the mean of the last ``bars`` values, weighted 1, 2, ... up to the newest."""
        total = checked_bars(bars) * (bars + 1) / 2.0
        return self.fir([place / total for place in range(1, bars + 1)])

    def ema(self, period: int, bars: int | None = None) -> "Expr":
        """Return the exponential mean, weight ``2 / (period + 1)``, over exactly ``bars`` bars.

        The weights of the bars left out by the default of 12 periods sum to less than 1e-10.
        """
        return self.fir(decay(2.0 / (period + 1.0), bars or 12 * period))

    def over_ema(self, period: int) -> "Expr":
        """Return the value less its exponential mean.

        It is summed from the moves since, so that it keeps its digits where both are nearly equal.
        """
        weights = decay(2.0 / (period + 1.0), 12 * checked_bars(period))
        return (self - self.lag(1)).fir(list(accumulate(weights))[:-1])

    def wilder(self, period: int, bars: int | None = None) -> "Expr":
        """Return Wilder's mean, weight ``1 / period``, over exactly ``bars`` bars (21 periods)."""
        return self.fir(decay(1.0 / period, bars or 21 * period))


def _scoped_lookback(inner: Expr, attrs: dict[str, Any]) -> int:
    """Return how far back the higher bars that ``inner`` needs may begin.

    The newest higher bar may be all but complete, and the bar before the oldest one has to be seen.

    Raises:
        ConfigError: The argument reads the clock, or would need too many bars.
    """
    if inner.is_clocked:
        raise ConfigError(
            "a feature of higher bars can't read the clock or yet higher bars: use those outside"
        )
    window = (inner.lookback + 2) * per(attrs)
    if window * (inner.lookback + 1) > _LARGEST_GRID:
        raise ConfigError(
            f"{inner.lookback + 1} bars of {attrs['timeframe']} out of {window} bars of "
            f"{attrs['of']} are too many for one answer: use a shorter period or kernel"
        )
    return window - 1


def _spelled(value: Attribute) -> object:
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, tuple):
        return tuple(item.hex() for item in value)
    return value


def as_expr(value: "Expr | float") -> Expr:
    """Return ``value`` as an expression; a number becomes a constant.

    Raises:
        ConfigError: The number is not finite.
    """
    if isinstance(value, Expr):
        return value
    if not math.isfinite(value):
        raise ConfigError(f"{value} can't be a constant of a feature: use a finite number")
    return Expr("constant", value=float(value))


def field(name: str) -> Expr:
    """Return a column of the bars.

    Raises:
        ConfigError: There is no such column.
    """
    return Expr("field", name=name)


def maximum(first: Expr | float, second: Expr | float) -> Expr:
    """Return the larger of two values."""
    return Expr("max", (as_expr(first), as_expr(second)))


def minimum(first: Expr | float, second: Expr | float) -> Expr:
    """Return the smaller of two values."""
    return -maximum(-as_expr(first), -as_expr(second))


def greater(first: Expr | float, second: Expr | float) -> Expr:
    """Return 1.0 where ``first`` is above ``second``, else 0.0."""
    return Expr("greater", (as_expr(first), as_expr(second)))


def where(condition: Expr, then: Expr | float, otherwise: Expr | float) -> Expr:
    """Return ``then`` where ``condition`` is above 0, else ``otherwise``."""
    return Expr("where", (condition, as_expr(then), as_expr(otherwise)))


# Rounding leaves about 1e-16 of the scale, and one tick of any market is above 1e-9 of its price.
_NOISE = 1e-11


def safe_div(
    top: Expr | float, bottom: Expr | float, *, default: float, scale: Expr | float = 0.0
) -> Expr:
    """Return ``top / bottom`` where ``bottom`` is more than rounding noise, else ``default``.

    Args:
        top: Dividend.
        bottom: Divisor, not below 0 by its meaning: a deviation, a range.
        default: What a flat market gives.
        scale: Size of the numbers that ``bottom`` is a difference of, usually a price; its noise
            is taken for zero.
    """
    floor = as_expr(scale).abs() * _NOISE
    return Expr("safe_div", (as_expr(top), as_expr(bottom), floor), default=float(default))


def calendar(table: Sequence[float], *, unit: int, shift: int = 0) -> Expr:
    """Return a value looked up by the bar's open time, server time.

    Args:
        table: One value a place, rounded to float32 so that twins such as sin(30) and sin(150)
            degrees are one number.
        unit: Seconds of a place: 3600 makes hours, 86400 days.
        shift: Places added before the table repeats; 1970-01-01 was a Thursday.
    """
    return Expr(
        "calendar",
        table=tuple(float(value) for value in table),
        unit=unit,
        shift=shift,
    )


def so_far(value: Expr | float, how: str, timeframe: str, *, of: str) -> Expr:
    """Return what the bars since the higher bar began amount to, the newest bar included.

    Args:
        value: Evaluated at each bar.
        how: ``max``, ``sum`` or ``first``; a minimum is ``-so_far(-value, "max", ...)``.
        timeframe: The higher bar's: ``so_far(bars.high, "max", "D1", of="H1")`` is the day's high.
        of: The timeframe of the bars. Where they are finer after all, so that a higher bar has more
            of them than it can, the graph answers NaN and the history raises a DataError.

    Raises:
        ConfigError: A timeframe or ``how`` is unknown, or one is not made of the other.
    """
    return Expr("so_far", (as_expr(value),), how=how, timeframe=timeframe, of=of)


def higher(expression: Expr, timeframe: str, *, of: str) -> Expr:
    """Return ``expression`` of the bars of a higher timeframe, at the newest complete one.

    Higher bars are made inside the window, by the server's clock, as the terminal makes them. One
    is complete when the bar that reaches its end has closed, or else when a bar of the next one
    has; the one that is still forming is never seen (``so_far`` shows it).

    Args:
        expression: Over bars; its fields are those of the higher bars.
        timeframe: The higher one: ``higher(bars.close, "D1", of="H1")`` is yesterday's close.
        of: The timeframe of the bars. See ``so_far`` for finer ones.

    Raises:
        ConfigError: A timeframe is unknown, one is not made of the other, the expression reads the
            clock, or would need too many bars.
    """
    return Expr("higher", (expression,), timeframe=timeframe, of=of)


def decay(alpha: float, bars: int) -> list[float]:
    """Return exponential weights over exactly ``bars`` bars, oldest first, that sum to 1."""
    if not 0.0 < alpha <= 1.0:
        raise ConfigError(f"an exponential weight of {alpha:g} is none: use a period of 1 or more")
    raw = [(1.0 - alpha) ** age for age in range(checked_bars(bars) - 1, -1, -1)]
    total = math.fsum(raw)
    return [weight / total for weight in raw]


class Bars:
    """Symbolic bars: each attribute is the expression of a column, or of a mean of prices."""

    open = field("open")
    high = field("high")
    low = field("low")
    close = field("close")
    tick_volume = field("tick_volume")
    spread = field("spread")
    median = (high + low) / 2.0
    typical = (high + low + close) / 3.0
