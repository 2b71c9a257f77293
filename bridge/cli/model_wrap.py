"""``mt5-onnx model wrap``: features, scaler and meaning put around somebody's model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bridge.authoring.wrap.source import Source
    from bridge.authoring.wrap.spec import Spec
    from bridge.mt5.rates import RatesArray


def wrap(
    file: Annotated[Path, typer.Argument(help="The .onnx file, without a contract.")],
    contract: Annotated[
        Path | None,
        typer.Option("--contract", help="The TOML file that says what the model was trained with."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Folder of the wrapped model; without it, FILE's name and _wrapped beside it. "
            "With --guess the draft's file.",
        ),
    ] = None,
    guess: Annotated[
        bool, typer.Option("--guess", help='Draft the TOML file instead, with "?" to fill in.')
    ] = False,
    bars: Annotated[
        Path | None,
        typer.Option("--bars", help="Bars to prove it on; without them, the shipped ones."),
    ] = None,
    windows: Annotated[
        int, typer.Option(min=1, help="How many of the newest windows are asked.")
    ] = 500,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Make one file from raw bars to a decision out of a model that has no contract.

    It is written once it answers as the model came: the history's features, scaled in numpy.
    """
    from bridge.authoring.wrap.source import read_source
    from bridge.errors import ConfigError

    source = read_source(file)
    if guess:
        _draft(source, out, force=force)
        return
    if contract is None:
        raise ConfigError(
            f"nothing is said about {file}: draft a file with --guess, fill it in, and name it "
            "with --contract"
        )
    folder = out or file.with_name(f"{file.stem}_wrapped")
    _check_free(folder / "model.onnx", force=force)
    _wrap(source, contract, folder, bars, windows)


def _wrap(source: "Source", contract: Path, folder: Path, bars: Path | None, windows: int) -> None:
    from bridge.authoring.wrap.proof import notes, prove, write
    from bridge.authoring.wrap.spec import load_spec
    from bridge.authoring.wrap.trial import try_out
    from bridge.authoring.wrap.wrap import wrap as wrapped_of

    spec = load_spec(contract)
    try_out(source, spec)
    wrapped = wrapped_of(source, spec, folder=contract.parent)
    rates = _rates(bars, spec)
    checks = prove(wrapped, rates, windows=windows)
    written = write(wrapped, source, spec, rates, folder)
    typer.echo(f"{written.path}, {written.size:,} bytes, sha256 {written.sha256}")
    typer.echo(
        f"  {len(wrapped.features.names)} features of {wrapped.contract.window} closed bars into "
        f"{source.path.name}"
    )
    for each in checks:
        typer.echo(f"  ok       {each}")
    for note in notes(wrapped, spec, rates):
        typer.echo(f"  note     {note}")


def _rates(bars: Path | None, spec: "Spec") -> "RatesArray":
    from bridge.authoring.wrap.proof import sample_bars
    from bridge.errors import ContractError
    from bridge.market.importer import Stated, load

    about = spec.contract
    if bars is None:
        return sample_bars(about.timeframe)
    loaded = load(bars, Stated(symbol=about.symbol, times="server"))
    if loaded.timeframe.name != about.timeframe:
        raise ContractError(
            f"{bars} holds bars of {loaded.timeframe.name}, the model was made for "
            f"{about.timeframe}: give it bars of that timeframe"
        )
    return loaded.rates


def _draft(source: "Source", out: Path | None, *, force: bool) -> None:
    from datetime import UTC, datetime

    from bridge.authoring.wrap.guess import draft
    from bridge.clock import SystemClock
    from bridge.errors import ConfigError

    today = datetime.fromtimestamp(SystemClock().now(), UTC).date().isoformat()
    text = draft(source, today=today)
    if out is None:
        typer.echo(text, nl=False)
        return
    _check_free(out, force=force)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{out} can't be written ({error.strerror}): name another") from error
    typer.echo(f'{out}: fill in what has a "?", then name it with --contract')


def _check_free(path: Path, *, force: bool) -> None:
    from bridge.errors import ConfigError

    if path.exists() and not force:
        raise ConfigError(f"{path} is there already: name another place with -o, or add --force")
