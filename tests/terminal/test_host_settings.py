"""From the settings file to the host terminal: account, interpreter, limits."""

import pytest
from pydantic import SecretStr

from bridge.errors import ConfigError
from bridge.settings import TerminalSettings
from bridge.terminal.host.limits import VERBS, Limits
from bridge.terminal.host.settings import HostSettings

SECRET = SecretStr("pa55-of-mine")


def test_every_key_of_the_file_arrives() -> None:
    file = TerminalSettings(
        path="C:/mt5/terminal64.exe",
        login=77,
        server="Paper-Demo",
        timeout_seconds=20.0,
        may_switch_account=True,
        python=("wine", "python.exe"),
    ).with_password(SECRET)
    found = HostSettings.of(file)
    assert found.credentials() == {"login": 77, "server": "Paper-Demo", "password": "pa55-of-mine"}
    assert found.interpreter == ("wine", "python.exe")
    assert found.path == "C:/mt5/terminal64.exe"
    assert found.may_switch_account is True
    assert found.limits == Limits(connect=30.0, state=5.0, history=10.0, send=20.0)


def test_an_empty_table_takes_this_python_and_any_account() -> None:
    assert HostSettings.of(TerminalSettings()) == HostSettings()
    assert HostSettings().credentials() == {}


def test_a_password_without_a_login_is_refused_in_words() -> None:
    file = TerminalSettings().with_password(SECRET)
    with pytest.raises(ConfigError, match=r"terminal: login: .*set login \(MT5_LOGIN\)") as it:
        HostSettings.of(file)
    assert SECRET.get_secret_value() not in str(it.value)


@pytest.mark.parametrize("seconds", [1.0, 600.0])
def test_the_shortest_and_the_longest_wait_of_the_file_are_accepted(seconds: float) -> None:
    limits = HostSettings.of(TerminalSettings(timeout_seconds=seconds)).limits
    assert limits.connect == seconds + 10.0
    assert (
        max(limits.of(verb) for verb in set(VERBS) - {"initialize", "login", "shutdown"}) <= seconds
    )


def test_limits_by_verb() -> None:
    limits = Limits()
    verbs = ("initialize", "login", "order_send", "account_info", "copy_rates_from_pos")
    assert [limits.of(verb) for verb in verbs] == [70.0, 70.0, 30.0, 5.0, 10.0]
