"""What holds for all files: unknown keys are answered, and what is dumped is loaded again."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from bridge.errors import ConfigError
from bridge.settings import (
    BridgeSettings,
    DecisionSettings,
    HoursSettings,
    LimitSettings,
    RiskSettings,
    ScheduleSettings,
    TerminalSettings,
    load_settings,
    settings_sha256,
)
from bridge.settings.faults import is_secret
from bridge.settings.values import TIMEFRAMES

ABSOLUTE = str(Path(tempfile.gettempdir()).absolute())
KEYS = st.from_regex(r"[a-z_]{1,20}", fullmatch=True)
POSITIVE = st.floats(1e-6, 1e6)
SHARE = st.floats(1e-6, 1.0)
PRINTABLE = st.characters(exclude_categories=("C", "Z")) | st.just(" ")
TEXT = st.text(PRINTABLE, min_size=1, max_size=12).filter(lambda text: text != "off")
DAY_STARTS = st.sampled_from(["larger", "balance", "equity"])
MINUTES = st.times().map(lambda time: time.strftime("%H:%M"))
SPANS = st.lists(MINUTES, min_size=2, max_size=2, unique=True).map("-".join)
PATH = TEXT.map(lambda text: f"{ABSOLUTE}/{text}")


def table(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keys)


def off(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


TABLES = table(
    allow_real=st.booleans(),
    server_clock=st.sampled_from(["auto", "utc", "eet-us", "utc+3", "utc-05:30"]),
    terminal=table(
        path=off(TEXT),
        login=off(st.integers(1, 2**63 - 1)),
        server=off(TEXT),
        timeout_seconds=st.floats(1, 600),
        python=off(st.lists(TEXT, min_size=1, max_size=3)),
    ),
    limits=table(
        daily_loss_share=off(SHARE),
        min_margin_level=off(POSITIVE),
        max_positions=off(st.integers(1, 99)),
        flatten_on=st.lists(st.just("drawdown"), max_size=2),
        prop_firm=off(
            st.fixed_dictionaries({"start_balance": POSITIVE}, optional={"daily_from": DAY_STARTS})
        ),
    ),
    log=table(level=st.sampled_from(["debug", "info"]), json_lines=st.booleans()),
    schedule=table(
        heartbeat_seconds=off(st.integers(1, 86_400)),
        daily_summary_at=off(MINUTES),
    ),
)
STRATEGIES = st.lists(
    st.fixed_dictionaries(
        {
            "model": PATH,
            "symbol": TEXT,
            "timeframe": st.sampled_from(TIMEFRAMES),
            "magic": st.integers(1, 2**63 - 1),
        },
        optional={
            "alias": off(TEXT),
            "decision": table(
                stop_points=off(POSITIVE), sides=st.just("short"), reverse=st.booleans()
            ),
            "risk": table(max_spread_points=off(POSITIVE)) | st.just({"risk_share": 0.01}),
            "hours": table(
                windows=off(st.lists(SPANS, min_size=1, max_size=2)),
                rollover=off(SPANS),
                weekdays=off(st.just(["sun", "sat"])),
                friday_until=off(MINUTES),
            ),
            "execution": table(comment=TEXT),
        },
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda each: each["magic"],
)


def as_toml(value: Any) -> str:
    """Return a value as TOML on one line; None is written as "off"."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {as_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if value is None:
        return '"off"'
    return json.dumps(value, ensure_ascii=False)


def load(values: dict[str, Any]) -> BridgeSettings:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bridge.toml"
        lines = [f"{key} = {as_toml(value)}" for key, value in values.items()]
        path.write_text("\n".join(lines), encoding="utf-8")
        return load_settings(path, {})


@settings(max_examples=150, deadline=None)
@given(TABLES, STRATEGIES)
def test_settings_survive_being_dumped_and_loaded(
    tables: dict[str, Any], strategies: list[dict[str, Any]]
) -> None:
    first = load(tables | {"mode": "dry-run", "state": ABSOLUTE, "strategy": strategies})
    again = load(first.model_dump(mode="json"))
    assert again == first
    assert settings_sha256(again) == settings_sha256(first)


MODELS: dict[str, type[BaseModel]] = {
    "": BridgeSettings,
    "terminal": TerminalSettings,
    "limits": LimitSettings,
    "schedule": ScheduleSettings,
    "risk": RiskSettings,
    "hours": HoursSettings,
    "decision": DecisionSettings,
}


@settings(max_examples=150, deadline=None)
@given(KEYS, st.sampled_from(sorted(MODELS)))
def test_an_unknown_key_is_answered_with_a_known_one_or_all_of_them(key: str, where: str) -> None:
    assume(key not in MODELS[where].model_fields and not is_secret(key))
    strategy: dict[str, Any] = {"model": "a", "symbol": "b", "timeframe": "H1", "magic": 1}
    values: dict[str, Any] = {"mode": "dry-run", "strategy": [strategy]}
    home = strategy if where in ("risk", "hours", "decision") else values
    (home.setdefault(where, {}) if where else values)[key] = 1
    with pytest.raises(ConfigError) as caught:
        load(values)
    sentence = str(caught.value)
    assert f"has no key {key}: " in sentence
    assert any(words in sentence for words in ("did you mean", "use one of", "it belongs in"))
