"""Limits on the paper terminal: they trip, hold over restarts, close positions, and end in time."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from journal_support import begin
from models_support import write_last_move
from terminal.paper_desk import profile, spec

from bridge.clock import ManualClock
from bridge.engine.crew import Crew, Member, muster
from bridge.engine.replay import replay
from bridge.engine.settle import Search
from bridge.engine.strategy import Strategy
from bridge.engine.tally import recalled_tally
from bridge.errors import ConfigError, TerminalError
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.market.barfile import read_bars
from bridge.model.load import load_model
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.records import OrderSendResult, SymbolInfo
from bridge.mt5.request import RequestDict
from bridge.mt5.servertime import parse, server_clock, text, weekday
from bridge.mt5.terminal import Terminal
from bridge.mt5.timeframes import timeframe
from bridge.risk.baselines import first_baselines
from bridge.risk.guard import TradingState
from bridge.settings import LimitSettings, PropFirmSettings, StrategySettings
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.terminal import PaperTerminal

# A Tuesday.
START = parse("2017.03.14 10:00")
UTC, H1 = server_clock("utc"), timeframe("H1")
OFF: dict[str, Any] = {"daily_loss_share": None, "max_drawdown_share": None}
NONE = LimitSettings(**OFF)
GBPUSD = spec(currency_base="GBP", currency_margin="GBP")


def bars(rows: list[str], *, start: int = START) -> RatesArray:
    """Return H1 bars of rows ``O H L C`` in points above 1.05000, with a spread of 10 points."""
    prices = [[1.05 + int(word) / 100_000 for word in row.split()] for row in rows]
    return rates_of(
        (start + 3600 * number, *[round(price, 5) for price in row], 100, 10, 0)
        for number, row in enumerate(prices)
    )


# The model buys after a bar that rose.
FLAT = "0 5 -5 0"
# Bought at the second bar's open, 1.05030; its stop 100 points below is hit: 100 points lost.
LOSS = ["0 25 -5 20", "20 25 -200 0", FLAT]
# Bought likewise, sold at 1.05300 after the third bar fell: 270 points gained.
WIN = ["0 25 -5 20", "20 400 15 350", "350 355 290 300", "300 305 295 300", FLAT]
# Bought at 1.05030, down by 610 points inside the next bar, and back.
DIP = [FLAT, FLAT, "0 25 -5 20", "20 40 15 30", "30 50 -580 40", "40 60 35 50", "50 60 45 50"]


@dataclass
class Play:
    """A crew on a paper terminal whose account is kept in a file."""

    folder: Path
    paper: PaperTerminal
    clock: ManualClock
    crew: Crew

    def play(self, until: str | None = None) -> None:
        """Play to the end, or stop before the first bar that opens at ``until`` or later."""

        class Part:
            def next_event_time(part) -> int | None:  # noqa: N805  self is the play
                opens = self.paper.next_event_time()
                return opens if opens is None or until is None or opens < parse(until) else None

        replay(
            self.crew.steppers, Part(), self.clock, UTC, lambda step: None, before=self.crew.attend
        )


@contextmanager
def playing(
    folder: Path,
    rates: RatesArray | dict[str, RatesArray],
    *strategies: dict[str, Any],
    limits: LimitSettings = NONE,
    seam: Callable[[PaperTerminal], Terminal] = ModuleTerminal,
    holds: bool = False,
    **account: Any,
) -> Iterator[Play]:
    """Go on where the journal in ``folder`` ends, with strategies of 1 lot and no other limit.

    The stop loss lies 100 points away, and a position is closed after a bar that did not rise; one
    that ``holds`` does neither.
    """
    series = rates if isinstance(rates, dict) else {"EURUSD": rates}
    decision = {"open_at": 0.5, "sides": "long", "range_bars": 2, "stop_points": 100} | (
        {"stop_points": 5_000} if holds else {"close_at": 0.5}
    )
    path = write_last_move(folder / "model.onnx", server_clock="utc", decision=decision)
    # The file is one that was just made; a child process for each start would only cost time.
    model = load_model(path, probe=False)
    plain = {"model": str(path), "symbol": "EURUSD", "timeframe": "H1", "magic": 7}
    loaded = []
    for changes in strategies or ({},):
        risk = {"volume": 1.0, "max_volume": 50.0, **OFF, **changes.get("risk", {})}
        settings = StrategySettings.model_validate({**plain, **changes, "risk": risk})
        loaded.append(Strategy(settings, model, H1, model.contract.decision))
    times = next(iter(series.values()))["time"]
    with reading_or_none(folder) as last:
        after = last or int(times[loaded[0].depth - 2])
    clock = ManualClock(float(times[int(times.searchsorted(after)) + 1]))
    broker = profile({"EURUSD": spec(), "GBPUSD": GBPUSD}, **account)
    recorded = {name: (H1, found) for name, found in series.items()}
    with (
        closing(PaperTerminal(broker, recorded, clock, folder / "account.sqlite3")) as paper,
        Journal(folder / "journal.sqlite3", clock) as journal,
        reading(journal.path) as past,
    ):
        paper.initialize()
        begin(journal)
        crew = muster(
            [Member(each, after) for each in loaded],
            seam(paper),
            journal,
            past,
            clock=clock,
            server=UTC,
            limits=limits,
            state=folder,
            search=Search(is_certain=True),
            lows=paper.lows,
        )
        yield Play(folder, paper, clock, crew)


@contextmanager
def reading_or_none(folder: Path) -> Iterator[int | None]:
    """Yield the last bar that the folder's journal decided."""
    if not (folder / "journal.sqlite3").exists():
        yield None
        return
    with reading(folder / "journal.sqlite3") as journal:
        yield max(row["bar_time"] for row in journal.rows("decisions"))


def events(folder: Path, kind: str) -> list[str]:
    with reading(folder / "journal.sqlite3") as journal:
        return [row["text"] for row in journal.rows("events", "kind = ?", kind)]


def entries(folder: Path) -> list[tuple[str, str | None]]:
    """Return when each entry was asked for, and the rule that denied it."""
    with reading(folder / "journal.sqlite3") as journal:
        rows = journal.rows("intents", "purpose = 'entry'")
        return [(text(row["at_utc"])[:16], row["denied"]) for row in rows]


def deals(folder: Path) -> list[tuple[int, int]]:
    """Return entry and reason of each deal but the deposits."""
    with reading(folder / "journal.sqlite3") as journal:
        return [(deal.entry, deal.reason) for deal in journal.deals() if deal.symbol]


def days(rows: list[str], count: int) -> list[str]:
    """Return ``rows`` and flat bars up to ``count`` days after the first row's."""
    return rows + [FLAT] * (24 * count - 10 - len(rows))


def test_a_lost_week_stays_lost_over_restarts_and_ends_on_sunday(tmp_path: Path) -> None:
    limits = LimitSettings(**OFF, weekly_loss_share=0.05)
    whole = bars([*days(DIP, 5), "0 25 -5 20", *[FLAT] * 4])
    assert weekday(whole["time"][-5]) == 0
    with playing(tmp_path, whole, limits=limits, holds=True) as run:
        run.play("2017.03.16 03:00")
    with playing(tmp_path, whole, limits=limits, holds=True) as run:
        standing = run.crew.steppers[0].standing
        assert standing.alarms == {"weekly_loss"}
        assert standing.baselines.day_loss_share(1e9) < 0.01
        run.play("2017.03.18 23:00")
        assert standing.alarms == {"weekly_loss"}
        run.play()
        assert standing.alarms == frozenset()
    assert events(tmp_path, "alarm") == [
        "6.10% lost this week, closed and floating; limit 5.00%",
        "6.10% lost this week, closed and floating; limit 5.00%",
        "weekly_loss is over",
    ]


def test_losses_in_a_row_end_a_strategy_s_day(tmp_path: Path) -> None:
    """Two are allowed; the run is cut after them and started again."""
    rows = [FLAT, FLAT, *LOSS, *LOSS, *LOSS]
    whole = bars(days(rows, 1) + LOSS)
    strategy = {"risk": {"max_losses_in_row": 2}}
    with playing(tmp_path, whole, strategy) as run:
        run.play("2017.03.14 18:00")
    with playing(tmp_path, whole, strategy) as run:
        run.play()
    assert entries(tmp_path) == [
        ("2017.03.14 13:00", None),
        ("2017.03.14 16:00", None),
        ("2017.03.14 19:00", "losses_in_row"),
        ("2017.03.15 01:00", None),
    ]


def test_a_win_between_losses_begins_the_count_anew(tmp_path: Path) -> None:
    rows = [FLAT, FLAT, *LOSS, *WIN, *LOSS, *WIN[:2]]
    with playing(tmp_path, bars(rows), {"risk": {"max_losses_in_row": 2}}) as run:
        run.play()
    assert [denied for _, denied in entries(tmp_path)] == [None] * 4


def test_costs_make_a_loss(tmp_path: Path) -> None:
    """Sold 10 points above its price, a position still lost: 2 x 20 dollars of commission."""
    even = ["0 25 -5 20", "20 60 15 50", "50 55 35 40", "40 45 35 40"]
    strategy = {"risk": {"max_losses_in_row": 1}}
    with playing(tmp_path, bars([FLAT, FLAT, *even, *WIN]), strategy, commission=20.0) as run:
        run.play()
    assert [denied for _, denied in entries(tmp_path)] == [None, "losses_in_row"]


def test_losses_of_all_strategies_in_a_row_suspend_all(tmp_path: Path) -> None:
    limits = LimitSettings(**OFF, max_losses_in_row=2)
    rows = days([FLAT, FLAT, *LOSS, *LOSS], 1) + LOSS
    with playing(tmp_path, bars(rows), {"magic": 7}, {"magic": 8}, limits=limits) as run:
        run.play()
    assert [denied for _, denied in entries(tmp_path)] == [None, None, "alarms", "alarms"] + [
        None
    ] * 2
    assert events(tmp_path, "alarm")[0] == "2 losses in a row today; limit 2"


def test_entries_a_minute_are_counted_over_strategies_and_restarts(tmp_path: Path) -> None:
    limits = LimitSettings(**OFF, max_orders_per_minute=2)
    three = [{"magic": magic} for magic in (7, 8, 9)]
    with playing(tmp_path, bars([FLAT, FLAT, *LOSS]), *three, limits=limits) as run:
        run.play()
    assert [denied for _, denied in entries(tmp_path)] == [None, None, "orders_per_minute"]
    sent = parse("2017.03.14 13:00")
    with reading(tmp_path / "journal.sqlite3") as past:
        for seconds, count in ((0, 2), (59.9, 2), (60, 0)):
            tally = recalled_tally(past, frozenset({7}), UTC, sent + seconds)
            assert tally.recent_entries(sent + seconds) == count


def test_a_tripped_limit_closes_the_positions_once(tmp_path: Path) -> None:
    limits = LimitSettings(daily_loss_share=None, max_drawdown_share=0.05, flatten_on=("drawdown",))
    with playing(tmp_path, bars(DIP), limits=limits, holds=True) as run:
        run.play()
        assert run.crew.steppers[0].standing.state is TradingState.HALTED
        assert run.paper.positions_total() == 0
        # What is opened by hand afterwards is somebody else's.
        run.paper.Buy("EURUSD", 0.1)
        run.crew.attend()
        assert run.paper.positions_total() == 1
    assert deals(tmp_path)[:2] == [
        (mt5.DEAL_ENTRY_IN, mt5.DEAL_REASON_EXPERT),
        (mt5.DEAL_ENTRY_OUT, mt5.DEAL_REASON_EXPERT),
    ]
    (why,) = events(tmp_path, "flatten")
    assert why.startswith("a limit closes all positions: equity was 6.")


def test_without_flatten_a_tripped_limit_keeps_the_positions(tmp_path: Path) -> None:
    limits = LimitSettings(daily_loss_share=None, max_drawdown_share=0.05)
    with playing(tmp_path, bars(DIP), limits=limits, holds=True) as run:
        run.play()
        assert run.paper.positions_total() == 1


def test_a_fall_halts_the_strategy_whose_own_limit_it_reaches(tmp_path: Path) -> None:
    """Equity is back long before that strategy's next entry; the other one goes on."""
    own = {"name": "careful", "risk": {"max_drawdown_share": 0.05}}
    other = {"name": "bold", "magic": 8}
    with playing(tmp_path, bars(DIP), own, other, holds=True) as run:
        run.play()
        states = [each.standing.state for each in run.crew.steppers]
        assert states == [TradingState.HALTED, TradingState.ACTIVE]
        assert run.paper.positions_total() == 2
    (why,) = events(tmp_path, "halt")
    assert "limit of this strategy 5.00%" in why


class DiesBeforeAnExit(ModuleTerminal):
    """The process dies before an exit goes out."""

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        if "position" in request:
            raise KeyboardInterrupt
        return super().order_send(request)


class FallsSilent(ModuleTerminal):
    """A terminal that stops to answer before an exit can be built."""

    is_silent = False

    def symbol_info(self, symbol: str) -> SymbolInfo:
        if self.is_silent:
            raise TerminalError("symbol_info", -10_005, "IPC timeout")
        return super().symbol_info(symbol)


FLATTENS = LimitSettings(
    daily_loss_share=0.05, max_drawdown_share=None, flatten_on=("daily_loss", "margin_level")
)


def test_a_crash_before_the_closing_closes_after_the_restart(tmp_path: Path) -> None:
    rates = bars(DIP)
    with (
        playing(tmp_path, rates, limits=FLATTENS, holds=True, seam=DiesBeforeAnExit) as run,
        pytest.raises(KeyboardInterrupt),
    ):
        run.play()
    with playing(tmp_path, rates, limits=FLATTENS, holds=True) as run:
        assert run.paper.positions_total() == 1
        run.crew.attend()
        assert run.paper.positions_total() == 0
        run.play()
    assert len(deals(tmp_path)) == 2


def test_a_silent_terminal_closes_when_it_answers_again(tmp_path: Path) -> None:
    seams: list[FallsSilent] = []

    def seam(paper: PaperTerminal) -> FallsSilent:
        seams.append(FallsSilent(paper))
        return seams[0]

    with playing(tmp_path, bars(DIP), limits=FLATTENS, holds=True, seam=seam) as run:
        run.play("2017.03.14 15:00")
        seams[0].is_silent = True
        with pytest.raises(TerminalError, match="IPC timeout"):
            run.play()
        assert run.paper.positions_total() == 1
        seams[0].is_silent = False
        run.crew.attend()
        assert run.paper.positions_total() == 0
    assert len(events(tmp_path, "flatten")) == 2


def test_a_closing_that_is_refused_is_not_asked_for_at_every_look(tmp_path: Path) -> None:
    """The limit trips when the market has closed; trying again is another setting's."""
    strategy = {"execution": {"retry_exits": False}}
    with playing(tmp_path, bars(DIP[:5]), strategy, limits=FLATTENS, holds=True) as run:
        run.play()
        run.clock.wait_until(parse("2017.03.14 17:00"))
        for _ in range(3):
            run.crew.attend()
        assert run.paper.positions_total() == 1
    with reading(tmp_path / "journal.sqlite3") as journal:
        exits = list(journal.rows("intents", "purpose = 'exit'"))
    assert len(exits) == 1


def test_a_prop_firm_s_day_is_counted_from_the_larger_of_balance_and_equity(
    tmp_path: Path,
) -> None:
    """A position is 600 dollars in the red over midnight, and closes there on the next day."""
    firm = PropFirmSettings(start_balance=10_000.0, daily_loss_share=0.05)
    limits = LimitSettings(**OFF, prop_firm=firm)
    under = "-570 -565 -575 -570"
    rows = [FLAT, FLAT, "0 25 -5 20", "20 25 -575 -570", *[under] * 14]
    with playing(tmp_path, bars(rows), limits=limits, holds=True) as run:
        run.play("2017.03.15 00:00")
        standing = run.crew.steppers[0].standing
        assert standing.alarms == {"prop_daily_loss"}
        run.play("2017.03.15 01:00")
        # Equity began the day at 9,400, the balance at 10,000: the firm counts from that.
        known = standing.baselines
        assert (known.day_equity, known.day_balance) == (9_400.0, 10_000.0)
        assert standing.alarms == {"prop_daily_loss"}
    with playing(tmp_path, bars(rows), limits=limits, holds=True) as run:
        assert run.crew.steppers[0].standing.baselines.day_balance == 10_000.0
        assert run.crew.steppers[0].standing.alarms == {"prop_daily_loss"}


def test_a_prop_firm_s_total_loss_halts_for_good(tmp_path: Path) -> None:
    firm = PropFirmSettings(start_balance=10_000.0, daily_loss_share=None, total_loss_share=0.06)
    limits = LimitSettings(**OFF, prop_firm=firm)
    whole = bars(days(DIP, 2))
    with playing(tmp_path, whole, limits=limits, holds=True) as run:
        run.play("2017.03.14 20:00")
    assert events(tmp_path, "halt") == [
        "no more entries: 6.10% of the starting balance lost, closed and floating; limit 6.00%"
    ]
    with playing(tmp_path, whole, limits=limits, holds=True) as run:
        run.play()
        standing = run.crew.steppers[0].standing
        assert standing.state == "halted"
        (tmp_path / "RESUME").touch()
        run.crew.attend()
        assert standing.state == "active"


def test_a_deposit_raises_a_prop_firm_s_start_and_breaks_nothing(tmp_path: Path) -> None:
    """Money comes in between two bars, after the dip that the next look still has to take in."""
    firm = PropFirmSettings(start_balance=10_000.0, daily_loss_share=0.07)
    limits = LimitSettings(**OFF, prop_firm=firm)
    with playing(tmp_path, bars(DIP), limits=limits, holds=True) as run:
        run.play("2017.03.14 15:00")
        run.clock.wait_until(parse("2017.03.14 15:00"))
        run.paper.deposit(50_000.0)
        run.crew.attend()
        standing = run.crew.steppers[0].standing
        assert standing.baselines.deposits == 50_000.0
        assert standing.alarms == frozenset()
        assert standing.state is TradingState.ACTIVE


def test_the_profit_target_ends_entries_while_it_is_reached(tmp_path: Path) -> None:
    """A win of 270 points, 270 dollars; the target is 2 %, then 3 %."""
    rows = bars([FLAT, FLAT, *WIN, *LOSS])
    for share, denied in ((0.02, "alarms"), (0.03, None)):
        firm = PropFirmSettings(start_balance=10_000.0, profit_target_share=share)
        folder = tmp_path / str(share)
        folder.mkdir()
        with playing(folder, rows, limits=LimitSettings(**OFF, prop_firm=firm)) as run:
            run.play()
        assert [each for _, each in entries(folder)] == [None, denied]


def test_two_symbols_share_one_limit_on_the_dollars_owed(tmp_path: Path) -> None:
    """One lot each is 105,030 dollars owed: 10.5 times the equity, together 21."""
    rates = bars([FLAT, FLAT, "0 25 -5 20", "20 25 15 20"])
    both = {"EURUSD": rates, "GBPUSD": rates}
    strategies = ({"magic": 7}, {"magic": 8, "symbol": "GBPUSD"})
    for times, denied in ((20.0, "currency_exposure"), (22.0, None)):
        limits = LimitSettings(**OFF, max_currency_exposure=times)
        folder = tmp_path / str(times)
        folder.mkdir()
        with playing(folder, both, *strategies, limits=limits, leverage=500) as run:
            run.play()
            held = run.crew.watch.exposure(run.paper.positions_get())
        assert [each for _, each in entries(folder)] == [None, denied]
        assert held is not None
        assert held["EUR"] == pytest.approx(105_020.0)
        assert held["USD"] == pytest.approx(-105_020.0 * (1 if denied else 2))


class LosesTickValues(ModuleTerminal):
    """The terminal shows no tick value of GBPUSD once something is held there."""

    def symbol_info(self, symbol: str) -> SymbolInfo:
        found = super().symbol_info(symbol)
        if symbol == "GBPUSD" and self.positions_get(symbol):
            return SymbolInfo({**found._asdict(), "trade_tick_value": 0.0}.values())
        return found


def test_what_cannot_be_valued_denies_entries_and_lets_exits_go(tmp_path: Path) -> None:
    later = bars([FLAT, FLAT, FLAT, *WIN])
    first = bars([FLAT, FLAT, "0 25 -5 20", *["20 25 15 20"] * 5])
    strategies = ({"magic": 8, "symbol": "GBPUSD"}, {"magic": 7})
    limits = LimitSettings(**OFF, max_currency_exposure=100.0)
    with playing(
        tmp_path,
        {"EURUSD": later, "GBPUSD": first},
        *strategies,
        limits=limits,
        leverage=500,
        seam=LosesTickValues,
        holds=True,
    ) as run:
        run.play()
        assert [each for _, each in entries(tmp_path)] == [None, *["currency_exposure"] * 2]
        run.crew.steppers[0].flatten("to see that it passes")
        assert run.paper.positions_total() == 0


def test_a17_a_netting_position_of_somebody_else_counts_whole(tmp_path: Path) -> None:
    """A person holds 0.10 lots; the strategy wants 0.20, and 0.25 are allowed."""
    risk = {"volume": 0.2, "max_volume": 0.25, "max_positions": 2}
    with playing(tmp_path, bars([FLAT, FLAT, *LOSS]), {"risk": risk}, margin_mode="netting") as run:
        run.paper.Buy("EURUSD", 0.1)
        run.play()
    assert [denied for _, denied in entries(tmp_path)] == ["volume"]


SAMPLE = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")[1_000:1_240]


def test_hours_on_real_bars(tmp_path: Path) -> None:
    """Entries keep to the hours, over midnight too; denied are exactly the others."""
    hours = {
        "weekdays": ["mon", "tue", "wed", "thu", "fri"],
        "windows": ["09:00-12:00", "21:00-02:00"],
        "rollover": "23:30-00:30",
        "friday_until": "11:00",
    }
    with playing(tmp_path, SAMPLE, {"hours": hours}) as run:
        run.play()
    asked = entries(tmp_path)
    assert len(asked) > 50

    def allowed(moment: str) -> str | None:
        hour, day = int(moment[11:13]), weekday(parse(moment))
        if day in (0, 6) or not (9 <= hour < 12 or hour >= 21 or hour < 2):
            return "hours"
        if hour == 0:
            return "rollover"
        return "weekend" if day == 5 and hour >= 11 else None

    found = {each for _, each in asked}
    assert asked == [(moment, allowed(moment)) for moment, _ in asked]
    assert found == {None, "hours", "rollover", "weekend"}


def test_news_on_real_bars(tmp_path: Path) -> None:
    """News move; the file is changed while the run goes on, broken, and mended."""
    path = tmp_path / "news.csv"
    busy, later = text(SAMPLE["time"][40])[:16], text(SAMPLE["time"][150])[:16]
    path.write_text(f"time,currency,before,after,title\n{busy},USD,600,600,Rate\n")
    limits = LimitSettings(**OFF, news_csv=str(path))
    with playing(tmp_path, SAMPLE, limits=limits) as run:
        run.play(text(SAMPLE["time"][100])[:16])
        near = [(at, denied) for at, denied in entries(tmp_path) if denied]
        path.write_text(f"time,currency\n{later},US dollar\n")
        run.crew.attend()
        assert run.crew.steppers[0].standing.alarms == {"news"}
        path.write_text(f"time,currency,before,after\n{later},EUR,0,3600\n")
        run.crew.attend()
        assert run.crew.steppers[0].standing.alarms == frozenset()
        run.play()
    assert {denied for _, denied in near} == {"news"}
    assert {at for at, _ in near} <= {text(each)[:16] for each in SAMPLE["time"][30:51]}
    late = [at for at, denied in entries(tmp_path) if denied and at > later]
    assert len(late) > 5
    told = events(tmp_path, "alarm")
    assert any("line 2: currency 'US dollar'" in each for each in told)
    assert any("end before today" in each for each in told)


def test_news_that_cannot_be_read_refuse_the_start(tmp_path: Path) -> None:
    path = tmp_path / "news.csv"
    path.write_text("time,currency\n2017.03.15 25:00,USD\n")
    limits = LimitSettings(**OFF, news_csv=str(path))
    with (
        pytest.raises(ConfigError, match=r"news\.csv, line 2: time '2017\.03\.15 25:00' is in no"),
        playing(tmp_path, bars(DIP), limits=limits),
    ):
        pass


def test_a_journal_of_before_there_were_weeks_goes_on(tmp_path: Path) -> None:
    whole = bars(days(DIP, 1))
    limits = LimitSettings(**OFF, weekly_loss_share=0.05)
    with playing(tmp_path, whole, holds=True) as run:
        run.play("2017.03.14 17:00")
    with closing(sqlite3.connect(tmp_path / "journal.sqlite3")) as journal, journal:
        for number, stored in journal.execute("SELECT id, baselines FROM decisions").fetchall():
            known = json.loads(stored)
            old = {key: known[key] for key in ("day", "day_equity", "peak_equity", "day_low")}
            journal.execute(
                "UPDATE decisions SET baselines = ? WHERE id = ?", (json.dumps(old), number)
            )
    with playing(tmp_path, whole, limits=limits, holds=True) as run:
        # The day that it knew stands for the week.
        assert run.crew.steppers[0].standing.alarms == {"weekly_loss"}


def test_a_day_begins_for_all_symbols_when_one_of_them_ticks(tmp_path: Path) -> None:
    """EURUSD pauses from Tuesday to Wednesday noon; GBPUSD trades, and the new day is seen."""
    limits = LimitSettings(daily_loss_share=0.05, max_drawdown_share=None)
    pound = bars([*days([FLAT, FLAT, *LOSS], 1), *[FLAT] * 12])
    euro = np.concatenate([bars([FLAT] * 4), pound[-2:]])
    strategies = ({"magic": 7}, {"magic": 8, "symbol": "GBPUSD", "risk": {"volume": 6.0}})
    both = {"GBPUSD": pound, "EURUSD": euro}
    with playing(tmp_path, both, *strategies, limits=limits) as run:
        run.play("2017.03.15 00:00")
        assert "daily_loss" in run.crew.steppers[0].standing.alarms
        run.play("2017.03.15 03:00")
        assert "daily_loss" not in run.crew.steppers[0].standing.alarms


def test_strategies_of_one_account_know_the_same_losses(tmp_path: Path) -> None:
    """One that decides once a day remembers, after a restart, what the others have seen."""
    with playing(tmp_path, bars(DIP), {"magic": 7}, {"magic": 8}, holds=True) as run:
        run.play()
        first, second = (each.standing for each in run.crew.steppers)
        known = first.baselines
        second.baselines = first_baselines(START, 10_000.0)
        run.crew.attend()
        assert first.baselines == second.baselines == known


def test_a_restart_knows_of_days_in_which_nothing_was_decided(tmp_path: Path) -> None:
    """The equity rises by 300 dollars on the next day and falls again, while only the watch looks.

    So it is with weekly bars.
    """
    up = "320 325 315 320"
    whole = bars([*days([FLAT, FLAT, "0 25 -5 20", *["20 25 15 20"] * 3], 1), up, *[FLAT] * 4])
    with playing(tmp_path, whole, holds=True) as run:
        run.play("2017.03.14 15:00")
        last = events(tmp_path, "baselines")
        for opens in whole["time"][5:-2].tolist():
            run.clock.wait_until(opens)
            run.crew.attend()
        known = run.crew.steppers[0].standing.baselines
        assert (known.day_equity, known.peak_equity) == (10_290.0, 10_290.0)
        assert len(events(tmp_path, "baselines")) == len(last) + 1
    with playing(tmp_path, whole, holds=True) as run:
        again = run.crew.steppers[0].standing.baselines
        assert (again.day, again.day_equity) == (known.day, known.day_equity)
        assert again.peak_equity == known.peak_equity
