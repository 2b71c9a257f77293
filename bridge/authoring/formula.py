"""Feature trees as formulas that a person reads."""

from collections.abc import Mapping
from typing import Any

from bridge.features.expr import Expr

_LONGEST = 100
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "greater": ">"}


def formula(expression: Expr, longest: int = _LONGEST) -> str:
    """Return ``expression`` in infix, cut at ``longest`` characters; ``x[n]`` is n bars earlier."""
    said = _bare(expression, _said(expression, longest))
    return said if len(said) <= longest else f"{said[: longest - 3]}..."


def _said(node: Expr, room: int) -> str:
    if room < 0:  # what comes after this is cut anyway; trees can be much longer than a line
        return "..."
    if node.op == "field":
        return str(node.attrs["name"])
    if node.op == "constant":
        return f"{node.attrs['value']:g}"
    arguments = []
    for argument in node.args:
        arguments.append(_said(argument, room))
        room -= len(arguments[-1])
    if node.op in _INFIX:
        return f"({arguments[0]} {_INFIX[node.op]} {arguments[1]})"
    if node.op == "lag":
        return f"{arguments[0]}[{node.attrs['bars']}]"
    if node.op == "neg":
        return f"-{arguments[0]}"
    bare = [_bare(*each) for each in zip(node.args, arguments, strict=True)]
    return f"{_named(node)}({', '.join([*bare, *_settings(node.attrs)])})"


def _bare(node: Expr, said: str) -> str:
    return said[1:-1] if node.op in _INFIX and said.endswith(")") else said


def _named(node: Expr) -> str:
    if node.op != "fir":
        return {"safe_div": "ratio", "rolling_max": "highest", "rolling_var": "variance"}.get(
            node.op, node.op
        )
    weights = node.attrs["weights"]
    if not isinstance(weights, tuple) or len(set(weights)) > 1:
        return "weighted_sum"
    return "sum" if weights[0] == 1.0 else "mean"


def _settings(attrs: Mapping[str, Any]) -> list[str]:
    """Return attributes, of weights and tables their number only."""
    return [
        f"{len(value)} {name}" if isinstance(value, tuple) else f"{value}"
        for name, value in attrs.items()
        if name != "shift"
    ]
