"""What a person says of a model that came without a contract: the TOML file of ``model wrap``."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from bridge.errors import ConfigError
from bridge.features.graph import Layout
from bridge.model.contract import Text
from bridge.settings import DecisionSettings, Frozen
from bridge.settings.faults import Place, first_fault_of, in_words

UNKNOWN = "?"
"""What a draft has where only its author knows; refused until it is filled in."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
Numbers = Annotated[tuple[Finite, ...], Field(min_length=1)]
Arrangement = Literal[
    "batch,features",
    "batch,steps,features",
    "batch,features,steps",
    "batch,steps*features",
    "batch,features*steps",
    "batch,1,steps,features",
    "batch,1,features,steps",
    "batch,steps,features,1",
]
"""Meaning of the input's dimensions; ``steps*features`` has all features of a step together."""


class About(Frozen):
    """What the model is; these go into the contract as they are."""

    name: Text
    """The model's name."""
    symbol: Text
    """Symbol that it was made for, without a broker's suffix."""
    timeframe: Text
    """M1 to MN1."""
    server_clock: Text
    """Clock of the bars that it learnt from: utc, eet-eu, eet-us or an offset such as utc+3."""
    created: Text
    """Day it was made, ISO."""
    algorithm: Text
    """What decides inside."""
    licence: Text
    """Licence of the model, SPDX where there is one."""
    train_from: Text | None = None
    """Open of the first bar trained on, server time, ISO."""
    train_to: Text | None = None
    """Open of the last bar trained on, server time, ISO."""


class Feature(Frozen):
    """One number that the model sees of a bar."""

    name: Text
    """As its author calls it."""
    formula: Text
    """What it is, as the catalogue of features writes it: rsi(close, 14)."""
    stand_in: Text | None = None
    """What it ought to be, where the formula only takes its place."""


class InputTable(Frozen):
    """How the features are laid out in the model's input."""

    name: Text | None = None
    """The tensor's name; needed when there are several."""
    steps: Annotated[int, Field(ge=1, le=100_000)] = 1
    """Bars that one answer sees features of."""
    layout: Arrangement | None = None
    """Meaning of the dimensions; found by the sizes where these leave no doubt."""
    order: Literal["oldest first", "newest first"] = "oldest first"
    """Which step comes first."""
    bars: Layout = "bars+time"
    """Inputs of the wrapped file: bars and time, or one matrix as CopyRates of MQL5 gives it."""


class Scaler(Frozen):
    """What the training did to the features."""

    kind: Literal["none", "standard", "minmax", "window_standard", "window_minmax"] = "none"
    """By constants of the training, or by the steps of each answer (window_...)."""
    file: Text | None = None
    """A JSON file of the constants, beside this one, instead of writing them here."""
    mean: Numbers | None = None
    """Of standard: one for each feature, in order."""
    scale: Numbers | None = None
    """Of standard: the standard deviations."""
    min: Numbers | None = None
    """Of minmax: what became the lower end of the range."""
    max: Numbers | None = None
    """Of minmax: what became the upper end."""
    range: tuple[Finite, Finite] = (0.0, 1.0)
    """Of minmax and window_minmax: lower and upper end."""
    clip: bool = False
    """Of minmax: whether values beyond the range are cut to it."""
    ddof: Literal[0, 1] | None = None
    """How deviations were counted: 0 by numpy and scikit-learn, 1 by pandas. window_standard needs
    it; constants are used as they stand."""


class OutputClass(Frozen):
    """One class, in the order of the output's columns."""

    name: Text
    """As its author calls it."""
    side: Literal["long", "short", "flat"]
    """What a high share of it asks for."""
    label: int | None = None
    """Its number in the graph, where the graph has labels."""


class Only(Frozen):
    """A filter: a side counts only where a formula is above 0."""

    side: Literal["long", "short"]
    """The side."""
    where: Text
    """A formula, as of a feature: close < ema(close, 200)."""


class OutputTable(Frozen):
    """Which output decides, and what it means."""

    name: Text | None = None
    """The tensor's name; needed when several could decide."""
    kind: Literal["shares", "forecast", "target"]
    """Class shares; a forecast of the move; a position from -1 to 1."""
    head: Literal["none", "softmax", "sigmoid", "tanh", "largest"] = "none"
    """What turns its numbers into these; largest gives the highest number all."""
    classes: tuple[OutputClass, ...] = ()
    """Of shares: one for each column; of a single column two, the second is what it speaks for."""
    column: Annotated[int, Field(ge=0)] | None = None
    """Of forecast and target: which column counts, from 0, when there are several."""
    unit: Text | None = None
    """Of a forecast: what its number counts."""
    multiply: Finite = 1.0
    """Of a forecast: the number is multiplied by this,"""
    add: Finite = 0.0
    """and this is added: what the training had taken away."""
    less: Text | None = None
    """Of a forecast of a level: the feature whose newest value, scaled, is subtracted first."""
    margin: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Of shares: by how much a side has to be above the other; else it goes to a flat class."""
    only: tuple[Only, ...] = ()
    """Of shares: where a side counts; elsewhere its share goes to a flat class."""


class Spec(Frozen):
    """The whole file."""

    contract: About
    features: Annotated[tuple[Feature, ...], Field(min_length=1)]
    input: InputTable = InputTable()
    scaler: Scaler = Scaler()
    output: OutputTable
    decision: DecisionSettings = DecisionSettings()
    fixed: dict[str, Finite] = Field(default_factory=dict)
    """Inputs that always hold one number: a recurrent state that begins anew at each answer."""


def load_spec(path: Path) -> Spec:
    """Return what the TOML file at ``path`` says.

    Raises:
        ConfigError: It can't be read, a key is unknown or missing, or a place is not filled in.
    """
    try:
        tables = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path} can't be read ({error.strerror}): check the path") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no TOML: {error}") from error
    return spec_of(tables, str(path))


def spec_of(tables: dict[str, Any], where: str) -> Spec:
    """Return what ``tables`` say; ``where`` names them in messages.

    Raises:
        ConfigError: A key is unknown or missing, or a place is not filled in.
    """
    if open_places := [place for place, value in _leaves((), tables) if value == UNKNOWN]:
        more = f" (and {len(open_places) - 1} more)" if len(open_places) > 1 else ""
        raise ConfigError(
            f'{where}: {in_words(open_places[0])} is still "{UNKNOWN}"{more}: fill in what the '
            "model was trained with"
        )
    try:
        return Spec.model_validate(tables)
    except ValidationError as error:
        raise ConfigError(f"{where}: {first_fault_of(error, Spec)}") from error


def _leaves(place: Place, value: Any) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves((*place, key), inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves((*place, number), inner)
    else:
        yield place, value
