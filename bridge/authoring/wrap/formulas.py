"""Formulas in a file become expressions: the calls of the features' catalogue, and arithmetic.

Nothing of a formula is executed as Python; names, methods and numbers are looked up one by one.
"""

import ast
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from bridge.authoring.wrap.indicators import INDICATORS
from bridge.errors import ConfigError
from bridge.features.expr import (
    FIELDS,
    Bars,
    Expr,
    calendar,
    field,
    higher,
    maximum,
    minimum,
    safe_div,
    so_far,
    where,
)
from bridge.features.named import FAMILIES

# A formula is a line; a number in it counts bars, or is a price.
_LONGEST = 1_000
_LARGEST_BARS = 100_000

_NAMES: dict[str, object] = {
    **{name: field(name) for name in FIELDS},
    "median": Bars.median,
    "typical": Bars.typical,
    "bars": Bars(),
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for family in FAMILIES.values() for each in family},
    **{each.__name__: each for each in (calendar, higher, maximum, minimum, safe_div, so_far)},
    "where": where,
    **INDICATORS,
}
_METHODS = frozenset(
    {"abs", "log", "sqrt", "lag", "fir", "mean", "sum", "var", "std", "deviation", "highest"}
    | {"lowest", "bars_since_highest", "bars_since_lowest", "wma", "ema", "over_ema", "wilder"}
)
_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Gt: lambda a, b: a > b,
    ast.Lt: lambda a, b: a < b,
}
# What a call with the wrong arguments raises inside.
_MISTAKES = (TypeError, ValueError, AttributeError, KeyError, ZeroDivisionError, OverflowError)


class _Wrong(Exception):
    """What is wrong with a formula, without its text."""


def expression(name: str, formula: str) -> Expr:
    """Return the expression that ``formula`` writes.

    Args:
        name: The feature's, for messages.
        formula: ``rsi(close, 14)``, ``close / close.lag(1) - 1``, ``iATR(bars, 14)``: calls as the
            README's catalogue writes them, methods of expressions, + - * / > <.

    Raises:
        ConfigError: It is no formula, or names what does not exist.
    """
    try:
        made = _value(_parsed(formula))
        if not isinstance(made, Expr):
            raise _Wrong("it is no value of a bar: name a column or a feature")
    except _Wrong as wrong:
        raise ConfigError(f"feature {name}: {formula!r} can't be read: {wrong}") from None
    except (ConfigError, *_MISTAKES) as error:
        raise ConfigError(
            f"feature {name}: {formula!r} can't be read: {str(error).strip() or 'wrong arguments'}"
        ) from error
    return made


def _parsed(formula: str) -> ast.expr:
    if len(formula) > _LONGEST:
        raise _Wrong(f"it has {len(formula)} characters, the limit is {_LONGEST}")
    try:
        return ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _Wrong("it is no expression, such as rsi(close, 14)") from None


def _value(node: ast.expr) -> Any:
    for kind, read in _READERS.items():
        if isinstance(node, kind):
            return read(node)
    raise _Wrong(f"{ast.unparse(node)[:40]} is no number, column, feature or + - * / > <")


def _name(node: ast.Name) -> object:
    if node.id in _NAMES:
        return _NAMES[node.id]
    if node.id in _FUNCTIONS:
        raise _Wrong(f"write it with its arguments: {_call_of(node.id)}")
    raise _Wrong(_unknown(node.id, {**_NAMES, **_FUNCTIONS}))


def _constant(node: ast.Constant) -> object:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _Wrong(f"{value!r} is no number")
    if isinstance(value, int) and value > _LARGEST_BARS:
        raise _Wrong(f"{value} is too many bars, the limit is {_LARGEST_BARS}; a price has a point")
    return value


def _arithmetic(node: ast.BinOp) -> Any:
    return _operator(node.op)(_value(node.left), _value(node.right))


def _comparison(node: ast.Compare) -> Any:
    if len(node.ops) != 1:
        raise _Wrong("compare two values, and join comparisons with *")
    return _operator(node.ops[0])(_value(node.left), _value(node.comparators[0]))


def _operator(op: ast.AST) -> Callable[[Any, Any], Any]:
    if type(op) not in _BINARY:
        raise _Wrong(f"the operator {type(op).__name__} is none of + - * / > <")
    return _BINARY[type(op)]


def _negative(node: ast.UnaryOp) -> Any:
    if not isinstance(node.op, ast.USub):
        raise _Wrong(f"the operator {type(node.op).__name__} is none of + - * / > <")
    return -_value(node.operand)


def _numbers(node: ast.List | ast.Tuple) -> list[Any]:
    return [_value(each) for each in node.elts]


def _call(node: ast.Call) -> Any:
    if any(each.arg is None for each in node.keywords):
        raise _Wrong("write each argument by itself")
    arguments = [_value(each) for each in node.args]
    named = {str(each.arg): _value(each.value) for each in node.keywords}
    if isinstance(node.func, ast.Attribute):
        return _method(node.func)(*arguments, **named)
    if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS:
        raise _Wrong(_unknown(ast.unparse(node.func), _FUNCTIONS))
    try:
        return _FUNCTIONS[node.func.id](*arguments, **named)
    except _MISTAKES:
        raise _Wrong(f"write it as {_call_of(node.func.id)}") from None


def _method(node: ast.Attribute) -> Callable[..., Any]:
    owner = _value(node.value)
    if not isinstance(owner, Expr) or node.attr not in _METHODS:
        raise _Wrong(_unknown(f".{node.attr}", {f".{name}": None for name in _METHODS}))
    method: Callable[..., Any] = getattr(owner, node.attr)
    return method


def _call_of(name: str) -> str:
    parameters = inspect.signature(_FUNCTIONS[name]).parameters.values()
    shown = [
        each.name if each.default is inspect.Parameter.empty else f"{each.name}={each.default!r}"
        for each in parameters
    ]
    return f"{name}({', '.join(shown)})"


def _unknown(name: str, known: Mapping[str, object]) -> str:
    close = get_close_matches(name, known, n=1)
    step = f"did you mean {close[0]}?" if close else "the README of bridge/features lists them"
    return f"there is no {name[:40]}: {step}"


_READERS: dict[Any, Callable[[Any], Any]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.BinOp: _arithmetic,
    ast.Compare: _comparison,
    ast.UnaryOp: _negative,
    (ast.List, ast.Tuple): _numbers,
    ast.Call: _call,
}
