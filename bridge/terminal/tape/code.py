"""Values of a terminal as JSON and back: exact, and with the names of their fields."""

import math
from typing import Any

import numpy as np

from bridge.errors import NoPackage, NotConnected, TerminalError, WrongAccount
from bridge.mt5.rates import RATES_DTYPE, RatesArray, sealed
from bridge.mt5.records import Record

FORMAT = "mt5-onnx-tape"
VERSION = 1

_KINDS = {each.__name__: each for each in Record.__subclasses__()}
_ERRORS = {each.__name__: each for each in (TerminalError, NotConnected, NoPackage, WrongAccount)}


def encode(value: Any) -> Any:
    """Return ``value`` as JSON holds it.

    Args:
        value: None, a number, a text, a record, rates, a request, or tuples and lists of these.
    """
    if isinstance(value, Record):
        fields = {name: encode(each) for name, each in value._asdict().items()}
        return {"kind": type(value).__name__, "fields": fields}
    if isinstance(value, tuple | list):
        return [encode(each) for each in value]
    if isinstance(value, dict):
        return {"request": {name: encode(each) for name, each in value.items()}}
    if isinstance(value, np.ndarray):
        return {"rates": {name: encode(value[name].tolist()) for name in RATES_DTYPE.names or ()}}
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value


def decode(value: Any) -> Any:
    """Return what :func:`encode` was given; a list is a tuple.

    Raises:
        KeyError, TypeError, ValueError: It is not of this format.
    """
    if isinstance(value, list):
        return tuple(decode(each) for each in value)
    if not isinstance(value, dict):
        return value
    if "kind" in value:
        kind, fields = _KINDS[value["kind"]], value["fields"]
        return kind(decode(fields[name]) for name in kind.__annotations__)
    ((what, content),) = value.items()
    if what == "float":
        return float(content)
    if what == "request":
        return {name: decode(each) for name, each in content.items()}
    if what == "rates":
        return _rates(content)
    raise ValueError(f"{what} is no kind of value")


def _rates(columns: dict[str, Any]) -> RatesArray:
    rates = np.zeros(len(columns["time"]), dtype=RATES_DTYPE)
    for name in RATES_DTYPE.names or ():
        rates[name] = decode(columns[name])
    return sealed(rates)


def encode_error(error: TerminalError, text: str) -> dict[str, Any]:
    """Return ``error`` as JSON holds it, with ``text`` in the place of its own."""
    name = next(each.__name__ for each in type(error).__mro__ if each.__name__ in _ERRORS)
    return {"class": name, "call": error.call, "code": error.code, "text": text}


def decode_error(fields: dict[str, Any]) -> TerminalError:
    """Return the error that was encoded.

    Raises:
        KeyError: It is not of this format.
    """
    return _ERRORS[fields["class"]](fields["call"], fields["code"], fields["text"])
