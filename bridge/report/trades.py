"""Trades: each closing deal with what it closed, as MetaTrader's tester counts them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal

TRADING = (mt5.DEAL_TYPE_BUY, mt5.DEAL_TYPE_SELL)
CLOSING = (mt5.DEAL_ENTRY_OUT, mt5.DEAL_ENTRY_INOUT, mt5.DEAL_ENTRY_OUT_BY)
# Less than this is no volume: sums of hundredths are not exact.
_DUST = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """A position, or the part of one, that a deal closed. Money in the account currency.

    Attributes:
        side: +1 long, -1 short.
        volume: Lots closed.
        opened, closed: Server epoch seconds; ``opened`` is None when the opening is not known.
        price_open: Mean price of what was open; None likewise.
        profit, swap, costs: Of the closing deal; ``costs`` are commission and fee.
        entry_costs: Commission and fee of the opening, by the share of volume closed.
        comment: Of the closing deal.
    """

    position: int
    symbol: str
    magic: int
    side: int
    volume: float
    opened: int | None
    closed: int
    price_open: float | None
    price_close: float
    profit: float
    swap: float
    costs: float
    entry_costs: float
    comment: str

    @property
    def result(self) -> float:
        """What the closing deal did to the balance: the tester's profit of a trade."""
        return round(self.profit + self.swap + self.costs, 8)

    @property
    def net(self) -> float:
        """The same less the costs of the opening."""
        return round(self.result + self.entry_costs, 8)

    @property
    def money_a_price(self) -> float | None:
        """Account currency that a move of 1.0 in the price brought; None when it can't be told."""
        if self.price_open is None or self.price_close == self.price_open or not self.profit:
            return None
        return self.profit / (self.side * (self.price_close - self.price_open))


@dataclass(slots=True)
class _Open:
    """What is open of one position."""

    side: int = 0
    volume: float = 0.0
    value: float = 0.0
    costs: float = 0.0
    since: int | None = None
    magic: int = 0

    def add(self, deal: TradeDeal, volume: float) -> None:
        if self.since is None:
            self.since, self.side, self.magic = deal.time, side_of(deal), deal.magic
        self.volume += volume
        self.value += volume * deal.price

    def take(self, volume: float) -> tuple[float | None, float]:
        """Take off so much; return the mean price and the share of the entry's costs."""
        if self.volume < _DUST:
            return None, 0.0
        share = min(volume / self.volume, 1.0)
        price, costs = self.value / self.volume, self.costs * share
        self.volume -= self.volume * share
        self.value -= self.value * share
        self.costs -= costs
        return price, costs


@dataclass(slots=True)
class _Books:
    """Positions by their identifier, and the trades so far."""

    open: dict[int, _Open] = field(default_factory=dict)
    trades: list[Trade] = field(default_factory=list)

    def take(self, deal: TradeDeal) -> None:
        held = self.open.setdefault(deal.position_id, _Open())
        if deal.entry not in CLOSING:
            held.add(deal, deal.volume)
            held.costs += deal.commission + deal.fee
            return
        reverses = deal.entry == mt5.DEAL_ENTRY_INOUT
        closed = held.volume if reverses and held.volume > _DUST else deal.volume
        self._close(held, deal, closed)
        if held.volume < _DUST:
            self.open[deal.position_id] = _Open()
        if reverses and deal.volume - closed > _DUST:
            self.open[deal.position_id].add(deal, deal.volume - closed)

    def _close(self, held: _Open, deal: TradeDeal, volume: float) -> None:
        since = held.since
        price, entry_costs = held.take(volume)
        self.trades.append(
            Trade(
                position=deal.position_id,
                symbol=deal.symbol,
                magic=held.magic or deal.magic,
                side=-side_of(deal),
                volume=round(volume, 8),
                opened=since,
                closed=deal.time,
                price_open=price,
                price_close=deal.price,
                profit=deal.profit,
                swap=deal.swap,
                costs=deal.commission + deal.fee,
                entry_costs=entry_costs,
                comment=deal.comment,
            )
        )


def trades_of(deals: Iterable[TradeDeal]) -> tuple[Trade, ...]:
    """Return a trade for each closing deal, in the order of ``deals`` (oldest first).

    Deals that trade nothing, such as deposits, are left out.
    """
    return tuple(_books(deals).trades)


def open_volume(deals: Iterable[TradeDeal]) -> float:
    """Return the lots that are open after ``deals``, whatever their side."""
    return round(sum(held.volume for held in _books(deals).open.values()), 8)


def _books(deals: Iterable[TradeDeal]) -> _Books:
    books = _Books()
    for deal in deals:
        if deal.type in TRADING:
            books.take(deal)
    return books


def side_of(deal: TradeDeal) -> int:
    """Return +1 for a buy, -1 for a sell."""
    return 1 if deal.type == mt5.DEAL_TYPE_BUY else -1
