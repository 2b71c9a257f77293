"""Parity: what differs between an EA's run and the daemon's over the same bars, first bar first."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from bridge.mql.runs import Bar, Order, Run

_LEVELS = ("stop_points", "take_points")
# A distance may come of bars of the other build's arithmetic; a billionth moves no price.
_RELATIVE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """What counts as equal.

    Attributes:
        outputs: Of the model's numbers.
        seconds: Between the two times of an order.
        price: Of an order's prices, in the symbol's unit.
        money: Of the final balance, account currency.
    """

    outputs: float = 1e-6
    seconds: int = 0
    price: float = 0.0
    money: float = 0.005


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the sides part.

    Attributes:
        bar: Open time of the bar, server epoch seconds.
        where: bar, outputs, decision, order or balance.
        what: Name of the value.
    """

    bar: int
    where: str
    what: str
    daemon: object
    expert: object

    def __str__(self) -> str:
        return f"{self.where} {self.what}: daemon {shown(self.daemon)}, EA {shown(self.expert)}"


def shown(value: object) -> str:
    """Return a value of a difference as a person reads it."""
    if isinstance(value, tuple):
        return " ".join(f"{each:.9g}" for each in value)
    return f"{value:.10g}" if isinstance(value, float) else str(value or "nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two runs side by side.

    Attributes:
        daemon, expert: Over the same span.
        differences: The first bar's first.
        worst: Largest difference of an output.
        other_bars: Bars whose window differs, though nothing that came of it need to.
    """

    daemon: Run
    expert: Run
    differences: tuple[Difference, ...]
    worst: float
    other_bars: int

    @property
    def first(self) -> Difference | None:
        """Where they part first."""
        return self.differences[0] if self.differences else None


def compare(daemon: Run, expert: Run, tolerance: Tolerance) -> Compared:
    """Compare the daemon's run with an EA's, over the bars that the EA has decided.

    A shadow sends nothing: its decisions are compared where both hold the same.
    """
    first, last = min(expert.bars), max(expert.bars)
    daemon = daemon.between(first, last)
    found = list(_of_bars(daemon, expert, tolerance))
    if not expert.is_shadow:
        found += _of_orders(daemon, expert, tolerance)
        found += _of_balance(daemon, expert, tolerance)
    common = [(daemon.bars[t], expert.bars[t]) for t in daemon.bars.keys() & expert.bars.keys()]
    return Compared(
        daemon=daemon,
        expert=expert,
        differences=tuple(sorted(found, key=lambda each: (each.bar, _RANK[each.where]))),
        worst=max((_apart(ours, theirs) for ours, theirs in common), default=0.0),
        other_bars=sum(
            bool(theirs.input_sha256) and ours.input_sha256 != theirs.input_sha256
            for ours, theirs in common
        ),
    )


_RANK = {name: rank for rank, name in enumerate(["bar", "outputs", "decision", "order", "balance"])}


def _of_bars(daemon: Run, expert: Run, tolerance: Tolerance) -> Iterator[Difference]:
    for time in sorted(daemon.bars.keys() | expert.bars.keys()):
        ours, theirs = daemon.bars.get(time), expert.bars.get(time)
        if ours is None or theirs is None:
            sides = ["decided" if each else "not there" for each in (ours, theirs)]
            yield Difference(time, "bar", "of this time", *sides)
            continue
        if not _apart(ours, theirs) <= tolerance.outputs:
            yield Difference(time, "outputs", "of the model", ours.outputs, theirs.outputs)
        if not expert.is_shadow or ours.held == theirs.held:
            yield from _of_decision(time, ours, theirs)


def _of_decision(time: int, ours: Bar, theirs: Bar) -> Iterator[Difference]:
    for name in ("action", "side", *_LEVELS):
        pair = getattr(ours, name), getattr(theirs, name)
        limit = abs(pair[0] or 0.0) * _RELATIVE if name in _LEVELS else 0.0
        if pair[0] != pair[1] and not (name in _LEVELS and _near(*pair, limit)):
            yield Difference(time, "decision", name, *pair)


def _apart(ours: Bar, theirs: Bar) -> float:
    """Return the largest difference of an output; infinite where one side has no answer."""
    if len(ours.outputs) != len(theirs.outputs):
        return float("inf")
    pairs = zip(ours.outputs, theirs.outputs, strict=True)
    return max((_distance(a, b) for a, b in pairs), default=0.0)


def _distance(a: float, b: float) -> float:
    if a == b or (a != a and b != b):
        return 0.0
    apart = abs(a - b)
    return apart if apart == apart else float("inf")


def _near(ours: float | None, theirs: float | None, limit: float) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return _distance(ours, theirs) <= limit


def _of_orders(daemon: Run, expert: Run, tolerance: Tolerance) -> Iterator[Difference]:
    by_bar: dict[int, tuple[list[Order], list[Order]]] = defaultdict(lambda: ([], []))
    for side, run in enumerate((daemon, expert)):
        for order in run.orders:
            by_bar[order.bar][side].append(order)
    for bar, sides in by_bar.items():
        for ours, theirs in zip_longest(*sides):
            if ours is None or theirs is None:
                yield Difference(bar, "order", "sent", _told(ours), _told(theirs))
            else:
                yield from _of_order(ours, theirs, tolerance)


def _told(order: Order | None) -> str:
    if order is None:
        return "none"
    side = {0: "buy", 1: "sell"}.get(-1 if order.type is None else order.type, "levels")
    return f"{order.purpose} {side} {order.volume or ''}".rstrip()


def _of_order(ours: Order, theirs: Order, tolerance: Tolerance) -> Iterator[Difference]:
    limits = {"price": tolerance.price, "sl": tolerance.price, "tp": tolerance.price, "volume": 0.0}
    for name in ("purpose", "type", "retcode"):
        if getattr(ours, name) != getattr(theirs, name):
            yield Difference(ours.bar, "order", name, getattr(ours, name), getattr(theirs, name))
    for name, limit in limits.items():
        # Half of what no symbol counts keeps apart what is written differently.
        if not _near(getattr(ours, name), getattr(theirs, name), limit + 1e-9):
            yield Difference(ours.bar, "order", name, getattr(ours, name), getattr(theirs, name))
    if abs(ours.time - theirs.time) > tolerance.seconds:
        yield Difference(ours.bar, "order", "time", ours.time, theirs.time)


def _of_balance(daemon: Run, expert: Run, tolerance: Tolerance) -> Iterator[Difference]:
    common = daemon.bars.keys() & expert.bars.keys()
    if not common:
        return
    last = max(common)
    ours, theirs = daemon.bars[last].balance, expert.bars[last].balance
    if not _near(ours, theirs, tolerance.money):
        yield Difference(last, "balance", "at the last bar", ours, theirs)
