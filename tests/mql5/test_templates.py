"""Every program of the tree compiles; the script and the indicator do their work."""

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from bridge.share import share_dir
from mql5.host.compiler import Compiler
from mql5.host.play import step
from mql5.host.translate import translate
from mql5.support import H1, ROOT, program, terminal

PROGRAMS = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.mq5"))
MODEL = share_dir("models/eurusd_h1_direction") / "model.onnx"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_compiles(compiler: Compiler, path: Path) -> None:
    """They are made by the tests that run them; a written shadow runs in test_generator."""
    compiler.check(ROOT / path, ROOT)
    found = translate(ROOT / path, ROOT)
    assert {"copyright", "version", "description"} <= dict(found.properties).keys()
    for one in found.inputs:
        assert one.name.startswith("Inp")


def test_the_library_leaves_nothing_unset(compiler: Compiler) -> None:
    """The optimiser has read what the classifier includes, which is all of the library."""
    built = compiler.build(
        ROOT / "Experts" / "OnnxBridge" / "Classifier.mq5", ROOT, is_thorough=True
    )
    included = {path.name for path in built.program.files}
    library = {path.name for path in (ROOT / "Include" / "OnnxBridge").glob("*.mqh")}
    assert library <= included


def test_every_file_is_plain() -> None:
    for path in ROOT.rglob("*"):
        if path.suffix in (".mq5", ".mqh", ".set", ".ini"):
            raw = path.read_bytes()
            assert raw.isascii(), path
            assert b"\r" not in raw, path
            assert b"\t" not in raw, path


def test_the_script_finds_the_model_as_it_was_made(compiler: Compiler, tmp_path: Path) -> None:
    built = compiler.build(ROOT / "Scripts" / "OnnxBridge" / "SelfTest.mq5", ROOT)
    one = program(built, terminal(tmp_path))
    one.script()
    assert not [line for line in one.log if "FAILED" in line], one.log
    assert any("ok" in line for line in one.log)
    assert one.open_sessions == 0


def test_the_indicator_plots_what_the_model_answers(compiler: Compiler, tmp_path: Path) -> None:
    built = compiler.build(ROOT / "Indicators" / "OnnxBridge" / "Outputs.mq5", ROOT)
    desktop = terminal(tmp_path)
    one = program(built, desktop, InpBars=20)
    assert one.start() == 0, one.log
    assert one.calculate() == 601
    assert step(desktop)
    assert one.calculate() == 602
    plotted = np.stack([one.buffer(index) for index in range(3)])
    answers = _answers(desktop.paper.copy_rates_from_pos("EURUSD", H1.value, 1, 601))
    # 20 bars at first, one with the next tick; what is older, and the open bar, is empty.
    empty = plotted == np.finfo(float).max
    assert empty[:, :-22].all()
    assert empty[:, -1].all()
    assert plotted[:, -22:-1] == pytest.approx(answers[:, -21:], abs=1e-6)
    one.stop()
    assert one.open_sessions == 0


def _answers(rates: np.ndarray) -> np.ndarray:
    """Return the model's shares at each bar, asked of onnxruntime alone; shape ``(3, bars)``."""
    session = ort.InferenceSession(MODEL, providers=["CPUExecutionProvider"])
    columns = ["open", "high", "low", "close", "tick_volume", "spread"]
    bars = np.stack([rates[name].astype(np.float64) for name in columns], axis=1)
    window = session.get_inputs()[0].shape[1]
    found = np.full((3, len(rates)), np.nan)
    for end in range(len(rates) - 21, len(rates)):
        inside = slice(end - window + 1, end + 1)
        feed = {"bars": bars[None, inside], "time": rates["time"][None, inside]}
        named = {one.name: feed[one.name] for one in session.get_inputs()}
        found[:, end] = session.run(None, named)[0][0]
    return found
