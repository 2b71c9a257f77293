"""From a closed bar to a request that may be sent, beside the bare run of the same graph.

Terminal and journal are left out: both sides begin with the bars and end before the send. The two
alternate, so that a slow moment of the computer hits both.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1])]

from tests_support import account, symbol_info, tick

from bridge.cli.sample import find_model
from bridge.engine.standing import Standing
from bridge.engine.strategy import load_strategy
from bridge.market.barfile import read_bars
from bridge.model.signal import Signal
from bridge.mt5.rates import RatesArray
from bridge.mt5.request import Request
from bridge.mt5.sides import Side
from bridge.risk.baselines import first_baselines
from bridge.risk.guard import Bounds, Facts, Ruling, check
from bridge.settings import LimitSettings, StrategySettings
from bridge.share import share_dir
from bridge.strategy.decide import decide
from bridge.strategy.recent import range_points
from bridge.trade.build import build_entry

ACCOUNT, SYMBOL, TICK = account(), symbol_info(), tick()
LIMITS = LimitSettings()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bars", type=int, default=20_000)
    arguments.add_argument("--model", default="eurusd_h1_direction")
    chosen = arguments.parse_args()
    settings = StrategySettings(
        model=str(find_model(chosen.model)), symbol="EURUSD", timeframe="H1", magic=7
    )
    strategy = load_strategy(settings)
    session = strategy.model.session
    bare, outputs, feed = session.session.run, session._outputs, session._feed
    standing = Standing(magic=7, baselines=first_baselines(TICK.time, ACCOUNT.equity))
    rates = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
    windows = np.lib.stride_tricks.sliding_window_view(rates, strategy.depth)

    def ready(bars: RatesArray) -> tuple[Signal, Request, Ruling]:
        """Take the path: model, decision, request, guard. An entry is built at every bar."""
        signal = strategy.model.signal(bars[-strategy.model.contract.window :])
        recent = range_points(bars, bars=strategy.decision.range_bars, point=SYMBOL.point)
        decision = decide(signal, None, strategy.decision, range_points=recent)
        request = build_entry(
            side=decision.side or Side.LONG,
            volume=0.1,
            stop_points=decision.stop_points or 500.0,
            take_points=decision.take_points,
            symbol=SYMBOL,
            tick=TICK,
            magic=7,
            settings=settings.execution,
        )
        facts = Facts(
            account=ACCOUNT,
            symbol=SYMBOL,
            tick=TICK,
            positions=(),
            baselines=standing.baselines.advanced(TICK.time, ACCOUNT.equity),
            state=standing.state,
        )
        return signal, request, check(request, facts, Bounds(settings.risk, LIMITS))

    took: dict[str, list[int]] = {"bare run": [], "request ready": []}
    for number in range(chosen.bars):
        bars = windows[number % len(windows)]
        begun = time.perf_counter_ns()
        signal, request, ruling = ready(bars)
        between = time.perf_counter_ns()
        # The window that the path has just left in the session's buffers.
        answer = bare(outputs, feed)[0]
        ended = time.perf_counter_ns()
        took["request ready"].append(between - begun)
        took["bare run"].append(ended - between)
        if signal.problem or tuple(answer.ravel().tolist()) != signal.values:
            raise SystemExit(f"the two sides disagree at {number}: {signal} against {answer}")
        if not request.volume or not ruling.verdicts:
            raise SystemExit("nothing was built")
    report(chosen.model, took)


def report(model: str, took: dict[str, list[int]]) -> None:
    columns = {name: np.array(each) / 1_000 for name, each in took.items()}
    print(f"{model}, {len(columns['bare run'])} bars, microseconds")
    for name, each in columns.items():
        p50, p99 = np.percentile(each, [50, 99])
        print(f"  {name:<14} p50 {p50:8.1f}  p99 {p99:8.1f}")
    above = columns["request ready"] - columns["bare run"]
    p50, p99 = np.percentile(above, [50, 99])
    ratio = np.median(columns["request ready"]) / np.median(columns["bare run"])
    print(f"  {'above it':<14} p50 {p50:8.1f}  p99 {p99:8.1f}  (goal: 150; whole p99 below 1000)")
    print(f"  ratio of medians {ratio:.2f}")


if __name__ == "__main__":
    main()
