"""500 bars from a terminal behind an rpyc classic server: ours, bare rpyc, mt5linux's own way.

All ask the same server, which is rpyc's own with the paper terminal as its package, over loopback,
in turns. Bare rpyc is one function on the server that returns the bars' bytes, with TCP_NODELAY on
both sides; mt5linux evaluates source text and pickles the array that it gets a reference to.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rpyc
from rpyc.core.stream import SocketStream
from rpyc.utils.classic import obtain
from rpyc.utils.factory import connect_stream

sys.path[:0] = [str(Path(__file__).parents[1])]

from terminal.remote_desk import Far, far

from bridge.clock import SystemClock
from bridge.mt5.rates import RATES_DTYPE
from bridge.terminal.host.settings import HostSettings
from bridge.terminal.remote.address import Address
from bridge.terminal.remote.terminal import RemoteTerminal

THEIRS = "mt5linux's own way"
ASKED = "'EURUSD', 16385, 1, 500"
BARE = f"def bare(): return mt5.copy_rates_from_pos({ASKED}).tobytes()"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=400)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, far(Path(folder)) as server:
        measure(server, chosen.rounds)


def measure(server: Far, rounds: int) -> None:
    ours = RemoteTerminal(server.address, HostSettings(), SystemClock(), random.Random(1))  # noqa: S311
    ours.connect()
    bare, theirs = connected(server.address, nodelay=True), connected(server.address, nodelay=False)
    bare.root.execute(BARE)
    call = bare.root.eval("bare")
    array = theirs.root.eval

    def one_by_one() -> None:
        ours.copy_rates_from_pos("EURUSD", 16385, 1, 500)
        rest()

    def bundled() -> None:
        ours.copy_rates_from_pos("EURUSD", 16385, 0, 500)
        rest()

    def rest() -> None:
        ours.positions_get()
        ours.account_info()
        ours.symbol_info_tick("EURUSD")
        ours.symbol_info("EURUSD")

    ways: dict[str, Callable[[], Any]] = {
        "bare rpyc bytes call": lambda: np.frombuffer(call(), RATES_DTYPE),
        "ours": lambda: ours.copy_rates_from_pos("EURUSD", 16385, 1, 500),
        THEIRS: lambda: obtain(array(f"mt5.copy_rates_from_pos({ASKED})")),
        "a bar's close, bundled": bundled,
        "a bar's close, one by one": one_by_one,
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 20):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            if turn >= 20:
                took[name].append(time.perf_counter() - began)
    ours.close()
    show({name: 1e6 * float(np.median(each)) for name, each in took.items()}, took)
    for each in (bare, theirs):
        each.close()


def connected(address: Address, *, nodelay: bool) -> Any:
    stream = SocketStream.connect(address.host, address.port, nodelay=nodelay)
    connection = connect_stream(stream, rpyc.VoidService)
    connection._config.update(allow_pickle=True, sync_request_timeout=60)
    connection.root.execute("import MetaTrader5 as mt5")
    if nodelay:
        connection.root.execute("def hasten(c): c._channel.stream.sock.setsockopt(6, 1, 1)")
        connection.root.eval("hasten")(connection.root.getconn())
    return connection


def show(middle: dict[str, float], took: dict[str, list[float]]) -> None:
    for name, each in middle.items():
        print(f"{name:28} p50 {each:8.0f} us   p99 {1e6 * np.quantile(took[name], 0.99):8.0f} us")
    ours = middle["ours"]
    print(
        f"ours / bare rpyc             {ours / middle['bare rpyc bytes call']:8.2f}   at most 1.5"
    )
    print(f"mt5linux / ours              {middle[THEIRS] / ours:8.2f}   at least 5")


if __name__ == "__main__":
    main()
