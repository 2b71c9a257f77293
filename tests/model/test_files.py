"""What is plainly not a whole .onnx file is refused before a parser sees it."""

import hashlib
from pathlib import Path

import pytest
from model.model_files import bars_model

from bridge.errors import ModelError
from bridge.model import files
from bridge.model.files import read_model_file

WHOLE = bars_model().SerializeToString()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html><html>404</html>", "a web page"),
        (b"\xef\xbb\xbf\n  <html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
        (b"CBM1" + bytes(40), "a native CatBoost model"),
        (b"PK\x03\x04" + bytes(40), "a zip archive"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"\x80\x04\x95" + bytes(40), "a Python pickle"),
        (b'{"learner": {}}', "is JSON"),
        (b"tree\nversion=v4\n", "a native LightGBM model"),
        (WHOLE[:-1], "is cut short at"),
        (WHOLE[: len(WHOLE) // 2], "is cut short at"),
        (WHOLE[:1], "is cut short at"),
        (b"\x0f" * 20, "is not an ONNX file"),
        (b"\xff" * 20, "is not an ONNX file"),
    ],
)
def test_each_kind_of_wrong_file_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=words) as caught:
        read_model_file(path)
    assert str(path) in str(caught.value)
    assert caught.value.exit_code == 4


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        read_model_file(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match="is a folder"):
        read_model_file(tmp_path)


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.onnx"
    with path.open("wb") as file:
        file.truncate(files.LARGEST + 1)  # sparse: takes no space on the disk
    with pytest.raises(ModelError, match=f"{files.LARGEST + 1} bytes, the limit is"):
        read_model_file(path)


def test_the_hash_is_the_files_and_a_pin_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(WHOLE)
    sha256 = hashlib.sha256(WHOLE).hexdigest()
    assert read_model_file(path, pin=sha256.upper()).sha256 == sha256
    with pytest.raises(ModelError, match=f"has sha256 {sha256}, the settings pin {'0' * 64}"):
        read_model_file(path, pin="0" * 64)
