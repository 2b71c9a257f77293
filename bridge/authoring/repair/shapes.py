"""Dimensions: free ones get a size or one name, outputs say what really comes out."""

from collections.abc import Mapping

import onnx

from bridge.authoring.repair.plan import Batch
from bridge.errors import ModelError
from bridge.model.inspection import open_told
from bridge.model.lint.trials import rows, run
from bridge.model.session import RUNTIME_ERRORS

Told = list[str]

BATCH = "N"
_SEVERAL = 3


def fix_shapes(model: onnx.ModelProto, batch: Batch, dims: Mapping[str, int]) -> Told:
    """Fix the free dimensions of the inputs, and declare the outputs as they come out.

    Raises:
        ModelError: The graph can't be opened or run on one row.
    """
    before = _shapes(model)
    size: int | str = 1 if batch == "1" or not _runs_several(model) else BATCH
    for value in model.graph.input:
        for place, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_value > 0:
                continue
            if dim.dim_param in dims:
                dim.dim_value = dims[dim.dim_param]
            elif place == 0:
                _set(dim, size)
    _declare(model, is_free=size == BATCH)
    after = _shapes(model)
    return [
        f"{name} is now [{after[name]}], was [{before[name]}]"
        for name in after
        if after[name] != before.get(name)
    ]


def _set(dim: onnx.TensorShapeProto.Dimension, size: int | str) -> None:
    if isinstance(size, int):
        dim.dim_value = size
    else:
        dim.dim_param = size


def _runs_several(model: onnx.ModelProto) -> bool:
    session = open_told(model.SerializeToString())
    feed = rows(session, 1, _SEVERAL)
    if feed is None:
        return False
    try:
        run(session, feed)
    except RUNTIME_ERRORS:
        return False
    return True


def _declare(model: onnx.ModelProto, *, is_free: bool) -> None:
    """Write the real shape of each output."""
    session = open_told(model.SerializeToString())
    sizes = (1, _SEVERAL) if is_free else (1,)
    runs = []
    for count in sizes:
        feed = rows(session, 1, count)
        if feed is None:
            return
        try:
            runs.append(run(session, feed))
        except RUNTIME_ERRORS as error:
            raise ModelError(f"it fails on a plain row ({error}): export it again") from error
    for output in model.graph.output:
        if output.type.WhichOneof("value") != "tensor_type":
            continue
        shapes = [answers[output.name].shape for answers in runs]
        output.type.tensor_type.ClearField("shape")
        shape = output.type.tensor_type.shape
        for of_each in zip(*shapes, strict=True):
            _set(shape.dim.add(), of_each[0] if len(set(of_each)) == 1 else BATCH)


def _shapes(model: onnx.ModelProto) -> dict[str, str]:
    return {
        value.name: ", ".join(
            str(dim.dim_value) if dim.dim_value > 0 else dim.dim_param or "?"
            for dim in value.type.tensor_type.shape.dim
        )
        for value in (*model.graph.input, *model.graph.output)
    }
