"""All checks together: their order, and that none keeps another from its answer."""

from pathlib import Path

from doctor.doctor_desk import Odd, Patient

from bridge.doctor.finding import Grade, exit_code
from bridge.errors import NotConnected
from bridge.mt5.records import TerminalInfo, Tick

ORDER = [
    "settings",
    "state folder",
    "disk space",
    "package",
    "terminal",
    "latency",
    "account",
    "account type",
    "margin mode",
    "AutoTrading",
    "Python API",
    "account trading",
    "expert trading",
    "broker profile",
    "symbol EURUSD",
    "sides mover",
    "history mover",
    "quote EURUSD",
    "clock EURUSD",
    "filling EURUSD",
    "stops mover",
    "volume mover",
    "model mover",
    "model age mover",
    "model hours mover",
    "positions mover",
    "halt file",
]


def test_all_is_well_on_a_good_day_and_the_order_is_kept(tmp_path: Path) -> None:
    findings = Patient(folder=tmp_path).examined()
    assert list(findings) == ORDER
    bad = {name: each for name, each in findings.items() if each.grade is not Grade.OK}
    # Mode live is told that the command has to say so, too; no profile was saved before.
    assert list(bad) == ["settings", "broker profile"]
    assert all(bool(each.todo) == (each.grade is not Grade.OK) for each in findings.values())
    assert exit_code(list(findings.values())) == 0


def test_what_is_the_symbols_is_asked_once_for_two_strategies(tmp_path: Path) -> None:
    patient = Patient(folder=tmp_path)
    settings = patient.settings()
    other = settings.strategy[0].model_copy(update={"name": "second", "magic": 8})
    both = settings.model_copy(update={"strategy": (*settings.strategy, other)})
    names = list(patient.examined(both))
    assert [name for name in names if "EURUSD" in name] == [
        "symbol EURUSD",
        "quote EURUSD",
        "clock EURUSD",
        "filling EURUSD",
    ]
    at = names.index("history mover")
    assert names[at - 2 : at + 2] == [
        "sides mover",
        "sides second",
        "history mover",
        "history second",
    ]


class Defective(Odd):
    """A terminal with a defect in one verb."""

    def terminal_info(self) -> TerminalInfo:
        raise ZeroDivisionError("a defect")


class Lost(Odd):
    """A terminal that is lost when it is asked for a tick."""

    def symbol_info_tick(self, symbol: str) -> Tick:
        raise NotConnected("symbol_info_tick", -10004, "No IPC connection")


def test_a_defect_is_one_finding_and_no_traceback(tmp_path: Path) -> None:
    findings = Patient(folder=tmp_path, kind=Defective).examined()
    for name in ("terminal", "latency", "AutoTrading"):
        assert findings[name].grade is Grade.FAIL
        assert findings[name].found == "unexpected ZeroDivisionError: a defect"
        assert findings[name].exit_code == 1
    assert findings["account"].grade is Grade.OK
    assert findings["symbol EURUSD"].grade is Grade.OK


def test_a_connection_that_is_lost_on_the_way_is_a_fault_of_the_terminal(tmp_path: Path) -> None:
    findings = Patient(folder=tmp_path, kind=Lost).examined()
    assert findings["history mover"].grade is Grade.OK
    found = findings["quote EURUSD"]
    assert (found.grade, found.exit_code) == (Grade.FAIL, 3)
    assert found.found == "symbol_info_tick failed with -10004: No IPC connection"
    assert findings["model mover"].grade is Grade.OK
