"""The terminal's types before every program: the vocabulary as enums, structs from a file.

The properties of symbol, account, position, order and deal have the names of the package's fields;
which number stands for one is the host's own, and the same on both sides of a call.
"""

from pathlib import Path
from typing import Any

from bridge.mt5 import constants as mt5
from bridge.mt5 import records

_TYPES = Path(__file__).parents[1] / "shim" / "types.mqh"

# Enum -> prefix of its members in the package.
_ENUMS = {
    "ENUM_ORDER_TYPE_FILLING": "ORDER_FILLING_",
    "ENUM_ORDER_TYPE_TIME": "ORDER_TIME_",
    "ENUM_ORDER_TYPE": "ORDER_TYPE_",
    "ENUM_ORDER_STATE": "ORDER_STATE_",
    "ENUM_ORDER_REASON": "ORDER_REASON_",
    "ENUM_POSITION_TYPE": "POSITION_TYPE_",
    "ENUM_POSITION_REASON": "POSITION_REASON_",
    "ENUM_DEAL_TYPE": "DEAL_TYPE_",
    "ENUM_DEAL_ENTRY": "DEAL_ENTRY_",
    "ENUM_DEAL_REASON": "DEAL_REASON_",
    "ENUM_TRADE_REQUEST_ACTIONS": "TRADE_ACTION_",
    "ENUM_TRADE_RETURN_CODES": "TRADE_RETCODE_",
    "ENUM_SYMBOL_CALC_MODE": "SYMBOL_CALC_MODE_",
    "ENUM_SYMBOL_TRADE_MODE": "SYMBOL_TRADE_MODE_",
    "ENUM_SYMBOL_TRADE_EXECUTION": "SYMBOL_TRADE_EXECUTION_",
    "ENUM_SYMBOL_SWAP_MODE": "SYMBOL_SWAP_MODE_",
    "ENUM_ACCOUNT_TRADE_MODE": "ACCOUNT_TRADE_MODE_",
    "ENUM_ACCOUNT_STOPOUT_MODE": "ACCOUNT_STOPOUT_MODE_",
    "ENUM_ACCOUNT_MARGIN_MODE": "ACCOUNT_MARGIN_MODE_",
}

_KINDS = {int: "INTEGER", bool: "INTEGER", float: "DOUBLE", str: "STRING"}
# Prefix of the properties, pattern of the enums, record; fields that are no property.
_PROPERTIES: tuple[tuple[str, str, Any, tuple[str, ...]], ...] = (
    ("SYMBOL", "ENUM_SYMBOL_INFO_{}", records.SymbolInfo, ("name",)),
    ("ACCOUNT", "ENUM_ACCOUNT_INFO_{}", records.AccountInfo, ()),
    ("POSITION", "ENUM_POSITION_PROPERTY_{}", records.TradePosition, ()),
    ("ORDER", "ENUM_ORDER_PROPERTY_{}", records.TradeOrder, ()),
    ("DEAL", "ENUM_DEAL_PROPERTY_{}", records.TradeDeal, ()),
    ("TERMINAL", "ENUM_TERMINAL_INFO_{}", records.TerminalInfo, ("retransmission",)),
)


def properties() -> dict[str, list[str]]:
    """Return enum -> fields of the record in the order of its members."""
    found: dict[str, list[str]] = {}
    for _, pattern, record, left_out in _PROPERTIES:
        for name, of in record.__annotations__.items():
            if name not in left_out:
                found.setdefault(pattern.format(_KINDS[of]), []).append(name)
    return found


def _property_enums() -> list[str]:
    prefixes = {
        pattern.format(kind): prefix
        for prefix, pattern, _, _ in _PROPERTIES
        for kind in ("INTEGER", "DOUBLE", "STRING")
    }
    return [
        f"enum {enum} {{ {', '.join(f'{prefixes[enum]}_{name.upper()}' for name in names)} }};"
        for enum, names in properties().items()
    ]


def _plain_enums() -> list[str]:
    lines = []
    for enum, prefix in _ENUMS.items():
        members = [name for name in vars(mt5) if name.startswith(prefix)]
        lines.append(_enum(enum, {name: getattr(mt5, name) for name in members}))
    frames = {
        name.replace("TIMEFRAME_", "PERIOD_"): value
        for name, value in vars(mt5).items()
        if name.startswith("TIMEFRAME_")
    }
    return [*lines, _enum("ENUM_TIMEFRAMES", {"PERIOD_CURRENT": 0, **frames})]


def _enum(name: str, members: dict[str, int]) -> str:
    return f"enum {name} {{ {', '.join(f'{one}={value}' for one, value in members.items())} }};"


def text() -> str:
    """Return the MQL5 source that is read before every program."""
    return "\n".join([*_plain_enums(), *_property_enums(), _TYPES.read_text(encoding="ascii")])
