"""Proof of a wrapped model, and its files: what is written answers as the model came."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bridge.authoring import checks
from bridge.authoring.checks import Check
from bridge.authoring.export import GOLDEN, MODEL, SIDECAR, golden_table, sidecar_json
from bridge.authoring.wrap.source import Source
from bridge.authoring.wrap.spec import Spec
from bridge.authoring.wrap.wrap import Wrapped
from bridge.errors import ConfigError, ProofError
from bridge.market.barfile import read_bars
from bridge.model.contract import with_contract
from bridge.model.windows import windows_of
from bridge.mt5.rates import RatesArray, sealed
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir

WINDOWS = 500
"""Windows that are asked."""
_GOLDEN_ROWS = 50


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        sha256: Hash of the file.
        size: Bytes of the file.
    """

    path: Path
    sha256: str
    size: int


def prove(wrapped: Wrapped, rates: RatesArray, *, windows: int = WINDOWS) -> tuple[Check, ...]:
    """Return the checks, all passed.

    The truth is the model as it came, in a session of its own, asked with the history's features,
    scaled and laid out in numpy.

    Args:
        wrapped: Of ``wrap``.
        rates: Bars, oldest first; the newest windows of them are asked.
        windows: How many.

    Raises:
        ConfigError: Too few bars.
        ProofError: A check failed; the message has its value, its limit and the worst rows.
    """
    contract = wrapped.contract
    kept = newest(wrapped, rates, windows)
    feeds, wanted = windows_of(kept, contract), wrapped.rows(kept)
    answers, seen = checks.run(wrapped.model, feeds, contract, wrapped.features)
    if seen is None:
        raise ProofError(f"{contract.name} is not written: its graph does not show its features")
    truth = wrapped.expected(wanted)
    times = kept["time"][contract.window - 1 :]
    limit = checks.limit_of(contract, truth)
    found = (
        checks.window_is_history(seen, wanted, wrapped.features, times),
        checks.distance("wrapped equals the model", answers, truth, limit, times),
        checks.decisions("decisions of both differ", answers, truth, contract, times),
        checks.single(wrapped.model, feeds, answers, contract, times),
        checks.usable(answers, contract, times),
    )
    for check in found:
        if not check.ok:
            raise ProofError(
                f"{contract.name} is not written: {check}; worst: {check.where or 'everywhere'}"
            )
    return found


def newest(wrapped: Wrapped, rates: RatesArray, windows: int) -> RatesArray:
    """Return the bars of the newest windows.

    Raises:
        ConfigError: Not one window is there.
    """
    need = wrapped.contract.window
    if len(rates) < need:
        raise ConfigError(
            f"{len(rates)} bars are too few to prove {wrapped.contract.name}, one answer needs "
            f"{need}: give it more with --bars"
        )
    return rates[max(0, len(rates) - need - windows + 1) :]


def sample_bars(name: str) -> RatesArray:
    """Return the shipped bars, EURUSD H1 of 2017, as if they were of the timeframe ``name``.

    Enough to show that two ways to the same numbers agree, which needs no certain market.
    """
    rates = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv").copy()
    rates["time"] = rates["time"][0] + timeframe(name).seconds * np.arange(len(rates))
    return sealed(rates)


def notes(wrapped: Wrapped, spec: Spec, rates: RatesArray) -> tuple[str, ...]:
    """Return what is no fault and has to be known."""
    said = [
        f"{name} is a stand-in for {wanted}: the answers are not those that its author meant"
        for name, wanted in wrapped.stand_ins.items()
    ]
    if spec.scaler.kind == "minmax" and not spec.scaler.clip:
        low, high = spec.scaler.range
        rows = wrapped.rows(newest(wrapped, rates, WINDOWS))
        out = ((rows < low) | (rows > high)).reshape(-1, rows.shape[-1]).mean(axis=0)
        said += [
            f"{name} is outside the scaler's range on {share:.0%} of the bars that were tried"
            for name, share in zip(wrapped.features.names, out.tolist(), strict=True)
            if share > 0
        ]
    flat = checks.flat(wrapped.model, wrapped.features, wrapped.contract)
    if not flat.ok:
        said.append(
            "where nothing moves a formula is rounding noise, or the model has no answer "
            f"({flat.where}): compare with over_ema or safe_div, which know a flat market"
        )
    return tuple(said)


def write(wrapped: Wrapped, source: Source, spec: Spec, rates: RatesArray, folder: Path) -> Written:
    """Write ``model.onnx``, ``model.json`` and ``golden.csv`` into ``folder``; prove it before.

    Args:
        wrapped: Proven.
        source: The model as it came.
        spec: What was said of it.
        rates: Bars of the golden rows.
        folder: Made if it is not there; files of these names are replaced.

    Raises:
        ConfigError: The folder can't be written.
    """
    contract = wrapped.contract
    content = with_contract(wrapped.model, contract)
    places = np.unique(np.linspace(contract.window - 1, len(rates) - 1, _GOLDEN_ROWS).astype(int))
    golden = golden_table(wrapped.features, wrapped.expected, rates, contract, places.tolist())
    told = sidecar_json(content, contract, _around(wrapped, source, spec))
    files = {GOLDEN: golden.encode(), SIDECAR: told.encode(), MODEL: content}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, stored in files.items():
            part = folder / f"{name}.part"
            part.write_bytes(stored)
            os.replace(part, folder / name)
    except OSError as error:
        raise ConfigError(
            f"{folder} can't be written ({error.strerror}): name another folder with -o"
        ) from error
    return Written(folder / MODEL, hashlib.sha256(content).hexdigest(), len(content))


def _around(wrapped: Wrapped, source: Source, spec: Spec) -> dict[str, Any]:
    """Return what the sidecar tells of the wrapping."""
    return {
        "labels": [each.label for each in spec.output.classes],
        "wrapped": {
            "file": source.path.name,
            "sha256": source.sha256,
            "input": spec.input.model_dump(mode="json"),
            "features": {each.name: each.formula for each in spec.features},
            "stand_ins": wrapped.stand_ins,
            "scaler": spec.scaler.model_dump(mode="json", exclude_none=True),
            "output": spec.output.model_dump(mode="json", exclude_none=True),
            "fixed": spec.fixed,
        },
    }
