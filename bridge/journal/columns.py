"""Decisions by columns: what statistics need of millions of them, without a row of each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.journal.schema import Source

INTEGERS = frozenset({"id", "bar_time"})
NUMBERS = INTEGERS | {"at_utc", "long", "short", "bid", "ask", "balance", "equity"}
"""Columns that can be had this way, besides ``kind``."""
Column = NDArray[Any]


class Kind(IntEnum):
    """What a decision came to."""

    FLAT = 0
    """Nothing was held, and the signal asked for nothing."""
    HOLDING = 1
    """A position was kept."""
    ACTED = 2
    """Something was to be opened or closed."""
    UNUSABLE = 3
    """There was no usable signal."""


_KIND = (
    "CASE WHEN ifnull(problem, '') != '' THEN 3 WHEN action != 'hold' THEN 2"
    " WHEN holding IS NOT NULL THEN 1 ELSE 0 END"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One strategy's decisions, in the order in which they were made.

    Attributes:
        models: Hashes of the models that answered, in order.
        columns: By name, shape ``(decisions,)``: int64 for ``id`` and ``bar_time``, int8 for
            ``kind``, else float64 with NaN where a number is not known.
    """

    magic: int
    symbol: str
    timeframe: str
    models: tuple[str, ...]
    columns: dict[str, Column]


@dataclass(frozen=True, slots=True)
class Part:
    """Some decisions of one strategy and one model, in order of their ids."""

    owner: tuple[int, str, str]
    model: str
    columns: dict[str, Column]


def written(db: Source, names: Sequence[str]) -> Iterator[Part]:
    """Yield the decisions that are rows; ``names`` include ``id``."""
    shown = ", ".join(f"{_KIND} AS kind" if name == "kind" else name for name in names)
    owners = "SELECT DISTINCT magic, symbol, timeframe, model_sha256 FROM decisions"
    for magic, symbol, frame, model in db.execute(owners).fetchall():
        rows = db.execute(
            f"SELECT {shown} FROM decisions WHERE magic = ? AND symbol = ? AND timeframe = ?"  # noqa: S608  own names
            " AND model_sha256 = ? ORDER BY id",
            (magic, symbol, frame, model),
        ).fetchall()
        columns = zip(*rows, strict=True)
        made = {n: typed(n, column) for n, column in zip(names, columns, strict=True)}
        yield Part((magic, symbol, frame), model, made)


def typed(name: str, values: Any) -> Column:
    """Return values of a column as numpy has them."""
    if name == "kind":
        return np.array(values, dtype=np.int8)
    return np.array(values, dtype=np.int64 if name in INTEGERS else np.float64)


@dataclass(slots=True)
class _Growing:
    models: dict[str, int] = field(default_factory=dict)
    parts: list[dict[str, Column]] = field(default_factory=list)


def joined(parts: Iterable[Part]) -> tuple[Decided, ...]:
    """Return each strategy's decisions of all parts; the one that decided first comes first."""
    found: dict[tuple[int, str, str], _Growing] = {}
    for part in parts:
        growing, first = found.setdefault(part.owner, _Growing()), int(part.columns["id"][0])
        growing.models[part.model] = min(first, growing.models.get(part.model, first))
        growing.parts.append(part.columns)
    made = [_decided(owner, growing) for owner, growing in found.items()]
    return tuple(sorted(made, key=lambda one: int(one.columns["id"][0])))


def _decided(owner: tuple[int, str, str], growing: _Growing) -> Decided:
    names = growing.parts[0]
    columns = {name: np.concatenate([part[name] for part in growing.parts]) for name in names}
    order = np.argsort(columns["id"], kind="stable")
    magic, symbol, frame = owner
    return Decided(
        magic=magic,
        symbol=symbol,
        timeframe=frame,
        models=tuple(sorted(growing.models, key=growing.models.__getitem__)),
        columns={name: column[order] for name, column in columns.items()},
    )
