"""Variables: their types, array dimensions and initial values, written as C++."""

from dataclasses import dataclass

from mql5.host.expressions import Expressions
from mql5.host.names import ALGEBRA, SCALARS, WORDS
from mql5.host.tokens import SourceError, Token


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a declaration.

    Attributes:
        type: Its C++ type, arrays included.
        value: What follows the name: `` = 1``, ``(3)`` or nothing.
    """

    token: Token
    type: str
    name: str
    value: str
    is_array: bool


class Variables(Expressions):
    """Reads types and declarations of variables."""

    def sees_declaration(self) -> bool:
        """Whether a declaration begins here rather than an expression."""
        if self.sees("const", "static"):
            return True
        token, after = self.peek(), self.peek(1)
        if not self.names.is_type(token.text):
            return False
        if after.text in ("*", "&"):
            raise SourceError(after, "pointers and local references are not in the subset")
        return after.kind == "name"

    def type_name(self) -> str:
        """Read the name of a type."""
        token = self.take()
        if not self.names.is_type(token.text):
            raise SourceError(token, f"a type belongs here, not {token.text or 'the end'!r}")
        return token.text

    def dimensions(self) -> list[str]:
        """Read ``[]``, ``[3]``, ``[][3]``; an empty text is a dynamic one."""
        found: list[str] = []
        while opening := self.accept("["):
            size = "" if self.sees("]") else self.expression()
            self.expect("]")
            if found and not size:
                raise SourceError(opening, "only the first dimension may be open")
            found.append(size)
        return found

    def variables(self, kind: str) -> list[Variable]:
        """Read the variables of a declaration whose type has been read, and its semicolon."""
        found = [self._variable(kind)]
        while self.accept(","):
            found.append(self._variable(kind))
        self.expect(";")
        return found

    def _variable(self, kind: str) -> Variable:
        token = self.take()
        if token.text in WORDS:
            raise SourceError(token, f"{token.text!r} is a word of MQL5 and can't name a variable")
        name = self.names.declare(token)
        sizes = self.dimensions()
        if sizes:
            return self._array(token, kind, sizes)
        if self.accept("("):
            arguments = self.list_until(")", self.expression)
            if kind in SCALARS or not arguments:
                raise SourceError(token, f"{kind} is not made with brackets")
            return Variable(token, kind, name, f"({', '.join(arguments)})", False)
        return Variable(token, kind, name, self._value(kind), False)

    def _value(self, kind: str) -> str:
        if not self.accept("="):
            return ""
        if not self.sees("{"):
            return f" = {self.expression()}"
        brace = self.take()
        items = self.list_until("}", self.expression)
        if items not in ([], ["0"]) or kind in SCALARS or kind in ALGEBRA:
            raise SourceError(brace, "only structs begin with braces, and only with {} or {0}")
        return f" = mql::zeroed<{kind}>()"

    def _array(self, token: Token, kind: str, sizes: list[str]) -> Variable:
        items: list[str] = []
        has_items = self.accept("=") is not None
        if has_items:
            items = self._items(len(sizes))
            if not sizes[0]:
                sizes = [str(len(items)), *sizes[1:]]
            if items == ["0"]:
                items = []
        value = f"({{{', '.join(items)}}})" if items else "(mql::zero_fill)" if has_items else ""
        return Variable(token, array_type(kind, sizes), token.text, value, True)

    def _items(self, depth: int) -> list[str]:
        self.expect("{")
        if depth == 1:
            return self.list_until("}", self.expression)
        return self.list_until("}", lambda: f"{{{', '.join(self._items(depth - 1))}}}")


def array_type(kind: str, sizes: list[str]) -> str:
    """Return the C++ type of an array; an empty size is a dynamic dimension."""
    made = kind
    for size in reversed(sizes):
        made = f"mql::fixed<{made}, ({size})>" if size else f"mql::array<{made}>"
    return made
