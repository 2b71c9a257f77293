"""Symbols, account, bars and time, from the paper terminal."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.mt5.timeframes import BY_VALUE
from mql5.host.desktop import Desktop
from mql5.host.library import Refusal
from mql5.host.prelude import properties

_UNKNOWN_SYMBOL = 4301
_NO_HISTORY = 4401
_FIELDS = properties()
_WHOLE_DAY = 86_400
_SERIES_COUNT, _SERIES_FIRST, _SERIES_LAST = 0, 1, 2


class Market:
    """The chart that a program runs on, and what it may look up from there."""

    def __init__(self, desktop: Desktop, symbol: str, period: int) -> None:
        self._desktop = desktop
        self._symbol = symbol
        self._timeframe = period

    def symbol(self) -> str:
        return self._symbol

    def period(self) -> int:
        return self._timeframe

    def _info(self, name: str) -> Any:
        info = self._desktop.read("symbol_info", name or self._symbol)
        if info is None:
            raise Refusal(_UNKNOWN_SYMBOL)
        return info

    def symbol_info_double(self, name: str, which: int) -> float:
        field = _FIELDS["ENUM_SYMBOL_INFO_DOUBLE"][which]
        return float(getattr(self._info(name), field))

    def symbol_info_integer(self, name: str, which: int) -> int:
        field = _FIELDS["ENUM_SYMBOL_INFO_INTEGER"][which]
        return int(getattr(self._info(name), field))

    def symbol_info_string(self, name: str, which: int) -> str:
        field = _FIELDS["ENUM_SYMBOL_INFO_STRING"][which]
        return str(getattr(self._info(name), field))

    def symbol_info_tick(self, name: str) -> NDArray[np.float64]:
        tick = self._desktop.read("symbol_info_tick", name or self._symbol)
        if tick is None:
            raise Refusal(_UNKNOWN_SYMBOL)
        return np.array(tick, dtype=np.float64)

    def symbol_info_session_trade(self, name: str, day: int, index: int) -> Any:
        self._info(name)
        if index or day in (0, 6):
            raise Refusal(_UNKNOWN_SYMBOL)
        return np.array([0.0, _WHOLE_DAY])

    def symbol_select(self, name: str, is_on: int) -> bool:
        return bool(self._desktop.paper.symbol_select(name, bool(is_on)))

    def symbol_exist(self, name: str) -> bool:
        return self._desktop.read("symbol_info", name) is not None

    def _names(self, is_selected: int) -> list[str]:
        infos = self._desktop.read("symbols_get")
        return [info.name for info in infos if info.select or not is_selected]

    def symbols_total(self, is_selected: int) -> int:
        return len(self._names(is_selected))

    def symbol_name(self, index: int, is_selected: int) -> str:
        names = self._names(is_selected)
        return names[index] if 0 <= index < len(names) else ""

    def account_info_double(self, which: int) -> float:
        field = _FIELDS["ENUM_ACCOUNT_INFO_DOUBLE"][which]
        return float(getattr(self._desktop.read("account_info"), field))

    def account_info_integer(self, which: int) -> int:
        field = _FIELDS["ENUM_ACCOUNT_INFO_INTEGER"][which]
        return int(getattr(self._desktop.read("account_info"), field))

    def account_info_string(self, which: int) -> str:
        field = _FIELDS["ENUM_ACCOUNT_INFO_STRING"][which]
        return str(getattr(self._desktop.read("account_info"), field))

    def terminal_info_integer(self, which: int) -> int:
        field = _FIELDS["ENUM_TERMINAL_INFO_INTEGER"][which]
        if field == "trade_allowed":
            return int(self._desktop.may_trade)
        return int(getattr(self._desktop.read("terminal_info"), field))

    def terminal_info_string(self, which: int) -> str:
        field = _FIELDS["ENUM_TERMINAL_INFO_STRING"][which]
        return str(getattr(self._desktop.read("terminal_info"), field))

    # Bars

    def _frame(self, period: int) -> int:
        return period or self._timeframe

    def copy_rates(self, name: str, period: int, start: int, count: int) -> NDArray[np.void]:
        bars = self._desktop.read(
            "copy_rates_from_pos", name or self._symbol, self._frame(period), start, count
        )
        if bars is None or not len(bars):
            raise Refusal(_NO_HISTORY, -1)
        return np.ascontiguousarray(bars)

    def _all(self, name: str, period: int) -> NDArray[np.void]:
        # As many as the terminal holds in a chart at most.
        return self.copy_rates(name, period, 0, self._desktop.read("terminal_info").maxbars - 1)

    def bars(self, name: str, period: int) -> int:
        return len(self._all(name, period))

    def series_info_integer(self, name: str, period: int, which: int) -> int:
        bars = self._all(name, period)
        known = {
            _SERIES_COUNT: len(bars),
            _SERIES_FIRST: int(bars["time"][0]),
            _SERIES_LAST: int(bars["time"][-1]),
        }
        return known.get(which, 1)

    def i_bar_shift(self, name: str, period: int, time: int, is_exact: int) -> int:
        times = self._all(name, period)["time"]
        found = int(np.searchsorted(times, time, side="right")) - 1
        if found < 0 or (is_exact and times[found] != time):
            return -1
        return len(times) - 1 - found

    def period_seconds(self, period: int) -> int:
        return BY_VALUE[self._frame(period)].seconds

    # Time

    def time_current(self) -> int:
        tick = self._desktop.read("symbol_info_tick", self._symbol)
        return int(tick.time) if tick is not None else 0

    def time_trade_server(self) -> int:
        return self._desktop.server_now()

    def time_local(self) -> int:
        return int(self._desktop.clock.now())

    def time_gmt(self) -> int:
        return int(self._desktop.clock.now())

    def get_tick_count64(self) -> int:
        return int(self._desktop.clock.now() * 1000)
