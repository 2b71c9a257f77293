"""Programs from templates: one line names the model, and marked parts are the user's own."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bridge.errors import ContractError, StateMismatch
from bridge.model.contract import Contract
from bridge.mql.literals import banner

_HEAD = re.compile(r"\A(//\+-+\+\n)//\| \w+\.mq5: (.*?)\s*\|\n")
_INCLUDE = re.compile(r"^#include <OnnxBridge\\Generated\\\w+\.mqh>$", re.MULTILINE)
_PART = re.compile(
    r"(?P<begin>^[ ]*//--- hand edits begin: (?P<name>\w+)\n)"
    r"(?P<body>(?:(?![ ]*//--- hand edits ).*\n)*?)"
    r"(?P<end>^[ ]*//--- hand edits end: (?P=name)$)",
    re.MULTILINE,
)
_MARK = re.compile(r"^[ ]*//--- hand edits ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Template:
    """A program that can be written for a model.

    Attributes:
        source: Below ``mql5/``.
        suffix: Of the name of what is written, so that two programs of a model stay apart.
        kinds: Of outputs that it is for.
        is_expert: Whether it is an EA, with a preset and a tester run.
        trades: Whether it sends orders, so that a tester can optimise it.
    """

    source: str
    suffix: str
    kinds: tuple[str, ...]
    is_expert: bool = True
    trades: bool = True

    @property
    def folder(self) -> str:
        """Where it goes, below ``MQL5``."""
        return self.source.rpartition("/")[0]


_ALL = ("shares", "forecast", "target")
TEMPLATES: Mapping[str, Template] = MappingProxyType(
    {
        "classifier": Template("Experts/OnnxBridge/Classifier.mq5", "", ("shares",)),
        "forecast": Template("Experts/OnnxBridge/Forecast.mq5", "", ("forecast", "target")),
        "shadow": Template("Experts/OnnxBridge/Shadow.mq5", "_shadow", _ALL, trades=False),
        "outputs": Template(
            "Indicators/OnnxBridge/Outputs.mq5", "_outputs", _ALL, is_expert=False, trades=False
        ),
    }
)
SELF_TEST = "Scripts/OnnxBridge/SelfTest.mq5"


def check_kind(template: str, contract: Contract) -> None:
    """Check that a template is for what a model answers.

    Raises:
        ContractError: It is not.
    """
    kind = contract.output.kind
    if kind not in TEMPLATES[template].kinds:
        fits = [name for name, each in TEMPLATES.items() if kind in each.kinds]
        raise ContractError(
            f"{contract.name} answers {kind}, which the template {template} does not trade: use "
            f"--template {' or '.join(fits)}"
        )


def filled(source: Path, program: str, model: str) -> str:
    """Return a template as the program of a model.

    Args:
        source: The template.
        program: Name of the program.
        model: Name of the generated include.
    """
    text = source.read_text(encoding="ascii")
    found = _HEAD.match(text)
    title = found[2] if found else ""
    head = banner([f"{program}.mq5: {title}"]).splitlines()[1]
    named = _HEAD.sub(lambda match: f"{match[1]}{head}\n", text)
    return _INCLUDE.sub(
        lambda match: f"#include <OnnxBridge\\Generated\\{model}.mqh>", named, count=1
    )


def hand_edits(text: str, where: Path) -> dict[str, str]:
    """Return the marked parts of a program, as they are.

    Raises:
        StateMismatch: Marks don't pair up, so that nobody knows what is the user's.
    """
    parts = {match["name"]: match["body"] for match in _PART.finditer(text)}
    if len(_MARK.findall(text)) != 2 * len(parts):
        raise StateMismatch(
            f"{where} has marks of hand edits that don't pair up, so nothing was written: put each "
            "//--- hand edits begin: NAME before its end again"
        )
    return parts


def with_edits(text: str, edits: Mapping[str, str], where: Path) -> str:
    """Return a program with the user's parts in their places.

    Raises:
        StateMismatch: A part that is not empty has no place any more.
    """
    known = {match["name"] for match in _PART.finditer(text)}
    for name, body in edits.items():
        if name not in known and body.strip():
            raise StateMismatch(
                f"{where} has hand edits {name}, which the template has no place for: move them "
                f"into one of {', '.join(sorted(known))}"
            )
    return _PART.sub(
        lambda match: match["begin"] + edits.get(match["name"], match["body"]) + match["end"], text
    )


def without_edits(text: str) -> str:
    """Return a program with its marked parts empty."""
    return _PART.sub(lambda match: match["begin"] + match["end"], text)
