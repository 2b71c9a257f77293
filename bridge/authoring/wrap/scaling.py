"""The scaler of the training: constants into the features' formulas, or by each answer's own steps.

Constants are applied in doubles, before the one cast to float32, as scikit-learn does it. Each way
has a twin in numpy here, which is what the proof asks.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.authoring.wrap.spec import Scaler
from bridge.errors import ConfigError
from bridge.features.expr import Expr, maximum, minimum

Doubles = NDArray[np.float64]

NEEDS = {"standard": ("mean", "scale"), "minmax": ("min", "max")}
"""Constants of each kind."""
KEYS = {
    "mean": ("mean", "means", "mean_", "mu"),
    "scale": ("scale", "scales", "scale_", "std", "stds", "std_", "sigma"),
    "min": ("min", "mins", "data_min_", "data_min"),
    "max": ("max", "maxs", "data_max_", "data_max"),
    "names": ("features", "feature_cols", "feature_names", "feature_names_in_", "columns"),
}
"""What JSON files call them."""


@dataclass(frozen=True, slots=True)
class Constants:
    """A feature's own line: ``(x - minus) / over * times + plus``, cut to ``ends`` where given."""

    minus: tuple[float, ...]
    over: tuple[float, ...]
    times: float = 1.0
    plus: float = 0.0
    ends: tuple[float, float] | None = None

    def expressions(self, raw: Sequence[Expr]) -> list[Expr]:
        """Return the scaled features."""
        return [self._one(*each) for each in zip(raw, self.minus, self.over, strict=True)]

    def numbers(self, raw: Doubles) -> Doubles:
        """Return the same in numpy; the last dimension is the features'."""
        values: Doubles = (raw - np.array(self.minus)) / np.array(self.over)
        if (self.times, self.plus) != (1.0, 0.0):
            values = values * self.times + self.plus
        return values if self.ends is None else np.clip(values, *self.ends)

    def _one(self, value: Expr, minus: float, over: float) -> Expr:
        value = (value - minus) / over
        if (self.times, self.plus) != (1.0, 0.0):
            value = value * self.times + self.plus
        if self.ends is None:
            return value
        return minimum(maximum(value, self.ends[0]), self.ends[1])


def constants(scaler: Scaler, names: Sequence[str], folder: Path) -> Constants | None:
    """Return the constants of ``scaler``; None for one that has none.

    Args:
        scaler: What is said of it.
        names: The features, in order.
        folder: Where the scaler's file is looked for.

    Raises:
        ConfigError: They are missing, of another number or order than the features, or unusable.
    """
    _check_kind(scaler)
    if scaler.kind not in NEEDS:
        return None
    found = _found(scaler, folder)
    _check_names(scaler, found.pop("names", None), names)
    first, second = (_column(scaler, key, found.get(key), names) for key in NEEDS[scaler.kind])
    if scaler.kind == "standard":
        _check_over(scaler, "scale", second, names)
        return Constants(first, second)
    low, high = scaler.range
    over = tuple(top - bottom for bottom, top in zip(first, second, strict=True))
    _check_over(scaler, "max - min", over, names)
    ends = (low, high) if scaler.clip else None
    return Constants(first, over, high - low, low, ends)


def by_steps(scaler: Scaler, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows ``(n, steps, features)`` scaled by their own steps, where the scaler says so.

    The twin of the graph's: doubles inside; what does not move over the steps becomes the lower
    end, or 0.
    """
    if scaler.kind not in ("window_minmax", "window_standard"):
        return rows
    values = rows.astype(np.float64)
    if scaler.kind == "window_minmax":
        least = values.min(axis=1, keepdims=True)
        span = values.max(axis=1, keepdims=True) - least
        low, high = scaler.range
        moved = (values - least) / np.where(span > 0, span, 1.0)
        return np.asarray(moved * (high - low) + low, dtype=np.float32)
    off = values - values.mean(axis=1, keepdims=True)
    spread = np.sqrt((off * off).mean(axis=1, keepdims=True) * _bessel(scaler, rows.shape[1]))
    return np.asarray(off / np.where(spread > 0, spread, 1.0), dtype=np.float32)


def _bessel(scaler: Scaler, steps: int) -> float:
    return steps / (steps - (scaler.ddof or 0))


def read_constants(path: Path) -> dict[str, Any]:
    """Return what a JSON file of a scaler holds, by the names of ``KEYS``.

    Raises:
        ConfigError: It is no JSON object.
    """
    try:
        told = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(
            f"the scaler {path} can't be read ({error.strerror}): check the path"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the scaler {path} is no JSON: {error}") from error
    if isinstance(told, list):
        told = {"features": told}
    if not isinstance(told, dict):
        raise ConfigError(f"the scaler {path} is no JSON object: write it as one")
    return {key: told[name] for key, names in KEYS.items() for name in names if told.get(name)}


def _check_kind(scaler: Scaler) -> None:
    given = [key for key in ("mean", "scale", "min", "max", "file") if getattr(scaler, key)]
    if scaler.kind not in NEEDS and given:
        raise ConfigError(
            f"the scaler has {', '.join(given)} and the kind {scaler.kind}: set kind = "
            '"standard" or "minmax", or leave them out'
        )
    if scaler.kind == "window_standard" and scaler.ddof is None:
        raise ConfigError(
            "the scaler window_standard does not say how it counts deviations: set ddof = 0 "
            "(numpy, scikit-learn) or 1 (pandas)"
        )
    if scaler.clip and scaler.kind != "minmax":
        raise ConfigError(f"the scaler {scaler.kind} does not clip: remove clip, or use minmax")
    if scaler.range[0] >= scaler.range[1]:
        raise ConfigError(f"the scaler's range {list(scaler.range)} is none: lower end first")


def _found(scaler: Scaler, folder: Path) -> dict[str, Any]:
    found = {} if scaler.file is None else read_constants(folder / scaler.file)
    written = {key: getattr(scaler, key) for key in NEEDS[scaler.kind]}
    return found | {key: value for key, value in written.items() if value is not None}


def _check_names(scaler: Scaler, told: Any, names: Sequence[str]) -> None:
    if not isinstance(told, list) or list(names) == told:
        return
    if len(told) == len(names):
        place = next(n for n, (a, b) in enumerate(zip(told, names, strict=True)) if a != b)
        raise ConfigError(
            f"the scaler {scaler.file} has {told[place]!r} as feature {place + 1}, the file of the "
            f"contract {names[place]!r}: write them in the order of the training"
        )
    raise ConfigError(
        f"the scaler {scaler.file} names {len(told)} features, the file of the contract "
        f"{len(names)}: declare each, in the order of the training"
    )


def _column(scaler: Scaler, key: str, value: Any, names: Sequence[str]) -> tuple[float, ...]:
    if value is None:
        raise ConfigError(
            f"the scaler {scaler.kind} has no {key}: the constants of the training have to travel "
            f"with the model, one for each of {len(names)} features"
        )
    try:
        numbers = np.asarray(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the scaler's {key} is no list of numbers: write them") from error
    if len(numbers) != len(names):
        raise ConfigError(
            f"the scaler's {key} has {len(numbers)} numbers, there are {len(names)} features: give "
            "one for each, in order"
        )
    if not np.isfinite(numbers).all():
        place = int(np.argmin(np.isfinite(numbers)))
        raise ConfigError(f"the scaler's {key} of {names[place]} is not finite: write a number")
    return tuple(numbers.tolist())


def _check_over(scaler: Scaler, what: str, values: Sequence[float], names: Sequence[str]) -> None:
    for name, value in zip(names, values, strict=True):
        if value <= 0.0:
            raise ConfigError(
                f"the scaler's {what} of {name} is {value:g}, it has to be above 0: for a feature "
                "that is not scaled write mean 0 and scale 1, or min 0 and max 1"
            )
