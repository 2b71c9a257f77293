"""What the page's script draws: curves of the account, and prices with the trades on them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from bridge.report.course import Numbers
from bridge.report.page.packing import kept, packed, packed_times
from bridge.report.story import Line, Story, Times, quotes_of
from bridge.report.training import Span

Chart = dict[str, Any]
"""A chart as plain values, as ``page.js`` reads them."""


def account_chart(story: Story, spans: Iterable[Span]) -> Chart:
    """Return equity and balance, with the drawdown of equity below."""
    chosen = kept(story.equity)
    return {
        "id": "account",
        "kind": "account",
        "digits": 2,
        "time": packed_times(story.time[chosen]),
        "series": [
            {"name": "Balance", "colour": "balance", "values": packed(story.balance[chosen])},
            {"name": "Equity", "colour": "equity", "values": packed(story.equity[chosen])},
        ],
        "spans": _shades(spans, story.time),
        "trades": [],
    }


def price_chart(story: Story, symbol: str, spans: Iterable[Span]) -> Chart | None:
    """Return the bid at the close of each bar, with entries and exits; None without quotes."""
    line = quotes_of(story, symbol)
    times, bids = _known(line) if line else (np.zeros(0, np.int64), np.zeros(0))
    if not len(bids):
        return None
    chosen = kept(bids)
    return {
        "id": f"price-{symbol}",
        "kind": "price",
        "symbol": symbol,
        "digits": digits_of(bids),
        "time": packed_times(times[chosen]),
        "series": [{"name": "Bid", "colour": "price", "values": packed(bids[chosen])}],
        "spans": _shades(spans, times),
        "trades": [
            [number, trade.opened, trade.price_open, trade.closed, trade.price_close, trade.side]
            for number, trade in enumerate(story.course.trades)
            if trade.symbol == symbol and trade.opened is not None
        ],
    }


def _shades(spans: Iterable[Span], times: Times) -> list[list[int]]:
    """Return the spans that touch ``times``."""
    return [
        [span.first, span.last]
        for span in spans
        if len(times) and span.first <= times[-1] and span.last >= times[0]
    ]


def digits_of(prices: Numbers) -> int:
    """Return the decimals that most of ``prices`` need, 0 to 8."""
    some = prices[:: max(1, len(prices) // 200)].tolist()
    lengths = [len(f"{price:.8f}".rstrip("0").partition(".")[2]) for price in some]
    return int(np.percentile(lengths, 90))


def _known(line: Line) -> tuple[Times, Numbers]:
    known = np.isfinite(line.bid)
    return line.time[known], line.bid[known]
