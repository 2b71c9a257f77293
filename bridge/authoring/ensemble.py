"""Several estimators as one: the mean of their answers, or their vote."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, compose, helper, numpy_helper

from bridge.errors import ModelError
from bridge.features.target import Target

ANSWER = "answer"


@dataclass(frozen=True)
class Ensemble:
    """Fitted estimators whose answers are joined.

    Attributes:
        members: Two or more, fitted on the same columns and, for shares, the same classes.
    """

    members: tuple[Any, ...]

    def __post_init__(self) -> None:
        """Refuse a crowd of one."""
        if len(self.members) < 2:
            raise ModelError(
                f"{type(self).__name__} of {len(self.members)} is none: give it two or more"
            )

    def weights_of(self) -> tuple[float, ...]:
        """Return the weight of each member; they sum to 1."""
        return (1.0 / len(self.members),) * len(self.members)


@dataclass(frozen=True)
class Mean(Ensemble):
    """The mean of the members' shares or forecasts.

    Attributes:
        weights: One above 0 for each member; None is equal weights.
    """

    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse weights that are no weights."""
        super().__post_init__()
        if self.weights is not None and (
            len(self.weights) != len(self.members) or min(self.weights) <= 0
        ):
            raise ModelError(
                f"the weights {self.weights} don't fit {len(self.members)} members: give each one "
                "above 0"
            )

    def weights_of(self) -> tuple[float, ...]:
        """Return the weight of each member; they sum to 1."""
        if self.weights is None:
            return super().weights_of()
        return tuple(weight / sum(self.weights) for weight in self.weights)


@dataclass(frozen=True)
class Vote(Ensemble):
    """Each member's likeliest class is its vote; the answer is each class's share of the votes."""


def combine(ensemble: Ensemble, answers: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Return the members' answers, each ``(n, width)``, as one."""
    if isinstance(ensemble, Vote):
        width = answers[0].shape[1]
        answers = [np.eye(width)[each.argmax(axis=1)] for each in answers]
    weighted = zip(ensemble.weights_of(), answers, strict=True)
    return np.asarray(sum(weight * each for weight, each in weighted))


def joined(ensemble: Ensemble, parts: Sequence[ModelProto], target: Target) -> ModelProto:
    """Return the members' graphs as one with the answer that :func:`combine` gives."""
    graphs = [
        compose.add_prefix(part, f"m{place}_", rename_inputs=False).graph
        for place, part in enumerate(parts)
    ]
    nodes: list[NodeProto] = []
    constants: list[TensorProto] = []
    terms: list[str] = []
    for place, (graph, weight) in enumerate(zip(graphs, ensemble.weights_of(), strict=True)):
        nodes += _fed_by_x(graph.node, graph.input[0].name)
        constants += graph.initializer
        answer = graph.output[-1]
        if isinstance(ensemble, Vote):
            nodes += _ballot(place, answer.name)
        constants.append(numpy_helper.from_array(np.array(weight, np.float32), f"w{place}"))
        term = f"t{place}"
        voted = f"b{place}" if isinstance(ensemble, Vote) else answer.name
        nodes.append(helper.make_node("Mul", [voted, f"w{place}"], [term]))
        terms.append(term)
    if isinstance(ensemble, Vote):
        columns = np.arange(_width(parts[0]), dtype=np.int64)[None, :]
        constants.append(numpy_helper.from_array(columns, "columns"))
    nodes.append(helper.make_node("Sum", terms, [ANSWER]))
    source = parts[0].graph.input[0]
    source.name = "x"
    made = helper.make_graph(nodes, "ensemble", [source], [_float(ANSWER)], constants)
    return helper.make_model(made, opset_imports=_imports(parts, target), ir_version=target.ir)


def _ballot(place: int, answer: str) -> list[NodeProto]:
    """Return nodes that make 1 of the likeliest class and 0 of the others."""
    return [
        helper.make_node("ArgMax", [answer], [f"l{place}"], axis=1, keepdims=1),
        helper.make_node("Equal", [f"l{place}", "columns"], [f"e{place}"]),
        helper.make_node("Cast", [f"e{place}"], [f"b{place}"], to=TensorProto.FLOAT),
    ]


def _width(part: ModelProto) -> int:
    return int(part.graph.output[-1].type.tensor_type.shape.dim[-1].dim_value)


def _fed_by_x(nodes: Sequence[NodeProto], source: str) -> Sequence[NodeProto]:
    for node in nodes:
        node.input[:] = ["x" if name == source else name for name in node.input]
    return nodes


def _float(name: str) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", None])


def _imports(parts: Sequence[ModelProto], target: Target) -> list[Any]:
    domains = {each.domain for part in parts for each in part.opset_import}
    versions = {"": target.opset} | ({"ai.onnx.ml": target.ml} if "ai.onnx.ml" in domains else {})
    return [helper.make_opsetid(*each) for each in versions.items()]
