"""Many runs, a table of what happened in them, and files of the schedules that found something."""

import argparse
import json
import math
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from bridge.clock import SystemClock
from bridge.model.load import LoadedModel
from campaign.bugs import PLANTED
from campaign.killed import play_killed
from campaign.plan import Plan, draw
from campaign.play import Played, play
from campaign.stage import model_in

_MEMORY = Path("/dev/shm")  # noqa: S108  runs leave nothing there


@contextmanager
def workshop() -> Iterator[Path]:
    """Yield a folder for the files of runs, in memory where the system offers that."""
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        yield Path(folder)


@dataclass
class Tally:
    """What happened in many runs."""

    runs: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    deaths: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    violated: Counter[str] = field(default_factory=Counter)

    def add(self, played: Played) -> None:
        """Count a run."""
        evidence, course = played.evidence, played.course
        self.runs += 1
        self.deaths += course.deaths
        self.fired += played.fired
        self.events += Counter(row["kind"] for row in evidence.events)
        self.violated += Counter({found.check for found in played.found})
        self.outcomes += Counter(
            f"{row['purpose']} {row['result']['outcome'] if row['result'] else 'denied'}"
            for row in evidence.intents
        )
        self.counts += Counter(
            {
                "decisions": len(evidence.decisions),
                "requests on the wire": len(evidence.sent),
                "deals of ours": len(evidence.own_deals),
                "lives": course.lives,
                "starts without answer": course.refused,
                "late entries": len(evidence.late),
                "runs with a violation": bool(played.found),
            }
        )

    def lines(self) -> Iterator[str]:
        """Yield the table."""
        rate = self.runs / self.seconds if self.seconds else 0.0
        yield f"{self.runs} runs in {self.seconds:.0f} s, {rate:.1f} a second"
        tables = {
            "in all": self.counts,
            "orders": self.outcomes,
            "faults that changed a call": self.fired,
            "crashes": self.deaths,
            "events": self.events,
            "violations, runs": self.violated or Counter({"none": 0}),
        }
        for title, counts in tables.items():
            yield f"\n{title}"
            for name, count in sorted(counts.items()):
                yield f"  {name:<44}{count:>9}"

    def as_dict(self) -> dict[str, object]:
        """Return all of it, so that tallies can be added up."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


Player = Callable[[Plan, Path, LoadedModel], Played]


def run_plan(plan: Plan, model: LoadedModel, shop: Path, by: Player = play) -> Played:
    """Play one plan in a folder of its own, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(dir=shop))
    try:
        return by(plan, folder, model)
    finally:
        shutil.rmtree(folder)


def save(played: Played, folder: Path) -> Path:
    """Write a run to ``campaign-SEED.json``, to be replayed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"campaign-{played.plan.seed}.json"
    content = {
        "violations": [str(each) for each in played.found],
        "plan": json.loads(played.plan.model_dump_json()),
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


def load(path: Path) -> Plan:
    """Return the plan of a file that :func:`save` has written."""
    return Plan.model_validate(json.loads(path.read_text(encoding="utf-8"))["plan"])


def shrunk(plan: Plan, model: LoadedModel, shop: Path) -> Plan:
    """Return ``plan`` without the faults, actions and kills that its first violation don't need."""
    checks = [found.check for found in run_plan(plan, model, shop).found][:1]
    return _shrunk(plan, checks, model, shop)


def _shrunk(plan: Plan, checks: list[str], model: LoadedModel, shop: Path) -> Plan:
    for smaller in _fewer(plan):
        if {found.check for found in run_plan(smaller, model, shop).found}.issuperset(checks):
            return _shrunk(smaller, checks, model, shop) if checks else plan
    return plan


def _fewer(plan: Plan) -> Iterator[Plan]:
    """Yield the plan with a half, a quarter ... of each of its lists left out."""
    lists = {"faults": plan.schedule.faults, "actions": plan.actions, "dooms": plan.dooms}
    for name, items in lists.items():
        size = len(items)
        while size > 0:
            for first in range(0, len(items), size):
                left = (*items[:first], *items[first + size :])
                change = plan.schedule.model_copy(update={"faults": left})
                name_of = "schedule" if name == "faults" else name
                yield plan.model_copy(update={name_of: change if name == "faults" else left})
            size //= 2
    if len(plan.strategies) > 1:
        for number in range(len(plan.strategies)):
            yield plan.model_copy(update={"strategies": (plan.strategies[number],)})


def campaign(
    seeds: Iterable[int],
    folder: Path,
    shop: Path,
    *,
    by: Player = play,
    seconds: float = math.inf,
) -> Tally:
    """Play the plans of ``seeds``, while ``seconds`` last; save what finds something."""
    tally, began, model = Tally(), SystemClock().now(), model_in(shop)
    for seed in seeds:
        if SystemClock().now() - began > seconds:
            break
        played = run_plan(draw(seed), model, shop, by)
        tally.add(played)
        if played.found:
            path = save(played, folder)
            said = "\n  ".join(map(str, played.found))
            print(f"seed {seed}: {path}\n  {said}", flush=True)  # noqa: T201
    tally.seconds = SystemClock().now() - began
    return tally


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign, or replay what it has saved; 1 when something was found."""
    options = _options().parse_args(arguments)
    with workshop() as shop:
        if options.replay is None:
            seeds = range(options.first, options.first + options.runs)
            by = play_killed if options.kill else play
            with PLANTED[options.plant]() if options.plant else nullcontext():
                tally = campaign(seeds, options.out, shop, by=by, seconds=options.seconds)
            print("\n".join(tally.lines()))  # noqa: T201
            if options.tally:
                options.tally.write_text(json.dumps(tally.as_dict()), encoding="utf-8")
            return int(bool(tally.violated))
        plan = load(options.replay)
        if options.shrink:
            plan = shrunk(plan, model_in(shop), shop)
        played = run_plan(plan, model_in(shop), shop)
        if options.shrink:
            print(save(played, options.out))  # noqa: T201
        print("\n".join(map(str, played.found)) or "nothing is wrong")  # noqa: T201
        return int(bool(played.found))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="how many")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no run later")
    parser.add_argument(
        "--out", type=Path, default=Path("campaign"), help="folder of what has found something"
    )
    parser.add_argument("--tally", type=Path, help="file of the figures, as JSON")
    parser.add_argument("--kill", action="store_true", help="in processes that end by SIGKILL")
    parser.add_argument("--plant", choices=PLANTED, help="a fault of the program, to be found")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="play a saved run again")
    parser.add_argument(
        "--shrink", action="store_true", help="with --replay: leave out what is not needed"
    )
    return parser
