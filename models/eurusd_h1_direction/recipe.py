"""Make the model of this folder: train, merge with its features, prove, write.

    python models/eurusd_h1_direction/recipe.py [FOLDER]

Needs the extra ``authoring``. Run twice in one environment it writes the same bytes.
"""

import hashlib
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import accuracy_score, log_loss

from bridge.authoring.convert import convert_classifier
from bridge.authoring.export import Exported, export
from bridge.authoring.merge import SHARES, merge
from bridge.features import codec, named
from bridge.features.expr import FIELDS, Bars
from bridge.features.featureset import FeatureSet
from bridge.features.graph import features_graph
from bridge.market.barfile import read_bars
from bridge.model.contract import Class, Contract, Input, Output
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import text
from bridge.settings import DecisionSettings
from bridge.share import share_dir

NAME = "eurusd_h1_direction"
CREATED = "2026-11-30"
IN_SAMPLE = 0.7
# The part of the training bars on which open_at is chosen, by how often it asks, not by profit.
CALIBRATION = 0.3
ASKS = 0.1
HORIZON = 6
MOVE = 1.5
RANGE_BARS = 24
CLASSES = ("down", "flat", "up")

_bars = Bars()
FEATURES = FeatureSet(
    {
        "return1": named.log_return(_bars.close),
        "return1_lag1": named.log_return(_bars.close).lag(1),
        "return6": named.log_return(_bars.close, 6),
        "return24": named.log_return(_bars.close, 24),
        "volatility24": named.volatility(_bars.close, 24),
        "ema12": named.ema_ratio(_bars.close, 12),
        "zscore48": named.zscore(_bars.close, 48),
        "rsi10": named.rsi(_bars.close, 10),
        "atr10": named.atr_ratio(_bars, 10),
        "stochastic14": named.stochastic(_bars, 14),
        "body": named.body(_bars),
        "hour_sin": named.hour_sin(),
        "hour_cos": named.hour_cos(),
    }
)


def labels(rates: RatesArray) -> NDArray[np.int64]:
    """Return 0 down, 1 flat, 2 up for the move of the next bars; -1 where it is not known.

    A move counts when it exceeds ``MOVE`` mean ranges of the last bars.
    """
    close = rates["close"]
    ranges = (rates["high"] - rates["low"]).astype(np.float64)
    mean = np.convolve(ranges, np.full(RANGE_BARS, 1.0 / RANGE_BARS), "full")[: len(ranges)]
    move = np.full(len(close), np.nan)
    move[:-HORIZON] = close[HORIZON:] - close[:-HORIZON]
    found = np.where(move > MOVE * mean, 2, np.where(move < -MOVE * mean, 0, 1))
    return np.where(np.isnan(move), -1, found).astype(np.int64)


def fit(x: NDArray[np.float32], y: NDArray[np.int64]) -> GradientBoostingClassifier:
    """Return the estimator, trained."""
    estimator = GradientBoostingClassifier(
        n_estimators=60,
        max_depth=3,
        learning_rate=0.05,
        subsample=0.7,
        min_samples_leaf=30,
        random_state=7,
    )
    return estimator.fit(x, y)


def training_rows(rates: RatesArray, first: int, last: int) -> NDArray[np.int64]:
    """Return the bars from ``first`` to before ``last`` whose label does not look past ``last``."""
    return np.arange(max(first, FEATURES.lookback), last - HORIZON)


def choose_open_at(x: NDArray[np.float32], y: NDArray[np.int64], rates: RatesArray) -> float:
    """Return the share that one bar in ten of the last training bars reaches, on either side."""
    end = int(len(rates) * IN_SAMPLE)
    start = int(end * (1.0 - CALIBRATION))
    early, late = training_rows(rates, 0, start), training_rows(rates, start, end)
    shares = fit(x[early], y[early]).predict_proba(x[late])
    return float(np.round(np.quantile(np.maximum(shares[:, 0], shares[:, 2]), 1.0 - ASKS), 2))


def metrics(
    estimator: GradientBoostingClassifier, x: NDArray[np.float32], y: NDArray[np.int64]
) -> dict[str, float]:
    """Return accuracy and log loss, each beside what the classes' frequencies alone give."""
    shares = estimator.predict_proba(x)
    prior = np.tile(estimator.init_.class_prior_, (len(y), 1))
    return {
        "bars": float(len(y)),
        "accuracy": accuracy_score(y, shares.argmax(axis=1)),
        "accuracy of the commonest class": accuracy_score(y, prior.argmax(axis=1)),
        "log loss": log_loss(y, shares, labels=[0, 1, 2]),
        "log loss of the frequencies": log_loss(y, prior, labels=[0, 1, 2]),
    }


def contract(rates: RatesArray, train: NDArray[np.int64], open_at: float) -> Contract:
    """Return what the file promises."""
    seen = rates[: train[-1] + HORIZON + 1]
    span = [text(int(seen["time"][place])).replace(".", "-").replace(" ", "T") for place in (0, -1)]
    return Contract(
        name=NAME,
        symbol="EURUSD",
        timeframe="H1",
        window=FEATURES.window,
        inputs=(
            Input(name="bars", dtype="double", layout="batch,window,columns", columns=FIELDS),
            Input(name="time", dtype="int64", layout="batch,window", columns=("time",)),
        ),
        output=Output(
            name=SHARES,
            kind="shares",
            classes=tuple(
                Class(name=name, side=side)
                for name, side in zip(CLASSES, ("short", "flat", "long"), strict=True)
            ),
        ),
        decision=DecisionSettings(
            open_at=open_at,
            max_bars=HORIZON,
            stop_ranges=4.0,
            take_ranges=6.0,
            range_bars=RANGE_BARS,
        ),
        train_from=span[0],
        train_to=span[1],
        server_clock="eet-us",
        features=codec.to_json(FEATURES),
        created=CREATED,
        algorithm="gradient boosting, scikit-learn",
        libraries={name: version(name) for name in ("scikit-learn", "skl2onnx", "onnx", "numpy")},
        data_sha256=hashlib.sha256(seen.tobytes()).hexdigest(),
        licence="MIT",
    )


CARD = """# eurusd_h1_direction

Will EURUSD move up, down or neither over the next {horizon} hours? Gradient boosting on {features} features of hourly bars,
in one graph: raw closed bars in, shares of the three answers out. It is here to show the path, **not to earn money**.

| | |
|---|---|
| file | `model.onnx`, {size:,} bytes, sha256 `{sha256}` |
| data | [sample bars](../sample_bars/README.md), EURUSD H1 2017, server clock `eet-us`; trained on the first {share:.0%}: {span} |
| input | `bars` double `[N, {window}, 6]` (open, high, low, close, tick_volume, spread), `time` int64 `[N, {window}]` |
| output | `shares` float `[N, 3]`: down, flat, up |
| label | the close {horizon} bars later is more than {move:g} mean ranges ({range_bars} bars) away: down or up; else flat |
| features | {names} |
| decision | open at a share of {open_at:g} (reached by one bar in ten of the last training bars), stop 4 and target 6 mean ranges away, out after {horizon} bars |

## How good is it?

| | in sample | out of sample |
|---|---|---|
{rows}

Out of sample it is about as good as knowing how often each class occurs. The threshold was chosen by how often it asks
for a position, on training bars, and no figure of the out-of-sample part was used to choose anything. One year of one
market is no evidence of profit.

## Limits

Spread, swap and commission of the sample are assumptions. The tick volumes of the sample are no tick counts, so no
feature uses them. The hours are those of a server clock with New York's dates: on a broker with another clock the hour
features mean something else, and the contract says which clock it was.

## Make it again

`python models/eurusd_h1_direction/recipe.py` with the extra `authoring`. It trains, proves (below) and writes `model.onnx`,
`golden.csv` (answers of the estimator itself, not of the graph) and this card; when a check fails it writes nothing.

```
{proof}
```
"""


def card(
    made: Exported,
    promise: Contract,
    inside: dict[str, float],
    outside: dict[str, float],
) -> str:
    """Return the README of this folder."""
    rows = [f"| {name} | {inside[name]:.4g} | {outside[name]:.4g} |" for name in inside]
    return CARD.format(
        horizon=HORIZON,
        features=len(FEATURES.names),
        size=made.size,
        sha256=made.sha256,
        share=IN_SAMPLE,
        span=f"{promise.train_from} to {promise.train_to}",
        window=promise.window,
        move=MOVE,
        range_bars=RANGE_BARS,
        names=", ".join(FEATURES.names),
        open_at=promise.decision.open_at,
        rows="\n".join(rows),
        proof="\n".join(str(check) for check in made.checks),
    )


def make(folder: Path) -> Exported:
    """Train, prove and write into ``folder``."""
    rates = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
    x, y = FEATURES.history(rates), labels(rates)
    end = int(len(rates) * IN_SAMPLE)
    train = training_rows(rates, 0, end)
    rest = np.arange(end, len(rates) - HORIZON)
    estimator = fit(x[train], y[train])
    promise = contract(rates, train, choose_open_at(x, y, rates))
    made = export(
        merge(
            features_graph(FEATURES.expressions),
            convert_classifier(estimator, width=len(FEATURES.names)),
            classes=len(CLASSES),
        ),
        features=FEATURES,
        expected=estimator.predict_proba,
        rates=rates,
        contract=promise,
        folder=folder,
        golden=np.linspace(end, len(rates) - 1, 50).astype(int).tolist(),
    )
    inside, outside = (metrics(estimator, x[rows], y[rows]) for rows in (train, rest))
    (folder / "README.md").write_text(card(made, promise, inside, outside), encoding="utf-8")
    return made


if __name__ == "__main__":
    result = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
    print("\n".join(str(check) for check in result.checks))
    print(f"written: {result.size} bytes, sha256 {result.sha256}")
