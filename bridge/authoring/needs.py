"""Libraries that only making models needs."""

import importlib
from typing import Any

from bridge.errors import ConfigError


def authoring_library(name: str) -> Any:
    """Return a library of the extra ``authoring``.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"making this model needs {name}, which is not installed ({error}): "
            'run pip install "mt5-onnx-bridge[authoring]"'
        ) from error
