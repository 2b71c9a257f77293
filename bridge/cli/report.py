"""``mt5-onnx report``: a journal as one HTML file, a picture, or numbers."""

from pathlib import Path
from typing import Annotated

import typer

from bridge.cli import machine


def report(
    journal: Annotated[
        Path | None,
        typer.Argument(
            help="The journal, or its folder; without it the newest below mt5-onnx-state.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the HTML goes; without it report.html beside the journal.",
            show_default=False,
        ),
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option(help="Write a picture there, too; needs matplotlib.", show_default=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="All numbers as JSON; HTML only with --out.")
    ] = False,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            help="A model's file, to know what it was trained on; those that the journal names are "
            "found without.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show what came of a run: one HTML file that works offline."""
    from bridge.cli.state import find_journal
    from bridge.journal.read import reading
    from bridge.report.account import account_of, as_plain
    from bridge.report.page.page import page

    path = find_journal(journal)
    with reading(path) as reader:
        account = account_of(reader, model or [])
    if as_json:
        typer.echo(machine.as_json(as_plain(account), indent=2))
    if png is not None:
        from bridge.report.still import picture

        _write(png, picture(account), as_json=as_json)
    if out is not None or not (as_json or png is not None):
        html = page(account).encode("utf-8")
        _write(out or path.parent / "report.html", html, as_json=as_json)


def _write(path: Path, content: bytes, *, as_json: bool) -> None:
    from bridge.errors import ConfigError

    try:
        path.write_bytes(content)
    except OSError as error:
        raise ConfigError(
            f"{path} can't be written ({error.strerror}): name another file"
        ) from error
    typer.echo(f"{path}: {len(content) / 1e6:.1f} MB", err=as_json)
