"""Read a journal: for reports, ``why``, exports and a person."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import merge
from itertools import chain
from pathlib import Path
from typing import Any

from bridge.journal import schema
from bridge.journal.columns import NUMBERS, Decided, joined, written
from bridge.journal.schema import Source, packed
from bridge.journal.stretches import Stretches
from bridge.mt5.rates import RatesArray
from bridge.mt5.records import TradeDeal

TABLES = ("runs", "decisions", "intents", "results", "deals", "events")
_JSON_COLUMNS = frozenset(
    [
        "settings",
        "models",
        "account",
        "versions",
        "paths",
        "outputs",
        "holding",
        "baselines",
        "request",
        "verdicts",
        "answer",
        "deal",
    ]
)
Row = dict[str, Any]


class JournalReader:
    """A journal, open to read."""

    def __init__(self, connection: Source) -> None:
        self._db = connection
        self._stretches = Stretches(connection)
        self._has_all = False

    def rows(self, table: str, where: str = "1", *values: Any) -> Iterator[Row]:
        """Yield rows of ``table`` in the order written, JSON columns as objects."""
        if table not in TABLES:
            raise ValueError(f"{table} is none of {TABLES}")
        if table != "decisions" or self._has_all or self._stretches.is_empty():
            yield from self._written(table, where, values)
        elif where in _OF_STRETCHES:
            limits, keeps = _OF_STRETCHES[where]
            held = self._stretches.rows(limits, *values)
            chosen = (row for row in held if keeps(row, *values))
            yield from merge(self._written(table, where, values), chosen, key=_id)
        else:
            self._gather()
            yield from self._written(table, where, values)

    def columns(self, *names: str) -> tuple[Decided, ...]:
        """Return the decisions by columns, strategy by strategy, in the order of the first one.

        Args:
            names: ``kind``, or of :data:`bridge.journal.columns.NUMBERS`; ``id`` comes along.

        Raises:
            ValueError: A column that can't be had this way.
        """
        wanted = tuple(dict.fromkeys(("id", *names)))
        if unknown := set(wanted) - NUMBERS - {"kind"}:
            raise ValueError(f"{sorted(unknown)} are no columns of numbers: read rows instead")
        parts = written(self._db, wanted)
        if self._has_all or self._stretches.is_empty():
            return joined(parts)
        return joined(chain(parts, self._stretches.parts(wanted)))

    def bars(self, magic: int, symbol: str) -> RatesArray | None:
        """Return the bars that a strategy's back-test played, oldest first.

        Returns:
            Rates dtype, of the newest run that keeps them; None where a journal keeps none.
        """
        return None if self._stretches.is_empty() else self._stretches.bars(magic, symbol)

    def _gather(self) -> None:
        """Make one table of all decisions, for conditions that only SQL understands."""
        everything = list(self.rows("decisions"))
        self._db.execute("CREATE TEMP TABLE decisions AS SELECT * FROM main.decisions WHERE 0")
        places = ", ".join("?" * len(everything[0]))
        self._db.executemany(
            f"INSERT INTO temp.decisions VALUES ({places})",  # noqa: S608  own text
            (
                tuple(
                    packed(value) if name in _JSON_COLUMNS and value is not None else value
                    for name, value in row.items()
                )
                for row in everything
            ),
        )
        self._has_all = True

    def _written(self, table: str, where: str, values: tuple[Any, ...]) -> Iterator[Row]:
        statement = f"SELECT * FROM {table} WHERE {where} ORDER BY rowid"  # noqa: S608  own names
        for row in self._db.execute(statement, values):
            yield {name: _plain(name, row[name]) for name in row.keys()}  # noqa: SIM118  sqlite3.Row

    def deals(self) -> tuple[TradeDeal, ...]:
        """Return the deals written, in the order of their tickets."""
        return tuple(TradeDeal(row["deal"].values()) for row in self.rows("deals"))

    def decisions_at(self, bar_time: int) -> list[Row]:
        """Return the decisions about the bar that opened at ``bar_time`` (server epoch seconds)."""
        return list(self.rows("decisions", "bar_time = ?", bar_time))

    def intents_of(self, decision: int) -> list[Row]:
        """Return the intents of a decision, each with its ``result`` (a row or None)."""
        intents = list(self.rows("intents", "decision = ?", decision))
        for intent in intents:
            intent["result"] = next(self.rows("results", "intent = ?", intent["id"]), None)
        return intents

    def last_decision(self, magic: int, symbol: str) -> Row | None:
        """Return the newest decision of a strategy, or None."""
        where = "magic = ? AND symbol = ? AND bar_time = (SELECT max(bar_time) FROM decisions"
        values = (magic, symbol, magic, symbol)
        where = f"{where} WHERE magic = ? AND symbol = ?)"
        found = [*self._written("decisions", where, values)]
        if not self._stretches.is_empty() and (held := self._stretches.newest(magic, symbol)):
            found.append(held)
        return max(found, key=lambda row: int(row["bar_time"]), default=None)

    def open_intents(self, magic: int, symbol: str) -> list[Row]:
        """Return what a strategy sent, or was about to send, and has no final result of.

        Each has its ``result`` so far: a row, or None.
        """
        known = "SELECT intent FROM results WHERE outcome NOT IN ('unresolved', 'placed')"
        found = [
            row
            for row in self.rows("intents", f"denied IS NULL AND id NOT IN ({known})")
            if (row["request"]["magic"], row["request"]["symbol"]) == (magic, symbol)
        ]
        for row in found:
            row["result"] = next(self.rows("results", "intent = ?", row["id"]), None)
        return found

    def last_event(self, magic: int | None, *kinds: str) -> Row | None:
        """Return the newest event of ``kinds``, of a strategy or (None) of the whole run."""
        newest: Row | None = None
        for kind in kinds:
            where = "id = (SELECT max(id) FROM events WHERE magic IS ? AND kind = ?)"
            for row in self.rows("events", where, magic, kind):
                newest = row if newest is None or row["id"] > newest["id"] else newest
        return newest

    def nearest_bar(self, bar_time: int) -> int | None:
        """Return the decided bar nearest to ``bar_time``, or None in an empty journal."""
        found = self._db.execute(
            "SELECT bar_time FROM decisions ORDER BY abs(bar_time - ?) LIMIT 1", (bar_time,)
        ).fetchone()
        known = [] if found is None else [int(found[0])]
        if not self._stretches.is_empty():
            nearest = self._stretches.nearest_bar(bar_time)
            known += [] if nearest is None else [nearest]
        return min(known, key=lambda time: abs(time - bar_time), default=None)


# Conditions that need no SQL: those on stretches, and those on a row of one.
_OF_STRETCHES: dict[str, tuple[str, Callable[..., bool]]] = {
    "1": ("1", lambda row: True),
    "id = ?": ("? BETWEEN first_id AND last_id", lambda row, number: row["id"] == number),
    "bar_time = ?": (
        "? BETWEEN first_bar AND last_bar",
        lambda row, time: row["bar_time"] == time,
    ),
    "bar_time BETWEEN ? AND ?": (
        "last_bar >= ? AND first_bar <= ?",
        lambda row, first, last: first <= row["bar_time"] <= last,
    ),
}


def _id(row: Row) -> int:
    return int(row["id"])


def _plain(name: str, value: Any) -> Any:
    return json.loads(value) if name in _JSON_COLUMNS and value is not None else value


@contextmanager
def reading(path: Path) -> Iterator[JournalReader]:
    """Open the journal at ``path`` to read, and close it.

    Raises:
        ConfigError: There is none, or the file is something else.
    """
    connection = schema.open_to_read(path)
    try:
        yield JournalReader(connection)
    finally:
        connection.close()
