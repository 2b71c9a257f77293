"""What settings are made of: the frozen base, and the kinds of value that many of them share.

The ground floor knows neither timeframes nor clock rules, so that their names stand here once
more; a test holds them to ``bridge.mt5``.
"""

import re
from collections.abc import Callable
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

_MINUTES, _HOURS = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30), (1, 2, 3, 4, 6, 8, 12)
TIMEFRAMES: Final = (*(f"M{n}" for n in _MINUTES), *(f"H{n}" for n in _HOURS), "D1", "W1", "MN1")
"""Names of the timeframes, shortest first."""
_CLOCK = r"^(auto|utc|eet-eu|eet-us|utc[+-](0?\d|1[0-3])(:[0-5]\d)?|utc[+-]14(:00)?)$"
_TIME_OF_DAY = r"^([01]\d|2[0-3]):[0-5]\d$"
_PORT = r"([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])"
_ADDRESS = rf"^(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):{_PORT}$"
_TIME_SPAN = r"^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$"


class Frozen(BaseModel):
    """A value object: frozen, and a key that it does not know is an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True
    )


def _none_if_off(value: object) -> object:
    # Pydantic takes what comes from here as Python's: a strict tuple is no longer met by an array.
    if isinstance(value, list):
        return tuple(value)
    return None if value == "off" else value


_T = TypeVar("_T")
OrOff = Annotated[_T | None, BeforeValidator(_none_if_off)]
"""A value that may be switched off: None here, "off" in a file, since TOML has no null."""

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]


def _matching(pattern: str, allowed: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(f"has to be {allowed}")
        return text

    return check


def _two_times(span: str) -> str:
    first, _, last = span.partition("-")
    if first == last:
        raise ValueError("begins and ends at one time: name two")
    return span


def _pattern(pattern: str) -> dict[str, JsonValue]:
    return {"pattern": pattern}


ClockRule = Annotated[
    str,
    AfterValidator(_matching(_CLOCK, "auto, utc, eet-eu, eet-us or an offset such as utc+3")),
    Field(json_schema_extra=_pattern(_CLOCK)),
]
Address = Annotated[
    str,
    AfterValidator(_matching(_ADDRESS, 'host:port in quotes, such as "127.0.0.1:18812"')),
    Field(json_schema_extra=_pattern(_ADDRESS)),
]
TimeOfDay = Annotated[
    str,
    AfterValidator(_matching(_TIME_OF_DAY, 'hours and minutes in quotes, such as "23:55"')),
    Field(json_schema_extra=_pattern(_TIME_OF_DAY)),
]
TimeSpan = Annotated[
    str,
    AfterValidator(_matching(_TIME_SPAN, 'two times in quotes, such as "08:00-20:00"')),
    AfterValidator(_two_times),
    Field(json_schema_extra=_pattern(_TIME_SPAN)),
]
"""A span of the day; it goes over midnight when it ends before it begins."""
TimeframeName = Annotated[
    str,
    AfterValidator(_matching("|".join(TIMEFRAMES), f"one of {', '.join(TIMEFRAMES)}")),
    Field(json_schema_extra={"enum": list[JsonValue](TIMEFRAMES)}),
]
