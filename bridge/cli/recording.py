"""Recorded markets: the bars and the broker that paper runs and back-tests play."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bridge.cli.shelf import Bars, Shelf
from bridge.engine.strategy import Strategy
from bridge.errors import ConfigError, DataError
from bridge.market.aggregate import aggregate, can_make, opens_of, starts_of
from bridge.market.barfile import read_bars
from bridge.model.load import check_bars
from bridge.mt5.rates import RatesArray
from bridge.mt5.records import SymbolInfo
from bridge.mt5.servertime import ServerClock, server_clock, text
from bridge.mt5.timeframes import timeframe
from bridge.settings import BridgeSettings, PaperBars, PaperPrices, StrategySettings
from bridge.terminal.paper.prices import Prices
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.specification import complete
from bridge.terminal.paper.tickseries import bars_of

Change = Callable[[str, RatesArray], RatesArray]
"""Given a symbol and its bars or ticks, returns others."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The market of a paper run or a back-test.

    Attributes:
        bars: Of each symbol.
        ticks: What the bars are made of, for symbols that were recorded as ticks.
    """

    profile: BrokerProfile
    bars: dict[str, Bars]
    server: ServerClock
    ticks: dict[str, RatesArray] = field(default_factory=dict)

    def times(self, strategy: Strategy) -> NDArray[np.int64]:
        """Return the open times of the strategy's bars, server epoch seconds, shape ``(n,)``."""
        opens = opens_of(self.bars[strategy.settings.symbol][1]["time"], strategy.timeframe)
        times: NDArray[np.int64] = opens[starts_of(opens)]
        return times

    def rates(self, strategy: Strategy) -> RatesArray:
        """Return all bars of the strategy's timeframe, closed ones and the last."""
        recorded, bars = self.bars[strategy.settings.symbol]
        if recorded == strategy.timeframe:
            return bars
        return aggregate(bars, recorded, strategy.timeframe)

    def played(self, prices: Prices) -> dict[str, Bars]:
        """Return what the paper terminal plays of each symbol: its bars, or its ticks."""
        if prices is not Prices.TICKS:
            return self.bars
        return {name: (at, self.ticks.get(name, bars)) for name, (at, bars) in self.bars.items()}

    def map(self, bars: Change, ticks: Change) -> "Recording":
        """Return the recording with each symbol's prices changed.

        Args:
            bars: Changes the bars of a symbol that was recorded as such.
            ticks: Changes the ticks of one that was recorded as ticks; its bars are made again.
        """
        changed = {name: ticks(name, held) for name, held in self.ticks.items()}
        made = {
            name: (at, bars(name, held))
            if name not in changed
            else (at, bars_of(self.terms(name), at, changed[name]))
            for name, (at, held) in self.bars.items()
        }
        return replace(self, bars=made, ticks=changed)

    def terms(self, symbol: str) -> SymbolInfo:
        """Return the specification of a symbol."""
        return complete(symbol, self.profile.symbols[symbol])

    def up_to(self, until: int) -> "Recording":
        """Return what is needed to decide all bars that open before ``until`` (server time).

        That is one bar more of each symbol: the one whose open shows that the last has closed.
        """

        def kept(symbol: str) -> int:
            times = self.bars[symbol][1]["time"]
            count = int(np.searchsorted(times, until)) + 1
            if count == 1:
                raise ConfigError(
                    f"the recording of {symbol} begins at {text(times[0])}, so nothing is "
                    f"left before {text(until)}: name a later end"
                )
            return count

        def cut(symbol: str, ticks: RatesArray) -> RatesArray:
            opens = self.bars[symbol][1]["time"][kept(symbol) :]
            return ticks if not len(opens) else ticks[ticks["time"] < opens[0]]

        return self.map(lambda symbol, bars: bars[: kept(symbol)], cut)

    def check(self, strategies: Sequence[Strategy]) -> None:
        """Check that the bars are enough for the models, and their hours those of the training.

        Raises:
            ContractError: They are not.
        """
        for each in strategies:
            check_bars(each.model, count=len(self.times(each)), clock=self.profile.server_clock)


def load_recording(settings: BridgeSettings) -> Recording:
    """Read profile and bars, from files or from the store.

    Raises:
        ConfigError: A file can't be read, or the clock rules disagree.
        DataError: Bars are unusable, or there are none in the store.
    """
    shelf = Shelf.of(settings.paper)
    profile = _profile(settings, shelf)
    ticks = {
        each.symbol: _ticks(each, Path(each.ticks), profile)
        for each in settings.paper.bars
        if each.ticks is not None
    }
    if settings.paper.prices is PaperPrices.TICKS and not ticks:
        raise ConfigError(
            "prices = ticks plays recorded ticks, and there are none: name a file of them as ticks "
            "in [[paper.bars]], or take prices = ohlc"
        )
    bars = {each.symbol: _bars(each, shelf, profile, ticks) for each in settings.paper.bars}
    for symbol in dict.fromkeys(each.symbol for each in settings.strategy):
        if symbol not in bars and shelf is not None:
            frames = [each.timeframe for each in settings.strategy if each.symbol == symbol]
            bars[symbol] = shelf.finest(symbol, [timeframe(name) for name in frames])
    _check_strategies(settings.strategy, bars)
    return Recording(profile, bars, server_clock(profile.server_clock), ticks)


def _bars(
    named: PaperBars, shelf: Shelf | None, profile: BrokerProfile, ticks: Mapping[str, RatesArray]
) -> Bars:
    frame = timeframe(named.timeframe)
    if named.symbol in ticks:
        terms = complete(named.symbol, profile.symbols[named.symbol])
        return frame, bars_of(terms, frame, ticks[named.symbol])
    if named.path is not None:
        return frame, read_bars(Path(named.path))
    if shelf is None:
        raise ConfigError(
            f"paper.bars names no file for {named.symbol}: name one, or paper.broker, whose bars "
            "the store has"
        )
    return frame, shelf.read(named.symbol, frame)


def _ticks(named: PaperBars, path: Path, profile: BrokerProfile) -> RatesArray:
    """Read a file of ticks, whoever wrote it."""
    from bridge.market.importer import Stated, load

    if named.symbol not in profile.symbols:
        raise ConfigError(
            f"the broker that is played has no symbol {named.symbol}: name another profile"
        )
    digits = complete(named.symbol, profile.symbols[named.symbol]).digits
    loaded = load(path, Stated(named.symbol, digits=digits, clock=profile.server_clock))
    if loaded.ticks is None:
        raise DataError(f"{path} holds bars, not ticks: name it as path in [[paper.bars]]")
    return loaded.ticks


def _profile(settings: BridgeSettings, shelf: Shelf | None) -> BrokerProfile:
    """Return the broker that is played, which has to have the clock of settings and bars."""
    named = settings.paper.profile or (shelf.profile if shelf is not None else None)
    if named is None:
        raise ConfigError(
            "recorded bars are played by a broker, and paper.profile names none: name its file, or "
            "a shipped one; mt5-onnx profile dump writes your own broker's"
        )
    profile = BrokerProfile.load(named)
    if settings.server_clock not in ("auto", profile.server_clock):
        raise ConfigError(
            f"server_clock is {settings.server_clock}, the profile {named} says "
            f'{profile.server_clock}: write one of them in both, or server_clock = "auto"'
        )
    for title, rule in shelf.clocks.items() if shelf is not None else ():
        if server_clock(rule) != server_clock(profile.server_clock):
            raise ConfigError(
                f"the store's bars of {title} follow the clock {rule}, the profile {named} says "
                f"{profile.server_clock}: name the broker's own profile"
            )
    return profile


def _check_strategies(strategies: Sequence[StrategySettings], bars: Mapping[str, Bars]) -> None:
    for each in strategies:
        if each.symbol not in bars:
            raise ConfigError(
                f"{each.title} trades {each.symbol}, of which there are no recorded bars: name a "
                "file of them in [[paper.bars]], or paper.broker, whose bars the store has"
            )
        recorded = bars[each.symbol][0]
        if not can_make(timeframe(each.timeframe), recorded):
            raise ConfigError(
                f"{each.title} trades {each.timeframe}, the recording of {each.symbol} is "
                f"{recorded.name}, which makes no {each.timeframe}: name finer bars in "
                "[[paper.bars]]"
            )


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where strategies begin on a recording.

    Attributes:
        after: For each strategy the last bar that is not to be decided, server epoch seconds.
        opens: Open of the bar at which the clock begins, server epoch seconds.
    """

    after: tuple[int, ...]
    opens: int


def beginning(
    strategies: Sequence[Strategy],
    recording: Recording,
    *,
    known: Sequence[int | None] = (),
    since: int | None = None,
) -> Beginning:
    """Return where ``strategies`` begin.

    What closed before the clock begins was not missed: a strategy that has decided nothing yet
    waits for the one that needs most bars.

    Args:
        strategies: All of the run.
        recording: What they run on.
        known: For each the last bar that it has decided already; None for none.
        since: Bars that open before this server time are not decided, only seen.

    Raises:
        ConfigError: A strategy has too few bars.
    """
    known = known or [None] * len(strategies)
    times = [recording.times(each) for each in strategies]
    firsts = [
        _first(strategy, opens, since)
        if last is None
        else int(np.searchsorted(opens, last, side="right"))
        for strategy, opens, last in zip(strategies, times, known, strict=True)
    ]
    start = max(int(opens[first]) for opens, first in zip(times, firsts, strict=True))
    after = []
    for opens, first, last in zip(times, firsts, known, strict=True):
        forming = int(np.searchsorted(opens, start, side="right")) - 1
        before = first - 1 if last is not None else max(first, forming) - 1
        after.append(int(opens[before]))
    return Beginning(tuple(after), start)


def _first(strategy: Strategy, opens: np.ndarray, since: int | None) -> int:
    """Return the place of the first bar that may be decided."""
    title = strategy.settings.title
    if len(opens) <= strategy.depth:
        raise ConfigError(
            f"{title}: the recording has {len(opens)} bars, the strategy needs "
            f"{strategy.depth + 1}: name a longer one"
        )
    first = strategy.depth - 1
    if since is not None:
        first = max(first, int(np.searchsorted(opens, since)))
    if first >= len(opens) - 1:
        raise ConfigError(
            f"{title}: the recording ends at {text(opens[-1])}, so no bar of it opens and closes "
            f"after {text(since or 0)}: name an earlier beginning, or a longer recording"
        )
    return first
