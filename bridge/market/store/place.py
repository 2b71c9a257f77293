"""Where bars lie on disk, and how files get there whole.

A file that is open can't be replaced or removed on Windows. So files of bars get a new name each
time and are never replaced; the small index that names them is, in one step, and a reader has it
open for a moment only.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from bridge.clock import SystemClock
from bridge.errors import DataError

# What Windows takes for a device, whatever its ending.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9._#&+=@-]| (?=.)")
_TRIES, _PAUSE = 20, 0.1


def default_folder() -> Path:
    """Return the folder of this user's bars: all settings files share a broker's history."""
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME")
    base = Path(named) if named else Path.home() / ".local" / "share"
    return base / "mt5-onnx" / "bars"


def file_name(name: str) -> str:
    """Return ``name`` as the name of a folder that every system takes.

    What a system may not take becomes ``%`` and its number: ``BTC/USD`` is ``BTC%2FUSD``, and
    the dot that ends ``EURUSD.`` is ``%2E``.
    """
    said = "".join(each if _PLAIN.match(each + "x") else _coded(each) for each in name)
    if said.endswith((".", " ")):
        said = said[:-1] + _coded(said[-1])
    return _coded(said[0]) + said[1:] if said.startswith(".") or _DEVICES.match(said) else said


def _coded(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def put(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file and give it its name when it is whole and on the disk.

    Args:
        path: Its name; what is there is replaced.
        write: Writes the content.

    Raises:
        DataError: It can't be written, or another program keeps the old one open.
    """
    partial = path.with_name(f"{path.name}.part")
    try:
        with partial.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        _replace(partial, path)
        _sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise DataError(
            f"{path} can't be written ({error.strerror or error}); the store is as it was: "
            "make room, or close the program that has the file open, and try again"
        ) from error


def _replace(partial: Path, path: Path) -> None:
    clock = SystemClock()
    for left in reversed(range(_TRIES)):
        try:
            os.replace(partial, path)
        except PermissionError:  # open elsewhere, on Windows: readers are quick
            if not left:
                raise
            clock.wait_until(clock.now() + _PAUSE)
        else:
            return


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold the right to write into ``folder`` while the block runs; the folder is made.

    Raises:
        DataError: Another program holds it, or the folder can't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("a")
    except OSError as error:
        raise DataError(
            f"{folder} can't be written to ({error.strerror or error}): name another --store"
        ) from error
    with lock:
        if not _lock(lock):
            raise DataError(f"another program writes bars into {folder}: wait until it has ended")
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _sync_folder(folder: Path) -> None:
        """Windows writes names with the file."""

else:
    import fcntl

    def _lock(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _sync_folder(folder: Path) -> None:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
