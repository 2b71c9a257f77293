"""Where runs keep their files: one folder a run, below the state folder."""

from pathlib import Path

from bridge.errors import ConfigError

STATE = Path("mt5-onnx-state")
JOURNAL = "journal.sqlite3"
ACCOUNT = "account.sqlite3"
DRY_ACCOUNT = "dry-run.sqlite3"
HEARTBEAT = "heartbeat.json"


def new_run_folder(state: Path, kind: str) -> Path:
    """Make and return ``state/kind-N`` with the first N that is free; nothing is overwritten.

    Raises:
        ConfigError: The folder can't be made.
    """
    number = 1 + max(
        (int(found.name.rpartition("-")[2]) for found in state.glob(f"{kind}-[0-9]*")), default=0
    )
    folder = state / f"{kind}-{number}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(f"{folder} can't be made ({error}): name another --state") from error
    return folder


def find_journal(named: Path | None) -> Path:
    """Return the journal that is named, or the newest below the state folder.

    Raises:
        ConfigError: There is none.
    """
    if named is not None:
        return named / JOURNAL if named.is_dir() else named
    found = sorted(STATE.glob(f"*/{JOURNAL}"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise ConfigError(
            f"there is no journal below {STATE}: run mt5-onnx demo, or name one with --journal"
        )
    return found[-1]
