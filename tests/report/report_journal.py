"""A journal for tests of the report: a few bars and trades of which each number is known."""

import json
from pathlib import Path
from typing import Any

from tests_support import record

from bridge.clock import ManualClock
from bridge.journal.write import DecisionRow, Journal
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal
from bridge.mt5.servertime import parse
from bridge.risk.baselines import first_baselines

START = parse("2017.03.06 00:00")  # a Monday
HOUR = 3600
MAGIC = 7
DEPOSIT = 10_000.0


def deal(ticket: int, position: int, hours: float, *, entry: int, **fields: Any) -> TradeDeal:
    """Return a deal so many hours after the start."""
    plain = {
        "ticket": ticket,
        "position_id": position,
        "time": START + int(hours * HOUR),
        "entry": entry,
        "magic": MAGIC,
        "symbol": "EURUSD",
        "volume": 0.1,
    }
    found: TradeDeal = record(TradeDeal, plain | fields)
    return found


def row(number: int, bid: float, equity: float, **fields: Any) -> DecisionRow:
    """Return the decision about bar ``number``, hourly from the start."""
    plain: dict[str, Any] = {
        "magic": MAGIC,
        "symbol": "EURUSD",
        "timeframe": "H1",
        "bar_time": START + number * HOUR,
        "model_sha256": "ab" * 32,
        "input_sha256": "cd" * 32,
        "outputs": (0.5,),
        "long": 0.1 * (number % 5),
        "short": 0.0,
        "problem": None,
        "action": "hold",
        "side": None,
        "stop_points": None,
        "take_points": None,
        "reason": "none",
        "holding": None,
        "state": "active",
        "baselines": first_baselines(0.0, 10_000.0),
        "bid": bid,
        "ask": bid + 0.0002,
        "balance": equity,
        "equity": equity,
    }
    return DecisionRow(**plain | fields)


def trades(comment: str = "") -> list[TradeDeal]:
    """Return a long trade that won 50.00 and a short one that lost 20.00, after costs below."""
    buy, sell, opened, closed = 0, 1, mt5.DEAL_ENTRY_IN, mt5.DEAL_ENTRY_OUT
    return [
        record(TradeDeal, {"type": mt5.DEAL_TYPE_BALANCE, "profit": DEPOSIT, "time": START}),
        deal(2, 20, 2, entry=opened, type=buy, price=1.1002, commission=-0.5),
        deal(3, 20, 5, entry=closed, type=sell, price=1.1052, profit=50.0, swap=-1.0),
        deal(4, 40, 6, entry=opened, type=sell, price=1.1050, commission=-0.5),
        deal(5, 40, 8, entry=closed, type=buy, price=1.1070, profit=-20.0, comment=comment),
    ]


def write(
    folder: Path, *, comment: str = "", settings: Any = None, rows: list[DecisionRow] | None = None
) -> Path:
    """Write a journal and return its path."""
    path = folder / "journal.sqlite3"
    with Journal(path, ManualClock(float(START))) as journal:
        journal.begin_run(
            mode="paper",
            settings=settings if settings is not None else {"name": "test"},
            models={MAGIC: "ab" * 32},
            account={"currency": "USD", "balance": DEPOSIT, "login": 123456789},
            versions={"python": "3.11"},
            paths={},
        )
        bids = [1.1000, 1.1000, 1.0980, 1.1030, 1.1052, 1.1050, 1.1060, 1.1068, 1.1068]
        equities = [0.0, 0.0, -20.5, 29.5, 48.5, 48.0, 36.0, 28.0, 28.0]
        for each in rows or [
            row(number, bid, DEPOSIT + gain)
            for number, (bid, gain) in enumerate(zip(bids, equities, strict=True))
        ]:
            journal.decision(each)
        journal.deals(trades(comment))
        journal.end_run("the recording has ended")
    return path


def plain(text: str) -> Any:
    """Return JSON; what is not JSON fails."""
    return json.loads(text, parse_constant=lambda name: 1 / 0)
