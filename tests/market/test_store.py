import os
import sys
from pathlib import Path

import numpy as np
import pytest

from bridge.errors import ConfigError, DataError
from bridge.market.aggregate import aggregate
from bridge.market.barfile import read_bars
from bridge.market.store import BarStore, Conflicts, Series, default_folder
from bridge.market.store.place import file_name, writing
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.servertime import parse, text
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir

SAMPLE = share_dir("models/sample_bars") / "EURUSD_H1_2017.csv"
H1 = Series("Broker", "EURUSD", timeframe("H1"), "eet-us", 5)
M1 = Series("Broker", "EURUSD", timeframe("M1"), "eet-us", 5)


@pytest.fixture(scope="module")
def hours() -> RatesArray:
    return read_bars(SAMPLE)


def minutes(begin: str, closes: list[float], spread: int = 7) -> RatesArray:
    start = parse(begin)
    return rates_of(
        (start + 60 * number, close, close, close, close, 1, spread, 0)
        for number, close in enumerate(closes)
    )


def changed(rates: RatesArray, bar: int, **values: float) -> RatesArray:
    copy = rates.copy()
    for name, value in values.items():
        copy[name][bar] = value
    return copy


def test_what_is_added_is_read_bit_for_bit(tmp_path: Path, hours: RatesArray) -> None:
    store = BarStore(tmp_path)
    added = store.add(H1, hours)
    assert (added.new, added.known, added.conflicting) == (6225, 0, 0)
    bars = store.read("Broker", "EURUSD", "H1")
    assert bars.series == H1
    assert bars.source is timeframe("H1")
    assert np.array_equal(bars.rates, hours)
    with pytest.raises(ValueError, match="read-only"):
        bars.rates["close"][0] = 1.0
    some = store.read("Broker", "EURUSD", "H1", since="2017.03.01", until="2017.04.01").rates
    inside = (hours["time"] >= parse("2017.03.01")) & (hours["time"] < parse("2017.04.01"))
    assert np.array_equal(some, hours[inside])


def test_bars_come_in_any_order_and_overlap(tmp_path: Path, hours: RatesArray) -> None:
    store = BarStore(tmp_path)
    store.add(H1, hours[4000:])
    assert store.add(H1, hours[:3000]).new == 3000
    added = store.add(H1, hours[2500:4500])
    assert (added.new, added.known) == (1000, 1000)
    assert np.array_equal(store.read("Broker", "EURUSD", "H1").rates, hours)
    again = store.add(H1, hours)
    assert (again.new, again.known, again.stored.generation) == (0, 6225, 3)


def test_a_contradiction_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    store = BarStore(tmp_path)
    old = minutes("2024.12.31 23:58", [1.1, 1.2, 1.3, 1.4])
    store.add(M1, old)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    new = changed(minutes("2024.12.31 23:58", [1.1, 1.2, 1.3, 1.4, 1.5]), 2, close=1.25, low=1.25)
    with pytest.raises(DataError, match=r"1 bar contradicts .* 2025\.01\.01 00:00:00 \(low 1\.25"):
        store.add(M1, new)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
    kept = store.add(M1, new, conflicts=Conflicts.KEEP)
    assert (kept.new, kept.known, kept.conflicting) == (1, 3, 1)
    assert store.read("Broker", "EURUSD", "M1").rates["close"].tolist() == [1.1, 1.2, 1.3, 1.4, 1.5]
    store.add(M1, new, conflicts=Conflicts.REPLACE)
    assert np.array_equal(store.read("Broker", "EURUSD", "M1").rates, new)


def test_a_column_that_a_source_lacks_contradicts_nothing(tmp_path: Path) -> None:
    store = BarStore(tmp_path)
    lacking = Series("Broker", "EURUSD", timeframe("M1"), "eet-us", 5, absent=("spread",))
    store.add(lacking, minutes("2024.01.02", [1.1, 1.2], spread=0))
    added = store.add(M1, minutes("2024.01.02 00:01", [1.2, 1.3]))
    assert (added.new, added.known, added.conflicting) == (1, 1, 0)
    bars = store.read("Broker", "EURUSD", "M1")
    assert bars.rates["spread"].tolist() == [0, 7, 7]
    assert bars.series.absent == ("spread",)


def test_finer_bars_answer_for_coarser_ones_that_are_closed(tmp_path: Path) -> None:
    store = BarStore(tmp_path)
    rates = minutes("2024.12.31 23:00", [1 + number / 1000 for number in range(150)])
    store.add(M1, rates)
    made = store.read("Broker", "EURUSD", "H1")
    assert made.source is timeframe("M1")
    assert made.series.timeframe is timeframe("H1")
    whole = aggregate(rates, timeframe("M1"), timeframe("H1"))
    assert [text(int(time)) for time in whole["time"]][-1] == "2025.01.01 01:00:00"
    assert np.array_equal(made.rates, whole[:2])  # the third hour ends at half past
    late = store.read("Broker", "EURUSD", "H1", since="2025.01.01")
    assert np.array_equal(late.rates, whole[1:2])
    early = store.read("Broker", "EURUSD", "H1", until="2025.01.01")
    assert np.array_equal(early.rates, whole[:1])
    with pytest.raises(DataError, match="no closed bar of EURUSD H1 of Broker opens"):
        store.read("Broker", "EURUSD", "H1", since="2025.01.01 02:00")


def test_what_is_not_there_is_said(tmp_path: Path, hours: RatesArray) -> None:
    store = BarStore(tmp_path / "none")
    assert store.series() == ()
    with pytest.raises(DataError, match="none of that broker and symbol: mt5-onnx bars list"):
        store.read("Broker", "EURUSD", "H1")
    store.add(H1, hours)
    with pytest.raises(DataError, match="only H1"):
        store.read("Broker", "EURUSD", "M5")
    with pytest.raises(DataError, match=r"no closed bar of EURUSD H1 .* H1 bars from 2017\.01\.02"):
        store.read("Broker", "EURUSD", "H1", since="2018.01.01")
    with pytest.raises(DataError, match="follow the clock eet-us, the new ones utc"):
        store.add(Series("Broker", "EURUSD", timeframe("H1"), "utc", 5), hours)
    with pytest.raises(DataError, match="stands twice"):
        store.add(H1, np.concatenate((hours[:1], hours[:1])))


def test_terms_come_back(tmp_path: Path, hours: RatesArray) -> None:
    store = BarStore(tmp_path)
    full = Series(
        "Bröker/1", "BTC/USD.", timeframe("H1"), "utc+3", 2, ("spread",), "demo", "ab12",
        {"name": "BTC/USD.", "point": 0.01, "digits": 2},
    )  # fmt: skip
    store.add(full, hours)
    (stored,) = store.series()
    assert stored.series == full
    assert stored.series.specification == full.specification
    assert (text(stored.first), text(stored.last)) == ("2017.01.02 00:00:00", "2017.12.29 23:00:00")
    assert np.array_equal(store.read("Bröker/1", "BTC/USD.", "H1").rates, hours)


def test_names_are_folders_on_every_system() -> None:
    names = (
        "EURUSD.m",
        "#AAPL",
        "IC Markets",
        "BTC/USD",
        "EURUSD.",
        "con",
        "COM1.x",
        "..",
        "a:b",
        "ü ",
    )
    said = [file_name(each) for each in names]
    assert said[:4] == ["EURUSD.m", "#AAPL", "IC Markets", "BTC%2FUSD"]
    assert said[4:] == ["EURUSD%2E", "%63on", "%43OM1.x", "%2E%2E", "a%3Ab", "%C3%BC%20"]
    assert len(set(said)) == len(names)


def test_a_writer_that_dies_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    store = BarStore(tmp_path)
    added = store.add(M1, minutes("2024.01.02", [1.1]))
    folder = tmp_path / "Broker" / "EURUSD" / "M1"
    for name in ("2024-2.parquet", "2024-2.parquet.part", "series.json.part"):
        (folder / name).write_bytes(b"half")
    assert store.read("Broker", "EURUSD", "M1").rates["close"].tolist() == [1.1]
    store.add(M1, minutes("2024.01.02", [1.1, 1.2]))
    assert store.read("Broker", "EURUSD", "M1").rates["close"].tolist() == [1.1, 1.2]
    files = {path.name for path in folder.glob("*.parquet*")}
    assert files == {"2024-2.parquet"}
    assert added.stored.parts[0].file == "2024-1.parquet"


def test_a_reader_with_an_old_index_reads_again(tmp_path: Path) -> None:
    store = BarStore(tmp_path)
    store.add(M1, minutes("2024.01.02", [1.1]))
    index = tmp_path / "Broker" / "EURUSD" / "M1" / "series.json"
    old = store.find("Broker", "EURUSD", "M1")
    assert old
    store.add(M1, minutes("2024.01.02", [1.1, 1.2]))
    assert not (index.parent / old.parts[0].file).exists()
    assert len(store._rates(old, old.first, old.last + 61)) == 2


def test_one_program_writes_at_a_time(tmp_path: Path) -> None:
    store = BarStore(tmp_path)
    with (
        writing(tmp_path / "Broker" / "EURUSD" / "M1"),
        pytest.raises(DataError, match="another program writes bars"),
    ):
        store.add(M1, minutes("2024.01.02", [1.1]))


@pytest.mark.parametrize("content", [b"", b"PAR1 no", b"{}"])
def test_damage_is_said_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    store = BarStore(tmp_path)
    store.add(M1, minutes("2024.01.02", [1.1]))
    folder = tmp_path / "Broker" / "EURUSD" / "M1"
    (folder / "2024-1.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"can't be read as bars .* import the bars again"):
        store.read("Broker", "EURUSD", "M1")
    (folder / "2024-1.parquet").unlink()
    with pytest.raises(DataError, match="missing: import"):
        store.read("Broker", "EURUSD", "M1")
    (folder / "series.json").write_bytes(content)
    with pytest.raises(DataError, match="is no index of bars"):
        store.read("Broker", "EURUSD", "M1")


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ConfigError, match=r"mt5-onnx-bridge\[history\]"):
        BarStore(tmp_path).add(M1, minutes("2024.01.02", [1.1]))


def test_the_users_bars_have_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALAPPDATA" if os.name == "nt" else "XDG_DATA_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "mt5-onnx" / "bars"
