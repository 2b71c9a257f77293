"""``mt5-onnx journal``: look at what was seen, decided, sent and answered."""

import csv
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli import machine

if TYPE_CHECKING:
    from bridge.journal.read import JournalReader

journal = typer.Typer(help="Show or export a journal.", invoke_without_command=True)

JournalOption = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        help="The journal, or its folder; without it the newest below mt5-onnx-state.",
        show_default=False,
    ),
]


class Table(StrEnum):
    """A table of the journal."""

    RUNS = "runs"
    DECISIONS = "decisions"
    INTENTS = "intents"
    RESULTS = "results"
    DEALS = "deals"
    EVENTS = "events"


@journal.callback()
def options(context: typer.Context) -> None:
    """Show or export a journal."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@journal.command()
def show(
    path: JournalOption = None,
    last: Annotated[int, typer.Option(min=1, help="How many decisions.")] = 20,
    all_bars: Annotated[
        bool, typer.Option("--all", help="Holds too, not only decisions that act.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Show the last decisions: what was asked for, sent, and what came back."""
    from bridge.cli.state import find_journal
    from bridge.journal.read import reading

    with reading(find_journal(path)) as reader:
        where = "1" if all_bars else "action != 'hold'"
        rows = list(reader.rows("decisions", where))[-last:]
        lines = [{**row, "intents": reader.intents_of(row["id"])} for row in rows]
    for line in lines:
        typer.echo(machine.as_json(line) if as_json else _as_text(line))
    if not lines and not as_json:
        typer.echo("no decision acted yet; --all shows the holds, too")


def _as_text(row: dict[str, Any]) -> str:
    from bridge.mt5.servertime import text

    fates = "; ".join(fate(intent) for intent in row["intents"]) or "nothing sent"
    when = f"{text(row['bar_time'])}  {row['symbol']}"
    return f"{when}  {row['action']:<7}  {row['reason']}  ->  {fates}"


def fate(intent: dict[str, Any]) -> str:
    """Return what became of an intent, in words."""
    if intent["denied"]:
        return f"{intent['purpose']} denied by {intent['denied']}"
    result = intent["result"]
    if result is None:
        return f"{intent['purpose']} sent, no result written"
    answer = result["answer"] or {}
    return f"{intent['purpose']} {result['outcome']} ({answer.get('retcode', 'no answer')})"


@journal.command()
def export(
    path: JournalOption = None,
    table: Annotated[Table, typer.Option(help="Which table, without --json.")] = Table.DECISIONS,
    as_json: Annotated[
        bool, typer.Option("--json", help="All tables, one JSON object a line.")
    ] = False,
) -> None:
    """Write a table as CSV, or with --json the whole journal, to standard output."""
    from bridge.cli.state import find_journal
    from bridge.journal.read import reading

    with reading(find_journal(path)) as reader:
        if as_json:
            for each in Table:
                for row in reader.rows(each):
                    typer.echo(machine.as_json({"table": each, **row}))
        else:
            _as_csv(reader, table)


def _as_csv(reader: "JournalReader", table: Table) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for number, row in enumerate(reader.rows(table)):
        if number == 0:
            writer.writerow(row)
        writer.writerow(
            machine.as_json(value) if isinstance(value, dict | list) else value
            for value in row.values()
        )
