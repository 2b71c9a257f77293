"""The broker's desk: what every rule of trading needs at hand, and what the account is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo
from bridge.terminal.paper.commission import Commissions
from bridge.terminal.paper.ledger import Ledger, Position
from bridge.terminal.paper.margin import Sides
from bridge.terminal.paper.market import Market, Series
from bridge.terminal.paper.money import Money
from bridge.terminal.paper.order import Order
from bridge.terminal.paper.script import Script

if TYPE_CHECKING:
    from bridge.terminal.paper.profile import AccountTerms

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Desk:
    """One account at one broker.

    Attributes:
        symbols: Specifications, all fields.
        commissions: What deals cost.
        script: What it is told to do next.
        margin_mode: As ``account_info`` shows it.
        is_hedging: Whether each deal has a position of its own.
    """

    terms: "AccountTerms"
    symbols: Mapping[str, SymbolInfo]
    market: Market
    money: Money
    ledger: Ledger
    commissions: Commissions
    script: Script = field(default_factory=Script)
    margin_mode: int = field(init=False)
    is_hedging: bool = field(init=False)
    # Revision of the ledger and the margin it had: asked for at every event, changed by few.
    _margin_at: list[tuple[int, float]] = field(default_factory=lambda: [(-1, 0.0)])

    def __post_init__(self) -> None:
        """Note what the terms say once and for all."""
        mode = self.terms.margin_mode.code
        object.__setattr__(self, "margin_mode", mode)
        object.__setattr__(self, "is_hedging", mode == mt5.ACCOUNT_MARGIN_MODE_RETAIL_HEDGING)

    @property
    def time_msc(self) -> int:
        """Server time, milliseconds."""
        # A tick's time in seconds may be a hair below its milliseconds.
        return int(self.market.now * 1000 + 1e-3)

    def switched_off(self) -> frozenset[str]:
        """Return the switches that a script has turned off for now."""
        return _NOTHING if self.script.is_empty else self.script.switched_off(self.market.now)

    def series(self, symbol: str) -> Series:
        """Return the series of a symbol that is known to have bars."""
        series = self.market.at(symbol)
        if series is None:
            raise KeyError(symbol)
        return series

    def watched(self) -> list[str]:
        """Return the symbols whose prices can change the account by themselves."""
        symbols = [one.symbol for one in self.ledger.positions.values()]
        symbols += [one.symbol for one in self.ledger.waiting.values()]
        return list(dict.fromkeys(symbols))

    def positions_of(self, symbol: str) -> list[Position]:
        """Return the open positions of a symbol, by ticket."""
        return [one for one in self.ledger.positions.values() if one.symbol == symbol]

    def waiting_of(self, symbol: str) -> list[Order]:
        """Return the waiting orders of a symbol, by ticket."""
        return [one for one in self.ledger.waiting.values() if one.symbol == symbol]

    def closing_price(self, position: Position) -> float:
        """Return the price at which a position would be closed now."""
        series = self.series(position.symbol)
        return series.ask if position.type else series.bid

    def price_of(self, order: Order) -> float:
        """Return the price that an order looks at: ask when it buys, bid when it sells."""
        series = self.series(order.symbol)
        return series.bid if order.side else series.ask

    def profit(self, position: Position) -> float:
        """Return the floating profit of a position without swap, account currency."""
        series = self.series(position.symbol)
        sign, closed = (-1, series.ask) if position.type else (1, series.bid)
        opened, volume = position.price_open, position.volume
        return self.money.profit(series.info, sign, volume, opened, closed)

    def floating(self) -> float:
        """Return the floating profit of all positions, swap included."""
        total = 0.0
        for one in self.ledger.positions.values():
            total += self.profit(one) + one.swap
        return self.money.round(total)

    def equity(self) -> float:
        """Return balance plus floating profit."""
        return self.money.round(self.ledger.balance + self.floating())

    def margin(self) -> float:
        """Return the margin in use, account currency."""
        revision, margin = self._margin_at[0]
        if revision != self.ledger.revision:
            margin = self.margin_after(None)
            self._margin_at[0] = (self.ledger.revision, margin)
        return margin

    def margin_after(self, change: "Change | None") -> float:
        """Return the margin as it would be with ``change``."""
        waiting = sum([one.volume * one.margin_per_lot for one in self.ledger.waiting.values()])
        return self.money.round(self._margin_with(change) + waiting)

    def _margin_with(self, change: "Change | None") -> float:
        table, hedging, total = self._sides(), self.is_hedging, 0.0
        for sides in table.values():
            total += sides.total(hedging=hedging)
        if change is None:
            return total
        sides = table.get(change.symbol) or Sides(self.symbols[change.symbol])
        return total + sides.order(
            change.type, change.volume, change.margin_per_lot, hedging=hedging
        )

    def _sides(self) -> dict[str, Sides]:
        table: dict[str, Sides] = {}
        for one in self.ledger.positions.values():
            sides = table.get(one.symbol) or Sides(self.symbols[one.symbol])
            table[one.symbol] = sides.plus(one.type, one.volume, one.margin_per_lot)
        return table


class Change(NamedTuple):
    """Volume that a deal would open."""

    symbol: str
    type: int
    volume: float
    margin_per_lot: float
