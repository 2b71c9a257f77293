"""Frames, values and verbs between the bridge and where the package is; nothing is pickled.

A frame is two big-endian u32 lengths, a JSON header, and raw bytes for the arrays in it.
A value of a kind that JSON lacks is an object with one key: ``t`` tuple, ``d`` dict, ``r`` record
(name and values), ``a`` array (dtype, length, offset into the raw bytes).
Both sides run this file, a remote one from its text alone: it needs no more than the standard
library, and an old Python.
"""

from __future__ import annotations

import importlib
import io
import json
import platform
import socket
import struct
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeRecord = Callable[[str, "list[Any]"], Any]
    MakeArray = Callable[["list[tuple[str, str]]", int, bytes, int], Any]

_LENGTHS = struct.Struct("!II")
# Any text in front of a frame, such as what a script around the interpreter prints, reads as more.
_LONGEST = 1 << 29
_PLAIN = (type(None), bool, int, float, str)
# Errors of a verb that go back to the caller; any other ends the process or the connection.
CARRIED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    SystemError,
    TypeError,
    ValueError,
)


def write_frame(stream: BinaryIO, header: dict[str, Any], raw: bytes = b"") -> None:
    """Write one frame and flush it."""
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    stream.write(b"".join((_LENGTHS.pack(len(text), len(raw)), text, raw)))
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Return header and raw bytes of the next frame; None at the end of the stream.

    Raises:
        ValueError: What comes is not a frame.
    """
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    text_length, raw_length = _LENGTHS.unpack(lengths)
    if max(text_length, raw_length) > _LONGEST:
        raise ValueError(f"not a frame: {lengths!r}")
    text, raw = stream.read(text_length), stream.read(raw_length)
    if len(text) < text_length or len(raw) < raw_length:
        return None
    header = json.loads(text)
    if not isinstance(header, dict):
        raise ValueError("a frame's header is not an object")
    return header, raw


def encode(value: Any, raw: bytearray) -> Any:
    """Return ``value`` as JSON can hold it; arrays are appended to ``raw``.

    A datetime crosses as seconds since 1970, which is what the package makes of it: one without a
    zone is in the caller's, not in that of another computer.

    Raises:
        TypeError: A value of another kind, such as a numpy integer.
    """
    if isinstance(value, tuple):
        return _encode_tuple(value, raw)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list):
        return [encode(item, raw) for item in value]
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, dict):
        return {"d": [[str(key), encode(item, raw)] for key, item in value.items()]}
    if hasattr(value, "dtype") and hasattr(value, "tobytes") and getattr(value, "ndim", 0) == 1:
        offset = len(raw)
        raw += value.tobytes()
        return {"a": [value.dtype.descr, len(value), offset]}
    raise TypeError(
        f"{type(value).__name__} can't cross to the terminal: use a native Python value"
    )


def _encode_tuple(value: tuple[Any, ...], raw: bytearray) -> Any:
    items = [encode(item, raw) for item in value]
    # Records of the package are tuples that count their fields.
    if hasattr(value, "n_sequence_fields"):
        return {"r": [type(value).__name__, items]}
    return {"t": items}


def decode(value: Any, raw: bytes, record: MakeRecord, array: MakeArray) -> Any:
    """Return what :func:`encode` was given; ``record`` and ``array`` make those two kinds."""
    if isinstance(value, list):
        return [decode(item, raw, record, array) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "a":
        fields, length, offset = content
        return array([(name, of) for name, of in fields], length, raw, offset)
    if kind == "r":
        return record(content[0], decode(content[1], raw, record, array))
    if kind == "d":
        return {key: decode(item, raw, record, array) for key, item in content}
    return tuple(decode(content, raw, record, array))


def perform(module: Any, asked: dict[str, Any], raw: bytearray) -> dict[str, Any]:
    """Return what a verb of ``module`` gives or raises, and ``last_error()`` right after it."""
    mark = len(raw)
    positional, keywords = decode(asked["call"], b"", _refuse, _refuse)
    try:
        call = getattr(module, asked["verb"])
        # The package refuses a request that comes beside keywords, even when there are none.
        value = call(*positional, **keywords) if keywords else call(*positional)
        return {"value": encode(value, raw), "error": list(module.last_error())}
    except CARRIED as error:
        del raw[mark:]
        cause = error.__cause__
        return {
            "raised": [_carried(each) for each in (error, cause) if each is not None],
            "error": list(module.last_error()),
        }


def opened(package: str) -> tuple[Callable[[bytes], bytes], str, str]:
    """Return what answers frames of calls, and the versions of Python and package."""
    module = importlib.import_module(package)
    version = str(getattr(module, "__version__", ""))
    return partial(answer, module), platform.python_version(), version


def answer(module: Any, frame: bytes) -> bytes:
    """Return a frame with the answers to all calls of ``frame``, in order."""
    asked = read_frame(io.BytesIO(frame))
    if asked is None:
        raise ValueError("a frame that was cut short")
    raw = bytearray()
    answers = [perform(module, each, raw) for each in asked[0]["calls"]]
    out = io.BytesIO()
    write_frame(out, {"answers": answers}, bytes(raw))
    return out.getvalue()


def hasten(connection: Any) -> None:
    """Let an rpyc connection send at once, and uncompressed: bars are small."""
    connection._channel.stream.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection._channel.compress = False


def _carried(error: BaseException) -> list[str]:
    return [type(error).__name__, str(error)]


def _refuse(*parts: Any) -> Any:
    raise TypeError("a request holds neither records nor arrays")
