"""The catalogue: every named feature with its defaults, read from the functions themselves."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from bridge.features.expr import Bars, Expr
from bridge.features.named import FAMILIES

Named = Callable[..., Expr]
_FACTS = ("Formula", "Range", "Lookback", "TA-Lib", "MT5")


@dataclass(frozen=True, slots=True)
class Entry:
    """One named feature.

    Attributes:
        call: How it is written, with its defaults.
        says: The first sentence of its docstring.
        facts: What the docstring says of ``Formula``, ``Range``, ``Lookback``, ``TA-Lib``, ``MT5``.
        defaults: The parameters that are no market, with their values.
        example: The expression that the defaults make, over ``Bars``.
    """

    name: str
    family: str
    call: str
    says: str
    facts: dict[str, str]
    defaults: dict[str, Any]
    example: Expr


def entries() -> tuple[Entry, ...]:
    """Return all named features, family by family."""
    return tuple(_entry(family, each) for family, named in FAMILIES.items() for each in named)


def table() -> str:
    """Return the catalogue as tables in Markdown, a section for each family."""
    made = entries()
    parts = []
    for family in FAMILIES:
        rows = [_row(entry) for entry in made if entry.family == family]
        head = "| feature | what it is | formula | range | bars before | TA-Lib | MT5 |"
        parts.append("\n".join([f"### {family}", "", head, "|---|---|---|---|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _row(entry: Entry) -> str:
    said = (entry.says.removeprefix("Return "), entry.facts["Formula"], entry.facts["Range"])
    cells = [*said, str(entry.example.lookback), entry.facts["TA-Lib"], entry.facts["MT5"]]
    return f"| `{entry.call}` | {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return text.removesuffix(".").replace("|", "\\|").replace("``", "`").replace("*", "\\*")


def _entry(family: str, function: Named) -> Entry:
    parameters = inspect.signature(function).parameters
    kinds = get_type_hints(function)
    markets = {Bars: Bars(), Expr: Bars.close}
    given = [markets[kinds[name]] for name in parameters if kinds[name] in markets]
    defaults = {
        name: each.default for name, each in parameters.items() if kinds[name] not in markets
    }
    says, facts = _read(inspect.getdoc(function) or "")
    shown = [f"{name}={defaults[name]!r}" if name in defaults else name for name in parameters]
    return Entry(
        name=function.__name__,
        family=family,
        call=f"{function.__name__}({', '.join(shown)})",
        says=says,
        facts=facts,
        example=function(*given, **defaults),
        defaults=defaults,
    )


def _read(text: str) -> tuple[str, dict[str, str]]:
    """Return a docstring's first sentence and its facts, a line or more each."""
    first, _, rest = text.partition("\n")
    facts: dict[str, str] = {}
    name = ""
    for line in rest.strip().splitlines():
        start, mark, said = line.partition(":")
        if mark and start in (*_FACTS, "Source", "Raises"):
            name, line = start, said
        if name:
            facts[name] = f"{facts.get(name, '')} {line.strip()}".strip()
    return first, {fact: facts[fact] for fact in _FACTS}
