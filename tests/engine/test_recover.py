"""Killed at any moment and started again, a run comes to the same end."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge.journal.read import reading
from bridge.mt5 import constants as mt5

SCRIPT = Path(__file__).parent / "mortal_run.py"
BARS = 260
KILLS = 50


def live(folder: Path, until: int) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, str(SCRIPT), str(folder), str(BARS), str(until)]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def end_of(folder: Path) -> tuple[list[Any], list[Any]]:
    """Return decisions and deals, without what says when and in which run they were written."""
    apart = {"id", "run", "at_utc"}
    with reading(folder / "journal.sqlite3") as journal:
        decisions = [
            {name: value for name, value in row.items() if name not in apart}
            for row in journal.rows("decisions")
        ]
        return decisions, list(journal.deals())


def check_each_deal_has_its_result(folder: Path) -> None:
    """Each deal that the program asked for is named by exactly one result, found or answered."""
    with reading(folder / "journal.sqlite3") as journal:
        named = [
            row["answer"]["deal"] if row["answer"] else int(row["words"].rpartition("#")[2])
            for row in journal.rows("results", "outcome = 'done'")
        ]
        asked = [deal.ticket for deal in journal.deals() if deal.reason == mt5.DEAL_REASON_EXPERT]
    assert sorted(named) == asked


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[list[Any], list[Any]], int]:
    folder = tmp_path_factory.mktemp("whole")
    done = live(folder, 0)
    assert done.returncode == 0, done.stderr
    return end_of(folder), int(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_fifty_kills_change_no_decision_and_no_deal(
    whole: tuple[tuple[list[Any], list[Any]], int], tmp_path: Path
) -> None:
    (decisions, deals), moments = whole
    assert len(decisions) == BARS - 1
    assert sum(deal.entry == mt5.DEAL_ENTRY_IN for deal in deals) >= 10
    chance, killed = random.Random(11), 0  # noqa: S311  not a secret
    # Gaps that add up to the whole run, so that the kills are spread over all of it.
    gap = max(2, 2 * moments // KILLS)
    while killed < KILLS and live(tmp_path, chance.randint(1, gap)).returncode == -signal.SIGKILL:
        killed += 1
    done = live(tmp_path, 0)
    assert done.returncode == 0, done.stderr
    assert killed >= KILLS // 2
    again, dealt = end_of(tmp_path)
    assert again == decisions
    assert dealt == deals
    check_each_deal_has_its_result(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_kill_at_each_moment_of_one_order_changes_nothing(
    whole: tuple[tuple[list[Any], list[Any]], int], tmp_path: Path
) -> None:
    """Walk through the first order: decision, intent, send, result, deals, one moment at a time."""
    (decisions, deals), _ = whole
    opening = next(i for i, row in enumerate(decisions) if row["action"] == "open")
    # Two moments a decision before it, and those of the events and deals read at the start.
    first = 2 * opening + 3
    for step in range(12):
        folder = tmp_path / str(step)
        assert live(folder, first + step).returncode == -signal.SIGKILL
        done = live(folder, 0)
        assert done.returncode == 0, done.stderr
        again, dealt = end_of(folder)
        assert again == decisions
        assert dealt == deals
        check_each_deal_has_its_result(folder)
