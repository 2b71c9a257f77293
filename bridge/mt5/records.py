"""The 11 record types of the MetaTrader5 package: same fields, order, repr and traits.

The real ones are struct sequences of C: tuples with named fields, made from one sequence,
with a shallow ``_asdict()``, and without what a namedtuple adds (``_fields``, ``_replace``,
``_make``).
Here a class body lists the fields in order, and :class:`Record` makes the rest.

Source: fields and types read from the wheel 5.0.6231.
"""

from collections import namedtuple
from collections.abc import Iterable
from pickle import PicklingError
from typing import Any, ClassVar, NoReturn, Self


class Record(tuple[Any, ...]):
    """A tuple whose items have the names that the subclass annotates."""

    __slots__ = ()
    n_fields: ClassVar[int]
    n_sequence_fields: ClassVar[int]
    n_unnamed_fields: ClassVar[int] = 0

    def __init_subclass__(cls) -> None:
        """Turn annotations into read-only fields; a record itself can't be subclassed."""
        if Record not in cls.__bases__:
            raise TypeError(f"type '{cls.__bases__[0].__name__}' is not an acceptable base type")
        names = tuple(cls.__annotations__)
        # A namedtuple reads its fields in C, at half of what a property takes.
        fields = vars(namedtuple(cls.__name__, names))
        for name in names:
            setattr(cls, name, fields[name])
        type.__setattr__(cls, "__match_args__", names)
        cls.n_fields = cls.n_sequence_fields = len(names)
        cls.__module__ = "builtins"

    def __new__(cls, fields: Iterable[Any]) -> Self:
        """Make a record from exactly one value a field."""
        record = tuple.__new__(cls, fields)
        if len(record) != cls.n_fields:
            raise TypeError(
                f"{cls.__name__}() takes a {cls.n_fields}-sequence ({len(record)}-sequence given)"
            )
        return record

    def __repr__(self) -> str:
        """Show ``Name(field=value, ...)``."""
        pairs = zip(self.__match_args__, self, strict=True)  # type: ignore[attr-defined]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def _asdict(self) -> dict[str, Any]:
        """Return a plain dict in field order; nested records stay records."""
        return dict(zip(self.__match_args__, self, strict=True))  # type: ignore[attr-defined]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        # The real types claim to live in builtins, where pickle does not find them.
        raise PicklingError(
            f"Can't pickle <class '{type(self).__name__}'>: attribute lookup "
            f"{type(self).__name__} on builtins failed"
        )


class AccountInfo(Record):
    """The account: money in its currency, levels in percent or money."""

    login: int
    trade_mode: int
    leverage: int
    limit_orders: int
    margin_so_mode: int
    trade_allowed: bool
    trade_expert: bool
    margin_mode: int
    currency_digits: int
    fifo_close: bool
    balance: float
    credit: float
    profit: float
    equity: float
    margin: float
    margin_free: float
    margin_level: float
    margin_so_call: float
    margin_so_so: float
    margin_initial: float
    margin_maintenance: float
    assets: float
    liabilities: float
    commission_blocked: float
    name: str
    server: str
    currency: str
    company: str


class TerminalInfo(Record):
    """The terminal program and its link to the broker."""

    community_account: bool
    community_connection: bool
    connected: bool
    dlls_allowed: bool
    trade_allowed: bool
    tradeapi_disabled: bool
    email_enabled: bool
    ftp_enabled: bool
    notifications_enabled: bool
    mqid: bool
    build: int
    maxbars: int
    codepage: int
    ping_last: int
    community_balance: float
    retransmission: float
    company: str
    name: str
    language: str
    path: str
    data_path: str
    commondata_path: str


class SymbolInfo(Record):
    """A symbol: its specification and its latest prices."""

    custom: bool
    chart_mode: int
    select: bool
    visible: bool
    session_deals: int
    session_buy_orders: int
    session_sell_orders: int
    volume: int
    volumehigh: int
    volumelow: int
    time: int
    digits: int
    spread: int
    spread_float: bool
    ticks_bookdepth: int
    trade_calc_mode: int
    trade_mode: int
    start_time: int
    expiration_time: int
    trade_stops_level: int
    trade_freeze_level: int
    trade_exemode: int
    swap_mode: int
    swap_rollover3days: int
    margin_hedged_use_leg: bool
    expiration_mode: int
    filling_mode: int
    order_mode: int
    order_gtc_mode: int
    option_mode: int
    option_right: int
    bid: float
    bidhigh: float
    bidlow: float
    ask: float
    askhigh: float
    asklow: float
    last: float
    lasthigh: float
    lastlow: float
    volume_real: float
    volumehigh_real: float
    volumelow_real: float
    option_strike: float
    point: float
    trade_tick_value: float
    trade_tick_value_profit: float
    trade_tick_value_loss: float
    trade_tick_size: float
    trade_contract_size: float
    trade_accrued_interest: float
    trade_face_value: float
    trade_liquidity_rate: float
    volume_min: float
    volume_max: float
    volume_step: float
    volume_limit: float
    swap_long: float
    swap_short: float
    margin_initial: float
    margin_maintenance: float
    session_volume: float
    session_turnover: float
    session_interest: float
    session_buy_orders_volume: float
    session_sell_orders_volume: float
    session_open: float
    session_close: float
    session_aw: float
    session_price_settlement: float
    session_price_limit_min: float
    session_price_limit_max: float
    margin_hedged: float
    price_change: float
    price_volatility: float
    price_theoretical: float
    price_greeks_delta: float
    price_greeks_theta: float
    price_greeks_gamma: float
    price_greeks_vega: float
    price_greeks_rho: float
    price_greeks_omega: float
    price_sensitivity: float
    basis: str
    category: str
    currency_base: str
    currency_profit: str
    currency_margin: str
    bank: str
    description: str
    exchange: str
    formula: str
    isin: str
    name: str
    page: str
    path: str


class Tick(Record):
    """The latest prices of a symbol."""

    time: int
    bid: float
    ask: float
    last: float
    volume: int
    time_msc: int
    flags: int
    volume_real: float


class TradeOrder(Record):
    """An order, waiting or in the history."""

    ticket: int
    time_setup: int
    time_setup_msc: int
    time_done: int
    time_done_msc: int
    time_expiration: int
    type: int
    type_time: int
    type_filling: int
    state: int
    magic: int
    position_id: int
    position_by_id: int
    reason: int
    volume_initial: float
    volume_current: float
    price_open: float
    sl: float
    tp: float
    price_current: float
    price_stoplimit: float
    symbol: str
    comment: str
    external_id: str


class TradePosition(Record):
    """An open position."""

    ticket: int
    time: int
    time_msc: int
    time_update: int
    time_update_msc: int
    type: int
    magic: int
    identifier: int
    reason: int
    volume: float
    price_open: float
    sl: float
    tp: float
    price_current: float
    swap: float
    profit: float
    symbol: str
    comment: str
    external_id: str


class TradeDeal(Record):
    """A deal: what happened to money or volume."""

    ticket: int
    order: int
    time: int
    time_msc: int
    type: int
    entry: int
    magic: int
    position_id: int
    reason: int
    volume: float
    price: float
    commission: float
    swap: float
    profit: float
    fee: float
    symbol: str
    comment: str
    external_id: str


class TradeRequest(Record):
    """A request as the package understood it; absent fields are 0, 0.0 or empty."""

    action: int
    magic: int
    order: int
    symbol: str
    volume: float
    price: float
    stoplimit: float
    sl: float
    tp: float
    deviation: int
    type: int
    type_filling: int
    type_time: int
    expiration: int
    comment: str
    position: int
    position_by: int


class OrderCheckResult(Record):
    """The answer of ``order_check``: the account as it would be."""

    retcode: int
    balance: float
    equity: float
    profit: float
    margin: float
    margin_free: float
    margin_level: float
    comment: str
    request: TradeRequest


class OrderSendResult(Record):
    """The answer of ``order_send``."""

    retcode: int
    deal: int
    order: int
    volume: float
    price: float
    bid: float
    ask: float
    comment: str
    request_id: int
    retcode_external: int
    request: TradeRequest


class BookInfo(Record):
    """One row of the depth of market."""

    type: int
    price: float
    volume: int
    volume_dbl: float
