"""Mode paper: a settings file's strategies on the paper terminal, resumed where they stopped."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bridge.cli.particulars import account_facts, versions
from bridge.cli.state import ACCOUNT, JOURNAL
from bridge.clock import Clock, ManualClock, ScaledClock
from bridge.engine.recover import recalled_standing, recover
from bridge.engine.replay import flatten_all, replay
from bridge.engine.step import Step, Stepper
from bridge.engine.stop import Stop
from bridge.engine.strategy import Strategy, load_strategy
from bridge.engine.watch import FLATTEN_FILE, Watch
from bridge.errors import ConfigError, StateMismatch
from bridge.journal.read import JournalReader, reading
from bridge.journal.schema import create
from bridge.journal.write import Journal
from bridge.market.barfile import read_bars
from bridge.market.feed import ClosedBarFeed
from bridge.model.load import check_bars
from bridge.mt5.constants import ACCOUNT_MARGIN_MODE_RETAIL_HEDGING
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import ServerClock, server_clock, text
from bridge.mt5.timeframes import Timeframe, timeframe
from bridge.settings import BridgeSettings, settings_sha256
from bridge.share import share_dir
from bridge.terminal.adapter import ModuleTerminal
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
        times: list[int] = self.bars[strategy.settings.symbol][1]["time"].tolist()
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
        # Coarser bars than those recorded are not made yet.
        if bars[each.symbol][0].name != each.timeframe:
            raise ConfigError(
                f"{each.title} trades {each.timeframe}, the recording of {each.symbol} is "
                f"{bars[each.symbol][0].name}: name bars of {each.timeframe} in [[paper.bars]]"
            )
    return Recording(profile, bars, server_clock(profile.server_clock))


def run_paper(
    settings: BridgeSettings, *, speed: float | None, stop: Stop, on_step: Callable[[Step], None]
) -> bool:
    """Run until the recording ends or somebody asks to stop; what the state folder has goes on.

    Args:
        settings: Of mode paper.
        speed: Replay seconds a real second; None is as fast as it goes.
        stop: Looked at between bars.
        on_step: Told of each step.

    Returns:
        Whether the recording has ended.
    """
    recording = load_recording(settings)
    strategies = [load_strategy(each) for each in settings.strategy]
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
                PaperTerminal(recording.profile, recording.bars, clock, state / ACCOUNT)
            ) as paper,
            Journal(state / JOURNAL, clock) as journal,
        ):
            paper.initialize()
            terminal = ModuleTerminal(paper)
            _check_netting(terminal, strategies)
            _begin(journal, settings, strategies, terminal)
            steppers = [
                _stepper(strategy, terminal, journal, past, after)
                for strategy, after in zip(strategies, decided, strict=True)
            ]
            for strategy, stepper in zip(strategies, steppers, strict=True):
                recover(
                    stepper,
                    past,
                    journal,
                    terminal,
                    magic=strategy.settings.magic,
                    symbol=strategy.settings.symbol,
                    is_certain=True,
                )
            watch = Watch(
                terminal,
                journal,
                settings.limits,
                [stepper.lookout for stepper in steppers],
                state,
            )
            has_ended = replay(
                steppers,
                paper,
                clock,
                recording.server,
                on_step,
                before=lambda: _attend(watch, steppers, state),
                stop=stop,
                longest_wait=_PATIENCE * speed if speed else float("inf"),
            )
            journal.end_run("the recording has ended" if has_ended else stop.reason)
            return has_ended


def _attend(watch: Watch, steppers: list[Stepper], state: Path) -> None:
    """Watch the account, and do what a person asked for through the state folder."""
    watch.look()
    asked = state / FLATTEN_FILE
    if asked.exists():
        flatten_all(steppers, "asked for by mt5-onnx flatten")
        asked.unlink(missing_ok=True)


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


def _check_netting(terminal: ModuleTerminal, strategies: list[Strategy]) -> None:
    """Refuse two strategies on one symbol where the account has one position a symbol."""
    if terminal.account_info().margin_mode == ACCOUNT_MARGIN_MODE_RETAIL_HEDGING:
        return
    symbols = [each.settings.symbol for each in strategies]
    if twice := {symbol for symbol in symbols if symbols.count(symbol) > 1}:
        raise ConfigError(
            f"two strategies trade {', '.join(sorted(twice))} on a netting account, which has one "
            "position a symbol: leave one of them out, or use a hedging account"
        )


def _stepper(
    strategy: Strategy,
    terminal: ModuleTerminal,
    journal: Journal,
    past: JournalReader,
    after: int,
) -> Stepper:
    settings = strategy.settings
    feed = ClosedBarFeed(
        terminal,
        symbol=settings.symbol,
        timeframe=strategy.timeframe,
        depth=strategy.depth,
        after=after,
    )
    standing = recalled_standing(
        past,
        settings.magic,
        settings.symbol,
        server_time=terminal.symbol_info_tick(settings.symbol).time,
        equity=terminal.account_info().equity,
    )
    return Stepper(
        strategy=strategy, terminal=terminal, feed=feed, journal=journal, standing=standing
    )


def _begin(
    journal: Journal,
    settings: BridgeSettings,
    strategies: list[Strategy],
    terminal: ModuleTerminal,
) -> None:
    plain = settings.model_dump(mode="json", exclude={"state"})
    journal.begin_run(
        mode=settings.mode,
        settings={"sha256": settings_sha256(settings), **plain},
        models={each.settings.magic: each.model.sha256 for each in strategies},
        account=account_facts(terminal.account_info()),
        versions=versions(),
        paths={"state": settings.state},
    )
