"""Mode live, first: the terminal is there, and it is the account that is meant."""

from collections.abc import Iterator
from pathlib import Path

from bridge.cli.log import Watcher
from bridge.clock import Clock
from bridge.errors import ConfigError, NotConnected, TerminalError, WrongAccount
from bridge.mt5.constants import (
    ACCOUNT_TRADE_MODE_CONTEST,
    ACCOUNT_TRADE_MODE_DEMO,
    ACCOUNT_TRADE_MODE_REAL,
    RES_E_AUTH_FAILED,
)
from bridge.mt5.records import AccountInfo
from bridge.settings import BridgeSettings, TerminalSettings
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
            terminal.connect()
        except NotConnected as error:
            left = until - clock.now()
            if left <= 0:
                raise NotConnected(
                    error.call,
                    error.code,
                    f"{error.text}; given up after {patience:g} s. See that MetaTrader 5 runs for "
                    "this user, shows no dialog, and is logged in; then mt5-onnx doctor",
                ) from error
            watcher.note(f"waiting for the terminal, {left:.0f} s more: {error}")
            clock.wait_until(clock.now() + min(pause, left))
            pause = min(2 * pause, 5.0)
        except WrongAccount:
            raise
        except TerminalError as error:
            if error.code != RES_E_AUTH_FAILED:
                raise
            # Final: brokers lock accounts that are tried again and again.
            who = f"{terminal_settings.login} at {terminal_settings.server}"
            raise TerminalError(
                error.call,
                error.code,
                f"{error.text}: the broker refuses {who}; check login, server and MT5_PASSWORD",
            ) from error
        else:
            return


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
    """Name what no other program may have: the state folder, and each strategy's place."""
    yield f"with the state folder {Path(settings.state).resolve()}"
    for each in settings.strategy:
        yield f"magic {each.magic} on {each.symbol} of {account.login} at {account.server}"
