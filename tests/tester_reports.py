"""Deals as MetaTrader 5 reports them: tester reports (HTML, XLSX) and account histories.

A report is read as rows of cells; the rows after its last heading that a deal has are the deals.
Columns: time, deal, symbol, type, entry, volume, price, order, commission, [fee,] swap, profit,
balance, comment. Headings are translated, types and entries are not.
"""

import gzip
import html
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TYPES = {"buy": 0, "sell": 1, "balance": 2}
_ENTRIES = ("in", "out", "in/out", "out by", "")
_TIME = re.compile(r"\d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d")
_PRICE = re.compile(r"[\d.]+")
_SPACES = re.compile(r"[\s\u2009\u00a0\u202f]")


@dataclass(frozen=True)
class Deal:
    """A deal of a report.

    Attributes:
        time: Server time as the report writes it, ``2025.05.22 00:00:00``.
        type: 0 buy, 1 sell, 2 balance.
        entry: ``in``, ``out``, ``in/out``, ``out by``; empty for balance.
        volume: Lots.
        commission, fee, swap, profit, balance: Account currency.
    """

    time: str
    ticket: int
    symbol: str
    type: int
    entry: str
    volume: float
    price: float
    commission: float
    fee: float
    swap: float
    profit: float
    balance: float

    @property
    def sign(self) -> int:
        """+1 for a buy, -1 for a sell."""
        return -1 if self.type else 1


@dataclass(frozen=True)
class Position:
    """A closed position of an account's history; ``opened`` and ``closed`` are prices."""

    symbol: str
    type: int
    volume: float
    opened: float
    closed: float
    closed_time: str
    profit: float

    @property
    def sign(self) -> int:
        """+1 for a buy, -1 for a sell."""
        return -1 if self.type else 1


def positions_of(path: Path) -> list[Position]:
    """Return the closed positions of a history in XLSX, oldest first."""
    found = []
    for cells in _sheet(path):
        # Time, position, symbol, type, volume, price, levels, time, price, ..., profit.
        if len(cells) > 12 and cells[3] in ("buy", "sell") and _TIME.fullmatch(cells[8]):
            if not _PRICE.fullmatch(cells[9]):  # an order's state
                continue
            found.append(
                Position(
                    symbol=cells[2],
                    type=_TYPES[cells[3]],
                    volume=_number(cells[4]),
                    opened=_number(cells[5]),
                    closed=_number(cells[9]),
                    closed_time=cells[8],
                    profit=_number(cells[12]),
                )
            )
    return found


def deals_of(path: Path) -> list[Deal]:
    """Return the deals of a report, oldest first."""
    rows = list(_rows(path))
    has_fee = any("Fee" in row for row in rows)  # of a history; the tester knows no fees
    return [_deal(row, has_fee=has_fee) for row in rows if _is_deal(row)]


# Statistics of a tester report in its order, as bridge.report.tester names them.
# A sheet has one part of them earlier than a page has.
_FIRST = [
    "total_net_profit",
    "balance_drawdown_absolute",
    "equity_drawdown_absolute",
    "gross_profit",
    "balance_drawdown_maximal",
    "equity_drawdown_maximal",
    "gross_loss",
    "balance_drawdown_relative",
    "equity_drawdown_relative",
    "profit_factor",
    "expected_payoff",
    "margin_level",
    "recovery_factor",
    "sharpe_ratio",
    "z_score",
    "ahpr",
    "lr_correlation",
    "ontester_result",
    "ghpr",
    "lr_standard_error",
]
_MIDDLE = [
    "total_trades",
    "short_trades",
    "long_trades",
    "total_deals",
    "profit_trades",
    "loss_trades",
    "largest_profit_trade",
    "largest_loss_trade",
    "average_profit_trade",
    "average_loss_trade",
    "maximum_consecutive_wins",
    "maximum_consecutive_losses",
    "maximal_consecutive_profit",
    "maximal_consecutive_loss",
    "average_consecutive_wins",
    "average_consecutive_losses",
]
_LATE = [
    "correlation_profits_mfe",
    "correlation_profits_mae",
    "correlation_mfe_mae",
    "minimal_position_holding_time",
    "maximal_position_holding_time",
    "average_position_holding_time",
]


def summary_of(path: Path) -> dict[str, str]:
    """Return the statistics of a tester report by name, as it writes them, spaces left out."""
    is_sheet = path.suffix == ".xlsx"
    names = _FIRST + (_LATE + _MIDDLE if is_sheet else _MIDDLE + _LATE)
    filled = ([cell.strip() for cell in row if cell.strip()] for row in _rows(path))
    rows = [cells for cells in filled if cells]
    # They stand between the row of bars, ticks and symbols and the headings of the orders.
    first = 1 + next(
        number
        for number, cells in enumerate(rows)
        if len(cells) == 6 and all(cell.endswith(":") for cell in cells[::2])
    )
    last = next(number for number, cells in enumerate(rows) if number > first and len(cells) >= 10)
    values = [_SPACES.sub("", cell) for cells in rows[first:last] for cell in cells[1::2]]
    return dict(zip(names, values, strict=True))


def _rows(path: Path) -> Iterator[list[str]]:
    return _sheet(path) if path.suffix == ".xlsx" else _tables(path)


def _is_deal(cells: list[str]) -> bool:
    if len(cells) < 13 or not cells[1].isdigit():
        return False
    return cells[3] in _TYPES and cells[4] in _ENTRIES


def _deal(cells: list[str], *, has_fee: bool) -> Deal:
    money = [_number(cell) for cell in cells[8 : 13 if has_fee else 12]]
    if not has_fee:
        money.insert(1, 0.0)
    commission, fee, swap, profit, balance = money
    return Deal(
        time=cells[0],
        ticket=int(cells[1]),
        symbol=cells[2],
        type=_TYPES[cells[3]],
        entry=cells[4],
        volume=_number(cells[5]),
        price=_number(cells[6]),
        commission=commission,
        fee=fee,
        swap=swap,
        profit=profit,
        balance=balance,
    )


def _number(text: str) -> float:
    return float(_SPACES.sub("", text) or 0)


def _tables(path: Path) -> Iterator[list[str]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-16")
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.DOTALL):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        yield [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in cells]


def _sheet(path: Path) -> Iterator[list[str]]:
    with zipfile.ZipFile(path) as archive:
        strings = archive.read("xl/sharedStrings.xml").decode("utf-16")
        sheet = archive.read("xl/worksheets/sheet1.xml").decode("utf-16")
    shared = [
        html.unescape("".join(re.findall(r"<t[^>]*>(.*?)</t>", item, re.DOTALL)))
        for item in re.findall(r"<si>(.*?)</si>", strings, re.DOTALL)
    ]
    for row in re.findall(r"<row[^>]*>(.*?)</row>", sheet, re.DOTALL):
        cells = re.findall(r"<c ([^>]*?)(?:/>|>(.*?)</c>)", row, re.DOTALL)
        yield [_cell(attributes, body, shared) for attributes, body in cells]


def _cell(attributes: str, body: str, shared: list[str]) -> str:
    found = re.search(r"<v>(.*?)</v>", body, re.DOTALL)
    if found is None:
        return ""
    return shared[int(found[1])] if 't="s"' in attributes else found[1]
