"""What pydantic found, as one sentence: the key, the value, what is allowed."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

Place = tuple[int | str, ...]

SECRET_WORDS = ("password", "passwd", "token", "secret")
# Longest value that a sentence shows, characters.
_LONGEST = 80
# pydantic's type of fault -> what is allowed; its own words where there are none here.
_ALLOWED = {
    "missing": "has to be given",
    "greater_than": "has to be above {gt}",
    "greater_than_equal": "has to be at least {ge}",
    "less_than": "has to be below {lt}",
    "less_than_equal": "has to be at most {le}",
    "finite_number": "has to be a finite number",
    "float_type": "has to be a number",
    "int_type": "has to be a whole number",
    "int_from_float": "has to be a whole number",
    "bool_type": "has to be true or false",
    "string_type": "has to be text in quotes",
    "string_too_short": "may not be empty",
    "tuple_type": "has to be a list in square brackets",
    "too_short": "has to have at least {min_length} of them",
    "dict_type": "has to be a table",
    "model_type": "has to be a table",
    "literal_error": "has to be {expected}",
    "enum": "has to be {expected}",
}


def is_secret(key: str) -> bool:
    """Return whether a key of this name would hold a secret."""
    return any(word in key.casefold() for word in SECRET_WORDS)


def first_fault(error: ValidationError) -> str:
    """Return the first thing that pydantic found, as one sentence: key, value, what is allowed.

    The value is shown only when it is a scalar, and not that of a secret or of an unknown key.
    """
    fault = _first(error)
    return _sentence(".".join(map(str, fault["loc"])), fault)


def first_fault_of(error: ValidationError, model: type[BaseModel], *, inside: Place = ()) -> str:
    """Return the first fault as :func:`first_fault` does, for a person with a file open.

    Entries of a list are counted from 1. An unknown key comes first, since a key that is
    misspelt is missing, too; it is answered with the closest one that ``model`` knows there.

    Args:
        error: What validating ``model`` raised.
        model: What was validated.
        inside: Where in the file it stands.
    """
    for fault in error.errors(include_url=False):
        if fault["type"] == "extra_forbidden":
            return _unknown(fault["loc"], model, inside)
    first = _first(error)
    return _sentence(in_words((*inside, *first["loc"])), first)


def in_words(place: Place) -> str:
    """Return ``("strategy", 1, "risk", "volume")`` as ``strategy 2, risk.volume``."""
    words = ""
    for part in place:
        if isinstance(part, int):
            words += f" {part + 1}"
        elif words:
            words += f", {part}" if words[-1].isdigit() else f".{part}"
        else:
            words = part
    return words


def _first(error: ValidationError) -> dict[str, Any]:
    return dict(error.errors(include_url=False)[0])


def _sentence(key: str, fault: dict[str, Any]) -> str:
    known = _ALLOWED.get(fault["type"], "").format_map(_plain(fault.get("ctx", {})))
    allowed: str = known or fault["msg"].removeprefix("Value error, ")
    if not key:
        return allowed
    return (
        f"{key} = {_short(fault['input'])}: {allowed}" if _may_show(fault) else f"{key}: {allowed}"
    )


def _plain(context: dict[str, Any]) -> dict[str, Any]:
    """Return bounds as a person writes them: 0, not 0.0."""
    return {key: f"{it:g}" if isinstance(it, float) else it for key, it in context.items()}


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


def _may_show(fault: dict[str, Any]) -> bool:
    return (
        fault["type"] not in ("extra_forbidden", "missing")
        and isinstance(fault["input"], bool | int | float | str)
        and not any(is_secret(str(part)) for part in fault["loc"])
    )


def _unknown(place: Place, model: type[BaseModel], inside: Place) -> str:
    table, key = place[:-1], str(place[-1])
    here = _model_at(table, model)
    said = f"{in_words((*inside, *table)) or 'the top of the file'} has no key {key}"
    known = list(here.model_fields)
    for other, fields in _tables((), model):
        if key in fields:
            home = (
                f"[{'.'.join(map(str, other))}]" if other else "the lines before the first [table]"
            )
            return f"{said}: it belongs in {home}"
    if close := get_close_matches(key, known, n=1):
        return f"{said}: did you mean {close[0]}?"
    return f"{said}: use one of {', '.join(known)}"


def _model_at(place: Place, model: type[BaseModel]) -> type[BaseModel]:
    for part in place:
        if isinstance(part, str):
            model = _model_in(model.model_fields[part].annotation) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a field holds: itself, optional, or in a tuple."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_model_in(part) for part in get_args(annotation))
    return next((found for found in inner if found is not None), None)


def _tables(place: Place, model: type[BaseModel]) -> Iterator[tuple[Place, list[str]]]:
    yield place, list(model.model_fields)
    for name, field in model.model_fields.items():
        if inner := _model_in(field.annotation):
            yield from _tables((*place, name), inner)
