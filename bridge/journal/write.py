"""Write the journal: what was seen and decided, what was sent, what came back.

An intent is synced to the disk before :meth:`Journal.intent` returns, so that no order can be out
that the journal does not know of. Everything else may be lost with the machine's power, and is
rebuilt from the terminal.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from bridge.clock import Clock, SystemClock
from bridge.errors import JournalError
from bridge.journal import schema
from bridge.journal.schema import Named, input_sha256, packed, packed_all, packed_named
from bridge.mt5.records import OrderSendResult, TradeDeal
from bridge.mt5.request import Purpose, Request
from bridge.mt5.retcodes import Outcome

__all__ = ["INSERT", "DecisionRow", "Journal", "Values", "decision_values", "input_sha256"]

Values = tuple[Any, ...]
"""What is written into a row, column by column."""


class DecisionRow(NamedTuple):
    """One decision, in the names of the table ``decisions``.

    Attributes:
        bar_time: Open time of the bar decided, server epoch seconds.
        input_sha256: Hash of the bars that the model saw.
        outputs: What the model answered.
        holding: The open position, or None.
        state: Trading state at the decision.
        baselines: What losses were measured from.
    """

    magic: int
    symbol: str
    timeframe: str
    bar_time: int
    model_sha256: str
    input_sha256: str
    outputs: tuple[float, ...]
    long: float
    short: float
    problem: str | None
    action: str
    side: str | None
    stop_points: float | None
    take_points: float | None
    reason: str
    holding: Mapping[str, Any] | None
    state: str
    baselines: Named
    bid: float | None
    ask: float | None
    balance: float | None
    equity: float | None


_PACKED = tuple(
    (DecisionRow._fields.index(name), pack)
    for name, pack in (("outputs", packed), ("holding", packed), ("baselines", packed_named))
)


def decision_values(row: DecisionRow) -> Values:
    """Return what is written of a row."""
    values = list(row)
    for place, pack in _PACKED:
        if values[place] is not None:
            values[place] = pack(values[place])
    return tuple(values)


def _insert(into: str, *columns: str) -> str:
    return f"INSERT {into} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608  own names


_RUN = ("at_utc", "wall_utc", "mode", "settings", "models", "account", "versions", "paths")
_INTENT = ("decision", "at_utc", "purpose", "request", "verdicts", "denied")
INSERT = {
    "runs": _insert("INTO runs", *_RUN),
    "decisions": _insert("INTO decisions", "id", "run", "at_utc", *DecisionRow._fields),
    "intents": _insert("INTO intents", *_INTENT),
    "results": _insert("OR REPLACE INTO results", "intent", "at_utc", "outcome", "words", "answer"),
    "deals": _insert("OR IGNORE INTO deals", "ticket", "run", "time", "position_id", "deal"),
    "events": _insert("INTO events", "run", "at_utc", "magic", "kind", "text"),
}
"""Table -> the statement that writes a row of it; what a row refers to stands above it.

A row without a number gets the next one.
"""


class Journal:
    """The journal of one account, open for one run.

    Args:
        path: The file; made with its folder if it is not there.
        clock: The run's clock.
        on_event: Told of each event once it is written: kind, text, magic.
    """

    def __init__(
        self,
        path: Path,
        clock: Clock,
        on_event: Callable[[str, str, int | None], None] = lambda kind, text, magic: None,
    ) -> None:
        self.path = path
        self._on_event = on_event
        self._clock = clock
        self._db = schema.create(path)
        self._run = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def begin_run(
        self,
        *,
        mode: str,
        settings: object,
        models: object,
        account: object,
        versions: object,
        paths: object,
    ) -> int:
        """Write the first row of a run and return its number."""
        row = (self._clock.now(), SystemClock().now(), mode)
        texts = map(packed, (settings, models, account, versions, paths))
        self._run = self._write("runs", (*row, *texts))
        return self._run

    def end_run(self, ending: str) -> None:
        """Write how the run ended, in words."""
        with self._transaction():
            self._db.execute(
                "UPDATE runs SET ended_utc = ?, ending = ? WHERE id = ?",
                (self._clock.now(), ending, self._run),
            )

    def decision(self, row: DecisionRow) -> int:
        """Write a decision and return its number."""
        return self._write("decisions", (None, self._run, self._clock.now(), *decision_values(row)))

    def intent(self, decision: int | None, request: Request, verdicts: Iterable[Named]) -> int:
        """Write what is about to be sent; it is on the disk when this returns.

        Args:
            decision: Number of the decision behind it; None for an order of the engine itself.
            request: Exactly what will be sent.
            verdicts: What each rule of the guard said.
        """
        return self._write("intents", self._intent(decision, request, verdicts, None), sync=True)

    def denied(
        self, decision: int | None, request: Request | None, verdicts: Iterable[Named], rule: str
    ) -> int:
        """Write what is not sent, or was not even built, and the rule that said no."""
        return self._write("intents", self._intent(decision, request, verdicts, rule))

    def _intent(
        self,
        decision: int | None,
        request: Request | None,
        verdicts: Iterable[Named],
        denied: str | None,
    ) -> Values:
        return (
            decision,
            self._clock.now(),
            request.purpose if request else Purpose.ENTRY,
            packed(request.as_dict()) if request else None,
            packed_all(verdicts),
            denied,
        )

    def result(
        self, intent: int, outcome: Outcome, words: str, answer: OrderSendResult | None
    ) -> None:
        """Write what came back, exactly as it came; it replaces what was known before."""
        received = None
        if answer is not None:
            received = packed({**answer._asdict(), "request": answer.request._asdict()})
        self._write("results", (intent, self._clock.now(), outcome, words, received))

    def deals(self, deals: Iterable[TradeDeal]) -> None:
        """Write deals of the terminal; one that is known already is left as it is."""
        rows = [
            (deal.ticket, self._run, deal.time, deal.position_id, packed(deal._asdict()))
            for deal in deals
        ]
        if rows:
            self._write_all("deals", rows)

    def event(self, kind: str, text: str, magic: int | None = None) -> None:
        """Write that something happened that is neither a decision nor an order.

        Args:
            kind: What, in a word.
            text: What, in a sentence.
            magic: Whose strategy it concerns; None is the whole run.
        """
        self._write("events", (self._run, self._clock.now(), magic, kind, text))
        self._on_event(kind, text, magic)

    def tidy(self) -> None:
        """Move what the write-ahead log holds into the file, so that the log stays small."""
        try:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise JournalError(f"the journal {self.path} can't be tidied: {error}") from error

    def _write(self, table: str, values: Values, *, sync: bool = False) -> int:
        """Write a row and return its number; synced to the disk when asked."""
        with self._transaction(sync=sync):
            return int(self._db.execute(INSERT[table], values).lastrowid or 0)

    def _write_all(self, table: str, rows: Sequence[Values]) -> None:
        with self._transaction():
            self._db.executemany(INSERT[table], rows)

    @contextmanager
    def _transaction(self, *, sync: bool = False) -> Iterator[None]:
        """Commit what the block writes, or nothing of it; synced to the disk when asked."""
        try:
            if sync:
                self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise JournalError(
                f"the journal {self.path} can't be written ({error}): free the disk or close what "
                "locks it; nothing is sent until then"
            ) from error
        finally:
            if sync:
                self._db.execute("PRAGMA synchronous = NORMAL")
