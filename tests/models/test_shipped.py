"""The shipped models: made again they are the same, and an independent way gives their answers."""

import csv
import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markets import SAMPLE
from numpy.typing import NDArray

from bridge.authoring.checks import Check
from bridge.authoring.verify import verify
from bridge.cli.backtest_plan import Changes, make_plan
from bridge.cli.backtest_run import play
from bridge.cli.demo_run import run_demo
from bridge.cli.main import run
from bridge.features.codec import from_json
from bridge.journal.read import reading
from bridge.journal.write import input_sha256
from bridge.model.load import LoadedModel, load_model
from bridge.model.probe import probe
from bridge.mt5 import constants as mt5
from bridge.mt5.servertime import parse, text
from bridge.settings import BridgeSettings, load_settings
from bridge.share import share_dir

# Made by the shared steps of recipes.
MADE = (
    "eurusd_h1_logistic",
    "eurusd_h1_lightgbm",
    "eurusd_h1_histboost",
    "eurusd_h1_mlp",
    "eurusd_h1_forecast",
    "eurusd_h1_lstm",
)
NAMES = ("eurusd_h1_direction", "eurusd_h1_sma_cross", *MADE)
LARGEST, ALL = 300_000, 6_000_000
SLOW = pytest.mark.skipif(
    "BRIDGE_SLOW_TESTS" not in os.environ, reason="slow: set BRIDGE_SLOW_TESTS=1 to run it"
)
END = int(len(SAMPLE) * 0.7)


def folder(name: str) -> Path:
    return share_dir("models") / name


def recipe(name: str) -> ModuleType:
    """Return the recipe of a shipped model, imported from its file."""
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    pytest.importorskip("skl2onnx", reason="needs skl2onnx")
    spec = importlib.util.spec_from_file_location(f"recipe_{name}", folder(name) / "recipe.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answers(model: LoadedModel, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    window = model.contract.window
    signals = [model.signal(SAMPLE[row - window + 1 : row + 1]) for row in rows]
    assert [signal.problem for signal in signals if signal.problem] == []
    return np.array([signal.values for signal in signals])


@pytest.mark.parametrize("name", NAMES)
def test_shipped_files_load_fit_their_contract_and_are_small(name: str) -> None:
    path = folder(name) / "model.onnx"
    model = load_model(path, probe=False)
    report = probe(path)
    assert report.body_sha256 == model.contract.body_sha256
    assert report.ir == 8
    assert report.opsets.items() <= {"ai.onnx": 15, "ai.onnx.ml": 1}.items()
    assert path.stat().st_size < LARGEST
    assert model.contract.features is not None
    rows = model.contract.sequence or 1
    assert from_json(model.contract.features).lookback + rows == model.contract.window <= 250
    assert model.sha256 in (folder(name) / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_golden_rows_are_answered(name: str) -> None:
    model = load_model(folder(name) / "model.onnx", probe=False)
    with (folder(name) / "golden.csv").open(encoding="ascii", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:2] == ["bar", "window_sha256"]
    assert len(rows) == 50
    places = np.searchsorted(SAMPLE["time"], [parse(row[0]) for row in rows])
    window = model.contract.window
    for row, place in zip(rows, places, strict=True):
        assert row[1] == input_sha256(SAMPLE[place - window + 1 : place + 1])
    expected = np.array([[float(value) for value in row[2:]] for row in rows])
    # Of a forecast, relative to its largest value: the unit is points.
    limit = 1e-6 * max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(answers(model, places), expected, atol=limit)


@pytest.mark.parametrize("name", NAMES)
def test_window_history_batch_and_reference_agree(name: str) -> None:
    found = verify(load_model(folder(name) / "model.onnx", probe=False), SAMPLE[-700:], windows=100)
    assert [str(each) for each in found.results if not isinstance(each, Check)] == []
    assert found.ok
    assert len(found.results) == 6


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> BridgeSettings:
    home = tmp_path_factory.mktemp("home") / "run"
    assert run(["init", str(home)]) == 0
    return load_settings(home / "bridge.toml", {})


@pytest.mark.parametrize("name", MADE)
def test_a_backtest_trades_what_it_never_saw_as_often_as_the_card_says(
    name: str, settings: BridgeSettings, tmp_path: Path
) -> None:
    """The card's arithmetic knows no terminal, stops or reversals; few trades differ by them."""
    contract = load_model(folder(name) / "model.onnx", probe=False).contract
    assert contract.train_to is not None
    assert parse(contract.train_to.replace("-", ".").replace("T", " ")) < SAMPLE["time"][END]
    changes = Changes(model=folder(name) / "model.onnx", since=text(int(SAMPLE["time"][END])))
    played = play(make_plan(settings, changes), tmp_path)
    with reading(played.journal) as journal:
        deals = [deal for deal in journal.deals() if deal.entry == mt5.DEAL_ENTRY_OUT]
    card = (folder(name) / "README.md").read_text(encoding="utf-8")
    told = re.search(r"\| held out \|(?:[^|]*\|){3} (\d+) \|", card)
    assert told is not None
    assert len(deals) == pytest.approx(int(told[1]), abs=4)


@SLOW
@pytest.mark.parametrize("name", NAMES)
def test_the_demo_ends_as_the_list_of_models_says(name: str, tmp_path: Path) -> None:
    outcome = run_demo(name, speed=None, state=tmp_path, watch=lambda step, number, total: None)
    lines = (share_dir("models") / "README.md").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith(f"| [{name}]"))
    size = (folder(name) / "model.onnx").stat().st_size
    window = load_model(folder(name) / "model.onnx", probe=False).contract.window
    ended = f"{outcome.strategy.trades} | {outcome.strategy.net_profit:.2f} |"
    assert line.endswith(f"| {window} | {size:,} | {ended}")


def test_all_models_together_are_small() -> None:
    """They travel in the wheel."""
    files = (path for path in share_dir("models").rglob("*") if path.is_file())
    assert sum(path.stat().st_size for path in files if "__pycache__" not in path.parts) < ALL


def written(name: str, place: Path) -> dict[str, bytes]:
    recipe(name).make(place)
    return {path.name: path.read_bytes() for path in place.iterdir()}


@pytest.mark.parametrize(
    "name",
    [
        "eurusd_h1_sma_cross",
        *(pytest.param(name, marks=SLOW) for name in NAMES if name != "eurusd_h1_sma_cross"),
    ],
)
def test_a_recipe_run_twice_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    if name == "eurusd_h1_lstm":
        pytest.importorskip("torch", reason="needs torch, which is no dependency")
    first, second = (written(name, tmp_path / run) for run in ("first", "second"))
    known = {"README.md", "golden.csv", "model.onnx"}
    assert set(first) == known | ({"model.json"} if name in MADE else set())
    assert first == second
    # Other versions of the libraries write other bytes; what is decided has to be the same.
    again = load_model(tmp_path / "first" / "model.onnx", probe=False)
    shipped = load_model(folder(name) / "model.onnx", probe=False)
    rows = np.arange(END, len(SAMPLE), 7)
    expected = answers(shipped, rows)
    limit = 1e-6 * max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(answers(again, rows), expected, atol=limit)
    assert again.contract.decision == shipped.contract.decision
    if again.sha256 == shipped.sha256:
        assert (folder(name) / "README.md").read_bytes() == first["README.md"]


def test_the_crossing_is_what_pandas_says() -> None:
    model = load_model(folder("eurusd_h1_sma_cross") / "model.onnx", probe=False)
    # In whole points a mean is a sum of integers, and a tie is a tie.
    points = pd.Series(np.rint(SAMPLE["close"] * 100_000).astype(np.int64))
    lead = 96 * points.rolling(24).sum() - 24 * points.rolling(96).sum()
    rows = np.arange(95, len(SAMPLE), 3)
    expected = np.sign(lead.to_numpy()[rows])
    assert answers(model, rows)[:, 0].tolist() == expected.tolist()
    assert set(expected.tolist()) >= {-1.0, 1.0}


def pandas_features(rates: NDArray[Any]) -> pd.DataFrame:
    """Return the direction model's features, by pandas and numpy alone.

    Exponential means recurse from the first bar here; after 211 bars they agree to 1e-9.
    """
    bars = pd.DataFrame({name: rates[name] for name in ("open", "high", "low", "close")})
    close, before = bars.close, bars.close.shift(1)
    log = np.log(close)
    one = log.diff()
    move = close.diff()
    gain = move.clip(lower=0).ewm(alpha=0.1, adjust=True).mean()
    loss = (-move).clip(lower=0).ewm(alpha=0.1, adjust=True).mean()
    ranges = [bars.high - bars.low, (bars.high - before).abs(), (bars.low - before).abs()]
    true_range = pd.concat(ranges, axis=1).max(axis=1)[1:].reindex(bars.index)
    low, high = bars.low.rolling(14).min(), bars.high.rolling(14).max()
    hour = pd.to_datetime(pd.Series(rates["time"]), unit="s").dt.hour
    return pd.DataFrame(
        {
            "return1": one,
            "return1_lag1": one.shift(1),
            "return6": log.diff(6),
            "return24": log.diff(24),
            "volatility24": one.rolling(24).std(ddof=0),
            "ema12": close / close.ewm(span=12, adjust=True).mean() - 1,
            "zscore48": (close - close.rolling(48).mean()) / close.rolling(48).std(ddof=0),
            "rsi10": 100 * gain / (gain + loss),
            "atr10": true_range.ewm(alpha=0.1, adjust=True).mean() / close,
            "stochastic14": 100 * (close - low) / (high - low),
            "body": ((close - bars.open) / (bars.high - bars.low)).fillna(0.0),
            "hour_sin": np.sin(2 * np.pi * hour / 24).round(6),
            "hour_cos": np.cos(2 * np.pi * hour / 24).round(6),
        }
    )


def test_the_features_are_what_pandas_says() -> None:
    tree = load_model(folder("eurusd_h1_direction") / "model.onnx", probe=False).contract.features
    assert tree is not None
    features = from_json(tree)
    ours = features.history(SAMPLE)[features.lookback :].astype(np.float64)
    theirs = pandas_features(SAMPLE)[list(features.names)].to_numpy()[features.lookback :]
    # The left-out tail of a Wilder mean over 210 bars is 0.9**210 = 2e-10 of its weights;
    # 3e-7 is a float32's rounding, both relative to how much the feature moves or stands off.
    scale = np.maximum(np.abs(theirs), theirs.std(axis=0))
    assert (np.abs(ours - theirs) / scale).max() < 3e-7


def test_every_decision_of_the_demo_is_what_pandas_and_the_estimator_say() -> None:
    module = recipe("eurusd_h1_direction")
    model = load_model(folder("eurusd_h1_direction") / "model.onnx", probe=False)
    train, rows = module.training_rows(SAMPLE, 0, END), np.arange(END, len(SAMPLE))
    estimator = module.fit(module.FEATURES.history(SAMPLE)[train], module.labels(SAMPLE)[train])
    theirs = pandas_features(SAMPLE)[list(module.FEATURES.names)].to_numpy(dtype=np.float32)
    expected, found = estimator.predict_proba(theirs[rows]), answers(model, rows)

    def asked(shares: NDArray[np.float64]) -> list[float]:
        side = np.sign(shares[:, 2] - shares[:, 0])
        is_open = np.maximum(shares[:, 2], shares[:, 0]) >= model.contract.decision.open_at
        decisions: list[float] = np.where(is_open, side, 0.0).tolist()
        return decisions

    assert asked(found) == asked(expected)
    assert set(asked(found)) == {-1.0, 0.0, 1.0}


def test_the_labels_never_look_past_the_training_part() -> None:
    module = recipe("eurusd_h1_direction")
    cut = SAMPLE[:END]
    rows = module.training_rows(SAMPLE, 0, END)
    assert (module.labels(SAMPLE)[rows] == module.labels(cut)[rows]).all()
    assert (module.labels(cut)[rows] >= 0).all()
    assert (module.labels(cut)[rows[-1] + 1 :] == -1).all()
    contract = load_model(folder("eurusd_h1_direction") / "model.onnx", probe=False).contract
    assert contract.train_to is not None
    assert parse(contract.train_to.replace("-", ".").replace("T", " ")) == cut["time"][-1]


def test_the_threshold_is_chosen_without_the_part_that_the_demo_trades() -> None:
    module = recipe("eurusd_h1_direction")
    spoiled = SAMPLE.copy()
    for name in ("open", "high", "low", "close"):
        spoiled[name][END:] *= np.linspace(1.0, 2.0, len(SAMPLE) - END)
    chosen = [
        module.choose_open_at(module.FEATURES.history(rates), module.labels(rates), rates)
        for rates in (SAMPLE, spoiled)
    ]
    shipped = load_model(folder("eurusd_h1_direction") / "model.onnx", probe=False).contract
    assert chosen == [shipped.decision.open_at] * 2
