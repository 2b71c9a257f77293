"""What the terminal answers once it is connected: life cycle, symbols, bars, ticks, histories."""

import datetime as dt
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from terminal.paper_desk import H1, MONDAY, Play, bars, profile, spec

from bridge.clock import ManualClock
from bridge.errors import ConfigError, NotConnected, TerminalError
from bridge.mt5.rates import RATES_DTYPE, TICKS_DTYPE
from bridge.mt5.servertime import server_clock
from bridge.mt5.terminal import Terminal
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

TEN = "\n".join(f"{110000 + n} {110010 + n} {109990 + n} {110001 + n} 5" for n in range(10))


def times(rates: Any) -> list[int]:
    return [(int(time) - MONDAY) // 3_600 for time in rates["time"]]


def test_before_initialize_and_after_shutdown_there_is_no_connection() -> None:
    module = PaperTerminal(profile(), {"EURUSD": (H1, bars(TEN))}, ManualClock(MONDAY), None)
    assert module.last_error() == (0, "")
    assert module.account_info() is None
    assert module.last_error() == (-10004, "No IPC connection")
    assert module.initialize() is True
    assert module.last_error() == (1, "Success")
    assert module.account_info().balance == 10_000.0
    assert module.shutdown() is True
    assert module.positions_get() is None
    assert module.version() == (0, 0, "")


def test_logging_in() -> None:
    module = Play(TEN, profile(login=77, server="Some-Demo")).terminal
    assert module.login(77, "any", "Some-Demo") is True
    assert module.login(78) is False
    assert module.last_error() == (-6, "Terminal: Authorization failed")
    assert module.account_info().login == 77
    assert module.initialize(login=78) is False
    assert module.account_info() is None
    assert module.initialize("anything.exe", login=77, timeout=10) is True
    assert module.initialize(server="Some-Demo") is False
    assert module.last_error() == (-2, "Terminal: Invalid params")


def test_a_terminal_that_is_closed_is_gone() -> None:
    module = Play(TEN).terminal
    module.close()
    assert module.initialize() is False
    assert module.last_error()[0] == -10003


def test_symbols() -> None:
    symbols = {"EURUSD": spec(), "USDCAD": spec(currency_base="USD", currency_profit="CAD")}
    symbols["USDCAD"]["currency_margin"] = "USD"
    module = Play(TEN, profile(symbols)).terminal
    assert module.symbols_total() == 2
    assert [one.name for one in module.symbols_get("*CAD")] == ["USDCAD"]
    assert module.symbols_get("") == module.symbols_get()
    assert module.symbols_get("*JPY") == ()
    assert module.symbol_info("EURUSD").select is True
    assert module.symbol_info("USDCAD").select is False
    assert module.symbol_info("XXX") is None
    assert module.last_error() == (-4, "Terminal: Not found")
    assert module.symbol_info_tick("USDCAD") is None
    assert module.symbol_select("USDCAD") is True
    assert module.symbol_info("USDCAD").visible is True
    assert module.symbol_select("EURUSD", False) is True
    assert module.symbol_info_tick("EURUSD") is None
    assert module.symbol_select("XXX") is False
    assert module.last_error() == (-1, "Terminal: Call failed")


def test_a_symbol_with_a_position_stays_selected() -> None:
    play = Play(TEN)
    play.buy()
    assert play.terminal.symbol_select("EURUSD", False) is False


def test_the_depth_of_market_is_empty() -> None:
    module = Play(TEN).terminal
    assert module.market_book_release("EURUSD") is False
    assert module.last_error() == (1, "Success")
    assert module.market_book_add("EURUSD") is True
    assert module.market_book_get("EURUSD") == ()
    assert module.market_book_release("EURUSD") is True
    assert module.market_book_add("XXX") is False
    assert module.last_error() == (1, "Success")


def test_bars_by_position() -> None:
    play = Play(TEN, profile().model_copy(update={"maxbars": 8}))
    play.bar(6)
    copy = play.terminal.copy_rates_from_pos
    assert times(copy("EURUSD", 16385, 0, 3)) == [4, 5, 6]
    assert times(copy("EURUSD", 16385, 1, 3)) == [3, 4, 5]
    assert times(copy("EURUSD", 16385, 5, 7)) == [0, 1]
    assert times(copy("EURUSD", np.int64(16385), 6, 7)) == [0]
    assert copy("EURUSD", 16385, 7, 1) is None
    assert play.terminal.last_error() == (-1, "Terminal: Call failed")
    for start, count in ((0, 8), (0, 0), (0, -1), (-1, 1)):
        assert copy("EURUSD", 16385, start, count) is None
        assert play.terminal.last_error() == (-2, "Terminal: Invalid params")
    assert copy("XXX", 16385, 0, 1) is None
    assert play.terminal.last_error() == (-1, "Terminal: Call failed")
    assert copy("EURUSD", 7, 0, 1) is None
    assert play.terminal.last_error() == (-2, "Terminal: Invalid params")


def test_bars_are_read_only_and_packed() -> None:
    rates = Play(TEN).terminal.copy_rates_from_pos("EURUSD", 16385, 0, 5)
    assert rates.dtype == RATES_DTYPE
    assert rates.flags.writeable is False
    assert rates.flags.owndata is True


def test_bars_by_date_count_backwards() -> None:
    play = Play(TEN)
    play.bar(8)
    copy = play.terminal.copy_rates_from
    assert times(copy("EURUSD", 16385, MONDAY + 4 * 3_600, 2)) == [3, 4]
    assert times(copy("EURUSD", 16385, MONDAY + 4 * 3_600 - 1, 2)) == [2, 3]
    at = dt.datetime.fromtimestamp(MONDAY + 5 * 3_600, dt.UTC)
    assert times(copy("EURUSD", 16385, at, 1)) == [5]
    assert times(copy("EURUSD", 16385, 2_000_000_000, 2)) == [7, 8]
    assert times(copy("EURUSD", 16385, MONDAY - 1, 2)) == []
    assert play.terminal.last_error() == (1, "Success")


def test_a_range_of_bars_holds_both_ends() -> None:
    play = Play(TEN)
    play.bar(8)
    copy = play.terminal.copy_rates_range
    assert times(copy("EURUSD", 16385, MONDAY + 3_600, MONDAY + 3 * 3_600)) == [1, 2, 3]
    assert times(copy("EURUSD", 16385, MONDAY + 3_601, MONDAY + 3 * 3_600 - 1)) == [2]
    assert times(copy("EURUSD", 16385, MONDAY + 3_601, MONDAY + 3_700)) == []
    assert play.terminal.last_error() == (1, "Success")
    assert copy("EURUSD", 16385, MONDAY, MONDAY - 1) is None
    assert copy("EURUSD", 16385, 1, 2) is None
    assert copy("EURUSD", 16385, 1, 2_000_000_000) is None
    assert play.terminal.last_error() == (-2, "Terminal: Invalid params")


def test_ticks_count_forwards_and_hold_both_ends() -> None:
    play = Play(TEN)
    play.bar(3)
    ticks = play.terminal.copy_ticks_from("EURUSD", MONDAY + 3_600, 3, -1)
    assert ticks.dtype == TICKS_DTYPE
    assert [int(time) - MONDAY for time in ticks["time"]] == [3_600, 4_800, 6_000]
    assert ticks["ask"][0] == round(ticks["bid"][0] + 5e-5, 5)
    everything = play.terminal.copy_ticks_range("EURUSD", MONDAY + 10**6, MONDAY, 1)
    assert len(everything) == 13
    assert len(play.terminal.copy_ticks_range("EURUSD", MONDAY, MONDAY + 10**6, 2)) == 0
    assert play.terminal.copy_ticks_from("XXX", 1, 1, -1) is None
    assert play.terminal.last_error() == (-4, "Terminal: Not found")


def test_histories_hold_both_ends_and_groups() -> None:
    play = Play(TEN)
    play.bar(2)
    ticket = play.buy().order
    play.bar(4)
    play.close(ticket)
    module, opened, closed = play.terminal, MONDAY + 2 * 3_600, MONDAY + 4 * 3_600
    assert module.history_deals_total(opened, closed) == 2
    assert module.history_orders_total(opened + 1, closed) == 1
    assert module.history_deals_total(opened, closed - 1) == 1
    assert len(module.history_deals_get(0, closed, group="*")) == 3
    assert len(module.history_deals_get(0, closed, group="*,!*USD*")) == 1
    assert len(module.history_orders_get(0, closed, group="*USD*")) == 2
    assert module.history_orders_get(ticket=1) == ()
    assert module.last_error() == (1, "Success")
    (first, *_) = module.history_deals_get(0, closed)
    assert (first.type, first.profit, first.symbol, first.position_id) == (2, 10_000.0, "", 0)
    assert (module.orders_total(), module.orders_get()) == (0, ())


def test_positions_by_filter() -> None:
    play = Play(TEN)
    ticket = play.buy().order
    module = play.terminal
    assert module.positions_total() == 1
    assert module.positions_get(ticket=ticket) == module.positions_get(symbol="EURUSD")
    assert module.positions_get(symbol="EURUSD") == module.positions_get(group="EUR*")
    assert module.positions_get(ticket=1) == module.positions_get(symbol="X") == ()


def test_the_account_adds_up() -> None:
    play = Play(TEN)
    play.buy()
    info = play.terminal.account_info()
    assert (info.profit, info.equity, info.margin) == (-0.5, 9_999.5, 110.01)
    assert info.margin_level == pytest.approx(9_999.5 / 110.01 * 100)
    checked = play.terminal.order_check({"action": 1, "symbol": "EURUSD", "volume": 0.1})
    assert (checked.retcode, checked.comment, checked.margin) == (0, "Done", 220.01)
    assert (checked.margin_free, checked.balance) == (9_779.49, 10_000.0)


def test_server_time_follows_the_brokers_rule() -> None:
    rule = server_clock("eet-us")
    summer = 1_720_000_000 // 3_600 * 3_600
    broker = profile().model_copy(update={"server_clock": "eet-us"})
    clock = ManualClock(rule.to_utc(summer))
    module = PaperTerminal(broker, {"EURUSD": (H1, bars(TEN, start=summer))}, clock, None)
    assert clock.now() == summer - 3 * 3_600
    assert module.server_time() == summer
    assert module.next_event_time() == summer + 3_600
    module.initialize()
    assert module.symbol_info_tick("EURUSD").time == summer


def test_time_goes_from_open_to_open_and_never_back() -> None:
    play = Play(TEN, start=MONDAY - 100)
    seen = []
    while (following := play.terminal.next_event_time()) is not None:
        play.clock.wait_until(following)
        seen.append(following)
        assert play.terminal.server_time() == following
    assert seen == [MONDAY + n * 3_600 for n in range(10)]


def test_two_symbols_are_walked_in_order_of_time() -> None:
    symbols = {"EURUSD": spec(), "GBPUSD": spec(currency_base="GBP", currency_margin="GBP")}
    falling = bars("110000 110010 109990 110000\n109000 109010 108990 109000")
    play = Play(falling, profile(symbols), more={"GBPUSD": falling})
    play.buy(sl=1.095)
    play.buy(symbol="GBPUSD", sl=1.095)
    play.buy(symbol="GBPUSD", sl=1.085)
    play.bar(1)
    assert play.deals()[-2:] == [
        "1.00 sell out 0.1 1.09 -100 sl",
        "1.00 sell out 0.1 1.09 -100 sl",
    ]
    (held,) = play.terminal.positions_get()
    assert (held.symbol, held.price_current) == ("GBPUSD", 1.09)


def test_a_cross_is_not_dealt_before_its_conversion_has_quotes() -> None:
    symbols = {
        "EURGBP": spec(currency_profit="GBP"),
        "EURUSD": spec(),
        "GBPUSD": spec(currency_base="GBP", currency_margin="GBP"),
    }
    late = bars("125000 125010 124990 125000", start=MONDAY + 3_600)
    flat = "85000 85010 84990 85000\n85000 85010 84990 85000"
    play = Play(flat, profile(symbols), more={"EURUSD": bars(TEN), "GBPUSD": late})
    assert play.buy().retcode == 10021
    assert play.terminal.order_calc_profit(0, "EURGBP", 1.0, 0.85, 0.86) is None
    play.bar(1)
    assert play.buy().retcode == 10009


def test_jumping_over_bars_ends_where_visiting_each_of_them_does() -> None:
    jumped, visited = Play(TEN), Play(TEN)
    for number in range(8):
        visited.bar(number)
        visited.terminal.symbol_info_tick("EURUSD")
    jumped.bar(7)
    for play in (jumped, visited):
        play.clock.wait_until(MONDAY + 7.5 * 3_600)
    rates = [one.terminal.copy_rates_from_pos("EURUSD", 16385, 0, 9) for one in (jumped, visited)]
    assert rates[0].tobytes() == rates[1].tobytes()
    assert jumped.terminal.symbol_info("EURUSD") == visited.terminal.symbol_info("EURUSD")


def test_threads_wait_for_one_another() -> None:
    play = Play(TEN)

    def trade() -> None:
        for _ in range(20):
            play.buy(volume=0.01)

    threads = [threading.Thread(target=trade) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tickets = [position.ticket for position in play.terminal.positions_get()]
    assert len(tickets) == len(set(tickets)) == 80


# The account's file and the profile


def test_an_account_of_another_profile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "account.sqlite"
    Play(TEN, account=path).terminal.close()
    with pytest.raises(ConfigError, match="belongs to currency USD, not to EUR"):
        Play(TEN, profile(currency="EUR"), account=path)
    with pytest.raises(ConfigError, match="belongs to profile_sha256"):
        Play(TEN, profile(leverage=30), account=path)


def test_an_account_is_open_in_one_place_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "account.sqlite"
    first = Play(TEN, account=path)
    first.buy()
    with pytest.raises(ConfigError, match="close the program that has it open"):
        Play(TEN, account=path)
    first.terminal.close()


def test_a_file_that_is_no_account_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "account.sqlite"
    path.write_text("hello, this is no database at all, and it is long enough to be read as one")
    with pytest.raises(ConfigError, match="can't be used"):
        Play(TEN, account=path)


def test_an_account_needs_bars_of_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "account.sqlite"
    broker = profile({"EURUSD": spec(), "GBPUSD": spec(currency_base="GBP")})
    first = Play(TEN, broker, more={"GBPUSD": bars(TEN)}, account=path)
    first.buy(symbol="GBPUSD")
    first.terminal.close()
    with pytest.raises(ConfigError, match="the account holds GBPUSD"):
        Play(TEN, broker, account=path)


def test_a_profile_is_saved_and_loaded_as_it_was(tmp_path: Path) -> None:
    broker = profile({"EURUSD": spec(swap_long=-7.3)}, margin_mode="netting", leverage=30)
    broker.save(tmp_path / "profile.json")
    loaded = BrokerProfile.load(tmp_path / "profile.json")
    assert loaded == broker
    assert loaded.sha256 == broker.sha256


def test_a_dump_of_a_terminal_is_a_specification() -> None:
    dump = Play(TEN).terminal.symbol_info("EURUSD")._asdict()
    assert Play(TEN, profile({"EURUSD": dump})).terminal.symbol_info("EURUSD")._asdict() == dump


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trade_contract_size": None}, "lacks trade_contract_size: add them"),
        ({"currency_base": None, "volume_step": None}, "lacks volume_step, currency_base"),
        ({"digits": None}, "lacks digits"),
        ({"bogus": 1}, "no field of symbol_info"),
        ({"volume_min": 0.0}, "volume_min has to be above 0"),
        ({"volume_max": 0.001}, "volume_max is below volume_min"),
        ({"filling_mode": 1.5}, "filling_mode is 1.5, not int"),
        ({"swap_mode": 10}, "swap_mode 10 is not played"),
        ({"trade_calc_mode": 3}, "counts money in ticks: add trade_tick_value"),
    ],
)
def test_a_specification_is_not_completed_by_guessing(changes: dict[str, Any], words: str) -> None:
    fields = {key: value for key, value in spec(**changes).items() if value is not None}
    with pytest.raises(ConfigError, match=words):
        profile({"EURUSD": fields})


def test_a_wrong_profile_names_the_field(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text('{"name": "x", "account": {"currency": "USD", "deposit": -1}, "symbols": {}}')
    with pytest.raises(ConfigError, match=r"profile\.json: account\.deposit = -1: "):
        BrokerProfile.load(path)
    with pytest.raises(ConfigError, match="can't be read"):
        BrokerProfile.load(tmp_path / "absent.json")


def test_bars_without_a_specification_are_refused() -> None:
    with pytest.raises(ConfigError, match="no specification of GBPUSD"):
        Play(TEN, more={"GBPUSD": bars(TEN)})


# The adapter


def test_the_adapter_is_a_terminal_and_raises_what_is_null() -> None:
    play = Play(TEN)
    play.bar(2)
    terminal: Terminal = ModuleTerminal(play.terminal)
    assert terminal.account_info().currency == "USD"
    assert terminal.terminal_info().connected is True
    assert times(terminal.copy_rates_from_pos("EURUSD", 16385, 1, 2)) == [0, 1]
    assert terminal.order_calc_margin(0, "EURUSD", 1.0, 1.1) == 1_100.07
    assert terminal.order_calc_profit(0, "EURUSD", 1.0, 1.1, 1.101) == 100.0
    request: dict[str, int | float | str] = {"action": 1, "symbol": "EURUSD", "volume": 0.1}
    assert terminal.order_check(request).retcode == 0
    result = terminal.order_send(request)
    assert result is not None
    assert [p.ticket for p in terminal.positions_get("EURUSD")] == [result.order]
    assert terminal.positions_get("GBPUSD") == ()
    assert terminal.orders_get() == ()
    assert len(terminal.history_deals_get(0, 2**31 - 1)) == 2
    assert len(terminal.history_orders_get(0, 2**31 - 1)) == 1
    assert terminal.symbol_info_tick("EURUSD").bid == 1.10002
    assert terminal.symbol_info("EURUSD").digits == 5
    terminal.symbol_select("EURUSD")
    assert terminal.order_send({"action": 1, "volume": 1}) is None
    with pytest.raises(TerminalError, match="symbol_info failed with -4: Terminal: Not found"):
        terminal.symbol_info("XXX")
    with pytest.raises(TerminalError, match="symbol_select failed with -1"):
        terminal.symbol_select("XXX")
    play.terminal.shutdown()
    with pytest.raises(NotConnected, match="positions_get failed with -10004"):
        terminal.positions_get()
    assert terminal.order_send(request) is None
