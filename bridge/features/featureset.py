"""A named set of features: what a model learns from and what its graph computes."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bridge.errors import ConfigError
from bridge.features.expr import Expr
from bridge.features.history import evaluate
from bridge.mt5.rates import RatesArray

SNAP = 1e-10
"""A value below this is rounding noise around zero; both evaluators make it exactly 0."""


class FeatureSet:
    """Features in a fixed order.

    Args:
        features: Name to expression.

    Attributes:
        names: In order.
        expressions: In the same order.
    """

    def __init__(self, features: Mapping[str, Expr]) -> None:
        if not features:
            raise ConfigError("a feature set without features is none: name at least one")
        if still := [name for name, each in features.items() if not _sees_market(each)]:
            raise ConfigError(f"{', '.join(still)}: a feature without bars or time is a constant")
        self.names = tuple(features)
        self.expressions = tuple(features.values())

    @property
    def lookback(self) -> int:
        """Bars before the newest one that its values depend on."""
        return max(expression.lookback for expression in self.expressions)

    @property
    def window(self) -> int:
        """Closed bars that one answer needs."""
        return self.lookback + 1

    def history(self, rates: RatesArray) -> NDArray[np.float32]:
        """Return the features at each bar: exactly what the graph computes.

        The maths is in doubles, with one cast at the end; train on these float32 numbers only.

        Args:
            rates: Shape ``(n,)``, oldest first.

        Returns:
            Shape ``(n, len(names))``, NaN in the rows that have fewer than ``window`` bars.
        """
        values = evaluate(self.expressions, rates)
        values[np.abs(values) < SNAP] = 0.0
        values[: self.lookback] = np.nan
        return values.astype(np.float32)


def _sees_market(expression: Expr) -> bool:
    if expression.op in ("field", "calendar"):
        return True
    return any(_sees_market(argument) for argument in expression.args)
