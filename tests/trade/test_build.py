import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_support import position, symbol_info, tick

from bridge.mt5 import constants as mt5
from bridge.mt5.request import Purpose, Request
from bridge.mt5.sides import Side
from bridge.settings import ExecutionSettings
from bridge.trade.build import build_close, build_entry, build_levels, filling_of, to_tick

SETTINGS = ExecutionSettings(deviation_points=15, comment="c" * 40)
EURUSD = symbol_info()


def entry(side: Side, stop: float | None = 200.0, take: float | None = 300.0) -> Request:
    return build_entry(
        side=side,
        volume=0.1,
        stop_points=stop,
        take_points=take,
        symbol=EURUSD,
        tick=tick(),
        magic=7,
        settings=SETTINGS,
    )


def test_a07_a_buy_goes_in_at_the_ask_with_levels_around_it() -> None:
    assert entry(Side.LONG).as_dict() == {
        "action": mt5.TRADE_ACTION_DEAL,
        "symbol": "EURUSD",
        "magic": 7,
        "type": mt5.ORDER_TYPE_BUY,
        "volume": 0.1,
        "price": 1.08512,
        "sl": 1.08312,
        "tp": 1.08812,
        "deviation": 15,
        "type_filling": mt5.ORDER_FILLING_FOK,
        "comment": "c" * 29,
    }


def test_a07_a_sell_goes_in_at_the_bid_with_levels_around_it() -> None:
    sent = entry(Side.SHORT).as_dict()
    assert (sent["type"], sent["price"]) == (mt5.ORDER_TYPE_SELL, 1.085)
    assert (sent["sl"], sent["tp"]) == (1.087, 1.082)


def test_a03_a40_no_level_is_no_key() -> None:
    sent = entry(Side.LONG, None, None).as_dict()
    assert {"sl", "tp", "position"}.isdisjoint(sent)


@pytest.mark.parametrize(
    ("kind", "closing", "price"),
    [
        (mt5.POSITION_TYPE_BUY, mt5.ORDER_TYPE_SELL, 1.08500),
        (mt5.POSITION_TYPE_SELL, mt5.ORDER_TYPE_BUY, 1.08512),
    ],
)
def test_a15_a_close_names_the_ticket_and_takes_the_other_side(
    kind: int, closing: int, price: float
) -> None:
    request = build_close(
        position=position(type=kind), symbol=EURUSD, tick=tick(), magic=7, settings=SETTINGS
    )
    sent = request.as_dict()
    assert request.purpose is Purpose.EXIT
    assert (sent["position"], sent["type"], sent["price"]) == (55, closing, price)
    assert (sent["volume"], sent["magic"], sent["type_filling"]) == (0.1, 7, 0)
    assert {"sl", "tp"}.isdisjoint(sent)


def test_part_of_a_position_may_be_closed() -> None:
    request = build_close(
        position=position(),
        symbol=EURUSD,
        tick=tick(),
        magic=7,
        settings=SETTINGS,
        volume=0.05,
    )
    assert request.as_dict()["volume"] == 0.05


def test_levels_are_set_by_ticket_and_rounded() -> None:
    request = build_levels(position=position(), sl=1.0819995946, tp=None, symbol=EURUSD, magic=7)
    assert request.as_dict() == {
        "action": mt5.TRADE_ACTION_SLTP,
        "symbol": "EURUSD",
        "magic": 7,
        "sl": 1.082,
        "position": 55,
    }


@pytest.mark.parametrize(
    ("mask", "execution", "filling"),
    [
        (1, mt5.SYMBOL_TRADE_EXECUTION_MARKET, mt5.ORDER_FILLING_FOK),
        (2, mt5.SYMBOL_TRADE_EXECUTION_MARKET, mt5.ORDER_FILLING_IOC),
        (3, mt5.SYMBOL_TRADE_EXECUTION_MARKET, mt5.ORDER_FILLING_FOK),
        (2, mt5.SYMBOL_TRADE_EXECUTION_EXCHANGE, mt5.ORDER_FILLING_IOC),
        (0, mt5.SYMBOL_TRADE_EXECUTION_EXCHANGE, mt5.ORDER_FILLING_RETURN),
        (4, mt5.SYMBOL_TRADE_EXECUTION_EXCHANGE, mt5.ORDER_FILLING_RETURN),
        (0, mt5.SYMBOL_TRADE_EXECUTION_INSTANT, mt5.ORDER_FILLING_FOK),
        (2, mt5.SYMBOL_TRADE_EXECUTION_REQUEST, mt5.ORDER_FILLING_IOC),
    ],
)
def test_the_filling_is_the_symbols(mask: int, execution: int, filling: int) -> None:
    assert filling_of(symbol_info(filling_mode=mask, trade_exemode=execution)) == filling


@pytest.mark.parametrize(
    ("price", "tick_size", "digits", "rounded"),
    [
        (5230.13, 0.25, 2, 5230.25),
        (18234.3, 0.5, 1, 18234.5),
        (1.085234, 0.00001, 5, 1.08523),
        (1.0819995946, 0.00001, 5, 1.08200),
        (1.0810505574, 0.00001, 5, 1.08105),
        (151.2504, 0.001, 3, 151.250),
    ],
)
def test_a32_a_price_is_a_multiple_of_the_tick(
    price: float, tick_size: float, digits: int, rounded: float
) -> None:
    assert to_tick(price, symbol_info(trade_tick_size=tick_size, digits=digits)) == rounded


TICKS = st.sampled_from([(0.00001, 5), (0.001, 3), (0.25, 2), (0.5, 1), (1.0, 0), (0.05, 2)])


@given(TICKS, st.integers(1, 2_000_000), st.floats(-0.49, 0.49))
def test_rounding_finds_the_nearest_tick_and_stays(
    terms: tuple[float, int], ticks: int, off: float
) -> None:
    size, digits = terms
    symbol = symbol_info(trade_tick_size=size, digits=digits)
    rounded = to_tick((ticks + off) * size, symbol)
    assert math.isclose(rounded, ticks * size, rel_tol=1e-12)
    assert to_tick(rounded, symbol) == rounded
    assert rounded == round(rounded, digits)


@given(
    st.sampled_from(Side),
    st.floats(0.5, 3.0),
    st.integers(0, 60),
    st.floats(1.0, 5_000.0),
    st.floats(1.0, 5_000.0),
)
def test_every_request_is_native_and_has_its_levels_on_the_right_side(
    side: Side, bid: float, spread: int, stop: float, take: float
) -> None:
    bid = round(bid, 5)
    quote = tick(bid, round(bid + spread * 0.00001, 5))
    request = build_entry(
        side=side,
        volume=0.1,
        stop_points=stop,
        take_points=take,
        symbol=EURUSD,
        tick=quote,
        magic=7,
        settings=SETTINGS,
    )
    for name, value in request.as_dict().items():
        wanted = float if name in ("volume", "price", "sl", "tp") else (int, str)
        assert type(value) in (wanted if isinstance(wanted, tuple) else (wanted,)), name
    assert request.sl is not None
    assert request.tp is not None
    assert request.price is not None
    # Half a tick is what rounding may move a level.
    assert side.sign * (request.price - request.sl) >= (stop - 0.51) * 0.00001
    assert side.sign * (request.tp - request.price) >= (take - 0.51) * 0.00001


@pytest.mark.parametrize("side", list(Side))
def test_levels_too_near_are_moved_out_only_where_that_is_wanted(side: Side) -> None:
    near = symbol_info(trade_stops_level=100)
    quote = tick()  # 12 points of spread
    found = {}
    for widen in (False, True):
        request = build_entry(
            side=side,
            volume=0.1,
            stop_points=50.0,
            take_points=50.0,
            symbol=near,
            tick=quote,
            magic=7,
            settings=ExecutionSettings(widen_stops=widen),
        )
        assert request.sl is not None
        assert request.tp is not None
        closing = side.closing_price(quote)
        found[widen] = [
            round(side.sign * (closing - request.sl) / near.point),
            round(side.sign * (request.tp - closing) / near.point),
        ]
    assert found[False] == [38, 62]
    assert all(100 <= distance <= 101 for distance in found[True])
