import os
from pathlib import Path

import numpy as np
import pytest

from bridge.errors import DataError
from bridge.market.barfile import HEADER, read_bars, write_bars
from bridge.mt5.rates import RATES_DTYPE
from bridge.mt5.servertime import parse, text
from bridge.share import share_dir

SAMPLE = share_dir("models/sample_bars") / "EURUSD_H1_2017.csv"
GOOD = "2017.01.02\t00:00:00\t1.05226\t1.05243\t1.05211\t1.05217\t1435\t0\t10"


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "bars.csv"
    path.write_bytes("\r\n".join(("\t".join(HEADER), *lines, "")).encode())
    return path


def test_the_sample_is_what_its_readme_says() -> None:
    rates = read_bars(SAMPLE)
    assert len(rates) == 6225
    assert text(rates["time"][0]) == "2017.01.02 00:00:00"
    assert text(rates["time"][-1]) == "2017.12.29 23:00:00"
    weekdays = (rates["time"] // 86400 + 4) % 7
    assert set(weekdays.tolist()) == {1, 2, 3, 4, 5}
    assert set(rates["spread"].tolist()) == {10}


def test_a_file_written_is_the_file_read(tmp_path: Path) -> None:
    copy = tmp_path / "copy.csv"
    write_bars(copy, read_bars(SAMPLE), digits=5)
    assert copy.read_bytes() == SAMPLE.read_bytes()


def test_bars_are_sealed(tmp_path: Path) -> None:
    rates = read_bars(written(tmp_path, GOOD))
    assert rates.dtype == RATES_DTYPE
    with pytest.raises(ValueError, match="read-only"):
        rates["close"][0] = 1.0


def test_an_export_of_a_real_terminal_reads() -> None:
    folder = os.environ.get("BRIDGE_TEST_DATA")
    if not folder:
        pytest.skip("BRIDGE_TEST_DATA names no folder of real data")
    for name, count in (("EURUSD_H1.csv", None), ("SILVER_H1.csv", 3444)):
        rates = read_bars(Path(folder) / "bars" / "mt5_export" / name)
        assert len(rates) == (count or len(rates))
        assert np.isfinite(rates["close"]).all()


def test_the_sample_is_made_by_its_conversion(tmp_path: Path) -> None:
    folder = os.environ.get("BRIDGE_TEST_DATA")
    if not folder:
        pytest.skip("BRIDGE_TEST_DATA names no folder of real data")
    import runpy

    convert = runpy.run_path(str(SAMPLE.parent / "convert.py"))["convert"]
    source = Path(folder) / "bars" / "odd" / "EURUSD_H1_dukascopy_ask.csv"
    write_bars(tmp_path / "again.csv", convert(source), digits=5)
    assert (tmp_path / "again.csv").read_bytes() == SAMPLE.read_bytes()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((GOOD, "2017.01.02\t01:00:00\t1.05"), "line 3: .* is no bar"),
        ((GOOD.replace("1.05226", "1,05226"),), "line 2: .* is no bar"),
        ((GOOD.replace("2017.01.02", "02.01.2017"),), "line 2: .* is not a time"),
        ((GOOD.replace("1.05226", "nan"),), "has a price that is not a positive number"),
        ((GOOD.replace("1.05211", "-1"),), "has a price that is not a positive number"),
        ((GOOD.replace("1.05243", "1.05100"),), "has a high below another of its prices"),
        ((GOOD.replace("1.05211", "1.05230"),), "has a low above another of its prices"),
        ((GOOD, GOOD), "stands twice"),
        ((GOOD, GOOD.replace("2017.01.02", "2017.01.01")), "is older than the bar before it"),
        ((GOOD[:-2] + "-1",), "has a negative spread"),
    ],
)
def test_a_wrong_line_is_named_with_its_reason(
    tmp_path: Path, lines: tuple[str, ...], says: str
) -> None:
    with pytest.raises(DataError, match=says):
        read_bars(written(tmp_path, *lines))


@pytest.mark.parametrize("content", [b"", b"Time,Open\n1,2\n", b"\xff\xfe\x00\x01", b"\x00" * 50])
def test_another_kind_of_file_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bars.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match="bars"):
        read_bars(path)


def test_a_missing_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="can't be read as bars"):
        read_bars(tmp_path / "none.csv")


def test_no_bars_is_no_fault(tmp_path: Path) -> None:
    assert len(read_bars(written(tmp_path))) == 0


def test_times_are_server_time_as_written(tmp_path: Path) -> None:
    assert read_bars(written(tmp_path, GOOD))["time"].tolist() == [parse("2017.01.02")]
