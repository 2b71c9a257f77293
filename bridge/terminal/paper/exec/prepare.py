"""Lay out an account for programs: read and check what a user asks for, and write it as a plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from bridge.clock import Clock, ManualClock
from bridge.errors import ConfigError
from bridge.market.barfile import read_bars
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import DAY, ServerClock, parse, server_clock, text
from bridge.mt5.timeframes import Timeframe, timeframe
from bridge.share import share_dir
from bridge.terminal.paper.exec.broker import plain
from bridge.terminal.paper.exec.plan import Plan, Recording
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

_SAMPLE = "models/sample_bars"
_WEEK = 7 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a user asks for; None or nothing is the default, and on a known account what it has.

    Attributes:
        profile: Name of a shipped profile, or a path.
        bars: SYMBOL:TIMEFRAME=FILE each.
        start: Server time at which the clock begins.
        speed: Seconds a real second.
        shift_to_now: Whether the bars are moved by whole weeks so that the clock is the computer's.
    """

    profile: str | None = None
    bars: tuple[str, ...] = ()
    start: str | None = None
    speed: float | None = None
    shift_to_now: bool = False


@dataclass(frozen=True, slots=True)
class _Bars:
    symbol: str
    timeframe: Timeframe
    rates: RatesArray

    @property
    def sha256(self) -> str:
        return sha256(self.rates.tobytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class Layout:
    """A new account, checked and not written yet."""

    plan: Plan
    rates: tuple[RatesArray, ...]

    def write(self, folder: Path) -> None:
        """Write the account's folder; its plan comes last.

        Raises:
            ConfigError: It can't be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for recording, rates in zip(self.plan.recordings, self.rates, strict=True):
                np.save(folder / recording.file, rates)
            self.plan.write(folder)
        except OSError as error:
            raise ConfigError(f"{folder} can't be written ({error}): name another one") from error


def lay_out(wish: Wish, real: Clock) -> Layout:
    """Return a new account.

    Args:
        wish: What it is to be.
        real: The computer's clock; the account's clock begins now.

    Raises:
        ConfigError: Something that is asked for can't be had.
        DataError: Bars are unusable.
    """
    profile = BrokerProfile.load(wish.profile or share_dir(_SAMPLE) / "profile.json")
    recorded = _recorded(profile, wish.bars)
    plan, shift = _plan(profile, recorded, wish, real.now())
    shifted = {each.symbol: (each.timeframe, _moved(each.rates, shift)) for each in recorded}
    PaperTerminal(profile, shifted, ManualClock(plan.shown), None).close()
    return Layout(plan, tuple(rates for _, rates in shifted.values()))


def compare(name: str, known: Plan, wish: Wish) -> None:
    """Check that a known account is as it is asked for.

    Raises:
        ConfigError: An option says something else.
    """
    kept = _words(
        f"{known.profile['name']} ({known.profile['sha256'][:8]})",
        [(each.symbol, each.timeframe, each.sha256) for each in known.recordings],
        text(known.start),
        known.speed,
        known.is_shifted,
    )
    for option, given in _given(wish).items():
        if given != kept[option]:
            raise ConfigError(
                f"account {name} has {option} {kept[option]}, not {given}: leave the option out, "
                "or name another account"
            )


def _recorded(profile: BrokerProfile, wanted: Sequence[str]) -> list[_Bars]:
    if not wanted:
        if "EURUSD" not in profile.symbols:
            raise ConfigError(
                f"profile {profile.name} does not have the EURUSD of the sample bars: name bars of "
                f"{', '.join(profile.symbols)} with --bars"
            )
        wanted = [f"EURUSD:H1={share_dir(_SAMPLE) / 'EURUSD_H1_2017.csv'}"]
    recorded = [_bars_of(each) for each in wanted]
    symbols = [each.symbol for each in recorded]
    for symbol in symbols:
        if symbol not in profile.symbols:
            raise ConfigError(
                f"--bars names {symbol}, which profile {profile.name} does not have: use one of "
                f"{', '.join(profile.symbols)}"
            )
        if symbols.count(symbol) > 1:
            raise ConfigError(f"--bars names {symbol} twice: give one file, of its finest bars")
    return recorded


def _bars_of(wanted: str) -> _Bars:
    market, _, file = wanted.partition("=")
    symbol, _, name = market.rpartition(":")
    if not (symbol and name and file):
        raise ConfigError(f"--bars {wanted!r} has to be SYMBOL:TIMEFRAME=FILE, as EURUSD:H1=a.csv")
    return _Bars(symbol, timeframe(name), read_bars(Path(file)))


def _plan(
    profile: BrokerProfile, recorded: Sequence[_Bars], wish: Wish, began: float
) -> tuple[Plan, int]:
    """Return the plan, and by how many seconds the bars are moved."""
    rule = server_clock(profile.server_clock)
    start, shift, shown = _start(recorded, wish.start), 0, 0.0
    if wish.shift_to_now:
        if wish.speed not in (None, 1.0):
            raise ConfigError(
                f"--speed {wish.speed:g} leaves the computer's clock that --shift-to-now follows: "
                "use one of them"
            )
        shift = _weeks(recorded, start, rule, began) * _WEEK
        shown = began
    else:
        shown = rule.to_utc(start)
    recordings = tuple(
        Recording(each.symbol, each.timeframe.name, f"bars-{number}.npy", each.sha256)
        for number, each in enumerate(recorded)
    )
    plan = Plan(
        profile=plain(profile),
        recordings=recordings,
        start=start,
        speed=wish.speed or 1.0,
        is_shifted=wish.shift_to_now,
        shown=shown,
        began=began,
    )
    return plan, shift


def _start(recorded: Sequence[_Bars], wanted: str | None) -> int:
    times = recorded[0].rates["time"]
    start = parse(wanted) if wanted else int(times[len(times) // 2])
    first = min(int(each.rates["time"][0]) for each in recorded)
    last = max(int(each.rates["time"][-1]) for each in recorded)
    if not first <= start < last:
        raise ConfigError(
            f"--start {text(start)} is not within the bars: name a time from {text(first)} to "
            f"{text(last)}"
        )
    return start


def _weeks(recorded: Sequence[_Bars], start: int, rule: ServerClock, began: float) -> int:
    """Return by how many weeks ``start`` comes to lie in the week that ends now."""
    now = rule.from_utc(began)
    weeks = int((now - start) // _WEEK)
    last = max(int(each.rates["time"][-1]) for each in recorded)
    if now - weeks * _WEEK >= last:
        raise ConfigError(
            f"the bars end {text(last)}, less than a week after the start {text(start)}, and that "
            "is over by now: name an earlier --start, or longer bars"
        )
    return weeks


def _moved(rates: RatesArray, shift: int) -> RatesArray:
    moved = rates.copy()
    moved["time"] += shift
    return moved


def _given(wish: Wish) -> dict[str, str]:
    """Return the options that were given, in words."""
    profile = BrokerProfile.load(wish.profile) if wish.profile is not None else None
    words = _words(
        f"{profile.name} ({profile.sha256[:8]})" if profile is not None else "",
        [(one.symbol, one.timeframe.name, one.sha256) for one in map(_bars_of, wish.bars)],
        text(parse(wish.start)) if wish.start is not None else "",
        wish.speed or 0.0,
        wish.shift_to_now,
    )
    absent = _words("", [], "", 0.0, False)
    return {option: said for option, said in words.items() if said != absent[option]}


def _words(
    profile: str,
    bars: Sequence[tuple[str, str, str]],
    start: str,
    speed: float,
    is_shifted: bool,
) -> dict[str, str]:
    return {
        "--profile": profile,
        "--bars": ", ".join(sorted(f"{one} {frame} ({sha[:8]})" for one, frame, sha in bars)),
        "--start": start,
        "--speed": f"{speed:g}",
        "--shift-to-now": "on" if is_shifted else "off",
    }
