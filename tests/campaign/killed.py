"""A run whose daemons are processes of their own, and die by SIGKILL.

The paper terminal is in the same process and is gone with it; its account is a file and goes on, as
a broker does. What the faults had hidden shows then. Faults of each life are drawn anew.
"""

import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from bridge.errors import TerminalError
from bridge.model.load import LoadedModel
from bridge.terminal.faults.effects import Crash
from campaign.daemon import Daemon
from campaign.evidence import gather
from campaign.invariants import violations
from campaign.plan import Dice, Plan, draw
from campaign.play import QUIET, Course, Doom, Played, told
from campaign.stage import ACCOUNT, Stage, strategies_of

_STATE = "state.json"
# Lives among faults; one more follows, to the end.
_LIVES = 5
# A life ends within so many moments of its journal, if it does.
_MOMENTS = 150
_STRIDE = 1_000_003


def play_killed(plan: Plan, folder: Path, model: LoadedModel) -> Played:
    """Play a plan in child processes, and hold what is left against the invariants."""
    course = Course()
    for number in range(_LIVES):
        course.lives += 1
        status = _forked(lambda: _live(plan, folder, model, number))  # noqa: B023  waited for
        if not os.WIFSIGNALED(status):
            break
        course.deaths[f"signal {os.WTERMSIG(status)}"] += 1
    course.lives += 2
    status = _forked(lambda: _settle(plan, folder, model))
    state = _read(folder)
    course.raised += [*state["raised"], *([] if status == 0 else [f"ended with {status}"])]
    # Where the account began is a matter of the plan alone.
    with closing(Stage(plan, folder, strategies_of(plan, model))) as origin:
        first_deal = origin.first_deal
    with closing(_stage(plan, folder, model)) as stage:
        found = gather(stage, raised=tuple(course.raised), restarted=state["restarted"])
    evidence = replace(found, first_deal=first_deal)
    fired = Counter(state["fired"])
    return Played(plan, course, fired, evidence, tuple(violations(evidence)))


def _forked(live: Callable[[], None]) -> int:
    """Do something in a child process, and return how it ended."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            live()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def _stage(plan: Plan, folder: Path, model: LoadedModel) -> Stage:
    started = _read(folder)["now"]
    strategies = strategies_of(plan, model)
    return Stage(plan, folder, strategies, account=folder / ACCOUNT, started=started)


def _live(plan: Plan, folder: Path, model: LoadedModel, number: int) -> None:
    """Live among faults until something kills the process, or they are over."""
    seed = plan.seed + number * _STRIDE
    now = plan.model_copy(update={"schedule": draw(seed).schedule})
    stage = _stage(now, folder, model)

    def kill() -> None:
        _write(stage, down=plan.down)
        os.kill(os.getpid(), signal.SIGKILL)

    doom = Doom([1 + Dice(seed).below(_MOMENTS)], kill)
    while stage.clock.now() < stage.noise_ends:
        try:
            with closing(Daemon(stage, doom)) as daemon:
                daemon.run(stage.noise_ends)
        except Crash:
            kill()
        except TerminalError:
            stage.clock.wait_until(stage.clock.now() + plan.down)
        except Exception as error:  # noqa: BLE001  whatever it is, the run has found it
            _write(stage, raised=told(error))
            stage.clock.wait_until(stage.clock.now() + plan.down)
    _write(stage)
    stage.close()


def _settle(plan: Plan, folder: Path, model: LoadedModel) -> None:
    """Live without faults, and once more after a start."""
    stage = _stage(plan, folder, model)
    stage.calm()
    stage.clock.wait_until(stage.noise_ends)  # nobody else interferes then
    for _ in range(2):
        _write(stage, restarted=stage.clock.now())
        try:
            with closing(Daemon(stage)) as daemon:
                daemon.run(stage.clock.now() + QUIET)
        except Exception as error:  # noqa: BLE001  whatever it is, the run has found it
            _write(stage, raised=told(error))
    _write(stage)
    stage.close()


def _read(folder: Path) -> dict[str, Any]:
    path = folder / _STATE
    nothing: dict[str, Any] = {"now": None, "restarted": 0.0, "fired": {}, "raised": []}
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else nothing


def _write(
    stage: Stage, *, down: float = 0.0, raised: str | None = None, restarted: float | None = None
) -> None:
    """Write what outlasts the process: when it ended, what has failed so far."""
    state = _read(stage.folder)
    state["now"] = stage.clock.now() + down
    state["fired"] = Counter(state["fired"]) + stage.new_faults()
    state["raised"] += [] if raised is None else [raised]
    state["restarted"] = state["restarted"] if restarted is None else restarted
    (stage.folder / _STATE).write_text(json.dumps(state), encoding="utf-8")
