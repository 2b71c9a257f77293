"""The paper terminal that is compared with is the broker of the terminal that is asked."""

import json
from typing import Any

import pytest
from conformance.conformance_desk import SAMPLE, START, bars, broker, differing, paper

from bridge.clock import ManualClock
from bridge.conformance.compare import conform
from bridge.conformance.reference import reference_of
from bridge.errors import ConfigError
from bridge.mt5.timeframes import timeframe
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal


def crosses(currency: str) -> PaperTerminal:
    """Return a broker of EURGBP, with the pairs that change its money."""
    plain = json.loads((SAMPLE / "profile.json").read_text(encoding="utf-8"))
    plain["server_clock"] = "utc"
    plain["account"]["currency"] = currency
    [fields] = plain["symbols"].values()
    plain["symbols"] = {
        base + profit: {
            **fields,
            "currency_base": base,
            "currency_margin": base,
            "currency_profit": profit,
        }
        for base, profit in (("EUR", "GBP"), ("GBP", "USD"), ("EUR", "USD"), ("USD", "CHF"))
    }
    profile = BrokerProfile.model_validate(plain)
    series = {name: (timeframe("M1"), bars()) for name in plain["symbols"]}
    made = PaperTerminal(profile, series, ManualClock(START + 1.0), None)
    assert made.initialize()
    return made


@pytest.mark.parametrize(
    ("currency", "pairs"),
    [
        ("USD", {"EURGBP", "GBPUSD", "EURUSD"}),
        ("EUR", {"EURGBP"}),
        ("CHF", {"EURGBP", "GBPUSD", "EURUSD", "USDCHF"}),
    ],
)
def test_it_takes_the_pairs_that_the_money_needs(currency: str, pairs: set[str]) -> None:
    subject = crosses(currency)
    made, other = reference_of(subject, "EURGBP")
    assert {info.name for info in made.symbols_get()} == pairs
    assert other == ""
    made.close()
    outcomes = list(conform(subject, "EURGBP", ManualClock(0.0), may_trade=True))
    assert differing(outcomes) == []


def test_a_pair_that_money_needs_is_not_the_unselected_one() -> None:
    subject = crosses("USD")
    for name in ("GBPUSD", "USDCHF"):
        assert subject.symbol_select(name, False)
    made, other = reference_of(subject, "EURGBP")
    made.close()
    assert other == "USDCHF"
    outcomes = list(conform(subject, "EURGBP", ManualClock(0.0), may_trade=True))
    assert differing(outcomes) == []


def test_it_has_the_newest_bars_and_terms_and_nothing_of_the_account() -> None:
    account: dict[str, Any] = {"leverage": 30, "currency": "EUR", "deposit": 77_777.0}
    subject = paper(broker(account))
    made, other = reference_of(subject, "EURUSD")
    seen = made.account_info()
    assert (seen.leverage, seen.currency, seen.balance) == (30, "EUR", 10_000.0)
    assert seen.login != subject.account_info().login
    assert other == "GBPUSD"
    last = [one.copy_rates_from_pos("EURUSD", 1, 1, 100) for one in (made, subject)]
    assert (last[0] == last[1]).all()
    made.close()


def test_a_symbol_that_is_not_there_names_the_option() -> None:
    with pytest.raises(ConfigError, match="no symbol XYZ: name another with --symbol"):
        reference_of(paper(), "XYZ")
