"""The live loop: look, step, wait. Only the clock knows whether this is a replay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.clock import Clock
from bridge.engine.jobs import Jobs
from bridge.engine.pace import Pace
from bridge.engine.step import Step, Stepper
from bridge.engine.stop import Stop
from bridge.errors import TerminalError
from bridge.journal.write import Journal

# Longest wait at a time: how long a signal may go unnoticed, seconds.
_LONGEST_WAIT = 0.2
# Wait after a terminal that did not answer, seconds.
_AFTER_SILENCE = 1.0


@dataclass(slots=True)
class Runner:
    """A stepper and when it looks next.

    Attributes:
        seen: Open time of the newest closed bar that it knows, server epoch seconds.
        looks: When it looks next, UTC epoch seconds.
        silent: Whether the terminal did not answer the last look.
    """

    stepper: Stepper
    pace: Pace
    seen: int
    looks: float = 0.0
    silent: bool = False


def live(
    runners: Sequence[Runner],
    *,
    clock: Clock,
    journal: Journal,
    jobs: Jobs,
    stop: Stop,
    on_step: Callable[[Step], None],
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Step each strategy as its bars close, until somebody asks to stop.

    Args:
        runners: The strategies.
        clock: Waited on.
        journal: Told when the terminal falls silent, and when it is back.
        jobs: Run when due.
        stop: Looked at between two looks.
        on_step: Told of each step.
        is_over: Whether there is nothing more to come: a recording has an end.
    """
    while not stop.is_asked and not is_over():
        jobs.run_due()
        now = clock.now()
        for runner in runners:
            if runner.looks <= now:
                _look(runner, clock, journal, on_step)
        # Looked at again: a step takes its time.
        nearest = min((runner.looks for runner in runners), default=now + _LONGEST_WAIT)
        clock.wait_until(min(nearest, clock.now() + _LONGEST_WAIT))


def _look(runner: Runner, clock: Clock, journal: Journal, on_step: Callable[[Step], None]) -> None:
    try:
        step = runner.stepper.step()
    except TerminalError as error:
        runner.looks = clock.now() + _AFTER_SILENCE
        if not runner.silent:  # told once, not once a second
            journal.event("terminal", f"no bars: {error}")
        runner.silent = True
        return
    if runner.silent:
        journal.event("terminal", "the terminal answers again")
        runner.silent = False
    if step is not None:
        runner.seen = step.bar_time
        on_step(step)
    runner.looks = runner.pace.next_look(clock.now(), runner.seen)
