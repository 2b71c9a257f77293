"""The password: from the environment or a keyring, and in nothing that is written."""

import copy
import pickle
import traceback
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked
from pydantic import SecretStr, ValidationError

from bridge.errors import ConfigError
from bridge.settings import (
    BridgeSettings,
    Frozen,
    TerminalSettings,
    first_fault,
    load_settings,
    settings_schema,
    settings_sha256,
    system_keyring,
)

PASSWORD = "hunter2-correct-horse"  # noqa: S105  what no output may hold
GOOD = """
mode = "dry-run"
[terminal]
login = 123
server = "Broker-Demo"
[[strategy]]
model = 'a.onnx'
symbol = "EURUSD"
timeframe = "H1"
magic = 7
"""


def load(folder: Path, text: str = GOOD, **environ: str) -> BridgeSettings:
    path = folder / "bridge.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, {"MT5_PASSWORD": PASSWORD} | environ)


def test_the_password_is_at_hand_and_in_nothing_that_is_written(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert settings.terminal.password is not None
    assert settings.terminal.password.get_secret_value() == PASSWORD
    for each in (settings, settings.terminal):
        written = [
            repr(each),
            str(each),
            f"{each}",
            str(each.model_dump()),
            str(dict(each)),
            str(vars(each)),
            each.model_dump_json(round_trip=True),
            repr(pickle.dumps(each)),
            repr(each.__getstate__()),
            repr(copy.deepcopy(each)),
        ]
        assert [text for text in written if PASSWORD in text] == []
    assert PASSWORD not in str(settings_schema())
    assert "password" not in TerminalSettings.model_json_schema()["properties"]


def test_a_copy_keeps_the_password_and_a_pickle_has_lost_it(tmp_path: Path) -> None:
    settings = load(tmp_path)
    for same in (copy.copy(settings), copy.deepcopy(settings), settings.model_copy()):
        assert same.terminal.password == SecretStr(PASSWORD)
    thawed = pickle.loads(pickle.dumps(settings))  # noqa: S301  our own bytes
    assert thawed.terminal.password is None
    assert thawed.model_dump() == settings.model_dump()
    assert settings.terminal.password == SecretStr(PASSWORD)


def test_the_hash_sees_every_setting_and_no_secret(tmp_path: Path) -> None:
    settings = load(tmp_path)
    digest = settings_sha256(settings)
    assert len(digest) == 64
    assert settings_sha256(load(tmp_path, **{"MT5_PASSWORD": "another"})) == digest
    assert settings_sha256(load(tmp_path, GOOD.replace("magic = 7", "magic = 8"))) != digest
    assert settings_sha256(load(tmp_path, MT5_SERVER="Broker-Live")) != digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("login = 123", f'password = "{PASSWORD}"'),
        ("login = 123", f'MT5_PASSWORD = "{PASSWORD}"'),
        ("login = 123", f'Passwd = "{PASSWORD}"'),
        ("login = 123", f'secret = ["{PASSWORD}"]'),
        ("login = 123", f'[notify]\nbot_token = "{PASSWORD}"'),
        ("magic = 7", f'magic = 7\nrisk = {{ token = "{PASSWORD}" }}'),
        ("login = 123", f'login = 1\n[password]\nvalue = "{PASSWORD}"'),
        ("magic = 7", "magic = 7\n[secrets]"),
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(
    tmp_path: Path, old: str, new: str
) -> None:
    with pytest.raises(ConfigError, match=r"may not stand in the file: .*MT5_PASSWORD") as caught:
        load(tmp_path, GOOD.replace(old, new))
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("login = 123", "login = -1"),
        ("login = 123", "logn = 123"),
        ("magic = 7", ""),
        ("[terminal]", "[terminal"),
        ("login = 123", f'password = "{PASSWORD}'),
        ("login = 123", f'password = "C:\\{PASSWORD}"'),
        ('"dry-run"', '"paper"'),
        ('"EURUSD"', f'"EURUSD"\nmagik = {{ a = "{PASSWORD}" }}'),
    ],
)
def test_no_refusal_tells_the_password(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, GOOD.replace(old, new))
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


def test_a_login_that_is_the_password_by_mistake_is_not_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="MT5_LOGIN is no account number") as caught:
        load(tmp_path, MT5_LOGIN=PASSWORD)
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


def test_a_fault_shows_scalars_but_neither_tables_nor_secrets() -> None:
    def fault(values: object) -> str:
        with pytest.raises(ValidationError) as caught:
            TerminalSettings.model_validate(values)
        assert PASSWORD not in str(caught.value)
        return first_fault(caught.value)

    assert fault({"login": -1}) == "login = -1: has to be at least 1"
    assert fault({"login": [PASSWORD]}) == "login: has to be a whole number"
    assert fault({"password": PASSWORD}) == "password: Extra inputs are not permitted"
    assert fault({"pasword": PASSWORD}) == "pasword: Extra inputs are not permitted"
    assert fault([PASSWORD]) == "has to be a table"
    shown = fault({"login": "x" * 500})
    assert len(shown) < 200


def test_a_fault_of_a_secret_does_not_show_it() -> None:
    class Notify(Frozen):
        bot_token: int

    with pytest.raises(ValidationError) as caught:
        Notify.model_validate({"bot_token": PASSWORD})
    assert PASSWORD not in first_fault(caught.value)
    assert PASSWORD not in str(caught.value)


class Ring(KeyringBackend):
    """A real backend of the package, kept in memory."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.known: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.known.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.known[service, username] = password


class Locked(Ring):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("no")


@pytest.fixture
def ring() -> Iterator[Ring]:
    before, made = keyring.get_keyring(), Ring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def from_keyring(folder: Path, text: str = GOOD, **environ: str) -> str | None:
    path = folder / "bridge.toml"
    path.write_text(text, encoding="utf-8")
    found = load_settings(path, environ, system_keyring).terminal.password
    return None if found is None else found.get_secret_value()


def test_a_keyring_holds_the_password_where_the_environment_does_not(
    ring: Ring, tmp_path: Path
) -> None:
    assert from_keyring(tmp_path) is None
    keyring.set_password("mt5-onnx", "123@Broker-Demo", PASSWORD)
    assert from_keyring(tmp_path) == PASSWORD
    assert from_keyring(tmp_path, MT5_PASSWORD="other") == "other"  # noqa: S106  a test's
    # Of another account, and of a run that has no terminal, nothing is asked.
    assert from_keyring(tmp_path, MT5_LOGIN="124") is None
    assert from_keyring(tmp_path, GOOD.replace("123", "124")) is None


def test_a_locked_keyring_is_none(ring: Ring, tmp_path: Path) -> None:
    keyring.set_keyring(Locked())
    assert from_keyring(tmp_path) is None
