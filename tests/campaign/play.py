"""A whole run: daemons live and die among faults, all is quiet, the books are compared."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb

from bridge.errors import TerminalError
from bridge.model.load import LoadedModel
from bridge.terminal.faults.effects import Crash
from campaign.daemon import Daemon
from campaign.evidence import Evidence, gather
from campaign.invariants import Violation, violations
from campaign.plan import Plan
from campaign.stage import Stage, strategies_of

# Seconds between two tries to start where the terminal does not answer.
_AGAIN = 5.0
QUIET = 190.0
"""Seconds of quiet before the last start, and after it."""
# So many are enough to know.
_MOST_RAISED = 4
_FRAMES = 3


class Doom:
    """Counts the moments of a journal, over all lives of a run, and ends some of them.

    Args:
        moments: Numbers of the moments, from 1, at which it ends.
        strike: How.
    """

    def __init__(self, moments: Iterable[int], strike: Callable[[], None]) -> None:
        self.count = 0
        self._moments = set(moments)
        self._strike = strike

    def __call__(self) -> None:
        self.count += 1
        if self.count in self._moments:
            self._strike()

    def calm(self) -> None:
        """End no more."""
        self._moments.clear()

    def add(self, moment: int) -> None:
        """End one more."""
        self._moments.add(moment)


def crash() -> None:
    """End the life in process.

    Raises:
        Crash: Always.
    """
    raise Crash("at a write of the journal")


@dataclass
class Course:
    """How a run went.

    Attributes:
        lives: Starts of the daemon.
        deaths: How many ended by which crash.
        refused: Starts at which the terminal did not answer.
        raised: Exceptions that ended a life and are no crash of the plan.
    """

    lives: int = 0
    deaths: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    raised: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Played:
    """A run that is over."""

    plan: Plan
    course: Course
    fired: Counter[str]
    evidence: Evidence
    found: tuple[Violation, ...]


def play(plan: Plan, folder: Path, model: LoadedModel) -> Played:
    """Play a plan in process, and hold what is left against the invariants.

    Args:
        plan: Of the run.
        folder: Empty, for its files.
        model: Loaded once for all runs.
    """
    course = Course()
    with closing(Stage(plan, folder, strategies_of(plan, model))) as stage:
        doom = Doom(plan.dooms, crash)
        _among_faults(stage, course, doom)
        decided = stage.clock.now()
        _once_more(stage, course)
        evidence = gather(stage, raised=tuple(course.raised), restarted=decided)
        return Played(plan, course, stage.new_faults(), evidence, tuple(violations(evidence)))


def _among_faults(stage: Stage, course: Course, doom: Doom) -> None:
    """Live until faults are over and what they left has settled, however many lives it takes."""
    is_settled = False
    while not is_settled:
        course.lives += 1
        try:
            if stage.clock.now() >= stage.noise_ends:
                _calm(stage, doom)
            with closing(Daemon(stage, doom)) as daemon:
                daemon.run(stage.noise_ends)
                _calm(stage, doom)
                daemon.run(stage.clock.now() + QUIET)
                is_settled = True
        except Crash as death:
            course.deaths[str(death)] += 1
            stage.clock.wait_until(stage.clock.now() + stage.plan.down)
        except TerminalError:
            course.refused += 1
            stage.clock.wait_until(stage.clock.now() + _AGAIN)
        except Exception as error:  # noqa: BLE001  whatever it is, the run has found it
            course.raised.append(told(error))
            stage.clock.wait_until(stage.clock.now() + stage.plan.down)
            is_settled = len(course.raised) > _MOST_RAISED


def _calm(stage: Stage, doom: Doom) -> None:
    stage.calm()
    doom.calm()


def _once_more(stage: Stage, course: Course) -> None:
    """Start the daemon again on a terminal that works, and let it live to the end."""
    course.lives += 1
    try:
        with closing(Daemon(stage)) as daemon:
            daemon.run(stage.clock.now() + QUIET)
    except (Crash, Exception) as error:  # noqa: BLE001  whatever it is, the run has found it
        course.raised.append(told(error))


def told(error: BaseException) -> str:
    """Say what was raised and where, shortest way."""
    frames = extract_tb(error.__traceback__)[-_FRAMES:]
    where = " < ".join(f"{Path(each.filename).name}:{each.name}" for each in reversed(frames))
    return f"{type(error).__name__}: {error} ({where})"
