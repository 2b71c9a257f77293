"""JSON for machines: valid everywhere, so that NaN and infinity are null."""

import json
import math
from collections.abc import Mapping
from typing import Any


def as_json(value: object, *, indent: int | None = None) -> str:
    """Return ``value`` as JSON; what is no finite number becomes null, numpy's become plain."""
    return json.dumps(_plain(value), indent=indent, allow_nan=False, ensure_ascii=False)


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    item = getattr(value, "item", None)  # a numpy scalar
    return _plain(item()) if item is not None else str(value)
