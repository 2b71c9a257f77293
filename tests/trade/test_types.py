"""Whatever is built is well-typed: the package takes it, and only the terminal could refuse it.

Without a connection the package answers -2 for a wrong type or length and -10004 for a request that
it would pass on. That difference is the check, on the paper terminal's copy of these rules always,
and on the real package where BRIDGE_REAL_WHEEL_PYTHON names a Python that has it.
"""

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from terminal.paper_desk import bars, profile
from tests_support import position, symbol_info, tick

from bridge.clock import ManualClock
from bridge.mt5.request import Request
from bridge.mt5.sides import Side
from bridge.mt5.timeframes import timeframe
from bridge.settings import ExecutionSettings
from bridge.terminal.host.process import Child
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.paper.terminal import PaperTerminal
from bridge.trade.build import build_close, build_entry, build_levels

COMMAND = tuple(shlex.split(os.environ.get("BRIDGE_REAL_WHEEL_PYTHON", "")))
TAKEN, REFUSED = -10004, -2

DIGITS = st.integers(0, 5)
POINTS = st.one_of(st.none(), st.integers(1, 5_000), st.floats(0.5, 5_000.0))
COMMENTS = st.text(max_size=60)
NAMES = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=29)


@st.composite
def built(draw: st.DrawFn) -> Request:
    """Return a request of any kind, on any symbol that a broker could have."""
    digits = draw(DIGITS)
    point = 10.0**-digits
    symbol = symbol_info(
        name=draw(NAMES),
        digits=digits,
        point=point,
        trade_tick_size=point * draw(st.sampled_from([1, 5, 25])),
        filling_mode=draw(st.integers(0, 7)),
        trade_exemode=draw(st.integers(0, 3)),
    )
    bid = draw(st.floats(0.5, 60_000.0))
    now = tick(bid=bid, ask=bid + point * draw(st.integers(0, 50)))
    magic = draw(st.integers(1, 2**63 - 1))
    execution = ExecutionSettings(
        deviation_points=draw(st.integers(0, 1_000)), comment=draw(COMMENTS)
    )
    held = position(
        ticket=draw(st.integers(1, 2**63 - 1)),
        volume=draw(st.integers(1, 500)) / 100,
        type=draw(st.integers(0, 1)),
    )
    kind = draw(st.sampled_from(["entry", "close", "part", "levels"]))
    if kind == "entry":
        return build_entry(
            side=draw(st.sampled_from(list(Side))),
            volume=draw(st.integers(1, 500)) / 100,
            stop_points=draw(POINTS),
            take_points=draw(POINTS),
            symbol=symbol,
            tick=now,
            magic=magic,
            settings=execution,
        )
    if kind == "levels":
        level = st.one_of(st.none(), st.floats(0.5, 60_000.0))
        return build_levels(
            position=held, sl=draw(level), tp=draw(level), symbol=symbol, magic=magic
        )
    return build_close(
        position=held,
        symbol=symbol,
        tick=now,
        magic=magic,
        settings=execution,
        volume=None if kind == "close" else draw(st.integers(1, 100)) / 100,
    )


@pytest.fixture(scope="module")
def unconnected() -> Iterator[Callable[[dict[str, Any]], int]]:
    """Return what says whether the paper terminal, not connected, would pass a request on."""
    series = {"EURUSD": (timeframe("H1"), bars("110000 110010 109990 110000"))}
    with closing(PaperTerminal(profile(), series, ManualClock(2e9), None)) as terminal:

        def ask(request: dict[str, Any]) -> int:
            assert terminal.order_send(request) is None
            code: int = terminal.last_error()[0]
            return code

        yield ask


@given(request_built=built())
@settings(
    max_examples=3_000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_thousands_of_requests_are_well_typed(
    unconnected: Callable[[dict[str, Any]], int], request_built: Request
) -> None:
    sent = request_built.as_dict()
    assert None not in sent.values()
    assert unconnected(sent) == TAKEN


def test_the_check_tells_wrong_types(unconnected: Callable[[dict[str, Any]], int]) -> None:
    good = {"action": 1, "symbol": "EURUSD", "volume": 0.1, "type": 0, "magic": 7}
    assert unconnected(good) == TAKEN
    wrong: list[dict[str, Any]] = [
        {"volume": 1},
        {"sl": None},
        {"comment": "x" * 30},
        {"symbol": "x" * 30},
        {"magic": 7.0},
        {"price": "1.1"},
    ]
    assert [unconnected({**good, **each}) for each in wrong] == [REFUSED] * len(wrong)


@pytest.mark.skipif(not COMMAND, reason="BRIDGE_REAL_WHEEL_PYTHON names no Python with MetaTrader5")
def test_the_real_package_takes_them_too() -> None:
    child = Child(HostSettings(interpreter=COMMAND))
    try:
        found: set[int] = set()

        @given(built())
        @settings(max_examples=1_500, deadline=None, database=None)
        def ask(request_built: Request) -> None:
            answer = child.ask("order_send", (request_built.as_dict(),), {})
            assert answer.value is None
            found.add(answer.error[0])
            assert answer.error[0] == TAKEN, request_built

        ask()
        assert found == {TAKEN}
        bad = child.ask("order_send", ({"action": 1, "volume": 1},), {})
        assert bad.error[0] == REFUSED
    finally:
        child.stop()
