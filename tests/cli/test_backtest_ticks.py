"""Back-tests on recorded ticks: each deal at a tick's price, the same journal as a paper replay."""

import os
from pathlib import Path

import numpy as np
import pytest
from backtest_support import (
    START,
    back_tested,
    history,
    replayed,
    settings_of,
    walk,
    write_model,
)

from bridge.cli.backtest_lookahead import lookahead
from bridge.cli.backtest_plan import Changes, make_plan, with_spread
from bridge.cli.recording import load_recording
from bridge.errors import ConfigError, DataError
from bridge.journal.read import reading
from bridge.mt5 import constants as mt5
from bridge.mt5.rates import TICKS_DTYPE, RatesArray
from bridge.mt5.servertime import text
from bridge.settings import BridgeSettings, PaperPrices

DATA = os.environ.get("BRIDGE_TEST_DATA")


def made_up(minutes: int = 90) -> RatesArray:
    """Return ticks of a random walk, a dozen a minute, of a spread that moves."""
    chance = np.random.default_rng(3)
    count = 12 * minutes
    made = np.zeros(count, dtype=TICKS_DTYPE)
    made["time_msc"] = START * 1000 + 5_000 * np.arange(count) + chance.integers(1, 4_000, count)
    made["time"] = made["time_msc"] // 1000
    made["bid"] = np.round(1.1 + np.cumsum(chance.normal(0.0, 4e-5, count)), 5)
    made["ask"] = np.round(made["bid"] + chance.integers(5, 16, count) * 1e-5, 5)
    return made


def recorded(minutes: int = 90) -> RatesArray:
    """Return real ticks of EURUSD."""
    if DATA is None:
        pytest.skip("BRIDGE_TEST_DATA is not set")
    parquet = pytest.importorskip("pyarrow.parquet")
    (path,) = (Path(DATA) / "bars" / "ticks").glob("EURUSD_ticks_2025-09-22*.parquet")
    table = parquet.read_table(path).slice(20_000, 40_000)
    made = np.zeros(table.num_rows, dtype=TICKS_DTYPE)
    for name in ("time", "time_msc", "bid", "ask"):
        made[name] = table[name].to_numpy()
    made = made[(made["bid"] > 0) & (made["ask"] > 0)]
    kept: RatesArray = made[made["time"] < made["time"][0] + 60 * minutes]
    return kept


def export(path: Path, ticks: RatesArray) -> None:
    """Write ticks as the terminal exports them."""
    lines = ["<DATE>\t<TIME>\t<BID>\t<ASK>\t<LAST>\t<VOLUME>\t<FLAGS>"]
    for tick in ticks:
        date, clock = text(tick["time"]).split()
        milliseconds = int(tick["time_msc"]) % 1000
        lines.append(
            f"{date}\t{clock}.{milliseconds:03}\t{tick['bid']:.5f}\t{tick['ask']:.5f}\t\t\t6"
        )
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def settings(folder: Path, ticks: RatesArray) -> BridgeSettings:
    """Return settings of a model that trades often, on ticks."""
    export(folder / "ticks.csv", ticks)
    model = write_model(folder / "model.onnx", [-9e3, 2e3, 7e3], timeframe="M1")
    strategy = {
        "model": str(model),
        "symbol": "EURUSD",
        "timeframe": "M1",
        "magic": 7,
        "decision": {"open_at": 0.3, "stop_points": 15, "take_points": 60},
        "risk": {"volume": 0.3},
    }
    plain = settings_of(folder, {"EURUSD": ("M1", walk(1, 9, step=60))}, [strategy])
    (bars,) = plain.paper.bars
    played = bars.model_copy(update={"path": None, "ticks": str(folder / "ticks.csv")})
    paper = {"bars": (played,), "prices": PaperPrices.TICKS}
    return plain.model_copy(update={"paper": plain.paper.model_copy(update=paper)})


@pytest.mark.parametrize("source", [made_up, recorded])
def test_every_deal_has_the_price_of_its_tick(tmp_path: Path, source: object) -> None:
    assert callable(source)
    ticks = source()
    told = settings(tmp_path, ticks)
    played = back_tested(told, tmp_path / "out")
    found = history(played.journal)
    assert found == history(replayed(told))
    with reading(played.journal) as journal:
        deals = [deal for deal in journal.deals() if deal.symbol]
    assert len(deals) > 20
    for deal in deals:
        # A bar is seen in the second after its first tick.
        newest = ticks[int(np.searchsorted(ticks["time_msc"], deal.time_msc, side="right")) - 1]
        assert deal.time_msc - newest["time_msc"] < 1_000
        assert deal.price in {round(float(newest["bid"]), 5), round(float(newest["ask"]), 5)}
    stopped = [deal for deal in deals if deal.reason == mt5.DEAL_REASON_SL]
    assert stopped
    coarse = back_tested(told, tmp_path / "coarse", prices=PaperPrices.OHLC)
    assert history(coarse.journal)["deals"] != found["deals"]


def test_nothing_of_the_future_is_seen_and_spreads_can_be_changed(tmp_path: Path) -> None:
    told = settings(tmp_path, made_up(120))
    backtest = told.backtest.model_copy(update={"lookahead_cuts": 6})
    plan = make_plan(told.model_copy(update={"backtest": backtest}), Changes())
    played = back_tested(told, tmp_path / "out")
    findings = lookahead(plan, played)
    assert findings.is_clean
    assert findings.compared > 100
    wide = with_spread(plan.recording, lambda symbol, spread: spread * 3).ticks["EURUSD"]
    ticks = plan.recording.ticks["EURUSD"]
    spreads = (ticks["ask"] - ticks["bid"]) * 3
    assert np.abs(wide["ask"] - wide["bid"] - spreads).max() < 1e-9
    ends = int(ticks["time"][600])
    kept = load_recording(told).up_to(ends)
    assert kept.bars["EURUSD"][1]["time"][-2] < ends <= kept.bars["EURUSD"][1]["time"][-1]
    assert kept.ticks["EURUSD"]["time"][-1] < kept.bars["EURUSD"][1]["time"][-1] + 60


def test_what_can_not_be_played_is_said(tmp_path: Path) -> None:
    told = settings(tmp_path, made_up(20))
    (bars,) = told.paper.bars
    with pytest.raises(ValueError, match="path and ticks of EURUSD are both set"):
        type(bars)(symbol="EURUSD", timeframe="M1", path="bars.csv", ticks="ticks.csv")
    others = told.paper.model_copy(
        update={
            "bars": (bars.model_copy(update={"ticks": None, "path": str(tmp_path / "EURUSD.csv")}),)
        }
    )
    without = told.model_copy(update={"paper": others})
    with pytest.raises(ConfigError, match="prices = ticks plays recorded ticks"):
        back_tested(without, tmp_path / "out")
    wrong = bars.model_copy(update={"ticks": str(tmp_path / "EURUSD.csv")})
    paper = told.paper.model_copy(update={"bars": (wrong,)})
    with pytest.raises(DataError, match="holds bars, not ticks"):
        load_recording(told.model_copy(update={"paper": paper}))
