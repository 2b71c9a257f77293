"""What holds for any facts: an exit goes out, an entry needs every yes."""

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from risk.rule_facts import BUY, CLOSE, EURUSD, NOW, SELL, TIGHTEN
from tests_support import account, position, symbol_info, tick

from bridge.market.news import News
from bridge.mt5.request import Request
from bridge.risk.baselines import Baselines
from bridge.risk.guard import Bounds, Facts, TradingState, check
from bridge.risk.rules import ENTRY_RULES
from bridge.settings import HoursSettings, LimitSettings, PropFirmSettings, RiskSettings

ANY = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -1.0]) | st.floats(0.0, 20_000.0)
NUMBER = st.just(10_000.0) | ANY
COUNT = st.integers(0, 5)
PRICE = st.sampled_from([1.085, 1.08512, 1.0852]) | ANY
TICKETS = st.frozensets(st.sampled_from([0, 54, 55]), max_size=2)
# Thursday to Sunday, or no time at all.
TIME = st.integers(NOW, NOW + 4 * 86_400).map(float) | st.just(math.nan)
TIMES = st.sampled_from([NOW, NOW + 86_400, NOW + 2 * 86_400 + 30_000])


@st.composite
def positions(draw: st.DrawFn) -> tuple[Any, ...]:
    held = st.builds(
        position,
        magic=st.sampled_from([7, 8, 0]),
        volume=st.sampled_from([0.1, 0.5, math.nan]),
        type=st.sampled_from([0, 1]),
        symbol=st.sampled_from(["EURUSD", "GBPUSD"]),
        price_current=PRICE,
    )
    return tuple(draw(st.lists(held, max_size=2)))


SYMBOLS = st.builds(
    symbol_info,
    trade_tick_value=st.sampled_from([1.0, 0.0, math.nan]),
    trade_mode=st.sampled_from([4, 4, 4, 3, 1]),
    point=st.sampled_from([1e-5, 1e-5, 1e-5, 0.0]),
    currency_base=st.sampled_from(["EUR", ""]),
    currency_profit=st.just("USD"),
) | st.just(symbol_info(**EURUSD))
BASELINES = st.builds(
    Baselines,
    day=st.just(NOW // 86_400),
    day_equity=NUMBER,
    peak_equity=NUMBER,
    day_low=NUMBER | st.just(math.inf),
    day_balance=st.none() | NUMBER,
    week_equity=st.none() | NUMBER,
    week_low=NUMBER | st.just(math.inf),
)
FACTS = st.builds(
    Facts,
    account=st.builds(
        account, NUMBER, trade_allowed=st.booleans() | st.just(True), margin_mode=st.integers(0, 2)
    ),
    symbol=SYMBOLS,
    tick=st.just(tick()) | st.builds(tick, PRICE, PRICE),
    positions=positions(),
    baselines=BASELINES,
    state=st.just(TradingState.ACTIVE) | st.sampled_from(TradingState),
    unresolved=st.just(frozenset()) | TICKETS,
    alarms=st.just(frozenset()) | st.just(frozenset({"connection"})),
    own_positions=positions(),
    terms=st.just({}) | st.just({"EURUSD": symbol_info(**EURUSD), "GBPUSD": symbol_info(**EURUSD)}),
    server_time=TIME,
    recent_entries=COUNT,
    losses=COUNT,
    account_losses=COUNT,
    news=st.just(())
    | st.builds(News, TIMES, st.just("USD"), st.none(), st.none(), st.just("")).map(
        lambda news: (news,)
    ),
    quote_age=st.just(1.0) | NUMBER,
    bar_age=st.just(1.0) | NUMBER,
)
BOUNDS = st.builds(
    Bounds,
    st.builds(
        RiskSettings,
        max_positions=st.integers(1, 3),
        weekly_loss_share=st.none() | st.just(0.1),
        max_losses_in_row=st.none() | st.just(2),
    ),
    st.builds(
        LimitSettings,
        max_symbol_volume=st.none() | st.just(0.4),
        max_currency_exposure=st.none() | st.just(2.0),
        max_orders_per_minute=st.none() | st.just(3),
        max_losses_in_row=st.none() | st.just(3),
        prop_firm=st.none() | st.just(PropFirmSettings(start_balance=10_000.0)),
    ),
    st.builds(
        HoursSettings,
        windows=st.none() | st.just(("08:00-16:00", "22:00-02:00")),
        weekdays=st.none() | st.just(("wed", "thu", "fri")),
        rollover=st.none() | st.just("23:55-00:15"),
        friday_until=st.none() | st.just("20:00"),
    ),
)


def has_quote(facts: Facts) -> bool:
    bid, ask = facts.tick.bid, facts.tick.ask
    return math.isfinite(bid) and math.isfinite(ask) and 0.0 < bid <= ask


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([CLOSE, TIGHTEN]), FACTS, BOUNDS)
def test_an_exit_is_stopped_by_a_missing_quote_or_an_order_on_its_ticket_only(
    request: Request, facts: Facts, bounds: Bounds
) -> None:
    ruling = check(request, facts, bounds)
    is_free = has_quote(facts) and request.position not in facts.unresolved
    assert (ruling.denial is None) == is_free
    assert not ruling.halts


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([BUY, SELL]), FACTS, BOUNDS)
def test_an_entry_goes_out_when_every_rule_was_asked_and_said_yes(
    request: Request, facts: Facts, bounds: Bounds
) -> None:
    ruling = check(request, facts, bounds)
    assert len(ruling.verdicts) == len(ENTRY_RULES)
    assert (ruling.denial is None) == all(verdict.ok for verdict in ruling.verdicts)
    if ruling.denial is None:
        assert has_quote(facts)
        assert facts.state is TradingState.ACTIVE
        assert not facts.unresolved | facts.alarms
        assert facts.account.equity > 0.0


class Broken:
    """Facts of which every number raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_rules_that_raise_deny_an_entry_halt_and_pass_an_exit() -> None:
    broken: Any = Broken()
    bounds = Bounds(RiskSettings(), LimitSettings())
    entry, leaving = check(BUY, broken, bounds), check(CLOSE, broken, bounds)
    raised = [verdict for verdict in entry.verdicts if "raised RuntimeError" in verdict.value]
    # All but those that are off and look at nothing.
    assert len(raised) >= len(ENTRY_RULES) / 2
    assert not any(verdict.ok for verdict in raised)
    assert entry.halts
    assert leaving.denial is None
    assert leaving.halts
