"""Faults of the program, planted to see that the campaign finds them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from bridge.engine import act
from bridge.engine.lookout import Lookout
from bridge.journal.write import Journal
from bridge.mt5.records import AccountInfo, OrderSendResult, TradePosition
from bridge.mt5.request import Request, RequestDict
from bridge.mt5.terminal import Terminal
from bridge.risk.guard import Ruling
from bridge.terminal.faults.world import changed
from bridge.trade.execute import TradeResult, execute, result_of


@contextmanager
def _replaced(place: Any, name: str, by: Any) -> Iterator[None]:
    before = getattr(place, name)
    setattr(place, name, by)
    try:
        yield
    finally:
        setattr(place, name, before)


class _Insistent:
    """A terminal that is asked twice where it does not answer."""

    def __init__(self, inner: Terminal) -> None:
        self._inner = inner

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        answer = self._inner.order_send(request)
        return self._inner.order_send(request) if answer is None else answer


def _execute_twice(terminal: Any, *args: Any, **keywords: Any) -> TradeResult:
    insistent: Any = _Insistent(terminal)
    return execute(insistent, *args, **keywords)


def _execute_first(
    terminal: Terminal, journal: Journal, request: Request, *, decision: int | None, ruling: Ruling
) -> TradeResult:
    """Send, and write the intent afterwards."""
    result = result_of(terminal.order_send(request.as_dict()))
    intent = journal.intent(decision, request, ruling.verdicts)
    journal.result(intent, result.outcome, result.words, result.answer)
    return result


_keep_books = Lookout.keep_books


def _keep_books_by_symbol(
    self: Lookout, account: AccountInfo, positions: Iterable[TradePosition], server_time: int
) -> tuple[TradePosition, ...]:
    """Take all positions of the symbol for the strategy's own."""
    magic = self.standing.magic
    taken = (
        changed(each, magic=magic) if each.symbol == self.symbol else each for each in positions
    )
    return _keep_books(self, account, tuple(taken), server_time)


PLANTED: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "sent again without answer": lambda: _replaced(act, "execute", _execute_twice),
    "no intent before the order": lambda: _replaced(act, "execute", _execute_first),
    "positions by symbol": lambda: _replaced(Lookout, "keep_books", _keep_books_by_symbol),
}
"""Name -> a block in which the program has that fault."""
