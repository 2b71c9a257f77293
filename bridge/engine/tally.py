"""What a run's strategies have sent and closed, counted together and each by itself.

It is made of what the journal holds, so that a restart counts the same.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from bridge.journal.read import JournalReader
from bridge.mt5.constants import DEAL_ENTRY_IN
from bridge.mt5.records import TradeDeal
from bridge.mt5.servertime import ServerClock, server_day
from bridge.mt5.sides import BY_ORDER_TYPE
from bridge.risk.streak import Streak

_MINUTE = 60.0
_ALL = 0
"""No strategy has the magic 0, so that it stands for all of them."""
_NONE = Streak()


@dataclass(slots=True)
class _Opened:
    """A position of a strategy: lots still open, and what its deals came to so far."""

    magic: int
    lots: float = 0.0
    net: float = 0.0


class Tally:
    """Counts entries and closed positions; every deal once, whoever reads it first."""

    def __init__(self) -> None:
        self._entries: deque[float] = deque()
        self._opened: dict[int, _Opened] = {}
        self._streaks: dict[int, Streak] = {}
        self._last_deal = 0

    def sent(self, server_time: float) -> None:
        """Count an entry that was sent at ``server_time``."""
        self._entries.append(server_time)

    def recent_entries(self, server_time: float) -> int:
        """Return how many entries were sent in the 60 seconds before ``server_time``."""
        # A clock that is set back for the winter leaves entries in the future: they count no more.
        while self._entries and not 0 <= server_time - self._entries[0] < _MINUTE:
            self._entries.popleft()
        return len(self._entries)

    def take(self, deals: Iterable[TradeDeal], magics: frozenset[int]) -> None:
        """Count deals; those of positions that one of ``magics`` has opened, whoever closes them.

        Args:
            deals: In the order of their tickets; what was taken before is passed over.
            magics: Of the run's strategies.
        """
        for deal in deals:
            if deal.ticket <= self._last_deal:
                continue
            self._last_deal = deal.ticket
            if deal.entry == DEAL_ENTRY_IN and deal.magic in magics:
                self._opened.setdefault(deal.position_id, _Opened(deal.magic))
            if deal.position_id in self._opened and deal.type in BY_ORDER_TYPE:
                self._add(self._opened[deal.position_id], deal)

    def losses(self, day: int, magic: int = _ALL) -> int:
        """Return the longest row of losses on a server day, of a strategy or of all together."""
        return self._streaks.get(magic, _NONE).longest_on(day)

    def _add(self, opened: _Opened, deal: TradeDeal) -> None:
        signed = BY_ORDER_TYPE[deal.type].sign * deal.volume
        opened.lots = round(opened.lots + signed, 8)
        opened.net += deal.profit + deal.swap + deal.commission + deal.fee
        if opened.lots:
            return
        del self._opened[deal.position_id]
        # A ten-millionth of a unit is the noise of the sum, no loss.
        net = round(opened.net, 7)
        for magic in (_ALL, opened.magic):
            streak = self._streaks.get(magic, _NONE)
            self._streaks[magic] = streak.after(server_day(deal.time), net)


def recalled_tally(
    reader: JournalReader, magics: frozenset[int], server: ServerClock, utc_now: float
) -> Tally:
    """Return the tally of what a journal holds.

    Args:
        reader: The journal.
        magics: Of the run's strategies.
        server: The broker's clock rule.
        utc_now: By the run's clock.
    """
    tally = Tally()
    tally.take(reader.deals(), magics)
    where = "purpose = 'entry' AND denied IS NULL AND at_utc > ?"
    for row in reader.rows("intents", where, utc_now - _MINUTE):
        tally.sent(server.from_utc(row["at_utc"]))
    return tally
