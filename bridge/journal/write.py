"""Write the journal: what was seen and decided, what was sent, what came back.

An intent is synced to the disk before :meth:`Journal.intent` returns, so that no order can be out
that the journal does not know of. Everything else may be lost with the machine's power, and is
rebuilt from the terminal.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bridge.clock import Clock, SystemClock
from bridge.errors import JournalError
from bridge.journal import schema
from bridge.journal.schema import input_sha256
from bridge.journal.schema import packed as _json
from bridge.mt5.records import OrderSendResult, TradeDeal
from bridge.mt5.request import Purpose, Request
from bridge.mt5.retcodes import Outcome

__all__ = ["DecisionRow", "Journal", "decision_values", "input_sha256"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
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
    baselines: Mapping[str, Any]
    bid: float | None
    ask: float | None
    balance: float | None
    equity: float | None


def decision_values(row: DecisionRow) -> tuple[str, tuple[Any, ...]]:
    """Return the columns of a row, and what is written into them."""
    return ", ".join(_DECISION_COLUMNS), tuple(
        _json(value) if name in _DECISION_JSON and value is not None else value
        for name in _DECISION_COLUMNS
        for value in (getattr(row, name),)
    )


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
        texts = tuple(_json(value) for value in (settings, models, account, versions, paths))
        with self._transaction():
            self._run = self._insert(
                "INSERT INTO runs (at_utc, wall_utc, mode, settings, models, account, versions,"
                " paths) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                row + texts,
            )
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
        with self._transaction():
            return self._insert(
                _INSERT_DECISION,
                (self._run, self._clock.now(), *decision_values(row)[1]),
            )

    def intent(self, decision: int | None, request: Request, verdicts: object) -> int:
        """Write what is about to be sent; it is on the disk when this returns.

        Args:
            decision: Number of the decision behind it; None for an order of the engine itself.
            request: Exactly what will be sent.
            verdicts: What each rule of the guard said.
        """
        with self._transaction(sync=True):
            return self._intent(decision, request, verdicts, None)

    def denied(
        self, decision: int | None, request: Request | None, verdicts: object, rule: str
    ) -> int:
        """Write what is not sent, or was not even built, and the rule that said no."""
        with self._transaction():
            return self._intent(decision, request, verdicts, rule)

    def _intent(
        self, decision: int | None, request: Request | None, verdicts: object, denied: str | None
    ) -> int:
        return self._insert(
            "INSERT INTO intents (decision, at_utc, purpose, request, verdicts, denied)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                decision,
                self._clock.now(),
                request.purpose if request else Purpose.ENTRY,
                _json(request.as_dict()) if request else None,
                _json(verdicts),
                denied,
            ),
        )

    def result(
        self, intent: int, outcome: Outcome, words: str, answer: OrderSendResult | None
    ) -> None:
        """Write what came back, exactly as it came; it replaces what was known before."""
        received = None
        if answer is not None:
            received = _json({**answer._asdict(), "request": answer.request._asdict()})
        with self._transaction():
            self._insert(
                "INSERT OR REPLACE INTO results (intent, at_utc, outcome, words, answer)"
                " VALUES (?, ?, ?, ?, ?)",
                (intent, self._clock.now(), outcome, words, received),
            )

    def deals(self, deals: Iterable[TradeDeal]) -> None:
        """Write deals of the terminal; one that is known already is left as it is."""
        rows = [
            (deal.ticket, self._run, deal.time, deal.position_id, _json(deal._asdict()))
            for deal in deals
        ]
        with self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO deals VALUES (?, ?, ?, ?, ?)", rows)

    def event(self, kind: str, text: str, magic: int | None = None) -> None:
        """Write that something happened that is neither a decision nor an order.

        Args:
            kind: What, in a word.
            text: What, in a sentence.
            magic: Whose strategy it concerns; None is the whole run.
        """
        with self._transaction():
            self._insert(
                "INSERT INTO events (run, at_utc, magic, kind, text) VALUES (?, ?, ?, ?, ?)",
                (self._run, self._clock.now(), magic, kind, text),
            )
        self._on_event(kind, text, magic)

    def tidy(self) -> None:
        """Move what the write-ahead log holds into the file, so that the log stays small."""
        try:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise JournalError(f"the journal {self.path} can't be tidied: {error}") from error

    def _insert(self, statement: str, values: tuple[Any, ...]) -> int:
        return int(self._db.execute(statement, values).lastrowid or 0)

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


_DECISION_COLUMNS = tuple(DecisionRow.__dataclass_fields__)
_DECISION_JSON = frozenset({"outputs", "holding", "baselines"})
_INSERT_DECISION = (
    f"INSERT INTO decisions (run, at_utc, {', '.join(_DECISION_COLUMNS)})"  # noqa: S608  own names
    f" VALUES (?, ?{', ?' * len(_DECISION_COLUMNS)})"
)
