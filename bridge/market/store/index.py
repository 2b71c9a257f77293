"""The index of a series: a small JSON file beside the files of bars that it names."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bridge.errors import BridgeError, DataError
from bridge.market.store.place import put
from bridge.market.store.series import Part, Series, Stored
from bridge.mt5.servertime import server_clock
from bridge.mt5.timeframes import timeframe

INDEX = "series.json"
_VERSION = 1


def read_index(folder: Path) -> Stored | None:
    """Return what ``folder`` holds; None where there is no index.

    Raises:
        DataError: The index is damaged.
    """
    path = folder / INDEX
    try:
        return _stored(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, BridgeError) as error:
        raise DataError(
            f"{path} is no index of bars ({error}): remove its folder, and import the bars again"
        ) from error


def write_index(folder: Path, stored: Stored) -> None:
    """Replace the index in one step; from then on its files are the series."""
    series = asdict(stored.series) | {"timeframe": stored.series.timeframe.name}
    parts = [asdict(part) for part in stored.parts]
    said = {
        "version": _VERSION,
        "generation": stored.generation,
        "series": series,
        "parts": parts,
        "covered": stored.covered,
    }
    put(folder / INDEX, lambda file: file.write(json.dumps(said, indent=1).encode()))


def _stored(said: dict[str, Any]) -> Stored:
    if said["version"] != _VERSION:
        raise ValueError(f"its version is {said['version']}, this program knows {_VERSION}")
    known = said["series"]
    series = Series(
        **known
        | {
            "timeframe": timeframe(known["timeframe"]),
            "clock": server_clock(known["clock"]).name,
            "absent": tuple(known["absent"]),
        }
    )
    parts = tuple(Part(**part) for part in said["parts"])
    if not parts:
        raise ValueError("it names no files")
    covered = tuple((int(first), int(last)) for first, last in said["covered"])
    return Stored(series, parts, int(said["generation"]), covered)
