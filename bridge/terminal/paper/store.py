"""The account's own SQLite file. One transaction a change; one process at a time.

Rows are JSON: Python's floats come back bit for bit, and a magic may exceed SQLite's integers.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.errors import ConfigError, TerminalError
from bridge.mt5.records import TradeDeal, TradeOrder

if TYPE_CHECKING:
    from bridge.terminal.paper.ledger import Position
    from bridge.terminal.paper.order import Order

_VERSION = "2"
# A file of the first version only lacks the table of waiting orders.
_OLDER = ("1",)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS positions (ticket INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS waiting (ticket INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS orders (number INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS deals (number INTEGER PRIMARY KEY, body TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class State:
    """What a file holds; all empty for a new account."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    positions: Sequence[dict[str, Any]] = ()
    waiting: Sequence[dict[str, Any]] = ()
    orders: Sequence[list[Any]] = ()
    deals: Sequence[list[Any]] = ()


class Store:
    """The file of one account.

    Args:
        path: Of the file; None keeps the account in memory.
        identity: What has to be the same each time: profile name, hash, currency.

    Attributes:
        is_kept: Whether there is a file; what nobody can open again needs no writing.

    Raises:
        ConfigError: The file can't be used: it is of another profile, of a later version, open
            in another process, or no account at all.
    """

    def __init__(self, path: Path | None, identity: Mapping[str, str]) -> None:
        self._name = str(path or ":memory:")
        self.is_kept = path is not None
        try:
            # Waiting for another process would be vain: it holds the file until it ends.
            self._db = sqlite3.connect(
                self._name, timeout=0, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("COMMIT")
            self._db.executescript(_SCHEMA)
            self._identify({**identity, "version": _VERSION})
        except sqlite3.Error as error:
            self.close()
            raise ConfigError(
                f"account file {self._name} can't be used ({error}): close the program that has "
                "it open, or name another file"
            ) from error

    def _identify(self, identity: Mapping[str, str]) -> None:
        known = self._meta()
        for key, value in identity.items():
            if key not in known:
                self._db.execute("INSERT INTO meta VALUES (?, ?)", (key, json.dumps(value)))
            elif key == "version" and known[key] in _OLDER:
                self._db.execute(
                    "UPDATE meta SET value = ? WHERE key = ?", (json.dumps(value), key)
                )
            elif known[key] != value:
                self._db.close()
                raise ConfigError(
                    f"account file {self._name} belongs to {key} {known[key]}, not to {value}: "
                    "use the profile it was made with, or name another file"
                )

    def _meta(self) -> dict[str, Any]:
        rows = self._db.execute("SELECT key, value FROM meta")
        return {key: json.loads(value) for key, value in rows}

    def load(self) -> State:
        """Return what the file holds."""
        return State(
            meta=self._meta(),
            positions=self._bodies("SELECT body FROM positions ORDER BY ticket"),
            waiting=self._bodies("SELECT body FROM waiting ORDER BY ticket"),
            orders=self._bodies("SELECT body FROM orders ORDER BY number"),
            deals=self._bodies("SELECT body FROM deals ORDER BY number"),
        )

    def _bodies(self, query: str) -> list[Any]:
        return [json.loads(body) for (body,) in self._db.execute(query)]

    def write(
        self,
        *,
        now: float,
        balance: float,
        numbers: Mapping[str, int],
        lows: Sequence[tuple[float, float]],
        positions: Mapping[int, "Position | None"],
        waiting: Mapping[int, "Order | None"],
        orders: Iterable[TradeOrder],
        deals: Iterable[TradeDeal],
    ) -> None:
        """Write a change as one transaction.

        Args:
            now: Server time up to which it is true.
            balance: Account currency.
            numbers: The next tickets.
            lows: Worst equity of the last bars.
            positions: Ticket -> position that changed, None when it is gone.
            waiting: Ticket -> order that changed, None when it waits no more.
            orders: New in the history.
            deals: New in the history.

        Raises:
            TerminalError: The file could not be written; it holds the state before the change.
        """
        meta = {"now": now, "balance": balance, "lows": lows, **numbers}
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._rows("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
            self._rows("INSERT OR REPLACE INTO positions VALUES (?, ?)", _kept(positions))
            self._db.executemany("DELETE FROM positions WHERE ticket = ?", _gone(positions))
            self._rows("INSERT OR REPLACE INTO waiting VALUES (?, ?)", _kept(waiting))
            self._db.executemany("DELETE FROM waiting WHERE ticket = ?", _gone(waiting))
            self._rows("INSERT INTO orders VALUES (?, ?)", ((None, order) for order in orders))
            self._rows("INSERT INTO deals VALUES (?, ?)", ((None, deal) for deal in deals))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise TerminalError(
                "account file", -1, f"{self._name} was not written: {error}"
            ) from error

    def _rows(self, statement: str, rows: Iterable[tuple[Any, Any]]) -> None:
        self._db.executemany(statement, ((key, json.dumps(body)) for key, body in rows))

    def close(self) -> None:
        """Release the file; what is not committed is lost, as in a crash."""
        opened = getattr(self, "_db", None)
        if opened is not None:
            opened.close()

    # An account that nobody closed goes with its owner, and Python 3.13 wants to be told.
    __del__ = close


def _kept(changed: Mapping[int, Any]) -> list[tuple[int, dict[str, Any]]]:
    return [(ticket, asdict(one)) for ticket, one in changed.items() if one is not None]


def _gone(changed: Mapping[int, Any]) -> list[tuple[int]]:
    return [(ticket,) for ticket, one in changed.items() if one is None]
