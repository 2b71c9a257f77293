"""Import ten years of minutes and read one of them, beside pandas and a bare pyarrow.

Run: ``python tests/benchmarks/bars.py [BARS]``. Each figure is the best of some tries, in a
process that has the libraries loaded. The file is an export as MetaTrader 5 writes it.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from bridge.market.importer import Stated, load
from bridge.market.store import BarStore, Series
from bridge.mt5.rates import RATES_DTYPE
from bridge.mt5.servertime import parse
from bridge.mt5.timeframes import timeframe

HEADER = "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>"
WEEK = 7 * 1440
# Minutes of a week that a currency trades, from Monday 00:00 of a server that follows New York.
TRADED = 5 * 1440


def minutes(count: int) -> np.ndarray:
    """Return a random walk of ``count`` minutes from 2015 on, five days a week."""
    random = np.random.default_rng(7)
    number = np.arange(count)
    rates = np.zeros(count, dtype=RATES_DTYPE)
    rates["time"] = parse("2015.01.05") + 60 * (number // TRADED * WEEK + number % TRADED)
    close = 120_000 + np.cumsum(random.integers(-6, 7, count))
    close = np.abs(close) + 50_000
    opened = np.append(close[:1], close[:-1])
    reach = random.integers(0, 9, (2, count))
    rates["open"], rates["close"] = opened / 1e5, close / 1e5
    rates["high"] = (np.maximum(opened, close) + reach[0]) / 1e5
    rates["low"] = (np.minimum(opened, close) - reach[1]) / 1e5
    rates["tick_volume"] = random.integers(1, 400, count)
    rates["spread"] = random.integers(0, 12, count)
    return rates


def write_export(path: Path, rates: np.ndarray) -> None:
    """Write it as the terminal does; by way of arrow, since it is long."""
    moments = pa.array(rates["time"].astype("datetime64[s]"))
    columns = [
        pc.strftime(moments, "%Y.%m.%d"),
        pc.strftime(moments, "%H:%M:%S"),
        *(pa.array(np.char.mod("%.5f", rates[name])) for name in ("open", "high", "low", "close")),
        *(pa.array(rates[name]) for name in ("tick_volume", "real_volume", "spread")),
    ]
    options = pv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with path.open("wb") as file:
        file.write(f"{HEADER}\r\n".encode())
        pv.write_csv(pa.table(columns, HEADER.split("\t")), file, options)


def best(what: str, tries: int, run: Callable[[], object]) -> float:
    """Print the shortest of some runs and the least processor time, and return the first."""
    taken, busy = [], []
    for _ in range(tries):
        begin, used = time.perf_counter(), time.process_time()
        run()
        taken.append(time.perf_counter() - begin)
        busy.append(time.process_time() - used)
    print(f"{what:<48} {min(taken):9.3f} s {min(busy):9.3f} s of processor")
    return min(taken)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3_700_000
    names = ("numpy", "pandas", "pyarrow")
    print(
        ", ".join(f"{name} {version(name)}" for name in names), f"python {sys.version.split()[0]}"
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        export = folder / "EURUSD_M1_201501050000.csv"
        write_export(export, minutes(count))
        print(f"{count:,} bars of M1, {export.stat().st_size / 1e6:.0f} MB of text")
        measure_import(folder, export)
        measure_read(folder)


def measure_import(folder: Path, export: Path) -> None:
    """Compare reading the text: raw cells, with times made, and all that the importer does."""
    options = pv.ParseOptions(delimiter="\t")
    best("pyarrow.csv: cells only", 3, lambda: pv.read_csv(export, parse_options=options))
    best("pandas.read_csv: cells only", 1, lambda: pd.read_csv(export, sep="\t"))
    best(
        "pandas.read_csv and to_datetime",
        1,
        lambda: pd.read_csv(export, sep="\t").pipe(
            lambda frame: pd.to_datetime(
                frame["<DATE>"] + " " + frame["<TIME>"], format="%Y.%m.%d %H:%M:%S"
            )
        ),
    )
    loaded = load(export, Stated())
    best("load: cells, times, every check", 2, lambda: load(export, Stated()))
    series = Series("Broker", "EURUSD", timeframe("M1"), "eet-us", loaded.digits)
    numbers = iter(range(9))
    best(
        "BarStore.add into an empty store",
        2,
        lambda: BarStore(folder / str(next(numbers))).add(series, loaded.rates),
    )
    store = BarStore(folder / "0")
    best("BarStore.add of the same again", 2, lambda: store.add(series, loaded.rates))
    best("BarStore.add of its last day", 2, lambda: store.add(series, loaded.rates[-1440:]))


def measure_read(folder: Path) -> None:
    """Compare reading a year."""
    store = BarStore(folder / "0")
    (part,) = (folder / "0").glob("*/*/M1/2018-*.parquet")
    best("pyarrow.parquet: the bare file of 2018", 9, lambda: pq.read_table(part))
    best("pandas.read_parquet: the same", 9, lambda: pd.read_parquet(part))
    year = {"since": "2018.01.01", "until": "2019.01.01"}
    print(f"{len(store.read('Broker', 'EURUSD', 'M1', **year).rates):,} bars in that year")
    best(
        "BarStore.read: that year of M1",
        9,
        lambda: store.read("Broker", "EURUSD", "M1", **year),
    )
    best("BarStore.read: that year as H1", 9, lambda: store.read("Broker", "EURUSD", "H1", **year))
    best("BarStore.read: all M1", 3, lambda: store.read("Broker", "EURUSD", "M1"))


if __name__ == "__main__":
    main()
