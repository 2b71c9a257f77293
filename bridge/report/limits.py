"""How much of each limit is used, read from the journal: what was known when it was last written.

Works whether the run is alive or not. Rules about the moment (quote, spread, hours, news) have
nothing that is used up; what they denied is told by ``why_not``.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bridge.engine.tally import Tally
from bridge.journal.read import JournalReader, Row
from bridge.risk import gauges
from bridge.risk.baselines import Baselines, merged
from bridge.risk.gauges import Gauge, seen_now
from bridge.settings import LimitSettings, StrategySettings

Shown = dict[str, Any]
"""A limit as plain values: used, limit, left; as shares with ``money``, else as counts or lots."""

_MINUTE = 60.0


def account_limits(
    journal: JournalReader,
    limits: LimitSettings,
    strategies: Iterable[StrategySettings],
    snapshot: Mapping[str, Any] | None,
    tally: Tally,
) -> dict[str, Shown]:
    """Return the limits of the whole account by name, those that are off included.

    Args:
        journal: Of the run.
        limits: Of the account.
        strategies: Of the settings.
        snapshot: Account and own positions as they were journalled last; None without one.
        tally: Of the strategies' deals.
    """
    all_settings = list(strategies)
    known = [each for each in (_baselines(journal, of) for of in all_settings) if each is not None]
    equity = _equity(journal, all_settings, snapshot)
    if not known or equity is None:
        return {}
    seen = seen_now(merged(known), equity)
    losses = tally.losses(seen.baselines.day)
    found = {each.name: _shown(each) for each in gauges.account_gauges(seen, losses, limits)}
    held = list((snapshot or {}).get("positions", ()))
    lots: Counter[str] = Counter()
    for each in held:
        lots[each["symbol"]] += each["volume"]
    return {
        **found,
        "margin_level": _margin_level(snapshot, limits),
        "positions": _counted(len(held), limits.max_positions),
        "symbol_volume": _counted(max(lots.values(), default=0.0), limits.max_symbol_volume),
        "currency_exposure": _exposure(snapshot, equity, limits),
        "orders_per_minute": _counted(_recent_entries(journal), limits.max_orders_per_minute),
    }


def strategy_limits(
    journal: JournalReader,
    settings: StrategySettings,
    snapshot: Mapping[str, Any] | None,
    tally: Tally,
) -> dict[str, Shown]:
    """Return the limits of a strategy by name, likewise."""
    known, risk = _baselines(journal, settings), settings.risk
    equity = _equity(journal, [settings], None)
    if known is None or equity is None:
        return {}
    seen = seen_now(known, equity)
    losses = tally.losses(known.day, settings.magic)
    measured = (
        gauges.daily_loss(seen, risk.daily_loss_share),
        gauges.weekly_loss(seen, risk.weekly_loss_share),
        gauges.drawdown(seen, risk.max_drawdown_share),
        gauges.losses_in_row(losses, risk.max_losses_in_row),
    )
    held = [
        each["volume"]
        for each in (snapshot or {}).get("positions", ())
        if (each["magic"], each["symbol"]) == (settings.magic, settings.symbol)
    ]
    return {
        **{each.name: _shown(each) for each in measured},
        "positions": _counted(len(held), risk.max_positions),
        "volume": _counted(sum(held), risk.max_volume),
    }


def limit_lines(limits: Mapping[str, Shown]) -> Iterator[str]:
    """Yield a line a limit that is set, for a person: used, limit, what is left, where it trips."""
    for name, of in limits.items():
        if of["limit"] is not None:
            words = _floor(of) if name == "margin_level" else _words(of)
            yield f"  {name.replace('_', ' ')}: {words}"


def _floor(of: Shown) -> str:
    level = "no positions" if of["used"] is None else f"{of['used']:.0f} %"
    return f"{level}, at least {of['limit']:g} %"


def _words(of: Shown) -> str:
    if of["used"] is None:
        return f"not known, limit {of['limit']:g}"
    if of["money"] is None:
        return f"{of['used']:g} of {of['limit']:g}, {of['left']:g} left"
    money = of["money"]
    return (
        f"{of['used']:.2%} of {of['limit']:.2%} ({money['used']:.2f} of {money['limit']:.2f}), "
        f"{of['left']:.2%} ({money['left']:.2f}) left, reached at equity {money['trips_at']:.2f}"
    )


def _shown(gauge: Gauge) -> Shown:
    used = gauge.used if gauge.is_gain else max(gauge.used, 0.0)
    left = None if gauge.limit is None else gauge.limit - used
    money = None
    if gauge.money is not None:
        money = {
            "used": used * gauge.money,
            "limit": None if gauge.limit is None else gauge.limit * gauge.money,
            "left": None if left is None else left * gauge.money,
            "trips_at": gauge.trips_at,
        }
    return {"used": used, "limit": gauge.limit, "left": left, "money": money}


def _counted(used: float | None, limit: float | None) -> Shown:
    left = None if limit is None or used is None else limit - used
    return {"used": used, "limit": limit, "left": left, "money": None}


def _margin_level(snapshot: Mapping[str, Any] | None, limits: LimitSettings) -> Shown:
    """Return the margin level, percent; its limit is a floor, so that what is above it is left."""
    level, floor = (snapshot or {}).get("margin_level"), limits.min_margin_level
    # Without positions there is no margin, and the level is shown as 0.
    used = level or None
    left = None if used is None or floor is None else used - floor
    return {"used": used, "limit": floor, "left": left, "money": None}


def _exposure(snapshot: Mapping[str, Any] | None, equity: float, limits: LimitSettings) -> Shown:
    """Return the largest net value held or owed in a currency, multiple of equity."""
    held = (snapshot or {}).get("exposure")
    if held is None and not (snapshot or {}).get("positions"):
        held = {}
    most = None if held is None else max((abs(value) for value in held.values()), default=0.0)
    times = None if most is None or equity <= 0 else most / equity
    return _counted(times, limits.max_currency_exposure)


def _baselines(journal: JournalReader, settings: StrategySettings) -> Baselines | None:
    """Return the baselines written last, with a decision or by themselves."""
    last = journal.last_decision(settings.magic, settings.symbol)
    event = journal.last_event(settings.magic, "baselines")
    if event is not None and (last is None or event["at_utc"] >= last["at_utc"]):
        return Baselines(**json.loads(event["text"]))
    return None if last is None else Baselines(**last["baselines"])


def _equity(
    journal: JournalReader,
    strategies: Iterable[StrategySettings],
    snapshot: Mapping[str, Any] | None,
) -> float | None:
    """Return the equity that was written last."""
    rows: list[Row] = []
    for each in strategies:
        last = journal.last_decision(each.magic, each.symbol)
        if last is not None and last["equity"] is not None:
            rows.append(last)
    found = [(row["at_utc"], float(row["equity"])) for row in rows]
    if snapshot is not None:
        found.append((snapshot["seen_utc"], float(snapshot["equity"])))
    return max(found)[1] if found else None


def closed_tally(journal: JournalReader, magics: frozenset[int]) -> Tally:
    """Return what the strategies' deals in a journal come to."""
    tally = Tally()
    tally.take(journal.deals(), magics)
    return tally


def _recent_entries(journal: JournalReader) -> int:
    """Return the entries of the last minute that the journal knows of."""
    newest = [
        row["at_utc"]
        for table in ("decisions", "intents", "events")
        for row in journal.rows(table, f"id = (SELECT max(id) FROM {table})")  # noqa: S608  own names
    ]
    where = "purpose = 'entry' AND denied IS NULL AND at_utc > ?"
    return sum(1 for _ in journal.rows("intents", where, max(newest, default=0.0) - _MINUTE))
