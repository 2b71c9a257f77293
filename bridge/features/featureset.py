"""A named set of features: what a model learns from and what its graph computes."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, overload

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from bridge.errors import ConfigError
from bridge.features.expr import Expr
from bridge.features.frame import Frame, rates_of_frame
from bridge.features.history import evaluate
from bridge.features.operations import FIELDS, checked_bars
from bridge.mt5.rates import RatesArray

SNAP = 1e-10
"""A value below this is rounding noise around zero; both evaluators make it exactly 0."""

FrameT = TypeVar("FrameT", bound=Frame)


class FeatureSet:
    """Features in a fixed order.

    Args:
        features: Name to expression.

    Attributes:
        names: In order.
        expressions: In the same order.
        timeframe: Of the bars, where a feature of higher bars names it, else None.

    Raises:
        ConfigError: There are none, one is a constant, or they are of bars of two timeframes.
    """

    def __init__(self, features: Mapping[str, Expr]) -> None:
        if not features:
            raise ConfigError("a feature set without features is none: name at least one")
        if still := [name for name, each in features.items() if not _sees_market(each)]:
            raise ConfigError(f"{', '.join(still)}: a feature without bars or time is a constant")
        self.names = tuple(features)
        self.expressions = tuple(features.values())
        self.timeframe = _timeframe(self.expressions)

    @property
    def lookback(self) -> int:
        """Bars before the newest one that its values depend on."""
        return max(expression.lookback for expression in self.expressions)

    @property
    def window(self) -> int:
        """Closed bars that one answer needs."""
        return self.lookback + 1

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of bars that the features use, ``time`` among them where they read it."""
        nodes = _nodes(self.expressions)
        used = {node.attrs["name"] for node in nodes if node.op == "field"}
        is_clocked = any(each.is_clocked for each in self.expressions)
        return (*(name for name in FIELDS if name in used), *(["time"] if is_clocked else []))

    @overload
    def history(self, rates: RatesArray) -> NDArray[np.float32]: ...

    @overload
    def history(self, rates: FrameT) -> FrameT: ...

    def history(self, rates: Any) -> Any:
        """Return the features at each bar: exactly what the graph computes.

        The maths is in doubles, with one cast at the end; train on these float32 numbers only.

        Args:
            rates: Oldest first, shape ``(n,)``, or a DataFrame with a row a bar and the columns of
                ``copy_rates`` that the features use; ``time`` (server time) may be the index.

        Returns:
            Shape ``(n, len(names))``, NaN in the rows that have fewer than ``window`` bars. For a
            DataFrame the same as one, with its index and the features' names.

        Raises:
            DataError: A frame's column lacks or is unusable, or bars are closer together than a
                feature of higher bars has been told.
        """
        if isinstance(rates, np.ndarray):
            return self._values(rates)
        values = self._values(rates_of_frame(rates, self.columns))
        return type(rates)(values, index=rates.index, columns=list(self.names))

    def _values(self, rates: RatesArray) -> NDArray[np.float32]:
        values = evaluate(self.expressions, rates)
        values[np.abs(values) < SNAP] = 0.0
        values[: self.lookback] = np.nan
        return values.astype(np.float32)


def sequences(values: NDArray[np.float32], steps: int) -> NDArray[np.float32]:
    """Return the last ``steps`` rows at each bar, as the graph of a sequence gives them.

    Args:
        values: Of :meth:`FeatureSet.history`, shape ``(n, features)``.
        steps: Rows of a sequence, 1 or more.

    Returns:
        Shape ``(n, steps, features)``, oldest first, a read-only view; rows before the first bar
        are NaN.
    """
    before = np.full((checked_bars(steps) - 1, values.shape[1]), np.nan, dtype=np.float32)
    views = sliding_window_view(np.concatenate([before, values]), steps, axis=0)
    return np.moveaxis(views, -1, 1)


def _nodes(expressions: Iterable[Expr]) -> set[Expr]:
    """Return every node of the trees."""
    found: set[Expr] = set()
    waiting = list(expressions)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.args)
    return found


def _sees_market(expression: Expr) -> bool:
    return any(node.op in ("field", "calendar") for node in _nodes([expression]))


def _timeframe(expressions: Iterable[Expr]) -> str | None:
    named = sorted({node.attrs["of"] for node in _nodes(expressions) if "of" in node.attrs})
    if len(named) > 1:
        raise ConfigError(
            f"the features name bars of both {named[0]} and {named[1]}: a model has bars of one "
            "timeframe, so name that one in each of="
        )
    return named[0] if named else None
