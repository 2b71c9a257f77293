"""Whose bars a file holds: broker, clock and digits, said, or known from profile and store."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.errors import ConfigError, DataError
from bridge.market.clockrule import detect_clock
from bridge.market.importer import Loaded, Stated
from bridge.market.importer.stated import named
from bridge.market.store import BarStore, Series
from bridge.mt5.timeframes import timeframe

if TYPE_CHECKING:
    from bridge.terminal.paper.profile import BrokerProfile


@dataclass(frozen=True, slots=True)
class Whose:
    """A broker, as far as it is known before a file is read.

    Attributes:
        broker: Its name in the store.
        stated: What was said of the files; the clock is the profile's or the store's if need be.
        profile: Its profile; None for none.
    """

    broker: str
    stated: Stated
    profile: "BrokerProfile | None"

    @classmethod
    def of(
        cls, store: BarStore, broker: str | None, profile: str | None, stated: Stated
    ) -> "Whose":
        """Return what options, profile and store say.

        Raises:
            ConfigError: No broker is named, or the profile can't be read.
        """
        from bridge.terminal.paper.profile import BrokerProfile

        known = BrokerProfile.load(profile) if profile else None
        name = broker or (known.name if known else None)
        if not name:
            raise ConfigError(
                "whose bars they are is in no file: say --broker, any name that tells brokers "
                "apart, or --profile"
            )
        clocks = {each.series.clock for each in store.series() if each.series.broker == name}
        stored = clocks.pop() if len(clocks) == 1 else None
        clock = stated.clock or (known.server_clock if known else None) or stored
        return cls(name, replace(stated, clock=clock), known)

    def stated_for(self, path: Path) -> Stated:
        """Return what is known of a file before it is read."""
        terms = self._terms(self.stated.symbol or named(path).symbol)
        if self.stated.digits is not None or terms is None:
            return self.stated
        return replace(self.stated, digits=int(terms["digits"]))

    def series_of(self, found: Loaded) -> Series:
        """Return whose bars were found.

        Raises:
            DataError: The file does not say its symbol, has no closed bar, or nobody said which
                clock rule the broker has.
        """
        if not len(found.rates):
            raise DataError(
                f"no bars in {found.path}: its {found.report.ticks} ticks close no "
                f"{found.timeframe.name} bar, export more of them"
            )
        if not found.symbol:
            raise DataError(f"{found.path} does not say whose bars it has: say --symbol")
        if self.stated.clock is None:
            raise DataError(
                f"the broker's clock rule is not in {found.path}: say --clock, one of utc, eet-eu, "
                f"eet-us, or an offset such as utc+3{_hint(found)}"
            )
        terms = self._terms(found.symbol)
        return Series(
            self.broker,
            found.symbol,
            found.timeframe,
            self.stated.clock,
            found.digits,
            found.report.absent,
            self.profile.name if self.profile else None,
            self.profile.sha256 if self.profile else None,
            None if terms is None else {"name": found.symbol, **terms},
        )

    def _terms(self, symbol: str | None) -> dict[str, Any] | None:
        return self.profile.symbols.get(symbol) if self.profile and symbol else None


def _hint(found: Loaded) -> str:
    if found.timeframe.seconds > timeframe("H1").seconds:
        return ""
    seen = detect_clock({found.symbol or "": found.rates}, found.timeframe)
    return f"; {seen.evidence}" if seen.rule else ""
