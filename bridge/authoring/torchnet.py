"""Networks of torch as ONNX, written from their weights: their own exporter picks its versions.

A network is read as its layers in the order in which they are defined. What a ``forward`` does
besides is not seen here; the proof asks the network itself and refuses what differs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper

from bridge.authoring.needs import authoring_library
from bridge.errors import ModelError
from bridge.features.builder import Builder
from bridge.features.target import Target

Floats = NDArray[np.float32]

_SILENT = frozenset({"Dropout", "Identity"})


@dataclass(frozen=True, slots=True)
class _Flow:
    """A value inside the network.

    Attributes:
        shape: Without the batch: (width,) or (steps, width).
    """

    name: str
    shape: tuple[int, ...]


def is_network(estimator: Any) -> bool:
    """Return whether it is a ``torch.nn.Module``."""
    return any(
        each.__name__ == "Module" and each.__module__.startswith("torch.nn")
        for each in type(estimator).__mro__
    )


def answers(network: Any, rows: Floats, *, is_shares: bool) -> NDArray[np.float64]:
    """Return what the network itself says, ``(n, width)``: scores become shares in doubles."""
    torch = authoring_library("torch")
    was_training = network.training
    network.eval()
    with torch.no_grad():
        found = network(torch.from_numpy(np.array(rows))).numpy().astype(np.float64)
    network.train(was_training)
    found = found.reshape(len(rows), -1)
    if not is_shares or _gives_shares(network):
        return np.asarray(found)
    if found.shape[1] == 1:
        found = np.concatenate([np.zeros_like(found), found], axis=1)
    scores = np.exp(found - found.max(axis=1, keepdims=True))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def emit(
    network: Any, *, width: int, sequence: int | None, is_shares: bool, target: Target
) -> ModelProto:
    """Return the network as ONNX.

    Args:
        network: Linear layers, activations, batch norm, LSTM or GRU (batch first).
        width: Features of a row.
        sequence: Rows of an answer; None is one row, without a dimension for it.
        is_shares: Whether the last layer's scores are to become shares; a single score is that of
            the second of two classes.
        target: Versions to stamp.

    Raises:
        ModelError: A layer is of another kind.
    """
    shape = (width,) if sequence is None else (sequence, width)
    builder, flow = Builder(), _Flow("x", shape)
    for layer in _layers(network):
        flow = _LAYERS[type(layer).__name__](builder, layer, flow)
    if len(flow.shape) > 1:
        raise ModelError(
            f"{type(network).__name__} answers once a row of the sequence: end it with an LSTM, a "
            "GRU or Flatten, and a Linear layer"
        )
    if is_shares and not _gives_shares(network):
        flow = _shares(builder, flow)
    return builder.model(
        "estimator",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *shape])],
        [helper.make_tensor_value_info(flow.name, TensorProto.FLOAT, ["N", *flow.shape])],
        target,
    )


def _shares(builder: Builder, flow: _Flow) -> _Flow:
    name, (width,) = flow.name, flow.shape
    if width == 1:
        none = builder.node("Sub", name, name)
        name, width = builder.node("Concat", none, name, axis=1), 2
    return _Flow(builder.node("Softmax", name, axis=1), (width,))


def _gives_shares(network: Any) -> bool:
    return type(list(_layers(network))[-1]).__name__ == "Softmax"


def _layers(network: Any) -> Iterator[Any]:
    """Yield the layers that do something, in the order of their definition.

    Raises:
        ModelError: One is of another kind.
    """
    for layer in network.children() if list(network.children()) else [network]:
        name = type(layer).__name__
        if name in _LAYERS:
            yield layer
        elif list(layer.children()):
            yield from _layers(layer)
        elif name not in _SILENT:
            raise ModelError(
                f"a layer {name} is not known here: use {', '.join(sorted(_LAYERS))}, or export "
                "the network yourself and wrap the file"
            )


def _array(tensor: Any) -> Floats:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float32)


def _linear(builder: Builder, layer: Any, flow: _Flow) -> _Flow:
    if len(flow.shape) > 1:
        raise ModelError("a Linear layer over each row of a sequence is not known here: Flatten it")
    weight = _array(layer.weight)
    bias = np.zeros(len(weight), np.float32) if layer.bias is None else _array(layer.bias)
    name = builder.node(
        "Gemm", flow.name, builder.constant(weight), builder.constant(bias), transB=1
    )
    return _Flow(name, (len(weight),))


def _flatten(builder: Builder, layer: Any, flow: _Flow) -> _Flow:
    width = int(np.prod(flow.shape))
    return _Flow(builder.node("Reshape", flow.name, builder.integers([-1, width])), (width,))


def _batch_norm(builder: Builder, layer: Any, flow: _Flow) -> _Flow:
    if len(flow.shape) > 1:
        raise ModelError("a BatchNorm1d over a sequence is not known here: use it on one row")
    deviation = np.sqrt(_array(layer.running_var).astype(np.float64) + layer.eps)
    scale = (1.0 if layer.weight is None else _array(layer.weight)) / deviation
    shift = (0.0 if layer.bias is None else _array(layer.bias)) - _array(layer.running_mean) * scale
    scaled = builder.node("Mul", flow.name, builder.constant(scale.astype(np.float32)))
    return _Flow(
        builder.node("Add", scaled, builder.constant(shift.astype(np.float32))), flow.shape
    )


def _plain(operator: str, *attrs: str) -> Callable[[Builder, Any, _Flow], _Flow]:
    """Return what emits an activation; ``attrs`` are ONNX name and torch name in turn."""

    def emit_one(builder: Builder, layer: Any, flow: _Flow) -> _Flow:
        named: dict[str, Any] = dict(
            zip(attrs[::2], (float(getattr(layer, name)) for name in attrs[1::2]), strict=True)
        )
        return _Flow(builder.node(operator, flow.name, **named), flow.shape)

    return emit_one


def _softmax(builder: Builder, layer: Any, flow: _Flow) -> _Flow:
    return _Flow(builder.node("Softmax", flow.name, axis=len(flow.shape)), flow.shape)


def _silu(builder: Builder, layer: Any, flow: _Flow) -> _Flow:
    gate = builder.node("Sigmoid", flow.name)
    return _Flow(builder.node("Mul", flow.name, gate), flow.shape)


# torch keeps the gates of an LSTM as i, f, g, o and of a GRU as r, z, n; ONNX as i, o, f, c and
# z, r, h.
_GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2)}


def _recurrent(builder: Builder, layer: Any, flow: _Flow) -> _Flow:
    """Emit an LSTM or GRU; what follows it sees the last step."""
    kind = type(layer).__name__
    if layer.bidirectional or not layer.batch_first or getattr(layer, "proj_size", 0):
        raise ModelError(
            f"this {kind} is bidirectional, projected or not batch_first: make it with "
            "batch_first=True, one direction and no projection"
        )
    if len(flow.shape) != 2:
        raise ModelError(f"{kind} needs a sequence of rows: give build a sequence of 2 or more")
    steps, size = flow.shape[0], layer.hidden_size
    attrs = {"hidden_size": size} | ({"linear_before_reset": 1} if kind == "GRU" else {})
    values = builder.node("Transpose", flow.name, perm=[1, 0, 2])
    for number in range(layer.num_layers):
        constants = [builder.constant(each) for each in _gates_of(layer, number, _GATES[kind])]
        every = builder.node(kind, values, *constants, **attrs)
        values = builder.node("Reshape", every, builder.integers([steps, -1, size]))
    last = builder.node("Gather", values, builder.integers([steps - 1]), axis=0)
    return _Flow(builder.node("Reshape", last, builder.integers([-1, size])), (size,))


def _gates_of(layer: Any, number: int, order: Sequence[int]) -> tuple[Floats, Floats, Floats]:
    """Return input weights, recurrent weights and both biases as ONNX orders them."""
    size = layer.hidden_size

    def ordered(name: str) -> Floats:
        blocks = _array(getattr(layer, f"{name}_l{number}")).reshape(len(order), size, -1)
        return blocks[list(order)].reshape(1, len(order) * size, -1)

    if layer.bias:
        bias = np.concatenate([ordered("bias_ih"), ordered("bias_hh")], axis=1)[..., 0]
    else:
        bias = np.zeros((1, 2 * len(order) * size), np.float32)
    return ordered("weight_ih"), ordered("weight_hh"), bias


_LAYERS: dict[str, Callable[[Builder, Any, _Flow], _Flow]] = {
    "Linear": _linear,
    "Flatten": _flatten,
    "BatchNorm1d": _batch_norm,
    "ReLU": _plain("Relu"),
    "Tanh": _plain("Tanh"),
    "Sigmoid": _plain("Sigmoid"),
    "LeakyReLU": _plain("LeakyRelu", "alpha", "negative_slope"),
    "ELU": _plain("Elu", "alpha", "alpha"),
    "SiLU": _silu,
    "Softmax": _softmax,
    "LSTM": _recurrent,
    "GRU": _recurrent,
}
