"""A broker profile as plain JSON, and back, for processes that don't have pydantic."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bridge.terminal.paper.specification import complete

if TYPE_CHECKING:
    from bridge.terminal.paper.profile import BrokerProfile


class _Mode(str):
    """A margin mode: its name, and the code that the account shows."""

    __slots__ = ("code",)
    code: int


def plain(profile: "BrokerProfile") -> dict[str, Any]:
    """Return all that the terminal asks of a profile, specifications complete."""
    terms = profile.account
    fields = profile.model_dump(mode="json", exclude={"note"})
    fields["sha256"] = profile.sha256
    fields["symbols"] = {
        name: complete(name, given)._asdict() for name, given in profile.symbols.items()
    }
    fields["account"] |= {
        "commissions": [each.model_dump(mode="json") for each in terms.commissions],
        "margin_mode_code": terms.margin_mode.code,
    }
    return fields


def broker_of(fields: Mapping[str, Any]) -> "BrokerProfile":
    """Return what has the attributes of the profile that :func:`plain` was given."""
    account = dict(fields["account"])
    mode = _Mode(account["margin_mode"])
    mode.code = account.pop("margin_mode_code")
    texts = {int(code): text for code, text in account["retcode_texts"].items()}
    commissions = tuple(SimpleNamespace(**each) for each in account["commissions"])
    account |= {"margin_mode": mode, "retcode_texts": texts, "commissions": commissions}
    made: Any = SimpleNamespace(**{**fields, "account": SimpleNamespace(**account)})
    known: BrokerProfile = made
    return known
