"""Make the model of this folder: a fixed rule as a graph, proven and written.

    python models/eurusd_h1_sma_cross/recipe.py [FOLDER]

It learns nothing; the expression tree alone is the model.
"""

import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

from bridge.authoring.export import Exported, export
from bridge.features import codec
from bridge.features.expr import FIELDS, Bars, greater
from bridge.features.featureset import FeatureSet
from bridge.features.graph import features_graph
from bridge.market.barfile import read_bars
from bridge.model.contract import Contract, Input, Output
from bridge.settings import DecisionSettings
from bridge.share import share_dir

NAME = "eurusd_h1_sma_cross"
CREATED = "2026-11-30"
FAST, SLOW = 24, 96

_close = Bars.close
_lead = _close.mean(FAST) - _close.mean(SLOW)
# Means that tie differ by rounding noise of 1e-16, in a sign that depends on the order of adding;
# means that do not tie differ by a tick over 96 bars at least, 1e-7 of the price.
_TIE = _close * 1e-9
RULE = FeatureSet({"target": greater(_lead, _TIE) - greater(-_lead, _TIE)})

CONTRACT = Contract(
    name=NAME,
    symbol="EURUSD",
    timeframe="H1",
    window=RULE.window,
    inputs=(
        Input(name="bars", dtype="double", layout="batch,window,columns", columns=FIELDS),
        Input(name="time", dtype="int64", layout="batch,window", columns=("time",)),
    ),
    output=Output(name="target", kind="target"),
    decision=DecisionSettings(open_at=0.5, close_at=0.5, stop_ranges=6.0, range_bars=24),
    server_clock="eet-us",
    features=codec.to_json(RULE),
    created=CREATED,
    algorithm=f"simple moving averages of {FAST} and {SLOW} bars, crossed",
    libraries={name: version(name) for name in ("onnx", "numpy")},
    licence="MIT",
)

CARD = """# eurusd_h1_sma_cross

A fixed rule as a model: long while the mean of the last {fast} closes is above that of the last {slow}, short while it is
below, out when they are equal. Nothing was trained. It shows that a rule is a file like any other, and is a yardstick.

| | |
|---|---|
| file | `model.onnx`, {size:,} bytes, sha256 `{sha256}` |
| input | `bars` double `[N, {window}, 6]`, `time` int64 `[N, {window}]` (not used by the rule) |
| output | `target` float `[N, 1]`: 1 long, -1 short, 0 neither |
| decision | stop 6 mean ranges (24 bars) away, reversed when the averages cross |

Its periods are round numbers that nobody searched for. Like any crossing of averages it loses in markets without a trend;
it is no evidence of profit.

## Make it again

`python models/eurusd_h1_sma_cross/recipe.py`. It proves the graph against the history evaluator over all sample bars:

```
{proof}
```

`golden.csv` has answers of the history evaluator, not of the graph.
"""


def make(folder: Path) -> Exported:
    """Prove the rule and write it into ``folder``."""
    rates = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
    made = export(
        features_graph(RULE.expressions, output="target"),
        features=RULE,
        expected=lambda history: history,
        rates=rates,
        contract=CONTRACT,
        folder=folder,
        golden=np.linspace(RULE.lookback, len(rates) - 1, 50).astype(int).tolist(),
    )
    text = CARD.format(
        fast=FAST,
        slow=SLOW,
        size=made.size,
        sha256=made.sha256,
        window=RULE.window,
        proof="\n".join(str(check) for check in made.checks),
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    return made


if __name__ == "__main__":
    result = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
    print("\n".join(str(check) for check in result.checks))
    print(f"written: {result.size} bytes, sha256 {result.sha256}")
