"""The emitter: each node of a tree once, for as many of the newest bars as are asked for.

A consumer that needs fewer bars, or earlier ones, gathers them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from bridge.features.builder import Builder
from bridge.features.expr import Expr


class Source(Protocol):
    """Where bars come from: the graph's inputs, or bars made of them.

    Attributes:
        builder: Takes the nodes.
        length: Bars that there are.
    """

    builder: Builder
    length: int

    def column(self, name: str) -> str:
        """Return the name of a column of bars, double ``[N, length]``."""

    def time(self) -> str:
        """Return the name of the bars' open times, int64 ``[N, length]``."""


class Emitter:
    """Emits nodes; every value is a double tensor ``[N, bars]`` that ends at the newest bar.

    Attributes:
        source: Where the bars come from.
        builder: Takes the nodes.
        operations: One function for each operation.
    """

    def __init__(
        self,
        expressions: Sequence[Expr],
        bars: int,
        source: Source,
        operations: "Mapping[str, Emit]",
    ) -> None:
        self.source = source
        self.builder = source.builder
        self.operations = operations
        self._needed: dict[Expr, int] = {}
        self._names: dict[Expr, str] = {}
        for expression in expressions:
            self._need(expression, bars)

    def _need(self, node: Expr, bars: int) -> None:
        """Note how many of the newest bars of ``node`` are asked for, and pass it on."""
        if self._needed.get(node, 0) >= bars:
            return
        self._needed[node] = bars
        for argument in node.inputs:
            self._need(argument, bars + node.reach)

    def value(self, node: Expr, bars: int, lag: int = 0) -> str:
        """Return the name of ``bars`` values of ``node`` that end ``lag`` bars before the newest.

        A constant without a market in it stays ``[1, bars]``: operators spread it over the batch.
        """
        if node not in self._names:
            self._names[node] = self.operations[node.op](self, node, self._needed[node])
        return self.tail(self._names[node], self._needed[node], bars, lag)

    def tail(self, name: str, have: int, bars: int, lag: int = 0) -> str:
        """Return ``bars`` of the ``have`` values of a tensor, ending ``lag`` before the last."""
        if have == bars and lag == 0:
            return name
        places = self.builder.integers(np.arange(have - lag - bars, have - lag))
        return self.builder.node("Gather", name, places, axis=1)

    def arguments(self, node: Expr, bars: int) -> list[str]:
        """Return the names of ``bars`` values of each argument."""
        return [self.value(argument, bars) for argument in node.args]

    def windows(self, name: str, have: int, bars: int, count: int) -> str:
        """Return the last ``count`` values at each of ``bars`` bars, ``[N, bars, count]``."""
        places = np.arange(bars)[:, None] + np.arange(count) + (have - bars - count + 1)
        return self.builder.node("Gather", name, self.builder.integers(places), axis=1)

    def highest(self, name: str, count: int, shape: Sequence[int]) -> str:
        """Return the largest of each ``count`` values, reshaped to ``shape``."""
        integers = self.builder.integers
        signal = self.builder.node("Reshape", name, integers([-1, 1, count]))
        pooled = self.builder.node("MaxPool", signal, kernel_shape=[count])
        return self.builder.node("Reshape", pooled, integers(shape))


Emit = Callable[[Emitter, Expr, int], str]
"""From a node and how many of its newest values are asked for to the name of their tensor."""
