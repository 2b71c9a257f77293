"""Runs of the same strategies, plain and as a back-test, drawn from a seed; and all they leave."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from journal_support import begin
from terminal.paper_desk import profile, spec

from bridge.clock import ManualClock
from bridge.engine.backtest import backtest
from bridge.engine.crew import Member, muster
from bridge.engine.replay import replay
from bridge.engine.settle import Search
from bridge.engine.step import Step
from bridge.engine.stop import Stop
from bridge.engine.strategy import Strategy
from bridge.features import codec
from bridge.features.expr import FIELDS, Bars, Expr, greater
from bridge.features.featureset import FeatureSet
from bridge.features.graph import features_graph
from bridge.journal.buffered import BufferedJournal
from bridge.journal.read import TABLES, JournalReader, reading
from bridge.journal.write import Journal
from bridge.market.aggregate import aggregate
from bridge.market.barfile import read_bars
from bridge.model.contract import Contract, Input, Output, with_contract
from bridge.model.load import load_model
from bridge.mt5.rates import RatesArray, sealed
from bridge.mt5.servertime import parse, server_clock
from bridge.mt5.timeframes import timeframe
from bridge.settings import DecisionSettings, LimitSettings, StrategySettings, decision_settings
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.prices import Prices
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

SAMPLE = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
# A Wednesday, so that a few hundred bars of M15 go over days and a weekend.
START = parse("2017.03.15 00:00")
OFF: dict[str, Any] = {"daily_loss_share": None, "max_drawdown_share": None}
UTC = server_clock("utc")

close = Bars.close
_LEAD = (close.mean(3) - close.mean(8)) * 20_000.0
_UP, _DOWN = greater(_LEAD, 1e-6), greater(-_LEAD, 1e-6)
RULES: dict[str, tuple[dict[str, Expr], dict[str, Any]]] = {
    "level": ({"target": _UP - _DOWN}, {"kind": "target"}),
    "cross": (
        {"target": _UP * (1.0 + -_UP.lag(1)) - _DOWN * (1.0 + -_DOWN.lag(1))},
        {"kind": "target"},
    ),
    "forecast": ({"move": _LEAD}, {"kind": "forecast", "unit": "points"}),
    "shares": (
        {
            "up": _UP * greater(_LEAD, 6.0) * 0.75 + 0.125,
            "flat": 0.75 + -_UP * greater(_LEAD, 6.0) * 0.75 * 0.5 - _DOWN * 0.375,
            "down": 0.125 + _DOWN * 0.375 - _UP * greater(_LEAD, 6.0) * 0.375,
        },
        {
            "kind": "shares",
            "classes": [
                {"name": "up", "side": "long"},
                {"name": "flat", "side": "flat"},
                {"name": "down", "side": "short"},
            ],
        },
    ),
}


def market(rng: np.random.Generator, count: int, frame: str = "M15") -> RatesArray:
    """Return sample bars at the times of another timeframe: nights are thin, weekends empty."""
    first = int(rng.integers(0, len(SAMPLE) - count))
    bars = SAMPLE[first : first + count].copy()
    seconds = timeframe(frame).seconds
    times = START + seconds * np.arange(3 * count)
    days = times // 86_400 % 7  # 0 is a Thursday
    kept = times[((days != 2) & (days != 3)) & (rng.random(len(times)) > 0.05)][:count]
    bars["time"] = kept
    bars["spread"] = rng.choice([0, 4, 10, 18], size=count, p=[0.1, 0.4, 0.3, 0.2])
    return sealed(bars)


def write_rule(folder: Path, name: str, frame: str, **decision: Any) -> Path:
    """Write a rule as a model file; its tree is in the contract."""
    features, output = RULES[name]
    rule = FeatureSet(features)
    shown = next(iter(features)) if len(features) == 1 else "shares"
    contract = Contract(
        name=name,
        symbol="EURUSD",
        timeframe=frame,
        window=rule.window,
        inputs=(
            Input(name="bars", dtype="double", layout="batch,window,columns", columns=FIELDS),
            Input(name="time", dtype="int64", layout="batch,window", columns=("time",)),
        ),
        output=Output.model_validate({"name": shown, **output}),
        decision=DecisionSettings(**decision),
        server_clock="utc",
        features=codec.to_json(rule),
        created="2026-01-01",
        algorithm="averages",
        licence="MIT",
    )
    path = folder / f"{name}.onnx"
    path.write_bytes(with_contract(features_graph(rule.expressions, output=shown), contract))
    return path


@dataclass(frozen=True)
class Case:
    """What is played."""

    rules: tuple[dict[str, Any], ...]
    bars: dict[str, RatesArray]
    frame: str = "M15"
    prices: Prices = Prices.OHLC
    limits: dict[str, Any] = field(default_factory=lambda: dict(OFF))
    account: dict[str, Any] = field(default_factory=dict)

    def broker(self) -> BrokerProfile:
        """Return the broker: two symbols, with swaps and costs."""
        costs = {"swap_mode": 1, "swap_long": -7.0, "swap_short": 3.0, "spread": 8}
        pound = spec(currency_base="GBP", currency_margin="GBP", **costs)
        symbols = {"EURUSD": spec(**costs), "GBPUSD": pound}
        return profile(
            {name: symbols[name] for name in self.bars}, **{"commission": 3.5, **self.account}
        )

    def strategies(self, folder: Path) -> list[Strategy]:
        """Write the models and return the strategies."""
        found = []
        for number, rule in enumerate(self.rules):
            home = folder / f"model{number}"
            home.mkdir()
            frame = rule.get("timeframe", self.frame)
            path = write_rule(home, rule["rule"], frame, **rule.get("decision", {}))
            model = load_model(path, probe=False)
            settings = StrategySettings.model_validate(
                {
                    "model": str(path),
                    "symbol": rule.get("symbol", "EURUSD"),
                    "alias": "EURUSD",
                    "timeframe": frame,
                    "magic": 7 + number,
                    "risk": {"volume": 0.5, "max_volume": 50.0, **OFF, **rule.get("risk", {})},
                    "manage": rule.get("manage", {}),
                    "hours": rule.get("hours", {}),
                }
            )
            decision = decision_settings(model.contract.decision, {})
            found.append(Strategy(settings, model, timeframe(frame), decision))
        return found

    def bars_of(self, strategy: Strategy) -> RatesArray:
        """Return all bars of a strategy's timeframe."""
        rates, frame = self.bars[strategy.settings.symbol], timeframe(self.frame)
        if strategy.timeframe == frame:
            return rates
        return aggregate(rates, frame, strategy.timeframe)


def drawn(seed: int, count: int = 320) -> Case:
    """Return a case drawn from a seed."""
    rng = np.random.default_rng(seed)

    def pick(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    symbols = pick(("EURUSD",), ("EURUSD",), ("EURUSD", "GBPUSD"))
    bars = {symbol: market(rng, count) for symbol in symbols}
    netting = pick(False, False, True)
    rules = []
    for _ in range(1 if netting else pick(1, 1, 2)):
        kind = pick(*RULES)
        decision = {
            "open_at": {"forecast": pick(2.0, 8.0)}.get(kind, 0.5),
            "close_at": {"forecast": pick(0.0, 1.0)}.get(kind, pick(0.0, 0.3)),
            "reverse": pick(True, True, False),
            "sides": pick("both", "both", "long", "short"),
            "max_bars": pick(None, None, 5, 20),
            "range_bars": pick(2, 12),
            **pick({"stop_points": 150}, {"stop_ranges": 2.0}, {"stop_points": 60}),
            **pick({}, {"take_points": 120}, {"take_ranges": 3.0}),
        }
        manage = pick(
            {},
            {},
            {"trail_points": 80, "trail_step_points": pick(0, 20)},
            {"trail_ranges": 1.5, "trail_after_points": 30},
            {"breakeven_after_points": 60, "breakeven_plus_points": 5},
            {"partial_at_points": 50},
            {"flat_before_weekend": "20:00"},
        )
        rules.append(
            {
                "rule": kind,
                "decision": decision,
                "manage": manage,
                "symbol": pick(*symbols),
                "timeframe": pick("M15", "M15", "H1"),
                "risk": pick({}, {"volume": 4.0}, {"volume": None, "risk_share": 0.01}),
                "hours": pick({}, {}, {"windows": ["07:00-19:00"]}),
            }
        )
    limits = pick(
        OFF,
        OFF,
        {"daily_loss_share": 0.01, "max_drawdown_share": None},
        {**OFF, "max_losses_in_row": 2},
        {"daily_loss_share": 0.005, "max_drawdown_share": 0.03, "flatten_on": ["drawdown"]},
        {**OFF, "prop_firm": {"start_balance": 10_000.0, "profit_target_share": 0.01}},
    )
    return Case(
        rules=tuple(rules),
        bars=bars,
        prices=pick(Prices.OHLC, Prices.OHLC, Prices.OPEN),
        limits={"max_quote_age_seconds": None, "max_bar_age_seconds": None, **limits},
        account={
            "leverage": pick(100, 100, 30),
            "margin_mode": "netting" if netting else "hedging",
        },
    )


def play(
    case: Case,
    folder: Path,
    *,
    ahead: bool,
    on_step: Callable[[Step], None],
    stop: Stop | None = None,
) -> Any:
    """Play a case, plainly or as a back-test, and return what it leaves."""
    folder.mkdir()
    strategies = case.strategies(folder)
    bars = [case.bars_of(each) for each in strategies]
    members, begins = [], []
    for strategy, rates in zip(strategies, bars, strict=True):
        members.append(Member(strategy, int(rates["time"][strategy.depth - 2])))
        begins.append(int(rates["time"][strategy.depth]))
    clock = ManualClock(float(max(begins)))
    recorded = {symbol: (timeframe(case.frame), rates) for symbol, rates in case.bars.items()}
    kind = BufferedJournal if ahead else Journal
    with (
        closing(PaperTerminal(case.broker(), recorded, clock, None, prices=case.prices)) as paper,
        kind(folder / "journal.sqlite3", clock) as journal,
        reading(folder / "journal.sqlite3") as past,
    ):
        paper.initialize()
        terminal = paper.direct() if ahead else ModuleTerminal(paper)
        limits = LimitSettings.model_validate(case.limits)
        begin(journal)
        common: Any = {"clock": clock, "server": UTC, "limits": limits, "state": folder}
        if ahead:
            assert isinstance(journal, BufferedJournal)
            crew, _ = backtest(
                members,
                bars,
                terminal,
                paper,
                journal,
                journal.reader(),
                lows=paper.lows,
                on_step=on_step,
                stop=stop,
                **common,
            )
        else:
            certain = Search(is_certain=True)
            crew = muster(
                members, terminal, journal, past, search=certain, lows=paper.lows, **common
            )
            replay(crew.steppers, paper, clock, UTC, on_step, before=crew.attend)
        journal.end_run("over")
        left = {
            "standings": [each.standing for each in crew.steppers],
            "account": paper.account_info(),
            "positions": paper.positions_get(),
            "orders": paper.history_orders_get(0, 2_000_000_000),
            "deals": paper.history_deals_get(0, 2_000_000_000),
            "lows": paper.lows(0.0),
            "clock": clock.now(),
        }
    with reading(folder / "journal.sqlite3") as journal_read:
        return left | {"journal": everything(journal_read)}


def everything(reader: JournalReader) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of a journal but what two equal runs may differ in."""
    found = {name: list(reader.rows(name)) for name in TABLES}
    for row in found["runs"]:
        for name in ("wall_utc", "paths", "versions"):
            del row[name]
    return found
