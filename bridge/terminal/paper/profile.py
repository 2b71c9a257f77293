"""A broker as data: the account's terms, what trading costs, and the symbols' specifications.

A profile is JSON. Specifications are fields of ``symbol_info``, so that a dump of a real
terminal's fits as it is; its prices are not used. What can't be left out is refused when absent;
the rest has neutral defaults, see :mod:`specification`. In a profile ``trade_tick_value`` is of use
to modes that count money in ticks, and is in the profit currency.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.mt5.servertime import server_clock
from bridge.settings import Frozen, NotNegative, Positive, first_fault
from bridge.terminal.paper import dump
from bridge.terminal.paper.sessions import week_of
from bridge.terminal.paper.specification import complete


class MarginMode(StrEnum):
    """How positions live on the account."""

    NETTING = "netting"
    EXCHANGE = "exchange"
    HEDGING = "hedging"

    @property
    def code(self) -> int:
        """Value of ``account_info().margin_mode``."""
        return (MarginMode.NETTING, MarginMode.EXCHANGE, MarginMode.HEDGING).index(self)


class GapLevels(StrEnum):
    """What becomes of a pending order that a gap fills beyond its own stop or target."""

    KEEP = "keep"
    """It is filled and keeps them; what is passed closes the position at once."""
    DROP = "drop"
    """It is filled without the levels that are passed."""
    REJECT = "reject"
    """It is not filled, and ends as rejected."""


class Charged(StrEnum):
    """Which lots a commission is for."""

    ENTRY = "entry"
    EXIT = "exit"
    BOTH = "both"


class Commission(Frozen):
    """What dealing costs, at once; the amounts are added up."""

    symbols: str = Field(default="*", min_length=1)
    """Group mask of the symbols, as ``symbols_get`` takes it: "*USD*,!XAU*"."""
    on: Charged = Charged.BOTH
    """entry (a round turn's cost is booked when it begins), exit, or both."""
    per_lot: NotNegative = 0.0
    """Account currency for a lot."""
    percent: NotNegative = 0.0
    """Percent of the deal's value: lots * contract size * price."""
    minimum: NotNegative = 0.0
    """Account currency that a deal costs at least."""

    @model_validator(mode="after")
    def _costs(self) -> Self:
        if not (self.per_lot or self.percent or self.minimum):
            raise ValueError("a commission costs nothing: set per_lot, percent or minimum")
        return self


class AccountTerms(Frozen):
    """The account: who, in which currency, at what leverage."""

    login: Annotated[int, Field(ge=1, lt=2**63)] = 1
    """Account number."""
    owner: str = "Paper"
    """Name of the account's owner."""
    server: str = "Paper-Demo"
    """Trade server."""
    company: str = "Paper broker"
    """The broker."""
    currency: str = Field(min_length=1)
    """Currency of the account."""
    currency_digits: Annotated[int, Field(ge=0, le=8)] = 2
    """Decimals of money."""
    deposit: Positive
    """Money at the start, account currency."""
    leverage: Annotated[int, Field(ge=1)] = 100
    """Account leverage."""
    margin_mode: MarginMode = MarginMode.HEDGING
    """netting, exchange (netting too) or hedging."""
    margin_so_mode: Annotated[int, Field(ge=0, le=1)] = 0
    """0: the two levels are percent of equity to margin; 1: money of equity."""
    margin_so_call: NotNegative = 100.0
    """Margin call: a warning only."""
    margin_so_so: NotNegative = 50.0
    """Stop out: at or below it positions are closed."""
    commission: NotNegative | tuple[Commission, ...] = 0.0
    """Account currency a lot and side, on entry and on exit; or kinds of commission, of which all
    count whose mask has the symbol."""
    trade_mode: Annotated[int, Field(ge=0, le=1)] = mt5.ACCOUNT_TRADE_MODE_DEMO
    """0 demo, 1 contest; a paper account is never real."""
    trade_allowed: bool = True
    """Whether the account may trade; an investor's may not."""
    trade_expert: bool = True
    """Whether the broker allows robots."""
    limit_orders: Annotated[int, Field(ge=0)] = 200
    """How many pending orders are allowed; 0 is no limit."""
    limit_positions: Annotated[int, Field(ge=0)] = 0
    """How many positions are allowed; 0 is no limit."""
    fifo_close: bool = False
    """Whether the oldest position of a symbol has to be closed first."""
    hedge_prohibited: bool = False
    """Whether opposite positions of a symbol are refused; of use on hedging accounts only."""
    pending_margin: bool = False
    """Whether waiting orders hold margin."""
    gap_levels: GapLevels = GapLevels.KEEP
    """What becomes of a pending order that a gap fills beyond its own stop or target."""
    retcode_texts: dict[int, str] = Field(default_factory=dict)
    """Retcode -> text that this broker answers, where it is not the usual one."""

    @property
    def commissions(self) -> tuple[Commission, ...]:
        """The kinds of commission; a plain number is one of them."""
        if not isinstance(self.commission, float):
            return self.commission
        return _per_lot(self.commission)


@cache  # asked for at every deal
def _per_lot(money: float) -> tuple[Commission, ...]:
    return (Commission(per_lot=money),) if money else ()


Week = tuple[
    NotNegative, NotNegative, NotNegative, NotNegative, NotNegative, NotNegative, NotNegative
]
"""A number for each weekday, Sunday first."""


class BrokerProfile(Frozen):
    """What the paper terminal needs to know of a broker."""

    name: str = Field(min_length=1)
    """Name of the profile."""
    note: str = ""
    """Where its numbers come from; means nothing to the terminal."""
    server_clock: str = "eet-us"
    """The broker's clock rule: utc, eet-eu, eet-us or an offset such as utc+3."""
    account: AccountTerms
    """The account."""
    symbols: dict[str, dict[str, Any]] = Field(min_length=1)
    """Symbol -> fields of ``symbol_info``; ``spread`` is that of bars that have none, points."""
    swap_days: dict[str, Week] = Field(default_factory=dict)
    """Symbol -> days that each weekday's swap counts for, Sunday first, such as seven times 1 for a
    crypto currency; others count workdays once and ``swap_rollover3days`` three times."""
    sessions: dict[str, dict[str, tuple[str, ...]]] = Field(default_factory=dict)
    """Symbol -> day, ``sun`` to ``sat`` -> hours of dealing such as ``00:05-24:00``, server time; a
    symbol that is not named is dealt whenever it has bars."""
    maxbars: Annotated[int, Field(ge=2)] = 100_000
    """Longest history that a call may ask for, bars."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        server_clock(self.server_clock)
        for name, fields in self.symbols.items():
            complete(name, fields)
        for field, named in (("swap_days", self.swap_days), ("sessions", self.sessions)):
            if unknown := sorted(set(named) - set(self.symbols)):
                raise ConfigError(
                    f"{field} names {', '.join(unknown)}, which symbols does not have"
                )
        for name, days in self.sessions.items():
            week_of(name, days)
        return self

    @classmethod
    def from_dump(
        cls,
        account: Mapping[str, Any],
        symbols: Sequence[Mapping[str, Any]],
        terminal: Mapping[str, Any],
        *,
        name: str = "",
        server_clock: str = "eet-us",
        deposit: float = 10_000.0,
    ) -> Self:
        """Return the broker that a terminal shows, without login, name, balance or anything held.

        Args:
            account: ``account_info()._asdict()``.
            symbols: ``symbol_info(...)._asdict()`` of each symbol.
            terminal: ``terminal_info()._asdict()``.
            name: Of the profile; empty takes the server's.
            server_clock: The broker's clock rule, which no dump tells.
            deposit: Money of the paper account, account currency.

        Raises:
            ConfigError: A symbol that can't be played, see :func:`dump.playable`.
        """
        fields = {
            "name": name or account["server"],
            "note": _FROM_DUMP,
            "server_clock": server_clock,
            "account": dump.account_of(account, deposit=deposit),
            "symbols": dump.symbols_of(symbols, account["currency"]),
            "maxbars": terminal["maxbars"],
        }
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            raise ConfigError(f"the terminal's dump: {first_fault(error)}") from error

    @classmethod
    def load(cls, name: str | Path) -> Self:
        """Return the profile of a file, or a shipped one by its name.

        Args:
            name: A path; a last part that names no file but a shipped profile is that one.

        Raises:
            ConfigError: The file can't be read, or a field that is wrong or absent.
        """
        path = Path(name)
        if not path.exists():
            path = shipped().get(path.name, path)
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            known = ", ".join(shipped())
            raise ConfigError(
                f"broker profile {path} can't be read ({error}): name a file, or one of {known}"
            ) from error
        except ValidationError as error:
            raise ConfigError(f"broker profile {path}: {first_fault(error)}") from error

    def save(self, path: Path) -> None:
        """Write the profile as JSON."""
        path.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")

    @property
    def sha256(self) -> str:
        """Hash of all that the profile says."""
        known = self.model_dump(mode="json", exclude={"note"})
        # What came later does not change the hash of profiles that leave it alone.
        for name in _LATER:
            if not known[name]:
                del known[name]
        for name in _LATER_TERMS:
            default = AccountTerms.model_fields[name].get_default(call_default_factory=True)
            if getattr(self.account, name) == default:
                del known["account"][name]
        text = json.dumps(known, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


_FROM_DUMP = "Written from a terminal, which tells no commission, no sessions and no swap days."


def shipped() -> dict[str, Path]:
    """Return the files of the profiles that come with the package, by name."""
    folder = Path(__file__).parent / "profiles"
    return {path.stem: path for path in sorted(folder.glob("*.json"))}


_LATER = ("swap_days", "sessions")
_LATER_TERMS = {
    "limit_positions",
    "fifo_close",
    "hedge_prohibited",
    "pending_margin",
    "gap_levels",
    "retcode_texts",
}
