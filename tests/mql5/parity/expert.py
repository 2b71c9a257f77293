"""An EA's run on the paper terminal, read from its CSV and from what it sent."""

import csv
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bridge.mt5.timeframes import timeframe
from mql5.host.compiler import Compiler
from mql5.host.play import desk, play
from mql5.host.program import InputValue, Program
from mql5.parity.markets import Market
from mql5.parity.run import Bar, Run, deals_of, order_of

ROOT = Path(__file__).parents[3] / "mql5"


def run_expert(
    compiler: Compiler,
    source: Path,
    market: Market,
    folder: Path,
    start: int,
    inputs: Mapping[str, InputValue],
    *,
    root: Path = ROOT,
    is_thorough: bool = False,
) -> Run:
    """Run it to the end of the recording.

    Args:
        source: Its ``.mq5``.
        folder: The terminal's data folder, new.
        start: Server time at which it is put on the chart, epoch seconds.
        root: The folder that is ``MQL5`` in a terminal.
        is_thorough: Whether the optimiser works on it: it runs faster, and is made more slowly.

    Raises:
        RuntimeError: It does not start.
    """
    built = compiler.build(source, root, is_thorough=is_thorough)
    frame = timeframe(market.timeframe)
    desktop = desk(folder, market.broker(), {market.symbol: (frame, market.rates())}, start)
    program = Program(built, desktop, market.symbol, frame.value, inputs)
    began = time.perf_counter()
    if program.start():
        raise RuntimeError(f"{source.name} does not start: {program.log}")
    play(desktop, program)
    seconds = time.perf_counter() - began
    program.stop()
    (journal,) = desktop.common.rglob("decisions_*.csv")
    bars = dict(_bars(journal))
    orders = [order_of(one.time, one.request, one.retcode) for one in program.sent]
    balance = float(desktop.paper.account_info().balance)
    run = Run(bars, orders, deals_of(desktop.paper), balance, seconds)
    desktop.paper.close()
    return run


def _bars(journal: Path) -> Iterator[tuple[int, Bar]]:
    with journal.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["row"] == "decision":
                outputs = tuple(float(part) for part in row["outputs"].split())
                yield int(row["bar_time"]), Bar(outputs, _facts(row))


def _facts(row: Mapping[str, str]) -> dict[str, Any]:
    texts = ["input_sha256", "model_sha256", "problem", "action", "reason", "state"]
    numbers = [
        "long",
        "short",
        "stop_points",
        "take_points",
        "bid",
        "ask",
        "balance",
        "equity",
        "held_volume",
    ]
    facts: dict[str, Any] = {name: row[name] for name in texts}
    facts |= {name: float(row[name]) if row[name] else None for name in numbers}
    facts["side"] = row["side"] or None
    facts["held_side"] = row["held_side"] or None
    facts["held_bars"] = int(row["held_bars"]) if row["held_bars"] else None
    return facts
