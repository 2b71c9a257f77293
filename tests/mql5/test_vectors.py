"""Golden vectors: exact arithmetic, the daemon and the MQL5 library answer the same."""

import math
import shutil
from pathlib import Path

import pytest

from bridge.market.barfile import read_bars
from bridge.mt5.timeframes import timeframe
from bridge.share import share_dir
from bridge.terminal.paper.profile import BrokerProfile
from mql5.host.compiler import Compiler
from mql5.host.play import desk
from mql5.host.program import Program
from mql5.vectors import make
from mql5.vectors.twins import TWINS

HERE = Path(__file__).parent / "vectors"
LINES = (HERE / "vectors.txt").read_text(encoding="ascii").splitlines()
NAMES = sorted({line.split("|")[0] for line in LINES})


def lines_of(name: str) -> list[list[str]]:
    return [line.split("|") for line in LINES if line.startswith(f"{name}|")]


def as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def is_near(answer: str, expected: str, ulps: int) -> bool:
    """Whether words are equal, and numbers at most so many units in the last place apart."""
    words, wanted = answer.split(), expected.split()
    if len(words) != len(wanted):
        return False
    for word, want in zip(words, wanted, strict=True):
        number, exact = as_number(word), as_number(want)
        if number is None or exact is None:
            if word != want:
                return False
        elif math.isnan(exact) or math.isinf(exact):
            if repr(number) != repr(exact):
                return False
        elif abs(number - exact) > ulps * math.ulp(exact):
            return False
    return True


def as_bits(answer: str) -> list[str]:
    """Return words, and numbers as the bits that they are; -0.0 counts as 0.0."""
    numbers = [(word, as_number(word)) for word in answer.split()]
    return [word if number is None else (number + 0.0).hex() for word, number in numbers]


@pytest.fixture(scope="module")
def answers(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What the MQL5 library answers, line by line, by the function's name."""
    folder = tmp_path_factory.mktemp("vectors")
    library = Path(__file__).parents[2] / "mql5"
    built = compiler.build(HERE / "Vectors.mq5", library)
    sample = share_dir("models/sample_bars")
    bars = read_bars(sample / "EURUSD_H1_2017.csv")[:10]
    profile = BrokerProfile.load(sample / "profile.json")
    desktop = desk(folder, profile, {"EURUSD": (timeframe("H1"), bars)}, int(bars["time"][5]))
    files = folder / "MQL5" / "Files"
    shutil.copy(HERE / "vectors.txt", files)
    Program(built, desktop, "EURUSD", timeframe("H1").value).script()
    found = (files / "answers.txt").read_text(encoding="ascii").splitlines()
    assert len(found) == len(LINES)
    by_name: dict[str, list[str]] = {name: [] for name in NAMES}
    for line, answer in zip(LINES, found, strict=True):
        by_name[line.split("|")[0]].append(answer)
    return by_name


def test_the_vectors_are_those_of_the_exact_arithmetic() -> None:
    """The file is what its maker makes: nobody has bent an expectation to a fault."""
    assert make.lines() == LINES


def test_every_function_meets_a_number_that_is_none_or_zero() -> None:
    """The vectors have NaN, infinity and zero among them."""
    fields = {word for line in LINES for field in line.split("|") for word in field.split()}
    assert {"nan", "inf", "-inf", "0.0"} <= fields
    assert set(NAMES) == set(TWINS)


@pytest.mark.parametrize("name", NAMES)
def test_the_daemon_answers_what_exact_arithmetic_says(name: str) -> None:
    """The Python twin, line by line."""
    wrong = [
        (arguments, TWINS[name](arguments), expected)
        for _, expected, ulps, *arguments in lines_of(name)
        if not is_near(TWINS[name](arguments), expected, int(ulps))
    ]
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_the_library_answers_what_the_daemon_answers(
    name: str, answers: dict[str, list[str]]
) -> None:
    """The MQL5 twin: near the exact answer, and equal to the daemon's to the bit."""
    wrong = []
    for (_, expected, ulps, *arguments), answer in zip(lines_of(name), answers[name], strict=True):
        twin = TWINS[name](arguments)
        if not is_near(answer, expected, int(ulps)) or as_bits(answer) != as_bits(twin):
            wrong.append((arguments, answer, twin, expected))
    assert wrong == []
