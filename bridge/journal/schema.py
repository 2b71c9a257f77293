"""Tables of the journal, and how its file is opened. SQLite, write-ahead log."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from functools import lru_cache
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any, Protocol

from bridge.errors import ConfigError, JournalError
from bridge.mt5.rates import RatesArray

VERSION = 1

# Times named bar_time and time are server epoch seconds; at_utc is UTC epoch seconds by the run's
# clock; wall_utc is the computer's clock and, with paths and versions, the only thing that differs
# between two equal runs.
TABLES = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    at_utc REAL NOT NULL,
    wall_utc REAL NOT NULL,
    mode TEXT NOT NULL,
    settings TEXT NOT NULL,
    models TEXT NOT NULL,
    account TEXT NOT NULL,
    versions TEXT NOT NULL,
    paths TEXT NOT NULL,
    ended_utc REAL,
    ending TEXT
);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs(id),
    magic INTEGER NOT NULL,
    symbol TEXT NOT NULL,
    timeframe TEXT NOT NULL,
    bar_time INTEGER NOT NULL,
    at_utc REAL NOT NULL,
    model_sha256 TEXT NOT NULL,
    input_sha256 TEXT NOT NULL,
    outputs TEXT NOT NULL,
    long REAL NOT NULL,
    short REAL NOT NULL,
    problem TEXT,
    action TEXT NOT NULL,
    side TEXT,
    stop_points REAL,
    take_points REAL,
    reason TEXT NOT NULL,
    holding TEXT,
    state TEXT NOT NULL,
    baselines TEXT NOT NULL,
    bid REAL,
    ask REAL,
    balance REAL,
    equity REAL,
    UNIQUE (magic, symbol, bar_time)
);
CREATE TABLE intents (
    id INTEGER PRIMARY KEY,
    decision INTEGER REFERENCES decisions(id),
    at_utc REAL NOT NULL,
    purpose TEXT NOT NULL,
    request TEXT,
    verdicts TEXT NOT NULL,
    denied TEXT
);
CREATE TABLE results (
    intent INTEGER PRIMARY KEY REFERENCES intents(id),
    at_utc REAL NOT NULL,
    outcome TEXT NOT NULL,
    words TEXT NOT NULL,
    answer TEXT
);
CREATE TABLE deals (
    ticket INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs(id),
    time INTEGER NOT NULL,
    position_id INTEGER NOT NULL,
    deal TEXT NOT NULL
);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs(id),
    at_utc REAL NOT NULL,
    magic INTEGER,
    kind TEXT NOT NULL,
    text TEXT NOT NULL
);
"""


def input_sha256(rates: RatesArray) -> str:
    """Return the identity of the bars that a model saw: the hash of their bytes, as hex."""
    return hashlib.sha256(rates.tobytes()).hexdigest()


class Source(Protocol):
    """What rows are read from: a connection, or what stands before one."""

    def execute(self, sql: str, parameters: Any = ..., /) -> sqlite3.Cursor:
        """Carry out a statement."""

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """Carry out a statement with each of the parameters."""


class Named(Protocol):
    """A named tuple."""

    def __hash__(self) -> int: ...
    def _asdict(self) -> dict[str, Any]: ...


def packed(value: object) -> str:
    """Return a value as the journal keeps it in a column."""
    return "".join(_ENCODED(value, 0))


# Made once: ``dumps``, and even an encoder's ``encode``, make one each time. NaN and infinity are
# answers of a model, too; Python's JSON writes and reads them.
_ENCODED = c_make_encoder(
    None,  # no search for a list or dict that holds itself
    str,
    encode_basestring_ascii,
    None,  # no indent
    ":",
    ",",
    False,  # keys in their order
    False,  # an error where a key is no text
    True,
)


@lru_cache(maxsize=1_024, typed=True)
def packed_named(value: Named) -> str:
    """Return a named tuple as the journal keeps it in a column: with its names.

    Verdicts and baselines mostly are those of the row before.
    """
    return packed(value._asdict())


def packed_all(values: Iterable[Named]) -> str:
    """Return a list of named tuples likewise."""
    return f"[{','.join(map(packed_named, values))}]"


def unpacked(text: str) -> Any:
    """Return what :func:`packed` kept."""
    return json.loads(text)


def create(path: Path) -> sqlite3.Connection:
    """Open the journal at ``path`` for writing; make it if it is not there.

    Raises:
        ConfigError: The file is something else, or of another version.
        JournalError: The disk refuses.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        if _version(connection) == 0 and not _has_tables(connection):
            connection.executescript(f"BEGIN;{TABLES}PRAGMA user_version = {VERSION};COMMIT;")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise JournalError(f"the journal {path} can't be opened: {error}") from error
    _check_version(connection, path)
    return connection


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open the journal at ``path`` read-only.

    Raises:
        ConfigError: There is none, or the file is something else.
    """
    if not path.is_file():
        raise ConfigError(f"there is no journal at {path}: run mt5-onnx demo, or name one")
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    _check_version(connection, path)
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    try:
        version = _version(connection)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise ConfigError(f"{path} is no journal ({error}): name another file") from error
    if version != VERSION:
        connection.close()
        raise ConfigError(
            f"{path} is no journal of version {VERSION} (it says {version}): name another file, or "
            "read it with the release that wrote it"
        )
