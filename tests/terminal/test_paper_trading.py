"""What the server does with deals, stops and pairs of positions; the account after a check."""

from typing import Any

import pytest
from terminal.paper_desk import MONDAY, Play, bars, profile, spec

ROWS = """110000 110100 109900 110050 10
          110050 110100 110000 110060 10"""
PAIR = """110000 110010 109990 110000
          110300 110310 110290 110300"""


# Closing by


def test_two_opposite_positions_close_each_other() -> None:
    play = Play(PAIR, profile({"EURUSD": spec(swap_mode=4, swap_long=-3.0)}, commission=2.0))
    bought = play.buy(volume=0.3).order
    play.bar(1)
    sold = play.sell(volume=0.2).order
    done = play.close_by(bought, sold, magic=9)
    assert (done.retcode, done.volume, done.price) == (10009, 0.2, 1.103)
    assert play.deals()[2:] == [
        "1.00 sell out by 0.2 1.103 60",
        "1.00 buy out by 0.2 1.1 0",
    ]
    (held,) = play.terminal.positions_get()
    assert (held.ticket, held.volume, held.price_open) == (bought, 0.1, 1.1)
    (order,) = play.terminal.history_orders_get(ticket=done.order)
    assert (order.type, order.state, order.magic, order.volume_current) == (8, 4, 9, 0.0)
    assert (order.position_id, order.position_by_id) == (bought, sold)
    assert order.comment == f"close #{bought} by #{sold}"
    deals = play.terminal.history_deals_get(0, 2**31 - 1)[-2:]
    assert [one.position_id for one in deals] == [bought, sold]
    assert {one.order for one in deals} == {done.order}
    assert done.deal == deals[0].ticket
    listed = [play.terminal.history_orders_get(position=one) for one in (bought, sold)]
    assert [[one.ticket for one in orders] for orders in listed] == [[bought, done.order], [sold]]


def test_a_sell_that_is_closed_by_a_smaller_buy() -> None:
    play = Play(PAIR)
    sold = play.sell(volume=0.3).order
    play.bar(1)
    bought = play.buy(volume=0.1).order
    assert play.close_by(sold, bought).retcode == 10009
    assert play.deals()[2:] == ["1.00 buy out by 0.1 1.103 -30", "1.00 sell out by 0.1 1.1 0"]
    assert [one.ticket for one in play.terminal.positions_get()] == [sold]


def test_each_deal_of_a_pair_has_the_swap_of_its_position() -> None:
    rows = "\n".join(["110000 110010 109990 110000"] * 25)
    play = Play(rows, profile({"EURUSD": spec(swap_mode=4, swap_long=-3.0, swap_short=1.0)}))
    bought, sold = play.buy(volume=1.0).order, play.sell(volume=0.5).order
    play.bar(24)
    play.close_by(bought, sold)
    assert play.deals()[2:] == [
        "24.00 sell out by 0.5 1.1 0 swap=-1.5",
        "24.00 buy out by 0.5 1.1 0 swap=0.5",
    ]
    assert play.terminal.positions_get()[0].swap == -1.5


def test_what_can_not_be_closed_by() -> None:
    play = Play(ROWS, profile({"EURUSD": spec(), "GBPUSD": spec()}), more={})
    one, other, third = play.buy().order, play.sell().order, play.buy().order
    assert play.close_by(one, third).retcode == 10013
    assert play.close_by(one, one).retcode == 10013
    assert play.close_by(one, 0).retcode == 10013
    assert play.close_by(one, 77).retcode == 10036
    assert play.close_by(one, other, symbol="GBPUSD").retcode == 10013
    assert play.close_by(one, other).retcode == 10009
    netting = Play(ROWS, profile(margin_mode="netting"))
    ticket = netting.buy().order
    assert netting.close_by(ticket, ticket).retcode == 10013
    without = Play(ROWS, profile({"EURUSD": spec(order_mode=63)}))
    assert without.close_by(without.buy().order, without.sell().order).retcode == 10035


def test_a_position_near_its_stop_is_not_closed_by() -> None:
    play = Play(ROWS, profile({"EURUSD": spec(trade_freeze_level=30)}))
    bought, sold = play.buy().order, play.sell(sl=1.1003).order
    assert play.close_by(bought, sold).retcode == 10029


# Account rules


def test_fifo_accounts_close_the_oldest_first() -> None:
    play = Play(ROWS, profile(fifo_close=True))
    assert play.terminal.account_info().fifo_close is True
    first, second = play.buy().order, play.buy().order
    assert play.close(second).retcode == 10045
    assert play.close(first).retcode == 10009
    assert play.close(second).retcode == 10009


def test_prohibited_hedging_refuses_the_other_side_and_lets_close() -> None:
    play = Play(ROWS, profile(hedge_prohibited=True))
    ticket = play.buy().order
    refused = play.sell()
    assert (refused.retcode, refused.comment) == (10046, "Hedge prohibited")
    assert play.place("sell limit", 1.2).retcode == 10046
    assert play.place("buy limit", 1.0).retcode == 10009
    assert play.buy().retcode == 10009
    assert play.close(ticket).retcode == 10009


def test_the_limit_of_positions() -> None:
    play = Play(ROWS, profile(limit_positions=1))
    ticket = play.buy().order
    assert play.buy().retcode == 10040
    play.close(ticket)
    assert play.buy().retcode == 10009


def test_a_broker_has_texts_of_its_own() -> None:
    play = Play(ROWS, profile(retcode_texts={10009: "Done!", 10014: "Bad lots"}))
    assert play.buy().comment == "Done!"
    assert play.buy(volume=0.001).comment == "Bad lots"
    assert play.sell(sl=1.0).comment == "Invalid stops"


# Requests of published programs


def test_requests_of_published_programs_are_taken() -> None:
    play = Play(ROWS)
    send = play.terminal.order_send
    order = {"action": 5, "symbol": "EURUSD", "volume": 0.1, "type": 2, "price": 1.09}
    assert send({**order, "type_filling": 0}).retcode == 10009
    assert send({**order, "type_filling": 1}).retcode == 10009
    ticket = play.buy(type_time=1).order
    assert send({"action": 6, "position": ticket, "sl": 1.09, "tp": 1.11}).retcode == 10009
    netting = Play(ROWS, profile(margin_mode="netting"))
    held = netting.buy().order
    changed = netting.terminal.order_send({"action": 6, "position": held, "sl": 1.09})
    assert changed.retcode == 10009
    assert netting.terminal.positions_get()[0].sl == 1.09


def test_a02_a_comment_of_30_units_is_refused_by_the_package() -> None:
    play = Play(ROWS)
    assert play.buy(comment="x" * 30) is None
    assert play.terminal.last_error() == (-2, 'Invalid "comment" argument')
    assert play.buy(comment="signal #42 приказ").retcode == 10009
    assert play.buy(comment="x" * 29).retcode == 10009
    assert [len(one.comment) for one in play.terminal.positions_get()] == [17, 29]


def test_a03_an_order_without_stops_and_comment() -> None:
    play = Play(ROWS)
    request = {"action": 1, "symbol": "EURUSD", "volume": 0.1, "type": 0}
    assert play.terminal.order_send(request).retcode == 10009
    assert play.terminal.order_send({**request, "sl": None}) is None
    assert play.terminal.last_error() == (-2, 'Invalid "sl" argument')


def test_a05_a_close_needs_the_filling_of_its_symbol() -> None:
    play = Play(ROWS, profile({"EURUSD": spec(filling_mode=2)}))
    ticket = play.buy(type_filling=1).order
    assert play.sell(position=ticket, volume=0.05).retcode == 10030
    assert play.sell(position=ticket, volume=0.05, type_filling=1).retcode == 10009
    assert play.sell(position=ticket, volume=0.05, type_filling=1).retcode == 10009


def test_a07_each_side_is_dealt_and_closed_at_its_own_price() -> None:
    play = Play("108500 108510 108490 108500 12")
    bought, sold = play.buy(), play.sell()
    assert (bought.price, sold.price) == (1.08512, 1.085)
    assert (bought.bid, bought.ask) == (1.085, 1.08512)
    assert (play.close(bought.order).price, play.close(sold.order).price) == (1.085, 1.08512)


def test_a08_stops_are_refused_on_the_wrong_side_and_off_the_tick() -> None:
    play = Play("108201 108210 108190 108201 8")
    sell = {"volume": 0.01, "tp": 1.08105}
    assert play.sell(**sell, sl=1.082).retcode == 10016
    assert play.sell(**sell, sl=1.0819995946).retcode == 10016
    assert play.sell(**sell, sl=1.0830005).retcode == 10016
    assert play.sell(**sell, sl=1.083).retcode == 10009


def test_a10_within_the_freeze_level_a_stop_stays_where_it_is() -> None:
    rows = """110010 110020 110000 110010
              110050 110060 110040 110050"""
    play = Play(rows, profile({"EURUSD": spec(trade_freeze_level=30)}))
    ticket = play.buy(sl=1.0999).order
    frozen = play.protect(ticket, sl=1.0998)
    assert (frozen.retcode, frozen.comment) == (10029, "Order or position frozen")
    play.bar(1)
    assert play.protect(ticket, sl=1.0998).retcode == 10009


def test_a11_equal_levels_change_nothing_and_a_closed_ticket_is_named_so() -> None:
    play = Play(ROWS)
    ticket = play.buy(sl=1.09).order
    assert play.protect(ticket, sl=1.0900004).retcode == 10025
    play.close(ticket)
    assert play.protect(ticket, sl=1.08).retcode == 10036


@pytest.mark.parametrize("margin_mode", ["hedging", "netting", "exchange"])
def test_a15_a_close_that_names_its_position_leaves_nothing(margin_mode: str) -> None:
    play = Play(ROWS, profile(margin_mode=margin_mode))
    ticket = play.buy().order
    assert play.sell(position=ticket).retcode == 10009
    assert play.terminal.positions_total() == 0
    assert [one.entry for one in play.terminal.history_deals_get(position=ticket)] == [0, 1]


def test_a17_adding_on_a_netting_account() -> None:
    play = Play(PAIR, profile(margin_mode="netting"))
    play.buy(volume=0.1, sl=1.095)
    play.bar(1)
    play.buy(volume=0.2, sl=1.099)
    (held,) = play.terminal.positions_get()
    assert (held.volume, held.price_open, held.sl) == (0.3, 1.102, 1.099)


def test_a06_a_refused_order_leaves_nothing() -> None:
    play = Play(ROWS, profile({"EURUSD": spec(trade_exemode=1)}))
    refused = play.buy(price=0.0, sl=1.09)
    assert (refused.retcode, refused.comment, refused.order) == (10015, "Invalid price", 0)
    assert play.terminal.positions_total() == play.terminal.orders_total() == 0
    assert play.orders() == play.deals() == []


def test_a28_a_symbol_has_no_prices_before_its_first() -> None:
    play = Play(ROWS, start=MONDAY - 2)
    assert play.terminal.symbol_info_tick("EURUSD") is None
    assert (play.buy().retcode, play.place("buy limit", 1.09).retcode) == (10021, 10021)
    play.bar(0)
    assert play.buy().price == 1.1001


def test_a32_prices_are_on_the_tick_and_not_on_the_point() -> None:
    future = spec(digits=2, trade_tick_size=0.25, trade_contract_size=50.0, point=0.01)
    play = Play(bars("523000 523100 522900 523000", scale=0.01), profile({"EURUSD": future}))
    assert play.place("buy stop", 5_230.13).retcode == 10015
    assert play.place("buy stop", 5_230.25).retcode == 10009
    assert play.buy(sl=5_220.1, volume=0.01).retcode == 10016
    assert play.buy(sl=5_220.25, volume=0.01).retcode == 10009


def test_a40_a_level_of_zero_is_none() -> None:
    rows = """110000 110010 109000 110000
              110000 110100 109000 110000"""
    play = Play(rows)
    play.buy(tp=1.101, sl=0.0)
    play.bar(1)
    assert play.terminal.positions_get()[0].sl == 0.0
    play.bar(2)
    assert play.deals()[-1] == "1.67 sell out 0.1 1.101 10 tp"


def test_a41_a_symbol_for_closing_only() -> None:
    play = Play(ROWS, profile({"EURUSD": spec(trade_mode=3)}))
    refused = play.buy()
    assert (refused.retcode, refused.comment) == (10044, "Close only")
    assert play.terminal.positions_total() == 0


@pytest.mark.parametrize(("points", "code"), [(100_000, 10009), (100_001, 10019)])
def test_f15_all_of_the_free_margin_may_be_used_and_no_cent_more(points: int, code: int) -> None:
    # One lot at 1:100 wants 1000 EUR: 1000.00 or 1000.01 USD.
    play = Play(f"{points} {points} {points} {points}", profile(deposit=1_000.0))
    assert play.buy(volume=1.0).retcode == code
    assert len(play.deals()) == play.terminal.positions_total() == (code == 10009)


def test_f23_commission_is_paid_on_each_side_of_each_part() -> None:
    play = Play(ROWS, profile(commission=3.5))
    ticket = play.buy(volume=0.3).order
    play.close(ticket, 0.1)
    play.close(ticket)
    deals = play.terminal.history_deals_get(position=ticket)
    assert [one.commission for one in deals] == [-1.05, -0.35, -0.7]


# The account after a request


def after(play: Play, **request: Any) -> Any:
    checked = play.terminal.order_check(request)
    assert (checked.retcode, checked.comment) == (0, "Done")
    assert abs(checked.equity - checked.balance - checked.profit) < 0.005
    assert abs(checked.margin_free - (checked.equity - checked.margin)) < 0.005
    return checked


def test_a_check_shows_the_account_after_a_deal() -> None:
    play = Play(PAIR, profile(commission=2.0))
    deal = {"action": 1, "symbol": "EURUSD", "volume": 0.2}
    opening = after(play, **deal, type=0)
    ticket = play.buy(volume=0.2).order
    info = play.terminal.account_info()
    assert (opening.balance, opening.margin) == (info.balance, info.margin) == (9_999.6, 220.0)
    assert opening.margin_level == info.margin_level
    play.bar(1)
    half = after(play, **{**deal, "volume": 0.1}, type=1, position=ticket)
    play.close(ticket, 0.1)
    info = play.terminal.account_info()
    shown = (half.balance, half.equity, half.profit, half.margin, half.margin_free)
    assert shown == (info.balance, info.equity, info.profit, info.margin, info.margin_free)
    assert info.balance == 9_999.6 + 30.0 - 0.2


def test_a_check_shows_the_account_after_a_reversal() -> None:
    play = Play(PAIR, profile(margin_mode="netting"))
    play.buy(volume=0.1)
    play.bar(1)
    checked = after(play, action=1, symbol="EURUSD", volume=0.3, type=1)
    play.sell(volume=0.3)
    info = play.terminal.account_info()
    assert (checked.balance, checked.profit) == (info.balance, info.profit) == (10_030.0, 0.0)
    assert checked.margin == info.margin


def test_a_check_of_the_other_actions_leaves_the_account_as_it_is() -> None:
    play = Play(ROWS)
    bought, sold = play.buy().order, play.sell().order
    waiting = play.place("buy limit", 1.09).order
    info = play.terminal.account_info()
    requests: list[dict[str, Any]] = [
        {"action": 5, "symbol": "EURUSD", "volume": 0.1, "type": 3, "price": 1.2},
        {"action": 6, "position": bought, "sl": 1.09},
        {"action": 7, "order": waiting, "price": 1.08},
        {"action": 8, "order": waiting},
        {"action": 10, "position": bought, "position_by": sold},
    ]
    for request in requests:
        checked = after(play, **request)
        assert (checked.balance, checked.margin) == (info.balance, info.margin)
    assert play.terminal.orders_total() == 1
    assert play.terminal.positions_total() == 2
    assert play.terminal.positions_get(ticket=bought)[0].sl == 0.0


def test_a_check_without_money_shows_what_is_lacking() -> None:
    play = Play(ROWS)
    request = {"action": 1, "symbol": "EURUSD", "volume": 9.5}
    checked = play.terminal.order_check(request)
    assert (checked.retcode, checked.comment, checked.margin) == (10019, "No money", 10_450.95)
    assert checked.margin_free < 0


def test_a_time_of_a_request_is_the_servers() -> None:
    play = Play(ROWS)
    play.clock.wait_until(MONDAY + 1_234.5)
    order = play.terminal.history_orders_get(ticket=play.buy().order)[0]
    assert (order.time_setup_msc, order.time_done) == (1_000 * MONDAY + 1_234_500, MONDAY + 1_234)
