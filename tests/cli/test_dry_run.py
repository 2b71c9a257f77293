"""Mode dry-run: a paper terminal in a child is the real one, and another one takes the orders."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from live_support import LOGIN, SERVER, Plan, environment, plan, write_settings
from models_support import write_last_move

from bridge.cli.dry_run import run_dry
from bridge.cli.live_connect import tenure
from bridge.cli.live_run import run_live
from bridge.cli.log import Watcher
from bridge.cli.main import run as command
from bridge.clock import SystemClock
from bridge.engine.lease import leased
from bridge.engine.step import Step
from bridge.engine.stop import Stop
from bridge.errors import ConfigError
from bridge.journal.read import reading
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal
from bridge.mt5.servertime import parse
from bridge.settings import BridgeSettings, Mode, load_settings
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.host.terminal import HostTerminal

START = float(parse("2017.03.14 10:00")) + 2.0
SPEED = 60.0
MAGIC = 7
EVER = (0, int(START) + 400 * 86_400)

OnStep = Callable[[Step, HostTerminal], None]


class Desk:
    """A folder with settings, the terminal in a child, and its fast clock."""

    def __init__(self, folder: Path, made: Plan, mode: str = "dry-run", **tables: str) -> None:
        self.folder = folder
        self.plan = made
        model = write_last_move(folder / "model.onnx", timeframe="M1", server_clock="utc")
        self.config = write_settings(folder, models={MAGIC: model.name}, **tables)
        self.change('mode = "live"', f'mode = "{mode}"')
        self.said: list[str] = []

    def change(self, old: str, new: str) -> None:
        text = self.config.read_text(encoding="utf-8")
        assert old in text
        self.config.write_text(text.replace(old, new), encoding="utf-8")

    @property
    def settings(self) -> BridgeSettings:
        return load_settings(self.config, {})

    def run(self, bars: int, on_step: OnStep = lambda step, terminal: None) -> list[Step]:
        """Run until so many bars are decided, and return the steps."""
        settings, steps, stop = self.settings, [], Stop()
        host = HostSettings.of(settings.terminal).model_copy(
            update={
                "factory": "live_support:opened",
                "factory_arguments": {"path": str(Path(self.plan.folder) / "plan.json")},
            }
        )
        clock, jitter = self.plan.clock(), random.Random(1)  # noqa: S311  jitter is no secret
        with (
            closing(HostTerminal(host, clock, jitter)) as terminal,
            closing(Watcher(settings, self.said.append)) as watcher,
        ):
            usual = watcher.on_step

            def each(step: Step) -> None:
                usual(step)
                steps.append(step)
                on_step(step, terminal)
                if len(steps) >= bars:
                    stop.ask("enough")

            watcher.on_step = each  # type: ignore[method-assign]
            run = run_dry if settings.mode == "dry-run" else run_live
            run(
                settings,
                terminal,
                clock=clock,
                stop=stop,
                watcher=watcher,
                leases=self.folder / "leases",
            )
        return steps

    def rows(self, table: str) -> list[dict[str, Any]]:
        with reading(self.folder / "state" / "journal.sqlite3") as journal:
            return list(journal.rows(table))

    def has_decided(self, count: int) -> bool:
        """Return whether another process has decided so many bars."""
        try:
            return len(self.rows("decisions")) >= count
        except (ConfigError, sqlite3.Error):  # the journal is being made
            return False

    def events(self, kind: str) -> list[str]:
        return [row["text"] for row in self.rows("events") if row["kind"] == kind]

    def real_deals(self) -> tuple[TradeDeal, ...]:
        """Return what the real account's history holds, its deposit included."""
        with closing(self.plan.terminal()) as module:
            assert module.initialize()
            assert module.positions_get() == ()
            assert module.orders_get() == ()
            deals: tuple[TradeDeal, ...] = module.history_deals_get(*EVER)
            return deals


@pytest.fixture(autouse=True)
def children_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    known = os.environ.get("PYTHONPATH", "")
    tests = str(Path(__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (tests, known))))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, plan(tmp_path, start=START, speed=SPEED))


def decided(desk: Desk) -> dict[int, tuple[Any, ...]]:
    return {
        row["bar_time"]: (row["action"], row["side"], row["outputs"], row["input_sha256"])
        for row in desk.rows("decisions")
    }


def dealt(desk: Desk) -> list[dict[str, Any]]:
    """Return the deals of the journal without the deposit."""
    return [row["deal"] for row in desk.rows("deals") if row["deal"]["symbol"]]


def test_it_decides_as_live_does_and_the_real_account_stays_what_it_was(
    desk: Desk, tmp_path: Path
) -> None:
    """The same bars, one after the other on two terminals: equal decisions, deals in one only."""
    before = desk.real_deals()
    desk.run(12)
    assert desk.real_deals() == before
    assert [deal.type for deal in before] == [mt5.DEAL_TYPE_BALANCE]

    other = tmp_path / "live"
    other.mkdir()
    live = Desk(other, plan(other, start=START, speed=SPEED), mode="live")
    live.run(12)
    ours, theirs = decided(desk), decided(live)
    # Which bars a run meets is up to the computer; alike are those after a bar that both have met.
    both = ours.keys() & theirs.keys()
    shared = [bar for bar in sorted(both) if bar - 60 in both]
    assert len(shared) >= 6
    assert [ours[bar] for bar in shared] == [theirs[bar] for bar in shared]
    assert any(ours[bar][0] == "reverse" for bar in shared)

    deals = dealt(desk)
    assert len(deals) >= 3
    rates = {int(row["time"]): row for row in desk.plan.rates()}
    for deal in deals:
        bar = rates[deal["time"] // 60 * 60]
        spread = bar["spread"] * 1e-5
        assert bar["low"] - 1e-9 <= deal["price"] <= bar["high"] + spread + 1e-9


def test_every_row_is_of_a_run_that_says_dry_run(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.run(2)
    assert {row["mode"] for row in desk.rows("runs")} == {"dry-run"}
    runs = {row["id"] for row in desk.rows("runs")}
    for table in ("decisions", "deals", "events"):
        assert {row["run"] for row in desk.rows(table)} == runs
    assert f"dry-run at the prices of DEMO account {LOGIN} at {SERVER}" in desk.said[0]
    assert desk.said[0].endswith("orders are on paper, nothing is sent")
    assert command(["status", "-c", str(desk.config)]) == 0
    assert "mode dry-run: nothing is sent" in capsys.readouterr().out
    assert command(["status", "-c", str(desk.config), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mode"] == "dry-run"


def test_a_stopped_run_goes_on_with_its_account(desk: Desk) -> None:
    first = desk.run(4)
    again = desk.run(4)
    times = [step.bar_time for step in first + again]
    assert times == sorted(set(times))
    assert desk.events("adopted") == desk.events("human") == []
    # One account: its file has what the journal has, from the deposit on.
    with closing(sqlite3.connect(desk.folder / "state" / "dry-run.sqlite3")) as file:
        bodies = file.execute("SELECT body FROM deals ORDER BY number").fetchall()
    held = [json.loads(body)[0] for (body,) in bodies]
    assert held == [row["ticket"] for row in desk.rows("deals")]
    assert len(held) >= 3


def test_a_terminal_that_dies_is_started_again(desk: Desk) -> None:
    """The child is killed after the second bar: the next bars are decided, the position stays."""

    def on_step(step: Step, terminal: HostTerminal) -> None:
        if len(desk.rows("decisions")) == 2:
            assert terminal.pid is not None
            os.kill(terminal.pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    steps = desk.run(5, on_step)
    assert len({step.bar_time for step in steps}) == 5
    told = desk.events("terminal") + desk.events("alarm")
    assert any("the process of the package ended" in text for text in told)
    assert desk.events("adopted") == desk.events("human") == []


_ENDLESS = """
import sys
from pathlib import Path
from cli.test_dry_run import Desk
from live_support import Plan
folder = Path(sys.argv[1])
Desk(folder, Plan.read(folder / "plan.json")).run(1_000)
"""


def test_a_killed_run_goes_on_with_its_account(desk: Desk) -> None:
    """SIGKILL in the middle of the third bar or later; what was ordered on paper is still held."""
    clock = SystemClock()
    until = clock.now() + 60.0
    with subprocess.Popen([sys.executable, "-c", _ENDLESS, str(desk.folder)]) as child:
        while not desk.has_decided(3):
            assert child.poll() is None
            assert clock.now() < until
            clock.wait_until(clock.now() + 0.1)
        child.kill()
    sent = len(dealt(desk))
    assert sent >= 1
    desk.run(3)
    assert [row["ending"] for row in desk.rows("runs")] == [None, "enough"]
    bars = [row["bar_time"] for row in desk.rows("decisions")]
    assert bars == sorted(set(bars))
    assert desk.events("adopted") == desk.events("human") == []
    tickets = [deal["ticket"] for deal in dealt(desk)]
    assert tickets == sorted(set(tickets))
    assert len(tickets) >= sent
    assert [deal.type for deal in desk.real_deals()] == [mt5.DEAL_TYPE_BALANCE]


def test_a_stop_is_hit_by_the_real_terminals_prices(tmp_path: Path) -> None:
    """Stops of two pips among bars of an hour's range: some are hit, at or beyond their level."""
    desk = Desk(tmp_path, plan(tmp_path, start=START, speed=SPEED))
    text = desk.config.read_text(encoding="utf-8")
    desk.config.write_text(f"{text}\n[strategy.decision]\nstop_points = 20\n", encoding="utf-8")
    desk.run(8)
    stopped = [deal for deal in dealt(desk) if deal["reason"] == mt5.DEAL_REASON_SL]
    assert stopped
    assert all(deal["profit"] < 0 for deal in stopped)
    assert [deal.type for deal in desk.real_deals()] == [mt5.DEAL_TYPE_BALANCE]


def test_a_real_account_may_be_looked_at(tmp_path: Path) -> None:
    desk = Desk(tmp_path, plan(tmp_path, start=START, speed=SPEED, is_real=True))
    assert desk.settings.allow_real is False
    assert len(desk.run(1)) == 1
    assert any("prices of REAL account 77" in line for line in desk.said)


def test_robots_need_no_permission_to_trade_on_paper(tmp_path: Path) -> None:
    """The broker forbids robots, as to an investor: live sends nothing (A22), a dry run deals."""
    made = plan(tmp_path, start=START, speed=SPEED)
    path = tmp_path / "profile.json"
    broker = json.loads(path.read_text(encoding="utf-8"))
    broker["account"]["trade_expert"] = False
    path.write_text(json.dumps(broker), encoding="utf-8")
    desk = Desk(tmp_path, made)
    desk.run(4)
    assert desk.events("alarm") == []
    assert dealt(desk)


def test_costs_come_from_a_profile_of_the_same_currency(desk: Desk, tmp_path: Path) -> None:
    broker = json.loads((tmp_path / "profile.json").read_text(encoding="utf-8"))
    broker["account"] |= {"commission": 3.5, "currency": "EUR"}
    costs = tmp_path / "costs.json"
    costs.write_text(json.dumps(broker), encoding="utf-8")
    text = desk.config.read_text(encoding="utf-8")
    desk.config.write_text(f'{text}\n[paper]\nprofile = "costs.json"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"counts in EUR, the account 77 at \S+ in USD"):
        desk.run(1)
    assert desk.rows("decisions") == []

    broker["account"]["currency"] = "USD"
    costs.write_text(json.dumps(broker), encoding="utf-8")
    desk.run(4)
    paid = dealt(desk)
    assert paid
    assert all(deal["commission"] == pytest.approx(-3.5 * deal["volume"]) for deal in paid)


def test_an_account_in_another_currency_is_another_account(desk: Desk, tmp_path: Path) -> None:
    desk.run(1)
    path = tmp_path / "profile.json"
    text = path.read_text(encoding="utf-8")
    broker = json.loads(text)
    broker["account"]["currency"] = "EUR"
    path.write_text(json.dumps(broker), encoding="utf-8")
    (tmp_path / "terminal.sqlite3").unlink()
    with pytest.raises(ConfigError, match="belongs to currency USD, not to EUR"):
        desk.run(1)


def test_specifications_may_change_from_day_to_day(desk: Desk, tmp_path: Path) -> None:
    desk.run(2)
    path = tmp_path / "profile.json"
    broker = json.loads(path.read_text(encoding="utf-8"))
    broker["symbols"]["EURUSD"]["swap_long"] = -9.9
    path.write_text(json.dumps(broker), encoding="utf-8")
    (tmp_path / "terminal.sqlite3").unlink()
    desk.run(2)
    assert [row["ending"] for row in desk.rows("runs")] == ["enough", "enough"]


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
def test_the_command_runs_without_live_and_says_that_nothing_is_sent(tmp_path: Path) -> None:
    """The whole command on the computer's clock, the account a REAL one."""
    desk = Desk(tmp_path, plan(tmp_path, is_real=True))
    clock = SystemClock()
    until = clock.now() + 60.0
    with subprocess.Popen(
        [sys.executable, "-m", "bridge", "run", "-c", str(desk.config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(desk.plan), "XDG_STATE_HOME": str(tmp_path / "home")},
    ) as child:
        while not desk.has_decided(1):
            assert child.poll() is None, child.communicate()
            assert clock.now() < until
            clock.wait_until(clock.now() + 0.1)
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=20)
    assert (child.returncode, err) == (0, "")
    assert "prices of REAL account 77 at Paper-Demo: orders are on paper, nothing is sent" in out
    assert "stopped by SIGTERM" in out


def test_a_dry_run_may_accompany_the_live_run_of_its_strategy(desk: Desk, tmp_path: Path) -> None:
    """Leases: one dry run and one live run a strategy, in state folders of their own."""
    with closing(desk.plan.terminal()) as module:
        module.initialize()
        account = module.account_info()

    def places(mode: str, state: str) -> list[str]:
        update = {"mode": Mode(mode), "state": str(tmp_path / state)}
        return list(tenure(account, desk.settings.model_copy(update=update)))

    with leased(tmp_path, places("live", "one")), leased(tmp_path, places("dry-run", "two")):
        for mode, state in (("dry-run", "three"), ("live", "three"), ("dry-run", "one")):
            with (
                pytest.raises(ConfigError, match="another program of this computer"),
                leased(tmp_path, places(mode, state)),
            ):
                pass


@pytest.mark.parametrize(("first", "second"), [("dry-run", "live"), ("live", "dry-run")])
def test_a_state_folder_is_of_one_mode(desk: Desk, first: str, second: str) -> None:
    desk.change('mode = "dry-run"', f'mode = "{first}"')
    desk.run(1)
    desk.change(f'mode = "{first}"', f'mode = "{second}"')
    with pytest.raises(ConfigError, match=f"is of mode {first}, this run is of mode {second}"):
        desk.run(1)
    assert len(desk.rows("runs")) == 1
