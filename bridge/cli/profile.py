"""``mt5-onnx profile``: brokers for the paper terminal, shipped ones and those of a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.config import read_settings

if TYPE_CHECKING:
    from bridge.mt5.terminal import Terminal
    from bridge.settings import TerminalSettings

profile = typer.Typer(help="Show brokers, or save the one of a terminal.", no_args_is_help=True)


@profile.command("list")
def list_shipped() -> None:
    """List the profiles that come with the package: typical brokers, nobody's in particular."""
    from bridge.terminal.paper.profile import BrokerProfile, shipped

    for name in shipped():
        known = BrokerProfile.load(name)
        symbols = ", ".join(known.symbols)
        kind = f"{known.account.currency}, {known.account.margin_mode}"
        typer.echo(f"{name}  ({kind}): {symbols}")


@profile.command()
def show(
    name: Annotated[str, typer.Argument(help="A shipped profile's name, or a file.")],
) -> None:
    """Print a profile as JSON, all terms of the account included."""
    from bridge.terminal.paper.profile import BrokerProfile

    typer.echo(BrokerProfile.load(name).model_dump_json(indent=2))


@profile.command()
def save(
    file: Annotated[Path, typer.Argument(help="Where to write it; nothing is overwritten.")],
    symbols: Annotated[
        str, typer.Option(help='Which symbols, as a group mask: "*USD*,!XAU*".')
    ] = "*",
    config: Annotated[
        Path | None,
        typer.Option("-c", "--config", help="The settings file that names the terminal."),
    ] = None,
    path: Annotated[
        str | None, typer.Option(help="terminal64.exe; without it, the one that runs.")
    ] = None,
    server_clock: Annotated[
        str | None,
        typer.Option(
            help="The broker's clock rule, which the terminal does not tell; without it, that of "
            "the settings file, or eet-us."
        ),
    ] = None,
) -> None:
    """Write the broker of a terminal as a profile: terms and symbols, nothing that is yours.

    Login, name, balance and positions stay out of it. Commission is in no terminal's API: add it
    to the file by hand.
    """
    from contextlib import closing

    from bridge.cli.live_terminal import terminal_of
    from bridge.clock import SystemClock
    from bridge.errors import ConfigError

    if file.exists():
        raise ConfigError(f"{file} is there already: name another file, nothing is overwritten")
    if config is not None and path is not None:
        raise ConfigError(f"--path and --config name a terminal each, {path} and {config}: use one")
    settings, rule = _terminal(config, path)
    with closing(terminal_of(settings, SystemClock())) as terminal:
        terminal.connect()
        write(terminal, file, symbols=symbols, server_clock=server_clock or rule)


def _terminal(config: Path | None, path: str | None) -> "tuple[TerminalSettings, str]":
    """Return the terminal, and the broker's clock rule where it is known."""
    from bridge.settings import TerminalSettings

    usual = "eet-us"
    if config is None:
        return TerminalSettings(path=path), usual
    settings = read_settings(config)
    known = settings.server_clock
    return settings.terminal, usual if known == "auto" else known


def write(terminal: "Terminal", file: Path, *, symbols: str, server_clock: str) -> None:
    """Write the profile of a connected terminal's broker, and tell what is left out of it."""
    from bridge.errors import ConfigError
    from bridge.terminal.paper.dump import playable
    from bridge.terminal.paper.masks import matches
    from bridge.terminal.paper.profile import BrokerProfile

    offered = [info._asdict() for info in terminal.symbols_get() if matches(symbols, info.name)]
    dumps, refused = playable(offered)
    for reason in refused.values():
        typer.echo(f"left out: {reason}")
    if not dumps:
        raise ConfigError(
            f'no symbol of the {len(offered)} that match "{symbols}" can be played: name others '
            "with --symbols"
        )
    made = BrokerProfile.from_dump(
        terminal.account_info()._asdict(),
        dumps,
        terminal.terminal_info()._asdict(),
        server_clock=server_clock,
    )
    made.save(file)
    typer.echo(f"wrote {file}: {made.name}, {_count(len(dumps))}; add its commission by hand")


def _count(symbols: int) -> str:
    return "1 symbol" if symbols == 1 else f"{symbols} symbols"
