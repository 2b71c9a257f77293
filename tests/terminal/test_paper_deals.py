"""Money against real deals: tester reports, an account's history, exports of an EA.

Reports name no open deal for a closing one. A close counts as reproduced when an open deal of
its volume and the other side gives its profit; that deal is then used up.
"""

import csv
import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from terminal.paper_desk import Play, profile
from terminal.paper_money import one_bar, pair
from tester_reports import Deal, deals_of, positions_of

from bridge.mt5.servertime import DAY, parse, weekday
from bridge.terminal.paper.commission import Commissions
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.ledger import Ledger
from bridge.terminal.paper.profile import Commission
from bridge.terminal.paper.store import Store
from bridge.terminal.paper.swap import Held

EURUSD, USDJPY, USDCAD = pair("EUR", "USD"), pair("USD", "JPY"), pair("USD", "CAD")
AUDUSD, NZDUSD, USDCHF = pair("AUD", "USD"), pair("NZD", "USD"), pair("USD", "CHF")
GOLD = pair("XAU", "USD", trade_contract_size=100.0, trade_calc_mode=4) | {"currency_margin": "USD"}
STOCK = pair("USD", "USD", trade_contract_size=1.0, trade_calc_mode=2)

# Report, then specification and number of closes of each symbol that needs no other pair.
REPORTS: dict[str, dict[str, tuple[dict[str, Any], int]]] = {
    "NB_STATIC_EURUSD.html": {"EURUSD": (EURUSD, 40)},
    "NB_STATIC_USDJPY.html": {"USDJPY": (USDJPY, 159)},
    "NB_GAUSSIAN_USDJPY.html.gz": {"USDJPY": (USDJPY, 656)},
    "NB_CPDA_EURJPY.html": {},
    "ja_USDJPY.html.gz": {"USDJPY": (USDJPY, 192)},
    "XAUUSD_OB_Liquidity.html": {"XAUUSD": (GOLD, 30)},
    "XAUUSD_OneShotGold.html.gz": {"XAUUSD": (GOLD, 346)},
    "XAUUSD_PRO_EMA_20_50.html": {"XAUUSD.PRO": (GOLD, 7)},
    "zh_MSFT.html.gz": {"MSFT.US": (STOCK, 212)},
    "BBRSI_XAUUSD.xlsx": {"XAUUSD.std": (GOLD, 401)},
    "2MACDSTO_NZDUSD.xlsx": {"NZDUSD_i": (NZDUSD, 296)},
    "3MAF_USDCAD.xlsx": {"USDCAD.std": (USDCAD, 907)},
    "CEZLSMA_AUDUSD.xlsx": {"AUDUSD_o": (AUDUSD, 1_010)},
    "2MAAOS_EURUSD_EURCAD_USDCAD.xlsx": {"EURUSD_i": (EURUSD, 74), "USDCAD_i": (USDCAD, 68)},
}
CLOSES = 4_398
DEALS = 9_202


def data(*parts: str) -> Path:
    """Return a file of the real data, or skip."""
    folder = os.environ.get("BRIDGE_TEST_DATA")
    if not folder:
        pytest.skip("BRIDGE_TEST_DATA names no folder of real data")
    return Path(folder).joinpath(*parts)


@cache
def report(path: Path) -> list[Deal]:
    return deals_of(path)


def deals(name: str) -> list[Deal]:
    """Return the deals of a tester report."""
    return report(data("deals", "tester", name))


def desk(symbol: str, terms: dict[str, Any], price: float = 100.0) -> Desk:
    """Return the desk of a USD account with one symbol."""
    return Play(one_bar(price), profile({symbol: terms})).terminal._paper.desk


@dataclass
class Book:
    """Open deals of a symbol, and how they are found again."""

    desk: Desk
    symbol: str

    def __post_init__(self) -> None:
        self.opened: list[Deal] = []

    def fitting(self, close: Deal) -> list[Deal]:
        """Return the open deals that a close may belong to."""
        info = self.desk.symbols[self.symbol]
        return [
            one
            for one in self.opened
            if (one.type, one.volume) == (1 - close.type, close.volume)
            and self.desk.money.profit(info, one.sign, one.volume, one.price, close.price)
            == close.profit
        ]


def closes(book: Book, rows: list[Deal]) -> Iterator[tuple[Deal, list[Deal]]]:
    """Yield each closing deal with the open ones that fit; the caller uses one up."""
    for row in rows:
        if row.symbol != book.symbol:
            continue
        if row.entry == "in":
            book.opened.append(row)
        else:
            assert row.entry == "out"
            yield row, book.fitting(row)


NAMED = [(name, symbol) for name, symbols in REPORTS.items() for symbol in symbols]


@pytest.mark.parametrize(("name", "symbol"), NAMED)
def test_every_profit_of_a_report_to_the_cent(name: str, symbol: str) -> None:
    terms, count = REPORTS[name][symbol]
    book = Book(desk(symbol, terms), symbol)
    reproduced = 0
    for close, fitting in closes(book, deals(name)):
        assert fitting, close
        book.opened.remove(fitting[0])
        reproduced += 1
    assert reproduced == count


def test_the_table_has_every_close_and_every_deal_of_the_reports() -> None:
    """4,402 closes are told of elsewhere: four of EURJPY have profit 0.00, which any rate gives."""
    assert sum(count for symbols in REPORTS.values() for _, count in symbols.values()) == CLOSES
    assert sum(len(deals(name)) for name in REPORTS) == DEALS
    crosses = [
        row
        for name, symbols in REPORTS.items()
        for row in deals(name)
        if row.entry == "out" and row.symbol not in symbols
    ]
    assert len(crosses) == 132 + 64
    assert sum(row.profit == 0.0 for row in crosses) == 4


@pytest.mark.parametrize("name", REPORTS)
def test_every_step_of_a_reports_balance(name: str) -> None:
    books = Ledger(Store(None, {}), 2)
    for row in deals(name):
        books.deal(0, profit=row.profit, swap=row.swap, commission=row.commission, fee=row.fee)
        assert books.balance == row.balance, row


def test_an_accounts_history() -> None:
    """A real account: five of nine positions need no other pair; the period cuts the deposit."""
    path = data("deals", "history", "ReportHistory_demo_USD.xlsx")
    rows = deals_of(path)
    for before, row in pairwise(rows):
        total = before.balance + row.profit + row.swap + row.commission + row.fee
        assert round(total, 2) == row.balance
    known = {"EURUSD.Z": EURUSD, "NZDUSD.Z": NZDUSD, "USDCHF.Z": USDCHF}
    positions = positions_of(path)
    reproduced = 0
    for one in positions:
        if one.symbol not in known:
            continue
        at = desk(one.symbol, known[one.symbol])
        info = at.symbols[one.symbol]
        profit = at.money.profit(info, one.sign, one.volume, one.opened, one.closed)
        assert profit == one.profit, one
        reproduced += 1
    assert (reproduced, len(positions)) == (5, 9)


@pytest.mark.parametrize(
    ("symbol", "terms", "count"), [("EURUSD", EURUSD, 40), ("USDJPY", USDJPY, 159)]
)
def test_an_eas_own_export(symbol: str, terms: dict[str, Any], count: int) -> None:
    """The same runs as two of the reports, read through HistoryDealGet."""
    path = data("deals", "history", f"ea_export_{symbol}_static.csv")
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.DictReader(file) if row["SYMBOL"]]
    at = desk(symbol, terms)
    info = at.symbols[symbol]
    for opened, closed in zip(rows[::2], rows[1::2], strict=True):
        assert (opened["ENTRY"], closed["ENTRY"]) == ("0", "1")
        sign = -1 if opened["TYPE"] == "1" else 1
        prices = float(opened["PRICE"]), float(closed["PRICE"])
        profit = at.money.profit(info, sign, float(opened["VOLUME"]), *prices)
        assert profit == float(closed["PROFIT"]), closed
    assert len(rows) == 2 * count


# Crosses


@dataclass(frozen=True)
class Implied:
    """The conversion rate that a closing deal tells of.

    Attributes:
        low, high: Account currency's price in the profit currency, as rounding leaves it open.
    """

    close: Deal
    sign: int
    low: float
    high: float


def implied(rows: list[Deal]) -> list[Implied]:
    """Return the rate of each close of a cross that has a profit."""
    opened: list[Deal] = []
    found = []
    for row in rows:
        if row.entry == "in":
            opened.append(row)
            continue
        mine = next(
            one
            for one in opened
            if (one.type, one.volume) == (1 - row.type, row.volume)
            and (row.price - one.price) * one.sign * row.profit >= 0
        )
        opened.remove(mine)
        value = abs(row.price - mine.price) * row.volume * 100_000
        if row.profit:
            half = 0.005 + 1e-8
            low, high = (value / (abs(row.profit) + side) for side in (half, -half))
            found.append(Implied(row, mine.sign, low, high))
    return found


def hours(path: Path) -> dict[str, tuple[float, float]]:
    """Return low and high of hourly bars by ``2025.07.11 10``."""
    with gzip.open(path, "rt", newline="", encoding="utf-8-sig") as file:
        return {
            row["time"][:13].replace("-", "."): (float(row["low"]), float(row["high"]))
            for row in csv.DictReader(file)
        }


# The bars are bid prices of another broker; an ask may be so much above their high.
SPREAD = 0.01


def test_the_rates_of_eurjpy_lie_in_the_bars_of_usdjpy() -> None:
    bars = hours(data("bars", "copy_rates_csv", "USDJPY_H1.csv.gz"))
    rates = implied(deals("NB_CPDA_EURJPY.html")[1:])
    assert len(rates) == 132 - 4
    # Until 25 June the tester had no quotes of USDJPY and took one rate.
    constant, rates = rates[:9], rates[9:]
    assert constant[-1].close.time == "2025.06.25 12:00:00"
    assert all(one.low <= 143.260 <= one.high for one in constant)
    compared = [one for one in rates if one.close.time[:13] in bars]
    outside = [
        one
        for one in compared
        if not (
            one.high >= bars[one.close.time[:13]][0]
            and one.low <= bars[one.close.time[:13]][1] + SPREAD
        )
    ]
    assert not outside
    assert (len(compared), len(rates)) == (118, 119)  # one hour has no bar


def test_the_rates_of_a_real_account_lie_in_the_bars() -> None:
    """EURJPY by USDJPY; EURAUD and EURGBP by EURUSD and their own price."""
    usdjpy = hours(data("bars", "copy_rates_csv", "USDJPY_H1.csv.gz"))
    eurusd = {
        row["time"][:13].replace("-", "."): row
        for row in pd.read_parquet(data("bars", "icm", "EURUSD_H1_2025.parquet"))
        .assign(time=lambda frame: pd.to_datetime(frame["time"], unit="s").astype(str))
        .to_dict("records")
    }
    inside = []
    for one in positions_of(data("deals", "history", "ReportHistory_demo_USD.xlsx")):
        if one.symbol[:6] not in ("EURJPY", "EURAUD", "EURGBP"):
            continue
        value = abs(one.closed - one.opened) * one.volume * 100_000
        low, high = ((abs(one.profit) + half) / value for half in (-0.005, 0.005))
        hour = one.closed_time[:13]
        if one.symbol.startswith("EURJPY"):
            bar = (1 / (usdjpy[hour][1] + SPREAD), 1 / usdjpy[hour][0])
        else:
            bar = (eurusd[hour]["low"] / one.closed, eurusd[hour]["high"] / one.closed)
        inside.append((one.symbol[:6], low <= bar[1] and high >= bar[0]))
    assert inside == [
        ("EURAUD", True),
        ("EURGBP", True),
        ("EURJPY", True),
        ("EURJPY", True),
    ]


def at_rate(bid: float, spread: int) -> Desk:
    """Return the desk of a USD account that trades EURCAD at a quote of USDCAD."""
    broker = profile({"EURCAD": pair("EUR", "CAD"), "USDCAD": USDCAD, "EURUSD": EURUSD})
    more = {"USDCAD": one_bar(bid, spread), "EURUSD": one_bar(1.1)}
    return Play(one_bar(1.5), broker, more=more).terminal._paper.desk


def eurcad() -> list[Deal]:
    rows = deals("2MAAOS_EURUSD_EURCAD_USDCAD.xlsx")
    return [row for row in rows if row.symbol == "EURCAD_i"]


def reproduced(at: Desk, closes: list[Deal]) -> int:
    """Return how many closes of EURCAD the quote of a desk gives to the cent."""
    info, count = at.symbols["EURCAD"], 0
    opened: list[Deal] = []
    for row in eurcad():
        if row.entry == "in":
            opened.append(row)
        elif row in closes:
            count += any(
                at.money.profit(info, one.sign, one.volume, one.price, row.price) == row.profit
                for one in opened
                if (one.type, one.volume) == (1 - row.type, row.volume)
            )
    return count


def test_gains_and_losses_of_one_side_share_one_rate() -> None:
    """EURCAD on USD, where the tester keeps the last USDCAD it had: no bars to compare with."""
    moments: dict[tuple[str, int], list[Implied]] = {}
    for one in implied(eurcad()):
        moments.setdefault((one.close.time, one.sign), []).append(one)
    both = total = 0
    for found in moments.values():
        low, high = max(one.low for one in found), min(one.high for one in found)
        assert low <= high, found
        price = round((low + high) / 2, 5)
        closes = [one.close for one in found]
        assert reproduced(at_rate(price, 0), closes) == len(closes), found
        total += len(closes)
        both += len({one.close.profit > 0 for one in found}) == 2
    assert (total, len(moments), both) == (64, 37, 18)


# A quote of USDCAD that stood still: its bid and spread, and the closes that it converted.
STOOD = [
    (1.32707, 15, "2020.08.14", "2020.10.21"),
    (1.32083, 14, "2023.06.23", "2023.08.17"),  # a buy of USDCAD was closed at this ask
]


@pytest.mark.parametrize(("bid", "spread", "since", "until"), STOOD)
def test_a_buy_is_converted_at_the_bid_of_its_currency_and_a_sell_at_the_ask(
    bid: float, spread: int, since: str, until: str
) -> None:
    """One quote, closes of both sides: what a buy made is divided by the ask of USDCAD."""
    closes = [row for row in eurcad() if row.entry == "out" and since < row.time < until]
    assert {row.sign for row in closes} == {1, -1}
    assert reproduced(at_rate(bid, spread), closes) == len(closes) >= 5
    assert reproduced(at_rate(bid, 0), closes) < len(closes)
    assert reproduced(at_rate(bid + spread * 1e-5, 0), closes) < len(closes)


# Commission and swap

COMMISSIONS = [
    ("XAUUSD_OB_Liquidity.html", {"per_lot": 5.0, "on": "entry"}),
    ("XAUUSD_OneShotGold.html.gz", {"per_lot": 5.0, "on": "entry"}),
    ("CEZLSMA_AUDUSD.xlsx", {"per_lot": 3.5, "on": "entry"}),
    ("zh_MSFT.html.gz", {"per_lot": 0.02}),
]


@pytest.mark.parametrize(("name", "kind"), COMMISSIONS, ids=[row[0] for row in COMMISSIONS])
def test_every_commission_of_a_report(name: str, kind: dict[str, Any]) -> None:
    """One number a report gives all of its deals: 60, 692, 2020 and 424."""
    ((symbol, (terms, count)),) = REPORTS[name].items()
    at, kinds = desk(symbol, terms), [Commission(**kind)]
    rows = [row for row in deals(name) if row.symbol]
    for row in rows:
        info = at.symbols[symbol]
        entry = row.entry == "in"
        amount = Commissions(kinds, at.money).cost(info, row.volume, row.price, entry=entry)
        assert at.money.round(-amount) == row.commission, row
    assert len(rows) == 2 * count


# Days on which a market was shut; the tester moves or drops the charges around them.
HOLIDAYS = {
    parse(f"{day} 00:00")
    for day in (
        *("2019.12.25", "2020.12.25", "2021.01.01", "2021.12.24", "2022.04.15", "2022.12.26"),
        *("2023.01.02", "2023.04.07", "2021.01.18", "2021.05.31", "2021.09.06", "2022.07.04"),
        *("2022.11.24", "2023.12.25", "2024.03.29", "2024.11.28", "2025.11.27"),
    )
}

# Report, symbol, terms; closes whose swap comes out, closes that span a holiday and differ.
SWAPS = [
    ("2MACDSTO_NZDUSD.xlsx", "NZDUSD_i", {"swap_long": -2.22, "swap_short": -0.79}, 296, 0),
    ("CEZLSMA_AUDUSD.xlsx", "AUDUSD_o", {"swap_long": -3.016, "swap_short": 1.424}, 1_006, 4),
    ("BBRSI_XAUUSD.xlsx", "XAUUSD.std", {"swap_long": -18.018, "swap_short": 4.4625}, 396, 5),
    (
        "2MAAOS_EURUSD_EURCAD_USDCAD.xlsx",
        "EURUSD_i",
        {"swap_long": -7.51, "swap_short": 1.26},
        73,
        1,
    ),
    ("XAUUSD_OB_Liquidity.html", "XAUUSD", {"swap_long": -65.96}, 30, 0),
    ("XAUUSD_OneShotGold.html.gz", "XAUUSD", {"swap_long": -65.96}, 346, 0),
    # Interest of the current price, and a stock whose Friday counts three.
    ("XAUUSD_PRO_EMA_20_50.html", "XAUUSD.PRO", {"swap_mode": 6, "swap_long": -5.63}, 7, 0),
    ("zh_MSFT.html.gz", "MSFT.US", {"swap_long": -0.02, "swap_rollover3days": 5}, 201, 11),
]


@pytest.mark.parametrize(
    ("name", "symbol", "rates", "count", "others"), SWAPS, ids=[row[0] for row in SWAPS]
)
def test_swaps_of_a_report(
    name: str, symbol: str, rates: dict[str, Any], count: int, others: int
) -> None:
    """Two numbers a report, found from it, give all of its swaps: nights, triple day, rounding."""
    mode = rates.get("swap_mode", 1)
    terms = {"digits": 2, **REPORTS[name][symbol][0], "swap_mode": mode, **rates}
    if symbol.startswith(("XAU", "MSFT")):
        terms |= {"digits": 2, "trade_tick_size": 0.01}
    book = Book(desk(symbol, terms), symbol)
    reproduced = shifted = 0
    for close, fitting in closes(book, deals(name)):
        exact = [one for one in fitting if swap(book, one, close) == close.swap]
        book.opened.remove((exact or fitting)[0])
        if exact:
            reproduced += 1
            continue
        since = parse(fitting[0].time[:16]) - 4 * DAY
        assert any(since <= day <= parse(close.time[:16]) for day in HOLIDAYS), close
        shifted += 1
    assert (reproduced, shifted) == (count, others)


def swap(book: Book, opened: Deal, closed: Deal) -> float:
    """Return the swap of a position, charged midnight by midnight."""
    info, total = book.desk.symbols[book.symbol], 0.0
    held = Held(info, opened.sign, opened.volume, opened.price, opened.price)
    day = parse(opened.time[:16]) // DAY
    while day < parse(closed.time[:16]) // DAY:
        total = book.desk.money.round(total + book.desk.money.swap(held, weekday(day * DAY)))
        day += 1
    return total


def test_swaps_of_usdjpy_are_converted_at_its_price_of_the_midnight() -> None:
    """Nine swaps in points of JPY: the price that each tells of lies in the bars around it."""
    bars = hours(data("bars", "copy_rates_csv", "USDJPY_H1.csv.gz"))
    book, inside = Book(desk("USDJPY", USDJPY), "USDJPY"), []
    for close, fitting in closes(book, deals("NB_GAUSSIAN_USDJPY.html.gz")):
        opened = fitting[0]
        book.opened.remove(opened)
        if not close.swap:
            continue
        points = {1: 4.05, -1: -24.7}[opened.sign]
        nights = 3 if weekday(parse(opened.time[:16])) == 3 else 1
        value = abs(points) * 100 * close.volume * nights
        low, high = (value / (abs(close.swap) + half) for half in (0.005, -0.005))
        around = (f"{opened.time[:10]} 23", f"{close.time[:10]} 00")
        known = [bars[hour] for hour in around if hour in bars]
        assert known
        inside.append(low <= max(bar[1] for bar in known) and high >= min(bar[0] for bar in known))
    assert inside == [True] * 9
