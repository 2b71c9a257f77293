"""Build: features and a fitted estimator become one graph, with all that its contract needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from bridge.authoring import torchnet
from bridge.authoring.convert import Kind, convert
from bridge.authoring.ensemble import Ensemble, combine
from bridge.authoring.merge import SHARES, merge
from bridge.errors import ConfigError, ModelError
from bridge.features import codec
from bridge.features.expr import FIELDS
from bridge.features.featureset import FeatureSet
from bridge.features.graph import RATES_ROWS, Layout, features_graph
from bridge.features.target import MT5, Target
from bridge.model.contract import Class, Contract, Input, Output

Floats = NDArray[np.float32]
Expected = Callable[[Floats], NDArray[np.floating]]
"""From float32 features ``(n, features)``, of a sequence ``(n, sequence, features)``, to the
answers ``(n, width)`` that they should give."""

INPUTS: dict[Layout, tuple[Input, ...]] = {
    "bars+time": (
        Input(name="bars", dtype="double", layout="batch,window,columns", columns=FIELDS),
        Input(name="time", dtype="int64", layout="batch,window", columns=("time",)),
    ),
    "rates": (
        Input(name="rates", dtype="double", layout="batch,columns,window", columns=RATES_ROWS),
    ),
}
"""What the contract says of the inputs of each layout."""


@dataclass(frozen=True)
class Built:
    """One graph from raw bars to the answer, not proven yet.

    Attributes:
        expected: The estimator itself, as the proof asks it.
        kind: shares, forecast or target; also the name of the output.
        labels: Of shares: the estimator's classes in the order of the output's columns.
        sequence: Rows of features of one answer; None is one, without a dimension for it.
    """

    model: ModelProto
    features: FeatureSet
    expected: Expected
    kind: Kind
    labels: tuple[int, ...]
    inputs: tuple[Input, ...]
    sequence: int | None
    target: Target

    @property
    def window(self) -> int:
        """Closed bars that one answer needs."""
        return self.features.lookback + (self.sequence or 1)

    def contract(
        self, *, classes: Sequence[Class] = (), unit: str | None = None, **fields: Any
    ) -> Contract:
        """Return the contract; window, inputs, output and features come from the graph.

        Args:
            classes: Of shares: what each label means, in the order of ``labels``.
            unit: Of a forecast: what its number counts.
            fields: The others of :class:`~bridge.model.contract.Contract`.

        Raises:
            ConfigError: Another number of classes than the estimator has.
        """
        if len(classes) != len(self.labels):
            raise ConfigError(
                f"the contract names {len(classes)} classes, the estimator has "
                f"{len(self.labels)} ({', '.join(map(str, self.labels))}): name each in order"
            )
        output = Output(name=self.kind, kind=self.kind, classes=tuple(classes), unit=unit)
        given = {
            "window": self.window,
            "inputs": self.inputs,
            "output": output,
            "features": codec.to_json(self.features),
            "sequence": self.sequence,
        }
        return Contract.model_validate(given | fields)


def build(
    features: FeatureSet,
    estimator: Any,
    *,
    kind: Kind | None = None,
    sequence: int | None = None,
    layout: Layout = "bars+time",
    target: Target = MT5,
) -> Built:
    """Return features and estimator as one graph.

    Args:
        features: What the estimator was fitted on, as ``features.history`` gives it (float32).
        estimator: Fitted; of scikit-learn, LightGBM, XGBoost or PyTorch, or ``Mean`` or ``Vote``
            of several.
        kind: shares, forecast or target; None is what scikit-learn's conventions say, shares of a
            classifier and a forecast of a regressor. A network of torch needs it said.
        sequence: Rows of features that one answer sees, for a network over sequences
            (``bridge.features.featureset.sequences`` makes its training rows).
        layout: ``bars+time`` has two inputs; ``rates`` has one, as MQL5 copies rates into a matrix.
        target: Versions of the file: ``MT5``, or ``LEGACY`` for older runtimes.

    Raises:
        ConfigError: A library is not installed, or the layout is unknown.
        ModelError: The estimator can't be converted, or is known to come out wrong.
    """
    if layout not in INPUTS:
        raise ConfigError(f"the layout {layout} is unknown: use one of {', '.join(INPUTS)}")
    if sequence is not None and sequence < 2:
        raise ConfigError(f"a sequence of {sequence} rows is none: use 2 or more, or leave it out")
    asked = kind or _kind_of(estimator)
    width = len(features.names)
    graph = convert(estimator, width=width, kind=asked, sequence=sequence, target=target)
    expected = expected_of(estimator, asked)
    labels = _labels(estimator, expected, width, sequence) if asked == SHARES else ()
    model = merge(
        features_graph(features.expressions, sequence=sequence, layout=layout, target=target),
        graph,
        classes=len(labels) or 1,
        output=asked,
        target=target,
    )
    return Built(model, features, expected, asked, labels, INPUTS[layout], sequence, target)


def expected_of(estimator: Any, kind: Kind) -> Expected:
    """Return what asks the estimator itself."""
    if isinstance(estimator, Ensemble):
        members = [expected_of(member, kind) for member in estimator.members]
        return lambda rows: combine(estimator, [member(rows) for member in members])
    if torchnet.is_network(estimator):
        return lambda rows: torchnet.answers(estimator, rows, is_shares=kind == SHARES)
    ask = estimator.predict_proba if kind == SHARES else estimator.predict
    return lambda rows: np.asarray(ask(rows), dtype=np.float64).reshape(len(rows), -1)


def _kind_of(estimator: Any) -> Kind:
    first = estimator.members[0] if isinstance(estimator, Ensemble) else estimator
    if isinstance(first, Ensemble):
        return _kind_of(first)
    if torchnet.is_network(first):
        raise ConfigError(
            f'{type(first).__name__} does not say what it answers: give kind="shares", "forecast" '
            'or "target"'
        )
    return "shares" if hasattr(first, "predict_proba") else "forecast"


def _labels(
    estimator: Any, expected: Expected, width: int, sequence: int | None
) -> tuple[int, ...]:
    """Return the classes; a network has none but its columns' numbers."""
    if isinstance(estimator, Ensemble):
        all_labels = [
            _labels(member, expected_of(member, "shares"), width, sequence)
            for member in estimator.members
        ]
        if len(set(all_labels)) > 1:
            raise ModelError(
                f"the members' classes differ ({all_labels}): fit all of them on the same labels"
            )
        return all_labels[0]
    if torchnet.is_network(estimator):
        shape = (1, width) if sequence is None else (1, sequence, width)
        return tuple(range(expected(np.zeros(shape, np.float32)).shape[1]))
    return tuple(int(label) for label in estimator.classes_)
