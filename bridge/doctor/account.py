"""Whose account it is, of which kind, and whether a program may trade on it."""

from collections.abc import Callable
from dataclasses import dataclass

from bridge.doctor.finding import Finding, fail, ok
from bridge.doctor.ground import Site
from bridge.errors import WrongAccount
from bridge.mt5 import constants as mt5
from bridge.mt5.records import AccountInfo, TerminalInfo
from bridge.settings import Mode

_SETTINGS, _TERMINAL = 2, 3
_KINDS = {
    mt5.ACCOUNT_TRADE_MODE_DEMO: "demo",
    mt5.ACCOUNT_TRADE_MODE_CONTEST: "contest",
    mt5.ACCOUNT_TRADE_MODE_REAL: "REAL",
}
_OTHER = (
    "log the terminal in to the account of the settings, or correct terminal.login and "
    "terminal.server"
)


def account(site: Site) -> Finding:
    """Say whose account it is, and whether it is the one of the settings."""
    if isinstance(site.link.fault, WrongAccount):
        return fail(_TERMINAL, site.link.fault.text, _OTHER)
    seen, wanted = site.terminal.account_info(), site.settings.terminal
    found = f"{seen.login} on {seen.server}, {seen.currency}, leverage 1:{seen.leverage}"
    fits = wanted.login in (None, seen.login) and wanted.server in (None, seen.server)
    if not fits and not site.is_paper:
        meant = f"{wanted.login} on {wanted.server or 'any server'}"
        return fail(_TERMINAL, f"the terminal shows {found}, the settings name {meant}", _OTHER)
    return ok(found)


def account_type(site: Site) -> Finding:
    """Say whether the money is real, and whether it may be traded."""
    mode = site.terminal.account_info().trade_mode
    found = f"{_KINDS.get(mode, f'unknown ({mode})')} account"
    is_safe = mode in (mt5.ACCOUNT_TRADE_MODE_DEMO, mt5.ACCOUNT_TRADE_MODE_CONTEST)
    if is_safe or site.settings.mode is not Mode.LIVE:
        return ok(found)
    if not site.settings.allow_real:
        todo = "log in to a demo account, or write allow_real = true once you mean it"
        return fail(_SETTINGS, f"{found}, and allow_real is false", todo)
    return ok(f"{found}, and allow_real is true")


def margin_mode(site: Site) -> Finding:
    """Say how positions live there; netting has one a symbol, so one strategy a symbol."""
    mode = site.terminal.account_info().margin_mode
    if mode == mt5.ACCOUNT_MARGIN_MODE_RETAIL_HEDGING:
        return ok("hedging: each entry is a position of its own")
    symbols = [each.symbol for each in site.settings.strategy]
    if twice := sorted({each for each in symbols if symbols.count(each) > 1}):
        return fail(
            _SETTINGS,
            f"netting has one position a symbol, and two strategies trade {', '.join(twice)}",
            "leave one of them out, or use a hedging account",
        )
    return ok("netting: one position a symbol")


@dataclass(frozen=True, slots=True)
class Switch:
    """Something that has to be on before the broker takes a program's order.

    Attributes:
        is_on: Reads it from terminal and account.
        off: What is so when it is off.
        todo: How a person switches it on.
    """

    is_on: Callable[[TerminalInfo, AccountInfo], bool]
    on: str
    off: str
    todo: str

    def __call__(self, site: Site) -> Finding:
        """Look at it."""
        if self.is_on(site.terminal.terminal_info(), site.terminal.account_info()):
            return ok(self.on)
        if site.settings.mode is Mode.DRY_RUN:
            return ok(f"{self.off}; a dry run sends nothing")
        return fail(_TERMINAL, self.off, self.todo)


autotrading = Switch(
    lambda terminal, account: terminal.trade_allowed,
    "the AutoTrading button is on",
    "the AutoTrading button of the terminal is off, so that each order is refused with 10027",
    "press AutoTrading (Algo Trading) in the terminal's toolbar",
)
python_api = Switch(
    lambda terminal, account: not terminal.tradeapi_disabled,
    "the terminal takes orders from Python",
    "the terminal refuses orders from Python (tradeapi_disabled)",
    "Tools, Options, Expert Advisors: take the tick from disabling trading through the Python API",
)
account_trading = Switch(
    lambda terminal, account: account.trade_allowed,
    "the account may trade",
    "the account may not trade (trade_allowed): it was opened with the investor's password, or "
    "the broker has closed it",
    "log in with the master password, or ask the broker",
)
expert_trading = Switch(
    lambda terminal, account: account.trade_expert,
    "the broker lets programs trade",
    "the broker lets no program trade on this account (trade_expert), each order is refused with "
    "10026",
    "ask the broker, or use another account",
)
