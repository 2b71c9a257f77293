"""Feature trees as plain JSON, for the contract: each node once, arguments before their users."""

from collections.abc import Mapping
from typing import Any

from bridge.errors import ConfigError, ContractError
from bridge.features.expr import OPERATIONS, Expr
from bridge.features.featureset import FeatureSet


def to_json(features: FeatureSet) -> dict[str, Any]:
    """Return ``{"names", "outputs", "nodes"}``; a node names its arguments by their place."""
    places: dict[Expr, int] = {}
    nodes: list[dict[str, Any]] = []

    def place(node: Expr) -> int:
        if node not in places:
            arguments = [place(argument) for argument in node.args]
            attrs = {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in sorted(node.attrs.items())
            }
            nodes.append({"op": node.op, "args": arguments, **attrs})
            places[node] = len(nodes) - 1
        return places[node]

    outputs = [place(expression) for expression in features.expressions]
    return {"names": list(features.names), "outputs": outputs, "nodes": nodes}


def from_json(tree: Mapping[str, Any]) -> FeatureSet:
    """Return the features that :func:`to_json` wrote.

    Raises:
        ContractError: The tree is malformed.
    """
    made: list[Expr] = []
    try:
        for node in tree["nodes"]:
            made.append(_node(dict(node), made))
        pairs = zip(tree["names"], tree["outputs"], strict=True)
        return FeatureSet({str(name): made[number] for name, number in pairs})
    except (ConfigError, KeyError, IndexError, TypeError, ValueError) as error:
        raise ContractError(
            f"the contract's feature tree is malformed at node {len(made)} ({error!r}): export the "
            "model again"
        ) from error


def _node(fields: dict[str, Any], made: list[Expr]) -> Expr:
    op, places = fields.pop("op"), fields.pop("args")
    if op not in OPERATIONS or any(not 0 <= place < len(made) for place in places):
        raise ValueError(f"unknown operation or argument in {op}")
    attrs = {
        name: tuple(float(item) for item in value) if isinstance(value, list) else value
        for name, value in fields.items()
    }
    return Expr(op, [made[place] for place in places], **attrs)
