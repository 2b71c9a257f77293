"""The journal's part of an order, beside the least that a disk can do; and a search among many.

An order is an intent that is synced before anything is sent, and a result that is not. The floor is
one append of as many bytes and one fdatasync, in the same run, on the same disk, taking turns.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1])]

from journal_support import begin
from tests_support import record

from bridge.clock import ManualClock
from bridge.engine.settle import Search, Settler
from bridge.engine.standing import Standing
from bridge.journal.read import reading
from bridge.journal.write import Journal
from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderSendResult, Tick, TradeDeal, TradeOrder, TradeRequest
from bridge.mt5.request import Purpose, Request
from bridge.mt5.retcodes import Outcome
from bridge.risk.baselines import first_baselines
from bridge.risk.ruling import Verdict
from bridge.terminal.adapter import ModuleTerminal

REQUEST = Request(
    purpose=Purpose.ENTRY,
    action=mt5.TRADE_ACTION_DEAL,
    symbol="EURUSD",
    magic=7,
    type=mt5.ORDER_TYPE_BUY,
    volume=0.1,
    price=1.08512,
    sl=1.08,
    deviation=20,
    type_filling=0,
    comment="mt5-onnx",
)
VERDICTS = [Verdict(f"rule {number}", True, "0.1 lots", "1 lots") for number in range(16)]


def answer(order: int) -> OrderSendResult:
    found: OrderSendResult = record(
        OrderSendResult,
        {
            "retcode": mt5.TRADE_RETCODE_DONE,
            "order": order,
            "deal": order,
            "request": record(TradeRequest, {}),
        },
    )
    return found


def orders(folder: Path, count: int) -> None:
    """Print what the journal takes for an order, and what the disk takes at least."""
    took: dict[str, list[int]] = {"append + fdatasync": [], "intent": [], "intent + result": []}
    body = json.dumps([REQUEST.as_dict(), VERDICTS]).encode()
    file = os.open(folder / "floor", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    sync = getattr(os, "fdatasync", os.fsync)
    with Journal(folder / "journal.sqlite3", ManualClock(0.0)) as journal:
        begin(journal)
        for number in range(count):
            begun = time.perf_counter_ns()
            os.write(file, body)
            sync(file)
            took["append + fdatasync"].append(time.perf_counter_ns() - begun)
            begun = time.perf_counter_ns()
            intent = journal.intent(None, REQUEST, VERDICTS)
            took["intent"].append(time.perf_counter_ns() - begun)
            journal.result(intent, Outcome.DONE, "done", answer(number + 1))
            took["intent + result"].append(time.perf_counter_ns() - begun)
    os.close(file)
    floor = float(np.median(took["append + fdatasync"]))
    print(f"{count} orders, microseconds")
    for name, each in took.items():
        p50, p99 = np.percentile(each, [50, 99]) / 1_000
        ratio = float(np.median(each)) / floor
        print(f"  {name:<20} p50 {p50:8.1f}  p99 {p99:8.1f}  ratio {ratio:.2f}")


class Shown(ModuleTerminal):
    """A terminal whose history holds as many deals as the journal, and the one that is missing."""

    def __init__(self, deals: tuple[TradeDeal, ...]) -> None:
        super().__init__(None)
        self._deals = deals

    def symbol_info_tick(self, symbol: str) -> Tick:
        found: Tick = record(Tick, {"time": 1_700_000_000})
        return found

    def history_deals_get(self, date_from: int, date_to: int) -> tuple[TradeDeal, ...]:
        return self._deals

    def orders_get(self, symbol: str | None = None) -> tuple[TradeOrder, ...]:
        return ()


def search(folder: Path, count: int) -> None:
    """Print how long it takes to find the deal of an order without answer among many."""
    with (
        Journal(folder / "many.sqlite3", ManualClock(1_700_000_000.0)) as journal,
        reading(folder / "many.sqlite3") as past,
    ):
        begin(journal)
        for number in range(count):
            intent = journal.intent(None, REQUEST, VERDICTS)
            journal.result(intent, Outcome.DONE, "done", answer(number + 1))
        journal.intent(None, REQUEST, VERDICTS)
        fields = {"symbol": "EURUSD", "magic": 7, "volume": 0.1, "time": 1_700_000_000}
        deals = tuple(
            record(TradeDeal, {**fields, "ticket": number + 1, "order": number + 1})
            for number in range(count + 1)
        )
        standing = Standing(magic=7, baselines=first_baselines(0, 1e4), is_open=True)
        settler = Settler(Shown(deals), journal, past, standing, "EURUSD")
        begun = time.perf_counter()
        left = settler.settle(1_700_000_001.0, Search())
        took = time.perf_counter() - begun
        found = list(past.rows("results"))[-1]["words"]
    if left or found != f"found: deal #{count + 1}":
        raise SystemExit(f"the deal was not found: {found}")
    print(f"the one deal without a result among {count} orders: found in {took * 1e3:.0f} ms")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--orders", type=int, default=2_000)
    arguments.add_argument("--past", type=int, default=10_000)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        orders(Path(folder), chosen.orders)
        search(Path(folder), chosen.past)


if __name__ == "__main__":
    main()
