"""A journal for tests: begun, with nothing to say of its run."""

from bridge.journal.write import Journal


def begin(journal: Journal, *, account: dict[str, object] | None = None) -> Journal:
    """Begin a run without particulars and return ``journal``."""
    nothing: dict[str, str] = {}
    journal.begin_run(
        mode="test",
        settings=nothing,
        models=nothing,
        account=account or nothing,
        versions=nothing,
        paths=nothing,
    )
    return journal
