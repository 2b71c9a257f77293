"""``mt5-onnx bars``: files in, bars out, and what is said of files that are not right."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from live_support import SERVER, environment, plan, write_settings

from bridge.cli.main import run
from bridge.market.barfile import HEADER, read_bars
from bridge.market.store import BarStore
from bridge.share import share_dir

SAMPLE = share_dir("models/sample_bars") / "EURUSD_H1_2017.csv"
BROKER = ("--broker", "Demo", "--clock", "eet-us")
ROWS = (
    "2025.06.23\t00:00:00\t1.14560\t1.14601\t1.14547\t1.14569\t316\t0\t20",
    "2025.06.23\t01:00:00\t1.14569\t1.14601\t1.14568\t1.14581\t741\t0\t7",
    "2025.06.23\t02:00:00\t1.14581\t1.14583\t1.14508\t1.14528\t665\t0\t7",
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def written(path: Path, *rows: str, encoding: str = "utf-8") -> str:
    path.write_bytes("\r\n".join(("\t".join(HEADER), *rows, "")).encode(encoding))
    return str(path)


def bars(store: Path, command: str, *arguments: str) -> int:
    return run(["bars", command, *arguments, "--store", str(store)])


def test_a_file_is_imported_listed_and_exported_as_it_was(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bars(store, "list") == 0
    assert "is empty: mt5-onnx bars import" in capsys.readouterr().out
    packed = tmp_path / "EURUSD_H1_2017.csv.gz"
    packed.write_bytes(gzip.compress(SAMPLE.read_bytes()))
    assert bars(store, "import", str(packed), *BROKER) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "6,225 bars of EURUSD H1, 2017.01.02 00:00:00 to 2017.12.29 23:00:00" in out
    assert "symbol EURUSD, as the file's name says" in out
    assert "the times follow the clock eet-us: " in out
    assert "6,225 new: the store has 6,225 of EURUSD H1 of Demo" in out
    assert bars(store, "import", str(packed), "--broker", "Demo") == 0  # the clock is known now
    assert "0 new, 6,225 known" in capsys.readouterr().out
    assert bars(store, "list", "--json") == 0
    (line,) = capsys.readouterr().out.splitlines()
    said = json.loads(line)
    assert (said["broker"], said["symbol"], said["bars"]) == ("Demo", "EURUSD", 6225)
    again = tmp_path / "again.csv"
    assert bars(store, "export", str(again)) == 0
    assert again.read_bytes() == SAMPLE.read_bytes()
    assert bars(store, "export", str(again)) == 2
    assert "nothing" not in capsys.readouterr().err
    table = tmp_path / "EURUSD_H4.parquet"
    span = ("--from", "2017.03.01", "--to", "2017.04.01")
    assert bars(store, "export", str(table), "--timeframe", "H4", *span) == 0
    assert bars(tmp_path / "other", "import", str(table), *BROKER, "--json") == 0
    stored = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (stored["timeframe"], stored["new"]) == ("H4", 138)


def test_encodings_and_marks_of_many_programs_give_the_same_bars(
    tmp_path: Path, store: Path
) -> None:
    comma = [row.replace(".", "-", 2).replace(".", ",").replace("\t", ";") for row in ROWS]
    header = ";".join(HEADER)
    files = [
        written(tmp_path / "a.csv", *ROWS),
        written(tmp_path / "b.csv", *ROWS, encoding="utf-8-sig"),
        written(tmp_path / "c.csv", *ROWS, encoding="utf-16"),
        written(tmp_path / "d.csv", *ROWS, encoding="utf-16-be"),
    ]
    (tmp_path / "e.csv").write_text("\n".join([header, *comma]), encoding="utf-8")
    (tmp_path / "f.csv").write_text("\n".join(ROWS), encoding="utf-8")
    quoted = [",".join(f'"{cell}"' for cell in row.split("\t")) for row in ROWS]
    (tmp_path / "g.csv").write_text("\n".join(quoted), encoding="utf-8")
    files += [str(tmp_path / f"{name}.csv") for name in "efg"]
    assert bars(store, "import", *files, *BROKER, "--symbol", "EURUSD") == 0
    rates = BarStore(store).read("Demo", "EURUSD", "H1").rates
    assert np.array_equal(rates, read_bars(Path(files[0])))


REFUSED = {
    "impossible": (("1.14601\t1.14568", "1.14575\t1.14568"), "line 3: no bar can have"),
    "negative": (("1.14569\t1.14601", "-1.14569\t1.14601"), "line 3: the open is -1.14569"),
    "zero": (("1.14568\t", "0.00000\t"), "line 3: the low is 0"),
    "empty": (("1.14568\t", "\t"), "line 3: the low is missing"),
    "text": (("1.14568\t", "n/a\t"), "line 3: 'n/a' is no number for low"),
    "short": (("\t741\t0\t7", ""), "line 3: .* has 6 cells instead of 9"),
    "semicolons": (
        (ROWS[1], ROWS[1].replace("\t", ";")),
        "line 3: .* separated by semicolons, unlike the lines before",
    ),
    "header": ((ROWS[1], "\t".join("abcdefghi")), "line 3: .* a header other than the first"),
    "date": (("2025.06.23\t01", "2025.06.31\t01"), "line 3: '2025.06.31' is no date that there is"),
    "dashes": (
        ("2025.06.23\t01", "2025-06-23\t01"),
        "line 3: .* written otherwise than 2025.06.23",
    ),
    "time": (("01:00:00", "25:00:00"), "line 3: '25:00:00' is no time of day"),
    "zone": (("01:00:00", "01:00:00Z"), "line 3: .* differ in saying a zone"),
    "digits": (("1.14568\t", "1.123456789123\t"), "line 3: .* more than 8 decimals"),
    "volume": (("\t741\t", "\t-5\t"), "line 3: the tick_volume -5"),
    "spread": (("\t0\t7", "\t0\t0.5"), "line 3: the spread 0.5 is no whole number of points"),
    "minutes": (("01:00:00", "01:07:00"), "the bars do not show their timeframe|no .* bar opens"),
    "twice": (("2025.06.23\t01", "2025.06.23\t00"), "line 3: .* contradicts that in line 2"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_bad_file_is_named_with_line_and_reason_and_the_store_stays(
    kind: str, tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = written(tmp_path / "good.csv", *ROWS)
    assert bars(store, "import", good, *BROKER, "--symbol", "EURUSD") == 0
    before = {path: path.read_bytes() for path in store.rglob("*.*")}
    (old, new), says = REFUSED[kind]
    assert old in ROWS[1]
    bad = written(tmp_path / "bad.csv", ROWS[0], ROWS[1].replace(old, new), ROWS[2])
    capsys.readouterr()
    assert bars(store, "import", bad, *BROKER, "--symbol", "EURUSD") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    with_name = f"mt5-onnx: {bad}"
    assert err.startswith(with_name)
    assert re.search(says, err), err
    assert {path: path.read_bytes() for path in store.rglob("*.*")} == before
    assert run(["bars", "check", good, bad, "--json"]) == 2
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["bars"] == 3
    assert lines[1]["refused"] == err.removeprefix("mt5-onnx: ").rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "say --broker, any name"),
        (("--broker", "Demo"), "does not say whose bars it has: say --symbol"),
        (("--broker", "Demo", "--symbol", "EURUSD"), "clock rule is not in .*: say --clock"),
        ((*BROKER, "--symbol", "EURUSD", "--timeframe", "M5"), "are of H1, not of M5, stated"),
        ((*BROKER, "--timeframe", "H5"), "timeframe 'H5' is unknown"),
        ((*BROKER, "--clock", "moon"), "server clock 'moon' is unknown"),
        ((*BROKER, "--digits", "4"), "line 3: the open 1.14569 has more than 4 decimals"),
        ((*BROKER, "--columns", "time,price"), "'price', which is no column of bars"),
        ((*BROKER, "--profile", "nobody"), "broker profile nobody can't be read"),
        ((*BROKER, "--conflicts", "maybe"), "'maybe' is not one of"),
    ],
)
def test_what_is_not_said_or_wrong_is_asked_for(
    arguments: tuple[str, ...],
    says: str,
    tmp_path: Path,
    store: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written(tmp_path / "x.csv", *ROWS)
    assert bars(store, "import", path, *arguments) == 2
    err = capsys.readouterr().err
    assert re.search(says, err), err
    assert not list(store.rglob("*.parquet"))


def test_other_values_are_kept_or_replaced_when_asked(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    symbol = ("--symbol", "EURUSD")
    path = written(tmp_path / "a.csv", *ROWS)
    assert bars(store, "import", path, *BROKER, *symbol) == 0
    later = written(tmp_path / "b.csv", *ROWS[:2], ROWS[2].replace("1.14528", "1.14530"))
    assert bars(store, "import", later, *BROKER, *symbol) == 2
    assert "1 bar contradicts the store's EURUSD H1 of Demo" in capsys.readouterr().err
    assert bars(store, "import", later, *BROKER, *symbol, "--drop-last") == 0
    assert "may not be closed" in capsys.readouterr().out
    assert bars(store, "import", later, *BROKER, *symbol, "--conflicts", "keep") == 0
    read = BarStore(store).read
    assert read("Demo", "EURUSD", "H1").rates["close"][-1] == 1.14528
    assert bars(store, "import", later, *BROKER, *symbol, "--conflicts", "replace") == 0
    assert read("Demo", "EURUSD", "H1").rates["close"][-1] == 1.14530


def test_a_profile_gives_broker_clock_digits_and_specification(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bars(store, "import", str(SAMPLE), "--profile", "fx-raw-hedging") == 0
    (stored,) = BarStore(store).series()
    assert (stored.series.broker, stored.series.clock) == ("fx-raw-hedging", "eet-us")
    assert stored.series.specification is not None
    assert stored.series.specification["digits"] == 5
    assert stored.series.profile_sha256 is not None
    capsys.readouterr()
    path = tmp_path / "EURUSD_H1.csv"
    rows = [
        f"2025.06.{23 + hour // 24}\t{hour % 24:02}:00:00\t114560\t114601\t114547\t114569\t1\t0\t2"
        for hour in range(25)
    ]
    written(path, *rows)
    assert bars(store, "import", str(path), "--profile", "fx-raw-hedging") == 2
    assert "say --price-scale 1e-05, or else --digits 0" in capsys.readouterr().err
    scale = ("--price-scale", "0.00001")
    assert bars(store, "import", str(path), "--profile", "fx-raw-hedging", *scale) == 0
    assert BarStore(store).read("fx-raw-hedging", "EURUSD", "H1").rates["close"][-1] == 1.14569


def test_bars_come_from_a_terminal_and_only_what_is_new_the_next_time(
    tmp_path: Path,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The paper terminal answers from a child process of its own, as the real one does."""
    made = plan(tmp_path)
    for name, value in environment(made).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MT5_PASSWORD", "secret")
    config = str(write_settings(tmp_path, models={7: "model.onnx"}))
    assert bars(store, "fetch", "-c", config, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["stored"]["broker"] == SERVER
    rates = BarStore(store).read(SERVER, "EURUSD", "M1").rates
    assert said["new"] == len(rates) >= 600
    assert np.array_equal(rates, made.rates()[: len(rates)])
    (stored,) = BarStore(store).series()
    assert stored.series.specification is not None
    assert stored.series.specification["trade_contract_size"] == 100_000
    assert "bid" not in stored.series.specification
    assert bars(store, "fetch", "EURUSD", "-c", config) == 0
    out, err = capsys.readouterr()
    assert re.search(r"EURUSD M1 of Paper-Demo: [01] new of \d+ fetched; the store has 60\d", out)
    assert err == ""
    assert bars(store, "fetch", "NOSUCH", "-c", config) == 3
    assert "the terminal gives no symbol NOSUCH" in capsys.readouterr().err


def test_a_fetch_needs_a_terminal_and_a_symbol(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bars(store, "fetch") == 2
    assert "no symbol is named: name some, or a settings file" in capsys.readouterr().err
    assert bars(store, "fetch", "EURUSD", "--path", "x.exe", "-c", "bridge.toml") == 2
    assert "name a terminal each" in capsys.readouterr().err
