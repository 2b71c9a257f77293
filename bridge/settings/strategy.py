"""Settings of one strategy: how it decides, what it risks, how its orders are sent."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from bridge.errors import ConfigError
from bridge.settings.faults import first_fault_of
from bridge.settings.hours import HoursSettings
from bridge.settings.manage import ManageSettings
from bridge.settings.session import SessionSettings
from bridge.settings.values import (
    Frozen,
    NotNegative,
    OrOff,
    Positive,
    Share,
    Text,
    TimeframeName,
)


class Sides(StrEnum):
    """Which way a strategy may trade."""

    BOTH = "both"
    LONG = "long"
    SHORT = "short"


class DecisionSettings(Frozen):
    """How a signal becomes a decision. A contract carries them as defaults; settings override.

    Thresholds are in the unit of the model's output: a share (0 to 1) for class shares, the
    forecast's own unit for a forecast, lots of direction (-1 to 1) for a position target.
    """

    open_at: Positive = 0.5
    """Open when a side's value is at least this and above the other side's."""
    close_at: NotNegative = 0.0
    """Close when the value of the open side falls below this; 0 keeps it open."""
    reverse: bool = True
    """When the other side is signaled: open it after closing (true), or only close (false)."""
    sides: Sides = Sides.BOTH
    """Which sides may be opened."""
    max_bars: OrOff[Annotated[int, Field(ge=1)]] = None
    """Close after so many closed bars."""
    stop_points: OrOff[Positive] = None
    """Distance of the stop loss, points."""
    stop_ranges: OrOff[Positive] = None
    """Distance of the stop loss as a multiple of the recent range."""
    take_points: OrOff[Positive] = None
    """Distance of the take profit, points."""
    take_ranges: OrOff[Positive] = None
    """Distance of the take profit as a multiple of the recent range."""
    range_bars: Annotated[int, Field(ge=1, le=1000)] = 24
    """Closed bars whose mean true range is the recent range."""

    @property
    def reads_range(self) -> bool:
        """Whether a distance depends on the recent range."""
        return self.stop_ranges is not None or self.take_ranges is not None

    @model_validator(mode="after")
    def _one_way_each(self) -> Self:
        for level in ("stop", "take"):
            if getattr(self, f"{level}_points") and getattr(self, f"{level}_ranges"):
                raise ValueError(
                    f"{level}_points and {level}_ranges are both set: keep one of them"
                )
        return self


# Setting one of a pair switches the other off: a distance has one source.
_PAIRS = {
    "stop_points": "stop_ranges",
    "stop_ranges": "stop_points",
    "take_points": "take_ranges",
    "take_ranges": "take_points",
}


def decision_settings(
    defaults: DecisionSettings, changes: Mapping[str, JsonValue]
) -> DecisionSettings:
    """Return the contract's ``defaults`` with the user's ``changes``.

    Raises:
        ConfigError: A key is unknown or a value out of its bounds.
    """
    values = defaults.model_dump(mode="json")
    values.update({_PAIRS[key]: None for key in changes if key in _PAIRS})
    text = json.dumps(values | dict(changes))
    try:
        # Through JSON, so that strict still reads a side from its name.
        return DecisionSettings.model_validate_json(text, strict=True)
    except ValidationError as error:
        fault = first_fault_of(error, DecisionSettings, inside=("decision",))
        raise ConfigError(fault) from error


class RiskSettings(Frozen):
    """How much is put at stake, and the limits beyond which nothing is opened."""

    volume: OrOff[Positive] = 0.1
    """Lots of an entry; None sizes by risk_share."""
    risk_share: OrOff[Share] = None
    """Share of equity that an entry loses at its stop; used when volume is None."""
    require_stop: bool = True
    """Refuse an entry without a stop loss on the server."""
    max_positions: Annotated[int, Field(ge=1)] = 1
    """Positions of the strategy at one time; on a netting account the symbol's one counts, whoever
    opened it."""
    max_volume: Positive = 1.0
    """Lots of the strategy's symbol, long and short added up, the new order included; on a netting
    account all that is held of it."""
    max_spread_points: OrOff[Positive] = 30.0
    """Widest spread at which anything is opened, points."""
    daily_loss_share: OrOff[Share] = 0.05
    """The account's loss since the server day began, share of the day's first equity: no entries
    of this strategy that day."""
    weekly_loss_share: OrOff[Share] = None
    """The same since the server week began, on Sunday."""
    max_drawdown_share: OrOff[Share] = 0.25
    """Fall from the account's highest equity, share of it: this strategy is halted."""
    max_losses_in_row: OrOff[Annotated[int, Field(ge=1)]] = None
    """Positions that the strategy closed at a loss one after the other on a server day, costs
    included: no entries that day."""

    @model_validator(mode="before")
    @classmethod
    def _share_replaces_volume(cls, values: object) -> object:
        # Naming a share is choosing to size by it: the default volume steps aside.
        if isinstance(values, Mapping) and "risk_share" in values and "volume" not in values:
            by_share = values["risk_share"] not in (None, "off")
            return {**values, "volume": None} if by_share else values
        return values

    @model_validator(mode="after")
    def _one_way_to_size(self) -> Self:
        if (self.volume is None) == (self.risk_share is None):
            raise ValueError("set exactly one of volume and risk_share")
        return self


class WithoutStop(StrEnum):
    """What becomes of a position that the broker keeps without its stop loss."""

    CLOSE = "close"
    KEEP = "keep"


class ExecutionSettings(Frozen):
    """How orders are sent."""

    deviation_points: Annotated[int, Field(ge=0)] = 20
    """How far the price may move before an instant execution is refused, points."""
    comment: str = "mt5-onnx"
    """Comment of an order; cut to 29 UTF-16 units, and never used to recognise a position."""
    tries: Annotated[int, Field(ge=1, le=10)] = 3
    """How often a request is made anew, at the price of the moment, while the server says that
    its price has moved (requote, price changed, no prices)."""
    widen_stops: bool = False
    """Whether a level nearer than the broker's stops level is moved out to it; else the entry is
    denied."""
    retry_exits: bool = True
    """Whether an exit that can't be had now (market closed, position frozen) is asked for again
    until it is done; else only at the next signal."""
    stop_tries: Annotated[int, Field(ge=1, le=10)] = 3
    """How often a stop loss that the broker did not take over is set again."""
    without_stop: WithoutStop = WithoutStop.CLOSE
    """What becomes of a position whose stop loss can't be set: close it, or keep it and tell."""


class StrategySettings(Frozen):
    """One strategy: a model on a symbol and timeframe, known by its magic number."""

    name: OrOff[Text] = None
    """Name in status, logs and messages; without it, symbol, timeframe and magic."""
    model: Text
    """Path of the .onnx file; in a settings file, relative to that file."""
    sha256: OrOff[str] = None
    """The file's hash; another file is refused."""
    symbol: Text
    """The broker's exact name of the symbol."""
    timeframe: TimeframeName
    """M1 to MN1."""
    magic: Annotated[int, Field(ge=1, lt=2**63)]
    """Number that marks the strategy's orders."""
    alias: OrOff[Text] = None
    """The contract's name of the symbol, when the broker's differs by more than a suffix."""
    decision: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys of DecisionSettings that replace the contract's defaults."""
    risk: RiskSettings = RiskSettings()
    hours: HoursSettings = HoursSettings()
    execution: ExecutionSettings = ExecutionSettings()
    manage: ManageSettings = ManageSettings()
    session: SessionSettings = SessionSettings()

    @property
    def title(self) -> str:
        """The strategy as messages call it."""
        return self.name or f"{self.symbol} {self.timeframe} {self.magic}"
