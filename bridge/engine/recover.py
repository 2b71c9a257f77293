"""Start-up and recovery, one path: a fresh start is a recovery that finds nothing.

The journal says what was decided and what was about to be sent; the terminal says what happened.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.engine.settle import ABSENT, deal_of, known_deals
from bridge.engine.standing import ENTRY, Held, Levels, Refusal, Standing
from bridge.engine.step import Stepper
from bridge.journal.read import JournalReader, Row
from bridge.mt5.constants import DEAL_ENTRY_IN
from bridge.mt5.records import TradeDeal
from bridge.mt5.retcodes import Outcome
from bridge.mt5.sides import BY_ORDER_TYPE, Side
from bridge.risk.baselines import Baselines, first_baselines
from bridge.strategy.decide import Action, Decision


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
    last = reader.last_decision(magic, symbol)
    deals = reader.deals()
    ours, lots = _sent(reader, deals, magic, symbol), _lots(reader, deals, magic, symbol)
    levels = _levels(reader, deals, magic, symbol)
    newest = max((deal.ticket for deal in deals), default=0)
    return Standing(
        magic=magic,
        baselines=_baselines(reader, last, magic) or first_baselines(server_time, equity),
        halted=_stands(reader, magic, "halt"),
        adopted=_stands(reader, magic, "adopted"),
        unresolved=_unresolved(reader, magic, symbol),
        is_open=bool(reader.open_intents(magic, symbol)),
        declined=_declined(reader, magic),
        positions=_held(lots, levels),
        lots={number: signed for number, signed in lots.items() if signed},
        gone={number for number, signed in lots.items() if not signed},
        sent=ours,
        awaited=_awaited(reader, deals, magic, symbol),
        unread={ticket for ticket in known_deals(reader, 0.0) if ticket > newest},
        balance=last["balance"] if last else None,
        deals_since=max((deal.time for deal in deals), default=deals_since),
        last_deal=newest,
        levels=levels,
        stops=_stops(reader, deals, magic, symbol),
        reduced=_reduced(deals, ours),
        closing=_closing(reader, magic),
    )


def _closing(reader: JournalReader, magic: int) -> dict[int, Refusal]:
    """Return the exits that were put off; those of positions that are gone are dropped later."""
    rows = reader.rows("events", "magic = ? AND kind = 'deferred'", magic)
    return {_ticket_in(row["text"]): Refusal(0, 0.0, 0) for row in rows}


def _ticket_in(text: str) -> int:
    """Return the position that an event tells of."""
    return int(text.partition("#")[2].partition(" ")[0])


def _stands(reader: JournalReader, magic: int, kind: str) -> bool:
    """Whether an event of ``kind`` has not been answered by a person's resume."""
    event = reader.last_event(magic, kind, "resume")
    return event is not None and event["kind"] == kind


def _unresolved(reader: JournalReader, magic: int, symbol: str) -> frozenset[int]:
    """Return the tickets of orders of unknown end; an entry that waits is awaited instead."""
    found = [row for row in reader.open_intents(magic, symbol) if row["result"] is not None]
    tickets = [row["request"].get("position", ENTRY) for row in found]
    return frozenset(
        ticket
        for ticket, row in zip(tickets, found, strict=True)
        if ticket != ENTRY or row["result"]["outcome"] == Outcome.UNRESOLVED
    )


def _moved_by_hand(reader: JournalReader, magic: int) -> set[int]:
    """Return the positions whose levels a person has moved: they are the person's."""
    return {
        _ticket_in(row["text"])
        for row in reader.rows("events", "magic = ? AND kind = 'human'", magic)
        if "was moved" in row["text"]
    }


def _stops(
    reader: JournalReader, deals: tuple[TradeDeal, ...], magic: int, symbol: str
) -> dict[int, float]:
    """Return the stop loss that each entry asked for, but of positions that a person has moved."""
    moved = _moved_by_hand(reader, magic)
    asked = _asked(reader, magic, symbol, "purpose = 'entry'")
    opened = {deal.ticket: deal.position_id for deal in deals}
    stops = {}
    for row in reader.rows("results"):
        if row["intent"] in asked:
            order = row["answer"]["order"] if row["answer"] else opened.get(deal_of(row), 0)
            stops[order] = asked[row["intent"]].get("sl", 0.0)
    return {order: sl for order, sl in stops.items() if order not in moved}


def _reduced(deals: tuple[TradeDeal, ...], ours: set[int]) -> set[int]:
    return {deal.position_id for deal in deals if deal.position_id in ours and deal.entry}


def _baselines(reader: JournalReader, last: Row | None, magic: int) -> Baselines | None:
    """Return the baselines written last, with a decision or by themselves."""
    event = reader.last_event(magic, "baselines")
    if event is not None and (last is None or event["at_utc"] >= last["at_utc"]):
        return Baselines(**json.loads(event["text"]))
    return Baselines(**last["baselines"]) if last else None


def _sent(reader: JournalReader, deals: tuple[TradeDeal, ...], magic: int, symbol: str) -> set[int]:
    """Return the orders that are known to be the strategy's, and the positions of their deals."""
    asked, orders = _asked(reader, magic, symbol), {deal.ticket: deal.order for deal in deals}
    sent = {
        _ticket_in(row["text"])
        for row in reader.rows("events", "magic = ? AND kind = 'adopted'", magic)
    }
    for row in reader.rows("results"):
        if row["intent"] in asked:
            sent.add(row["answer"]["order"] if row["answer"] else orders.get(deal_of(row), 0))
    return (sent | {deal.position_id for deal in deals if deal.order in sent}) - {0}


def _asked(reader: JournalReader, magic: int, symbol: str, where: str = "1") -> dict[int, Row]:
    """Return what the strategy has sent or was about to send: number of the intent -> request."""
    return {
        row["id"]: row["request"]
        for row in reader.rows("intents", f"denied IS NULL AND {where}")
        if (row["request"]["magic"], row["request"]["symbol"]) == (magic, symbol)
    }


def _awaited(
    reader: JournalReader, deals: tuple[TradeDeal, ...], magic: int, symbol: str
) -> set[int]:
    """Return the entries that the server took, and of which no deal is known."""
    entries = _asked(reader, magic, symbol, "purpose = 'entry'")
    taken = reader.rows("results", "outcome IN ('done', 'partial', 'placed')")
    orders = {row["answer"]["order"] for row in taken if row["answer"] and row["intent"] in entries}
    return orders - {deal.order for deal in deals} - _given_up(reader, magic)


def _given_up(reader: JournalReader, magic: int) -> set[int]:
    """Return the positions and orders that a person has given up."""
    rows = reader.rows("events", "magic = ? AND kind = 'given_up'", magic)
    return {_ticket_in(row["text"]) for row in rows}


def _lots(
    reader: JournalReader, deals: tuple[TradeDeal, ...], magic: int, symbol: str
) -> dict[int, float]:
    """Return the lots of the strategy's positions by the journal's deals; 0.0 is closed."""
    lots: dict[int, float] = {}
    for deal in (each for each in deals if each.type in BY_ORDER_TYPE):
        is_opening = deal.entry == DEAL_ENTRY_IN and (deal.magic, deal.symbol) == (magic, symbol)
        if is_opening or deal.position_id in lots:
            signed = BY_ORDER_TYPE[deal.type].sign * deal.volume
            before = lots.get(deal.position_id, signed)
            left = round(lots.get(deal.position_id, 0.0) + signed, 8)
            lots[deal.position_id] = left if left * before > 0.0 else 0.0
    return lots | dict.fromkeys(lots.keys() & _given_up(reader, magic), 0.0)


def _held(lots: Mapping[int, float], levels: Mapping[int, Sequence[Levels]]) -> tuple[Held, ...]:
    """Return the positions that were open when the journal was last written."""
    return tuple(
        Held(
            identifier=number,
            ticket=number,
            side=Side.LONG if signed > 0 else Side.SHORT,
            volume=abs(signed),
            sl=None,
            tp=None,
        ).leveled(levels.get(number, ()))
        for number, signed in lots.items()
        if signed
    )


def _levels(
    reader: JournalReader, deals: tuple[TradeDeal, ...], magic: int, symbol: str
) -> dict[int, list[Levels]]:
    """Return position -> stop loss and take profit that we asked for, one after the other.

    Only of positions whose levels we have moved; None is what the terminal may not have taken.
    """
    entries = _asked(reader, magic, symbol, "purpose = 'entry'")
    moves = _asked(reader, magic, symbol, "purpose = 'protect'")
    results = {row["intent"]: row for row in reader.rows("results")}
    opened = {deal.order: deal.position_id for deal in deals}
    found: dict[int, list[Levels]] = {}
    moved: set[int] = set()
    for number, request in sorted((entries | moves).items()):
        result = results.get(number)
        asked = request.get("sl", 0.0), request.get("tp", 0.0)
        if number in entries:
            order = result["answer"]["order"] if result and result["answer"] else 0
            found[opened.get(order, order)] = [asked]
        elif result is None or result["outcome"] != Outcome.REJECTED:
            is_taken = result is not None and result["outcome"] == Outcome.DONE
            moved.add(request["position"])
            found.setdefault(request["position"], []).append(asked if is_taken else (None, None))
    moved -= _moved_by_hand(reader, magic)
    return {position: levels for position, levels in found.items() if position in moved}


def _declined(reader: JournalReader, magic: int) -> Side | None:
    event = reader.last_event(magic, "declined", "accepted")
    return Side(event["text"]) if event and event["kind"] == "declined" else None


def finish_interrupted(stepper: Stepper, reader: JournalReader) -> None:
    """Carry out the last decision, where it is certain that a crash came before its orders.

    Raises:
        TerminalError: The terminal does not answer.
    """
    last = reader.last_decision(stepper.magic, stepper.symbol)
    if last is not None and _is_unfinished(last, reader.intents_of(last["id"])):
        stepper.finish(last["id"], int(last["bar_time"]), _decision(last))


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
