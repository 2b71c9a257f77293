"""A life of the daemon, step by step, as hypothesis likes it: single faults, crashes, people."""

import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from bridge.errors import TerminalError
from bridge.terminal.faults.effects import Crash
from bridge.terminal.faults.kinds import VERBS
from bridge.terminal.faults.schedule import Fault, Schedule
from campaign.bugs import PLANTED
from campaign.command import workshop
from campaign.daemon import Daemon
from campaign.evidence import Evidence, gather
from campaign.invariants import CHECKS, violations
from campaign.plan import MAGICS, Action, Plan
from campaign.play import QUIET, Doom, crash
from campaign.stage import Stage, model_in, strategies_of

# What holds at any moment; the others need an end at which everything has settled.
ALWAYS = frozenset(
    {
        "intent before send",
        "sent once",
        "origin known",
        "as asked",
        "as decided",
        "bars once",
        "others untouched",
        "limits kept",
        "stopped is stopped",
    }
)
ACTIONS = (
    *("close", "part", "move", "unprotect", "pay", "foreign", "halt", "resume", "flatten"),
    *("closed", "filled", "rejected", "some"),
)
SETTINGS = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
# Found is enough: shrinking takes longer than the rest.
SEARCH = (Phase.explicit, Phase.generate)


def fault_of(seed: int) -> Fault:
    """Return a single fault of any kind, mostly of an order."""
    verbs = ("order_send",) if seed % 3 else VERBS
    return Schedule.random(seed, calls=1, density=1.0, verbs=verbs).faults[0]


class Machine(RuleBasedStateMachine):
    """A stage and its daemon; None while it could not start."""

    shop: Path

    def __init__(self) -> None:
        super().__init__()
        self.open = ExitStack()
        self.folder = Path(tempfile.mkdtemp(dir=self.shop))
        self.open.callback(shutil.rmtree, self.folder)
        self.done: list[Action] = []
        self.doom = Doom((), crash)
        self.daemon: Daemon | None = None

    @initialize(seed=st.integers(0, 500), is_netting=st.booleans(), is_pair=st.booleans())
    def begin(self, seed: int, is_netting: bool, is_pair: bool) -> None:
        count = 2 if is_pair and not is_netting else 1
        plan = Plan(
            seed=seed,
            margin_mode="netting" if is_netting else "hedging",
            bars=60,
            quantum=20.0,
            symbol={"filling_mode": 2},
            strategies=tuple({"magic": magic} for magic in MAGICS[:count]),
        )
        strategies = strategies_of(plan, model_in(self.shop))
        self.stage = Stage(plan, self.folder, strategies)
        self.open.callback(self.stage.close)
        self.start()

    def start(self) -> None:
        """Start the daemon; one that can't start is tried again at the next step."""
        try:
            self.daemon = Daemon(self.stage, self.doom)
        except (Crash, TerminalError):
            self.daemon = None

    def end(self) -> None:
        if self.daemon is not None:
            self.daemon.close()
            self.daemon = None

    def live(self, seconds: float) -> None:
        """Let time pass: the daemon lives through it, or is not there."""
        until = self.stage.clock.now() + seconds
        if self.daemon is None:
            self.start()
        try:
            if self.daemon is not None:
                self.daemon.run(until)
        except Crash:
            self.end()
        self.stage.clock.wait_until(until)

    @rule()
    def bar(self) -> None:
        self.live(60.0)

    @rule(seconds=st.sampled_from([1.0, 10.0, 35.0]))
    def moment(self, seconds: float) -> None:
        self.live(seconds)

    @rule(number=st.integers(0, 10_000), seconds=st.sampled_from([0.0, 60.0, 60.0]))
    def fail(self, number: int, seconds: float) -> None:
        self.stage.faulty.strike(fault_of(number))
        self.live(seconds)

    @rule(what=st.sampled_from(ACTIONS), amount=st.integers(-90, 90))
    def interfere(self, what: str, amount: int) -> None:
        at = self.stage.clock.now() - self.stage.begins
        action = Action(at=at, what=what, amount=float(amount))
        self.done.append(action)
        self.stage.act(action)

    @rule(moments=st.integers(1, 12))
    def doom_soon(self, moments: int) -> None:
        """Let the daemon die at a write of its journal."""
        self.doom.add(self.doom.count + moments)

    @precondition(lambda self: self.daemon is not None)
    @rule()
    def restart(self) -> None:
        self.end()
        self.start()

    def seen(self) -> Evidence:
        found = gather(self.stage, raised=(), restarted=self.stage.clock.now())
        plan = self.stage.plan.model_copy(update={"actions": tuple(self.done)})
        return replace(found, plan=plan)

    @invariant()
    def nothing_is_broken(self) -> None:
        broken = [found for found in violations(self.seen()) if found.check in ALWAYS]
        assert not broken, broken

    def teardown(self) -> None:
        with self.open:
            if hasattr(self, "stage"):
                self.settle()

    def settle(self) -> None:
        """Let all that has failed be over, start once more, and ask for everything."""
        self.stage.calm()
        self.doom.calm()
        self.stage.resume()
        self.live(QUIET)
        self.end()
        restarted = self.stage.clock.now()
        self.live(QUIET)
        self.end()
        broken = list(violations(replace(self.seen(), restarted=restarted)))
        assert not broken, broken


def machine(shop: Path) -> type[Machine]:
    return type("MachineIn", (Machine,), {"shop": shop})


def test_no_sequence_of_steps_breaks_an_invariant() -> None:
    with workshop() as shop:
        run_machine(machine(shop), settings=SETTINGS)


@pytest.mark.parametrize("name", PLANTED)
def test_the_machine_finds_a_planted_bug(name: str) -> None:
    with workshop() as shop, PLANTED[name](), pytest.raises((AssertionError, ExceptionGroup)):
        run_machine(machine(shop), settings=settings(SETTINGS, max_examples=100, phases=SEARCH))


def test_what_holds_always_is_checked() -> None:
    assert set(CHECKS) > ALWAYS
