"""Mode paper: a settings file's strategies on the paper terminal, resumed where they stopped."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bridge.cli.begin import begin_run
from bridge.cli.chores import Chores, assign
from bridge.cli.log import Watcher
from bridge.cli.state import ACCOUNT, JOURNAL
from bridge.clock import Clock, ManualClock, ScaledClock
from bridge.engine.crew import Member, muster
from bridge.engine.jobs import Jobs
from bridge.engine.replay import replay
from bridge.engine.settle import Search
from bridge.engine.stop import Stop
from bridge.engine.strategy import Strategy, load_strategies
from bridge.errors import ConfigError, StateMismatch
from bridge.journal.read import JournalReader, reading
from bridge.journal.schema import create
from bridge.journal.write import Journal
from bridge.market.aggregate import can_make, opens_of, starts_of
from bridge.market.barfile import read_bars
from bridge.model.load import check_bars
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import ServerClock, server_clock, text
from bridge.mt5.timeframes import Timeframe, timeframe
from bridge.settings import BridgeSettings
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
from bridge.terminal.paper.prices import Prices
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

# How long a signal may go unnoticed in a replay that takes its time, real seconds.
_PATIENCE = 0.2


@dataclass(frozen=True, slots=True)
class Recording:
    """The market of a paper run."""

    profile: BrokerProfile
    bars: dict[str, tuple[Timeframe, RatesArray]]
    server: ServerClock

    def times(self, strategy: Strategy) -> list[int]:
        """Return the open times of the strategy's bars, server epoch seconds."""
        opens = opens_of(self.bars[strategy.settings.symbol][1]["time"], strategy.timeframe)
        times: list[int] = opens[starts_of(opens)].tolist()
        return times


def load_recording(settings: BridgeSettings) -> Recording:
    """Read profile and bars.

    Raises:
        ConfigError: A file can't be read, or the clock rules disagree.
        DataError: Bars are unusable.
    """
    named = settings.paper.profile
    path = Path(named) if named else share_dir("models/sample_bars") / "profile.json"
    profile = BrokerProfile.load(path)
    if settings.server_clock not in ("auto", profile.server_clock):
        raise ConfigError(
            f"server_clock is {settings.server_clock}, the profile {path} says "
            f'{profile.server_clock}: write one of them in both, or server_clock = "auto"'
        )
    bars = {
        each.symbol: (timeframe(each.timeframe), read_bars(Path(each.path)))
        for each in settings.paper.bars
    }
    for each in settings.strategy:
        recorded = bars[each.symbol][0]
        if not can_make(timeframe(each.timeframe), recorded):
            raise ConfigError(
                f"{each.title} trades {each.timeframe}, the recording of {each.symbol} is "
                f"{recorded.name}, which makes no {each.timeframe}: name finer bars in "
                "[[paper.bars]]"
            )
    return Recording(profile, bars, server_clock(profile.server_clock))


def run_paper(
    settings: BridgeSettings, *, speed: float | None, stop: Stop, watcher: Watcher
) -> bool:
    """Run until the recording ends or somebody asks to stop; what the state folder has goes on.

    Args:
        settings: Of mode paper.
        speed: Replay seconds a real second; None is as fast as it goes.
        stop: Looked at between bars.
        watcher: Told of each step and event.

    Returns:
        Whether the recording has ended.
    """
    recording = load_recording(settings)
    strategies = load_strategies(settings.strategy)
    for strategy in strategies:
        check_bars(
            strategy.model,
            count=len(recording.times(strategy)),
            clock=recording.profile.server_clock,
        )
    state = Path(settings.state)
    create(state / JOURNAL).close()
    with reading(state / JOURNAL) as past:
        decided = [_decided(each, recording, past) for each in strategies]
        start = max(_next_open(*pair, recording) for pair in zip(strategies, decided, strict=True))
        clock = _clock(recording.server.to_utc(start), recording, speed)
        with (
            closing(
                PaperTerminal(
                    recording.profile,
                    recording.bars,
                    clock,
                    state / ACCOUNT,
                    prices=Prices(settings.paper.prices),
                )
            ) as paper,
            Journal(state / JOURNAL, clock, watcher.on_event) as journal,
        ):
            paper.initialize()
            terminal = ModuleTerminal(paper)
            begin_run(journal, settings, strategies, terminal.account_info())
            crew = muster(
                [Member(*pair) for pair in zip(strategies, decided, strict=True)],
                terminal,
                journal,
                past,
                clock=clock,
                server=recording.server,
                limits=settings.limits,
                state=state,
                search=Search(is_certain=True),
                lows=paper.lows,
            )
            jobs = Jobs(journal)
            magics = frozenset(each.settings.magic for each in strategies)
            chores = Chores(terminal, journal, crew, clock, recording.server, state, magics)
            assign(jobs, settings, chores)

            def before() -> None:
                crew.attend()
                jobs.run_due()

            has_ended = replay(
                crew.steppers,
                paper,
                clock,
                recording.server,
                watcher.on_step,
                before=before,
                stop=stop,
                longest_wait=_PATIENCE * speed if speed else float("inf"),
            )
            chores.snapshot()
            journal.end_run("the recording has ended" if has_ended else stop.reason)
            return has_ended


def _clock(start: float, recording: Recording, speed: float | None) -> Clock:
    if speed is None:
        return ManualClock(start)
    longest = max(frame.seconds for frame, _ in recording.bars.values())
    return ScaledClock(start, speed=speed, longest_wait=longest)


def _decided(strategy: Strategy, recording: Recording, past: JournalReader) -> int:
    """Return the last bar that is not to be decided: what the journal has, or the first window."""
    settings, times = strategy.settings, recording.times(strategy)
    last = past.last_decision(settings.magic, settings.symbol)
    if last is not None and last["bar_time"] not in times[:-1]:
        raise StateMismatch(
            f"{settings.title}: the journal decided the bar {text(last['bar_time'])}, which the "
            "recording does not have: name the bars of that run, or another state folder"
        )
    if last is None and len(times) <= strategy.depth:
        raise ConfigError(
            f"{settings.title}: the recording has {len(times)} bars, the strategy needs "
            f"{strategy.depth + 1}: name a longer one"
        )
    return int(last["bar_time"]) if last is not None else times[strategy.depth - 2]


def _next_open(strategy: Strategy, decided: int, recording: Recording) -> int:
    times = recording.times(strategy)
    return times[times.index(decided) + 1]
