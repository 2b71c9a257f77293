"""The settings file as an option of commands."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bridge.settings import BridgeSettings

SETTINGS = Path("bridge.toml")

ConfigOption = Annotated[
    Path, typer.Option("-c", "--config", help="The settings file; mt5-onnx init makes one.")
]


def read_settings(path: Path) -> "BridgeSettings":
    """Return the settings that ``path``, the environment and the keyring hold."""
    from bridge.settings import load_settings, system_keyring

    return load_settings(path, os.environ, system_keyring)
