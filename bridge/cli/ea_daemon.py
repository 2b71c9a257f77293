"""The daemon's side of a comparison: a journal that is there, or a back-test made for it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bridge.cli.backtest_plan import Changes, make_plan
from bridge.cli.backtest_run import play
from bridge.cli.recording import load_recording
from bridge.cli.state import find_journal
from bridge.errors import ConfigError
from bridge.journal.read import JournalReader, reading
from bridge.mql.runs import Run, read_journal
from bridge.mt5.servertime import ServerClock, server_clock, text
from bridge.settings import (
    BridgeSettings,
    Mode,
    PaperBars,
    PaperSettings,
    StrategySettings,
)
from bridge.share import share_dir

_SAMPLE = "models/sample_bars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line names.

    Attributes:
        settings: Of the file, or None.
        model: Another model, or the model of a strategy of defaults.
        bars: Its bars, in the project's own form; None takes the sample's.
        journal: Journal, or its folder, of the daemon's run; None makes a back-test.
    """

    settings: BridgeSettings | None
    model: Path | None
    bars: Path | None
    profile: str | None
    journal: Path | None


def daemon_of(asked: Asked, expert: Run) -> Run:
    """Return the daemon's run over the bars that ``expert`` has decided.

    Raises:
        ConfigError: Nothing says which model and bars, or no strategy is the EA's.
        DataError: Bars or journal lack what is compared.
    """
    settings = asked.settings or _plain(asked, expert)
    strategy = _strategy(settings, expert)
    settings = settings.model_copy(update={"strategy": (strategy,)})
    if asked.journal is not None:
        path = find_journal(asked.journal)
        return _read(path, strategy, lambda journal: _clock_of(journal, settings))
    with TemporaryDirectory(prefix="mt5-onnx-parity-", ignore_cleanup_errors=True) as folder:
        plan = make_plan(settings, _changes(asked, expert))
        played = play(plan, Path(folder))
        return _read(played.journal, strategy, lambda journal: plan.recording.server)


def _read(
    path: Path, strategy: StrategySettings, clock: Callable[[JournalReader], ServerClock]
) -> Run:
    with reading(path) as journal:
        return read_journal(journal, strategy.symbol, strategy.magic, clock(journal))


def _clock_of(journal: JournalReader, settings: BridgeSettings) -> ServerClock:
    """Return the clock of a journal's broker: what a live run found, else what the settings say."""
    found = journal.last_event(None, "server_clock")
    if found is not None:
        return server_clock(found["text"])
    if settings.server_clock != "auto":
        return server_clock(settings.server_clock)
    return load_recording(settings).server


def _changes(asked: Asked, expert: Run) -> Changes:
    first, last = min(expert.bars), max(expert.bars)
    return Changes(
        since=text(first),
        until=text(last + 1),
        model=asked.model if asked.settings is not None else None,
        deposit=expert.bars[first].balance,
    )


def _strategy(settings: BridgeSettings, expert: Run) -> StrategySettings:
    found = [each for each in settings.strategy if each.magic == expert.magic]
    if not found:
        known = ", ".join(str(each.magic) for each in settings.strategy)
        raise ConfigError(
            f"the CSV is of magic {expert.magic}, the settings have {known}: name the settings "
            "that the EA was written from"
        )
    (strategy,) = found
    if (strategy.symbol, strategy.timeframe) != (expert.symbol, expert.timeframe):
        raise ConfigError(
            f"the CSV is of {expert.symbol} {expert.timeframe}, the strategy of magic "
            f"{expert.magic} trades {strategy.symbol} {strategy.timeframe}: name the settings that "
            "the EA was written from"
        )
    return strategy


def _plain(asked: Asked, expert: Run) -> BridgeSettings:
    """Return settings of defaults for a model and bars."""
    if asked.model is None:
        raise ConfigError(
            "nothing says what the daemon would do: name settings with -c, or a model with --model"
        )
    sample = share_dir(_SAMPLE)
    bars = asked.bars
    if bars is None and (expert.symbol, expert.timeframe) != ("EURUSD", "H1"):
        raise ConfigError(
            f"there are no bars of {expert.symbol} {expert.timeframe}: name a file of them with "
            "--bars"
        )
    bars = bars or sample / "EURUSD_H1_2017.csv"
    frame = expert.timeframe
    return BridgeSettings(
        mode=Mode.PAPER,
        paper=PaperSettings(
            profile=asked.profile or str(sample / "profile.json"),
            bars=(PaperBars(symbol=expert.symbol, timeframe=frame, path=str(bars)),),
        ),
        strategy=(
            StrategySettings(
                model=str(asked.model),
                symbol=expert.symbol,
                timeframe=frame,
                magic=expert.magic,
            ),
        ),
    )
