"""Files of bars and ticks, as terminals and programs write them.

::

    loaded = load(Path("EURUSD_H1.csv"), Stated())
    loaded.rates, loaded.report
"""

from bridge.market.importer.load import Loaded, load
from bridge.market.importer.period import Gap
from bridge.market.importer.report import Report
from bridge.market.importer.stated import DateOrder, Side, Stated

__all__ = ["DateOrder", "Gap", "Loaded", "Report", "Side", "Stated", "load"]
