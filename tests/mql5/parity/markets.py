"""Symbols, bars and brokers of the comparison."""

import csv
import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bridge.market.barfile import read_bars, write_bars
from bridge.mt5.rates import RatesArray, rates_of
from bridge.share import share_dir
from bridge.terminal.paper.profile import BrokerProfile

SAMPLE = share_dir("models/sample_bars")
_PROFILES = Path(__file__).parents[3] / "bridge" / "terminal" / "paper" / "profiles"


@dataclass(frozen=True, slots=True)
class Market:
    """Bars of one symbol on one broker, as files that both sides read.

    Attributes:
        alias: What the model calls the symbol; empty where it says the same.
    """

    symbol: str
    timeframe: str
    bars: Path
    profile: Path
    alias: str = ""

    def rates(self) -> RatesArray:
        """Return the bars."""
        return read_bars(self.bars)

    def broker(self) -> BrokerProfile:
        """Return the broker."""
        return BrokerProfile.load(self.profile)


def eurusd(folder: Path, *, margin_mode: str, count: int) -> Market:
    """Return the sample bars of 2017, the first ``count`` of them."""
    rates = read_bars(SAMPLE / "EURUSD_H1_2017.csv")[:count]
    return _market(folder, "EURUSD", rates, 5, SAMPLE / "profile.json", margin_mode)


def xauusd(folder: Path, *, margin_mode: str, count: int) -> Market | None:
    """Return gold of 2021 and later; None without the folder of ``BRIDGE_TEST_DATA``."""
    data = os.environ.get("BRIDGE_TEST_DATA")
    if not data:
        return None
    path = Path(data) / "bars" / "fxpack" / "XAUUSD_H1_2021_2026.csv.gz"
    profile = _PROFILES / "metals-index-crypto.json"
    return _market(folder, "XAUUSD", _gold(path, count), 2, profile, margin_mode, "EURUSD")


def _gold(path: Path, count: int) -> RatesArray:
    def rows() -> Iterator[tuple[int, float, float, float, float, int, int, int]]:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for _, row in zip(range(count), csv.DictReader(file), strict=False):
                opened = datetime.fromisoformat(row["time"]).replace(tzinfo=UTC)
                prices = [float(row[name]) for name in ("open", "high", "low", "close")]
                yield (
                    int(opened.timestamp()),
                    prices[0],
                    prices[1],
                    prices[2],
                    prices[3],
                    int(row["tick_volume"]),
                    int(float(row["spread"])),
                    0,
                )

    return rates_of(rows())


def _market(
    folder: Path,
    symbol: str,
    rates: RatesArray,
    digits: int,
    profile: Path,
    margin_mode: str,
    alias: str = "",
) -> Market:
    bars = folder / f"{symbol}.csv"
    write_bars(bars, rates, digits=digits)
    broker = json.loads(profile.read_text(encoding="utf-8"))
    broker["account"]["margin_mode"] = margin_mode
    broker["symbols"] = {symbol: broker["symbols"][symbol]}
    for table in ("swap_days", "sessions"):
        if table in broker:
            broker[table] = {k: v for k, v in broker[table].items() if k == symbol}
    written = folder / "profile.json"
    written.write_text(json.dumps(broker), encoding="utf-8")
    return Market(symbol, "H1", bars, written, alias)
