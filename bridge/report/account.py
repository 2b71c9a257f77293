"""All that a report is made of: what the journal tells, and what follows from it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bridge.journal.read import JournalReader
from bridge.mt5.servertime import text
from bridge.report import tables, tester
from bridge.report.course import Course
from bridge.report.reach import excursions
from bridge.report.story import Story, story_of
from bridge.report.training import Model, Span, models_of, trained_share


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account as a report shows it.

    Attributes:
        course: The story's, with how far each trade went.
        models: That decided.
        spans: What they were trained on, one each, none twice.
        trained: Share of the bars inside ``spans``; None when no model's training is known.
    """

    story: Story
    course: Course
    models: tuple[Model, ...]
    spans: tuple[Span, ...]
    trained: float | None


def account_of(journal: JournalReader, files: Iterable[Path] = ()) -> Account:
    """Read a journal for a report.

    Args:
        journal: Whose.
        files: Model files to look into, besides those that the journal names.

    Raises:
        ConfigError: There is nothing to report.
    """
    story = story_of(journal)
    models = models_of(story, files)
    spans = tuple(dict.fromkeys(model.trained for model in models if model.trained))
    known = any(model.contract for model in models)
    return Account(
        story=story,
        course=replace(story.course, excursions=excursions(story)),
        models=models,
        spans=spans,
        trained=trained_share(story, spans) if known else None,
    )


def as_plain(account: Account) -> dict[str, Any]:
    """Return all numbers of a report, ready for JSON."""
    story, course = account.story, account.course
    first, last = period(story)
    return {
        "mode": story.mode,
        "currency": story.currency,
        "first": text(first),
        "last": text(last),
        "bars": sum(len(line.time) for line in story.lines),
        "deposit": course.deposit,
        "balance": float(course.balance[-1]),
        "trained_share": account.trained,
        "statistics": tester.plain(course),
        "months": [asdict(month) for month in tables.months(course)],
        "by_hour": [asdict(group) for group in tables.by_hour(course.trades)],
        "by_weekday": [asdict(group) for group in tables.by_weekday(course.trades)],
        "profits": [asdict(each) for each in tables.profits(course)],
        "holding_hours": [asdict(each) for each in tables.holding_hours(course)],
        "costs": asdict(tables.costs(story)),
        "signals": {
            line.title: [asdict(each) for each in tables.calibration(line)] for line in story.lines
        },
        "why_not": asdict(story.why_not),
        "models": [
            {"sha256": model.sha256, "name": model.contract.name if model.contract else None}
            for model in account.models
        ],
    }


def period(story: Story) -> tuple[int, int]:
    """Return the close of the first and the last bar, server epoch seconds."""
    return (
        min(int(line.time[0]) for line in story.lines),
        max(int(line.time[-1]) for line in story.lines),
    )
