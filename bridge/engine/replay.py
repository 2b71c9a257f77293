"""Replay: move a clock along recorded bars and take the same step as a live run at each."""

from collections.abc import Callable, Sequence
from typing import Protocol

from bridge.clock import Clock
from bridge.engine.step import Step, Stepper
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
) -> None:
    """Play the recording to its end, then close what is open.

    Args:
        steppers: The strategies.
        recorded: The terminal that plays.
        clock: Moved to each bar's open.
        server: The broker's clock rule.
        on_step: Told of each step.
    """
    # The present moment first: after a crash a bar may have closed that nobody decided.
    _step_all(steppers, on_step)
    while (opens := recorded.next_event_time()) is not None:
        clock.wait_until(server.to_utc(opens))
        _step_all(steppers, on_step)
    for stepper in steppers:
        stepper.flatten("the recording has ended")


def _step_all(steppers: Sequence[Stepper], on_step: Callable[[Step], None]) -> None:
    for stepper in steppers:
        step = stepper.step()
        if step is not None:
            on_step(step)
