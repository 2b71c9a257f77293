"""The model: file, age, hours; and positions."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doctor.doctor_desk import Patient, broker

from bridge.doctor import model
from bridge.doctor.finding import Finding, Grade
from bridge.doctor.ground import Missing
from bridge.mt5 import constants as mt5
from bridge.mt5.request import RequestDict
from bridge.settings import Mode


def code(found: Finding) -> tuple[Grade, int]:
    return found.grade, found.exit_code


def test_a_model_that_runs_is_named_by_its_hash(tmp_path: Path) -> None:
    subject = Patient(folder=tmp_path).subject()
    found = model.model(subject)
    assert found.grade is Grade.OK
    assert f"sha256 {subject.strategy.model.sha256[:12]} (not pinned)" in found.found
    pinned = {"sha256": subject.strategy.model.sha256}
    assert "(as pinned)" in model.model(Patient(folder=tmp_path, strategy=pinned).subject()).found


@pytest.mark.parametrize(
    ("strategy", "says"),
    [
        ({"sha256": "0" * 64}, "the settings pin 0000"),
        ({"model": "nix.onnx"}, "nix.onnx does not exist"),
        ({"timeframe": "H4"}, 'set timeframe = "H1"'),
        ({"symbol": "GBPUSD"}, "was made for EURUSD"),
    ],
)
def test_a_model_that_can_not_be_used_is_a_fault_of_the_model(
    tmp_path: Path, strategy: dict[str, Any], says: str
) -> None:
    profile = broker(symbol=strategy.get("symbol", "EURUSD"))
    findings = Patient(folder=tmp_path, profile=profile, strategy=strategy).examined()
    found = findings["model mover"]
    assert code(found) == (Grade.FAIL, 4)
    assert says in found.found
    # What needs the model is skipped, and what does not is looked at.
    needing = ("sides", "history", "stops", "model age", "model hours")
    assert {findings[f"{name} mover"].grade for name in needing} == {Grade.SKIPPED}
    assert findings["sides mover"].found == "the model of mover can't be used"
    others = [each for each in findings.values() if each.grade is Grade.FAIL]
    assert [each.check for each in others] == ["model mover"]
    assert findings["positions mover"].grade is Grade.OK


@pytest.mark.parametrize(
    ("contract", "grade", "says"),
    [
        # The sample ends at 2017-12-29 22:00 UTC.
        ({"created": "2017-12-20"}, Grade.OK, "made on 2017-12-20, 9 days ago"),
        ({"created": "2017-07-02"}, Grade.OK, "made on 2017-07-02, 180 days ago"),
        ({"created": "2017-07-01"}, Grade.WARN, "made on 2017-07-01, 181 days ago, more than 180"),
        ({"created": "2026-01-01"}, Grade.OK, "made on 2026-01-01, 0 days ago"),
        (
            {"train_from": "2016-01-04T00:00:00", "train_to": "2016-12-30T23:00:00"},
            Grade.WARN,
            "trained up to 2016-12-30, 364 days ago",
        ),
        (
            {"train_from": "2016-01-04T00:00:00", "train_to": "2017-12-01T23:00:00"},
            Grade.OK,
            "trained up to 2017-12-01, 28 days ago",
        ),
    ],
)
def test_a_model_ages_from_the_end_of_its_training(
    tmp_path: Path, contract: dict[str, Any], grade: Grade, says: str
) -> None:
    found = model.age(Patient(folder=tmp_path, contract=contract).subject())
    assert found.grade is grade
    assert says in found.found
    assert bool(found.todo) == (grade is Grade.WARN)


def test_a_model_that_reads_the_hour_wants_the_clock_of_its_training(tmp_path: Path) -> None:
    assert code(model.hours(Patient(folder=tmp_path).subject())) == (Grade.OK, 0)
    found = model.hours(Patient(folder=tmp_path, contract={"server_clock": "utc"}).subject())
    assert code(found) == (Grade.FAIL, 4)
    assert "these bars follow eet-us" in found.found
    blind = {"server_clock": "utc", "features": {"nodes": []}}
    found = model.hours(Patient(folder=tmp_path, contract=blind).subject())
    assert code(found) == (Grade.OK, 0)
    assert "does not read the hour" in found.found


def bought(subject: Any, magic: int) -> None:
    tick = subject.read_tick()
    order: RequestDict = {
        "action": mt5.TRADE_ACTION_DEAL,
        "symbol": "EURUSD",
        "volume": 0.1,
        "type": mt5.ORDER_TYPE_BUY,
        "price": tick.ask,
        "magic": magic,
    }
    result = subject.site.terminal.order_send(order)
    assert result.retcode == mt5.TRADE_RETCODE_DONE


def test_open_positions_are_told(tmp_path: Path) -> None:
    subject = Patient(folder=tmp_path).subject()
    assert model.positions(subject).found == "open with magic 7: none"
    bought(subject, 7)
    bought(subject, 8)
    found = model.positions(subject)
    assert found.grade is Grade.OK
    assert found.found.startswith("open with magic 7: long 0.1 EURUSD from 1.")
    assert found.found.count("long") == 1


def test_somebody_elses_position_is_in_the_way_on_a_netting_account(tmp_path: Path) -> None:
    netting = broker(account={"margin_mode": "netting"})
    subject = Patient(folder=tmp_path, profile=netting).subject()
    bought(subject, 7)
    assert model.positions(subject).grade is Grade.OK
    subject = Patient(folder=tmp_path, profile=netting).subject()
    bought(subject, 8)
    found = model.positions(subject)
    assert found.grade is Grade.WARN
    assert "is somebody else's" in found.found


def test_the_paper_account_is_left_alone(tmp_path: Path) -> None:
    patient = Patient(folder=tmp_path)
    settings = patient.settings().model_copy(update={"mode": Mode.PAPER})
    found = model.positions(patient.subject(patient.site(settings)))
    assert found.grade is Grade.SKIPPED


def test_without_a_recording_nobody_knows_how_old_a_model_is(tmp_path: Path) -> None:
    """Its bars are of 2016, and this computer's clock is not that of a recording."""
    patient = Patient(
        folder=tmp_path,
        contract={"train_from": "2016-01-04T00:00:00", "train_to": "2016-12-30T23:00:00"},
    )
    settings = patient.settings().model_copy(update={"mode": Mode.PAPER})
    subject = patient.subject(patient.site(settings))
    link = type(subject.site.link)(clock=subject.site.clock, fault=ValueError("no file"))
    site = type(subject.site)(settings, link, subject.site.clock)
    alone = replace(subject, site=site)
    with pytest.raises(Missing, match="no recording"):
        model.age(alone)
