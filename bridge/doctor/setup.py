"""Settings and disk: what can be looked at before anything is connected."""

import os
import shutil
from pathlib import Path

from bridge.doctor.finding import Finding, fail, ok, warn
from bridge.engine.watch import HALT_FILE
from bridge.settings import BridgeSettings, Mode

_FAULT = 2
_MEGABYTE = 1_000_000
_LEAST, _AMPLE = 100 * _MEGABYTE, 1_000 * _MEGABYTE


def settings_read(settings: BridgeSettings, file: Path) -> Finding:
    """Say what the file asks for; it has been read, so it is sound."""
    found = f"{file}: mode {settings.mode}, {_counted(len(settings.strategy))}"
    if settings.mode is Mode.PAPER:
        return ok(f"{found}, no password needed")
    secret = "from MT5_PASSWORD" if settings.terminal.password else "the terminal's stored one"
    found += f", password: {secret}"
    if settings.mode is Mode.LIVE:
        return warn(f"{found}; orders are real", "add --live to mt5-onnx run when you mean it")
    return ok(found)


def state_folder(settings: BridgeSettings, file: Path) -> Finding:
    """Write a file in the state folder, or where it is going to be made."""
    folder = Path(settings.state)
    there = _nearest(folder)
    probe = there / f".mt5-onnx-doctor-{os.getpid()}"
    try:
        probe.write_bytes(b"probe")
        probe.unlink()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        todo = f"name another folder as state in {file.name}, or change the rights of this one"
        return fail(_FAULT, f"{there} can't be written ({reason})", todo)
    return ok(f"{folder} can be written" + ("" if there == folder else ", the first run makes it"))


def free_space(settings: BridgeSettings, file: Path) -> Finding:
    """Ask how much room there is on the state folder's disk."""
    there = _nearest(Path(settings.state))
    return judge_space(there, shutil.disk_usage(there).free)


def judge_space(folder: Path, free: int) -> Finding:
    """Judge the room for the journal.

    Args:
        folder: On the disk.
        free: Bytes.
    """
    found = f"{free / _MEGABYTE:,.0f} MB are free at {folder}"
    todo = "make room, or name a folder on another disk as state"
    if free < _LEAST:
        return fail(_FAULT, f"{found}, at least {_LEAST // _MEGABYTE} MB are needed", todo)
    if free < _AMPLE:
        return warn(f"{found}, a journal of some months may need more", todo)
    return ok(found)


def halt_file(settings: BridgeSettings, file: Path) -> Finding:
    """Look whether somebody has ended entries."""
    if (Path(settings.state) / HALT_FILE).exists():
        return warn("entries are halted, by a limit or by a person", "mt5-onnx resume allows them")
    return ok("entries are not halted")


def _counted(number: int) -> str:
    return "1 strategy" if number == 1 else f"{number} strategies"


def _nearest(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.exists())
