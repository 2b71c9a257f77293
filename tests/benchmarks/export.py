"""Estimators as files: how far from the estimator, how big, how fast, for both targets.

Each row was proven before it was written: what the proof refuses is a row with its reason. The
difference is the largest over all windows of the sample bars, of a forecast beside its largest
value. The time is that of one window through the session that the daemon uses.
"""

import argparse
import importlib
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import calibration, ensemble, linear_model, neural_network, pipeline, preprocessing

sys.path[:0] = [str(Path(__file__).parents[1] / "features")]

from markets import SAMPLE

from bridge.authoring.build import build
from bridge.authoring.ensemble import Mean, Vote
from bridge.authoring.export import export_built
from bridge.errors import ModelError
from bridge.features import named
from bridge.features.expr import Bars
from bridge.features.featureset import FeatureSet, sequences
from bridge.features.target import LEGACY, MT5, Target
from bridge.model.contract import Class
from bridge.model.load import load_model

FEATURES = FeatureSet(
    {
        "return1": named.log_return(Bars.close, 1),
        "return6": named.log_return(Bars.close, 6),
        "return24": named.log_return(Bars.close, 24),
        "volatility": named.volatility(Bars.close, 24),
        "zscore": named.zscore(Bars.close, 48),
        "rsi": named.rsi(Bars.close, 10),
        "stochastic": named.stochastic(Bars(), 14),
        "hour": named.hour_sin(),
        "hour2": named.hour_cos(),
    }
)
STEPS, TRAINED, AHEAD = 16, int(0.7 * len(SAMPLE)), 6
FIRST = FEATURES.lookback + STEPS
HISTORY = FEATURES.history(SAMPLE)
CLOSE = SAMPLE["close"]
MOVE = 1e4 * (CLOSE[FIRST + AHEAD : TRAINED + AHEAD] / CLOSE[FIRST:TRAINED] - 1.0)
CLASSES = np.digitize(MOVE, [-8.0, 8.0])
SIDES = [Class(name=side, side=side) for side in ("short", "flat", "long")]

Case = tuple[str, Callable[[], Any], dict[str, Any]]


def scaled(estimator: Any) -> Any:
    return pipeline.make_pipeline(preprocessing.StandardScaler(), estimator)


def forest(trees: int = 100) -> Any:
    return ensemble.RandomForestClassifier(trees, max_depth=8, random_state=0)


def logistic() -> Any:
    return scaled(linear_model.LogisticRegression(max_iter=1000))


def fitted(make: Callable[[], Any], y: Any = CLASSES) -> Callable[[], Any]:
    return lambda: make().fit(HISTORY[FIRST:TRAINED], y)


def sklearn_cases() -> Iterator[Case]:
    members = [("forest", forest(20)), ("logistic", logistic())]
    network = neural_network.MLPClassifier((32, 32), max_iter=60, random_state=0, tol=1e-3)
    for name, make in {
        "logistic": logistic,
        "forest 100": forest,
        "boosting 60": lambda: ensemble.GradientBoostingClassifier(n_estimators=60, random_state=0),
        "hist. boosting 100": lambda: ensemble.HistGradientBoostingClassifier(random_state=0),
        "network 32-32": lambda: scaled(network),
        "calibrated, sigmoid": lambda: calibration.CalibratedClassifierCV(forest(20), cv=3),
        "calibrated, isotonic": lambda: calibration.CalibratedClassifierCV(
            forest(20), method="isotonic", cv=3
        ),
        "voting": lambda: ensemble.VotingClassifier(members, voting="soft"),
        "stacking": lambda: ensemble.StackingClassifier(members, cv=3),
    }.items():
        yield name, fitted(make), {}
    trio = [fitted(make) for make in (logistic, forest, ensemble.HistGradientBoostingClassifier)]
    yield "mean of three", lambda: Mean(tuple(make() for make in trio)), {}
    yield "vote of three", lambda: Vote(tuple(make() for make in trio)), {}
    yield "forest, layout rates", fitted(forest), {"layout": "rates"}
    for name, make in {
        "ridge, forecast": lambda: scaled(linear_model.Ridge()),
        "forest, forecast": lambda: ensemble.RandomForestRegressor(
            100, max_depth=8, random_state=0
        ),
        "hist., forecast": lambda: ensemble.HistGradientBoostingRegressor(random_state=0),
    }.items():
        yield name, fitted(make, MOVE), {}


def booster_cases() -> Iterator[Case]:
    try:
        import lightgbm

        plain = {"n_estimators": 100, "verbose": -1, "n_jobs": 1}
        yield "LightGBM 100", fitted(lambda: lightgbm.LGBMClassifier(**plain)), {}
        yield "LightGBM, forecast", fitted(lambda: lightgbm.LGBMRegressor(**plain), MOVE), {}
        forested = plain | {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7}
        yield "LightGBM rf, forecast", fitted(lambda: lightgbm.LGBMRegressor(**forested), MOVE), {}
        import xgboost

        few = {"n_estimators": 100, "max_depth": 5, "n_jobs": 1}
        yield "XGBoost 100", fitted(lambda: xgboost.XGBClassifier(**few)), {}
        yield "XGBoost, forecast", fitted(lambda: xgboost.XGBRegressor(**few), MOVE), {}
    except ModuleNotFoundError as error:
        print(f"left out: {error}")


def torch_cases() -> Iterator[Case]:
    try:
        torch: Any = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        print(f"left out: {error}")
        return
    nn: Any = torch.nn

    class Recurrent(nn.Module):  # type: ignore[misc]
        def __init__(self, kind: str) -> None:
            super().__init__()
            self.rnn = getattr(nn, kind)(len(FEATURES.names), 32, batch_first=True)
            self.head = nn.Linear(32, 3)

        def forward(self, rows: Any) -> Any:
            return self.head(self.rnn(rows)[0][:, -1])

    def learnt(make: Callable[[], Any], rows: Any) -> Any:
        torch.manual_seed(0)
        network, x = make(), torch.from_numpy(np.array(rows[FIRST:TRAINED]))
        for _ in range(10):
            loss = nn.functional.cross_entropy(network(x), torch.from_numpy(CLASSES))
            loss.backward()
            with torch.no_grad():
                for weight in network.parameters():
                    weight -= 0.05 * weight.grad
                    weight.grad = None
        return network

    width = len(FEATURES.names)
    deep = lambda: nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, 3))  # noqa: E731
    yield "torch network 32", lambda: learnt(deep, HISTORY), {"kind": "shares"}
    rows = sequences(HISTORY, STEPS)
    for kind in ("LSTM", "GRU"):
        make = lambda kind=kind: learnt(lambda: Recurrent(kind), rows)  # noqa: E731
        yield f"torch {kind} 32, {STEPS} rows", make, {"kind": "shares", "sequence": STEPS}


def microseconds(path: Path) -> float:
    """Return the median of one window through the daemon's session."""
    model, taken = load_model(path, probe=False), []
    window = SAMPLE[-model.contract.window :]
    for _ in range(600):
        start = time.perf_counter()
        model.session.run(window)
        taken.append(time.perf_counter() - start)
    return float(np.median(taken[100:])) * 1e6


def row(name: str, estimator: Any, target: Target, more: dict[str, Any]) -> str:
    head = f"{name:24} {target.name:7}"
    try:
        built = build(FEATURES, estimator, target=target, **more)
        classes = SIDES if built.labels else []
        contract = built.contract(
            name=name,
            symbol="EURUSD",
            timeframe="H1",
            classes=classes,
            unit=None if classes else "1e-4",
            decision={"open_at": 0.4 if classes else 2.0},
            server_clock="eet-us",
            created="2026-01-01",
            algorithm=name,
            licence="MIT",
        )
        with tempfile.TemporaryDirectory() as folder:
            made = export_built(built, contract=contract, rates=SAMPLE, folder=Path(folder))
            p50 = microseconds(Path(folder) / "model.onnx")
    except ModelError as error:
        return f"{head} refused: {error}"
    found = {check.name: check for check in made.checks}
    apart = found["ONNX equals the estimator"]
    scale = apart.limit / 1e-6
    flips = found["decisions of both differ"].value
    return f"{head} {apart.value / scale:9.1e} {flips:6.0f} {made.size / 1024:9.0f} {p50:8.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of the names")
    only = parser.parse_args().only
    warnings.simplefilter("ignore")  # a network that could learn on
    print(f"{'estimator':24} {'target':7} {'max diff':>9} {'flips':>6} {'KiB':>9} {'p50 us':>8}")
    for cases in (sklearn_cases, booster_cases, torch_cases):
        for name, make, more in cases():
            if only in name:
                estimator = make()
                for target in (MT5, LEGACY):
                    print(row(name, estimator, target, more), flush=True)


if __name__ == "__main__":
    main()
