"""What a broker's terminal says today against what a profile says."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bridge.errors import TerminalError
from bridge.mt5 import constants as mt5
from bridge.mt5.terminal import Terminal
from bridge.terminal.paper.dump import SPECIFICATION, TERMS, margin_mode
from bridge.terminal.paper.margin import IN_TICKS
from bridge.terminal.paper.specification import complete

if TYPE_CHECKING:
    from bridge.terminal.paper.profile import BrokerProfile

ACCOUNT = "account"
"""What :attr:`Difference.where` says of the account's terms."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that matters for money or orders and is not the same.

    Attributes:
        where: A symbol, or ``account``.
        field: Of ``symbol_info`` or ``account_info``; ``symbol`` when the terminal lacks it.
        profile: The profile's value.
        terminal: The terminal's; None without the symbol.
    """

    where: str
    field: str
    profile: Any
    terminal: Any

    def __str__(self) -> str:
        """Return the difference in words."""
        if self.terminal is None:
            return f"{self.where} is not known to the terminal"
        return f"{self.where}: {self.field} is {self.terminal}, the profile says {self.profile}"


def compare(profile: "BrokerProfile", terminal: Terminal) -> list[Difference]:
    """Return where a terminal differs from a profile; nothing in the terminal is changed.

    Args:
        profile: What is expected.
        terminal: Asked for the account, and for each symbol of the profile.

    Raises:
        NotConnected: The terminal can't be asked.
    """
    account = terminal.account_info()._asdict()
    symbols = {name: _symbol(terminal, name) for name in profile.symbols}
    return differences(profile, account, symbols)


def differences(
    profile: "BrokerProfile",
    account: Mapping[str, Any],
    symbols: Mapping[str, Mapping[str, Any] | None],
) -> list[Difference]:
    """Return where dumps differ from a profile.

    Args:
        profile: What is expected.
        account: ``account_info()._asdict()``.
        symbols: ``symbol_info(...)._asdict()`` of each symbol of the profile; None where the
            terminal has none.
    """
    found = list(_of_the_account(profile, account))
    for name, fields in profile.symbols.items():
        seen = symbols[name]
        if seen is None:
            found.append(Difference(name, "symbol", name, None))
            continue
        expected = complete(name, fields)
        compared = list(SPECIFICATION)
        if expected.trade_calc_mode in IN_TICKS and expected.currency_profit == account["currency"]:
            compared.append("trade_tick_value")
        found += _unequal(name, compared, expected._asdict(), seen)
    return found


def _symbol(terminal: Terminal, name: str) -> Mapping[str, Any] | None:
    try:
        return terminal.symbol_info(name)._asdict()
    except TerminalError as error:
        if error.code != mt5.RES_E_NOT_FOUND:
            raise
        return None


def _of_the_account(profile: "BrokerProfile", account: Mapping[str, Any]) -> Iterator[Difference]:
    expected = {name: getattr(profile.account, name) for name in TERMS}
    expected["margin_mode"] = str(profile.account.margin_mode)
    seen = {**account, "margin_mode": margin_mode(account)}
    yield from _unequal(ACCOUNT, (*TERMS, "margin_mode"), expected, seen)


def _unequal(
    where: str, fields: Sequence[str], expected: Mapping[str, Any], seen: Mapping[str, Any]
) -> Iterator[Difference]:
    for field in fields:
        if field in seen and not _is_equal(expected[field], seen[field]):
            yield Difference(where, field, expected[field], seen[field])


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        # Prices and sizes come with the noise of doubles.
        return math.isclose(one, other, rel_tol=1e-9)
    return bool(one == other)
