"""What a file holds: Parquet, or text in one of the encodings that programs write."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

from bridge.errors import DataError

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
_START = 4_096
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# Formats that people try, and what to do instead.
_OTHERS = {
    b"PK\x03\x04": "an Excel or ZIP file: save it as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "an old Excel file: save it as CSV",
    b"\x80\x04\x95": "a pickle, which may run code: write the table with to_parquet or to_csv",
    b"\x80\x05\x95": "a pickle, which may run code: write the table with to_parquet or to_csv",
    b"SQLite f": "a database: export its table as CSV",
    b"\x91\x01\x00\x00": "a history file of MetaTrader 4: export its bars as CSV (F2)",
    b"\x90\x01\x00\x00": "a history file of MetaTrader 4: export its bars as CSV (F2)",
    b"version https://git-lfs": "a pointer to a file that Git LFS holds: fetch the file itself",
    b"<!DOCTYPE": "a web page: download the file itself",
    b"<html": "a web page: download the file itself",
}


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file.

    Attributes:
        data: UTF-8 text without a byte order mark, or Parquet.
        parquet: Which of the two.
        encoding: That the text was in.
    """

    data: bytes
    parquet: bool
    encoding: str = "utf-8"


def content_of(path: Path) -> Content:
    """Return what a file holds, unpacked and as UTF-8.

    Raises:
        DataError: It can't be read, is empty, or is of another kind.
    """
    data = _unpacked(path)
    if not data[:_START].strip() and not data.strip():
        raise DataError(f"no bars in {path}: the file is empty, export the bars again")
    if data.startswith(_PARQUET):
        return Content(data, parquet=True)
    for magic, what in _OTHERS.items():
        if data.startswith(magic):
            raise DataError(f"{path} is {what}")
    return _text(path, data)


def _unpacked(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data.startswith(_GZIP) else data
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path} is damaged or cut off ({error}): copy or download it again"
        ) from error
    except OSError as error:
        hint = "name the files in it" if path.is_dir() else "name a file of bars"
        raise DataError(f"{path} can't be read ({error.strerror or error}): {hint}") from error


def _text(path: Path, data: bytes) -> Content:
    encoding = _encoding(data)
    try:
        if encoding == "utf-8":
            if not data.isascii():
                data.decode()
            # Files that were glued together have the mark in the middle, too.
            unmarked = data.replace(_UTF8_MARK, b"") if _UTF8_MARK in data else data
            return Content(unmarked, parquet=False)
        text = data.decode(encoding).replace("\ufeff", "")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: a byte is no {encoding.upper()} text: save it as UTF-8, or "
            "export the bars again"
        ) from error
    return Content(text.encode(), parquet=False, encoding=encoding)


def _encoding(data: bytes) -> str:
    if data[:2] in _UTF16:
        return _UTF16[data[:2]]
    start = data[:200]
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(start) > 1 and not any(start[offset::2]):
            return encoding
    return "utf-8"
