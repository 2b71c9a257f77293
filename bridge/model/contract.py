"""The contract: what a model file is for and what its numbers mean, as versioned JSON inside it.

It knows neither sessions nor files. A model is a protobuf message to it, never an import of onnx:
the running daemon reads contracts from a session's metadata.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
    model_validator,
)

from bridge.errors import ConfigError, ContractError
from bridge.mt5.servertime import server_clock
from bridge.mt5.timeframes import timeframe
from bridge.settings import DecisionSettings, Frozen, first_fault

if TYPE_CHECKING:
    import onnx

CONTRACT_KEY = "mt5_onnx_contract"
CONTRACT_VERSION = 1

Dtype = Literal["double", "float", "int64"]
Layout = Literal["batch,window,columns", "batch,window", "batch,columns,window"]
Column = Literal["time", "open", "high", "low", "close", "tick_volume", "spread", "real_volume"]

_WHOLE_NUMBERS = frozenset({"time", "tick_volume", "spread", "real_volume"})
# Kinds whose values can't pass 1, so that a threshold above it would never trade.
_AT_MOST_ONE = frozenset({"shares", "target"})


def _iso(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _known_timeframe(name: str) -> str:
    try:
        return timeframe(name).name
    except ConfigError as error:
        raise ValueError(str(error)) from error


def _known_clock(name: str) -> str:
    try:
        return server_clock(name).name
    except ConfigError as error:
        raise ValueError(str(error)) from error


Text = Annotated[str, StringConstraints(min_length=1)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Day = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$"), AfterValidator(_iso)]
Moment = Annotated[
    str,
    StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$"),
    AfterValidator(_iso),
]


class Input(Frozen):
    """One input tensor, filled from the closed bars, oldest first."""

    name: Text
    """The tensor's name in the graph."""
    dtype: Dtype
    """Element type of the tensor."""
    layout: Layout
    """Meaning of the dimensions in order; batch,window holds a single column."""
    columns: Annotated[tuple[Column, ...], Field(min_length=1)]
    """Columns of the bars in the tensor's order, as copy_rates names them."""

    @model_validator(mode="after")
    def _fits_its_columns(self) -> Self:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"input {self.name} names a column twice: name each once")
        if self.layout == "batch,window" and len(self.columns) != 1:
            raise ValueError(
                f"input {self.name} has {len(self.columns)} columns in the layout batch,window, "
                "which holds one: use batch,window,columns"
            )
        if self.dtype == "int64" and not _WHOLE_NUMBERS.issuperset(self.columns):
            raise ValueError(f"input {self.name} would cut prices to int64: use double or float")
        if self.dtype == "float" and "time" in self.columns:
            raise ValueError(
                f"input {self.name} holds time as float, which rounds it to minutes: "
                "use int64 or double"
            )
        return self

    def shape(self, window: int) -> tuple[int, ...]:
        """Return the dimensions of one window, without the batch."""
        count = len(self.columns)
        shapes = {
            "batch,window": (window,),
            "batch,window,columns": (window, count),
            "batch,columns,window": (count, window),
        }
        return shapes[self.layout]


class Class(Frozen):
    """One class of a classifier, in the order of the output's columns."""

    name: Text
    """The class as its author calls it: up, flat, 1."""
    side: Literal["long", "short", "flat"]
    """What a high share of it asks for."""


class Output(Frozen):
    """The output tensor that decides, and what its numbers mean."""

    name: Text
    """The tensor's name in the graph; other outputs are never computed."""
    kind: Literal["shares", "forecast", "target"]
    """Class shares that sum to 1; a forecast of the move, > 0 is up; a position from -1 to 1."""
    classes: tuple[Class, ...] = ()
    """Of shares: one class for each column, in order; empty otherwise."""
    unit: Text | None = None
    """Of a forecast: what its number counts, e.g. points or simple return; None otherwise."""

    @property
    def width(self) -> int:
        """Numbers that the output gives for one window."""
        return len(self.classes) or 1

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if (self.kind == "shares") != bool(self.classes):
            raise ValueError(f"output {self.name} of kind {self.kind}: classes belong to shares")
        if (self.kind == "forecast") != (self.unit is not None):
            raise ValueError(f"output {self.name} of kind {self.kind}: a unit belongs to forecast")
        if self.classes:
            self._check_classes()
        return self

    def _check_classes(self) -> None:
        if len({item.name for item in self.classes}) < len(self.classes):
            raise ValueError(f"output {self.name} has two classes of one name: name each once")
        if all(item.side == "flat" for item in self.classes):
            raise ValueError(
                f"output {self.name} has no class with side long or short: it could never trade"
            )


class Contract(Frozen):
    """What one model file promises, version 1."""

    version: Literal[1] = 1
    """Version of the contract's form."""
    name: Text
    """The model's name."""
    symbol: Text
    """Symbol that the model was made for, without a broker's suffix."""
    timeframe: Annotated[str, AfterValidator(_known_timeframe)]
    """M1 to MN1."""
    window: Annotated[int, Field(ge=1, le=1_000_000)]
    """Closed bars that one answer needs."""
    inputs: Annotated[tuple[Input, ...], Field(min_length=1)]
    """Every input of the graph."""
    output: Output
    """The output that decides."""
    decision: DecisionSettings = DecisionSettings()
    """How the author means the answers to be used; settings override."""
    train_from: Moment | None = None
    """Open of the first bar trained on, server time, ISO; None for a rule that learned nothing."""
    train_to: Moment | None = None
    """Open of the last bar trained on, server time, ISO."""
    server_clock: Annotated[str, AfterValidator(_known_clock)]
    """Clock that the bar times follow: utc, eet-eu, eet-us or an offset such as utc+3."""
    features: dict[str, JsonValue] | None = None
    """The feature tree; None when the graph came without one."""
    sequence: Annotated[int, Field(ge=2, le=100_000)] | None = None
    """Rows of features, one a bar, that one answer sees; None is the newest bar's row alone."""
    created: Day
    """Day of the export, ISO."""
    algorithm: Text
    """What decides inside: logistic regression, moving average cross."""
    libraries: dict[str, str] = Field(default_factory=dict)
    """Libraries that made the file, name to version."""
    data_sha256: Sha256 | None = None
    """Hash of the bars trained on."""
    body_sha256: Sha256 | None = None
    """Hash of the model without its metadata; written with the file."""
    licence: Text
    """Licence of the model, SPDX where there is one."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [item.name for item in self.inputs]
        if len(set(names)) < len(names):
            raise ValueError(f"inputs {', '.join(names)} share a name: name each once")
        if (self.train_from is None) != (self.train_to is None):
            raise ValueError("train_from and train_to belong together: give both or none")
        if self.sequence is not None and self.sequence > self.window:
            raise ValueError(
                f"a sequence of {self.sequence} rows does not fit a window of {self.window} bars"
            )
        if self.train_from and self.train_to and self.train_from > self.train_to:
            raise ValueError(f"train_from {self.train_from} is after train_to {self.train_to}")
        if self.output.kind in _AT_MOST_ONE and self.decision.open_at > 1:
            raise ValueError(
                f"decision.open_at {self.decision.open_at:g} is above 1, "
                f"which {self.output.kind} never pass"
            )
        return self

    def as_json(self) -> str:
        """Return the JSON that is stored: one line, ASCII, every key, in the order above."""
        return json.dumps(self.model_dump(mode="json"), separators=(",", ":"), allow_nan=False)


def read_contract(metadata: Mapping[str, str]) -> Contract:
    """Return the contract that a model's metadata holds.

    Args:
        metadata: ``metadata_props``, or a session's ``custom_metadata_map``.

    Raises:
        ContractError: There is none, it is malformed, or it is of a newer version.
    """
    text = metadata.get(CONTRACT_KEY)
    if text is None:
        raise ContractError(
            f"there is no contract (metadata key {CONTRACT_KEY}), so nobody knows what the model "
            "is for: export it with one"
        )
    _check_version(text)
    try:
        return Contract.model_validate_json(text)
    except ValidationError as error:
        raise ContractError(f"the contract is malformed: {first_fault(error)}") from error


def _check_version(text: str) -> None:
    try:
        version = json.loads(text)["version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ContractError(
            "the contract is not a JSON object with a version: export the model again"
        ) from error
    if isinstance(version, int) and version > CONTRACT_VERSION:
        raise ContractError(
            f"the contract has version {version}, this bridge reads up to {CONTRACT_VERSION}: "
            "update mt5-onnx-bridge"
        )


def body_sha256(model: "onnx.ModelProto") -> str:
    """Return the hash of ``model`` without its metadata, as hex: the same after save and load."""
    body = type(model)()
    body.CopyFrom(model)
    del body.metadata_props[:]
    return hashlib.sha256(body.SerializeToString(deterministic=True)).hexdigest()


def with_contract(model: "onnx.ModelProto", contract: Contract) -> bytes:
    """Return the bytes of ``model`` with ``contract`` inside; ``body_sha256`` is filled in.

    Other metadata stays, sorted by key: equal models and contracts give equal bytes.
    """
    filled = contract.model_copy(update={"body_sha256": body_sha256(model)})
    metadata = {item.key: item.value for item in model.metadata_props}
    metadata[CONTRACT_KEY] = filled.as_json()
    copy = type(model)()
    copy.CopyFrom(model)
    del copy.metadata_props[:]
    for key in sorted(metadata):
        copy.metadata_props.add(key=key, value=metadata[key])
    stored: bytes = copy.SerializeToString(deterministic=True)
    return stored


def contract_schema() -> dict[str, JsonValue]:
    """Return the JSON Schema of version 1, as published in ``contract.schema.json``."""
    schema: dict[str, JsonValue] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema |= Contract.model_json_schema()
    required = schema["required"]
    return schema | {"required": ["version", *(required if isinstance(required, list) else [])]}
