"""A lease on a strategy: one program on this computer trades an account, magic and symbol.

The lock is the system's and goes with the process, however it ends. Expert advisors hold theirs, of
the same name, in the folder that all terminals of a computer share; on Windows a file that one
program holds for itself can't be opened by another. A program on another computer holds no lease
here; its positions are noticed by their magic, and adopted.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO

from bridge.errors import ConfigError


def lease_folder() -> Path:
    """Return the folder of this user's locks, the same for every run on this computer."""
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME")
    base = Path(named) if named else Path.home() / ".local" / "state"
    return base / "mt5-onnx" / "leases"


def terminals_folder(common: str) -> Path | None:
    """Return where expert advisors hold their leases; None where no terminal runs natively.

    Args:
        common: The terminal's ``commondata_path``.
    """
    is_here = bool(common) and Path(common).is_dir()
    return Path(common) / "Files" / "OnnxBridge" if is_here else None


@contextmanager
def leased(folder: Path, what: Iterable[str]) -> Iterator[None]:
    """Hold a lease on each of ``what`` while the block runs.

    Args:
        folder: Where the locks are.
        what: In words: account, magic and symbol.

    Raises:
        ConfigError: Another program holds one of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        for each in what:
            path = folder / f"{sha256(each.encode()).hexdigest()[:32]}.lock"
            try:
                is_held = _lock(held.enter_context(path.open("a")))
            except PermissionError:  # an expert advisor shares the file with nobody
                is_held = False
            if not is_held:
                raise ConfigError(
                    f"another program of this computer trades {each}: stop it, or give this "
                    "strategy another magic"
                )
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

else:
    import fcntl

    def _lock(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
