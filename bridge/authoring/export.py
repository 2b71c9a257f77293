"""Export: prove, add the contract, write. The one way by which recipes make files."""

import csv
import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto

from bridge.authoring.build import Built, Expected
from bridge.authoring.checks import Check, rows_of
from bridge.authoring.prove import prove
from bridge.errors import ConfigError
from bridge.features.featureset import FeatureSet
from bridge.features.target import MT5, Target
from bridge.journal.write import input_sha256
from bridge.model.contract import Contract, with_contract
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import text

MODEL, GOLDEN, SIDECAR = "model.onnx", "golden.csv", "model.json"
_GOLDEN_ROWS = 50


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


def export_built(
    built: Built,
    *,
    contract: Contract,
    rates: RatesArray,
    folder: Path,
    golden: Sequence[int] | None = None,
) -> Exported:
    """Prove what :func:`~bridge.authoring.build.build` made, and write it with its sidecar.

    Args:
        built: Features and estimator as one graph.
        contract: Of ``built.contract``.
        rates: Bars to prove it on, the newest of them not trained on, oldest first.
        folder: Where to; ``model.onnx``, ``model.json`` and ``golden.csv`` are replaced.
        golden: Indices of the bars whose answers go into ``golden.csv``; None is fifty, evenly.

    Raises:
        ProofError: A check failed; nothing is written.
        ConfigError: Too few bars.
    """
    count = len(rates) - contract.window + 1
    if count < 1:
        raise ConfigError(
            f"{len(rates)} bars are too few to prove {contract.name}, one answer needs "
            f"{contract.window}: give it more"
        )
    places = np.unique(np.linspace(contract.window - 1, len(rates) - 1, _GOLDEN_ROWS).astype(int))
    return export(
        built.model,
        features=built.features,
        expected=built.expected,
        rates=rates,
        contract=contract,
        folder=folder,
        golden=places.tolist() if golden is None else golden,
        target=built.target,
        sidecar={"labels": list(built.labels)},
    )


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
    sidecar: dict[str, Any] | None = None,
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
        sidecar: What ``model.json`` tells besides the contract; None writes none.

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
    if sidecar is not None:
        _replace(folder / SIDECAR, sidecar_json(content, contract, sidecar).encode())
    _replace(folder / MODEL, content)
    return Exported(hashlib.sha256(content).hexdigest(), len(content), checks)


def sidecar_json(content: bytes, contract: Contract, more: dict[str, Any]) -> str:
    """Return what MQL5 and people can read beside the file: MQL5 can't read a model's metadata."""
    told = {
        "file": MODEL,
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
        "classes": [each.name for each in contract.output.classes],
        **more,
        "contract": contract.model_dump(mode="json", exclude={"body_sha256"}),
    }
    return json.dumps(told, indent=1, allow_nan=False) + "\n"


def golden_table(
    features: FeatureSet,
    expected: Expected,
    rates: RatesArray,
    contract: Contract,
    golden: Sequence[int],
) -> str:
    """Return golden values as CSV: bar, hash of its window, and what the model has to answer."""
    rows = rows_of(features, rates, contract)[np.asarray(golden) - contract.window + 1]
    answers = np.asarray(expected(rows)).reshape(len(golden), -1)
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
