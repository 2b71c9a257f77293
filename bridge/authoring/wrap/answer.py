"""From a model's numbers to shares, a forecast or a target: in the graph, and in numpy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.authoring.wrap.gates import Gates, gates
from bridge.authoring.wrap.nodes import Nodes
from bridge.authoring.wrap.source import Source, Tensor
from bridge.authoring.wrap.spec import OutputTable, Spec
from bridge.errors import ContractError

Doubles = NDArray[np.float64]

_LIVELY = {"softmax": "Softmax", "sigmoid": "Sigmoid", "tanh": "Tanh", "largest": "Hardmax"}
_BY_ROW = frozenset({"softmax", "largest"})


@dataclass(frozen=True, slots=True)
class Head:
    """What happens behind the model.

    Attributes:
        width: Numbers that the model gives for one answer.
        level: Which feature's newest value is subtracted; None is none.
    """

    output: Tensor
    table: OutputTable
    width: int
    level: int | None
    gates: Gates

    def emit(self, nodes: Nodes, value: str, level: str | None, columns: str | None) -> None:
        """Emit the nodes from the model's output to the tensor that is named by the kind.

        Args:
            nodes: Where to.
            value: The model's output.
            level: What is subtracted, ``[N, 1]``.
            columns: Of the gates, ``[N, gates]``.
        """
        table = self.table
        if self.output.type == "double":
            value = nodes.cast_float(value)
        value = nodes.add("Reshape", value, nodes.integers([-1, self.width]))
        if table.column is not None:
            value = nodes.add("Gather", value, nodes.integers([table.column]), axis=1)
        if table.head != "none":
            axis: dict[str, Any] = {"axis": 1} if table.head in _BY_ROW else {}
            value = nodes.add(_LIVELY[table.head], value, **axis)
        if self._is_single_share:
            rest = nodes.add("Sub", nodes.floats([1.0]), value)
            value = nodes.add("Concat", rest, value, axis=1)
        value = self.gates.emit(nodes, value, columns)
        if level is not None:
            value = nodes.add("Sub", value, level)
        if (table.multiply, table.add) != (1.0, 0.0):
            value = nodes.add("Mul", value, nodes.floats([table.multiply]))
            value = nodes.add("Add", value, nodes.floats([table.add]))
        last = nodes.integers([-1, self.columns])
        nodes.add("Reshape", value, last, output=table.kind)

    def numbers(self, given: Doubles, level: Doubles | None, columns: Doubles) -> Doubles:
        """Return the same in numpy, of answers ``(n, width)``."""
        table, values = self.table, given
        if table.column is not None:
            values = values[:, [table.column]]
        values = _HEADS[table.head](values)
        if self._is_single_share:
            values = np.concatenate([1.0 - values, values], axis=1)
        values = self.gates.numbers(values, columns)
        if level is not None:
            values = values - level
        if (table.multiply, table.add) != (1.0, 0.0):
            values = values * table.multiply + table.add
        return values

    @property
    def columns(self) -> int:
        """Numbers of the wrapped file's answer."""
        return len(self.table.classes) or 1

    @property
    def _is_single_share(self) -> bool:
        return self.table.kind == "shares" and self.width == 1

    def described(self) -> dict[str, Any]:
        """Return the output as the contract says it, not checked yet."""
        table = self.table
        classes = [{"name": each.name, "side": each.side} for each in table.classes]
        return {"name": table.kind, "kind": table.kind, "classes": classes, "unit": table.unit}


def _softmax(values: Doubles) -> Doubles:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _largest(values: Doubles) -> Doubles:
    return np.asarray(np.eye(values.shape[1])[values.argmax(axis=1)])


_HEADS: dict[str, Callable[[Doubles], Doubles]] = {
    "none": lambda values: values,
    "softmax": _softmax,
    "sigmoid": lambda values: 1.0 / (1.0 + np.exp(-values)),
    "tanh": np.tanh,
    "largest": _largest,
}


def chosen(source: Source, name: str | None) -> Tensor:
    """Return the output that decides.

    Raises:
        ContractError: It is not there, or several could be meant.
    """
    known = {each.name: each for each in source.outputs}
    if name is None and len(known) == 1:
        return source.outputs[0]
    if name not in known:
        said = f"has no number output {name}" if name else "has several outputs or none"
        raise ContractError(
            f"{source.path} {said}: name in [output] the one that decides, of "
            f"{', '.join(map(str, source.outputs)) or 'none'}"
        )
    return known[name]


def head(source: Source, spec: Spec, width: int) -> Head:
    """Return what happens behind the model.

    Args:
        source: The model as it came.
        spec: What is said of it.
        width: Numbers that the model gave for one answer when it was run.

    Raises:
        ContractError: What is said of the output does not fit it.
    """
    output, table = chosen(source, spec.output.name), spec.output
    check = _check_shares if table.kind == "shares" else _check_number
    check(source, table, output, width)
    return Head(output, table, width, _level(spec), gates(table))


def _check_shares(source: Source, table: OutputTable, output: Tensor, width: int) -> None:
    has = len(table.classes)
    if has != max(width, 2):
        raise ContractError(
            f"{source.path}: output {output.name} gives {width} numbers, {has} classes are named: "
            f"name {max(width, 2)}, in the order of the columns (of a single number two: against, "
            "for)"
        )
    named = tuple(each.label for each in table.classes)
    if source.labels and named != source.labels:
        shown = ", ".join("none" if each is None else str(each) for each in named)
        raise ContractError(
            f"{source.path} has the labels {', '.join(map(str, source.labels))} in this order, the "
            f"classes have the labels {shown}: give each class its label, in the graph's order"
        )
    if table.column is not None or table.less or (table.multiply, table.add) != (1.0, 0.0):
        raise ContractError(
            f"{source.path}: column, less, multiply and add belong to forecast and target, not to "
            "shares: remove them"
        )
    if width == 1 and table.head in _BY_ROW:
        raise ContractError(
            f"{source.path}: {table.head} of a single number is always 1: use sigmoid, or none"
        )


def _check_number(source: Source, table: OutputTable, output: Tensor, width: int) -> None:
    if table.classes:
        raise ContractError(f"{source.path}: classes belong to shares, not to a {table.kind}")
    if (table.column is None and width != 1) or (table.column or 0) >= width:
        raise ContractError(
            f"{source.path}: output {output.name} gives {width} numbers, a {table.kind} is one: "
            f"name its column, 0 to {width - 1}, in [output]"
        )
    if table.head in _BY_ROW:
        raise ContractError(
            f"{source.path}: {table.head} makes shares, not a {table.kind}: use kind = "
            '"shares", or another head'
        )


def _level(spec: Spec) -> int | None:
    less, names = spec.output.less, [each.name for each in spec.features]
    if less is None:
        return None
    if less not in names:
        raise ContractError(
            f"the forecast is told less {less}, which is no feature: name one of {', '.join(names)}"
        )
    return names.index(less)
