"""Mode live, first: the terminal is there, and it is the account that is meant."""

from collections.abc import Iterator
from pathlib import Path

from bridge.cli.log import Watcher
from bridge.clock import Clock
from bridge.errors import ConfigError, NoPackage, NotConnected, TerminalError, WrongAccount
from bridge.mt5.constants import (
    ACCOUNT_TRADE_MODE_CONTEST,
    ACCOUNT_TRADE_MODE_DEMO,
    ACCOUNT_TRADE_MODE_REAL,
    RES_E_AUTH_FAILED,
)
from bridge.mt5.records import AccountInfo
from bridge.settings import BridgeSettings, Mode, TerminalSettings
from bridge.terminal.host.terminal import HostTerminal


def connect(
    terminal: HostTerminal, clock: Clock, terminal_settings: TerminalSettings, watcher: Watcher
) -> None:
    """Connect, trying again for the time of one call while the terminal is absent or busy.

    Raises:
        NotConnected: It stayed so.
        WrongAccount: The terminal is logged in to another account.
        TerminalError: The broker refuses the login; that is final.
    """
    patience, pause = terminal_settings.timeout_seconds, 0.5
    until = clock.now() + patience
    while True:
        try:
            return terminal.connect()
        except (NoPackage, WrongAccount):
            raise
        except NotConnected as error:
            left = until - clock.now()
            if left <= 0:
                raise _given_up(error, patience) from error
            watcher.note(f"waiting for the terminal, {left:.0f} s more: {error}")
            clock.wait_until(clock.now() + min(pause, left))
            pause = min(2 * pause, 5.0)
        except TerminalError as error:
            raise _refused(error, terminal_settings) from error


def _given_up(error: NotConnected, patience: float) -> NotConnected:
    text = (
        f"{error.text}; given up after {patience:g} s. See that MetaTrader 5 runs for this user, "
        "shows no dialog, and is logged in; then mt5-onnx doctor"
    )
    return NotConnected(error.call, error.code, text)


def _refused(error: TerminalError, settings: TerminalSettings) -> TerminalError:
    """Return an error that names the account; a refusal is final, brokers lock those who insist."""
    if error.code != RES_E_AUTH_FAILED:
        return error
    who = f"{settings.login} at {settings.server}"
    text = f"{error.text}: the broker refuses {who}; check login, server and MT5_PASSWORD"
    return TerminalError(error.call, error.code, text)


def check_real(account: AccountInfo, settings: BridgeSettings) -> None:
    """Refuse an account of type REAL unless the settings allow it.

    Raises:
        ConfigError: It is one.
    """
    if account.trade_mode == ACCOUNT_TRADE_MODE_REAL and not settings.allow_real:
        raise ConfigError(
            f"account {account.login} at {account.server} is REAL, and allow_real is false: use a "
            "demo account, or set allow_real = true once you mean it"
        )


_KINDS = {
    ACCOUNT_TRADE_MODE_DEMO: "DEMO",
    ACCOUNT_TRADE_MODE_CONTEST: "CONTEST",
    ACCOUNT_TRADE_MODE_REAL: "REAL",
}


def kind_of(account: AccountInfo) -> str:
    """Return DEMO, CONTEST or REAL."""
    return _KINDS.get(account.trade_mode, f"type {account.trade_mode}")


def tenure(account: AccountInfo, settings: BridgeSettings) -> Iterator[str]:
    """Name what no other program may have: the state folder, and each strategy's place.

    A dry run's place is on paper: the same strategy may trade the account at the same time.
    """
    yield f"with the state folder {Path(settings.state).resolve()}"
    paper = "" if settings.mode is Mode.LIVE else f" ({settings.mode})"
    for each in settings.strategy:
        yield f"magic {each.magic} on {each.symbol} of {account.login} at {account.server}{paper}"
