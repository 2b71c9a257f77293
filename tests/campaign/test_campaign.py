"""The fault campaign as tests: 500 schedules in process, some with real kills, planted bugs."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.mt5 import constants as mt5
from bridge.settings import LimitSettings
from bridge.terminal.faults.kinds import Kind
from bridge.terminal.faults.schedule import Fault, Schedule
from bridge.terminal.faults.world import changed
from campaign.bugs import PLANTED
from campaign.command import Tally, campaign, load, run_plan, save, shrunk, workshop
from campaign.evidence import Evidence
from campaign.invariants import CHECKS, violations
from campaign.plan import Action, Plan, draw
from campaign.stage import model_in

BATCHES, BATCH = 10, 50


@pytest.fixture(scope="module")
def shop() -> Iterator[Path]:
    with workshop() as folder:
        yield folder


def played(plan: Plan, shop: Path) -> Evidence:
    return run_plan(plan, model_in(shop), shop).evidence


@pytest.mark.parametrize("batch", range(BATCHES))
def test_nothing_breaks_in_fifty_schedules(batch: int, shop: Path, tmp_path: Path) -> None:
    first = batch * BATCH
    tally = campaign(range(first, first + BATCH), tmp_path, shop)
    files = [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()]
    assert not tally.violated, "\n".join(files)
    # A campaign in which nothing goes wrong would prove nothing.
    assert tally.deaths.total() >= BATCH
    assert len(tally.fired) >= len(Kind) - 2
    assert tally.counts["deals of ours"] >= 10 * BATCH
    assert {"entry absent", "exit absent", "entry rejected", "exit partial"} <= set(tally.outcomes)


@pytest.mark.parametrize("seed", [3, 4])
def test_a_run_is_a_function_of_its_plan(seed: int, shop: Path, tmp_path: Path) -> None:
    """Also by way of the file in which it is saved."""
    first = run_plan(draw(seed), model_in(shop), shop)
    again = run_plan(load(save(first, tmp_path)), model_in(shop), shop)
    assert again.plan == first.plan
    assert again.evidence.digest() == first.evidence.digest()
    assert again.fired == first.fired
    other = run_plan(draw(seed + 100), model_in(shop), shop)
    assert other.evidence.digest() != first.evidence.digest()


# Bugs of the program


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found_within_thirty_runs(name: str, shop: Path, tmp_path: Path) -> None:
    expected = {
        "sent again without answer": "sent once",
        "no intent before the order": "intent before send",
        "positions by symbol": "others untouched",
    }
    tally = Tally()
    with PLANTED[name]():
        for seed in range(30):
            tally.add(run_plan(draw(seed), model_in(shop), shop))
            if tally.violated[expected[name]]:
                break
    assert tally.violated[expected[name]] == 1


def test_what_found_a_bug_is_shrunk_to_what_it_needs(shop: Path) -> None:
    lost = Fault(kind=Kind.NULL, verb="order_send", when="after")
    others = [Fault(kind=Kind.SLOW, seconds=0.5, since=30 * n) for n in range(6)]
    plan = Plan(
        seed=5,
        bars=8,
        schedule=Schedule.of(*others[:3], lost, *others[3:]),
        actions=(Action(at=30.0, what="foreign"), Action(at=90.0, what="pay", amount=9.0)),
    )
    with PLANTED["sent again without answer"]():
        assert {found.check for found in violations(played(plan, shop))} >= {"sent once"}
        small = shrunk(plan, model_in(shop), shop)
    assert (small.schedule.faults, small.actions) == ((lost,), ())


# Each invariant can fail


@pytest.fixture(scope="module")
def sound(shop: Path) -> Evidence:
    """Return a run without faults that ends with an open position of the strategy."""
    for seed in range(20):
        found = played(Plan(seed=seed, bars=12), shop)
        if any(each.identifier in found.own_ids for each in found.positions):
            assert list(violations(found)) == []
            return found
    raise AssertionError("no run ends with a position")


def last_position(e: Evidence) -> Any:
    return [each for each in e.positions if each.identifier in e.own_ids][-1]


def without_result(e: Evidence) -> Evidence:
    return replace(e, intents=tuple(row | {"result": None} for row in e.intents))


def presumed_absent(e: Evidence) -> Evidence:
    number = e.intent_of[e.opened_by[last_position(e).identifier].order]
    absent = {"intent": number, "outcome": "absent", "words": "", "answer": None}
    rows = [row | {"result": absent} if row["id"] == number else row for row in e.intents]
    results = [absent if row["intent"] == number else row for row in e.results]
    return replace(e, intents=tuple(rows), results=tuple(results))


def with_deal(e: Evidence, **fields: Any) -> Evidence:
    ticket = e.deals[-1].ticket + 1
    opening = next(deal for deal in e.own_deals if deal.entry == mt5.DEAL_ENTRY_IN)
    return replace(e, deals=(*e.deals, changed(opening, ticket=ticket, **fields)))


def about_another(e: Evidence) -> Evidence:
    other = next(number for number in e.opened_by if number not in e.own_ids)
    request = {**e.sent[0].request, "position": other}
    return replace(e, sent=(replace(e.sent[0], request=request), *e.sent[1:]))


def with_event(e: Evidence, kind: str, number: int) -> Evidence:
    row = {"id": number, "kind": kind, "text": kind, "magic": 7, "at_utc": 0.0}
    return replace(e, events=(*e.events, row))


def at_a_loss(e: Evidence) -> Evidence:
    limits = LimitSettings(daily_loss_share=0.05, max_drawdown_share=None)
    sent = replace(e.sent[0], equity=0.9 * e.decisions[0]["baselines"]["day_equity"])
    return replace(e, plan=e.plan.model_copy(update={"limits": limits}), sent=(sent,))


def turned_around(e: Evidence) -> Evidence:
    number = e.own_deals[0].ticket
    deals = [changed(d, type=1 - d.type) if d.ticket == number else d for d in e.deals]
    return replace(e, deals=tuple(deals))


BROKEN: dict[str, Callable[[Evidence], Evidence]] = {
    "intent before send": lambda e: replace(e, sent=(replace(e.sent[0], intent=None),)),
    "sent once": lambda e: replace(e, sent=(e.sent[0], *e.sent)),
    "origin known": lambda e: with_deal(e, order=1, position_id=1),
    "as asked": turned_around,
    "as decided": lambda e: replace(
        e, decisions=tuple(row | {"action": "hold"} for row in e.decisions)
    ),
    "bars once": lambda e: replace(e, decisions=(*e.decisions, e.decisions[0])),
    "settled": without_result,
    "late is told": presumed_absent,
    "books equal": lambda e: replace(e, noted=e.noted[:-1]),
    "positions known": lambda e: replace(e, positions=()),
    "readable": lambda e: replace(e, integrity="malformed"),
    "alive": lambda e: replace(e, decisions=e.decisions[:-2]),
    "others untouched": about_another,
    "nobody blamed": lambda e: with_event(e, "human", 10**6),
    "limits kept": lambda e: with_deal(e, position_id=10**6),
    "stopped is stopped": lambda e: with_event(e, "halt", 0),
    "loss limit kept": at_a_loss,
    "stops there": lambda e: replace(e, positions=(changed(last_position(e), sl=0.0),)),
}


def test_every_invariant_is_broken_once() -> None:
    assert list(BROKEN) == list(CHECKS)


@pytest.mark.parametrize("name", BROKEN)
def test_an_invariant_that_is_broken_says_so(name: str, sound: Evidence) -> None:
    assert name in {found.check for found in violations(BROKEN[name](sound))}


# Processes that die


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor SIGKILL")
def test_nothing_breaks_where_processes_are_killed(tmp_path: Path) -> None:
    """Ten runs of the command itself, whose daemons end by SIGKILL."""
    tally = tmp_path / "tally.json"
    command = [sys.executable, "-m", "tests.campaign", "--kill", "--runs", "10"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path), "--tally", str(tally)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match("10 runs in ", done.stdout)
    told = json.loads(tally.read_text(encoding="utf-8"))
    assert told["deaths"]["signal 9"] >= 10
    assert told["counts"]["deals of ours"] >= 50
