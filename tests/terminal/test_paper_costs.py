"""What dealing and holding costs: commission by kind, swap by mode and day."""

import itertools
from typing import Any

import pytest
from terminal.paper_desk import MONDAY, Play, bars, profile, spec
from terminal.paper_money import one_bar, pair

from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import DAY
from bridge.terminal.paper.profile import BrokerProfile

FLAT = "110000 110010 109990 110000"


def commissions(play: Play) -> list[float]:
    return [deal.commission for deal in play.terminal.history_deals_get(0, 2**31 - 1)[1:]]


def in_and_out(account: dict[str, Any], **changes: Any) -> list[float]:
    """Return the commission of buying 0.30 and selling 0.10 and 0.20 lots at 1.1."""
    play = Play(FLAT, profile({"EURUSD": spec(**changes)}, **account))
    ticket = play.buy(volume=0.3).order
    play.close(ticket, 0.1)
    play.close(ticket)
    return commissions(play)


# Commission

KINDS: list[tuple[Any, list[float]]] = [
    (3.5, [-1.05, -0.35, -0.7]),  # F23
    ([{"per_lot": 3.5}], [-1.05, -0.35, -0.7]),
    ([{"per_lot": 7.0, "on": "entry"}], [-2.1, 0.0, 0.0]),
    ([{"per_lot": 7.0, "on": "exit"}], [0.0, -0.7, -1.4]),
    ([{"per_lot": 3.5, "minimum": 1.0}], [-1.05, -1.0, -1.0]),
    ([{"minimum": 1.0}], [-1.0, -1.0, -1.0]),
    ([{"percent": 0.01}], [-3.3, -1.1, -2.2]),  # of 33000, 11000, 22000 USD
    ([{"percent": 0.01, "minimum": 2.5, "on": "entry"}], [-3.3, 0.0, 0.0]),
    ([{"per_lot": 3.5, "symbols": "*,!EUR*"}], [0.0, 0.0, 0.0]),
    ([{"per_lot": 1.0}, {"percent": 0.01, "symbols": "*USD"}], [-3.6, -1.2, -2.4]),
    ([], [0.0, 0.0, 0.0]),
]


@pytest.mark.parametrize(("kinds", "booked"), KINDS)
def test_commission_of_each_kind(kinds: Any, booked: list[float]) -> None:
    """F23 is the first row: 3.50 a lot and side, in 0.30, out 0.10 and 0.20."""
    assert in_and_out({"commission": kinds}) == booked


def test_commission_is_also_for_what_the_server_closes_and_it_adds_up() -> None:
    """F23."""
    rows = "110000 110010 109990 110000\n109900 109900 109000 109000"
    play = Play(rows, profile({"EURUSD": spec()}, commission=3.5))
    play.buy(volume=0.3, sl=1.0985)
    play.bar(2)
    assert commissions(play) == [-1.05, -1.05]
    info = play.terminal.account_info()
    assert info.balance == round(10_000.0 - 2.10 - 45.0, 2)


def test_a_reversal_pays_for_what_it_closes_and_for_what_it_opens() -> None:
    for on, booked in (("entry", [-1.0, -2.0]), ("exit", [0.0, -1.0]), ("both", [-1.0, -3.0])):
        kinds = [{"per_lot": 10.0, "on": on}]
        broker = profile({"EURUSD": spec()}, margin_mode="netting", commission=kinds)
        play = Play(FLAT, broker)
        play.buy(volume=0.1)
        play.sell(volume=0.3)
        assert commissions(play) == booked


def test_two_positions_that_close_each_other_pay_what_is_on_exit_only() -> None:
    """The manual: what is on all deals has been paid by the two that opened them."""
    for on, booked in (
        ("entry", [-3.0, -2.0, 0.0, 0.0]),
        ("exit", [0.0, 0.0, -4.0, 0.0]),  # both exits, on the deal with the profit
        ("both", [-3.0, -2.0, 0.0, 0.0]),
    ):
        kinds = [{"per_lot": 10.0, "on": on}]
        play = Play(FLAT, profile({"EURUSD": spec()}, commission=kinds))
        bought, sold = play.buy(volume=0.3).order, play.sell(volume=0.2).order
        assert play.close_by(bought, sold).retcode == 10009
        assert commissions(play) == booked


def test_a_percentage_is_of_the_value_in_the_account_currency() -> None:
    usdjpy = profile({"USDJPY": pair("USD", "JPY")}, commission=[{"percent": 0.01}])
    play = Play(one_bar(150.0, 20), usdjpy)
    play.buy(volume=0.5)
    assert commissions(play) == [-5.0]  # 50000 USD, whatever the price
    stock = spec(currency_base="USD", currency_margin="USD", trade_calc_mode=32, digits=2)
    stock |= {"trade_contract_size": 1.0, "trade_tick_size": 0.01, "volume_max": 1_000.0}
    broker = profile(
        {"MSFT": stock, "EURUSD": pair("EUR", "USD")}, currency="EUR", commission=[{"percent": 0.1}]
    )
    play = Play(one_bar(400.0), broker, more={"EURUSD": one_bar(1.25, 3_000)})
    assert play.buy(volume=10.0).retcode == 10009
    assert commissions(play) == [-3.2]  # 4 USD, bought at 1.25 and not at 1.28


def test_free_margin_has_to_hold_the_commission_too() -> None:
    for percent, code in ((0.09, 10009), (0.1, 10019)):
        terms = spec(trade_calc_mode=5, currency_margin="USD", trade_contract_size=1_000.0)
        account = {"deposit": 1_001.0, "commission": [{"percent": percent}]}
        play = Play(FLAT, profile({"EURUSD": terms}, **account))
        assert play.buy(volume=1.0).retcode == code


def test_a_commission_that_costs_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="costs nothing"):
        profile({"EURUSD": spec()}, commission=[{"on": "entry"}])


# Swap


def days(count: int, row: str = FLAT, scale: float = 1e-5) -> RatesArray:
    """Return hourly bars, day and night, weekends too, for so many days and an hour."""
    return bars("\n".join([row] * (24 * count + 1)), scale=scale)


SWAPS = [
    (0, -3.0, 0.0),
    (1, -3.0, -3.0),  # points of 1 USD
    (2, -3.0, -3.3),  # EUR at 1.1
    (3, -3.0, -3.3),
    (4, -3.0, -3.0),
    (5, -3.6, -11.0),  # percent a year of 100000 EUR
    (6, -3.6, -11.0),
    (9, -3.0, -3.0),
]


@pytest.mark.parametrize(("mode", "rate", "charged"), SWAPS)
def test_one_night_of_each_swap_mode(mode: int, rate: float, charged: float) -> None:
    broker = profile({"EURUSD": spec(swap_mode=mode, swap_long=rate)})
    play = Play(days(1), broker)
    play.buy(volume=1.0)
    play.bar(24)
    info = play.terminal.account_info()
    (held,) = play.terminal.positions_get()
    assert (held.swap, held.profit, info.profit) == (charged, 0.0, charged)
    assert info.equity == 10_000.0 + charged


def test_an_unknown_swap_mode_is_refused() -> None:
    with pytest.raises(ConfigError, match="swap_mode 10 is not played by the paper terminal"):
        profile({"EURUSD": spec(swap_mode=10)})


# Specification, bid and ask; a night of a lot bought and of one sold.
CONVERTED = [
    # Points are converted as a profit: at the price that would close the position.
    (pair("USD", "JPY", swap_mode=1, swap_long=10.0, swap_short=-10.0), 150.0, 150.3, 6.67, -6.65),
    # Money is converted at the worse side.
    (spec(swap_mode=2, swap_long=-3.0, swap_short=3.0), 1.1, 1.2, -3.6, 3.3),
    (spec(swap_mode=9, swap_long=-3.0, swap_short=3.0), 1.1, 1.2, -3.0, 3.0),
    (pair("USD", "JPY", swap_mode=9, swap_long=-450.0, swap_short=450.0), 150.0, 180.0, -3.0, 2.5),
    # Interest is converted by the position's side: 10 EUR a night.
    (spec(swap_mode=5, swap_long=-3.6, swap_short=-3.6), 1.1, 1.2, -11.0, -12.0),
    # Whatever the price was at the opening, a pair's interest is on its base currency.
    (spec(swap_mode=6, swap_long=3.6, swap_short=3.6), 1.1, 1.2, 11.0, 12.0),
]


@pytest.mark.parametrize(("terms", "bid", "ask", "buy", "sell"), CONVERTED)
def test_swap_in_another_currency(
    terms: dict[str, Any], bid: float, ask: float, buy: float, sell: float
) -> None:
    name = terms["currency_base"] + terms["currency_profit"]
    spread = round((ask - bid) / terms["trade_tick_size"])
    scale = terms["trade_tick_size"]
    row = " ".join([str(round(bid / scale))] * 4)
    play = Play(days(1, f"{row} {spread}", scale), profile({name: terms}, deposit=100_000.0))
    play.buy(volume=1.0)
    play.sell(volume=1.0)
    play.bar(24)
    assert [one.swap for one in play.terminal.positions_get()] == [buy, sell]


def test_swap_points_of_a_cross_are_converted_by_the_positions_side() -> None:
    eurjpy = pair("EUR", "JPY", swap_mode=1, swap_long=-9.0, swap_short=-9.0)
    symbols = {"EURJPY": eurjpy, "USDJPY": pair("USD", "JPY"), "EURUSD": spec()}
    more = {
        "USDJPY": days(1, "150000 150000 150000 150000 30000", 1e-3),
        "EURUSD": days(1),
    }
    rates = days(1, "165000 165000 165000 165000", 1e-3)
    play = Play(rates, profile(symbols), more=more)
    play.buy(volume=1.0)
    play.sell(volume=1.0)
    play.bar(24)
    # 900 JPY: a buy's at the ask of USDJPY, a sell's at its bid, as their profits are.
    assert [one.swap for one in play.terminal.positions_get()] == [-5.0, -6.0]


INTEREST = [
    # Mode 5 takes the price of the night, mode 6 that of the opening: 5.76 % of 10 * price.
    (5, {"trade_calc_mode": 2}, [-16.0, -24.0]),
    (6, {"trade_calc_mode": 2}, [-16.0, -16.0]),
    # The manual's way for futures: contract size and the value of a tick both count.
    (5, {"trade_calc_mode": 1, "trade_tick_value": 0.02, "margin_initial": 1.0}, [-32.0, -48.0]),
]


@pytest.mark.parametrize(("mode", "changes", "charges"), INTEREST)
def test_interest_on_a_price(mode: int, changes: dict[str, Any], charges: list[float]) -> None:
    terms = spec(currency_margin="USD", trade_contract_size=10.0, digits=2, **changes)
    terms |= {"trade_tick_size": 0.01, "swap_mode": mode, "swap_long": -5.76}
    rows = ["1000000 1000000 1000000 1000000"] * 24 + ["1500000 1500000 1500000 1500000"] * 25
    play = Play(bars("\n".join(rows), scale=0.01), profile({"EURUSD": terms}, deposit=1e6))
    play.buy(volume=1.0)
    assert swaps(play, 2) == charges


def swaps(play: Play, count: int) -> list[float]:
    """Return the swap of each midnight of the one position."""
    sums = [0.0]
    for day in range(count):
        play.bar(24 * day + 24)
        sums.append(play.terminal.positions_get()[0].swap)
    return [round(b - a, 2) for a, b in itertools.pairwise(sums)]


EVERY_DAY = [1.0] * 7
WEEKS = [  # from the midnight that ends Monday to the one that ends Sunday
    ({}, None, [-1.0, -1.0, -3.0, -1.0, -1.0, 0.0, 0.0]),
    ({"swap_rollover3days": 5}, None, [-1.0, -1.0, -1.0, -1.0, -3.0, 0.0, 0.0]),
    ({"swap_rollover3days": 0}, None, [-1.0, -1.0, -1.0, -1.0, -1.0, 0.0, 0.0]),
    ({}, EVERY_DAY, [-1.0] * 7),  # as with crypto currencies
    ({}, [0, 1, 1, 1, 1, 2.5, 0], [-1.0, -1.0, -1.0, -1.0, -2.5, 0.0, 0.0]),
]


@pytest.mark.parametrize(("changes", "week", "charges"), WEEKS)
def test_a_week_of_swaps(
    changes: dict[str, Any], week: list[float] | None, charges: list[float]
) -> None:
    terms = spec(swap_mode=4, swap_long=-1.0, **changes)
    broker = profile({"EURUSD": terms})
    if week is not None:
        broker = BrokerProfile.model_validate(
            {**broker.model_dump(), "swap_days": {"EURUSD": week}}
        )
    play = Play(days(7), broker)
    play.buy(volume=1.0)
    assert swaps(play, 7) == charges


def test_swap_days_are_for_known_symbols_and_whole_weeks() -> None:
    fields = profile({"EURUSD": spec()}).model_dump()
    with pytest.raises(ConfigError, match="swap_days names GBPUSD, which symbols does not have"):
        BrokerProfile.model_validate({**fields, "swap_days": {"GBPUSD": EVERY_DAY}})
    with pytest.raises(ValueError, match="swap_days"):
        BrokerProfile.model_validate({**fields, "swap_days": {"EURUSD": EVERY_DAY[:6]}})


def test_a_charge_is_rounded_once_for_all_its_days() -> None:
    # As in a tester report: 1.22464 a night, three of them are 3.67 and not 3.66.
    broker = profile({"EURUSD": spec(swap_mode=4, swap_long=1.424)})
    play = Play(days(3), broker)
    play.buy(volume=0.86)
    assert swaps(play, 3) == [1.22, 1.22, 3.67]


REOPENED = [  # mode, side, price of the closing and of the new opening
    (7, 0, 1.1, 1.10003),  # a buy is closed at the bid
    (7, 1, 1.1002, 1.10018),  # a sell at the ask
    (8, 0, 1.1, 1.10003),
    (8, 1, 1.1002, 1.09998),
]


@pytest.mark.parametrize(("mode", "side", "closed", "opened"), REOPENED)
def test_swap_by_reopening(mode: int, side: int, closed: float, opened: float) -> None:
    terms = spec(swap_mode=mode, swap_long=-3.0, swap_short=-2.0)
    play = Play(days(3, f"{FLAT} 20"), profile({"EURUSD": terms}, commission=3.5))
    ticket = play.send(type=side, volume=1.0, sl=1.05 if side == 0 else 1.15).order
    play.bar(24)
    (held,) = play.terminal.positions_get()
    assert (held.ticket, held.price_open, held.swap) == (ticket, opened, 0.0)
    assert held.time == MONDAY + DAY
    out, back = play.terminal.history_deals_get(0, 2**31 - 1)[2:]
    assert (out.entry, out.type, out.price, out.profit) == (1, 1 - side, closed, -20.0)
    assert (back.entry, back.type, back.price, back.profit) == (0, side, opened, 0.0)
    for deal in (out, back):
        assert (deal.reason, deal.position_id, deal.order) == (mt5.DEAL_REASON_ROLLOVER, ticket, 0)
        assert deal.commission == deal.swap == 0.0
    play.bar(72)  # Tuesday one night, Wednesday three
    assert len(play.terminal.history_deals_get(0, 2**31 - 1)) == 8
    lost = 10_000.0 - play.terminal.account_info().equity
    assert lost == 3.5 + 20.0 + 5 * (-terms["swap_short" if side else "swap_long"]) + (
        0.0 if mode == 7 or side == 0 else 60.0
    )
