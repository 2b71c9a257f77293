"""Exporters: every family of estimators comes out right, or is refused with a reason.

The families' full table, on both targets, is ``tests/benchmarks/export.py``.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from markets import SAMPLE

import bridge.authoring
from bridge.authoring.build import Built, build
from bridge.authoring.ensemble import Mean, Vote
from bridge.authoring.export import GOLDEN, MODEL, SIDECAR, Exported, export_built
from bridge.authoring.known import midway
from bridge.errors import BridgeError, ConfigError, ModelError, ProofError
from bridge.features import named
from bridge.features.expr import Bars
from bridge.features.featureset import FeatureSet, sequences
from bridge.features.graph import RATES_ROWS
from bridge.features.target import LEGACY, MT5
from bridge.model.contract import Class
from bridge.model.load import load_model
from bridge.model.probe import probe

sklearn = pytest.importorskip("sklearn", reason="needs scikit-learn")
pytest.importorskip("skl2onnx", reason="needs skl2onnx")

from sklearn import (  # noqa: E402
    calibration,
    ensemble,
    linear_model,
    neural_network,
    pipeline,
    preprocessing,
    tree,
)
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # noqa: E402

RATES = SAMPLE[:600]
TRAINED = 450
FEATURES = FeatureSet(
    {
        "move": named.log_return(Bars.close, 3),
        "zscore": named.zscore(Bars.close, 20),
        "hour": named.hour_sin(),
    }
)
FIRST = FEATURES.lookback + 7
X = FEATURES.history(RATES)[FIRST:TRAINED]
MOVE = 1e4 * (RATES["close"][FIRST + 4 : TRAINED + 4] / RATES["close"][FIRST:TRAINED] - 1.0)
Y = np.digitize(MOVE, [-4.0, 4.0])
CLASSES = [Class(name=side, side=side) for side in ("short", "flat", "long")]


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Keep the boosters' threads from waiting for each other on a busy computer."""
    with threadpool_limits(1):
        yield


def trees(**more: Any) -> Any:
    return ensemble.RandomForestClassifier(5, max_depth=4, random_state=0, **more)


def scaled(estimator: Any) -> Any:
    return pipeline.make_pipeline(preprocessing.StandardScaler(), estimator)


def boosted(**more: Any) -> Any:
    lightgbm = pytest.importorskip("lightgbm", reason="needs lightgbm")
    pytest.importorskip("onnxmltools", reason="needs onnxmltools")
    return lightgbm.LGBMClassifier(n_estimators=4, num_leaves=7, verbose=-1, n_jobs=1, **more)


def xgboosted() -> Any:
    xgboost = pytest.importorskip("xgboost", reason="needs xgboost")
    pytest.importorskip("onnxmltools", reason="needs onnxmltools")
    return xgboost.XGBClassifier(n_estimators=4, max_depth=3, n_jobs=1)


def histogram() -> Any:
    return ensemble.HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=7, random_state=0)


def members() -> list[tuple[str, Any]]:
    return [("forest", trees()), ("logistic", linear_model.LogisticRegression())]


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: scaled(linear_model.LogisticRegression()),
    "tree": lambda: tree.DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": trees,
    "boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=4, random_state=0),
    "histogram": histogram,
    "network": lambda: neural_network.MLPClassifier((6,), max_iter=900, tol=0.1, random_state=0),
    "calibrated": lambda: calibration.CalibratedClassifierCV(trees(), method="sigmoid", cv=2),
    "voting": lambda: ensemble.VotingClassifier(members(), voting="soft"),
    "stacking": lambda: ensemble.StackingClassifier(members(), cv=2),
    "lightgbm": boosted,
    "xgboost": xgboosted,
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "linear": lambda: scaled(linear_model.Ridge()),
    "forest": lambda: ensemble.RandomForestRegressor(5, max_depth=4, random_state=0),
    "histogram": lambda: ensemble.HistGradientBoostingRegressor(max_iter=4, random_state=0),
}
PLAIN: dict[str, Any] = {
    "name": "tested",
    "symbol": "EURUSD",
    "timeframe": "H1",
    "server_clock": "eet-us",
    "created": "2026-01-01",
    "algorithm": "tested",
    "licence": "MIT",
}


def written(built: Built, folder: Path) -> Exported:
    if built.kind == "shares":
        promise = built.contract(classes=CLASSES, decision={"open_at": 0.4}, **PLAIN)
    else:
        promise = built.contract(unit="1e-4", decision={"open_at": 1.0}, **PLAIN)
    return export_built(built, contract=promise, rates=RATES, folder=folder)


def answered(folder: Path, newest: int) -> list[float]:
    model = load_model(folder / MODEL, probe=False)
    signal = model.signal(RATES[newest + 1 - model.contract.window : newest + 1])
    assert signal.problem is None
    return list(signal.values)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_is_proven_and_answers_from_raw_bars(name: str, tmp_path: Path) -> None:
    estimator = CLASSIFIERS[name]().fit(X, Y)
    # Each family on one target, in turn; the benchmark has both.
    target = (MT5, LEGACY)[list(CLASSIFIERS).index(name) % 2]
    written(build(FEATURES, estimator, target=target), tmp_path)
    newest = len(RATES) - 1
    expected = estimator.predict_proba(FEATURES.history(RATES)[newest:])[0]
    np.testing.assert_allclose(answered(tmp_path, newest), expected, atol=1e-6)


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_becomes_a_forecast(name: str, tmp_path: Path) -> None:
    estimator = REGRESSORS[name]().fit(X, MOVE)
    built = build(FEATURES, estimator)
    assert (built.kind, built.labels) == ("forecast", ())
    written(built, tmp_path)
    newest = len(RATES) - 1
    expected = estimator.predict(FEATURES.history(RATES)[newest:])
    np.testing.assert_allclose(answered(tmp_path, newest), expected, rtol=1e-5)


def test_both_layouts_and_targets_give_the_same_bits_and_say_what_they_are(tmp_path: Path) -> None:
    estimator, found = trees().fit(X, Y), []
    for target, layout in ((MT5, "bars+time"), (MT5, "rates"), (LEGACY, "rates")):
        folder = tmp_path / f"{target.name}_{layout}"
        written(build(FEATURES, estimator, layout=layout, target=target), folder)  # type: ignore[arg-type]
        model = onnx.load(folder / MODEL)
        versions = {each.domain: each.version for each in model.opset_import}
        assert (model.ir_version, versions) == (
            target.ir,
            {"": target.opset, "ai.onnx.ml": target.ml},
        )
        found.append([answered(folder, newest) for newest in (60, 300, 599)])
    assert found[0] == found[1] == found[2]
    report = probe(folder / MODEL)  # a child process takes it from raw bytes to an answer
    assert report.inputs == {"rates": f"tensor(double) ['N', {len(RATES_ROWS)}, {FEATURES.window}]"}


def test_the_sidecar_tells_what_mql5_cannot_read_in_the_file(tmp_path: Path) -> None:
    # D02: labels that don't begin at 0; the sidecar has them in the order of the columns.
    made = written(build(FEATURES, trees().fit(X, Y - 1), layout="rates"), tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([GOLDEN, MODEL, SIDECAR])
    told = json.loads((tmp_path / SIDECAR).read_text(encoding="utf-8"))
    assert (told["file"], told["sha256"], told["size"]) == (MODEL, made.sha256, made.size)
    assert made.sha256 == load_model(tmp_path / MODEL, probe=False).sha256
    assert (told["classes"], told["labels"]) == ([each.name for each in CLASSES], [-1, 0, 1])
    assert told["contract"]["window"] == FEATURES.window
    assert told["contract"]["inputs"][0]["columns"] == list(RATES_ROWS)
    assert len((tmp_path / GOLDEN).read_text(encoding="ascii").splitlines()) == 51


def test_several_models_become_one_graph(tmp_path: Path) -> None:
    forest, logistic = (each.fit(X, Y) for _, each in members())
    other = histogram().fit(X, Y)
    last = FEATURES.history(RATES)[-1:]
    shares = [each.predict_proba(last)[0] for each in (forest, logistic, other)]
    weighted = Mean((forest, logistic, other), weights=(1.0, 2.0, 5.0))
    written(build(FEATURES, weighted), tmp_path / "mean")
    expected = shares[0] / 8 + shares[1] / 4 + shares[2] * 5 / 8
    np.testing.assert_allclose(answered(tmp_path / "mean", 599), expected, atol=1e-6)
    written(build(FEATURES, Vote((forest, logistic, other)), target=LEGACY), tmp_path / "vote")
    votes = np.bincount([int(each.argmax()) for each in shares], minlength=3) / 3
    np.testing.assert_allclose(answered(tmp_path / "vote", 599), votes, atol=1e-6)


def refused(estimator: Any, words: str, folder: Path, **more: Any) -> None:
    with pytest.raises(BridgeError, match=words) as caught:
        written(build(FEATURES, estimator, **more), folder)
    assert isinstance(caught.value, (ModelError, ConfigError))
    assert not list(folder.iterdir())


def test_a_random_forest_of_lightgbm_which_converts_wrongly_is_refused(tmp_path: Path) -> None:
    wrong = boosted(boosting_type="rf", bagging_freq=1, bagging_fraction=0.7)
    refused(
        wrong.fit(X, Y),
        r"^tested is not written: the graph gives 2 numbers, the estimator 3: take another",
        tmp_path,
    )


def test_linear_trees_which_convert_wrongly_are_refused_with_the_worst_bars(tmp_path: Path) -> None:
    refused(
        boosted(linear_tree=True).fit(X, Y),
        r"^tested is not written: ONNX equals the estimator: 0\.\d+, limit 1e-06; worst: 2017\.",
        tmp_path,
    )


def test_isotonic_calibration_is_refused_wherever_it_sits(tmp_path: Path) -> None:
    isotonic = calibration.CalibratedClassifierCV(trees(), method="isotonic", cv=2)
    inside = ensemble.VotingClassifier([("a", isotonic), ("b", trees())], voting="soft")
    for estimator in (scaled(isotonic), inside):
        refused(estimator.fit(X, Y), 'isotonic steps.* calibrate with method="sigmoid"', tmp_path)


def test_a_power_transformer_is_right_or_refused(tmp_path: Path) -> None:
    # Of numbers far from 0 its power loses digits in float32; of returns it loses none.
    levels = FeatureSet({"close": Bars.close, "move": named.log_return(Bars.close, 3)})
    power = pipeline.make_pipeline(
        preprocessing.PowerTransformer(), linear_model.LogisticRegression()
    )
    with pytest.raises(ProofError, match="ONNX equals the estimator"):
        written(build(levels, power.fit(levels.history(RATES)[FIRST:TRAINED], Y)), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("make", [histogram, boosted], ids=["histogram", "lightgbm"])
def test_a_booster_trained_on_doubles_is_refused(make: Callable[[], Any], tmp_path: Path) -> None:
    # Twins such as the sines of 30 and 150 degrees are two doubles and one float32: trained on
    # doubles it tells them apart, and nothing that is asked with float32 would show it.
    doubles = X.astype(np.float64) * (1.0 + 1e-9)
    refused(make().fit(doubles, Y), r"was trained on doubles, \d+% .*FeatureSet\.history", tmp_path)
    # The same numbers as float32, kept in an array of doubles, are fine.
    assert build(FEATURES, make().fit(X.astype(np.float64), Y))


def test_which_numbers_can_be_the_middle_of_two_float32() -> None:
    low, high = np.float32(0.1), np.float32(0.7)
    middle = (float(low) + float(high)) / 2
    found = midway(np.array([middle, np.nextafter(middle, 1.0), 0.1 + 0.7 / 3, float(low)]))
    assert found.tolist() == [True, True, False, True]


def test_an_estimator_that_learnt_from_missing_values_meets_none(tmp_path: Path) -> None:
    # D22: a forest's way with NaN is lost in conversion. A feature that is NaN is refused.
    gaps = FeatureSet({"move": (Bars.close - Bars.close.lag(1)).sqrt(), "zscore": Bars.close})
    rows = gaps.history(RATES)[1:TRAINED]
    estimator = trees().fit(rows, np.resize([0, 1, 2], len(rows)))
    built = build(gaps, estimator)
    with pytest.raises(ProofError, match="window equals history, ulp: nan"):
        written(built, tmp_path)


@pytest.mark.parametrize(
    ("estimator", "more", "words"),
    [
        (lambda: trees().fit(X, np.array(list("abc"))[Y]), {}, "labels .* fit it on integers"),
        (lambda: trees().fit(X, Y), {"kind": "forecast"}, "is a classifier, a forecast is one"),
        (lambda: trees().fit(X, Y), {"sequence": 4}, "takes one row of features, not 4"),
        (lambda: trees().fit(X, Y), {"sequence": 1}, "a sequence of 1 rows is none"),
        (lambda: trees().fit(X, Y), {"layout": "wide"}, "layout wide is unknown: use one of bars"),
        (lambda: Mean((trees().fit(X, Y), trees().fit(X, Y > 0))), {}, "members' classes differ"),
    ],
)
def test_what_does_not_fit_is_one_sentence(
    estimator: Callable[[], Any], more: dict[str, Any], words: str, tmp_path: Path
) -> None:
    refused(estimator(), words, tmp_path, **more)


def test_a_mean_of_one_or_with_odd_weights_is_none() -> None:
    with pytest.raises(ModelError, match="Mean of 1 is none"):
        Mean((trees(),))
    with pytest.raises(ModelError, match=r"weights .* don't fit 2 members"):
        Mean((trees(), trees()), weights=(1.0, 0.0))


def test_another_number_of_classes_in_the_contract_is_refused() -> None:
    built = build(FEATURES, trees().fit(X, Y))
    with pytest.raises(ConfigError, match=r"names 2 classes, the estimator has 3 \(0, 1, 2\)"):
        built.contract(classes=CLASSES[:2], **PLAIN)


def test_too_few_bars_prove_nothing(tmp_path: Path) -> None:
    built = build(FEATURES, trees().fit(X, Y))
    promise = built.contract(classes=CLASSES, **PLAIN)
    with pytest.raises(ConfigError, match="5 bars are too few to prove tested"):
        export_built(built, contract=promise, rates=RATES[:5], folder=tmp_path)


class Torch:
    """Networks of torch, trained a little by hand: its optimisers need more packages."""

    def __init__(self) -> None:
        reason = "needs torch, which is no dependency"
        self.torch = pytest.importorskip("torch", reason=reason)
        self.nn = self.torch.nn
        self.torch.manual_seed(0)

    def recurrent(self, kind: str, *, layers: int = 1, step: int = -1) -> Any:
        nn = self.nn

        class Network(nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self) -> None:
                super().__init__()
                self.rnn = getattr(nn, kind)(3, 5, num_layers=layers, batch_first=True)
                self.drop = nn.Dropout(0.3)
                self.head = nn.Linear(5, 3)

            def forward(self, rows: Any) -> Any:
                return self.head(self.drop(self.rnn(rows)[0][:, step]))

        return Network()

    def fit(self, network: Any, x: Any, y: Any) -> Any:
        rows, wanted = (self.torch.from_numpy(np.array(each)) for each in (x, y))
        for _ in range(5):
            loss = self.nn.functional.cross_entropy(network(rows), wanted)
            loss.backward()
            with self.torch.no_grad():
                for weight in network.parameters():
                    weight -= 0.1 * weight.grad
                    weight.grad = None
        return network


def test_networks_of_torch_are_written_from_their_weights(tmp_path: Path) -> None:
    room = Torch()
    nn = room.nn
    deep = nn.Sequential(
        nn.Linear(3, 8),
        nn.BatchNorm1d(8),
        nn.Sequential(nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 8, bias=False), nn.SiLU()),
        nn.LeakyReLU(0.2),
        nn.ELU(),
        nn.Linear(8, 3),
    )
    written(build(FEATURES, room.fit(deep, X, Y), kind="shares"), tmp_path)
    # A single score is that of the second of two classes; a forecast is the number itself.
    for network in (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), nn.Linear(3, 1)):
        assert build(FEATURES, network, kind="shares").labels == (0, 1)
        written(build(FEATURES, network, kind="forecast", target=LEGACY), tmp_path)


@pytest.mark.parametrize(
    ("kind", "layers", "target"), [("LSTM", 1, MT5), ("LSTM", 2, LEGACY), ("GRU", 2, MT5)]
)
def test_recurrent_networks_see_a_sequence_of_features(
    kind: str, layers: int, target: Any, tmp_path: Path
) -> None:
    room, steps = Torch(), 8
    rows = sequences(FEATURES.history(RATES), steps)
    network = room.fit(room.recurrent(kind, layers=layers), rows[FIRST:TRAINED], Y)
    built = build(FEATURES, network, kind="shares", sequence=steps, target=target)
    assert built.window == FEATURES.lookback + steps
    written(built, tmp_path)
    assert load_model(tmp_path / MODEL, probe=False).contract.sequence == steps


def test_what_a_network_does_besides_its_layers_is_refused(tmp_path: Path) -> None:
    room = Torch()
    first = room.recurrent("LSTM", step=0)  # answers from the first step, not the last
    refused(first, "ONNX equals the estimator", tmp_path, kind="shares", sequence=8)
    refused(first, 'give kind="shares"', tmp_path, sequence=8)
    refused(room.recurrent("GRU"), "needs a sequence of rows", tmp_path, kind="shares")
    convolving = room.nn.Sequential(room.nn.Conv1d(8, 3, 2))
    refused(convolving, "a layer Conv1d is not known", tmp_path, kind="shares", sequence=8)


def test_the_readmes_example_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (Path(bridge.authoring.__file__).with_name("README.md")).read_text(encoding="utf-8")
    example = readme.partition("## Export API")[2].partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(example, {})  # noqa: S102  our own text
    assert sorted(each.name for each in (tmp_path / "next_close").iterdir()) == sorted(
        [GOLDEN, MODEL, SIDECAR]
    )
    assert "ONNX equals the estimator: " in capsys.readouterr().out
