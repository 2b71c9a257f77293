"""What the environment of a program says about its terminal: one variable, and one path."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "MT5_ONNX_PAPER"
# A folder that holds MetaTrader5 and nothing else.
_PATH = Path(__file__).parent / "path"


@dataclass(frozen=True, slots=True)
class Handover:
    """What a parent hands over.

    Attributes:
        folder: Of the account, absolute.
        zones: Folder of time zones for a Python that finds none, or empty.
        script: File of what the terminal is told to answer, absolute, or empty.
    """

    folder: str
    zones: str = ""
    script: str = ""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Handover":
        """Return what a parent has handed over.

        Raises:
            ImportError: There is nothing: nobody ran the command.
        """
        if VARIABLE not in environment:
            raise ImportError(
                "this MetaTrader5 is the paper terminal's, and no account is named: start the "
                "program with mt5-onnx paper exec"
            )
        return cls(**json.loads(environment[VARIABLE]))

    def environment(self, known: Mapping[str, str]) -> dict[str, str]:
        """Return ``known`` with the handover; the program's children get it, too."""
        paths = [str(_PATH), *filter(None, [known.get("PYTHONPATH")])]
        return {
            **known,
            "PYTHONPATH": os.pathsep.join(paths),
            VARIABLE: json.dumps(asdict(self)),
        }
