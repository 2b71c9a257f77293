"""Files: two sandboxes, text with the terminal's line ends, and who may share what."""

import fnmatch
from dataclasses import dataclass
from io import SEEK_CUR, SEEK_END, SEEK_SET
from pathlib import Path
from typing import IO, Any

import numpy as np

from mql5.host.desktop import Desktop
from mql5.host.library import Block, Refusal, Told

_READ, _WRITE, _BIN, _CSV, _TXT, _ANSI = 1, 2, 4, 8, 16, 32
_SHARE_READ, _SHARE_WRITE, _REWRITE, _COMMON = 128, 256, 512, 4096
_BAD_NAME, _CANNOT_OPEN, _BAD_HANDLE = 5002, 5004, 5008
_NOT_THERE, _IS_THERE = 5019, 5020
_MARK = b"\xff\xfe"
_LINE = "\r\n"


@dataclass
class _File:
    """An open file."""

    path: Path
    flags: int
    delimiter: str
    stream: IO[bytes]

    @property
    def codec(self) -> str:
        return "utf-8" if self.flags & _ANSI else "utf-16-le"

    def put(self, text: str) -> int:
        return self.stream.write(text.encode(self.codec))

    def get(self) -> str:
        """Read one character."""
        return self.stream.read(1 if self.flags & _ANSI else 2).decode(self.codec, "replace")


class Files:
    """The file functions of one program."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._files: dict[int, _File] = {}
        self._finds: dict[int, list[str]] = {}
        self._next = 1

    def close_all(self) -> None:
        """Close what a program leaves open when it ends, as the terminal does."""
        for handle in list(self._files):
            self.file_close(handle)

    def _path(self, name: str, common: int) -> Path:
        plain = name.replace("\\", "/").lstrip("/")
        if not plain or ":" in plain or ".." in plain.split("/"):
            raise Refusal(_BAD_NAME, -1)
        base = self._desktop.folder / "MQL5" / "Files"
        return (self._desktop.common if common & _COMMON else base) / plain

    def _at(self, handle: int) -> _File:
        if handle not in self._files:
            raise Refusal(_BAD_HANDLE)
        return self._files[handle]

    def file_open(self, name: str, flags: int, delimiter: int, codepage: int) -> int:
        path = self._path(name, flags)
        if not flags & (_READ | _WRITE) or not self._may_share(path, flags):
            raise Refusal(_CANNOT_OPEN, -1)
        if flags & _WRITE:
            path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists() or not flags & _READ
        if not flags & _WRITE and not path.is_file():
            raise Refusal(_CANNOT_OPEN, -1)
        mode = "rb" if not flags & _WRITE else "w+b" if is_new else "r+b"
        opened = _File(path, flags, chr(delimiter) if delimiter else "", path.open(mode))
        if not flags & (_ANSI | _BIN):
            opened.stream.write(_MARK) if is_new else opened.stream.read(len(_MARK))
        handle, self._next = self._next, self._next + 1
        self._files[handle] = opened
        self._desktop.locks.append((path, flags))
        return handle

    def _may_share(self, path: Path, flags: int) -> bool:
        """Whether those who have the file open, and the one who asks, let each other."""
        return all(
            _lets(other, flags) and _lets(flags, other)
            for locked, other in self._desktop.locks
            if locked == path
        )

    def file_close(self, handle: int) -> None:
        closed = self._at(handle)
        closed.stream.close()
        del self._files[handle]
        self._desktop.locks.remove((closed.path, closed.flags))

    def file_flush(self, handle: int) -> None:
        self._at(handle).stream.flush()

    def file_is_exist(self, name: str, common: int) -> bool:
        return self._path(name, common).is_file()

    def file_delete(self, name: str, common: int) -> bool:
        path = self._path(name, common)
        if not path.is_file():
            raise Refusal(_NOT_THERE)
        if any(locked == path for locked, _ in self._desktop.locks):
            raise Refusal(_CANNOT_OPEN)
        path.unlink()
        return True

    def file_move(self, name: str, common: int, to: str, mode: int) -> bool:
        source, target = self._pair(name, common, to, mode)
        source.replace(target)
        return True

    def file_copy(self, name: str, common: int, to: str, mode: int) -> bool:
        source, target = self._pair(name, common, to, mode)
        target.write_bytes(source.read_bytes())
        return True

    def _pair(self, name: str, common: int, to: str, mode: int) -> tuple[Path, Path]:
        source, target = self._path(name, common), self._path(to, mode)
        if not source.is_file():
            raise Refusal(_NOT_THERE)
        if target.exists() and not mode & _REWRITE:
            raise Refusal(_IS_THERE)
        target.parent.mkdir(parents=True, exist_ok=True)
        return source, target

    def file_is_ending(self, handle: int) -> bool:
        stream = self._at(handle).stream
        return stream.tell() >= _size(stream)

    def file_is_line_ending(self, handle: int) -> bool:
        file = self._at(handle)
        place = file.stream.tell()
        char = file.get()
        file.stream.seek(place)
        return char in ("", "\r", "\n")

    def file_size(self, handle: int) -> int:
        return _size(self._at(handle).stream)

    def file_tell(self, handle: int) -> int:
        return self._at(handle).stream.tell()

    def file_seek(self, handle: int, offset: int, origin: int) -> bool:
        self._at(handle).stream.seek(offset, (SEEK_SET, SEEK_CUR, SEEK_END)[origin])
        return True

    def file_write(self, handle: int, *parts: str) -> int:
        file = self._at(handle)
        if not file.flags & (_CSV | _TXT):
            raise Refusal(_BAD_HANDLE)
        between = file.delimiter if file.flags & _CSV else ""
        return file.put(between.join(parts) + _LINE)

    def file_write_string(self, handle: int, text: str, length: int) -> int:
        return self._at(handle).put(text if length < 0 else text[:length])

    def file_write_array(self, handle: int, block: Block) -> int:
        return self._at(handle).stream.write(block.as_bytes())

    def file_read_array(self, handle: int, count: int) -> Any:
        return np.frombuffer(self._at(handle).stream.read(count), np.uint8)

    def file_read_string(self, handle: int, length: int) -> str:
        file = self._at(handle)
        if file.flags & _BIN:
            return "".join(file.get() for _ in range(max(length, 0)))
        ends = ("", "\n", file.delimiter) if file.flags & _CSV else ("", "\n")
        text = ""
        while (char := file.get()) not in ends:
            text += char
        return text.rstrip("\r")

    def file_read_number(self, handle: int) -> float:
        try:
            return float(self.file_read_string(handle, -1))
        except ValueError:
            return 0.0

    def folder_create(self, name: str, common: int) -> bool:
        self._path(name, common).mkdir(parents=True, exist_ok=True)
        return True

    def file_find_first(self, pattern: str, common: int) -> Any:
        path = self._path(pattern, common)
        names = sorted(
            one.name for one in path.parent.glob("*") if fnmatch.fnmatch(one.name, path.name)
        )
        if not names:
            raise Refusal(_NOT_THERE, -1)
        handle, self._next = self._next, self._next + 1
        self._finds[handle] = names[1:]
        return Told(handle, names[0])

    def file_find_next(self, handle: int) -> Any:
        names = self._finds.get(handle, [])
        return Told(1, names.pop(0)) if names else Told(0, "")

    def file_find_close(self, handle: int) -> None:
        self._finds.pop(handle, None)


def _lets(first: int, other: int) -> bool:
    """Whether one that opened with ``first`` lets the other do what it opens for."""
    may_read = bool(first & _SHARE_READ) or not other & _READ
    may_write = bool(first & _SHARE_WRITE) or not other & _WRITE
    return may_read and may_write


def _size(stream: IO[bytes]) -> int:
    place = stream.tell()
    size = stream.seek(0, SEEK_END)
    stream.seek(place)
    return size
