"""Does a feature see the future: its values on bars that end must be those on bars that go on."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bridge.mt5.rates import RatesArray

Feature = Callable[[RatesArray], ArrayLike]
"""Given bars, shape ``(n,)``, returns a value for each of them, shape ``(n,)``."""

# Sums over longer bars are added in another order; what is ahead changes more than that.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


@dataclass(frozen=True, slots=True)
class Peek:
    """A feature whose value at a bar is another one once later bars are known.

    Attributes:
        bar_time: Open of that bar, server epoch seconds.
        with_future: Its value among all bars.
        without: Its value when that bar is the last one.
    """

    name: str
    bar_time: int
    with_future: float
    without: float

    def __str__(self) -> str:
        """Say it in a sentence's part."""
        return f"{self.name} is {self.without:.6g} at its bar and {self.with_future:.6g} later"


def peeking_features(
    features: Mapping[str, Feature],
    rates: RatesArray,
    *,
    cuts: int = 50,
    seed: int = 1,
    first: int = 1,
) -> tuple[Peek, ...]:
    """Return for each feature that sees its future the first bar at which it was caught.

    Args:
        features: Name to function.
        rates: Shape ``(n,)``, oldest first.
        cuts: How many bars are tried.
        seed: Of the draw.
        first: The earliest bar that is tried: how many are before it.

    Raises:
        ValueError: A feature does not give one value a bar.
    """
    chance = random.Random(seed)  # noqa: S311  not a secret
    places = sorted(chance.sample(range(first, len(rates)), min(cuts, len(rates) - first)))
    found = (_caught(name, feature, rates, places) for name, feature in features.items())
    return tuple(peek for peek in found if peek is not None)


def _caught(name: str, feature: Feature, rates: RatesArray, places: list[int]) -> Peek | None:
    whole = _values(name, feature, rates)
    for place in places:
        last = float(_values(name, feature, rates[: place + 1])[-1])
        known = float(whole[place])
        if not np.isclose(last, known, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True):
            return Peek(name, int(rates["time"][place]), known, last)
    return None


def _values(name: str, feature: Feature, rates: RatesArray) -> np.ndarray:
    values = np.asarray(feature(rates), dtype=np.float64)
    if values.shape != (len(rates),):
        raise ValueError(
            f"feature {name} gives values of shape {values.shape} for {len(rates)} bars: "
            "return one for each"
        )
    return values
