"""Which part of a test a model was trained on: of what its contract says, where that is known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bridge.errors import BridgeError
from bridge.model.contract import Contract, read_contract
from bridge.model.files import read_model_file
from bridge.mt5.servertime import parse
from bridge.report.story import Story


@dataclass(frozen=True, slots=True)
class Span:
    """Of the bars a model was trained on: opens of the first and last, server epoch seconds."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a journal, with its contract where the very file was found."""

    sha256: str
    contract: Contract | None

    @property
    def trained(self) -> Span | None:
        """What it was trained on; None for a rule that learned nothing, or where nobody knows."""
        found = self.contract
        if found is None or found.train_from is None or found.train_to is None:
            return None
        return Span(_seconds(found.train_from), _seconds(found.train_to))


def models_of(story: Story, files: Iterable[Path]) -> tuple[Model, ...]:
    """Return the models that decided, each with the contract of the file that has its hash.

    Args:
        story: Whose.
        files: Where to look, besides the paths that the journal names; what can't be read or has
            another hash is passed over.
    """
    wanted = dict.fromkeys(sha for line in story.lines for sha in line.models)
    found: dict[str, Contract] = {}
    for path in (*files, *_named(story)):
        if len(found) < len(wanted):
            _look(path, wanted, found)
    return tuple(Model(sha, found.get(sha)) for sha in wanted)


def trained_share(story: Story, spans: Iterable[Span]) -> float:
    """Return the share of the account's bars that lie in ``spans``, 0-1."""
    inside = np.zeros(len(story.time), dtype=bool)
    for span in spans:
        inside |= (story.time >= span.first) & (story.time <= span.last)
    return float(inside.mean()) if len(inside) else 0.0


def _look(path: Path, wanted: Mapping[str, object], found: dict[str, Contract]) -> None:
    try:
        file = read_model_file(path)
        if file.sha256 in wanted and file.sha256 not in found:
            found[file.sha256] = _contract(file.data)
    except BridgeError:
        return


def _contract(data: bytes) -> Contract:
    # Heavy, and not needed where no file is found.
    from bridge.model.session import metadata_of, open_session

    return read_contract(metadata_of(open_session(data)))


def _named(story: Story) -> list[Path]:
    """Return the model files that the runs name in their settings and paths."""
    found: dict[str, None] = {}
    for run in story.runs:
        for value in (run["settings"], run["paths"]):
            found.update(dict.fromkeys(_models_in(value)))
    return [Path(each) for each in found]


def _models_in(value: Any) -> list[str]:
    if isinstance(value, list):
        return [each for item in value for each in _models_in(item)]
    if not isinstance(value, dict):
        return []
    own = [value["model"]] if isinstance(value.get("model"), str) else []
    return own + [each for item in value.values() for each in _models_in(item)]


def _seconds(moment: str) -> int:
    return parse(moment.replace("T", " ").replace("-", "."))
