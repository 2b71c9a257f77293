"""A symbol's specification: what has to be said, what may be left out, what can't be played."""

from collections.abc import Mapping
from typing import Any

from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo
from bridge.terminal.paper import swap
from bridge.terminal.paper.margin import CALC_MODES, IN_TICKS

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
    for field, played in (("trade_calc_mode", CALC_MODES), ("swap_mode", swap.MODES)):
        if (value := getattr(info, field)) not in played:
            raise ConfigError(
                f"specification of {info.name}: {field} {value} is not played by the paper "
                f"terminal: use one of {', '.join(map(str, sorted(played)))}"
            )
    if info.trade_calc_mode in IN_TICKS and info.trade_tick_value <= 0:
        raise ConfigError(
            f"specification of {info.name}: trade_calc_mode {info.trade_calc_mode} counts money in "
            "ticks: add trade_tick_value, what a tick of one lot is worth in currency_profit"
        )
