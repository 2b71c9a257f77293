"""The state of a run, read from its journal and its state folder."""

from pathlib import Path
from typing import Any

from bridge.engine.watch import HALT_FILE
from bridge.journal.read import JournalReader, Row
from bridge.mt5.servertime import text
from bridge.report.why_not import why_not
from bridge.risk.baselines import Baselines
from bridge.settings import BridgeSettings, StrategySettings


def status_of(journal: JournalReader, settings: BridgeSettings, state: Path) -> dict[str, Any]:
    """Return the status as plain values, ready for JSON.

    Args:
        journal: Of the run.
        settings: Whose strategies.
        state: The state folder.
    """
    runs = list(journal.rows("runs"))
    return {
        "health": "halted by file" if (state / HALT_FILE).exists() else "not halted",
        "run": _run(runs[-1]) if runs else "never run",
        "mode": settings.mode.value,
        "strategies": [_strategy(journal, each) for each in settings.strategy],
        "why_not": str(why_not(journal)),
    }


def _run(row: Row) -> str:
    ending = row["ending"]
    return f"run {row['id']} ended: {ending}" if ending else f"run {row['id']} is on, or was killed"


def _strategy(journal: JournalReader, settings: StrategySettings) -> dict[str, Any]:
    last = journal.last_decision(settings.magic, settings.symbol)
    if last is None:
        return {"strategy": settings.title, "magic": settings.magic, "last_bar": None}
    held = last["holding"]
    return {
        "strategy": settings.title,
        "magic": settings.magic,
        "last_bar": text(last["bar_time"]),
        "action": last["action"],
        "reason": last["reason"],
        "state": last["state"],
        "holding": held and f"{held['side']} {held['volume']:g} lots (#{held['ticket']})",
        "equity": last["equity"],
        "limits": _limits(last, settings),
    }


def _limits(last: Row, settings: StrategySettings) -> dict[str, str]:
    """Return each loss limit of the strategy: what is used, and what there is."""
    if last["equity"] is None:
        return {}
    baselines = Baselines(**last["baselines"])
    pairs = {
        "daily_loss": (
            baselines.day_loss_share(last["equity"]),
            settings.risk.daily_loss_share,
        ),
        "drawdown": (
            baselines.drawdown_share(last["equity"]),
            settings.risk.max_drawdown_share,
        ),
    }
    return {
        name: f"{max(used, 0.0):.2%} of {'no limit' if limit is None else f'{limit:.2%}'}"
        for name, (used, limit) in pairs.items()
    }
