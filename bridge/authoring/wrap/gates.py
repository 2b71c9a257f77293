"""Filters between the shares and the decision: what does not pass becomes share of a flat class.

Experts around a model often ask more than the model does: only with the trend, only with a lead
over the other side. In the graph these are the same in daemon, back-test and expert advisor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from bridge.authoring.wrap.nodes import Nodes
from bridge.authoring.wrap.spec import OutputTable
from bridge.errors import ConfigError

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gates:
    """The filters of an output of shares.

    Attributes:
        sides: Of each class.
        only: Side that each gate is about, in the order of the gates' columns.
        margin: By how much a side has to be above the other, share.
    """

    sides: tuple[str, ...]
    only: tuple[str, ...]
    margin: float

    def emit(self, nodes: Nodes, shares: str, columns: str | None) -> str:
        """Emit the filters of ``shares`` and return what passes; ``columns`` are the gates'."""
        if not self.only and not self.margin:
            return shares
        lead = nodes.add("MatMul", shares, nodes.constant(self._lead))
        allowed = {"long": self._ahead(nodes, lead), "short": self._ahead(nodes, lead, back=True)}
        for place, side in enumerate(self.only):
            gate = nodes.add("Gather", str(columns), nodes.integers([place]), axis=1)
            allowed[side] = nodes.add("Mul", allowed[side], _ones(nodes, "Greater", gate, 0.0))
        always = nodes.add("Add", nodes.add("Mul", lead, nodes.floats([0.0])), nodes.floats([1.0]))
        passing = [allowed.get(side, always) for side in self.sides]
        kept = nodes.add("Mul", shares, nodes.add("Concat", *passing, axis=1))
        lost = nodes.add("Sub", shares, kept)
        gained = nodes.add("MatMul", lost, nodes.constant(self._to_flat))
        return nodes.add("Add", kept, gained)

    def numbers(self, shares: Doubles, columns: Doubles) -> Doubles:
        """Return the same in numpy; ``columns`` ``(n, gates)``."""
        if not self.only and not self.margin:
            return shares
        lead = (shares.astype(np.float32) @ self._lead)[:, 0]
        allowed = {side: np.ones(len(shares), dtype=bool) for side in ("long", "short", "flat")}
        allowed["long"] = lead >= np.float32(self.margin)
        allowed["short"] = -lead >= np.float32(self.margin)
        for place, side in enumerate(self.only):
            allowed[side] = allowed[side] & (columns[:, place] > 0.0)
        kept = shares * np.stack([allowed[side] for side in self.sides], axis=1)
        return np.asarray(kept + (shares - kept) @ self._to_flat.astype(np.float64))

    def _ahead(self, nodes: Nodes, lead: str, *, back: bool = False) -> str:
        if back:
            lead = nodes.add("Neg", lead)
        below = nodes.add("Less", lead, nodes.floats([self.margin]))
        return nodes.add("Cast", nodes.add("Not", below), to=TensorProto.FLOAT)

    @property
    def _lead(self) -> NDArray[np.float32]:
        """Return what makes long less short of the shares, ``(classes, 1)``."""
        signs = {"long": 1.0, "short": -1.0, "flat": 0.0}
        return np.array([[signs[side]] for side in self.sides], dtype=np.float32)

    @property
    def _to_flat(self) -> NDArray[np.float32]:
        """Return what brings all that is lost to the first flat class, ``(classes, classes)``."""
        matrix = np.zeros((len(self.sides), len(self.sides)), dtype=np.float32)
        if "flat" in self.sides:
            matrix[:, self.sides.index("flat")] = 1.0
        return matrix


def gates(table: OutputTable) -> Gates:
    """Return the filters that ``table`` names.

    Raises:
        ConfigError: There is no flat class to take what does not pass, or no shares.
    """
    sides = tuple(each.side for each in table.classes)
    if (table.only or table.margin) and "flat" not in sides:
        raise ConfigError(
            "only and margin turn what does not pass into share of a flat class: name a class with "
            'side = "flat", or leave them out'
        )
    return Gates(sides, tuple(each.side for each in table.only), table.margin)


def titles(only: Sequence[str]) -> list[str]:
    """Return the names that the gates have among the features."""
    return [f"only {side} where ({place})" for place, side in enumerate(only, start=1)]


def _ones(nodes: Nodes, operator: str, value: str, limit: float) -> str:
    is_so = nodes.add(operator, value, nodes.floats([limit]))
    return nodes.add("Cast", is_so, to=TensorProto.FLOAT)
