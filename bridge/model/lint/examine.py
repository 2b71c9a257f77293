"""The lint for callers: an unknown file is judged in a child with limits."""

from pathlib import Path

from bridge.errors import ModelError
from bridge.model.cage import Limits, ask
from bridge.model.files import read_model_file
from bridge.model.lint.ceilings import ceiling
from bridge.model.lint.finding import Finding, Level, Verdict, verdict_of

_UNREADABLE = "neither terminal nor daemon can read it"


def lint(path: Path, target: str = "mt5", *, limits: str | None = None) -> Verdict:
    """Return every reason why ``target`` would refuse or misread the file at ``path``.

    A file that can't be read at all has one finding, which says so.

    Args:
        path: Of the file.
        target: mt5 (any terminal with ONNX), legacy (onnxruntime 1.8.1) or this (the daemon here).
        limits: Versions of a newer terminal, as OPSET/IR/ML.

    Raises:
        ConfigError: The target or the limits are unknown.
    """
    ceiling(target, limits)
    try:
        read_model_file(path)
        found = ask(path, "bridge.model.lint.judge", [str(path), target, limits or ""], Limits())
    except ModelError as error:
        return Verdict(target, (_unreadable(path, str(error)),))
    findings = (
        Finding(each["rule"], Level(each["level"]), each["what"], each["why"], each["fix"])
        for each in found["findings"]
    )
    return verdict_of(target, findings)


def _unreadable(path: Path, said: str) -> Finding:
    """Return the refusal as a finding; what follows its last colon is the next step."""
    what, _, fix = said.removeprefix(f"{path}: ").rpartition(": ")
    return Finding("unreadable", Level.BLOCKED, what or said, _UNREADABLE, fix or "export it again")
