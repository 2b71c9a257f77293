"""Estimator to graph, graph and graph to one: names, versions, what is left out."""

from typing import Any

import numpy as np
import pytest
from markets import SAMPLE
from numpy.lib.stride_tricks import sliding_window_view
from onnx import ModelProto, checker, helper, shape_inference

from bridge.authoring.convert import convert_classifier
from bridge.authoring.merge import SHARES, merge
from bridge.authoring.needs import authoring_library
from bridge.errors import ConfigError, ModelError
from bridge.features import named
from bridge.features.expr import FIELDS, Bars
from bridge.features.featureset import FeatureSet
from bridge.features.graph import features_graph
from bridge.features.target import LEGACY, MT5, Target
from bridge.model.session import open_session

linear_model = pytest.importorskip("sklearn.linear_model", reason="needs scikit-learn")
pytest.importorskip("skl2onnx", reason="needs skl2onnx")
ensemble = pytest.importorskip("sklearn.ensemble", reason="needs scikit-learn")

RATES = SAMPLE[:700]
FEATURES = FeatureSet(
    {
        "move": named.log_return(Bars.close, 3),
        "zscore": named.zscore(Bars.close, 20),
        "hour": named.hour_sin(),
    }
)
ROWS = FEATURES.history(RATES)[FEATURES.lookback :]
CLASSES = np.random.default_rng(3).integers(0, 3, len(ROWS))
ESTIMATORS = {
    "logistic": lambda: linear_model.LogisticRegression(),
    "boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=5, random_state=0),
    "forest": lambda: ensemble.RandomForestClassifier(5, max_depth=4, random_state=0),
}


def trained(name: str) -> Any:
    return ESTIMATORS[name]().fit(ROWS, CLASSES)


def merged(estimator: Any, target: Target = MT5) -> ModelProto:
    graph = convert_classifier(estimator, width=3, target=target)
    features = features_graph(FEATURES.expressions, target=target)
    return merge(features, graph, classes=3, target=target)


@pytest.mark.parametrize("target", [MT5, LEGACY], ids=lambda each: each.name)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_graph_gives_the_estimators_shares_from_raw_bars(name: str, target: Target) -> None:
    estimator = trained(name)
    model = merged(estimator, target)
    session = open_session(model.SerializeToString())
    columns = np.stack([RATES[name].astype(np.float64) for name in FIELDS], axis=1)
    windows = sliding_window_view(columns, FEATURES.window, axis=0).transpose(0, 2, 1)
    times = sliding_window_view(RATES["time"].astype(np.int64), FEATURES.window)
    shares = session.run(None, {"bars": windows.copy(), "time": times.copy()})[0]
    # Trees and scores are summed in float32 by the graph, in double by the estimator.
    np.testing.assert_allclose(shares, estimator.predict_proba(ROWS), atol=1e-6)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_merged_graphs_are_strictly_typed_and_keep_to_their_versions(name: str) -> None:
    model = merged(trained(name), LEGACY)
    checker.check_model(model, full_check=True)
    shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    assert model.ir_version == LEGACY.ir
    assert {each.domain: each.version for each in model.opset_import} == {"": 12, "ai.onnx.ml": 1}
    assert len(model.opset_import) == 2
    assert [each.name for each in model.graph.input] == ["bars", "time"]
    assert [each.name for each in model.graph.output] == [SHARES]


def test_what_the_shares_do_not_need_is_left_out() -> None:
    model = merged(trained("logistic"))
    used = {name for node in model.graph.node for name in node.input} | {SHARES}
    for node in model.graph.node:
        assert used.intersection(node.output), f"{node.op_type} is of no use"
    assert {each.name for each in model.graph.initializer} <= used
    operators = {node.op_type for node in model.graph.node}
    assert "ZipMap" not in operators


def test_equal_estimators_give_equal_bytes_and_no_names_of_their_library() -> None:
    once, again = merged(trained("boosting")), merged(trained("boosting"))
    assert once.SerializeToString(deterministic=True) == again.SerializeToString(deterministic=True)
    assert (once.producer_name, once.graph.name) == ("mt5-onnx-bridge", "model")
    assert all(len(node.name) < 10 for node in once.graph.node)


def test_an_estimator_written_for_newer_versions_is_refused() -> None:
    graph = convert_classifier(trained("forest"), width=3)
    del graph.opset_import[:]
    graph.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    with pytest.raises(ModelError, match=r"version 3 of the domain ai\.onnx\.ml, the target mt5"):
        merge(features_graph(FEATURES.expressions), graph, classes=3)
    graph.opset_import[0].domain = "com.microsoft"
    with pytest.raises(ModelError, match=r"com\.microsoft, the target mt5 has none"):
        merge(features_graph(FEATURES.expressions), graph, classes=3)


def test_a_regressor_is_refused() -> None:
    regressor = authoring_library("sklearn.tree").DecisionTreeRegressor().fit(ROWS, CLASSES)
    with pytest.raises(ModelError, match="DecisionTreeRegressor gives no class shares"):
        convert_classifier(regressor, width=3)


def test_an_estimator_that_the_converter_does_not_know_is_one_sentence() -> None:
    own = type("Own", (linear_model.LogisticRegression,), {})
    with pytest.raises(ModelError, match=r"^skl2onnx \S+ can't convert Own \(.*\): take another"):
        convert_classifier(own().fit(ROWS, CLASSES), width=3)


def test_a_missing_library_is_a_sentence_with_the_command() -> None:
    with pytest.raises(ConfigError, match=r'needs no_such_library.*"mt5-onnx-bridge\[authoring\]"'):
        authoring_library("no_such_library")
