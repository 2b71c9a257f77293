"""g++: programs to shared libraries; what was compiled before is kept for a session."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mql5.host.translate import Program, translate, types_header

SHIM = Path(__file__).parents[1] / "shim"
_MODE = ["-std=c++17", "-fPIC", "-fno-gnu-unique", "-fvisibility=hidden", "-fwrapv"]
_MATHS = ["-ffp-contract=off", "-ftrapping-math", "-fsignaling-nans", "-fno-strict-aliasing"]
_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wconversion",
    "-Wfloat-conversion",
    "-Wno-sign-conversion",
    "-Wsign-compare",
    "-Wshadow",
    "-Wuninitialized",
    "-Wmaybe-uninitialized",
    "-Wparentheses",
    # What is no fault in MQL5: parameters that an interface asks for, helpers of a header.
    "-Wno-unused-parameter",
    "-Wno-unused-function",
    "-Wno-unused-const-variable",
    "-Wno-switch",
    "-Wno-misleading-indentation",
]
FLAGS = [*_MODE, *_MATHS, *_WARNINGS]


class BuildError(Exception):
    """g++ refuses a program; the message is its first error, with file and line of the source.

    Attributes:
        errors: All of them.
    """

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__(errors[0])
        self.errors = tuple(errors)


def has_compiler() -> bool:
    """Whether this computer can build programs; other systems have other flags."""
    return sys.platform == "linux" and shutil.which("g++") is not None


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled program."""

    program: Program
    library: Path


@dataclass
class Compiler:
    """Compiles programs into a folder; what is there already is not compiled again."""

    folder: Path

    def __post_init__(self) -> None:
        with self._alone("headers"):
            if not (self.folder / "types.hpp").exists():
                for header in SHIM.glob("*.hpp"):
                    shutil.copy(header, self.folder)
                (self.folder / "types.hpp").write_text(types_header(), encoding="ascii")

    def build(self, path: Path, root: Path, *, is_thorough: bool = False) -> Built:
        """Translate and compile the program at ``path``.

        Args:
            root: The folder that is ``MQL5`` in a terminal.
            is_thorough: Whether the optimiser runs, too: it alone sees values that may not be
                set, and takes most of the time.

        Raises:
            SourceError: The translator refuses it.
            BuildError: g++ refuses it.
        """
        program = translate(path, root)
        mode = "-O1" if is_thorough else "-O0"
        key = hashlib.sha256(mode.encode() + program.cpp.encode())
        for resource in program.resources:
            key.update(resource.read_bytes())
        name = key.hexdigest()[:24]
        library = self.folder / f"{name}.so"
        with self._alone(name):
            if not library.exists():
                made = f"{name}.new"
                self._compile(name, program, mode, ["-shared", "-Wl,-Bsymbolic", "-o", made])
                (self.folder / made).replace(library)
        return Built(program, library)

    def check(self, path: Path, root: Path) -> None:
        """Let translator and g++ read the program, without making it."""
        program = translate(path, root)
        self._compile(f"checked{os.getpid()}", program, "-O0", ["-fsyntax-only"])

    def _compile(self, name: str, program: Program, mode: str, options: list[str]) -> None:
        (self.folder / f"{name}.cpp").write_text(program.cpp, encoding="ascii")
        self._run([mode, "-include", self._shim(mode), *options, f"{name}.cpp"])

    def _shim(self, mode: str) -> str:
        """Return the shim's header in that mode, compiled once: it is most of every program."""
        header = f"shim{mode}.hpp"
        with self._alone(header):
            if not (self.folder / f"{header}.gch").exists():
                (self.folder / header).write_text('#include "mql5.hpp"\n', encoding="ascii")
                self._run([mode, "-x", "c++-header", header, "-o", f"{header}.new"])
                (self.folder / f"{header}.new").replace(self.folder / f"{header}.gch")
        return header

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Keep other processes that use the folder from making the same thing."""
        import fcntl  # Not on Windows, where nothing is compiled either.

        with (self.folder / f"{name}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _run(self, arguments: list[str]) -> None:
        done = subprocess.run(
            ["g++", *FLAGS, *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BuildError(_errors(done.stderr))


def _errors(text: str) -> list[str]:
    """Return the errors; one in the shim's own text is told where the source asked for it."""
    found: list[str] = []
    asked = ""
    for line in text.splitlines():
        if "required from here" in line:
            asked = line.split(":   ")[0] + ": "
        if " error: " in line or "undefined reference" in line:
            found.append(line if line.startswith("/") else asked + line)
    return found or [text[:400]]


def session_compiler(folder: Path | None = None) -> Compiler:
    """Return the compiler of this process.

    Args:
        folder: Where it works, if this is the first call; several processes may share one.
            Without one it is made, and goes with the process.
    """
    if not _SESSION:
        if folder is None:
            _KEPT.append(tempfile.TemporaryDirectory(prefix="mql5-"))
            folder = Path(_KEPT[0].name)
        folder.mkdir(exist_ok=True)
        _SESSION.append(Compiler(folder))
    return _SESSION[0]


_SESSION: list[Compiler] = []
_KEPT: list[tempfile.TemporaryDirectory[str]] = []
