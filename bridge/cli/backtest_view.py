"""Show a back-test: a bar that moves, tables, and where the journal is; or one JSON object."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from bridge.cli.backtest_outcome import Outcome, Tested
from bridge.cli.machine import as_json
from bridge.engine.honest.features import Peek
from bridge.engine.honest.lookahead import Difference, Findings
from bridge.engine.honest.montecarlo import PERCENTILES, Luck, MonteCarlo
from bridge.mt5.servertime import text

_MOST = 3
"""Findings of a kind that are shown to a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """All that a back-test was asked for.

    Attributes:
        outcome: Of the plain run.
        seconds: That it took, without loading settings, models and bars.
        lookahead, peeks: Of ``--check-lookahead``; None and empty without it.
        stress: Of ``--stress``, by title.
        luck: Of ``--monte-carlo``; None without it, or without trades.
        stopped_by: Name of the signal that ended it early; empty without one.
    """

    outcome: Outcome
    seconds: float
    lookahead: Findings | None = None
    peeks: tuple[Peek, ...] = ()
    stress: Mapping[str, Outcome]
    luck: MonteCarlo | None = None
    stopped_by: str = ""

    @property
    def sees_future(self) -> bool:
        """Whether a check found something that was not known yet."""
        return bool(self.peeks) or (self.lookahead is not None and not self.lookahead.is_clean)

    @property
    def warnings(self) -> list[str]:
        """Return what a person should know before any number."""
        return [
            *(_of_learning(each) for each in self.outcome.tested if each.learned.inside),
            *(f"entries were ended: {why}" for why in self.outcome.halts),
        ]


def _of_learning(tested: Tested) -> str:
    known = tested.learned
    said = (
        f"{tested.title}: {known.share:.0%} of the bars lie inside the model's training span, "
        f"{known.train_from} to {known.train_to}"
    )
    if known.is_most:
        return f"{said}: most of this result was learned by heart and says nothing of the future"
    return said


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], Callable[[int], None]]]:
    """Show a progress bar on a terminal; nothing elsewhere, or when ``quiet``.

    Yields a function that begins a stretch: given its title, first and last number, it returns
    what is told the number reached.
    """
    console = Console()
    if quiet or not console.is_terminal:
        yield lambda title, first, last: lambda reached: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as shown:

        def begin(title: str, first: int, last: int) -> Callable[[int], None]:
            task = shown.add_task(title, total=max(1, last - first))
            return lambda reached: shown.update(task, completed=reached - first)

        yield begin


def show(result: Result) -> None:
    """Print the result for a person."""
    console = Console(highlight=False)
    outcome = result.outcome
    played = outcome.played
    span = f"bars {text(outcome.first)[:16]} to {text(outcome.last)[:16]} (server time)"
    count = outcome.why_not.decisions
    console.print(f"{count} decisions, {span if outcome.first else 'no bar'}")
    console.print(
        f"played in {result.seconds:.1f} s, {count / max(result.seconds, 1e-3):,.0f} bars a second"
    )
    for each in outcome.tested:
        console.print(f"  {each.title}: {each.model} ({each.sha256[:12]}), {each.bars} bars")
    console.print(_table({"plain": outcome, **result.stress}))
    if result.lookahead is not None:
        console.print(_of_lookahead(result))
    if result.luck is not None:
        console.print(_of_luck(result.luck))
    for warning in result.warnings:
        console.print(f"Warning: {warning}.")
    if played.positions:
        console.print(
            f"{played.positions} positions are still open; they count in equity and drawdown only."
        )
    console.print(f"Why not: {outcome.why_not}.")
    console.print(f"Journal: {played.journal}", soft_wrap=True)
    console.print(f"Report: mt5-onnx report {played.folder}", soft_wrap=True)


def _table(outcomes: Mapping[str, Outcome]) -> Table:
    table = Table("", *outcomes)
    for column in table.columns[1:]:
        column.justify = "right"
    cells = [_cells(each) for each in outcomes.values()]
    for name in cells[0]:
        table.add_row(name, *(each[name] for each in cells))
    return table


def _cells(outcome: Outcome) -> dict[str, str]:
    of, account = outcome.statistics, outcome.played.account
    currency = account.currency
    return {
        "trades": str(of.trades),
        "win rate": "-" if of.win_rate is None else f"{of.win_rate:.1%}",
        "profit factor": "-" if of.profit_factor is None else f"{of.profit_factor:.2f}",
        f"net profit, {currency}": f"{of.net_profit:,.2f}",
        "a trade": "-" if outcome.mean_result is None else f"{outcome.mean_result:,.2f}",
        "max drawdown": f"{of.max_drawdown:,.2f} ({of.max_drawdown_share:.1%})",
        "commission": f"{of.commission:,.2f}",
        "swap": f"{of.swap:,.2f}",
        "balance at the end": f"{account.balance:,.2f}",
        "equity at the end": f"{account.equity:,.2f}",
    }


def _of_lookahead(result: Result) -> str:
    found = result.lookahead
    if found is None:
        return ""
    what = f"{found.compared} decisions before {len(found.cuts)} cuts"
    if not result.sees_future:
        return f"Look-ahead: none; {what} are the same without the future."
    lines = [
        *(_difference(each) for each in found.differences[:_MOST]),
        *(f"a bar changed after it had closed: {each}" for each in found.rewritten[:_MOST]),
        *(f"feature {each}" for each in result.peeks[:_MOST]),
    ]
    return "\n  ".join([f"LOOK-AHEAD: the future was seen ({what} compared):", *lines])


def _difference(found: Difference) -> str:
    when = "" if found.bar_time is None else f" of {text(found.bar_time)}"
    who = "" if found.magic is None else f" (magic {found.magic})"
    if not found.columns:
        there = "with" if found.with_future.count(None) < found.without.count(None) else "without"
        return f"{found.what}{when}{who}: only there {there} the future"
    pairs = zip(found.columns, found.with_future, found.without, strict=True)
    first = "; ".join(f"{name} {one} with the future, {two} without" for name, one, two in pairs)
    return f"{found.what}{when}{who}: {first[:200]}"


def _of_luck(luck: MonteCarlo) -> Table:
    title = f"{luck.trades} trades, {luck.shuffled.runs} runs each"
    kinds = {
        f"shuffled, {luck.missed_share:.0%} missed": luck.shuffled,
        "drawn again": luck.redrawn,
    }
    table = Table("percentile", *(f"{each} %" for each in PERCENTILES), "losing", title=title)
    for name, of in kinds.items():
        _add(table, f"{name}: balance", of, of.balance, "{:,.0f}")
        _add(table, f"{name}: drawdown", of, of.drawdown_share, "{:.1%}")
    return table


def _add(table: Table, name: str, of: Luck, values: Mapping[int, float], form: str) -> None:
    losing = f"{of.losing_share:.1%}"
    table.add_row(name, *(form.format(values[each]) for each in PERCENTILES), losing)


def result_json(result: Result) -> str:
    """Return the result for a machine."""
    found = result.lookahead
    plain = {
        **_plain(result.outcome),
        "seconds": round(result.seconds, 3),
        "stopped_by": result.stopped_by or None,
        "warnings": result.warnings,
        "lookahead": None
        if found is None
        else {
            "is_clean": not result.sees_future,
            **asdict(found),
            "features": [asdict(each) for each in result.peeks],
        },
        "stress": {title: _plain(each) for title, each in result.stress.items()},
        "monte_carlo": None if result.luck is None else asdict(result.luck),
    }
    return as_json(plain, indent=2)


def _plain(outcome: Outcome) -> dict[str, Any]:
    played = outcome.played
    return {
        "journal": str(played.journal),
        "has_ended": played.has_ended,
        "first": text(outcome.first) if outcome.first else None,
        "last": text(outcome.last) if outcome.last else None,
        "currency": played.account.currency,
        "deposit": outcome.deposit,
        "balance": played.account.balance,
        "equity": played.account.equity,
        "open_positions": played.positions,
        "mean_result": outcome.mean_result,
        "statistics": asdict(outcome.statistics),
        "why_not": asdict(outcome.why_not),
        "halts": outcome.halts,
        "strategies": [
            {**asdict(each), "learned_share": each.learned.share} for each in outcome.tested
        ],
    }
