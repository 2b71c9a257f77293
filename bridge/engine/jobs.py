"""Periodic jobs of the daemon, run by the ``schedule`` package: heartbeat, snapshot, summary.

They are about the process, so they follow the computer's clock also when a replay has its own.
"""

from collections.abc import Callable

import schedule

from bridge.journal.write import Journal


class Jobs:
    """Jobs that may fail without ending the loop.

    Args:
        journal: Told of a job that raises.
    """

    def __init__(self, journal: Journal) -> None:
        self._scheduler = schedule.Scheduler()
        self._journal = journal

    def every(self, seconds: float, name: str, job: Callable[[], None]) -> None:
        """Run ``job`` every ``seconds``, rounded to whole ones."""
        self._scheduler.every(max(1, round(seconds))).seconds.do(self._wrapped, name, job)

    def run_due(self) -> None:
        """Run what is due."""
        self._scheduler.run_pending()

    def _wrapped(self, name: str, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001  a broken summary must not end a running strategy
            self._journal.event("job", f"{name} raised {type(error).__name__}: {error}")
