"""The real package in the child, without a terminal.

``BRIDGE_REAL_WHEEL_PYTHON`` is the command of a Python that has the package and finds the bridge;
on Linux a script that execs Wine.
"""

import os
import shlex
from collections.abc import Iterator

import pytest
from terminal.host_desk import BUY, rng

from bridge.clock import ManualClock
from bridge.errors import NotConnected
from bridge.mt5 import constants as mt5
from bridge.terminal.host.process import Child
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.host.terminal import HostTerminal

COMMAND = tuple(shlex.split(os.environ.get("BRIDGE_REAL_WHEEL_PYTHON", "")))
UNCONNECTED = (-10004, "No IPC connection")
NO_TERMINAL = (-10003, "IPC initialize failed, MetaTrader 5 x64 not found")

pytestmark = pytest.mark.skipif(
    not COMMAND, reason="BRIDGE_REAL_WHEEL_PYTHON names no Python that has MetaTrader5"
)


@pytest.fixture(name="child", scope="module")
def _child() -> Iterator[Child]:
    child = Child(HostSettings(interpreter=COMMAND))
    yield child
    child.stop()
    assert not child.is_alive


def test_the_package_says_what_it_is(child: Child) -> None:
    assert child.about.package.startswith("5.0.")
    answer = child.ask("version", (), {})
    assert answer.value == (0, 0, "")
    assert answer.error == UNCONNECTED


def test_there_is_no_terminal(child: Child) -> None:
    answer = child.ask("initialize", (), {"timeout": 1_000})
    assert answer.value is False
    assert answer.error == NO_TERMINAL
    assert child.ask("shutdown", (), {}).value is True


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("account_info", ()),
        ("symbol_info", ("EURUSD",)),
        ("symbol_select", ("EURUSD", True)),
        ("copy_rates_from_pos", ("EURUSD", mt5.TIMEFRAME_H1, 0, 500)),
        ("positions_get", ()),
        ("history_deals_get", (0, 2**31 - 1)),
        ("order_calc_profit", (0, "EURUSD", 0.1, 1.0, 1.1)),
        ("order_check", (BUY,)),
        ("order_send", (BUY,)),
    ],
)
def test_well_typed_calls_reach_the_terminal_that_is_not_there(
    child: Child, verb: str, args: tuple[object, ...]
) -> None:
    answer = child.ask(verb, args, {})
    assert not answer.value
    assert answer.error == UNCONNECTED


def test_a_keyword_reaches_the_package(child: Child) -> None:
    assert child.ask("positions_get", (), {"symbol": "EURUSD"}).error == UNCONNECTED
    assert child.ask("positions_get", (), {"symbol": 5}).error[0] == mt5.RES_E_INVALID_PARAMS


def test_ill_typed_calls_are_refused_by_the_package(child: Child) -> None:
    assert child.ask("order_send", ({**BUY, "volume": 1},), {}).error == (
        -2,
        'Invalid "volume" argument',
    )
    with pytest.raises(SystemError) as raised:
        child.ask("copy_rates_from_pos", ("EURUSD", "H1", 0, 5), {})
    assert isinstance(raised.value.__cause__, TypeError)


def test_a_host_terminal_says_that_there_is_none() -> None:
    host = HostTerminal(HostSettings(interpreter=COMMAND), ManualClock(0.0), rng())
    with pytest.raises(NotConnected, match="MetaTrader 5 x64 not found"), host:
        pass
    assert host.pid is None
