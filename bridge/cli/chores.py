"""The daemon's periodic jobs: a sign of life, the account, the day, the house."""

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.cli.state import HEARTBEAT, JOURNAL
from bridge.clock import Clock, SystemClock
from bridge.engine.crew import Crew
from bridge.engine.jobs import Jobs
from bridge.errors import TerminalError
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.mt5.servertime import DAY, ServerClock, server_day
from bridge.mt5.terminal import Terminal
from bridge.report.day import day_summary
from bridge.settings import BridgeSettings

_HOURLY, _MINUTELY = 3_600, 60
# Free space on the state folder's disk below which a person is told, bytes.
_LITTLE_SPACE = 500_000_000


@dataclass(frozen=True, slots=True)
class Chores:
    """What the jobs work on.

    Attributes:
        server: The broker's clock rule.
        magics: Of the strategies.
    """

    terminal: Terminal
    journal: Journal
    crew: Crew
    clock: Clock
    server: ServerClock
    state: Path
    magics: frozenset[int]

    def heartbeat(self) -> None:
        """Leave a sign of life for ``status``."""
        sign = {"utc": SystemClock().now(), "pid": os.getpid()}
        written = self.state / f"{HEARTBEAT}.new"
        written.write_text(json.dumps(sign), encoding="utf-8")
        # Windows replaces no file that somebody reads; the next sign comes soon.
        with contextlib.suppress(PermissionError):
            written.replace(self.state / HEARTBEAT)

    def snapshot(self) -> None:
        """Journal account and positions."""
        try:
            account, positions = self.terminal.account_info(), self.terminal.positions_get()
        except TerminalError:
            return  # the watch tells that the terminal is silent
        own: list[dict[str, Any]] = [
            {
                "ticket": each.ticket,
                "magic": each.magic,
                "symbol": each.symbol,
                "type": each.type,
                "volume": each.volume,
                "price_open": each.price_open,
                "sl": each.sl,
                "tp": each.tp,
                "profit": each.profit,
            }
            for each in positions
            if each.magic in self.magics
        ]
        shown = {
            "balance": account.balance,
            "equity": account.equity,
            "margin_level": account.margin_level,
            "currency": account.currency,
            "positions": own,
            "exposure": self.crew.watch.exposure(positions),
        }
        self.journal.event("snapshot", json.dumps(shown))

    def housekeeping(self) -> None:
        """Keep the journal's log small, and tell when the disk fills up."""
        self.journal.tidy()
        free = shutil.disk_usage(self.state).free
        if free < _LITTLE_SPACE:
            self.journal.event(
                "disk", f"{free / 1e6:.0f} MB are free where {self.state} is: make room"
            )

    def refresh(self) -> None:
        """Have the terminal keep the history that the next bars need."""
        for stepper in self.crew.steppers:
            stepper.refresh()

    def summarise(self, day: int) -> None:
        """Journal what a server day came to."""
        with reading(self.state / JOURNAL) as past:
            said = day_summary(past, day, self.magics)
        self.journal.event("summary", said)


def assign(jobs: Jobs, settings: BridgeSettings, chores: Chores) -> None:
    """Have ``jobs`` run the chores as often as ``settings`` say, and the first of them now."""
    schedule = settings.schedule
    if schedule.heartbeat_seconds is not None:
        jobs.every(schedule.heartbeat_seconds, "heartbeat", chores.heartbeat)
        chores.heartbeat()
    if schedule.snapshot_seconds is not None:
        jobs.every(schedule.snapshot_seconds, "account snapshot", chores.snapshot)
        chores.snapshot()
    jobs.every(_HOURLY, "housekeeping", chores.housekeeping)
    jobs.every(_HOURLY, "history refresh", chores.refresh)
    if schedule.daily_summary_at is not None:
        hours, _, minutes = schedule.daily_summary_at.partition(":")
        at = int(hours) * 3_600 + int(minutes) * 60
        jobs.every(_MINUTELY, "daily summary", _once_a_day(chores, at))


def _once_a_day(chores: Chores, at: int) -> Callable[[], None]:
    """Return a job that summarises each server day once, when its clock is past ``at`` seconds.

    The server's clock, not the computer's: the same days under any time zone and summer time.
    """
    done = -1

    def job() -> None:
        nonlocal done
        now = chores.server.from_utc(chores.clock.now())
        if now % DAY >= at and server_day(now) != done:
            done = server_day(now)
            chores.summarise(done)

    return job
