"""Proof: what is about to be written does what was trained, or it is not written."""

import numpy as np
import onnx
from onnx import ModelProto

from bridge.authoring import checks
from bridge.authoring.build import Expected
from bridge.authoring.checks import Check
from bridge.errors import ProofError
from bridge.features.featureset import FeatureSet
from bridge.features.target import Target
from bridge.model.contract import Contract
from bridge.model.windows import windows_of
from bridge.mt5.rates import RatesArray

_DOMAINS = frozenset({"", "ai.onnx.ml"})


def prove(
    model: ModelProto,
    *,
    features: FeatureSet,
    expected: Expected,
    rates: RatesArray,
    contract: Contract,
    target: Target,
) -> tuple[Check, ...]:
    """Return the checks, all passed.

    Args:
        model: Without its contract yet.
        features: The tree that its training data came from.
        expected: The estimator itself, asked with the history's features.
        rates: Real bars, all that there are.
        contract: Says how outputs become decisions.
        target: Versions that the file has to keep to.

    Raises:
        ProofError: A check failed; the message has its value, its limit and the worst rows.
    """
    _check_structure(model, target)
    feeds = windows_of(rates, contract)
    wanted = checks.rows_of(features, rates, contract)
    answers, seen = checks.run(model, feeds, contract, features)
    truth = np.asarray(expected(wanted), dtype=np.float64).reshape(len(wanted), -1)
    if answers.shape != truth.shape:
        raise ProofError(
            f"{contract.name} is not written: the graph gives {answers.shape[1]} numbers, the "
            f"estimator {truth.shape[1]}: take another estimator"
        )
    times = rates["time"][contract.window - 1 :]
    limit = checks.limit_of(contract, truth)
    # The output of a rule is its feature: there the next check compares window and history.
    inner = () if seen is None else (checks.window_is_history(seen, wanted, features, times),)
    found = (
        *inner,
        checks.distance("ONNX equals the estimator", answers, truth, limit, times),
        checks.decisions("decisions of both differ", answers, truth, contract, times),
        checks.reference(model, feeds, answers, contract, times),
        checks.single(model, feeds, answers, contract, times),
        checks.flat(model, features, contract),
    )
    for check in found:
        if not check.ok:
            raise ProofError(
                f"{contract.name} is not written: {check}; worst: {check.where or 'everywhere'}"
            )
    return found


def _check_structure(model: ModelProto, target: Target) -> None:
    """Refuse what a terminal could not read.

    Raises:
        ProofError: What it is.
    """
    try:
        onnx.checker.check_model(model, full_check=True)
        onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise ProofError(f"the graph is no valid ONNX: {str(error).strip()}") from error
    allowed = {"": target.opset, "ai.onnx.ml": target.ml}
    versions = {each.domain: each.version for each in model.opset_import}
    if model.ir_version != target.ir or any(allowed.get(d) != v for d, v in versions.items()):
        raise ProofError(
            f"the graph has IR {model.ir_version} and opsets {versions}; {target.name} takes IR "
            f"{target.ir} and {allowed}"
        )
    if foreign := {node.domain for node in model.graph.node} - _DOMAINS:
        raise ProofError(f"the graph uses the operators of {sorted(foreign)}: no terminal has them")
    for info in (*model.graph.input, *model.graph.output):
        sizes = [each.dim_value for each in info.type.tensor_type.shape.dim]
        if not sizes or min(sizes[1:], default=0) < 1:
            raise ProofError(f"{info.name} has the shape {sizes}: only the batch may be free")
