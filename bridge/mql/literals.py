"""Values as MQL5 writes them: literals of a source, fields of a preset, banners."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from bridge.errors import ConfigError

_WIDTH = 66
RULE = f"//+{'-' * _WIDTH}+"
"""The line above and below a box, and at the end of a source."""
_INT_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of an enum.

    Attributes:
        name: Its constant in MQL5.
        number: Its number, which is what a preset holds.
    """

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Long:
    """A whole number of 64 bits; others are ints of 32."""

    number: int


Value = bool | int | float | str | Choice | Long


def literal(what: str, value: Value) -> str:
    """Return ``value`` as a constant of a source.

    Args:
        what: Its name, for the message.
        value: The value.

    Raises:
        ConfigError: MQL5 can't hold it.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{escaped(what, value)}"'
    if isinstance(value, float):
        return double(what, value)
    if isinstance(value, Choice):
        return value.name
    return str(_whole(what, value))


def field(what: str, value: Value) -> str:
    """Return ``value`` as a preset holds it.

    Raises:
        ConfigError: MQL5 can't hold it.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped(what, value)
        return value
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, Choice):
        return str(value.number)
    return str(_whole(what, value))


def _whole(what: str, value: int | Long) -> int:
    if isinstance(value, Long):
        return value.number
    if abs(value) > _INT_LARGEST:
        raise ConfigError(
            f"{what} is {value}, an int of MQL5 holds at most {_INT_LARGEST}: set a smaller one"
        )
    return value


def double(what: str, value: float) -> str:
    """Return a double's literal, read again as the same number.

    Raises:
        ConfigError: It is not finite.
    """
    if not math.isfinite(value):
        raise ConfigError(f"{what} is {value}, which no source can hold: set a finite number")
    return repr(float(value))


def escaped(what: str, text: str) -> str:
    """Return a text as it stands between quotes.

    Raises:
        ConfigError: It holds what a source in plain ASCII can't.
    """
    if not text.isascii() or not text.isprintable():
        raise ConfigError(
            f"{what} is {text!r}, and MQL5 sources are kept in plain ASCII: use its letters only"
        )
    return text.replace("\\", "\\\\").replace('"', '\\"')


def banner(lines: Iterable[str]) -> str:
    """Return the box that sources of the terminal begin with; a line that is too long is cut."""
    inside = [f"//| {line[: _WIDTH - 1]:{_WIDTH - 1}}|" for line in lines]
    return "\n".join([RULE, *inside, RULE])
