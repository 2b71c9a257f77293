"""Settings of back-tests: the account that they begin with, and how hard they are tested."""

from typing import Annotated

from pydantic import Field

from bridge.settings.values import Frozen, OrOff, Positive

_Part = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


class BacktestSettings(Frozen):
    """Defaults of mt5-onnx backtest; its options replace them."""

    folder: Annotated[str, Field(min_length=1)] = "backtests"
    """Folder in which each back-test makes its own; relative to the settings file."""
    deposit: OrOff[Positive] = None
    """Money at the beginning, account currency; None takes the profile's."""
    spread_points: OrOff[Annotated[int, Field(ge=1)]] = None
    """One spread for all bars of all symbols, points; None takes that of the bars."""
    lookahead_cuts: Annotated[int, Field(ge=1, le=10_000)] = 20
    """Bars, drawn at random, at which --check-lookahead cuts the future off."""
    stress_spread: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 2.0
    """--stress: times the spread."""
    stress_slippage: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.5
    """--stress: what each deal loses to a worse price, in mean spreads; booked as commission."""
    stress_missed: _Part = 0.05
    """--stress: share of the bars that the daemon does not see in time."""
    missed_trades: _Part = 0.1
    """--monte-carlo: share of the trades that are left out."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Of all that is drawn at random."""
