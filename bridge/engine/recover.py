"""Start-up and recovery, one path: a fresh start is a recovery that finds nothing.

The journal says what was decided and what was about to be sent; the terminal says what happened.
"""

import json
from collections.abc import Mapping
from typing import Any

from bridge.clock import Clock
from bridge.engine.standing import Held, Standing
from bridge.engine.step import Stepper
from bridge.journal.read import JournalReader, Row
from bridge.journal.write import Journal
from bridge.mt5.records import TradeDeal
from bridge.mt5.retcodes import Outcome
from bridge.mt5.servertime import DAY
from bridge.mt5.sides import BY_ORDER_TYPE, Side
from bridge.mt5.terminal import Terminal
from bridge.risk.baselines import Baselines, first_baselines
from bridge.risk.guard import TradingState
from bridge.strategy.decide import Action, Decision
from bridge.trade.reconcile import find_deal

# Events that set the trading state, and what each sets.
_STATES = {
    "halt": TradingState.HALTED,
    "unresolved": TradingState.REDUCING,
    "adopted": TradingState.REDUCING,
    "resume": TradingState.ACTIVE,
}
# A week ahead of the symbol's newest tick covers deals of a weekend.
_SEARCH_AHEAD = 7 * DAY
# Seconds between two searches for an order.
_PAUSE = 0.5


class Patience:
    """How long an order is searched for.

    Args:
        clock: Waited on.
        seconds: Altogether, whatever the number of orders.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._until = clock.now() + seconds

    def is_over(self) -> bool:
        """Wait a moment for the next search; whether there is none."""
        if self._clock.now() >= self._until:
            return True
        self._clock.wait_until(self._clock.now() + _PAUSE)
        return False


def recalled_standing(
    reader: JournalReader,
    magic: int,
    symbol: str,
    *,
    server_time: int,
    equity: float,
    deals_since: int = 0,
) -> Standing:
    """Return the standing that the journal remembers, or a first one.

    Args:
        reader: The journal.
        magic: Of the strategy.
        symbol: Of the strategy.
        server_time: Now, for a first standing.
        equity: Now, account currency, for a first standing.
        deals_since: Server time from which deals are read, where the journal has none.
    """
    last, event = reader.last_decision(magic, symbol), reader.last_event(magic, *_STATES)
    deals = reader.deals()
    ours = _sent(reader, deals, magic, symbol)
    return Standing(
        magic=magic,
        baselines=_baselines(reader, last, magic) or first_baselines(server_time, equity),
        state=_STATES[event["kind"]] if event else TradingState.ACTIVE,
        declined=_declined(reader, magic),
        positions=_held(deals, ours),
        sent=ours,
        awaited=_awaited(reader, deals, magic, symbol),
        balance=last["balance"] if last else None,
        deals_since=max((deal.time for deal in deals), default=deals_since),
        last_deal=max((deal.ticket for deal in deals), default=0),
    )


def _baselines(reader: JournalReader, last: Row | None, magic: int) -> Baselines | None:
    """Return the baselines written last, with a decision or by themselves."""
    event = reader.last_event(magic, "baselines")
    if event is not None and (last is None or event["at_utc"] >= last["at_utc"]):
        return Baselines(**json.loads(event["text"]))
    return Baselines(**last["baselines"]) if last else None


def _sent(reader: JournalReader, deals: tuple[TradeDeal, ...], magic: int, symbol: str) -> set[int]:
    """Return the orders of the strategy, and the positions of its deals."""
    orders = {row["answer"]["order"] for row in reader.rows("results") if row["answer"] is not None}
    positions = {deal.position_id for deal in deals if (deal.magic, deal.symbol) == (magic, symbol)}
    return (orders | positions) - {0}


def _awaited(
    reader: JournalReader, deals: tuple[TradeDeal, ...], magic: int, symbol: str
) -> set[int]:
    """Return the entries that the server took, and of which no deal is known."""
    entries = {
        row["id"]
        for row in reader.rows("intents", "purpose = 'entry' AND denied IS NULL")
        if (row["request"]["magic"], row["request"]["symbol"]) == (magic, symbol)
    }
    taken = reader.rows("results", "outcome IN ('done', 'partial', 'placed')")
    orders = {row["answer"]["order"] for row in taken if row["answer"] and row["intent"] in entries}
    return orders - {deal.order for deal in deals}


def _held(deals: tuple[TradeDeal, ...], ours: set[int]) -> tuple[Held, ...]:
    """Return the positions that were open when the journal was last written, by its deals."""
    lots: dict[int, float] = {}
    for deal in deals:
        if deal.position_id in ours and deal.type in BY_ORDER_TYPE:
            signed = BY_ORDER_TYPE[deal.type].sign * deal.volume
            lots[deal.position_id] = round(lots.get(deal.position_id, 0.0) + signed, 8)
    return tuple(
        Held(
            identifier=number,
            ticket=number,
            side=Side.LONG if signed > 0 else Side.SHORT,
            volume=abs(signed),
            sl=None,
            tp=None,
        )
        for number, signed in lots.items()
        if signed
    )


def _declined(reader: JournalReader, magic: int) -> Side | None:
    event = reader.last_event(magic, "declined", "accepted")
    return Side(event["text"]) if event and event["kind"] == "declined" else None


def settle_intents(
    stepper: Stepper,
    reader: JournalReader,
    journal: Journal,
    terminal: Terminal,
    patience: Patience | None,
) -> None:
    """Find out what became of what was sent, or was about to be, and has no result.

    Args:
        stepper: Of the strategy, with its recalled standing.
        reader: The journal as it was left.
        journal: Where findings are written.
        terminal: Searched.
        patience: How long to search for an order before it is presumed absent. None where an order
            that the terminal does not show is certainly not out: such a terminal lives in this
            process and died with it.

    Raises:
        TerminalError: The terminal does not answer.
    """
    for intent in reader.open_intents(stepper.magic, stepper.symbol):
        deal = _search(intent, reader, terminal, patience)
        _settle(intent, deal, journal, is_certain=patience is None)
        if deal is not None:
            stepper.standing.sent |= {deal.order, deal.position_id}


def finish_interrupted(stepper: Stepper, reader: JournalReader) -> None:
    """Carry out the last decision, where it is certain that a crash came before its orders.

    Raises:
        TerminalError: The terminal does not answer.
    """
    last = reader.last_decision(stepper.magic, stepper.symbol)
    if last is not None and _is_unfinished(last, reader.intents_of(last["id"])):
        stepper.finish(last["id"], int(last["bar_time"]), _decision(last))


def _search(
    intent: Row, reader: JournalReader, terminal: Terminal, patience: Patience | None
) -> TradeDeal | None:
    """Return the deal behind an intent without a result, or None once patience is over."""
    # Server time is within 14 hours of UTC.
    since, symbol = int(intent["at_utc"]) - DAY, intent["request"]["symbol"]
    known = _known(reader)
    while True:
        # The end lies a day ahead: fresh deals carry the server's time, which no tick has yet.
        until = terminal.symbol_info_tick(symbol).time + _SEARCH_AHEAD
        deals = terminal.history_deals_get(since, until)
        deal = find_deal(intent["request"], deals, known=known, since=since)
        if deal is not None or patience is None or patience.is_over():
            return deal


def _settle(intent: Row, deal: TradeDeal | None, journal: Journal, *, is_certain: bool) -> None:
    """Write what became of an intent without a result."""
    if deal is not None:
        journal.result(intent["id"], Outcome.DONE, f"found: deal #{deal.ticket}", None)
    elif is_certain:
        journal.result(intent["id"], Outcome.REJECTED, ABSENT, None)
    else:
        words = "the terminal does not show the order: presumed absent"
        journal.result(intent["id"], Outcome.UNRESOLVED, words, None)
        journal.event(
            "absent",
            f"{words}; should it show up later, it is taken over and entries end",
            intent["request"]["magic"],
        )


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
