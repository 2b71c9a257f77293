"""Profit and margin: documented and recorded examples, every mode, conversions by hand."""

from typing import Any

import pytest
from terminal.paper_desk import MONDAY, Play, bars, profile, spec
from terminal.paper_money import desk, one_bar, pair

from bridge.errors import ConfigError
from bridge.terminal.paper.convert import units


def test_halves_are_rounded_away_from_zero_as_decimals_have_them() -> None:
    cents = [units(v, 100) for v in (1.005, -1.005, 2.675, 0.125, -0.0049, 1.004999)]
    assert cents == [101, -101, 268, 13, 0, 100]
    assert units(123.5, 1) == 124


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


def test_a_jpy_pair_is_divided_by_its_close() -> None:
    """A29."""
    calc = desk(USDJPY=(151.0, 3)).order_calc_profit
    assert calc(0, "USDJPY", 0.5, 151.250, 150.875) == -124.28
    assert calc(1, "USDJPY", 2.0, 143.308, 142.524) == 1_100.17


def test_only_the_contract_size_of_the_symbol_counts() -> None:
    """A35."""
    for contract, opened, closed, profit in (
        (100_000.0, 1.13889, 1.13854, -35.0),
        (1.0, 2_000.0, 2_002.0, 2.0),
        (100.0, 2_000.0, 2_002.0, 200.0),
    ):
        terms = spec(trade_contract_size=contract)
        calc = Play(one_bar(opened), profile({"EURUSD": terms})).terminal.order_calc_profit
        assert calc(0, "EURUSD", 1.0, opened, closed) == profit


def test_gold_on_an_account_in_euro() -> None:
    """A34: a stop of 8.50 USD of 100 ounces at 1.0850."""
    gold = pair("XAU", "USD", trade_contract_size=100.0, trade_calc_mode=2)
    gold["currency_margin"] = "USD"
    broker = profile({"XAUUSD": gold, "EURUSD": pair("EUR", "USD")}, currency="EUR")
    play = Play(one_bar(2_000.0), broker, more={"EURUSD": one_bar(1.0850)})
    assert play.terminal.order_calc_profit(0, "XAUUSD", 1.0, 2_000.0, 1_991.5) == -783.41


def test_documented_margins() -> None:
    module = desk(EURUSD=(1.0990, 10), USDJPY=(108.0, 3), EURJPY=(118.7, 5), USDCHF=(0.97, 3))
    calc = module.order_calc_margin
    assert calc(0, "EURUSD", 0.1, 1.0991) == calc(0, "EURJPY", 0.1, 118.7) == 109.91
    assert calc(0, "USDJPY", 0.1, 108.0) == calc(1, "USDCHF", 0.1, 0.97) == 100.0
    assert calc(2, "EURUSD", 0.1, 1.0) == 0.0
    assert calc(8, "EURUSD", 0.1, 1.0) is None
    assert module.last_error()[0] == -2


def test_conversions_by_hand() -> None:
    direct = desk(EURGBP=(0.85, 10), GBPUSD=(1.25, 10), EURUSD=(1.0625, 10))
    # 100 GBP: a buy's at the bid, a sell's at the ask, lost or won.
    assert direct.order_calc_profit(0, "EURGBP", 1.0, 0.85, 0.851) == 125.0
    assert direct.order_calc_profit(0, "EURGBP", 1.0, 0.851, 0.85) == -125.0
    assert direct.order_calc_profit(1, "EURGBP", 1.0, 0.851, 0.85) == 125.01
    assert direct.order_calc_profit(1, "EURGBP", 1.0, 0.85, 0.851) == -125.01
    inverse = desk("JPY", EURUSD=(1.0625, 0), USDJPY=(150.0, 10))
    assert inverse.order_calc_profit(0, "EURUSD", 1.0, 1.0, 1.001) == 15_000.0
    through = desk("GBP", AUDNZD=(1.08, 0), NZDUSD=(0.6, 0), GBPUSD=(1.25, 0), AUDUSD=(0.65, 0))
    # 1000 NZD are 600 USD are 480 GBP.
    assert through.order_calc_profit(0, "AUDNZD", 1.0, 1.08, 1.09) == 480.0
    own = desk("EUR", EURUSD=(1.25, 0))
    assert own.order_calc_profit(0, "EURUSD", 1.0, 1.2, 1.25) == 4_000.0
    assert own.order_calc_margin(0, "EURUSD", 1.0, 1.2) == 1_000.0


def test_an_account_in_cents() -> None:
    module = desk("USC", EURUSD=(1.25, 10), USDJPY=(150.0, 0))
    assert module.order_calc_profit(0, "EURUSD", 0.01, 1.25, 1.251) == 100.0
    assert module.order_calc_profit(1, "USDJPY", 0.01, 151.0, 150.0) == 666.67  # 1000 JPY at 150
    assert module.order_calc_margin(0, "EURUSD", 0.01, 1.25) == 1_250.1  # 10 EUR at the ask
    assert module.symbol_info("EURUSD").trade_tick_value == 100.0


def test_a_currency_without_a_pair_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match="EURJPY needs JPY in USD: give the terminal bars of"):
        desk(EURJPY=(120.0, 0), EURUSD=(1.1, 0))
    with pytest.raises(ConfigError, match="EURUSD needs USD in CHF"):
        desk("CHF", EURUSD=(1.1, 0))


# Mode, changes of a contract of 10 at 2000.00, margin of one lot at 1:100, profit of +0.50.
MODES: list[tuple[int, dict[str, Any], float, float]] = [
    (0, {"trade_contract_size": 100_000.0}, 1_000.0, 50_000.0),
    (5, {"trade_contract_size": 100_000.0}, 100_000.0, 50_000.0),
    (2, {}, 20_000.0, 5.0),
    (3, {"trade_tick_value": 0.05, "trade_tick_size": 0.1}, 10_000.0, 5.0),
    (4, {}, 200.0, 5.0),
    (1, {"margin_initial": 700.0, "trade_tick_value": 12.5, "trade_tick_size": 0.25}, 700.0, 25.0),
    (33, {"margin_initial": 90.0, "trade_tick_value": 6.0, "trade_tick_size": 0.5}, 90.0, 6.0),
    (32, {}, 20_000.0, 5.0),
    (38, {}, 20_000.0, 5.0),
    # What the broker fixes replaces the formula; two modes divide it by the leverage.
    (0, {"margin_initial": 777.0}, 7.77, 5.0),
    (4, {"margin_initial": 777.0}, 7.77, 5.0),
    (5, {"margin_initial": 777.0}, 777.0, 5.0),
    (2, {"margin_initial": 777.0, "margin_maintenance": 400.0}, 777.0, 5.0),
    (32, {"margin_initial": 777.0}, 777.0, 5.0),
]


def thing(mode: int, changes: dict[str, Any], **account: Any) -> Play:
    """Return a terminal with a symbol in USD at 2000.00."""
    usual = {"currency_base": "USD", "currency_margin": "USD", "digits": 2}
    terms = {"trade_tick_size": 0.01, "trade_contract_size": 10.0, "volume_max": 1_000.0}
    broker = profile({"THING": spec(**{**usual, **terms, "trade_calc_mode": mode, **changes})})
    return Play(one_bar(2_000.0), broker)


@pytest.mark.parametrize(("mode", "changes", "margin", "profit"), MODES)
def test_margin_and_profit_of_each_mode(
    mode: int, changes: dict[str, Any], margin: float, profit: float
) -> None:
    terminal = thing(mode, changes).terminal
    assert terminal.order_calc_margin(0, "THING", 1.0, 2_000.0) == margin
    assert terminal.order_calc_margin(1, "THING", 3.0, 2_000.0) == round(3 * margin, 2)
    if mode not in (0, 5):  # USD against USD
        assert terminal.order_calc_profit(0, "THING", 1.0, 2_000.0, 2_000.5) == profit
        assert terminal.order_calc_profit(1, "THING", 2.0, 2_000.0, 2_000.5) == -2 * profit


def test_tick_values_of_modes_that_count_in_ticks_are_shown_in_the_account_currency() -> None:
    future = pair("USD", "USD", trade_calc_mode=1, margin_initial=100.0, trade_tick_value=12.5)
    broker = profile({"ES": future, "EURUSD": pair("EUR", "USD")}, currency="EUR")
    terminal = Play(one_bar(5_000.0), broker, more={"EURUSD": one_bar(1.25)}).terminal
    assert terminal.symbol_info("ES").trade_tick_value == 10.0
    assert terminal.order_calc_margin(0, "ES", 2.0, 5_000.0) == 160.0


@pytest.mark.parametrize("mode", [34, 36, 37, 39, 64])
def test_other_calculation_modes_are_refused(mode: int) -> None:
    with pytest.raises(ConfigError, match=f"trade_calc_mode {mode} is not played"):
        profile({"THING": spec(trade_calc_mode=mode)})


@pytest.mark.parametrize("mode", [1, 3, 33])
def test_modes_that_count_in_ticks_need_the_value_of_one(mode: int) -> None:
    with pytest.raises(ConfigError, match="counts money in ticks: add trade_tick_value"):
        profile({"THING": spec(trade_calc_mode=mode)})


# Opposite volume

FLAT = "110000 110010 109990 110000"
HEDGED = [
    ({"margin_hedged": 100_000.0}, 330.0),  # 0.1 uncovered, 0.2 covered as one leg
    ({"margin_hedged": 50_000.0}, 220.0),
    ({"margin_hedged": 0.0}, 110.0),
    ({"margin_hedged": 0.0, "margin_hedged_use_leg": True}, 330.0),
    ({"margin_initial": 200_000.0, "margin_hedged": 50_000.0}, 330.0),  # 0.1 * 2200 + 0.2 * 550
]


@pytest.mark.parametrize(("changes", "margin"), HEDGED)
def test_margin_of_hedged_volume(changes: dict[str, Any], margin: float) -> None:
    play = Play(FLAT, profile({"EURUSD": spec(**changes)}))
    play.buy(volume=0.3)
    play.sell(volume=0.2)
    assert play.terminal.account_info().margin == margin


def test_hedged_volume_of_the_manual_with_open_prices_of_each_leg() -> None:
    """The larger leg: 3 lots at a mean of 1.16209333; the basic way: 1 uncovered, 2 covered."""
    text = "\n".join(f"{ask} {ask} {ask} {ask}" for ask in (116214, 116207, 116184, 116189))
    for changes, margin in (
        ({"margin_hedged_use_leg": True}, 3_486.28),
        ({"margin_hedged": 0.0}, 1_162.09),
        ({"margin_hedged": 100_000.0}, 1_162.09 + 2_324.01),  # at the mean of all, 1.162002
    ):
        broker = profile({"EURUSD": spec(volume_max=5.0, **changes)}, deposit=100_000.0)
        play = Play(bars(text), broker)
        for number, (trade, lots) in enumerate(
            ((play.buy, 1.0), (play.buy, 2.0), (play.sell, 1.0), (play.sell, 1.0))
        ):
            play.bar(number)
            assert trade(volume=lots).retcode == 10009
        assert play.terminal.account_info().margin == round(margin, 2)


def test_fixed_margin_of_the_manual_initial_for_the_order_maintenance_for_the_position() -> None:
    changes = {
        "trade_calc_mode": 2,
        "margin_initial": 1_000.0,
        "margin_maintenance": 500.0,
        "margin_hedged": 500.0,
        "currency_margin": "USD",
    }
    play = Play(FLAT, profile({"EURUSD": spec(**changes)}, deposit=2_000.0))
    play.buy(volume=1.0)
    assert play.terminal.account_info().margin == 500.0
    order = {"action": 1, "symbol": "EURUSD", "type": 1, "volume": 2.0, "price": 1.1}
    # 500 for the position, 500 for the covered lot, 1000 for the other.
    checked = play.terminal.order_check(order)
    assert (checked.retcode, checked.margin, checked.margin_free) == (0, 2_000.0, 0.0)
    assert play.terminal.order_check({**order, "volume": 2.01}).retcode == 10019
    assert play.sell(volume=2.0).retcode == 10009
    assert play.terminal.account_info().margin == 1_000.0


def test_a_netting_account_holds_the_maintenance_margin_of_what_is_left() -> None:
    changes = {
        "trade_calc_mode": 33,
        "margin_initial": 1_000.0,
        "margin_maintenance": 400.0,
        "trade_tick_value": 1.0,
        "currency_margin": "USD",
    }
    broker = profile({"EURUSD": spec(**changes)}, margin_mode="netting", deposit=5_000.0)
    play = Play(FLAT, broker)
    held = []
    for trade, lots in ((play.buy, 1.0), (play.buy, 2.0), (play.sell, 5.0), (play.buy, 1.0)):
        assert trade(volume=lots).retcode == 10009
        held.append(play.terminal.account_info().margin)
    assert held == [400.0, 1_200.0, 800.0, 400.0]


def test_free_margin_of_exactly_what_is_needed_is_enough() -> None:
    """F15."""
    changes = {"trade_calc_mode": 5, "currency_margin": "USD"}
    for contract, code in ((1_000.0, 10009), (1_000.01, 10019)):
        terms = spec(trade_contract_size=contract, **changes)
        play = Play(FLAT, profile({"EURUSD": terms}, deposit=1_000.0))
        assert play.buy(volume=1.0).retcode == code
        assert play.terminal.positions_total() == (code == 10009)


def test_margin_is_converted_at_the_rate_of_the_opening() -> None:
    text = "110000 110000 110000 110000\n120000 120000 120000 120000"
    play = Play(bars(text, start=MONDAY), profile({"EURUSD": spec()}))
    play.buy(volume=1.0)
    play.bar(1)
    assert play.terminal.account_info().margin == 1_100.0
