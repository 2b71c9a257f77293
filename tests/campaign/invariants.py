"""What has to be true at the end of any run, whatever has failed. Pure functions of the evidence.

What a fault may break, and nothing else: an order that was searched for in vain and presumed absent
may have been executed all the same. Then there may be one position more than the strategy's limit,
if it has opened another one before the late one showed; once it shows it is taken over, which is
told, and nothing is opened until somebody resumes.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.engine.settle import deal_of
from bridge.journal.read import Row
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal
from campaign.evidence import Evidence
from campaign.plan import BY_HAND, SYMBOL
from campaign.stage import PERSON, PROGRAM

_IN = (mt5.DEAL_ENTRY_IN, mt5.DEAL_ENTRY_INOUT)
_SLACK = 1e-6
_FINAL = ("done", "partial", "rejected", "absent")
_SIDES = {"long": mt5.ORDER_TYPE_BUY, "short": mt5.ORDER_TYPE_SELL}
_TOLD = ("unprotected", "human")


@dataclass(frozen=True, slots=True)
class Violation:
    """What is not as it has to be."""

    check: str
    text: str

    def __str__(self) -> str:
        return f"{self.check}: {self.text}"


def violations(evidence: Evidence) -> Iterator[Violation]:
    """Yield what is wrong."""
    for name, check in CHECKS.items():
        for text in check(evidence):
            yield Violation(name, text)


# Intents


def intent_before_send(e: Evidence) -> Iterator[str]:
    """What reaches the server is on disk before, as an intent without result, with these fields."""
    for sent in e.sent:
        row = e.intent.get(sent.intent or 0)
        if row is None:
            yield f"{sent.request} reached the server without an intent on disk"
            continue
        asked = row["request"]
        for name in ("action", "symbol", "magic", "type", "position", "type_filling"):
            if asked.get(name) != sent.request.get(name):
                yield f"intent {sent.intent} says {name} {asked.get(name)}, sent {sent.request}"
        if float(sent.request.get("volume", 0.0)) > asked.get("volume", 0.0) + _SLACK:
            yield f"intent {sent.intent} asks for {asked.get('volume')}, sent {sent.request}"


def sent_once(e: Evidence) -> Iterator[str]:
    """An intent reaches the server once at most."""
    for intent, times in Counter(sent.intent for sent in e.sent).items():
        if intent is not None and times > 1:
            yield f"intent {intent} was sent {times} times"


def origin_known(e: Evidence) -> Iterator[str]:
    """Each deal of ours that somebody asked for comes from one intent; so does each position."""
    opened: dict[int, set[int]] = defaultdict(set)
    for deal in e.own_deals:
        intent = e.intent_of.get(deal.order)
        if deal.reason == mt5.DEAL_REASON_EXPERT and intent is None:
            if deal.ticket > e.first_deal:
                yield f"deal #{deal.ticket} comes from no intent"
        elif intent is not None and deal.entry in _IN and intent not in e.late:
            opened[deal.position_id].add(intent)
    for position, intents in opened.items():
        if len(intents) > 1:
            yield f"position #{position} comes from the intents {sorted(intents)}"


def as_asked(e: Evidence) -> Iterator[str]:
    """Deals have side, place and at most the volume of their intent."""
    for deal in e.own_deals:
        intent = e.intent_of.get(deal.order)
        if intent is not None and not _fits(e, deal, e.intent[intent]["request"]):
            yield f"deal {deal} is not what intent {intent} asked for"
    for intent, lots in e.executed.items():
        if lots > e.intent[intent]["request"]["volume"] + _SLACK:
            yield f"intent {intent} has dealt {lots} lots, more than it asked for"


def _fits(e: Evidence, deal: TradeDeal, asked: Mapping[str, Any]) -> bool:
    if (deal.type, deal.symbol) != (asked["type"], asked["symbol"]):
        return False
    if asked.get("position") is None:
        # On a netting account an entry meets what is late, and nobody can know.
        return deal.entry == mt5.DEAL_ENTRY_IN or deal.position_id in e.late_ids
    return deal.entry not in _IN and deal.position_id == asked["position"]


def as_decided(e: Evidence) -> Iterator[str]:
    """Entries come from decisions that asked for that side, one a decision, with their stop."""
    decisions = {row["id"]: row for row in e.decisions}
    done: Counter[int] = Counter()
    for row in e.intents:
        if row["denied"] is not None or row["purpose"] != "entry":
            continue
        decision = decisions.get(row["decision"])
        if decision is None or decision["action"] not in ("open", "reverse"):
            yield f"the entry {row['id']} comes from no decision to open"
            continue
        if _SIDES[decision["side"]] != row["request"]["type"]:
            yield f"the entry {row['id']} is of another side than its decision"
        if decision["stop_points"] and not row["request"].get("sl"):
            yield f"the entry {row['id']} has no stop loss"
        done[decision["id"]] += row["id"] in e.executed
    for number, times in done.items():
        if times > 1:
            yield f"decision {number} has opened {times} times"


def bars_once(e: Evidence) -> Iterator[str]:
    """Each bar is decided once at most, after it has closed, later ones later."""
    last: dict[int, int] = {}
    for row in e.decisions:
        if row["bar_time"] <= last.get(row["magic"], 0):
            yield f"the bar {row['bar_time']} was decided after {last[row['magic']]}"
        if row["bar_time"] + 60 > row["at_utc"] + _SLACK:
            yield f"the bar {row['bar_time']} was decided before it closed"
        last[row["magic"]] = row["bar_time"]


# Results


def settled(e: Evidence) -> Iterator[str]:
    """At the end each order's end is known, and it is what has happened."""
    accepted = {each.intent for each in e.sent if each.retcode == mt5.TRADE_RETCODE_DONE}
    for row in e.intents:
        if row["denied"] is not None:
            continue
        number, result = row["id"], row["result"]
        outcome = result["outcome"] if result else "no result"
        if outcome not in _FINAL:
            yield f"intent {number} ({row['purpose']}) ends with {outcome}"
            continue
        happened = number in e.executed
        if row["purpose"] == "protect":
            if outcome == "done" and number not in accepted:
                yield f"intent {number} (protect) says done, the server did nothing"
        elif outcome in ("done", "partial") and not happened and not _is_of_late(e, result):
            yield f"intent {number} ({row['purpose']}) says {outcome}, and nothing was dealt"
        elif outcome == "rejected" and happened:
            yield f"intent {number} ({row['purpose']}) says rejected, and was dealt"


def _is_of_late(e: Evidence, result: Row) -> bool:
    """Whether a result names the deal of an equal order that was presumed absent before."""
    named = deal_of(result)
    return any(d.ticket == named and e.intent_of.get(d.order) in e.late for d in e.own_deals)


def late_is_told(e: Evidence) -> Iterator[str]:
    """An entry that was presumed absent and is there is taken over, and that is told."""
    named = {deal_of(result) for result in e.results}
    for position in e.late_ids & {each.identifier for each in e.positions}:
        is_named = any(d.ticket in named for d in e.own_deals if d.position_id == position)
        if not is_named and not e.is_told_of(position, "adopted"):
            yield f"position #{position} was presumed absent, is there, and nobody was told"


# Books


def books_equal(e: Evidence) -> Iterator[str]:
    """The journal has the terminal's deals of ours, and of our positions, as they are."""
    own = (d for d in e.deals if d in e.own_deals or d.position_id in e.own_ids)
    true = {d.ticket: d for d in own if d.ticket > e.first_deal}
    noted = {deal.ticket: deal for deal in e.noted}
    for ticket, deal in true.items():
        if ticket not in noted:
            yield f"deal #{ticket} of position #{deal.position_id} is not in the journal"
        elif noted[ticket] != deal:
            yield f"deal #{ticket} is {deal}, the journal has {noted[ticket]}"
    for ticket in noted.keys() - {deal.ticket for deal in e.deals}:
        yield f"the journal has a deal #{ticket} that never was"


def positions_known(e: Evidence) -> Iterator[str]:
    """What the journal recalls to be open is what is open: what came after it began, and what no
    person has given up.
    """
    for magic, standing in e.standings.items():
        true = {
            each.identifier: round(each.volume * (-1 if each.type else 1), 8)
            for each in e.positions
            if (each.magic, each.symbol) == (magic, SYMBOL)
            and e.opened_by[each.identifier].ticket > e.first_deal
            and each.identifier not in e.given_up
        }
        known = {
            each.identifier: round(each.side.sign * each.volume, 8) for each in standing.positions
        }
        if true != known:
            yield f"magic {magic} holds {true}, the journal recalls {known}"


def readable(e: Evidence) -> Iterator[str]:
    """The journal is whole."""
    if e.integrity != "ok":
        yield e.integrity


def alive(e: Evidence) -> Iterator[str]:
    """Nothing but a crash of the plan has ended a life, and in quiet bars the daemon decides."""
    yield from e.raised
    for magic in e.magics:
        bars = [row["bar_time"] for row in e.decisions if row["magic"] == magic]
        before = max((each for each in bars if each + 60 <= e.restarted), default=0)
        if before < e.restarted - 125:
            yield f"magic {magic} decided nothing in the quiet bars before the last start"
        if max(bars, default=0) < e.last_bar:
            yield f"magic {magic} did not decide the last bar"


# Others, and limits


def others_untouched(e: Evidence) -> Iterator[str]:
    """No request and no deal of ours is about somebody else's position."""
    for sent in e.sent:
        position = sent.request.get("position")
        if position is None:
            continue
        opened = e.opened_by.get(int(position))
        if opened is None or (opened.magic, opened.symbol) != (sent.request["magic"], SYMBOL):
            yield f"{sent.request} is about somebody else's position"
    for deal in e.deals:
        opened = e.opened_by.get(deal.position_id)
        if opened is None or opened is deal or deal.reason != mt5.DEAL_REASON_EXPERT:
            continue
        is_ours = deal.position_id in e.own_ids
        if not is_ours and deal.magic not in (PERSON, PROGRAM):
            yield f"deal #{deal.ticket} of ours is about somebody else's position"


def nobody_blamed(e: Evidence) -> Iterator[str]:
    """Without people nobody is said to have closed or moved anything."""
    if not any(action.what in BY_HAND for action in e.plan.actions):
        for row in e.told("human", "declined"):
            yield f"there is no person, and the journal says {row['kind']}: {row['text']}"


def limits_kept(e: Evidence) -> Iterator[str]:
    """At each entry the strategy is within its limits; what is late or given up does not count."""
    for settings in e.plan.strategies:
        magic = int(str(settings["magic"]))
        yield from _walk(e, magic, settings)


def _walk(e: Evidence, magic: int, settings: Mapping[str, Any]) -> Iterator[str]:
    risk = settings.get("risk", {})
    held: dict[int, float] = {}
    for deal in e.deals:
        if deal.position_id in e.late_ids | e.given_up or not _is_of(e, deal, magic):
            continue
        if deal.entry == mt5.DEAL_ENTRY_INOUT:  # by somebody else, whose it is from now on
            held.pop(deal.position_id, None)
            continue
        sign = 1.0 if deal.entry == mt5.DEAL_ENTRY_IN else -1.0
        held[deal.position_id] = round(held.get(deal.position_id, 0.0) + sign * deal.volume, 8)
        held = {number: lots for number, lots in held.items() if lots > _SLACK}
        if deal.entry != mt5.DEAL_ENTRY_IN:
            continue
        if len(held) > risk.get("max_positions", 1):
            yield f"deal #{deal.ticket}: magic {magic} holds {held}"
        if sum(held.values()) > risk.get("max_volume", 1.0) + _SLACK:
            yield f"deal #{deal.ticket}: magic {magic} holds {held} lots"


def _is_of(e: Evidence, deal: TradeDeal, magic: int) -> bool:
    opened = e.opened_by.get(deal.position_id)
    return opened is not None and (opened.magic, opened.symbol) == (magic, SYMBOL)


def stopped_is_stopped(e: Evidence) -> Iterator[str]:
    """Nothing is opened between a halt or an adoption and somebody's resume."""
    for sent in e.sent:
        if sent.request.get("position") is not None:
            continue
        before = [row for row in e.events if row["id"] <= sent.events]
        for kind in ("halt", "adopted"):
            ours = [
                row["kind"]
                for row in before
                if row["magic"] == sent.request["magic"] and row["kind"] in (kind, "resume")
            ]
            if ours and ours[-1] == kind:
                yield f"{sent.request} was sent after '{kind}'"


def loss_limit_kept(e: Evidence) -> Iterator[str]:
    """Nothing is opened on a day that has lost too much, by the equity shown to the daemon.

    A run is within one day; lives that died before their first look have seen no equity.
    """
    limit = e.plan.limits.daily_loss_share
    if limit is None or e.plan.has_money_paid or not e.decisions:
        return
    first = e.decisions[0]["baselines"]["day_equity"]
    for sent in e.sent:
        share = 1.0 - sent.equity / first
        if sent.request.get("position") is None and share >= limit + _SLACK:
            yield f"{sent.request} was sent at a loss of {share:.4%}, limit {limit:.2%}"


def stops_there(e: Evidence) -> Iterator[str]:
    """A position whose entry asked for a stop has one, or an event says why not."""
    for position in e.positions:
        is_own = position.identifier in e.own_ids and position.magic in e.magics
        if not is_own or position.sl:
            continue
        intent = e.intent_of.get(e.opened_by[position.identifier].order)
        if intent is None or not e.intent[intent]["request"].get("sl"):
            continue
        if not e.is_told_of(position.ticket, *_TOLD):
            yield f"position #{position.ticket} has no stop loss, and nobody was told"


CHECKS: Mapping[str, Callable[[Evidence], Iterator[str]]] = {
    "intent before send": intent_before_send,
    "sent once": sent_once,
    "origin known": origin_known,
    "as asked": as_asked,
    "as decided": as_decided,
    "bars once": bars_once,
    "settled": settled,
    "late is told": late_is_told,
    "books equal": books_equal,
    "positions known": positions_known,
    "readable": readable,
    "alive": alive,
    "others untouched": others_untouched,
    "nobody blamed": nobody_blamed,
    "limits kept": limits_kept,
    "stopped is stopped": stopped_is_stopped,
    "loss limit kept": loss_limit_kept,
    "stops there": stops_there,
}
"""Name -> what is checked."""
