"""Trials: an unknown graph is run on rows that bring out what its shape does not tell."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from bridge.model.session import RUNTIME_ERRORS, first_line

Arrays = Mapping[str, Any]

_NUMPY: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
_MOST_NUMBERS = 50_000_000


@dataclass(frozen=True)
class Trials:
    """What the runs gave.

    Attributes:
        answers: By trial, then by output; a failed trial is not there.
        failed: By trial: the runtime's words.
        is_steady: Whether two runs on one row gave the same bits; None when nothing ran.
    """

    answers: Mapping[str, Arrays]
    failed: Mapping[str, str]
    is_steady: bool | None


def no_trials() -> Trials:
    """Return the trials of a file that can't be opened."""
    return Trials({}, {}, None)


def rows(session: ort.InferenceSession, seed: int, count: int) -> Arrays | None:
    """Return random rows of the inputs, of normal numbers; None when a type can't be made.

    Args:
        session: Of the graph.
        seed: Of the numbers.
        count: What a free first dimension becomes; other free ones become 1.
    """
    numbers = np.random.default_rng(seed)
    feed: dict[str, Any] = {}
    for item in session.get_inputs():
        kind, shape = _NUMPY.get(item.type), sizes(item, count)
        if kind is None or math.prod(shape) > _MOST_NUMBERS:
            return None
        feed[item.name] = _random(numbers, kind, shape)
    return feed


def sizes(item: Any, count: int) -> list[int]:
    """Return an input's dimensions with the free ones filled in."""
    return [
        size if isinstance(size, int) and size > 0 else (1 if place else count)
        for place, size in enumerate(item.shape)
    ]


def _random(numbers: np.random.Generator, kind: Any, shape: list[int]) -> NDArray[Any]:
    if kind is np.object_:
        return np.full(shape, "a", dtype=object)
    if np.issubdtype(kind, np.floating):
        return np.asarray(numbers.normal(size=shape)).astype(kind)
    return np.asarray(numbers.integers(0, 2, size=shape)).astype(kind)


def run(session: ort.InferenceSession, feed: Arrays) -> dict[str, Any]:
    """Return the outputs by name.

    Raises:
        RuntimeError or another of ``RUNTIME_ERRORS``: The graph fails.
    """
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feed)), strict=True))


def trials_of(session: ort.InferenceSession) -> Trials:
    """Run the graph on random rows, zeros, one level everywhere, great numbers and NaN."""
    answers: dict[str, Arrays] = {}
    failed: dict[str, str] = {}
    plain = rows(session, 1, 1)
    if plain is None:
        return no_trials()
    for name, feed in _feeds(session, plain):
        try:
            answers[name] = run(session, feed)
        except RUNTIME_ERRORS as error:
            failed[name] = first_line(error)
    both = [answers.get(name) for name in ("random", "again")]
    steady = None if None in both else _same(*both)  # type: ignore[arg-type]
    return Trials(answers, failed, steady)


def _feeds(session: ort.InferenceSession, plain: Arrays) -> Iterator[tuple[str, Arrays]]:
    yield "random", plain
    yield "again", plain
    for name, value in (("zero", 0.0), ("flat", 0.5), ("great", 1e6), ("nan", math.nan)):
        yield name, {key: _filled(array, value) for key, array in plain.items()}
    several = rows(session, 2, 3)
    if several is not None and _batch(several) == 3:
        yield "several", several


def _batch(feed: Arrays) -> int:
    return min((array.shape[0] if array.ndim else 1) for array in feed.values()) if feed else 0


def _filled(array: NDArray[Any], value: float) -> NDArray[Any]:
    if not np.issubdtype(array.dtype, np.floating):
        return array
    with np.errstate(over="ignore"):
        return np.full_like(array, value)


def _same(first: Arrays, second: Arrays) -> bool:
    return all(same_bits(first[name], second[name]) for name in first)


def same_bits(first: Any, second: Any) -> bool:
    """Whether two outputs are equal, NaN to NaN; lists of maps by their entries."""
    if isinstance(first, np.ndarray):
        is_number = np.issubdtype(first.dtype, np.floating)
        return bool(np.array_equal(first, second, equal_nan=bool(is_number)))
    return repr(first) == repr(second)
