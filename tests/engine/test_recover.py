"""Killed at any moment and started again, a run comes to the same end."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bridge.journal.read import reading
from bridge.mt5 import constants as mt5

SCRIPT = Path(__file__).parent / "mortal_run.py"
PATHS = (str(SCRIPT.parents[2]), str(SCRIPT.parents[1]))
BARS = 260
KILLS = 50


class Lives:
    """Runs that may kill themselves, each a process."""

    def __init__(self, errors: Path) -> None:
        self._errors = errors
        self._file = errors.open("w", encoding="utf-8")
        self._server = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._file,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
            text=True,
        )

    def live(self, folder: Path, until: int) -> int:
        """Live until a moment, 0 to the end, and return the exit code, below 0 for a signal."""
        folder.mkdir(exist_ok=True)
        asked = {"folder": str(folder), "bars": BARS, "until": until}
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        print(json.dumps(asked), file=self._server.stdin, flush=True)
        answer = json.loads(self._server.stdout.readline())
        self.moments = answer["moments"]
        status: int = answer["status"]
        assert status in (0, -9), self._errors.read_text()
        return status

    def close(self) -> None:
        """End the server."""
        with self._file, self._server:
            assert self._server.stdin is not None
            self._server.stdin.close()


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lives]:
    if sys.platform == "win32":
        pytest.skip("Windows has neither fork nor SIGKILL")
    with closing(Lives(tmp_path_factory.mktemp("lives") / "errors.txt")) as made:
        yield made


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
def whole(
    lives: Lives, tmp_path_factory: pytest.TempPathFactory
) -> tuple[tuple[list[Any], list[Any]], int]:
    folder = tmp_path_factory.mktemp("whole")
    assert lives.live(folder, 0) == 0
    return end_of(folder), lives.moments


def test_fifty_kills_change_no_decision_and_no_deal(
    whole: tuple[tuple[list[Any], list[Any]], int], lives: Lives, tmp_path: Path
) -> None:
    (decisions, deals), moments = whole
    assert len(decisions) == BARS - 1
    assert sum(deal.entry == mt5.DEAL_ENTRY_IN for deal in deals) >= 10
    chance, killed = random.Random(11), 0  # noqa: S311  not a secret
    # Gaps that add up to the whole run, so that the kills are spread over all of it.
    gap = max(2, 2 * moments // KILLS)
    while killed < KILLS and lives.live(tmp_path, chance.randint(1, gap)) == -signal.SIGKILL:
        killed += 1
    assert lives.live(tmp_path, 0) == 0
    assert killed >= KILLS // 2
    again, dealt = end_of(tmp_path)
    assert again == decisions
    assert dealt == deals
    check_each_deal_has_its_result(tmp_path)


def test_a_kill_at_each_moment_of_one_order_changes_nothing(
    whole: tuple[tuple[list[Any], list[Any]], int], lives: Lives, tmp_path: Path
) -> None:
    """Walk through the first order: decision, intent, send, result, deals, one moment at a time."""
    (decisions, deals), _ = whole
    opening = next(i for i, row in enumerate(decisions) if row["action"] == "open")
    # Two moments a decision before it, and those of the events and deals read at the start.
    first = 2 * opening + 3
    for step in range(12):
        folder = tmp_path / str(step)
        assert lives.live(folder, first + step) == -signal.SIGKILL
        assert lives.live(folder, 0) == 0
        again, dealt = end_of(folder)
        assert again == decisions
        assert dealt == deals
        check_each_deal_has_its_result(folder)
