"""One run as a value. All of it follows from the plan; a plan follows from its seed."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, JsonValue

from bridge.settings import Frozen, LimitSettings, StrategySettings
from bridge.terminal.faults.kinds import TERMS, Kind
from bridge.terminal.faults.schedule import Fault, Schedule

_T = TypeVar("_T")
SYMBOL, OTHER = "EURUSD", "GBPUSD"
MAGICS = (7, 8)
FIRST_BARS = 12
"""Bars that are over when the run begins."""
QUIET_BARS = 400
"""Bars that ask for nothing; a run uses some of them, as slow calls can take long."""
_SENDING = tuple(kind for kind in Kind if TERMS[kind].verbs == ("order_send",))
LONGEST = 480
"""Calls that a fault lasts at most."""
# Calls of a look and of a bar, about; faults are spread over them.
_CALLS_OF_LOOK, _CALLS_OF_BAR = 5, 10


class Action(Frozen):
    """Somebody else does something: a person, another program, the broker, fate.

    ``what``: close, part, move, unprotect (a position of the strategies, by hand); pay (money in or
    out); foreign (another program opens or closes); halt, resume, flatten (files); kill; closed
    (the market, for ``amount`` seconds); filled, rejected (the next order is placed first); some
    (only 0.01 lots of the next order can be had).
    """

    at: float
    """Seconds after the run's begin."""
    what: str
    amount: float = 0.0


BY_HAND = ("close", "part", "move", "unprotect")
"""Actions of a person on the strategies' positions."""


class Plan(Frozen):
    """All that a run is made of."""

    seed: int
    margin_mode: str = "hedging"
    bars: int = 30
    """Bars among faults."""
    is_sample: bool = False
    """Prices of the sample, told as minutes, instead of a random walk."""
    gap: int = 0
    """Minutes without a bar, in the middle."""
    quantum: float = 10.0
    """Seconds between two looks of the daemon."""
    lag: float = 0.0
    """Seconds after which it notices a bar."""
    down: float = 5.0
    """Seconds between a crash and the next start."""
    has_stranger: bool = False
    """Whether a position with the first strategy's magic is there that this journal never knew."""
    symbol: dict[str, JsonValue] = Field(default_factory=dict)
    strategies: tuple[dict[str, JsonValue], ...] = ({"magic": MAGICS[0]},)
    limits: LimitSettings = LimitSettings(daily_loss_share=None, max_drawdown_share=None)
    actions: tuple[Action, ...] = ()
    dooms: tuple[int, ...] = ()
    """Moments of the journal, before and after each write, at which the daemon dies."""
    schedule: Schedule = Schedule()

    def settings(self, model: Path) -> list[StrategySettings]:
        """Return the settings of the strategies, whose model is at ``model``."""
        fixed = {"model": str(model), "symbol": SYMBOL, "timeframe": "M1"}
        return [StrategySettings.model_validate({**fixed, **each}) for each in self.strategies]

    @property
    def has_money_paid(self) -> bool:
        """Whether money is paid in or out."""
        return any(action.what == "pay" for action in self.actions)


class Dice:
    """Draws; only ``random()`` is asked, whose numbers are the same on every Python."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311  dice are no secret

    def share(self) -> float:
        return self._rng.random()

    def below(self, end: int) -> int:
        return int(self._rng.random() * end)

    def one_of(self, items: Sequence[_T]) -> _T:
        return items[self.below(len(items))]

    def some_of(self, items: Sequence[_T], share: float) -> list[_T]:
        return [item for item in items if self._rng.random() < share]


def draw(seed: int) -> Plan:
    """Return the plan of ``seed``."""
    dice = Dice(seed)
    bars, quantum = 12 + dice.below(10), dice.one_of((12.0, 20.0, 31.0, 59.0))
    calls = int(bars * (_CALLS_OF_BAR + _CALLS_OF_LOOK * 60.0 / quantum))
    is_netting = dice.share() < 0.3
    count = 1 if is_netting else 1 + dice.below(2)
    return Plan(
        seed=seed,
        margin_mode="netting" if is_netting else "hedging",
        bars=bars,
        is_sample=dice.share() < 0.5,
        gap=dice.one_of((0, 0, 0, 0, 3, 90)),
        quantum=quantum,
        lag=dice.one_of((0.0, 0.0, 0.02, 3.0, 45.0)),
        down=dice.one_of((0.5, 5.0, 40.0, 130.0)),
        has_stranger=dice.share() < 0.1,
        symbol=_symbol(dice),
        strategies=tuple(_strategy(dice, magic) for magic in MAGICS[:count]),
        limits=_limits(dice),
        actions=_actions(dice, 60.0 * bars),
        dooms=tuple(sorted(dice.below(14 * bars) for _ in range(dice.one_of((0, 0, 1, 2, 5))))),
        schedule=_schedule(dice, seed, calls),
    )


def _symbol(dice: Dice) -> dict[str, JsonValue]:
    return {
        "filling_mode": dice.one_of((1, 2, 3)),
        "trade_stops_level": dice.one_of((0, 0, 0, 20)),
        "trade_freeze_level": dice.one_of((0, 0, 0, 10)),
    }


_CARE: tuple[dict[str, JsonValue], ...] = (
    {},
    {},
    {"trail_points": 60},
    {"breakeven_after_points": 30},
    {"partial_at_points": 20},
    {"trail_ranges": 1.5, "partial_at_points": 40, "partial_share": 0.3},
)


def _strategy(dice: Dice, magic: int) -> dict[str, JsonValue]:
    volume = dice.one_of((0.05, 0.2, 0.5))
    decision: dict[str, JsonValue] = {
        "stop_points": dice.one_of((60, 150, 500)),
        "take_points": dice.one_of((None, None, 80)),
        "reverse": dice.share() < 0.7,
        "sides": dice.one_of(("both", "both", "both", "long")),
        "max_bars": dice.one_of((None, None, 3)),
    }
    return {
        "magic": magic,
        "decision": decision,
        "manage": dice.one_of(_CARE),
        "risk": {
            "volume": volume,
            "max_volume": volume * 1.5,
            "daily_loss_share": None,
            "max_drawdown_share": None,
        },
        "execution": {
            "tries": 1 + dice.below(3),
            "stop_tries": 1 + dice.below(3),
            "retry_exits": dice.share() < 0.8,
            "without_stop": dice.one_of(("close", "keep")),
            "widen_stops": dice.share() < 0.3,
        },
    }


def _limits(dice: Dice) -> LimitSettings:
    if dice.share() < 0.7:
        return LimitSettings(daily_loss_share=None, max_drawdown_share=None)
    return LimitSettings(
        daily_loss_share=dice.one_of((None, 0.002, 0.01)),
        max_drawdown_share=dice.one_of((None, 0.02)),
    )


_ACTIONS = (
    *("close", "close", "part", "move", "unprotect", "pay", "foreign", "foreign"),
    *("kill", "kill", "closed", "filled", "rejected", "some", "halt", "resume", "flatten"),
)


def _actions(dice: Dice, seconds: float) -> tuple[Action, ...]:
    drawn = [
        Action(
            at=round(dice.share() * seconds, 1),
            what=dice.one_of(_ACTIONS),
            amount=round(dice.share() * 400.0 - 100.0, 2),
        )
        for _ in range(dice.one_of((0, 0, 2, 4, 8)))
    ]
    # What was halted is let go on, else half of the run would be idle.
    halts = [each.at for each in drawn if each.what == "halt"]
    resumed = [Action(at=at + 300.0, what="resume") for at in halts]
    # A position of unknown origin ends entries, too.
    resumed.append(Action(at=200.0, what="resume"))
    return tuple(sorted([*drawn, *resumed], key=lambda each: each.at))


def _schedule(dice: Dice, seed: int, calls: int) -> Schedule:
    """Draw faults of a few kinds, many or few of them; orders are rare, so they get their own."""
    kinds = dice.some_of(tuple(Kind), 0.4) or [Kind.NULL]
    usual = Schedule.random(
        seed, calls=calls, density=dice.one_of((0.0, 0.003, 0.01, 0.03)), kinds=kinds
    )
    sends = dice.some_of((*_SENDING, Kind.NULL, Kind.TIMEOUT, Kind.DISCONNECT, Kind.CRASH), 0.5)
    orders = Schedule.random(
        seed + 1,
        calls=calls,
        density=dice.one_of((0.0, 0.005, 0.02)),
        kinds=sends or [Kind.NULL],
        verbs=["order_send"],
    )
    stretch = dice.one_of((1, 1, 8, LONGEST // 12))
    faults = [_stretched(fault, stretch) for fault in (*usual.faults, *orders.faults)]
    return Schedule.of(*sorted(faults, key=lambda fault: fault.since))


def _stretched(fault: Fault, times: int) -> Fault:
    """Let a lasting fault last longer: long enough for a search to be given up."""
    changes: dict[str, Any] = {}
    if fault.terms.is_state:
        changes["count"] = fault.count * times
    if fault.later is not None:
        changes["later"] = fault.later * times
    return fault.model_copy(update=changes)
