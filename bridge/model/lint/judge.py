"""The child of the lint: facts of a file, then every rule. Runs in the cage."""

import sys
from dataclasses import asdict
from pathlib import Path

from bridge.model.cage import answer
from bridge.model.files import ModelFile, read_model_file
from bridge.model.lint import operators, ports, versions
from bridge.model.lint.ceilings import Ceiling, ceiling
from bridge.model.lint.facts import facts_of
from bridge.model.lint.finding import Verdict, verdict_of

RULES = (*versions.RULES, *ports.RULES, *operators.RULES)
"""Every rule; among equals the order in which findings are shown."""


def judge(file: ModelFile, target: Ceiling) -> Verdict:
    """Return what the rules find in a file.

    Raises:
        ModelError: It can't be parsed.
    """
    facts = facts_of(file)
    found = (each for rule in RULES for each in rule.findings(facts, target))
    return verdict_of(target.name, found)


def main(arguments: list[str]) -> int:
    """Judge the file PATH for TARGET with LIMITS (or "") and write the verdict as JSON."""
    path, target, limits = arguments

    def work() -> dict[str, object]:
        return asdict(judge(read_model_file(Path(path)), ceiling(target, limits or None)))

    return answer(Path(path), work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
