"""An expert, indicator or script on the paper terminal."""

import struct
from collections.abc import Mapping

from numpy import float64
from numpy.typing import NDArray

from bridge.mt5.timeframes import BY_VALUE
from mql5.host.answers.files import Files
from mql5.host.answers.machine import Machine, Role
from mql5.host.answers.market import Market
from mql5.host.answers.onnx import Onnx
from mql5.host.answers.trading import Sent, Trading
from mql5.host.compiler import Built
from mql5.host.desktop import Desktop
from mql5.host.library import Library

REASON_REMOVE = 1
REASON_INITFAILED = 8
InputValue = bool | int | float | str


class Program:
    """One run of a program on a chart.

    Args:
        built: What to run.
        desktop: The terminal.
        symbol: Of the chart.
        period: Timeframe of the chart, as the package numbers it.
        inputs: Values of inputs that are not to have their default.
        is_tester: Whether it runs in the Strategy Tester.
        is_optimizing: Whether the tester optimises.
    """

    def __init__(
        self,
        built: Built,
        desktop: Desktop,
        symbol: str,
        period: int,
        inputs: Mapping[str, InputValue] | None = None,
        *,
        is_tester: bool = False,
        is_optimizing: bool = False,
    ) -> None:
        self.log: list[str] = []
        role = Role(built.program.files[0].stem, is_tester, is_optimizing)
        self._machine = Machine(desktop, role, self.log)
        self._trading = Trading(desktop)
        self._files = Files(desktop)
        self._onnx = Onnx(desktop, self.log)
        market = Market(desktop, symbol, period)
        rooms = (market, self._trading, self._files, self._onnx, self._machine)
        self._library = Library(built, rooms)
        for name, value in (inputs or {}).items():
            self._library.set_input(name, _text(value))
        self.is_running = False
        self.bar_seconds = BY_VALUE[period].seconds
        self._calculated = 0
        self._market = market

    @property
    def sent(self) -> list[Sent]:
        """The orders that it sent, in order."""
        return self._trading.sent

    @property
    def is_removed(self) -> bool:
        """Whether it asked to be taken off the chart."""
        return self._machine.is_removed

    @property
    def open_sessions(self) -> int:
        """How many ONNX sessions it has not released."""
        return len(self._onnx.sessions)

    def start(self) -> int:
        """Run ``OnInit`` and return its code; a program that fails ends at once."""
        code = self._library.event("OnInit") or 0
        self.is_running = code == 0
        if code:
            self._end(REASON_INITFAILED)
        return code

    def tick(self) -> None:
        """Run ``OnTick``, and before it ``OnTimer`` if that is due."""
        if self._machine.is_timer_due():
            self._library.event("OnTimer")
        self._library.event("OnTick")

    def script(self) -> None:
        """Run ``OnStart``."""
        self._library.event("OnStart")
        self._files.close_all()

    def calculate(self) -> int:
        """Run ``OnCalculate`` over the bars there are, and return how many it says it did."""
        total = self._market.bars("", 0)
        self._calculated = self._library.event("OnCalculate", total, self._calculated) or 0
        return self._calculated

    def buffer(self, index: int) -> NDArray[float64]:
        """Return an indicator's buffer, oldest first."""
        return self._library.buffer(index)

    def result(self) -> float:
        """Run ``OnTester`` and return its number."""
        bits = self._library.event("OnTester") or 0
        number: float = struct.unpack("<d", struct.pack("<q", bits))[0]
        return number

    def stop(self, reason: int = REASON_REMOVE) -> None:
        """Run ``OnDeinit`` and end the program."""
        if self.is_running:
            self._end(reason)

    def _end(self, reason: int) -> None:
        self._machine.reason = reason
        self._library.event("OnDeinit", reason)
        self.is_running = False
        self._files.close_all()


def _text(value: InputValue) -> str:
    if isinstance(value, str):
        return value
    return str(int(value)) if isinstance(value, int) else repr(float(value))
