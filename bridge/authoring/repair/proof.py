"""The proof: the repaired graph answers the same bits as the one it was made from."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from bridge.errors import DataError, ProofError
from bridge.model.inspection import open_told
from bridge.model.lint.trials import rows, same_bits, sizes
from bridge.model.session import RUNTIME_ERRORS, first_line, session_options

RANDOM = 64
"""Random rows, a quarter of them a hundred times as large, a quarter zeros."""
ROUNDING = 1e-4
"""Of an answer, or of 1 where it is smaller: what fusing operators may change."""
_MOST_ROWS = 2000
_SCALES = (0.0, 1.0, 1.0, 100.0)
_SEVERAL = 3  # rows at once, where the batch is free

Labels = Mapping[str, Sequence[int | str]]


def prove(
    before: bytes, after: bytes, labels: Labels, own: Path | None = None
) -> tuple[float, int]:
    """Compare the answers on random rows, zeros and the user's own rows.

    The graphs as they are written give the same bits. What the runtime makes of them, once it has
    fused operators where sizes are known, may round otherwise: that difference is told.

    Args:
        before: The file as it was.
        after: The repaired one.
        labels: Of outputs whose map was taken off: its keys in the order of the columns.
        own: File of rows.

    Returns:
        The largest difference as they run, and the number of rows.

    Raises:
        ProofError: An answer differs.
        DataError: The file of rows does not fit.
    """
    plain = (_as_written(before), _as_written(after))
    running = (open_told(before), open_told(after))
    widest, count = 0.0, 0
    for feed in (*_random(plain[1]), *_own(plain[1], own)):
        for name, was, now in _compared(plain, feed, labels):
            if not same_bits(was, now):
                apart = difference(was, now)
                raise ProofError(
                    f"the repaired file answers {name} otherwise, by {apart:.3g} on row {count}: "
                    "nothing was written; export the model again with the versions that you need"
                )
        for name, was, now in _compared(running, feed, labels):
            apart = difference(was, now)
            widest = max(widest, apart)
            if apart > ROUNDING * max(1.0, _largest(was)):
                raise ProofError(
                    f"the repaired file runs otherwise than it is written: {name} by {apart:.3g} "
                    f"on row {count}, more than rounding: nothing was written; report this file"
                )
        count += 1
    return widest, count


def _as_written(data: bytes) -> ort.InferenceSession:
    """Return a session that fuses and folds nothing."""
    options = session_options()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except RUNTIME_ERRORS as error:
        raise ProofError(
            f"it opens only when its operators are fused ({first_line(error)}), so that nothing "
            "can be proven: export it again"
        ) from error


def _compared(
    sessions: tuple[ort.InferenceSession, ort.InferenceSession],
    feed: Mapping[str, Any],
    labels: Labels,
) -> Iterator[tuple[str, Any, Any]]:
    """Yield each output's name, the numbers before and those after."""
    before, after = sessions
    names = [item.name for item in after.get_outputs()]
    first, second = _answers(before, names, feed), _answers(after, names, feed)
    for name, was, now in zip(names, first, second, strict=True):
        yield name, _as_array(was, labels.get(name)), now


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


def difference(was: Any, now: Any) -> float:
    """Return the largest difference of two outputs; infinity where one is no number."""
    if not isinstance(was, np.ndarray) or was.dtype.kind not in "fiu":
        return 0.0 if same_bits(was, now) else np.inf
    if was.shape != now.shape or not np.array_equal(np.isfinite(was), np.isfinite(now)):
        return np.inf
    finite = np.isfinite(was)
    apart = np.abs(was[finite].astype(np.float64) - now[finite].astype(np.float64))
    return float(apart.max(initial=0.0))


def _largest(numbers: Any) -> float:
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "fiu":
        return 0.0
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0))
