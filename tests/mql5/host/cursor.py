"""A place in the tokens of a source, and what stands there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mql5.host.tokens import SourceError, Token

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of C++, and where in the source it comes from."""

    file: str
    line: int
    text: str


class Cursor:
    """Moves over tokens."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._count = len(tokens)
        self._at = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return a token without moving."""
        at = self._at + ahead
        return self._tokens[at] if at < self._count else self._tokens[-1]

    def take(self) -> Token:
        """Return the token here and go on."""
        token = self.peek()
        self._at += 1
        return token

    def sees(self, *texts: str) -> bool:
        """Whether a sign or word of ``texts`` stands here."""
        token = self.peek()
        return token.kind in ("sign", "name") and token.text in texts

    def accept(self, *texts: str) -> Token | None:
        """Take the token if it is one of ``texts``."""
        return self.take() if self.sees(*texts) else None

    def expect(self, text: str) -> Token:
        """Take ``text``, or refuse what stands there."""
        if not self.sees(text):
            raise self.wrong(f"{text!r}")
        return self.take()

    def wrong(self, wanted: str) -> SourceError:
        """Return the error that something else stands here."""
        token = self.peek()
        return SourceError(token, f"{wanted} belongs here, not {token.text or 'the end'!r}")

    def list_until(self, end: str, item: Callable[[], _T]) -> list[_T]:
        """Read items with commas between them up to ``end``, which is taken, too."""
        items: list[_T] = []
        while not self.accept(end):
            if items:
                self.expect(",")
            items.append(item())
        return items
