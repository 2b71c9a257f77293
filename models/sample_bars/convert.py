"""Make EURUSD_H1_2017.csv from the hourly ask bars that the package gym-anytrading carries.

    python models/sample_bars/convert.py FOREX_EURUSD_1H_ASK.csv EURUSD_H1_2017.csv

README.md beside this file says what is converted and why.
"""

import csv
import sys
from datetime import UTC, datetime
from pathlib import Path

from bridge.market.barfile import write_bars
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.servertime import server_clock

DIGITS = 5
SPREAD_POINTS = 10
UNITS_A_LOT = 100_000


def convert(source: Path) -> RatesArray:
    """Return the bars of ``source`` as a broker with an EET server clock would show them.

    Args:
        source: CSV with Time (``dd.mm.yyyy HH:MM:SS.mmm``, UTC), Open, High, Low, Close (ask)
            and Volume (notional, base currency).

    Returns:
        Rates, bid prices, server time ``eet-us``.
    """
    clock = server_clock("eet-us")
    rows = []
    with source.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            moment = datetime.strptime(row["Time"], "%d.%m.%Y %H:%M:%S.%f").replace(tzinfo=UTC)
            bid = [
                round(float(row[name]) - SPREAD_POINTS / 10**DIGITS, DIGITS)
                for name in ("Open", "High", "Low", "Close")
            ]
            lots = max(1, round(float(row["Volume"]) / UNITS_A_LOT))
            rows.append((int(clock.from_utc(moment.timestamp())), *bid, lots, SPREAD_POINTS, 0))
    return rates_of(rows)


if __name__ == "__main__":
    write_bars(Path(sys.argv[2]), convert(Path(sys.argv[1])), digits=DIGITS)
