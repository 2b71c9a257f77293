"""Statements: read by the grammar, written as C++ line by line."""

from collections.abc import Callable, Sequence

from mql5.host.cursor import Line
from mql5.host.names import SCALARS, Names
from mql5.host.tokens import SourceError, Token
from mql5.host.variables import Variables

# Values of these types have none of their own until they are set.
_POISONED = SCALARS - {"string", "datetime", "color"}


class Statements(Variables):
    """Reads statements.

    Attributes:
        files: The files of the program; a place at run time is an index and a line.
    """

    def __init__(self, tokens: Sequence[Token], names: Names) -> None:
        super().__init__(tokens, names)
        self.files: list[str] = []
        self._kinds: dict[str, Callable[[Token], list[Line]]] = {
            "if": self._if,
            "for": self._for,
            "while": self._while,
            "do": self._do,
            "switch": self._switch,
            "return": self._return,
            "break": self._jump,
            "continue": self._jump,
        }

    def block(self) -> list[Line]:
        """Read ``{ ... }``, and return it with its braces."""
        opening = self.expect("{")
        lines = [_line(opening, "{")]
        while not self.sees("}"):
            if self.peek().kind == "end":
                raise self.wrong("'}'")
            lines += self.statement()
        return [*lines, _line(self.take(), "}")]

    def statement(self) -> list[Line]:
        """Read a statement."""
        token = self.peek()
        if self.sees("{"):
            return self.block()
        if self.sees(";"):
            raise SourceError(token, "an empty statement")
        if token.text in self._kinds:
            self.take()
            return self._kinds[token.text](token)
        if self.sees_declaration():
            return self._declaration()
        text = self.expression()
        self.expect(";")
        return [_line(token, f"{self._at_line(token)}{text};")]

    def _at_line(self, token: Token) -> str:
        """Return the note of where the program is, for errors at run time."""
        if token.file not in self.files:
            self.files.append(token.file)
        return f"mql::here({self.files.index(token.file)}, {token.line}); "

    def _declaration(self) -> list[Line]:
        first = self.peek()
        is_static = self.accept("static") is not None
        is_const = self.accept("const") is not None
        kind = self.type_name()
        head = "static " * is_static + "const " * is_const
        lines = [_line(first, self._at_line(first))]
        for one in self.variables(kind):
            # In a run it traps; in a check the compiler has to see that it is not set.
            open_value = "" if is_static or one.type not in _POISONED else f" MQL_UNSET({kind})"
            value = one.value or open_value
            lines.append(_line(one.token, f"{head}{one.type} {one.name}{value};"))
        return lines

    def _condition(self, token: Token) -> str:
        self.expect("(")
        text = self.expression()
        self.expect(")")
        return text

    def _body(self, *, loops: bool = False) -> list[Line]:
        opening = self.peek()
        lines = self.statement()
        first = "{ mql::turn();" if loops else "{"
        return [_line(opening, first), *lines, Line(lines[-1].file, lines[-1].line, "}")]

    def _if(self, token: Token) -> list[Line]:
        lines = [_line(token, f"{self._at_line(token)}if ({self._condition(token)})")]
        lines += self._body()
        if other := self.accept("else"):
            lines += [_line(other, "else"), *self._body()]
        return lines

    def _for(self, token: Token) -> list[Line]:
        self.expect("(")
        opening = [_line(token, "{")]
        if self.sees_declaration():
            opening += self._declaration()
        else:
            opening += self._commas(token, ";")
        condition = "true" if self.sees(";") else self.expression()
        self.expect(";")
        steps = self._steps(")")
        head = f"{self._at_line(token)}for (; {condition}; {steps})"
        return [*opening, _line(token, head), *self._body(loops=True), _line(token, "}")]

    def _commas(self, token: Token, end: str) -> list[Line]:
        text = self._steps(end)
        return [_line(token, f"{self._at_line(token)}{text};")] if text else []

    def _steps(self, end: str) -> str:
        return ", ".join(self.list_until(end, self.expression))

    def _while(self, token: Token) -> list[Line]:
        head = f"{self._at_line(token)}while ({self._condition(token)})"
        return [_line(token, head), *self._body(loops=True)]

    def _do(self, token: Token) -> list[Line]:
        lines = [_line(token, "do"), *self._body(loops=True)]
        after = self.expect("while")
        lines.append(_line(after, f"while ({self._condition(token)});"))
        self.expect(";")
        return lines

    def _switch(self, token: Token) -> list[Line]:
        lines = [_line(token, f"{self._at_line(token)}switch ({self._condition(token)})")]
        lines.append(_line(self.expect("{"), "{"))
        while not self.sees("}"):
            label = self.peek()
            if self.accept("case"):
                lines.append(_line(label, f"case {self._binary(0)}:"))
                self.expect(":")
            elif self.accept("default"):
                self.expect(":")
                lines.append(_line(label, "default:"))
            else:
                lines += self.statement()
        return [*lines, _line(self.take(), "}")]

    def _return(self, token: Token) -> list[Line]:
        text = "" if self.sees(";") else f" {self.expression()}"
        self.expect(";")
        return [_line(token, f"{self._at_line(token)}return{text};")]

    def _jump(self, token: Token) -> list[Line]:
        self.expect(";")
        return [_line(token, f"{token.text};")]


def _line(token: Token, text: str) -> Line:
    return Line(token.file, token.line, text)
