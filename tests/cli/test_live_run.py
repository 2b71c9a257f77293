"""Mode live against the paper terminal in a child: an hour in a minute, kills, a person's hand."""

import json
import os
import random
import signal
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from live_support import LOGIN, SERVER, Plan, plan, write_settings
from models_support import write_last_move

from bridge.cli.live_run import run_live
from bridge.cli.log import Watcher
from bridge.cli.paper_run import run_paper
from bridge.clock import SystemClock
from bridge.engine.lease import leased, terminals_folder
from bridge.engine.step import Step
from bridge.engine.stop import Stop
from bridge.errors import BridgeError, ConfigError, NotConnected, TerminalError
from bridge.journal.read import reading
from bridge.market.barfile import write_bars
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal
from bridge.mt5.servertime import parse
from bridge.settings import BridgeSettings, load_settings
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.host.terminal import HostTerminal

START = float(parse("2017.03.14 10:00")) + 2.0
SPEED = 60.0
MAGIC = 7


class Bot:
    """A live run's folder, its terminal in a child, and its fast clock."""

    def __init__(self, folder: Path, made: Plan, **settings: str) -> None:
        self.folder = folder
        self.plan = made
        model = write_last_move(folder / "model.onnx", timeframe="M1", server_clock="utc")
        self.config = write_settings(folder, models={MAGIC: model.name}, **settings)
        self.said: list[str] = []

    @property
    def settings(self) -> BridgeSettings:
        return load_settings(self.config, {})

    def host(self) -> HostSettings:
        """Return the settings of the host, with the paper terminal for the package."""
        arguments = {"path": str(Path(self.plan.folder) / "plan.json")}
        usual = HostSettings.of(self.settings.terminal)
        return usual.model_copy(
            update={"factory": "live_support:opened", "factory_arguments": arguments}
        )

    def run(
        self,
        *,
        bars: int = 0,
        on_step: Callable[[Step, HostTerminal], None] = lambda step, terminal: None,
    ) -> list[Step]:
        """Run until so many bars are decided, and return the steps."""
        steps: list[Step] = []
        clock, stop = self.plan.clock(), Stop()
        jitter = random.Random(1)  # noqa: S311  jitter is no secret
        with (
            closing(HostTerminal(self.host(), clock, jitter)) as terminal,
            closing(Watcher(self.settings, self.said.append)) as watcher,
        ):
            usual = watcher.on_step

            def each(step: Step) -> None:
                usual(step)
                steps.append(step)
                on_step(step, terminal)
                if len(steps) >= bars:
                    stop.ask("enough")

            watcher.on_step = each  # type: ignore[method-assign]
            run_live(
                self.settings,
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

    def events(self, kind: str) -> list[str]:
        return [row["text"] for row in self.rows("events") if row["kind"] == kind]


def trades(deals: Iterable[TradeDeal]) -> list[tuple[int, int, float]]:
    """Return what was dealt; whether the deposit is among the deals depends on the moment."""
    kinds = (mt5.DEAL_TYPE_BUY, mt5.DEAL_TYPE_SELL)
    return [(deal.type, deal.entry, deal.volume) for deal in deals if deal.type in kinds]


@pytest.fixture(autouse=True)
def children_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    known = os.environ.get("PYTHONPATH", "")
    tests = str(Path(__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (tests, known))))


@pytest.fixture
def bot(tmp_path: Path) -> Bot:
    return Bot(tmp_path, plan(tmp_path, start=START, speed=SPEED))


def test_live_decides_and_trades_as_paper_does(tmp_path: Path) -> None:
    """The same bars through the child process and through a replay: one path, one outcome."""
    # Slow enough that a busy computer misses no bar.
    bot = Bot(tmp_path, plan(tmp_path, start=START, speed=20.0))
    steps = bot.run(bars=12)
    assert len({step.bar_time for step in steps}) == 12
    live = [
        (row["bar_time"], row["action"], row["side"], row["outputs"], row["input_sha256"])
        for row in bot.rows("decisions")
    ]
    # The replay begins with the window of the first bar that was decided live.
    other = tmp_path / "paper"
    other.mkdir()
    rates = bot.plan.rates()
    first = int(rates["time"].searchsorted(live[0][0]))
    write_bars(other / "bars.csv", rates[first - 2 : first + 22], digits=5)
    text = bot.config.read_text(encoding="utf-8").replace('mode = "live"', 'mode = "paper"')
    text = text.replace('"model.onnx"', "'" + str(tmp_path / "model.onnx") + "'")
    profile = str(tmp_path / "profile.json")
    text += f"[paper]\nprofile = '{profile}'\n[[paper.bars]]\nsymbol = \"EURUSD\"\n"
    text += 'timeframe = "M1"\npath = "bars.csv"\n'
    (other / "bridge.toml").write_text(text, encoding="utf-8")
    settings = load_settings(other / "bridge.toml", {})
    with closing(Watcher(settings, lambda line: None)) as watcher:
        assert run_paper(settings, speed=None, stop=Stop(), watcher=watcher)
    with reading(other / "state" / "journal.sqlite3") as journal:
        paper = [
            (row["bar_time"], row["action"], row["side"], row["outputs"], row["input_sha256"])
            for row in journal.rows("decisions")
        ]
        dealt = trades(journal.deals())
    assert live == paper[: len(live)]
    assert any(action == "reverse" for _, action, *_ in live)
    with reading(tmp_path / "state" / "journal.sqlite3") as journal:
        deals = trades(journal.deals())
    assert len(deals) > 3
    assert deals == dealt[: len(deals)]


def test_a_stopped_run_goes_on_and_takes_its_position_for_its_own(bot: Bot) -> None:
    first = bot.run(bars=4)
    again = bot.run(bars=4)
    times = [step.bar_time for step in first + again]
    assert times == sorted(set(times))
    assert bot.events("adopted") == []
    assert bot.events("human") == []
    assert [row["ending"] for row in bot.rows("runs")] == ["enough", "enough"]


def test_a_terminal_that_dies_is_started_again(bot: Bot) -> None:
    """The child is killed after the second bar: the next bars are decided all the same."""

    def on_step(step: Step, terminal: HostTerminal) -> None:
        if len(bot.rows("decisions")) == 2:
            assert terminal.pid is not None
            os.kill(terminal.pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    steps = bot.run(bars=5, on_step=on_step)
    assert len({step.bar_time for step in steps}) == 5
    told = bot.events("terminal") + bot.events("alarm")
    assert any("the process of the package ended" in text for text in told)


def by_hand(bot: Bot, act: Callable[[Any, Any], None]) -> None:
    """Do something to the account while no daemon runs, as a person does in the terminal."""
    with closing(bot.plan.terminal()) as module:
        assert module.initialize()
        for position in module.positions_get():
            act(module, position)


def closes(module: Any, position: Any) -> None:
    answer = module.order_send(
        {
            "action": mt5.TRADE_ACTION_DEAL,
            "symbol": position.symbol,
            "volume": position.volume,
            "type": 1 - position.type,
            "position": position.ticket,
        }
    )
    assert answer.retcode == mt5.TRADE_RETCODE_DONE


def until_it_holds(bot: Bot) -> None:
    """Run bar by bar until there is a position."""
    for _ in range(20):
        bot.run(bars=1)
        with closing(bot.plan.terminal()) as module:
            module.initialize()
            if module.positions_get():
                return
    raise AssertionError("twenty bars opened nothing")


def test_a_position_closed_by_hand_while_away_is_the_persons_word(bot: Bot) -> None:
    until_it_holds(bot)
    by_hand(bot, closes)
    bot.run(bars=1)
    assert len(bot.events("human")) == 1
    assert "was closed by hand" in bot.events("human")[0]
    assert bot.events("declined") in (["long"], ["short"])


def test_f18_a_stop_hit_while_away_is_booked_on_its_position(bot: Bot) -> None:
    """The stop is moved to where the market is: it is hit while nobody runs."""
    until_it_holds(bot)

    def tightens(module: Any, position: Any) -> None:
        """Keep the stop a point from the market until it is hit."""
        clock = bot.plan.clock()
        while module.positions_get():
            tick = module.symbol_info_tick(position.symbol)
            closing_price = tick.ask if position.type else tick.bid
            level = round(closing_price + (1e-5 if position.type else -1e-5), 5)
            module.order_send(
                {"action": mt5.TRADE_ACTION_SLTP, "position": position.ticket, "sl": level}
            )
            clock.wait_until(clock.now() + 10.0)

    by_hand(bot, tightens)
    sent = len(bot.rows("intents"))
    bot.run(bars=1)
    exits = [row["deal"] for row in bot.rows("deals") if row["deal"]["entry"] == 1]
    assert exits[-1]["reason"] == mt5.DEAL_REASON_SL
    assert exits[-1]["position_id"] in {row["deal"]["position_id"] for row in bot.rows("deals")}
    assert bot.events("human") == []
    assert bot.events("adopted") == []
    assert all(row["purpose"] == "entry" for row in bot.rows("intents")[sent:])


def test_f19_deals_read_again_after_a_restart_are_one_row_each(bot: Bot) -> None:
    until_it_holds(bot)
    bot.run(bars=2)
    with closing(bot.plan.terminal()) as module:
        module.initialize()
        known = module.history_deals_get(int(START) - 86_400, int(START) + 10 * 86_400)
    tickets = [row["ticket"] for row in bot.rows("deals")]
    asked = [deal.ticket for deal in known if deal.type != mt5.DEAL_TYPE_BALANCE]
    assert tickets == asked == sorted(set(tickets))


def test_another_program_with_our_magic_is_noticed(bot: Bot) -> None:
    bot.run(bars=1)
    with closing(bot.plan.terminal()) as module:
        module.initialize()
        answer = module.order_send(
            {
                "action": mt5.TRADE_ACTION_DEAL,
                "symbol": "EURUSD",
                "volume": 0.02,
                "type": mt5.ORDER_TYPE_BUY,
                "magic": MAGIC,
            }
        )
        assert answer.retcode == mt5.TRADE_RETCODE_DONE
    bot.run(bars=2)
    assert [text.partition(" (")[0] for text in bot.events("adopted")] == [
        f"position #{answer.order}"
    ]
    assert bot.rows("decisions")[-1]["state"] == "reducing"


def test_a_foreign_position_is_never_touched(bot: Bot) -> None:
    with closing(bot.plan.terminal()) as module:
        module.initialize()
        for magic in (0, 8):
            answer = module.order_send(
                {
                    "action": mt5.TRADE_ACTION_DEAL,
                    "symbol": "EURUSD",
                    "volume": 0.03,
                    "type": mt5.ORDER_TYPE_BUY,
                    "magic": magic,
                }
            )
            assert answer.retcode == mt5.TRADE_RETCODE_DONE
    bot.run(bars=6)
    (bot.folder / "state" / "FLATTEN").touch()
    bot.run(bars=1)
    with closing(bot.plan.terminal()) as module:
        module.initialize()
        left = [(each.magic, each.volume) for each in module.positions_get()]
    assert [each for each in left if each[0] != MAGIC] == [(0, 0.03), (8, 0.03)]
    assert bot.events("adopted") == []


def test_a22_switched_off_trading_is_told_once_and_sends_nothing(tmp_path: Path) -> None:
    made = plan(tmp_path, start=START, speed=SPEED)
    path = tmp_path / "profile.json"
    broker = json.loads(path.read_text(encoding="utf-8"))
    broker["account"]["trade_expert"] = False
    path.write_text(json.dumps(broker), encoding="utf-8")
    bot = Bot(tmp_path, made)
    bot.run(bars=6)
    assert bot.events("alarm") == [
        "the broker's permission for expert advisors is off: bars are decided, nothing can be "
        "opened; switch it on"
    ]
    assert {row["denied"] for row in bot.rows("intents")} == {"alarms"}
    assert bot.rows("results") == []


def test_f02_a_late_start_opens_nothing_before_the_next_close(tmp_path: Path) -> None:
    """Started in the middle of a minute, with bars no older than 5 s: the first opens nothing."""
    # Slow enough that the start itself, on a busy computer, does not reach the next minute.
    made = plan(tmp_path, start=START + 15.0, speed=5.0)
    bot = Bot(tmp_path, made, limits="max_bar_age_seconds = 5.0")
    steps = bot.run(bars=3)
    assert steps[0].results == ()
    (late,) = bot.events("missed")
    assert "nothing is opened on it" in late
    intents = bot.rows("intents")
    if steps[0].decision.action == "open":
        assert intents[0]["denied"] == "bar_age"
    assert any(step.results for step in steps[1:])


def test_b08_a_terminal_without_enough_bars_is_waited_for_and_then_told(tmp_path: Path) -> None:
    """Three bars are needed and two are there: it comes within the wait, and the run begins."""
    made = plan(tmp_path, start=START, speed=20.0, before=2, after=40)
    bot = Bot(tmp_path, made)
    assert len(bot.run(bars=2)) == 2
    other = tmp_path / "other"
    other.mkdir()
    ended = Bot(other, plan(other, start=START, speed=SPEED, before=0, after=2))
    with pytest.raises(TerminalError, match="of 3 closed bars"):
        ended.run(bars=1)
    assert ended.rows("intents") == []


@pytest.mark.parametrize(
    ("old", "new", "error", "says"),
    [
        (f"login = {LOGIN}", "login = 78", TerminalError, "instead of 78"),
        ('server_clock = "utc"', 'server_clock = "auto"', ConfigError, "finds no rule"),
        ('symbol = "EURUSD"', 'symbol = "EURUSD.x"', ConfigError, "no symbol EURUSD.x"),
    ],
)
def test_what_does_not_fit_refuses_the_start(
    bot: Bot, old: str, new: str, error: type[BridgeError], says: str
) -> None:
    text = bot.config.read_text(encoding="utf-8")
    assert old in text
    bot.config.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(error, match=says):
        bot.run(bars=1)


def test_a_real_account_needs_a_third_yes(tmp_path: Path) -> None:
    bot = Bot(tmp_path, plan(tmp_path, start=START, speed=SPEED, is_real=True))
    with pytest.raises(ConfigError, match="is REAL, and allow_real is false"):
        bot.run(bars=1)
    text = bot.config.read_text(encoding="utf-8")
    bot.config.write_text(f"allow_real = true\n{text}", encoding="utf-8")
    # As an expert advisor holds it, in the folder that all terminals share.
    place = f"magic {MAGIC} on EURUSD of {LOGIN} at {SERVER}"
    advisors = terminals_folder(bot.plan.folder)
    assert advisors is not None
    with leased(advisors, [place]), pytest.raises(ConfigError, match=f"trades {place}"):
        bot.run(bars=1)
    assert len(bot.run(bars=1)) == 1
    assert any("live on REAL account 77" in line for line in bot.said)


def test_c03_a_terminal_that_never_answers_is_given_up_in_time(bot: Bot) -> None:
    text = bot.config.read_text(encoding="utf-8")
    bot.config.write_text(text.replace("timeout_seconds = 10", "timeout_seconds = 3"))
    arguments = {"folder": str(bot.folder)}
    broken = bot.host().model_copy(
        update={"factory": "live_support:silent", "factory_arguments": arguments}
    )
    clock, jitter = SystemClock(), random.Random(1)  # noqa: S311  jitter is no secret
    began = clock.now()
    with (
        closing(HostTerminal(broken, clock, jitter)) as terminal,
        closing(Watcher(bot.settings, bot.said.append)) as watcher,
        pytest.raises(NotConnected, match="given up after 3 s"),
    ):
        run_live(
            bot.settings,
            terminal,
            clock=clock,
            stop=Stop(),
            watcher=watcher,
            leases=bot.folder / "leases",
        )
    assert 3.0 <= clock.now() - began < 15.0  # a new process starts, on a busy computer
    assert any("waiting for the terminal" in line for line in bot.said)


def test_c05_a_refused_login_is_final(bot: Bot, tmp_path: Path) -> None:
    """-6 is tried twice, without and with the login, and not again; the server is named."""
    arguments = {"folder": str(tmp_path)}
    refusing = bot.host().model_copy(
        update={"factory": "live_support:refusing", "factory_arguments": arguments}
    )
    clock, jitter = bot.plan.clock(), random.Random(1)  # noqa: S311  jitter is no secret
    with (
        closing(HostTerminal(refusing, clock, jitter)) as terminal,
        closing(Watcher(bot.settings, bot.said.append)) as watcher,
        pytest.raises(TerminalError, match=f"refuses {LOGIN} at {SERVER}"),
    ):
        run_live(
            bot.settings,
            terminal,
            clock=clock,
            stop=Stop(),
            watcher=watcher,
            leases=bot.folder / "leases",
        )
    calls = (tmp_path / "calls").read_text(encoding="utf-8").split()
    assert calls == ["initialize", "initialize"]
