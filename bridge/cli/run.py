"""``mt5-onnx run``: the strategies of a settings file, until the recording ends or Ctrl-C."""

from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.config import SETTINGS, ConfigOption, read_settings

if TYPE_CHECKING:
    from bridge.engine.step import Step


def run(
    config: ConfigOption = SETTINGS,
    speed: Annotated[
        float | None,
        typer.Option(
            min=1.0,
            help="Replay at so many times real time; without it, as the settings say.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run the strategies; a run that was stopped or killed goes on where it was.

    Mode paper only so far: recorded bars, paper orders.
    """
    from bridge.cli.paper_run import run_paper
    from bridge.engine.stop import Stop
    from bridge.errors import ConfigError
    from bridge.settings import Mode

    settings = read_settings(config)
    if settings.mode is not Mode.PAPER:
        raise ConfigError(
            f'{config}: mode = "{settings.mode}" is not built yet; set mode = "paper"'
        )
    with Stop().on_signals() as stop:
        typer.echo(f"state: {settings.state}; Ctrl-C stops, and the next run goes on from there")
        has_ended = run_paper(
            settings, speed=speed or settings.paper.speed, stop=stop, on_step=_tell
        )
    if has_ended:
        typer.echo("the recording has ended; positions stay open in the paper account")
    else:
        typer.echo(f"stopped by {stop.reason}")
        if stop.reason == "SIGINT":
            raise typer.Exit(130)


def _tell(step: "Step") -> None:
    """Print what acted; quiet when nothing happens."""
    from bridge.mt5.servertime import text

    if step.results:
        fates = ", ".join(f"{each.outcome}: {each.words}" for each in step.results)
        typer.echo(f"{text(step.bar_time)}  {step.decision.action}  {fates}")
