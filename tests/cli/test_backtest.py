"""Back-tests: equal to paper replays, in folders of their own, stopped, changed by options."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from backtest_support import (
    back_tested,
    history,
    random_settings,
    replayed,
    settings_of,
    walk,
    write_model,
)

from bridge.cli.backtest_outcome import outcome_of
from bridge.cli.backtest_plan import Changes, make_plan
from bridge.cli.backtest_run import play
from bridge.cli.main import run
from bridge.cli.recording import load_recording
from bridge.engine.stop import Stop
from bridge.errors import ConfigError, DataError
from bridge.journal.read import reading
from bridge.market.barfile import read_bars, write_bars
from bridge.market.store import BarStore, Series
from bridge.mt5.rates import RatesArray, rates_of
from bridge.mt5.servertime import parse, text
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir

# More plans than the usual ones, for a longer look: BRIDGE_SWEEP=100.
SEEDS = range(3 + int(os.environ.get("BRIDGE_SWEEP", "0")))


@pytest.mark.parametrize("seed", SEEDS)
def test_it_journals_what_a_paper_replay_does(tmp_path: Path, seed: int) -> None:
    """F20, over models and settings at random: rows, orders, deals, account at the end."""
    settings = random_settings(tmp_path, seed)
    wanted, played = history(replayed(settings)), back_tested(settings, tmp_path / "out")
    found = history(played.journal)
    assert len(wanted["deals"]) > 2
    assert found == wanted
    with reading(tmp_path / "state" / "journal.sqlite3") as past:
        row = past.last_event(None, "snapshot")
    assert row is not None
    account = json.loads(row["text"])
    assert (played.account.balance, played.account.equity) == (
        account["balance"],
        account["equity"],
    )
    assert played.positions == len(account["positions"])


TWO = """10:00 1.09900 1.09960 1.09850 1.09940
         10:15 1.09940 1.10060 1.09930 1.10040
         10:30 1.10070 1.10110 1.10010 1.10090"""
CASES = {
    "F06": ("10:45 1.10090 1.10150 1.10060 1.10120", {}, {}),
    "F07": ("10:45 1.10090 1.10620 1.09500 1.10120", {"stop_points": 500, "take_points": 500}, {}),
    "F11": (
        "10:45 1.10090 1.10600 1.09850 1.10500",
        {"stop_points": 200},
        {"trail_points": 200.0, "trail_after_points": 200.0},
    ),
}
# Price and profit of the first exit; F06 stays open, at 1.10120 in the end.
EXITS = {
    "F07": (1.0958, -50.0),
    "F11": (1.0988, -20.0),
}


def quarter(rows: str) -> RatesArray:
    return rates_of(
        (parse(f"2025.09.09 {time}"), *map(float, prices), 200, 10, 0)
        for time, *prices in (line.split() for line in rows.splitlines())
    )


@pytest.mark.parametrize("case", CASES)
def test_three_known_trades_come_out_alike_in_both(tmp_path: Path, case: str) -> None:
    """F06, F07, F11 and F20: bought at the next open's ask, stopped first, the old stop counts."""
    row, decision, manage = CASES[case]
    close = row.split()[-1]
    bars = quarter(f"{TWO}\n{row}\n11:00 {close} {close} {close} {close}")
    model = write_model(tmp_path / "m.onnx", [0.0], above=1.1, timeframe="M15", decision={})
    strategy = {
        "model": str(model),
        "symbol": "EURUSD",
        "timeframe": "M15",
        "magic": 7,
        "decision": {"range_bars": 1, **decision},
        "risk": {"volume": 0.1, "require_stop": False},
        "manage": manage,
    }
    settings = settings_of(tmp_path, {"EURUSD": ("M15", bars)}, [strategy])
    wanted, played = history(replayed(settings)), back_tested(settings, tmp_path / "out")
    assert history(played.journal) == wanted
    first, *later = [row["deal"] for row in wanted["deals"] if row["deal"]["symbol"]]
    assert (text(first["time"])[11:16], first["price"]) == ("10:30", 1.1008)
    if case == "F06":
        assert (later, played.positions, played.account.profit) == ([], 1, 4.0)
    else:
        assert (later[0]["price"], later[0]["profit"]) == EXITS[case]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder made by init, with a shorter recording and a mode that does not matter."""
    folder = tmp_path_factory.mktemp("home") / "bot"
    assert run(["init", str(folder)]) == 0
    rates = read_bars(share_dir("models/sample_bars") / "EURUSD_H1_2017.csv")
    write_bars(folder / "EURUSD_H1_2017.csv", rates[4000:4800], digits=5)
    config = folder / "bridge.toml"
    live = config.read_text(encoding="utf-8").replace('mode = "paper"', 'mode = "live"', 1)
    terminal = '[terminal]\nlogin = 1\nserver = "x"\n\n[limits]'
    config.write_text(live.replace("[limits]", terminal, 1), encoding="utf-8")
    return folder


def command(home: Path, *options: str) -> list[str]:
    return ["backtest", "-c", str(home / "bridge.toml"), *options]


def test_the_command_tells_what_came_of_it_and_leaves_runs_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--from", "2017.09.06", "--to", "2017.09.20 12:00", "--monte-carlo", "50"]
    assert run(command(home, *options, "--deposit", "5000", "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["first"], told["last"]) == ("2017.09.06 00:00:00", "2017.09.20 11:00:00")
    assert (told["deposit"], told["has_ended"], told["lookahead"]) == (5000.0, True, None)
    assert told["balance"] == pytest.approx(5000 + told["statistics"]["net_profit"])
    assert told["monte_carlo"]["shuffled"]["runs"] == 50
    # The model was trained to 2017.09.12 12:00: the bars of two Wednesdays to Tuesday noon.
    (strategy,) = told["strategies"]
    assert strategy["bars"] == told["why_not"]["decisions"] == 252
    assert strategy["learned"]["inside"] == 109
    assert "43% of the bars lie inside the model's training span" in told["warnings"][0]
    assert not (home / "state").exists()
    assert json.loads((Path(told["journal"]).parent / "result.json").read_text()) == told
    # Once more, with twice the spread: another folder, and worse.
    assert run(command(home, *options, "--deposit", "5000", "--spread", "30", "--json")) == 0
    again = json.loads(capsys.readouterr().out)
    assert Path(again["journal"]).parent.name == "backtest-2"
    assert again["statistics"]["net_profit"] < told["statistics"]["net_profit"]


def test_an_own_folder_is_replaced_only_when_asked(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    short = ["--from", "2017.09.26", "--out", str(out)]
    assert run(command(home, *short)) == 0
    shown = capsys.readouterr().out
    assert "net profit, USD" in shown
    assert str(out / "journal.sqlite3") in shown.replace("\n", "")
    assert run(command(home, *short)) == 2
    assert "is not empty" in capsys.readouterr().err
    assert run(command(home, *short, "--force")) == 0
    (out / "result.json").unlink()
    assert run(command(home, *short, "--force")) == 2
    assert "holds no finished back-test" in capsys.readouterr().err
    before = sorted(home.glob("backtests/*"))
    for options, code, said in (
        (["--out", str(home / "state")], 2, "is the state folder of runs"),
        (["--from", "2031.01.01"], 2, "name an earlier beginning"),
        (["--from", "2017.09.02", "--to", "2017.09.01"], 2, "is not before --to"),
        (["--symbol", "GBPUSD"], 2, "no strategy trades --symbol GBPUSD: name one of EURUSD"),
        (["--model", str(home / "EURUSD_H1_2017.csv")], 4, "EURUSD_H1_2017.csv"),
        (["--prices", "close"], 2, "--prices close is none of open, ohlc, ticks"),
        (["--prices", "ticks"], 2, "prices = ticks plays recorded ticks, and there are none"),
    ):
        assert run(command(home, *options)) == code, options
        assert said in capsys.readouterr().err
    assert sorted(home.glob("backtests/*")) == before  # a refusal leaves nothing behind


def test_ctrl_c_keeps_what_was_done(home: Path, tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("a console signal can't be sent to one process on Windows")
    long = tmp_path / "bridge.toml"
    rates = walk(1, 60_000, step=60)
    write_bars(tmp_path / "long.csv", rates, digits=5)
    write_model(tmp_path / "m.onnx", [400.0, -400.0], timeframe="M1")
    long.write_text(
        "[paper]\n"
        f"profile = '{home / 'profile.json'}'\n"
        "[[paper.bars]]\nsymbol = 'EURUSD'\ntimeframe = 'M1'\npath = 'long.csv'\n"
        "[[strategy]]\nmodel = 'm.onnx'\nsymbol = 'EURUSD'\ntimeframe = 'M1'\nmagic = 7\n",
        encoding="utf-8",
    )
    child = subprocess.Popen(
        [sys.executable, "-m", "bridge", "backtest", "-c", str(long), "--out", str(tmp_path / "o")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stdout is not None
    assert "backtest" in child.stdout.readline()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "what was journalled is kept" in err
    assert "stopped by SIGINT" in err
    assert "net profit" in out
    with reading(tmp_path / "o" / "journal.sqlite3") as past:
        (row,) = past.rows("runs")
    assert (row["mode"], row["ending"]) == ("backtest", "SIGINT")


def test_stop_between_two_bars_leaves_a_whole_journal(tmp_path: Path) -> None:
    settings = random_settings(tmp_path, 0)
    whole, stop = history(back_tested(settings, tmp_path / "whole").journal), Stop()
    half = parse("2024.01.11 00:00")

    def watch(server_time: int) -> None:
        if server_time >= half:
            stop.ask("SIGINT")

    (tmp_path / "half").mkdir()
    played = play(make_plan(settings, Changes()), tmp_path / "half", stop=stop, on_progress=watch)
    assert not played.has_ended
    done = history(played.journal)["decisions"]
    assert 0 < len(done) < len(whole["decisions"])
    assert done == whole["decisions"][: len(done)]
    assert outcome_of(played).why_not.decisions == len(done)


def test_bars_come_from_the_store_the_finest_that_fit(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the store needs the extra history")
    settings = random_settings(tmp_path, 1)
    paper, rates = settings.paper, {frame: walk(1, 48, step=60 * frame) for frame in (20, 30, 60)}
    store = BarStore(tmp_path / "bars")
    for frame, name in ((20, "M20"), (30, "M30"), (60, "H1")):
        series = Series("Ours", "EURUSD", timeframe(name), clock="utc", digits=5)
        store.add(series, rates[frame])
    shelf = {"broker": "Ours", "store": str(tmp_path / "bars")}
    kept = paper.model_copy(update={**shelf, "bars": paper.bars[1:]})
    found = load_recording(settings.model_copy(update={"paper": kept}))
    assert (found.bars["EURUSD"][0].name, found.bars["GBPUSD"][0].name) == ("M20", "H1")
    assert np.array_equal(found.bars["EURUSD"][1], rates[20])
    chosen = paper.bars[0].model_copy(update={"path": None})
    kept = paper.model_copy(update={**shelf, "bars": (chosen, paper.bars[1])})
    found = load_recording(settings.model_copy(update={"paper": kept}))
    assert np.array_equal(found.bars["EURUSD"][1], rates[30])
    other = paper.model_copy(update={**shelf, "broker": "Theirs", "bars": paper.bars[1:]})
    with pytest.raises(DataError, match="EURUSD"):
        load_recording(settings.model_copy(update={"paper": other}))
    nothing = paper.model_copy(update={"bars": paper.bars[1:]})
    with pytest.raises(ConfigError, match=r"EURUSD, of which there are no recorded bars.*broker"):
        load_recording(settings.model_copy(update={"paper": nothing}))
