"""A tape: what a paper terminal answered, recorded, without what is private, and replayed."""

import gzip
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engine.test_crew import DIP, decided, playing
from terminal.faults_desk import CALLS, EVER, Desk, said
from terminal.paper_desk import Play

from bridge.clock import ManualClock
from bridge.errors import ConfigError, DataError, NotConnected, TerminalError
from bridge.mt5 import constants as mt5
from bridge.mt5.records import (
    AccountInfo,
    OrderCheckResult,
    OrderSendResult,
    Record,
    SymbolInfo,
    TerminalInfo,
    TradeDeal,
    TradeOrder,
    TradePosition,
    TradeRequest,
)
from bridge.mt5.terminal import Terminal
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.faults.kinds import Kind, When
from bridge.terminal.faults.schedule import Fault
from bridge.terminal.tape.code import decode, encode
from bridge.terminal.tape.record import Recorder, TapeWriter
from bridge.terminal.tape.redact import FIRST, FIRST_LOGIN, Redaction
from bridge.terminal.tape.replay import Tape

SECRET = "Rosalind Franklin"  # noqa: S105  a name that no tape may show
LOGIN = 90_817_263


def traded() -> Play:
    """Return a terminal with closed and open positions, a waiting order and comments."""
    play = Desk().play
    first = play.buy(sl=1.05, comment=f"paid by {SECRET}").order
    play.buy(comment="mt5-onnx")
    play.bar(6)
    play.close(first)
    play.place("buy limit", 1.09)
    return play


def true(play: Play) -> Terminal:
    return ModuleTerminal(play.terminal)


def writer(path: Path, **kept: Any) -> TapeWriter:
    return TapeWriter(path, ManualClock(1_700_000_000.0), Redaction(**kept), about="a test")


class Private:
    """A terminal whose account and paths are somebody's."""

    def __init__(self, inner: Terminal) -> None:
        self._inner = inner

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._inner, verb)

    def account_info(self) -> AccountInfo:
        mine = {"login": LOGIN, "name": SECRET, "server": "Cavendish-Live", "company": "Cavendish"}
        return AccountInfo({**self._inner.account_info()._asdict(), **mine}.values())

    def terminal_info(self) -> TerminalInfo:
        mine = {"data_path": rf"C:\Users\{SECRET}\AppData", "name": "Cavendish MT5"}
        return TerminalInfo({**self._inner.terminal_info()._asdict(), **mine}.values())

    def symbol_info(self, symbol: str) -> Any:
        raise NotConnected(
            "symbol_info",
            -10003,
            f"account {LOGIN} of {SECRET} at Cavendish-Live is not 81726354, see "
            rf"C:\Users\{SECRET}\AppData\Roaming; the position is #77665544",
        )


@pytest.fixture(params=["t.jsonl", "t.jsonl.gz"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / str(request.param)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return map(json.loads, raw.decode("ascii").splitlines())


# What was answered


def test_a_tape_replays_every_verb_as_it_was_answered(path: Path) -> None:
    terminal = true(traded())
    redaction, answers = Redaction(), {}
    with writer(path) as tape:
        recorder = Recorder(terminal, tape)
        for verb, call in CALLS.items():
            answers[verb] = said(call(recorder))
    replayed = Tape(path)
    for verb, call in CALLS.items():
        assert said(call(replayed)) == redaction.of(answers[verb]), verb
    assert (replayed.mismatch, replayed.left) == (None, ())
    assert [each.verb for each in replayed.calls] == list(CALLS)


def test_recording_changes_no_answer(path: Path) -> None:
    plain, recorded = true(traded()), true(traded())
    with writer(path) as tape:
        recorder = Recorder(recorded, tape)
        for verb, call in CALLS.items():
            assert said(call(recorder)) == said(call(plain)), verb


def test_replayed_bars_have_the_dtype_the_bits_and_the_seal(path: Path) -> None:
    terminal = true(traded())
    with writer(path) as tape:
        rates = CALLS["copy_rates_from_pos"](Recorder(terminal, tape))
    replayed = CALLS["copy_rates_from_pos"](Tape(path))
    assert replayed.dtype == rates.dtype
    assert replayed.tobytes() == rates.tobytes()
    assert not replayed.flags.writeable


def test_errors_and_lost_answers_come_back_as_they_were(path: Path) -> None:
    desk = Desk(
        Fault(verb="order_send", kind=Kind.NULL, when=When.AFTER),
        Fault(verb="positions_get", kind=Kind.DISCONNECT),
    )
    asked: list[Callable[[Terminal], Any]] = [
        CALLS["order_send"],
        CALLS["positions_get"],
        lambda of: of.symbol_info("USDJPY"),
    ]
    with writer(path) as tape:
        recorder = Recorder(desk.faulty, tape)
        recorded = [outcome(call, recorder) for call in asked]
        assert tape.failed == sum(isinstance(each, tuple) for each in recorded) == 2
    replayed = Tape(path)
    assert [outcome(call, replayed) for call in asked] == recorded
    assert recorded[0] is None


def outcome(call: Callable[[Terminal], Any], terminal: Terminal) -> Any:
    try:
        return call(terminal)
    except TerminalError as error:
        return type(error), error.call, error.code, error.text


@pytest.mark.parametrize("value", [math.inf, -math.inf, 0.1 + 0.2, 5e-324, 1.0, 1, True, None, ""])
def test_values_come_back_with_their_type(value: Any) -> None:
    text = json.dumps(encode((value,)), allow_nan=False)
    (back,) = decode(json.loads(text))
    assert (type(back), back) == (type(value), value)


def test_no_number_comes_back_as_none() -> None:
    assert math.isnan(decode(json.loads(json.dumps(encode(math.nan), allow_nan=False))))


# What is private


def test_nothing_private_is_on_a_tape(path: Path) -> None:
    with writer(path) as tape:
        recorder = Recorder(Private(true(traded())), tape)
        for verb, call in CALLS.items():
            outcome(call, recorder)
            assert verb in tape.calls
    text = "\n".join(json.dumps(line) for line in lines(path))
    for secret in (SECRET, "Rosalind", str(LOGIN), "Cavendish", "81726354", "77665544", "Users"):
        assert secret not in text, secret
    assert "account <login> of <name> at <server> is not <number>, see <path>; " in text
    replayed = Tape(path, any_order=True)
    account = replayed.account_info()
    assert (account.login, account.name, account.server) == (FIRST_LOGIN, "", "redacted")
    assert account.balance > 0.0
    assert replayed.terminal_info().data_path == ""


def test_the_server_stays_when_it_is_asked_for(path: Path) -> None:
    with writer(path, keep_server=True) as tape:
        recorder = Recorder(Private(true(traded())), tape)
        recorder.account_info()
        with pytest.raises(NotConnected):
            recorder.symbol_info("EURUSD")
    replayed = Tape(path)
    assert replayed.account_info().server == "Cavendish-Live"
    with pytest.raises(NotConnected, match=r"of <name> at Cavendish-Live is not <number>"):
        replayed.symbol_info("EURUSD")
    assert "server" not in replayed.header["redacted"]


def test_secrets_that_are_known_beforehand_are_in_no_error(path: Path) -> None:
    known = {"hunter2": "<password>", "4711": "<login>", "": "<nothing>"}
    said = Redaction(secrets=known).text("login 4711 with hunter2 failed (14711, code -10005)")
    assert said == "login <login> with <password> failed (14711, code -10005)"


def test_relations_between_tickets_survive(path: Path) -> None:
    terminal = true(traded())
    with writer(path) as tape:
        recorder = Recorder(terminal, tape)
        recorder.positions_get()
        recorder.history_orders_get(0, EVER)
        recorder.history_deals_get(0, EVER)
    replayed = Tape(path)
    positions = replayed.positions_get()
    orders, deals = replayed.history_orders_get(0, EVER), replayed.history_deals_get(0, EVER)
    as_they_are = terminal.history_deals_get(0, EVER)
    (held,) = terminal.positions_get()
    assert positions[0].ticket == positions[0].identifier == FIRST != held.ticket
    trades = [each for each in deals if each.type != mt5.DEAL_TYPE_BALANCE]
    assert {each.order for each in trades} == {each.ticket for each in orders}
    assert [each.ticket for each in deals] == sorted(each.ticket for each in deals)
    assert shape(deals) == shape(as_they_are)
    assert [each.order for each in deals if not each.order] == [0]  # the deposit has none


def shape(deals: tuple[TradeDeal, ...]) -> list[list[int]]:
    """Return which deals share an order and a position."""
    names = [(each.order, each.position_id) for each in deals]
    return [
        [names.index(n) for n in names if n[part] == each[part]]
        for each in names
        for part in (0, 1)
    ]


def test_comments_of_ours_and_the_servers_stay(path: Path) -> None:
    redaction = Redaction(comments=["my own"])
    terminal = true(traded())
    deal = terminal.history_deals_get(0, EVER)[1]
    assert deal.comment == f"paid by {SECRET}"[:31]
    for written, kept in {
        deal.comment: "",
        "my own": "my own",
        "mt5-onnx": "mt5-onnx",
        "[sl 1.05000]": "[sl 1.05000]",
        f"[sl {SECRET}]": "",
    }.items():
        record = type(deal)({**deal._asdict(), "comment": written}.values())
        assert redaction.of(record).comment == kept


def test_a_request_is_told_by_the_tickets_that_the_tape_shows(path: Path) -> None:
    """Who replays knows only those; the comment may be redacted and is not compared."""
    terminal = true(traded())
    (held,) = terminal.positions_get()
    with writer(path) as tape:
        recorder = Recorder(terminal, tape)
        recorder.positions_get()
        answer = recorder.order_send(closing(held, comment=SECRET))
        assert answer is not None
        assert answer.retcode == mt5.TRADE_RETCODE_DONE
    assert SECRET not in str(list(lines(path)))
    replayed = Tape(path)
    (shown,) = replayed.positions_get()
    again = replayed.order_send(closing(shown, comment="anything"))
    assert again is not None
    assert (again.retcode, again.request.position) == (mt5.TRADE_RETCODE_DONE, shown.ticket)


def closing(position: Any, **fields: Any) -> dict[str, Any]:
    return {
        "action": mt5.TRADE_ACTION_DEAL,
        "symbol": position.symbol,
        "volume": position.volume,
        "type": mt5.ORDER_TYPE_SELL,
        "position": position.ticket,
        "magic": position.magic,
        **fields,
    }


# Record, field -> what is there, what the tape shows, after a first order 500 and a first deal 800.
FIELDS = [
    (TradeOrder, "position_id", 502, FIRST + 2),
    (TradeOrder, "position_by_id", 499, FIRST - 1),
    (TradeOrder, "external_id", "E-77", "x1"),
    (TradePosition, "identifier", 501, FIRST + 1),
    (TradePosition, "external_id", "", ""),
    (TradeDeal, "ticket", 803, FIRST + 3),
    (TradeDeal, "order", 503, FIRST + 3),
    (TradeDeal, "order", 0, 0),
    (TradeDeal, "profit", 12.5, 12.5),
    (TradeRequest, "order", 500, FIRST),
    (TradeRequest, "position_by", 501, FIRST + 1),
    (TradeRequest, "magic", 123_456, 123_456),
    (OrderSendResult, "deal", 801, FIRST + 1),
    (OrderSendResult, "order", 0, 0),
    (OrderSendResult, "comment", "order #12345678 of 1.123456", "order #<number> of 1.123456"),
    (OrderCheckResult, "comment", r"see C:\O'Neil\x, please", "see <path>, please"),
    (OrderCheckResult, "comment", "no/path, but /opt/jane doe/x", "no/path, but <path>"),
    (TerminalInfo, "path", "/opt/mt5", ""),
    (TerminalInfo, "community_balance", 3.5, 0.0),
    (SymbolInfo, "page", "https://cavendish.example", ""),
    (SymbolInfo, "path", r"Forex\EURUSD", r"Forex\EURUSD"),
    (AccountInfo, "equity", 99.0, 99.0),
]


def filled(kind: type[Any], fields: dict[str, Any]) -> Any:
    """Return a record whose other fields are 0 or empty."""
    types = kind.__annotations__.items()
    usual = {name: filled(of, {}) if issubclass(of, Record) else of() for name, of in types}
    return kind({**usual, **fields}.values())


@pytest.mark.parametrize(("kind", "field", "value", "shown"), FIELDS)
def test_each_field_is_changed_as_the_table_says(
    kind: type[Any], field: str, value: Any, shown: Any
) -> None:
    redaction = Redaction()
    redaction.of(filled(TradeDeal, {"ticket": 800, "order": 500}))
    assert getattr(redaction.of(filled(kind, {field: value})), field) == shown


@pytest.mark.parametrize("kind", [OrderCheckResult, OrderSendResult])
def test_a_request_inside_an_answer_is_changed_too(kind: type[Any]) -> None:
    request = filled(TradeRequest, {"position": 500, "comment": SECRET})
    shown = Redaction().of(filled(kind, {"request": request})).request
    assert (shown.position, shown.comment) == (FIRST, "")


def test_every_field_of_the_table_is_one_of_its_record() -> None:
    from bridge.terminal.tape.redact import _CHANGES

    records = {each.__name__: each for each in Record.__subclasses__()}
    for kind, changes in _CHANGES.items():
        assert set(changes) <= set(records[kind].__annotations__), kind


# What does not fit


def test_another_call_than_the_recorded_one_names_line_and_call(path: Path) -> None:
    with writer(path) as tape:
        recorder = Recorder(true(traded()), tape)
        recorder.account_info()
        recorder.symbol_info_tick("EURUSD")
    replayed = Tape(path)
    replayed.account_info()
    told = (
        r"expects symbol_info_tick\('EURUSD'\) at line 3, and was asked symbol_info_tick\('EUR'\)"
    )
    with pytest.raises(TerminalError, match=told):
        replayed.symbol_info_tick("EUR")
    with pytest.raises(TerminalError, match=told):  # from here on it is another program
        replayed.symbol_info_tick("EURUSD")
    assert replayed.mismatch
    assert len(replayed.left) == 1
    end = Tape(path)
    end.account_info()
    end.symbol_info_tick("EURUSD")
    with pytest.raises(TerminalError, match=r"ends at line 3, before orders_get\(None\)"):
        end.orders_get()


def test_in_any_order_each_answer_is_given_once(path: Path) -> None:
    play = traded()
    with writer(path) as tape:
        recorder = Recorder(true(play), tape)
        first = recorder.symbol_info_tick("EURUSD")
        recorder.account_info()
        play.bar(7)
        second = recorder.symbol_info_tick("EURUSD")
    assert first != second
    replayed = Tape(path, any_order=True)
    assert [replayed.symbol_info_tick("EURUSD") for _ in range(2)] == [first, second]
    replayed.account_info()
    with pytest.raises(TerminalError, match=r"no more answer to symbol_info_tick\('EURUSD'\)"):
        replayed.symbol_info_tick("EURUSD")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is no tape of version 1"),
        ("[]\n", "is no tape of version 1"),
        ('{"format":"mt5-onnx-tape","version":2}\n', "is no tape of version 1"),
        ("{HEAD}\n{", "line 2 of .* is no JSON"),
        ("{HEAD}\n7", "line 2 of the tape .* is not of the format"),
        (
            '{HEAD}\n{"n":1,"at":0,"verb":"x","args":[],"answer":{"kind":"Os","fields":{}}}',
            "line 2",
        ),
        ('{HEAD}\n{"n":1,"at":0,"verb":"x","args":[],"answer":{"pickle":"x"}}', "line 2"),
        ("\u00e9", "can't be read"),
    ],
)
def test_a_file_that_is_no_tape_is_refused_in_a_sentence(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "t.jsonl"
    head = '{"format":"mt5-onnx-tape","version":1}'
    path.write_text(text.replace("{HEAD}", head), encoding="utf-8")
    with pytest.raises(DataError, match=told):
        Tape(path)


def test_a_tape_that_was_cut_off_or_is_absent_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    with writer(path) as tape:
        Recorder(true(traded()), tape).account_info()
    path.write_bytes(path.read_bytes()[:-20])
    for bad in (path, tmp_path / "none.jsonl"):
        with pytest.raises(DataError, match="can't be read"):
            Tape(bad)


def test_nothing_is_overwritten(path: Path) -> None:
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="is there already"):
        writer(path)
    assert path.read_text(encoding="utf-8") == "mine"
    with pytest.raises(ConfigError, match="can't be written"):
        writer(path.parent / "no" / "folder.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_disk_ends_the_tape_and_not_the_run(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with writer(path) as tape:
        tape._file.close()
        tape._file = open("/dev/full", "w", buffering=1, encoding="ascii")  # noqa: SIM115
        recorder = Recorder(true(traded()), tape)
        assert recorder.account_info().balance > 0.0
        assert recorder.symbol_info("EURUSD").name == "EURUSD"
        assert isinstance(tape.fault, OSError)


# A bug report


def test_a_run_is_replayed_from_its_tape_decision_for_decision(path: Path) -> None:
    """The orders of the second run are on the tape, too; its own terminal only tells the time."""
    made, again = path.parent / "made", path.parent / "again"
    for folder in (made, again):
        folder.mkdir()
    with (
        writer(path) as tape,
        playing(made, DIP, seam=lambda of: Recorder(ModuleTerminal(of), tape)) as run,
    ):
        run.play()
    assert tape.calls["order_send"] > 0
    replayed = Tape(path)
    with playing(again, DIP, seam=lambda of: replayed) as run:
        run.play()
        assert run.paper.positions_total() == 0  # nothing was sent to it
    assert (replayed.mismatch, replayed.left) == (None, ())
    assert told(again) == told(made)


def told(folder: Path) -> list[tuple[Any, ...]]:
    """Return what was decided of each bar, why, and at which equity."""
    rows = decided(folder)
    assert {row["action"] for row in rows} >= {"open", "hold"}
    return [(row["bar_time"], row["action"], row["reason"], row["equity"]) for row in rows]
