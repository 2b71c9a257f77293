"""Logging in, and refusing the wrong account."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bridge.errors import TerminalError, WrongAccount
from bridge.mt5.constants import RES_E_AUTH_FAILED
from bridge.mt5.records import AccountInfo
from bridge.terminal.host.limits import SPARE_S
from bridge.terminal.host.settings import HostSettings

Ask = Callable[..., Any]
"""``ask(verb, *args, **keywords)``: the package's answer; ``TerminalError`` instead of a null."""


@dataclass(frozen=True, slots=True)
class Identity:
    """An account: its number, and the server that the number belongs to; None fits all."""

    login: int | None
    server: str | None

    def fits(self, seen: "Identity") -> bool:
        """Return whether ``seen`` is the account meant."""
        return self.login in (None, seen.login) and self.server in (None, seen.server)

    def __str__(self) -> str:
        if self.login is None:
            return "any account"
        return f"{self.login} on {self.server}" if self.server else str(self.login)


def identity_of(account: AccountInfo) -> Identity:
    """Return whose account this is."""
    return Identity(account.login, account.server)


def require(wanted: Identity, seen: Identity) -> None:
    """Go on only with the account meant.

    Raises:
        WrongAccount: It is another one.
    """
    if not wanted.fits(seen):
        raise WrongAccount(
            "account_info",
            RES_E_AUTH_FAILED,
            f"the terminal is logged in to {seen} instead of {wanted}: log it in there, or set"
            " may_switch_account = true and start again",
        )


def enter(ask: Ask, settings: HostSettings, known: Identity | None) -> Identity:
    """Connect to the terminal and return the account, logged in if need be.

    A terminal without an account is logged in; one with another account only when the settings
    allow it, so the first ``initialize`` names no account.

    Args:
        ask: Verbs of the package.
        settings: Terminal and account.
        known: The account of earlier connections, which no later one may leave.

    Raises:
        NotConnected: There is no terminal, or it does not answer.
        WrongAccount: The terminal is logged in to another account.
        TerminalError: The broker refused the login.
    """
    wanted = known or Identity(settings.login, settings.server)
    seen = _opened(ask, settings)
    may_log_in = settings.login is not None and (settings.may_switch_account or not seen.login)
    if may_log_in and not wanted.fits(seen):
        rest = settings.credentials()
        ask("login", rest.pop("login"), **rest, timeout=_wait_ms(settings))
        seen = identity_of(ask("account_info"))
    require(wanted, seen)
    return seen


def _opened(ask: Ask, settings: HostSettings) -> Identity:
    where = () if settings.path is None else (settings.path,)
    options: dict[str, Any] = {"timeout": _wait_ms(settings)}
    if settings.portable:
        options["portable"] = True
    try:
        ask("initialize", *where, **options)
    except TerminalError as error:
        # A terminal that nobody is logged in to; any other failure could hide another account.
        if error.code != RES_E_AUTH_FAILED or settings.login is None:
            raise
        ask("initialize", *where, **options, **settings.credentials())
    return identity_of(ask("account_info"))


def _wait_ms(settings: HostSettings) -> int:
    return int(1_000 * max(1.0, settings.limits.connect - SPARE_S))
