"""An EA, a broker's quirks, and a person: what it sends, what it leaves, what it remembers."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.mt5.records import TradePosition
from bridge.terminal.paper.script import Answer, IgnoreStops, Placed
from mql5.host.compiler import Built, Compiler
from mql5.host.desktop import Desktop
from mql5.host.play import step
from mql5.host.program import InputValue, Program
from mql5.support import ROOT, program, terminal

# Asks for a position at every bar and keeps it, so that a test decides when orders are sent.
ALWAYS: dict[str, InputValue] = {
    "InpOpenAt": 0.01,
    "InpMaxBars": 0,
    "InpReverse": False,
    "InpSides": 1,
    "InpTakeRanges": 0.0,
    "InpStopRanges": 60.0,
}


@pytest.fixture(scope="module")
def built(compiler: Compiler) -> Built:
    return compiler.build(ROOT / "Experts" / "OnnxBridge" / "Classifier.mq5", ROOT)


class Chart:
    """An EA on a chart, moved by hand."""

    def __init__(self, built: Built, folder: Path, **inputs: InputValue) -> None:
        self.desktop: Desktop = terminal(folder)
        self.built = built
        self.inputs = ALWAYS | inputs
        self.expert = self.put_on()

    def put_on(self) -> Program:
        expert = program(self.built, self.desktop, **self.inputs)
        assert expert.start() == 0, expert.log
        return expert

    def bars(self, count: int) -> None:
        for _ in range(count):
            self.expert.tick()
            assert step(self.desktop)

    def will(self, *entries: Answer | IgnoreStops | Placed) -> None:
        self.desktop.paper.script.add(*entries)

    @property
    def held(self) -> tuple[TradePosition, ...]:
        return tuple(self.desktop.paper.positions_get() or ())

    @property
    def codes(self) -> list[int]:
        return [each.retcode for each in self.expert.sent]

    def close_by_hand(self) -> None:
        (position,) = self.held
        tick = self.desktop.paper.symbol_info_tick("EURUSD")
        answer = self.desktop.paper.order_send(
            {
                "action": 1,
                "symbol": "EURUSD",
                "volume": position.volume,
                "type": 1 - position.type,
                "position": position.ticket,
                "price": tick.ask if position.type else tick.bid,
                "type_filling": 0,
                "magic": 0,
            }
        )
        assert answer is not None
        assert answer.retcode == 10009

    def rows(self, kind: str) -> list[dict[str, str]]:
        (file,) = self.desktop.common.rglob("decisions_*.csv")
        with file.open(encoding="utf-8", newline="") as text:
            return [row for row in csv.DictReader(text) if row["row"] == kind]


@pytest.fixture
def chart(built: Built, tmp_path: Path) -> Iterator[Chart]:
    found = Chart(built, tmp_path)
    yield found
    found.expert.stop()
    assert found.expert.open_sessions == 0


def test_a_requote_is_answered_with_a_new_request(chart: Chart) -> None:
    chart.will(Answer(10004), Answer(10020))
    chart.bars(1)
    assert chart.codes == [10004, 10020, 10009]


def test_a_price_that_keeps_moving_is_left_after_three_tries(chart: Chart) -> None:
    chart.will(*(Answer(10004) for _ in range(3)))
    chart.bars(1)
    assert chart.codes == [10004, 10004, 10004]
    chart.bars(1)
    assert chart.codes[3:] == [10009]


def test_each_try_of_an_entry_counts_for_one_minute(built: Built, tmp_path: Path) -> None:
    chart = Chart(built, tmp_path, InpMaxOrdersPerMinute=2)
    chart.will(*(Answer(10004) for _ in range(3)))
    chart.bars(1)
    assert chart.codes == [10004, 10004]
    assert [row["denied"] for row in chart.rows("order")] == ["", "", "orders_per_minute"]
    chart.bars(1)
    assert chart.codes[2:] == [10004, 10009]
    chart.expert.stop()


def test_a_refusal_is_not_tried_again_on_the_same_bar(chart: Chart) -> None:
    chart.will(Answer(10006))
    chart.bars(1)
    assert chart.codes == [10006]
    chart.bars(1)
    assert chart.codes == [10006, 10009]


def test_an_order_without_an_answer_is_searched_for_and_found(chart: Chart) -> None:
    """It was done although the answer was a timeout: no second order, and no end of entries."""
    chart.will(Answer(10012, effect="before"))
    chart.bars(3)
    assert chart.codes == [10012]
    assert len(chart.held) == 1
    assert [row["state"] for row in chart.rows("decision")] == ["active"] * 3


def test_an_order_without_an_answer_that_is_not_there_is_presumed_absent(chart: Chart) -> None:
    """Nothing is opened while it is searched for; after half a minute the next bar may."""
    chart.will(Answer(10012))
    chart.bars(1)
    assert chart.codes == [10012]
    assert chart.held == ()
    chart.bars(2)
    assert chart.codes == [10012, 10009]
    assert "absent" in {row["action"] for row in chart.rows("event")}


def test_a_stop_loss_that_the_broker_left_out_is_set(chart: Chart) -> None:
    chart.will(IgnoreStops())
    chart.bars(1)
    assert chart.held[0].sl == 0.0
    asked = chart.expert.sent[0].request["sl"]
    chart.bars(1)
    assert chart.held[0].sl == asked
    chart.bars(3)
    assert chart.codes == [10009, 10009]


def test_a_position_whose_stop_loss_cannot_be_set_is_closed(chart: Chart) -> None:
    chart.will(IgnoreStops(), *(Answer(10006) for _ in range(3)))
    chart.bars(5)
    assert chart.codes[:5] == [10009, 10006, 10006, 10006, 10009]
    assert any("closed" in row["words"] for row in chart.rows("event"))


def test_an_exit_that_is_refused_is_asked_for_again(built: Built, tmp_path: Path) -> None:
    """The market is closed for it (10018): it goes out at a later tick, without a new decision."""
    chart = Chart(built, tmp_path, InpMaxBars=2)
    chart.bars(2)
    assert len(chart.held) == 1
    chart.will(Answer(10018))
    chart.bars(1)
    assert chart.codes == [10009, 10018]
    ticket = chart.held[0].ticket
    chart.bars(1)
    assert ticket not in [each.ticket for each in chart.held]
    assert "deferred" in {row["action"] for row in chart.rows("event")}
    chart.expert.stop()


def test_an_order_that_is_only_placed_is_not_sent_twice(chart: Chart) -> None:
    chart.will(Placed())
    chart.bars(3)
    assert chart.codes == [10008]
    assert len(chart.held) == 1


def test_what_a_person_closes_is_not_opened_again_on_the_same_signal(chart: Chart) -> None:
    chart.bars(1)
    chart.close_by_hand()
    chart.bars(2)
    assert chart.held == ()
    assert "a person closed" in chart.rows("decision")[-1]["reason"]
    # A restart remembers.
    chart.expert.stop()
    chart.expert = chart.put_on()
    chart.bars(2)
    assert chart.held == ()


def test_a_restart_decides_no_bar_twice_and_keeps_the_days_loss(
    built: Built, tmp_path: Path
) -> None:
    """The costs of the first position are the day's loss, also for the program after it."""
    chart = Chart(built, tmp_path, InpMaxBars=1)
    chart.bars(2)
    assert len(chart.codes) == 2
    chart.expert.stop()
    chart.inputs["InpDailyLoss"] = 0.0001
    chart.expert = chart.put_on()
    chart.bars(2)
    decided = [row["bar_time"] for row in chart.rows("decision")]
    assert len(set(decided)) == len(decided) == 4
    assert "daily_loss" in {row["denied"] for row in chart.rows("order")}
    chart.expert.stop()


def test_a_halt_survives_a_restart_until_a_person_resumes(chart: Chart) -> None:
    folder = chart.desktop.common / "OnnxBridge"
    (folder / "HALT").touch()
    chart.bars(2)
    (folder / "HALT").unlink()
    assert chart.held == ()
    chart.expert.stop()
    chart.expert = chart.put_on()
    chart.bars(1)
    assert chart.held == ()
    assert {row["denied"] for row in chart.rows("order")} == {"state"}
    (folder / "RESUME_26001").touch()
    chart.bars(1)
    assert len(chart.held) == 1


def test_a_state_that_is_cut_off_halts_until_a_person_resumes(chart: Chart) -> None:
    """Nobody knows what was lost before, or whether a limit had halted it."""
    chart.bars(1)
    chart.expert.stop()
    (state,) = (chart.desktop.common / "OnnxBridge").glob("*.state")
    state.write_bytes(state.read_bytes()[:-20])
    chart.close_by_hand()
    chart.expert = chart.put_on()
    assert any("can't be read, so its limits are not known" in line for line in chart.expert.log)
    chart.bars(2)
    assert chart.held == ()
    assert {row["denied"] for row in chart.rows("order")} == {"", "state"}
    (chart.desktop.common / "OnnxBridge" / "RESUME_26001").touch()
    chart.bars(1)
    assert len(chart.held) == 1
