"""``mt5-onnx model verify``: a model file checked on one's own bars."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli import machine

if TYPE_CHECKING:
    from bridge.authoring.checks import Check
    from bridge.authoring.verify import Skipped, Verified
    from bridge.mt5.rates import RatesArray


def verify(
    file: Annotated[Path, typer.Argument(help="The .onnx file, with a contract.")],
    bars: Annotated[
        Path, typer.Option("--bars", help="Bars of its timeframe, in server time, any known form.")
    ],
    windows: Annotated[
        int, typer.Option(min=1, help="How many of the newest windows are asked.")
    ] = 20_000,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> None:
    """Check a model on your bars: golden rows, window = history, one = many, runtime = reference.

    Exits with 4 when a check fails. What says nothing about this file or these bars is skipped.
    """
    from bridge.authoring.verify import verify as verify_model
    from bridge.errors import ModelError
    from bridge.model.load import load_model

    loaded = load_model(file)
    rates = _rates(bars, loaded.contract.symbol, loaded.contract.timeframe)
    found = verify_model(loaded, rates, windows=windows)
    if as_json:
        typer.echo(machine.as_json(_everything(found), indent=1))
    else:
        typer.echo(f"{file}, sha256 {found.sha256}, {found.windows} windows of {bars}")
        for each in found.results:
            typer.echo(_line(each))
    if not found.ok:
        raise typer.Exit(ModelError.exit_code)


def _rates(bars: Path, symbol: str, timeframe: str) -> "RatesArray":
    from bridge.errors import ContractError
    from bridge.market.importer import Stated, load

    loaded = load(bars, Stated(symbol=symbol, times="server"))
    if loaded.timeframe.name != timeframe:
        raise ContractError(
            f"{bars} holds bars of {loaded.timeframe.name}, the model was made for {timeframe}: "
            "give it bars of that timeframe"
        )
    return loaded.rates


def _line(result: "Check | Skipped") -> str:
    from bridge.authoring.checks import Check

    if not isinstance(result, Check):
        return f"  skipped  {result.name}: {result.why}"
    worst = "" if result.ok else f"; worst: {result.where or 'everywhere'}"
    return f"  {'ok' if result.ok else 'FAILED':7}  {result}{worst}"


def _everything(found: "Verified") -> dict[str, Any]:
    from bridge.authoring.checks import Check

    checks = [
        {
            "name": each.name,
            "ok": each.ok,
            "value": each.value,
            "limit": each.limit,
            "worst": each.where,
        }
        if isinstance(each, Check)
        else {"name": each.name, "ok": None, "skipped": each.why}
        for each in found.results
    ]
    return {
        "sha256": found.sha256,
        "ok": found.ok,
        "windows": found.windows,
        "checks": checks,
    }
