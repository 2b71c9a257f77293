"""What the first row of every run says of account and versions."""

import platform
from importlib.metadata import version

from bridge import __version__
from bridge.mt5.records import AccountInfo

_PACKAGES = ("numpy", "onnxruntime", "pydantic")


def account_facts(account: AccountInfo) -> dict[str, object]:
    """Return whose account it is, and what was on it."""
    return {
        "login": account.login,
        "server": account.server,
        "currency": account.currency,
        "balance": account.balance,
    }


def versions() -> dict[str, str]:
    """Return the versions of the bridge, Python and the libraries that decide."""
    return {
        "mt5-onnx-bridge": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }
