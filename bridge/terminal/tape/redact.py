"""What a tape does not tell: whose account it is, where, and under which numbers.

Values are changed before they are written, by one table of fields. Numbers that tie records
together keep their ties and their order, since programs compare tickets: the first of a kind
becomes ``FIRST``, and all others keep their distance from it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bridge.mt5.records import AccountInfo, Record

FIRST = 10**12
"""Pseudonym of the first ticket: longer than a real one, so that nobody takes it for one."""
FIRST_LOGIN = 10**9 + 1
"""Pseudonym of the first account."""
HIDDEN = "redacted"
"""Stands for names of servers and companies."""
SUMMARY: Sequence[str] = (
    "login",
    "name",
    "server",
    "company",
    "tickets",
    "external ids",
    "comments of others",
    "paths",
)
"""What is changed, for people; ``--keep-server`` takes server and company out."""

_OURS = ("mt5-onnx",)
# What a server writes when a stop or target closes a position.
_SERVERS_OWN = re.compile(r"\[(sl|tp) [\d.]+\]")
# A path runs on to the next punctuation, since folders of people have blanks in them.
_PATH = re.compile(r"(?:[A-Za-z]:[\\/]|\\\\|(?<![\w/.])/\w[\w.-]*/)[^\";,\n]*")
# Logins and tickets; prices have a point, error codes are shorter.
_NUMBER = re.compile(r"(?<![\d.])\d{6,}(?![\d.])")


class Redaction:
    """Changes values on their way to a tape; one object a tape, so that the ties hold.

    Args:
        keep_server: Leave the names of server and company.
        comments: Comments that tell nothing, beside the bridge's usual one.
        secrets: Text -> what stands for it in sentences, known beforehand.
    """

    def __init__(
        self,
        *,
        keep_server: bool = False,
        comments: Iterable[str] = (),
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        self.keep_server = keep_server
        self._comments = frozenset((*_OURS, *comments))
        self._secrets = {text: name for text, name in (secrets or {}).items() if text}
        self._bases: dict[str, int] = {}
        self._logins: dict[int, int] = {}
        self._externals: dict[str, str] = {}

    @property
    def summary(self) -> list[str]:
        """What is changed, for people."""
        kept = ("server", "company") if self.keep_server else ()
        return [each for each in SUMMARY if each not in kept]

    def of(self, value: Any) -> Any:
        """Return an answer without what is private; arrays and numbers are as they were."""
        if isinstance(value, AccountInfo):
            self._learn(value)
        if isinstance(value, Record):
            return self._record(value)
        return tuple(self.of(each) for each in value) if isinstance(value, tuple) else value

    def asked(self, args: Iterable[Any]) -> list[Any]:
        """Return the arguments of a call without what is private."""
        return [self._request(each) if isinstance(each, dict) else each for each in args]

    def text(self, said: str) -> str:
        """Return a sentence without known names, paths and long numbers."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            said = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", self._secrets[secret], said)
        return _NUMBER.sub("<number>", _PATH.sub("<path>", said))

    def _learn(self, account: AccountInfo) -> None:
        known = {str(account.login): "<login>", account.name: "<name>"}
        if not self.keep_server:
            known |= {account.server: "<server>", account.company: "<company>"}
        self._secrets |= {text: name for text, name in known.items() if text}

    def _record(self, record: Record) -> Record:
        changes = _CHANGES.get(type(record).__name__, {})
        fields = record._asdict().items()
        return type(record)(
            changes[name](self, value) if name in changes else value for name, value in fields
        )

    def _request(self, request: dict[str, Any]) -> dict[str, Any]:
        changes = _CHANGES["TradeRequest"]
        return {
            name: changes[name](self, value) if name in changes else value
            for name, value in request.items()
        }

    def _order(self, ticket: int) -> int:
        return self._ticket("order", ticket)

    def _deal(self, ticket: int) -> int:
        return self._ticket("deal", ticket)

    def _ticket(self, kind: str, ticket: int) -> int:
        return ticket - self._bases.setdefault(kind, ticket - FIRST) if ticket else 0

    def _login(self, login: int) -> int:
        return self._logins.setdefault(login, FIRST_LOGIN + len(self._logins))

    def _external(self, number: str) -> str:
        return self._externals.setdefault(number, f"x{len(self._externals) + 1}") if number else ""

    def _house(self, name: str) -> str:
        return name if self.keep_server or not name else HIDDEN

    def _comment(self, comment: str) -> str:
        is_kept = comment in self._comments or _SERVERS_OWN.fullmatch(comment)
        return comment if is_kept else ""

    def _nothing(self, value: Any) -> Any:
        return type(value)()


_R = Redaction
# Record -> field -> what becomes of it. An order's number is also its position's.
_CHANGES: dict[str, dict[str, Callable[[Redaction, Any], Any]]] = {
    "AccountInfo": {
        "login": _R._login,
        "name": _R._nothing,
        "server": _R._house,
        "company": _R._house,
    },
    "TerminalInfo": {
        "community_balance": _R._nothing,
        "company": _R._house,
        "name": _R._house,
        "path": _R._nothing,
        "data_path": _R._nothing,
        "commondata_path": _R._nothing,
    },
    "SymbolInfo": {
        "bank": _R._nothing,
        "page": _R._nothing,
        **dict.fromkeys(("category", "description", "exchange", "path"), _R.text),
    },
    "TradeOrder": {
        **dict.fromkeys(("ticket", "position_id", "position_by_id"), _R._order),
        "comment": _R._comment,
        "external_id": _R._external,
    },
    "TradePosition": {
        **dict.fromkeys(("ticket", "identifier"), _R._order),
        "comment": _R._comment,
        "external_id": _R._external,
    },
    "TradeDeal": {
        "ticket": _R._deal,
        **dict.fromkeys(("order", "position_id"), _R._order),
        "comment": _R._comment,
        "external_id": _R._external,
    },
    "TradeRequest": {
        **dict.fromkeys(("order", "position", "position_by"), _R._order),
        "comment": _R._comment,
    },
    "OrderCheckResult": {"comment": _R.text, "request": _R.of},
    "OrderSendResult": {
        "deal": _R._deal,
        "order": _R._order,
        "comment": _R.text,
        "request": _R.of,
    },
}
