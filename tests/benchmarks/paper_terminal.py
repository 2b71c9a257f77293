"""The paper terminal: bars a second by what is held, memory a symbol, cost of each answer.

Flat accounts jump, accounts with positions or orders walk every point of every bar. Costs of
answers stand beside the floor: the same work without a terminal around it, in the same run.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1])]

from terminal.paper_desk import profile, spec

from bridge.clock import ManualClock
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RATES_DTYPE, RatesArray
from bridge.mt5.servertime import parse
from bridge.mt5.timeframes import timeframe
from bridge.terminal.paper.terminal import PaperTerminal

M1 = timeframe("M1")
START = parse("2024.01.08 00:00")


def bars(count: int, seed: int) -> RatesArray:
    """Return so many M1 bars of a random walk around 1.1."""
    chance = np.random.default_rng(seed)
    rates = np.zeros(count, dtype=RATES_DTYPE)
    rates["time"] = START + 60 * np.arange(count)
    close = 1.1 + np.cumsum(chance.integers(-9, 10, count)) * 1e-6
    rates["close"] = np.round(close, 5)
    rates["open"] = np.round(np.concatenate([[1.1], close[:-1]]), 5)
    reach = chance.integers(1, 12, (2, count)) * 1e-5
    rates["high"] = np.round(np.maximum(rates["open"], rates["close"]) + reach[0], 5)
    rates["low"] = np.round(np.minimum(rates["open"], rates["close"]) - reach[1], 5)
    rates["tick_volume"], rates["spread"] = 100, 5
    return rates


def opened(symbols: int, count: int) -> tuple[PaperTerminal, ManualClock]:
    """Return a terminal with so many symbols, at their first bar."""
    names = ["EURUSD", *(f"SYM{number}" for number in range(1, symbols))]
    broker = profile({name: spec() for name in names}, deposit=1e6)
    clock = ManualClock(float(START))
    series = {name: (M1, bars(count, seed)) for seed, name in enumerate(names)}
    terminal = PaperTerminal(broker, series, clock, None)
    terminal.initialize()
    return terminal, clock


def flat(terminal: PaperTerminal) -> None:
    """Hold nothing."""


def one_position(terminal: PaperTerminal) -> None:
    """Hold a position whose stop and target are far away."""
    tick = terminal.symbol_info_tick("EURUSD")
    request = {
        "action": mt5.TRADE_ACTION_DEAL,
        "symbol": "EURUSD",
        "volume": 0.1,
        "type": mt5.ORDER_TYPE_BUY,
        "sl": round(tick.bid - 0.05, 5),
        "tp": round(tick.bid + 0.05, 5),
    }
    if terminal.order_send(request).retcode != mt5.TRADE_RETCODE_DONE:
        raise SystemExit("the position was not opened")


def twenty_orders(terminal: PaperTerminal) -> None:
    """Let twenty orders wait far away."""
    tick = terminal.symbol_info_tick("EURUSD")
    for number in range(20):
        below = number % 2 == 0
        request = {
            "action": mt5.TRADE_ACTION_PENDING,
            "symbol": "EURUSD",
            "volume": 0.1,
            "type": mt5.ORDER_TYPE_BUY_LIMIT if below else mt5.ORDER_TYPE_SELL_LIMIT,
            "price": round(tick.bid + (-0.05 if below else 0.05) - number * 1e-4, 5),
            "type_filling": mt5.ORDER_FILLING_RETURN,
        }
        if terminal.order_send(request).retcode != mt5.TRADE_RETCODE_DONE:
            raise SystemExit("an order was not placed")


HOLDINGS: dict[str, Callable[[PaperTerminal], None]] = {
    "flat": flat,
    "one position, SL and TP": one_position,
    "20 pending orders": twenty_orders,
}


def speed(symbols: int, count: int) -> None:
    """Print bars a CPU second: each bar is stepped to, and the account is looked at."""
    for name, hold in HOLDINGS.items():
        terminal, clock = opened(symbols, count)
        with closing(terminal):
            hold(terminal)
            begun, done = time.process_time(), 0
            while (opens := terminal.next_event_time()) is not None:
                clock.wait_until(float(opens))
                terminal.account_info()
                done += 1
            spent = time.process_time() - begun
        rate = done * symbols / spent
        print(
            f"  {symbols:3} symbols, {name:<24} {rate:12,.0f} bars/s  {spent / done * 1e6:8.1f} us"
        )


def memory(count: int) -> None:
    """Print what a symbol with so many bars costs, measured in processes of their own."""
    sizes = {}
    for symbols in (1, 11):
        command = [sys.executable, __file__, "--inside", str(symbols), "--bars", str(count)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        sizes[symbols] = float(done.stdout)
    each = (sizes[11] - sizes[1]) / 10
    bare = count * RATES_DTYPE.itemsize / 1e6
    print(f"  {each:.1f} MB a symbol with {count:,} bars; the bars themselves are {bare:.1f} MB")


def answers(count: int) -> None:
    """Print the cost of each answer, and the floor."""
    terminal, clock = opened(1, count)
    clock.wait_until(float(START + 60 * (count - 1)))
    one_position(terminal)
    raw = bars(count, 0).tobytes()
    asked: dict[str, Callable[[], Any]] = {
        "copy_rates_from_pos, 500": lambda: terminal.copy_rates_from_pos("EURUSD", 1, 0, 500),
        "copy_rates_from_pos, 500 of H1": lambda: terminal.copy_rates_from_pos(
            "EURUSD", mt5.TIMEFRAME_H1, 0, 500
        ),
        "symbol_info_tick": lambda: terminal.symbol_info_tick("EURUSD"),
        "symbol_info": lambda: terminal.symbol_info("EURUSD"),
        "account_info": terminal.account_info,
        "positions_get": terminal.positions_get,
        "order_check": lambda: terminal.order_check(
            {"action": 1, "symbol": "EURUSD", "volume": 0.1, "type": 0}
        ),
        "floor: 500 bars from bytes": lambda: np.frombuffer(
            bytearray(raw[-500 * 60 :]), dtype=RATES_DTYPE
        ),
        "floor: a tuple of 96 fields": lambda: tuple([0.0] * 96),
    }
    for name, ask in asked.items():
        if ask() is None:
            raise SystemExit(f"{name} gives nothing: {terminal.last_error()}")
        took = []
        for _ in range(2_000):
            begun = time.perf_counter_ns()
            ask()
            took.append(time.perf_counter_ns() - begun)
        p50, p99 = np.percentile(took, [50, 99]) / 1_000
        print(f"  {name:<32} p50 {p50:7.1f} us   p99 {p99:7.1f} us")
    terminal.close()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bars", type=int, default=100_000)
    arguments.add_argument("--inside", type=int, help="print the memory of so many symbols")
    chosen = arguments.parse_args()
    if chosen.inside:
        terminal, _ = opened(chosen.inside, chosen.bars)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        terminal.close()
        return
    print("bars a CPU second, and CPU time a step")
    speed(1, chosen.bars)
    speed(50, max(100, chosen.bars // 50))
    print("memory")
    memory(chosen.bars)
    print("answers")
    answers(chosen.bars)


if __name__ == "__main__":
    main()
