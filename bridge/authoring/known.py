"""What is known to come out of a converter looking right and being wrong: refused by name.

The proof finds a wrong graph only where its bars show it. These show seldom.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.errors import ModelError

Doubles = NDArray[np.float64]

# Of a model trained on float32, next to none; of one trained on doubles, nearly all.
_SHARE_OF_DOUBLES = 0.2
_FEWEST = 5


def check_known(estimator: Any) -> None:
    """Check an estimator and its parts for what converts wrongly.

    Raises:
        ModelError: What it is, and what to do.
    """
    for part in _parts(estimator):
        if type(part).__name__ == "IsotonicRegression" or _is_isotonic(part):
            raise ModelError(
                f"{type(estimator).__name__} calibrates by isotonic steps, which fall on other "
                'sides in float32: calibrate with method="sigmoid"'
            )
        check_thresholds(part)


def check_thresholds(estimator: Any) -> None:
    """Check that a booster that learns in doubles has learnt from float32 numbers.

    LightGBM and HistGradientBoosting put thresholds midway between two values. Between two doubles
    that are one float32 number, a threshold tells apart what the graph can't.

    Raises:
        ModelError: It was trained on doubles.
    """
    found = _thresholds(estimator)
    if len(found) < _FEWEST:
        return
    share = float(np.mean(~midway(found)))
    if share > _SHARE_OF_DOUBLES:
        raise ModelError(
            f"{type(estimator).__name__} was trained on doubles, {share:.0%} of its thresholds lie "
            "between numbers that float32 does not have: train it on the float32 columns that "
            "FeatureSet.history returns"
        )


def midway(values: Doubles) -> NDArray[np.bool_]:
    """Return which values may be the middle of two float32 numbers, or the double after it.

    The sum of two float32 numbers of like size is a float32 number and a rest that is one, too.
    """
    fits = np.zeros(len(values), dtype=np.bool_)
    for value in (values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)):
        total = 2.0 * value
        rest = total - total.astype(np.float32)
        fits |= rest == rest.astype(np.float32)
    return fits


def _thresholds(estimator: Any) -> Doubles:
    if hasattr(estimator, "_bin_mapper"):  # HistGradientBoosting
        splits = [
            tree.nodes["num_threshold"][~tree.nodes["is_leaf"].astype(bool)]
            for stage in estimator._predictors
            for tree in stage
        ]
        return _usable(splits)
    booster = getattr(estimator, "booster_", None)
    if booster is None or not hasattr(booster, "trees_to_dataframe"):
        return np.empty(0)
    splits = [
        np.array(line.partition("=")[2].split(), dtype=np.float64)
        for line in booster.model_to_string().splitlines()
        if line.startswith("threshold=")
    ]
    return _usable(splits)


def _usable(splits: list[Any]) -> Doubles:
    joined = np.concatenate([np.empty(0), *splits])
    finite = np.isfinite(joined) & (np.abs(joined) < np.finfo(np.float32).max / 4)
    return np.asarray(joined[finite])


def _is_isotonic(part: Any) -> bool:
    return type(part).__name__ == "CalibratedClassifierCV" and part.method == "isotonic"


def _parts(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and the fitted estimators inside it."""
    yield estimator
    for inner in _inner(estimator):
        if hasattr(inner, "get_params"):
            yield from _parts(inner)


def _inner(estimator: Any) -> Iterator[Any]:
    yield from (step for _, step in getattr(estimator, "steps", ()))
    for member in getattr(estimator, "estimators_", ()):
        yield from member if isinstance(member, (list, np.ndarray)) else (member,)
    yield from (each.estimator for each in getattr(estimator, "calibrated_classifiers_", ()))
    yield getattr(estimator, "final_estimator_", None)
