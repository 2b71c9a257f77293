"""What the broker would say to an entry."""

from pathlib import Path
from typing import Any

import pytest
from doctor.doctor_desk import Patient, broker

from bridge.doctor import orders
from bridge.doctor.finding import Finding, Grade


def code(found: Finding) -> tuple[Grade, int]:
    return found.grade, found.exit_code


@pytest.mark.parametrize(
    ("mask", "execution", "grade", "says"),
    [
        (3, 2, Grade.OK, "market execution, orders go as fill or kill, the symbol allows fill or"),
        (2, 2, Grade.OK, "orders go as immediate or cancel, the symbol allows immediate or cancel"),
        (0, 2, Grade.WARN, "the symbol allows none by name"),
        (4, 2, Grade.WARN, "the symbol allows book or cancel"),
        (0, 3, Grade.OK, "exchange execution, orders go as return"),
        (0, 1, Grade.OK, "instant execution, orders go as fill or kill"),
        (3, 9, Grade.OK, "unknown (9) execution"),
    ],
)
def test_the_filling_is_one_that_the_symbol_allows(
    tmp_path: Path, mask: int, execution: int, grade: Grade, says: str
) -> None:
    odd = {"symbol_info": {"filling_mode": mask, "trade_exemode": execution}}
    found = orders.filling(Patient(folder=tmp_path, odd=odd).subject())
    assert found.grade is grade
    assert says in found.found


POINTS = {"stop_points": 500, "take_points": 700}


# The sample's spread is 10 points; a stop is measured from the price that closes the position.
@pytest.mark.parametrize(
    ("level", "decision", "grade", "says"),
    [
        (0, POINTS, Grade.OK, "stop 500 points, take profit 700 points; stops level 0 points"),
        (490, POINTS, Grade.OK, "stops level 490 points, freeze level 0 points"),
        (495, POINTS, Grade.WARN, "spread 10 points: the stop would be too near"),
        (501, POINTS, Grade.FAIL, "the stop would be too near"),
        (800, POINTS, Grade.FAIL, "the stop and the take profit would be too near"),
        (100, {"stop_points": 500, "take_points": 80}, Grade.FAIL, "the take profit would be too"),
        (100, {"stop_points": 500, "take_points": 95}, Grade.OK, "take profit 95 points"),
        (0, {"stop_ranges": 4.0}, Grade.OK, "(4 ranges now), no take profit"),
        (5000, {"stop_ranges": 4.0}, Grade.WARN, "the stop would be too near"),
    ],
)
def test_levels_are_held_against_the_stops_level(
    tmp_path: Path, level: int, decision: dict[str, Any], grade: Grade, says: str
) -> None:
    patient = Patient(
        folder=tmp_path,
        profile=broker(trade_stops_level=level),
        strategy={"decision": decision},
    )
    found = orders.stops(patient.subject())
    assert code(found) == (grade, 2 if grade is Grade.FAIL else 0)
    assert says in found.found


def test_an_entry_without_a_stop_is_refused_unless_settings_allow_it(tmp_path: Path) -> None:
    no_stop = {"decision": {"open_at": 0.5}}
    found = orders.stops(Patient(folder=tmp_path, contract=no_stop).subject())
    assert code(found) == (Grade.FAIL, 2)
    assert "every entry is refused" in found.found
    allowed = {"risk": {"require_stop": False}}
    found = orders.stops(Patient(folder=tmp_path, strategy=allowed, contract=no_stop).subject())
    assert code(found) == (Grade.OK, 0)


@pytest.mark.parametrize(
    ("risk", "symbol", "grade", "says"),
    [
        ({"volume": 0.1}, {}, Grade.OK, "EURUSD takes 0.01 to 100 in steps of 0.01"),
        ({"volume": 0.001}, {}, Grade.FAIL, "volume = 0.01 or more"),
        ({"volume": 0.1}, {"volume_min": 1.0}, Grade.FAIL, "volume = 1 or more"),
        ({"volume": 0.115}, {}, Grade.WARN, "0.11 are sent"),
        ({"volume": 0.5}, {"volume_max": 0.3}, Grade.WARN, "0.3 are sent"),
        ({"volume": 2.0}, {}, Grade.FAIL, "max_volume, which is 1"),
        ({"volume": 2.0, "max_volume": 2.0}, {}, Grade.OK, "2 lots"),
    ],
)
def test_a_fixed_volume_is_one_that_the_symbol_takes(
    tmp_path: Path, risk: dict[str, Any], symbol: dict[str, Any], grade: Grade, says: str
) -> None:
    patient = Patient(folder=tmp_path, profile=broker(**symbol), strategy={"risk": risk})
    found = orders.volume(patient.subject())
    assert code(found) == (grade, 2 if grade is Grade.FAIL else 0)
    assert says in found.found + found.todo


def by_risk(tmp_path: Path, deposit: float, **decision: float) -> Finding:
    patient = Patient(
        folder=tmp_path,
        profile=broker(account={"deposit": deposit}),
        strategy={"risk": {"risk_share": 0.01}, "decision": decision},
    )
    return orders.volume(patient.subject())


def test_the_smallest_order_may_risk_more_than_is_allowed(tmp_path: Path) -> None:
    """0.01 lots of EURUSD lose a cent a point."""
    found = by_risk(tmp_path, 1_000.0, stop_points=1_420)
    assert code(found) == (Grade.FAIL, 2)
    assert found.found == ("0.01 lots lose 14.20 USD at the stop, 1 % of equity is 10.00 USD")
    assert "risk_share" in found.todo
    found = by_risk(tmp_path, 1_420.0, stop_points=1_420)
    assert code(found) == (Grade.OK, 0)
    assert found.found == "0.01 lots risk 14.20 of 14.20 USD"


def test_a_stop_in_ranges_may_be_narrower_tomorrow(tmp_path: Path) -> None:
    found = by_risk(tmp_path, 100.0, stop_ranges=4.0)
    assert code(found) == (Grade.WARN, 0)
    assert "1 % of equity is 1.00 USD" in found.found
    assert by_risk(tmp_path, 100_000.0, stop_ranges=4.0).grade is Grade.OK


def test_a_share_of_risk_needs_a_stop_and_money(tmp_path: Path) -> None:
    patient = Patient(
        folder=tmp_path,
        contract={"decision": {"open_at": 0.5}},
        strategy={"risk": {"risk_share": 0.01, "require_stop": False}},
    )
    found = orders.volume(patient.subject())
    assert code(found) == (Grade.FAIL, 2)
    assert found.todo == "set a stop, or a fixed volume"
    broke = Patient(
        folder=tmp_path,
        odd={"account_info": {"equity": 0.0}},
        strategy={"risk": {"risk_share": 0.01}},
    )
    found = orders.volume(broke.subject())
    assert code(found) == (Grade.FAIL, 2)
    assert found.todo == "pay money into the account"
