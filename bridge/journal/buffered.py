"""A back-test's own journal: the live one's interface and tables, written in large transactions.

A run that is killed loses what was not written yet; nothing real was sent. Everything is on the
disk when the journal is closed, also after Ctrl-C.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bridge.clock import Clock
from bridge.journal import stretches
from bridge.journal.read import JournalReader
from bridge.journal.stretches import Stretch, Track
from bridge.journal.write import INSERT, DecisionRow, Journal, Values, decision_values

# Rows in one transaction; so many are held back at most.
_MANY = 4_000
# Numbers are counted here, as the database would.
_NEWEST = {
    "runs": "SELECT max(id) FROM runs",
    "decisions": "SELECT max(id) FROM (SELECT max(id) AS id FROM decisions UNION ALL"
    " SELECT max(last_id) FROM stretches)",
    "intents": "SELECT max(id) FROM intents",
    "events": "SELECT max(id) FROM events",
}


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
        self._db.executescript(stretches.TABLES)
        self._waiting: dict[str, list[Values]] = {table: [] for table in INSERT}
        self._stretches: list[tuple[Stretch, int, int]] = []
        self._held = 0
        self._newest = dict.fromkeys(INSERT, 0)
        for table, newest in _NEWEST.items():
            self._newest[table] = self._db.execute(newest).fetchone()[0] or 0
        self._db.row_factory = sqlite3.Row

    def reader(self) -> JournalReader:
        """Return a reader of what was written, on the disk or not."""
        return JournalReader(_Whole(self._db, self.flush))

    def decision(self, row: DecisionRow) -> int:
        """Write a decision and return its number."""
        number = self.next_ids(1)
        values = (number, self._run, self._clock.now(), *decision_values(row))
        self._write_all("decisions", [values])
        return number

    def track(self, track: Track) -> int:
        """Write a strategy's bars and answers, once, and return their number."""
        with self._transaction():
            return stretches.write_track(self._db, track)

    def next_ids(self, count: int) -> int:
        """Take ``count`` numbers of decisions, and return the first."""
        first = self._newest["decisions"] + 1
        self._newest["decisions"] += count
        return first

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
        if not (self._held or self._stretches):
            return
        with self._transaction():
            for table, rows in self._waiting.items():
                self._db.executemany(INSERT[table], rows)
            stretches.write_stretches(self._db, self._run, self._stretches)
        for rows in self._waiting.values():
            rows.clear()
        self._stretches.clear()
        self._held = 0

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

    def _write(self, table: str, values: Values, *, sync: bool = False) -> int:
        """Hold a row back and return its number; nothing real is sent, so nothing is synced."""
        self._newest[table] += 1
        self._write_all(table, [values])
        return self._newest[table]

    def _write_all(self, table: str, rows: Sequence[Values]) -> None:
        self._waiting[table] += rows
        self._held += len(rows)
        if self._held >= _MANY:
            self.flush()


class _Whole:
    """The journal as a reader has it: what is held back is written before each look."""

    def __init__(self, db: sqlite3.Connection, flush: Callable[[], None]) -> None:
        self._db = db
        self._flush = flush

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        self._flush()
        return self._db.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        self._flush()
        return self._db.executemany(sql, parameters)
