"""``mt5-onnx ea new`` and ``ea check``: a folder to be copied over the terminal's ``MQL5``."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli import machine
from bridge.cli.config import read_settings
from bridge.errors import ConfigError, ContractError, StateMismatch

if TYPE_CHECKING:
    from bridge.model.load import LoadedModel
    from bridge.model.probe import Report
    from bridge.mql.project import Finding
    from bridge.mql.recipe import Recipe
    from bridge.mt5.rates import RatesArray
    from bridge.settings import BridgeSettings, LimitSettings, StrategySettings

_MAGIC = 26001
_DEPOSIT = 10_000.0
_SHOWN = 40


class TemplateName(StrEnum):
    """What can be written; a test holds it to the templates there are."""

    CLASSIFIER = "classifier"
    FORECAST = "forecast"
    SHADOW = "shadow"
    OUTPUTS = "outputs"


ConfigChoice = Annotated[
    Path | None,
    typer.Option(
        "-c", "--config", help="A settings file, whose values become inputs.", show_default=False
    ),
]


def new(
    model: Annotated[Path, typer.Argument(help="The .onnx file, with a contract.")],
    template: Annotated[
        TemplateName,
        typer.Option(
            help="classifier and forecast trade, shadow only journals, outputs is an indicator."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder to be written; of the same program, it is written again.")
    ],
    config: ConfigChoice = None,
    magic: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The settings file's strategy of this magic; without a file, the program's magic.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the program; without it, the model's.")
    ] = None,
    bars: Annotated[
        Path | None,
        typer.Option(
            help="Bars of the golden rows, in server time; without it, those of the settings, the "
            "sample's, or made-up ones.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite edits outside the marked parts, too.")
    ] = False,
) -> None:
    """Write an MQL5 program that runs a model: sources, golden rows, presets, a page.

    The folder is copied over MQL5. Edits between the marks stay when it is written again.
    """
    from bridge.mql.fit import check_runs, program_name
    from bridge.mql.golden import golden_rows
    from bridge.mql.program import TEMPLATES, check_kind
    from bridge.mql.project import write
    from bridge.mql.recipe import Recipe

    loaded, report = _opened(model)
    check_runs(loaded, report)
    check_kind(template.value, loaded.contract)
    settings = None if config is None else read_settings(config)
    strategy = _strategy(settings, config, loaded, magic)
    rates, words = _golden_bars(loaded, bars, settings, strategy)
    recipe = Recipe(
        name=program_name(name, loaded.contract, TEMPLATES[template.value].suffix),
        template=template.value,
        sha256=loaded.sha256,
        strategy=strategy,
        limits=_limits(settings),
        deposit=(settings.backtest.deposit if settings else None) or _DEPOSIT,
        golden=golden_rows(loaded, rates, words),
        written={},
    )
    _tell(out, recipe, loaded, write(out, recipe, loaded, force=force))


def check(
    folder: Annotated[Path, typer.Argument(help="That ea new has written.")],
    config: ConfigChoice = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a program again in memory and compare; edits between the marks are nobody's business.

    Exits with 4 when the model is another or answers otherwise, with 6 when a file differs. With
    -c it is compared with what the settings say now.
    """
    from dataclasses import replace

    from bridge.mql.fit import check_runs
    from bridge.mql.golden import check_answers
    from bridge.mql.project import check as check_files
    from bridge.mql.project import model_path
    from bridge.mql.recipe import read_recipe

    recipe = read_recipe(folder)
    loaded, report = _opened(model_path(folder, recipe.name))
    wanted = recipe
    if config is not None:
        settings = read_settings(config)
        strategy = _strategy(settings, config, loaded, recipe.strategy.magic)
        deposit = settings.backtest.deposit or _DEPOSIT
        wanted = replace(recipe, strategy=strategy, limits=_limits(settings), deposit=deposit)
    found = check_files(folder, recipe, wanted, loaded)
    check_runs(loaded, report)
    check_answers(loaded, recipe.golden)
    if as_json:
        typer.echo(machine.as_json({"name": recipe.name, "findings": [asdict(f) for f in found]}))
    else:
        _show(folder, recipe, found)
    if found:
        raise typer.Exit(StateMismatch.exit_code)


def _opened(path: Path) -> "tuple[LoadedModel, Report]":
    from bridge.model.load import load_model
    from bridge.model.probe import probe

    report = probe(path)  # tries it in a child; what is loaded then has to be the same file
    return load_model(path, pin=report.sha256, probe=False), report


def _strategy(
    settings: "BridgeSettings | None", config: Path | None, model: "LoadedModel", magic: int | None
) -> "StrategySettings":
    """Return the settings file's strategy of the model, or defaults."""
    from bridge.model.load import check_fits
    from bridge.settings import StrategySettings

    contract = model.contract
    if settings is None:
        return StrategySettings(
            model=model.path.name,
            symbol=contract.symbol,
            timeframe=contract.timeframe,
            magic=magic or _MAGIC,
        )
    found = [each for each in settings.strategy if magic in (None, each.magic)]
    if magic is None and len(found) > 1:
        found = [each for each in found if _is_file(each.model, model)] or found
    if len(found) != 1:
        raise ConfigError(
            f"{config} has {len(found)} strategies {f'of magic {magic}' if magic else 'to choose'}"
            f" from {', '.join(str(each.magic) for each in settings.strategy)}: name one of these "
            "with --magic"
        )
    (strategy,) = found
    check_fits(model, symbol=strategy.symbol, timeframe=strategy.timeframe, alias=strategy.alias)
    return strategy


def _is_file(named: str, model: "LoadedModel") -> bool:
    path = Path(named)
    return path.is_file() and path.resolve() == model.path.resolve()


def _limits(settings: "BridgeSettings | None") -> "LimitSettings":
    from bridge.settings import LimitSettings

    return LimitSettings() if settings is None else settings.limits


def _golden_bars(
    model: "LoadedModel",
    bars: Path | None,
    settings: "BridgeSettings | None",
    strategy: "StrategySettings",
) -> "tuple[RatesArray | None, str]":
    """Return the bars that golden rows are taken from, and what they are; None has none."""
    from bridge.market.barfile import read_bars
    from bridge.share import share_dir

    contract = model.contract
    if bars is not None:
        return _bars_of_file(bars, model), f"bars of {bars.name}"
    if settings is not None and any(each.symbol == strategy.symbol for each in settings.paper.bars):
        return _recorded(settings, strategy), "the recorded bars of the settings"
    if (contract.symbol, contract.timeframe) == ("EURUSD", "H1"):
        sample = share_dir("models/sample_bars") / "EURUSD_H1_2017.csv"
        return read_bars(sample), "the sample bars, EURUSD H1 of 2017"
    return None, ""


def _bars_of_file(path: Path, model: "LoadedModel") -> "RatesArray":
    from bridge.market.importer import Stated, load

    contract = model.contract
    loaded = load(path, Stated(symbol=contract.symbol, times="server"))
    if loaded.timeframe.name != contract.timeframe:
        raise ContractError(
            f"{path} holds bars of {loaded.timeframe.name}, the model was made for "
            f"{contract.timeframe}: name bars of that timeframe"
        )
    return loaded.rates


def _recorded(settings: "BridgeSettings", strategy: "StrategySettings") -> "RatesArray":
    from bridge.cli.recording import load_recording
    from bridge.market.aggregate import aggregate
    from bridge.mt5.timeframes import timeframe

    recorded, rates = load_recording(settings).bars[strategy.symbol]
    wanted = timeframe(strategy.timeframe)
    return rates if recorded == wanted else aggregate(rates, recorded, wanted)


def _tell(out: Path, recipe: "Recipe", model: "LoadedModel", changed: list[str]) -> None:
    from bridge.mql.inputs import left_out
    from bridge.mql.project import settings_of

    golden = recipe.golden
    answers = "the estimator" if golden.by_estimator else "the model on this computer"
    typer.echo(f"{out}: {recipe.name} ({recipe.template}), {len(changed)} files written")
    typer.echo(f"model     sha256 {recipe.sha256}")
    typer.echo(f"golden    {len(golden.rows)} rows of {golden.bars}, answers of {answers}")
    for name in left_out(settings_of(recipe, model)):
        typer.echo(f"left out  {name}: an EA knows its own strategy only")
    typer.echo(f"next      copy it over MQL5 and compile it; {out / 'README.md'} tells how")


def _show(folder: Path, recipe: "Recipe", found: "list[Finding]") -> None:
    if not found:
        typer.echo(f"{folder}: {recipe.name} is as it would be written now")
        return
    for each in found:
        typer.echo(f"{each.what:8}  {each.path}")
        for line in each.diff[:_SHOWN]:
            typer.echo(f"    {line}")
        if len(each.diff) > _SHOWN:
            typer.echo(f"    ... {len(each.diff) - _SHOWN} lines more")
    typer.echo("write it again with mt5-onnx ea new; your edits between the marks stay")
