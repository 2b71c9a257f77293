"""The password crosses the pipe and shows up nowhere else."""

import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError
from terminal.host_desk import BUY, Bench, a_bench
from terminal.host_modules import LOGIN, SERVER

from bridge.errors import BridgeError, ConfigError, TerminalError
from bridge.settings import first_fault
from bridge.terminal.host.settings import HostSettings

SECRET = "pa55-of-mine"  # noqa: S105  none


@pytest.fixture(name="bench")
def _bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("MT5_PASSWORD", SECRET)
    with a_bench(tmp_path, monkeypatch) as bench:
        yield bench


def account(**fields: Any) -> dict[str, Any]:
    return {"login": LOGIN, "server": SERVER, "password": SECRET, **fields}


def test_settings_show_no_password() -> None:
    chosen = HostSettings(**account())
    shown = (repr(chosen), str(chosen), chosen.model_dump_json(), repr(chosen.model_dump()))
    assert not any(SECRET in text for text in shown)
    assert chosen.credentials() == account()
    assert HostSettings(password=SecretStr(SECRET), login=1).credentials()["password"] == SECRET


@pytest.mark.parametrize(
    "fields",
    [{"login": None}, {"login": -1}, {"login": "x"}, {"path": 5}, {"serverr": "x"}],
)
def test_a_fault_of_the_settings_shows_no_password(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as raised:
        HostSettings(**account(**fields))
    assert SECRET not in str(raised.value)
    assert SECRET not in repr(raised.value.errors())
    assert SECRET not in first_fault(raised.value)


def test_a_password_of_another_type_is_refused_unseen() -> None:
    with pytest.raises(ConfigError, match=r"password is of type int: give it as text") as raised:
        HostSettings(login=1, password=5551234)
    assert "5551234" not in str(raised.value) + repr(vars(raised.value))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs Linux's process list")
def test_the_process_list_shows_no_password(bench: Bench) -> None:
    bench.trouble("nobody")
    host = bench.troubled(**account())
    host.connect()
    folder = Path(f"/proc/{host.pid}")
    assert b"bridge.terminal.host.child" in (folder / "cmdline").read_bytes()
    for name in ("cmdline", "environ"):
        assert SECRET.encode() not in (folder / name).read_bytes()
    assert host.order_send(BUY) is not None
    assert SECRET not in repr(vars(host)) + repr(vars(host._link)) + repr(vars(host._link._peer))


@pytest.mark.parametrize("trouble", ["hang-login", "die-login", "die-after-login", "nothing"])
def test_no_error_of_a_login_shows_the_password(bench: Bench, trouble: str) -> None:
    bench.trouble("account", "78")
    bench.trouble(trouble)
    host = bench.troubled(connect=1.5, **account(may_switch_account=True))
    with pytest.raises(TerminalError) as raised:
        host.connect()
    assert SECRET not in written(raised.value)
    with pytest.raises(TerminalError) as raised:
        host.account_info()
    assert SECRET not in written(raised.value) + repr(host.last_error())
    assert bench.calls().count("login") == 1


def written(error: BridgeError) -> str:
    """Return all that a log with a traceback could show of ``error``, locals apart."""
    return "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
