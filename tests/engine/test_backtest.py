"""A back-test leaves what the plain replay of the same bars leaves, to the last number."""

import os
from pathlib import Path
from typing import Any

import pytest
from engine.backtest_desk import drawn, play

from bridge.engine.stop import Stop
from bridge.journal.columns import Kind
from bridge.journal.read import reading

# Those of the first with the most to pass over; BRIDGE_SWEEP=100 draws a hundred.
SEEDS = range(int(os.environ["BRIDGE_SWEEP"])) if "BRIDGE_SWEEP" in os.environ else (6, 21, 23)

_QUIET = (6, 21, 23)


@pytest.mark.parametrize("seed", SEEDS)
def test_passing_over_quiet_bars_changes_nothing(seed: int, tmp_path: Path) -> None:
    case, steps = drawn(seed), {False: 0, True: 0}

    def count(step: object, ahead: bool) -> None:
        steps[ahead] += 1

    plain = play(case, tmp_path / "plain", ahead=False, on_step=lambda s: count(s, False))
    quick = play(case, tmp_path / "quick", ahead=True, on_step=lambda s: count(s, True))
    for name, rows in plain["journal"].items():
        for row, same in zip(rows, quick["journal"][name], strict=False):
            assert same == row, name
        assert len(rows) == len(quick["journal"][name]), name
    del plain["journal"], quick["journal"]
    assert quick == plain
    assert steps[True] <= steps[False]
    assert seed not in _QUIET or steps[True] < 0.6 * steps[False]


def test_a_journal_by_columns_answers_every_question_as_one_of_rows(tmp_path: Path) -> None:
    case = drawn(8)
    for name, ahead in (("plain", False), ("quick", True)):
        play(case, tmp_path / name, ahead=ahead, on_step=lambda step: None)
    with (
        reading(tmp_path / "plain" / "journal.sqlite3") as plain,
        reading(tmp_path / "quick" / "journal.sqlite3") as quick,
    ):
        every = list(plain.rows("decisions"))
        times = sorted({row["bar_time"] for row in every})
        middle = times[len(times) // 2]
        questions: list[tuple[str, tuple[int, ...]]] = [
            *(("bar_time = ?", (time,)) for time in times[::40]),
            *(("id = ?", (row["id"],)) for row in every[::50]),
            ("bar_time BETWEEN ? AND ?", (times[10], times[60])),
            ("bar_time = ?", (middle + 1,)),
        ]
        for where, values in questions:
            asked = list(quick.rows("decisions", where, *values))
            assert asked == list(plain.rows("decisions", where, *values)), where
        for magic in {row["magic"] for row in every}:
            asked_last = quick.last_decision(magic, every[0]["symbol"])
            assert asked_last == plain.last_decision(magic, every[0]["symbol"])
        assert quick.last_decision(1, "EURUSD") is None
        for time in (0, middle + 100, times[-1] + 10**6):
            assert quick.nearest_bar(time) == plain.nearest_bar(time)
        # Only SQL understands these: all rows are gathered first.
        for where in ("id = (SELECT max(id) FROM decisions)", "reason LIKE '%neither%'"):
            found = list(quick.rows("decisions", where))
            assert found == list(plain.rows("decisions", where))
            assert found


def test_columns_are_those_of_the_rows(tmp_path: Path) -> None:
    names = ("id", "bar_time", "at_utc", "long", "short", "bid", "ask", "balance", "equity")
    case = drawn(6)  # some of its stretches hold a position, so that equity moves
    for ahead in (False, True):
        play(case, tmp_path / str(ahead), ahead=ahead, on_step=lambda step: None)
        with reading(tmp_path / str(ahead) / "journal.sqlite3") as reader:
            every = list(reader.rows("decisions"))
            found = reader.columns("kind", *names)
            assert sum(len(one.columns["id"]) for one in found) == len(every) > 0
            for one in found:
                own = [row for row in every if row["magic"] == one.magic]
                assert [row["model_sha256"] for row in own[:1]] == list(one.models)
                rows = {name: [row[name] for row in own] for name in names}
                assert {name: one.columns[name].tolist() for name in names} == rows
                assert one.columns["kind"].tolist() == list(map(_kind, own))
                bars = reader.bars(one.magic, one.symbol)
                assert (bars is not None) == ahead
                assert bars is None or set(rows["bar_time"]) <= set(bars["time"].tolist())
            with pytest.raises(ValueError, match="reason"):
                reader.columns("reason")


def _kind(row: dict[str, Any]) -> Kind:
    if row["action"] != "hold":
        return Kind.ACTED
    return Kind.HOLDING if row["holding"] else Kind.FLAT


def test_what_is_cut_off_by_a_stop_is_kept(tmp_path: Path) -> None:
    """Ctrl-C in the middle: what was decided until then is in the file."""
    case = drawn(8)
    whole = play(case, tmp_path / "whole", ahead=True, on_step=lambda step: None)
    stop = Stop()
    steps = 0

    def ask(step: object) -> None:
        nonlocal steps
        steps += 1
        if steps == 20:
            stop.ask("SIGINT")

    part = play(case, tmp_path / "part", ahead=True, on_step=ask, stop=stop)
    kept = part["journal"]["decisions"]
    assert 20 <= len(kept) < len(whole["journal"]["decisions"])
    assert kept == whole["journal"]["decisions"][: len(kept)]
