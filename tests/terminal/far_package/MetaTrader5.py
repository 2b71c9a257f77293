"""A package for rpyc servers in tests: the paper terminal with troubles, see ``host_modules``.

The folder that FAR_FOLDER names has the troubles, the account and the calls that came in.
"""

import os
from typing import Any

from terminal.host_modules import troubled

_folder = os.environ["FAR_FOLDER"]
_terminal = troubled(_folder, os.path.join(_folder, "paper.db"))


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__version__":
        raise AttributeError(name)
    return getattr(_terminal, name)
