"""The card of a model: what it is, what it was trained on, and what it did on bars it never saw."""

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bridge.authoring.export import Exported
from bridge.authoring.recipes.examples import Examples, Rows
from bridge.authoring.recipes.score import Score
from bridge.features.codec import from_json
from bridge.model.contract import Contract
from bridge.mt5.rates import RatesArray

_TEXT = """# {name}

{about}

| | |
|---|---|
| file | `model.onnx`, {size:,} bytes, sha256 `{sha256}` |
| trained on | {symbol} {timeframe}, {train_from} to {train_to}, server clock `{clock}` |
| learned by | {algorithm} ({libraries}) |
| input | {inputs} |
| output | `{output}` float `[N, {width}]`{meaning} |
| label | {label} |
| features | {features} |
| decision | {decision} |

## How good is it?

| | bars | {measure} | {guess} | trades | points | chance | doing nothing | always long |
|---|---|---|---|---|---|---|---|---|
{rows}

{caution}

## Limits

{limits}

## Make it again

{again}. It proves the file first and writes it afterwards; when a check fails it writes nothing.

```
{proof}
```

`golden.csv` has answers of the estimator itself, not of the graph.
"""
_CAUTION = """Points are after costs: a trade is held for {horizon} bars, one at a time, from open
to open, without stops. "Held out" is the newest part: it was never trained on and chose nothing.
The threshold was chosen by how often it asks on the walk-forward bars, not by what it made. Within
"chance", two standard errors, points say nothing. One market over such a span is
**no evidence of profit**."""
_MEASURES = {
    "shares": ("log loss", "of the frequencies alone"),
    "forecast": ("error, points", "of forecasting no move"),
}


def provenance(
    rates: RatesArray, examples: Examples, training: Rows, *, libraries: Sequence[str]
) -> dict[str, Any]:
    """Return the fields of a contract that say what was learned from.

    Args:
        rates: All bars.
        examples: Made of them.
        training: Bars that the estimator was trained on; their labels reach further.
        libraries: Distributions that made it, beside onnx and numpy.
    """
    seen = rates[: int(training[-1]) + examples.trades.reach + 1]
    first, last = (str(np.datetime64(int(seen["time"][place]), "s")) for place in (0, -1))
    return {
        "train_from": first,
        "train_to": last,
        "data_sha256": hashlib.sha256(seen.tobytes()).hexdigest(),
        "libraries": {name: version(name) for name in (*libraries, "onnx", "numpy")},
    }


def write_card(
    folder: Path,
    made: Exported,
    contract: Contract,
    *,
    about: str,
    label: str,
    scores: Mapping[str, Score],
    limits: str,
    again: str,
) -> None:
    """Write ``README.md`` into ``folder``.

    Args:
        folder: The model's.
        made: What was written there.
        contract: What the file promises.
        about: What it is, a paragraph.
        label: What was to be learned, a phrase.
        scores: Name of some bars, such as ``held out``, to what the model did there; at least one.
        limits: What a reader must not expect, a paragraph.
        again: How it is made again, a phrase.
    """
    measure, guess = _MEASURES[contract.output.kind]
    text = _TEXT.format(
        name=contract.name,
        about=about,
        size=made.size,
        sha256=made.sha256,
        symbol=contract.symbol,
        timeframe=contract.timeframe,
        train_from=contract.train_from,
        train_to=contract.train_to,
        clock=contract.server_clock,
        algorithm=contract.algorithm,
        libraries=", ".join(f"{name} {number}" for name, number in contract.libraries.items()),
        inputs=_inputs(contract),
        output=contract.output.name,
        width=contract.output.width,
        meaning=_meaning(contract),
        label=label,
        features=_features(contract),
        decision=_decision(contract),
        measure=measure,
        guess=guess,
        rows="\n".join(_row(name, each) for name, each in scores.items()),
        caution=_CAUTION.format(horizon=next(iter(scores.values())).horizon),
        limits=limits,
        again=again,
        proof="\n".join(str(check) for check in made.checks),
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


def _row(name: str, each: Score) -> str:
    numbers = f"{each.bars:,} | {each.error:.4g} | {each.guess:.4g} | {each.trades}"
    made = f"{each.points:,.0f} | {f'± {2 * each.chance:,.0f}' if each.trades > 1 else '?'}"
    return f"| {name} | {numbers} | {made} | 0 | {each.long:,.0f} |"


def _inputs(contract: Contract) -> str:
    return ", ".join(
        f"`{each.name}` {each.dtype} `[N, {', '.join(map(str, each.shape(contract.window)))}]`"
        for each in contract.inputs
    )


def _meaning(contract: Contract) -> str:
    output = contract.output
    if output.classes:
        return ": " + ", ".join(each.name for each in output.classes)
    return f", {output.unit}: above 0 is up"


def _features(contract: Contract) -> str:
    names = ", ".join(f"`{name}`" for name in from_json(contract.features or {}).names)
    return names + (f"; {contract.sequence} bars of them" if contract.sequence else "")


def _decision(contract: Contract) -> str:
    rule = contract.decision
    stop = f", stop {rule.stop_ranges:g} mean ranges away" if rule.stop_ranges else ""
    return f"open at {rule.open_at:g}{stop}, out after {rule.max_bars} bars"
