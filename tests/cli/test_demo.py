"""The demo as evidence: repeatable, right to the cent, and decided alike by an independent hand."""

import json
import math
import runpy
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from journal_support import begin

from bridge.cli.demo_run import Outcome, run_demo
from bridge.cli.main import run
from bridge.cli.sample import Sample, load_demo_strategy, load_sample, make_crew
from bridge.engine.replay import flatten_all, replay
from bridge.engine.step import Step
from bridge.engine.strategy import Strategy
from bridge.errors import ConfigError
from bridge.journal.read import TABLES, reading
from bridge.journal.write import Journal
from bridge.mt5 import constants as mt5
from bridge.share import share_dir

MODEL = "eurusd_h1_direction"
# What may differ between two equal runs: the computer's clock, paths and versions.
MAY_DIFFER = {"wall_utc", "paths", "versions"}


def unwatched(step: Step, number: int, total: int) -> None:
    assert number <= total


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return run_demo(MODEL, speed=None, state=tmp_path_factory.mktemp("state"), watch=unwatched)


def rows_of(path: Path) -> list[dict[str, Any]]:
    with reading(path) as journal:
        return [
            {name: value for name, value in row.items() if name not in MAY_DIFFER}
            for table in TABLES
            for row in journal.rows(table)
        ]


def test_two_runs_give_the_same_rows(outcome: Outcome, tmp_path: Path) -> None:
    again = run_demo(MODEL, speed=None, state=tmp_path, watch=unwatched)
    first, second = rows_of(outcome.journal), rows_of(again.journal)
    assert len(first) > 2000
    assert first == second


def test_the_balance_is_the_deposit_and_the_deals_to_the_cent(outcome: Outcome) -> None:
    with reading(outcome.journal) as journal:
        deals = journal.deals()
    assert deals[0].type == mt5.DEAL_TYPE_BALANCE
    total = sum(deal.profit + deal.swap + deal.commission + deal.fee for deal in deals)
    assert round(total, 2) == outcome.balance
    assert round(10_000.0 + outcome.strategy.net_profit, 2) == outcome.balance
    # Flat at the end: what was bought was sold.
    volume = sum(deal.volume if deal.type == mt5.DEAL_TYPE_BUY else 0.0 for deal in deals)
    sold = sum(deal.volume if deal.type == mt5.DEAL_TYPE_SELL else 0.0 for deal in deals)
    assert math.isclose(volume, sold)


def test_every_profit_is_its_prices_difference(outcome: Outcome) -> None:
    with reading(outcome.journal) as journal:
        deals = [deal for deal in journal.deals() if deal.type != mt5.DEAL_TYPE_BALANCE]
    opened = {deal.position_id: deal for deal in deals if deal.entry == mt5.DEAL_ENTRY_IN}
    closes = [deal for deal in deals if deal.entry == mt5.DEAL_ENTRY_OUT]
    assert len(closes) == outcome.strategy.trades > 30
    for deal in closes:
        sign = 1 if opened[deal.position_id].type == mt5.DEAL_TYPE_BUY else -1
        points = round((deal.price - opened[deal.position_id].price) * 100_000)
        assert deal.profit == round(sign * points * deal.volume, 2)
        assert deal.commission == round(-3.5 * deal.volume, 2)


# -- The independent hand: pandas features, the estimator itself, plain arithmetic ---------------


def pandas_features(bars: Any) -> pd.DataFrame:
    """Return the model's features as a trader would write them; no code of the bridge."""
    close, high, low = bars["close"], bars["high"], bars["low"]
    returns: Any = np.log(close / close.shift(1))
    move = close.diff()

    def mean(series: Any, alpha: float, count: int) -> Any:
        weights = (1 - alpha) ** np.arange(count - 1, -1, -1)
        weights = weights / weights.sum()
        return series.rolling(count).apply(lambda window: float(window @ weights), raw=True)

    gap = close.shift(1)
    ranges = pd.concat([high - low, (high - gap).abs(), (low - gap).abs()], axis=1).max(axis=1)
    ranges[0] = np.nan
    up, down = (mean(part.clip(lower=0.0), 1 / 10, 210) for part in (move, -move))
    hour = pd.to_datetime(bars["time"], unit="s").dt.hour
    highest, lowest = high.rolling(14).max(), low.rolling(14).min()
    mean48 = close.rolling(48).mean()
    return pd.DataFrame(
        {
            "return1": returns,
            "return1_lag1": returns.shift(1),
            "return6": np.log(close / close.shift(6)),
            "return24": np.log(close / close.shift(24)),
            "volatility24": returns.rolling(24).apply(np.std, raw=True),
            "ema12": close / mean(close, 2 / 13, 144) - 1,
            "zscore48": (close - mean48) / close.rolling(48).apply(np.std, raw=True),
            "rsi10": 100 * up / (up + down),
            "atr10": mean(ranges, 1 / 10, 210) / close,
            "stochastic14": 100 * (close - lowest) / (highest - lowest),
            "body": ((close - bars["open"]) / (high - low)).fillna(0.0),
            "hour_sin": np.sin(2 * np.pi * hour / 24).round(6),
            "hour_cos": np.cos(2 * np.pi * hour / 24).round(6),
        }
    )


def independent_decisions(bars: pd.DataFrame, shares: Any, first: int, rules: Any) -> Iterator[Any]:
    """Yield (action, side, stop points) a bar: the strategy and its stops, by plain arithmetic."""
    o, h, lo, c = (bars[name].to_numpy() for name in ("open", "high", "low", "close"))
    gap = np.concatenate([[np.nan], c[:-1]])
    ranges = np.fmax(h, gap) - np.fmin(lo, gap)
    spread, side, since, stop, take = 0.00010, 0, 0, 0.0, 0.0

    def hit(high: float, low: float) -> bool:
        worst, best = (low, high) if side > 0 else (-(high + spread), -(low + spread))
        return worst <= side * stop + 1e-9 or best >= side * take - 1e-9

    for i in range(first, len(bars) - 1):
        if side and (hit(h[i], lo[i]) or hit(o[i + 1], o[i + 1])):
            side = 0
        long, short = float(shares[i, 2]), float(shares[i, 0])
        wanted = 0 if max(long, short) < rules.open_at or long == short else (long > short) * 2 - 1
        if side and i - since + 1 >= rules.max_bars:
            yield "close", None, None
            side = 0
        elif wanted == side or (side and not wanted):
            yield "hold", None, None
        else:
            distance = rules.stop_ranges * ranges[i - rules.range_bars + 1 : i + 1].mean()
            yield ("reverse" if side else "open"), {1: "long", -1: "short"}[wanted], distance
            side, since = wanted, i + 1
            price = o[i + 1] + (spread if side > 0 else 0.0)
            stop = round(price - side * distance, 5)
            take = round(price + side * distance * rules.take_ranges / rules.stop_ranges, 5)


def test_an_independent_hand_decides_every_bar_alike(outcome: Outcome) -> None:
    pytest.importorskip("sklearn", reason="the estimator needs the extra authoring")
    folder = share_dir("models")
    recipe = runpy.run_path(str(folder / MODEL / "recipe.py"))
    bars = pd.read_csv(folder / "sample_bars" / "EURUSD_H1_2017.csv", sep="\t")
    bars.columns = pd.Index([name.strip("<>").lower() for name in bars.columns])
    when = pd.to_datetime(bars["date"] + " " + bars["time"], format="%Y.%m.%d %H:%M:%S")
    bars["time"] = when.astype("datetime64[s]").astype("int64")
    # The estimator is trained as the recipe does; it is asked with the features of pandas.
    sample = load_sample(strategy := load_demo_strategy(MODEL))
    x, y = recipe["FEATURES"].history(sample.rates), recipe["labels"](sample.rates)
    train = recipe["training_rows"](sample.rates, 0, int(len(bars) * 0.7))
    estimator = recipe["fit"](x[train], y[train])
    features = pandas_features(bars)
    assert list(features) == list(recipe["FEATURES"].names)
    first = sample.first
    shares = np.full((len(bars), 3), np.nan)
    asked = features.to_numpy()[first:].astype(np.float32)
    shares[first:] = estimator.predict_proba(asked)
    hand = list(independent_decisions(bars, shares, first, strategy.decision))
    with reading(outcome.journal) as journal:
        rows = list(journal.rows("decisions"))
    assert [row["bar_time"] for row in rows] == bars["time"][first:-1].tolist()
    differ = [
        (row["bar_time"], (row["action"], row["side"]), each)
        for row, each in zip(rows, hand, strict=True)
        if (row["action"], row["side"]) != each[:2]
    ]
    assert differ == []
    for row, each in zip(rows, hand, strict=True):
        if each[2] is not None:
            assert math.isclose(row["stop_points"], each[2] * 100_000, rel_tol=1e-9)
    worst = max(
        abs(value - wanted)
        for row, wants in zip(rows, shares[first:-1], strict=True)
        for value, wanted in zip(row["outputs"], wants, strict=True)
    )
    # Measured 1.3e-7; a float32 share has a step of 6e-8.
    assert worst < 1e-6


def play(
    sample: Sample, strategy: Strategy, path: Path, speed: float | None = None
) -> list[dict[str, Any]]:
    clock = sample.clock(speed)
    with (
        closing(sample.terminal(clock, None)) as terminal,
        Journal(path, clock) as journal,
        reading(path) as past,
    ):
        begin(journal)
        crew = make_crew(sample, strategy, terminal, journal, past, clock)
        replay(
            crew.steppers,
            terminal,
            clock,
            sample.server,
            lambda step: None,
            before=crew.attend,
        )
        flatten_all(crew.steppers, "the recording has ended")
    with reading(path) as reader:
        return list(reader.rows("decisions"))


@pytest.mark.parametrize("model", [MODEL, "eurusd_h1_sma_cross"])
def test_cutting_the_future_changes_no_decision_before_the_cut(model: str, tmp_path: Path) -> None:
    strategy = load_demo_strategy(model)
    sample = load_sample(strategy)
    whole = play(sample, strategy, tmp_path / "whole")
    for cut in (sample.first + 400, sample.first + 811):
        shorter = replace(sample, rates=sample.rates[:cut])
        rows = play(shorter, strategy, tmp_path / str(cut))
        assert len(rows) == cut - 1 - sample.first
        assert rows == whole[: len(rows)]


def test_a_run_that_is_watched_decides_alike(tmp_path: Path) -> None:
    strategy = load_demo_strategy(MODEL)
    sample = load_sample(strategy)
    short = replace(sample, rates=sample.rates[: sample.first + 42])
    at_once = play(short, strategy, tmp_path / "at once")
    # Fifty milliseconds a bar; then so fast that the computer can't keep up: nothing differs.
    watched = play(short, strategy, tmp_path / "watched", speed=72_000.0)
    hurried = play(short, strategy, tmp_path / "hurried", speed=1e9)
    assert len(watched) == 41
    assert watched == at_once
    assert hurried == at_once


# -- The command ---------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_demo_prints_its_table_its_honesty_and_what_next(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for words in (
        "win rate",
        "profit factor",
        "net profit, USD",
        "max drawdown, USD",
        "commission, USD",
        "swap, USD",
        "doing nothing",
        "always long 0.1 lots",
        "no evidence of profit",
        "denied by rule: none",
        "mt5-onnx-state",
        "mt5-onnx journal show",
    ):
        assert words in shown
    assert (home / "mt5-onnx-state" / "demo-1" / "account.sqlite3").is_file()
    command = next(line.strip() for line in shown.split("  ") if 'mt5-onnx why "' in line)
    bar = command.partition('why "')[2].partition('"')[0]
    assert run(["why", bar]) == 0
    told = capsys.readouterr().out
    for words in ("saw", "model", "decided", "rule    yes quote", "sent", "came    done"):
        assert words in told


def test_json_is_one_object_with_the_same_figures(
    home: Path, outcome: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["balance"] == outcome.balance
    assert told["strategy"]["trades"] == outcome.strategy.trades
    assert told["nothing"]["net_profit"] == 0
    assert len(told["next"]) == 3


def test_runs_are_kept_side_by_side(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2):
        assert run(["demo", "--model", "eurusd_h1_sma_cross", "--state", "here"]) == 0
        assert (home / "here" / f"demo-{number}" / "journal.sqlite3").is_file()


def test_always_long_pays_spread_commission_and_swap(outcome: Outcome) -> None:
    rates = load_sample(load_demo_strategy(MODEL)).rates
    first = int(len(rates) * 0.7)
    gross = (rates["open"][-1] - (rates["open"][first + 1] + 0.00010)) * 100_000 * 0.1
    nights = outcome.long.swap / -0.7
    assert math.isclose(nights, round(nights), abs_tol=1e-6)
    assert math.isclose(outcome.long.net_profit, gross + outcome.long.swap - 0.70, abs_tol=0.005)
    assert outcome.long.trades == 1


def test_control_c_ends_with_130_and_keeps_the_journal(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("a console signal can't be sent to one process on Windows")
    command = [sys.executable, "-m", "bridge", "demo", "--speed", "36000"]
    # A shell that starts its tests in the background makes them deaf to SIGINT.
    child = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    journal = tmp_path / "mt5-onnx-state" / "demo-1" / "journal.sqlite3"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not _decided(journal):
        child.poll()
        assert child.returncode is None, child.stderr and child.stderr.read()
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    with reading(journal) as reader:
        assert len(list(reader.rows("decisions"))) > 0


def _decided(path: Path) -> bool:
    if not path.is_file() or path.stat().st_size == 0:
        return False
    try:
        with reading(path) as reader:
            return next(reader.rows("decisions"), None) is not None
    except (ConfigError, sqlite3.Error):  # it is being made
        return False
