"""What a run says: lines on the screen, and a log file that rotates. Quiet when nothing happens."""

import contextlib
import json
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from bridge.engine.step import Step
from bridge.errors import ConfigError
from bridge.mt5.servertime import text
from bridge.settings import BridgeSettings, LogSettings

LOG = "mt5-onnx.log"
"""Name of the log file in the state folder."""

# Kind of event -> how grave it is; others are warnings.
_GRAVITY = {
    "halt": logging.ERROR,
    "unresolved": logging.ERROR,
    "adopted": logging.ERROR,
    "resume": logging.INFO,
    "paid": logging.INFO,
    "accepted": logging.INFO,
    "server_clock": logging.DEBUG,
    "summary": logging.INFO,
    "snapshot": logging.DEBUG,
    "baselines": logging.DEBUG,
    "declined": logging.DEBUG,
}
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class Watcher:
    """Told of what a run does; writes it down.

    Args:
        settings: Of the run: what is logged, where, and what the strategies are called.
        echo: Prints a line.

    Raises:
        ConfigError: The log file can't be written.
    """

    def __init__(self, settings: BridgeSettings, echo: Callable[[str], None]) -> None:
        self._echo = echo
        self._titles = {each.magic: each.title for each in settings.strategy}
        self._logger = logging.Logger("mt5-onnx", _LEVELS[settings.log.level])
        self._logger.addHandler(_handler(Path(settings.state), settings.log))

    def close(self) -> None:
        """Close the file."""
        for handler in self._logger.handlers:
            handler.close()

    def on_event(self, kind: str, what: str, magic: int | None) -> None:
        """Write an event of the journal."""
        self.say(_GRAVITY.get(kind, logging.WARNING), kind, what, self._title(magic))

    def on_step(self, step: Step) -> None:
        """Write a step; one that held is for the file's debug level only."""
        decision = step.decision
        asked = f"{decision.action} {decision.side}" if decision.side else f"{decision.action}"
        what = f"{text(step.bar_time)}  {asked}: {decision.reason}"
        if step.results:
            fates = ", ".join(f"{each.outcome} ({each.words})" for each in step.results)
            what = f"{text(step.bar_time)}  {asked}: {fates}"
        gravity = logging.INFO if step.results else logging.DEBUG
        self.say(gravity, "decision", what, self._title(step.magic))

    def note(self, what: str) -> None:
        """Write what a run has to say of itself."""
        self.say(logging.INFO, "run", what)

    def say(self, gravity: int, kind: str, what: str, strategy: str = "") -> None:
        """Write a line, and print it unless it is of the debug level."""
        line = " ".join(what.split("\n"))  # one line each: a terminal's text may have more
        extra = {"kind": kind, "strategy": strategy}
        self._logger.log(gravity, line, extra=extra)
        if gravity >= logging.INFO:
            self._echo(f"{strategy}: {line}" if strategy else line)

    def _title(self, magic: int | None) -> str:
        return "" if magic is None else self._titles.get(magic, str(magic))


def _handler(state: Path, settings: LogSettings) -> logging.Handler:
    try:
        state.mkdir(parents=True, exist_ok=True)
        handler = _Rotating(
            state / LOG,
            maxBytes=settings.rotate_bytes,
            backupCount=settings.keep_files,
            encoding="utf-8",
        )
    except OSError as error:
        raise ConfigError(
            f"the log {state / LOG} can't be written ({error}): name another folder as state"
        ) from error
    handler.setFormatter(_JsonLines() if settings.json_lines else _Lines())
    return handler


class _Rotating(RotatingFileHandler):
    def rotate(self, source: str, dest: str) -> None:
        # Windows renames no file that somebody reads; the log goes on in the same one.
        with contextlib.suppress(OSError):
            super().rotate(source, dest)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the base's name
        """Go on: a full disk ends the run through the journal, not through its log."""


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        who = record.__dict__["strategy"] or "-"
        kind = record.__dict__["kind"]
        return f"{_utc(record)}  {record.levelname:<7}  {who}  {kind}: {record.getMessage()}"


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields: Mapping[str, object] = {
            "time": _utc(record),
            "level": record.levelname.lower(),
            "strategy": record.__dict__["strategy"] or None,
            "kind": record.__dict__["kind"],
            "text": record.getMessage(),
        }
        return json.dumps(fields, ensure_ascii=False)


def _utc(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
