"""``mt5-onnx model repair``: a model file mended, its answers proven unchanged."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bridge.cli import machine

if TYPE_CHECKING:
    from bridge.authoring.repair.plan import Batch, Plan, Repaired


def repair(
    file: Annotated[Path, typer.Argument(help="The .onnx file; it is never written to.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The new file; NAME.repaired.onnx.")
    ] = None,
    target: Annotated[str, typer.Option(help="mt5 or legacy (onnxruntime 1.8.1).")] = "mt5",
    keep: Annotated[
        list[str] | None, typer.Option(help="Output to keep; give it again for several.")
    ] = None,
    split: Annotated[bool, typer.Option("--split", help="One file for each output.")] = False,
    batch: Annotated[str, typer.Option(help="What a free batch becomes: 1, or free.")] = "1",
    dim: Annotated[
        list[str] | None, typer.Option(help="NAME=SIZE of another free dimension.")
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(help="Your own rows to prove it on: .npy, or .csv of numbers.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> None:
    """Mend what can be mended safely; the answers are proven unchanged, bit for bit.

    Exits with 4 when the file can't be opened, or the terminal would still refuse it.
    """
    from bridge.authoring.repair.plan import Plan
    from bridge.authoring.repair.repair import repaired
    from bridge.errors import ModelError

    plan = Plan(_target(target), tuple(keep or ()), _batch(batch), _dims(dim or []), rows)
    place = output or file.with_suffix(".repaired.onnx")
    data, found = repaired(file, plan)
    made = _split(file, plan, found, place) if split else _written(place, data, found)
    if as_json:
        everything: dict[str, Any] = {"file": str(file), "written": [str(each) for each in made]}
        typer.echo(machine.as_json(everything | asdict(found), indent=1))
    else:
        for line in _lines(file, made, found):
            typer.echo(line)
    if found.is_blocked:
        raise typer.Exit(ModelError.exit_code)


def _target(name: str) -> str:
    from bridge.errors import ConfigError

    if name not in ("mt5", "legacy"):
        raise ConfigError(f"the target {name} is unknown: repair for mt5 or legacy")
    return name


def _batch(text: str) -> "Batch":
    from bridge.errors import ConfigError

    if text not in ("1", "free"):
        raise ConfigError(f"the batch {text} is unknown: use 1 or free")
    return cast("Batch", text)


def _dims(given: list[str]) -> dict[str, int]:
    from bridge.errors import ConfigError

    dims = {}
    for each in given:
        name, _, size = each.partition("=")
        if not size.isdecimal() or not 0 < int(size) <= 1_000_000:
            raise ConfigError(f"--dim {each} is no NAME=SIZE with a size from 1: write it so")
        dims[name] = int(size)
    return dims


def _written(place: Path, data: bytes, found: "Repaired") -> list[Path]:
    from bridge.authoring.repair.repair import write_new

    if not found.done:
        return []
    write_new(place, data)
    return [place]


def _split(file: Path, plan: "Plan", found: "Repaired", place: Path) -> list[Path]:
    """Write one file for each output, NAME.OUTPUT.onnx."""
    from dataclasses import replace

    from bridge.authoring.repair.repair import repaired, write_new

    made = []
    for number, name in enumerate(found.outputs):
        safe = name if name.isidentifier() else f"output{number}"
        own = place.with_name(f"{place.stem}.{safe}.onnx")
        write_new(own, repaired(file, replace(plan, keep=(name,)))[0])
        made.append(own)
    return made


def _lines(file: Path, made: list[Path], found: "Repaired") -> list[str]:
    lines = [f"{file}: {'repaired' if found.done else 'nothing to mend'}"]
    lines += [f"  done  {each}" for each in found.done]
    for level, what, fix in found.left:
        lines += [f"  left  {what} ({level})", f"        fix  {fix}"]
    lines.append(
        f"  proof {found.proven} rows: the graphs give the same bits; as they run, the largest "
        f"difference is {found.difference:g}"
    )
    return [*lines, *(f"  wrote {each}" for each in made)]
