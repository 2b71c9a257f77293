"""A broker as data: the account's terms, what trading costs, and the symbols' specifications.

A profile is JSON. Specifications are fields of ``symbol_info``, so that a dump of a real
terminal's fits as it is; its prices are not used. What can't be left out is refused when absent;
the rest has the defaults of ``_NEUTRAL``, or zero and empty.
"""

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo
from bridge.mt5.servertime import server_clock
from bridge.settings import Frozen, NotNegative, Positive, first_fault


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
    commission: NotNegative = 0.0
    """Account currency a lot and side, on entry and on exit."""
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


class BrokerProfile(Frozen):
    """What the paper terminal needs to know of a broker."""

    name: str = Field(min_length=1)
    """Name of the profile."""
    server_clock: str = "eet-us"
    """The broker's clock rule: utc, eet-eu, eet-us or an offset such as utc+3."""
    account: AccountTerms
    """The account."""
    symbols: dict[str, dict[str, Any]] = Field(min_length=1)
    """Symbol -> fields of ``symbol_info``; ``spread`` is that of bars that have none, points."""
    maxbars: Annotated[int, Field(ge=2)] = 100_000
    """Longest history that a call may ask for, bars."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        server_clock(self.server_clock)
        for name, fields in self.symbols.items():
            complete(name, fields)
        return self

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the profile that ``path`` holds.

        Raises:
            ConfigError: The file can't be read, or a field that is wrong or absent.
        """
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise ConfigError(f"broker profile {path} can't be read: {error}") from error
        except ValidationError as error:
            raise ConfigError(f"broker profile {path}: {first_fault(error)}") from error

    def save(self, path: Path) -> None:
        """Write the profile as JSON."""
        path.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")

    @property
    def sha256(self) -> str:
        """Hash of all that the profile says."""
        known = self.model_dump(mode="json")
        # Terms that came later do not change the hash of profiles that leave them alone.
        for name in _LATER_TERMS:
            default = AccountTerms.model_fields[name].get_default(call_default_factory=True)
            if getattr(self.account, name) == default:
                del known["account"][name]
        text = json.dumps(known, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


_LATER_TERMS = {
    "limit_positions",
    "fifo_close",
    "hedge_prohibited",
    "pending_margin",
    "gap_levels",
    "retcode_texts",
}
_REQUIRED = (
    "digits",
    "trade_contract_size",
    "trade_tick_size",
    "volume_min",
    "volume_max",
    "volume_step",
    "currency_base",
    "currency_profit",
    "currency_margin",
)
_POSITIVE = ("point", "trade_contract_size", "trade_tick_size", "volume_min", "volume_step")
_NEUTRAL = {
    "select": True,
    "visible": True,
    "spread_float": True,
    "trade_mode": mt5.SYMBOL_TRADE_MODE_FULL,
    "trade_exemode": mt5.SYMBOL_TRADE_EXECUTION_MARKET,
    "filling_mode": 3,
    "order_mode": 127,
    "expiration_mode": 15,
    "swap_rollover3days": mt5.DAY_OF_WEEK_WEDNESDAY,
}
_CALC_MODES = (
    mt5.SYMBOL_CALC_MODE_FOREX,
    mt5.SYMBOL_CALC_MODE_FOREX_NO_LEVERAGE,
    mt5.SYMBOL_CALC_MODE_CFD,
    mt5.SYMBOL_CALC_MODE_CFDINDEX,
    mt5.SYMBOL_CALC_MODE_CFDLEVERAGE,
    mt5.SYMBOL_CALC_MODE_EXCH_STOCKS,
)
_LAST_SWAP_MODE = mt5.SYMBOL_SWAP_MODE_INTEREST_OPEN
_TYPES = SymbolInfo.__annotations__


def complete(name: str, fields: Mapping[str, Any]) -> SymbolInfo:
    """Return the specification of ``name`` with every field.

    Raises:
        ConfigError: A field is absent that nobody may invent, is unknown, has a wrong type or
            value, or names a way of calculating that the paper terminal does not have.
    """
    if missing := [field for field in _REQUIRED if field not in fields]:
        raise ConfigError(f"specification of {name} lacks {', '.join(missing)}: add them")
    known = {
        "point": 10.0 ** -int(fields["digits"]),
        "margin_hedged": fields["trade_contract_size"],
        **_NEUTRAL,
        **fields,
        "name": name,
    }
    if unknown := set(known) - set(_TYPES):
        raise ConfigError(f"specification of {name} has {sorted(unknown)}: no field of symbol_info")
    info = SymbolInfo(_typed(name, field, known) for field in _TYPES)
    _check_values(info)
    return info


def _typed(name: str, field: str, known: Mapping[str, Any]) -> Any:
    kind = _TYPES[field]
    value = known.get(field, kind())
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ConfigError(f"specification of {name}: {field} is {value!r}, not {kind.__name__}")
    return value


def _check_values(info: SymbolInfo) -> None:
    for field in _POSITIVE:
        if not 0 < getattr(info, field) < float("inf"):
            raise ConfigError(f"specification of {info.name}: {field} has to be above 0")
    if info.volume_max < info.volume_min:
        raise ConfigError(f"specification of {info.name}: volume_max is below volume_min")
    if info.trade_calc_mode not in _CALC_MODES:
        raise ConfigError(
            f"specification of {info.name}: trade_calc_mode {info.trade_calc_mode} is not played "
            f"by the paper terminal: use one of {', '.join(map(str, _CALC_MODES))}"
        )
    if info.swap_mode > _LAST_SWAP_MODE:
        raise ConfigError(
            f"specification of {info.name}: swap_mode {info.swap_mode} is not played by the "
            f"paper terminal: use 0 to {_LAST_SWAP_MODE}"
        )
    needs_tick_value = info.trade_calc_mode == mt5.SYMBOL_CALC_MODE_CFDINDEX
    if needs_tick_value and info.trade_tick_value <= 0:
        raise ConfigError(f"specification of {info.name}: an index needs trade_tick_value")
