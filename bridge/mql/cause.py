"""The likely cause of a difference: what usually makes two runs part in this way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.mql.parity import Compared, Difference, shown
from bridge.mql.runs import Bar, Run
from bridge.mt5.servertime import text

_LOOKS_AHEAD = 200
_QUARTER = 900
_LARGEST_SHIFT = 14 * 3_600
# Prices meet by chance now and then; a wrong clock leaves hardly any where they should.
_MANY, _FEW = 0.6, 0.3


@dataclass(frozen=True, slots=True)
class Cause:
    """Why, as far as the two runs tell.

    Attributes:
        name: file, clock, missing bars, spread, prices, history, runtime, settings, position,
            terms or ticks.
        words: One sentence with what to do.
    """

    name: str
    words: str


def cause_of(compared: Compared) -> Cause | None:
    """Return the likely cause of the first difference; None when there is none."""
    first = compared.first
    if first is None:
        return None
    for look in (_file, _clock, _missing):
        if found := look(compared, first):
            return found
    ours, theirs = compared.daemon.bars[first.bar], compared.expert.bars[first.bar]
    prices = _prices(ours, theirs)
    if first.where in ("outputs", "decision"):
        return _of_decision(compared, first, ours, theirs, prices)
    return prices or _of_order(first, ours, theirs)


def _file(compared: Compared, first: Difference) -> Cause | None:
    known = {bar.model_sha256 for bar in compared.daemon.bars.values()}
    other = {bar.model_sha256 for bar in compared.expert.bars.values()} - known
    if not other:
        return None
    return Cause(
        "file",
        f"the EA ran another file: its sha256 is {sorted(other)[0][:16]}..., the daemon's "
        f"{sorted(known)[0][:16]}...; write the program again with mt5-onnx ea new, or name the "
        "EA's file with --model",
    )


def _clock(compared: Compared, first: Difference) -> Cause | None:
    """Look for a shift of time at which the EA's prices are the daemon's."""
    times = [time for time in compared.expert.bars if time >= first.bar][:_LOOKS_AHEAD]
    straight = _match(compared, times, 0)
    # A few bars meet at a wrong shift by chance.
    if len(times) < 4 or straight > _FEW:
        return None
    shifts = [sign * at for at in range(_QUARTER, _LARGEST_SHIFT + 1, _QUARTER) for sign in (1, -1)]
    best = max(shifts, key=lambda shift: _match(compared, times, shift))
    if _match(compared, times, best) < _MANY:
        return None
    return Cause(
        "clock",
        f"from {text(first.bar)} the EA's bars carry times {-best / 3600:+g} hours from the "
        "daemon's: the broker's clock follows another rule (its dates of summer time, or its "
        "offset) than server_clock or the file of bars says",
    )


def _match(compared: Compared, times: Sequence[int], shift: int) -> float:
    """Return the share of the EA's bars whose bid the daemon saw ``shift`` seconds later."""
    pairs = [
        (compared.expert.bars[time].bid, compared.daemon.bars[time + shift].bid)
        for time in times
        if time + shift in compared.daemon.bars
    ]
    return sum(a == b and a is not None for a, b in pairs) / len(times) if times else 0.0


def _missing(compared: Compared, first: Difference) -> Cause | None:
    if first.where != "bar":
        return None
    is_ours = first.bar in compared.daemon.bars
    count = sum(
        each.where == "bar" and (each.bar in compared.daemon.bars) == is_ours
        for each in compared.differences
    )
    if is_ours:
        words = (
            f"the EA did not decide {count} bars that the daemon's file has, first that of "
            f"{text(first.bar)}: the terminal was off, had no connection, or lacks these bars"
        )
    else:
        words = (
            f"the daemon's file lacks {count} bars that the EA has decided, first that of "
            f"{text(first.bar)}: load the broker's bars again with mt5-onnx bars"
        )
    return Cause("missing bars", words)


def _prices(ours: Bar, theirs: Bar) -> Cause | None:
    if None in (ours.bid, theirs.bid, ours.ask, theirs.ask):
        return None
    if ours.bid != theirs.bid:
        return Cause(
            "prices",
            f"the EA saw the bid {shown(theirs.bid)}, the daemon {shown(ours.bid)}: bars of "
            "another broker or account, or a first tick that is not the bar's open",
        )
    if ours.ask != theirs.ask:
        return Cause(
            "spread",
            f"the bid {shown(ours.bid)} is the same, the ask is {shown(theirs.ask)} for the EA and "
            f"{shown(ours.ask)} for the daemon: the tester's spread is not that of the bars",
        )
    return None


def _of_decision(
    compared: Compared, first: Difference, ours: Bar, theirs: Bar, prices: Cause | None
) -> Cause:
    if first.where == "decision" and ours.held != theirs.held:
        return Cause(
            "position",
            f"the EA held {theirs.held or 'nothing'}, the daemon {ours.held or 'nothing'}: a stop "
            "was met between bars by ticks that bars don't tell, or a person acted",
        )
    if ours.input_sha256 != theirs.input_sha256:
        return prices or _history(compared, first)
    if first.where == "outputs":
        build = f" ({compared.expert.words})" if compared.expert.words else ""
        return Cause(
            "runtime",
            f"file and bars are the same to the byte, and the answers are not: the terminal's "
            f"runtime computes otherwise{build}; try ONNX_USE_CPU_ONLY and another build",
        )
    return Cause(
        "settings",
        f"bars and answers are the same, and {first.what} is not: an input of the EA is not what "
        "bridge.toml says; load its .set, or compare with mt5-onnx ea check -c bridge.toml",
    )


def _history(compared: Compared, first: Difference) -> Cause:
    if _only_spread_may_differ(compared.daemon, compared.expert, first.bar):
        return Cause(
            "spread",
            f"bids are the same, and the window of {text(first.bar)} is not: the spreads or "
            "volumes in the terminal's bars are not those of the daemon's file",
        )
    return Cause(
        "history",
        f"the window of bars before {text(first.bar)} differs, though the price then does not: the "
        "terminal's history has other or fewer bars; scroll the chart back, or export its bars",
    )


def _only_spread_may_differ(daemon: Run, expert: Run, bar: int) -> bool:
    common = [time for time in daemon.bars.keys() & expert.bars.keys() if time <= bar]
    return any(
        daemon.bars[time].bid == expert.bars[time].bid
        and daemon.bars[time].ask != expert.bars[time].ask
        for time in common
    )


_ORDER_CAUSES: dict[str, Callable[[Difference], Cause]] = {
    "volume": lambda first: Cause(
        "terms",
        f"the EA asked for {shown(first.expert)} lots, the daemon for {shown(first.daemon)}: "
        "balance, volume step or tick value of the account is not that of the profile",
    ),
    "retcode": lambda first: Cause(
        "terms",
        f"the broker answered {first.expert} to the EA, the paper broker {first.daemon} to the "
        "daemon: terms of the symbol or account differ from the profile's",
    ),
    "time": lambda first: Cause(
        "ticks",
        "the EA's order went out at another second: the first tick of a bar comes after its open; "
        "allow for it with --seconds",
    ),
}


def _of_order(first: Difference, ours: Bar, theirs: Bar) -> Cause:
    if first.where == "order" and first.what in _ORDER_CAUSES:
        return _ORDER_CAUSES[first.what](first)
    if first.where == "order" and first.what != "sent":
        return Cause(
            "ticks",
            f"decisions are the same, and {first.what} of an order is {shown(first.expert)} for "
            f"the EA and {shown(first.daemon)} for the daemon: the price had moved; allow for it "
            "with --price",
        )
    if ours.held != theirs.held or first.where == "balance":
        return Cause(
            "position",
            "decisions and orders are the same, and what came of positions is not: a stop or "
            "target was met at another price, or costs (swap, commission) differ",
        )
    return Cause(
        "settings",
        f"decisions are the same, and the EA sent {first.expert} where the daemon sent "
        f"{first.daemon}: a limit, an hour or a permission differs",
    )
