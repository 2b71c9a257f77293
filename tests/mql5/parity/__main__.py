"""Print the table: ``python -m tests.mql5.parity``, from the project's folder."""

import argparse
import sys
import tempfile
from pathlib import Path

# Run as a module of the project, the tests' own packages are not on the path yet.
sys.path[:0] = [str(Path(__file__).parents[2])]

from mql5.host.compiler import has_compiler, session_compiler  # noqa: E402
from mql5.parity.cases import CASES  # noqa: E402
from mql5.parity.table import HEADER, compared, lines, versions  # noqa: E402


def _say(*said: str) -> None:
    sys.stdout.write("\n".join(said) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Compare every case; the exit code is 1 when one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.mql5.parity", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose line holds this text")
    parser.add_argument("--show", type=int, default=5, help="differences shown of a case")
    asked = parser.parse_args()
    if not has_compiler():
        parser.error("it needs Linux with g++ (Debian: apt install g++)")
    _say(versions(), "", HEADER)
    differs = False
    with tempfile.TemporaryDirectory(prefix="parity-") as folder:
        for number, case in enumerate(CASES):
            words = f"{case.model} {case.template} {case.symbol} {case.margin_mode} {case.what}"
            if asked.only not in words:
                continue
            place = Path(folder) / str(number)
            row = compared(case, session_compiler(), place, is_thorough=True)
            _say(*lines([row]))
            differs = differs or bool(row.found)
            for one in (row.found or ())[: asked.show]:
                _say(f"    {one}")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
