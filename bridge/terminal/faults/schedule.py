"""When a terminal goes wrong: a list of faults, scripted or drawn from a seed, kept as JSON."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from bridge.errors import ConfigError
from bridge.mt5.retcodes import BY_CODE, Outcome, retcode
from bridge.settings import Frozen
from bridge.settings.faults import first_fault_of
from bridge.terminal.faults.kinds import TERMS, VERBS, Kind, Terms, When

ANY = "any"
"""In place of a verb: any that the kind is about."""
_PARAMETERS = ("seconds", "share", "retcode", "later")
_Counted = Annotated[int, Field(strict=True, ge=1)]
_T = TypeVar("_T")


class Fault(Frozen):
    """One thing that goes wrong, from a certain call on, for a number of calls."""

    kind: Kind
    verb: str = ANY
    """Whose call it meets; "any" is the first of those that the kind is about."""
    call: _Counted = 1
    """Which call of ``verb``, counted from 1."""
    since: Annotated[int, Field(strict=True, ge=0)] = 0
    """Calls of any verb that have to be over before ``call`` counts."""
    when: When = When.BEFORE
    """Before the effect of the call or after it."""
    count: _Counted = 1
    """For how many calls: of any verb where the kind is a state, else of ``verb``."""
    seconds: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = None
    """Time on the clock: how long a call takes, how far back nothing shows."""
    share: Annotated[float, Field(strict=True, gt=0, lt=1, allow_inf_nan=False)] | None = None
    """Of the volume that is filled."""
    retcode: _Counted | None = None
    """What is answered; one that does not say that the order was taken."""
    later: _Counted | None = None
    """Calls of any verb until what is placed shows as done or rejected."""

    @property
    def terms(self) -> Terms:
        """What its kind is about."""
        return TERMS[self.kind]

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs whose calls are counted."""
        return self.terms.verbs if self.verb == ANY else (self.verb,)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        allowed = (ANY, *self.terms.verbs)
        if self.verb not in allowed:
            raise ValueError(
                f"{self.kind} is not about {self.verb!r}: use {' or '.join(allowed)} for verb"
            )
        for name in _PARAMETERS:
            if (getattr(self, name) is None) == (name in self.terms.needs):
                lack = "needs" if name in self.terms.needs else "takes no"
                raise ValueError(f"{self.kind} {lack} {name}: {_ADVICE[lack]}")
        if self.when is When.AFTER and not self.terms.has_after:
            raise ValueError(f"{self.kind} has no 'after': leave when out")
        self._check_retcode()
        return self

    def _check_retcode(self) -> None:
        if self.retcode is None:
            return
        outcome = retcode(self.retcode).outcome
        if outcome not in (Outcome.REJECTED, Outcome.UNRESOLVED):
            raise ValueError(
                f"retcode {self.retcode} says that the order was taken: use a code of a refusal, "
                "partial_fill or placed_then_done"
            )
        if self.when is When.AFTER and outcome is Outcome.REJECTED:
            raise ValueError(
                f"retcode {self.retcode} says that nothing was done, so it has no 'after': "
                "use a code that leaves it open, such as 10012 or 10031"
            )

    def __str__(self) -> str:
        """Say what it is in a few words, such as ``null after``."""
        given = {name: getattr(self, name) for name in ("count", *_PARAMETERS)}
        shown = [
            f"{name} {value:g}"
            for name, value in given.items()
            if value is not None and (name, value) != ("count", 1)
        ]
        when = [str(self.when)] if self.terms.has_after else []
        return " ".join([self.kind, *when, *shown])


_ADVICE = {"needs": "give it", "takes no": "leave it out"}


class Schedule(Frozen):
    """All that goes wrong in a run. Of two faults at one call the earlier one meets it first."""

    faults: tuple[Fault, ...] = ()

    @classmethod
    def of(cls, *faults: Fault) -> Self:
        """Return the schedule of these faults."""
        return cls(faults=faults)

    @classmethod
    def random(
        cls,
        seed: int,
        *,
        calls: int,
        density: float,
        kinds: Iterable[Kind] = tuple(Kind),
        verbs: Iterable[str] = VERBS,
    ) -> Self:
        """Return a schedule drawn from ``seed``; equal arguments give equal schedules.

        Args:
            seed: Of the drawing.
            calls: How many calls of all verbs the run makes, about, >= 0.
            density: Faults a call, 0 to 1.
            kinds: Of the faults; those without any of ``verbs`` are left out.
            verbs: Whose calls they meet.

        Raises:
            ConfigError: A number out of range, or none of the kinds is about any of the verbs.
        """
        if calls < 0 or not 0.0 <= density <= 1.0:
            raise ConfigError(
                f"a schedule needs calls >= 0 and a density of 0 to 1: {calls=}, {density=}"
            )
        chosen, asked = set(kinds), set(verbs)
        places = [
            (kind, met)
            for kind in Kind
            if kind in chosen and (met := [v for v in TERMS[kind].verbs if v in asked])
        ]
        if not places:
            raise ConfigError("none of the kinds is about any of the verbs: name others")
        draw = _Draw(seed)
        faults = [draw.fault(calls, *draw.one_of(places)) for _ in range(round(calls * density))]
        return cls(faults=tuple(sorted(faults, key=lambda fault: fault.since)))

    def to_json(self) -> str:
        """Return the schedule as JSON; what a fault leaves out is not written."""
        return self.model_dump_json(indent=2, exclude_none=True) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, *, name: str = "the schedule") -> Self:
        """Return the schedule that :meth:`to_json` has written.

        Args:
            text: ``{"faults": [...]}``, UTF-8.
            name: What it is called in an error.

        Raises:
            ConfigError: It is none, or a fault that is not possible.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise ConfigError(f"{name}: {first_fault_of(error, cls)}") from error

    def save(self, path: Path) -> None:
        """Write the schedule to a file."""
        path.write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the schedule of a file.

        Raises:
            ConfigError: It can't be read, or holds no schedule.
        """
        try:
            text = path.read_bytes()
        except OSError as error:
            raise ConfigError(
                f"schedule {path} can't be read ({error}): name a file that save has written"
            ) from error
        return cls.from_json(text, name=f"schedule {path}")


_SECONDS = (0.5, 2.0, 10.0, 60.0, 300.0)
_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
_LONGEST_COUNT, _LATEST = 4, 12
# The last one is a code that nobody knows.
_REFUSALS = (
    *(each.code for each in BY_CODE.values() if each.outcome is Outcome.REJECTED),
    *(each.code for each in BY_CODE.values() if each.outcome is Outcome.UNRESOLVED),
    10_099,
)


class _Draw:
    """Draws faults. Only ``random()`` is asked, whose numbers are the same on every Python."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311  a test's dice are no secret

    def below(self, end: int) -> int:
        return int(self._rng.random() * end)

    def one_of(self, items: Sequence[_T]) -> _T:
        return items[self.below(len(items))]

    def fault(self, calls: int, kind: Kind, verbs: list[str]) -> Fault:
        drawn: dict[str, Any] = {
            "seconds": self.one_of(_SECONDS),
            "share": self.one_of(_SHARES),
            "retcode": self.one_of(_REFUSALS),
            "later": 1 + self.below(_LATEST),
        }
        terms = TERMS[kind]
        is_closed = kind is Kind.RETCODE and retcode(drawn["retcode"]).outcome is Outcome.REJECTED
        has_after = terms.has_after and not is_closed
        return Fault(
            kind=kind,
            verb=self.one_of(verbs),
            since=self.below(calls),
            when=self.one_of((When.BEFORE, When.AFTER)) if has_after else When.BEFORE,
            count=1 + self.below(_LONGEST_COUNT),
            **{name: drawn[name] for name in terms.needs},
        )
