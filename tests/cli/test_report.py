"""``mt5-onnx report`` as a user runs it."""

import hashlib
from pathlib import Path

import pytest
from report.report_journal import DEPOSIT, plain, row, write

from bridge.cli.main import run
from bridge.journal.read import reading
from bridge.mt5.servertime import parse
from bridge.report.account import account_of
from bridge.report.page.page import page
from bridge.share import share_dir

SHIPPED = share_dir("models") / "eurusd_h1_direction" / "model.onnx"


def test_html_picture_and_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path)
    assert run(["report", str(tmp_path)]) == 0
    assert "report.html" in capsys.readouterr().out
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    png = tmp_path / "a.png"
    assert run(["report", str(path), "--json", "--png", str(png)]) == 0
    found = plain(capsys.readouterr().out)
    assert found["statistics"]["total_net_profit"] == 28.0
    assert found["statistics"]["profit_trades"] == {"count": 1, "share": 0.5}
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_what_is_wrong_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes.txt"
    notes.write_text("hello", encoding="utf-8")
    path = write(tmp_path / "state")
    for arguments, words in (
        (["none.sqlite3"], "there is no journal at none.sqlite3"),
        ([str(notes)], "is no journal"),
        ([str(path), "--out", str(tmp_path / "no" / "such" / "a.html")], "can't be written"),
    ):
        assert run(["report", *arguments]) == 2
        said = capsys.readouterr().err
        assert words in said
        assert said.count("\n") == 1


def test_bars_inside_the_training_are_counted(tmp_path: Path) -> None:
    """The file is found by the name in the settings, and known by its hash."""
    sha256 = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
    trained_to = parse("2017.09.11 23:00")
    rows = [
        row(0, 1.1, DEPOSIT, bar_time=at, model_sha256=sha256)
        for at in (trained_to - 100_000, trained_to + 100_000)
    ]
    with reading(write(tmp_path, rows=rows, settings={"model": str(SHIPPED)})) as journal:
        found = account_of(journal)
    (model,) = found.models
    assert model.contract is not None
    assert model.contract.name == "eurusd_h1_direction"
    assert found.trained == 0.5
    assert "50% of these bars are bars the model was trained on" in page(found)


def test_a_model_of_another_hash_is_not_taken_for_it(tmp_path: Path) -> None:
    with reading(write(tmp_path, settings={"model": str(SHIPPED)})) as journal:
        found = account_of(journal, [SHIPPED])
    assert found.models[0].contract is None
    assert found.trained is None
