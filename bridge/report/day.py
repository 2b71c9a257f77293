"""What a server day came to, in a line."""

from bridge.journal.read import JournalReader
from bridge.mt5.constants import DEAL_ENTRY_IN, DEAL_TYPE_BUY, DEAL_TYPE_SELL
from bridge.mt5.servertime import DAY, text


def day_summary(journal: JournalReader, day: int, magics: frozenset[int]) -> str:
    """Return decisions, trades and their result on one day.

    Args:
        journal: Of the run.
        day: Number of the server's day.
        magics: Of the strategies; deals of positions that they opened count, whoever closed them.
    """
    first, last = day * DAY, (day + 1) * DAY - 1
    actions: dict[str, int] = {}
    for row in journal.rows("decisions", "bar_time BETWEEN ? AND ?", first, last):
        actions[row["action"]] = actions.get(row["action"], 0) + 1
    deals = [deal for deal in journal.deals() if deal.type in (DEAL_TYPE_BUY, DEAL_TYPE_SELL)]
    ours = {deal.position_id for deal in deals if deal.magic in magics}
    today = [deal for deal in deals if deal.position_id in ours and first <= deal.time <= last]
    closed = [deal for deal in today if deal.entry != DEAL_ENTRY_IN]
    net = sum(deal.profit + deal.swap + deal.commission + deal.fee for deal in today)
    decided = ", ".join(f"{count} {action}" for action, count in sorted(actions.items()))
    return (
        f"{text(first)[:10]}: decisions {decided or 'none'}; "
        f"{len(today) - len(closed)} entries, {len(closed)} exits, {net:+.2f} net of costs"
    )
