"""Answers of real terminals that were written down: margins, profits, checks, tick values."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from terminal.paper_desk import Play, bars
from terminal.paper_desk import profile as account_profile
from terminal.paper_money import desk, one_bar, pair

from bridge.errors import ConfigError
from bridge.terminal.paper.specification import complete


def specs(name: str) -> Any:
    """Return a file of recorded answers, or skip."""
    folder = os.environ.get("BRIDGE_TEST_DATA")
    if not folder:
        pytest.skip("BRIDGE_TEST_DATA names no folder of real data")
    return json.loads((Path(folder) / "specs" / name).read_text(encoding="utf-8"))


def test_recorded_margins() -> None:
    """Six of six; no price is recorded, two of the margins give the rates of EUR and GBP."""
    recorded = specs("api_examples.json")["order_calc_margin"]
    margin, lot = recorded["margin"], recorded["lot"]
    eur, gbp = (round(margin[name] / lot / 1_000, 5) for name in ("EURUSD", "GBPUSD"))
    quotes = {"EURUSD": (eur, 0), "GBPUSD": (gbp, 0), "USDJPY": (108.0, 3), "USDCHF": (0.97, 3)}
    calc = desk(**quotes, EURJPY=(118.7, 5), GBPJPY=(132.5, 5)).order_calc_margin
    assert {name: calc(0, name, lot, 1.0) for name in margin} == margin
    assert len(margin) == 6


def test_recorded_profits() -> None:
    """Six of six; the quotes of USDJPY, which are not recorded, are found from its two."""
    recorded = specs("api_examples.json")["order_calc_profit"]
    profit, distance = recorded["profit"], recorded["distance_points"]
    calc = desk(EURUSD=(1.1, 2), GBPUSD=(1.3, 2), USDJPY=(108.0, 3)).order_calc_profit
    for name in ("EURUSD", "GBPUSD"):
        assert calc(0, name, 1.0, 1.1, 1.1 + distance * 1e-5) == profit[name]["buy"]
        assert calc(1, name, 1.0, 1.1, 1.1 - distance * 1e-5) == profit[name]["sell"]
    asks, bids = (
        {
            thousandths
            for thousandths in range(107_500, 109_000)
            if calc(side, "USDJPY", 1.0, thousandths / 1e3, (thousandths + move) / 1e3) == value
        }
        for side, move, value in (
            (0, distance, profit["USDJPY"]["buy"]),
            (1, -distance, profit["USDJPY"]["sell"]),
        )
    )
    # A spread of one to nine points, as that demo server had.
    assert {ask - bid for ask in asks for bid in bids} & set(range(1, 10))
    assert sum(len(sides) for sides in profit.values()) == 6


def test_a_recorded_order_check() -> None:
    """All eight fields; the account's open position is stood in for by a future."""
    recorded = specs("api_examples.json")["order_check"]
    request, result = recorded["request"], recorded["result"]
    before = result["margin"] - 1_000.0  # what one lot of USDJPY costs at 1:100
    account = {"deposit": result["balance"], "margin_so_so": 20.0}
    play = in_a_future(before, result["profit"], **account)
    checked = play.terminal.order_check(request)
    assert {name: getattr(checked, name) for name in result} == result
    assert checked.request._asdict() == request


def in_a_future(margin: float, profit: float, **account: Any) -> Play:
    """Return an account whose one position has such margin and profit, if it has any."""
    future = pair("USD", "USD", trade_calc_mode=1, margin_initial=margin, trade_tick_value=0.01)
    usdjpy = pair("USD", "JPY", trade_exemode=1)
    points = 4_000_000 + round(profit / 0.01)
    rows = "\n".join(f"{level} {level} {level} {level}" for level in (4_000_000, points))
    broker = account_profile({"FUTURE": future, "USDJPY": usdjpy}, **account)
    play = Play(bars(rows), broker, more={"USDJPY": one_bar(108.078, 3)})
    if margin:
        assert play.buy(volume=1.0).retcode == 10009
    play.bar(1)
    return play


def test_recorded_positions_and_deals() -> None:
    """Five of five profits."""
    recorded = specs("api_examples.json")
    held = recorded["recorded_objects"]["position"]
    ada = pair("ADA", "USD", trade_contract_size=1.0) | {"trade_tick_size": 0.0001, "digits": 4}
    calc = Play(one_bar(0.3), account_profile({"ADAUSD": ada})).terminal.order_calc_profit
    prices = held["price_open"], held["price_current"]
    assert calc(held["type"], "ADAUSD", held["volume"], *prices) == held["profit"] == -0.02
    deals = {deal["ticket"]: deal for deal in recorded["history_deals"]["deals"]}
    opens = {deal["position_id"]: deal for deal in deals.values() if deal["entry"] == 0}
    calc = desk(USDCHF=(0.95, 0), AUDUSD=(0.66, 0)).order_calc_profit
    exits = [deal for deal in deals.values() if deal["entry"] == 1]
    for exit_ in exits:
        opened = opens[exit_["position_id"]]
        prices = opened["price"], exit_["price"]
        args = (opened["type"], opened["symbol"], opened["volume"], *prices)
        assert calc(*args) == exit_["profit"]
    assert len(exits) == 3


def test_a_recorded_position_of_an_account_in_pounds() -> None:
    """GBPCAD is a pair on the account's currency: 20 CAD at its own price, as recorded."""
    held = specs("api_examples.json")["position_GBPCAD"]["position"]
    calc = desk("GBP", GBPCAD=(1.69, 5)).order_calc_profit
    prices = held["price_open"], held["price_current"]
    assert calc(held["type"], "GBPCAD", held["volume"], *prices) == held["profit"] == -11.82


def dumps() -> Iterator[tuple[dict[str, Any], str]]:
    for entry in specs("symbol_info_recorded.json"):
        yield entry["symbol_info"], entry["account_currency"][:3]


def test_recorded_tick_values() -> None:
    """Six of seven dumps, both values each; the seventh is an option, which is not played.

    The connecting quotes are not recorded: they are found from the values, and have to be prices
    with the pair's digits. USDMXN of an account in GBP shows that USD is the way between, with
    the worse side of both pairs.
    """
    shown = 0
    for info, currency in dumps():
        if info["name"] == "PETRQ266":
            continue
        gain, loss = info["trade_tick_value_profit"], info["trade_tick_value_loss"]
        tick = info["trade_contract_size"] * info["trade_tick_size"]
        quotes: dict[str, tuple[float, int]] = {info["name"]: (info["bid"], info["spread"])}
        if info["name"] == "USDMXN":
            bid, ask = tick / loss / info["bid"], tick / gain / info["ask"]
            quotes["GBPUSD"] = quote(bid, ask, 5)
        elif info["currency_profit"] != currency:
            digits = 3 if info["currency_profit"] == "JPY" else 5
            name = currency + info["currency_profit"]
            quotes[name] = quote(tick / loss, tick / gain, digits)
        if info["currency_margin"] not in (currency, "USD"):
            quotes[info["currency_margin"] + currency] = (1.1, 0)
        elif info["currency_margin"] != currency:
            quotes["GBPUSD"] = quotes.get("GBPUSD", (1.25, 0))
        seen = desk(currency, **quotes).symbol_info(info["name"])
        assert seen.trade_tick_value == seen.trade_tick_value_profit
        assert seen.trade_tick_value_profit == pytest.approx(gain, rel=1e-12)
        assert seen.trade_tick_value_loss == pytest.approx(loss, rel=1e-12)
        shown += 1
    assert shown == 6


def quote(bid: float, ask: float, digits: int) -> tuple[float, int]:
    """Return bid and spread of prices that have no more than ``digits`` decimals."""
    for price in (bid, ask):
        assert round(price, digits) == pytest.approx(price, rel=1e-12)
    return round(bid, digits), round((ask - bid) * 10**digits)


def test_recorded_accounts() -> None:
    """Three of three, two with an open position: the money of each follows from three numbers."""
    names = ("balance", "credit", "profit", "equity", "margin", "margin_free", "margin_level")
    terms = ("leverage", "margin_so_mode", "margin_so_call", "margin_so_so", "limit_orders")
    entries = specs("account_info_recorded.json")
    for entry in entries:
        known = entry["account_info"]
        account = {name: known[name] for name in (*terms, "currency", "currency_digits")}
        play = in_a_future(known["margin"], known["profit"], deposit=known["balance"], **account)
        shown = play.terminal.account_info()
        assert {name: getattr(shown, name) for name in names} == {n: known[n] for n in names}
    assert len(entries) == 3


def test_recorded_specifications_are_taken_as_they_are() -> None:
    taken = []
    for info, _ in dumps():
        fields = {name: value for name, value in info.items() if name != "name"}
        if info["name"] == "PETRQ266":
            with pytest.raises(ConfigError, match="trade_calc_mode 35 is not played"):
                complete(info["name"], fields)
            continue
        seen = complete(info["name"], fields)._asdict()
        assert {name: seen[name] for name in info} == info
        taken.append(info["name"])
    assert len(taken) == 6


def test_specifications_of_another_project_are_enough() -> None:
    """Twenty of twenty: contract, volumes and currencies, without a single margin or profit."""
    known = specs("gym_mtsim_symbols.json")
    for fields in known.values():
        digits = 3 if fields["currency_profit"] == "JPY" else 5
        base = next((c for c in fields["currencies"] if c != fields["currency_profit"]), "USD")
        names = ("trade_contract_size", "volume_min", "volume_max", "volume_step")
        info = complete(
            fields["name"],
            {
                **{name: fields[name] for name in (*names, "currency_margin", "currency_profit")},
                "currency_base": base,
                "digits": digits,
                "trade_tick_size": 10.0**-digits,
            },
        )
        assert info.volume_max == fields["volume_max"]
    assert len(known) == 20
