"""The calendar of news: what is read, what is refused with its line, and what is read again."""

import os
from pathlib import Path

import pytest

from bridge.errors import ConfigError
from bridge.market.news import Calendar, News, read_news
from bridge.mt5.servertime import parse

GOOD = """time,currency,before,after,title
2017.03.15 20:00,USD,60,90,Federal Funds Rate
2017-03-10 15:30:30,usd,,,"Payrolls, wages"
2017.03.16 14:00,GBP,0,,
"""


def written(folder: Path, stored: str | bytes) -> Path:
    path = folder / "news.csv"
    path.write_bytes(stored.encode() if isinstance(stored, str) else stored)
    return path


def test_news_are_read_and_sorted(tmp_path: Path) -> None:
    assert read_news(written(tmp_path, GOOD)) == (
        News(parse("2017.03.10 15:30:30"), "USD", None, None, "Payrolls, wages"),
        News(parse("2017.03.15 20:00"), "USD", 60.0, 90.0, "Federal Funds Rate"),
        News(parse("2017.03.16 14:00"), "GBP", 0.0, None, ""),
    )


@pytest.mark.parametrize(
    "stored",
    [
        "Currency;Title;Impact;Time\r\nUSD;Rate;High;2017.03.15 20:00\r\n",
        "\ufefftime, currency, title\n2017-03-15T20:00, USD, Rate\n",
        "time\tcurrency\ttitle\n\n2017.03.15 20:00\tUSD\tRate\n\n",
    ],
)
def test_what_spreadsheets_save_is_read(tmp_path: Path, stored: str) -> None:
    (news,) = read_news(written(tmp_path, stored))
    assert news == News(parse("2017.03.15 20:00"), "USD", None, None, "Rate")


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        (b"", "news.csv: the first line names no column time or currency: begin the file with"),
        ("time;title\n", "the first line names no column currency: begin"),
        (b"time,currency\n\xe9", "news.csv can't be read"),
        (GOOD + "2017.13.01 10:00,USD\n", "line 5: time '2017.13.01 10:00' is in no calendar"),
        (GOOD + "15:30,USD\n", "line 5: time '15:30' has to be server time such as"),
        (GOOD + "2017.03.10,USD\n", "line 5: time '2017.03.10' has to be server time"),
        (GOOD + "2017-03-10 15:30+02:00,USD\n", "line 5: time '2017-03-10 15:30+02:00' has to"),
        (GOOD + "2017.03.10 15:30\n", "line 5: currency '' has to be one such as USD"),
        (GOOD + "2017.03.10 15:30,US dollar\n", "line 5: currency 'US dollar' has to be one"),
        (GOOD + "2017.03.10 15:30,USD,-5\n", "line 5: before '-5' has to be minutes, 0 or more"),
        (GOOD + "2017.03.10 15:30,USD,5,inf\n", "line 5: after 'inf' has to be minutes"),
        (GOOD + '2017.03.10 15:30,USD,5,5,"\n', "line 5: unexpected end of data: correct"),
    ],
)
def test_what_is_no_calendar_is_refused_with_its_line(
    tmp_path: Path, stored: str | bytes, words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_news(written(tmp_path, stored))
    assert words in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    calendar = Calendar(path)
    known = calendar.news
    calendar.refresh()
    assert calendar.news is known
    written(tmp_path, GOOD + "2017.03.17 10:00,EUR\n")
    calendar.refresh()
    assert len(calendar.news) == 4
    written(tmp_path, GOOD.replace("USD", "", 1))
    for _ in range(2):  # it is told as long as it is so, and what is known stays
        with pytest.raises(ConfigError, match="line 2: currency"):
            calendar.refresh()
    assert len(calendar.news) == 4
    os.unlink(path)
    with pytest.raises(ConfigError, match="can't be read"):
        calendar.refresh()


def test_without_a_file_there_are_no_news() -> None:
    calendar = Calendar()
    calendar.refresh()
    assert calendar.news == ()
