import pytest

from bridge.errors import ConfigError
from bridge.mt5.servertime import parse, text, weekday
from bridge.mt5.timeframes import BY_NAME, BY_VALUE, timeframe


def test_all_21_are_there_with_their_lengths() -> None:
    assert len(BY_NAME) == len(BY_VALUE) == 21
    seconds = {name: BY_NAME[name].seconds for name in ("M1", "M20", "H1", "H12", "D1", "W1")}
    assert seconds == {
        "M1": 60,
        "M20": 1200,
        "H1": 3600,
        "H12": 43200,
        "D1": 86400,
        "W1": 604800,
    }


@pytest.mark.parametrize(
    ("name", "inside", "opens", "following"),
    [
        ("H1", "2017.03.15 14:59:59", "2017.03.15 14:00:00", "2017.03.15 15:00:00"),
        ("H4", "2017.03.15 14:59:59", "2017.03.15 12:00:00", "2017.03.15 16:00:00"),
        ("D1", "2017.03.15 00:00:00", "2017.03.15 00:00:00", "2017.03.16 00:00:00"),
        ("W1", "2017.03.15 14:00:00", "2017.03.12 00:00:00", "2017.03.19 00:00:00"),
        ("MN1", "2017.12.31 23:59:59", "2017.12.01 00:00:00", "2018.01.01 00:00:00"),
        ("MN1", "2017.02.01 00:00:00", "2017.02.01 00:00:00", "2017.03.01 00:00:00"),
    ],
)
def test_bars_open_where_the_terminal_opens_them(
    name: str, inside: str, opens: str, following: str
) -> None:
    frame = timeframe(name)
    assert text(frame.open_of(parse(inside))) == opens
    assert text(frame.next_open(parse(inside))) == following


def test_a_week_opens_on_sunday() -> None:
    assert weekday(timeframe("W1").open_of(parse("1970.01.01"))) == 0


def test_an_unknown_name_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ConfigError, match="M1, M2, M3"):
        timeframe("h1")
