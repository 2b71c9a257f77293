"""The published schema, and the names that the ground floor holds once more."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import bridge.settings
from bridge.errors import ConfigError
from bridge.mt5.servertime import server_clock
from bridge.mt5.timeframes import BY_NAME
from bridge.settings import BridgeSettings, settings_schema
from bridge.settings.values import TIMEFRAMES

FILE = """
server_clock = "utc+3"
[terminal]
path = 'C:\\MetaTrader 5\\terminal64.exe'
login = 123
python = ["wine", "python.exe"]
[limits]
max_positions = 4
daily_loss_share = "off"
flatten_on = ["drawdown"]
prop_firm = { start_balance = 100_000, daily_from = "equity" }
[log]
level = "warning"
[paper]
profile = 'profile.json'
speed = "off"
[[paper.bars]]
symbol = "EURUSD"
timeframe = "M5"
path = 'bars.csv'
[[strategy]]
model = 'a.onnx'
symbol = "EURUSD"
timeframe = "H1"
magic = 7
decision = { sides = "long", stop_points = 100, max_bars = "off" }
risk = { risk_share = 0.01 }
hours = { weekdays = ["fri"], windows = ["22:00-02:00", "08:00-24:00"], friday_until = "off" }
"""


def validator() -> Any:
    schema = settings_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_published_schema_is_what_the_code_generates() -> None:
    published = Path(bridge.settings.__file__).with_name("bridge.schema.json")
    assert json.loads(published.read_text(encoding="utf-8")) == settings_schema()


def test_the_schema_accepts_a_file() -> None:
    validator().validate(tomllib.loads(FILE))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("magic = 7", "magik = 7"),
        ("magic = 7", "magic = 0"),
        ('"H1"', '"H7"'),
        ('"utc+3"', '"gmt"'),
        ("stop_points", "stop_pts"),
        ('"warning"', '"loud"'),
        ("speed", "sped"),
        ("login = 123", 'login = "123"'),
        ('["fri"]', '["friday"]'),
        ("08:00-24:00", "08:00-24:01"),
        ('["drawdown"]', '["positions"]'),
        ("100_000", "0"),
        ('"equity"', '"peak"'),
    ],
)
def test_the_schema_refuses_what_loading_refuses(old: str, new: str) -> None:
    assert FILE.count(old) == 1
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(tomllib.loads(FILE.replace(old, new)))


def test_every_key_of_the_schema_is_described() -> None:
    schema = settings_schema()
    for table in (schema, *schema["$defs"].values()):
        for key, about in table.get("properties", {}).items():
            assert about.get("description") or "$ref" in about, key


def test_the_timeframes_are_those_of_the_terminal() -> None:
    assert set(TIMEFRAMES) == set(BY_NAME)
    lengths = [BY_NAME[name].seconds for name in TIMEFRAMES]
    assert lengths == sorted(lengths)


def test_a_clock_that_settings_accept_is_one_that_the_terminal_has() -> None:
    hours = [f"utc{sign}{hour}" for sign in "+-" for hour in range(16)]
    names = ["auto", "utc", "eet-eu", "eet-us", "eet", "", "utc+", "utc+05:30", "utc-3:30"]
    names += ["utc+14:00", "utc+14:30", "utc+13:59", "utc+5:60", "utc+2\n", *hours]
    for name in names:
        try:
            known = bool(server_clock(name))
        except ConfigError:
            known = name == "auto"
        assert accepts(name) <= known, name
        assert accepts(name) or not known or name == "utc+5:60", name


def accepts(clock: str) -> bool:
    strategy = {"model": "a", "symbol": "b", "timeframe": "H1", "magic": 1}
    values = {"mode": "dry-run", "server_clock": clock, "strategy": [strategy]}
    try:
        BridgeSettings.model_validate(values)
    except ValueError:
        return False
    return True
