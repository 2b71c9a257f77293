"""Two runs to be compared: of an EA, read from its CSV, and of the daemon, read from a journal."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from bridge.errors import DataError
from bridge.journal.read import JournalReader
from bridge.mt5.servertime import ServerClock

# Columns without which a file is no journal of an EA; mql5/Include/OnnxBridge/Journal.mqh.
_NEEDED = {"row", "bar_time", "time", "magic", "model_sha256", "outputs", "action", "retcode"}

# In the name of a shadow's file.
_SHADOW = "_shadow_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A decided bar: what was seen, what the model said, what was decided.

    Attributes:
        outputs: Of the model; empty when it had no answer.
        bid, ask, balance: When it was decided; None when the terminal did not answer.
        held: Side and volume of what was held, in words; empty for nothing.
    """

    input_sha256: str
    model_sha256: str
    outputs: tuple[float, ...]
    action: str
    side: str | None
    stop_points: float | None
    take_points: float | None
    bid: float | None
    ask: float | None
    balance: float | None
    held: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A request that was sent.

    Attributes:
        bar: Open of the last bar that had been decided, server epoch seconds.
        time: Server epoch seconds.
        type: Of a deal, 0 buys and 1 sells; None for a change of levels.
        volume, price: Of a deal; None otherwise.
        sl, tp: None for none.
    """

    bar: int
    time: int
    purpose: str
    type: int | None
    volume: float | None
    price: float | None
    sl: float | None
    tp: float | None
    retcode: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One side.

    Attributes:
        bars: By open time, server epoch seconds, in order.
        orders: In the order sent.
        words: What the run says of itself, such as the terminal's build.
        is_shadow: Whether it sends nothing, so that only some of its decisions are another's.
    """

    symbol: str
    timeframe: str
    magic: int
    bars: dict[int, Bar]
    orders: tuple[Order, ...]
    words: str = ""
    is_shadow: bool = False

    def between(self, first: int, last: int) -> "Run":
        """Return what was decided about bars that open from ``first`` to ``last``."""
        return replace(
            self,
            bars={time: bar for time, bar in self.bars.items() if first <= time <= last},
            orders=tuple(each for each in self.orders if first <= each.bar <= last),
        )


def read_csv(path: Path) -> Run:
    """Return the run that an EA has written.

    Raises:
        DataError: The file is missing, no such CSV, cut off or damaged, or without a decision.
    """
    reader = _reader(path)
    bars: dict[int, Bar] = {}
    orders: list[Order] = []
    head: dict[str, str] = {}
    words = ""
    for row in _rows(path, reader):
        try:
            if row["row"] == "run":
                words = row["words"]
            elif row["row"] == "decision":
                head, bars[int(row["bar_time"])] = row, _bar(row)
            elif row["row"] == "order" and not row["denied"]:
                orders.append(_order(row))
        except (ValueError, KeyError) as error:
            raise _damaged(path, reader.line_num, f"{error!r}") from error
    if not head:
        raise DataError(f"{path} holds no decision: let the program meet a closed bar first")
    return Run(
        symbol=head["symbol"],
        timeframe=head["timeframe"],
        magic=int(head["magic"]),
        bars=dict(sorted(bars.items())),
        orders=tuple(orders),
        words=words,
        is_shadow=_SHADOW in path.name,
    )


def _reader(path: Path) -> "csv.DictReader[str]":
    try:
        # Windows programs may have put a mark in front.
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise DataError(
            f"{path} can't be read as text ({why}): name the CSV in "
            r"Terminal\Common\Files\OnnxBridge"
        ) from error
    reader = csv.DictReader(StringIO(text), strict=True)
    lacks = _NEEDED.difference(reader.fieldnames or ())
    if lacks:
        raise DataError(
            f"{path} is no journal of an EA (its first line lacks {', '.join(sorted(lacks))}): "
            r"name the CSV that the program has written into Terminal\Common\Files\OnnxBridge"
        )
    return reader


def _rows(path: Path, reader: "csv.DictReader[str]") -> Iterator[dict[str, str]]:
    try:
        for row in reader:
            if None in row or None in row.values():
                raise _damaged(path, reader.line_num, "it has not one cell a column")
            yield row
    except csv.Error as error:
        raise _damaged(path, reader.line_num, f"{error}") from error


def _damaged(path: Path, line: int, why: str) -> DataError:
    return DataError(
        f"{path} line {line} is damaged ({why}), cut off or edited: take the row out, or copy the "
        "file again"
    )


def _number(text: str) -> float | None:
    return float(text) if text else None


def _bar(row: Mapping[str, str]) -> Bar:
    volume = _number(row["held_volume"])
    return Bar(
        input_sha256=row["input_sha256"],
        model_sha256=row["model_sha256"],
        outputs=tuple(float(part) for part in row["outputs"].split()),
        action=row["action"],
        side=row["side"] or None,
        stop_points=_number(row["stop_points"]),
        take_points=_number(row["take_points"]),
        bid=_number(row["bid"]),
        ask=_number(row["ask"]),
        balance=_number(row["balance"]),
        held=f"{row['held_side']} {volume:g}" if volume is not None else "",
    )


def _order(row: Mapping[str, str]) -> Order:
    return Order(
        bar=int(row["bar_time"]),
        time=int(row["time"]),
        purpose=row["purpose"],
        type=int(row["order_type"]) if row["order_type"] else None,
        volume=_number(row["volume"]),
        price=_number(row["price"]),
        sl=_number(row["sl"]),
        tp=_number(row["tp"]),
        retcode=int(row["retcode"]) if row["retcode"] else None,
    )


def read_journal(journal: JournalReader, symbol: str, magic: int, server: ServerClock) -> Run:
    """Return what the daemon has done on ``symbol`` with ``magic``.

    Args:
        journal: Of a back-test or of any other run.
        symbol: The broker's name.
        magic: Of the strategy.
        server: The clock of the journal's broker.

    Raises:
        DataError: There is no decision of them.
    """
    bars: dict[int, Bar] = {}
    decided: list[tuple[float, int]] = []
    timeframe = ""
    for row in journal.rows("decisions"):
        if (row["symbol"], row["magic"]) == (symbol, magic):
            bars[row["bar_time"]] = _bar_of(row)
            decided.append((row["at_utc"], row["bar_time"]))
            timeframe = row["timeframe"]
    if not bars:
        raise DataError(
            f"the journal holds no decision of magic {magic} on {symbol}: name another with "
            "--journal"
        )
    return Run(
        symbol=symbol,
        timeframe=timeframe,
        magic=magic,
        bars=dict(sorted(bars.items())),
        orders=tuple(_orders_of(journal, symbol, magic, decided, server)),
    )


def _bar_of(row: Mapping[str, Any]) -> Bar:
    holding = row["holding"] or {}
    names = ("input_sha256", "model_sha256", "action", "side", "stop_points", "take_points")
    seen = ("bid", "ask", "balance")
    return Bar(
        outputs=tuple(float(value) for value in row["outputs"]),
        held=f"{holding['side']} {holding['volume']:g}" if holding else "",
        **{name: row[name] for name in (*names, *seen)},
    )


def _orders_of(
    journal: JournalReader,
    symbol: str,
    magic: int,
    decided: list[tuple[float, int]],
    server: ServerClock,
) -> Iterator[Order]:
    results = {row["intent"]: row for row in journal.rows("results")}
    place = 0
    for row in journal.rows("intents"):
        request, result = row["request"], results.get(row["id"])
        if not request or row["denied"] or (request["symbol"], request["magic"]) != (symbol, magic):
            continue
        while place + 1 < len(decided) and decided[place + 1][0] <= row["at_utc"]:
            place += 1
        answer = (result and result["answer"]) or {}
        yield Order(
            bar=decided[place][1],
            time=int(server.from_utc(row["at_utc"])),
            purpose=row["purpose"],
            retcode=answer.get("retcode"),
            **{name: request.get(name) for name in ("type", "volume", "price", "sl", "tp")},
        )
