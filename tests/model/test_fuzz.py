"""Damaged files: whatever byte is wrong, the answer is a sentence and exit code 4.

``python tests/model/test_fuzz.py 10000`` prints the figures of a long run (needs fork). With
``BRIDGE_FUZZ=10000`` the test itself does so many.
"""

import collections
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))  # as a script it has no pytest to do so

from model.model_files import bars_model, contract  # noqa: E402

from bridge.errors import ModelError  # noqa: E402
from bridge.model import cage  # noqa: E402
from bridge.model.confine import confine  # noqa: E402
from bridge.model.contract import body_sha256, with_contract  # noqa: E402
from bridge.model.files import read_model_file  # noqa: E402

COUNT = 150
SECONDS = 20
MEMORY = 2 * 1024**3


def damaged(data: bytes, numbers: random.Random) -> bytes:
    """Return ``data`` with one byte changed; now and then one lost or doubled, or more changed."""
    at, kind = numbers.randrange(len(data)), numbers.random()
    if kind < 0.1:
        return data[:at] + data[at + 1 :]
    if kind < 0.2:
        return data[:at] + data[at : at + 1] + data[at:]
    changed = bytearray(data)
    for place in (at,) if kind < 0.9 else (at, numbers.randrange(len(data)), at // 2):
        changed[place] ^= numbers.randrange(1, 256)
    return bytes(changed)


def in_child(work: Callable[[], int], out: Path) -> int:
    """Return the code of ``work`` in a fork with limits; its stdout and stderr go to files."""
    child = os.fork()
    if child == 0:
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(out / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        confine(MEMORY, SECONDS)
        code = 99
        try:
            code = work()
            sys.stdout.flush()
        except BaseException:  # noqa: BLE001  told, and the run fails
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def sentence(work: Callable[[], object]) -> str | None:
    """Return what ``work`` refuses with; None when it does not."""
    try:
        work()
    except ModelError as error:
        return str(error)
    return None


def one(path: Path, pin: str, body: str, module: str, out: Path) -> str:
    """Return what became of a damaged file; raise when it is anything but a sentence."""
    from bridge.model import inspection
    from bridge.model.lint import judge

    assert sentence(lambda: read_model_file(path, pin=pin)) is not None  # gets no further
    if said := sentence(lambda: read_model_file(path)):
        assert str(path) in said
        return "refused by its bytes"
    works = {
        "inspection": lambda: inspection.main([str(path)]),
        "judge": lambda: judge.main([str(path), "mt5", ""]),
    }
    code = in_child(works[module], out)
    answer, errors = (out / "stdout").read_bytes(), (out / "stderr").read_text(errors="replace")
    assert "Traceback" not in errors, errors
    assert code in (0, ModelError.exit_code) or code < 0, (code, errors)
    if said := sentence(lambda: cage.verdict(path, code, answer)):
        assert str(path) in said
        assert "\n" not in said
        return f"ended by {signal.Signals(-code).name}" if code < 0 else "refused"
    if module == "judge":
        return "judged"
    # What is accepted has an undamaged graph: only text beside it, which the pin guards, differs.
    # A file whose contract is gone is refused by the load, after this.
    report = json.loads(answer)
    assert report["body_sha256"] == body or not report["has_contract"], path.read_bytes()
    if not report["has_contract"]:
        return "without a contract, which no load takes"
    return "accepted, its graph unharmed"


def long_run(count: int, seed: int) -> dict[str, int]:
    import onnx

    import bridge.model.inspection
    import bridge.model.lint.judge  # noqa: F401  loaded once, before the forks

    numbers = random.Random(seed)  # noqa: S311
    whole = with_contract(bars_model(), contract())
    pin, body = hashlib.sha256(whole).hexdigest(), body_sha256(onnx.load_from_string(whole))
    found: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.onnx"
        for turn in range(count):
            data = damaged(whole, numbers)
            if data == whole:
                continue
            path.write_bytes(data)
            module = "judge" if turn % 5 == 0 else "inspection"
            found[one(path, pin, body, module, Path(folder))] += 1
    return dict(found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks, so that a child costs milliseconds")
def test_damaged_files_are_refused_in_a_sentence_and_kill_no_parent() -> None:
    count = os.environ.get("BRIDGE_FUZZ", str(COUNT))
    done = subprocess.run(
        [sys.executable, __file__, count],
        capture_output=True,
        check=False,
        env=cage.environment(),
        cwd=TESTS.parent,
    )
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert sum(found.values()) >= int(count) * 0.95
    assert found["refused"] > int(count) * 0.2
    # The children that are let in hold what they were given.
    assert found.get("accepted, its graph unharmed", 0) < int(count) * 0.5


if __name__ == "__main__":
    sys.stdout.write(json.dumps(long_run(int(sys.argv[1]), 1)) + "\n")
