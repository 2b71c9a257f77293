"""``mt5-onnx model lint``: why a terminal or the daemon would refuse or misread a file."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli import machine

if TYPE_CHECKING:
    from bridge.model.lint.finding import Verdict


def lint(
    file: Annotated[Path, typer.Argument(help="The .onnx file, anybody's.")],
    target: Annotated[
        str,
        typer.Option(help="mt5: any terminal with ONNX; legacy: onnxruntime 1.8.1; this: daemon."),
    ] = "mt5",
    limits: Annotated[
        str | None,
        typer.Option(help="Versions of a newer terminal: OPSET/IR/ML, 20/9/4 since build 4230."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> None:
    """Say every reason why a model file would be refused or misread, worst first, and the fix.

    Exits with 4 when the file can't be loaded, or is blocked for the target.
    """
    from bridge.errors import ModelError
    from bridge.model.lint.examine import lint as lint_file

    found = lint_file(file, target, limits=limits)
    if as_json:
        typer.echo(machine.as_json(_everything(file, found), indent=1))
    else:
        for line in _lines(file, found):
            typer.echo(line)
    if found.is_blocked:
        raise typer.Exit(ModelError.exit_code)


def _lines(file: Path, found: "Verdict") -> list[str]:
    word = "blocked" if found.is_blocked else "nothing in the way" if found.findings else "clean"
    lines = [f"{file} for {found.target}: {word}"]
    for each in found.findings:
        lines += [
            "",
            f"{each.level.upper():8} {each.what}  [{each.rule}]",
            f"         why  {each.why}",
            f"         fix  {each.fix}",
        ]
    return lines


def _everything(file: Path, found: "Verdict") -> dict[str, object]:
    return {
        "file": str(file),
        "target": found.target,
        "blocked": found.is_blocked,
        "findings": [asdict(each) for each in found.findings],
    }
