"""A broker's bars in the store, as paper runs and back-tests take them."""

from collections.abc import Sequence
from pathlib import Path

from bridge.market.aggregate import can_make
from bridge.market.store import BarStore
from bridge.market.store.place import default_folder
from bridge.mt5.rates import RatesArray
from bridge.mt5.timeframes import Timeframe
from bridge.settings import PaperSettings

Bars = tuple[Timeframe, RatesArray]


class Shelf:
    """A broker's bars in the store.

    Args:
        store: All bars of the user.
        broker: Whose are read.

    Attributes:
        clocks: Title of each series that was read -> rule of its times.
        profile: Name of the profile that came with them; None where none did.
    """

    def __init__(self, store: BarStore, broker: str) -> None:
        self._store = store
        self._broker = broker
        self.clocks: dict[str, str] = {}
        self.profile: str | None = None

    @classmethod
    def of(cls, settings: PaperSettings) -> "Shelf | None":
        """Return the one that ``settings`` name, or None."""
        if settings.broker is None:
            return None
        folder = Path(settings.store) if settings.store else default_folder()
        return cls(BarStore(folder), settings.broker)

    def read(self, symbol: str, frame: Timeframe) -> RatesArray:
        """Return all bars of a symbol."""
        found = self._store.read(self._broker, symbol, frame.name)
        self.clocks[found.series.title] = found.series.clock
        self.profile = self.profile or found.series.profile
        return found.rates

    def finest(self, symbol: str, needed: Sequence[Timeframe]) -> Bars:
        """Return the finest bars of ``symbol`` of which all ``needed`` timeframes can be made."""
        stored = [
            each.series.timeframe
            for each in self._store.series()
            if (each.series.broker, each.series.symbol) == (self._broker, symbol)
        ]
        fit = [one for one in stored if all(can_make(other, one) for other in needed)]
        # Without any, the store says in a sentence what there is.
        frame = min(fit, key=lambda each: each.seconds, default=needed[0])
        return frame, self.read(symbol, frame)
