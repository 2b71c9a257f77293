"""Send a request once, the intent on disk before, the outcome after."""

from typing import NamedTuple

from bridge.errors import TerminalError
from bridge.journal.write import Journal
from bridge.mt5.records import OrderSendResult
from bridge.mt5.request import Request
from bridge.mt5.retcodes import Outcome, retcode
from bridge.mt5.terminal import Terminal
from bridge.risk.guard import Ruling


class TradeResult(NamedTuple):
    """What became of a request.

    Attributes:
        answer: The terminal's answer as it came; None when there was none.
        words: What happened, for a person.
        advice: What to do next; may be empty.
        retry: Whether a new request at a new price may follow at once, after the guard.
    """

    outcome: Outcome
    answer: OrderSendResult | None
    words: str
    advice: str
    retry: bool = False

    @property
    def happened(self) -> bool:
        """Whether volume changed hands or levels were set."""
        return self.outcome in (Outcome.DONE, Outcome.PARTIAL)


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
        outcome=meaning.outcome,
        answer=answer,
        words=meaning.words,
        advice=meaning.advice,
        retry=meaning.retry,
    )


def execute(
    terminal: Terminal, journal: Journal, request: Request, *, decision: int | None, ruling: Ruling
) -> TradeResult:
    """Write the intent, send the request once, write the result.

    Args:
        terminal: Where it is sent.
        journal: Its ``intent`` returns only when the intent is on disk.
        request: Approved by the guard; sent exactly as it is.
        decision: Number of the decision behind it; None for an order of the engine itself.
        ruling: The guard's approval.
    """
    intent = journal.intent(decision, request, ruling.verdicts)
    try:
        result = result_of(terminal.order_send(request.as_dict()))
    except TerminalError as error:  # by the contract of Terminal, nothing was sent
        result = TradeResult(
            outcome=Outcome.REJECTED,
            answer=None,
            words=f"nothing was sent: {error}",
            advice="see what is wrong with the terminal",
        )
    journal.result(intent, result.outcome, result.words, result.answer)
    return result
