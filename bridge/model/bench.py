"""Bench: what an answer of a model costs here, under several options of the runtime.

Each option runs in a child of its own, so that memory is counted from the same start.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from bridge.errors import ModelError
from bridge.model.cage import Limits, answer, ask
from bridge.model.files import read_model_file
from bridge.settings import SessionSettings

CALLS = 2000
"""Calls that are timed, at most."""
SECONDS = 1.5
"""That they take, at most."""
WORTH = 0.9
"""Share of the time that other options must save to be worth a setting: below this."""
_BATCH = 256
_WARM = 20


@dataclass(frozen=True, slots=True)
class Option:
    """One way to run a model.

    Attributes:
        spinning: Whether threads wait awake; never recommended, it burns a core.
    """

    threads: int
    arena: bool
    spinning: bool = False

    @property
    def settings(self) -> SessionSettings:
        """The option as settings have it."""
        return SessionSettings(threads=self.threads, arena=self.arena)


@dataclass(frozen=True, slots=True)
class Measured:
    """What an option came to.

    Attributes:
        first_us: The first answer, microseconds.
        p50_us, p99_us: Of the later answers, microseconds.
        cpu_us: Computing time of one answer over all threads, microseconds.
        rows: Answers a second when many are asked at once, or one by one where that can't be.
        is_batched: Whether many can be asked at once.
        memory: Bytes that the process grew by from before the session to the end.
        answers: Hash of the answers; options that give other bits are not safe.
    """

    option: Option
    first_us: float
    p50_us: float
    p99_us: float
    cpu_us: float
    rows: float
    is_batched: bool
    memory: int
    answers: str


def grid(cores: int) -> tuple[Option, ...]:
    """Return the options for a computer with so many cores, the default first."""
    counts = [1, *(count for count in (2, 4) if count <= cores)]
    sleeping = [Option(count, arena) for count in counts for arena in (True, False)]
    return (*sleeping, Option(counts[-1], arena=True, spinning=True))


def bench(path: Path, options: tuple[Option, ...]) -> Iterator[Measured]:
    """Yield what each option comes to, as it is measured.

    Args:
        path: Of a model file, with or without a contract.
        options: The first is what others are compared with.

    Raises:
        ModelError: It can't be read, opened or run.
    """
    read_model_file(path)
    for option in options:
        words = [str(path), str(option.threads), str(int(option.arena)), str(int(option.spinning))]
        found = ask(path, "bridge.model.bench", words, Limits())
        yield Measured(option=option, **found)


def best(measured: tuple[Measured, ...]) -> Measured:
    """Return the fastest safe option: same bits, sleeping threads, and worth the change."""
    default = measured[0]
    safe = [each for each in measured if each.answers == default.answers]
    found = min((each for each in safe if not each.option.spinning), key=lambda each: each.p50_us)
    return found if found.p50_us < WORTH * default.p50_us else default


def measure(path: Path, option: Option) -> dict[str, Any]:
    """Return the figures of one option; runs in the cage.

    Raises:
        ModelError: The file can't be opened or run.
    """
    import onnxruntime as ort

    from bridge.model.session import RUNTIME_ERRORS, first_line, session_options

    data = read_model_file(path).data
    options = session_options(option.settings)
    if option.spinning:
        options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    before = _memory()
    try:
        session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        return _timed(session, before)
    except RUNTIME_ERRORS as error:
        raise ModelError(
            f"it can't be measured ({first_line(error)}): see what mt5-onnx model lint says"
        ) from error


def _timed(session: Any, before: int) -> dict[str, Any]:
    one = _rows(session, 1)
    start = perf_counter()
    given = session.run(None, one)
    first = perf_counter() - start
    for _ in range(_WARM):
        session.run(None, one)
    taken: list[float] = []
    cpu = process_time()
    until = perf_counter() + SECONDS
    while len(taken) < CALLS and perf_counter() < until:
        start = perf_counter()
        session.run(None, one)
        taken.append(perf_counter() - start)
    cpu = (process_time() - cpu) / len(taken)
    p50, p99 = np.percentile(taken, [50, 99])
    rows = _throughput(session)
    return {
        "first_us": first * 1e6,
        "p50_us": float(p50) * 1e6,
        "p99_us": float(p99) * 1e6,
        "cpu_us": cpu * 1e6,
        "rows": rows or 1 / float(p50),
        "is_batched": rows is not None,
        "memory": max(_memory() - before, 0),
        "answers": sha256(b"".join(_bits(each) for each in given)).hexdigest(),
    }


def _bits(value: Any) -> bytes:
    return value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()


def _throughput(session: Any) -> float | None:
    """Return answers a second when many are asked at once; None where the graph takes one."""
    from bridge.model.session import RUNTIME_ERRORS

    many = _rows(session, _BATCH)
    if any(array.shape[:1] != (_BATCH,) for array in many.values()):
        return None
    try:
        session.run(None, many)
        start, runs = perf_counter(), 0
        while perf_counter() < start + SECONDS / 3:
            session.run(None, many)
            runs += 1
    except RUNTIME_ERRORS:
        return None
    return runs * _BATCH / (perf_counter() - start)


def _rows(session: Any, count: int) -> Mapping[str, Any]:
    """Return windows of plain bars for a model with a contract, random rows for another."""
    from bridge.model.contract import CONTRACT_KEY, read_contract
    from bridge.model.lint.trials import rows
    from bridge.model.session import metadata_of

    metadata = metadata_of(session)
    found = rows(session, 1, count)
    if found is None:
        raise ModelError("its inputs can't be filled with numbers: see mt5-onnx model lint")
    if CONTRACT_KEY not in metadata:
        return found
    from bridge.model.inspection import benign
    from bridge.model.windows import windows_of
    from bridge.mt5.timeframes import timeframe

    contract = read_contract(metadata)
    bars = benign(contract.window, timeframe(contract.timeframe).seconds)
    windows = windows_of(bars, contract)
    return {
        name: np.repeat(window, found[name].shape[0], axis=0) for name, window in windows.items()
    }


def _memory() -> int:
    """Return the bytes that this process holds in memory; 0 where nobody tells."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return _peak()
    return int(pages) * 4096


def _peak() -> int:
    """Return the most that the process has held, where only that is told."""
    if sys.platform == "win32":
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main(arguments: list[str]) -> int:
    """Measure PATH with THREADS, ARENA (0 or 1) and SPINNING (0 or 1)."""
    path, threads, arena, spinning = arguments
    option = Option(int(threads), arena == "1", spinning == "1")
    return answer(Path(path), lambda: measure(Path(path), option))


def as_row(measured: Measured) -> dict[str, Any]:
    """Return the figures as one flat row."""
    row: dict[str, Any] = asdict(measured)
    option: dict[str, Any] = row.pop("option")
    return option | row
