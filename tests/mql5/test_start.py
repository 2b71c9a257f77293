"""What ends an EA's start, what it only waits for, and what a tester's run says of itself."""

import csv
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge.market.barfile import read_bars
from bridge.terminal.paper.profile import BrokerProfile
from mql5.host.compiler import Built, Compiler
from mql5.host.desktop import Desktop
from mql5.host.play import desk, play
from mql5.host.program import InputValue, Program
from mql5.parity.daemon import model_path
from mql5.parity.markets import SAMPLE
from mql5.support import H1, ROOT, copied_tree, program, terminal

EXPERT = Path("Experts/OnnxBridge/Classifier.mq5")
FAILED, WRONG_INPUTS = 1, 32767
H4 = 16388
MODEL = model_path("eurusd_h1_direction")


@pytest.fixture(scope="module")
def built(compiler: Compiler) -> Built:
    return compiler.build(ROOT / EXPERT, ROOT)


def broker(folder: Path, symbol: str = "EURUSD", bar: int = 600, **account: Any) -> Desktop:
    """Return a terminal over the sample bars, by another symbol's name or with other rights."""
    told = json.loads((SAMPLE / "profile.json").read_text(encoding="utf-8"))
    told["symbols"] = {symbol: told["symbols"]["EURUSD"]}
    told["account"] |= account
    rates = read_bars(SAMPLE / "EURUSD_H1_2017.csv")
    bars = {symbol: (H1, rates)}
    return desk(folder, BrokerProfile.model_validate(told), bars, int(rates["time"][bar]))


@pytest.mark.parametrize(
    ("inputs", "code", "words"),
    [
        ({"InpMagic": 0}, WRONG_INPUTS, "the magic number has to be above 0"),
        ({"InpOpenAt": 1.5}, WRONG_INPUTS, "open_at 1.5 is above 1"),
        ({"InpVolume": 0.1, "InpRiskShare": 0.01}, WRONG_INPUTS, "exactly one of volume and"),
        ({"InpStopPoints": 100.0}, WRONG_INPUTS, "stop_points and stop_ranges are both set"),
        ({"InpMaxDrawdown": 25.0}, WRONG_INPUTS, "0.05 is 5%, 0 is off"),
        ({"InpPartialShare": 1.0}, WRONG_INPUTS, "partial_share 1 is outside 0 to 1"),
        ({"InpTries": 11}, WRONG_INPUTS, "tries outside 1 to 10"),
        ({"InpWindows": "8-12"}, WRONG_INPUTS, "write spans as 08:00-12:00 22:00-02:00"),
        ({"InpWeekdays": "monday"}, WRONG_INPUTS, "write them as mon tue wed"),
        ({"InpModelFile": "x.onnx"}, WRONG_INPUTS, "a model from a file needs its sha256"),
        ({"InpModelFile": "x.onnx", "InpModelSha256": "0" * 64}, FAILED, "has to lie under MQL5"),
    ],
)
def test_inputs_that_end_the_start(
    built: Built, tmp_path: Path, inputs: dict[str, InputValue], code: int, words: str
) -> None:
    expert = program(built, terminal(tmp_path), **inputs)
    assert expert.start() == code
    (line,) = expert.log
    assert line.startswith("eurusd_h1_direction")
    assert ": not started: " in line
    assert words in line
    assert expert.open_sessions == 0


@pytest.mark.parametrize(
    ("symbol", "alias", "code"),
    [
        ("EURUSD", "", 0),
        ("EURUSD.pro", "", 0),
        ("EURUSDm", "", 0),
        ("GBPUSD", "", WRONG_INPUTS),
        ("EURO", "", WRONG_INPUTS),
        ("EURO", "EURUSD", 0),
        ("EURUSD", "GBPUSD", WRONG_INPUTS),
    ],
)
def test_a_symbol_is_the_model_s_by_name_suffix_or_alias(
    built: Built, tmp_path: Path, symbol: str, alias: str, code: int
) -> None:
    expert = Program(built, broker(tmp_path, symbol), symbol, H1.value, {"InpSymbolAlias": alias})
    assert expert.start() == code
    assert (f"the chart shows {symbol}" in expert.log[0]) is (code != 0)
    expert.stop()


def test_another_timeframe_ends_the_start(built: Built, tmp_path: Path) -> None:
    expert = Program(built, terminal(tmp_path), "EURUSD", H4)
    assert expert.start() == WRONG_INPUTS
    assert "was made for H1, the chart shows PERIOD_H4" in expert.log[0]


@pytest.mark.parametrize(
    ("account", "words"),
    [
        ({}, "Algo Trading is off in the terminal's toolbar"),
        ({"trade_allowed": False}, "the account may not trade"),
        ({"trade_expert": False}, "does not let expert advisors trade"),
    ],
)
def test_a_missing_permission_ends_the_start_but_not_a_tester_s(
    built: Built, tmp_path: Path, account: dict[str, Any], words: str
) -> None:
    desktop = broker(tmp_path, **account)
    desktop.may_trade = bool(account)
    expert = program(built, desktop)
    assert expert.start() == FAILED
    assert words in expert.log[0]
    tested = Program(built, desktop, "EURUSD", H1.value, is_tester=True)
    assert tested.start() == 0, tested.log
    tested.stop()


def test_two_experts_do_not_share_a_magic(built: Built, tmp_path: Path) -> None:
    """Globals are each one's own, the lease is one for all: the second is refused."""
    desktop = terminal(tmp_path)
    first, second, third = (program(built, desktop) for _ in range(3))
    assert first.start() == 0, first.log
    assert second.start() == FAILED
    assert "another program of this computer trades magic 26001 on EURUSD" in second.log[0]
    first.stop()
    assert third.start() == 0, third.log
    third.stop()
    assert [one.open_sessions for one in (first, second, third)] == [0, 0, 0]


def test_a_model_that_answers_otherwise_is_refused(compiler: Compiler, tmp_path: Path) -> None:
    """A golden row that is off, and bytes that are not the contract's, end the start."""
    root = copied_tree(tmp_path)
    include = root / "Include" / "OnnxBridge" / "Generated" / "eurusd_h1_direction.mqh"
    text = include.read_text(encoding="ascii")
    head, marked, rows = text.rpartition("const double ExtGoldenOutputs[]=\n  {\n   0.")
    assert head
    include.write_text(head + marked + "9" + rows[1:], encoding="ascii")
    expert = program(compiler.build(root / EXPERT, root), terminal(tmp_path))
    assert expert.start() == FAILED
    assert any("golden row 0" in line for line in expert.log)
    model = include.with_suffix(".onnx")
    model.write_bytes(model.read_bytes() + b"\x00")
    expert = program(compiler.build(root / EXPERT, root), terminal(tmp_path / "two"))
    assert expert.start() == FAILED
    assert any("the embedded model's sha256 is" in line for line in expert.log)
    assert expert.open_sessions == 0


def test_a_model_from_a_file_is_the_pinned_one(built: Built, tmp_path: Path) -> None:
    desktop = terminal(tmp_path)
    shutil.copy(MODEL, desktop.folder / "MQL5" / "Files" / "new.onnx")
    wrong = program(built, desktop, InpModelFile="new.onnx", InpModelSha256="0" * 64)
    assert wrong.start() == FAILED
    assert "name the file's own if you mean this file" in wrong.log[0]
    own = hashlib.sha256(MODEL.read_bytes()).hexdigest()
    right = program(built, desktop, InpModelFile="new.onnx", InpModelSha256=own)
    assert right.start() == 0, right.log
    right.stop()


def test_short_history_is_waited_for(built: Built, tmp_path: Path) -> None:
    """A window is 211 closed bars; nothing is decided before there are so many."""
    desktop = terminal(tmp_path, bar=200)
    expert = program(built, desktop)
    assert expert.start() == 0, expert.log
    play(desktop, expert, bars=14)
    expert.stop()
    rows = _rows(desktop)
    assert sum("has 200 of 211 closed bars" in row["words"] for row in rows) == 1
    first = read_bars(SAMPLE / "EURUSD_H1_2017.csv")["time"][210:]
    decided = [int(row["bar_time"]) for row in rows if row["row"] == "decision"]
    assert decided == first[:3].tolist()


def _rows(desktop: Desktop) -> list[dict[str, str]]:
    (journal,) = desktop.common.rglob("*.csv")
    return list(csv.DictReader(journal.read_text(encoding="utf-8").splitlines()))


def test_a_tester_that_optimises_hears_nothing(
    compiler: Compiler, built: Built, tmp_path: Path
) -> None:
    """No line, no journal and no state; refusals are silent, too."""
    desktop = terminal(tmp_path)
    outputs = compiler.build(ROOT / "Indicators" / "OnnxBridge" / "Outputs.mq5", ROOT)
    for one in (built, outputs):
        silent = Program(one, desktop, "EURUSD", H4, is_tester=True, is_optimizing=True)
        assert silent.start() == WRONG_INPUTS
        assert silent.log == []
    expert = Program(built, desktop, "EURUSD", H1.value, is_tester=True, is_optimizing=True)
    assert expert.start() == 0
    play(desktop, expert, bars=60)
    expert.stop()
    assert expert.sent
    assert expert.log == []
    assert not [path for path in desktop.common.rglob("*") if path.is_file()]


def test_the_criterion_is_profit_by_fall_damped_by_few_trades(built: Built, tmp_path: Path) -> None:
    """Worked out here from the deals; the host's fall is that of the balance."""
    desktop = terminal(tmp_path)
    inputs: dict[str, InputValue] = {"InpMinTrades": 10}
    expert = Program(built, desktop, "EURUSD", H1.value, inputs, is_tester=True)
    assert expert.start() == 0
    assert expert.result() == 0.0
    play(desktop, expert, bars=400)
    deals = desktop.paper.history_deals_get(0, 2**31 - 1)
    money = [deal.profit + deal.swap + deal.commission + deal.fee for deal in deals]
    balance = np.cumsum(money)
    fall = (np.maximum.accumulate(balance) - balance).max()
    trades = sum(deal.entry == 1 for deal in deals)
    assert trades > 10
    assert fall > 0.001 * money[0]
    wanted = sum(money[1:]) / fall * trades / (trades + 10)
    assert expert.result() == pytest.approx(wanted, rel=1e-9)
    expert.stop()
    for least, share in ((trades + 1, 0.0), (-trades, 1.0)):
        inputs["InpMinTrades"] = least
        again = Program(built, desktop, "EURUSD", H1.value, inputs, is_tester=True)
        assert again.start() == 0
        assert again.result() == pytest.approx(share * sum(money[1:]) / fall, rel=1e-9)
        again.stop()
