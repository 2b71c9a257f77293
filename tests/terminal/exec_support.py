"""Programs on the paper terminal in tests: real processes, and a look at the account afterwards."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from bridge.mt5.records import TradeDeal
from bridge.terminal.paper.exec.handover import VARIABLE, Handover
from bridge.terminal.paper.exec.module import Account

# Enough of an environment for a Python; nothing that names ours.
KEPT = ("PATH", "HOME", "SYSTEMROOT", "TEMP", "TMP", "LANG", "PYTHONTZPATH")


def command(state: Path, *options: str, program: tuple[str, ...]) -> list[str]:
    """Return the command line that runs a program on the account ``a``."""
    given = ["--state", str(state), "--account", "a", *options]
    return [sys.executable, "-m", "bridge", "paper", "exec", *given, "--", *program]


def outer_environment(**more: str) -> dict[str, str]:
    """Return an environment in which nothing but the command leads to the bridge."""
    known = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**known, "PYTHONIOENCODING": "utf-8", **more}


def execute(
    state: Path, *options: str, program: tuple[str, ...], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program on the account ``a``, and return how it ended."""
    return subprocess.run(
        command(state, *options, program=program),
        capture_output=True,
        text=True,
        check=False,
        cwd=state,
        env=outer_environment(**environment),
        timeout=60,
    )


def told(
    state: Path, code: str, *options: str, python: str = sys.executable, **environment: str
) -> Any:
    """Run code that has ``mt5`` on the account ``a``; return the JSON value that it prints."""
    text = f"import json\nimport MetaTrader5 as mt5\n{code}"
    done = execute(state, *options, program=(python, "-c", text), **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def deals(state: Path, account: str = "a") -> list[TradeDeal]:
    """Return what the account's file holds, without the first deposit."""
    with closing(_opened(state / "paper" / account)) as terminal:
        assert terminal.initialize()
        found = list(terminal.history_deals_get(0, 2_000_000_000))
        assert terminal.positions_get() == ()
    assert [deal.type for deal in found[:1]] == [2]
    return found[1:]


def _opened(folder: Path) -> Any:
    handover = Handover.of({VARIABLE: json.dumps({"folder": str(folder)})})
    return Account(handover).open(10.0)
