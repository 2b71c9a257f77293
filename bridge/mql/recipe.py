"""The recipe of a written program: ``ea.json`` beside it, from which all of it is written again."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bridge import __version__
from bridge.errors import ConfigError, StateMismatch
from bridge.mql.golden import Golden, GoldenRow
from bridge.mql.program import TEMPLATES
from bridge.mt5.rates import rates_of
from bridge.settings import LimitSettings, StrategySettings

RECIPE = "ea.json"
FORM = 1
# Paths of the maker's computer, and what only a daemon has: a pin, threads of its runtime.
_NOT_OURS = {"model", "sha256", "session"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that a program is made of, besides the model's file and the library.

    Attributes:
        name: Of program and files.
        deposit: Of a tester run, account currency.
        written: Path below the folder -> hash of what was written there, hand edits left out.
        bridge: Version that wrote it.
    """

    name: str
    template: str
    sha256: str
    strategy: StrategySettings
    limits: LimitSettings
    deposit: float
    golden: Golden
    written: dict[str, str]
    bridge: str = __version__

    def as_json(self) -> str:
        """Return the text of ``ea.json``."""
        strategy = self.strategy.model_dump(mode="json", exclude=_NOT_OURS)
        rows = [{"bars": row.bars.tolist(), "outputs": row.outputs} for row in self.golden.rows]
        whole = {
            "form": FORM,
            "bridge": self.bridge,
            "name": self.name,
            "template": self.template,
            "sha256": self.sha256,
            "strategy": strategy,
            "limits": _limits(self.limits),
            "deposit": self.deposit,
            "golden": {
                "bars": self.golden.bars,
                "by_estimator": self.golden.by_estimator,
                "rows": rows,
            },
            "written": self.written,
        }
        return json.dumps(whole, indent=1, allow_nan=False) + "\n"


def _limits(limits: LimitSettings) -> dict[str, Any]:
    found = limits.model_dump(mode="json")
    return found | {"news_csv": limits.news_csv and Path(limits.news_csv).name}


def read_recipe(folder: Path) -> Recipe:
    """Return the recipe in a folder that ``ea new`` has written.

    Raises:
        ConfigError: There is none, or one that this release can't read.
    """
    path = folder / RECIPE
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        return _recipe(whole)
    except FileNotFoundError as error:
        raise ConfigError(
            f"{folder} holds no {RECIPE}, so no program was written there: use mt5-onnx ea new"
        ) from error
    except NotADirectoryError as error:
        raise ConfigError(
            f"{folder} is a file: name the folder that mt5-onnx ea new has written"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise ConfigError(
            f"{path} can't be read as a recipe of form {FORM} ({type(error).__name__}): write the "
            "program into a new folder, and move your hand edits there"
        ) from error


def _recipe(whole: dict[str, Any]) -> Recipe:
    if whole["form"] != FORM or whole["template"] not in TEMPLATES:
        raise ValueError("of another form")
    golden = whole["golden"]
    rows = tuple(
        GoldenRow(rates_of(map(tuple, row["bars"])), tuple(row["outputs"]))
        for row in golden["rows"]
    )
    strategy = {**whole["strategy"], "model": f"{whole['name']}.onnx"}
    return Recipe(
        name=whole["name"],
        template=whole["template"],
        sha256=whole["sha256"],
        strategy=StrategySettings.model_validate_json(json.dumps(strategy)),
        limits=LimitSettings.model_validate_json(json.dumps(whole["limits"])),
        deposit=float(whole["deposit"]),
        golden=Golden(rows, golden["bars"], golden["by_estimator"]),
        written=dict(whole["written"]),
        bridge=whole["bridge"],
    )


def check_same_program(folder: Path, name: str, template: str) -> Recipe | None:
    """Return the recipe of what is to be written again, or None in a new folder.

    Raises:
        StateMismatch: The folder holds another program.
    """
    if not (folder / RECIPE).is_file():
        return None
    known = read_recipe(folder)
    if (known.name, known.template) != (name, template):
        raise StateMismatch(
            f"{folder} holds the program {known.name} of the template {known.template}, not {name} "
            f"of {template}: name another folder"
        )
    return known


def sha256_of(data: bytes) -> str:
    """Return a hash as hex."""
    return hashlib.sha256(data).hexdigest()
