"""Settings of the whole account's limits, and the preset for accounts of a prop firm."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bridge.settings.values import Frozen, NotNegative, OrOff, Positive, Share, Text

_Count = Annotated[int, Field(ge=1)]

FlattenOn = Literal[
    "daily_loss",
    "weekly_loss",
    "drawdown",
    "losses_in_row",
    "margin_level",
    "prop_daily_loss",
    "prop_total_loss",
    "prop_profit_target",
]
"""A limit that may close positions when it trips, by the name that status and alarms show."""

# Where each of them is set: the table in limits, if any, and the key.
_SET_BY: dict[FlattenOn, tuple[str, ...]] = {
    "daily_loss": ("daily_loss_share",),
    "weekly_loss": ("weekly_loss_share",),
    "drawdown": ("max_drawdown_share",),
    "losses_in_row": ("max_losses_in_row",),
    "margin_level": ("min_margin_level",),
    "prop_daily_loss": ("prop_firm", "daily_loss_share"),
    "prop_total_loss": ("prop_firm", "total_loss_share"),
    "prop_profit_target": ("prop_firm", "profit_target_share"),
}


class DayStart(StrEnum):
    """From what a prop firm counts the day's loss."""

    LARGER = "larger"
    BALANCE = "balance"
    EQUITY = "equity"


class PropFirmSettings(Frozen):
    """Rules of a prop firm's account; naming the table switches them on.

    All shares are of the starting balance, so that each is an amount of money, as firms name it.
    Days are the server's.
    """

    start_balance: Positive
    """Balance with which the account began, account currency; deposits since raise it."""
    daily_loss_share: OrOff[Share] = 0.05
    """Closed and floating loss since the server day began: no entries that day."""
    daily_from: DayStart = DayStart.LARGER
    """From what it is counted: the larger of balance and equity at the day's start, or one of
    them."""
    total_loss_share: OrOff[Share] = 0.10
    """Closed and floating loss against the starting balance: everything is halted."""
    profit_target_share: OrOff[Positive] = 0.10
    """Profit, floating included, from which nothing is opened."""


class LimitSettings(Frozen):
    """Limits of the whole account, over all strategies; each strategy has its own besides."""

    daily_loss_share: OrOff[Share] = 0.05
    """Closed and floating loss since the server day began, share of the day's first equity: no
    entries that day."""
    weekly_loss_share: OrOff[Share] = None
    """The same since the server week began, on Sunday: no entries that week."""
    max_drawdown_share: OrOff[Share] = 0.25
    """Fall from the highest equity, share of it: everything is halted."""
    max_losses_in_row: OrOff[_Count] = None
    """Positions that the strategies closed at a loss one after the other on a server day, costs
    included: no entries that day."""
    min_margin_level: OrOff[Positive] = 200.0
    """Equity to margin below which nothing is opened, percent as the terminal shows it."""
    max_positions: OrOff[_Count] = None
    """Positions of all strategies together."""
    max_symbol_volume: OrOff[Positive] = None
    """Lots of one symbol over all strategies, long and short added up, the new order included."""
    max_currency_exposure: OrOff[Positive] = None
    """Net value held in one currency over all strategies, multiple of equity, the new order
    included: 3 is three times the equity."""
    max_orders_per_minute: OrOff[_Count] = 60
    """Entries that all strategies together send within 60 seconds."""
    news_csv: OrOff[Text] = None
    """File of news, with the columns time (server time) and currency; relative to the settings
    file."""
    news_before_minutes: NotNegative = 30.0
    """Minutes before news in which nothing is opened on symbols with its currency."""
    news_after_minutes: NotNegative = 30.0
    """Minutes after news in which nothing is opened likewise."""
    flatten_on: tuple[FlattenOn, ...] = ()
    """Limits that also close the strategies' positions when they trip, such as ["drawdown"]."""
    max_quote_age_seconds: OrOff[Positive] = 60.0
    """Oldest quote on which anything is opened, seconds."""
    max_bar_age_seconds: OrOff[Positive] = 60.0
    """A bar that closed longer ago is journalled as missed and opens nothing, seconds."""
    prop_firm: OrOff[PropFirmSettings] = None
    """Rules of a prop firm's account."""

    @model_validator(mode="after")
    def _flattens_on_limits_that_are_set(self) -> Self:
        for name in self.flatten_on:
            found: object = self
            for key in _SET_BY[name]:
                found = getattr(found, key, None)
            if found is None:
                where = ".".join(_SET_BY[name])
                raise ValueError(f"flatten_on names {name}, which is off: set {where}, too")
        return self
