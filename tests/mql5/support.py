"""Small programs for tests: a tree of sources, and a terminal over the sample bars."""

import shutil
from pathlib import Path

from bridge.market.barfile import read_bars
from bridge.mt5.timeframes import timeframe
from bridge.terminal.paper.profile import BrokerProfile
from mql5.host.compiler import Built, Compiler
from mql5.host.desktop import Desktop
from mql5.host.play import desk
from mql5.host.program import InputValue, Program
from mql5.parity.markets import SAMPLE

ROOT = Path(__file__).parents[2] / "mql5"
H1 = timeframe("H1")


def tree(folder: Path, **programs: str) -> Path:
    """Return a folder like ``MQL5`` with these programs in ``Experts``."""
    experts = folder / "MQL5" / "Experts"
    experts.mkdir(parents=True, exist_ok=True)
    for name, text in programs.items():
        (experts / f"{name}.mq5").write_text(text, encoding="ascii")
    return folder / "MQL5"


def copied_tree(folder: Path) -> Path:
    """Return a copy of the project's sources, to be changed."""
    return Path(shutil.copytree(ROOT, folder / "MQL5"))


def build(compiler: Compiler, folder: Path, text: str) -> Built:
    """Return the program that the text is."""
    root = tree(folder, Test=text)
    return compiler.build(root / "Experts" / "Test.mq5", root)


def terminal(folder: Path, bar: int = 600, common: Path | None = None) -> Desktop:
    """Return a terminal over EURUSD H1 of 2017, at the open of a bar."""
    rates = read_bars(SAMPLE / "EURUSD_H1_2017.csv")
    profile = BrokerProfile.load(SAMPLE / "profile.json")
    start = int(rates["time"][bar])
    return desk(folder / "terminal", profile, {"EURUSD": (H1, rates)}, start, common=common)


def program(built: Built, desktop: Desktop, **inputs: InputValue) -> Program:
    """Return the program on the chart of EURUSD H1."""
    return Program(built, desktop, "EURUSD", H1.value, inputs)
