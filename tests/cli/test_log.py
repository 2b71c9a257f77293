"""The log: human lines or JSON, rotated, one line an event, quiet about what is nothing."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from bridge.cli.log import LOG, Watcher
from bridge.errors import ConfigError
from bridge.settings import (
    BridgeSettings,
    LogSettings,
    PaperBars,
    PaperSettings,
    StrategySettings,
)


def settings(folder: Path, **log: object) -> BridgeSettings:
    return BridgeSettings(
        state=str(folder),
        log=LogSettings.model_validate(log),
        paper=PaperSettings(
            profile="p", bars=(PaperBars(symbol="EURUSD", timeframe="H1", path="b"),)
        ),
        strategy=(
            StrategySettings(name="mine", model="m", symbol="EURUSD", timeframe="H1", magic=7),
        ),
    )


def lines(folder: Path) -> list[str]:
    return (folder / LOG).read_text(encoding="utf-8").splitlines()


def test_events_are_lines_with_time_gravity_and_strategy(tmp_path: Path) -> None:
    said: list[str] = []
    with closing(Watcher(settings(tmp_path), said.append)) as watcher:
        watcher.on_event("halt", "no more entries: größer", 7)
        watcher.on_event("alarm", "two\nlines", None)
        watcher.on_event("snapshot", "{}", None)
    first, second = lines(tmp_path)
    assert first.endswith("Z  ERROR    mine  halt: no more entries: größer")
    assert second.endswith("-  alarm: two lines")
    assert said == ["mine: no more entries: größer", "two lines"]


def test_json_lines_are_json(tmp_path: Path) -> None:
    with closing(Watcher(settings(tmp_path, json_lines=True), lambda line: None)) as watcher:
        watcher.on_event("unresolved", 'a "quoted" thing', 9)
    (line,) = lines(tmp_path)
    told = json.loads(line)
    assert told.pop("time").endswith("Z")
    assert told == {
        "level": "error",
        "strategy": "9",
        "kind": "unresolved",
        "text": 'a "quoted" thing',
    }


def test_levels_keep_things_out(tmp_path: Path) -> None:
    with closing(Watcher(settings(tmp_path, level="error"), lambda line: None)) as watcher:
        watcher.on_event("alarm", "a warning", None)
        watcher.on_event("halt", "an error", None)
    assert len(lines(tmp_path)) == 1


def test_it_rotates_and_keeps_so_many(tmp_path: Path) -> None:
    rotating = settings(tmp_path, rotate_bytes=10_000, keep_files=2)
    with closing(Watcher(rotating, lambda line: None)) as watcher:
        for number in range(600):
            watcher.on_event("alarm", f"{number:06} {'x' * 60}", None)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [LOG, f"{LOG}.1", f"{LOG}.2"]
    assert all(path.stat().st_size <= 10_000 for path in tmp_path.iterdir())
    assert lines(tmp_path)[-1].endswith("x" * 60)


def test_a_folder_that_can_t_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="can't be written"):
        Watcher(settings(tmp_path / "file"), lambda line: None)
