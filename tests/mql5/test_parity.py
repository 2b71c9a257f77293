"""Daemon and EA over the same bars: every output, decision, order, deal and the balance.

The full table takes minutes: ``python -m tests.mql5.parity``.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from bridge.share import share_dir
from mql5.host.compiler import Compiler
from mql5.parity.cases import CASES
from mql5.parity.compare import differences
from mql5.parity.run import Bar, Run
from mql5.parity.table import Case, Row, compared

SHORT = 480


def _short(case: Case) -> Case:
    return replace(case, bars=SHORT)


@pytest.mark.parametrize(
    ("case", "orders"),
    [
        (_short(CASES[0]), 5),
        (_short(next(one for one in CASES if "trailing" in one.what)), 5),
        # An entry and its exit; nothing is opened after the fall.
        (_short(next(one for one in CASES if "halted" in one.what)), 2),
    ],
    ids=["plain", "trailing", "halted"],
)
def test_daemon_and_expert_agree(
    compiler: Compiler, tmp_path: Path, case: Case, orders: int
) -> None:
    row = compared(case, compiler, tmp_path / "case")
    assert row.found == ()
    assert row.largest == 0.0
    assert row.decisions > 200
    assert row.orders >= orders


def test_every_model_that_ships_is_in_the_table() -> None:
    """On both symbols and both kinds of accounts, over 5,000 bars."""
    shipped = {path.parent.name for path in share_dir("models").glob("*/model.onnx")}
    for symbol in ("EURUSD", "XAUUSD"):
        for account in ("hedging", "netting"):
            plain = [one for one in CASES if (one.symbol, one.margin_mode) == (symbol, account)]
            assert {one.model for one in plain if one.bars >= 5_000} == shipped


def test_an_input_of_one_side_alone_is_found(compiler: Compiler, tmp_path: Path) -> None:
    case = Case("eurusd_h1_direction", "Classifier", "EURUSD", "hedging", 400)
    row = compared(replace(case, inputs={"InpOpenAt": 0.33}), compiler, tmp_path / "case")
    assert row.found
    assert {one.where for one in row.found} >= {"decision", "order", "balance"}


def test_a_difference_of_one_bit_is_found() -> None:
    bar = Bar((0.25, 0.75), {"action": "hold", "bid": 1.1})
    ours = Run({10: bar}, [{"time": 10, "sl": 1.0}], [{"profit": 1.0}], 100.0, 0.0)
    assert differences(ours, ours) == []
    others = [
        replace(ours, bars={10: replace(bar, outputs=(0.25, 0.7500000000000001))}),
        replace(ours, bars={10: replace(bar, facts={"action": "open", "bid": 1.1})}),
        replace(ours, bars={}),
        replace(ours, orders=[{"time": 10, "sl": 1.00001}]),
        replace(ours, orders=[]),
        replace(ours, deals=[{"profit": 1.01}]),
        replace(ours, balance=100.01),
    ]
    for other in others:
        assert len(differences(ours, other)) == 1
    assert not differences(ours, others[0], tolerance=1e-6)


def test_the_table_says_what_it_lacks() -> None:
    from mql5.parity.table import lines

    case = Case("m", "Classifier", "XAUUSD", "netting", 5)
    (line,) = lines([Row(case, why_not="no bars")])
    assert "| 5 | not run: no bars |" in line


def test_a_model_that_no_terminal_takes_is_a_row_with_its_reason(
    compiler: Compiler, tmp_path: Path
) -> None:
    case = Case("eurusd_h1_forecast", "Classifier", "EURUSD", "netting", 300)
    row = compared(case, compiler, tmp_path / "case")
    assert row.found is None
    assert "use --template forecast" in row.why_not
