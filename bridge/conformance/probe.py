"""A probe: one question, and the facts of its answer that both terminals should share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from bridge.conformance.desk import Desk
from bridge.mt5.records import Record

Facts = Mapping[str, Any]
"""Name of a fact -> what it is; tickets and money appear as relations only."""


class Reach(Enum):
    """What a probe may do to the account."""

    READ = "read"
    """Nothing at all."""
    REFUSAL = "refusal"
    """It sends what no server can carry out."""
    TRADE = "trade"
    """It sends what a server may carry out; of the smallest volume."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A question.

    Attributes:
        name: What is asked, as the report shows it.
        ask: Asks it, and returns the facts; raises ``Skip`` where it can't be asked.
        reach: What it may do.
    """

    name: str
    ask: Callable[[Desk], Facts]
    reach: Reach = Reach.READ


RAISED = (OverflowError, SystemError, TypeError, ValueError)
"""What the package raises of wrong arguments; the host passes it on."""


def called(desk: Desk, verb: str, *args: Any, **keywords: Any) -> Facts:
    """Return what comes of a call: shape of the answer, and code and text of ``last_error``."""
    try:
        answer = desk.call(verb, *args, **keywords)
    except RAISED as error:
        return {"raises": type(error).__name__}
    return {"answer": shape(answer), "code": desk.error[0], "text": desk.error[1]}


def shape(answer: Any) -> str:
    """Return the kind of an answer in words; its numbers are left out."""
    if answer is None or isinstance(answer, bool):
        return str(answer)
    if isinstance(answer, np.ndarray):
        return f"{'no' if len(answer) == 0 else 'some'} rows"
    if isinstance(answer, tuple) and not isinstance(answer, Record):
        return f"records of {type(answer[0]).__name__}" if answer else "no records"
    return type(answer).__name__


def of_array(array: Any) -> Facts:
    """Return what an array is made of."""
    if array is None:
        return {"answer": "None"}
    return {
        "dtype": ", ".join(f"{name} {array.dtype[name].str}" for name in array.dtype.names or ()),
        "writeable": bool(array.flags.writeable),
        "dimensions": array.ndim,
    }


def of_record(record: Any) -> Facts:
    """Return the fields of a record, in their order, with the type of each value."""
    if record is None:
        return {"answer": "None"}
    fields = record._asdict()
    types = {f"type of {name}": type(value).__name__ for name, value in fields.items()}
    return {"record": type(record).__name__, "fields": " ".join(fields), **types}
