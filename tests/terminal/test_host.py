"""The package in a child process: the answers are those of the package in this one."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from terminal.host_desk import BUY, TESTS, Bench, a_bench, rng, settings
from terminal.host_modules import LOGIN, SERVER, paper
from terminal.paper_desk import MONDAY

from bridge.clock import ManualClock
from bridge.errors import NotConnected, TerminalError
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RATES_DTYPE, TICKS_DTYPE
from bridge.mt5.records import OrderSendResult, Record, TradeRequest
from bridge.mt5.request import RequestDict
from bridge.mt5.terminal import Terminal
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.host.limits import VERBS
from bridge.terminal.host.link import Link
from bridge.terminal.host.terminal import HostTerminal
from bridge.terminal.paper.calling import FUNCTIONS

H1 = mt5.TIMEFRAME_H1
FOREVER = 2**31 - 1
SELL: RequestDict = {**BUY, "type": mt5.ORDER_TYPE_SELL}


@pytest.fixture(name="bench")
def _bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with a_bench(tmp_path, monkeypatch) as bench:
        yield bench


def here() -> ModuleTerminal:
    module = paper()
    assert module.initialize()
    return ModuleTerminal(module)


def is_same(one: Any, other: Any) -> bool:
    """Equal in value, type and, for records, in every nested type."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and one.tobytes() == other.tobytes())
    if isinstance(one, tuple):
        pairs = zip(one, other, strict=True)
        return len(one) == len(other) and all(is_same(a, b) for a, b in pairs)
    return repr(one) == repr(other)


STEPS: list[Callable[[Terminal], Any]] = [
    lambda t: t.terminal_info(),
    lambda t: t.account_info(),
    lambda t: t.symbols_get(),
    lambda t: t.symbol_info("EURUSD"),
    lambda t: t.symbol_select("EURUSD"),
    lambda t: t.symbol_info_tick("EURUSD"),
    lambda t: t.copy_rates_from_pos("EURUSD", H1, 0, 500),
    lambda t: t.copy_rates_from_pos("EURUSD", H1, 1, 1),
    lambda t: t.positions_get(),
    lambda t: t.orders_get(),
    lambda t: t.orders_get("EURUSD"),
    lambda t: t.order_calc_profit(0, "EURUSD", 0.3, 1.1, 1.2),
    lambda t: t.order_calc_margin(1, "EURUSD", 0.3, 1.1),
    lambda t: t.order_check(dict(BUY)),
    lambda t: t.order_send(dict(BUY)),
    lambda t: t.order_send({**BUY, "volume": 0.2, "sl": 1.0, "comment": "größer 😀"}),
    lambda t: t.order_send({**BUY, "volume": 1000.0}),
    lambda t: t.order_send({**BUY, "volume": 1}),
    lambda t: t.positions_get(),
    lambda t: t.positions_get("EURUSD"),
    lambda t: t.positions_get("GBPUSD"),
    lambda t: t.order_send({**SELL, "position": t.positions_get()[0].ticket}),
    lambda t: t.history_orders_get(0, FOREVER),
    lambda t: t.history_deals_get(0, FOREVER),
    lambda t: t.account_info(),
]


def test_every_answer_is_the_one_given_in_this_process(bench: Bench) -> None:
    local, host = here(), bench.paper()
    for number, step in enumerate(STEPS):
        expected, found = step(local), step(host)
        assert is_same(expected, found), f"step {number}: {expected!r} against {found!r}"
    assert len(host.history_deals_get(0, FOREVER)) == 4


def test_the_steps_above_leave_no_verb_out() -> None:
    asked = set()

    class Notes:
        def __getattr__(self, verb: str) -> Any:
            asked.add(verb)
            return getattr(local, verb)

    local = here()
    for step in STEPS:
        step(Notes())
    assert asked == {name for name in vars(Terminal) if not name.startswith("_")}


def test_nested_records_and_flags_arrive_as_such(bench: Bench) -> None:
    host = bench.paper()
    result = host.order_send(dict(BUY))
    assert isinstance(result, OrderSendResult)
    assert isinstance(result.request, TradeRequest)
    assert result.request.magic == 7
    assert host.account_info().trade_allowed is True
    assert isinstance(host.positions_get()[0], Record)


def test_arrays_have_the_dtype_of_the_package_and_are_read_only(bench: Bench) -> None:
    host = bench.paper()
    rates = host.copy_rates_from_pos("EURUSD", H1, 0, 500)
    assert rates.dtype == RATES_DTYPE
    assert len(rates) == 500
    assert not rates.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        rates.flags.writeable = True
    ticks = link_of(bench).copy_ticks_from("EURUSD", 0, 10, mt5.COPY_TICKS_ALL)
    assert ticks.dtype == TICKS_DTYPE
    nothing = link_of(bench).copy_rates_range("EURUSD", H1, MONDAY + 1, MONDAY + 2)
    assert (len(nothing), nothing.dtype) == (0, RATES_DTYPE)


def link_of(bench: Bench) -> Any:
    link = bench.paper()._link
    assert isinstance(link, Link)
    return link


def test_errors_are_the_package_s_own(bench: Bench) -> None:
    local, host = here(), bench.paper()
    steps: list[Callable[[Terminal], Any]] = [
        lambda t: t.symbol_info("XXX"),
        lambda t: t.symbol_select("XXX"),
        lambda t: t.copy_rates_from_pos("XXX", H1, 0, 5),
        lambda t: t.order_calc_profit(5, "EURUSD", 0.1, 1.0, 1.0),
        lambda t: t.order_check({"volume": 1}),
    ]
    for step in steps:
        with pytest.raises(TerminalError) as expected:
            step(local)
        with pytest.raises(TerminalError) as found:
            step(host)
        assert type(found.value) is type(expected.value)
        assert str(found.value) == str(expected.value)
        assert host.last_error() == (expected.value.code, expected.value.text)


def test_what_the_package_raises_is_raised_here_with_its_cause(bench: Bench) -> None:
    link = link_of(bench)
    with pytest.raises(TypeError):
        link.symbol_info(name="EURUSD")
    with pytest.raises(SystemError, match="returned a result with an exception set") as raised:
        link.copy_rates_from_pos("EURUSD", "H1", 0, 5)
    assert isinstance(raised.value.__cause__, TypeError)
    assert link.account_info().login == LOGIN


def test_a_value_that_is_not_native_is_refused_before_it_is_sent(bench: Bench) -> None:
    host = bench.paper()
    with pytest.raises(TypeError, match="int64 can't cross"):
        host.order_send({**BUY, "magic": np.int64(7)})  # type: ignore[dict-item]
    assert host.positions_get() == ()


def test_the_table_of_limits_names_every_function_of_the_package() -> None:
    assert set(VERBS) == set(FUNCTIONS)


def test_names_that_are_no_verbs_are_refused(bench: Bench) -> None:
    link = link_of(bench)
    for name in ("shutdown", "login", "initialize", "Buy", "anything"):
        with pytest.raises(AttributeError):
            getattr(link, name)


def test_prints_in_the_child_stay_out_of_the_wire(bench: Bench) -> None:
    host = bench.troubled()
    bench.trouble("print-account_info")
    host.connect()
    bench.trouble("print-after-order_send")
    assert host.order_send(dict(BUY)) is not None
    assert len(host.positions_get()) == 1


def ask_for_bars(host: HostTerminal, count: int, wrong: list[object]) -> None:
    for _ in range(50):
        found = len(host.copy_rates_from_pos("EURUSD", H1, 0, count)), host.last_error()
        if found != (count, (1, "Success")):
            wrong.append(found)


def ask_for_nothing(host: HostTerminal, wrong: list[object]) -> None:
    for _ in range(50):
        with pytest.raises(TerminalError):
            host.symbol_info("XXX")
        if host.last_error()[0] != mt5.RES_E_NOT_FOUND:
            wrong.append(host.last_error())


def test_threads_get_their_own_answers_and_errors(bench: Bench) -> None:
    host = bench.paper()
    wrong: list[object] = []
    threads = [threading.Thread(target=ask_for_bars, args=(host, n, wrong)) for n in (3, 400)]
    threads.append(threading.Thread(target=ask_for_nothing, args=(host, wrong)))
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_the_last_error_of_one_thread_is_not_that_of_another(bench: Bench) -> None:
    host = bench.paper()
    with pytest.raises(TerminalError):
        host.symbol_info("XXX")
    seen: list[tuple[int, str]] = [host.last_error()]

    def elsewhere() -> None:
        seen.append(host.last_error())
        host.account_info()
        seen.append(host.last_error())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    seen.append(host.last_error())
    assert [code for code, _ in seen] == [mt5.RES_E_NOT_FOUND, 0, 1, mt5.RES_E_NOT_FOUND]


def test_a_child_says_what_runs_in_it(bench: Bench) -> None:
    host = bench.make(settings())
    assert host.about is None
    with host:
        assert host.about is not None
        assert host.about.python == ".".join(str(part) for part in sys.version_info[:3])
        assert host.about.package == "5.0.6231"
    assert host.about is None
    with pytest.raises(NotConnected, match="closed"):
        host.account_info()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"interpreter": ("no-such-python",)}, "no-such-python does not start"),
        ({"factory": "terminal.host_modules:nothing"}, "AttributeError.*nothing"),
        ({"factory": "terminal.host_modules:failing"}, "ValueError: no such bars"),
        ({"factory": "no_such_module:x"}, "ModuleNotFoundError.*look at factory"),
        ({"interpreter": (sys.executable, "-c", "pass")}, "ended.*; MetaTrader5 is a package"),
        (
            {"interpreter": (sys.executable, "-c", "0/0")},
            "ZeroDivisionError.*; MetaTrader5 is a package",
        ),
        (
            {"interpreter": (sys.executable, "-c", "print('hello, world')")},
            # It may still be writing when nobody listens any more.
            "(ended|Broken pipe).*; MetaTrader5 is",
        ),
        ({"factory": None}, "No module named 'MetaTrader5'; MetaTrader5 is a package"),
    ],
)
def test_a_child_that_can_t_start_says_why(
    bench: Bench, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(NotConnected, match=words) as raised:
        bench.make(settings().model_copy(update=fields)).connect()
    assert raised.value.code == mt5.RES_E_INTERNAL_FAIL_INIT


def test_the_child_imports_nothing_heavy_by_itself() -> None:
    heavy = {"numpy", "pandas", "onnx", "onnxruntime", "pydantic", "bridge.settings"}
    code = f"import sys, bridge.terminal.host.child; print({heavy!r} & set(sys.modules))"
    root = Path(TESTS).parent
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert found.stdout == "set()\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a command that execs another")
def test_another_python_does_not_inherit_the_search_path_of_this_one(bench: Bench) -> None:
    other = settings(interpreter=("/usr/bin/env", sys.executable))
    with pytest.raises(NotConnected, match="No module named 'terminal'"):
        bench.make(other).connect()


def test_a_terminal_connects_by_itself_at_the_first_verb() -> None:
    link = Link(settings(interpreter=("no-such-python",)), ManualClock(0.0), rng())
    with pytest.raises(NotConnected, match="no-such-python"):
        link.account_info()
    with pytest.raises(NotConnected, match=r"the next try is in 0\.[2-5] s"):
        link.account_info()
    assert link.last_error()[0] == mt5.RES_E_INTERNAL_FAIL_CONNECT


def test_the_account_of_the_settings_is_the_one_that_is_shown(bench: Bench) -> None:
    host = bench.paper(login=LOGIN, server=SERVER)
    host.check_account()
    assert host.account_info().login == LOGIN
