"""``mt5-onnx paper exec``: the paper terminal as the module MetaTrader5 of any program."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
from contextlib import closing
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from terminal.exec_support import command, deals, execute, outer_environment, told

from bridge.cli.main import run as run_command
from bridge.cli.paper import wait_for
from bridge.clock import ManualClock, SystemClock
from bridge.errors import ConfigError
from bridge.market.barfile import read_bars, write_bars
from bridge.mt5.servertime import DAY, server_clock
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir
from bridge.terminal.paper.exec.broker import broker_of, plain
from bridge.terminal.paper.exec.handover import Handover
from bridge.terminal.paper.exec.plan import Plan
from bridge.terminal.paper.exec.prepare import Wish, compare, lay_out
from bridge.terminal.paper.profile import AccountTerms, BrokerProfile, shipped
from bridge.terminal.paper.terminal import PaperTerminal

FACTS = json.loads((Path(__file__).parents[1] / "data" / "mt5_api.json").read_text("utf-8"))
SAMPLE = share_dir("models/sample_bars")
BARS = SAMPLE / "EURUSD_H1_2017.csv"
posix = pytest.mark.skipif(os.name != "posix", reason="signals and forks are POSIX")


# The module


def test_it_shows_the_names_of_the_package_and_no_other(tmp_path: Path) -> None:
    public = told(tmp_path, "print(json.dumps([n for n in dir(mt5) if not n.startswith('__')]))")
    functions = {each["name"] for each in FACTS["functions"]}
    helpers = {"Buy", "Sell", "Close", "_RawOrder"}
    assert set(public) == set(FACTS["constants"]) | set(FACTS["structs"]) | functions | helpers


def test_it_is_imported_as_programs_do_it(tmp_path: Path) -> None:
    code = """
import copy, pickle, threading
class Kept:
    symbol_info_tick = mt5.symbol_info_tick
names = {}
exec("from MetaTrader5 import *", names)
names["initialize"]()
tick = Kept().symbol_info_tick("EURUSD")
again = pickle.loads(pickle.dumps(mt5.account_info))
found = []
threads = [threading.Thread(target=lambda: found.append(mt5.positions_total())) for _ in range(9)]
[one.start() for one in threads], [one.join() for one in threads]
print(json.dumps([names["ORDER_TYPE_SELL"], mt5.__version__, mt5.__author__, type(tick).__module__,
    repr(tick)[:10], hasattr(tick, "_fields"), list(tick._asdict())[:2], again().login, found]))
"""
    assert told(tmp_path, code) == [
        1,
        FACTS["package_version"],
        FACTS["package_author"],
        "builtins",
        "Tick(time=",
        False,
        ["time", "bid"],
        1,
        [0] * 9,
    ]


def test_every_field_has_the_type_of_the_package(tmp_path: Path) -> None:
    code = """
mt5.initialize()
deal, waiting = {"action": 1, "symbol": "EURUSD", "volume": 0.1}, {"action": 5, "symbol": "EURUSD"}
flat = [mt5.account_info(), mt5.terminal_info(), mt5.order_check(deal)]
refused = [mt5.order_send({}), mt5.order_check({}), mt5.order_check({**deal, "volume": 1000.0})]
sent = [mt5.order_send(deal), mt5.order_send({**waiting, "volume": 0.1, "type": 2, "price": 1.12})]
held = [mt5.account_info(), *mt5.positions_get(), *mt5.orders_get(), *mt5.symbols_get()]
mt5.Close("EURUSD")
past = [*mt5.history_deals_get(0, 2 * 10**9), *mt5.history_orders_get(0, 2 * 10**9)]
records = [*flat, *refused, *sent, *held, *past, mt5.symbol_info_tick("EURUSD")]
print(json.dumps([[type(one).__name__, [type(each).__name__ for each in one]] for one in records]))
"""
    found = told(tmp_path, code)
    assert set(FACTS["struct_types"]) - {name for name, _ in found} == {"BookInfo", "TradeRequest"}
    for name, types in found:
        assert types == [field["py"] for field in FACTS["struct_types"][name]], name


def test_a_bridge_of_the_programs_own_is_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "bot" / "bridge"
    own.mkdir(parents=True)
    (own / "__init__.py").write_text("WHOSE = 'theirs'", encoding="utf-8")
    (own / "clock.py").write_text("WHOSE = 'theirs, too'", encoding="utf-8")
    connect = "import MetaTrader5 as mt5\nmt5.initialize()"
    theirs = "import bridge\nbridge.mark = 'marked'"
    for number, lines in enumerate(([theirs, connect], [connect, theirs])):
        bot = tmp_path / "bot" / f"bot{number}.py"
        show = "import bridge.clock\nprint(bridge.WHOSE, bridge.clock.WHOSE, bridge.mark)"
        bot.write_text("\n".join([*lines, show]), encoding="utf-8")
        done = execute(tmp_path, program=(sys.executable, str(bot)))
        assert done.stdout == "theirs theirs, too marked\n", done


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return a Python of an environment that has nothing, and a folder with numpy alone."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    installed = Path(sysconfig.get_paths()["platlib"])
    (folder / "numpy").mkdir()
    for name in ("numpy", "numpy.libs"):
        if (installed / name).exists():
            (folder / "numpy" / name).symlink_to(installed / name, target_is_directory=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return str(python), folder / "numpy"


def test_numpy_is_all_that_the_program_has_to_have(bare: tuple[str, Path], tmp_path: Path) -> None:
    python, with_numpy = bare
    code = """
import sys
mt5.initialize(), mt5.Sell("EURUSD", 0.1), mt5.Close("EURUSD")
there = [name.split(".")[0] for name in sys.modules]
print(json.dumps(sorted({name for name in there if name[0] != "_" and name != "sitecustomize"
    and name not in sys.stdlib_module_names and "cython" not in name})))
"""
    told_ = told(tmp_path, code, python=python, PYTHONPATH=str(with_numpy))
    assert told_ == ["MetaTrader5", "numpy"]
    assert [deal.entry for deal in deals(tmp_path)] == [0, 1]


def test_time_zones_come_along_where_there_are_none(bare: tuple[str, Path], tmp_path: Path) -> None:
    python, with_numpy = bare
    code = "print(json.dumps(mt5.initialize() and mt5.symbol_info_tick('EURUSD').time > 0))"
    environment = {"PYTHONPATH": str(with_numpy), "PYTHONTZPATH": ""}
    assert told(tmp_path, code, python=python, **environment) is True


def test_without_numpy_the_import_says_so(bare: tuple[str, Path], tmp_path: Path) -> None:
    done = execute(tmp_path, program=(bare[0], "-c", "import MetaTrader5"))
    assert done.returncode == 1
    assert "ImportError: MetaTrader5 needs numpy, as the real package does" in done.stderr


def test_without_the_command_there_is_no_module(tmp_path: Path) -> None:
    path = Handover(str(tmp_path)).environment({})["PYTHONPATH"]
    program = [sys.executable, "-c", "import MetaTrader5"]
    environment = outer_environment(PYTHONPATH=path)
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert "ImportError: this MetaTrader5 is the paper terminal's" in done.stderr


def test_an_account_that_is_gone_can_not_be_imported(tmp_path: Path) -> None:
    environment = Handover(str(tmp_path / "gone")).environment(outer_environment())
    program = [sys.executable, "-c", "import MetaTrader5"]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert f"ImportError: account {tmp_path / 'gone'} is gone" in done.stderr


# The account


def test_programs_find_the_account_as_the_last_one_left_it(tmp_path: Path) -> None:
    first = told(tmp_path, "mt5.initialize(); print(json.dumps(mt5.Buy('EURUSD', 0.1).order))")
    code = """
mt5.initialize(timeout=5000)
(held,) = mt5.positions_get()
print(json.dumps([held.ticket, held.time_msc, mt5.Close("EURUSD")]))
"""
    ticket, opened, closed = told(tmp_path, code)
    assert (ticket, closed) == (first, True)
    begun, ended = deals(tmp_path)
    assert (begun.time_msc, begun.position_id, ended.position_id) == (opened, first, first)
    assert 0 < ended.time_msc - begun.time_msc < 60_000


def test_an_account_without_a_name_is_new_each_time(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "bridge", "paper", "exec", "--state", str(tmp_path), "--"]
    for number in (1, 2):
        done = subprocess.run(
            [*line, sys.executable, "-c", "import MetaTrader5 as mt5; print(mt5.initialize())"],
            capture_output=True,
            text=True,
            check=True,
            env=outer_environment(),
        )
        assert done.stdout == "True\n"
        assert done.stderr == (
            f"mt5-onnx: new paper account exec-{number}: EURUSD H1 from 2017.06.30 16:00:00, "
            f"speed 1; it goes on with --account exec-{number}\n"
        )


def test_the_clock_flows_and_goes_on_between_programs(tmp_path: Path) -> None:
    code = "mt5.initialize(); print(json.dumps(mt5.Buy('EURUSD', 0.01).retcode))"
    options = ("--start", "2017.03.15 10:00", "--speed", "100")
    assert told(tmp_path, code, *options) == 10009
    plan = Plan.read(tmp_path / "paper" / "a")
    assert plan is not None
    real = SystemClock()
    earlier, between, later = real.now(), plan.clock.now(), real.now()
    noise = 1e-6
    shown = (between - plan.shown) / 100
    assert earlier - plan.began - noise <= shown <= later - plan.began + noise
    assert told(tmp_path, code) == 10009
    told(tmp_path, "mt5.initialize(); print(json.dumps(mt5.Close('EURUSD')))")
    first, second, *_ = deals(tmp_path)
    start = server_clock("eet-us").to_utc(first.time) - plan.shown
    assert 0 <= start <= between - plan.shown
    assert second.time > server_clock("eet-us").from_utc(between) > first.time
    assert plan.start == int(server_clock("eet-us").from_utc(plan.shown))


def test_bars_come_from_files_of_the_user(tmp_path: Path) -> None:
    rates = read_bars(BARS)[:200].copy()
    rates["time"] = rates["time"][0] + 60 * np.arange(len(rates))
    write_bars(tmp_path / "odd=name.csv", rates, digits=5)
    code = """
mt5.initialize()
rates = mt5.copy_rates_from_pos("EURUSD", mt5.TIMEFRAME_M1, 0, 3)
info = mt5.symbol_info("XAUUSD")
print(json.dumps([rates["time"].tolist(), str(rates.dtype), mt5.account_info().currency,
    rates.flags.writeable, type(rates).__name__, mt5.copy_rates_from_pos("GBPUSD", 1, 0, 3)]))
"""
    options = ("--bars", f"EURUSD:M1={tmp_path / 'odd=name.csv'}", "--profile", "fx-raw-hedging")
    times, _, currency, *traits = told(tmp_path, code, *options)
    assert times == rates["time"][98:101].tolist()
    assert currency == BrokerProfile.load("fx-raw-hedging").account.currency
    assert traits == [False, "ndarray", None]


def test_a_second_process_waits_for_the_account_as_long_as_it_says(tmp_path: Path) -> None:
    hold = """
import MetaTrader5 as mt5
print(mt5.initialize() and mt5.Buy("EURUSD", 0.1).retcode, flush=True)
input()
"""
    line = command(tmp_path, program=(sys.executable, "-c", hold))
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, env=outer_environment(), **pipes) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "10009\n"
        refused = told(
            tmp_path, "print(json.dumps([mt5.initialize(timeout=300), mt5.last_error()]))"
        )
        assert refused == [
            False,
            [
                -10003,
                "IPC initialize failed, account a is held by another process, and was so for "
                "0.3 s: end that one, or name another account",
            ],
        ]
        wait = (
            "import MetaTrader5 as mt5; print(mt5.initialize(timeout=20000), mt5.Close('EURUSD'))"
        )
        line = command(tmp_path, program=(sys.executable, "-c", wait))
        with subprocess.Popen(line, env=outer_environment(), **pipes) as waiter:
            assert Event().wait(1.0) is False
            assert waiter.poll() is None
            holder.stdin.close()
            assert waiter.stdout is not None
            assert waiter.stdout.read().startswith("True True")
        assert waiter.returncode == 0


def test_children_find_the_terminal_once_the_parent_has_let_it_go(tmp_path: Path) -> None:
    code = """
import subprocess, sys
mt5.initialize(), mt5.Buy("EURUSD", 0.1), mt5.shutdown()
child = "import MetaTrader5 as mt5; mt5.initialize(); print(mt5.Close('EURUSD'))"
said = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
print(json.dumps([said.stdout, mt5.initialize(), mt5.positions_total()]))
"""
    assert told(tmp_path, code) == ["True\n", True, 0]


@posix
def test_a_forked_child_is_not_connected_and_the_parent_still_is(tmp_path: Path) -> None:
    code = """
import os, sys
mt5.initialize(), mt5.Buy("EURUSD", 0.1)
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    said = [mt5.last_error(), mt5.positions_total(), mt5.last_error()]
    os.write(writing, json.dumps(said).encode())
    sys.exit(0)
os.waitpid(child, 0)
print(json.dumps([json.loads(os.read(reading, 1000)), mt5.positions_total(), mt5.Close("EURUSD")]))
"""
    alone, held, closed = told(tmp_path, code)
    assert alone == [[0, ""], None, [-10004, "No IPC connection"]]
    assert (held, closed) == (1, True)
    assert [deal.entry for deal in deals(tmp_path)] == [0, 1]


def test_a_program_that_is_killed_leaves_what_it_has_done(tmp_path: Path) -> None:
    code = "import MetaTrader5 as mt5, os; mt5.initialize(); mt5.Buy('EURUSD', 0.1); os._exit(7)"
    assert execute(tmp_path, program=(sys.executable, "-c", code)).returncode == 7
    assert told(tmp_path, "mt5.initialize(); print(json.dumps(mt5.Close('EURUSD')))") is True
    assert [deal.entry for deal in deals(tmp_path)] == [0, 1]


@posix
def test_a_full_disk_is_an_error_of_the_call_and_no_exception(tmp_path: Path) -> None:
    code = """
import resource
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
mt5.initialize()
limit(1)
sent = mt5.order_send({"action": 1, "symbol": "EURUSD", "volume": 0.1}), mt5.last_error()
limit(resource.RLIM_INFINITY)
print(json.dumps([sent, mt5.positions_total(), mt5.Close("EURUSD")]))
"""
    (sent, (number, text)), held, closed = told(tmp_path, code)
    assert (sent, number) == (None, -1)
    assert text.startswith("Terminal: Call failed, account file failed with -1:")
    assert (held, closed) == (1, True)
    assert [deal.entry for deal in deals(tmp_path)] == [0, 1]


def test_a_script_goes_on_when_the_program_connects_again(tmp_path: Path) -> None:
    steps = [{"step": "answer", "retcode": code} for code in (10006, 10004)]
    (tmp_path / "script.json").write_text(json.dumps(steps), encoding="utf-8")
    code = """
answers = []
for _ in range(3):
    mt5.initialize()
    answers.append(mt5.Buy("EURUSD", 0.1, mt5.symbol_info_tick("EURUSD").ask).retcode)
    mt5.shutdown()
print(json.dumps(answers))
"""
    options = ("--script", str(tmp_path / "script.json"))
    assert told(tmp_path, code, *options) == [10006, 10004, 10009]


# The start and the end of a program


def test_the_exit_code_is_the_programs(tmp_path: Path) -> None:
    assert (
        execute(tmp_path, program=(sys.executable, "-c", "raise SystemExit(41)")).returncode == 41
    )
    done = execute(tmp_path, program=(sys.executable, "-c", "print(input())"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "EOFError" in done.stderr


@posix
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_reach_the_program(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    program = """
import signal, sys, MetaTrader5 as mt5
def leave(number, frame):
    sys.exit(128 + number)
signal.signal(signal.SIGINT, leave), signal.signal(signal.SIGTERM, leave)
mt5.initialize(), mt5.Buy("EURUSD", 0.1)
try:
    print("ready", flush=True)
    signal.pause()
finally:
    print(mt5.Close("EURUSD"))
"""
    line = command(tmp_path, program=(sys.executable, "-c", program))
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, env=outer_environment(), **pipes) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        started.send_signal(sent)
        assert started.stdout.read() == "True\n"
    assert started.returncode == code
    assert [deal.entry for deal in deals(tmp_path)] == [0, 1]


def test_where_a_system_replaces_no_process_the_end_is_awaited() -> None:
    ends = ("raise SystemExit(3)", "import os; os._exit(0)")
    codes = [wait_for(sys.executable, ["python", "-c", end], os.environ) for end in ends]
    assert codes == [3, 0]


PY = sys.executable


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ([], "no program is named: put it after --"),
        (["--"], "no program is named: put it after --"),
        (["--", "no-such-program"], "program 'no-such-program' is not found"),
        (["--bars", f"XAUUSD:H1={BARS}", "--", PY], "--bars names XAUUSD, which profile"),
        (["--bars", f"EURUSD:X9={BARS}", "--", PY], "X9"),
        (["--bars", str(BARS), "--", PY], "has to be SYMBOL:TIMEFRAME=FILE"),
        (["--bars", "EURUSD:H1=absent.csv", "--", PY], "absent.csv can't be read as bars"),
        (
            ["--bars", f"EURUSD:H1={BARS}", "--bars", f"EURUSD:M5={BARS}", "--", PY],
            "--bars names EURUSD twice",
        ),
        (["--profile", "absent.json", "--", PY], "broker profile absent.json can't be read"),
        (["--profile", "stocks-netting-exchange", "--", PY], "name bars of"),
        (["--start", "noon", "--", PY], "'noon' is not a time"),
        (["--start", "2016.01.01", "--", PY], "--start 2016.01.01 00:00:00 is not within the bars"),
        (["--start", "2018.01.01", "--", PY], "is not within the bars"),
        (["--speed", "0", "--", PY], "speed"),
        (["--shift-to-now", "--speed", "2", "--", PY], "--shift-to-now follows: use one of them"),
        (["--account", "../b", "--", PY], "--account '../b' can't be a folder"),
        (["--script", "absent.json", "--", PY], "absent.json"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence_and_leaves_nothing(
    line: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command(["paper", "exec", "--state", str(tmp_path), *line]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.startswith("mt5-onnx: ")
    assert error.count("\n") == 1
    assert list(tmp_path.rglob("*.json")) == []


# A known account


def laid_out(folder: Path, **asked: Any) -> Plan:
    layout = lay_out(Wish(**asked), SystemClock())
    layout.write(folder)
    known = Plan.read(folder)
    assert known == layout.plan
    return layout.plan


def test_a_known_account_goes_on_with_the_same_options(tmp_path: Path) -> None:
    bars = (f"EURUSD:H1={BARS}",)
    known = laid_out(tmp_path / "a", bars=bars, start="2017.03.10 10:00", speed=2.0)
    for asked in ({}, {"start": "2017-03-10 10:00"}, {"bars": bars, "speed": 2.0}):
        compare("a", known, Wish(**asked))
    compare("a", known, Wish(profile=str(SAMPLE / "profile.json")))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"start": "2017.03.10 11:00"}, "--start 2017.03.10 10:00:00, not 2017.03.10 11:00:00"),
        ({"speed": 3.0}, "--speed 1, not 3"),
        ({"shift_to_now": True}, "--shift-to-now off, not on"),
        ({"profile": "fx-raw-hedging"}, "--profile"),
        ({"bars": (f"EURUSD:M5={BARS}",)}, "--bars EURUSD H1 ("),
    ],
)
def test_a_known_account_is_not_another_one(
    tmp_path: Path, asked: dict[str, Any], said: str
) -> None:
    known = laid_out(tmp_path / "a", start="2017.03.10 10:00")
    with pytest.raises(ConfigError, match="account a has") as caught:
        compare("a", known, Wish(**asked))
    assert said in str(caught.value)
    assert "name another account" in str(caught.value)


def test_a_plan_of_another_version_is_refused(tmp_path: Path) -> None:
    laid_out(tmp_path / "a")
    path = tmp_path / "a" / "plan.json"
    path.write_text(path.read_text("utf-8").replace('"version": 1', '"version": 2'), "utf-8")
    with pytest.raises(ConfigError, match="another version of mt5-onnx wrote it"):
        Plan.read(tmp_path / "a")


# Bars that are moved


@pytest.mark.parametrize("now", [1_792_000_000.0, 1_792_400_000.0, 1_792_600_000.0])
def test_moved_bars_keep_their_weekdays_and_their_hours(now: float) -> None:
    layout = lay_out(Wish(shift_to_now=True), ManualClock(now))
    original, moved = read_bars(BARS), layout.rates[0]
    shift = int(moved["time"][0] - original["time"][0])
    assert shift > 0
    assert shift % (7 * DAY) == 0
    assert (moved["time"] - original["time"] == shift).all()
    assert (moved["close"] == original["close"]).all()
    server = server_clock("eet-us").from_utc(now)
    assert 0 <= server - (layout.plan.start + shift) < 7 * DAY
    assert layout.plan.began == layout.plan.shown == now
    known = moved[moved["time"] <= server]
    in_week = (server + 4 * DAY) % (7 * DAY) // DAY
    if 1 <= in_week < 6:  # Monday to Friday, the market is open now
        assert server - known["time"][-1] <= 3_600


def test_bars_that_end_before_now_can_not_be_moved() -> None:
    wish = Wish(shift_to_now=True, start="2017.12.29 10:00")
    with pytest.raises(ConfigError, match="name an earlier --start, or longer bars"):
        lay_out(wish, ManualClock(1_792_000_000.0))


def test_moved_bars_reach_the_computers_clock(tmp_path: Path) -> None:
    code = "mt5.initialize(); print(json.dumps(mt5.symbol_info_tick('EURUSD').time))"
    time = told(tmp_path, code, "--shift-to-now")
    server = server_clock("eet-us").from_utc(SystemClock().now())
    # The newest bar of a week in which the market is shut from Friday to Sunday night.
    assert -1 <= server - time < 3.5 * DAY


# The broker without pydantic


@pytest.mark.parametrize("name", [*shipped(), "sample"])
def test_a_broker_is_the_same_as_plain_json(name: str) -> None:
    profile = BrokerProfile.load(SAMPLE / "profile.json" if name == "sample" else name)
    known = broker_of(json.loads(json.dumps(plain(profile))))
    for field in set(BrokerProfile.model_fields) - {"note", "account", "symbols", "sessions"}:
        assert getattr(known, field) == jsonable(getattr(profile, field)), field
    for field in set(AccountTerms.model_fields) - {"commission"}:
        assert getattr(known.account, field) == getattr(profile.account, field), field
    assert known.sha256 == profile.sha256
    assert known.account.margin_mode.code == profile.account.margin_mode.code
    kinds = [
        vars(kind) if isinstance(kind, SimpleNamespace) else {}
        for kind in known.account.commissions
    ]
    assert kinds == [kind.model_dump(mode="json") for kind in profile.account.commissions]
    answers = [asked(each) for each in (profile, known)]
    assert answers[0] == answers[1]


def jsonable(value: Any) -> Any:
    return json.loads(json.dumps(value))


def asked(profile: BrokerProfile) -> list[Any]:
    symbol = next(iter(profile.symbols))
    bars = {symbol: (timeframe("H1"), read_bars(BARS)[:50])}
    clock = ManualClock(1_483_660_800.0)
    with closing(PaperTerminal(profile, bars, clock, None)) as terminal:
        terminal.initialize()
        infos = terminal.symbols_get()
        sent = terminal.Buy(symbol, terminal.symbol_info(symbol).volume_min)
        return [infos, sent, terminal.account_info(), terminal.history_deals_get(0, 2_000_000_000)]


def test_texts_of_retcodes_keep_their_numbers() -> None:
    given = json.loads((SAMPLE / "profile.json").read_text("utf-8"))
    given["account"]["retcode_texts"] = {"10009": "Fertig"}
    profile = BrokerProfile.model_validate(given)
    assert broker_of(plain(profile)).account.retcode_texts == {10009: "Fertig"}
