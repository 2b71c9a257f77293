"""Replay: move a clock along recorded bars and take the same step as a live run at each."""

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from bridge.clock import Clock
from bridge.engine.step import Step, Stepper
from bridge.engine.stop import Stop
from bridge.mt5.servertime import ServerClock


class Recorded(Protocol):
    """A terminal that plays recorded bars as its clock moves."""

    def next_event_time(self) -> int | None:
        """Return the open of the next bar still to come, server epoch seconds; None at the end."""


def replay(
    steppers: Sequence[Stepper],
    recorded: Recorded,
    clock: Clock,
    server: ServerClock,
    on_step: Callable[[Step], None],
    *,
    before: Callable[[], object] = lambda: None,
    stop: Stop | None = None,
    longest_wait: float = math.inf,
    leap: Callable[[], object] = lambda: None,
) -> bool:
    """Play the recording to its end, or until somebody asks to stop.

    Args:
        steppers: The strategies.
        recorded: The terminal that plays.
        clock: Moved to each bar's open.
        server: The broker's clock rule.
        on_step: Told of each step.
        before: Called before the steps of each bar: the watch.
        stop: Looked at between two waits.
        longest_wait: Replay seconds for which a stop may go unnoticed.
        leap: Called after the steps of each bar; it may move on over bars at which nothing happens.

    Returns:
        Whether the recording has ended.
    """
    stop = stop or Stop()
    # The present moment first: after a crash a bar may have closed that nobody decided.
    _step_all(steppers, before, on_step)
    leap()
    while (opens := recorded.next_event_time()) is not None:
        due = server.to_utc(opens)
        while clock.now() < due and not stop.is_asked:
            clock.wait_until(min(due, clock.now() + longest_wait))
        if stop.is_asked:
            return False
        _step_all(steppers, before, on_step)
        leap()
    return True


def _step_all(
    steppers: Sequence[Stepper], before: Callable[[], object], on_step: Callable[[Step], None]
) -> None:
    before()
    for stepper in steppers:
        step = stepper.step()
        if step is not None:
            on_step(step)


def flatten_all(steppers: Sequence[Stepper], why: str) -> None:
    """Close what the strategies have open."""
    for stepper in steppers:
        stepper.flatten(why)
