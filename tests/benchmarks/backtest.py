"""Back-tests beside backtesting.py and beside asking the model bar by bar, in one run.

    python tests/benchmarks/backtest.py --bars 100000 1000000 --ten-years

On the first number of bars each model is played by the peer, by us bar by bar and by us ahead; on
every other number by us ahead, beside the time that a bar took before: it should not grow. Ten
years are 3.7 million M1 bars and 100 trees.

Each row is a process of its own, one after the other; seconds are CPU seconds, "the peer" is how
many times as fast as it. With BRIDGE_TEST_DATA the bars are days of a broker's EURUSD M1 drawn at
random, else the sample's. The peer is installed into a venv beside the temporary files, or is in
the one named by --venv; it is AGPL, and in no extra of the project.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

BEGUN = time.process_time()

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from bridge.clock import ManualClock
from bridge.engine.backtest import backtest
from bridge.engine.crew import Member
from bridge.engine.strategy import Strategy
from bridge.journal import buffered
from bridge.model import batched
from bridge.model.load import load_model
from bridge.mt5.rates import RatesArray, sealed
from bridge.mt5.servertime import parse, server_clock
from bridge.mt5.timeframes import timeframe
from bridge.settings import LimitSettings, StrategySettings
from bridge.share import share_dir
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

M1 = timeframe("M1")
OFF: dict[str, Any] = {"daily_loss_share": None, "max_drawdown_share": None}
TEN_YEARS = 3_744_000
DAY = 1_440
PERIODS = (3, 5, 8, 12, 18, 26)
MODELS = ("cross", "mlp", "gbm")


def bars(count: int) -> RatesArray:
    """Return so many M1 bars, five days a week: days of real ones, drawn at random and joined."""
    from long_replay import bars as real_bars

    source = real_bars(370_000)[0]
    rng = np.random.default_rng(7)
    days = -(-count // DAY)
    starts = rng.integers(0, len(source) - DAY, size=days)
    made = np.concatenate([source[first : first + DAY] for first in starts])[:count]
    prices = ("open", "high", "low", "close")
    first = np.repeat(np.concatenate([source["open"][starts]]), DAY)[:count]
    ends = source["close"][starts + DAY - 1] / source["open"][starts]
    # Half of what it has come away is taken back, so that ten years stay in one place.
    level = np.empty(days)
    level[0] = 1.1
    for later in range(1, days):
        level[later] = (level[later - 1] * ends[later - 1] * 1.1) ** 0.5
    scale = np.repeat(level, DAY)[:count] / first
    for name in prices:
        made[name] = np.round(made[name] * scale, 5)
    made["high"] = np.max([made[name] for name in prices], axis=0)
    made["low"] = np.min([made[name] for name in prices], axis=0)
    day = np.arange(count) // DAY
    made["time"] = parse("2015.01.05 00:00") + 60 * np.arange(count) + day // 5 * 2 * 86_400
    made["spread"] = 10
    return sealed(made)


def write_models(home: Path, rates: RatesArray) -> None:
    """Write the cross, a network 16-32-16-3 and 100 trees, trained on some of the bars."""
    from lightgbm import LGBMClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from bridge.authoring.convert import convert_classifier
    from bridge.authoring.merge import merge
    from bridge.features.expr import Bars, Expr, greater
    from bridge.features.featureset import FeatureSet
    from bridge.features.graph import features_graph

    close = Bars.close
    lead, tie = close.mean(10) - close.mean(30), close * 1e-9
    up, down = greater(lead, tie), greater(-lead, tie)
    cross = FeatureSet({"target": up * (1.0 + -up.lag(1)) - down * (1.0 + -down.lag(1))})
    graph = features_graph(cross.expressions, output="target")
    _write(home / "cross.onnx", graph, cross, {"name": "target", "kind": "target"}, 0.5)

    named: dict[str, Expr] = {}
    for bars_ in PERIODS:
        named[f"move{bars_}"] = (close.log() - close.lag(bars_).log()) * 1e4
        named[f"off{bars_}"] = (close.log() - close.mean(2 * bars_).log()) * 1e4
    for bars_ in (8, 16, 32, 64):
        named[f"range{bars_}"] = (((Bars.high - Bars.low).mean(bars_) + 1e-6) / close).log()
    features = FeatureSet(named)
    some = rates[:60_000]
    rows = np.arange(features.lookback, len(some) - 15)
    x = features.history(some)[rows]
    moved = np.log(some["close"][rows + 15] / some["close"][rows])
    y = np.digitize(moved, np.quantile(moved, [0.3, 0.7])).astype(np.int64)
    network = MLPClassifier((32, 16), max_iter=12, random_state=7)
    trees = LGBMClassifier(n_estimators=34, num_leaves=15, random_state=7, verbose=-1)
    shares = {
        "name": "shares",
        "kind": "shares",
        "classes": [
            {"name": name, "side": side}
            for name, side in (("down", "short"), ("flat", "flat"), ("up", "long"))
        ],
    }
    import warnings

    for name, estimator in (("mlp", make_pipeline(StandardScaler(), network)), ("gbm", trees)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(x, y)
            asked = estimator.predict_proba(x)[:, [0, 2]].max(axis=1)
        made = merge(
            features_graph(features.expressions),
            convert_classifier(estimator, width=x.shape[1]),
            classes=3,
        )
        # One bar in fifty asks for a side.
        _write(home / f"{name}.onnx", made, features, shares, float(np.quantile(asked, 0.98)))


def _write(path: Path, graph: Any, features: Any, output: dict[str, Any], open_at: float) -> None:
    from bridge.features import codec
    from bridge.features.expr import FIELDS
    from bridge.model.contract import Contract, Input, Output, with_contract
    from bridge.settings import DecisionSettings

    contract = Contract(
        name=path.stem,
        symbol="EURUSD",
        timeframe="M1",
        window=features.window,
        inputs=(
            Input(name="bars", dtype="double", layout="batch,window,columns", columns=FIELDS),
            Input(name="time", dtype="int64", layout="batch,window", columns=("time",)),
        ),
        output=Output.model_validate(output),
        decision=DecisionSettings(open_at=open_at, stop_points=50, take_points=100),
        server_clock="utc",
        features=codec.to_json(features),
        created="2026-01-01",
        algorithm=path.stem,
        licence="MIT",
    )
    path.write_bytes(with_contract(graph, contract))


def one(home: Path, name: str, method: str) -> None:
    """Run one back-test and print what it took."""
    rates = sealed(np.load(home / "bars.npy"))
    model = load_model(home / f"{name}.onnx", probe=False)
    if method == "single":
        batched.BatchedSession._fills = lambda self, model: iter(())  # type: ignore[method-assign]
    journal_seconds = _metered()
    settings = StrategySettings.model_validate(
        {
            "model": name,
            "symbol": "EURUSD",
            "timeframe": "M1",
            "magic": 7,
            "risk": {"volume": 0.1, **OFF},
        }
    )
    strategy = Strategy(settings, model, M1, model.contract.decision)
    profile = BrokerProfile.load(share_dir("models/sample_bars") / "profile.json")
    account = profile.account.model_copy(update={"deposit": 1_000_000.0})
    profile = profile.model_copy(update={"server_clock": "utc", "account": account})
    clock = ManualClock(float(rates["time"][strategy.depth]))
    start, begun = time.process_time(), time.perf_counter()
    with (
        closing(PaperTerminal(profile, {"EURUSD": (M1, rates)}, clock, None)) as paper,
        buffered.BufferedJournal(home / f"{name}-{method}.sqlite3", clock) as journal,
    ):
        paper.initialize()
        journal.begin_run(mode="test", settings={}, models={}, account={}, versions={}, paths={})
        backtest(
            [Member(strategy, int(rates["time"][strategy.depth - 2]))],
            [rates],
            paper.direct(),
            paper,
            journal,
            journal.reader(),
            clock=clock,
            server=server_clock("utc"),
            limits=LimitSettings(**OFF, min_margin_level=None),
            state=home,
            lows=paper.lows,
        )
        journal.end_run("over")
        deals = paper.history_deals_total(0, 2_000_000_000)
    spent, took = time.process_time() - start, time.perf_counter() - begun
    told = {
        "name": f"{name}, {method}",
        "run": spent,
        "whole": time.process_time() - BEGUN,
        "mb": peak_mb(),
        "trades": deals // 2,
        "journal": journal_seconds[0] / took,
    }
    print(json.dumps(told))


def peak_mb() -> float:
    """Return the process's peak memory; that of Linux does not count what it was forked from."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def _metered() -> list[float]:
    """Count the seconds that the journal takes, by a clock that itself takes next to none."""
    spent, kind = [0.0], buffered.BufferedJournal
    named = (
        "decision",
        "intent",
        "denied",
        "result",
        "deals",
        "event",
        "track",
        "stretch",
        "close",
    )
    for name in named:
        method = getattr(kind, name)

        def timed(self: Any, *args: Any, method: Any = method, **named: Any) -> Any:
            begun = time.perf_counter()
            try:
                return method(self, *args, **named)
            finally:
                spent[0] += time.perf_counter() - begun

        setattr(kind, name, timed)
    return spent


def sides(home: Path, name: str, rates: RatesArray) -> Any:
    """Return the sides that a model asks for, ready."""
    model = load_model(home / f"{name}.onnx", probe=False)
    values = batched.batched(model, rates).session.values  # type: ignore[attr-defined]
    long, short, _ = batched.sides_of(model.contract, values)
    at = model.contract.decision.open_at
    return np.where(
        (long >= at) & (long > short), 1, np.where((short >= at) & (short > long), -1, 0)
    )


def peer_python(folder: Path | None) -> Path:
    """Return the peer's Python; its venv is made at the first use."""
    folder = folder or Path(tempfile.gettempdir()) / "mt5-onnx-backtest-peer"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "backtesting"], check=True)
    return python


def measured(*command: object) -> dict[str, Any]:
    """Run a process and return what it printed last."""
    done = subprocess.run([str(each) for each in command], check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def show(count: int, found: dict[str, Any], against: dict[str, Any] | None = None) -> None:
    """Print a row."""
    ratio = f"{against['run'] / found['run']:8.2f} x" if against else " " * 10
    share = f"{found['journal']:8.1%}" if "journal" in found else " " * 8
    print(
        f"{found['name']:28} {count:9} {count / found['run']:11,.0f} {ratio} {found['whole']:8.2f}"
        f" {found['mb']:6.0f} {share} {found['trades']:7}",
        flush=True,
    )


def prepare(home: Path, count: int) -> RatesArray:
    """Write the bars that the next rows play, each into a journal of its own."""
    for old in home.glob("*.sqlite3*"):
        old.unlink()
    rates = bars(count)
    np.save(home / "bars.npy", rates)
    return rates


def played(home: Path, name: str, method: str) -> dict[str, Any]:
    """Play the prepared bars in a process of its own."""
    return measured(sys.executable, __file__, "--one", home, name, method)


def compare(home: Path, count: int, folder: Path | None) -> dict[str, float]:
    """Compare on ``count`` bars; return the CPU seconds a bar, played ahead, by model."""
    python, peer = peer_python(folder), Path(__file__).with_name("backtest_peer.py")
    rates = prepare(home, count)
    write_models(home, rates)
    seconds = {}
    for name in MODELS:
        np.savez(home / "peer.npz", rates=rates, sides=sides(home, name, rates))
        kind = "cross" if name == "cross" else "scores"
        other = measured(python, peer, home / "peer.npz", kind)
        show(count, other)
        show(count, played(home, name, "single"), other)
        found = played(home, name, "batched")
        show(count, found, other)
        seconds[name] = found["run"] / count
    return seconds


def grow(home: Path, count: int, before: dict[str, float]) -> None:
    """Play another number of bars with the same models, beside what a bar took before."""
    prepare(home, count)
    for name, seconds in before.items():
        found = played(home, name, "batched")
        show(count, found)
        print(f"{'':28} a bar takes {found['run'] / count / seconds:.2f} times as long as before")


def ten_years(home: Path) -> None:
    """Play ten years of M1."""
    rates = prepare(home, TEN_YEARS)
    if not (home / "gbm.onnx").exists():
        write_models(home, rates)
    show(TEN_YEARS, played(home, "gbm", "batched"))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--bars", type=int, nargs="*", default=[])
    arguments.add_argument("--ten-years", action="store_true")
    arguments.add_argument("--venv", type=Path)
    arguments.add_argument("--one", nargs=3, help="a row by itself, in a folder prepared before")
    chosen = arguments.parse_args()
    if chosen.one:
        one(Path(chosen.one[0]), *chosen.one[1:])
        return
    versions = ", ".join(f"{each} {version(each)}" for each in ("numpy", "onnxruntime"))
    print(f"Python {sys.version.split()[0]}, {versions}")
    print(f"{'what':28} {'bars':>9}  bars/CPU-s   the peer  whole s     MB  journal  trades")
    first, *others = chosen.bars or [0 if chosen.ten_years else 100_000]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        seconds = compare(home, first, chosen.venv) if first else {}
        for count in others:
            grow(home, count, seconds)
        if chosen.ten_years:
            ten_years(home)


if __name__ == "__main__":
    main()
