"""Run the demo: replay, yardsticks, statistics."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bridge.cli.particulars import account_facts, versions
from bridge.cli.sample import (
    SYMBOL,
    Sample,
    load_demo_strategy,
    load_sample,
    make_crew,
)
from bridge.cli.state import JOURNAL, new_run_folder
from bridge.engine.always_long import always_long
from bridge.engine.replay import flatten_all, replay
from bridge.engine.step import Step
from bridge.engine.strategy import Strategy
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.mt5.records import AccountInfo
from bridge.report.statistics import Statistics, statistics
from bridge.report.why_not import WhyNot, why_not
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.terminal import PaperTerminal

Watch = Callable[[Step, int, int], None]
"""Told of each step, with its number and the number of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the demo came to.

    Attributes:
        first, last: Open times of the first and last bar decided, server epoch seconds.
        nothing: Statistics of an account that does nothing.
        acted: Bar at which the strategy last acted, if it ever did.
    """

    model: str
    sha256: str
    first: int
    last: int
    currency: str
    balance: float
    strategy: Statistics
    nothing: Statistics
    long: Statistics
    long_volume: float
    why_not: WhyNot
    acted: int | None
    journal: Path


def run_demo(model: str, *, speed: float | None, state: Path, watch: Watch) -> Outcome:
    """Trade the out-of-sample part of the sample bars with ``model``.

    Args:
        model: Name of a shipped model, or a path.
        speed: Replay seconds per real second; None is as fast as it goes.
        state: Folder below which the run's own folder is made.
        watch: Told of each step.
    """
    strategy = load_demo_strategy(model)
    sample = load_sample(strategy)
    folder = new_run_folder(state, "demo")
    clock = sample.clock(speed)
    total = len(sample.rates) - 1 - sample.first
    steps: list[Step] = []

    def on_step(step: Step) -> None:
        steps.append(step)
        watch(step, len(steps), total)

    with (
        closing(sample.terminal(clock, folder / "account.sqlite3")) as terminal,
        Journal(folder / JOURNAL, clock) as journal,
        reading(journal.path) as past,
    ):
        _begin(journal, strategy, sample, terminal)
        crew = make_crew(sample, strategy, terminal, journal, past, clock)
        replay(crew.steppers, terminal, clock, sample.server, on_step, before=crew.attend)
        flatten_all(crew.steppers, "the recording has ended")
        journal.end_run("the recording has ended")
        account = ModuleTerminal(terminal).account_info()
    return _outcome(strategy, sample, steps, account, folder / JOURNAL)


def _begin(journal: Journal, strategy: Strategy, sample: Sample, terminal: PaperTerminal) -> None:
    model, account = strategy.model, ModuleTerminal(terminal).account_info()
    settings = strategy.settings.model_dump(mode="json", exclude={"model"})
    journal.begin_run(
        mode="demo",
        settings={**settings, "decision": strategy.decision.model_dump(mode="json")},
        models={strategy.settings.magic: model.sha256},
        account={**account_facts(account), "profile_sha256": sample.profile.sha256},
        versions=versions(),
        paths={"model": strategy.settings.model},
    )


def _outcome(
    strategy: Strategy, sample: Sample, steps: list[Step], account: AccountInfo, path: Path
) -> Outcome:
    with reading(path) as journal:
        deals, counts = journal.deals(), why_not(journal)
    equity = [step.equity for step in steps if step.equity is not None]
    acting = [step.bar_time for step in steps if step.results]
    volume = strategy.settings.risk.volume or 0.1
    return Outcome(
        model=strategy.model.contract.name,
        sha256=strategy.model.sha256,
        first=steps[0].bar_time,
        last=steps[-1].bar_time,
        currency=account.currency,
        balance=account.balance,
        strategy=statistics(deals, [*equity, account.equity]),
        nothing=statistics([], [sample.profile.account.deposit]),
        long=_always_long(sample, volume),
        long_volume=volume,
        why_not=counts,
        acted=acting[-1] if acting else None,
        journal=path,
    )


def _always_long(sample: Sample, volume: float) -> Statistics:
    clock = sample.clock(None)
    with closing(sample.terminal(clock, None)) as terminal:
        held = always_long(
            ModuleTerminal(terminal),
            terminal,
            clock,
            sample.server,
            symbol=SYMBOL,
            volume=volume,
        )
    return statistics(held.deals, held.equity)
