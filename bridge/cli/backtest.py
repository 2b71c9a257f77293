"""``mt5-onnx backtest``: the strategies of a settings file on recorded bars, as fast as it goes."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.config import SETTINGS, ConfigOption, read_settings

if TYPE_CHECKING:
    from bridge.cli.backtest_run import Plan
    from bridge.cli.backtest_view import Result
    from bridge.settings import PaperPrices

_INTERRUPTED = 130
_CHANGE = "What to change"
_HONEST = "How honest is it"


def backtest(
    config: ConfigOption = SETTINGS,
    since: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Decide bars from this server time on, such as 2017.06.01; earlier ones warm up.",
            rich_help_panel=_CHANGE,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="Decide bars before this server time: --to 2018.01.01 ends with 2017.",
            rich_help_panel=_CHANGE,
        ),
    ] = None,
    symbol: Annotated[
        str | None,
        typer.Option(help="Only the strategies of this symbol.", rich_help_panel=_CHANGE),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Another model for the only strategy.", rich_help_panel=_CHANGE),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            help="The broker that is played: a file, or a shipped one.", rich_help_panel=_CHANGE
        ),
    ] = None,
    deposit: Annotated[
        float | None,
        typer.Option(
            min=0.01, help="Money at the beginning, account currency.", rich_help_panel=_CHANGE
        ),
    ] = None,
    spread: Annotated[
        int | None,
        typer.Option(min=1, help="One spread for all bars, points.", rich_help_panel=_CHANGE),
    ] = None,
    prices: Annotated[
        str | None,
        typer.Option(
            help="open: a bar's open is its only price; ohlc: a path through each bar; ticks: "
            "each recorded tick.",
            rich_help_panel=_CHANGE,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of journal and result; without it, the next backtests/backtest-N."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the back-test that --out holds.")
    ] = False,
    check_lookahead: Annotated[
        bool,
        typer.Option(
            "--check-lookahead",
            help="Cut the future off at random bars: nothing decided before may change.",
            rich_help_panel=_HONEST,
        ),
    ] = False,
    stress: Annotated[
        bool,
        typer.Option(
            "--stress",
            help="Again with a wider spread, slippage, late fills, missed bars.",
            rich_help_panel=_HONEST,
        ),
    ] = False,
    monte_carlo: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            help="So many runs of the same trades in another order.",
            rich_help_panel=_HONEST,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Test the strategies on recorded bars: the daemon's own path, costs of the paper broker.

    The mode in the file does not matter, and the state of runs is not touched. Ctrl-C keeps what
    was done.
    """
    from bridge.cli.backtest_plan import Changes, make_folder, make_plan
    from bridge.cli.backtest_view import result_json, show
    from bridge.errors import ModelError

    changes = Changes(
        since=since,
        until=until,
        symbol=symbol,
        model=model,
        profile=profile,
        deposit=deposit,
        spread=spread,
        prices=_prices(prices),
    )
    settings = read_settings(config)
    plan = make_plan(settings, changes)
    folder = make_folder(settings, out, force=force)
    tools = (check_lookahead, stress, monte_carlo)
    result = _tested(plan, folder, tools, quiet=as_json)
    if as_json:
        typer.echo(result_json(result))
    else:
        show(result)
    if result.stopped_by:
        typer.echo(f"stopped by {result.stopped_by}: this is what was done until then", err=True)
        raise typer.Exit(_INTERRUPTED)
    if result.sees_future:
        raise ModelError(
            f"the strategy sees its future, so its result is no evidence: {folder} has the bars at "
            "which; look at the features and at where the bars come from"
        )


def _prices(named: str | None) -> "PaperPrices | None":
    from bridge.errors import ConfigError
    from bridge.settings import PaperPrices

    if named is None:
        return None
    if named not in list(PaperPrices):
        raise ConfigError(f"--prices {named} is none of {', '.join(PaperPrices)}")
    return PaperPrices(named)


def _tested(
    plan: "Plan", folder: Path, tools: tuple[bool, bool, int | None], *, quiet: bool
) -> "Result":
    """Run what is asked for and leave the result in the folder."""
    from bridge.cli.backtest_lookahead import lookahead, peeks
    from bridge.cli.backtest_outcome import outcome_of
    from bridge.cli.backtest_plan import RESULT
    from bridge.cli.backtest_run import play
    from bridge.cli.backtest_stress import stress
    from bridge.cli.backtest_view import Result, progress, result_json
    from bridge.clock import SystemClock
    from bridge.engine.honest.montecarlo import monte_carlo
    from bridge.engine.stop import Stop, Stopped

    wants_lookahead, wants_stress, runs = tools
    clock = SystemClock()
    with Stop().on_signals() as stop, progress(quiet=quiet) as begin:
        if not quiet:
            typer.echo(f"backtest in {folder}; Ctrl-C keeps what was done")
        span = plan.span()
        begun = clock.now()
        played = play(plan, folder, stop=stop, on_progress=begin("back-test", *span))
        took = clock.now() - begun
        result = Result(outcome=outcome_of(played), seconds=took, stress={})
        # Only journals of their own are written here, so that a signal may end it anywhere.
        with suppress(Stopped), stop.breaking_off():
            if wants_lookahead:
                cuts = begin("look-ahead", 0, plan.settings.backtest.lookahead_cuts)
                found = lookahead(plan, played, lambda done, total: cuts(done))
                result = replace(result, lookahead=found, peeks=peeks(plan, played))
            if wants_stress:
                worse = stress(plan, folder, stop=stop, told=lambda title: begin(title, *span))
                result = replace(result, stress=worse)
        result = replace(result, stopped_by=stop.reason)
    if runs and result.outcome.results:
        luck = monte_carlo(
            result.outcome.results,
            balance=result.outcome.deposit,
            runs=runs,
            seed=plan.settings.backtest.seed,
            missed_share=plan.settings.backtest.missed_trades,
        )
        result = replace(result, luck=luck)
    (folder / RESULT).write_text(result_json(result) + "\n", encoding="utf-8")
    return result
