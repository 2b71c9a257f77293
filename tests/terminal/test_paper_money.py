"""Money: recorded examples, conversions by hand, and real deals to the cent."""

import gzip
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from terminal.paper_desk import MONDAY, Play, profile, spec

from bridge.errors import ConfigError
from bridge.mt5.rates import RatesArray, rates_of
from bridge.terminal.paper.ledger import Ledger
from bridge.terminal.paper.money import rounded
from bridge.terminal.paper.store import Store


def pair(base: str, quote: str, **changes: Any) -> dict[str, Any]:
    digits = 3 if quote == "JPY" else 5
    return spec(
        digits=digits,
        trade_tick_size=10.0**-digits,
        currency_base=base,
        currency_profit=quote,
        currency_margin=base,
        **changes,
    )


def one_bar(price: float, spread: int = 0) -> RatesArray:
    return rates_of([(MONDAY, price, price, price, price, 1, spread, 0)])


def desk(currency: str = "USD", **quotes: tuple[float, int]) -> Any:
    """Return a terminal that shows ``SYMBOL=(bid, spread points)``."""
    symbols = {name: pair(name[:3], name[3:]) for name in quotes}
    series = {name: one_bar(*quote) for name, quote in quotes.items()}
    first = next(iter(quotes))
    return Play(series.pop(first), profile(symbols, currency=currency), more=series).terminal


def test_halves_are_rounded_away_from_zero_as_decimals_have_them() -> None:
    assert [rounded(v, 2) for v in (1.005, -1.005, 2.675, 0.125, -0.0049, 1.004999)] == [
        1.01,
        -1.01,
        2.68,
        0.13,
        0.0,
        1.0,
    ]
    assert rounded(123.5, 0) == 124.0


def test_documented_profits() -> None:
    module = desk(
        EURUSD=(1.1, 2), USDJPY=(108.0, 3), USDCHF=(0.95, 3), AUDUSD=(0.66, 2), GBPUSD=(1.3, 2)
    )
    calc = module.order_calc_profit
    assert calc(0, "EURUSD", 1.0, 1.1, 1.103) == 300.0
    assert calc(1, "GBPUSD", 1.0, 1.3, 1.297) == 300.0
    # 30000 JPY, each divided by its own close price.
    assert calc(0, "USDJPY", 1.0, 108.184, 108.484) == 276.54
    assert calc(1, "USDJPY", 1.0, 108.179, 107.879) == 278.09
    assert calc(0, "USDCHF", 0.01, 0.97898, 0.95758) == -22.35
    assert calc(1, "USDCHF", 0.1, 0.93475, 0.93751) == -29.44
    assert calc(0, "AUDUSD", 0.1, 0.66336, 0.66327) == -0.9


def test_documented_margins() -> None:
    module = desk(EURUSD=(1.0990, 10), USDJPY=(108.0, 3), EURJPY=(118.7, 5), USDCHF=(0.97, 3))
    calc = module.order_calc_margin
    assert calc(0, "EURUSD", 0.1, 1.0991) == calc(0, "EURJPY", 0.1, 118.7) == 109.91
    assert calc(0, "USDJPY", 0.1, 108.0) == calc(1, "USDCHF", 0.1, 0.97) == 100.0
    assert calc(2, "EURUSD", 0.1, 1.0) == 0.0
    assert calc(8, "EURUSD", 0.1, 1.0) is None
    assert module.last_error()[0] == -2


def test_recorded_tick_values_show_which_side_converts() -> None:
    # A terminal in USD showed EURJPY with these two values, one a side of USDJPY.
    module = desk(EURJPY=(120.024, 17), USDJPY=(111.380, 7), EURUSD=(1.0776, 0))
    info = module.symbol_info("EURJPY")
    assert info.trade_tick_value == info.trade_tick_value_profit
    assert info.trade_tick_value_profit == pytest.approx(0.8977708350166538, rel=1e-9)
    assert info.trade_tick_value_loss == pytest.approx(0.8978272580355541, rel=1e-9)
    assert info.spread == 17


def test_conversions_by_hand() -> None:
    direct = desk(EURGBP=(0.85, 10), GBPUSD=(1.25, 10), EURUSD=(1.0625, 10))
    assert direct.order_calc_profit(0, "EURGBP", 1.0, 0.85, 0.851) == 125.0  # 100 GBP at the bid
    assert direct.order_calc_profit(0, "EURGBP", 1.0, 0.851, 0.85) == -125.01  # at the ask
    inverse = desk("JPY", EURUSD=(1.0625, 0), USDJPY=(150.0, 10))
    assert inverse.order_calc_profit(0, "EURUSD", 1.0, 1.0, 1.001) == 15_000.0
    through = desk("GBP", AUDNZD=(1.08, 0), NZDUSD=(0.6, 0), GBPUSD=(1.25, 0), AUDUSD=(0.65, 0))
    # 1000 NZD are 600 USD are 480 GBP.
    assert through.order_calc_profit(0, "AUDNZD", 1.0, 1.08, 1.09) == 480.0
    own = desk("EUR", EURUSD=(1.25, 0))
    assert own.order_calc_profit(0, "EURUSD", 1.0, 1.2, 1.25) == 4_000.0
    assert own.order_calc_margin(0, "EURUSD", 1.0, 1.2) == 1_000.0


def test_a_currency_without_a_pair_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match="EURJPY needs JPY in USD: give the terminal bars of"):
        desk(EURJPY=(120.0, 0), EURUSD=(1.1, 0))


CALC_MODES = [
    (0, {}, 1_000.0),
    (5, {}, 100_000.0),
    (2, {"trade_contract_size": 10.0}, 20_000.0),
    (3, {"trade_contract_size": 10.0, "trade_tick_value": 0.05, "trade_tick_size": 0.1}, 10_000.0),
    (4, {"trade_contract_size": 10.0}, 200.0),
    (32, {"trade_contract_size": 10.0}, 20_000.0),
    (0, {"margin_initial": 777.0}, 777.0),
]


@pytest.mark.parametrize(("mode", "changes", "margin"), CALC_MODES)
def test_margin_of_each_calculation_mode(mode: int, changes: dict[str, Any], margin: float) -> None:
    changes = {"currency_base": "USD", "currency_margin": "USD", "digits": 2, **changes}
    terms = spec(trade_calc_mode=mode, **changes)
    play = Play(one_bar(2_000.0), profile({"THING": terms}))
    assert play.terminal.order_calc_margin(0, "THING", 1.0, 2_000.0) == margin


@pytest.mark.parametrize("mode", [1, 33, 34, 36, 37, 38, 39, 64])
def test_other_calculation_modes_are_refused(mode: int) -> None:
    with pytest.raises(ConfigError, match=f"trade_calc_mode {mode} is not played"):
        profile({"THING": spec(trade_calc_mode=mode)})


HEDGED = [
    ({"margin_hedged": 100_000.0}, 330.0),  # 0.1 uncovered, 0.2 covered as one leg
    ({"margin_hedged": 50_000.0}, 220.0),
    ({"margin_hedged": 0.0}, 110.0),
    ({"margin_hedged": 0.0, "margin_hedged_use_leg": True}, 330.0),
]


@pytest.mark.parametrize(("changes", "margin"), HEDGED)
def test_margin_of_hedged_volume(changes: dict[str, Any], margin: float) -> None:
    play = Play("110000 110010 109990 110000", profile({"EURUSD": spec(**changes)}))
    play.buy(volume=0.3)
    play.sell(volume=0.2)
    assert play.terminal.account_info().margin == margin


SWAPS = [
    (0, -3.0, 0.0),
    (1, -3.0, -3.0),  # points of 1 USD
    (2, -3.0, -3.3),  # EUR at 1.1
    (3, -3.0, -3.3),
    (4, -3.0, -3.0),
    (5, -3.6, -11.0),  # percent a year of 110000 USD
    (6, -3.6, -11.0),
]


@pytest.mark.parametrize(("mode", "points", "charged"), SWAPS)
def test_one_night_of_each_swap_mode(mode: int, points: float, charged: float) -> None:
    broker = profile({"EURUSD": spec(swap_mode=mode, swap_long=points)})
    play = Play("\n".join(["110000 110010 109990 110000"] * 25), broker)
    play.buy(volume=1.0)
    play.bar(24)
    info = play.terminal.account_info()
    (held,) = play.terminal.positions_get()
    assert (held.swap, held.profit, info.profit) == (charged, 0.0, charged)
    assert info.equity == 10_000.0 + charged


# Real deals


@dataclass(frozen=True)
class Deal:
    symbol: str
    type: int
    entry: str
    volume: float
    price: float
    commission: float
    swap: float
    profit: float
    balance: float


REPORTS = [
    ("NB_STATIC_EURUSD.html", pair("EUR", "USD"), 40),
    ("NB_STATIC_USDJPY.html", pair("USD", "JPY"), 159),
    ("NB_GAUSSIAN_USDJPY.html.gz", pair("USD", "JPY"), 656),
    ("ja_USDJPY.html.gz", pair("USD", "JPY"), 192),
    ("XAUUSD_OB_Liquidity.html", pair("XAU", "USD", trade_contract_size=100.0), 30),
    ("XAUUSD_OneShotGold.html.gz", pair("XAU", "USD", trade_contract_size=100.0), 346),
    ("XAUUSD_PRO_EMA_20_50.html", pair("XAU", "USD", trade_contract_size=100.0), 7),
    ("zh_MSFT.html.gz", pair("USD", "USD", trade_contract_size=1.0, trade_calc_mode=2), 212),
]


def number(text: str) -> float:
    return float(re.sub(r"[\s\u2009\u00a0]", "", text) or 0)


def deals_of(path: Path) -> Iterator[Deal]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-16")
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.DOTALL):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        if len(cells) == 13 and cells[3] in ("buy", "sell", "balance"):
            money = [number(cell) for cell in cells[8:12]]
            side = int(cells[3] == "sell")
            yield Deal(cells[2], side, cells[4], number(cells[5]), number(cells[6]), *money)


@pytest.mark.parametrize(("name", "terms", "closes"), REPORTS, ids=[row[0] for row in REPORTS])
def test_real_deals_are_reproduced_to_the_cent(
    name: str, terms: dict[str, Any], closes: int
) -> None:
    folder = os.environ.get("BRIDGE_TEST_DATA")
    if not folder:
        pytest.skip("BRIDGE_TEST_DATA names no folder of real data")
    rows = list(deals_of(Path(folder) / "deals" / "tester" / name))
    symbol = rows[1].symbol
    play = Play(one_bar(100.0), profile({symbol: terms}))
    calc = play.terminal.order_calc_profit
    books = Ledger(Store(None, {}), 2)
    opened: list[Deal] = []
    reproduced = 0
    for row in rows:
        books.deal(0, profit=row.profit, swap=row.swap, commission=row.commission)
        assert books.balance == row.balance
        if row.entry == "in":
            opened.append(row)
        elif row.entry == "out":
            fitting = [
                one
                for one in opened
                if (one.type, one.volume) == (1 - row.type, row.volume)
                and calc(one.type, symbol, row.volume, one.price, row.price) == row.profit
            ]
            assert fitting, row
            opened.remove(fitting[0])
            reproduced += 1
    assert reproduced == closes
