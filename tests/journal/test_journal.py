import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from journal_support import begin
from tests_support import record

from bridge.clock import ManualClock
from bridge.errors import ConfigError, JournalError
from bridge.journal.buffered import BufferedJournal
from bridge.journal.read import reading
from bridge.journal.write import DecisionRow, Journal
from bridge.mt5 import constants as mt5
from bridge.mt5.records import OrderSendResult, TradeDeal, TradeRequest
from bridge.mt5.request import Purpose, Request
from bridge.mt5.retcodes import Outcome
from bridge.risk.baselines import first_baselines

REQUEST = Request(
    purpose=Purpose.ENTRY, action=mt5.TRADE_ACTION_DEAL, symbol="EURUSD", magic=7, volume=0.1
)


def row(bar_time: int = 3600, **fields: Any) -> DecisionRow:
    plain: dict[str, Any] = {
        "magic": 7,
        "symbol": "EURUSD",
        "timeframe": "H1",
        "bar_time": bar_time,
        "model_sha256": "0" * 64,
        "input_sha256": "1" * 64,
        "outputs": (0.1, 0.2, 0.7),
        "long": 0.7,
        "short": 0.1,
        "problem": None,
        "action": "open",
        "side": "long",
        "stop_points": 100.0,
        "take_points": None,
        "reason": "because",
        "holding": None,
        "state": "active",
        "baselines": first_baselines(86_400.0, 1.0),
        "bid": 1.0,
        "ask": 1.1,
        "balance": 10_000.0,
        "equity": 10_000.0,
    }
    return DecisionRow(**(plain | fields))


class Said(NamedTuple):
    rule: str
    ok: bool


def journal_at(path: Path) -> Journal:
    journal = Journal(path, ManualClock(1000.0))
    begin(journal)
    return journal


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.sqlite3"
    answer = record(
        OrderSendResult,
        {
            "retcode": 10009,
            "deal": 5,
            "order": 6,
            "price": 1.1,
            "request": record(TradeRequest, {}),
        },
    )
    with journal_at(path) as journal:
        number = journal.decision(row(outputs=(0.1, math.nan, math.inf)))
        intent = journal.intent(number, REQUEST, [Said("spread", ok=True)])
        journal.result(intent, Outcome.DONE, "the request is executed", answer)
        journal.denied(number, None, [], "size")
        journal.deals([record(TradeDeal, {"ticket": 5, "profit": 1.5})])
        journal.deals([record(TradeDeal, {"ticket": 5, "profit": 2.5})])
        journal.event("halt", "enough")
        journal.end_run("done")
    with reading(path) as reader:
        (decision,) = reader.decisions_at(3600)
        sent, denied = reader.intents_of(decision["id"])
        assert math.isnan(decision["outputs"][1])
        assert math.isinf(decision["outputs"][2])
        assert sent["request"] == REQUEST.as_dict()
        assert sent["verdicts"] == [{"rule": "spread", "ok": True}]
        assert sent["result"]["outcome"] == "done"
        assert sent["result"]["answer"]["retcode"] == 10009
        assert sent["result"]["answer"]["request"]["symbol"] == ""
        assert (denied["denied"], denied["request"], denied["result"]) == ("size", None, None)
        # A deal is what it was when it was first seen.
        assert [deal.profit for deal in reader.deals()] == [1.5]
        assert [event["text"] for event in reader.rows("events")] == ["enough"]
        (run,) = reader.rows("runs")
        assert (run["mode"], run["ending"], run["ended_utc"]) == ("test", "done", 1000.0)


def test_a_bar_is_decided_once(tmp_path: Path) -> None:
    with journal_at(tmp_path / "journal.sqlite3") as journal:
        journal.decision(row())
        with pytest.raises(JournalError, match="UNIQUE"):
            journal.decision(row())
        journal.decision(row(bar_time=7200))


def test_a_journal_opened_again_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with journal_at(path) as journal:
        journal.decision(row())
    with journal_at(path) as journal:
        journal.decision(row(bar_time=7200))
    with reading(path) as reader:
        assert [each["run"] for each in reader.rows("decisions")] == [1, 2]
        assert reader.nearest_bar(6000) == 7200


def test_a_back_test_holds_rows_back_and_numbers_and_shows_them_all_the_same(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    known = []
    for first in (3600, 7200):  # the second run goes on in the same file
        with BufferedJournal(path, ManualClock(1000.0)) as journal:
            begin(journal)
            reader = journal.reader()
            number = journal.decision(row(first))
            intent = journal.intent(number, REQUEST, [Said("spread", ok=True)])
            journal.result(intent, Outcome.REJECTED, "no", None)
            journal.event("halt", "enough")
            known.append((number, intent))
            # Nothing of it is on the disk, and another process does not see it.
            with reading(path) as other:
                before = len(list(other.rows("decisions")))
                assert before == 2 * (len(known) - 1)
            (shown,) = reader.intents_of(number)
            assert (shown["id"], shown["result"]["outcome"]) == (intent, "rejected")
            with reading(path) as other:
                assert len(list(other.rows("decisions"))) == before + 1
            journal.decision(row(first + 60))
    with reading(path) as other:
        assert [each["id"] for each in other.rows("decisions")] == [1, 2, 3, 4]
        assert [(each["decision"], each["id"]) for each in other.rows("intents")] == known
        assert len(list(other.rows("events"))) == 2


def test_a_failed_write_leaves_no_half_row_and_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with journal_at(path) as journal:
        with pytest.raises(JournalError, match="can't be written"):
            journal.intent(999, REQUEST, [])
        journal.event("alive", "still")
    with reading(path) as reader:
        assert list(reader.rows("intents")) == []
        assert len(list(reader.rows("events"))) == 1


@pytest.mark.parametrize("content", [b"no database at all, but long enough" * 9, b""])
def test_another_file_is_no_journal(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is no journal"), reading(path):
        pass
    assert path.read_bytes() == content


def test_a_missing_journal_is_said_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no journal"), reading(tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()


# The order of things that reach the disk is watched from below Python and SQLite: a library that
# is loaded ahead of libc notes each sync in the file in which the child notes its own progress.
SPY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void note(const char *what) {
    const char *path = getenv("SYNC_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd >= 0) { if (write(fd, what, strlen(what)) < 0) _exit(9); close(fd); }
}
int fsync(int fd) { note("sync\n"); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { note("sync\n"); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
"""
CHILD = """
import os, sys
from pathlib import Path
sys.path[:0] = os.environ["TEST_PATH"].split(os.pathsep)
from test_journal_rows import REQUEST, journal_at, row

def note(text):
    with open(os.environ["SYNC_LOG"], "a") as log:
        log.write(text + chr(10))

with journal_at(Path(sys.argv[1])) as journal:
    number = journal.decision(row())
    note("intent")
    intent = journal.intent(number, REQUEST, [])
    note("send")
    journal.denied(number, None, [], "size")
    journal.event("kind", "text")
    note("end")
    os._exit(0)
"""


def test_an_intent_is_synced_before_the_send_and_nothing_else_is(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if not sys.platform.startswith("linux") or compiler is None:
        pytest.skip("watching the syncs needs Linux and a C compiler")
    (tmp_path / "spy.c").write_text(SPY)
    spy = tmp_path / "spy.so"
    build = [compiler, "-shared", "-fPIC", "-o", str(spy), str(tmp_path / "spy.c"), "-ldl"]
    subprocess.run(build, check=True)
    # The child takes its rows from this very file, under a name that can be imported.
    shutil.copy(__file__, tmp_path / "test_journal_rows.py")
    log = tmp_path / "log"
    environment = {
        **os.environ,
        "LD_PRELOAD": str(spy),
        "SYNC_LOG": str(log),
        "TEST_PATH": os.pathsep.join([str(tmp_path), *(str(path) for path in sys.path)]),
    }
    command = [sys.executable, "-c", CHILD, str(tmp_path / "journal.sqlite3")]
    subprocess.run(command, check=True, env=environment)
    seen = log.read_text().split()
    between = seen[seen.index("intent") + 1 : seen.index("send")]
    assert between == ["sync"]
    assert seen[seen.index("send") + 1 : seen.index("end")] == []


def test_rows_are_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with journal_at(path) as journal:
        journal.decision(row(holding={"ticket": 5, "side": "long"}))
    with reading(path) as reader:
        (decision,) = reader.rows("decisions")
        assert json.loads(json.dumps(decision)) == decision
        assert decision["holding"] == {"ticket": 5, "side": "long"}
