"""What journal, wire and account say at the end: plain values, read past all faults."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bridge.engine.recover import recalled_standing
from bridge.engine.standing import Standing
from bridge.journal.read import JournalReader, Row, reading
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal, TradeOrder, TradePosition
from campaign.plan import SYMBOL, Plan
from campaign.stage import EVER, JOURNAL, UTC, WIRE, Sent, Stage

_IN = (mt5.DEAL_ENTRY_IN, mt5.DEAL_ENTRY_INOUT)


@dataclass(frozen=True)
class Evidence:
    """All that the invariants are about.

    Attributes:
        decisions, intents, results, events: Rows of the journal; intents have their ``result``.
        noted: Deals of the journal.
        deals, orders, waiting, positions: The account's, as they are.
        sent: What has reached the server, in order.
        standings: By magic, as the journal recalls them.
        raised: What ended a life and was no crash of the plan.
        integrity: What SQLite says of the journal's file.
        first_deal: Ticket of the last deal before the begin.
        restarted: When the daemon was started for the last time, UTC epoch seconds.
        last_bar: Open of the last bar that the daemon had time to decide, server epoch seconds.
    """

    plan: Plan
    decisions: tuple[Row, ...]
    intents: tuple[Row, ...]
    results: tuple[Row, ...]
    events: tuple[Row, ...]
    noted: tuple[TradeDeal, ...]
    deals: tuple[TradeDeal, ...]
    orders: tuple[TradeOrder, ...]
    waiting: tuple[TradeOrder, ...]
    positions: tuple[TradePosition, ...]
    sent: tuple[Sent, ...]
    standings: Mapping[int, Standing]
    raised: tuple[str, ...]
    integrity: str
    first_deal: int
    restarted: float
    last_bar: int

    @cached_property
    def magics(self) -> frozenset[int]:
        """Of the strategies."""
        return frozenset(self.standings)

    @cached_property
    def intent(self) -> dict[int, Row]:
        """Number -> intent."""
        return {row["id"]: row for row in self.intents}

    @cached_property
    def intent_of(self) -> dict[int, int]:
        """Order -> number of the intent that it came from."""
        return {each.order: each.intent for each in self.sent if each.order and each.intent}

    @cached_property
    def own_deals(self) -> tuple[TradeDeal, ...]:
        """Deals with a strategy's magic on the symbol that it trades, in order."""
        return tuple(d for d in self.deals if d.magic in self.magics and d.symbol == SYMBOL)

    @cached_property
    def opened_by(self) -> dict[int, TradeDeal]:
        """Position -> the deal that opened it, whoever did."""
        found: dict[int, TradeDeal] = {}
        for deal in self.deals:
            if deal.position_id and deal.entry in _IN:
                found.setdefault(deal.position_id, deal)
        return found

    @cached_property
    def own_ids(self) -> frozenset[int]:
        """Identifiers of positions that the strategies have opened."""
        return frozenset(d.position_id for d in self.own_deals if d.entry in _IN)

    @cached_property
    def executed(self) -> dict[int, float]:
        """Number of an intent -> lots that its order has dealt."""
        lots: dict[int, float] = {}
        for deal in self.own_deals:
            intent = self.intent_of.get(deal.order)
            if intent is not None:
                lots[intent] = round(lots.get(intent, 0.0) + deal.volume, 8)
        return lots

    @cached_property
    def late(self) -> frozenset[int]:
        """Intents that were presumed absent, and were executed all the same."""
        return frozenset(
            row["id"]
            for row in self.intents
            if row["result"] and row["result"]["outcome"] == "absent" and row["id"] in self.executed
        )

    @cached_property
    def late_ids(self) -> frozenset[int]:
        """Positions that such intents have opened or added to."""
        return frozenset(
            d.position_id
            for d in self.own_deals
            if d.entry in _IN and self.intent_of.get(d.order) in self.late
        )

    def told(self, *kinds: str) -> list[Row]:
        """Return the events of some kinds."""
        return [row for row in self.events if row["kind"] in kinds]

    def is_told_of(self, ticket: int, *kinds: str) -> bool:
        """Whether an event of these kinds names a position."""
        return any(f"#{ticket} " in f"{row['text']} " for row in self.told(*kinds))

    @cached_property
    def given_up(self) -> frozenset[int]:
        """Positions, and orders that have opened some, of which a person's resume took leave."""
        numbers = {d.position_id for d in self.own_deals}
        return frozenset(each for each in numbers if self.is_told_of(each, "given_up"))

    def digest(self) -> str:
        """Return the hash of all that two equal runs have in common."""
        journal = [self.decisions, self.intents, self.events]
        account = [[list(each) for each in of] for of in (self.deals, self.orders, self.positions)]
        return hashlib.sha256(json.dumps([journal, account]).encode()).hexdigest()


def gather(stage: Stage, *, raised: tuple[str, ...], restarted: float) -> Evidence:
    """Read everything, past the faults."""
    path = stage.folder / JOURNAL
    with reading(path) as journal:
        results = tuple(journal.rows("results"))
        result_of = {row["intent"]: row for row in results}
        rates, plan = stage.rates, stage.plan
        noticed = UTC.from_utc(stage.clock.now()) - plan.quantum - plan.lag - 1.0
        return Evidence(
            plan=stage.plan,
            decisions=tuple(journal.rows("decisions")),
            intents=tuple(
                row | {"result": result_of.get(row["id"])} for row in journal.rows("intents")
            ),
            results=results,
            events=tuple(journal.rows("events")),
            noted=journal.deals(),
            deals=stage.paper.history_deals_get(0, EVER),
            orders=stage.paper.history_orders_get(0, EVER),
            waiting=stage.paper.orders_get(),
            positions=stage.paper.positions_get(),
            sent=_sent(stage.folder / WIRE),
            standings=_standings(stage, journal),
            raised=raised,
            integrity=_integrity(path),
            first_deal=stage.first_deal,
            restarted=restarted,
            last_bar=int(rates["time"][rates["time"] <= noticed][-2]),
        )


def _sent(path: Path) -> tuple[Sent, ...]:
    if not path.exists():
        return ()
    return tuple(Sent(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())


def _standings(stage: Stage, journal: JournalReader) -> dict[int, Standing]:
    return {
        each.settings.magic: recalled_standing(
            journal, each.settings.magic, each.settings.symbol, server_time=0, equity=0.0
        )
        for each in stage.strategies
    }


def _integrity(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
