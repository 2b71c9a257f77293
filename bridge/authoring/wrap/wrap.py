"""Wrap a model: one file from raw bars to a decision, proven against the model as it came."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, checker
from pydantic import ValidationError

from bridge.authoring.build import INPUTS
from bridge.authoring.wrap.answer import Head, head
from bridge.authoring.wrap.fit import Fit, fit
from bridge.authoring.wrap.formulas import expression
from bridge.authoring.wrap.gates import titles
from bridge.authoring.wrap.join import join
from bridge.authoring.wrap.original import Run, runner, shape
from bridge.authoring.wrap.scaling import Constants, by_steps, constants
from bridge.authoring.wrap.source import DAMAGED, Source
from bridge.authoring.wrap.spec import Spec
from bridge.errors import ConfigError, ModelError
from bridge.features import codec
from bridge.features.expr import Expr
from bridge.features.featureset import SNAP, FeatureSet, sequences
from bridge.features.history import evaluate
from bridge.model.contract import Contract
from bridge.model.session import first_line
from bridge.mt5.rates import RatesArray
from bridge.settings import first_fault

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Wrapped:
    """What came out.

    Attributes:
        model: Without its contract yet, not proven yet.
        contract: What daemon, back-test and expert advisor take it by.
        features: Scaled by constants, as the graph has them; the gates' conditions come last.
        raw: Not scaled.
        expected: From rows of :attr:`rows` to the answers, by the model as it came.
        stand_ins: What each feature ought to be that has only a stand-in.
    """

    model: ModelProto
    contract: Contract
    features: FeatureSet
    raw: FeatureSet
    constants: Constants | None
    expected: Run
    stand_ins: dict[str, str]

    def rows(self, rates: RatesArray) -> Floats:
        """Return what the model has to see of every window: features, scaled in numpy.

        Returns:
            ``(n - window + 1, features)``, of a sequence ``(..., sequence, features)``.
        """
        values = evaluate(self.raw.expressions, rates)
        if self.constants is not None:
            scaled = len(self.constants.minus)  # the gates behind are not
            values[:, :scaled] = self.constants.numbers(values[:, :scaled])
        values[np.abs(values) < SNAP] = 0.0
        values[: self.raw.lookback] = np.nan
        rows, steps = values.astype(np.float32), self.contract.sequence
        return (rows if steps is None else sequences(rows, steps))[self.contract.window - 1 :]


def wrap(source: Source, spec: Spec, *, folder: Path) -> Wrapped:
    """Return ``source`` with all around it that ``spec`` says.

    The model is run in this process to see the shape of its answer: an unknown file has to have
    been tried in a child before (``bridge.model.probe``).

    Args:
        source: The model as it came.
        spec: What is said of it.
        folder: Where the scaler's file is looked for.

    Raises:
        ConfigError: A feature or the scaler is unusable.
        ContractError: Features, input, output and classes don't fit the model.
        ModelError: The model can't become part of another.
    """
    names = [each.name for each in spec.features]
    own = [expression(each.name, each.formula) for each in spec.features]
    found = constants(spec.scaler, names, folder)
    _check_scaled(spec)
    only = spec.output.only
    titled = titles([each.side for each in only])
    behind = [expression(*each) for each in zip(titled, (o.where for o in only), strict=True)]
    raw = _named([*names, *titled], [*own, *behind])
    ready = own if found is None else found.expressions(own)
    scaled = _named([*names, *titled], [*ready, *behind])
    place = fit(source, spec)
    run = runner(source, spec, place)
    width, is_batched = shape(source, run, place, len(names))
    if not is_batched:
        place = replace(place, batch=1)
        run = runner(source, spec, place)
    end = head(source, spec, width)
    try:
        model = join(source, scaled, place, end, spec.scaler, spec.input.bars)
        checker.check_model(model)
    except (checker.ValidationError, *DAMAGED) as error:
        raise ModelError(
            f"{source.path} can't be wrapped, onnx finds a fault in it: {first_line(error)}; "
            "export it again"
        ) from error
    return Wrapped(
        model=model,
        contract=_contract(spec, scaled, end),
        features=scaled,
        raw=raw,
        constants=found,
        expected=_expected(spec, place, end, run),
        stand_ins={each.name: each.stand_in for each in spec.features if each.stand_in},
    )


def _named(names: list[str], expressions: list[Expr]) -> FeatureSet:
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"two features are called {twice[0]}: give each its own name")
    return FeatureSet(dict(zip(names, expressions, strict=True)))


def _check_scaled(spec: Spec) -> None:
    if spec.scaler.kind.startswith("window") and spec.input.steps < 2:
        raise ConfigError(
            f"the scaler {spec.scaler.kind} scales by the steps of an answer, which sees "
            f"{spec.input.steps}: set [input] steps, or use constants"
        )


def _contract(spec: Spec, features: FeatureSet, end: Head) -> Contract:
    steps, frame = spec.input.steps, features.timeframe
    if frame is not None and frame != spec.contract.timeframe:
        raise ConfigError(
            f"the features name bars of {frame}, the contract {spec.contract.timeframe}: name that "
            "one in each of="
        )
    given = {
        **spec.contract.model_dump(exclude_none=True),
        "window": features.lookback + steps,
        "inputs": INPUTS[spec.input.bars],
        "output": end.described(),
        "decision": spec.decision,
        "features": codec.to_json(features),
        "sequence": None if steps == 1 else steps,
    }
    try:
        return Contract.model_validate(given)
    except ValidationError as error:
        raise ConfigError(
            f"what is said of {spec.contract.name} makes no contract: {first_fault(error)}"
        ) from error


def _expected(spec: Spec, place: Fit, end: Head, run: Run) -> Run:
    def expected(rows: NDArray[np.floating]) -> NDArray[np.float64]:
        seen = np.asarray(rows[..., : len(spec.features)], dtype=np.float32)
        scaled = by_steps(spec.scaler, seen)
        level, columns = None, rows[..., len(spec.features) :].astype(np.float64)
        if end.level is not None:
            newest = scaled if place.steps == 1 else scaled[:, -1]
            level = newest[:, [end.level]].astype(np.float64)
        return end.numbers(run(scaled), level, columns if place.steps == 1 else columns[:, -1])

    return expected
