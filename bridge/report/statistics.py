"""Statistics of an account: read from its deals and its equity, nothing else."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal

_TRADES = (mt5.DEAL_TYPE_BUY, mt5.DEAL_TYPE_SELL)
_OUT = (mt5.DEAL_ENTRY_OUT, mt5.DEAL_ENTRY_INOUT, mt5.DEAL_ENTRY_OUT_BY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What came of a run. Money in the account currency.

    Attributes:
        trades: Positions with at least one closing deal.
        win_rate: Share of them whose net result is above 0; None without trades.
        profit_factor: Sum of winning net results over the sum of losing ones; None without losses.
        net_profit: Profit, swap, commission and fee of all deals, deposits left out.
        max_drawdown: Largest fall of equity from an earlier height, >= 0.
        max_drawdown_share: The same as a share of that height.
    """

    trades: int
    win_rate: float | None
    profit_factor: float | None
    net_profit: float
    max_drawdown: float
    max_drawdown_share: float
    commission: float
    swap: float


def net(deal: TradeDeal) -> float:
    """Return what a deal did to the balance."""
    return deal.profit + deal.swap + deal.commission + deal.fee


def statistics(deals: Sequence[TradeDeal], equity: Sequence[float]) -> Statistics:
    """Return the statistics of a run.

    Args:
        deals: All deals of the account, oldest first; balance operations are left out.
        equity: Account equity over time, oldest first.
    """
    trading = [deal for deal in deals if deal.type in _TRADES]
    results = _closed(trading)
    lost = -sum(result for result in results if result < 0)
    won = sum(result for result in results if result > 0)
    fall, share = _drawdown(equity)
    return Statistics(
        trades=len(results),
        win_rate=sum(result > 0 for result in results) / len(results) if results else None,
        profit_factor=won / lost if lost else None,
        net_profit=round(sum(net(deal) for deal in trading), 8),
        max_drawdown=fall,
        max_drawdown_share=share,
        commission=round(sum(deal.commission + deal.fee for deal in trading), 8),
        swap=round(sum(deal.swap for deal in trading), 8),
    )


def _closed(deals: Sequence[TradeDeal]) -> list[float]:
    """Return the net result of each position that was closed, in whole or part."""
    results: defaultdict[int, float] = defaultdict(float)
    for deal in deals:
        results[deal.position_id] += net(deal)
    closed = {deal.position_id for deal in deals if deal.entry in _OUT}
    return [round(result, 8) for position, result in results.items() if position in closed]


def _drawdown(equity: Sequence[float]) -> tuple[float, float]:
    """Return the largest fall and the largest relative fall; they may lie at different places."""
    peak, fall, share = float("-inf"), 0.0, 0.0
    for value in equity:
        peak = max(peak, value)
        fall = max(fall, peak - value)
        share = max(share, (peak - value) / peak if peak > 0 else 0.0)
    return round(fall, 8), share
