"""``mt5-onnx model new``: recipes that run at once, and what their parts promise."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markets import SAMPLE

import bridge.authoring
from bridge.authoring import recipes
from bridge.cli.main import run
from bridge.errors import ConfigError
from bridge.market.barfile import write_bars
from bridge.market.store import BarStore, Series
from bridge.model.load import load_model
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.timeframes import timeframe

NEWEST = SAMPLE[-1_200:]


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run(["model", "new", *(str(each) for each in arguments)])
    found = capsys.readouterr()
    return code, found.out + found.err


def unused_or_unknown_names(path: Path) -> str:
    ruff = [sys.executable, "-m", "ruff", "check", "-q", "--isolated", "--select", "F", str(path)]
    return subprocess.run(ruff, capture_output=True, text=True, check=False).stdout


def test_a_classifier_of_stored_bars_runs_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "bars"
    series = Series('Some "Broker"', "EURUSD", timeframe("H1"), "eet-us", 5)
    BarStore(store).add(series, NEWEST)
    out = tmp_path / "mine"
    asked = ("--recipe", "classifier", "--bars", "store", "--store", store, "--out", out)
    code, text = said(capsys, *asked)
    assert (code, f"wrote {out / 'recipe.py'}, for 1200 bars" in text) == (0, True)
    assert unused_or_unknown_names(out / "recipe.py") == ""
    assert len((out / "recipe.py").read_text(encoding="utf-8").splitlines()) < 130
    # Idle threads of OpenMP spin, and two cores are few.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    command = [sys.executable, str(out / "recipe.py")]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")
    assert (out / "README.md").read_text(encoding="utf-8") == made.stdout[:-1]
    assert "| held out | " in made.stdout
    contract = load_model(out / "model.onnx", probe=False).contract
    assert (contract.name, contract.output.width) == ("eurusd_h1_classifier", 3)
    # What was trained on ends before the newest three tenths.
    begin = str(np.datetime64(int(NEWEST["time"][840]), "s"))
    assert contract.train_to is not None
    assert contract.train_to < begin
    code, text = said(capsys, *asked)
    assert (code, "is there already: name another folder with --out" in text) == (2, True)


def test_a_forecast_of_a_file_runs_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bars = NEWEST.copy()
    bars["spread"] = 0
    path = tmp_path / "EURUSD_H1.csv"
    write_bars(path, bars, digits=5)
    monkeypatch.chdir(tmp_path)
    code, text = said(capsys, "--recipe", "forecast", "--bars", path.name, "--clock", "eet-us")
    recipe = Path("eurusd_h1_forecast") / "recipe.py"
    assert (code, f"now: python {recipe}" in text) == (0, True)
    assert "the bars have no spread: add the usual one" in text
    assert unused_or_unknown_names(recipe) == ""
    runpy.run_path(str(recipe), run_name="__main__")
    assert "| held out | " in capsys.readouterr().out
    contract = load_model(recipe.with_name("model.onnx"), probe=False).contract
    assert (contract.output.kind, contract.output.unit) == ("forecast", "points")
    # Too few bars are a sentence, not a traceback.
    write_bars(path, bars[:300], digits=5)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(recipe), run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_is_not_known_of_a_file_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "quotes.csv"
    write_bars(path, NEWEST[:100], digits=5)
    asked = ("--recipe", "forecast", "--bars", path, "--out", tmp_path / "out")
    code, text = said(capsys, *asked)
    assert (code, "does not say whose bars it has: say --symbol" in text) == (2, True)
    code, text = said(capsys, *asked, "--symbol", "EURUSD")
    assert (code, "say --clock, one of utc, eet-eu" in text) == (2, True)
    write_bars(path, NEWEST[NEWEST["time"] % 86_400 == 0], digits=5)
    code, text = said(capsys, *asked, "--symbol", "EURUSD", "--timeframe", "D1")
    assert (code, "(D1 bars don't show it): say --clock" in text) == (2, True)
    code, text = said(capsys, "--recipe", "forecast", "--bars", "store", "--store", tmp_path)
    assert (code, "is empty: mt5-onnx bars import adds a file" in text) == (2, True)
    assert not (tmp_path / "out").exists()


def ladder() -> RatesArray:
    """Six bars that open a point apart each, spreads 1 to 6 points."""
    opens = (1.0, 1.00003, 1.00001, 1.00011, 1.00002, 1.0)
    return rates_of(
        (3_600 * n, price, price, price, price, 1, n + 1, 0) for n, price in enumerate(opens)
    )


def test_labels_are_trades_from_open_to_open_after_costs() -> None:
    """By hand: asked at bar 0, opened at 1.00003 and closed two bars later at 1.00011, and on."""
    trades = recipes.trades_of(ladder(), horizon=2, point=0.00001, costs=1.0)
    nan = float("nan")
    np.testing.assert_allclose(trades.move, [8, 1, -11, nan, nan, nan], atol=1e-6)
    # A buy pays the spread that it opens on, a sale that which it closes on, each costs of 1.
    np.testing.assert_allclose(trades.long, [5, -3, -16, nan, nan, nan], atol=1e-6)
    np.testing.assert_allclose(trades.short, [-13, -7, 4, nan, nan, nan], atol=1e-6)
    assert recipes.sides_of(trades).tolist() == [2, 1, 0, -1, -1, -1]
    assert recipes.sides_of(trades, least=4.5).tolist() == [2, 1, 1, -1, -1, -1]
    with pytest.raises(ConfigError, match="costs of -1 is none"):
        recipes.trades_of(ladder(), horizon=2, point=0.00001, costs=-1.0)


class Oracle:
    """Remembers the newest bar that it was trained on; says it of every bar that it is asked."""

    def __init__(self, x: Any, y: Any) -> None:
        self.newest = float(x.max())

    def predict(self, x: Any) -> Any:
        return np.full(len(x), self.newest)


def numbered(count: int, horizon: int) -> recipes.Examples:
    """Return examples whose only feature is the bar's own number."""
    rates = SAMPLE[:count]
    trades = recipes.trades_of(rates, horizon=horizon, point=0.00001)
    x = np.arange(count, dtype=np.float32)[:, None]
    x[:3] = np.nan
    return recipes.Examples(x, trades.move, trades)


def test_no_label_of_a_training_bar_reaches_into_what_is_asked() -> None:
    examples = numbered(100, horizon=4)
    training, held_out = examples.hold_out(0.3)
    # Bar 64 asks, bar 65 opens, bar 69 closes: the last open before the held-out bar 70.
    assert (training[0], training[-1], held_out[0], held_out[-1]) == (3, 64, 70, 94)
    folds = recipes.walk_forward(Oracle, examples, training, folds=4)
    seen = [int(fold.answers[0, 0]) for fold in folds]
    assert [int(fold.rows[0]) - 6 for fold in folds] == seen
    assert [int(fold.training[-1]) for fold in folds] == seen
    rows = np.concatenate([folds[0].training, *(fold.rows for fold in folds)])
    assert len(np.unique(rows)) == len(rows)
    # Only the bars between are in no fold.
    assert len(training) - len(rows) == examples.trades.reach
    with pytest.raises(ConfigError, match="leave 0 before bar"):
        examples.hold_out(0.95)


def test_a_score_counts_one_trade_at_a_time_after_costs() -> None:
    """By hand, from the ladder: the buy of bar 0 is held over bar 1; the sale of bar 2 is next."""
    trades = recipes.trades_of(ladder(), horizon=2, point=0.00001, costs=1.0)
    x = np.zeros((6, 1), np.float32)
    examples = recipes.Examples(x, recipes.sides_of(trades), trades)
    rows = np.array([0, 1, 2])
    shares = np.array([[0.1, 0.2, 0.7], [0.0, 0.2, 0.8], [0.9, 0.05, 0.05]])
    fold = recipes.Fold(rows, rows, shares)
    found = recipes.score(examples, [fold], 0.6)
    assert (found.bars, found.trades, round(found.points, 6)) == (3, 2, 9.0)
    assert found.long == pytest.approx(5.0 - 16.0)
    assert found.error == pytest.approx(-np.log([0.7, 0.2, 0.9]).mean())
    assert found.guess == pytest.approx(np.log(3.0))
    assert recipes.choose_open_at([fold], asks=0.25) == 0.85


def test_the_guide_goes_from_bars_to_demo_in_25_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = Path(bridge.authoring.__file__).with_name("README.md").read_text(encoding="utf-8")
    guide = readme.partition("## From bars to demo")[2].partition("\n## ")[0]
    blocks = [block.partition("\n") for block in guide.split("```")[1::2]]
    cells = [body for language, _, body in blocks if language == "python"]
    commands = [body for language, _, body in blocks if language == "sh"]
    lines = [line for body in (*cells, *commands) for line in body.splitlines() if line.strip()]
    assert len(lines) <= 25
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for cell in cells:
        exec(cell, names)  # noqa: S102  our own text
    (command,) = "".join(commands).splitlines()
    assert command.startswith("mt5-onnx demo ")
    assert run([*command.split()[1:], "--json"]) == 0
    assert '"trades"' in capsys.readouterr().out
