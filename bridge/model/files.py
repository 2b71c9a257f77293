"""Model files as bytes: what is plainly not a whole .onnx file is named before a parser sees it.

The bytes that are hashed are the bytes that run; the file is read once.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from bridge.errors import ModelError

LARGEST = 128 * 1024 * 1024
"""Bytes; as much as the terminal takes as a resource."""

# How a file begins that is something else: bytes, what it is, the next step.
_BEGINNINGS = (
    (
        b"version https://git-lfs",
        "a Git LFS pointer, not the model itself",
        "fetch it with git lfs pull",
    ),
    (b"<", "a web page or XML", "download the file itself, not the page about it"),
    (b"CBM1", "a native CatBoost model", 'save it with save_model(path, format="onnx")'),
    (b"PK\x03\x04", "a zip archive (torch and Keras save so)", "export the model to ONNX"),
    (b"\x89HDF", "an HDF5 file (Keras saves so)", "export the model to ONNX"),
    (b"\x80", "a Python pickle", "export the model to ONNX"),
    (b"{", "JSON", "export the model to ONNX"),
    (b"tree\n", "a native LightGBM model", "convert it with onnxmltools, zipmap=False"),
)

# Protobuf's wire types of fixed length; 0 is a varint, 2 is preceded by its length.
_FIXED = {1: 8, 5: 4}


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file that may be a model.

    Attributes:
        data: Its bytes.
        sha256: Their hash, as hex.
    """

    path: Path
    data: bytes
    sha256: str


def read_model_file(path: Path, *, pin: str | None = None) -> ModelFile:
    """Return the file at ``path``, whole and not plainly something else.

    Args:
        path: Of the file.
        pin: The hash that it must have, hex in either case; None takes any.

    Raises:
        ModelError: It is missing, empty, too big, cut short, of another kind, or has another hash.
    """
    data = _read(path)
    _check_kind(path, data)
    sha256 = hashlib.sha256(data).hexdigest()
    if pin is not None and pin.lower() != sha256:
        raise ModelError(
            f"{path} has sha256 {sha256}, the settings pin {pin}: put the pinned file back, or pin "
            "this one after you have checked it"
        )
    return ModelFile(path, data, sha256)


def _read(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise ModelError(f"{path} is a folder: name the .onnx file inside it")
        size = path.stat().st_size
        if size > LARGEST:
            raise ModelError(
                f"{path} has {size} bytes, the limit is {LARGEST}: export a smaller model"
            )
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ModelError(f"{path} does not exist: check the model's path") from error
    except OSError as error:
        reason = error.strerror or "unreadable"
        raise ModelError(
            f"{path} can't be read ({reason}): check the path and its rights"
        ) from error


def _check_kind(path: Path, data: bytes) -> None:
    if not data:
        raise ModelError(f"{path} is empty: export or download it again")
    begins = data[:256].removeprefix(b"\xef\xbb\xbf").lstrip()
    for beginning, what, step in _BEGINNINGS:
        if begins.startswith(beginning):
            raise ModelError(f"{path} is {what}: {step}")
    try:
        whole = _ends_on_a_field(data)
    except ValueError as error:
        raise ModelError(f"{path} is not an ONNX file: {error}; export it again") from error
    if not whole:
        raise ModelError(
            f"{path} is cut short at {len(data)} bytes: copy or download the whole file again"
        )


def _ends_on_a_field(data: bytes) -> bool:
    """Walk the outermost protobuf fields; False when the last one is not all there.

    Raises:
        ValueError: A field can't be one of protobuf.
    """
    at = 0
    while at < len(data):
        start = at
        try:
            tag, at = _varint(data, at)
            kind = tag & 7
            if kind == 0:
                _, at = _varint(data, at)
            elif kind == 2:
                length, at = _varint(data, at)
                at += length
            elif kind in _FIXED:
                at += _FIXED[kind]
            else:
                raise ValueError(f"byte {start} begins no protobuf field")
        except IndexError:
            return False
    return at == len(data)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError(f"the number before byte {at} is longer than protobuf's")
