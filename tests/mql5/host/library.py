"""A compiled program in this process, and the calls between it and Python."""

import ctypes
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mql5.host.compiler import Built

_DONE, _NO_HANDLER, _DIED = 0, 1, 2


class Died(Exception):
    """The program stopped with a critical error; the message has file and line."""


class Refusal(Exception):
    """A function of the terminal fails.

    Args:
        code: What ``GetLastError`` says then.
        whole: What the function returns as a number.
    """

    def __init__(self, code: int, whole: int = 0) -> None:
        super().__init__(code)
        self.code = code
        self.whole = whole


@dataclass(frozen=True, slots=True)
class Block:
    """Memory of the program: address, count of elements, ONNX type of them or 0."""

    address: int
    count: int
    type: int

    def as_bytes(self, width: int = 1) -> bytes:
        """Return a copy."""
        return ctypes.string_at(self.address, self.count * width) if self.count else b""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer of several parts; ``code`` is what ``GetLastError`` says then."""

    whole: int = 0
    words: str = ""
    numbers: NDArray[Any] | None = None
    code: int = 0


class _Value(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int),
        ("spare", ctypes.c_int),
        ("whole", ctypes.c_long),
        ("real", ctypes.c_double),
        ("words", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("count", ctypes.c_long),
    )


_CALL = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_Value), ctypes.c_int, ctypes.POINTER(_Value)
)


def _plain_name(name: str) -> str:
    """Return ``SymbolInfoTick`` as ``symbol_info_tick``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class Library:
    """A program of its own: globals are never shared between two.

    Args:
        built: The program.
        rooms: Objects whose methods answer the terminal's functions.
    """

    def __init__(self, built: Built, rooms: tuple[object, ...]) -> None:
        self._rooms = rooms
        self._answers: dict[bytes, Callable[..., Any]] = {}
        self._raised: BaseException | None = None
        self._places = built.program.places
        with tempfile.TemporaryDirectory(prefix="mql5-") as folder:
            # A library is loaded once a file: a copy has globals of its own.
            copy = Path(shutil.copy(built.library, folder))
            self._dll = ctypes.PyDLL(str(copy))
        self._callback = _CALL(self._call)
        self._dll.mql_words.restype = ctypes.c_char_p
        self._dll.mql_buffer.restype = ctypes.c_long
        self._dll.mql_attach(self._callback)
        # Its globals are destroyed when this process ends, and may call the terminal then.
        weakref.finalize(self, self._dll.mql_detach)
        self._kept: Any = None

    def set_input(self, name: str, text: str) -> None:
        """Set an input before anything runs."""
        if not self._dll.mql_set(name.encode(), text.encode()):
            raise KeyError(f"the program has no input {name}")

    def event(self, name: str, first: int = 0, second: int = 0) -> int | None:
        """Run a handler and return what it does; None where the program has none.

        Raises:
            Died: The program did, and can't go on.
        """
        result = ctypes.c_long(0)
        outcome = self._dll.mql_event(
            name.encode(), ctypes.c_long(first), ctypes.c_long(second), ctypes.byref(result)
        )
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
        if outcome == _DIED:
            raise Died(f"{self._place()}: {self._dll.mql_words().decode()}")
        return None if outcome == _NO_HANDLER else result.value

    def buffer(self, index: int) -> NDArray[np.float64]:
        """Return a copy of an indicator's buffer, oldest first."""
        numbers = ctypes.POINTER(ctypes.c_double)()
        count = self._dll.mql_buffer(index, ctypes.byref(numbers))
        if count < 0:
            raise KeyError(f"the indicator has no buffer {index}")
        return np.ctypeslib.as_array(numbers, (count,)).copy()

    def _place(self) -> str:
        index, line = self._dll.mql_file(), self._dll.mql_line()
        return f"{self._places[index] if self._places else '?'}:{line}"

    def _call(self, name: bytes, arguments: Any, count: int, answer: Any) -> int:
        try:
            act = self._answers.get(name) or self._find(name)
            result = act(*[_read(arguments[i]) for i in range(count)])
        except Refusal as refusal:
            answer[0].whole = refusal.whole
            return refusal.code
        except BaseException as error:  # noqa: BLE001  carried over C and raised again
            self._raised = error
            return -1
        self._kept = _write(answer[0], result)
        return result.code if isinstance(result, Told) else 0

    def _find(self, name: bytes) -> Callable[..., Any]:
        plain = _plain_name(name.decode())
        for room in self._rooms:
            act: Callable[..., Any] | None = getattr(room, plain, None)
            if act is not None:
                self._answers[name] = act
                return act
        raise NotImplementedError(f"nothing answers {name.decode()}")


def _read(value: Any) -> Any:
    kind = value.kind
    if kind == 1:
        return value.whole
    if kind == 3:
        return value.words.decode("utf-8", "replace")
    if kind == 2:
        return value.real
    return Block(value.data or 0, value.count, value.whole)


def _write(answer: Any, result: Any) -> Any:
    """Fill in the answer, and return what has to live until the program has read it."""
    if result is None:
        return None
    if isinstance(result, float):
        answer.kind, answer.real = 2, result
        return None
    if isinstance(result, int):
        answer.kind, answer.whole = 1, result
        return None
    told = result if isinstance(result, Told) else _told(result)
    # The field alone does not keep the text alive, and reading it makes another one.
    words = told.words.encode()
    answer.kind, answer.whole, answer.words = 5, told.whole, words
    if told.numbers is not None:
        answer.data = told.numbers.ctypes.data
        answer.count = len(told.numbers)
    return told, words


def _told(result: Any) -> Told:
    return Told(words=result) if isinstance(result, str) else Told(numbers=result)
