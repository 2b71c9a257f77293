"""What was run: models, runs and settings, without whose account it is and where files lie."""

import json
import re
from pathlib import PureWindowsPath
from typing import Any

from bridge.mt5.servertime import text
from bridge.report.account import Account
from bridge.report.page.markup import Html, joined, table, tag

_PRIVATE = frozenset({"login", "server", "remote", "python", "url", "urls", "token", "password"})
# A POSIX or a Windows path; the latter's rules split both.
_ABSOLUTE = re.compile(r"/|\\\\|[A-Za-z]:[\\/]")


def settings_of(account: Account) -> Html:
    """Return the section of models, runs and settings."""
    models = [
        [
            tag("th", tag("code", model.sha256), scope="row"),
            model.contract.name if model.contract else "file not found",
            f"{text(model.trained.first)[:10]} to {text(model.trained.last)[:10]}"
            if model.trained
            else ("not trained" if model.contract else "not known"),
        ]
        for model in account.models
    ]
    runs: list[list[object]] = [
        [run["id"], run["mode"], _ending(run), _versions(run["versions"])]
        for run in account.story.runs
    ]
    shown = shareable(account.story.runs[-1]["settings"])
    last = json.dumps(shown, indent=2, ensure_ascii=False)
    return joined(
        tag("h3", "Models"),
        table(["sha256", "name", "trained on"], [list(row) for row in models], caption="Models"),
        tag("h3", "Runs"),
        table(["Run", "mode", "ended", "versions"], runs, caption="Runs"),
        tag("h3", "Settings of the last run, without account and folders"),
        tag("pre", last, tabindex="0", role="region", aria_label="Settings of the last run"),
    )


def shareable(value: Any, key: str = "") -> Any:
    """Return settings without whose account it is and where files lie: reports are passed on."""
    if isinstance(value, dict):
        return {name: shareable(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [shareable(each, key) for each in value]
    if key in _PRIVATE and value is not None:
        return "(not shown)"
    if isinstance(value, str) and _ABSOLUTE.match(value):
        return f"(folder)/{PureWindowsPath(value).name}"
    return value


def _ending(run: dict[str, Any]) -> str:
    return str(run["ending"] or "still running, or ended without a word")


def _versions(versions: Any) -> str:
    if not isinstance(versions, dict):
        return ""
    return ", ".join(f"{name} {version}" for name, version in versions.items())
