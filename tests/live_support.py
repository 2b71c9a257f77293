"""Live runs in tests: a real child process, in it the paper terminal, and time that may run fast.

Parent and child count the same time from the computer's clock, so that they agree on now.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bridge.clock import Clock, SystemClock
from bridge.market.barfile import read_bars, write_bars
from bridge.mt5.constants import ACCOUNT_TRADE_MODE_REAL
from bridge.mt5.rates import RatesArray
from bridge.mt5.records import AccountInfo, TerminalInfo
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir
from bridge.terminal.paper.profile import BrokerProfile
from bridge.terminal.paper.terminal import PaperTerminal

SAMPLE = share_dir("models/sample_bars")
TESTS = Path(__file__).parent
LOGIN, SERVER = 77, "Paper-Demo"


class FastClock:
    """The computer's clock, moved to ``start`` and so many times as fast."""

    def __init__(self, start: float, began: float, speed: float) -> None:
        self._start = start
        self._began = began
        self._speed = speed

    def now(self) -> float:
        return self._start + (SystemClock().now() - self._began) * self._speed

    def wait_until(self, instant: float) -> None:
        SystemClock().wait_until(self._began + (instant - self._start) / self._speed)


@dataclass(frozen=True)
class Plan:
    """What the terminal in the child plays."""

    folder: str
    start: float
    began: float
    speed: float
    symbols: tuple[str, ...] = ("EURUSD",)
    is_real: bool = False
    is_silent: bool = False

    @classmethod
    def read(cls, path: Path) -> "Plan":
        fields = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**fields, "symbols": tuple(fields["symbols"])})

    def write(self) -> Path:
        path = Path(self.folder) / "plan.json"
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return path

    def clock(self) -> Clock:
        return FastClock(self.start, self.began, self.speed)

    def profile(self) -> BrokerProfile:
        return BrokerProfile.load(Path(self.folder) / "profile.json")

    def rates(self) -> RatesArray:
        return read_bars(Path(self.folder) / "bars.csv")

    def terminal(self, clock: Clock | None = None) -> PaperTerminal:
        series = {name: (timeframe("M1"), self.rates()) for name in self.symbols}
        account = Path(self.folder) / "terminal.sqlite3"
        return PaperTerminal(self.profile(), series, clock or self.clock(), account)


def plan(
    folder: Path,
    *,
    start: float | None = None,
    speed: float = 1.0,
    before: int = 600,
    after: int = 600,
    **fields: Any,
) -> Plan:
    """Lay out a terminal: real H1 prices told as minutes, ``before`` of them over at ``start``.

    The server's clock is UTC. Without ``start`` it is now.
    """
    began = SystemClock().now()
    start = began if start is None else start
    rates = read_bars(SAMPLE / "EURUSD_H1_2017.csv")[: before + after].copy()
    rates["time"] = int(start) // 60 * 60 + 60 * (np.arange(len(rates)) - before)
    write_bars(folder / "bars.csv", rates, digits=5)
    made = Plan(str(folder), start, began, speed, **fields)
    broker = json.loads((SAMPLE / "profile.json").read_text(encoding="utf-8"))
    broker["server_clock"] = "utc"
    broker["account"] |= {"login": LOGIN, "server": SERVER}
    (spec,) = broker["symbols"].values()
    broker["symbols"] = {name: spec for name in made.symbols}
    (folder / "profile.json").write_text(json.dumps(broker), encoding="utf-8")
    made.write()
    return made


def opened(path: str) -> Any:
    """Return the module of the plan at ``path``: a factory for the host terminal."""
    made = Plan.read(Path(path))
    if made.is_silent:
        return silent(made.folder)
    return Real(made.terminal(), made.folder) if made.is_real else made.terminal()


class Real:
    """A terminal with a REAL account and folders, which a paper one never has."""

    def __init__(self, module: PaperTerminal, common: str) -> None:
        self._module = module
        self._common = common

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._module, verb)

    def account_info(self) -> AccountInfo:
        fields = {**self._module.account_info()._asdict(), "trade_mode": ACCOUNT_TRADE_MODE_REAL}
        return AccountInfo(fields.values())

    def terminal_info(self) -> TerminalInfo:
        fields = {**self._module.terminal_info()._asdict(), "commondata_path": self._common}
        return TerminalInfo(fields.values())


class Refusing:
    """A terminal that refuses to initialize with one error; it counts the tries in a file."""

    def __init__(self, folder: Path, code: int, text: str) -> None:
        self._calls = folder / "calls"
        self._error = (code, text)

    def initialize(self, *args: Any, **keywords: Any) -> bool:
        with self._calls.open("a", encoding="utf-8") as file:
            file.write("initialize\n")
        return False

    def shutdown(self) -> bool:
        return True

    def last_error(self) -> tuple[int, str]:
        return self._error


def refusing(folder: str) -> Refusing:
    """Return one whose broker refuses every login: a factory for the host terminal."""
    return Refusing(Path(folder), -6, "Terminal: Authorization failed")


def silent(folder: str) -> Refusing:
    """Return one that never answers in time."""
    return Refusing(Path(folder), -10005, "IPC timeout")


def environment(made: Plan) -> dict[str, str]:
    """Return the environment in which the child finds the stand-in."""
    known = os.environ.get("PYTHONPATH", "")
    paths = [str(TESTS / "standin"), str(TESTS), known]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "BRIDGE_STANDIN": str(Path(made.folder) / "plan.json"),
    }


def write_settings(folder: Path, *, models: dict[int, str], head: str = "", **tables: str) -> Path:
    """Write ``bridge.toml`` of a live run with a strategy a magic, and return its path."""
    text = f"""mode = "live"
server_clock = "utc"
state = "state"
{head}

[terminal]
login = {LOGIN}
server = "{SERVER}"
timeout_seconds = 10
"""
    for name, body in tables.items():
        text += f"\n[{name}]\n{body}\n"
    for magic, model in models.items():
        text += f"""
[[strategy]]
name = "s{magic}"
model = "{model}"
symbol = "EURUSD"
timeframe = "M1"
magic = {magic}
"""
    path = folder / "bridge.toml"
    path.write_text(text, encoding="utf-8")
    return path
