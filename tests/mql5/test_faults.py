"""Faults seeded into the real sources are caught: when read, when compiled, or when run.

All of those of the last kind take a minute: ``BRIDGE_ALL_FAULTS=1`` asks for them. What none of
the three can show stands in README.md.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from mql5.faults import COMPILED, READ, RUN, Fault
from mql5.host.compiler import BuildError, Compiler
from mql5.host.library import Died
from mql5.host.tokens import SourceError
from mql5.host.translate import translate
from mql5.parity.compare import differences
from mql5.parity.daemon import first_moment, model_path, run_daemon, settings_of
from mql5.parity.expert import run_expert
from mql5.parity.markets import Market, eurusd
from mql5.parity.run import Run
from mql5.support import copied_tree

EA = Path("Experts/OnnxBridge/Classifier.mq5")
ASKED = RUN if os.environ.get("BRIDGE_ALL_FAULTS") else RUN[:3]


def _put(root: Path, fault: Fault) -> str:
    """Put the fault into the tree; return the text that was there."""
    path = root / fault[0]
    before = path.read_text(encoding="utf-8")
    assert fault[1] in before, f"{fault[0]} no longer has {fault[1]!r}"
    path.write_text(before.replace(fault[1], fault[2], 1), encoding="utf-8")
    return before


def test_there_are_sixty_of_them() -> None:
    assert len({*READ, *COMPILED, *RUN}) >= 60


def test_faults_of_form_are_refused_when_they_are_read(tmp_path: Path) -> None:
    root = copied_tree(tmp_path)
    translate(root / EA, root)
    for fault in READ:
        before = _put(root, fault)
        assert ".mq" in _refusal(root), f"not caught: {fault}"
        (root / fault[0]).write_text(before, encoding="utf-8")


def _refusal(root: Path) -> str:
    try:
        translate(root / EA, root)
    except SourceError as refused:
        return str(refused)
    return ""


def test_faults_of_type_are_refused_at_their_line(compiler: Compiler, tmp_path: Path) -> None:
    root = copied_tree(tmp_path)
    for fault in COMPILED:
        _put(root, fault)
    lines = {fault: _line_of(root, fault) for fault in COMPILED}
    with pytest.raises(BuildError) as refused:
        compiler.check(root / EA, root)
    places = "\n".join(refused.value.errors)
    missed = [
        (fault, line)
        for fault, line in lines.items()
        if not any(f"{root / fault[0]}:{number}:" in places for number in (line, line + 1))
    ]
    assert not missed


def _line_of(root: Path, fault: Fault) -> int:
    text = (root / fault[0]).read_text(encoding="utf-8")
    return text[: text.index(fault[2])].count("\n") + 1


@dataclass(frozen=True)
class Truth:
    """What the daemon does over a few bars."""

    market: Market
    run: Run
    start: int


@pytest.fixture(scope="module")
def truth(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Truth:
    folder = tmp_path_factory.mktemp("truth")
    market = eurusd(folder, margin_mode="hedging", count=330)
    # A fault that opens what it should close doubles its positions at every try.
    broker = json.loads(market.profile.read_text(encoding="utf-8"))
    broker["account"]["limit_positions"] = 20
    market.profile.write_text(json.dumps(broker), encoding="utf-8")
    settings = settings_of(market, model_path("eurusd_h1_direction"), 26001, folder / "state")
    return Truth(market, run_daemon(settings, market), first_moment(settings))


def _caught(compiler: Compiler, root: Path, truth: Truth, folder: Path) -> str:
    """Return how the fault shows in a run; empty when it does not."""
    try:
        inputs = {"InpMagic": 26001}
        run = run_expert(compiler, root / EA, truth.market, folder, truth.start, inputs, root=root)
    except (Died, RuntimeError) as shown:
        return str(shown)
    found = differences(truth.run, run)
    return str(found[0]) if found else ""


def test_sources_without_a_fault_run_like_the_daemon(
    compiler: Compiler, tmp_path: Path, truth: Truth
) -> None:
    assert _caught(compiler, copied_tree(tmp_path), truth, tmp_path / "terminal") == ""


@pytest.mark.parametrize("fault", ASKED, ids=range(len(ASKED)))
def test_faults_of_meaning_show_in_a_run(
    compiler: Compiler, tmp_path: Path, truth: Truth, fault: Fault
) -> None:
    root = copied_tree(tmp_path)
    _put(root, fault)
    assert _caught(compiler, root, truth, tmp_path / "terminal"), f"not caught: {fault}"
