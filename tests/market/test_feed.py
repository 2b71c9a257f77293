"""The feed on a terminal that says what a broker's history says: short, rewritten, forming."""

import numpy as np
import pytest

from bridge.errors import DataError
from bridge.market.feed import ClosedBarFeed, Rewritten, ShortHistory
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.timeframes import timeframe
from bridge.terminal.adapter import ModuleTerminal

M15 = timeframe("M15")
TEN = 1_758_016_800  # 10:00


def bars(*closes: float, start: int = TEN) -> RatesArray:
    rows = []
    for number, close in enumerate(closes):
        rows.append((start + 900 * number, 1.1, 1.2, 1.0, close, 10, 5, 0))
    return rates_of(rows)


class Broker(ModuleTerminal):
    """Answers with what it is given; the last row is the forming bar."""

    def __init__(self) -> None:
        super().__init__(None)
        self.known = bars()

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        stop = len(self.known) - start_pos
        return self.known[max(0, stop - count) : stop]


def feed_of(broker: Broker, *, depth: int, after: int) -> ClosedBarFeed:
    return ClosedBarFeed(broker, symbol="EURUSD", timeframe=M15, depth=depth, after=after)


def test_b06_a_forming_bar_is_no_bar_and_a_closed_one_comes_once() -> None:
    broker = Broker()
    feed = feed_of(broker, depth=1, after=TEN - 900)
    broker.known = bars(1.1, 1.1001, start=TEN - 900)
    assert feed.next() is None
    broker.known = bars(1.1, 1.1004, 1.1005, start=TEN - 900)
    found = feed.next()
    assert found is not None
    assert (found.time, found.closed_at, found.rates["close"][-1]) == (TEN, TEN + 900, 1.1004)
    assert feed.next() is None


def test_b08_a_short_history_is_asked_for_again_and_never_padded() -> None:
    broker = Broker()
    feed = feed_of(broker, depth=120, after=0)
    for _ in range(2):
        broker.known = bars(*[1.1] * 61)
        with pytest.raises(ShortHistory, match="60 of 120 closed bars"):
            feed.next()
    broker.known = bars(*[1.1] * 121)
    found = feed.next()
    assert found is not None
    assert len(found.rates) == 120


def test_b11_a_bar_that_the_server_rewrites_is_told_and_the_new_one_counts() -> None:
    broker = Broker()
    feed = feed_of(broker, depth=3, after=0)
    broker.known = bars(1.1, 1.1, 1.1, 1.1)
    first = feed.next()
    assert first is not None
    assert first.rewritten == ()
    broker.known = bars(1.1, 1.1, 1.1003, 1.1, 1.1)
    again = feed.next()
    assert again is not None
    assert again.rewritten == (
        Rewritten(TEN + 1_800, (1.1, 1.2, 1.0, 1.1), (1.1, 1.2, 1.0, 1.1003)),
    )
    assert again.rates["close"].tolist() == [1.1, 1.1003, 1.1]
    broker.known = bars(1.1, 1.1, 1.1003, 1.1, 1.1, 1.1)
    third = feed.next()
    assert third is not None
    assert third.rewritten == ()


def test_an_impossible_bar_is_refused_once() -> None:
    broker = Broker()
    feed = feed_of(broker, depth=2, after=0)
    broker.known = bars(1.1, np.nan, 1.1)
    with pytest.raises(DataError, match="not a positive number"):
        feed.next()
    assert feed.next() is None


def test_b12_a_weekend_is_no_bar() -> None:
    """Thursday, Friday, Monday, Tuesday: four bars in, four out, and the mean is of three bars."""
    days = [parse_day(day) for day in ("2025-06-05", "2025-06-06", "2025-06-09", "2025-06-10")]
    closes = [1.14400, 1.13950, 1.14210, 1.14240]
    rows = [(day, 1.14, 1.2, 1.1, close, 10, 5, 0) for day, close in zip(days, closes, strict=True)]
    broker = Broker()
    broker.known = rates_of([*rows, (days[-1] + 86_400, 1.14, 1.2, 1.1, 1.14, 1, 5, 0)])
    feed = ClosedBarFeed(broker, symbol="EURUSD", timeframe=timeframe("D1"), depth=4, after=0)
    found = feed.next()
    assert found is not None
    assert found.rates["time"].tolist() == days
    means = [float(found.rates["close"][bar - 2 : bar + 1].mean()) for bar in (2, 3)]
    assert [round(mean, 6) for mean in means] == [1.141867, 1.141333]


def parse_day(day: str) -> int:
    return int(np.datetime64(day, "s").astype(np.int64))
