"""``mt5-onnx model inspect``: contract, size, operators and outline of a model file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli import machine

if TYPE_CHECKING:
    from bridge.authoring.outline import Outline
    from bridge.model.files import ModelFile
    from bridge.model.probe import Report


def inspect(
    file: Annotated[Path, typer.Argument(help="The .onnx file.")],
    svg: Annotated[
        Path | None, typer.Option("--svg", help="Also draw the outline into this new file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> None:
    """Show what is in a model file: contract, size, operators, and the way of a bar through it."""
    from bridge.authoring.drawing import as_svg, as_tree
    from bridge.authoring.outline import outline
    from bridge.model.files import read_model_file
    from bridge.model.probe import probe

    found = read_model_file(file)
    report = probe(file)  # what no parser survives ends a child, not this
    made = outline(found.data)
    if svg is not None:
        _write(svg, as_svg(f"{file.name}, sha256 {found.sha256[:16]}...", made))
    if as_json:
        typer.echo(machine.as_json(_everything(found, report, made), indent=1))
        return
    for line in (*_head(found, report, made), "", *as_tree("a window of closed bars", made)):
        typer.echo(line)


def _write(path: Path, text: str) -> None:
    from bridge.errors import ConfigError

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{path} is there already: name another file") from error
    except OSError as error:
        raise ConfigError(f"{path} can't be written ({error.strerror}): name another") from error


def _head(found: "ModelFile", report: "Report", made: "Outline") -> list[str]:
    opsets = ", ".join(f"{name} {version}" for name, version in report.opsets.items())
    lines = [
        f"file       {found.path}, {len(found.data):,} bytes",
        f"sha256     {found.sha256}",
        f"versions   IR {report.ir}, opset {opsets}",
        f"graph      {made.nodes} nodes, {len(made.operators)} kinds of operators",
    ]
    contract = made.contract
    if contract is None:
        return [*lines, "contract   none: the daemon refuses it until it has one"]
    span = f"{contract.train_from} to {contract.train_to}" if contract.train_from else "nothing"
    return [
        *lines,
        f"contract   {contract.name}: {contract.symbol} {contract.timeframe}, {contract.window} "
        "closed bars an answer",
        f"made       {contract.created}, {contract.algorithm}, licence {contract.licence}",
        f"learnt     from {span}, server clock {contract.server_clock}",
        f"libraries  {', '.join(f'{n} {v}' for n, v in contract.libraries.items()) or 'not told'}",
    ]


def _everything(found: "ModelFile", report: "Report", made: "Outline") -> dict[str, Any]:
    return {
        "file": str(found.path),
        "size": len(found.data),
        "sha256": found.sha256,
        "ir": report.ir,
        "opsets": report.opsets,
        "nodes": made.nodes,
        "operators": made.operators,
        "inputs": report.inputs,
        "outputs": report.outputs,
        "contract": made.contract.model_dump(mode="json") if made.contract else None,
        "outline": {stage.title: stage.lines for stage in made.stages},
    }
