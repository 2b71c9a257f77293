"""The paper terminal that a terminal is compared with: its broker, and its newest bars."""

from collections.abc import Iterable
from typing import Any

from bridge.clock import ManualClock
from bridge.errors import ConfigError, TerminalError
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import RATES_DTYPE, RatesArray
from bridge.mt5.records import SymbolInfo
from bridge.mt5.timeframes import timeframe
from bridge.terminal.paper.convert import FOREX, HUB, whole
from bridge.terminal.paper.dump import playable
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

_BARS = 500


def reference_of(module: Any, symbol: str) -> tuple[PaperTerminal, str]:
    """Return a paper terminal that plays the broker of a terminal, and a symbol unselected there.

    It stands at the newest M1 bar of ``symbol``. Its clock shows server time, so no rule of the
    broker's clock has to be known.

    Args:
        module: The package, or what answers like it, connected.
        symbol: Name.

    Raises:
        ConfigError: A symbol that the paper terminal can't play, or one without M1 bars.
        TerminalError: A call failed.
    """
    account = _asked(module, "account_info")._asdict()
    offered = {info.name: info for info in _asked(module, "symbols_get")}
    chosen = offered.get(symbol)
    if chosen is None:
        raise ConfigError(f"the terminal has no symbol {symbol}: name another with --symbol")
    wanted = {symbol: chosen, **_pairs(chosen, offered, account["currency"])}
    other = _unselected(info for info in offered.values() if info.name not in wanted)
    dumps, refused = playable(
        info._asdict() for info in (*wanted.values(), *([other] if other else []))
    )
    if symbol in refused:
        raise ConfigError(f"the paper terminal can't play {symbol}: {refused[symbol]}")
    profile = BrokerProfile.from_dump(
        account,
        dumps,
        _asked(module, "terminal_info")._asdict(),
        name="conformance",
        server_clock="utc",
    )
    bars = {name: (timeframe("M1"), _bars(module, name)) for name in wanted}
    now = float(max(rates["time"][-1] for _, rates in bars.values()))
    paper = PaperTerminal(profile, bars, ManualClock(now + 1), None)
    paper.initialize()
    return paper, other.name if other else ""


def _asked(module: Any, verb: str, *args: Any) -> Any:
    answer = getattr(module, verb)(*args)
    if answer is None or answer is False:
        raise TerminalError(verb, *module.last_error())
    return answer


def _bars(module: Any, symbol: str) -> RatesArray:
    rates = _asked(module, "copy_rates_from_pos", symbol, mt5.TIMEFRAME_M1, 0, _BARS)
    if not len(rates):
        raise ConfigError(
            f"the terminal has no M1 bars of {symbol}: open its chart once, then try again"
        )
    # Columns of another type are a probe's find, and no reason to stop here.
    known: RatesArray = rates.astype(RATES_DTYPE)
    return known


def _pairs(
    chosen: SymbolInfo, offered: dict[str, SymbolInfo], currency: str
) -> dict[str, SymbolInfo]:
    """Return the pairs that change the symbol's currencies into the account's."""
    found: dict[str, SymbolInfo] = {}
    target, _ = whole(currency)
    for each, _ in map(whole, (chosen.currency_profit, chosen.currency_margin)):
        if each == target:
            continue
        direct = _pair(offered, each, target)
        legs = [direct] if direct else [_pair(offered, each, HUB), _pair(offered, HUB, target)]
        found |= {info.name: info for info in legs if info}
    return found


def _pair(offered: dict[str, SymbolInfo], one: str, other: str) -> SymbolInfo | None:
    fits = (
        info
        for info in offered.values()
        if info.trade_calc_mode in FOREX
        and {info.currency_base, info.currency_profit} == {one, other}
    )
    # One in Market Watch has prices for sure.
    return max(fits, key=lambda info: info.select, default=None)


def _unselected(offered: Iterable[SymbolInfo]) -> SymbolInfo | None:
    forex = (info for info in offered if info.trade_calc_mode in FOREX)
    return next((info for info in forex if not info.select), None)
