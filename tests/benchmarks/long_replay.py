"""A long paper run: memory, CPU time and journal along the way, in twenty steps.

With BRIDGE_TEST_DATA the bars are a broker's EURUSD M1, else the sample's prices over and over.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from bridge.cli.log import Watcher
from bridge.cli.paper_run import run_paper
from bridge.cli.sample import find_model
from bridge.engine.step import Step
from bridge.engine.stop import Stop
from bridge.market.barfile import read_bars, write_bars
from bridge.mt5.rates import RATES_DTYPE, RatesArray
from bridge.settings import load_settings
from bridge.share import share_dir

SAMPLE = share_dir("models/sample_bars")
SETTINGS = """
mode = "paper"
[log]
level = "warning"
[paper]
profile = '{profile}'
[[paper.bars]]
symbol = "EURUSD"
timeframe = "M1"
path = "bars.csv"
[[strategy]]
model = "model.onnx"
symbol = "EURUSD"
timeframe = "M1"
magic = 7
[strategy.risk]
volume = 0.01
daily_loss_share = "off"
max_drawdown_share = "off"
[limits]
daily_loss_share = "off"
max_drawdown_share = "off"
min_margin_level = "off"
"""


def bars(count: int) -> tuple[RatesArray, str]:
    """Return so many M1 bars, and where they are from."""
    folder = os.environ.get("BRIDGE_TEST_DATA")
    if folder:
        import pyarrow.parquet as pq

        table = pq.read_table(Path(folder) / "bars" / "icm" / "EURUSD_M1_2025.parquet")
        rates = np.zeros(table.num_rows, dtype=RATES_DTYPE)
        for name in RATES_DTYPE.names or ():
            column = table.column(name).to_numpy()
            is_time = np.issubdtype(column.dtype, np.datetime64)
            rates[name] = column.astype("datetime64[s]").astype(np.int64) if is_time else column
        if len(rates) >= count:
            return rates[:count], "a broker's M1"
    rates = np.resize(read_bars(SAMPLE / "EURUSD_H1_2017.csv"), count)
    rates["time"] = 1_483_315_200 + 60 * np.arange(count)
    return rates, "the sample's prices over and over"


def memory() -> float:
    """Return the memory in use, MB."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bars", type=int, default=200_000)
    arguments.add_argument("--inside", type=Path, help="go on in this folder, prepared before")
    chosen = arguments.parse_args()
    if chosen.inside:
        run(chosen.inside, chosen.bars)
        return
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), chosen.bars)
        # A process of its own: what it took to prepare is no memory of the run.
        command = [sys.executable, __file__, "--inside", folder, "--bars", str(chosen.bars)]
        subprocess.run(command, check=True)


def prepare(home: Path, count: int) -> None:
    """Write bars, model and settings."""
    import onnx

    from bridge.model.contract import read_contract, with_contract

    rates, source = bars(count)
    print(f"{len(rates)} bars, {source}", flush=True)
    write_bars(home / "bars.csv", rates, digits=5)
    model = onnx.load(find_model("eurusd_h1_direction"))
    contract = read_contract({each.key: each.value for each in model.metadata_props})
    fields = {"timeframe": "M1", "server_clock": "eet-us"}
    (home / "model.onnx").write_bytes(with_contract(model, contract.model_copy(update=fields)))
    text = SETTINGS.format(profile=SAMPLE / "profile.json")
    (home / "bridge.toml").write_text(text, encoding="utf-8")


def run(home: Path, count: int) -> None:
    """Run it, and print a line twenty times."""
    settings = load_settings(home / "bridge.toml", {})
    print("    bars   memory MB   CPU us a bar   journal MB   orders")
    done, orders, before = 0, 0, time.process_time()
    each = max(1, count // 20)

    def on_step(step: Step) -> None:
        nonlocal done, orders, before
        done += 1
        orders += len(step.results)
        if done % each == 0:
            spent = (time.process_time() - before) / each * 1e6
            size = sum(path.stat().st_size for path in (home / "state").glob("journal*")) / 1e6
            print(f"{done:8} {memory():11.1f} {spent:14.0f} {size:12.1f} {orders:8}", flush=True)
            before = time.process_time()

    with closing(Watcher(settings, lambda line: None)) as watcher:
        watcher.on_step = on_step  # type: ignore[method-assign]
        run_paper(settings, speed=None, stop=Stop(), watcher=watcher)


if __name__ == "__main__":
    main()
