"""Broker profiles: shipped ones with money worked out by hand, those of terminals, differences."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from terminal.host_desk import Bench, a_bench, findable
from terminal.paper_desk import MONDAY, Play, profile, spec
from terminal.paper_money import desk, one_bar, pair

from bridge.cli.main import run
from bridge.errors import ConfigError, NotConnected
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.servertime import server_clock
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.compare import compare, differences
from bridge.terminal.paper.dump import playable
from bridge.terminal.paper.profile import BrokerProfile, shipped

PROFILES = ("cents", "fx-raw-hedging", "metals-index-crypto", "stocks-netting-exchange")

# Bids of the first bar.
QUOTES = {
    "EURUSD": 1.1,
    "GBPUSD": 1.25,
    "AUDUSD": 0.65,
    "NZDUSD": 0.6,
    "USDCHF": 0.9,
    "USDCAD": 1.35,
    "USDJPY": 150.0,
    "EURGBP": 0.88,
    "EURJPY": 165.0,
    "GBPJPY": 187.5,
    "XAUUSD": 2_000.0,
    "XAGUSD": 25.0,
    "US500": 5_000.0,
    "DE40": 18_000.0,
    "BTCUSD": 60_000.0,
    "ETHUSD": 3_000.0,
    "AAPL": 200.0,
    "MSFT": 400.0,
    "KO": 60.0,
    "ESH7": 5_000.0,
    "GCJ7": 2_400.0,
}

# Side, lots, bid of the second bar; margin, profit, commission in and out.
BUY, SELL = 0, 1
TRADES: dict[str, dict[str, tuple[int, float, float, float, float, float, float]]] = {
    "fx-raw-hedging": {
        "EURUSD": (BUY, 1.0, 1.101, 220.0, 99.0, -3.5, -3.5),  # 200 EUR at 1.10001
        "GBPUSD": (BUY, 1.0, 1.251, 250.01, 97.0, -3.5, -3.5),
        "AUDUSD": (BUY, 1.0, 0.651, 130.0, 98.0, -3.5, -3.5),
        "NZDUSD": (BUY, 1.0, 0.601, 120.01, 96.0, -3.5, -3.5),
        "USDCHF": (BUY, 1.0, 0.901, 200.0, 107.66, -3.5, -3.5),  # 97 CHF at 0.901
        "USDCAD": (BUY, 1.0, 1.351, 200.0, 71.8, -3.5, -3.5),
        "USDJPY": (SELL, 0.3, 150.1, 60.0, -20.39, -1.05, -1.05),  # 3060 JPY at 150.102
        "EURGBP": (BUY, 1.0, 0.881, 220.0, 121.25, -3.5, -3.5),  # 97 GBP at 1.25
        "EURJPY": (BUY, 1.0, 165.1, 220.0, 64.0, -3.5, -3.5),  # 9600 JPY at 150.002
        "GBPJPY": (SELL, 1.0, 187.4, 250.0, 62.0, -3.5, -3.5),  # 9300 JPY at 150.000
    },
    "stocks-netting-exchange": {
        "AAPL": (BUY, 10.0, 201.0, 2_000.2, 9.8, -1.0, -1.0),  # the least commission
        "MSFT": (BUY, 100.0, 404.0, 40_002.0, 398.0, -8.0, -8.08),  # 0.02 %
        "KO": (SELL, 100.0, 59.5, 6_000.0, 48.0, -1.2, -1.19),
        "ESH7": (BUY, 1.0, 5_010.0, 21_800.0, 487.5, -2.25, -2.25),  # 39 ticks of 12.50
        "GCJ7": (SELL, 2.0, 2_390.0, 30_000.0, 1_980.0, -4.5, -4.5),  # 99 ticks of 20.00
    },
    "cents": {
        "EURUSDc": (BUY, 1.0, 1.101, 110.01, 90.0, 0.0, 0.0),  # 1 EUR at 1.1001, in cents
        "GBPUSDc": (SELL, 1.0, 1.249, 125.0, 86.0, 0.0, 0.0),
        "USDJPYc": (BUY, 1.0, 150.1, 100.0, 58.63, 0.0, 0.0),  # 88 JPY at 150.1
        "XAUUSDc": (BUY, 1.0, 2_001.0, 200.03, 75.0, 0.0, 0.0),  # 200.025
    },
    "metals-index-crypto": {
        "EURUSD": (BUY, 1.0, 1.101, 1_100.09, 91.0, 0.0, 0.0),
        "XAUUSD": (BUY, 0.1, 2_010.0, 200.02, 98.4, 0.0, 0.0),  # 10 ounces
        "XAGUSD": (SELL, 0.1, 25.1, 125.0, -61.0, 0.0, 0.0),  # 500 ounces
        "US500": (BUY, 2.0, 5_010.0, 100.01, 19.0, 0.0, 0.0),
        "DE40": (BUY, 1.0, 18_100.0, 198.03, 108.9, 0.0, 0.0),  # 180.01 EUR; 99 EUR at 1.1
        "BTCUSD": (BUY, 0.1, 61_000.0, 6_002.5, 97.5, -3.0, -3.05),  # 0.05 %
        "ETHUSD": (SELL, 1.0, 2_950.0, 3_000.0, 48.2, -1.5, -1.48),
    },
}


def flat(first: float, second: float) -> RatesArray:
    """Return two bars that stand still."""
    rows = [(MONDAY + 3_600 * n, p, p, p, p, 1, 0, 0) for n, p in enumerate((first, second))]
    return rates_of(rows)


@pytest.mark.parametrize(
    ("name", "symbol"), [(name, symbol) for name in TRADES for symbol in TRADES[name]]
)
def test_a_trade_of_each_symbol_of_each_shipped_profile(name: str, symbol: str) -> None:
    side, lots, after, margin, profit, paid_in, paid_out = TRADES[name][symbol]
    broker = BrokerProfile.load(name)
    first = {each: QUOTES[each.removesuffix("c")] for each in broker.symbols}
    series = {each: flat(bid, after if each == symbol else bid) for each, bid in first.items()}
    leading = next(iter(broker.symbols))
    start = server_clock(broker.server_clock).to_utc(MONDAY)
    play = Play(series.pop(leading), broker, more=series, start=start)
    opened = play.send(symbol=symbol, type=side, volume=lots, type_filling=1)
    assert opened.retcode == 10009
    assert play.terminal.account_info().margin == margin
    play.clock.wait_until(start + 3_600)
    (held,) = play.terminal.positions_get()
    closing = {"position": held.ticket, "volume": lots, "type_filling": 1}
    closed = play.send(symbol=symbol, type=1 - side, **closing)
    assert closed.retcode == 10009
    deals = play.terminal.history_deals_get(0, 2**31 - 1)[1:]
    assert [deal.commission for deal in deals] == [paid_in, paid_out]
    assert [deal.profit for deal in deals] == [0.0, profit]
    info = play.terminal.account_info()
    assert info.balance == round(broker.account.deposit + profit + paid_in + paid_out, 2)
    assert (info.margin, info.equity) == (0.0, info.balance)


def test_the_shipped_profiles_say_what_they_are_and_every_symbol_is_traded_above() -> None:
    assert tuple(shipped()) == PROFILES
    for name, path in shipped().items():
        broker = BrokerProfile.load(path)
        assert broker.name == name
        assert "Typical" in broker.note
        assert "no broker's numbers" in broker.note
        assert set(broker.symbols) == set(TRADES[name])


def test_crypto_currencies_pay_swap_every_day() -> None:
    broker = BrokerProfile.load("metals-index-crypto")
    assert broker.swap_days["BTCUSD"] == (1.0,) * 7
    assert broker.symbols["US500"]["swap_rollover3days"] == 5


def test_a_profile_is_loaded_by_name_or_by_path(tmp_path: Path) -> None:
    by_name = BrokerProfile.load("cents")
    assert BrokerProfile.load(shipped()["cents"]) == by_name
    # As a settings file's relative path becomes: the folder of the file before the name.
    assert BrokerProfile.load(tmp_path / "cents") == by_name
    (tmp_path / "cents").write_text(by_name.model_copy(update={"name": "mine"}).model_dump_json())
    assert BrokerProfile.load(tmp_path / "cents").name == "mine"
    with pytest.raises(ConfigError, match=r"can't be read.*name a file, or one of cents, fx-raw"):
        BrokerProfile.load("nobody")


def test_the_hash_of_a_profile_is_that_of_its_terms() -> None:
    plain = profile()
    for field, same in (("note", "elsewhere"), ("swap_days", {})):
        assert plain.model_copy(update={field: same}).sha256 == plain.sha256
    week = {"EURUSD": [1.0] * 7}
    other = BrokerProfile.model_validate({**plain.model_dump(), "swap_days": week})
    assert other.sha256 != plain.sha256
    assert profile(commission=[{"per_lot": 1.0}]).sha256 != profile(commission=1.0).sha256


# From terminals

PRIVATE = {"login": 87654321, "owner": "Ada Lovelace"}
MONEY = 43_210.98


def broker() -> BrokerProfile:
    """Return a broker of three symbols and an account with a name."""
    future = pair("USD", "USD", trade_calc_mode=33, margin_initial=500.0, trade_tick_value=12.5)
    symbols = {"EURUSD": spec(swap_mode=1, swap_long=-7.0), "GBPUSD": pair("GBP", "USD")}
    terms = {"leverage": 30, "margin_mode": "netting", "currency": "EUR", "deposit": MONEY}
    return profile({**symbols, "FUTURE": future}, **terms, **PRIVATE)


def terminal_of(made: BrokerProfile) -> ModuleTerminal:
    """Return a terminal of a broker with three quotes."""
    more = {"GBPUSD": one_bar(1.25), "FUTURE": one_bar(5_000.0)}
    return ModuleTerminal(Play(one_bar(1.25, 10), made, more=more).terminal)


def dumped(terminal: ModuleTerminal, **options: Any) -> BrokerProfile:
    return BrokerProfile.from_dump(
        terminal.account_info()._asdict(),
        [info._asdict() for info in terminal.symbols_get()],
        terminal.terminal_info()._asdict(),
        **options,
    )


def test_a_dump_is_the_broker_again_and_nothing_private() -> None:
    made = broker()
    again = dumped(terminal_of(made), server_clock="utc", deposit=500.0)
    text = again.model_dump_json()
    for secret in ("87654321", "Lovelace", str(MONEY)):
        assert secret not in text
    assert (again.name, again.server_clock) == ("Paper-Demo", "utc")
    assert (again.account.deposit, again.account.leverage) == (500.0, 30)
    assert again.account.margin_mode == made.account.margin_mode
    assert again.maxbars == made.maxbars
    # 12.50 USD, which the terminal shows in EUR.
    assert again.symbols["FUTURE"]["trade_tick_value"] == 12.5
    assert "bid" not in again.symbols["EURUSD"]
    assert compare(again, terminal_of(made)) == []


def test_a_tick_that_no_dump_converts_is_refused() -> None:
    terminal = terminal_of(broker())
    account, info = terminal.account_info()._asdict(), terminal.symbol_info("FUTURE")._asdict()
    with pytest.raises(ConfigError, match="FUTURE: trade_tick_value is in EUR, not in USD: dump"):
        BrokerProfile.from_dump(account, [info], {"maxbars": 5_000})
    usd = {**info, "currency_profit": "EUR"}
    seen = BrokerProfile.from_dump(account, [usd], {"maxbars": 5_000})
    assert seen.symbols["FUTURE"]["trade_tick_value"] == info["trade_tick_value"]


def test_a_tick_is_converted_back_by_the_quote_of_the_dump() -> None:
    future = pair("EUR", "EUR", trade_calc_mode=33, margin_initial=500.0, trade_tick_value=25.0)
    for currency, quotes in (
        ("USD", {"EURUSD": (1.25, 1_000)}),
        ("JPY", {"EURJPY": (160.0, 2_000)}),
        ("GBP", {"GBPEUR": (1.2, 2_000)}),
    ):
        symbols = {"FUTURE": future, **{name: pair(name[:3], name[3:]) for name in quotes}}
        more = {name: one_bar(*quote) for name, quote in quotes.items()}
        made = profile(symbols, currency=currency)
        terminal = ModuleTerminal(Play(one_bar(5_000.0), made, more=more).terminal)
        shown = terminal.symbol_info("FUTURE").trade_tick_value
        assert shown != 25.0
        assert dumped(terminal).symbols["FUTURE"]["trade_tick_value"] == 25.0


def test_what_can_not_be_played_is_told_apart() -> None:
    info = desk(EURUSD=(1.1, 1)).symbol_info("EURUSD")._asdict()
    option = {**info, "name": "OPTION", "trade_calc_mode": 35}
    fitting, refused = playable([info, option])
    assert [one["name"] for one in fitting] == ["EURUSD"]
    assert refused["OPTION"].startswith("specification of OPTION: trade_calc_mode 35 is not played")


def test_a_real_account_becomes_a_demo() -> None:
    terminal = terminal_of(broker())
    account = {**terminal.account_info()._asdict(), "trade_mode": 2}
    symbols = [terminal.symbol_info("EURUSD")._asdict()]
    assert BrokerProfile.from_dump(account, symbols, {"maxbars": 10}).account.trade_mode == 0


def test_recorded_dumps_make_profiles() -> None:
    """Three accounts and six symbols of real terminals."""
    import json

    folder = os.environ.get("BRIDGE_TEST_DATA")
    if not folder:
        pytest.skip("BRIDGE_TEST_DATA names no folder of real data")
    recorded = {
        name: json.loads((Path(folder) / "specs" / f"{name}_recorded.json").read_text("utf-8"))
        for name in ("account_info", "symbol_info", "terminal_info")
    }
    symbols, _ = playable(entry["symbol_info"] for entry in recorded["symbol_info"])
    made = 0
    for account in recorded["account_info"]:
        known = account["account_info"]
        for terminal in recorded["terminal_info"]:
            seen = BrokerProfile.from_dump(known, symbols, terminal["terminal_info"])
            text = seen.model_dump_json()
            assert str(known["login"]) not in text
            assert known["name"] not in text
            assert str(known["balance"]) not in text or known["balance"] == 10_000.0
            dumps = {info["name"]: info for info in symbols}  # EURJPY twice, the later one counts
            assert differences(seen, known, dumps) == []
            made += 1
    assert (made, len(symbols)) == (6, 6)


# Differences


def test_differences_name_the_field_and_both_values() -> None:
    made = broker()
    changed = made.model_dump()
    changed["symbols"]["EURUSD"] |= {"swap_long": -8.1, "volume_min": 0.1, "spread": 99}
    changed["symbols"]["SILVER"] = spec()
    changed["account"] |= {"leverage": 500, "margin_mode": "hedging", "owner": "B", "server": "C"}
    found = compare(BrokerProfile.model_validate(changed), terminal_of(made))
    assert [str(one) for one in found] == [
        "account: leverage is 30, the profile says 500",
        "account: margin_mode is netting, the profile says hedging",
        "EURUSD: volume_min is 0.01, the profile says 0.1",
        "EURUSD: swap_long is -7.0, the profile says -8.1",
        "SILVER is not known to the terminal",
    ]


def test_the_noise_of_doubles_is_no_difference() -> None:
    made = profile()
    play = Play(one_bar(1.1), made)
    info = play.terminal.symbol_info("EURUSD")._asdict()
    account = play.terminal.account_info()._asdict()
    noisy = {**info, "trade_tick_size": 1.0000000000000001e-05, "volume_step": 0.010000000000000002}
    assert differences(made, account, {"EURUSD": noisy}) == []
    assert differences(made, account, {"EURUSD": {**info, "volume_step": 0.0100001}}) != []


def test_a_terminal_that_is_away_is_no_difference() -> None:
    made = profile()
    play = Play(one_bar(1.1), made)
    play.terminal.shutdown()
    with pytest.raises(NotConnected):
        compare(made, ModuleTerminal(play.terminal))


# The command


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with a_bench(tmp_path, monkeypatch) as made:
        yield made


def test_compare_over_a_host_terminal(bench: Bench) -> None:
    expected = profile(login=77, server="Paper-Demo", deposit=1.0)
    assert compare(expected, bench.paper()) == []
    (found,) = compare(profile(leverage=200), bench.paper())
    assert (found.where, found.field, found.terminal) == ("account", "leverage", 100)


PACKAGE = f"""
import sys
from terminal.paper_desk import H1, MONDAY, bars, profile
from bridge.clock import ManualClock
from bridge.terminal.paper.terminal import PaperTerminal

broker = profile(login={PRIVATE["login"]}, owner="{PRIVATE["owner"]}", deposit={MONEY})
series = {{"EURUSD": (H1, bars("110000 110010 109990 110000"))}}
sys.modules[__name__] = PaperTerminal(broker, series, ManualClock(MONDAY), None)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let children find a package that is a paper terminal of somebody's account."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "MetaTrader5.py").write_text(PACKAGE, encoding="utf-8")
    findable(monkeypatch)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ["PYTHONPATH"]]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


SETTINGS = """
mode = "live"
server_clock = "utc+3"

[terminal]
python = ['{python}']
login = 87654321
server = "Paper-Demo"

[[strategy]]
name = "x"
model = "x.onnx"
symbol = "EURUSD"
timeframe = "H1"
magic = 1
"""


def test_save_writes_the_broker_and_nothing_private(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = package / "mine.json"
    assert run(["profile", "save", str(file)]) == 0
    assert f"wrote {file}: Paper-Demo, 1 symbol; add its commission" in capsys.readouterr().out
    text = file.read_text(encoding="utf-8")
    for secret in (str(PRIVATE["login"]), "Lovelace", str(MONEY), "equity", "margin_free"):
        assert secret not in text
    saved = BrokerProfile.load(file)
    assert (saved.account.login, saved.server_clock) == (1, "eet-us")
    assert saved.symbols["EURUSD"]["trade_contract_size"] == 100_000.0
    assert run(["profile", "save", str(file)]) == 2
    assert "is there already: name another file" in capsys.readouterr().err


def test_save_takes_terminal_and_clock_of_a_settings_file(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = package / "bridge.toml"
    config.write_text(SETTINGS.format(python=sys.executable), encoding="utf-8")
    assert run(["profile", "save", "a.json", "-c", str(config)]) == 0
    assert BrokerProfile.load(package / "a.json").server_clock == "utc+3"
    arguments = ["-c", str(config), "--server-clock", "eet-eu"]
    assert run(["profile", "save", "b.json", *arguments]) == 0
    assert BrokerProfile.load(package / "b.json").server_clock == "eet-eu"
    assert run(["profile", "save", "c.json", *arguments, "--path", "terminal64.exe"]) == 2
    assert run(["profile", "save", "d.json", *arguments, "--symbols", "XAU*"]) == 2
    assert 'no symbol of the 0 that match "XAU*" can be played' in capsys.readouterr().err
    assert not (package / "c.json").exists()


def test_list_and_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profile", "list"]) == 0
    listed = capsys.readouterr().out
    assert "cents  (USC, hedging): EURUSDc" in listed
    assert len(listed.splitlines()) == len(PROFILES)
    assert run(["profile", "show", "cents"]) == 0
    assert BrokerProfile.model_validate_json(capsys.readouterr().out).name == "cents"
    assert run(["profile", "show", "nobody"]) == 2
