"""A dry run's terminal: one paper terminal plays the real one, another keeps the account."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from terminal.paper_desk import MONDAY, Play, bars, profile, spec

from bridge.clock import ManualClock
from bridge.errors import ConfigError, NotConnected, TerminalError, WrongAccount
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import TICKS_DTYPE, RatesArray
from bridge.mt5.records import AccountInfo, SymbolInfo, TerminalInfo
from bridge.mt5.request import RequestDict
from bridge.mt5.servertime import DAY
from bridge.mt5.timeframes import timeframe
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.dryrun.broker import symbols_needed
from bridge.terminal.dryrun.terminal import DryTerminal, open_dry
from bridge.terminal.paper.prices import Prices
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.specification import complete

M1 = timeframe("M1")
EVER = (0, MONDAY + 400 * DAY)


class Seam(ModuleTerminal):
    """A terminal whose orders may not be touched; account and terminal say what a test wants."""

    def __init__(self, play: Play) -> None:
        super().__init__(play.terminal)
        self.account: dict[str, Any] = {}
        self.terminal: dict[str, Any] = {}

    def account_info(self) -> AccountInfo:
        return AccountInfo((super().account_info()._asdict() | self.account).values())

    def terminal_info(self) -> TerminalInfo:
        return TerminalInfo((super().terminal_info()._asdict() | self.terminal).values())

    def order_send(self, request: RequestDict) -> Any:
        raise AssertionError("an order for the real terminal")

    def order_check(self, request: RequestDict) -> Any:
        raise AssertionError("a question about an order for the real terminal")


def ticks(rows: Mapping[Any, int], spread: int = 8) -> RatesArray:
    """Return ticks of seconds after Monday -> bid in points."""
    made = np.zeros(len(rows), dtype=TICKS_DTYPE)
    for place, (second, bid) in enumerate(rows.items()):
        msc = round((MONDAY + second) * 1000)
        prices = (round(bid / 1e5, 5), round((bid + spread) / 1e5, 5))
        made[place] = (msc // 1000, *prices, 0.0, 0, msc, 134, 0.0)
    return made


def real(rows: Mapping[Any, int], broker: BrokerProfile | None = None, **more: Any) -> Play:
    """Return the real terminal, at the first tick."""
    start = MONDAY + next(iter(rows))
    return Play(ticks(rows), broker, prices=Prices.TICKS, frame=M1, start=start, **more)


def dry(play: Play, account: Path, seam: Seam | None = None, **options: Any) -> DryTerminal:
    return open_dry(
        seam or Seam(play),
        [play.symbol],
        clock=play.clock,
        server_clock="utc",
        account=account,
        **options,
    )


def request(side: int = 0, **fields: Any) -> RequestDict:
    usual = {"action": mt5.TRADE_ACTION_DEAL, "symbol": "EURUSD", "volume": 0.1, "type": side}
    return RequestDict(**{**usual, "deviation": 1_000, **fields})


def sent(terminal: Any, **fields: Any) -> Any:
    answer = terminal.order_send(request(**fields))
    assert answer is not None
    assert answer.retcode == mt5.TRADE_RETCODE_DONE, answer.comment
    return answer


def booked(deals: Any) -> list[tuple[Any, ...]]:
    return [
        (deal.time_msc, deal.type, deal.entry, deal.reason, deal.volume, deal.price, deal.profit)
        for deal in deals
        if deal.symbol
    ]


@pytest.mark.parametrize("seed", range(5))
def test_looked_at_with_each_tick_it_books_what_a_recording_books(
    seed: int, tmp_path: Path
) -> None:
    """Orders with stops, targets and triggers on a random walk: the same deals as on the ticks."""
    rng = np.random.default_rng(seed)
    walk = 110_000 + np.cumsum(rng.integers(-12, 13, size=400))
    rows = {0.25 + second * 1.5: int(bid) for second, bid in enumerate(walk)}
    ours, recorded = real(rows), real(rows)
    terminal = dry(ours, tmp_path / "dry.sqlite3")
    for place, second in enumerate(rows):
        for play in (ours, recorded):
            play.clock.wait_until(MONDAY + second)
        terminal.positions_get()
        if place % 25 == 0:
            tick = terminal.symbol_info_tick("EURUSD")
            side = int(rng.integers(0, 2))
            price, sign = (tick.bid, -1) if side else (tick.ask, 1)
            level = {"sl": round(price - sign * 2e-4, 5), "tp": round(price + sign * 3e-4, 5)}
            asked = request(side, price=price, **level)
            if place % 50 == 0:
                trigger = round(price + sign * 1e-4, 5)
                asked = request(4 + side, action=mt5.TRADE_ACTION_PENDING, price=trigger)
            assert terminal.order_send(asked) is not None
            recorded.terminal.order_send(dict(asked))
    deals = booked(terminal.history_deals_get(*EVER))
    assert deals == booked(recorded.terminal.history_deals_get(*EVER))
    reasons = {deal[3] for deal in deals}
    assert {mt5.DEAL_REASON_SL, mt5.DEAL_REASON_TP} <= reasons
    ours_now, theirs = terminal.account_info(), recorded.terminal.account_info()
    assert (ours_now.balance, ours_now.equity) == (theirs.balance, theirs.equity)
    assert booked(ours.terminal.history_deals_get(*EVER)) == []


def test_what_happens_between_two_looks_is_not_seen(tmp_path: Path) -> None:
    play = real({0: 110_000, 10: 109_900, 20: 110_000, 30: 109_940})
    terminal = dry(play, tmp_path / "dry.sqlite3")
    sent(terminal, sl=1.0995)
    play.clock.wait_until(MONDAY + 20)
    assert len(terminal.positions_get()) == 1
    play.clock.wait_until(MONDAY + 31)
    assert terminal.positions_get() == ()
    # Filled where the price is when it is seen, not at the level.
    (*_, stop) = booked(terminal.history_deals_get(*EVER))
    assert stop[:6] == ((MONDAY + 31) * 1000, 1, 1, mt5.DEAL_REASON_SL, 0.1, 1.0994)


def test_the_account_goes_on_and_pays_for_the_nights_that_it_was_away(tmp_path: Path) -> None:
    broker = profile({"EURUSD": spec(swap_mode=1, swap_long=-7.0)})
    rows = {0: 110_000, 2 * DAY + 60: 109_500}
    play = real(rows, broker)
    terminal = dry(play, tmp_path / "dry.sqlite3")
    sent(terminal, sl=1.09, magic=7)
    assert terminal.account_info().balance == 10_000.0
    terminal.close()
    play.clock.wait_until(MONDAY + 2 * DAY + 90)
    again = dry(play, tmp_path / "dry.sqlite3", deposit=77.0)  # it has begun already
    (held,) = again.positions_get("EURUSD")
    assert (held.magic, held.swap, held.price_current) == (7, -1.4, 1.095)
    assert again.account_info().balance == 10_000.0


def test_a_stop_that_was_passed_while_away_is_filled_at_the_first_price(tmp_path: Path) -> None:
    play = real({0: 110_000, 600: 109_500})
    terminal = dry(play, tmp_path / "dry.sqlite3")
    sent(terminal, sl=1.0995)
    terminal.close()
    play.clock.wait_until(MONDAY + 700)
    again = dry(play, tmp_path / "dry.sqlite3")
    assert again.positions_get() == ()
    (*_, stop) = booked(again.history_deals_get(*EVER))
    assert stop[3:6] == (mt5.DEAL_REASON_SL, 0.1, 1.095)


def test_reads_are_the_real_terminals_and_permission_is_not_needed(tmp_path: Path) -> None:
    play = real({0: 110_000, 60: 110_010, 120: 110_020})
    play.clock.wait_until(MONDAY + 125)
    seam = Seam(play)
    seam.terminal = {"trade_allowed": False, "tradeapi_disabled": True}
    seam.account = {"trade_expert": False, "trade_allowed": False, "trade_mode": 2}
    terminal = dry(play, tmp_path / "dry.sqlite3", seam)
    assert terminal.symbol_info("EURUSD") == seam.symbol_info("EURUSD")
    assert terminal.symbols_get() == seam.symbols_get()
    assert terminal.symbol_info_tick("EURUSD") == seam.symbol_info_tick("EURUSD")
    rates = terminal.copy_rates_from_pos("EURUSD", M1.value, 0, 3)
    assert rates.tolist() == seam.copy_rates_from_pos("EURUSD", M1.value, 0, 3).tolist()
    shown, account = terminal.terminal_info(), terminal.account_info()
    assert (shown.trade_allowed, shown.tradeapi_disabled, shown.connected) == (True, False, True)
    assert (account.trade_allowed, account.trade_expert) == (True, True)
    assert account.trade_mode == mt5.ACCOUNT_TRADE_MODE_DEMO
    assert terminal.order_check(request(price=1.1003)).retcode == 0
    assert terminal.order_calc_profit(0, "EURUSD", 1.0, 1.1, 1.101) == pytest.approx(100.0)
    assert terminal.order_calc_margin(0, "EURUSD", 1.0, 1.1) == pytest.approx(1_100.28)
    sent(terminal)
    assert terminal.orders_get() == ()
    assert len(terminal.history_orders_get(*EVER)) == 1


def test_without_the_brokers_connection_nothing_is_ordered_on_paper(tmp_path: Path) -> None:
    play = real({0: 110_000})
    seam = Seam(play)
    terminal = dry(play, tmp_path / "dry.sqlite3", seam)
    seam.terminal = {"connected": False}
    with pytest.raises(NotConnected, match="nothing was ordered on paper"):
        terminal.order_send(request())
    seam.terminal = {}
    assert terminal.positions_get() == ()


def test_prices_of_another_account_are_not_taken(tmp_path: Path) -> None:
    play = real({0: 110_000})
    seam = Seam(play)
    terminal = dry(play, tmp_path / "dry.sqlite3", seam)
    seam.account = {"login": 5}
    with pytest.raises(WrongAccount, match="shows account 5 at Paper-Demo, and the dry run began"):
        terminal.account_info()
    with pytest.raises(WrongAccount):
        terminal.order_send(request())
    seam.account = {}
    assert terminal.positions_get() == ()


def test_a_restarted_terminal_is_told_to_show_the_symbol_again(tmp_path: Path) -> None:
    play = real({0: 110_000})
    terminal = dry(play, tmp_path / "dry.sqlite3")
    assert play.terminal.symbol_select("EURUSD", False)
    assert terminal.positions_get() == ()
    assert play.terminal.symbol_info_tick("EURUSD") is not None


def test_an_hour_without_a_quote_closes_the_market(tmp_path: Path) -> None:
    play = real({0: 110_000})
    terminal = dry(play, tmp_path / "dry.sqlite3")
    play.clock.wait_until(MONDAY + 3_700)
    answer = terminal.order_send(request())
    assert answer is not None
    assert answer.retcode == mt5.TRADE_RETCODE_MARKET_CLOSED


def test_a_symbol_without_a_price_is_waited_for_and_then_told(tmp_path: Path) -> None:
    play = real({0: 110_000, 600: 110_000})
    play.clock = ManualClock(MONDAY - 60.0)
    empty = Play(ticks({0: 110_000}), prices=Prices.TICKS, frame=M1, start=MONDAY - 60.0)
    with pytest.raises(TerminalError, match="EURUSD has no price after 15 s"):
        dry(empty, tmp_path / "dry.sqlite3")
    # It comes within the wait.
    soon = Play(ticks({0: 110_000}), prices=Prices.TICKS, frame=M1, start=MONDAY - 5.0)
    assert dry(soon, tmp_path / "dry.sqlite3").positions_get() == ()


def test_the_money_is_the_real_accounts_or_what_is_named(tmp_path: Path) -> None:
    play = real({0: 110_000})
    seam = Seam(play)
    seam.account = {"balance": 1_234.5, "login": 99}
    account = dry(play, tmp_path / "one.sqlite3", seam).account_info()
    assert (account.balance, account.login, account.currency) == (1_234.5, 99, "USD")
    assert dry(play, tmp_path / "two.sqlite3", seam, deposit=5.0).account_info().balance == 5.0
    seam.account = {"balance": 0.0}
    with pytest.raises(ConfigError, match=r"has no money .* name an amount as paper\.deposit"):
        dry(play, tmp_path / "three.sqlite3", seam)


@pytest.mark.parametrize(
    ("account", "says"),
    [
        ({"server": "Other-Live"}, "belongs to server Paper-Demo, not to Other-Live"),
        ({"currency": "EUR"}, "belongs to currency USD, not to EUR"),
        ({"margin_mode": 0}, "belongs to margin_mode hedging, not to netting"),
    ],
)
def test_an_account_file_is_of_one_server_currency_and_margin_mode(
    account: dict[str, Any], says: str, tmp_path: Path
) -> None:
    play = real({0: 110_000})
    dry(play, tmp_path / "dry.sqlite3").close()
    seam = Seam(play)
    seam.account = {"leverage": 30, "balance": 5.0}
    dry(play, tmp_path / "dry.sqlite3", seam).close()  # these may change
    seam.account = account
    with pytest.raises(ConfigError, match=says):
        dry(play, tmp_path / "dry.sqlite3", seam)


def test_costs_of_another_currency_are_refused(tmp_path: Path) -> None:
    play = real({0: 110_000})
    costs = profile(currency="EUR", commission=3.5)
    with pytest.raises(ConfigError, match="counts in EUR, the account 1 at Paper-Demo in USD"):
        dry(play, tmp_path / "dry.sqlite3", costs=costs)
    terminal = dry(play, tmp_path / "dry.sqlite3", costs=profile(commission=3.5))
    sent(terminal)
    assert terminal.account_info().balance == 10_000.0 - 0.35


def test_sessions_come_from_the_profile_of_costs(tmp_path: Path) -> None:
    """Monday's hours begin at 00:05: before, the market is closed, whatever ticks come."""
    play = real({0: 110_000, 299: 110_000, 300: 110_000})
    hours = profile().model_copy(update={"sessions": {"EURUSD": {"mon": ("00:05-24:00",)}}})
    terminal = dry(play, tmp_path / "dry.sqlite3", costs=hours)
    play.clock.wait_until(MONDAY + 299)
    answer = terminal.order_send(request())
    assert answer is not None
    assert answer.retcode == mt5.TRADE_RETCODE_MARKET_CLOSED
    play.clock.wait_until(MONDAY + 300)
    sent(terminal)


def test_profits_are_converted_at_live_prices(tmp_path: Path) -> None:
    """EURGBP in a USD account: GBPUSD is followed, too, and selected where it was not."""
    broker = profile(
        {
            "EURGBP": spec(currency_base="EUR", currency_profit="GBP"),
            "GBPUSD": spec(currency_base="GBP", currency_margin="GBP"),
            "EURUSD": spec(),
        }
    )
    rows = {0: 85_000, 60: 85_100}
    others = {
        "GBPUSD": bars("125000 125000 125000 125000\n130000 130000 130000 130000", step=60),
        "EURUSD": bars("110000 110000 110000 110000", step=60),
    }
    play = real(rows, broker, more=others)
    play.terminal.symbol_select("GBPUSD", False)
    terminal = dry(play, tmp_path / "dry.sqlite3")
    sent(terminal, symbol="EURGBP", volume=1.0)
    play.clock.wait_until(MONDAY + 61)
    (held,) = terminal.positions_get()
    assert held.profit == pytest.approx(92 * 1.3, abs=0.01)


def info(name: str, base: str, profit: str, **more: Any) -> SymbolInfo:
    return complete(
        name, spec(currency_base=base, currency_profit=profit, currency_margin=base, **more)
    )


OFFERED = (
    info("EURUSD", "EUR", "USD"),
    info("EURUSD.x", "EUR", "USD", select=False),
    info("GBPUSD", "GBP", "USD", select=False, trade_mode=0),
    info("GBPUSD.x", "GBP", "USD", select=False),
    info("EURGBP", "EUR", "GBP", trade_calc_mode=2),
    info("USDJPY", "USD", "JPY"),
    info("EURJPY", "EUR", "JPY"),
    info("USDSGD", "USD", "SGD"),
    info("XAUUSD", "XAU", "USD", trade_calc_mode=2),
    info("NOKSEK", "NOK", "SEK"),
)


@pytest.mark.parametrize(
    ("traded", "currency", "needed"),
    [
        (["EURUSD"], "USD", {"EURUSD"}),
        (["EURUSD.x"], "USD", {"EURUSD.x"}),
        (["USDJPY"], "EUR", {"USDJPY", "EURJPY", "EURUSD"}),
        (["GBPUSD"], "EUR", {"GBPUSD", "EURUSD"}),
        (["EURJPY"], "SGD", {"EURJPY", "EURUSD", "USDSGD", "USDJPY"}),
        (["EURJPY"], "GBP", {"EURJPY", "EURUSD", "GBPUSD.x", "USDJPY"}),
        (["EURUSD"], "USC", {"EURUSD"}),
    ],
)
def test_the_pairs_that_convert_are_found(
    traded: list[str], currency: str, needed: set[str]
) -> None:
    found = symbols_needed(OFFERED, traded, currency)
    assert set(found) == needed
    assert found[0] == traded[0]


def test_a_currency_that_no_pair_converts_is_refused() -> None:
    with pytest.raises(ConfigError, match="NOKSEK has money in SEK, and no pair of the broker"):
        symbols_needed(OFFERED, ["NOKSEK"], "USD")
