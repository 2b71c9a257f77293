"""The path on the paper terminal: bars as text in, deals and journal out."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from journal_support import begin
from models_support import write_last_move

from bridge.clock import ManualClock
from bridge.engine.lookout import Lookout
from bridge.engine.replay import flatten_all, replay
from bridge.engine.scene import House
from bridge.engine.standing import Standing
from bridge.engine.step import Step, Stepper
from bridge.engine.strategy import load_strategy
from bridge.errors import TerminalError, WrongAccount
from bridge.journal.read import JournalReader, reading
from bridge.journal.write import Journal
from bridge.market.feed import ClosedBarFeed
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.records import OrderSendResult, Tick, TradeDeal, TradePosition
from bridge.mt5.request import RequestDict
from bridge.mt5.servertime import parse, server_clock
from bridge.mt5.timeframes import timeframe
from bridge.risk.baselines import first_baselines
from bridge.risk.guard import TradingState
from bridge.settings import LimitSettings, StrategySettings
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

PROFILE = BrokerProfile.load(share_dir("models/sample_bars") / "profile.json")
START = parse("2017.03.14 10:00")
SERVER = server_clock(PROFILE.server_clock)


def bars(text: str) -> RatesArray:
    """Return H1 bars from rows ``O H L C`` in points above 1.05000."""
    rows = [[1.05 + int(word) / 100_000 for word in line.split()] for line in text.split("\n")]
    return rates_of(
        (START + 3600 * number, *[round(price, 5) for price in row], 100, 10, 0)
        for number, row in enumerate(rows)
    )


@dataclass
class Run:
    """A strategy on a paper terminal, ready to be replayed."""

    terminal: PaperTerminal
    clock: ManualClock
    stepper: Stepper
    journal: Path
    steps: list[Step]

    def play(self) -> None:
        replay([self.stepper], self.terminal, self.clock, SERVER, self.steps.append)
        flatten_all([self.stepper], "the recording has ended")


@contextmanager
def running(
    tmp_path: Path,
    rates: RatesArray,
    *,
    profile: BrokerProfile = PROFILE,
    adapter: Callable[[Any], ModuleTerminal] = ModuleTerminal,
    contract: dict[str, Any] | None = None,
    limits: LimitSettings = LimitSettings(),  # noqa: B008  frozen
    **settings: Any,
) -> Iterator[Run]:
    model = write_last_move(tmp_path / "model.onnx", **(contract or {}))
    strategy = load_strategy(
        StrategySettings(model=str(model), symbol="EURUSD", timeframe="H1", magic=7, **settings)
    )
    # The bars of the window are there before the first one is decided.
    first = strategy.depth - 1
    clock = ManualClock(SERVER.to_utc(int(rates["time"][first])))
    frame = timeframe("H1")
    with (
        closing(PaperTerminal(profile, {"EURUSD": (frame, rates)}, clock, None)) as terminal,
        Journal(tmp_path / "journal.sqlite3", clock) as journal,
    ):
        terminal.initialize()
        seam = adapter(terminal)
        feed = ClosedBarFeed(
            seam,
            symbol="EURUSD",
            timeframe=frame,
            depth=strategy.depth,
            after=int(rates["time"][first - 1]),
        )
        begin(journal)
        standing = Standing(magic=7, baselines=first_baselines(START, 10_000.0))
        stepper = Stepper(
            strategy=strategy,
            terminal=seam,
            feed=feed,
            journal=journal,
            standing=standing,
            house=House(lambda: SERVER.from_utc(clock.now()), limits, frozenset({7})),
        )
        yield Run(terminal, clock, stepper, tmp_path / "journal.sqlite3", [])


def deals_of(reader: JournalReader) -> list[tuple[int, int, float, float]]:
    return [
        (deal.type, deal.entry, deal.volume, deal.price)
        for deal in reader.deals()
        if deal.type != mt5.DEAL_TYPE_BALANCE
    ]


UP_THEN_DOWN = bars(
    "0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 40 5 30\n30 50 20 40\n40 45 10 20\n20 25 0 5\n5 9 0 5"
)


def test_a_signal_opens_keeps_reverses_and_the_end_closes(tmp_path: Path) -> None:
    with running(tmp_path, UP_THEN_DOWN) as run:
        run.play()
    actions = [(step.decision.action.value, step.decision.side) for step in run.steps]
    # The third bar rises: bought at the fourth's open, ask = 1.05010 + 10 points. The sixth falls:
    # sold at the seventh's open, bid 1.05020. The last bar never closes: closed at its open.
    assert actions == [
        ("open", "long"),
        ("hold", None),
        ("hold", None),
        ("reverse", "short"),
        ("hold", None),
    ]
    with reading(run.journal) as reader:
        assert deals_of(reader) == [
            (mt5.DEAL_TYPE_BUY, mt5.DEAL_ENTRY_IN, 0.1, 1.0502),
            (mt5.DEAL_TYPE_SELL, mt5.DEAL_ENTRY_OUT, 0.1, 1.0502),
            (mt5.DEAL_TYPE_SELL, mt5.DEAL_ENTRY_IN, 0.1, 1.0502),
            (mt5.DEAL_TYPE_BUY, mt5.DEAL_ENTRY_OUT, 0.1, 1.05015),
        ]
        requests = [row["request"] for row in reader.rows("intents")]
        assert all(request["magic"] == 7 for request in requests)
        assert requests[0]["sl"] == 1.0452
        assert [("position" in request) for request in requests] == [False, True, False, True]


def test_every_bar_is_decided_once_and_in_order(tmp_path: Path) -> None:
    with running(tmp_path, UP_THEN_DOWN) as run:
        run.play()
    with reading(run.journal) as reader:
        times = [row["bar_time"] for row in reader.rows("decisions")]
    assert times == UP_THEN_DOWN["time"][2:-1].tolist()


def test_a_stop_is_hit_between_two_looks_and_leaves_its_deals(tmp_path: Path) -> None:
    crash = bars("0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 40 -900 30\n30 50 20 30\n30 31 29 30")
    with running(tmp_path, crash) as run:
        run.play()
    with reading(run.journal) as reader:
        deals = [deal for deal in reader.deals() if deal.entry == mt5.DEAL_ENTRY_OUT]
        assert [(deal.reason, deal.price) for deal in deals[:1]] == [(mt5.DEAL_REASON_SL, 1.0452)]
        assert deals[0].magic == 7


RISING = bars("\n".join(f"{10 * i} {10 * i + 15} {10 * i - 5} {10 * i + 10}" for i in range(9)))


def until_it_holds(run: Run) -> None:
    """Play until a position is open and the strategy has seen it."""
    while run.stepper.standing.positions == ():
        opens = run.terminal.next_event_time()
        assert opens is not None
        run.clock.wait_until(SERVER.to_utc(opens))
        run.stepper.step()


def events_of(path: Path, *kinds: str) -> list[str]:
    with reading(path) as reader:
        return [row["text"] for row in reader.rows("events") if row["kind"] in kinds]


def test_what_a_person_closes_is_not_opened_again_on_the_same_signal(tmp_path: Path) -> None:
    with running(tmp_path, RISING) as run:
        until_it_holds(run)
        run.terminal.Close("EURUSD")
        run.play()
    with reading(run.journal) as reader:
        # The deposit, our deal, the person's; the signal stays long to the end.
        assert [deal.magic for deal in reader.deals()] == [0, 7, 0]
        reasons = [row["reason"] for row in reader.rows("decisions")]
    assert all("a person closed long" in reason for reason in reasons[1:])
    assert "was closed by hand" in events_of(run.journal, "human")[0]


def test_after_the_signal_has_changed_it_may_be_opened_again(tmp_path: Path) -> None:
    falls_and_rises = bars(
        "0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 40 5 30\n30 50 20 40\n40 45 10 20\n"
        "20 25 0 20\n20 45 20 40\n40 70 40 60\n60 70 60 65"
    )
    decision = {"open_at": 0.5, "stop_points": 500, "range_bars": 2, "sides": "long"}
    with running(tmp_path, falls_and_rises, contract={"decision": decision}) as run:
        until_it_holds(run)
        run.terminal.Close("EURUSD")
        run.play()
    with reading(run.journal) as reader:
        opened = [row["bar_time"] for row in reader.rows("decisions", "action = 'open'")]
    # The third bar, and the eighth: the sixth and seventh asked for nothing in between.
    assert opened == [START + 2 * 3600, START + 7 * 3600]
    assert events_of(run.journal, "accepted") == ["the signal has changed"]


def test_a_part_closed_or_a_level_moved_by_hand_is_told_and_left(tmp_path: Path) -> None:
    with running(tmp_path, RISING) as run:
        until_it_holds(run)
        (held,) = run.terminal.positions_get()
        moved = {"action": mt5.TRADE_ACTION_SLTP, "position": held.ticket, "symbol": "EURUSD"}
        assert run.terminal.order_send({**moved, "sl": 1.04}).retcode == 10009
        run.terminal.Buy("EURUSD", 0.01)
        part = {
            "action": mt5.TRADE_ACTION_DEAL,
            "type": mt5.ORDER_TYPE_SELL,
            "symbol": "EURUSD",
            "volume": 0.04,
            "price": run.terminal.symbol_info_tick("EURUSD").bid,
        }
        run.stepper.lookout.look()
        assert run.terminal.order_send({**part, "position": held.ticket}).retcode == 10009
        run.stepper.lookout.look()
        (own, foreign) = run.terminal.positions_get()
        assert (own.volume, own.sl, foreign.magic) == (0.06, 1.04, 0)
        run.play()
        # Somebody else's position is never touched.
        assert [each.ticket for each in run.terminal.positions_get()] == [foreign.ticket]
    told = events_of(run.journal, "human")
    assert told[0].endswith("was moved: stop loss 1.04, take profit 0")
    assert "closed in part by hand" in told[1]
    assert events_of(run.journal, "declined") == []


def test_money_paid_in_or_out_is_neither_gain_nor_loss(tmp_path: Path) -> None:
    with running(tmp_path, RISING) as run:
        until_it_holds(run)
        baselines = run.stepper.standing.baselines
        run.terminal.deposit(5_000.0)
        run.stepper.lookout.look()
        richer = run.stepper.standing.baselines
        assert richer.peak_equity == pytest.approx(baselines.peak_equity + 5_000.0)
        assert richer.day_equity == pytest.approx(baselines.day_equity + 5_000.0)
        run.terminal.deposit(-8_000.0)
        equity = run.stepper.lookout.look().account.equity
        poorer = run.stepper.standing.baselines
        assert poorer.drawdown_share(equity) < 0.01
        run.play()
    assert run.stepper.standing.state is TradingState.ACTIVE
    assert events_of(run.journal, "paid") == [
        "+5000.00 was paid in or out; limits follow",
        "-8000.00 was paid in or out; limits follow",
    ]


def test_a_stop_is_no_persons_word(tmp_path: Path) -> None:
    crash = bars(
        "0 5 -5 0\n0 5 -5 0\n0 20 -5 10\n10 40 -900 30\n30 50 20 40\n40 60 39 50\n50 61 49 60"
    )
    with running(tmp_path, crash) as run:
        run.play()
    assert events_of(run.journal, "human", "declined") == []
    with reading(run.journal) as reader:
        assert len(list(reader.rows("decisions", "action = 'open'"))) == 2


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"risk": {"max_spread_points": 5}}, "spread"),
        ({"risk": {"volume": 2.0, "max_volume": 1.0}}, "volume"),
        ({"risk": {"volume": 0.001}}, "size"),
        ({"risk": {"volume": None, "risk_share": 0.00001}}, "size"),
        ({"risk": {"max_drawdown_share": 1e-12}}, None),
    ],
)
def test_a_denial_is_journalled_with_its_rule_and_nothing_is_sent(
    tmp_path: Path, settings: dict[str, Any], rule: str | None
) -> None:
    with running(tmp_path, UP_THEN_DOWN, **settings) as run:
        run.play()
    with reading(run.journal) as reader:
        denied = [row["denied"] for row in reader.rows("intents")]
        if rule is None:
            assert "drawdown" in denied
            assert run.stepper.standing.state is TradingState.HALTED
            assert [row["kind"] for row in reader.rows("events")].count("halt") >= 1
        else:
            assert set(denied) == {rule}
            assert deals_of(reader) == []


def test_risk_sizes_through_the_terminal_and_rounds_down(tmp_path: Path) -> None:
    with running(tmp_path, UP_THEN_DOWN, risk={"volume": None, "risk_share": 0.01}) as run:
        run.play()
    with reading(run.journal) as reader:
        # 1 % of 10,000 at a stop of 500 points, 500 USD a lot.
        assert deals_of(reader)[0][2] == 0.2


def test_netting_goes_the_same_way(tmp_path: Path) -> None:
    fields = PROFILE.model_dump()
    fields["account"]["margin_mode"] = "netting"
    netting = BrokerProfile.model_validate(fields)
    (tmp_path / "netting").mkdir()
    with running(tmp_path / "netting", UP_THEN_DOWN, profile=netting) as run:
        run.play()
    with reading(run.journal) as reader:
        net = deals_of(reader)
    with running(tmp_path, UP_THEN_DOWN) as run:
        run.play()
    with reading(run.journal) as reader:
        assert net == deals_of(reader)


class NoQuote(ModuleTerminal):
    """The terminal has no tick, as when a symbol has just been selected."""

    def symbol_info_tick(self, symbol: str) -> Tick:
        raise TerminalError("symbol_info_tick", -4, "Terminal: Not found")


def test_no_quote_no_entry_and_the_bar_counts_as_decided(tmp_path: Path) -> None:
    with running(tmp_path, UP_THEN_DOWN, adapter=NoQuote) as run:
        with pytest.raises(TerminalError):
            run.play()
        with reading(run.journal) as reader:
            rows = list(reader.rows("decisions"))
            assert len(rows) == 5
            assert {row["reason"] for row in rows} == {"the terminal did not answer"}
            assert list(reader.rows("intents")) == []


class NoAnswer(ModuleTerminal):
    """The order goes out and the answer is lost."""

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        super().order_send(request)
        return None


def test_no_answer_is_unresolved_and_ends_entries(tmp_path: Path) -> None:
    with running(tmp_path, UP_THEN_DOWN, adapter=NoAnswer) as run:
        run.play()
    with reading(run.journal) as reader:
        outcomes = [row["outcome"] for row in reader.rows("results")]
        entries = [row for row in reader.rows("intents") if row["purpose"] == "entry"]
        assert set(outcomes) == {"unresolved"}
        assert len([row for row in entries if row["denied"] is None]) == 1
        assert run.stepper.standing.state is TradingState.REDUCING
    assert run.terminal is not None


class WrongLogin(ModuleTerminal):
    """The terminal turns out to be logged in elsewhere, just before the send."""

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        raise WrongAccount("order_send", -6, "login 2 instead of 1")


def test_what_was_certainly_not_sent_is_rejected_with_its_reason(tmp_path: Path) -> None:
    with running(tmp_path, UP_THEN_DOWN, adapter=WrongLogin) as run:
        run.play()
    with reading(run.journal) as reader:
        results = list(reader.rows("results"))
        assert {row["outcome"] for row in results} == {"rejected"}
        assert "nothing was sent: order_send failed with -6: login 2" in results[0]["words"]
        assert deals_of(reader) == []
    assert run.stepper.standing.state is TradingState.ACTIVE


def test_cutting_the_future_changes_no_decision_before_the_cut(tmp_path: Path) -> None:
    journals = []
    for length in (len(UP_THEN_DOWN), 6, 5):
        folder = tmp_path / str(length)
        folder.mkdir()
        with running(folder, UP_THEN_DOWN[:length]) as run:
            run.play()
        with reading(run.journal) as reader:
            journals.append(list(reader.rows("decisions")))
    whole = journals[0]
    for cut in journals[1:]:
        assert cut
        assert cut == whole[: len(cut)]


class ShowsFillsLate(ModuleTerminal):
    """Neither position nor deal shows until the fourth bar after the order."""

    bars_left = 4

    def positions_get(self, symbol: str | None = None) -> tuple[TradePosition, ...]:
        return () if self.bars_left > 0 else super().positions_get(symbol)

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        deals = super().history_deals_get(date_from, date_to)
        is_late = self.bars_left > 0
        return tuple(deal for deal in deals if deal.symbol == "" or not is_late)


def test_f05_an_entry_that_does_not_show_yet_is_not_sent_again(tmp_path: Path) -> None:
    """The signal stays long over five bars, and the fill is seen at the fourth."""
    seams: list[ShowsFillsLate] = []

    def seam(module: Any) -> ShowsFillsLate:
        seams.append(ShowsFillsLate(module))
        return seams[0]

    with running(tmp_path, RISING, adapter=seam) as run:
        while (opens := run.terminal.next_event_time()) is not None:
            run.clock.wait_until(SERVER.to_utc(opens))
            if run.stepper.step() is not None:
                seams[0].bars_left -= 1
    with reading(run.journal) as reader:
        entries = [row for row in reader.rows("intents") if row["purpose"] == "entry"]
        assert [row["denied"] for row in entries][:2] == [None, "unresolved"]
        assert sum(row["denied"] is None for row in entries) == 1
        assert [deal.entry for deal in reader.deals() if deal.symbol] == [mt5.DEAL_ENTRY_IN]
    assert run.stepper.standing.awaited == set()
    assert len(run.stepper.standing.positions) == 1


def test_b05_a_deal_ahead_of_utc_is_journalled_at_once(tmp_path: Path) -> None:
    """The server is three hours ahead: its fresh deal lies in UTC's future."""
    fields = PROFILE.model_dump()
    fields["server_clock"] = "utc+3"
    ahead = BrokerProfile.model_validate(fields)
    clock = ManualClock(SERVER.to_utc(START))
    with (
        closing(PaperTerminal(ahead, {"EURUSD": (timeframe("H1"), RISING)}, clock, None)) as paper,
        Journal(tmp_path / "journal.sqlite3", clock) as journal,
    ):
        clock.wait_until(float(RISING["time"][4]) - 3 * 3600 + 5)
        paper.initialize()
        begin(journal)
        rule = server_clock("utc+3")
        settings = StrategySettings(model="m", symbol="EURUSD", timeframe="H1", magic=7)
        house = House(lambda: rule.from_utc(clock.now()), LimitSettings(), frozenset({7}))
        standing = Standing(magic=7, baselines=first_baselines(START, 10_000.0))
        lookout = Lookout(ModuleTerminal(paper), settings, journal, standing, house)
        lookout.look()
        paper.Buy("EURUSD", 0.1)
        lookout.look()
        (deal,) = [each for each in paper.history_deals_get(0, 2**31 - 1) if each.symbol]
        assert deal.time > clock.now() + 2 * 3600
    with reading(tmp_path / "journal.sqlite3") as reader:
        assert deal.ticket in [each.ticket for each in reader.deals()]


@pytest.mark.parametrize(("seconds", "age"), [(1.2, 1.2), (121.2, 121.2)])
def test_b14_a_quote_is_as_old_as_the_server_s_clock_says(
    tmp_path: Path, seconds: float, age: float
) -> None:
    """Server GMT+3, a tick at 15:00:00 there, this computer at 12:00:01.2 or 12:02:01.2 UTC."""
    rates = RISING.copy()
    rates["time"] += 1_758_034_800 - int(rates["time"][4])
    fields = PROFILE.model_dump()
    fields["server_clock"] = "utc+3"
    clock = ManualClock(1_758_034_800 - 3 * 3600 + seconds)
    ahead, rule = BrokerProfile.model_validate(fields), server_clock("utc+3")
    with (
        closing(PaperTerminal(ahead, {"EURUSD": (timeframe("H1"), rates)}, clock, None)) as paper,
        Journal(tmp_path / "journal.sqlite3", clock) as journal,
    ):
        paper.initialize()
        begin(journal)
        model = write_last_move(tmp_path / "model.onnx")
        strategy = load_strategy(
            StrategySettings(model=str(model), symbol="EURUSD", timeframe="H1", magic=7)
        )
        seam = ModuleTerminal(paper)
        feed = ClosedBarFeed(
            seam,
            symbol="EURUSD",
            timeframe=timeframe("H1"),
            depth=strategy.depth,
            after=int(rates["time"][2]),
        )
        stepper = Stepper(
            strategy=strategy,
            terminal=seam,
            feed=feed,
            journal=journal,
            standing=Standing(magic=7, baselines=first_baselines(0, 10_000.0)),
            house=House(
                lambda: rule.from_utc(clock.now()),
                LimitSettings(max_bar_age_seconds=None),
                frozenset({7}),
            ),
        )
        assert stepper.lookout.look().quote_age == pytest.approx(age, abs=1e-4)
        step = stepper.step()
        assert step is not None
        assert step.decision.action.value == "open"
        assert bool(step.results) == (age < 60.0)
    with reading(tmp_path / "journal.sqlite3") as reader:
        (intent,) = reader.rows("intents")
    assert intent["denied"] == (None if age < 60.0 else "quote_age")
