"""A child that hangs or dies, a terminal that restarts, an account that changes."""

import itertools
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminal.host_desk import BUY, TESTS, Bench, a_bench, rng
from terminal.host_modules import KILL, LOGIN, SERVER

from bridge.clock import ManualClock
from bridge.errors import NotConnected, TerminalError, WrongAccount
from bridge.mt5 import constants as mt5
from bridge.terminal.host.backoff import Backoff
from bridge.terminal.host.process import Child
from bridge.terminal.host.wire import write_frame

TIMEOUT, RECEIVE = mt5.RES_E_INTERNAL_FAIL_TIMEOUT, mt5.RES_E_INTERNAL_FAIL_RECEIVE
HANG_S = 1.0  # the limit of a call that hangs
SLACK_S = 3.0  # for a slow machine; the trouble itself lasts 60 s


@pytest.fixture(name="bench")
def _bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with a_bench(tmp_path, monkeypatch) as bench:
        yield bench


def is_gone(pid: int) -> bool:
    """Neither running nor a zombie of this process."""
    return not Path(f"/proc/{pid}").exists()


def pid_of(terminal: object) -> int:
    pid = getattr(terminal, "pid", None)
    assert isinstance(pid, int)
    return pid


def pause(bench: Bench, seconds: float = 30.0) -> None:
    bench.clock.wait_until(bench.clock.now() + seconds)


@pytest.mark.parametrize(("trouble", "code"), [("hang", TIMEOUT), ("die", RECEIVE)])
def test_a_read_without_answer_is_not_connected_and_the_child_is_replaced(
    bench: Bench, trouble: str, code: int
) -> None:
    host = bench.troubled(limit=HANG_S)
    host.connect()
    first = pid_of(host)
    bench.trouble(f"{trouble}-positions_get")
    begun = time.monotonic()
    with pytest.raises(NotConnected) as raised:
        host.positions_get()
    assert time.monotonic() - begun < HANG_S + SLACK_S
    assert raised.value.code == host.last_error()[0] == code
    assert is_gone(first)
    with pytest.raises(NotConnected, match="the next try is in"):
        host.positions_get()
    pause(bench)
    assert host.positions_get() == ()
    assert pid_of(host) != first
    assert bench.calls().count("positions_get") == 2


@pytest.mark.parametrize(("trouble", "code"), [("hang", TIMEOUT), ("die", RECEIVE)])
@pytest.mark.parametrize(("when", "positions"), [("", 0), ("after-", 1)])
def test_an_order_without_answer_is_none_and_is_not_sent_again(
    bench: Bench, trouble: str, code: int, when: str, positions: int
) -> None:
    host = bench.troubled(limit=HANG_S)
    host.connect()
    bench.trouble(f"{trouble}-{when}order_send")
    assert host.order_send(BUY) is None
    assert host.last_error()[0] == code
    assert "nobody knows what became of the order" in host.last_error()[1]
    pause(bench)
    assert len(host.positions_get()) == positions
    assert len(host.history_deals_get(0, 2**31 - 1)) == 1 + positions
    assert bench.calls().count("order_send") == 1


def test_c07_a_login_that_worked_and_lost_its_answer_is_looked_at_not_repeated(
    bench: Bench,
) -> None:
    """initialize has its effect and no answer; the next try finds the account logged in."""
    host = bench.troubled(connect=HANG_S, login=LOGIN, server=SERVER)
    bench.trouble("hang-after-initialize")
    with pytest.raises(NotConnected):
        host.connect()
    host.connect()
    assert host.account_info().login == LOGIN
    calls = bench.calls()
    assert calls.count("initialize") == 2
    assert "login" not in calls


def test_a_child_killed_from_outside_is_noticed(bench: Bench) -> None:
    host = bench.troubled()
    host.connect()
    pid = pid_of(host)
    os.kill(pid, KILL)
    with pytest.raises(NotConnected):
        host.account_info()
    assert is_gone(pid)


def test_an_order_is_not_sent_while_there_is_no_connection(bench: Bench) -> None:
    host = bench.troubled()
    host.connect()
    os.kill(pid_of(host), KILL)
    for _ in range(2):
        with pytest.raises(NotConnected):
            host.order_send(BUY)
    pause(bench)
    result = host.order_send(BUY)
    assert result is not None
    assert bench.calls().count("order_send") == 1


def test_an_order_that_the_package_lost_is_none(bench: Bench) -> None:
    host = bench.troubled()
    host.connect()
    host.check_account()
    link = host._link
    bench.trouble("broken")
    assert link.order_send(BUY) is None
    assert host.last_error() == (-10001, "IPC send failed")
    with pytest.raises(NotConnected, match="the next try"):
        host.order_send(BUY)


def test_a_terminal_that_restarts_is_initialised_again_once(bench: Bench) -> None:
    host = bench.troubled()
    host.connect()
    pid = pid_of(host)
    bench.trouble("broken")
    with pytest.raises(NotConnected, match="-10001: IPC send failed"):
        host.account_info()
    bench.trouble("gone")
    bench.trouble("refuse")
    asked = len(bench.calls())
    for _ in range(3):
        with pytest.raises(NotConnected, match="IPC send failed; the next try"):
            host.account_info()
    assert len(bench.calls()) == asked
    pause(bench, 0.5)
    with pytest.raises(NotConnected, match="-10003: IPC initialize failed"):
        host.account_info()
    pause(bench, 1.0)
    assert host.account_info().login == LOGIN
    assert bench.calls()[asked:] == ["initialize", "initialize", "account_info", "account_info"]
    assert pid_of(host) == pid


def test_pauses_double_to_half_a_minute_and_begin_anew_after_an_answer() -> None:
    clock = ManualClock(0.0)
    backoff, same = Backoff(clock, rng()), Backoff(clock, rng())
    pauses = []
    for full in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0):
        backoff.failed()
        same.failed()
        assert full / 2 <= backoff.left <= full
        assert same.left == backoff.left
        pauses.append(backoff.left / full)
        clock.wait_until(clock.now() + backoff.left)
        assert backoff.left < 1e-9
    assert len(set(pauses)) == len(pauses)
    backoff.worked()
    backoff.failed()
    assert backoff.left <= 0.5


def test_a_terminal_that_stays_away_is_tried_less_and_less(bench: Bench) -> None:
    host = bench.troubled()
    host.connect()
    bench.trouble("broken")
    times = []
    for tenth in range(1_000):
        bench.trouble("refuse")
        before = len(bench.calls())
        with pytest.raises(NotConnected):
            host.account_info()
        if len(bench.calls()) > before:
            times.append(tenth / 10)
        pause(bench, 0.1)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert 7 <= len(times) <= 11
    assert 15.0 <= max(gaps[:-1]) <= 30.2
    assert gaps[:5] == sorted(gaps[:5])


def test_an_answer_makes_the_next_pause_short_again(bench: Bench) -> None:
    host = bench.troubled()
    for _ in range(4):
        bench.trouble("refuse")
        with pytest.raises(NotConnected, match="-10003"):
            host.account_info()
        pause(bench)
    assert host.account_info().login == LOGIN
    bench.trouble("broken")
    with pytest.raises(NotConnected, match="-10001"):
        host.account_info()
    pause(bench, 0.5)
    assert host.account_info().login == LOGIN


def test_an_account_that_changed_gets_no_order(bench: Bench) -> None:
    host = bench.troubled()
    host.connect()
    bench.trouble("account", "78")
    with pytest.raises(WrongAccount, match=rf"78 on {SERVER} instead of {LOGIN} on {SERVER}.*may"):
        host.order_send(BUY)
    with pytest.raises(WrongAccount):
        host.check_account()
    assert "order_send" not in bench.calls()
    (bench.folder / "account").unlink()
    assert host.order_send(BUY) is not None


def test_an_account_that_changed_while_away_is_refused_at_the_reconnection(bench: Bench) -> None:
    host = bench.troubled()
    host.connect()
    bench.trouble("account", "78")
    bench.trouble("broken")
    with pytest.raises(NotConnected):
        host.positions_get()
    pause(bench)
    with pytest.raises(WrongAccount):
        host.positions_get()
    with pytest.raises(NotConnected, match="logged in to 78"):
        host.positions_get()
    assert "positions_get" not in bench.calls()[bench.calls().index("positions_get") + 1 :]


def test_a_terminal_logged_in_elsewhere_is_not_switched_unless_told(bench: Bench) -> None:
    bench.trouble("account", "78")
    host = bench.troubled(login=LOGIN)
    with pytest.raises(WrongAccount, match=rf"78 on {SERVER} instead of {LOGIN}: .*may_switch"):
        host.connect()
    assert bench.calls() == ["initialize", "account_info"]
    host.close()
    told = bench.troubled(login=LOGIN, may_switch_account=True)
    with pytest.raises(WrongAccount):  # this module logs in, but goes on showing the other one
        told.connect()
    assert bench.calls()[3:] == ["initialize", "account_info", "login", "account_info"]


def test_a_terminal_without_account_is_logged_in(bench: Bench) -> None:
    bench.trouble("nobody")
    host = bench.troubled(login=LOGIN, server=SERVER)
    host.connect()
    assert bench.calls() == ["initialize", "initialize", "account_info"]
    host.close()
    bench.trouble("nobody")
    with pytest.raises(TerminalError, match="-6: Terminal: Authorization failed"):
        bench.troubled().connect()


def test_a_login_that_the_broker_refuses_is_no_lost_connection(bench: Bench) -> None:
    bench.trouble("account", "78")
    host = bench.troubled(login=79, may_switch_account=True)
    with pytest.raises(TerminalError, match="login failed with -6") as raised:
        host.connect()
    assert not isinstance(raised.value, NotConnected)
    pause(bench)
    with pytest.raises(NotConnected, match="login failed with -6"):
        host.account_info()


def test_closing_leaves_no_process(bench: Bench) -> None:
    host = bench.troubled()
    host.connect()
    pid = pid_of(host)
    host.close()
    host.close()
    assert is_gone(pid)
    assert bench.calls()[-1] == "shutdown"


def test_closing_a_child_that_hangs_kills_it(bench: Bench) -> None:
    host = bench.troubled()
    host.connect()
    pid = pid_of(host)
    bench.trouble("hang-shutdown")
    host.close()
    assert is_gone(pid)


PARENT = """
import sys
from pathlib import Path
from terminal.host_desk import Bench
host = Bench(Path(sys.argv[1])).troubled(limit=60)
host.connect()
print(host.pid, flush=True)
host.positions_get()
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux to wait for a grandchild")
@pytest.mark.parametrize("trouble", ["nothing", "hang-positions_get"])
def test_a_child_does_not_outlive_a_killed_parent(bench: Bench, trouble: str) -> None:
    bench.trouble(trouble)
    path = os.pathsep.join((str(Path(TESTS).parent), TESTS))
    command = [sys.executable, "-c", PARENT, str(bench.folder)]
    pipe = subprocess.PIPE
    known = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, env=known, stdin=pipe, stdout=pipe) as parent:
        assert parent.stdout is not None
        watched = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
        ended, _, _ = select.select([watched], [], [], 10.0)
        os.close(watched)
    assert ended


def test_an_interrupted_call_does_not_mix_up_the_answers(bench: Bench) -> None:
    host = bench.troubled(limit=20)
    host.connect()
    child = host._link._peer
    assert isinstance(child, Child)
    # What a Ctrl-C leaves behind: a question whose answer nobody took.
    child._number += 1
    call = {"n": child._number, "verb": "positions_get", "call": {"t": [{"t": []}, {"d": []}]}}
    assert child._process.stdin is not None
    write_frame(child._process.stdin, call)  # type: ignore[arg-type]
    assert host.account_info().login == LOGIN


def test_a_halt_does_not_wait_for_a_hanging_call(bench: Bench) -> None:
    host = bench.troubled(limit=HANG_S)
    host.connect()
    bench.trouble("hang-positions_get")
    noticed = threading.Event()

    def read() -> None:
        with pytest.raises(NotConnected):
            host.positions_get()
        noticed.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert sum(range(100_000)) > 0  # this thread goes on meanwhile
    assert not noticed.is_set()
    reader.join()
    assert noticed.is_set()
