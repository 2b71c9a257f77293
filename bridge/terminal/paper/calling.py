"""How the package takes arguments: which functions take what, and how each refusal looks.

The package checks types and lengths only; every meaning is the terminal's. A refusal is a null
and (-2, text). Where a conversion of C fails, the caller gets a ``SystemError`` whose cause is
the real error. Symbols and texts are measured in UTF-16 units.

Source: calls recorded from the wheel 5.0.6231.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import index
from typing import Any, TypeVar

T = TypeVar("T")
Convert = Callable[[Any], Any]

_INT_MIN = -(2**31)
_INVALID = "Invalid arguments"
_UNNAMED = "Unnamed arguments not allowed"
_COUNT = "Invalid number of arguments"
_ORDINALS = ("1st", "2nd", "3rd")
# What a conversion of C may raise; anything else is the caller's own and passes.
_BROKEN = (TypeError, ArithmeticError, ValueError, OSError, AttributeError, RuntimeError)


class Refused(Exception):
    """The package refuses the arguments.

    Args:
        text: Text of ``last_error``, beside -2.
        late: The package notices only after the call, whose own code then stands.
    """

    def __init__(self, text: str, *, late: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.late = late


class _WrongTypeError(Exception):
    """A value has not the type or length that the slot takes."""


def _take(convert: Convert, value: Any, text: str) -> Any:
    try:
        return convert(value)
    except _WrongTypeError:
        raise Refused(text) from None
    except _BROKEN as error:
        raise Refused(text) from error


def text_of(limit: int) -> Convert:
    """Return a conversion to ``str`` of at most ``limit`` UTF-16 units."""

    def convert(value: Any) -> str:
        if not isinstance(value, str) or _utf16_units(value) > limit:
            raise _WrongTypeError
        return str(value)

    return convert


def _utf16_units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_TOO_BIG = "int too big to convert"


def _int_of(least: int, bits: int, below: str = _TOO_BIG, above: str = _TOO_BIG) -> Convert:
    """Return a conversion that takes a real ``int`` of ``bits`` bits, ``least`` at least."""
    end = least + 2**bits

    def convert(value: Any) -> int:
        if not isinstance(value, int):
            raise _WrongTypeError
        if not least <= value < end:
            raise OverflowError(below if value < least else above)
        return int(value)

    return convert


u64 = _int_of(0, 64, "can't convert negative int to unsigned")
u32 = _int_of(
    0,
    32,
    "can't convert negative value to unsigned int",
    "Python int too large to convert to C unsigned long",
)
i64 = _int_of(-(2**63), 64)


def double(value: Any) -> float:
    """Take a ``float``, and nothing that only looks like one."""
    if not isinstance(value, float):
        raise _WrongTypeError
    return float(value)


def date(value: Any) -> int:
    """Take a datetime (``timestamp()``), int or float; cut to whole seconds of 32 bits."""
    if isinstance(value, datetime):
        value = value.timestamp()
    if isinstance(value, int):
        if not _INT_MIN <= value < 2**31:
            error = OverflowError("Python int too large to convert to C long")
            raise Refused(_INVALID, late=True) from error
        return int(value)
    if not isinstance(value, float):
        raise _WrongTypeError
    # What C makes of a number that does not fit, and of nan.
    return int(value) if _INT_MIN <= value < 2**31 else _INT_MIN


def _as_is(value: Any) -> Any:
    return value


def _c_int(value: Any) -> int:
    number = index(value)
    if not _INT_MIN <= number < 2**31:
        raise OverflowError("Python int too large to convert to C long")
    return number


def _c_ulong(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"argument 1 must be int, not {_type_name(value)}")
    return int(value) % 2**32


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _c_double(value: Any) -> float:
    if isinstance(value, str | bytes) or not (
        hasattr(type(value), "__float__") or hasattr(type(value), "__index__")
    ):
        raise TypeError(f"must be real number, not {_type_name(value)}")
    return float(value)


symbol = text_of(29)
group = text_of(1997)

_Parsed = tuple[Any, ...]
Parse = Callable[[str, tuple[Any, ...], dict[str, Any]], _Parsed]
"""Name of the function, its positional arguments, its keywords -> the verb's arguments."""


def nothing(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> _Parsed:
    """Take no arguments; the interpreter itself refuses others."""
    if keywords:
        raise TypeError(f"MetaTrader5._core.{name}() takes no keyword arguments")
    if args:
        raise TypeError(f"MetaTrader5._core.{name}() takes no arguments ({len(args)} given)")
    return ()


# A letter of the parse format -> the conversion at parsing, and the one of the object after it.
_SLOTS: dict[str, tuple[Convert, Convert]] = {
    "s": (_as_is, symbol),
    "t": (_as_is, date),
    "b": (_as_is, bool),
    "i": (_c_int, _as_is),
    "k": (_c_ulong, _as_is),
    "d": (_c_double, _as_is),
}


def positional(slots: str, *, optional: int = 0) -> Parse:
    """Return a parser of positional arguments only.

    Args:
        slots: One letter each: symbol, time, bool, int, k (unsigned long), double.
        optional: How many of the last may be absent.
    """
    table = tuple(_SLOTS[letter] for letter in slots)

    def parse(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> _Parsed:
        if keywords:
            raise TypeError(f"{name}() takes no keyword arguments")
        if not len(table) - optional <= len(args) <= len(table):
            raise Refused(_INVALID)
        parsed = [_take(slot[0], v, _INVALID) for slot, v in zip(table, args, strict=False)]
        return tuple(_take(slot[1], v, _INVALID) for slot, v in zip(table, parsed, strict=False))

    return parse


@dataclass(frozen=True, slots=True)
class Field:
    """A named argument: its name, its conversion, and what it is when absent."""

    name: str
    convert: Convert
    absent: Any = None

    def of(self, keywords: dict[str, Any]) -> Any:
        """Return the keyword's value."""
        return _taken([self], keywords)[0]

    @property
    def refusal(self) -> str:
        """What is said of a wrong value."""
        return f'Invalid "{self.name}" argument'


def _taken(fields: Sequence[Field], keywords: dict[str, Any]) -> _Parsed:
    """Return the keyword's value for each field, in the order in which they are checked."""
    values = [field.absent for field in fields]
    for place, field in enumerate(fields):
        if field.name in keywords:
            try:
                values[place] = field.convert(keywords[field.name])
            except _WrongTypeError:
                raise Refused(field.refusal) from None
            except _BROKEN as error:
                raise Refused(field.refusal) from error
    return tuple(values)


def mixed(fields: Sequence[Field], *, unnamed: int, required: str = "") -> Parse:
    """Return a parser of fields of which the first ``unnamed`` may come by position.

    Unknown keywords are ignored. A field called ``required`` must be there and not zero.
    """

    def parse(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> _Parsed:
        if len(args) > unnamed:
            raise Refused(_COUNT)
        values = []
        for place, field in enumerate(fields):
            if place < len(args) and field.name not in keywords:
                text = f"Invalid {_ORDINALS[place]} unnamed argument"
                value = _take(field.convert, args[place], text)
            else:
                text, value = field.refusal, field.of(keywords)
            if field.name == required and not value:
                raise Refused(text)
            values.append(value)
        return tuple(values)

    return parse


_TICKET = Field("ticket", u64)
_POSITION = Field("position", u64)
_GROUP = Field("group", group)


def one_filter(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> _Parsed:
    """Take ticket, symbol or group: the first that is there; the others are not looked at."""
    if args:
        raise Refused(_UNNAMED)
    return _first((_TICKET, Field("symbol", symbol), _GROUP), keywords) or ("", None)


def _first(fields: Sequence[Field], keywords: dict[str, Any]) -> tuple[str, Any] | None:
    for field in fields:
        if field.name in keywords:
            return field.name, field.of(keywords)
    return None


def history(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> _Parsed:
    """Take two dates and a group, or a ticket, or a position."""
    if len(args) == 2:
        first, last = (_take(date, value, _INVALID) for value in args)
        return "dates", (first, last, _GROUP.of(keywords))
    named = [field for field in (_TICKET, _POSITION) if field.name in keywords]
    if named and args:
        raise Refused(_UNNAMED)
    found = _first(named, keywords)
    if found is None:
        raise Refused(_INVALID)
    return found


_NAME = text_of(29)
REQUEST_FIELDS = (
    Field("action", u32, 0),
    Field("magic", u64, 0),
    Field("order", u64, 0),
    Field("symbol", _NAME, ""),
    Field("volume", double, 0.0),
    Field("price", double, 0.0),
    Field("stoplimit", double, 0.0),
    Field("sl", double, 0.0),
    Field("tp", double, 0.0),
    Field("deviation", u64, 0),
    Field("type", u32, 0),
    Field("type_filling", u32, 0),
    Field("type_time", u32, 0),
    Field("expiration", i64, 0),
    Field("comment", _NAME, ""),
    Field("position", u64, 0),
    Field("position_by", u64, 0),
)
"""In the order in which the package checks them, which is that of ``TradeRequest``."""


def request(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> _Parsed:
    """Take a request as one dict, or as keywords; an absent field is zero or empty."""
    if keywords:
        if args:
            raise Refused(_UNNAMED)
        source = keywords
    elif len(args) != 1:
        raise Refused(_COUNT)
    elif not isinstance(args[0], dict):
        raise Refused(_INVALID)
    else:
        source = args[0]
    return (_taken(REQUEST_FIELDS, source),)


_LOGIN = Field("login", u64)
_PASSWORD = Field("password", text_of(253))
_SERVER = Field("server", text_of(253))
_TIMEOUT = Field("timeout", u32)


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the package.

    Attributes:
        parse: How it takes arguments.
        refused: What it returns when the package refuses the arguments.
        failed: What it returns when the terminal fails.
        connect_code: Code of ``last_error`` without a connection; 1 when it is not touched.
    """

    parse: Parse
    refused: Any = None
    failed: Any = None
    connect_code: int = -10004


_BAR_DATES = positional("sitt")
_TOTAL = positional("tt")
FUNCTIONS: dict[str, Function] = {
    "initialize": Function(
        mixed(
            [
                Field("path", text_of(257)),
                _LOGIN,
                _PASSWORD,
                _SERVER,
                _TIMEOUT,
                Field("portable", bool),
            ],
            unnamed=1,
        ),
        refused=False,
        failed=False,
    ),
    "login": Function(
        mixed([_LOGIN, _PASSWORD, _SERVER, _TIMEOUT], unnamed=3, required="login"),
        refused=False,
        failed=False,
    ),
    "shutdown": Function(nothing),
    "version": Function(nothing, failed=(0, 0, "")),
    "terminal_info": Function(nothing),
    "account_info": Function(nothing),
    "copy_ticks_from": Function(positional("stii")),
    "copy_ticks_range": Function(positional("stti")),
    "copy_rates_from": Function(positional("siti")),
    "copy_rates_from_pos": Function(positional("siii")),
    "copy_rates_range": Function(_BAR_DATES),
    "positions_total": Function(nothing),
    "positions_get": Function(one_filter),
    "orders_total": Function(nothing),
    "orders_get": Function(one_filter),
    "history_orders_total": Function(_TOTAL),
    "history_orders_get": Function(history),
    "history_deals_total": Function(_TOTAL),
    "history_deals_get": Function(history),
    "order_check": Function(request),
    "order_send": Function(request),
    "order_calc_margin": Function(positional("ksdd")),
    "order_calc_profit": Function(positional("ksddd")),
    "symbol_info": Function(positional("s")),
    "symbol_info_tick": Function(positional("s")),
    "symbol_select": Function(positional("sb", optional=1), refused=False, failed=False),
    "symbols_total": Function(nothing, connect_code=-5),
    "symbols_get": Function(mixed([_GROUP], unnamed=1), refused=False, connect_code=-5),
    "market_book_add": Function(positional("s"), failed=False, connect_code=1),
    "market_book_release": Function(positional("s"), failed=False, connect_code=1),
    "market_book_get": Function(positional("s")),
}
"""All but ``last_error``, which is no call to a terminal."""
