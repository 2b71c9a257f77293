"""The world of a run: a broker that outlives the daemon, people, and the wire between both.

Nothing here fails; faults are a wrapper around the wire.
"""

import json
import random
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from models_support import write_last_move
from terminal.paper_desk import profile, spec

from bridge.clock import ManualClock
from bridge.engine.strategy import Strategy
from bridge.engine.watch import FLATTEN_FILE, HALT_FILE, RESUME_FILE
from bridge.journal.read import JournalReader, reading
from bridge.market.barfile import read_bars
from bridge.model.load import LoadedModel, load_model
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.records import AccountInfo, OrderSendResult
from bridge.mt5.request import RequestDict
from bridge.mt5.servertime import parse, server_clock
from bridge.mt5.timeframes import timeframe
from bridge.settings import decision_settings
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.faults.effects import Crash
from bridge.terminal.faults.schedule import Fault, Schedule
from bridge.terminal.faults.terminal import FaultyTerminal
from bridge.terminal.paper.script import MarketClosed, PartialFill, Placed
from bridge.terminal.paper.terminal import PaperTerminal
from campaign.plan import FIRST_BARS, LONGEST, MAGICS, OTHER, QUIET_BARS, SYMBOL, Action, Plan

BEGIN = parse("2017.03.14 10:00")
UTC = server_clock("utc")
M1 = timeframe("M1")
JOURNAL, WIRE, ACCOUNT = "journal.sqlite3", "wire.jsonl", "account.sqlite3"
EVER = 2**31 - 1
# Of a person, and of another program on the account.
PERSON, PROGRAM = 0, 99
_TICK = 1e-5


@cache
def model_in(folder: Path) -> LoadedModel:
    """Return the rule that all runs of a process trade: the sign of the last bar's move."""
    decision = {"open_at": 0.5, "stop_points": 500, "range_bars": 3}
    path = write_last_move(
        folder / "model.onnx", server_clock="utc", timeframe="M1", decision=decision
    )
    return load_model(path, probe=False)


def strategies_of(plan: Plan, model: LoadedModel) -> list[Strategy]:
    """Return the strategies of a plan."""
    return [
        Strategy(each, model, M1, decision_settings(model.contract.decision, each.decision))
        for each in plan.settings(model.path)
    ]


class WorldClock(ManualClock):
    """Time in which other things happen, too, while somebody waits."""

    def __init__(self, start: float) -> None:
        super().__init__(start)
        self._due: list[tuple[float, Callable[[], None]]] = []

    def at(self, instant: float, what: Callable[[], None]) -> None:
        """Let something happen at an instant, UTC epoch seconds."""
        self._due.append((instant, what))
        self._due.sort(key=lambda each: each[0])

    def wait_until(self, instant: float) -> None:
        while self._due and self._due[0][0] <= instant:
            time, what = self._due.pop(0)
            super().wait_until(time)
            what()
        super().wait_until(instant)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that has reached the server.

    Attributes:
        intent: Number of the newest intent on disk then; None when there was none, or one that is
            denied or has its result already.
        events: Number of the newest event on disk then.
        equity: What the wire had told last, account currency.
        order: Ticket of the order; 0 when the server refused.
    """

    intent: int | None
    events: int
    equity: float
    request: RequestDict
    order: int
    retcode: int


class Wire(ModuleTerminal):
    """The paper terminal as it is, with a record of every request and of the journal before it.

    Args:
        module: The paper terminal.
        folder: Where the journal is, and where the record is kept.
    """

    def __init__(self, module: Any, folder: Path) -> None:
        super().__init__(module)
        self._journal = folder / JOURNAL
        self._record = folder / WIRE
        self._open = ExitStack()
        self._reader: JournalReader | None = None
        self._equity = 0.0

    def account_info(self) -> AccountInfo:
        info = super().account_info()
        self._equity = info.equity
        return info

    def order_send(self, request: RequestDict) -> OrderSendResult | None:
        intent, events = self._on_disk()
        answer = super().order_send(request)
        order, code = (answer.order, answer.retcode) if answer is not None else (0, 0)
        sent = Sent(intent, events, self._equity, dict(request), order, code)
        with self._record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(sent)) + "\n")
        return answer

    def _on_disk(self) -> tuple[int | None, int]:
        if self._reader is None:
            self._reader = self._open.enter_context(reading(self._journal))
        newest = "id = (SELECT max(id) FROM {})".format
        events = next(self._reader.rows("events", newest("events")), {"id": 0})["id"]
        intent = next(self._reader.rows("intents", newest("intents")), None)
        if intent is None or intent["denied"] is not None:
            return None, events
        is_done = any(self._reader.rows("results", "intent = ?", intent["id"]))
        return (None if is_done else intent["id"]), events

    def close(self) -> None:
        self._open.close()


class Weather(FaultyTerminal):
    """The faults of a run, which come to an end."""

    def strike(self, fault: Fault) -> None:
        """Let one more thing go wrong, from the next call on."""
        world = self._world
        now = fault.model_copy(update={"since": world.number})
        self._armed += FaultyTerminal(world.inner, Schedule.of(now), world.clock)._armed

    def calm(self) -> None:
        """Let nothing new go wrong, and what waits or is hidden come to its end."""
        self._armed.clear()
        for _ in range(LONGEST):
            self._world.begin()


class Stage:
    """The broker's side of a run, and everybody but the daemon.

    Args:
        plan: Of the run.
        folder: Its files.
        strategies: What the daemon trades.
        account: File of the account; None keeps it in memory.
        started: When the run goes on, UTC epoch seconds; None begins it.

    Attributes:
        is_alive: Whether a daemon lives.
        first_deal: Ticket of the last deal before the run.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        strategies: list[Strategy],
        *,
        account: Path | None = None,
        started: float | None = None,
    ) -> None:
        self.plan = plan
        self.folder = folder
        self.strategies = strategies
        self.is_alive = False
        self._told = 0
        self.rates = rates_of_plan(plan)
        self.begins = float(self.rates["time"][FIRST_BARS])
        self.clock = WorldClock(self.begins - 60.0 if started is None else started)
        self.paper = PaperTerminal(_broker(plan), self._series(), self.clock, account)
        self.paper.initialize()
        self.wire = Wire(self.paper, folder)
        self.faulty = Weather(self.wire, plan.schedule, self.clock)
        if started is None:
            self._foreign()
            self.clock.wait_until(self.begins)
        self.first_deal = self.paper.history_deals_get(0, EVER)[-1].ticket
        for action in plan.actions:
            if self.begins + action.at >= self.clock.now():
                self.clock.at(self.begins + action.at, partial(self.act, action))

    @property
    def noise_ends(self) -> float:
        """When faults end, UTC epoch seconds."""
        return self.begins + 60.0 * (self.plan.bars + self.plan.gap)

    def calm(self) -> None:
        """End the faults."""
        self.faulty.calm()

    def new_faults(self) -> Counter[str]:
        """Return which faults have changed a call since the last time, and how often."""
        fired = self.faulty.fired[self._told :]
        self._told += len(fired)
        return Counter(str(each.fault.kind) for each in fired)

    def close(self) -> None:
        """Release the files."""
        self.wire.close()
        self.paper.close()

    def _series(self) -> dict[str, Any]:
        other = self.rates.copy()
        for name in ("open", "high", "low", "close"):
            other[name] = np.round(other[name] + 0.2, 5)
        return {SYMBOL: (M1, self.rates), OTHER: (M1, other)}

    # The others on the account

    def _foreign(self) -> None:
        if self.plan.margin_mode == "hedging":
            self.send(mt5.ORDER_TYPE_BUY, 0.2, PERSON)
            self.send(mt5.ORDER_TYPE_SELL, 0.1, PROGRAM)
        if self.plan.has_stranger:
            self.send(mt5.ORDER_TYPE_BUY, 0.04, MAGICS[0])
        # Somebody else's in spite of the magic: the strategy trades another symbol.
        self.send(mt5.ORDER_TYPE_BUY, 0.1, MAGICS[0], symbol=OTHER)

    def send(self, kind: int, volume: float, magic: int, **fields: Any) -> Any:
        """Send a deal past the wire."""
        return self.paper.order_send(
            {
                "action": mt5.TRADE_ACTION_DEAL,
                "symbol": SYMBOL,
                "volume": volume,
                "type": kind,
                "magic": magic,
                "type_filling": max(0, int(str(self.plan.symbol.get("filling_mode", 1))) - 1) % 2,
                **fields,
            }
        )

    def act(self, action: Action) -> None:
        """Do what a plan wants somebody else to do."""
        _ACTS[action.what](self, action.amount)

    def own(self) -> list[Any]:
        """Return the strategies' positions as they really are."""
        magics = {each.settings.magic for each in self.strategies}
        return [each for each in self.paper.positions_get(symbol=SYMBOL) if each.magic in magics]

    def close_by_hand(self, share: float) -> None:
        """Let a person close the oldest of the strategies' positions, or a share of it."""
        for position in self.own()[:1]:
            volume = max(0.01, round(position.volume * share, 2))
            self.send(1 - position.type, volume, PERSON, position=position.ticket)

    def move_by_hand(self, points: float | None) -> None:
        """Let a person move the oldest position's stop away by ``points``, or take it off."""
        for position in self.own()[:1]:
            sign = -1.0 if position.type else 1.0
            sl = 0.0 if points is None else round(position.price_open - sign * points * _TICK, 5)
            self.paper.order_send(
                {
                    "action": mt5.TRADE_ACTION_SLTP,
                    "position": position.ticket,
                    "sl": sl,
                    "tp": position.tp,
                }
            )

    def trade_elsewhere(self) -> None:
        """Let another program open a position, or close the last one that it opened so."""
        symbol = SYMBOL if self.plan.margin_mode == "hedging" else OTHER
        held = [each for each in self.paper.positions_get(symbol=symbol) if each.magic == PROGRAM]
        if len(held) > 1:
            ticket = held[-1].ticket
            self.send(1 - held[-1].type, held[-1].volume, PROGRAM, symbol=symbol, position=ticket)
        else:
            self.send(mt5.ORDER_TYPE_BUY, 0.03, PROGRAM, symbol=symbol)

    def kill(self) -> None:
        """Let the daemon die where it waits."""
        if self.is_alive:
            raise Crash("killed while it waited")

    def resume(self) -> None:
        """Ask for entries again, as the command does."""
        (self.folder / HALT_FILE).unlink(missing_ok=True)
        (self.folder / RESUME_FILE).touch()


_ACTS: dict[str, Callable[[Stage, float], object]] = {
    "close": lambda stage, amount: stage.close_by_hand(1.0),
    "part": lambda stage, amount: stage.close_by_hand(0.4),
    "move": lambda stage, amount: stage.move_by_hand(300.0 + amount),
    "unprotect": lambda stage, amount: stage.move_by_hand(None),
    "pay": lambda stage, amount: stage.paper.deposit(amount),
    "foreign": lambda stage, amount: stage.trade_elsewhere(),
    "kill": lambda stage, amount: stage.kill(),
    "closed": lambda stage, amount: stage.paper.script.add(
        MarketClosed(stage.clock.now() + abs(amount))
    ),
    "filled": lambda stage, amount: stage.paper.script.add(Placed("filled")),
    "rejected": lambda stage, amount: stage.paper.script.add(Placed("rejected")),
    "some": lambda stage, amount: stage.paper.script.add(PartialFill(0.01)),
    "halt": lambda stage, amount: (stage.folder / HALT_FILE).touch(),
    "resume": lambda stage, amount: stage.resume(),
    "flatten": lambda stage, amount: (stage.folder / FLATTEN_FILE).touch(),
}


def _broker(plan: Plan) -> Any:
    other = {"currency_base": "GBP", "currency_margin": "GBP"}
    symbols = {SYMBOL: spec(**plan.symbol), OTHER: spec(**plan.symbol, **other)}
    return profile(symbols, margin_mode=plan.margin_mode)


# Prices


@cache
def _sample() -> RatesArray:
    return read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")


def rates_of_plan(plan: Plan) -> RatesArray:
    """Return the bars of a run: those before it, those among faults, quiet ones."""
    noisy = FIRST_BARS + plan.bars
    rows = _from_sample(plan.seed, noisy) if plan.is_sample else _walked(plan.seed, noisy)
    last = rows[-1][3]
    # Flat bars ask for nothing, so that what is open settles.
    rows += [(last, round(last + 2e-5, 5), round(last - 2e-5, 5), last)] * QUIET_BARS
    gap_at = FIRST_BARS + plan.bars // 2
    times = [BEGIN + 60 * (n + (plan.gap if n >= gap_at else 0)) for n in range(len(rows))]
    return rates_of((time, *row, 100, 10, 0) for time, row in zip(times, rows, strict=True))


_Row = tuple[float, float, float, float]


def _walked(seed: int, count: int) -> list[_Row]:
    rng, price, rows = random.Random(seed), 1.05, []  # noqa: S311  dice are no secret
    for _ in range(count):
        path = [price]
        for _ in range(4):
            path.append(path[-1] + (rng.random() - 0.5) * 60 * _TICK)
        o, c = round(path[0], 5), round(path[-1], 5)
        rows.append((o, round(max(path), 5), round(min(path), 5), c))
        price = path[-1]
    return rows


def _from_sample(seed: int, count: int) -> list[_Row]:
    sample = _sample()
    first = random.Random(seed).randrange(len(sample) - count)  # noqa: S311  dice are no secret
    return [
        (float(bar["open"]), float(bar["high"]), float(bar["low"]), float(bar["close"]))
        for bar in sample[first : first + count]
    ]
