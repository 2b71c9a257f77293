from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge.clock import ManualClock
from bridge.errors import DataError, TerminalError
from bridge.market.aggregate import aggregate
from bridge.market.barfile import read_bars
from bridge.market.fetch import Fetch, Progress, fetch
from bridge.market.store import BarStore, Conflicts, Series
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import parse, server_clock, text
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

SAMPLE = share_dir("models/sample_bars")
H1 = timeframe("H1")
OF = Series("Broker", "EURUSD", H1, "eet-us", 5)


@pytest.fixture(scope="module")
def recorded() -> RatesArray:
    return read_bars(SAMPLE / "EURUSD_H1_2017.csv")


class Desk:
    """The paper terminal at a moment of the recording; it counts what it is asked for."""

    def __init__(self, rates: RatesArray, now: str, maxbars: int = 100_000) -> None:
        profile = BrokerProfile.load(SAMPLE / "profile.json")
        profile = profile.model_copy(update={"maxbars": maxbars})
        self.server = server_clock(profile.server_clock)
        self.clock = ManualClock(self.server.to_utc(parse(now)))
        self.paper = PaperTerminal(profile, {"EURUSD": (H1, rates)}, self.clock, None)
        self.paper.initialize()
        self.terminal = ModuleTerminal(self.paper)
        self.asked: list[tuple[int, int]] = []
        self.before: Callable[[int], None] = lambda call: None

    def __getattr__(self, verb: str) -> Any:
        return getattr(self.terminal, verb)

    def copy_rates_from_pos(self, symbol: str, of: int, place: int, count: int) -> RatesArray:
        self.before(len(self.asked))
        self.asked.append((place, count))
        return self.terminal.copy_rates_from_pos(symbol, of, place, count)

    def go_to(self, now: str) -> None:
        self.clock.wait_until(self.server.to_utc(parse(now)))


def bring(desk: Desk, folder: Path, **fields: Any) -> tuple[RatesArray, Progress]:
    store = BarStore(folder)
    stored, done = fetch(desk, store, Fetch(OF, **fields), ManualClock(0))
    assert stored.series.title == OF.title
    return store.read("Broker", "EURUSD", "H1").rates, done


def closed(recorded: RatesArray, now: str) -> RatesArray:
    """Return the bars that are over when the bar of ``now`` forms."""
    return recorded[recorded["time"] < H1.open_of(parse(now))]


NOW = "2017.05.10 12:30"


def test_all_closed_bars_come_in_pieces_under_the_terminals_limit(
    tmp_path: Path, recorded: RatesArray
) -> None:
    desk = Desk(recorded, NOW, maxbars=500)
    rates, done = bring(desk, tmp_path)
    assert np.array_equal(rates, closed(recorded, NOW))
    assert done.new == len(rates)
    assert {count for _, count in desk.asked} == {499}
    assert desk.asked[0] == (1, 499)
    desk.paper.close()


def test_a_fetch_that_was_broken_off_goes_on_below_what_it_has(
    tmp_path: Path, recorded: RatesArray
) -> None:
    desk = Desk(recorded, NOW)

    def broken(call: int) -> None:
        if call == 3:
            raise TerminalError("copy_rates_from_pos", -10004, "No IPC connection")

    desk.before = broken
    with pytest.raises(TerminalError):
        bring(desk, tmp_path, piece=400)
    (stored,) = BarStore(tmp_path).series()
    assert stored.bars == 3 * 399 + 1
    later = "2017.05.11 10:15"
    desk.go_to(later)
    desk.before, desk.asked = (lambda call: None), []
    rates, done = bring(desk, tmp_path, piece=400)
    assert np.array_equal(rates, closed(recorded, later))
    assert done.bars < len(rates) - 600  # what is known is skipped
    assert desk.asked[1][0] > 1_100
    desk.asked = []
    again, done = bring(desk, tmp_path, piece=400)
    assert done.new == 0
    assert np.array_equal(again, rates)
    assert len(desk.asked) <= 3
    (stored,) = BarStore(tmp_path).series()
    assert [tuple(map(text, span)) for span in stored.covered] == [
        (text(int(rates["time"][0])), text(int(rates["time"][-1])))
    ]
    desk.paper.close()


def test_bars_that_form_meanwhile_leave_no_hole(tmp_path: Path, recorded: RatesArray) -> None:
    desk = Desk(recorded, NOW)
    hours = iter(range(13, 24))
    desk.before = lambda call: desk.go_to(f"2017.05.10 {next(hours, 23)}:30")
    rates, _ = bring(desk, tmp_path, piece=700)
    assert np.array_equal(rates, closed(recorded, "2017.05.10 13:30"))
    desk.paper.close()


def test_bars_of_a_file_that_the_terminal_lacks_are_no_obstacle(
    tmp_path: Path, recorded: RatesArray
) -> None:
    lacking = np.delete(recorded, np.arange(1_500, 1_700))
    desk = Desk(lacking, NOW)
    bring(desk, tmp_path, piece=400, since=parse("2017.03.20"))
    BarStore(tmp_path).add(OF, closed(recorded, NOW)[1_000:])
    rates, _ = bring(desk, tmp_path, piece=400)
    assert np.array_equal(rates, closed(recorded, NOW))
    desk.paper.close()


def test_since_ends_a_fetch(tmp_path: Path, recorded: RatesArray) -> None:
    desk = Desk(recorded, NOW)
    rates, _ = bring(desk, tmp_path, piece=400, since=parse("2017.04.03"))
    assert text(int(rates["time"][0])) == "2017.04.03 00:00:00"
    with pytest.raises(DataError, match=r"no closed bar of EURUSD H1 from 2017\.06\.01"):
        bring(desk, tmp_path, since=parse("2017.06.01"))
    desk.paper.close()


def test_history_that_the_server_rewrote_is_said(tmp_path: Path, recorded: RatesArray) -> None:
    """B11."""
    other = recorded.copy()
    other["close"][2_000] = other["low"][2_000]
    BarStore(tmp_path).add(OF, closed(other, NOW))
    desk = Desk(recorded, NOW)
    with pytest.raises(DataError, match="1 bar contradicts the store's EURUSD H1 of Broker"):
        bring(desk, tmp_path)
    rates, _ = bring(desk, tmp_path, conflicts=Conflicts.REPLACE)
    assert np.array_equal(rates, closed(recorded, NOW))
    desk.paper.close()


def test_coarser_bars_come_from_the_terminal_too(tmp_path: Path, recorded: RatesArray) -> None:
    desk = Desk(recorded, NOW)
    h4 = timeframe("H4")
    series = Series("Broker", "EURUSD", h4, "eet-us", 5)
    fetch(desk, BarStore(tmp_path), Fetch(series), ManualClock(0))
    rates = BarStore(tmp_path).read("Broker", "EURUSD", "H4").rates
    whole = aggregate(closed(recorded, NOW), H1, h4)
    assert np.array_equal(rates, whole[whole["time"] < h4.open_of(parse(NOW))])
    desk.paper.close()
