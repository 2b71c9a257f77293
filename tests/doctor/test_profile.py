"""A profile that was saved, and the broker as it is now."""

from pathlib import Path
from typing import Any

from doctor.doctor_desk import Patient, broker

from bridge.doctor.finding import Grade
from bridge.doctor.ground import Site
from bridge.doctor.profile import profile
from bridge.settings import Mode, PaperSettings


def site_with(folder: Path, saved: Path | None, **changes: Any) -> Site:
    patient = Patient(folder=folder, profile=broker(**changes))
    settings = patient.settings().model_copy(
        update={"paper": PaperSettings(profile=None if saved is None else str(saved))}
    )
    return patient.site(settings)


def test_a_broker_that_has_changed_since_is_told(tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    broker().save(saved)
    same = profile(site_with(tmp_path, saved))
    assert same.grade is Grade.OK
    dearer = profile(site_with(tmp_path, saved, swap_long=-9.0, trade_stops_level=20))
    assert dearer.grade is Grade.WARN
    assert "EURUSD: swap_long is -9.0, the profile says -7.0" in dearer.found
    assert "trade_stops_level is 20" in dearer.found
    assert dearer.todo


def test_without_a_profile_or_on_a_recording_nothing_is_compared(tmp_path: Path) -> None:
    assert profile(site_with(tmp_path, None)).grade is Grade.SKIPPED
    patient = Patient(folder=tmp_path)
    paper = patient.settings().model_copy(update={"mode": Mode.PAPER})
    assert profile(patient.site(paper)).grade is Grade.SKIPPED
