"""Ten symbols live against the paper terminal in the child: lateness, CPU and memory. Linux.

Each minute all ten bars close at once. Lateness is from the bar's end to the written decision; the
first of the ten says how soon a close is noticed, the last how long ten decisions take. CPU and
memory are the daemon's own; the terminal's process is not the daemon's.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1])]

from live_support import LOGIN, SERVER, environment, plan

from bridge.cli.sample import find_model
from bridge.clock import SystemClock
from bridge.journal.read import reading
from bridge.model.contract import read_contract, with_contract

SYMBOLS = tuple(f"SYM{number}" for number in range(10))
HEAD = f"""mode = "live"
server_clock = "utc"
[terminal]
login = {LOGIN}
server = "{SERVER}"
"""
STRATEGY = """
[[strategy]]
name = "{symbol}"
model = "model.onnx"
symbol = "{symbol}"
timeframe = "M1"
magic = {magic}
alias = "EURUSD"
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--minutes", type=int, default=3)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), chosen.minutes)


def write_model(path: Path) -> None:
    """Write the shipped model as one of M1 on a UTC server."""
    import onnx

    model = onnx.load(find_model("eurusd_h1_direction"))
    metadata = {each.key: each.value for each in model.metadata_props}
    contract = read_contract(metadata)
    fields = {"timeframe": "M1", "server_clock": "utc"}
    path.write_bytes(with_contract(model, contract.model_copy(update=fields)))


def measure(home: Path, minutes: int) -> None:
    write_model(home / "model.onnx")
    made = plan(home, before=400, after=60 + minutes, symbols=SYMBOLS)
    text = HEAD + "".join(STRATEGY.format(symbol=s, magic=7 + n) for n, s in enumerate(SYMBOLS))
    (home / "bridge.toml").write_text(text, encoding="utf-8")
    clock = SystemClock()
    begun = clock.now()
    child = subprocess.Popen(
        [sys.executable, "-m", "bridge", "run", "-c", str(home / "bridge.toml"), "--live"],
        env={**environment(made), "XDG_STATE_HOME": str(home)},
    )
    try:
        clock.wait_until((begun // 60 + 1) * 60 + 5)
        before = cpu_seconds(child.pid)
        start = clock.now()
        clock.wait_until(start + 60 * minutes)
        spent, memory = cpu_seconds(child.pid) - before, memory_mb(child.pid)
        share = spent / (clock.now() - start)
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait(20)
    with reading(home / "state" / "journal.sqlite3") as journal:
        rows = list(journal.rows("decisions"))
    print(f"first decision {rows[0]['at_utc'] - begun:.2f} s after the start of the process")
    closes = sorted({row["bar_time"] for row in rows})[1:]
    late = [
        sorted(row["at_utc"] - close - 60 for row in rows if row["bar_time"] == close)
        for close in closes
    ]
    whole = [each for each in late if len(each) == len(SYMBOLS)]
    first, last = ([each[at] * 1_000 for each in whole] for at in (0, -1))
    print(f"{len(whole)} closes of {len(SYMBOLS)} symbols; milliseconds after the close:")
    for name, values in (("first decision", first), ("tenth decision", last)):
        print(f"  {name}: median {np.median(values):.1f}, worst {max(values):.1f}")
    print(f"CPU {share:.2%} of one core, memory {memory:.0f} MB (goals: 1 %, 150 MB)")


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
