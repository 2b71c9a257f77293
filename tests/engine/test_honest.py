"""Honesty: a strategy that sees its future is caught, luck is counted, learned bars are told."""

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backtest_support import settings_of, walk, write_model

from bridge.cli.backtest_lookahead import lookahead, peeks
from bridge.cli.backtest_outcome import outcome_of
from bridge.cli.backtest_plan import Changes, make_plan
from bridge.cli.backtest_run import Plan, Played, Seam, plain, play
from bridge.cli.backtest_stress import stress
from bridge.cli.recording import Recording
from bridge.clock import Clock
from bridge.engine.honest.features import peeking_features
from bridge.engine.honest.learned import learned
from bridge.engine.honest.lookahead import Trace, differences
from bridge.engine.honest.montecarlo import monte_carlo
from bridge.engine.stop import Stop
from bridge.features.expr import field
from bridge.features.history import evaluate
from bridge.features.named.averages import sma
from bridge.journal.read import reading
from bridge.market.aggregate import opens_of
from bridge.market.barfile import read_bars
from bridge.model.load import load_model
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import parse
from bridge.mt5.timeframes import timeframe
from bridge.settings import BridgeSettings
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.terminal import PaperTerminal

SHIPPED = ("eurusd_h1_direction", "eurusd_h1_sma_cross")


class Peeking(ModuleTerminal):
    """A terminal whose bars carry in their tick volume what ``peek`` makes of all bars.

    Args:
        paper: Plays them.
        rates: All bars of the recording, those to come as well.
        peek: Given them, returns a number from -1 to 1 for each of them.
    """

    def __init__(
        self, paper: PaperTerminal, rates: RatesArray, peek: Callable[[RatesArray], Any]
    ) -> None:
        super().__init__(paper)
        told = np.rint(1_000 + 900 * peek(rates)).astype(int).tolist()
        self._told = dict(zip(rates["time"].tolist(), told, strict=True))

    def copy_rates_from_pos(self, symbol: str, timeframe: int, start: int, count: int) -> Any:
        rates = super().copy_rates_from_pos(symbol, timeframe, start, count).copy()
        rates["tick_volume"] = [self._told[time] for time in rates["time"].tolist()]
        return rates


def next_bar(rates: RatesArray) -> Any:
    """Return the sign of the move of the bar after each."""
    return np.sign(np.append(np.diff(rates["close"]), 0.0))


def unfinished_bar(rates: RatesArray) -> Any:
    """Return the sign of the H4 bar that holds each bar, as it will have closed."""
    opens = opens_of(rates["time"], timeframe("H4"))
    last = np.searchsorted(opens, opens, side="right") - 1
    return np.sign(rates["close"][last] - rates["close"])


def whole_file(rates: RatesArray) -> Any:
    """Return each close scaled by mean and deviation of the whole file."""
    return np.tanh((rates["close"] - rates["close"].mean()) / rates["close"].std())


def last_bar(rates: RatesArray) -> Any:
    """Return the sign of each bar's own move, which is known when it closes."""
    return np.sign(rates["close"] - rates["open"])


def settings_for(
    folder: Path, rates: RatesArray, *, is_fed: bool = False, **tables: Any
) -> BridgeSettings:
    """Return one strategy that is long after a rise and short after a fall.

    ``is_fed``: it follows the bars' tick volume instead: long above 1000.
    """
    model = folder / "m.onnx"
    if is_fed:
        write_model(model, [0.0, 0.1], level=100.0, column="tick_volume", decision={})
    else:
        write_model(model, [-1e6, 1e6], decision={})
    strategy = {
        "model": str(model),
        "symbol": "EURUSD",
        "timeframe": "H1",
        "magic": 7,
        "decision": {"range_bars": 1, "open_at": 0.5},
        "risk": {
            "volume": 0.1,
            "require_stop": False,
            "daily_loss_share": None,
            "max_drawdown_share": None,
        },
    }
    limits = {"daily_loss_share": None, "max_drawdown_share": None}
    tables = {"limits": limits, "backtest": {"lookahead_cuts": 4}, **tables}
    return settings_of(
        folder, {"EURUSD": ("H1", rates)}, [strategy], account={"commission": 2.0}, **tables
    )


def feeder(peek: Callable[[RatesArray], Any]) -> Seam:
    """Return what makes a peeking terminal."""

    def seam(paper: PaperTerminal, recording: Recording, clock: Clock) -> ModuleTerminal:
        return Peeking(paper, recording.bars["EURUSD"][1], peek)

    return seam


def back_tested(plan: Plan, folder: Path, seam: Seam = plain) -> Played:
    folder.mkdir()
    return play(plan, folder, seam=seam)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("walk")
    return make_plan(settings_for(folder, walk(5, 200)), Changes())


@pytest.fixture(scope="module")
def fed(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("fed")
    return make_plan(settings_for(folder, walk(5, 200), is_fed=True), Changes())


@pytest.mark.parametrize("peek", [next_bar, unfinished_bar, whole_file])
def test_a_strategy_that_sees_its_future_is_caught(
    fed: Plan, tmp_path: Path, peek: Callable[[RatesArray], Any]
) -> None:
    """The next bar, an H4 bar before it has closed, a scale over the whole file."""
    played = back_tested(fed, tmp_path / "out", feeder(peek))
    found = lookahead(fed, played, seam=feeder(peek))
    assert not found.is_clean
    first = found.differences[0]
    assert (first.what, first.magic) == ("decision", 7)
    assert "outputs" in first.columns


def test_what_is_known_when_a_bar_closes_is_clean(fed: Plan, tmp_path: Path) -> None:
    honest = feeder(last_bar)
    found = lookahead(fed, back_tested(fed, tmp_path / "out", honest), seam=honest)
    assert found.is_clean
    assert (len(found.cuts), found.compared > 100) == (4, True)


def test_every_bar_can_be_a_cut(tmp_path: Path) -> None:
    """From the first decided bar on, and with a strategy whose bars are four times as long."""
    settings = settings_for(tmp_path, walk(5, 24), backtest={"lookahead_cuts": 1_000})
    slow = write_model(tmp_path / "h4.onnx", [-1e6, 1e6], timeframe="H4", decision={})
    (fast,) = settings.strategy
    other = {"model": str(slow), "timeframe": "H4", "magic": 8}
    both = (fast, fast.model_copy(update=other))
    made = make_plan(settings.model_copy(update={"strategy": both}), Changes())
    found = lookahead(made, back_tested(made, tmp_path / "out"))
    assert found.is_clean
    # The second H4 bar is the first that is decided, at 08:00; the recording ends at 23:00.
    assert len(found.cuts) > 10


def test_a_random_walk_shows_no_edge_but_to_who_sees_the_next_bar(
    fed: Plan, tmp_path: Path
) -> None:
    """The mean result of a trade is its cost, within its standard error; a cheat wins."""
    results: list[float] = []
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        made = make_plan(settings_for(folder, walk(100 + seed, 250, spread=12)), Changes())
        results += outcome_of(back_tested(made, folder / "out")).results
    cheat = outcome_of(back_tested(fed, tmp_path / "cheat", feeder(next_bar)))
    # 0.1 lots: 12 points of spread are 1.20, two sides of commission 0.40.
    error = np.std(results, ddof=1) / len(results) ** 0.5
    assert len(results) > 250
    assert abs(np.mean(results) + 1.6) < 3 * error
    assert cheat.statistics.win_rate is not None
    assert cheat.statistics.win_rate > 0.9
    assert cheat.mean_result is not None
    assert cheat.mean_result > 20 * error


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models_are_clean(tmp_path: Path, name: str) -> None:
    rates = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")[4500:4800]
    settings = settings_for(tmp_path, rates, backtest={"lookahead_cuts": 2})
    (strategy,) = settings.strategy
    profile = share_dir("models/sample_bars") / "profile.json"
    settings = settings.model_copy(
        update={"paper": settings.paper.model_copy(update={"profile": str(profile)})}
    )
    model = share_dir("models") / name / "model.onnx"
    shipped = make_plan(settings, Changes(model=model))
    played = back_tested(shipped, tmp_path / "out")
    assert lookahead(shipped, played).is_clean
    assert peeks(shipped, played) == ()
    assert strategy.sha256 is None


def test_each_stress_costs_what_it_says(plan: Plan, tmp_path: Path) -> None:
    usual = outcome_of(back_tested(plan, tmp_path / "out"))
    worse = stress(plan, tmp_path / "out", stop=Stop(), told=lambda title: lambda time: None)
    assert list(worse) == [
        "spread x 2",
        "slippage 0.5 spreads",
        "filled a bar late",
        "5% of bars missed",
    ]
    wide, slipping, late, missed = worse.values()
    trades = usual.statistics.trades
    assert wide.statistics.trades == slipping.statistics.trades == trades
    # Twice 10 points, 0.1 lots: 1.00 a trade. Half a spread at each of two deals: 1.00, too.
    lost = usual.statistics.net_profit - wide.statistics.net_profit
    assert lost == pytest.approx(1.0 * trades, rel=0.03)
    slipped = slipping.statistics.commission - usual.statistics.commission
    assert slipped == pytest.approx(-1.0 * trades, abs=0.03 * trades)
    assert 0.9 < missed.why_not.decisions / usual.why_not.decisions < 0.99
    # Late orders are filled at the end of their bar, at its close; all bars are decided in time.
    with reading(late.played.journal) as past:
        deals = [deal for deal in past.deals() if deal.symbol]
        rows = list(past.rows("decisions"))
    bars = {int(bar["time"]): bar for bar in plan.recording.bars["EURUSD"][1]}
    for deal in deals:
        assert deal.time % 3_600 == 3_599
        assert abs(deal.price - bars[deal.time - 3_599]["close"]) < 0.00011
    assert {row["at_utc"] % 3_600 for row in rows} == {0.0}
    assert len(rows) == usual.why_not.decisions


def test_a_feature_that_looks_ahead_is_named() -> None:
    """F22: features at 50 random bars equal those of bars that end there; shift(-1) is caught."""
    rates = walk(3, 300)

    def ahead(bars: RatesArray) -> Any:
        return np.append(np.diff(bars["close"]), np.nan)

    def centred(bars: RatesArray) -> Any:
        return np.convolve(bars["close"], np.ones(5) / 5, "same")

    mean = sma(field("close"), 10)
    honest = {
        "sma": lambda bars: evaluate([mean], bars)[:, 0],
        "change": lambda bars: np.append(np.nan, np.diff(bars["close"])),
    }
    found = peeking_features(
        {**honest, "ahead": ahead, "centred": centred}, rates, cuts=50, first=9
    )
    assert [each.name for each in found] == ["ahead", "centred"]
    assert "ahead is nan at its bar and" in str(found[0])
    with pytest.raises(ValueError, match=r"feature bad gives values of shape \(299,\)"):
        peeking_features({"bad": lambda bars: np.diff(bars["close"])}, rates)


def test_every_kind_of_row_that_differs_is_told_and_nan_is_equal_to_itself() -> None:
    nan = float("nan")
    plain = {"id": 1, "magic": 7, "bar_time": 10, "outputs": [nan], "side": "long"}
    deal = {"ticket": 2, "time": 12, "deal": {"price": 1.1}}

    def trace(decisions: list[Any], deals: list[Any]) -> Trace:
        rows = {"decisions": tuple(decisions), "intents": (), "results": (), "deals": tuple(deals)}
        return Trace(rows)

    same = trace([plain], [deal])
    assert differences(same, trace([{**plain, "id": 9}], [dict(deal)])) == []
    (other,) = differences(same, trace([{**plain, "side": "short"}], [deal]))
    assert (other.what, other.columns, other.with_future, other.without) == (
        "decision",
        ("side",),
        ("long",),
        ("short",),
    )
    (gone,) = differences(same, trace([plain], []))
    assert (gone.what, gone.columns, gone.bar_time) == ("deal", (), 12)


def test_shuffled_trades_are_the_orders_that_there_are() -> None:
    """Against all 120 orders of five trades, computed one by one."""
    trades, balance = [50.0, -30.0, -20.0, 10.0, -5.0], 100.0
    falls = []
    for order in itertools.permutations(trades):
        height = peak = balance
        fall = 0.0
        for each in order:
            height += each
            peak = max(peak, height)
            fall = max(fall, peak - height)
        falls.append(fall)
    found = monte_carlo(trades, balance=balance, runs=20_000, seed=1)
    assert set(found.shuffled.balance.values()) == {105.0}
    for percent in (5, 50, 95):
        # The orders are few: half of them may lie on either side of a step of 5.
        wanted = np.percentile(falls, percent)
        assert found.shuffled.drawdown[percent] == pytest.approx(wanted, abs=2.5)
    again = monte_carlo(trades, balance=balance, runs=20_000, seed=1)
    other = monte_carlo(trades, balance=balance, runs=20_000, seed=2)
    assert again == found != other


def test_missed_and_redrawn_trades_have_the_known_mean_and_spread() -> None:
    chance = random.Random(1)  # noqa: S311  not a secret
    trades = [chance.gauss(2.0, 10.0) for _ in range(400)]
    found = monte_carlo(trades, balance=1_000.0, runs=8_000, seed=4, missed_share=0.25)
    whole = sum(trades)
    assert found.shuffled.balance[50] == pytest.approx(1_000 + 0.75 * whole, abs=8)
    # Drawn with repetition the sum has the standard deviation sqrt(n) * sigma; 95 % is 1.645 of it.
    spread = 1.645 * np.std(trades) * 400**0.5
    assert found.redrawn.balance[95] - found.redrawn.balance[50] == pytest.approx(spread, rel=0.06)
    assert found.redrawn.losing_share < 0.01
    assert monte_carlo([-1.0], balance=10.0, runs=5, seed=1).redrawn.losing_share == 1.0


def test_bars_inside_the_training_span_are_counted_with_both_ends() -> None:
    contract = load_model(share_dir("models") / SHIPPED[0] / "model.onnx", probe=False).contract
    assert contract.train_to == "2017-09-12T12:00:00"
    times = [parse(f"2017.09.12 {hour}:00") for hour in (10, 11, 12, 13)]
    found = learned(contract, times)
    assert (found.inside, found.share, found.is_most) == (3, 0.75, True)
    rule = load_model(share_dir("models") / SHIPPED[1] / "model.onnx", probe=False).contract
    assert learned(rule, times).inside == 0
