"""What an account plays and since when: all that the processes of its programs have to agree on.

It stands in the account's folder as JSON, beside the bars and the account's file.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from bridge.clock import Clock, SystemClock
from bridge.errors import ConfigError

ACCOUNT = "account.sqlite3"
_PLAN = "plan.json"
_VERSION = 1


class FlowingClock:
    """Time that flows by itself, ``speed`` times as fast as real time.

    Args:
        start: UTC epoch seconds that are shown at ``began``.
        began: UTC epoch seconds of the computer's clock.
        speed: Seconds a real second, > 0.
    """

    def __init__(self, start: float, began: float, speed: float) -> None:
        self._real = SystemClock()
        self._start, self._began, self._speed = start, began, speed

    def now(self) -> float:
        """Return UTC epoch seconds."""
        return self._start + (self._real.now() - self._began) * self._speed

    def wait_until(self, instant: float) -> None:
        """Sleep until ``instant`` is shown."""
        self._real.wait_until(self._began + (instant - self._start) / self._speed)


@dataclass(frozen=True, slots=True)
class Recording:
    """Bars of one symbol.

    Attributes:
        file: Array of the rates dtype, in the account's folder.
        sha256: Of the bars as they were given.
    """

    symbol: str
    timeframe: str
    file: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is played.

    Attributes:
        profile: The broker, see ``broker``.
        start: Server epoch seconds at which the user let the clock begin.
        speed: Seconds a real second.
        is_shifted: Whether bars were moved so that ``start`` is in the week that ended at
            ``began``.
        shown, began: What the account's clock and the computer's showed at its beginning, UTC.
    """

    profile: dict[str, Any]
    recordings: tuple[Recording, ...]
    start: int
    speed: float
    is_shifted: bool
    shown: float
    began: float

    @property
    def clock(self) -> Clock:
        """The account's clock, the same in all processes."""
        return FlowingClock(self.shown, self.began, self.speed)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the plan of an account; None when there is no such account.

        Raises:
            ConfigError: The file can't be read, or is of another version.
        """
        path = folder / _PLAN
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            if fields.pop("version") != _VERSION:
                raise ValueError("another version of mt5-onnx wrote it")
            recordings = tuple(Recording(**each) for each in fields.pop("recordings"))
            return cls(recordings=recordings, **fields)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ConfigError(
                f"account {folder} can't be continued, its {_PLAN} is unusable ({error}): name "
                "another account"
            ) from error

    def write(self, folder: Path) -> None:
        """Write the plan at once or not at all."""
        draft = folder / f"{_PLAN}.{os.getpid()}"
        draft.write_text(json.dumps({"version": _VERSION, **asdict(self)}), encoding="utf-8")
        draft.replace(folder / _PLAN)
