"""Start-up and recovery, one path: a fresh start is a recovery that finds nothing.

The journal says what was decided and what was about to be sent; the terminal says what happened.
"""

from collections.abc import Mapping
from typing import Any

from bridge.engine.standing import Standing
from bridge.engine.step import Stepper
from bridge.journal.read import JournalReader, Row
from bridge.journal.write import Journal
from bridge.mt5.records import TradeDeal
from bridge.mt5.retcodes import Outcome
from bridge.mt5.servertime import DAY
from bridge.mt5.sides import Side
from bridge.mt5.terminal import Terminal
from bridge.risk.baselines import Baselines, first_baselines
from bridge.risk.guard import TradingState
from bridge.strategy.decide import Action, Decision
from bridge.trade.reconcile import find_deal

# Events that set the trading state, and what each sets.
_STATES = {
    "halt": TradingState.HALTED,
    "unresolved": TradingState.REDUCING,
    "resume": TradingState.ACTIVE,
}
# A day back covers a request that was sent just before a server's midnight.
_SEARCH_BACK = DAY


def recalled_standing(
    reader: JournalReader, magic: int, symbol: str, *, server_time: int, equity: float
) -> Standing:
    """Return the standing that the journal remembers, or a first one.

    Args:
        reader: The journal.
        magic: Of the strategy.
        symbol: Of the strategy.
        server_time: Now, for a first standing.
        equity: Now, account currency, for a first standing.
    """
    last, event = reader.last_decision(magic, symbol), reader.last_event(magic, *_STATES)
    if last is None:
        return Standing(magic=magic, baselines=first_baselines(server_time, equity))
    deals = reader.deals()
    return Standing(
        magic=magic,
        baselines=Baselines(**last["baselines"]),
        state=_STATES[event["kind"]] if event else TradingState.ACTIVE,
        declined=_declined(reader, magic),
        balance=last["balance"],
        deals_since=max((deal.time for deal in deals), default=0),
        last_deal=max((deal.ticket for deal in deals), default=0),
    )


def _declined(reader: JournalReader, magic: int) -> Side | None:
    event = reader.last_event(magic, "declined", "accepted")
    return Side(event["text"]) if event and event["kind"] == "declined" else None


def recover(
    stepper: Stepper,
    reader: JournalReader,
    journal: Journal,
    terminal: Terminal,
    *,
    magic: int,
    symbol: str,
    is_certain: bool,
) -> None:
    """Find out what became of what was sent, read what happened meanwhile, finish what was begun.

    Args:
        stepper: Of the strategy, with its recalled standing.
        reader: The journal as it was left.
        journal: Where findings are written.
        terminal: Searched.
        magic: Of the strategy.
        symbol: Of the strategy.
        is_certain: Whether an order that the terminal does not show is certainly not out: the
            terminal lives in this process and died with it.

    Raises:
        TerminalError: The terminal does not answer.
    """
    now = terminal.symbol_info_tick(symbol).time
    deals = terminal.history_deals_get(0, now + DAY)
    for intent in reader.open_intents(magic, symbol):
        _settle(intent, reader, journal, deals, is_certain)
    stepper.lookout.look()
    last = reader.last_decision(magic, symbol)
    if last is not None and is_certain and _is_unfinished(last, reader.intents_of(last["id"])):
        stepper.finish(last["id"], int(last["bar_time"]), _decision(last))


def _settle(
    intent: Row,
    reader: JournalReader,
    journal: Journal,
    deals: tuple[TradeDeal, ...],
    is_certain: bool,
) -> None:
    """Write what became of an intent without a result."""
    magic = intent["request"]["magic"]
    sent_after = 0
    if intent["decision"] is not None:
        sent_after = next(reader.rows("decisions", "id = ?", intent["decision"]))["bar_time"]
    deal = find_deal(
        intent["request"], deals, known=_known(reader), since=sent_after - _SEARCH_BACK
    )
    if deal is not None:
        journal.result(intent["id"], Outcome.DONE, f"found: deal #{deal.ticket}", None)
    elif is_certain:
        journal.result(intent["id"], Outcome.REJECTED, ABSENT, None)
    else:
        words = "not found in the terminal: presumed absent"
        journal.result(intent["id"], Outcome.UNRESOLVED, words, None)
        journal.event("unresolved", f"no more entries: {words}", magic)


ABSENT = "never reached the terminal"


def _known(reader: JournalReader) -> set[int]:
    """Return the tickets of the deals that a result names."""
    known = set()
    for result in reader.rows("results"):
        if result["answer"] is not None:
            known.add(result["answer"]["deal"])
        elif result["words"].startswith("found: deal #"):
            known.add(int(result["words"].rpartition("#")[2]))
    return known


def _is_unfinished(last: Row, intents: list[Row]) -> bool:
    """Whether the last decision asked for more than the journal shows to have been tried."""
    tried = [intent for intent in intents if not _is_absent(intent)]
    if any(intent["denied"] or not _happened(intent) for intent in tried):
        return False
    done = {intent["purpose"] for intent in tried}
    wanted = {Action.OPEN: "entry", Action.REVERSE: "entry", Action.CLOSE: "exit"}
    action = Action(last["action"])
    return action is not Action.HOLD and wanted[action] not in done


def _is_absent(intent: Mapping[str, Any]) -> bool:
    return bool(intent["result"] and intent["result"]["words"] == ABSENT)


def _happened(intent: Mapping[str, Any]) -> bool:
    return bool(intent["result"] and intent["result"]["outcome"] in (Outcome.DONE, Outcome.PARTIAL))


def _decision(row: Row) -> Decision:
    return Decision(
        action=Action(row["action"]),
        side=None if row["side"] is None else Side(row["side"]),
        stop_points=row["stop_points"],
        take_points=row["take_points"],
        reason=row["reason"],
    )
