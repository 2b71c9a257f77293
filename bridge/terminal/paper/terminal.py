"""The embedded terminal: an object with the API of MetaTrader5, on recorded bars and a clock."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bridge.clock import Clock
from bridge.mt5.records import Tick
from bridge.terminal.paper.ahead import Ahead, foresee, pass_over
from bridge.terminal.paper.backend import PaperBackend
from bridge.terminal.paper.barseries import BarSeries
from bridge.terminal.paper.direct import DirectTerminal
from bridge.terminal.paper.liveseries import LiveSeries
from bridge.terminal.paper.opening import Recording, open_desk
from bridge.terminal.paper.package import Package
from bridge.terminal.paper.prices import Prices
from bridge.terminal.paper.script import Entry, Script, load_script

if TYPE_CHECKING:
    from bridge.terminal.paper.profile import BrokerProfile


class PaperTerminal(Package):
    """The MetaTrader5 module of a broker that is a profile and recorded bars.

    Every call first brings the account up to the clock's now. Nothing later is ever visible.

    Args:
        profile: The broker.
        bars: Symbol -> timeframe and bars (rates dtype, bid prices, server time), or ticks (ticks
            dtype) and the timeframe of the bars that they make, or a series that is told live
            prices; symbols of the profile without any are known, but have no prices.
        clock: UTC; the profile's rule makes server time of it.
        account: File of the account, continued when it exists; None keeps it in memory.
        script: What it is told to answer, or the JSON file that says so; see ``script.py``.
        prices: How the recordings are played.
        identity: What an account file has to agree in each time, in words that name it; None is
            the profile to the last number, and its currency.

    Attributes:
        script: The queue of what it is told to answer; more may be added at any time.

    Raises:
        ConfigError: Bars of a symbol that the profile lacks, a currency that can't be converted,
            or an account file that belongs to another profile or identity, or a script that is
            none.
    """

    def __init__(
        self,
        profile: "BrokerProfile",
        bars: Mapping[str, Recording | LiveSeries],
        clock: Clock,
        account: Path | None,
        script: Path | Iterable[Entry] = (),
        *,
        prices: Prices = Prices.OHLC,
        identity: Mapping[str, str] | None = None,
    ) -> None:
        self.script = Script(load_script(script) if isinstance(script, Path) else script)
        desk = open_desk(profile, bars, account, identity, self.script, prices)
        self._paper = PaperBackend(profile, desk, clock)
        self._ahead: Ahead | None = None
        super().__init__(self._paper)

    def direct(self) -> DirectTerminal:
        """Return its verbs for a program that shares its process, and its only thread."""
        return DirectTerminal(self, self._paper)

    def server_time(self) -> float:
        """Return server time (epoch seconds) with the account brought up to it."""
        with self._lock:
            return self._paper.bring_up()

    def hear(self, ticks: Mapping[str, Tick]) -> None:
        """Bring the account up to now, where these prices have come; live series hear them.

        Args:
            ticks: Symbol -> newest tick.
        """
        with self._lock:
            self._paper.hear(ticks)

    def deposit(self, amount: float) -> None:
        """Pay money into the account, or out of it (< 0), as the broker's office does.

        Args:
            amount: Account currency.
        """
        with self._lock:
            self._paper.pay(amount)

    def lows(self, since: float) -> list[tuple[float, float]]:
        """Return server time and equity at the worst price of each bar that ended after ``since``.

        Only bars that positions went through, and of them the newest 32. Times are server epoch
        seconds, equity is in account currency.
        """
        with self._lock:
            self._paper.bring_up()
            return [low for low in self._paper.desk.ledger.lows if low[0] > since]

    def next_event_time(self) -> int | None:
        """Return the server time of the next bar's open, of any symbol; None after the last."""
        with self._lock:
            self._paper.bring_up()
            return self._paper.desk.market.next_open()

    def event_times(self) -> NDArray[np.int64] | None:
        """Return each time at which :meth:`next_event_time` stops, known or not; None for ticks.

        It is for who plays the recording; nothing else may know what comes.
        """
        market = self._paper.desk.market
        if not all(isinstance(series, BarSeries) for series in market):
            return None
        # In order each; ``np.unique`` would make a table of hashes first.
        times = np.concatenate([series.recorded["time"] for series in market])
        if len(market) > 1:
            times.sort(kind="stable")
            times = times[np.concatenate(([True], times[1:] != times[:-1]))]
        return times

    def quotes_at(
        self, symbol: str, times: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return bid and ask at the opens ``times`` of recorded bars; None for ticks."""
        series = self._paper.desk.series(symbol)
        if not isinstance(series, BarSeries):
            return None
        places = np.searchsorted(series.recorded["time"], times)
        bids = series.path(places)[0]
        return bids, series.asks_of(bids, places)

    def opens_of(self, symbol: str) -> NDArray[np.int64]:
        """Return the open times of the recorded bars of ``symbol``."""
        opens: NDArray[np.int64] = self._paper.desk.series(symbol).recorded["time"]
        return opens

    def foresee(self, most: int) -> Ahead | None:
        """Return what the account will be at the next ``most`` event times, while it is quiet.

        None where only going there tells.
        """
        with self._lock:
            self._paper.bring_up()
            self._ahead = foresee(self._paper.desk, most)
            return self._ahead

    def pass_over(self, count: int) -> None:
        """Be at the ``count``-th time just foreseen; the clock has to be moved there next."""
        with self._lock:
            if self._ahead is not None:
                pass_over(self._paper.desk, self._ahead, count)
            self._ahead = None

    def close(self) -> None:
        """Write the account and release its file; no call may follow."""
        with self._lock:
            self._is_connected = False
            self._backend = None
            self._paper.shut()
