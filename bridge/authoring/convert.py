"""A trained estimator becomes an ONNX graph of its own: float features in, numbers out.

A converter is never trusted: ``known`` refuses what is known to come out wrong, and ``prove``
compares whatever comes out with the estimator.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Literal

import numpy as np
from onnx import ModelProto, TensorProto, checker

from bridge.authoring import torchnet
from bridge.authoring.ensemble import Ensemble, joined
from bridge.authoring.known import check_known
from bridge.authoring.needs import authoring_library
from bridge.errors import ModelError
from bridge.features.target import MT5, Target
from bridge.model.session import first_line

Kind = Literal["shares", "forecast", "target"]
Converter = Callable[[Any, int, Kind, Target], ModelProto]

# What goes wrong inside the converters: estimators that they don't know raise a RuntimeError of
# their own, attributes of an unexpected type one of the others.
_REFUSALS = (
    RuntimeError,
    TypeError,
    ValueError,
    AttributeError,
    NameError,
    KeyError,
    IndexError,
    checker.ValidationError,
)
# onnxmltools knows no newer opset; what it writes means the same in all that follow.
_ONNXMLTOOLS_OPSET = 15


def convert_classifier(estimator: Any, *, width: int, target: Target = MT5) -> ModelProto:
    """Return a fitted classifier as ONNX; see :func:`convert`."""
    return convert(estimator, width=width, kind="shares", target=target)


def convert(
    estimator: Any,
    *,
    width: int,
    kind: Kind,
    sequence: int | None = None,
    target: Target = MT5,
) -> ModelProto:
    """Return a fitted estimator as ONNX.

    Args:
        estimator: Of scikit-learn, LightGBM, XGBoost or PyTorch, or several of them (``Mean``,
            ``Vote``), fitted on ``width`` float32 columns; classes are integers.
        width: Features of a row.
        kind: Shares of classes, or a number (forecast, target).
        sequence: Rows of an answer, for networks over sequences; None is one row.
        target: Versions to ask for.

    Returns:
        A model with one float input, ``[N, width]`` or ``[N, sequence, width]``; the last of its
        outputs is the answer, float ``[N, classes]`` or ``[N, 1]``.

    Raises:
        ConfigError: The libraries are not installed.
        ModelError: The estimator is refused, or the converter answers with something else.
    """
    if isinstance(estimator, Ensemble):
        parts = [
            convert(member, width=width, kind=kind, sequence=sequence, target=target)
            for member in estimator.members
        ]
        return joined(estimator, parts, target)
    if torchnet.is_network(estimator):
        return torchnet.emit(
            estimator, width=width, sequence=sequence, is_shares=kind == "shares", target=target
        )
    if sequence is not None:
        raise ModelError(
            f"{type(estimator).__name__} takes one row of features, not {sequence}: leave out "
            "sequence, or take a network of torch"
        )
    check_answers(estimator, kind)
    check_known(estimator)
    return _CONVERTERS.get(_library(estimator), _sklearn)(estimator, width, kind, target)


def check_answers(estimator: Any, kind: Kind) -> None:
    """Check that the estimator gives what is asked of it.

    Raises:
        ModelError: No shares, no number, or classes that are no integers.
    """
    name = type(estimator).__name__
    if kind == "shares" and not hasattr(estimator, "predict_proba"):
        raise ModelError(f"{name} gives no class shares (predict_proba): take a classifier")
    if kind != "shares" and hasattr(estimator, "classes_"):
        raise ModelError(f"{name} is a classifier, a {kind} is one number: take a regressor")
    if kind == "shares" and np.asarray(estimator.classes_).dtype.kind not in "iub":
        raise ModelError(
            f"{name} was fitted on the labels {list(estimator.classes_)[:4]}: fit it on integers, "
            "and name the classes in the contract"
        )


def _library(estimator: Any) -> str:
    roots = {each.__module__.split(".")[0] for each in type(estimator).__mro__}
    return next((name for name in _CONVERTERS if name in roots), "")


def _sklearn(estimator: Any, width: int, kind: Kind, target: Target) -> ModelProto:
    skl2onnx = authoring_library("skl2onnx")
    tensor = authoring_library("skl2onnx.common.data_types").FloatTensorType
    ready = _ready(estimator)
    with _plain_integers(), _told(f"skl2onnx {skl2onnx.__version__}", estimator):
        model: ModelProto = skl2onnx.to_onnx(
            ready,
            name="estimator",
            initial_types=[("x", tensor([None, width]))],
            options={id(ready): {"zipmap": False}} if kind == "shares" else None,
            target_opset={"": target.opset, "ai.onnx.ml": target.ml},
        )
    return _checked(model, estimator, f"skl2onnx {skl2onnx.__version__}")


def _ready(estimator: Any) -> Any:
    """Return the estimator, a vote without what only its ``transform`` reads: skl2onnx minds."""
    if type(estimator).__name__ == "VotingClassifier":
        return copy(estimator).set_params(flatten_transform=False)
    return estimator


def _lightgbm(estimator: Any, width: int, kind: Kind, target: Target) -> ModelProto:
    return _onnxmltools("convert_lightgbm", estimator, width, target, zipmap=False)


def _xgboost(estimator: Any, width: int, kind: Kind, target: Target) -> ModelProto:
    return _onnxmltools("convert_xgboost", estimator, width, target)


def _onnxmltools(
    function: str, estimator: Any, width: int, target: Target, **options: Any
) -> ModelProto:
    onnxmltools = authoring_library("onnxmltools")
    tensor = authoring_library("onnxmltools.convert.common.data_types").FloatTensorType
    name = f"onnxmltools {onnxmltools.__version__}"
    with _told(name, estimator):
        model: ModelProto = getattr(onnxmltools, function)(
            estimator,
            initial_types=[("x", tensor([None, width]))],
            target_opset=min(target.opset, _ONNXMLTOOLS_OPSET),
            **options,
        )
    return _checked(model, estimator, name)


_CONVERTERS: dict[str, Converter] = {"lightgbm": _lightgbm, "xgboost": _xgboost}


@contextmanager
def _told(converter: str, estimator: Any) -> Iterator[None]:
    """Turn what a converter raises into a sentence."""
    try:
        yield
    except _REFUSALS as error:
        raise ModelError(
            f"{converter} can't convert {type(estimator).__name__} ({first_line(error)}): "
            "take another estimator or another version of the library"
        ) from error


@contextmanager
def _plain_integers() -> Iterator[None]:
    """Let attributes of nodes be Python's own integers.

    skl2onnx 1.20 hands on HistGradientBoosting's numpy.uint32, which onnx refuses.
    """
    container = authoring_library("skl2onnx.common._container").ModelComponentContainer
    original = container.add_node

    def add_node(self: Any, *args: Any, **attrs: Any) -> Any:
        return original(self, *args, **{name: _plain(value) for name, value in attrs.items()})

    container.add_node = add_node
    try:
        yield
    finally:
        container.add_node = original


def _plain(value: Any) -> Any:
    if isinstance(value, list) and any(isinstance(item, np.integer) for item in value):
        return [int(item) for item in value]
    return value


def _checked(model: ModelProto, estimator: Any, converter: str) -> ModelProto:
    if model.graph.output[-1].type.tensor_type.elem_type != TensorProto.FLOAT:
        raise ModelError(
            f"{converter} made a graph of {type(estimator).__name__} whose last output is no float "
            "tensor: take another estimator or another version of the library"
        )
    return model
