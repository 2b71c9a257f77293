"""The first row of every run: what is run, with what, on whose account."""

from collections.abc import Sequence

from bridge.cli.particulars import account_facts, versions
from bridge.engine.strategy import Strategy
from bridge.journal.write import Journal
from bridge.mt5.records import AccountInfo
from bridge.settings import BridgeSettings, settings_sha256


def begin_run(
    journal: Journal,
    settings: BridgeSettings,
    strategies: Sequence[Strategy],
    account: AccountInfo,
    *,
    mode: str | None = None,
) -> None:
    """Write it; ``mode`` is the settings' where none is given."""
    plain = settings.model_dump(mode="json", exclude={"state"})
    journal.begin_run(
        mode=mode or settings.mode,
        settings={"sha256": settings_sha256(settings), **plain},
        models={each.settings.magic: each.model.sha256 for each in strategies},
        account=account_facts(account),
        versions=versions(),
        paths={"state": settings.state},
    )
