"""Walk forward: train on what was, ask about what came next, and again with more of the past."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.authoring.build import expected_of
from bridge.authoring.convert import Kind
from bridge.authoring.recipes.examples import Examples, Rows
from bridge.errors import ConfigError

Fit = Callable[[NDArray[np.float32], NDArray[Any]], Any]
"""From features and labels to a fitted estimator, a new one each time."""


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """What an estimator says of bars that it was not trained on.

    Attributes:
        training: Bars that it was trained on.
        rows: Later bars that it was asked about.
        answers: Shares or forecasts, shape ``(len(rows), width)``.
    """

    training: Rows
    rows: Rows
    answers: NDArray[np.float64]


def walk_forward(fit: Fit, examples: Examples, rows: Rows, *, folds: int) -> tuple[Fold, ...]:
    """Return the answers of estimators that each know only what was before.

    ``rows`` are cut into ``folds`` + 1 equal parts; the first is for training only. An estimator
    is trained on all parts before the one that it is asked about, without the bars whose label
    looks into it.

    Raises:
        ConfigError: Too few bars, or the bars of a fold lack a class.
    """
    parts = np.array_split(rows, folds + 1)
    if folds < 1 or not len(parts[-1]):
        raise ConfigError(
            f"{len(rows)} bars can't be walked in {folds} folds: give at least 1 fold and as many "
            "bars"
        )
    found = []
    for part in parts[1:]:
        training, asked_of = examples.split(rows, int(part[0]), int(part[-1]) + 1)
        _check_classes(examples.y, rows, training)
        found.append(asked(fit(*examples.at(training)), examples, training, asked_of))
    return tuple(found)


def asked(estimator: Any, examples: Examples, training: Rows, rows: Rows) -> Fold:
    """Return what ``estimator``, trained on ``training``, says of ``rows``."""
    kind: Kind = "shares" if examples.y.dtype.kind == "i" else "forecast"
    answers = np.asarray(expected_of(estimator, kind)(examples.x[rows]), dtype=np.float64)
    return Fold(training, rows, answers.reshape(len(rows), -1))


def _check_classes(y: NDArray[Any], rows: Rows, training: Sequence[int] | Rows) -> None:
    if y.dtype.kind != "i":
        return
    lacking = np.setdiff1d(y[rows], y[training])
    if len(lacking):
        raise ConfigError(
            f"the first {len(training)} bars to train on have no label "
            f"{', '.join(map(str, lacking))}: take fewer folds, or another horizon"
        )
