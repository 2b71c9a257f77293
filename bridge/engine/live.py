"""The live loop: look, step, wait. Only the clock knows whether this is a replay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.clock import Clock
from bridge.engine.jobs import Jobs
from bridge.engine.pace import Pace
from bridge.engine.step import Step, Stepper
from bridge.engine.stop import Stop, Stopped
from bridge.errors import TerminalError
from bridge.journal.write import Journal

# Longest wait at a time: how long a signal may go unnoticed, seconds.
_LONGEST_WAIT = 0.2
# Wait after a terminal that did not answer, seconds.
_AFTER_SILENCE = 1.0
# Seconds between two looks at the account, and how long they may be put off for a bar's close.
_ATTEND, _PUT_OFF = 1.0, 5.0


@dataclass(slots=True)
class Runner:
    """A stepper and when it looks next.

    Attributes:
        seen: Open time of the newest closed bar that it knows, server epoch seconds.
        looks: When it looks next, UTC epoch seconds.
        silent: Whether the terminal did not answer the last look.
        warmed: The bar after which the model was warmed for the next one.
    """

    stepper: Stepper
    pace: Pace
    seen: int
    looks: float = 0.0
    silent: bool = False
    warmed: int = 0


def live(
    runners: Sequence[Runner],
    *,
    clock: Clock,
    journal: Journal,
    jobs: Jobs,
    stop: Stop,
    on_step: Callable[[Step], None],
    attend: Callable[[], None] = lambda: None,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Step each strategy as its bars close, until somebody asks to stop.

    Args:
        runners: The strategies.
        clock: Waited on.
        journal: Told when the terminal falls silent, and when it is back.
        jobs: Run when due.
        stop: Looked at between two looks; a signal breaks off a look that waits.
        on_step: Told of each step.
        attend: Called about once a second between bars: the watch.
        is_over: Whether there is nothing more to come: a recording has an end.
    """
    attended = -_PUT_OFF
    while not stop.is_asked and not is_over():
        now = clock.now()
        busy = any(runner.pace.is_near(now, runner.seen) for runner in runners)
        if now - attended >= (_PUT_OFF if busy else _ATTEND):
            attended = now
            _attend(attend, journal)
            jobs.run_due()
        try:
            for runner in runners:
                if runner.looks <= now:
                    _look(runner, clock, journal, stop, on_step)
        except Stopped:
            return
        # Looked at again: a step takes its time.
        nearest = min((runner.looks for runner in runners), default=now + _LONGEST_WAIT)
        clock.wait_until(min(nearest, clock.now() + _LONGEST_WAIT))


def _attend(attend: Callable[[], None], journal: Journal) -> None:
    try:
        attend()
    except TerminalError as error:
        journal.event("terminal", f"positions are not closed yet: {error}")


def _look(
    runner: Runner,
    clock: Clock,
    journal: Journal,
    stop: Stop,
    on_step: Callable[[Step], None],
) -> None:
    if runner.warmed != runner.seen and runner.pace.is_near(clock.now(), runner.seen):
        runner.stepper.warm()
        runner.warmed = runner.seen
    try:
        with stop.breaking_off():  # a read, and the one that reconnects
            is_due = runner.stepper.is_due()
        step = runner.stepper.step() if is_due else None
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
