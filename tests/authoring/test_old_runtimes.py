"""A lane of its own: model files where other people run them.

In the oldest onnxruntime that pip has, in the real 1.14.0 (npm), and on a processor without AVX,
which is emulated (qemu-user). It installs, so it runs only when ``BRIDGE_OLD_RUNTIMES`` is set;
then what can't be installed is a failure. Figures are printed: ``BRIDGE_OLD_RUNTIMES=1 pytest -s``
on this file.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from markets import SAMPLE
from numpy.typing import NDArray

from bridge.features.target import LEGACY, MT5
from bridge.model.load import load_model
from bridge.model.windows import windows_of
from bridge.share import share_dir

pytestmark = pytest.mark.skipif(
    not os.environ.get("BRIDGE_OLD_RUNTIMES"), reason="set BRIDGE_OLD_RUNTIMES=1: it installs"
)

HERE = Path(__file__).parent
NODE_RUNTIME = "onnxruntime-node@1.14.0"
ROWS = SAMPLE[-700:]
# Nothing is summed there, so nothing rounds otherwise.
BITS = ("tree", "eurusd_h1_sma_cross")


def models(folder: Path) -> dict[str, Path]:
    """Return the shipped models, and one of each family on both targets, in both layouts."""
    from authoring import test_exporters as zoo

    from bridge.authoring.build import build

    found = {each.parent.name: each for each in share_dir("models").glob("*/model.onnx")}
    for name, make in zoo.CLASSIFIERS.items():
        estimator = make().fit(zoo.X, zoo.Y)
        for target, layout in ((MT5, "bars+time"), (LEGACY, "rates")):
            place = folder / f"{name}_{target.name}"
            zoo.written(build(zoo.FEATURES, estimator, target=target, layout=layout), place)  # type: ignore[arg-type]
            found[place.name] = place / "model.onnx"
    return found


def prepared(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Write models, inputs and a manifest into ``folder``; return what this runtime answers."""
    manifest, answers = {}, {}
    for name, path in models(folder).items():
        loaded = load_model(path, probe=False)
        feeds = {key: np.array(each) for key, each in windows_of(ROWS, loaded.contract).items()}
        output = loaded.contract.output.name
        answers[name] = loaded.session.session.run([output], feeds)[0]
        inputs = {}
        for key, array in feeds.items():
            file = f"{name}.{key}.in"
            array.tofile(folder / file)
            inputs[key] = {"file": file, "dtype": str(array.dtype), "shape": array.shape}
        manifest[name] = {"model": str(path), "output": output, "inputs": inputs}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return answers


def with_oldest_wheel(folder: Path) -> list[str]:
    """Return the command of a Python with the oldest onnxruntime that pip has for it."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", "onnxruntime"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    versions = re.search(r"Available versions: (.+)", listed)
    assert versions is not None
    oldest = versions.group(1).split(",")[-1].strip()
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = [f"onnxruntime=={oldest}", "numpy<2"]
    subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
    return [str(python), str(HERE / "old_runtime.py")]


def with_node(folder: Path) -> list[str]:
    """Return the command of node with the runtime whose operators the terminal documents."""
    (folder / "package.json").write_text("{}")
    npm = ["npm", "install", NODE_RUNTIME, "--no-audit", "--no-fund"]
    subprocess.run(npm, cwd=folder, check=True, capture_output=True)
    return ["node", str(HERE / "old_runtime.js")]


def without_avx(folder: Path) -> list[str]:
    """Return the command of this Python on a processor of 2008, in ``folder`` or anywhere."""
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        pytest.skip("qemu-x86_64 (Debian: qemu-user) is not there")
    return [emulator, "-cpu", "Nehalem", sys.executable, str(HERE / "old_runtime.py")]


RUNTIMES = [with_oldest_wheel, with_node, without_avx]


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda each: each.__name__)
def test_old_runtimes_give_the_same_answers(
    runtime: Callable[[Path], list[str]], tmp_path: Path
) -> None:
    (tmp_path / "models").mkdir()
    answers = prepared(tmp_path / "models")
    command = runtime(tmp_path)
    subprocess.run([*command, tmp_path / "models"], cwd=tmp_path, check=True)
    apart = {}
    for name, expected in answers.items():
        found = np.fromfile(tmp_path / "models" / f"{name}.out", np.float32)
        # A forecast's unit may be points.
        unit = max(1.0, float(np.abs(expected).max()))
        found = found.reshape(expected.shape)
        apart[name] = float(np.abs(found - expected).max()) / unit
        assert (found.argmax(axis=-1) == expected.argmax(axis=-1)).all(), name
        sys.stdout.write(f"{runtime.__name__} {name}: {apart[name]:.2g}\n")
    assert max(apart.values()) <= 1e-6
    assert {name: each for name, each in apart.items() if name.startswith(BITS) and each} == {}
