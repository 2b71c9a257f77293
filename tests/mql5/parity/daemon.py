"""The daemon's run in mode paper, read from its journal."""

import time
from pathlib import Path
from typing import Any

from bridge.cli.paper_run import run_paper
from bridge.cli.recording import load_recording
from bridge.cli.state import ACCOUNT, JOURNAL
from bridge.clock import ManualClock
from bridge.engine.stop import Stop
from bridge.engine.strategy import load_strategies
from bridge.journal.read import JournalReader, reading
from bridge.mt5.servertime import server_clock
from bridge.settings import BridgeSettings
from bridge.share import share_dir
from bridge.terminal.paper.terminal import PaperTerminal
from mql5.parity.markets import Market
from mql5.parity.run import Bar, Run, deals_of, order_of


class _Silent:
    """A watcher that says nothing."""

    def on_event(self, kind: str, what: str, magic: int | None) -> None:
        """Hear of an event."""

    def on_step(self, step: Any) -> None:
        """Hear of a step."""


def settings_of(
    market: Market, model: Path, magic: int, state: Path, **tables: Any
) -> BridgeSettings:
    """Return the settings of the daemon's side.

    Args:
        tables: Tables of ``bridge.toml``; ``strategy`` is put into the one strategy.
    """
    strategy = {
        "name": "parity",
        "model": str(model),
        "symbol": market.symbol,
        "timeframe": market.timeframe,
        "magic": magic,
        **({"alias": market.alias} if market.alias else {}),
        **tables.pop("strategy", {}),
    }
    recording = {"symbol": market.symbol, "timeframe": market.timeframe, "path": str(market.bars)}
    return BridgeSettings.model_validate(
        {
            "mode": "paper",
            "state": str(state),
            "paper": {"profile": str(market.profile), "bars": [recording]},
            "strategy": [strategy],
            **tables,
        }
    )


def first_moment(settings: BridgeSettings) -> int:
    """Return the server time at which the daemon begins, and the EA has to."""
    (strategy,) = load_strategies(settings.strategy)
    return int(load_recording(settings).times(strategy)[strategy.depth - 1])


def run_daemon(settings: BridgeSettings, market: Market) -> Run:
    """Run it to the end of the recording."""
    began = time.perf_counter()
    run_paper(settings, speed=None, stop=Stop(), watcher=_Silent())  # type: ignore[arg-type]
    seconds = time.perf_counter() - began
    state = Path(settings.state)
    with reading(state / JOURNAL) as journal:
        bars = {row["bar_time"]: _bar(row) for row in journal.rows("decisions")}
        orders = list(_orders(journal, market))
    deals, balance = _account(settings, market, state)
    return Run(bars, orders, deals, balance, seconds)


def _bar(row: Any) -> Bar:
    names = [
        "input_sha256",
        "model_sha256",
        "long",
        "short",
        "action",
        "side",
        "stop_points",
        "take_points",
        "reason",
        "state",
        "bid",
        "ask",
        "balance",
        "equity",
    ]
    facts = {name: row[name] for name in names}
    facts["problem"] = row["problem"] or ""
    holding = row["holding"] or {}
    facts["held_side"] = holding.get("side")
    facts["held_volume"] = holding.get("volume")
    facts["held_bars"] = holding.get("bars")
    return Bar(tuple(row["outputs"]), facts)


def _orders(journal: JournalReader, market: Market) -> Any:
    clock = server_clock(market.broker().server_clock)
    results = {row["intent"]: row for row in journal.rows("results")}
    for row in journal.rows("intents"):
        answer = (results[row["id"]]["answer"] if row["id"] in results else None) or {}
        if row["denied"] is None and answer:
            time_ = int(clock.from_utc(row["at_utc"]))
            yield order_of(time_, row["request"], answer["retcode"])


def _account(
    settings: BridgeSettings, market: Market, state: Path
) -> tuple[list[dict[str, Any]], float]:
    """Open the account again as it was left."""
    recording = load_recording(settings)
    last = int(market.rates()["time"][-1])
    clock = ManualClock(recording.server.to_utc(last))
    paper = PaperTerminal(recording.profile, recording.bars, clock, state / ACCOUNT)
    paper.initialize()
    try:
        return deals_of(paper), float(paper.account_info().balance)
    finally:
        paper.close()


def model_path(name: str) -> Path:
    """Return a model that ships with the project."""
    return share_dir("models") / name / "model.onnx"
