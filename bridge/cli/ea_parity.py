"""``mt5-onnx ea parity``: the decisions of an EA in a real terminal held to the daemon's."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli import machine
from bridge.cli.config import read_settings
from bridge.errors import ConfigError, StateMismatch

if TYPE_CHECKING:
    from bridge.mql.cause import Cause
    from bridge.mql.parity import Compared
    from bridge.mql.runs import Bar

_SHOWN = 10
_EQUAL = "What counts as equal"
_DAEMON = "The daemon's side"


def parity(
    decisions: Annotated[
        Path,
        typer.Argument(help="The CSV of the EA, from Terminal/Common/Files/OnnxBridge."),
    ],
    config: Annotated[
        Path | None,
        typer.Option(
            "-c", "--config", help="The settings, with recorded bars.", rich_help_panel=_DAEMON
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="A model; without settings, with the contract's decision and default limits.",
            rich_help_panel=_DAEMON,
        ),
    ] = None,
    bars: Annotated[
        Path | None,
        typer.Option(
            help="Without settings: bars as mt5-onnx bars writes them, not the sample's.",
            rich_help_panel=_DAEMON,
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="Without settings: the broker's profile.", rich_help_panel=_DAEMON),
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            help="A journal, or its folder, instead of a back-test made for it.",
            rich_help_panel=_DAEMON,
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="Of the model's outputs.", rich_help_panel=_EQUAL)
    ] = 1e-6,
    seconds: Annotated[
        int, typer.Option(min=0, help="Of an order's time.", rich_help_panel=_EQUAL)
    ] = 0,
    price: Annotated[
        float,
        typer.Option(min=0.0, help="Of an order's prices, as in 0.0002.", rich_help_panel=_EQUAL),
    ] = 0.0,
    money: Annotated[
        float, typer.Option(min=0.0, help="Of the final balance.", rich_help_panel=_EQUAL)
    ] = 0.005,
    html: Annotated[
        Path | None, typer.Option(help="Draw both runs into this file.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare an EA's decisions and orders with the daemon's over the same bars, bar by bar.

    Exits with 0 when they are equal, with 6 when not: then it names the first bar and the cause.
    """
    from bridge.cli.ea_daemon import Asked, daemon_of
    from bridge.mql.cause import cause_of
    from bridge.mql.parity import Tolerance, compare
    from bridge.mql.picture import page
    from bridge.mql.runs import read_csv

    expert = read_csv(decisions)
    asked = Asked(
        settings=None if config is None else read_settings(config),
        model=model,
        bars=bars,
        profile=profile,
        journal=journal,
    )
    limits = Tolerance(outputs=tolerance, seconds=seconds, price=price, money=money)
    compared = compare(daemon_of(asked, expert), expert, limits)
    cause = cause_of(compared)
    if html is not None:
        _write(html, page(compared, cause))
    if as_json:
        typer.echo(machine.as_json(_plain(compared, cause), indent=1))
    else:
        for line in _lines(compared, cause):
            typer.echo(line)
    if compared.differences:
        raise typer.Exit(StateMismatch.exit_code)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} can't be written ({error.strerror}): name another") from error


def _lines(compared: "Compared", cause: "Cause | None") -> list[str]:
    from bridge.mt5.servertime import text

    expert, daemon, first = compared.expert, compared.daemon, compared.first
    span = f"{text(min(expert.bars))} to {text(max(expert.bars))}"
    lines = [
        f"{expert.symbol} {expert.timeframe} {expert.magic}, {span}",
        f"{'':10}{'daemon':>14}{'EA':>14}",
        f"{'bars':10}{len(daemon.bars):>14}{len(expert.bars):>14}",
        f"{'orders':10}{len(daemon.orders):>14}{len(expert.orders):>14}",
        f"{'balance':10}{_balance(daemon.bars):>14}{_balance(expert.bars):>14}",
        f"outputs differ by at most {compared.worst:.3g}",
    ]
    if compared.other_bars:
        lines.append(f"{compared.other_bars} bars were decided on windows of other bars")
    if first is None or cause is None:
        return [*lines, "equal"]
    lines.append(f"they part at the bar of {text(first.bar)}: {first}")
    lines.append(f"likely cause: {cause.name}: {cause.words}")
    count = len(compared.differences)
    lines += [f"  {text(each.bar)}  {each}" for each in compared.differences[1:_SHOWN]]
    return [*lines, f"{count} differences"]


def _balance(bars: "dict[int, Bar]") -> str:
    found = [each.balance for each in bars.values() if each.balance is not None]
    return f"{found[-1]:.2f}" if found else "unknown"


def _plain(compared: "Compared", cause: "Cause | None") -> dict[str, object]:
    from dataclasses import asdict

    expert, daemon = compared.expert, compared.daemon
    return {
        "equal": not compared.differences,
        "symbol": expert.symbol,
        "timeframe": expert.timeframe,
        "magic": expert.magic,
        "bars": {"daemon": len(daemon.bars), "expert": len(expert.bars)},
        "orders": {"daemon": len(daemon.orders), "expert": len(expert.orders)},
        "worst_output": compared.worst,
        "bars_of_other_windows": compared.other_bars,
        "cause": cause and asdict(cause),
        "differences": [asdict(each) for each in compared.differences],
    }
