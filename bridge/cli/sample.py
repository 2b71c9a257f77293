"""Put the pieces of the demo together: sample bars, paper terminal, clock, strategy."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from bridge.clock import Clock, ManualClock, ScaledClock
from bridge.engine.crew import Crew, Member, muster
from bridge.engine.settle import Search
from bridge.engine.strategy import Strategy, load_strategy
from bridge.errors import ConfigError
from bridge.journal.read import JournalReader
from bridge.journal.write import Journal
from bridge.market.barfile import read_bars
from bridge.model.load import check_bars
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import ServerClock, server_clock
from bridge.mt5.terminal import Terminal
from bridge.mt5.timeframes import Timeframe, timeframe
from bridge.settings import LimitSettings, StrategySettings
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

SYMBOL, TIMEFRAME = "EURUSD", "H1"
MAGIC = 20170101
# Share of the bars that models may be trained on; the demo trades what comes after.
IN_SAMPLE = 0.7


@dataclass(frozen=True, slots=True)
class Sample:
    """The shipped market: bars and the broker that plays on them.

    Attributes:
        first: Index of the first bar that is decided.
    """

    profile: BrokerProfile
    rates: RatesArray
    timeframe: Timeframe
    server: ServerClock
    first: int

    @property
    def opens(self) -> int:
        """Open of the first bar that is decided, server epoch seconds."""
        return int(self.rates["time"][self.first])

    def terminal(self, clock: Clock, account: Path | None) -> PaperTerminal:
        """Return a paper terminal on these bars; its account in memory when no file is named."""
        terminal = PaperTerminal(
            self.profile, {SYMBOL: (self.timeframe, self.rates)}, clock, account
        )
        terminal.initialize()
        return terminal

    def clock(self, speed: float | None) -> Clock:
        """Return the clock of a replay: as fast as it goes, or ``speed`` times real time."""
        start = self.server.to_utc(self.opens)
        if speed is None:
            return ManualClock(start)
        return ScaledClock(start, speed=speed, longest_wait=self.timeframe.seconds)


def find_model(name: str) -> Path:
    """Return the file of a shipped model, or ``name`` itself as a path.

    Raises:
        ConfigError: It is neither.
    """
    shipped = share_dir("models") / name / "model.onnx"
    if shipped.is_file():
        return shipped
    if Path(name).exists():
        return Path(name)
    names = sorted(found.parent.name for found in share_dir("models").glob("*/model.onnx"))
    raise ConfigError(f"model {name!r} is neither a file nor one of {', '.join(names)}")


def load_demo_strategy(model: str) -> Strategy:
    """Return the strategy that trades ``model`` on the sample bars."""
    return load_strategy(
        StrategySettings(
            model=str(find_model(model)), symbol=SYMBOL, timeframe=TIMEFRAME, magic=MAGIC
        )
    )


def load_sample(strategy: Strategy) -> Sample:
    """Return the shipped market, to be traded from the first bar that no model was trained on.

    Raises:
        ConfigError: The model saw more of the bars than leaves a window to trade.
    """
    folder = share_dir("models/sample_bars")
    rates = read_bars(folder / "EURUSD_H1_2017.csv")
    profile = BrokerProfile.load(folder / "profile.json")
    check_bars(strategy.model, count=len(rates), clock=profile.server_clock)
    first = int(len(rates) * IN_SAMPLE)
    trained = strategy.model.contract.train_to
    if trained is not None:
        end = datetime.fromisoformat(f"{trained}+00:00").timestamp()
        first = max(first, int(np.searchsorted(rates["time"], end, side="right")))
    if not strategy.depth <= first < len(rates) - 1:
        raise ConfigError(
            f"the model needs {strategy.depth} bars and was trained to {trained}; the sample has "
            f"{len(rates)} bars, so nothing is left to trade: name another model"
        )
    return Sample(profile, rates, timeframe(TIMEFRAME), server_clock(profile.server_clock), first)


def make_crew(
    sample: Sample,
    strategy: Strategy,
    terminal: PaperTerminal,
    journal: Journal,
    past: JournalReader,
    clock: Clock,
    *,
    after: int | None = None,
    seam: Callable[[PaperTerminal], Terminal] = ModuleTerminal,
) -> Crew:
    """Return the crew of one strategy.

    Args:
        sample: The market.
        strategy: What is traded.
        terminal: Playing the sample.
        journal: Of the run, begun.
        past: The same, to read.
        clock: Of the run.
        after: Last bar that is decided already; None begins with the first one that may be.
        seam: Makes a ``Terminal`` of the paper terminal.
    """
    before = int(sample.rates["time"][sample.first - 1])
    return muster(
        [Member(strategy, before if after is None else after)],
        seam(terminal),
        journal,
        past,
        clock=clock,
        server=sample.server,
        limits=LimitSettings(),
        state=journal.path.parent,
        search=Search(is_certain=True),
        lows=terminal.lows,
    )
