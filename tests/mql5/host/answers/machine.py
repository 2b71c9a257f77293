"""The program's own surroundings: log, timer, global variables, hashes, tester."""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bridge.mt5 import constants as mt5
from mql5.host.desktop import Desktop
from mql5.host.library import Block, Refusal, Told

_NO_VARIABLE = 4501
_BAD_PARAMETER = 4003
_HASHES: dict[int, Callable[[bytes], bytes]] = {
    0: base64.b64encode,
    4: lambda data: hashlib.sha1(data).digest(),  # noqa: S324  one that MQL5 offers
    5: lambda data: hashlib.sha256(data).digest(),
    6: lambda data: hashlib.md5(data).digest(),  # noqa: S324
}
_PROGRAM_TYPE, _TRADE_ALLOWED, _TESTER, _OPTIMIZATION = 0, 2, 6, 8
_EXPERT = 2


@dataclass
class Role:
    """How a program runs.

    Attributes:
        name: Its file's name without ending.
        is_tester: In the Strategy Tester.
        is_optimizing: In one of the passes of an optimisation.
    """

    name: str
    is_tester: bool = False
    is_optimizing: bool = False


class Machine:
    """What a program finds around it, besides the market."""

    def __init__(self, desktop: Desktop, role: Role, log: list[str]) -> None:
        self._desktop = desktop
        self._role = role
        self._log = log
        self.timer: tuple[float, float] | None = None
        self.reason = 0
        self.is_removed = False
        self.comment_text = ""

    def print(self, text: str) -> None:
        self._log.append(text)

    def alert(self, text: str) -> None:
        self._log.append(f"Alert: {text}")

    def comment(self, text: str) -> None:
        self.comment_text = text

    def sleep(self, milliseconds: int) -> None:
        """Wait, as the tester does: time passes for the broker, too."""
        now = self._desktop.clock.now()
        self._desktop.clock.wait_until(now + milliseconds / 1000)

    def is_stopped(self) -> bool:
        return self.is_removed

    def uninitialize_reason(self) -> int:
        return self.reason

    def expert_remove(self) -> None:
        self.is_removed = True

    def mqlinfo_integer(self, which: int) -> int:
        return {
            _PROGRAM_TYPE: _EXPERT,
            _TRADE_ALLOWED: int(self._desktop.may_trade),
            _TESTER: int(self._role.is_tester),
            _OPTIMIZATION: int(self._role.is_optimizing),
        }.get(which, 0)

    def mqlinfo_string(self, which: int) -> str:
        return self._role.name if which == 0 else f"{self._role.name}.ex5"

    # Timer

    def event_set_timer(self, seconds: int) -> bool:
        return self.event_set_millisecond_timer(1000 * seconds)

    def event_set_millisecond_timer(self, milliseconds: int) -> bool:
        if milliseconds <= 0:
            raise Refusal(_BAD_PARAMETER)
        period = milliseconds / 1000
        self.timer = (period, self._desktop.clock.now() + period)
        return True

    def event_kill_timer(self) -> None:
        self.timer = None

    def is_timer_due(self) -> bool:
        """Whether the timer has gone off since it was asked; it goes off once, however late."""
        if self.timer is None or self._desktop.clock.now() < self.timer[1]:
            return False
        self.timer = (self.timer[0], self._desktop.clock.now() + self.timer[0])
        return True

    # Global variables of the terminal

    def _variable(self, name: str) -> tuple[float, int]:
        if name not in self._desktop.variables:
            raise Refusal(_NO_VARIABLE)
        return self._desktop.variables[name]

    def global_variable_check(self, name: str) -> bool:
        return name in self._desktop.variables

    def global_variable_get(self, name: str) -> float:
        return self._variable(name)[0]

    def global_variable_set(self, name: str, value: float) -> int:
        now = int(self._desktop.clock.now())
        self._desktop.variables[name] = (value, now)
        return now

    def global_variable_temp(self, name: str) -> bool:
        if name in self._desktop.variables:
            return False
        self.global_variable_set(name, 0.0)
        return True

    def global_variable_del(self, name: str) -> bool:
        self._variable(name)
        del self._desktop.variables[name]
        return True

    def global_variable_time(self, name: str) -> int:
        return self._variable(name)[1]

    def global_variable_set_on_condition(self, name: str, value: float, wanted: float) -> bool:
        if self._variable(name)[0] != wanted:
            return False
        self.global_variable_set(name, value)
        return True

    def global_variables_flush(self) -> None:
        return None

    def global_variables_total(self) -> int:
        return len(self._desktop.variables)

    def global_variable_name(self, index: int) -> str:
        names = sorted(self._desktop.variables)
        return names[index] if 0 <= index < len(names) else ""

    def crypt_encode(self, method: int, data: Block, key: Block) -> Any:
        if method not in _HASHES:
            raise Refusal(_BAD_PARAMETER)
        digest = _HASHES[method](data.as_bytes())
        return Told(numbers=np.frombuffer(digest, np.uint8))

    # Tester

    def tester_statistics(self, which: int) -> float:
        # A count would cross as a whole number.
        return float(_statistics(self._desktop)[which])


def _statistics(desktop: Desktop) -> list[float]:
    """Return the statistics in the order of their enum; those of equity follow the balance."""
    deals = desktop.paper.history_deals_get(0, 2**31 - 1) or ()
    first = sum(one.profit for one in deals if one.type == mt5.DEAL_TYPE_BALANCE)
    closing = [one for one in deals if one.entry in (mt5.DEAL_ENTRY_OUT, mt5.DEAL_ENTRY_OUT_BY)]
    trades = [one.profit + one.swap + one.commission + one.fee for one in closing]
    gains, losses = [x for x in trades if x > 0], [x for x in trades if x < 0]
    costs = [
        one.profit + one.swap + one.commission + one.fee
        for one in deals
        if one.type != mt5.DEAL_TYPE_BALANCE
    ]
    profit = sum(costs)
    drop, share = _drawdown(first, costs)
    factor = sum(gains) / -sum(losses) if losses else 0.0
    expected = profit / len(trades) if trades else 0.0
    recovery = profit / drop if drop else 0.0
    head = [first, profit, sum(gains), sum(losses), len(trades), len(gains), len(losses), factor]
    return [*head, expected, len(deals), drop, share, share, drop, share, share, recovery, 0.0]


def _drawdown(first: float, costs: list[float]) -> tuple[float, float]:
    balance = np.cumsum([first, *costs])
    peak = np.maximum.accumulate(balance)
    fall = peak - balance
    worst = int(np.argmax(fall))
    return float(fall[worst]), float(100 * fall[worst] / peak[worst]) if peak[worst] else 0.0
