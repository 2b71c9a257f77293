"""The state of a run, read from its journal and its state folder."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bridge.engine.tally import Tally
from bridge.engine.watch import HALT_FILE
from bridge.journal.read import JournalReader, Row
from bridge.mt5.servertime import text
from bridge.mt5.sides import BY_POSITION_TYPE
from bridge.report.limits import account_limits, closed_tally, strategy_limits
from bridge.report.why_not import why_not
from bridge.settings import BridgeSettings, StrategySettings

# A run whose last sign of life is so many periods old is taken for dead.
_PERIODS = 3.0


def status_of(
    journal: JournalReader,
    settings: BridgeSettings,
    state: Path,
    *,
    heartbeat: Mapping[str, Any] | None,
    utc_now: float,
) -> dict[str, Any]:
    """Return the status as plain values, ready for JSON.

    Args:
        journal: Of the run.
        settings: Whose strategies.
        state: The state folder.
        heartbeat: The run's last sign of life; None without one.
        utc_now: UTC epoch seconds.
    """
    runs = list(journal.rows("runs"))
    last = runs[-1] if runs else None
    seen = _snapshot(journal)
    tally = closed_tally(journal, frozenset(each.magic for each in settings.strategy))
    return {
        "health": _health(last, settings, heartbeat, utc_now),
        "halted": (state / HALT_FILE).exists(),
        "run": _run(last) if last else "never run",
        "mode": settings.mode.value,
        "account": seen and {name: seen[name] for name in _ACCOUNT},
        "limits": account_limits(journal, settings.limits, settings.strategy, seen, tally),
        "positions": seen["positions"] if seen else [],
        "strategies": [_strategy(journal, each, seen, tally) for each in settings.strategy],
        "why_not": asdict(why_not(journal)),
    }


_ACCOUNT = ("balance", "equity", "margin_level", "currency", "seen_utc")


def _health(
    last: Row | None,
    settings: BridgeSettings,
    heartbeat: Mapping[str, Any] | None,
    utc_now: float,
) -> str:
    period = settings.schedule.heartbeat_seconds
    if last is None or last["ending"]:
        return "not running"
    if heartbeat is None or period is None:
        return "running, or killed: it leaves no signs of life"
    age = utc_now - heartbeat["utc"]
    if age > _PERIODS * period:
        return f"no sign of life for {age:.0f} s: killed, or it hangs"
    return f"running, last sign of life {max(age, 0.0):.0f} s ago"


def _run(row: Row) -> str:
    ending = row["ending"]
    return f"run {row['id']} ended: {ending}" if ending else f"run {row['id']} has no end yet"


def _snapshot(journal: JournalReader) -> dict[str, Any] | None:
    """Return account and positions as they were journalled last."""
    event = journal.last_event(None, "snapshot")
    if event is None:
        return None
    seen: dict[str, Any] = json.loads(event["text"])
    for each in seen["positions"]:
        each["side"] = BY_POSITION_TYPE[each.pop("type")].value
    return {**seen, "seen_utc": event["at_utc"]}


def _strategy(
    journal: JournalReader,
    settings: StrategySettings,
    snapshot: Mapping[str, Any] | None,
    tally: Tally,
) -> dict[str, Any]:
    last = journal.last_decision(settings.magic, settings.symbol)
    if last is None:
        return {"strategy": settings.title, "magic": settings.magic, "last_bar": None}
    held, limits = last["holding"], strategy_limits(journal, settings, snapshot, tally)
    return {
        "strategy": settings.title,
        "magic": settings.magic,
        "last_bar": text(last["bar_time"]),
        "action": last["action"],
        "reason": last["reason"],
        "state": last["state"],
        "holding": held and f"{held['side']} {held['volume']:g} lots (#{held['ticket']})",
        "equity": last["equity"],
        "limits": {name: of for name, of in limits.items() if of["money"] is not None},
        "counts": {name: of for name, of in limits.items() if of["money"] is None},
    }
