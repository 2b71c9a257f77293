"""The clock: when a bar opened, in the server's time, as places on a circle.

A model with such a feature knows its broker's clock: the contract has to name it.
"""

import math

from bridge.errors import ConfigError
from bridge.features.expr import Expr, calendar

_HOUR, _DAY = 3_600, 86_400
# 1970-01-01 was a Thursday; days are counted from Sunday, as the terminal does.
_THURSDAY = 4


def hour_sin() -> Expr:
    """Return the sine of the hour of the bar's open, server time, a day a turn.

    Formula: sin(2 pi hour / 24), rounded to 6 digits.
    Range: -1 to 1.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.
    """
    return calendar(_cycle("sin", 24), unit=_HOUR)


def hour_cos() -> Expr:
    """Return the cosine of the hour of the bar's open, server time, a day a turn.

    Formula: cos(2 pi hour / 24), rounded to 6 digits.
    Range: -1 to 1.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.
    """
    return calendar(_cycle("cos", 24), unit=_HOUR)


def weekday_sin() -> Expr:
    """Return the sine of the day of week of the bar's open, server time; 0 is Sunday.

    Formula: sin(2 pi day / 7), rounded to 6 digits.
    Range: -1 to 1.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.
    """
    return calendar(_cycle("sin", 7), unit=_DAY, shift=_THURSDAY)


def weekday_cos() -> Expr:
    """Return the cosine of the day of week of the bar's open, server time; 0 is Sunday.

    Formula: cos(2 pi day / 7), rounded to 6 digits.
    Range: -1 to 1.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.
    """
    return calendar(_cycle("cos", 7), unit=_DAY, shift=_THURSDAY)


def minute_sin() -> Expr:
    """Return the sine of the minute of the bar's open, an hour a turn; for bars below H1.

    Formula: sin(2 pi minute / 60), rounded to 6 digits.
    Range: -1 to 1.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.
    """
    return calendar(_cycle("sin", 60), unit=60)


def minute_cos() -> Expr:
    """Return the cosine of the minute of the bar's open, an hour a turn; for bars below H1.

    Formula: cos(2 pi minute / 60), rounded to 6 digits.
    Range: -1 to 1.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.
    """
    return calendar(_cycle("cos", 60), unit=60)


def session(first: int = 9, last: int = 17) -> Expr:
    """Return whether the bar opened in a session, server time.

    Formula: 1 from the hour first to before the hour last, else 0; over midnight where last is not
    after first.
    Range: 0 or 1.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.

    Raises:
        ConfigError: An hour is not within 0 to 23, or both are the same.
    """
    if not (0 <= first < 24 and 0 <= last < 24) or first == last:
        raise ConfigError(f"a session from {first} to {last} is none: use two hours of 0 to 23")
    length = (last - first) % 24
    return calendar([float((hour - first) % 24 < length) for hour in range(24)], unit=_HOUR)


def weekday(day: int = 5) -> Expr:
    """Return whether the bar opened on a day of the week, server time.

    Formula: 1 on that day, 0 Sunday to 6 Saturday, else 0.
    Range: 0 or 1.
    Lookback: 0.
    TA-Lib: none.
    MT5: none.

    Raises:
        ConfigError: The day is not within 0 to 6.
    """
    if not 0 <= day < 7:
        raise ConfigError(f"day {day} is in no week: use 0 (Sunday) to 6 (Saturday)")
    return calendar([float(each == day) for each in range(7)], unit=_DAY, shift=_THURSDAY)


def _cycle(function: str, places: int) -> list[float]:
    wave = {"sin": math.sin, "cos": math.cos}[function]
    # Rounded, so that sin(30 degrees) and sin(150 degrees) are the same number.
    return [round(wave(2.0 * math.pi * place / places), 6) for place in range(places)]
