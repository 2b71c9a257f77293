"""The remote terminal against rpyc's own classic server, with the paper terminal as its package."""

import contextlib
import os
import random
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from terminal.host_desk import BUY
from terminal.host_modules import LOGIN, paper
from terminal.paper_desk import H1
from terminal.remote_desk import TESTS, Far, classic, reaching, wait

from bridge.clock import ManualClock
from bridge.errors import ConfigError, NoPackage, NotConnected, WrongAccount
from bridge.mt5 import constants as mt5
from bridge.mt5.records import AccountInfo
from bridge.terminal.host.limits import Limits
from bridge.terminal.remote import bundle
from bridge.terminal.remote.address import Address
from bridge.terminal.remote.terminal import RemoteTerminal

HANG_S = 0.5
HURRIED = Limits(start=10.0, connect=10.0, state=HANG_S, history=HANG_S, send=HANG_S)


class Bench:
    """A server with troubles, and a terminal that reaches it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = ManualClock(1_000.0)
        self._open = contextlib.ExitStack()

    def serve(self, port: int = 0) -> Far:
        """Start the server; the account is that of an earlier one in this folder."""
        package = Path(__file__).parent / "far_package"
        path = os.pathsep.join((str(package), str(TESTS), os.environ.get("PYTHONPATH", "")))
        return self._open.enter_context(
            classic(port=port, PYTHONPATH=path, FAR_FOLDER=str(self.folder))
        )

    def reach(self, server: Far, **fields: Any) -> RemoteTerminal:
        """Return a connected terminal."""
        usual = {"limits": HURRIED, **fields}
        terminal = self._open.enter_context(reaching(server.address, self.clock, **usual))
        terminal.connect()
        return terminal

    def trouble(self, name: str, text: str = "") -> None:
        """Let a trouble happen at the next call that can have it."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def calls(self) -> list[str]:
        """Return the verbs that reached the package since the last look."""
        file = self.folder / "calls"
        found = file.read_text(encoding="utf-8").split() if file.exists() else []
        file.write_text("", encoding="utf-8")
        return found

    def close(self) -> None:
        """End servers and terminals."""
        self._open.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    try:
        yield made
    finally:
        made.close()


def test_every_answer_is_the_package_s_own(bench: Bench) -> None:
    far, near = bench.reach(bench.serve()), paper()
    assert near.initialize()
    assert isinstance(far.account_info(), AccountInfo)
    for verb, args in (
        ("account_info", ()),
        ("terminal_info", ()),
        ("symbols_get", ()),
        ("symbol_info", ("EURUSD",)),
        ("symbol_info_tick", ("EURUSD",)),
        ("positions_get", ()),
        ("orders_get", ()),
        ("history_deals_get", (0, 2_000_000_000)),
        ("order_calc_profit", (0, "EURUSD", 0.1, 1.1, 1.2)),
        ("order_check", (BUY,)),
        ("order_send", (BUY,)),
        ("positions_get", ()),
    ):
        assert repr(getattr(far, verb)(*args)) == repr(getattr(near, verb)(*args)), verb
    assert far.about is not None
    assert far.about.package == near.__version__


@pytest.mark.parametrize("count", [2, 500])
def test_bars_cross_as_they_are(bench: Bench, count: int) -> None:
    far, near = bench.reach(bench.serve()), paper()
    assert near.initialize()
    here = near.copy_rates_from_pos("EURUSD", H1.value, 0, count)
    there = far.copy_rates_from_pos("EURUSD", H1.value, 0, count)
    assert there.dtype == here.dtype
    assert there.shape == (count,)
    assert there.tobytes() == here.tobytes()
    assert not there.flags.writeable


def test_datetimes_and_keywords_cross_right(bench: Bench) -> None:
    far, near = bench.reach(bench.serve())._link, paper()
    assert near.initialize()
    newest = int(near.copy_rates_from_pos("EURUSD", H1.value, 0, 1)["time"][0])
    aware = datetime.fromtimestamp(newest - 7_200, UTC)
    naive = datetime.fromtimestamp(newest)  # noqa: DTZ006  as most programs write it
    here = near.copy_rates_range("EURUSD", H1.value, aware, naive)
    assert len(here) == 3
    there = far.copy_rates_range("EURUSD", H1.value, aware, naive)
    assert np.array_equal(here, there)
    century = (datetime(2000, 1, 1, tzinfo=UTC), datetime(2037, 1, 1, tzinfo=UTC))
    deals = far.history_deals_get(*century, group="*")
    assert [deal.type for deal in deals] == [2]
    assert repr(deals) == repr(near.history_deals_get(*century, group="*"))
    assert far.symbols_get(group="*JPY*") == near.symbols_get(group="*JPY*") == ()
    assert len(far.symbols_get(group="EUR*")) == 1
    assert far.positions_get(symbol=7) is near.positions_get(symbol=7) is None
    assert far.last_error() == near.last_error()


def test_what_the_package_raises_is_raised_here(bench: Bench) -> None:
    far = bench.reach(bench.serve())._link
    with pytest.raises(SystemError) as raised:
        far.positions_get(ticket=-1)
    assert isinstance(raised.value.__cause__, OverflowError)
    assert far.account_info().login == LOGIN


def test_a_bars_close_is_one_question(bench: Bench) -> None:
    far = bench.reach(bench.serve())
    bench.calls()
    far.copy_rates_from_pos("EURUSD", H1.value, 0, 100)
    at_once = bench.calls()
    assert at_once == [
        "copy_rates_from_pos",
        "positions_get",
        "account_info",
        "symbol_info_tick",
        "symbol_info",
    ]
    near = paper()
    near.initialize()
    assert far.positions_get() == ()
    assert far.account_info() == near.account_info()
    assert far.symbol_info_tick("EURUSD") == near.symbol_info_tick("EURUSD")
    assert far.symbol_info("EURUSD") == near.symbol_info("EURUSD")
    assert bench.calls() == []
    far.account_info()
    assert bench.calls() == ["account_info"]


def test_an_answer_that_came_along_ages_and_ends_with_any_other_question(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = bench.reach(bench.serve())
    far.copy_rates_from_pos("EURUSD", H1.value, 0, 100)
    far.copy_rates_from_pos("EURUSD", H1.value, 0, 2)
    bench.calls()
    far.account_info()
    assert bench.calls() == ["account_info"]
    monkeypatch.setattr(bundle, "FRESH_S", 0.05)
    far.copy_rates_from_pos("EURUSD", H1.value, 0, 100)
    wait(0.06)
    bench.calls()
    far.account_info()
    assert bench.calls() == ["account_info"]


def test_a_request_is_checked_amid_answers_that_came_along(bench: Bench) -> None:
    far = bench.reach(bench.serve())
    far.copy_rates_from_pos("EURUSD", H1.value, 0, 100)
    assert far.order_check(BUY).retcode == 0
    bench.calls()
    far.account_info()
    assert bench.calls() == ["account_info"]


def test_an_order_asks_for_the_account_anew(bench: Bench) -> None:
    far = bench.reach(bench.serve())
    far.copy_rates_from_pos("EURUSD", H1.value, 0, 100)
    bench.trouble("account", "78")
    bench.calls()
    with pytest.raises(WrongAccount, match="78"):
        far.order_send(BUY)
    assert bench.calls() == ["account_info"]


def test_a_read_without_answer_ends_in_time_and_the_next_one_connects_again(bench: Bench) -> None:
    far = bench.reach(bench.serve())
    bench.trouble("hang-positions_get")
    began = monotonic()
    with pytest.raises(NotConnected, match=r"within 0\.5 s"):
        far.positions_get()
    assert HANG_S <= monotonic() - began < HANG_S + 1.0
    with pytest.raises(NotConnected, match="next try"):
        far.positions_get()
    bench.clock.wait_until(bench.clock.now() + 1.0)
    assert far.positions_get() == ()


@pytest.mark.parametrize(("when", "held"), [("hang-", 0), ("hang-after-", 1), ("die-after-", 1)])
def test_b12_an_order_without_answer_may_be_out(bench: Bench, when: str, held: int) -> None:
    server = bench.serve()
    far = bench.reach(server)
    bench.trouble(f"{when}order_send")
    assert far.order_send(BUY) is None
    assert "nobody knows" in far.last_error()[1]
    if when.startswith("die"):
        server.kill()
        bench.serve(server.address.port)
    bench.clock.wait_until(bench.clock.now() + 1.0)
    assert len(far.positions_get()) == held
    assert bench.calls().count("order_send") == 1


def test_a_server_that_dies_and_comes_back_is_waited_for(bench: Bench) -> None:
    server = bench.serve()
    far = bench.reach(server)
    server.kill()
    pauses = []
    for _ in range(4):
        with pytest.raises(NotConnected):
            far.account_info()
        with pytest.raises(NotConnected):
            far.account_info()
        pauses.append(float(far.last_error()[1].split()[-2]))
        bench.clock.wait_until(bench.clock.now() + pauses[-1] + 0.1)
    assert pauses == sorted(pauses)
    assert pauses[-1] > 2 * pauses[0]
    bench.serve(server.address.port)
    assert far.account_info().login == LOGIN


def test_another_account_after_a_reconnect_gets_nothing(bench: Bench) -> None:
    server = bench.serve()
    far = bench.reach(server)
    server.kill()
    bench.serve(server.address.port)
    bench.trouble("account", "78")
    with pytest.raises(NotConnected):
        far.account_info()
    bench.clock.wait_until(bench.clock.now() + 1.0)
    with pytest.raises(WrongAccount, match="78"):
        far.order_send(BUY)
    assert "order_send" not in bench.calls()


def test_kills_at_random_moments_lose_and_double_no_order(bench: Bench) -> None:
    """What got an answer is there once; what got none is there once or not at all."""
    rng = random.Random(5)  # noqa: S311  repeatable
    server = bench.serve()
    far, sure, unsure = bench.reach(server), 0, 0
    for _ in range(5):
        far.account_info()
        killer = threading.Timer(rng.uniform(0.02, 0.15), server.kill)
        killer.start()
        for _ in range(200):
            try:
                answer = far.order_send(BUY)
            except NotConnected:
                break
            sure += answer is not None and answer.retcode == mt5.TRADE_RETCODE_DONE
            unsure += answer is None
        killer.join()
        server = bench.serve(server.address.port)
        bench.clock.wait_until(bench.clock.now() + 60.0)
    held = len(far.positions_get())
    assert sure > 0
    assert sure <= held <= sure + unsure


@contextlib.contextmanager
def silent() -> Iterator[Address]:
    """Give a port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Address("127.0.0.1", listener.getsockname()[1])


def test_who_takes_connections_and_says_nothing_is_given_up() -> None:
    with silent() as address, reaching(address, limits=Limits(start=0.3)) as far:
        began = monotonic()
        with pytest.raises(NotConnected, match="takes connections and does not answer"):
            far.connect()
        assert monotonic() - began < 1.5


def test_nobody_there_is_said() -> None:
    with silent() as address:
        pass
    with (
        reaching(address) as far,
        pytest.raises(NotConnected, match=r"no server at 127\.0\.0\.1:\d+ \(.+\): start mt5linux"),
    ):
        far.connect()


def test_a_python_without_the_package_is_told_as_that() -> None:
    with classic() as server, reaching(server.address) as far:
        with pytest.raises(NoPackage, match="has no MetaTrader5") as raised:
            far.connect()
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["x", "host", "host:", ":1", "h:0", "h:65536", "::1:5", "h:1x"])
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"write host:port"):
        Address.of(text)


def test_addresses_are_read_and_written() -> None:
    for text in ("127.0.0.1:18812", "vps.example:1", "[::1]:65535"):
        assert str(Address.of(text)) == text
    assert Address.of("[::1]:5").host == "::1"
