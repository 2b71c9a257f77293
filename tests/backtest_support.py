"""Back-tests in tests: random walks, small random models, settings drawn from a seed."""

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from models_support import contract
from onnx import TensorProto, helper, numpy_helper
from terminal.paper_desk import profile, spec

from bridge.cli.backtest_plan import Changes, make_plan
from bridge.cli.backtest_run import Played, play
from bridge.cli.log import Watcher
from bridge.cli.paper_run import run_paper
from bridge.engine.stop import Stop
from bridge.journal.read import reading
from bridge.market.barfile import write_bars
from bridge.model.contract import with_contract
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.servertime import parse
from bridge.settings import BridgeSettings

# Written by the daemon's periodic jobs, which a back-test has not.
JOBS = ("snapshot", "summary", "disk")
START = parse("2024.01.08 00:00")
HOUR = 3_600


def walk(
    seed: int, count: int, *, step: int = HOUR, price: float = 1.1, spread: int = 10
) -> RatesArray:
    """Return bars of a random walk: each opens at the last close; no bars at weekends."""
    chance = np.random.default_rng(seed)
    rows, time = [], START
    for moves in chance.normal(0.0, 0.0004, (count, 8)):
        path = np.round(price + np.concatenate([[0.0], np.cumsum(moves)]), 5)
        rows.append((time, path[0], path.max(), path.min(), path[-1], 100, spread, 0))
        price = float(path[-1])
        time += step
        if (time // 86_400 + 4) % 7 == 6:  # Saturday
            time += 2 * 86_400
    return rates_of(rows)


def write_model(
    path: Path,
    weights: list[float],
    *,
    level: float = 0.0,
    above: float | None = None,
    column: str = "close",
    **fields: Any,
) -> Path:
    """Write a model whose target is tanh(weights . column - level), or 1 while it is ``above``."""
    window = len(weights)
    constants = {
        "weights": np.array(weights)[:, None],
        "level": np.array(level if above is None else above),
        "last": np.array([window - 1]),
    }
    nodes = [
        helper.make_node("MatMul", [column, "weights"], ["sum"]),
        helper.make_node("Sub", ["sum", "level"], ["over"]),
        helper.make_node("Tanh", ["over"], ["answer"]),
    ]
    if above is not None:
        nodes = [
            helper.make_node("Gather", [column, "last"], ["newest"], axis=1),
            helper.make_node("Greater", ["newest", "level"], ["answer"]),
        ]
    nodes.append(helper.make_node("Cast", ["answer"], ["target"], to=TensorProto.FLOAT))
    needed = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(column, TensorProto.DOUBLE, ["N", window])],
        [helper.make_tensor_value_info("target", TensorProto.FLOAT, ["N", 1])],
        [numpy_helper.from_array(each, name) for name, each in constants.items() if name in needed],
    )
    imports = [helper.make_opsetid("", 15)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8, producer_name="tests")
    tensor = {
        "name": column,
        "dtype": "double",
        "layout": "batch,window",
        "columns": (column,),
    }
    made = contract(window, inputs=[tensor], server_clock="utc", **fields)
    path.write_bytes(with_contract(model, made))
    return path


def settings_of(
    folder: Path,
    bars: dict[str, tuple[str, RatesArray]],
    strategies: list[dict[str, Any]],
    *,
    account: dict[str, Any] | None = None,
    **tables: Any,
) -> BridgeSettings:
    """Return settings of mode paper over ``bars``: symbol -> timeframe and bars."""
    symbols = {
        name: spec(currency_base=name[:3], currency_margin=name[:3], swap_mode=1, swap_long=-3.0)
        for name in bars
    }
    profile(symbols, **(account or {})).save(folder / "profile.json")
    for name, (_, rates) in bars.items():
        write_bars(folder / f"{name}.csv", rates, digits=5)
    off = {"heartbeat_seconds": None, "snapshot_seconds": None, "daily_summary_at": None}
    return BridgeSettings.model_validate(
        {
            "state": str(folder / "state"),
            "schedule": off,
            "backtest": {"folder": str(folder / "backtests")},
            "paper": {
                "profile": str(folder / "profile.json"),
                "bars": tuple(
                    {"symbol": name, "timeframe": frame, "path": str(folder / f"{name}.csv")}
                    for name, (frame, _) in bars.items()
                ),
            },
            "strategy": tuple(strategies),
            **tables,
        }
    )


def random_settings(folder: Path, seed: int) -> BridgeSettings:
    """Return one or two strategies on one or two symbols, with whatever the seed switches on."""
    chance = random.Random(seed)  # noqa: S311  not a secret

    def maybe(**options: Any) -> dict[str, Any]:
        return {name: value for name, value in options.items() if chance.random() < 0.5}

    weights = np.random.default_rng(seed).normal(0.0, 400.0, 4)
    model = write_model(folder / "model.onnx", [*(weights[:-1]), float(-weights[:-1].sum())])
    is_netting = seed % 2 == 1
    bars = {
        "EURUSD": ("M30", walk(seed, 300, step=HOUR // 2)),
        "GBPUSD": ("H1", walk(seed + 1, 150, price=1.3)),
    }
    symbols = ["EURUSD", "GBPUSD"] if is_netting else ["EURUSD", chance.choice(list(bars))]
    strategies = [
        {
            "model": str(model),
            "symbol": symbol,
            "alias": "EURUSD",
            "timeframe": "H1",
            "magic": number + 7,
            "decision": {
                "open_at": chance.choice([0.2, 0.5, 0.8]),
                "reverse": chance.random() < 0.5,
                "stop_points": chance.choice([150, 400]),
                "range_bars": chance.choice([2, 9]),
                **maybe(close_at=0.1, take_points=300, max_bars=chance.randint(1, 8)),
            },
            "risk": chance.choice([{"volume": 0.3}, {"risk_share": 0.01, "max_volume": 5.0}])
            | maybe(max_losses_in_row=2, daily_loss_share=0.01),
            "hours": maybe(windows=("07:00-20:00",), friday_until="18:00"),
            "manage": maybe(
                trail_points=200.0,
                breakeven_after_points=120.0,
                partial_at_points=100.0,
                flat_before_weekend="20:00",
            ),
        }
        for number, symbol in enumerate(symbols)
    ]
    return settings_of(
        folder,
        bars,
        strategies,
        account={"margin_mode": "netting" if is_netting else "hedging", "commission": 3.5},
        limits=maybe(daily_loss_share=0.02, max_positions=1, max_drawdown_share=0.1),
    )


def history(journal: Path) -> dict[str, list[dict[str, Any]]]:
    """Return all that a journal tells of the market and of what was done."""
    with reading(journal) as past:
        found = {
            table: list(past.rows(table))
            for table in ("decisions", "intents", "results", "deals", "events")
        }
    found["events"] = [row for row in found["events"] if row["kind"] not in JOBS]
    for row in found["events"]:
        del row["id"]  # jobs have taken numbers, too
    return found


def replayed(settings: BridgeSettings) -> Path:
    """Run a paper replay and return its journal."""
    with closing(Watcher(settings, lambda line: None)) as watcher:
        assert run_paper(settings, speed=None, stop=Stop(), watcher=watcher)
    return Path(settings.state) / "journal.sqlite3"


def back_tested(settings: BridgeSettings, folder: Path, **changes: Any) -> Played:
    """Run a back-test in a new folder."""
    folder.mkdir()
    return play(make_plan(settings, Changes(**changes)), folder)
