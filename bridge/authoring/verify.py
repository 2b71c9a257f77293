"""Verify: what can be checked of a model file on anybody's bars, without its estimator."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto

from bridge.authoring import checks
from bridge.authoring.checks import Check, Feeds, Floats, Times
from bridge.errors import ContractError, DataError
from bridge.features.codec import from_json
from bridge.features.featureset import FeatureSet
from bridge.journal.write import input_sha256
from bridge.model.load import LoadedModel
from bridge.model.windows import windows_of
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import parse

GOLDEN = "golden.csv"
_WINDOWS = 20_000
_ALONE = 200


@dataclass(frozen=True, slots=True)
class Skipped:
    """A check that says nothing here.

    Attributes:
        why: In words.
    """

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found.

    Attributes:
        windows: How many of the newest windows were asked.
    """

    sha256: str
    windows: int
    results: tuple[Check | Skipped, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return all(each.ok for each in self.results if isinstance(each, Check))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A model and what it answered."""

    loaded: LoadedModel
    graph: ModelProto
    features: FeatureSet | None
    rates: RatesArray
    feeds: Feeds
    answers: Floats
    seen: Floats | None
    times: Times


def verify(loaded: LoadedModel, rates: RatesArray, *, windows: int = _WINDOWS) -> Verified:
    """Return what the checks say of a model.

    Args:
        loaded: Of ``load_model``; ``golden.csv`` beside its file is read when it is there.
        rates: Bars of the model's timeframe, oldest first.
        windows: How many of the newest windows are asked.

    Raises:
        ContractError: There are fewer bars than one answer needs.
        DataError: ``golden.csv`` is malformed.
    """
    need = loaded.contract.window
    if len(rates) < need:
        raise ContractError(
            f"{loaded.path} needs {need} closed bars, there are {len(rates)}: give it more of them"
        )
    kept = rates[max(0, len(rates) - need - windows + 1) :]
    asked = _ask(loaded, kept)
    results = tuple(check(asked) for check in _CHECKS)
    golden = _golden(loaded, rates)
    return Verified(loaded.sha256, len(asked.times), (*results, golden))


def _ask(loaded: LoadedModel, rates: RatesArray) -> _Asked:
    graph = onnx.load_model_from_string(loaded.path.read_bytes())
    contract = loaded.contract
    features = None if contract.features is None else from_json(contract.features)
    feeds = windows_of(rates, contract)
    answers, seen = checks.run(graph, feeds, contract, features)
    times = rates["time"][contract.window - 1 :]
    return _Asked(loaded, graph, features, rates, feeds, answers, seen, times)


def _usable(asked: _Asked) -> Check:
    return checks.usable(asked.answers, asked.loaded.contract, asked.times)


def _history(asked: _Asked) -> Check | Skipped:
    name = "window equals history"
    if asked.features is None:
        return Skipped(name, "the contract has no feature tree")
    wanted = checks.rows_of(asked.features, asked.rates, asked.loaded.contract)
    # A rule's answer is its feature.
    inside = asked.answers if asked.seen is None else asked.seen
    if inside.shape != wanted.shape:
        return Skipped(name, "the graph does not show its features")
    return checks.window_is_history(inside, wanted, asked.features, asked.times)


def _alone(asked: _Asked) -> Check:
    """Compare what the daemon's session says of one window with what many at once give."""
    contract, rows = asked.loaded.contract, checks.spread(len(asked.times), _ALONE)
    nothing = [float("nan")] * asked.answers.shape[1]
    alone = [
        asked.loaded.session.run(asked.rates[row : row + contract.window]).values or nothing
        for row in rows
    ]
    limit = checks.limit_of(contract, asked.answers)
    return checks.distance(
        "one window equals many", np.array(alone), asked.answers[rows], limit, asked.times[rows]
    )


def _reference(asked: _Asked) -> Check | Skipped:
    try:
        return checks.reference(
            asked.graph, asked.feeds, asked.answers, asked.loaded.contract, asked.times
        )
    except NotImplementedError as error:
        return Skipped("runtime equals reference", f"the reference lacks an operator: {error}")


def _flat(asked: _Asked) -> Check | Skipped:
    if asked.features is None:
        return Skipped("flat markets without an answer", "the contract has no feature tree")
    return checks.flat(asked.graph, asked.features, asked.loaded.contract)


_CHECKS: tuple[Callable[[_Asked], Check | Skipped], ...] = (
    _usable,
    _history,
    _alone,
    _reference,
    _flat,
)


def _golden(loaded: LoadedModel, rates: RatesArray) -> Check | Skipped:
    """Compare with the golden rows whose bars these are."""
    name, path = "golden rows", loaded.path.with_name(GOLDEN)
    if not path.is_file():
        return Skipped(name, f"there is no {GOLDEN} beside the model")
    rows = list(_rows(path, loaded.contract.output.width))
    found = [
        (row, answer.values or (float("nan"),))
        for row in rows
        if (window := _window(row, rates, loaded.contract.window)) is not None
        if (answer := loaded.session.run(window))
    ]
    if not found:
        return Skipped(name, f"none of {len(rows)} is about these bars")
    truth = np.array([row.answers for row, _ in found])
    answers = np.array([np.resize(values, truth.shape[1]) for _, values in found])
    times = np.array([row.time for row, _ in found])
    limit = checks.limit_of(loaded.contract, truth)
    return checks.distance(f"{name}, {len(found)} of {len(rows)}", answers, truth, limit, times)


@dataclass(frozen=True, slots=True)
class _Golden:
    time: int
    window_sha256: str
    answers: tuple[float, ...]


def _rows(path: Path, width: int) -> Iterator[_Golden]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for bar, sha256, *answers in list(csv.reader(file))[1:]:
                if len(answers) != width:
                    raise ValueError(f"{len(answers)} answers, not {width}")
                yield _Golden(parse(bar), sha256, tuple(float(each) for each in answers))
    except (ValueError, OSError) as error:
        raise DataError(f"{path} is no table of golden rows ({error}): export again") from error


def _window(row: _Golden, rates: RatesArray, count: int) -> RatesArray | None:
    """Return the bars of a golden row, when they are these ones to the last bit."""
    place = int(np.searchsorted(rates["time"], row.time)) + 1
    window = rates[max(0, place - count) : place]
    return window if len(window) == count and input_sha256(window) == row.window_sha256 else None
