"""Bars that go by: a desktop over recorded bars, and programs that meet each of them."""

from collections.abc import Mapping
from pathlib import Path

from bridge.clock import ManualClock
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import server_clock
from bridge.mt5.timeframes import Timeframe
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal
from mql5.host.desktop import Desktop
from mql5.host.program import Program


def desk(
    folder: Path,
    profile: BrokerProfile,
    bars: Mapping[str, tuple[Timeframe, RatesArray]],
    start: int,
    *,
    common: Path | None = None,
) -> Desktop:
    """Return a terminal over recorded bars.

    Args:
        folder: Its data folder.
        start: Server time at which it opens, epoch seconds.
        common: The folder that it shares with other terminals; its own without one.
    """
    server = server_clock(profile.server_clock)
    clock = ManualClock(server.to_utc(start))
    paper = PaperTerminal(profile, dict(bars), clock, None)
    paper.initialize()
    shared = common or folder / "Common" / "Files"
    for one in (folder / "MQL5" / "Files", shared):
        one.mkdir(parents=True, exist_ok=True)
    return Desktop(paper, clock, server, folder, shared)


def step(desktop: Desktop) -> bool:
    """Move to the open of the next bar; False when the recording is over."""
    opens = desktop.paper.next_event_time()
    if opens is None:
        return False
    desktop.clock.wait_until(desktop.server.to_utc(opens))
    return True


def play(desktop: Desktop, program: Program, bars: int | None = None) -> int:
    """Let a started program meet the bars to come, and return how many it met.

    The moment at which it was started counts as the first tick, as in a replay. A bar has a tick at
    its open, and while something is held another one at its worst price: what a replay's watch is
    told of it.
    """
    met = 0
    while program.is_running and not program.is_removed and met != bars:
        program.tick()
        met += 1
        if desktop.paper.positions_total():
            _meet_worst(desktop, program)
        if not step(desktop):
            break
    return met


def _meet_worst(desktop: Desktop, program: Program) -> None:
    """Move to the bar's first extreme, which the paper terminal takes on the worse side."""
    following = desktop.paper.next_event_time()
    worst = desktop.server_now() + program.bar_seconds // 3
    if following is None or worst < following:
        desktop.clock.wait_until(desktop.server.to_utc(worst))
        program.tick()
