"""The model as it came, in a session of its own: the truth that a wrapped file is held to."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bridge.authoring.wrap.answer import chosen
from bridge.authoring.wrap.fit import Fit
from bridge.authoring.wrap.join import filled
from bridge.authoring.wrap.source import Source
from bridge.authoring.wrap.spec import Spec
from bridge.errors import ModelError
from bridge.model.session import RUNTIME_ERRORS, first_line, open_session

Run = Callable[[NDArray[np.floating]], NDArray[np.float64]]
# Answers of a call to the model, where it takes more than one.
_BATCH = 256
_MISFITS: tuple[type[Exception], ...] = (*RUNTIME_ERRORS, IndexError)


def runner(source: Source, spec: Spec, place: Fit) -> Run:
    """Return what asks the model as it came, in its own session.

    It takes rows ``(n, features)`` or ``(n, steps, features)``, scaled, oldest step first.
    """
    session = open_session(source.model.SerializeToString())
    name = chosen(source, spec.output.name).name
    fixed = {item.name: filled(item.dims, number, item.type) for item, number in place.fixed}
    size = place.batch or _BATCH

    def run(rows: NDArray[np.floating]) -> NDArray[np.float64]:
        parts = []
        for start in range(0, len(rows), size):
            chunk = place.laid_out(rows[start : start + size])
            answer = session.run([name], {place.input.name: chunk, **fixed})[0]
            parts.append(
                np.asarray(answer, dtype=np.float64).reshape(len(rows[start : start + size]), -1)
            )
        return np.concatenate(parts)

    return run


def shape(source: Source, run: Run, place: Fit, width: int) -> tuple[int, bool]:
    """Return how many numbers one answer has, and whether several at once are the same ones."""
    one = (place.steps, width) if place.steps > 1 else (width,)
    size = int(np.prod(one))
    rows = ((np.arange(3 * size) % 7 - 3) / 4).reshape(3, *one)
    try:
        alone = np.concatenate([run(rows[n : n + 1]) for n in range(3)])
    except _MISFITS as error:
        raise ModelError(f"{source.path} fails at its first run: {first_line(error)}") from error
    if place.batch == 1:
        return alone.shape[1], True
    try:
        together = run(rows)
    except _MISFITS:
        return alone.shape[1], False
    return alone.shape[1], alone.shape == together.shape and np.allclose(
        alone, together, rtol=1e-6, atol=1e-7
    )
