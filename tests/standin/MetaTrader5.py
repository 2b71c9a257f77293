"""The paper terminal under the package's name: what the child of a live run imports in tests.

The file that BRIDGE_STANDIN names says what is played; see ``live_support``.
"""

import os
from typing import Any

from live_support import opened

_terminal = opened(os.environ["BRIDGE_STANDIN"])


def __getattr__(name: str) -> Any:
    return getattr(_terminal, name)
