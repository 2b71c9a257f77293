"""The first run of somebody's model: in a child process, which a bad file may kill."""

import tempfile
from pathlib import Path

from onnx import ModelProto

from bridge.authoring.wrap.fit import fit
from bridge.authoring.wrap.source import Source
from bridge.authoring.wrap.spec import Spec
from bridge.errors import ModelError
from bridge.model.probe import probe


def try_out(source: Source, spec: Spec) -> None:
    """Run ``source`` once in a child, its free dimensions set as ``spec`` says.

    Raises:
        ContractError: The features don't fit its input.
        ModelError: It is refused, dies or does not come back.
    """
    place = fit(source, spec)
    model = ModelProto()
    model.CopyFrom(source.model)
    for info in model.graph.input:
        if info.name == place.input.name:
            sizes = ([1] if place.is_batched else []) + list(place.dims)
            for dim, size in zip(info.type.tensor_type.shape.dim, sizes, strict=True):
                dim.dim_value = size
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        try:
            probe(path)
        except ModelError as error:
            raise type(error)(str(error).replace(str(path), str(source.path))) from error
