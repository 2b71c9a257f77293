"""The bar store: a broker's bars on disk, by symbol and timeframe.

::

    bars = BarStore(default_folder()).read("IC Markets", "EURUSD", "H1", since="2024.01.01")
    bars.rates  # the dtype of copy_rates, oldest first, server time
"""

from bridge.market.store.place import default_folder
from bridge.market.store.series import Added, Bars, Conflicts, Series, Stored
from bridge.market.store.store import BarStore

__all__ = ["Added", "BarStore", "Bars", "Conflicts", "Series", "Stored", "default_folder"]
