"""The live loop on a paper terminal whose clock is driven by hand."""

import signal
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from journal_support import begin
from models_support import write_last_move

from bridge.clock import Clock, ManualClock
from bridge.engine.jobs import Jobs
from bridge.engine.live import Runner, live
from bridge.engine.pace import Pace
from bridge.engine.scene import House
from bridge.engine.standing import Standing
from bridge.engine.step import Step, Stepper
from bridge.engine.stop import Stop
from bridge.engine.strategy import load_strategy
from bridge.engine.watch import Watch
from bridge.errors import NotConnected
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.market.barfile import read_bars
from bridge.market.feed import ClosedBarFeed
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import parse, server_clock
from bridge.mt5.timeframes import timeframe
from bridge.risk.baselines import first_baselines
from bridge.settings import LimitSettings, StrategySettings
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

FOLDER = share_dir("models/sample_bars")
PROFILE = BrokerProfile.load(FOLDER / "profile.json")
RATES = read_bars(FOLDER / "EURUSD_H1_2017.csv").copy()
SERVER = server_clock("eet-us")
H1 = timeframe("H1")
# From Friday evening into Monday: a weekend lies between.
FRIDAY = int(RATES["time"].searchsorted(parse("2017.03.10 20:00")))
# Two days of nothing are as quiet as eight hours of it, and longer.
RATES["time"][RATES["time"] >= parse("2017.03.12")] -= 40 * 3_600


class Flaky(ModuleTerminal):
    """A terminal that is away for some looks."""

    away = 0

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        if self.away > 0:
            self.away -= 1
            raise NotConnected("copy_rates_from_pos", -10004, "No IPC connection")
        return super().copy_rates_from_pos(symbol, timeframe, start_pos, count)


def run_for(tmp_path: Path, bars: int, *, away: int = 0) -> tuple[list[tuple[int, float]], int]:
    """Return (bar time, seconds after the new bar's open) of each step, and the looks taken."""
    clock = ManualClock(SERVER.to_utc(int(RATES["time"][FRIDAY])))
    settings = StrategySettings(
        model=str(write_last_move(tmp_path / "m.onnx")), symbol="EURUSD", timeframe="H1", magic=7
    )
    end = SERVER.to_utc(int(RATES["time"][FRIDAY + bars])) + 5.0
    found: list[tuple[int, float]] = []
    looks = 0
    with (
        closing(PaperTerminal(PROFILE, {"EURUSD": (H1, RATES)}, clock, None)) as paper,
        Journal(tmp_path / "journal.sqlite3", clock) as journal,
    ):
        paper.initialize()
        terminal = Flaky(paper)
        strategy = load_strategy(settings)
        before = int(RATES["time"][FRIDAY - 1])
        feed = ClosedBarFeed(
            terminal, symbol="EURUSD", timeframe=H1, depth=strategy.depth, after=before
        )
        begin(journal)
        standing = Standing(magic=7, baselines=first_baselines(0, 10_000.0))
        stepper = Stepper(
            strategy=strategy,
            terminal=terminal,
            feed=feed,
            journal=journal,
            standing=standing,
            house=House(lambda: SERVER.from_utc(clock.now()), LimitSettings(), frozenset({7})),
        )

        def on_step(step: Step) -> None:
            opened = RATES["time"][RATES["time"].searchsorted(step.bar_time) + 1]
            found.append((step.bar_time, clock.now() - SERVER.to_utc(int(opened))))
            terminal.away = away

        def is_over() -> bool:
            nonlocal looks
            looks += 1
            return clock.now() > end

        live(
            [Runner(stepper, Pace(H1, SERVER), before)],
            clock=clock,
            journal=journal,
            jobs=Jobs(journal),
            stop=Stop(),
            on_step=on_step,
            is_over=is_over,
        )
    return found, looks


def test_bars_are_noticed_within_20_milliseconds(tmp_path: Path) -> None:
    found, _ = run_for(tmp_path, 3)
    assert [time for time, _ in found] == RATES["time"][FRIDAY : FRIDAY + 3].tolist()
    assert max(late for _, late in found) <= 0.02


def test_after_a_weekend_a_bar_is_noticed_within_a_second(tmp_path: Path) -> None:
    found, looks = run_for(tmp_path, 5)
    assert [time for time, _ in found] == RATES["time"][FRIDAY : FRIDAY + 5].tolist()
    # Friday's last bar closes when Monday's first tick comes, hours after its own was over.
    gaps = np.diff(RATES["time"][FRIDAY : FRIDAY + 6])
    assert gaps.max() == 9 * 3_600
    assert all(0.0 <= late <= 1.0 for _, late in found)
    # Five waits a second, none of them denser for longer than that.
    assert looks < gaps.sum() * 5 + 20_000


def test_b09_a_terminal_that_is_away_is_told_once_and_waited_for(tmp_path: Path) -> None:
    found, _ = run_for(tmp_path, 2, away=5)
    assert len(found) == 2
    with reading(tmp_path / "journal.sqlite3") as journal:
        told = [row["text"] for row in journal.rows("events") if row["kind"] == "terminal"]
    assert told[0].startswith("no bars: copy_rates_from_pos failed with -10004")
    assert told[1] == "the terminal answers again"
    # Once for each time it goes away; the run ends during the second.
    assert len(told) == 3


def test_a_job_that_raises_is_journalled_and_ends_nothing(tmp_path: Path) -> None:
    ran = []
    with Journal(tmp_path / "journal.sqlite3", ManualClock(0.0)) as journal:
        begin(journal)
        jobs = Jobs(journal)
        jobs.every(1, "summary", lambda: [][0])
        jobs.every(1, "heartbeat", lambda: ran.append(1))
        for job in jobs._scheduler.jobs:
            job.next_run = job.next_run and job.next_run.replace(year=2000)
        jobs.run_due()
    assert ran == [1]
    with reading(tmp_path / "journal.sqlite3") as reader:
        assert [row["text"] for row in reader.rows("events")] == [
            "summary raised IndexError: list index out of range"
        ]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_asks_for_an_end_and_handlers_come_back(name: str) -> None:
    number = getattr(signal, name)
    before, stop = signal.getsignal(number), Stop()
    with stop.on_signals():
        assert not stop.is_asked
        signal.raise_signal(number)
        assert stop.reason == name
        stop.ask("later")
        assert stop.reason == name
    assert signal.getsignal(number) is before


def test_the_pace_thins_out_while_no_tick_comes() -> None:
    pace, seen = Pace(H1, SERVER), parse("2017.03.15 09:00")
    close = SERVER.to_utc(parse("2017.03.15 11:00"))
    steps = {
        late: round(pace.next_look(close + late, seen) - (close + late), 3)
        for late in (-1800.0, -0.3, -0.01, 0.0, 2.0, 5.0, 30.0, 3600.0)
    }
    assert steps == {
        -1800.0: 1.0,
        -0.3: 0.25,
        -0.01: 0.01,
        0.0: 0.01,
        2.0: 0.01,
        5.0: 0.05,
        30.0: 0.25,
        3600.0: 1.0,
    }


M1 = timeframe("M1")
MINUTES = read_bars(FOLDER / "EURUSD_H1_2017.csv")[:200].copy()
MINUTES["time"] = parse("2017.03.14 10:00") + 60 * np.arange(len(MINUTES))


class Slow(ModuleTerminal):
    """Shows each bar 0 to 4 seconds after its time, and hides it until then."""

    def __init__(self, module: PaperTerminal, clock: ManualClock) -> None:
        super().__init__(module)
        self._clock = clock

    def copy_rates_from_pos(
        self, symbol: str, timeframe: int, start_pos: int, count: int
    ) -> RatesArray:
        rates = super().copy_rates_from_pos(symbol, timeframe, start_pos, count + 1)
        newest = int(rates["time"][-1])
        shown = SERVER.to_utc(newest) + newest // 60 % 5
        return rates[1:] if self._clock.now() >= shown else rates[:-1]


def stepper_of(
    folder: Path, terminal: ModuleTerminal, journal: Journal, clock: Clock, after: int
) -> Stepper:
    settings = StrategySettings(
        model=str(write_last_move(folder / "m.onnx", timeframe="M1")),
        symbol="EURUSD",
        timeframe="M1",
        magic=7,
    )
    strategy = load_strategy(settings)
    feed = ClosedBarFeed(terminal, symbol="EURUSD", timeframe=M1, depth=strategy.depth, after=after)
    return Stepper(
        strategy=strategy,
        terminal=terminal,
        feed=feed,
        journal=journal,
        standing=Standing(magic=7, baselines=first_baselines(0, 10_000.0)),
        house=House(lambda: SERVER.from_utc(clock.now()), LimitSettings(), frozenset({7})),
    )


def test_f04_slow_work_and_late_bars_skip_and_double_nothing(tmp_path: Path) -> None:
    """M1, two seconds of work a bar, bars that show up to four seconds late, two hours."""
    first = 20
    clock = ManualClock(SERVER.to_utc(int(MINUTES["time"][first])) + 5.0)
    found: list[tuple[int, float]] = []
    with (
        closing(PaperTerminal(PROFILE, {"EURUSD": (M1, MINUTES)}, clock, None)) as paper,
        Journal(tmp_path / "journal.sqlite3", clock) as journal,
    ):
        paper.initialize()
        begin(journal)
        before = int(MINUTES["time"][first - 1])
        stepper = stepper_of(tmp_path, Slow(paper, clock), journal, clock, before)

        def on_step(step: Step) -> None:
            found.append((step.bar_time, clock.now() - SERVER.to_utc(step.bar_time + 60)))
            clock.wait_until(clock.now() + 2.0)

        live(
            [Runner(stepper, Pace(M1, SERVER), before)],
            clock=clock,
            journal=journal,
            jobs=Jobs(journal),
            stop=Stop(),
            on_step=on_step,
            is_over=lambda: len(found) >= 120,
        )
    assert [time for time, _ in found] == MINUTES["time"][first : first + 120].tolist()
    assert max(late for _, late in found) <= 7.0
    # None before the terminal showed the next bar.
    assert min(late for _, late in found) >= 0.0


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux' own account")
def test_c10_twenty_thousand_looks_leave_memory_flat(tmp_path: Path) -> None:
    """A weekend's worth of looks at a market without bars."""

    def memory() -> int:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096

    clock = ManualClock(SERVER.to_utc(int(MINUTES["time"][-1])) + 300.0)
    looks, seen = 0, {}
    with (
        closing(PaperTerminal(PROFILE, {"EURUSD": (M1, MINUTES)}, clock, None)) as paper,
        Journal(tmp_path / "journal.sqlite3", clock) as journal,
    ):
        paper.initialize()
        begin(journal)
        after = int(MINUTES["time"][-2])
        stepper = stepper_of(tmp_path, ModuleTerminal(paper), journal, clock, after)

        def is_over() -> bool:
            nonlocal looks
            looks += 1
            if looks in (2_000, 20_000):
                seen[looks] = memory()
            return looks >= 20_000

        def attend() -> None:
            stepper.lookout.look()

        live(
            [Runner(stepper, Pace(M1, SERVER), after)],
            clock=clock,
            journal=journal,
            jobs=Jobs(journal),
            stop=Stop(),
            on_step=lambda step: None,
            attend=attend,
            is_over=is_over,
        )
    assert seen[20_000] <= seen[2_000] + 20_000_000


def test_a_look_that_waits_is_broken_off_by_a_signal(tmp_path: Path) -> None:
    """A read that hangs, as a reconnect may for a minute: the signal ends it, and the loop."""
    clock = ManualClock(SERVER.to_utc(int(MINUTES["time"][30])))

    class Hanging(ModuleTerminal):
        def copy_rates_from_pos(
            self, symbol: str, timeframe: int, start_pos: int, count: int
        ) -> RatesArray:
            signal.raise_signal(signal.SIGINT)
            raise AssertionError("it went on reading")

    with (
        closing(PaperTerminal(PROFILE, {"EURUSD": (M1, MINUTES)}, clock, None)) as paper,
        Journal(tmp_path / "journal.sqlite3", clock) as journal,
        Stop().on_signals() as stop,
    ):
        paper.initialize()
        begin(journal)
        stepper = stepper_of(tmp_path, Hanging(paper), journal, clock, 0)
        live(
            [Runner(stepper, Pace(M1, SERVER), int(MINUTES["time"][29]))],
            clock=clock,
            journal=journal,
            jobs=Jobs(journal),
            stop=stop,
            on_step=lambda step: None,
        )
        assert stop.reason == "SIGINT"


class LateClock:
    """A computer's clock that is two minutes late."""

    def __init__(self, true: ManualClock) -> None:
        self._true = true

    def now(self) -> float:
        return self._true.now() - 120.0

    def wait_until(self, instant: float) -> None:
        self._true.wait_until(instant + 120.0)


def test_f21_a_late_clock_is_told_and_makes_no_bar_late(tmp_path: Path) -> None:
    true = ManualClock(SERVER.to_utc(int(MINUTES["time"][20])) + 5.0)
    clock = LateClock(true)
    late: list[float] = []
    with (
        closing(PaperTerminal(PROFILE, {"EURUSD": (M1, MINUTES)}, true, None)) as paper,
        Journal(tmp_path / "journal.sqlite3", clock) as journal,
    ):
        paper.initialize()
        begin(journal)
        after = int(MINUTES["time"][19])
        terminal = ModuleTerminal(paper)
        stepper = stepper_of(tmp_path, terminal, journal, clock, after)
        house = House(lambda: SERVER.from_utc(clock.now()), LimitSettings(), frozenset({7}))
        watch = Watch(
            terminal=terminal,
            journal=journal,
            lookouts=[stepper.lookout],
            house=house,
            state=tmp_path,
            utc_now=clock.now,
        )

        def attend() -> None:
            watch.look()

        live(
            [Runner(stepper, Pace(M1, SERVER), after)],
            clock=clock,
            journal=journal,
            jobs=Jobs(journal),
            stop=Stop(),
            on_step=lambda step: late.append(true.now() - SERVER.to_utc(step.bar_time + 60)),
            attend=attend,
            is_over=lambda: len(late) >= 10,
        )
        assert stepper.standing.alarms == frozenset()
    assert max(late) <= 5.0
    with reading(tmp_path / "journal.sqlite3") as reader:
        told = [row["text"] for row in reader.rows("events") if row["kind"] == "alarm"]
        assert any(row["outcome"] == "done" for row in reader.rows("results"))
    assert len(told) == 1
    assert "s ahead of this computer's clock" in told[0]
