"""Prices, volumes and spreads: their decimals, and what no market can have had."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.market.importer.columns import PRICES
from bridge.market.importer.fault import Fault
from bridge.market.importer.raw import Raw
from bridge.market.importer.stated import Side, Stated

Floats = NDArray[np.float64]

MOST_DIGITS = 8
_SAMPLE = 2_000
# Units in the last place that a sum of a few steps may be off.
_NOISE = 4 * np.finfo(np.float64).eps
# Of a symbol with digits this many whole prices in a row are not prices.
_WHOLE_PRICES = 20


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """Prices as they are stored.

    Attributes:
        columns: Name to prices, float64, rounded to ``digits``; shape ``(n,)`` each.
        digits: Their decimals.
        noisy: How many carried noise of floating point beyond their decimals.
    """

    columns: Mapping[str, Floats]
    digits: int
    noisy: int


def priced(raw: Raw, stated: Stated, names: tuple[str, ...]) -> Priced:
    """Return the prices of ``names``, scaled and without noise.

    Raises:
        Fault: A price is missing or no positive number, or has more decimals than it may.
    """
    found = {name: raw.columns[name].astype(np.float64) * stated.scale for name in names}
    for name, prices in found.items():
        if (wrong := ~(np.isfinite(prices) & (prices > 0))).any():
            row = int(np.argmax(wrong))
            said = "is missing" if np.isnan(prices[row]) else f"is {prices[row]:g}"
            raise Fault(
                f"the {name} {said}, and has to be a positive number; export the bars again", row
            )
    digits = _digits(found, raw, stated)
    rounded = {name: np.rint(prices * 10**digits) / 10**digits for name, prices in found.items()}
    noisy = sum(int((rounded[name] != found[name]).sum()) for name in names)
    if noisy and not digits and stated.digits is None and stated.scale == 1.0:
        raise Fault(
            "prices are whole numbers with noise of floating point, as they are when somebody "
            "multiplied them: say --price-scale (0.00001 for five digits), or --digits 0"
        )
    return Priced(rounded, digits, noisy)


def _digits(found: Mapping[str, Floats], raw: Raw, stated: Stated) -> int:
    if stated.digits is not None:
        _check_digits(found, stated.digits)
        if not raw.decimals and stated.scale == 1.0 and stated.digits and _all_whole(found):
            raise Fault(
                f"all prices are whole numbers, and the symbol has {stated.digits} digits: if they "
                f"are scaled, say --price-scale {10.0**-stated.digits:g}, or else --digits 0"
            )
        return stated.digits
    sample = {name: prices[:_SAMPLE] for name, prices in found.items()}
    least = next((d for d in range(MOST_DIGITS + 1) if _fits(sample, d)), MOST_DIGITS)
    digits = next((d for d in range(least, MOST_DIGITS + 1) if _fits(found, d)), None)
    if digits is None:
        _check_digits(found, MOST_DIGITS)
    shown = raw.decimals if raw.decimals <= MOST_DIGITS and stated.scale == 1.0 else 0
    return max(digits or 0, shown)


def _all_whole(found: Mapping[str, Floats]) -> bool:
    return len(next(iter(found.values()))) >= _WHOLE_PRICES and _fits(found, 0)


def _fits(found: Mapping[str, Floats], digits: int) -> bool:
    return not any(_beyond(prices, digits).any() for prices in found.values())


def _beyond(prices: Floats, digits: int) -> NDArray[np.bool_]:
    rounded = np.rint(prices * 10**digits) / 10**digits
    return np.asarray(np.abs(rounded - prices) > _NOISE * prices)


def _check_digits(found: Mapping[str, Floats], digits: int) -> None:
    for name, prices in found.items():
        if (wrong := _beyond(prices, digits)).any():
            row = int(np.argmax(wrong))
            raise Fault(
                f"the {name} {float(prices[row])!r} has more than {digits} decimals: say how many "
                "a price has with --digits, and export prices with no more",
                row,
            )


def check_bars(columns: Mapping[str, Floats]) -> None:
    """Check that highs and lows enclose the other prices.

    Raises:
        Fault: The first bar that is impossible.
    """
    high, low = columns["high"], columns["low"]
    stacked = [columns[name] for name in PRICES]
    highest, lowest = np.maximum.reduce(stacked), np.minimum.reduce(stacked)
    for wrong, said in ((high < highest, "high"), (low > lowest, "low")):
        if wrong.any():
            row = int(np.argmax(wrong))
            shown = ", ".join(f"{name} {columns[name][row]:g}" for name in PRICES)
            beyond = "below" if said == "high" else "above"
            raise Fault(
                f"no bar can have {shown}: its {said} is {beyond} another of its prices; if the "
                "columns have another order, name them with --columns",
                row,
            )


def as_bid(priced_bars: Priced, stated: Stated, *, ask_in_name: bool) -> Priced:
    """Return bid prices: a terminal's bars are made of bids.

    Raises:
        Fault: The file's name speaks of ask prices, and nothing is stated; or ask prices are
            stated without a spread.
    """
    if stated.side is None and ask_in_name:
        raise Fault(
            "the file's name speaks of ask prices, and a terminal's bars are bid prices: say "
            "--side ask and the usual --spread in points, or --side bid"
        )
    if stated.side is not Side.ASK:
        return priced_bars
    if stated.spread is None:
        raise Fault("ask prices become bid prices by the spread: say --spread, in points")
    digits, columns = priced_bars.digits, priced_bars.columns
    moved = {
        name: (np.rint(prices * 10**digits) - stated.spread) / 10**digits
        for name, prices in columns.items()
    }
    return Priced(moved, digits, priced_bars.noisy)


def whole(name: str, numbers: NDArray[Any], *, rounded: bool) -> tuple[NDArray[Any], int]:
    """Return whole numbers, and how many had a fraction.

    Args:
        name: Of the column.
        numbers: Shape ``(n,)``; empty cells are NaN and become 0.
        rounded: Whether fractions are rounded (volumes of other programs have them), or refused.

    Raises:
        Fault: A number is negative, too large, or has a fraction.
    """
    if numbers.dtype.kind == "u":
        return numbers, 0
    filled = np.where(np.isnan(numbers), 0, numbers) if numbers.dtype.kind == "f" else numbers
    if (wrong := (filled < 0) | (filled >= 2.0**63)).any():
        row = int(np.argmax(wrong))
        raise Fault(f"the {name} {numbers[row]:g} is no number that a bar can have", row)
    near = np.rint(filled)
    fractions = near != filled
    if not rounded and fractions.any():
        row = int(np.argmax(fractions))
        raise Fault(
            f"the {name} {numbers[row]:g} is no whole number of points: leave the column out with "
            "--columns and state --spread, or convert it",
            row,
        )
    return near.astype(np.uint64), int(fractions.sum())
