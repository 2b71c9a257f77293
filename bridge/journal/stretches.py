"""Stretches: decisions that only hold, kept by columns instead of rows. For back-tests.

A *track* is one strategy's bars with the model's answers, written once. A *stretch* is a run of
its bars at which nothing happened; of each bar it keeps only what moves. Read, every one of them
is a row of ``decisions`` as a journal of rows has it.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.journal.columns import Kind, Part
from bridge.journal.schema import Named, Source, input_sha256, packed, packed_named, unpacked
from bridge.mt5.rates import RATES_DTYPE, RatesArray, sealed

TABLES = """
CREATE TABLE IF NOT EXISTS tracks (
    id INTEGER PRIMARY KEY,
    particulars TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS track_blocks (
    track INTEGER NOT NULL REFERENCES tracks(id),
    first INTEGER NOT NULL,
    bars BLOB NOT NULL,
    marks BLOB NOT NULL,
    PRIMARY KEY (track, first)
);
CREATE TABLE IF NOT EXISTS stretches (
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    ids BLOB,
    run INTEGER NOT NULL REFERENCES runs(id),
    track INTEGER NOT NULL REFERENCES tracks(id),
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    first_bar INTEGER NOT NULL,
    last_bar INTEGER NOT NULL,
    to_utc REAL NOT NULL,
    held TEXT,
    state TEXT NOT NULL,
    baselines TEXT NOT NULL,
    balance REAL NOT NULL,
    moves BLOB
);
"""

BLOCK = 65_536
"""Bars of a block."""
MOVES = ("equity", "peak_equity", "day_low", "week_low")
"""What moves while a position is open; one column each."""
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One strategy's bars, and what its decisions at them are made of.

    Attributes:
        window: Bars that the model saw at each.
        depth: Most bars that a position is counted to be held for.
        reasons: Words of holding without a position, with ``{long}`` and ``{short}`` to fill in.
        keeps: Words of keeping a position, with ``{side}`` and ``{value}``.
        bars: All of them, rates dtype.
        decided: Server time at which each is decided, shape ``(n,)`` like all that follows.
        outputs: The model's answers, ``(n, width)``.
        reason: Number of the words.
    """

    magic: int
    symbol: str
    timeframe: str
    model_sha256: str
    window: int
    depth: int
    reasons: Sequence[str]
    keeps: str
    bars: RatesArray
    decided: NDArray[np.int64]
    outputs: NDArray[np.float64 | np.float32]
    long: Doubles
    short: Doubles
    bid: Doubles
    ask: Doubles
    reason: NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Bars of a track at which a strategy held.

    Attributes:
        ids: Numbers of the decisions, shape ``(count,)``; None: they follow on each other.
        first: Place of the first bar in the track.
        to_utc: What is added to server time to get UTC.
        held: The position as a decision shows it, with the place of the bar in which it was opened
            instead of its age; None without one.
        baselines: As they were before; what moves is replaced.
        moves: Columns ``MOVES``, shape ``(4, count)``; None: equity is the balance, nothing moves.
    """

    track: int
    first_id: int
    last_id: int
    ids: NDArray[np.int64] | None
    first: int
    count: int
    to_utc: float
    held: dict[str, Any] | None
    state: str
    baselines: Named
    balance: float
    moves: Doubles | None


def _marks(width: int) -> np.dtype[np.void]:
    columns = [("decided", "<i8"), ("long", "<f8"), ("short", "<f8"), ("bid", "<f8")]
    return np.dtype([*columns, ("ask", "<f8"), ("reason", "i1"), ("outputs", "<f8", (width,))])


def write_track(db: sqlite3.Connection, track: Track) -> int:
    """Write a track and return its number."""
    names = ("magic", "symbol", "timeframe", "model_sha256", "window", "depth", "reasons", "keeps")
    particulars = {name: getattr(track, name) for name in names}
    particulars["width"] = width = track.outputs.shape[1]
    number = db.execute("INSERT INTO tracks (particulars) VALUES (?)", (packed(particulars),))
    for first in range(0, len(track.bars), BLOCK):
        part = slice(first, first + BLOCK)
        bars = track.bars[part]
        marks = np.zeros(len(bars), dtype=_marks(width))
        for name in marks.dtype.names or ():
            marks[name] = getattr(track, name)[part]
        block = (number.lastrowid, first, bars.tobytes(), marks.tobytes())
        db.execute("INSERT INTO track_blocks VALUES (?, ?, ?, ?)", block)
    return int(number.lastrowid or 0)


def write_stretches(
    db: sqlite3.Connection, run: int, stretches: Iterable[tuple[Stretch, int, int]]
) -> None:
    """Write stretches, each with the open times of its first and last bar."""
    db.executemany(
        f"INSERT INTO stretches VALUES ({', '.join('?' * 15)})",  # noqa: S608  own text
        (
            (
                one.first_id,
                one.last_id,
                None if one.ids is None else one.ids.tobytes(),
                run,
                one.track,
                one.first,
                one.count,
                first_bar,
                last_bar,
                one.to_utc,
                None if one.held is None else packed(one.held),
                one.state,
                packed_named(one.baselines),
                one.balance,
                None if one.moves is None else one.moves.tobytes(),
            )
            for one, first_bar, last_bar in stretches
        ),
    )


@dataclass(slots=True)
class _Known:
    """A track as it is read: particulars, and the blocks looked at last."""

    particulars: dict[str, Any]
    blocks: dict[int, tuple[RatesArray, NDArray[np.void]]] = field(default_factory=dict)


class Stretches:
    """Reads stretches as rows of ``decisions``, columns of JSON as objects."""

    def __init__(self, db: Source) -> None:
        self._db = db
        self._tracks: dict[int, _Known] = {}

    def is_empty(self) -> bool:
        """Whether the journal has rows only."""
        has = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'stretches'").fetchone()
        return has is None or self._db.execute("SELECT 1 FROM stretches").fetchone() is None

    def rows(self, where: str = "1", *values: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of the stretches that ``where`` chooses, in the order of their ids."""
        statement = f"SELECT * FROM stretches WHERE {where} ORDER BY first_id"  # noqa: S608  own
        group: list[dict[str, Any]] = []
        last = -1
        for one in self._db.execute(statement, values):
            if one["first_id"] > last:
                yield from sorted(group, key=_id)
                group = []
            group += self._expanded(one)
            last = max(last, one["last_id"])
        yield from sorted(group, key=_id)

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield the decisions of each stretch by columns."""
        for one in self._db.execute("SELECT * FROM stretches ORDER BY first_id"):
            known, count = self._known(one["track"]).particulars, one["count"]
            bars, marks = self._part(one["track"], one["first"], one["first"] + count)
            numbers = _Numbers(one, bars, marks)
            owner = (known["magic"], known["symbol"], known["timeframe"])
            columns = {name: numbers.column(name) for name in names}
            yield Part(owner, known["model_sha256"], columns)

    def bars(self, magic: int, symbol: str) -> RatesArray | None:
        """Return all bars of a strategy's newest track; None when there is none."""
        tracks = self._db.execute("SELECT id FROM tracks ORDER BY id DESC").fetchall()
        for track in (row["id"] for row in tracks):
            if self._owner(track) == (magic, symbol):
                blocks = self._db.execute(
                    "SELECT bars FROM track_blocks WHERE track = ? ORDER BY first", (track,)
                )
                return sealed(np.frombuffer(b"".join(r["bars"] for r in blocks), dtype=RATES_DTYPE))
        return None

    def newest(self, magic: int, symbol: str) -> dict[str, Any] | None:
        """Return the newest row of a strategy."""
        tracks = [row["id"] for row in self._db.execute("SELECT id FROM tracks")]
        own = [each for each in tracks if self._owner(each) == (magic, symbol)]
        found = [
            row
            for track in own
            for row in self._db.execute(
                "SELECT * FROM stretches WHERE track = ? ORDER BY last_bar DESC LIMIT 1", (track,)
            )
        ]
        if not found:
            return None
        return self._expanded(max(found, key=lambda row: int(row["last_bar"])))[-1]

    def nearest_bar(self, bar_time: int) -> int | None:
        """Return the bar nearest to ``bar_time``."""
        found = self._db.execute(
            "SELECT * FROM stretches ORDER BY max(first_bar - ?, ? - last_bar, 0) LIMIT 1",
            (bar_time, bar_time),
        ).fetchone()
        if found is None:
            return None
        times = [int(row["bar_time"]) for row in self._expanded(found)]
        return min(times, key=lambda time: abs(time - bar_time))

    def _owner(self, track: int) -> tuple[int, str]:
        known = self._known(track).particulars
        return known["magic"], known["symbol"]

    def _known(self, track: int) -> _Known:
        if track not in self._tracks:
            row = self._db.execute("SELECT * FROM tracks WHERE id = ?", (track,)).fetchone()
            self._tracks[track] = _Known(unpacked(row["particulars"]))
        return self._tracks[track]

    def _block(self, track: int, first: int) -> tuple[RatesArray, NDArray[np.void]]:
        known = self._known(track)
        if first not in known.blocks:
            row = self._db.execute(
                "SELECT * FROM track_blocks WHERE track = ? AND first = ?", (track, first)
            ).fetchone()
            marks = np.frombuffer(row["marks"], dtype=_marks(known.particulars["width"]))
            for old in list(islice(known.blocks, max(0, len(known.blocks) - 2))):
                del known.blocks[old]
            known.blocks[first] = (np.frombuffer(row["bars"], dtype=RATES_DTYPE), marks)
        return known.blocks[first]

    def _part(self, track: int, first: int, last: int) -> tuple[RatesArray, NDArray[np.void]]:
        """Return bars and marks from a place to another."""
        begin = first - first % BLOCK
        blocks = [self._block(track, each) for each in range(begin, last, BLOCK)]
        if len(blocks) == 1:
            bars, marks = blocks[0]
        else:
            bars, marks = (np.concatenate(each) for each in zip(*blocks, strict=True))
        return bars[first - begin : last - begin], marks[first - begin : last - begin]

    def _expanded(self, one: sqlite3.Row) -> list[dict[str, Any]]:
        track, first, count = one["track"], one["first"], one["count"]
        known = self._known(track).particulars
        before = known["window"] - 1
        bars, marks = self._part(track, first - before, first + count)
        baselines, held = unpacked(one["baselines"]), one["held"] and unpacked(one["held"])
        moves = one["moves"] and np.frombuffer(one["moves"]).reshape(len(MOVES), count).T.tolist()
        ids = None if one["ids"] is None else np.frombuffer(one["ids"], dtype=np.int64).tolist()
        rows = []
        for place in range(count):
            mark = marks[before + place].tolist()
            decided, long, short, bid, ask, reason, outputs = mark
            moved = dict(zip(MOVES, moves[place], strict=True)) if moves else {}
            equity = moved.pop("equity", one["balance"])
            holding, why = None, known["reasons"][reason] if not held else known["keeps"]
            if held:
                age = min(known["depth"], first + place + 1 - held["since"])
                holding = {**{k: v for k, v in held.items() if k != "since"}, "bars": age}
                side = held["side"]
                why = why.format(side=side, value=long if side == "long" else short)
            else:
                why = why.format(long=long, short=short)
            rows.append(
                {
                    "id": one["first_id"] + place if ids is None else ids[place],
                    "run": one["run"],
                    "magic": known["magic"],
                    "symbol": known["symbol"],
                    "timeframe": known["timeframe"],
                    "bar_time": int(bars["time"][before + place]),
                    "at_utc": decided + one["to_utc"],
                    "model_sha256": known["model_sha256"],
                    "input_sha256": input_sha256(bars[place : place + before + 1]),
                    "outputs": outputs if isinstance(outputs, list) else list(outputs),
                    "long": long,
                    "short": short,
                    "problem": None,
                    "action": "hold",
                    "side": None,
                    "stop_points": None,
                    "take_points": None,
                    "reason": why,
                    "holding": holding,
                    "state": one["state"],
                    "baselines": {**baselines, **moved},
                    "bid": bid,
                    "ask": ask,
                    "balance": one["balance"],
                    "equity": equity,
                }
            )
        return rows


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Columns of one stretch: its row, bars and marks."""

    row: sqlite3.Row
    bars: RatesArray
    marks: NDArray[np.void]

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of ``columns.NUMBERS``, or ``kind``."""
        row, count = self.row, len(self.marks)
        if name in ("long", "short", "bid", "ask"):
            return np.asarray(self.marks[name])
        if name == "bar_time":
            return np.asarray(self.bars["time"])
        if name == "at_utc":
            return np.asarray(self.marks["decided"] + row["to_utc"])
        if name == "id" and row["ids"] is not None:
            return np.frombuffer(row["ids"], dtype=np.int64)
        if name == "id":
            return np.arange(row["first_id"], row["first_id"] + count)
        if name == "equity" and row["moves"]:
            return np.frombuffer(row["moves"])[:count]
        if name == "kind":
            return np.full(count, Kind.HOLDING if row["held"] else Kind.FLAT, dtype=np.int8)
        return np.full(count, row["balance"])  # equity is the balance without a position


def _id(row: dict[str, Any]) -> int:
    return int(row["id"])
