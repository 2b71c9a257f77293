"""The paper terminal behind the package's face: what each verb answers."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from bridge.clock import Clock
from bridge.errors import ConfigError
from bridge.mt5 import constants as mt5
from bridge.mt5.records import SymbolInfo, Tick, TradeRequest
from bridge.mt5.servertime import ServerClock, server_clock
from bridge.terminal.paper import server, views
from bridge.terminal.paper.answers import check_as_told, send_as_told
from bridge.terminal.paper.desk import Desk
from bridge.terminal.paper.history import History
from bridge.terminal.paper.liveseries import LiveSeries
from bridge.terminal.paper.masks import matches
from bridge.terminal.paper.money import NoQuotes
from bridge.terminal.paper.package import Failure
from bridge.terminal.paper.protection import advance, resume
from bridge.terminal.paper.script import Answer

if TYPE_CHECKING:
    from bridge.terminal.paper.profile import BrokerProfile

T = TypeVar("T")

_NOT_FOUND = mt5.RES_E_NOT_FOUND
_INVALID = mt5.RES_E_INVALID_PARAMS
_FAILED = mt5.RES_E_FAIL
_HOUR = 3_600
_MARKET_TYPES = (mt5.ORDER_TYPE_BUY, mt5.ORDER_TYPE_SELL)
_PENDING_TYPES = range(mt5.ORDER_TYPE_BUY_LIMIT, mt5.ORDER_TYPE_CLOSE_BY)


class PaperBackend:
    """The terminal behind the package's face.

    Args:
        profile: The broker.
        desk: Its account.
        clock: UTC.

    Raises:
        ConfigError: The account holds a symbol without bars.
    """

    def __init__(self, profile: "BrokerProfile", desk: Desk, clock: Clock) -> None:
        self.desk = desk
        self._profile = profile
        self._clock = clock
        self._server_clock = server_clock(profile.server_clock)
        self._offset = (-1, 0.0)
        self._brought_to = -1.0
        self._selected = {series.info.name for series in desk.market}
        self._books: set[str] = set()
        # Server time and changes of Market Watch, and what was answered then, by the books.
        self._moment = (-1.0, 0)
        self._answers: dict[tuple[str, tuple[Any, ...], int], Any] = {}
        self._heard = 0
        self._history = History(desk.market, profile.maxbars)
        self._verbs: dict[str, Callable[..., Any]] = {
            "version": lambda: views.BUILD,
            "terminal_info": lambda: views.terminal_info(desk, profile.maxbars),
            "account_info": lambda: views.account_info(desk),
            "symbols_total": lambda: len(desk.symbols),
            "symbols_get": self._symbols_get,
            "symbol_info": self._symbol_info,
            "symbol_info_tick": self._symbol_info_tick,
            "symbol_select": self._symbol_select,
            "market_book_add": self._market_book_add,
            "market_book_release": self._market_book_release,
            "market_book_get": lambda symbol: (),
            "copy_rates_from_pos": self._history.rates_from_pos,
            "copy_rates_from": self._history.rates_from,
            "copy_rates_range": self._history.rates_range,
            "copy_ticks_from": self._history.ticks_from,
            "copy_ticks_range": self._history.ticks_range,
            "positions_total": lambda: len(desk.ledger.positions),
            "positions_get": self._positions_get,
            "orders_total": lambda: len(desk.ledger.waiting),
            "orders_get": self._orders_get,
            "history_orders_total": lambda first, last: len(
                desk.ledger.orders_between(first, last)
            ),
            "history_deals_total": lambda first, last: len(desk.ledger.deals_between(first, last)),
            "history_orders_get": self._history_orders_get,
            "history_deals_get": self._history_deals_get,
            "order_calc_margin": self._order_calc_margin,
            "order_calc_profit": self._order_calc_profit,
            "order_check": lambda fields: server.order_check(desk, TradeRequest(fields)),
            "order_send": self._order_send,
        }
        self._start()

    def _start(self) -> None:
        ledger, market = self.desk.ledger, self.desk.market
        if unpriced := sorted(set(self.desk.watched()) - self._selected):
            raise ConfigError(
                f"the account holds {', '.join(unpriced)}: give the terminal bars of it"
            )
        market.now = ledger.now
        if not ledger.deals:
            market.now = self._server_now()
            ledger.deposit(self.desk.terms.deposit, self.desk.time_msc)
        resume(self.desk)
        self.bring_up()

    def connect(self, login: int | None, server: str | None) -> None:
        """Log in to the only account there is."""
        terms = self._profile.account
        if server is not None and login is None:
            raise Failure(_INVALID)
        if login not in (None, terms.login) or server not in (None, "", terms.server):
            raise Failure(mt5.RES_E_AUTH_FAILED)

    def answer(self, verb: str, arguments: tuple[Any, ...]) -> Any:
        """Return what a verb gives, with the account brought up to now."""
        if self._clock.now() != self._brought_to:
            self.bring_up()
        desk = self.desk
        if not desk.script.is_empty:
            return self._by_script(verb, arguments)
        if verb not in _UNCHANGING:
            return self._verbs[verb](*arguments)
        # The same as a moment ago while nothing has changed since.
        moment = (desk.market.now, self._heard)
        if moment != self._moment:
            self._moment = moment
            self._answers.clear()
        key = (verb, arguments, desk.ledger.changes if _UNCHANGING[verb] else 0)
        if key not in self._answers:
            self._answers[key] = self._verbs[verb](*arguments)
        return self._answers[key]

    def _by_script(self, verb: str, arguments: tuple[Any, ...]) -> Any:
        self._catch_up()
        step = self.desk.script.answer(verb)
        if step is None:
            return self._verbs[verb](*arguments)
        return self._as_told(step, arguments)

    def _catch_up(self) -> None:
        """Do what a script has answered before it was done."""
        delayed, self.desk.script.delayed = self.desk.script.delayed, []
        for request in delayed:
            self._commit(server.order_send(self.desk, request))

    def _as_told(self, step: Answer, arguments: tuple[Any, ...]) -> Any:
        done = self._verbs[step.verb](*arguments) if step.effect == "before" else None
        if step.effect == "after":
            self.desk.script.delayed.append(TradeRequest(*arguments))
        if step.error:
            raise Failure(step.error, step.text)
        answer = check_as_told if step.verb == "order_check" else send_as_told
        return answer(self.desk, step, TradeRequest(*arguments), done)

    def bring_up(self) -> float:
        """Bring the account up to the clock's now, and return the server time."""
        utc = self._clock.now()
        if utc != self._brought_to:
            now = self._server_now()
            if now > self.desk.market.now or self.desk.market.mark < 0:
                advance(self.desk, now)
            self._brought_to = utc
        return self.desk.market.now

    def hear(self, ticks: Mapping[str, Tick]) -> None:
        """Bring the account up to now, where these prices have come."""
        now = max(self._server_now(), self.desk.market.now)
        self._heard += 1
        for symbol, tick in ticks.items():
            series = self.desk.market.at(symbol)
            if isinstance(series, LiveSeries):
                series.tell(tick, now)
        advance(self.desk, now)

    def pay(self, amount: float) -> None:
        """Pay money into the account, or out of it (< 0)."""
        self.bring_up()
        self.desk.ledger.deposit(amount, self.desk.time_msc)
        # What was lowest in this bar was so without the money: it is no loss, and no gain.
        for series in self.desk.market.walked:
            series.worst += amount
        self.desk.ledger.commit(self.desk.market.now)

    def shut(self) -> None:
        """Write the account and release its file."""
        self.desk.ledger.shut(self.desk.market.now)

    def _server_now(self) -> float:
        """Return server time; the offset is asked for once an hour, since none changes within."""
        utc = self._clock.now()
        hour = int(utc // _HOUR)
        if hour != self._offset[0]:
            self._offset = (hour, _offset(self._server_clock, hour * _HOUR))
        return utc + self._offset[1]

    # Symbols

    def _info(self, symbol: str) -> SymbolInfo:
        info = self.desk.symbols.get(symbol)
        if info is None:
            raise Failure(_NOT_FOUND)
        return info

    def _shown(self, info: SymbolInfo) -> SymbolInfo:
        return views.symbol_info(self.desk, info, is_selected=info.name in self._selected)

    def _symbol_info(self, symbol: str) -> SymbolInfo:
        return self._shown(self._info(symbol))

    def _symbols_get(self, group: str | None) -> tuple[SymbolInfo, ...]:
        infos = self.desk.symbols.values()
        return tuple(self._shown(one) for one in infos if not group or matches(group, one.name))

    def _symbol_info_tick(self, symbol: str) -> Any:
        tick = self._history.tick(symbol) if symbol in self._selected else None
        if tick is None:
            raise Failure(_NOT_FOUND)
        return tick

    def _symbol_select(self, symbol: str, enable: bool = True) -> bool:
        if symbol not in self.desk.symbols:
            raise Failure(_FAILED)
        self._heard += 1  # a symbol shows whether it is selected
        if enable:
            self._selected.add(symbol)
        elif symbol in self.desk.watched():
            raise Failure(_FAILED)
        else:
            self._selected.discard(symbol)
        return True

    def _market_book_add(self, symbol: str) -> bool:
        if symbol not in self._selected:
            raise Failure(_NOT_FOUND, touches=False)
        self._books.add(symbol)
        return True

    def _market_book_release(self, symbol: str) -> bool:
        if symbol not in self._books:
            raise Failure(_NOT_FOUND, touches=False)
        self._books.remove(symbol)
        return True

    # Positions and history

    def _positions_get(self, kind: str, value: Any) -> tuple[Any, ...]:
        held = _kept(kind, value, self.desk.ledger.positions.values())
        return tuple([views.position(self.desk, one) for one in held])

    def _orders_get(self, kind: str, value: Any) -> tuple[Any, ...]:
        waiting = _kept(kind, value, self.desk.ledger.waiting.values())
        return tuple([views.order(self.desk, one) for one in waiting])

    def _history_orders_get(self, kind: str, value: Any) -> tuple[Any, ...]:
        ledger = self.desk.ledger
        return _chosen(kind, value, ledger.orders, ledger.orders_between)

    def _history_deals_get(self, kind: str, value: Any) -> tuple[Any, ...]:
        ledger = self.desk.ledger
        return _chosen(kind, value, ledger.deals, ledger.deals_between)

    # Trading

    def _order_send(self, fields: tuple[Any, ...]) -> Any:
        if "python" in self.desk.switched_off():
            raise Failure(mt5.RES_E_AUTO_TRADING_DISABLED)
        return self._commit(server.order_send(self.desk, TradeRequest(fields)))

    def _commit(self, result: Any) -> Any:
        self.desk.ledger.commit(self.desk.market.now)
        return result

    def _order_calc_margin(self, action: int, symbol: str, volume: float, price: float) -> float:
        info = self._info(symbol)
        if action in _PENDING_TYPES:
            return 0.0
        if action not in _MARKET_TYPES or not (volume > 0 and price > 0):
            raise Failure(_INVALID)
        money, buy = self.desk.money, action == mt5.ORDER_TYPE_BUY
        try:
            return money.round(money.margin(info, volume, price, buy=buy))
        except NoQuotes:
            raise Failure(_FAILED) from None

    def _order_calc_profit(
        self, action: int, symbol: str, volume: float, opened: float, closed: float
    ) -> float:
        info = self._info(symbol)
        if action not in _MARKET_TYPES or not (volume > 0 and opened > 0 and closed > 0):
            raise Failure(_INVALID)
        sign = 1 if action == mt5.ORDER_TYPE_BUY else -1
        try:
            return self.desk.money.profit(info, sign, volume, opened, closed)
        except NoQuotes:
            raise Failure(_FAILED) from None


# What is answered in records that nobody can change -> whether the books are in them.
_UNCHANGING = {
    "account_info": True,
    "positions_get": True,
    "symbol_info": False,
    "symbol_info_tick": False,
    "terminal_info": False,
}
_FILTERS: dict[str, Callable[[Any, Any], bool]] = {
    "ticket": lambda one, value: bool(one.ticket == value),
    "symbol": lambda one, value: bool(one.symbol == value),
    "group": lambda one, value: matches(value, one.symbol),
}


def _kept(kind: str, value: Any, all_of_them: Iterable[T]) -> Iterable[T]:
    """Return what a filter lets pass; no kind of filter, all."""
    keep = _FILTERS.get(kind)
    return all_of_them if keep is None else [one for one in all_of_them if keep(one, value)]


def _chosen(
    kind: str, value: Any, everything: Any, between: Callable[[int, int], Any]
) -> tuple[Any, ...]:
    """Return records of the history by dates and group, by ticket, or by position."""
    if kind == "dates":
        first, last, group = value
        return tuple(
            one for one in between(first, last) if group is None or matches(group, one.symbol)
        )
    field = "ticket" if kind == "ticket" else "position_id"
    return tuple(one for one in everything if getattr(one, field) == value)


def _offset(rule: ServerClock, utc: float) -> float:
    return rule.from_utc(utc) - utc
