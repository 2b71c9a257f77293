"""The one locator of what ships with the project: models, sample bars, MQL5 templates."""

from pathlib import Path

from bridge.errors import BridgeError

_PACKAGE = Path(__file__).resolve().parent


def share_dir(name: str) -> Path:
    """Return the shipped folder ``name``, from the wheel or from the checkout.

    Args:
        name: A path below the shipped tree, e.g. ``models/sample_bars``.

    Raises:
        BridgeError: The installation lacks it.
    """
    for root in (_PACKAGE / "_share", _PACKAGE.parent):
        if (root / name).is_dir():
            return root / name
    raise BridgeError(
        f"the installation lacks its folder {name}: install mt5-onnx-bridge again from a wheel "
        "or from a whole checkout"
    )
