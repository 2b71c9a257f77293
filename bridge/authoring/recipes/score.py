"""Scores: an estimator beside knowing nothing, and its trades beside doing nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bridge.authoring.recipes.examples import Examples
from bridge.authoring.recipes.trades import DOWN, UP, Trades
from bridge.authoring.recipes.validate import Fold
from bridge.errors import ConfigError

Doubles = NDArray[np.float64]
_LEAST_SHARE = 1e-15


@dataclass(frozen=True, slots=True)
class Score:
    """What some folds came to.

    Attributes:
        bars: That were asked about.
        horizon: Bars that a trade is held.
        error: Log loss of shares; of forecasts the root mean square error, points.
        guess: The same of knowing nothing: of the classes' frequencies in training; of the
            forecast that nothing moves.
        trades: One at a time, each held for the horizon.
        points: What they made together, after costs; doing nothing makes 0.
        chance: Its standard error, as if trades knew nothing of each other: less than twice as
            much, either way, is what chance alone makes.
        long: What buying and holding for the horizon again and again made.
    """

    bars: int
    horizon: int
    error: float
    guess: float
    trades: int
    points: float
    chance: float
    long: float


def choose_open_at(folds: Sequence[Fold], *, asks: float) -> float:
    """Return the share or forecast that a share ``asks`` of the bars reach, on either side.

    It is chosen by how often it asks, never by what it would have made.

    Raises:
        ConfigError: ``asks`` is not between 0 and 1, or the answers do not differ.
    """
    if not 0.0 < asks < 1.0:
        raise ConfigError(f"a model can't ask at a share of {asks:g} of the bars: give 0 to 1")
    values = np.concatenate([np.maximum(*_sides(fold.answers)) for fold in folds])
    found = float(f"{np.quantile(values, 1.0 - asks):.3g}")
    if not found > 0.0:
        raise ConfigError(
            f"the answers reach {found:g} at a share of {asks:g} of the bars, so nothing could be "
            "asked for: take other features or another estimator"
        )
    return found


def score(examples: Examples, folds: Sequence[Fold], open_at: float) -> Score:
    """Return what the folds came to with the threshold ``open_at``."""
    errors = [_squares(examples, fold) for fold in folds]
    error, guess = (float(np.concatenate(each).mean()) for each in zip(*errors, strict=True))
    if examples.y.dtype.kind != "i":
        error, guess = error**0.5, guess**0.5
    trades = examples.trades
    made = np.array([each for fold in folds for each in _traded(trades, fold, open_at)])
    longs = [float(trades.long[fold.rows[:: trades.horizon]].sum()) for fold in folds]
    return Score(
        bars=sum(len(fold.rows) for fold in folds),
        horizon=trades.horizon,
        error=error,
        guess=guess,
        trades=len(made),
        points=float(made.sum()),
        chance=float(made.std(ddof=1) * len(made) ** 0.5) if len(made) > 1 else float("nan"),
        long=sum(longs),
    )


def _sides(answers: Doubles) -> tuple[Doubles, Doubles]:
    """Return what speaks for buying and for selling."""
    if answers.shape[1] == 1:
        return answers[:, 0], -answers[:, 0]
    return answers[:, UP], answers[:, DOWN]


def _squares(examples: Examples, fold: Fold) -> tuple[Doubles, Doubles]:
    """Return the loss at each bar, and that of knowing nothing."""
    y = examples.y[fold.rows]
    if examples.y.dtype.kind != "i":
        return (fold.answers[:, 0] - y) ** 2, np.asarray(y, dtype=np.float64) ** 2
    frequencies = np.bincount(examples.y[fold.training], minlength=fold.answers.shape[1])
    known = fold.answers[np.arange(len(y)), y]
    guessed = frequencies[y] / len(fold.training)
    return -np.log(np.maximum(known, _LEAST_SHARE)), -np.log(np.maximum(guessed, _LEAST_SHARE))


def _traded(trades: Trades, fold: Fold, open_at: float) -> list[float]:
    """Return what each trade makes, points: one at a time, none while one is held."""
    long, short = _sides(fold.answers)
    asks = (np.maximum(long, short) >= open_at) & (long != short)
    made, free = [], 0
    for place in np.flatnonzero(asks):
        row = int(fold.rows[place])
        if row >= free:
            side = trades.long if long[place] > short[place] else trades.short
            made.append(float(side[row]))
            free = row + trades.horizon
    return made
