"""Cases of the comparison, and the table of what came of them."""

import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bridge.errors import ContractError, ModelError
from bridge.market.barfile import read_bars
from bridge.model.load import load_model
from bridge.model.probe import probe
from bridge.mql.fit import check_runs
from bridge.mql.golden import golden_rows
from bridge.mql.program import TEMPLATES, check_kind
from bridge.mql.project import write
from bridge.mql.recipe import Recipe
from bridge.settings import BridgeSettings
from mql5.host.compiler import Compiler
from mql5.host.program import InputValue
from mql5.parity.compare import Difference, differences, largest_difference
from mql5.parity.daemon import first_moment, model_path, run_daemon, settings_of
from mql5.parity.expert import ROOT, run_expert
from mql5.parity.markets import SAMPLE, Market, eurusd, xauusd

MAGIC = 26001


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison.

    Attributes:
        model: Folder of the model.
        template: Of the EA: Classifier or Forecast.
        tables: Tables of ``bridge.toml``.
        inputs: The same as inputs of a program that ships; without them it is written from the
            tables.
    """

    model: str
    template: str
    symbol: str
    margin_mode: str
    bars: int
    what: str = "defaults"
    tables: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, InputValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a case.

    Attributes:
        largest: Largest difference of two outputs.
        seconds: That the daemon and the EA took.
        found: None where the case was not run.
        why_not: Why it was not.
    """

    case: Case
    decisions: int = 0
    orders: int = 0
    deals: int = 0
    balance: float = 0.0
    largest: float = 0.0
    seconds: tuple[float, float] = (0.0, 0.0)
    found: tuple[Difference, ...] | None = None
    why_not: str = ""


_MARKETS: dict[str, Callable[..., Market | None]] = {"EURUSD": eurusd, "XAUUSD": xauusd}
# Programs of the tree, by the model that they name; of the others the generator makes one.
_SHIPPED = {"eurusd_h1_direction": "Classifier", "eurusd_h1_sma_cross": "Forecast"}


def compared(case: Case, compiler: Compiler, folder: Path, *, is_thorough: bool = False) -> Row:
    """Run both sides of a case in a new folder."""
    folder.mkdir(parents=True)
    market = _MARKETS[case.symbol](folder, margin_mode=case.margin_mode, count=case.bars)
    if market is None:
        return Row(case, why_not="no bars: set BRIDGE_TEST_DATA")
    path = model_path(case.model)
    settings = settings_of(market, path, MAGIC, folder / "state", **dict(case.tables))
    try:
        source, root = _program(case, path, settings, folder / "written")
    except (ModelError, ContractError) as error:
        return Row(case, why_not=str(error))
    daemon = run_daemon(settings, market)
    inputs = {"InpMagic": MAGIC, "InpSymbolAlias": market.alias, **case.inputs}
    expert = run_expert(
        compiler,
        source,
        market,
        folder / "terminal",
        first_moment(settings),
        inputs,
        root=root,
        is_thorough=is_thorough,
    )
    return Row(
        case,
        len(daemon.bars),
        len(daemon.orders),
        len(daemon.deals),
        daemon.balance,
        largest_difference(daemon, expert),
        (daemon.seconds, expert.seconds),
        tuple(differences(daemon, expert)),
    )


def _program(case: Case, path: Path, settings: BridgeSettings, folder: Path) -> tuple[Path, Path]:
    """Return the EA's source and its tree: a program that ships, or one that is written here.

    Raises:
        ModelError: No terminal can run the model.
        ContractError: The template does not trade what the model answers.
    """
    is_told = not case.tables or case.inputs
    if is_told and _SHIPPED.get(case.model) == case.template:
        return ROOT / "Experts" / "OnnxBridge" / f"{case.template}.mq5", ROOT
    model, template = load_model(path, probe=False), case.template.lower()
    check_runs(model, probe(path))
    check_kind(template, model.contract)
    recipe = Recipe(
        name=case.model,
        template=template,
        sha256=model.sha256,
        strategy=settings.strategy[0],
        limits=settings.limits,
        deposit=10_000.0,
        golden=golden_rows(model, read_bars(SAMPLE / "EURUSD_H1_2017.csv"), "the sample bars"),
        written={},
    )
    write(folder, recipe, model, force=False)
    return folder / TEMPLATES[template].folder / f"{case.model}.mq5", folder


HEADER = (
    "| model | template | symbol | account | settings | bars | decisions | orders | deals "
    "| balance | largest output difference | differences | seconds (daemon, EA) |\n"
    "| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
)


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Return the rows as lines of a table."""
    for row in rows:
        case = row.case
        head = " | ".join((case.model, case.template, case.symbol, case.margin_mode, case.what))
        if row.found is None:
            yield f"| {head} | {case.bars} | not run: {row.why_not} | | | | | | |"
            continue
        yield (
            f"| {head} | {case.bars} | {row.decisions} | {row.orders} | {row.deals} "
            f"| {row.balance:.2f} | {row.largest:g} | {len(row.found)} "
            f"| {row.seconds[0]:.1f}, {row.seconds[1]:.1f} |"
        )


def versions() -> str:
    """Return what the table was made with."""
    found = [f"{name} {version(name)}" for name in ("mt5-onnx-bridge", "onnxruntime", "numpy")]
    said = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout
    return ", ".join((*found, f"Python {platform.python_version()}", said.splitlines()[0]))
