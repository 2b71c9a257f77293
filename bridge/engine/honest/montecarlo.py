"""Other luck: the same trades in another order, some of them missed, or drawn again and again.

Pure. Each trade keeps its result in money, so that nothing is said about sizes that follow the
balance.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PERCENTILES = (5, 25, 50, 75, 95)
# Numbers that are worked on at a time: bounds the memory.
_CHUNK = 2_000_000

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Luck:
    """What came of many runs.

    Attributes:
        runs: How many.
        balance: Percentile -> final balance, account currency.
        drawdown: Percentile -> largest fall of the balance, account currency.
        drawdown_share: Percentile -> largest fall as a share of the height before it.
        losing_share: Share of the runs that end below the balance they began with.
    """

    runs: int
    balance: Mapping[int, float]
    drawdown: Mapping[int, float]
    drawdown_share: Mapping[int, float]
    losing_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MonteCarlo:
    """Two kinds of other luck.

    Attributes:
        trades: Trades behind them.
        missed_share: Share of the trades that is left out of each shuffled run.
        shuffled: The same trades in another order, some of them missed.
        redrawn: As many trades, drawn from them with repetition.
    """

    trades: int
    missed_share: float
    shuffled: Luck
    redrawn: Luck


def monte_carlo(
    results: Sequence[float], *, balance: float, runs: int, seed: int, missed_share: float = 0.0
) -> MonteCarlo:
    """Return what other luck would have made of these trades.

    Args:
        results: Net result of each trade in the order in which they closed, account currency; not
            empty.
        balance: Balance before the first, account currency.
        runs: How many are drawn, at least 1.
        seed: Equal seeds give equal numbers.
        missed_share: Chance of each trade of a shuffled run to be missed, 0 to 1.
    """
    trades = np.asarray(results, dtype=np.float64)
    chance = np.random.default_rng(seed)

    def shuffled(count: int) -> Doubles:
        drawn = chance.permuted(np.tile(trades, (count, 1)), axis=1)
        drawn[chance.random(drawn.shape) < missed_share] = 0.0
        return drawn

    def redrawn(count: int) -> Doubles:
        return chance.choice(trades, (count, len(trades)))

    sizes = _sizes(runs, len(trades))
    return MonteCarlo(
        trades=len(trades),
        missed_share=missed_share,
        shuffled=_luck((shuffled(size) for size in sizes), balance),
        redrawn=_luck((redrawn(size) for size in sizes), balance),
    )


def _sizes(runs: int, trades: int) -> list[int]:
    most = max(1, _CHUNK // trades)
    return [min(most, runs - start) for start in range(0, runs, most)]


def _luck(drawn: Iterator[Doubles], balance: float) -> Luck:
    parts = [_measured(each, balance) for each in drawn]
    last, fall, share = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Luck(
        runs=len(last),
        balance=_percentiles(last),
        drawdown=_percentiles(fall),
        drawdown_share=_percentiles(share),
        losing_share=float((last < balance).mean()),
    )


def _measured(results: Doubles, balance: float) -> tuple[Doubles, Doubles, Doubles]:
    """Return final balance, largest fall and largest relative fall of each row."""
    curve = np.empty((len(results), results.shape[1] + 1))
    curve[:, 0] = balance
    np.cumsum(results, axis=1, out=curve[:, 1:])
    curve[:, 1:] += balance
    peak = np.maximum.accumulate(curve, axis=1)
    falls = peak - curve
    shares = np.divide(falls, peak, out=np.zeros_like(falls), where=peak > 0)
    # A copy: a view would keep the whole curve in memory.
    return curve[:, -1].round(8), falls.max(axis=1), shares.max(axis=1)


def _percentiles(values: Doubles) -> dict[int, float]:
    found = np.percentile(values, PERCENTILES)
    return dict(zip(PERCENTILES, found.tolist(), strict=True))
