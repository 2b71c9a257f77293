"""Times, columns and marks as other programs write them, and damage of any kind."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bridge.errors import BridgeError, DataError
from bridge.market.importer import DateOrder, Loaded, Stated, load
from bridge.mt5.servertime import parse, text

PRICES = ("1.10", "1.12", "1.09", "1.11"), ("1.11", "1.13", "1.10", "1.12")
HEAD = "time,open,high,low,close"


def loaded(path: Path, content: str | bytes, **stated: Any) -> Loaded:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load(path, replace(Stated(), **stated))


def of_times(first: str, second: str, head: str = HEAD, mark: str = ",") -> str:
    rows = [mark.join((time, *row)) for time, row in zip((first, second), PRICES, strict=True)]
    return "\n".join([head.replace(",", mark), *rows] if head else rows) + "\n"


TIMES: dict[str, tuple[str, dict[str, Any]]] = {
    "iso": (of_times("2024-07-01T17:00:00", "2024-07-01T17:01:00"), {}),
    "slashes": (of_times("2024/07/01 17:00", "2024/07/01 17:01"), {}),
    "fraction": (of_times("2024-07-01 17:00:00.000", "2024-07-01 17:01:00.000"), {}),
    "half of a day": (
        of_times("7/1/2024 5:00 PM", "7/1/2024 5:01 PM"),
        {"date_order": DateOrder.MONTH_FIRST},
    ),
    "unpadded": (of_times("1.7.2024 17:00", "1.7.2024 17:01"), {"date_order": DateOrder.DAY_FIRST}),
    "histdata": (of_times("20240701 170000", "20240701 170100", head="", mark=";"), {}),
    "metastock": (
        "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>\n"
        "EURUSD,1,20240701,170000,1.10,1.12,1.09,1.11\n"
        "EURUSD,1,20240701,170100,1.11,1.13,1.10,1.12\n",
        {},
    ),
    "seconds": (of_times("1719853200", "1719853260"), {}),
    "float seconds": (of_times("1719853200.0", "1719853260.0"), {}),
    "milliseconds": (of_times("1719853200000", "1719853260000"), {}),
    "microseconds": (of_times("1719853200000000", "1719853260000000"), {}),
    "nanoseconds": (of_times("1719853200000000000", "1719853260000000000"), {}),
    "offset": (
        of_times("2024-07-01 16:00:00+02:00", "2024-07-01 16:01:00+02:00"),
        {"clock": "eet-us"},
    ),
    "other clock": (
        of_times("2024-07-01 10:00", "2024-07-01 10:01"),
        {"times": "utc-4", "clock": "eet-us"},
    ),
    "utc": (
        of_times("2024-07-01 14:00Z", "2024-07-01 14:01Z"),
        {"times": "utc", "clock": "eet-eu"},
    ),
    "gmt in the header": (
        of_times("2024-07-01 14:00", "2024-07-01 14:01", head="Gmt time,Open,High,Low,Close"),
        {"times": "utc", "clock": "utc+3"},
    ),
    "columns named": (
        "1.11,x,2024-07-01 17:00,1.09,1.12,1.10\n1.12,y,2024-07-01 17:01,1.10,1.13,1.11\n",
        {"columns": ("close", "-", "time", "low", "high", "open")},
    ),
    "words before": ("My broker\n\n" + of_times("2024-07-01 17:00", "2024-07-01 17:01"),
                     {"skip_lines": 2}),
}  # fmt: skip


@pytest.mark.parametrize("kind", TIMES)
def test_a_time_is_read_however_it_is_written(kind: str, tmp_path: Path) -> None:
    content, stated = TIMES[kind]
    found = loaded(tmp_path / "bars.csv", content, **stated)
    assert [text(int(time)) for time in found.rates["time"]] == [
        "2024.07.01 17:00:00",
        "2024.07.01 17:01:00",
    ]
    assert found.rates["open"].tolist() == [1.10, 1.11]
    assert found.rates["close"].tolist() == [1.11, 1.12]
    assert (found.timeframe.name, found.digits) == ("M1", 2)


def frame() -> pd.DataFrame:
    rows = {"open": [1.1, 1.11], "high": [1.12, 1.13], "low": [1.09, 1.1], "close": [1.11, 1.12]}
    return pd.DataFrame({"time": [1719853200, 1719853260], **rows})


WHEN = pd.to_datetime(frame()["time"], unit="s")
FRAMES: dict[str, tuple[pd.DataFrame, dict[str, Any]]] = {
    "seconds": (frame(), {}),
    "milliseconds": (frame().assign(time=frame()["time"] * 1000), {}),
    "without zone": (frame().assign(time=WHEN), {}),
    "server time called UTC": (
        frame().assign(time=WHEN.dt.tz_localize("UTC")),
        {"times": "server"},
    ),
    "UTC": (
        frame().assign(time=(WHEN - pd.Timedelta(hours=3)).dt.tz_localize("UTC")),
        {"times": "utc", "clock": "eet-us"},
    ),
    "text": (frame().assign(time=WHEN.astype(str)), {}),
    "index": (frame().assign(time=WHEN).set_index("time"), {}),
    "index without a name": (frame().assign(time=WHEN).set_index("time").rename_axis(None), {}),
    "other columns": (frame().assign(rsi=np.nan, Volume=[5, 6]), {}),
    "float32 volumes": (frame().assign(tick_volume=np.array([5, 6], dtype=np.float32)), {}),
}  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_of_pandas_is_read(kind: str, tmp_path: Path) -> None:
    table, stated = FRAMES[kind]
    table.to_parquet(tmp_path / "EURUSD_M1.parquet")
    found = load(tmp_path / "EURUSD_M1.parquet", replace(Stated(), **stated))
    assert found.rates["time"].tolist() == [parse("2024.07.01 17:00"), parse("2024.07.01 17:01")]
    assert found.rates["close"].tolist() == [1.11, 1.12]
    assert found.symbol == "EURUSD"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"time": [1719853200, None]}, "row 2: the time is missing"),
        ({"close": [1.11, np.nan]}, "row 2: the close is missing"),
        ({"close": ["a", "b"]}, "the column close holds .*string, not numbers"),
        ({"high": [1.12, 1.0]}, "row 2: no bar can have"),
        ({"time": [1719853200, 1719853260000]}, "row 1: the time 1719853200 is of another unit"),
        ({"tick_volume": [1, -1]}, "row 2: the tick_volume -1 is no number"),
    ],
)
def test_a_wrong_row_of_a_table_is_named(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    frame().assign(**change).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError, match=says):
        load(tmp_path / "x.parquet", Stated())


def test_a_table_without_what_bars_need_says_what_it_has(tmp_path: Path) -> None:
    pq.write_table(pa.table({"when": [1], "price": [2.0]}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="no column time, it has when, price: name its columns"):
        load(tmp_path / "x.parquet", Stated())


def test_what_a_file_is_instead_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for content, says in (
        (b"PK\x03\x04" + b"x" * 50, "an Excel or ZIP file: save it as CSV"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"\x80\x04\x95abc", "a pickle, which may run code"),
        (b"\x1f\x8b\x08\x00abcdef", "damaged or cut off"),
        (b"a,b,c\n1,2,3\xff\n4,5,6\n", "line 2: a byte is no UTF-8 text"),
        (b"one line of words\n", "not three cells separated by tabs, semicolons or commas"),
        (b"time,price,size\n1,2,3\n", "names no columns of bars|no column open"),
        (b"1719853200,1,2,3\n1719853260,1,2,3\n", "there is no header, and the line"),
        (b"PAR1" + b"x" * 80, "the Parquet file is damaged"),
    ):
        with pytest.raises(DataError, match=says):
            loaded(path, content)
    with pytest.raises(DataError, match="name a file of bars"):
        load(tmp_path / "none.csv", Stated())
    with pytest.raises(DataError, match="name the files in it"):
        load(tmp_path, Stated())


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("2024-07-01 17:00", "2024-07-01 17:01"), None),
        (("2024-07-01 17:00", "2024-07-01 17:05"), "the bars are of M5, not of M1"),
        (("2024-07-01 17:00", "2024-07-01 18:00"), "the bars are of H1, not of M1"),
        (("2024-07-01 17:00", "2024-07-01 17:01:30"), r"line 3: no M1 bar opens at .* 17:01:30"),
    ],
)
def test_the_name_and_the_bars_agree_on_the_timeframe(
    lines: tuple[str, str], says: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "EURUSD_M1_202407011700_202407011701.csv"
    if says is None:
        assert loaded(path, of_times(*lines)).timeframe.name == "M1"
        return
    with pytest.raises(DataError, match=says):
        loaded(path, of_times(*lines))


@pytest.mark.parametrize(
    "name", ["EURUSD_M1.csv", "EURUSD1.csv", "EURUSD M1.txt", "EURUSD.m_M1.csv"]
)
def test_names_of_files_are_understood(name: str, tmp_path: Path) -> None:
    found = loaded(tmp_path / name, of_times("2024-07-01 17:00", "2024-07-01 17:01"))
    assert found.symbol == ("EURUSD.m" if ".m_" in name else "EURUSD")
    assert found.report.from_name == (f"symbol {found.symbol}", "timeframe M1")


BITS = (
    *(b"\t", b",", b'"', b"\n", b"\r", b"\x00", b"nan", b"1e400", b"9" * 22, b"\xff\xfe"),
    *(b"\xef\xbb\xbf", b".", b":", b" ", b"+00:00", b"\xe9", b"9999.12.31", b"-1", b""),
)


def test_any_damage_is_a_sentence(tmp_path: Path) -> None:
    """Three hundred damaged files: each is read, or refused in one line."""
    chance = random.Random(7)  # noqa: S311  the same files each time
    frame().to_parquet(tmp_path / "source.parquet")
    sources = [content.encode() for content, _ in TIMES.values()]
    sources.append((tmp_path / "source.parquet").read_bytes())
    said = []
    for _ in range(300):
        data = bytearray(chance.choice(sources))
        for _ in range(chance.choice((1, 2, 4))):
            place = chance.randrange(len(data) + 1)
            data[place : place + chance.randrange(4)] = chance.choice(BITS)
        try:
            loaded(tmp_path / "x.csv", bytes(data))
        except BridgeError as error:
            said.append(str(error))
    assert 150 < len(said) < 300
    assert [sentence for sentence in said if "\n" in sentence] == []
