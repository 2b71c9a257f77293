"""The paper terminal as a server: mt5linux from the index, other versions of rpyc, our daemon."""

import json
import os
import random
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from live_support import SERVER, Plan, environment, plan, write_settings
from models_support import write_last_move
from terminal.exec_support import deals
from terminal.remote_desk import Far, classic, far, reaching

from bridge.cli.live_run import run_live
from bridge.cli.log import Watcher
from bridge.cli.paper_run import run_paper
from bridge.clock import SystemClock
from bridge.engine.step import Step
from bridge.engine.stop import Stop
from bridge.errors import NoPackage
from bridge.journal.read import reading
from bridge.market.barfile import write_bars
from bridge.mt5.servertime import parse
from bridge.settings import load_settings
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.remote.terminal import RemoteTerminal

PROGRAM = Path(__file__).parent / "programs" / "with_mt5linux.py"
START = float(parse("2017.03.14 10:00")) + 2.0
SPEED = 60.0


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what puts packages of the index into a folder of their own."""
    known: dict[tuple[str, ...], Path] = {}

    def fetched(*names: str) -> Path:
        if names not in known:
            known[names] = tmp_path_factory.mktemp("packages")
            options = ["--no-deps", "--timeout", "10", "--retries", "0", "-t", str(known[names])]
            line = [sys.executable, "-m", "pip", "install", "-q", *options, *names]
            done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode:
                pytest.skip(f"pip does not install {names}: {done.stderr.strip()[-200:]}")
        return known[names]

    return fetched


# mt5linux, with the rpyc that it names; then the rpyc of the server, which has to fit.
CLIENTS = [
    (("mt5linux==0.2.4", "rpyc==5.2.3", "plumbum==1.7.0"), ("rpyc==5.3.1",)),
    (("mt5linux==1.0.11", "rpyc==6.0.2"), ("rpyc==6.0.2",)),
]


@pytest.mark.parametrize(("client", "server"), CLIENTS)
def test_mt5linux_trades(
    tmp_path: Path,
    packages: Any,
    monkeypatch: pytest.MonkeyPatch,
    client: tuple[str, ...],
    server: tuple[str, ...],
) -> None:
    theirs = {**os.environ, "PYTHONPATH": str(packages(*client))}
    monkeypatch.setenv("PYTHONPATH", str(packages(*server)))
    with far(tmp_path) as served:
        line = [sys.executable, str(PROGRAM), str(served.address.port)]
        done = subprocess.run(
            line, env=theirs, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["balance"] == 10_000.0
    assert seen["copied"] == [1, SERVER]
    assert seen["bars"][:2] == [50, 3]
    assert seen["bars"][2][:5] == ["time", "open", "high", "low", "close"]
    assert seen["retcodes"] == [10009, 10009]
    assert (seen["request"], seen["left"], seen["error"][0]) == ("with mt5linux", 0, 1)
    opened, closed = deals(tmp_path)
    assert (opened.magic, opened.comment) == (44, "with mt5linux")
    assert [(deal.type, deal.entry, deal.volume) for deal in (opened, closed)] == [
        (0, 0, 0.3),
        (1, 1, 0.3),
    ]


REACH = """
import random, sys
from bridge.clock import SystemClock
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.remote.address import Address
from bridge.terminal.remote.terminal import RemoteTerminal
import rpyc
address = Address("127.0.0.1", int(sys.argv[1]))
with RemoteTerminal(address, HostSettings(), SystemClock(), random.Random(1)) as far:
    print(rpyc.__version__, len(far.copy_rates_from_pos("EURUSD", 16385, 0, 500)))
"""


def test_an_older_rpyc_on_both_sides_does(
    tmp_path: Path, packages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(packages("rpyc==5.3.1")))
    with far(tmp_path) as served:
        line = [sys.executable, "-W", "error", "-c", REACH, str(served.address.port)]
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("5.3.1 500", "")


def test_c08_an_rpyc_that_can_t_be_spoken_to_is_named(tmp_path: Path, packages: Any) -> None:
    with (
        classic(PYTHONPATH=str(packages("rpyc==5.3.1"))) as served,
        reaching(served.address) as terminal,
        pytest.raises(NoPackage, match="the same major version") as raised,
    ):
        terminal.connect()
    assert "\n" not in str(raised.value)


def test_a_client_whose_rpyc_is_another_is_told_of_in_a_sentence(
    tmp_path: Path, packages: Any
) -> None:
    theirs = {**os.environ, "PYTHONPATH": str(packages("rpyc==5.3.1"))}
    code = "import rpyc, sys; rpyc.classic.connect('127.0.0.1', int(sys.argv[1]))"
    with far(tmp_path) as served:
        line = [sys.executable, "-c", code, str(served.address.port)]
        done = subprocess.run(line, env=theirs, capture_output=True, check=False, timeout=60)
        assert done.returncode
        assert served.process.stderr is not None
        said = served.process.stderr.readline()
        assert "a client was dropped" in said
        assert "install the same on both sides" in said
        with reaching(served.address) as terminal:
            terminal.connect()
        served.process.terminate()
        assert served.process.stderr.read() == ""


def test_the_server_says_what_it_is_and_listens_to_this_machine_alone(tmp_path: Path) -> None:
    with far(tmp_path) as served:
        assert "anyone on this machine who reaches the port can run code as this user" in (
            served.said
        )
    for host in ("0.0.0.0", "", "192.168.1.2", "localhost"):  # noqa: S104  what is refused
        line = [sys.executable, "-m", "bridge", "paper", "serve", "--host", host]
        done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 2
        assert "is no loopback address" in done.stderr


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path: Path) -> None:
    with far(tmp_path / "one") as served:
        given = ["--port", str(served.address.port), "--state", str(tmp_path / "two")]
        line = [sys.executable, "-m", "bridge", "paper", "serve", *given]
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert f"port {served.address.port}" in done.stderr
    assert "Traceback" not in done.stderr


class Bot:
    """A live run whose terminal is behind a server; its clock is as fast as the server's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan: Plan = plan(folder, start=START, speed=SPEED)
        write_last_move(folder / "model.onnx", timeframe="M1", server_clock="utc")
        self.config = write_settings(folder, models={7: "model.onnx"})

    def serve(self, port: int = 0) -> Any:
        known = environment(self.plan)
        given = {name: known[name] for name in ("PYTHONPATH", "BRIDGE_STANDIN")}
        return classic(port=port, **given)

    def run(self, served: Far, *, bars: int, on_step: Any = lambda number: None) -> list[Step]:
        """Run until so many bars are decided."""
        settings, clock, stop = load_settings(self.config, {}), self.plan.clock(), Stop()
        steps: list[Step] = []
        jitter = random.Random(1)  # noqa: S311  jitter is no secret
        host = HostSettings.of(settings.terminal)
        with (
            closing(RemoteTerminal(served.address, host, clock, jitter)) as terminal,
            closing(Watcher(settings, lambda line: None)) as watcher,
        ):
            usual = watcher.on_step

            def each(step: Step) -> None:
                usual(step)
                steps.append(step)
                on_step(len(steps))
                if len(steps) >= bars:
                    stop.ask("enough")

            watcher.on_step = each  # type: ignore[method-assign]
            leases = self.folder / "leases"
            run_live(settings, terminal, clock=clock, stop=stop, watcher=watcher, leases=leases)
        return steps

    def replay(self, first: int, count: int) -> Path:
        """Replay the bars from ``first`` on in this process; return the folder."""
        other = self.folder / "paper"
        other.mkdir()
        rates = self.plan.rates()
        at = int(rates["time"].searchsorted(first))
        write_bars(other / "bars.csv", rates[at - 2 : at + count + 2], digits=5)
        text = self.config.read_text(encoding="utf-8").replace('"live"', '"paper"')
        text = text.replace('"model.onnx"', f"'{self.folder / 'model.onnx'}'")
        text += f"[paper]\nprofile = '{self.folder / 'profile.json'}'\n[[paper.bars]]\n"
        text += 'symbol = "EURUSD"\ntimeframe = "M1"\npath = "bars.csv"\n'
        (other / "bridge.toml").write_text(text, encoding="utf-8")
        settings = load_settings(other / "bridge.toml", {})
        with closing(Watcher(settings, lambda line: None)) as watcher:
            assert run_paper(settings, speed=None, stop=Stop(), watcher=watcher)
        return other


def decided(folder: Path) -> list[tuple[Any, ...]]:
    with reading(folder / "state" / "journal.sqlite3") as journal:
        names = ("bar_time", "action", "side", "outputs", "input_sha256")
        return [tuple(row[name] for name in names) for row in journal.rows("decisions")]


def dealt(folder: Path) -> list[tuple[Any, ...]]:
    """Return our deals: side, entry, volume, magic."""
    with reading(folder / "state" / "journal.sqlite3") as journal:
        found = [deal for deal in journal.deals() if deal.magic]
    return [(deal.type, deal.entry, deal.volume, deal.magic) for deal in found]


def test_the_daemon_decides_and_trades_as_on_paper_here(tmp_path: Path) -> None:
    bot = Bot(tmp_path)
    with bot.serve() as served:
        assert len({step.bar_time for step in bot.run(served, bars=20)}) == 20
    live = decided(tmp_path)
    other = bot.replay(live[0][0], len(live))
    assert live == decided(other)[: len(live)]
    deals_live = dealt(tmp_path)
    assert len(deals_live) > 3
    assert deals_live == dealt(other)[: len(deals_live)]


def test_the_daemon_outlives_servers_that_are_killed(tmp_path: Path) -> None:
    """Kills at drawn moments: no bar is decided twice, no order is out twice."""
    bot, rng = Bot(tmp_path), random.Random(3)  # noqa: S311  repeatable
    with ExitStack() as stack:
        now = [stack.enter_context(bot.serve())]
        port = now[0].address.port

        def trouble(number: int) -> None:
            if number % 4 == 2:
                wait = rng.uniform(0.0, 0.2)
                clock = SystemClock()
                clock.wait_until(clock.now() + wait)
                now[-1].kill()
                now.append(stack.enter_context(bot.serve(port)))

        steps = bot.run(now[0], bars=16, on_step=trouble)
    assert len(now) == 5
    times = [step.bar_time for step in steps]
    assert times == sorted(set(times))
    with closing(bot.plan.terminal()) as terminal:
        assert terminal.initialize()
        ours = [deal for deal in terminal.history_deals_get(0, 2_000_000_000) if deal.magic == 7]
        assert len(terminal.positions_get()) <= 1
    with reading(tmp_path / "state" / "journal.sqlite3") as journal:
        sent = [row for row in journal.rows("intents")]
    assert 3 < len(ours) <= len(sent)
