"""Cases of the comparison, and the table of what came of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mql5.host.compiler import Compiler
from mql5.host.program import InputValue
from mql5.parity.compare import Difference, differences
from mql5.parity.daemon import first_moment, model_path, run_daemon, settings_of
from mql5.parity.expert import ROOT, run_expert
from mql5.parity.markets import Market, eurusd, xauusd

MAGIC = 26001


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison.

    Attributes:
        model: Folder of the model.
        template: The EA, below ``mql5/Experts/OnnxBridge``.
        tables: Tables of ``bridge.toml`` for the daemon.
        inputs: The same as inputs of the EA.
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
    """What came of a case; None for the differences where its bars are missing."""

    case: Case
    decisions: int = 0
    orders: int = 0
    deals: int = 0
    balance: float = 0.0
    seconds: tuple[float, float] = (0.0, 0.0)
    found: tuple[Difference, ...] | None = None


_MARKETS: dict[str, Callable[..., Market | None]] = {"EURUSD": eurusd, "XAUUSD": xauusd}


def compared(case: Case, compiler: Compiler, folder: Path, *, is_thorough: bool = False) -> Row:
    """Run both sides of a case in a new folder."""
    folder.mkdir(parents=True)
    market = _MARKETS[case.symbol](folder, margin_mode=case.margin_mode, count=case.bars)
    if market is None:
        return Row(case)
    settings = settings_of(
        market, model_path(case.model), MAGIC, folder / "state", **dict(case.tables)
    )
    daemon = run_daemon(settings, market)
    source = ROOT / "Experts" / "OnnxBridge" / f"{case.template}.mq5"
    inputs = {"InpMagic": MAGIC, "InpSymbolAlias": market.alias, **case.inputs}
    start = first_moment(settings)
    expert = run_expert(
        compiler,
        source,
        market,
        folder / "terminal",
        start,
        inputs,
        is_thorough=is_thorough,
    )
    return Row(
        case,
        len(daemon.bars),
        len(daemon.orders),
        len(daemon.deals),
        daemon.balance,
        (daemon.seconds, expert.seconds),
        tuple(differences(daemon, expert)),
    )


HEADER = (
    "| model | symbol | account | settings | bars | decisions | orders | deals | balance "
    "| differences | seconds (daemon, EA) |\n"
    "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
)


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Return the rows as lines of a table."""
    for row in rows:
        case = row.case
        head = f"| {case.model} | {case.symbol} | {case.margin_mode} | {case.what} | {case.bars} "
        if row.found is None:
            yield f"{head}| no bars: set BRIDGE_TEST_DATA | | | | | |"
            continue
        yield (
            f"{head}| {row.decisions} | {row.orders} | {row.deals} | {row.balance:.2f} "
            f"| {len(row.found)} | {row.seconds[0]:.1f}, {row.seconds[1]:.1f} |"
        )
