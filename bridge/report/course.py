"""The course of an account: what its statistics are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bridge.mt5.records import TradeDeal
from bridge.report.statistics import net
from bridge.report.trades import CLOSING, TRADING, Trade, trades_of

Numbers = NDArray[np.float64]

_NOTHING: Numbers = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Excursion:
    """How far a trade went; account currency.

    Attributes:
        best: Largest profit while it was open, >= 0 (MFE).
        worst: Deepest loss while it was open, <= 0 (MAE).
    """

    best: float
    worst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """An account from its deposit to its last deal. Money in the account currency.

    Deposits and withdrawals on the way are left out of all of it.

    Attributes:
        deposit: Balance before the first trading deal.
        deals: Trading deals, oldest first.
        trades: One for each closing deal, in order.
        balance: The deposit, then the balance after each deal; shape ``(deals + 1,)``.
        closes: The deposit, then the balance after each closing deal; shape ``(trades + 1,)``.
        equity: Equity at the close of each bar, oldest first; empty when it is not known.
        bars_a_year: Bars of that length in a year of 252 days; None when it is not known.
        excursions: Of each trade, or None; empty when no prices are known.
    """

    deposit: float
    deals: tuple[TradeDeal, ...]
    trades: tuple[Trade, ...]
    balance: Numbers
    closes: Numbers
    equity: Numbers = field(default_factory=lambda: _NOTHING)
    bars_a_year: float | None = None
    excursions: tuple[Excursion | None, ...] = ()

    @property
    def results(self) -> list[float]:
        """The result of each trade: profit, swap, commission and fee of its closing deal."""
        return [trade.result for trade in self.trades]

    @property
    def wins(self) -> list[bool]:
        """Whether each trade won; a result of 0 counts as a profit, as in the tester."""
        return [result >= 0 for result in self.results]


def course_of(
    deals: Sequence[TradeDeal],
    deposit: float,
    *,
    equity: Numbers = _NOTHING,
    bars_a_year: float | None = None,
    excursions: tuple[Excursion | None, ...] = (),
) -> Course:
    """Return the course of an account.

    Args:
        deals: All deals, oldest first; what is no trade is left out.
        deposit: Balance before the first of them that trades.
        equity: As :class:`Course` has it, and so the rest.
        bars_a_year: Of the bars of ``equity``.
        excursions: One for each closing deal, or none at all.
    """
    trading = tuple(deal for deal in deals if deal.type in TRADING)
    balance = np.round(deposit + np.cumsum([0.0, *(net(deal) for deal in trading)]), 8)
    closing = [number for number, deal in enumerate(trading, 1) if deal.entry in CLOSING]
    return Course(
        deposit=deposit,
        deals=trading,
        trades=trades_of(trading),
        balance=balance,
        closes=balance[[0, *closing]],
        equity=equity,
        bars_a_year=bars_a_year,
        excursions=excursions,
    )
