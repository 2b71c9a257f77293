"""A profile's fields, made of what a terminal says of its broker; nothing private is taken."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.terminal.paper.convert import FOREX
from bridge.terminal.paper.margin import IN_TICKS
from bridge.terminal.paper.specification import complete

TERMS: Sequence[str] = (
    "currency",
    "currency_digits",
    "leverage",
    "margin_so_mode",
    "margin_so_call",
    "margin_so_so",
    "limit_orders",
    "fifo_close",
)
"""Fields of ``account_info`` that a profile's account has under the same name."""
SPECIFICATION: Sequence[str] = (
    "digits",
    "point",
    "trade_calc_mode",
    "trade_mode",
    "trade_exemode",
    "trade_stops_level",
    "trade_freeze_level",
    "filling_mode",
    "order_mode",
    "expiration_mode",
    "order_gtc_mode",
    "trade_tick_size",
    "trade_contract_size",
    "volume_min",
    "volume_max",
    "volume_step",
    "volume_limit",
    "swap_mode",
    "swap_long",
    "swap_short",
    "swap_rollover3days",
    "margin_initial",
    "margin_maintenance",
    "margin_hedged",
    "margin_hedged_use_leg",
    "currency_base",
    "currency_profit",
    "currency_margin",
)
"""Fields of ``symbol_info`` that money and orders depend on."""
_DESCRIPTIVE = ("description", "path", "chart_mode", "spread", "spread_float", "ticks_bookdepth")
# What a symbol has in its life, not from moment to moment.
_KEPT = (*_DESCRIPTIVE, "start_time", "expiration_time", *SPECIFICATION)
_MARGIN_MODES = ("netting", "exchange", "hedging")
# Significant digits of a tick's value that is converted back.
_DIGITS = 8


def margin_mode(account: Mapping[str, Any]) -> str:
    """Return a profile's word for ``account_info().margin_mode``."""
    return _MARGIN_MODES[account["margin_mode"]]


def playable(
    symbols: Iterable[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], dict[str, str]]:
    """Return the dumps that the paper terminal can play; and names of others, with the reason."""
    fitting, refused = [], {}
    for info in symbols:
        try:
            complete(info["name"], {"trade_tick_value": 0.0, **_fields(info)})
        except ConfigError as error:
            refused[info["name"]] = str(error)
        else:
            fitting.append(info)
    return fitting, refused


def account_of(account: Mapping[str, Any], *, deposit: float) -> dict[str, Any]:
    """Return the fields of a profile's account; whose it is and what it holds are left out.

    Args:
        account: ``account_info()._asdict()``.
        deposit: Money that the paper account begins with, account currency.
    """
    contest = account.get("trade_mode") == mt5.ACCOUNT_TRADE_MODE_CONTEST
    return {
        **{name: account[name] for name in TERMS if name in account},
        **{
            name: account[name] for name in ("server", "company", "trade_expert") if name in account
        },
        "margin_mode": margin_mode(account),
        "trade_mode": mt5.ACCOUNT_TRADE_MODE_CONTEST if contest else mt5.ACCOUNT_TRADE_MODE_DEMO,
        "deposit": deposit,
    }


def symbols_of(symbols: Sequence[Mapping[str, Any]], currency: str) -> dict[str, dict[str, Any]]:
    """Return a profile's symbols.

    Args:
        symbols: ``symbol_info()._asdict()`` of each.
        currency: Of the account; the value of a tick is converted back from it.

    Raises:
        ConfigError: The value of a tick can't be converted, since no dump has the pair.
    """
    found = {}
    for info in symbols:
        fields = _fields(info)
        if info["trade_calc_mode"] in IN_TICKS:
            fields["trade_tick_value"] = _tick_value(info, currency, symbols)
        found[info["name"]] = fields
    return found


def _fields(info: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: info[name] for name in _KEPT if name in info}
    if info.get("trade_calc_mode") in IN_TICKS:
        fields["trade_tick_value"] = info["trade_tick_value"]
    return fields


def _tick_value(
    info: Mapping[str, Any], currency: str, symbols: Sequence[Mapping[str, Any]]
) -> float:
    """Return the profit currency's value of a lot's tick; the terminal shows the account's."""
    value: float = info["trade_tick_value"]
    profit = info["currency_profit"]
    if profit == currency:
        return value
    for pair in symbols:
        ways = (pair["currency_base"], pair["currency_profit"])
        if pair["trade_calc_mode"] not in FOREX or not (pair.get("bid") and pair.get("ask")):
            continue
        if ways == (profit, currency):
            return float(f"{value / pair['bid']:.{_DIGITS}g}")
        if ways == (currency, profit):
            return float(f"{value * pair['ask']:.{_DIGITS}g}")
    raise ConfigError(
        f"specification of {info['name']}: trade_tick_value is in {currency}, not in {profit}: "
        f"dump a pair of {profit} and {currency} with it"
    )
