"""Models that people brought: what the lint says, what the repair does, and how far answers move.

One row a file of ``BRIDGE_TEST_DATA``/models. "repair" is the largest difference between the file
and its repaired form as they run (the graphs as written give the same bits, or nothing is
written); "reference" is the largest difference from the recorded outputs of the original.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from bridge.authoring.repair.mend import mend
from bridge.authoring.repair.plan import Plan
from bridge.errors import ModelError
from bridge.model.files import read_model_file
from bridge.model.lint.ceilings import ceiling
from bridge.model.lint.finding import Level, Verdict
from bridge.model.lint.judge import judge

HEAD = "| file | lint for mt5 | repaired | then | repair | reference |\n|---|---|---|---|---|---|"


def words(verdict: Verdict) -> str:
    """Return the worst findings by their rules' names."""
    bad = [each.rule for each in verdict.findings if each.level in (Level.BLOCKED, Level.WRONG)]
    care = sum(each.level is Level.CARE for each in verdict.findings)
    said = f"blocked: {', '.join(dict.fromkeys(bad))}" if bad else "loads"
    return f"{said}; {care} to know" if care else said


def apart(data: bytes, recorded: dict[str, Any] | None) -> str:
    """Return the largest difference from the recorded outputs, by their names."""
    if recorded is None:
        return "-"
    session = ort.InferenceSession(data)
    feed = {}
    for item in session.get_inputs():
        shape = recorded["input_shapes"][item.name]
        values = ((np.arange(int(np.prod(shape))) % 7) - 3) / 4
        feed[item.name] = values.reshape(shape).astype(np.float32)
    names = [item.name for item in session.get_outputs()]
    answers = dict(zip(names, session.run(names, feed), strict=True))
    worst = 0.0
    for told in recorded["outputs"]:
        wanted = told["first"] if "first" in told else [*told["value"][0].values()]
        got = np.ravel(answers[told["name"]])[: len(wanted)]
        worst = max(worst, float(np.abs(got - np.array(wanted)).max()))
    return f"{worst:.2g}"


def row(path: Path, name: str, recorded: dict[str, Any] | None) -> str:
    """Return a line of the table."""
    try:
        file = read_model_file(path)
        before = judge(file, ceiling("mt5"))
    except ModelError as error:
        return (
            f"| {name} | unreadable: {str(error).partition(': ')[0].split(' is ')[-1]} | no | | | |"
        )
    try:
        data, report = mend(file, Plan())
    except ModelError as error:
        return f"| {name} | {words(before)} | no: {str(error)[:70]}... | | | |"
    after = judge(type(file)(path, data, ""), ceiling("mt5"))
    done = f"{len(report.done)} changes" if report.done else "nothing to mend"
    figures = f"{report.difference:.2g} | {apart(data, recorded)}"
    return f"| {name} | {words(before)} | {done} | {words(after)} | {figures} |"


def main() -> None:
    folder = Path(os.environ["BRIDGE_TEST_DATA"]) / "models"
    recorded = json.loads((folder / "reference_outputs.json").read_text("utf-8"))["models"]
    print(HEAD)
    for path in sorted(folder.rglob("*.onnx")):
        name = path.relative_to(folder).as_posix()
        print(row(path, name, recorded.get(name)), flush=True)


if __name__ == "__main__":
    main()
