"""The paper terminal against the measured package: every constant, record, call and mask."""

import collections
import datetime as dt
import decimal
import json
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge.mt5.rates import RATES_DTYPE, TICKS_DTYPE
from bridge.terminal.paper.calling import FUNCTIONS, REQUEST_FIELDS
from bridge.terminal.paper.masks import matches
from bridge.terminal.paper.package import Package

FACTS = json.loads((Path(__file__).parents[1] / "data" / "mt5_api.json").read_text("utf-8"))

# Recorded calls that are not met, each with its reason; a call that is met may not stand here.
NOT_MET: dict[str, str] = {}


def test_every_constant_and_no_other() -> None:
    package = Package(None)
    public = {
        name: getattr(package, name)
        for name in dir(package)
        if name.isupper() and isinstance(getattr(package, name), int)
    }
    assert public == FACTS["constants"]
    assert len(public) == 223


def test_every_function_is_there_and_does_not_bind_to_another_class() -> None:
    package = Package(None)
    names = {function["name"] for function in FACTS["functions"]}
    assert len(names) == 32
    assert set(FUNCTIONS) | {"last_error"} == names
    holder = type("Holder", (), {name: getattr(package, name) for name in names})
    assert holder().version() == (0, 0, "")
    for helper in ("Buy", "Sell", "Close", "_RawOrder"):
        assert callable(getattr(package, helper))
    assert package.__version__ == FACTS["package_version"]
    assert package.__author__ == FACTS["package_author"]


def test_every_record_has_the_fields_of_the_package() -> None:
    package = Package(None)
    for name, fields in FACTS["structs"].items():
        record = getattr(package, name)
        assert list(record.__match_args__) == fields
        assert record.__module__ == "builtins"
        values = record(range(len(fields)))
        assert list(values._asdict()) == fields


def test_the_dtypes_are_those_of_the_package() -> None:
    assert [list(pair) for pair in RATES_DTYPE.descr] == FACTS["dtypes"]["rates"]
    assert [list(pair) for pair in TICKS_DTYPE.descr] == FACTS["dtypes"]["ticks"]
    assert RATES_DTYPE.itemsize == TICKS_DTYPE.itemsize == FACTS["array_traits"]["itemsize"]


def test_request_fields_are_checked_in_the_order_of_the_package() -> None:
    recorded = [field["name"] for field in FACTS["request"]["fields_in_check_order"]]
    assert [field.name for field in REQUEST_FIELDS] == recorded


def test_every_recorded_mask() -> None:
    cases = FACTS["group_mask"]["cases_mask_symbol_result"]
    assert len(cases) == 231
    wrong = [(mask, name) for mask, name, result in cases if matches(mask, name) is not result]
    assert wrong == []


def _answer(expression: str, names: dict[str, Any]) -> dict[str, Any]:
    try:
        value = eval(expression, names)  # noqa: S307  expressions of our own file of facts
    except (TypeError, SystemError, AttributeError) as error:
        answer = {"raises": type(error).__name__, "message": str(error)}
        if error.__cause__ is not None:
            answer["cause"] = f"{type(error.__cause__).__name__}: {error.__cause__}"
        return answer
    return {"returns": {"tuple": list(value)} if isinstance(value, tuple) else value}


def _recorded_answers() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Make all calls in the recorded order in one process: ``last_error`` carries over."""
    package = Package(None)
    names: dict[str, Any] = {
        "m": package,
        "np": np,
        "dt": dt,
        "decimal": decimal,
        "collections": collections,
        "types": types,
        "D": dt.datetime(2024, 1, 1),  # noqa: DTZ001  naive on purpose
        "E": dt.datetime(2024, 2, 1),  # noqa: DTZ001  naive on purpose
        "U": dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        "OK": {
            "action": 1,
            "symbol": "EURUSD",
            "volume": 0.1,
            "type": 0,
            "price": 1.1,
            "deviation": 10,
            "magic": 1,
            "comment": "c",
            "type_time": 0,
            "type_filling": 0,
        },
    }
    answers = []
    for probe in FACTS["no_terminal_probes"]:
        answer = _answer(probe["call"], names)
        answer["last_error"] = list(package.last_error())
        expected = {key: value for key, value in probe.items() if key != "call"}
        answers.append((probe["call"], answer, expected))
    return answers


ANSWERS = _recorded_answers()


@pytest.mark.parametrize(
    ("call", "answer", "expected"), ANSWERS, ids=[call[:60] for call, _, _ in ANSWERS]
)
def test_every_recorded_call(
    call: str, answer: dict[str, Any], expected: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    if call in NOT_MET:
        request.applymarker(pytest.mark.xfail(reason=NOT_MET[call], strict=True))
    assert answer == expected


def test_the_recorded_calls_are_all_there() -> None:
    assert len(ANSWERS) == 245
    assert set(NOT_MET) <= {call for call, _, _ in ANSWERS}
