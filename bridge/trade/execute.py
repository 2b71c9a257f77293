"""Send a request once, the intent on disk before, the outcome after."""

from dataclasses import dataclass
from typing import Protocol

from bridge.mt5.records import OrderSendResult
from bridge.mt5.request import Request
from bridge.mt5.retcodes import Outcome, retcode
from bridge.mt5.terminal import Terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeResult:
    """What became of a request.

    Attributes:
        answer: The terminal's answer as it came; None when there was none.
        words: What happened, for a person.
        advice: What to do next; may be empty.
    """

    outcome: Outcome
    answer: OrderSendResult | None
    words: str
    advice: str

    @property
    def happened(self) -> bool:
        """Whether volume changed hands or levels were set."""
        return self.outcome in (Outcome.DONE, Outcome.PARTIAL)


class Intents(Protocol):
    """Where intents and results are written: the journal."""

    def intent(self, request: Request) -> int:
        """Write ``request`` and return its number once it can't be lost."""

    def result(self, intent: int, result: TradeResult) -> None:
        """Write what became of it."""


def result_of(answer: OrderSendResult | None) -> TradeResult:
    """Return what the terminal's answer means; no answer is UNRESOLVED, never REJECTED."""
    if answer is None:
        return TradeResult(
            outcome=Outcome.UNRESOLVED,
            answer=None,
            words="the terminal gave no answer",
            advice="the terminal is searched before anything else is sent",
        )
    meaning = retcode(answer.retcode)
    return TradeResult(
        outcome=meaning.outcome, answer=answer, words=meaning.words, advice=meaning.advice
    )


def execute(terminal: Terminal, intents: Intents, request: Request) -> TradeResult:
    """Write the intent, send the request once, write the result.

    Args:
        terminal: Where it is sent.
        intents: The journal; its ``intent`` returns only when the intent is on disk.
        request: Approved by the guard; sent exactly as it is.
    """
    number = intents.intent(request)
    result = result_of(terminal.order_send(request.as_dict()))
    intents.result(number, result)
    return result
