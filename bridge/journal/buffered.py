"""A back-test's own journal: the live one's interface and tables, written in large transactions.

A run that is killed loses what was not written yet; nothing real was sent. Everything is on the
disk when the journal is closed, also after Ctrl-C.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge.clock import Clock
from bridge.journal import stretches
from bridge.journal.read import JournalReader
from bridge.journal.stretches import Stretch, Track
from bridge.journal.write import DECISION, DecisionRow, Journal, Values, decision_values

# Statements in one transaction.
_MANY = 20_000


class BufferedJournal(Journal):
    """The journal of one back-test.

    Args:
        path: The file; made with its folder if it is not there.
        clock: The run's clock.
        on_event: Told of each event: kind, text, magic.
    """

    def __init__(
        self,
        path: Path,
        clock: Clock,
        on_event: Callable[[str, str, int | None], None] = lambda kind, text, magic: None,
    ) -> None:
        super().__init__(path, clock, on_event)
        self._db.row_factory = sqlite3.Row
        self._db.executescript(stretches.TABLES)
        self._left = _MANY
        self._stretches: list[tuple[Stretch, int, int]] = []
        newest = [
            self._db.execute(f"SELECT max({name}) AS id FROM {table}").fetchone()["id"]  # noqa: S608  own names
            for name, table in (("id", "decisions"), ("last_id", "stretches"))
        ]
        self._number = max((each for each in newest if each is not None), default=0)

    def reader(self) -> JournalReader:
        """Return a reader of what was written, on the disk or not."""
        return JournalReader(self._db)

    def decision(self, row: DecisionRow) -> int:
        """Write a decision and return its number."""
        self._number += 1
        values = (self._number, self._run, self._clock.now(), *decision_values(row))
        return self._write(DECISION, values)

    def track(self, track: Track) -> int:
        """Write a strategy's bars and answers, once, and return their number."""
        with self._transaction():
            return stretches.write_track(self._db, track)

    def next_ids(self, count: int) -> int:
        """Take ``count`` numbers of decisions, and return the first."""
        self._number += count
        return self._number - count + 1

    def stretch(self, stretch: Stretch, first_bar: int, last_bar: int) -> None:
        """Write decisions that only hold.

        Args:
            stretch: What they are.
            first_bar: Open of its first bar, server epoch seconds.
            last_bar: Open of its last bar.
        """
        self._stretches.append((stretch, first_bar, last_bar))

    def begin_run(self, **particulars: Any) -> int:
        """Write the first row of a run and return its number."""
        number = super().begin_run(**particulars)
        self.flush()
        return number

    def flush(self) -> None:
        """Write what is held back."""
        try:
            stretches.write_stretches(self._db, self._run, self._stretches)
            self._stretches.clear()
            if self._db.in_transaction:
                self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._refusal(error) from error
        self._left = _MANY

    def tidy(self) -> None:
        """Move what the write-ahead log holds into the file."""
        self.flush()
        super().tidy()

    def close(self) -> None:
        """Write what is held back and close the file."""
        try:
            self.flush()
        finally:
            super().close()

    def _write(self, statement: str, values: Values, *, sync: bool = False) -> int:
        """Write a row with the next flush; nothing real is sent, so nothing is synced."""
        try:
            self._begin()
            return int(self._db.execute(statement, values).lastrowid or 0)
        except sqlite3.Error as error:
            raise self._refusal(error) from error

    def _write_all(self, statement: str, rows: Iterable[Values]) -> None:
        for each in rows:
            self._write(statement, each)

    @contextmanager
    def _transaction(self, *, sync: bool = False) -> Iterator[None]:
        """Write what the block writes with the next flush."""
        try:
            self._begin()
            yield
        except sqlite3.Error as error:
            raise self._refusal(error) from error

    def _begin(self) -> None:
        """Be in the transaction that the next flush ends."""
        if self._left <= 0:
            self.flush()
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
        self._left -= 1
