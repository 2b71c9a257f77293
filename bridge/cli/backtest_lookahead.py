"""``--check-lookahead``: cut the future off at random bars and see whether anything changes."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bridge.cli.backtest_run import Plan, Played, Seam, plain, play
from bridge.cli.recording import Recording
from bridge.engine.honest.features import Feature, Peek, peeking_features
from bridge.engine.honest.lookahead import Findings, Trace, check_lookahead, trace_of
from bridge.engine.strategy import Strategy
from bridge.features.codec import from_json
from bridge.features.expr import Expr
from bridge.features.history import evaluate
from bridge.journal.read import reading
from bridge.mt5.rates import RatesArray, sealed
from bridge.settings import PaperPrices

# Bars that are decided before each cut, and bars of the future that the other run has.
_BEFORE, _AFTER = 50, 500
# Bars on which features are tried, besides those that they look back.
_FEATURE_BARS = 2_000


def lookahead(
    plan: Plan,
    played: Played,
    told: Callable[[int, int], None] = lambda done, total: None,
    seam: Seam = plain,
) -> Findings:
    """Check a plan that was played.

    Args:
        plan: What was tested.
        played: How it went: its bars are the ones that are tried.
        told: Told how many cuts of how many are done.
        seam: As it was played.
    """
    times = [plan.recording.times(each).tolist() for each in played.strategies]
    firsts = [
        bisect_left(opens, after) + 1
        for opens, after in zip(times, played.begin.after, strict=True)
    ]
    # From then on each strategy has decided a bar.
    begun = max(opens[first + 1] for opens, first in zip(times, firsts, strict=True))
    closings = (opens[first + 1 :] for opens, first in zip(times, firsts, strict=True))
    moments = sorted({time for each in closings for time in each if time >= begun})

    def run(moment: int, has_future: bool) -> Trace:
        place = bisect_left(moments, moment)
        newest = (opens[bisect_right(opens, moment) - 2] for opens in times)
        since = min(moments[max(0, place - _BEFORE)], *newest)
        first = min(_warm(*pair, since) for pair in zip(played.strategies, times, strict=True))
        seen = _seen(plan, moment)
        last = max(seen, moments[min(place + _AFTER, len(moments) - 1)]) if has_future else seen
        recording = _between(plan.recording, first, last, moment, has_future=has_future)
        with TemporaryDirectory(prefix="mt5-onnx-") as folder:
            short = replace(plan, recording=recording, since=since)
            end = play(short, Path(folder), until=seen, seam=seam)
            with reading(end.journal) as journal:
                return trace_of(journal, until=seen, until_utc=recording.server.to_utc(seen))

    settings = plan.settings.backtest
    return check_lookahead(
        moments, run, count=settings.lookahead_cuts, seed=settings.seed, told=told
    )


def _seen(plan: Plan, moment: int) -> int:
    """Return when the bar that opens at ``moment`` is seen: where ticks are played, with its first.

    Server epoch seconds.
    """
    found = [moment]
    played = plan.recording.ticks if plan.settings.paper.prices is PaperPrices.TICKS else {}
    for symbol, ticks in played.items():
        if moment in plan.recording.bars[symbol][1]["time"]:
            first = int(np.searchsorted(ticks["time"], moment))
            found.append(-(-int(ticks["time_msc"][first]) // 1000))
    return max(found)


def _warm(strategy: Strategy, times: Sequence[int], since: int) -> int:
    """Return the open of the first bar that the strategy needs to decide from ``since`` on."""
    return times[max(0, bisect_left(times, since) - strategy.depth - 2)]


def _between(
    recording: Recording, first: int, last: int, moment: int, *, has_future: bool
) -> Recording:
    """Return the bars that open from ``first`` to ``last``.

    Without a future, a bar that opens at ``moment`` has nothing but its open.
    """

    def change(symbol: str, bars: RatesArray) -> RatesArray:
        start = max(0, int(np.searchsorted(bars["time"], first, side="right")) - 1)
        kept = bars[start : int(np.searchsorted(bars["time"], last, side="right"))].copy()
        if not has_future and len(kept) and kept["time"][-1] == moment:
            for name in ("high", "low", "close"):
                kept[name][-1] = kept["open"][-1]
            kept["tick_volume"][-1] = 1
        return sealed(kept)

    def cut(symbol: str, ticks: RatesArray) -> RatesArray:
        times, opens = ticks["time"], recording.bars[symbol][1]["time"]
        start = max(0, int(np.searchsorted(opens, first, side="right")) - 1)
        after = int(np.searchsorted(opens, last, side="right"))
        stop = len(times) if after == len(opens) else int(np.searchsorted(times, opens[after]))
        if not has_future:
            stop = min(stop, int(np.searchsorted(times, moment)) + 1)
        return ticks[int(np.searchsorted(times, opens[start])) : stop]

    return recording.map(change, cut)


def peeks(plan: Plan, played: Played) -> tuple[Peek, ...]:
    """Return the features that see their future, of models that carry their feature tree."""
    found: list[Peek] = []
    for strategy in {each.model.sha256: each for each in played.strategies}.values():
        tree = strategy.model.contract.features
        if tree is None:
            continue
        features = from_json(tree)
        named = {
            name: _feature(expression)
            for name, expression in zip(features.names, features.expressions, strict=True)
        }
        bars = plan.recording.rates(strategy)[-features.window - _FEATURE_BARS :]
        first, seed = min(features.lookback, len(bars) - 1), plan.settings.backtest.seed
        found += peeking_features(named, bars, first=first, seed=seed)
    return tuple(found)


def _feature(expression: Expr) -> Feature:
    return lambda rates: evaluate([expression], rates)[:, 0]
