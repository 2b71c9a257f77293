"""The page that goes with a written program."""

from bridge.model.load import LoadedModel
from bridge.mql.inputs import Settings, left_out
from bridge.mql.program import TEMPLATES
from bridge.mql.recipe import Recipe


def readme(recipe: Recipe, model: LoadedModel, settings: Settings) -> str:
    """Return the text of ``README.md``."""
    contract, template = model.contract, TEMPLATES[recipe.template]
    name = recipe.name
    answers = (
        "the estimator itself" if recipe.golden.by_estimator else "the model where this was written"
    )
    kind = "Experts" if template.is_expert else "Indicators"
    lines = [
        f"# {name}",
        "",
        f"A program for MetaTrader 5 that runs the model `{contract.name}`, written by",
        f"`mt5-onnx ea new --template {recipe.template}`. It belongs to whoever wrote it so.",
        "",
        "| | |",
        "|---|---|",
        f"| model | `Include/OnnxBridge/Generated/{name}.onnx`, sha256 `{model.sha256}` |",
        f"| chart | {recipe.strategy.symbol} {recipe.strategy.timeframe}, {contract.window} closed "
        "bars an answer |",
        f"| magic | {recipe.strategy.magic} |",
        f"| server clock | {contract.server_clock} |",
        f"| golden rows | {len(recipe.golden.rows)}: {recipe.golden.bars}; answers of {answers} |",
        "",
        "**It has not been compiled by MetaEditor or run in a real terminal.** Run the self-test",
        "first, then a demo account.",
        "",
        "1. Copy the folders here over `MQL5` of the terminal (File, Open Data Folder).",
        f"2. In MetaEditor compile (F7) `{kind}/OnnxBridge/{name}.mq5`",
        f"   and `Scripts/OnnxBridge/{name}_SelfTest.mq5`; or run `compile.ps1` in this folder.",
        f"3. Open a chart of {recipe.strategy.symbol} {recipe.strategy.timeframe}",
        "   and put the script on it: every line has to say ok.",
        *_of_expert(recipe, template.is_expert),
        "",
        "Your own code goes between `//--- hand edits begin: NAME` and its end:",
        "it stays when the program is written again. `mt5-onnx ea check` tells what else differs.",
        *_missing(settings),
    ]
    return "\n".join(lines) + "\n"


def _of_expert(recipe: Recipe, is_expert: bool) -> list[str]:
    if not is_expert:
        return [f"4. Put the indicator `{recipe.name}` on the chart."]
    return [
        f"4. Tester (Ctrl+R): choose `OnnxBridge\\{recipe.name}`, load",
        f"   `Presets/OnnxBridge_{recipe.name}.set`; or start the terminal with the `.ini`.",
        "5. Compare its CSV with the daemon: `mt5-onnx ea parity DECISIONS.csv -c bridge.toml`.",
    ]


def _missing(settings: Settings) -> list[str]:
    names = left_out(settings)
    if not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names)
    return [
        "",
        f"Set for the daemon, and unknown to an EA, which knows its own strategy only: {listed}.",
    ]
