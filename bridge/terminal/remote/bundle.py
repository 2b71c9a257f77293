"""What a bar's close will ask next, asked in the same message as its bars.

A decision asks for the bars, then for account, positions, prices and specification. Over a line
with a round trip of 100 ms that would take half a second. An answer that came along is given
once, only to the very next questions, and only while it is as fresh as one asked for would be.
"""

import time
from typing import Any

from bridge.terminal.host.answer import Answer

Call = tuple[str, tuple[Any, ...]]
"""Verb and positional arguments."""

FRESH_S = 0.25
"""Age up to which an answer that came along stands for a new one, real seconds."""
# The feed looks at two bars to see whether one has closed; more is the window of a decision.
_A_LOOK = 2


def companions(verb: str, args: tuple[Any, ...]) -> tuple[Call, ...]:
    """Return what is asked along with a call; nothing with most."""
    if verb != "copy_rates_from_pos" or len(args) != 4 or args[2] or args[3] <= _A_LOOK:
        return ()
    symbol = args[0]
    return (
        ("positions_get", ()),
        ("account_info", ()),
        ("symbol_info_tick", (symbol,)),
        ("symbol_info", (symbol,)),
    )


class Kept:
    """Answers that came along."""

    def __init__(self) -> None:
        self._answers: dict[Call, Answer] = {}
        self._until = 0.0

    def clear(self) -> None:
        """Forget them."""
        self._answers = {}

    def keep(self, answers: dict[Call, Answer]) -> None:
        """Have these instead of earlier ones."""
        self._answers, self._until = answers, time.monotonic() + FRESH_S

    def take(self, verb: str, args: tuple[Any, ...]) -> Answer | None:
        """Return the answer of a call, once; any call that has none ends all."""
        # Compared, not looked up: a request is a dict, which has no hash.
        at = next((call for call in self._answers if call == (verb, args)), None)
        found = None if at is None else self._answers.pop(at)
        if found is None or time.monotonic() >= self._until:
            self.clear()
            return None
        return found
