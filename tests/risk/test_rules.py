"""Rules one by one: where each says no to an entry, exactly, and none to an exit."""

import math
from typing import Any

import pytest
from risk.rule_facts import BUY, CLOSE, EURUSD, FACTS, HEDGING, NOW, SELL, TIGHTEN, asked, rule_of
from tests_support import account, position, symbol_info

from bridge.market.news import News
from bridge.mt5 import constants as mt5
from bridge.mt5.servertime import parse
from bridge.risk.baselines import Baselines
from bridge.risk.exposure import net_exposure

DAY = NOW // 86_400
USDJPY = symbol_info(
    name="USDJPY",
    point=0.001,
    trade_tick_size=0.001,
    trade_tick_value=100 / 150.0,
    currency_base="USD",
    currency_profit="JPY",
)
INDEX = symbol_info(
    name="DE40",
    point=0.1,
    trade_tick_size=0.1,
    trade_tick_value=0.11,
    currency_base="EUR",
    currency_profit="EUR",
)


def held(volume: float, kind: int = mt5.POSITION_TYPE_BUY, **fields: Any) -> Any:
    """Return a position whose price is 1.08500, of another strategy."""
    plain = {"magic": 8, "volume": volume, "type": kind, "price_current": 1.085}
    return position(**(plain | fields))


def at(text: str) -> dict[str, Any]:
    return {"server_time": parse(text)}


def news(time: str, currency: str = "USD", *minutes: float) -> dict[str, Any]:
    before, after = minutes or (None, None)
    return {"news": (News(parse(time), currency, before, after, "Rate"),)}


def known(**fields: float) -> dict[str, Any]:
    plain: dict[str, Any] = {"day": DAY, "day_equity": 1e4, "peak_equity": 1e4}
    return {"baselines": Baselines(**(plain | fields))}


PROP = {"prop_firm": {"start_balance": 10_000.0, "daily_loss_share": 0.04}}
ROWS: list[tuple[dict[str, Any], dict[str, Any], str | None]] = [
    # Lots of a symbol over all strategies, long and short added up; other symbols don't count.
    ({"own_positions": (held(0.2), held(0.1, 1))}, {"limits": {"max_symbol_volume": 0.4}}, None),
    (
        {"own_positions": (held(0.2), held(0.11, 1))},
        {"limits": {"max_symbol_volume": 0.4}},
        "symbol_volume",
    ),
    (
        {"own_positions": (held(9.0, symbol="GBPUSD"),)},
        {"limits": {"max_symbol_volume": 0.4}},
        None,
    ),
    # 0.1 lots are 10,851.2 dollars: 1.08512 times the equity held in euros, and owed in dollars.
    ({}, {"limits": {"max_currency_exposure": 1.08512}}, None),
    ({}, {"limits": {"max_currency_exposure": 1.0851}}, "currency_exposure"),
    ({}, {"limits": {"max_currency_exposure": 1.08512}, "equity": 9_999.0}, "currency_exposure"),
    # Entries of the last 60 seconds.
    ({"recent_entries": 4}, {"limits": {"max_orders_per_minute": 5}}, None),
    ({"recent_entries": 5}, {"limits": {"max_orders_per_minute": 5}}, "orders_per_minute"),
    ({"recent_entries": 59}, {}, None),
    ({"recent_entries": 60}, {}, "orders_per_minute"),
    ({"recent_entries": 999}, {"limits": {"max_orders_per_minute": None}}, None),
    # Hours.
    (at("2017.03.15 08:00"), {"hours": {"windows": ("08:00-12:00",)}}, None),
    (at("2017.03.15 07:59:59"), {"hours": {"windows": ("08:00-12:00",)}}, "hours"),
    (at("2017.03.15 11:59:59"), {"hours": {"windows": ("08:00-12:00",)}}, None),
    (at("2017.03.15 12:00"), {"hours": {"windows": ("08:00-12:00",)}}, "hours"),
    (at("2017.03.15 12:00"), {"hours": {"windows": ("08:00-12:00", "12:00-13:00")}}, None),
    (at("2017.03.15 23:59:59"), {"hours": {"windows": ("20:00-24:00",)}}, None),
    (at("2017.03.16 00:00"), {"hours": {"windows": ("20:00-24:00",)}}, "hours"),
    (at("2017.03.15 22:00"), {"hours": {"windows": ("22:00-02:00",)}}, None),
    (at("2017.03.16 01:59:59"), {"hours": {"windows": ("22:00-02:00",)}}, None),
    (at("2017.03.16 02:00"), {"hours": {"windows": ("22:00-02:00",)}}, "hours"),
    (at("2017.03.15 12:00"), {"hours": {"weekdays": ("wed",)}}, None),
    (at("2017.03.16 00:00"), {"hours": {"weekdays": ("wed",)}}, "hours"),
    (at("2017.03.19 00:00"), {"hours": {"weekdays": ("sun",)}}, None),
    (
        at("2017.03.16 01:00"),
        {"hours": {"weekdays": ("wed",), "windows": ("22:00-02:00",)}},
        "hours",
    ),
    ({"server_time": math.nan}, {"hours": {"windows": ("08:00-12:00",)}}, "hours"),
    ({"server_time": math.nan}, {"hours": {"rollover": "23:55-00:15"}}, "rollover"),
    ({"server_time": math.nan}, {"hours": {"friday_until": "20:00"}}, "weekend"),
    (news("2017.03.15 20:00") | {"server_time": math.nan}, {}, "news"),
    # Rollover.
    (at("2017.03.15 23:54:59"), {"hours": {"rollover": "23:55-00:15"}}, None),
    (at("2017.03.15 23:55"), {"hours": {"rollover": "23:55-00:15"}}, "rollover"),
    (at("2017.03.16 00:00"), {"hours": {"rollover": "23:55-00:15"}}, "rollover"),
    (at("2017.03.16 00:14:59"), {"hours": {"rollover": "23:55-00:15"}}, "rollover"),
    (at("2017.03.16 00:15"), {"hours": {"rollover": "23:55-00:15"}}, None),
    # The weekend: Friday the 17th.
    (at("2017.03.17 19:59:59"), {"hours": {"friday_until": "20:00"}}, None),
    (at("2017.03.17 20:00"), {"hours": {"friday_until": "20:00"}}, "weekend"),
    (at("2017.03.18 23:59:59"), {"hours": {"friday_until": "20:00"}}, "weekend"),
    (at("2017.03.19 00:00"), {"hours": {"friday_until": "20:00"}}, None),
    (at("2017.03.16 21:00"), {"hours": {"friday_until": "20:00"}}, None),
    # News of one of the symbol's currencies, half an hour around it unless the file says otherwise.
    (news("2017.03.15 12:30"), {}, "news"),
    (news("2017.03.15 12:30:01"), {}, None),
    (news("2017.03.15 11:30:01"), {}, "news"),
    (news("2017.03.15 11:30"), {}, None),
    (news("2017.03.15 12:30", "EUR"), {}, "news"),
    (news("2017.03.15 12:00", "GBP"), {}, None),
    (news("2017.03.15 12:30"), {"limits": {"news_before_minutes": 29.9}}, None),
    (news("2017.03.15 11:30"), {"limits": {"news_after_minutes": 30.1}}, "news"),
    (news("2017.03.15 13:00", "USD", 60.0, 0.0), {}, "news"),
    (news("2017.03.15 13:00:01", "USD", 60.0, 0.0), {}, None),
    (news("2017.03.15 12:00", "USD", 0.0, 0.0), {}, None),
    (news("2017.03.15 20:00") | {"symbol": symbol_info(trade_tick_value=1.0)}, {}, "news"),
    # Losses.
    (known(week_equity=10_500.0), {"limits": {"weekly_loss_share": 0.05}}, None),
    (known(week_equity=12_500.0), {"limits": {"weekly_loss_share": 0.2}}, "weekly_loss"),
    (known(week_equity=12_500.0), {"risk": {"weekly_loss_share": 0.2}}, "weekly_loss"),
    (known(week_equity=12_500.0), {"risk": {"weekly_loss_share": 0.2001}}, None),
    (known(week_low=9_000.0), {"risk": {"weekly_loss_share": 0.1}}, "weekly_loss"),
    (known(day_low=9_700.0), {"limits": {"daily_loss_share": 0.03}}, "daily_loss"),
    (known(peak_equity=12_500.0), {"limits": {"max_drawdown_share": 0.2}}, "drawdown"),
    ({"losses": 1}, {"risk": {"max_losses_in_row": 2}}, None),
    ({"losses": 2}, {"risk": {"max_losses_in_row": 2}}, "losses_in_row"),
    ({"losses": 9}, {}, None),
    ({"account_losses": 2}, {"risk": {"max_losses_in_row": 2}}, None),
    ({"account_losses": 3}, {"limits": {"max_losses_in_row": 3}}, "account_losses_in_row"),
    ({"account_losses": 2}, {"limits": {"max_losses_in_row": 3}}, None),
    (known(day_low=9_600.0), {"limits": PROP}, "prop_daily_loss"),
    (known(day_low=9_600.01), {"limits": PROP}, None),
    (known(day_balance=10_400.0), {"limits": PROP}, "prop_daily_loss"),
    (
        known(day_equity=9_100.0, day_low=9_000.0),
        {"limits": {**PROP, "daily_loss_share": None}},
        "prop_total_loss",
    ),
    ({"account": account(11_000.0, margin_mode=HEDGING)}, {"limits": PROP}, "prop_profit_target"),
    ({"account": account(10_999.9, margin_mode=HEDGING)}, {"limits": PROP}, None),
]


@pytest.mark.parametrize(("facts", "settings", "rule"), ROWS)
def test_each_rule_stops_an_entry_where_it_says_and_no_exit(
    facts: dict[str, Any], settings: dict[str, Any], rule: str | None
) -> None:
    settings = dict(settings)
    if equity := settings.pop("equity", None):
        facts = facts | {"account": account(equity, margin_mode=HEDGING)}
    assert rule_of(asked(BUY, facts, **settings)) == rule
    assert asked(CLOSE, facts, **settings) is None
    assert asked(TIGHTEN, facts, **settings) is None


def test_a_denial_says_the_numbers() -> None:
    assert str(asked(BUY, at("2017.03.18 09:30"), hours={"windows": ("10:00-12:00",)})) == (
        "hours: sat 09:30:00, limit 10:00-12:00"
    )
    assert str(asked(BUY, news("2017.03.15 12:20"))) == (
        "news: USD Rate at 2017.03.15 12:20, limit 30 min before, 30 after"
    )
    assert str(asked(BUY, limits={"max_currency_exposure": 0.5})) == (
        "currency_exposure: 1.09 times in USD with this one, limit 0.5 times the equity"
    )
    assert str(asked(BUY, known(week_equity=12_500.0), risk={"weekly_loss_share": 0.1})) == (
        "weekly_loss: 20.00% lost this week, closed and floating, limit 10.00%"
    )


# 0.1 lots of EURUSD are worth 10,850 dollars at 1.08500; of USDJPY at 150, 10,000 dollars.
LONG_EURUSD = held(0.1)
YEN = held(0.1, symbol="USDJPY", price_current=150.0)
TERMS = {"EURUSD": FACTS.symbol, "USDJPY": USDJPY, "DE40": INDEX}


def test_currencies_are_netted_over_all_positions() -> None:
    assert net_exposure((LONG_EURUSD, YEN), TERMS) == pytest.approx(
        {"EUR": 10_850.0, "USD": -850.0, "JPY": -10_000.0}
    )
    # An index in euros holds no euros: what it is worth is in its volume.
    assert net_exposure((held(1.0, symbol="DE40", price_current=18_000.0),), TERMS) == {}
    assert net_exposure((), {}) == {}


@pytest.mark.parametrize(
    ("request_", "positions", "times", "rule"),
    [
        # Long EURUSD twice owes 21,701.2 dollars.
        (BUY, (LONG_EURUSD,), 2.171, None),
        (BUY, (LONG_EURUSD,), 2.169, "currency_exposure"),
        # Long USDJPY holds 10,000 dollars, so that little is owed; the euros count.
        (BUY, (YEN,), 1.086, None),
        (BUY, (YEN,), 1.084, "currency_exposure"),
        # Short EURUSD makes the exposure smaller: it passes under any limit.
        (SELL, (LONG_EURUSD,), 0.01, None),
        # Short more than is held is exposed the other way.
        (SELL, (held(0.02),), 0.5, "currency_exposure"),
    ],
)
def test_an_entry_counts_with_what_is_held(
    request_: Any, positions: Any, times: float, rule: str | None
) -> None:
    facts = {"own_positions": positions, "terms": TERMS}
    found = asked(request_, facts, limits={"max_currency_exposure": times})
    assert rule_of(found) == rule


@pytest.mark.parametrize(
    "facts",
    [
        {"own_positions": (LONG_EURUSD, YEN), "terms": {"EURUSD": FACTS.symbol}},
        {"symbol": symbol_info(**(EURUSD | {"trade_tick_value": 0.0}))},
        {"symbol": symbol_info(**(EURUSD | {"currency_base": ""}))},
        {"own_positions": (held(0.1, price_current=0.0),), "terms": TERMS},
        {"own_positions": (held(0.1, price_current=math.nan),), "terms": TERMS},
    ],
)
def test_an_exposure_that_cannot_be_computed_denies_the_entry_only(facts: dict[str, Any]) -> None:
    limits = {"max_currency_exposure": 100.0}
    denial = asked(BUY, facts, limits=limits)
    assert denial is not None
    assert denial.rule == "currency_exposure"
    assert denial.value.startswith("can't be computed")
    assert asked(CLOSE, facts, limits=limits) is None
    # Who sets no limit needs no numbers.
    assert asked(BUY, facts) is None


def test_an_account_without_equity_may_be_exposed_to_nothing() -> None:
    poor = {"account": account(0.0, margin_mode=HEDGING)}
    off = {"daily_loss_share": None, "max_drawdown_share": None}
    limits = {**off, "max_currency_exposure": 1e9}
    assert rule_of(asked(BUY, poor, risk=off, limits=limits)) == "currency_exposure"


@pytest.mark.parametrize("magic", [7, 8, 0])
def test_a17_on_a_netting_account_the_whole_position_counts(magic: int) -> None:
    """Held are 0.10 lots, another 0.20 are asked for; 0.25 are allowed. Whoever opened it."""
    facts = {
        "account": account(margin_mode=mt5.ACCOUNT_MARGIN_MODE_RETAIL_NETTING),
        "positions": (position(volume=0.10, magic=magic),),
    }
    order = BUY._replace(volume=0.2)
    adding = {"max_positions": 2}
    assert rule_of(asked(order, facts, risk={**adding, "max_volume": 0.25})) == "volume"
    assert asked(order, facts, risk={**adding, "max_volume": 0.30}) is None
    # Adding to a position at all has to be asked for.
    assert rule_of(asked(order, facts)) == "positions"
    limit = {"max_symbol_volume": 0.25}
    assert rule_of(asked(order, facts, risk=adding, limits=limit)) == "symbol_volume"


def test_on_a_hedging_account_others_positions_are_theirs() -> None:
    facts = {"positions": (position(volume=5.0, magic=8), position(volume=5.0, magic=0))}
    assert asked(BUY, facts) is None
