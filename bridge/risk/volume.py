"""Volume of an entry: fixed, or from risk. Pure arithmetic; always rounded down, never lifted."""

import math
from dataclasses import dataclass

from bridge.mt5.records import SymbolInfo

# Keeps 0.3 / 0.1 from flooring to 2; a billionth of a step moves no money.
_STEP_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Sizing:
    """A volume, or why there is none.

    Attributes:
        volume: Lots in whole steps; 0.0 means do not trade.
        words: How it came about, with the numbers.
    """

    volume: float
    words: str


def floor_to_step(symbol: SymbolInfo, lots: float) -> float:
    """Return the largest whole number of steps in ``lots``, at most the symbol's maximum.

    Steps are counted from zero. The result may lie below the symbol's minimum.
    """
    steps = math.floor(min(lots, symbol.volume_max) / symbol.volume_step + _STEP_SLACK)
    return round(steps * symbol.volume_step, 8)


def fixed_volume(symbol: SymbolInfo, lots: float) -> Sizing:
    """Return ``lots`` rounded down to the symbol's step, or 0.0 when below its minimum."""
    volume = floor_to_step(symbol, lots)
    if volume < symbol.volume_min:
        return Sizing(
            0.0,
            f"{symbol.name}: {lots:g} lots are below the minimum of {symbol.volume_min:g}; "
            "raise volume in the settings",
        )
    return Sizing(volume, f"{volume:g} lots, fixed")


def volume_for_risk(
    symbol: SymbolInfo, *, equity: float, share: float, loss_per_lot: float
) -> Sizing:
    """Return the largest volume that loses at most ``equity * share`` at the stop.

    Args:
        symbol: Trading terms as ``symbol_info`` reports them.
        equity: Account equity, account currency.
        share: Share of equity at stake, above 0, at most 1.
        loss_per_lot: What one lot loses at the stop, account currency, from
            ``order_calc_profit``.

    Returns:
        Lots in whole steps, never rounded up; 0.0 means do not trade.

    Raises:
        ValueError: An argument is not a finite number in its range.
    """
    if not (math.isfinite(equity) and 0.0 < share <= 1.0 and 0.0 < loss_per_lot < math.inf):
        raise ValueError(f"{symbol.name}: {equity=} {share=} {loss_per_lot=} out of range")
    budget = max(0.0, equity * share)
    wanted = budget / loss_per_lot
    volume = floor_to_step(symbol, wanted)
    if volume < symbol.volume_min:
        least = symbol.volume_min * loss_per_lot
        of_equity = f" ({least / equity:.1%} of equity)" if equity > 0 else ""
        return Sizing(
            0.0,
            f"{symbol.name}: risking {budget:.2f} needs {wanted:.4g} lots, the minimum is "
            f"{symbol.volume_min:g}, which would risk {least:.2f}{of_equity}; "
            "raise risk_share or narrow the stop",
        )
    return Sizing(volume, f"{volume:g} lots risk {volume * loss_per_lot:.2f} of {budget:.2f}")
