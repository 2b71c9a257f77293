"""Export: prove, add the contract, write. The one way by which recipes make files."""

import csv
import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onnx import ModelProto

from bridge.authoring.prove import Check, Expected, prove
from bridge.features.featureset import FeatureSet
from bridge.features.target import MT5, Target
from bridge.journal.write import input_sha256
from bridge.model.contract import Contract, with_contract
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import text

MODEL, GOLDEN = "model.onnx", "golden.csv"


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        sha256: Hash of the file.
        size: Bytes of the file.
    """

    sha256: str
    size: int
    checks: tuple[Check, ...]


def export(
    model: ModelProto,
    *,
    features: FeatureSet,
    expected: Expected,
    rates: RatesArray,
    contract: Contract,
    folder: Path,
    golden: Sequence[int],
    target: Target = MT5,
) -> Exported:
    """Prove ``model`` and write ``model.onnx`` and ``golden.csv``; on a failed proof, nothing.

    Args:
        model: One graph from raw bars to the output.
        features: The tree inside it.
        expected: The estimator, asked with the history's features: the independent way by which
            golden values are computed.
        rates: All bars, oldest first.
        contract: Without ``body_sha256``.
        folder: Where to; made if it is not there.
        golden: Indices of the bars whose answers go into ``golden.csv``.
        target: Versions that the file keeps to.

    Raises:
        ProofError: A check failed.
    """
    checks = prove(
        model,
        features=features,
        expected=expected,
        rates=rates,
        contract=contract,
        target=target,
    )
    content = with_contract(model, contract)
    folder.mkdir(parents=True, exist_ok=True)
    table = golden_table(features, expected, rates, contract, golden)
    _replace(folder / GOLDEN, table.encode())
    _replace(folder / MODEL, content)
    return Exported(hashlib.sha256(content).hexdigest(), len(content), checks)


def golden_table(
    features: FeatureSet,
    expected: Expected,
    rates: RatesArray,
    contract: Contract,
    golden: Sequence[int],
) -> str:
    """Return golden values as CSV: bar, hash of its window, and what the model has to answer."""
    answers = expected(features.history(rates)[list(golden)]).reshape(len(golden), -1)
    names = [each.name for each in contract.output.classes] or [contract.output.name]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["bar", "window_sha256", *names])
    for index, row in zip(golden, answers.tolist(), strict=True):
        window = rates[index + 1 - contract.window : index + 1]
        writer.writerow(
            [text(int(window["time"][-1])), input_sha256(window), *(f"{v:.9g}" for v in row)]
        )
    return out.getvalue()


def _replace(path: Path, content: bytes) -> None:
    """Write whole or not at all: a reader never sees half a file."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    os.replace(part, path)
