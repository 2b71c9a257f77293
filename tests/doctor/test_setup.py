"""Settings and disk."""

from pathlib import Path

from doctor.doctor_desk import FILE, Patient
from pydantic import SecretStr

from bridge.doctor import setup
from bridge.doctor.finding import Grade
from bridge.settings import BridgeSettings


def test_live_mode_is_told_that_the_command_has_to_say_so_too(tmp_path: Path) -> None:
    found = setup.settings_read(Patient(folder=tmp_path).settings(), FILE)
    assert found.grade is Grade.WARN
    assert "mode live, 1 strategy, password: the terminal's stored one" in found.found
    assert "--live" in found.todo


def test_a_password_is_named_and_not_shown(tmp_path: Path) -> None:
    settings = Patient(folder=tmp_path, top={"mode": "dry-run"}).settings()
    terminal = settings.terminal.with_password(SecretStr("pa55-of-mine"))
    found = setup.settings_read(settings.model_copy(update={"terminal": terminal}), FILE)
    assert found.grade is Grade.OK
    assert "password: from MT5_PASSWORD" in found.found
    assert "pa55" not in repr(found)


def state_at(folder: Path, tmp_path: Path) -> BridgeSettings:
    return Patient(folder=tmp_path, top={"state": str(folder)}).settings()


def test_the_state_folder_is_tried_and_nothing_is_left_behind(tmp_path: Path) -> None:
    there, absent = tmp_path / "there", tmp_path / "not" / "yet"
    there.mkdir()
    for folder, says in ((there, "can be written"), (absent, "the first run makes it")):
        found = setup.state_folder(state_at(folder, tmp_path), FILE)
        assert found.grade is Grade.OK
        assert says in found.found
    assert list(there.iterdir()) == []
    assert not absent.parent.exists()


def test_a_state_folder_that_can_not_be_is_a_fault_of_settings(tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.touch()
    found = setup.state_folder(state_at(file / "state", tmp_path), FILE)
    assert (found.grade, found.exit_code) == (Grade.FAIL, 2)
    assert "can't be written" in found.found
    assert "state in bridge.toml" in found.todo


def test_free_space_is_judged_by_its_megabytes(tmp_path: Path) -> None:
    grades = [
        (setup.judge_space(tmp_path, free).grade, setup.judge_space(tmp_path, free).exit_code)
        for free in (0, 99_999_999, 100_000_000, 999_999_999, 1_000_000_000)
    ]
    assert grades == [(Grade.FAIL, 2)] * 2 + [(Grade.WARN, 0)] * 2 + [(Grade.OK, 0)]


def test_free_space_is_asked_of_the_disk(tmp_path: Path) -> None:
    found = setup.free_space(state_at(tmp_path / "not" / "yet", tmp_path), FILE)
    assert f"free at {tmp_path}" in found.found


def test_a_halt_file_is_told(tmp_path: Path) -> None:
    settings = Patient(folder=tmp_path).settings()
    assert setup.halt_file(settings, FILE).grade is Grade.OK
    state = Path(settings.state)
    state.mkdir()
    (state / "HALT").touch()
    found = setup.halt_file(settings, FILE)
    assert found.grade is Grade.WARN
    assert "mt5-onnx resume" in found.todo
