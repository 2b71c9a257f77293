"""The paper terminal asked directly answers what its package's face answers, errors included."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from terminal.paper_desk import EURUSD, Play, profile

from bridge.errors import TerminalError
from bridge.mt5 import constants as mt5
from bridge.mt5.terminal import Terminal
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.script import Answer

ROWS = """
    110000 110050 109950 110010 10
    110010 110090 109990 110060 10
    110060 110160 110030 110100 12
    110100 110120 109900 109950 8
    109950 110000 109900 109980 8
"""
H1, FAR = 16385, 2_000_000_000
Ask = Callable[[Terminal], Any]


def deal(**fields: Any) -> Ask:
    request: dict[str, Any] = {"action": mt5.TRADE_ACTION_DEAL, "symbol": "EURUSD", "volume": 0.5}
    request |= {"type": 0, "price": 1.1007, "deviation": 500, **fields}
    return lambda to: to.order_send(request)


LOOKS: tuple[Ask, ...] = (
    lambda to: to.account_info(),
    lambda to: to.terminal_info(),
    lambda to: to.symbols_get(),
    lambda to: to.symbol_info("EURUSD"),
    lambda to: to.symbol_info("GBPUSD"),
    lambda to: to.symbol_info_tick("EURUSD"),
    lambda to: to.symbol_info_tick("GBPUSD"),
    lambda to: to.symbol_info_tick("NONE"),
    lambda to: to.symbol_select("EURUSD"),
    lambda to: to.symbol_select("NONE"),
    lambda to: to.copy_rates_from_pos("EURUSD", H1, 0, 3).tolist(),
    lambda to: to.copy_rates_from_pos("EURUSD", H1, 0, 0),
    lambda to: to.copy_rates_from_pos("NONE", H1, 0, 3),
    lambda to: to.positions_get(),
    lambda to: to.positions_get("EURUSD"),
    lambda to: to.positions_get("GBPUSD"),
    lambda to: to.orders_get(),
    lambda to: to.orders_get("EURUSD"),
    lambda to: to.history_orders_get(0, FAR),
    lambda to: to.history_deals_get(0, FAR),
    lambda to: to.order_calc_profit(0, "EURUSD", 1.0, 1.1, 1.2),
    lambda to: to.order_calc_profit(0, "EURUSD", 0.0, 1.1, 1.2),
    lambda to: to.order_calc_margin(1, "EURUSD", 1.0, 1.1),
    lambda to: to.order_calc_margin(1, "NONE", 1.0, 1.1),
    lambda to: to.order_check({"action": mt5.TRADE_ACTION_DEAL, "symbol": "EURUSD"}),
)
SENDS: tuple[Ask, ...] = (
    deal(sl=1.0),
    deal(volume=1e6),
    deal(comment="x" * 40),
    deal(symbol="NONE"),
    deal(type=1, price=1.1),
    lambda to: to.order_send(
        {
            "action": mt5.TRADE_ACTION_PENDING,
            "symbol": "EURUSD",
            "type": mt5.ORDER_TYPE_BUY_LIMIT,
            "volume": 0.1,
            "price": 1.09,
        }
    ),
)


def heard(ask: Ask, terminal: Terminal) -> Any:
    try:
        return ask(terminal)
    except TerminalError as error:
        return type(error), error.code, str(error)


def played(script: tuple[Any, ...]) -> Play:
    pound = {**EURUSD, "currency_base": "GBP", "currency_margin": "GBP"}
    broker = profile({"EURUSD": EURUSD, "GBPUSD": pound}, commission=3.5)
    return Play(ROWS, broker, script=script)


@pytest.mark.parametrize(
    "script",
    [(), (Answer(error=mt5.RES_E_INTERNAL_FAIL_TIMEOUT), Answer(error=-4, effect="after"))],
)
def test_both_ways_answer_the_same(script: tuple[Any, ...]) -> None:
    plays = (played(script), played(script))
    ways: tuple[Terminal, Terminal] = (
        ModuleTerminal(plays[0].terminal),
        plays[1].terminal.direct(),
    )
    refusals = 0
    for number, send in enumerate((None, *SENDS)):
        for play in plays:
            play.bar(min(number, 4))
        for ask in (*LOOKS, *([send] if send else []), *LOOKS):
            answers = [heard(ask, way) for way in ways]
            assert answers[0] == answers[1]
            refusals += isinstance(answers[0], tuple) and answers[0][:1] == (TerminalError,)
    assert refusals > 50
    assert len(ways[1].positions_get()) == (1 if script else 2)


def test_a_moment_s_answers_are_not_those_of_the_next() -> None:
    """What is remembered for a moment is forgotten when the clock, or the account, moves."""
    play = played(())
    to = play.terminal.direct()
    play.bar(1)
    first = to.symbol_info_tick("EURUSD"), to.account_info()
    assert to.account_info() is first[1]
    play.bar(2)
    assert to.symbol_info_tick("EURUSD") != first[0]
    before = to.account_info()
    deal()(to)
    assert to.account_info().balance < before.balance
    rates = to.copy_rates_from_pos("EURUSD", H1, 0, 2)
    assert np.all(rates["time"] <= to.symbol_info_tick("EURUSD").time)
