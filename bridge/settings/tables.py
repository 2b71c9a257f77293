"""The settings file as a value: one model a table, ``BridgeSettings`` the whole file."""

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr, SecretStr, model_validator

from bridge.settings.backtest import BacktestSettings
from bridge.settings.limits import LimitSettings
from bridge.settings.strategy import StrategySettings
from bridge.settings.values import (
    TIMEFRAMES,
    Address,
    ClockRule,
    Frozen,
    OrOff,
    Positive,
    Text,
    TimeframeName,
    TimeOfDay,
)


class Mode(StrEnum):
    """Where prices come from and orders go."""

    PAPER = "paper"
    DRY_RUN = "dry-run"
    LIVE = "live"


class LogLevel(StrEnum):
    """The least grave message that is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class TerminalSettings(Frozen):
    """The MetaTrader 5 terminal. The password is no key: MT5_PASSWORD or a keyring has it."""

    path: OrOff[Text] = None
    """terminal64.exe; None takes the terminal that runs, or the installed one."""
    login: OrOff[Annotated[int, Field(ge=1, lt=2**63)]] = None
    """Account number; a terminal that is logged in elsewhere gets no order."""
    server: OrOff[Text] = None
    """Trade server, as the terminal's login dialog names it."""
    timeout_seconds: Annotated[float, Field(ge=1, le=600)] = 60.0
    """Longest time that a call to the terminal may take, seconds."""
    may_switch_account: bool = False
    """Whether a terminal that is logged in to another account may be logged in to this one."""
    python: OrOff[Annotated[tuple[Text, ...], Field(min_length=1)]] = None
    """Command of the Python that has the MetaTrader5 package, such as ["wine", "python.exe"];
    None takes the Python that runs the bridge."""
    remote: OrOff[Address] = None
    """Address of an rpyc classic server, as mt5linux starts one, in a Python that has the
    MetaTrader5 package: "127.0.0.1:18812"; None asks a package of this computer."""

    _password: SecretStr | None = PrivateAttr(default=None)

    @property
    def password(self) -> SecretStr | None:
        """The account's password; None logs in with the one that the terminal has stored."""
        return self._password

    def with_password(self, password: SecretStr | None) -> Self:
        """Return these settings with ``password``, which no dump, repr or pickle holds."""
        copy = self.model_copy()
        copy._password = password
        return copy

    def __getstate__(self) -> dict[Any, Any]:
        """Return what a pickle holds: everything but the password."""
        state = super().__getstate__()
        return state | {"__pydantic_private__": {"_password": None}}


class LogSettings(Frozen):
    """What is written about a run, beside the journal."""

    level: LogLevel = LogLevel.INFO
    """Least grave message that is written: debug, info, warning or error."""
    json_lines: bool = False
    """Whether the log file holds one JSON object a line instead of lines for a person."""
    rotate_bytes: Annotated[int, Field(ge=10_000)] = 5_000_000
    """Size at which a new log file is begun, bytes."""
    keep_files: Annotated[int, Field(ge=1, le=1_000)] = 5
    """Older log files that are kept."""


_Period = Annotated[float, Field(ge=1, le=86_400)]


class ScheduleSettings(Frozen):
    """The daemon's periodic jobs."""

    heartbeat_seconds: OrOff[_Period] = 60.0
    """Time between two signs of life, seconds."""
    snapshot_seconds: OrOff[_Period] = 300.0
    """Time between two records of the account, seconds."""
    daily_summary_at: OrOff[TimeOfDay] = "23:55"
    """Server time of the day's summary."""


class PaperPrices(StrEnum):
    """Which prices of a bar are played."""

    OPEN = "open"
    OHLC = "ohlc"
    TICKS = "ticks"


class PaperBars(Frozen):
    """A recording that the paper terminal replays."""

    symbol: Text
    """Symbol that it shows."""
    timeframe: TimeframeName
    """M1 to MN1; coarser ones are made from it."""
    path: OrOff[Text] = None
    """File of bars; relative to the settings file. None takes the bars of paper.broker from the
    store."""
    ticks: OrOff[Text] = None
    """File of ticks in place of one of bars, of which bars of timeframe are made; relative to the
    settings file. They have to begin early enough to warm the strategies up."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.path and self.ticks:
            raise ValueError(
                f"path and ticks of {self.symbol} are both set: keep one, bars are made of ticks"
            )
        return self


class PaperSettings(Frozen):
    """The paper account of the modes paper and dry-run, and what mode paper replays."""

    profile: OrOff[Text] = None
    """File of the broker's profile; relative to the settings file. Mode dry-run takes commission,
    sessions and days of swap from it, the rest from the terminal."""
    deposit: OrOff[Positive] = None
    """Mode dry-run: money that a new account begins with, account currency; None takes the balance
    of the terminal's account."""
    bars: tuple[PaperBars, ...] = ()
    """Recordings, one a symbol; a symbol that is not named is played from the store, in its finest
    bars that make those of the strategies."""
    broker: OrOff[Text] = None
    """Broker whose bars of the store are played, as mt5-onnx bars list names it."""
    store: OrOff[Text] = None
    """Folder of the store of bars; relative to the settings file. None is the user's own."""
    prices: PaperPrices = PaperPrices.OHLC
    """open: a bar's open is its only price; ohlc: a path through each bar, the worse extreme for
    what is held first; ticks: each tick, of symbols that are recorded as ticks."""
    speed: OrOff[Positive] = None
    """Replay seconds a real second; None goes as fast as it can."""


class BridgeSettings(Frozen):
    """A whole settings file."""

    mode: Mode = Mode.PAPER
    """paper: recorded bars, paper orders; dry-run: a terminal's bars, paper orders; live: a
    terminal's bars and orders, once the command says --live, too."""
    allow_real: bool = False
    """Whether mode live may trade an account of type REAL."""
    server_clock: ClockRule = "auto"
    """The broker's clock: utc, eet-eu, eet-us or an offset such as utc+3; auto finds it."""
    state: Text = "state"
    """Folder of journal, paper account, halt file and logs; relative to the settings file."""
    terminal: TerminalSettings = TerminalSettings()
    """The MetaTrader 5 terminal."""
    limits: LimitSettings = LimitSettings()
    """Limits of the whole account."""
    log: LogSettings = LogSettings()
    """What is written about a run."""
    schedule: ScheduleSettings = ScheduleSettings()
    """Periodic jobs."""
    paper: PaperSettings = PaperSettings()
    """The paper terminal."""
    backtest: BacktestSettings = BacktestSettings()
    """Back-tests."""
    strategy: Annotated[tuple[StrategySettings, ...], Field(min_length=1)]
    """The strategies, one [[strategy]] each."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        _check_unique(self.strategy)
        if self.mode is Mode.LIVE and not (self.terminal.login and self.terminal.server):
            raise ValueError(
                "mode live needs terminal.login and terminal.server (or MT5_LOGIN and MT5_SERVER), "
                "so that no order goes to another account: add them"
            )
        if self.mode is Mode.PAPER:
            _check_paper(self.paper, self.strategy)
        return self


def _check_unique(strategies: Iterable[StrategySettings]) -> None:
    by_magic: dict[int, StrategySettings] = {}
    names: set[str] = set()
    for each in strategies:
        if other := by_magic.get(each.magic):
            both = f"{other.symbol} and {each.symbol}"
            what = f"twice on {each.symbol}" if other.symbol == each.symbol else f"on {both}"
            raise ValueError(
                f"two strategies have the magic {each.magic}, {what}, so their positions could not "
                "be told apart: give each its own"
            )
        if each.title in names:
            raise ValueError(f"two strategies are called {each.title}: give each its own name")
        by_magic[each.magic] = each
        names.add(each.title)


def _check_paper(paper: PaperSettings, strategies: Iterable[StrategySettings]) -> None:
    if paper.profile is None and paper.broker is None:
        raise ValueError("mode paper plays a broker: name its file in paper.profile")
    recorded = {each.symbol: each for each in paper.bars}
    if len(recorded) < len(paper.bars):
        raise ValueError("paper.bars names a symbol twice: keep one recording a symbol")
    for each in strategies:
        bars = recorded.get(each.symbol)
        if bars is None and paper.broker is not None:
            continue
        if bars is None:
            raise ValueError(
                f"mode paper replays recorded bars and has none of {each.symbol}: "
                "name a file in [[paper.bars]], or paper.broker, whose bars the store has"
            )
        if not (bars.path or bars.ticks or paper.broker):
            raise ValueError(
                f"paper.bars names no file for {each.symbol}: name one, or paper.broker, whose "
                "bars the store has"
            )
        if TIMEFRAMES.index(bars.timeframe) > TIMEFRAMES.index(each.timeframe):
            raise ValueError(
                f"the recorded {bars.timeframe} bars of {each.symbol} can't show {each.timeframe}, "
                f"which strategy {each.title} needs: name finer ones in [[paper.bars]]"
            )


def settings_sha256(settings: BridgeSettings) -> str:
    """Return the hash of everything that ``settings`` say, but of no secret, as hex."""
    text = json.dumps(settings.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
