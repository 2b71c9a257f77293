"""The proof: the repaired file answers the same bits as the one it was made from."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from bridge.errors import DataError, ProofError
from bridge.model.lint.trials import rows, same_bits, sizes
from bridge.model.session import RUNTIME_ERRORS, first_line

RANDOM = 64
"""Random rows, a quarter of them a hundred times as large, a quarter zeros."""
_MOST_ROWS = 2000
_SCALES = (0.0, 1.0, 1.0, 100.0)
_SEVERAL = 3  # rows at once, where the batch is free

Labels = Mapping[str, Sequence[int | str]]


def prove(
    before: ort.InferenceSession,
    after: ort.InferenceSession,
    labels: Labels,
    own: Path | None = None,
) -> tuple[float, int]:
    """Compare the answers on random rows, zeros and the user's own rows.

    Args:
        before: Session over the file as it was.
        after: Session over the repaired file.
        labels: Of outputs whose map was taken off: its keys in the order of the columns.
        own: File of rows.

    Returns:
        The largest difference and the number of rows.

    Raises:
        ProofError: An answer differs.
        DataError: The file of rows does not fit.
    """
    names = [item.name for item in after.get_outputs()]
    widest, count = 0.0, 0
    for feed in (*_random(after), *_own(after, own)):
        first, second = _answers(before, names, feed), _answers(after, names, feed)
        for name, was, now in zip(names, first, second, strict=True):
            plain = _as_array(was, labels.get(name))
            widest = max(widest, _difference(plain, now))
            if not same_bits(plain, now):
                raise ProofError(
                    f"the repaired file answers {name} otherwise, by {widest:.3g} on row {count}: "
                    "nothing was written; export the model again with the versions that you need"
                )
        count += 1
    return widest, count


def _answers(session: ort.InferenceSession, names: list[str], feed: Mapping[str, Any]) -> list[Any]:
    try:
        return list(session.run(names, dict(feed)))
    except RUNTIME_ERRORS as error:
        raise ProofError(
            f"one of the files does not run a row ({first_line(error)}): nothing was written; "
            "export it again"
        ) from error


def _random(session: ort.InferenceSession) -> Iterator[Mapping[str, Any]]:
    for seed in range(RANDOM):
        feed = rows(session, seed, 1)
        if feed is None:
            raise ProofError("its inputs can't be filled with numbers: export it with float inputs")
        yield {name: _scaled(array, _SCALES[seed % len(_SCALES)]) for name, array in feed.items()}

    several = rows(session, RANDOM, _SEVERAL)
    if several is not None:
        yield several


def _scaled(array: NDArray[Any], scale: float) -> NDArray[Any]:
    return (array * scale).astype(array.dtype) if array.dtype.kind == "f" else array


def _own(session: ort.InferenceSession, path: Path | None) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a file, each in the shape of the single input."""
    if path is None:
        return
    inputs = session.get_inputs()
    found = _read(path)
    shape = sizes(inputs[0], 1)
    wanted = int(np.prod(shape))
    if len(inputs) != 1 or found.reshape(len(found), -1).shape[1] != wanted:
        raise DataError(
            f"{path} has {found.reshape(len(found), -1).shape[1]} numbers a row, the model takes "
            f"{wanted} in {len(inputs)} inputs: give one row a line, for a model with one input"
        )
    kind = {"tensor(double)": np.float64, "tensor(int64)": np.int64}.get(inputs[0].type, np.float32)
    for row in found[:_MOST_ROWS]:
        yield {inputs[0].name: row.reshape(shape).astype(kind)}


def _read(path: Path) -> NDArray[Any]:
    try:
        if path.suffix == ".npy":
            return np.atleast_2d(np.load(path, allow_pickle=False))
        return np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} holds no rows of numbers ({error}): give .npy or .csv") from error


def _as_array(value: Any, labels: Sequence[int | str] | None) -> Any:
    """Return the numbers of a list of maps in the order of the columns."""
    if labels is None or isinstance(value, np.ndarray):
        return value
    return np.array([[each[label] for label in labels] for each in value], dtype=np.float32)


def _difference(was: Any, now: Any) -> float:
    if not isinstance(was, np.ndarray) or was.dtype.kind not in "fiu" or was.shape != now.shape:
        return 0.0
    with np.errstate(invalid="ignore"):
        apart = np.abs(np.asarray(was, np.float64) - np.asarray(now, np.float64))
    return float(np.nan_to_num(apart, nan=0.0).max(initial=0.0))
