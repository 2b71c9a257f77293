"""A trained estimator becomes an ONNX graph of its own: float features in, shares out.

A converter is never trusted; ``prove`` compares what it wrote with the estimator.
"""

from typing import Any

from onnx import ModelProto, TensorProto, checker

from bridge.authoring.needs import authoring_library
from bridge.errors import ModelError
from bridge.features.target import MT5, Target
from bridge.model.session import first_line

# What goes wrong inside the converter: estimators that it doesn't know raise a RuntimeError of
# its own, attributes of an unexpected type one of the others.
_REFUSALS = (RuntimeError, TypeError, ValueError, AttributeError, checker.ValidationError)


def convert_classifier(estimator: Any, *, width: int, target: Target = MT5) -> ModelProto:
    """Return a fitted scikit-learn classifier as ONNX.

    Args:
        estimator: Fitted on ``width`` float32 columns; its classes are integers.
        width: Features of a row.
        target: Versions to ask for.

    Returns:
        A model with one float input ``[N, width]``; the last of its outputs is the shares.

    Raises:
        ConfigError: The libraries are not installed.
        ModelError: The converter refuses the estimator, or answers with something else.
    """
    skl2onnx = authoring_library("skl2onnx")
    tensor = authoring_library("skl2onnx.common.data_types").FloatTensorType
    kind = type(estimator).__name__
    if not hasattr(estimator, "predict_proba"):
        raise ModelError(f"{kind} gives no class shares (predict_proba): take a classifier")
    try:
        model: ModelProto = skl2onnx.to_onnx(
            estimator,
            name="estimator",
            initial_types=[("x", tensor([None, width]))],
            options={id(estimator): {"zipmap": False}},
            target_opset={"": target.opset, "ai.onnx.ml": target.ml},
        )
    except _REFUSALS as error:
        raise ModelError(
            f"skl2onnx {skl2onnx.__version__} can't convert {kind} ({first_line(error)}): "
            "take another estimator or another version of the library"
        ) from error
    if model.graph.output[-1].type.tensor_type.elem_type != TensorProto.FLOAT:
        raise ModelError(
            f"skl2onnx {skl2onnx.__version__} made a graph of {kind} whose last output is no float "
            "tensor of shares: take another estimator or another version of the library"
        )
    return model
