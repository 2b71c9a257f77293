"""Windows of a history, as a contract's input tensors: views, nothing is copied.

The batched twin of what a session fills for one window.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from bridge.model.contract import Contract, Input
from bridge.mt5.rates import RatesArray

_NUMPY = {"double": np.float64, "float": np.float32, "int64": np.int64}


def windows_of(rates: RatesArray, contract: Contract) -> dict[str, NDArray[np.generic]]:
    """Return the inputs of every window of ``rates``, oldest first.

    Args:
        rates: Shape ``(n,)``, oldest first, ``contract.window`` or more.
        contract: Names inputs, columns and layouts.

    Returns:
        For each input ``(n - window + 1, *its shape)``, read-only views.
    """
    return {item.name: _windows(rates, item, contract.window) for item in contract.inputs}


def _windows(rates: RatesArray, item: Input, window: int) -> NDArray[np.generic]:
    with np.errstate(over="ignore"):  # a price beyond float32 becomes infinity, as in a session
        series = np.stack([rates[name].astype(_NUMPY[item.dtype]) for name in item.columns])
    views = np.moveaxis(sliding_window_view(series, window, axis=1), 1, 0)
    if item.layout == "batch,columns,window":
        return views
    return views[:, 0] if item.layout == "batch,window" else np.moveaxis(views, 1, 2)
