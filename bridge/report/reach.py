"""How far trades went and what their spread cost, from the quotes at the close of bars."""

from statistics import median

import numpy as np

from bridge.report.course import Excursion
from bridge.report.story import Line, Story, quotes_of
from bridge.report.trades import Trade


def values_a_lot(trades: tuple[Trade, ...]) -> dict[str, float]:
    """Return, by symbol, the account currency that a move of 1.0 brings a lot: the trades' median.

    For most symbols it is one number; where a rate of exchange comes in, it is about it.
    """
    seen: dict[str, list[float]] = {}
    for trade in trades:
        money = trade.money_a_price
        if money is not None and trade.volume:
            seen.setdefault(trade.symbol, []).append(money / trade.volume)
    return {symbol: median(found) for symbol, found in seen.items()}


def excursions(story: Story) -> tuple[Excursion | None, ...]:
    """Return how far each trade went; None where its opening or its quotes are not known."""
    trades = story.course.trades
    values = values_a_lot(trades)
    lines = {trade.symbol: quotes_of(story, trade.symbol) for trade in trades}
    return tuple(
        _excursion(trade, lines[trade.symbol], values.get(trade.symbol)) for trade in trades
    )


def _excursion(trade: Trade, line: Line | None, value: float | None) -> Excursion | None:
    if line is None or trade.opened is None or trade.price_open is None:
        return None
    money = trade.money_a_price or (value or 0.0) * trade.volume
    if not money:
        return None
    first, last = np.searchsorted(line.time, [trade.opened, trade.closed], side="right")
    quotes = (line.bid if trade.side > 0 else line.ask)[first:last]
    prices = np.append(quotes[np.isfinite(quotes)], trade.price_close)
    moves = trade.side * (prices - trade.price_open) * money
    return Excursion(max(float(moves.max()), 0.0), min(float(moves.min()), 0.0))


def spread_cost(story: Story) -> float | None:
    """Return what the spread cost all trades, account currency, >= 0; None when no quote tells it.

    Of each trade, the spread at the close of the bar before it was opened.
    """
    trades = story.course.trades
    values = values_a_lot(trades)
    found = [_spread(story, trade, values.get(trade.symbol)) for trade in trades]
    known = [each for each in found if each is not None]
    return sum(known) if known else None


def _spread(story: Story, trade: Trade, value: float | None) -> float | None:
    line = quotes_of(story, trade.symbol)
    if line is None or trade.opened is None or value is None:
        return None
    at = int(np.searchsorted(line.time, trade.opened, side="right")) - 1
    spread = float(line.ask[at] - line.bid[at]) if at >= 0 else float("nan")
    return spread * value * trade.volume if np.isfinite(spread) else None
