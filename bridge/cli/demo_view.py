"""Show the demo: a bar that moves, a table, and what to try next; or one JSON object."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table

from bridge.cli.demo_run import Outcome, Watch
from bridge.cli.machine import as_json
from bridge.engine.step import Step
from bridge.mt5.servertime import text
from bridge.report.statistics import Statistics

NO_EVIDENCE = (
    "A few months of one market say nothing about the future: this shows that the path works, "
    "and is no evidence of profit."
)


@contextmanager
def watching(*, quiet: bool) -> Iterator[Watch]:
    """Show a progress bar and a live line while the demo runs; neither when ``quiet``."""
    if quiet:
        yield lambda step, number, total: None
        return
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    progress = Progress(*columns, console=Console(), transient=True)
    task = progress.add_task("")

    def watch(step: Step, number: int, total: int) -> None:
        progress.start()
        progress.update(task, completed=number, total=total, description=_live(step))

    try:
        yield watch
    finally:
        if progress.live.is_started:
            progress.stop()


def _live(step: Step) -> str:
    signal = f"long {step.signal.long:.2f} short {step.signal.short:.2f}"
    held = f"{step.holding.side} {step.holding.volume:g}" if step.holding else "flat"
    equity = "?" if step.equity is None else f"{step.equity:,.2f}"
    return f"{text(step.bar_time)}  {signal}  {held}  equity {equity}"


def show_table(outcome: Outcome) -> None:
    """Print the result for a person."""
    console = Console(highlight=False)
    console.print(
        f"{outcome.model} on EURUSD H1, bars {text(outcome.first)} to {text(outcome.last)} "
        f"(server time), none of which it was trained on"
    )
    console.print(_table(outcome))
    console.print(NO_EVIDENCE)
    console.print(f"\nWhy not: {outcome.why_not}.")
    console.print(f"Journal: {outcome.journal}", soft_wrap=True)
    console.print("\nTry next:")
    for command in _next(outcome):
        console.print(f"  {command}", soft_wrap=True)


def _table(outcome: Outcome) -> Table:
    table = Table("", "this model", "doing nothing", f"always long {outcome.long_volume:g} lots")
    columns = [
        _cells(each, outcome.currency) for each in (outcome.strategy, outcome.nothing, outcome.long)
    ]
    for column in table.columns[1:]:
        column.justify = "right"
    for name in columns[0]:
        table.add_row(name, *(cells[name] for cells in columns))
    return table


def _cells(of: Statistics, currency: str) -> dict[str, str]:
    return {
        "trades": str(of.trades),
        "win rate": "-" if of.win_rate is None else f"{of.win_rate:.1%}",
        "profit factor": "-" if of.profit_factor is None else f"{of.profit_factor:.2f}",
        f"net profit, {currency}": f"{of.net_profit:,.2f}",
        f"max drawdown, {currency}": f"{of.max_drawdown:,.2f} ({of.max_drawdown_share:.1%})",
        f"commission, {currency}": f"{of.commission:,.2f}",
        f"swap, {currency}": f"{of.swap:,.2f}",
    }


def _next(outcome: Outcome) -> list[str]:
    bar = text(outcome.acted if outcome.acted is not None else outcome.last)[:16]
    return [
        f'mt5-onnx why "{bar}"',
        "mt5-onnx journal show",
        "mt5-onnx demo --model eurusd_h1_sma_cross",
    ]


def show_json(outcome: Outcome) -> None:
    """Print the result for a machine."""
    plain = asdict(outcome)
    plain["first"], plain["last"] = text(outcome.first), text(outcome.last)
    plain["acted"] = None if outcome.acted is None else text(outcome.acted)
    plain["journal"] = str(outcome.journal)
    plain["next"] = _next(outcome)
    plain["note"] = NO_EVIDENCE
    print(as_json(plain, indent=2))  # noqa: T201  standard output is the interface here
