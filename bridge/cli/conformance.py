"""``mt5-onnx conformance``: where the paper terminal answers otherwise than a real one."""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.config import SETTINGS, ConfigOption, read_settings

if TYPE_CHECKING:
    from bridge.clock import Clock
    from bridge.conformance.compare import Outcome
    from bridge.settings import BridgeSettings
    from bridge.terminal.host.link import Link

# Verdict -> colour; an output that is no terminal gets none.
_COLOURS = {
    "same": typer.colors.GREEN,
    "DIFFERS": typer.colors.RED,
    "skipped": typer.colors.BRIGHT_BLACK,
}


def conformance(
    account: Annotated[
        str, typer.Option(help="Has to be demo: say that you mean an account for practice.")
    ],
    config: ConfigOption = SETTINGS,
    symbol: Annotated[
        str | None, typer.Option(help="Which symbol; without it, the first strategy's.")
    ] = None,
    trade: Annotated[
        bool, typer.Option("--trade", help="Open, change and close small orders, too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Ask a real terminal of a demo account what the paper terminal is asked, and compare.

    The report has no login, name, server or ticket. Orders are of the smallest volume, and closed.
    """
    from bridge.clock import SystemClock
    from bridge.conformance.compare import conform, exit_code
    from bridge.errors import BridgeError, ConfigError

    if account != "demo":
        raise ConfigError(
            f"--account is {account!r}, and conformance is for demo accounts only: log the "
            "terminal in to one and say --account demo"
        )
    settings, clock = read_settings(config), SystemClock()
    chosen = symbol or settings.strategy[0].symbol
    outcomes: list[Outcome] = []
    fault: BridgeError | None = None
    with closing(_link(settings, clock)) as link:
        link.connect()
        asked = conform(link, chosen, clock, may_trade=trade)
        with closing(asked):
            try:
                outcomes.extend(asked if as_json else _shown(asked))
            except BridgeError as error:
                # What was found until then is told all the same.
                fault = error
    if as_json:
        typer.echo(_as_json(chosen, outcomes, fault))
    elif outcomes:
        typer.echo(_summary(outcomes))
    if fault:
        raise fault
    raise typer.Exit(exit_code(outcomes))


def _link(settings: "BridgeSettings", clock: "Clock") -> "Link":
    """Return the package behind the settings' terminal, where nulls stay nulls."""
    import random
    from functools import partial

    from bridge.errors import ConfigError
    from bridge.terminal.host.link import Link
    from bridge.terminal.host.settings import HostSettings

    jitter = random.Random()  # noqa: S311  spreads pauses, hides nothing
    host = HostSettings.of(settings.terminal)
    if settings.terminal.remote is None:
        return Link(host, clock, jitter)
    try:
        from bridge.terminal.remote.server import Server
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"terminal.remote needs {error.name}, which is not installed: "
            'pip install "mt5-onnx-bridge[remote]"'
        ) from error
    from bridge.terminal.remote.address import Address
    from bridge.terminal.remote.bundle import Kept

    return Link(host, clock, jitter, partial(Server, Address.of(settings.terminal.remote), Kept()))


def _shown(outcomes: "Iterable[Outcome]") -> "Iterator[Outcome]":
    for each in outcomes:
        mark = typer.style(each.verdict.ljust(8), fg=_COLOURS[each.verdict])
        typer.echo(f"{mark}{each.probe}{f': {each.why}' if each.why else ''}")
        if each.terminal or each.paper:
            typer.echo(f"          terminal: {each.terminal}")
            typer.echo(f"          paper:    {each.paper}")
        yield each


def _summary(outcomes: "list[Outcome]") -> str:
    count = {name: sum(each.verdict == name for each in outcomes) for name in _COLOURS}
    return ", ".join(f"{number} {name}" for name, number in count.items())


def _as_json(symbol: str, outcomes: "list[Outcome]", fault: "Exception | None") -> str:
    from bridge import __version__
    from bridge.conformance.compare import exit_code

    told = {
        "version": __version__,
        "symbol": symbol,
        "exit_code": getattr(fault, "exit_code", exit_code(outcomes)),
        # Its sentence may name a ticket or an account: it is told on the screen only.
        "ended_early": fault is not None,
        "outcomes": [asdict(each) for each in outcomes],
    }
    return json.dumps(told, indent=2, allow_nan=False)
