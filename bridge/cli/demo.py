"""``mt5-onnx demo``: the daemon's path over the shipped bars, without a broker."""

from pathlib import Path
from typing import Annotated

import typer

from bridge.cli.state import STATE


def demo(
    model: Annotated[
        str, typer.Option(help="A shipped model, or the path of an .onnx file with a contract.")
    ] = "eurusd_h1_direction",
    speed: Annotated[
        float | None,
        typer.Option(
            min=1.0,
            help="Replay at so many times real time (3600: a bar a second); without it, at once.",
            show_default=False,
        ),
    ] = None,
    state: Annotated[Path, typer.Option(help="Folder for journal and account.")] = STATE,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Trade the out-of-sample part of the shipped EURUSD H1 bars on the paper terminal."""
    # Loaded here, so that --help loads neither onnxruntime nor numpy.
    from bridge.cli.demo_run import run_demo
    from bridge.cli.demo_view import show_json, show_table, watching

    with watching(quiet=as_json) as watch:
        outcome = run_demo(model, speed=speed, state=state, watch=watch)
    (show_json if as_json else show_table)(outcome)
