"""Expressions: read by the grammar's precedence, written as C++."""

import re
from collections.abc import Sequence

from mql5.host.cursor import Cursor
from mql5.host.names import ALGEBRA, SCALARS, Names
from mql5.host.signatures import signatures, takes
from mql5.host.tokens import (
    SourceError,
    Token,
    char_value,
    color_value,
    string_value,
    time_value,
)

_ASSIGN = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_RANK = {sign: rank for rank, signs in enumerate(_LEVELS) for sign in signs}
# Names that are variables of the program in a terminal, and answers of the host here.
_VARIABLES = {
    "_Symbol": "Symbol()",
    "_Period": "Period()",
    "_Digits": "Digits()",
    "_Point": "Point()",
    "_LastError": "GetLastError()",
    "_StopFlag": "IsStopped()",
    "_UninitReason": "UninitializeReason()",
    "__MQLBUILD__": "mql::build",
    "true": "true",
    "false": "false",
    "NULL": "mql::null",
}
_FORMATTED = ("PrintFormat", "StringFormat")
_LITERAL = re.compile(r'mql::text\(("(?:[^"\\]|\\.)*")\)')


def quoted(value: str) -> str:
    """Return a C++ string literal."""
    plain = value.replace("\\", "\\\\").replace('"', '\\"')
    plain = plain.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f'"{plain}"' if plain.isprintable() else _octal(value)


def _octal(value: str) -> str:
    return '"' + "".join(f"\\{ord(char):03o}" for char in value) + '"'


class Expressions(Cursor):
    """Reads expressions.

    Attributes:
        function: The function that is read, for ``__FUNCTION__``.
    """

    def __init__(self, tokens: Sequence[Token], names: Names) -> None:
        super().__init__(tokens)
        self.names = names
        self.function = ""

    def expression(self) -> str:
        """Read an expression; its commas belong to somebody else."""
        left = self._choice()
        sign = self.accept(*_ASSIGN)
        return f"{left} {sign.text} {self.expression()}" if sign else left

    def _choice(self) -> str:
        condition = self._binary(0)
        if not self.accept("?"):
            return condition
        yes = self.expression()
        self.expect(":")
        return f"{condition} ? {yes} : {self._choice()}"

    def _binary(self, least: int) -> str:
        """Read operators that bind at least as tightly as the rank ``least``."""
        text = self._unary()
        while (rank := self._rank()) >= least:
            sign = self.take().text
            text += f" {sign} {self._binary(rank + 1)}"
        return text

    def _rank(self) -> int:
        token = self.peek()
        return _RANK.get(token.text, -1) if token.kind == "sign" else -1

    def _unary(self) -> str:
        if sign := self.accept("!", "~", "-", "+", "++", "--"):
            return f"{sign.text} {self._unary()}"
        if self.sees("(") and self._is_cast():
            self.take()
            kind = self.take().text
            self.expect(")")
            return f"mql::cast<{kind}>({self._unary()})"
        return self._postfix()

    def _is_cast(self) -> bool:
        return self.names.is_type(self.peek(1).text) and self.peek(2).text == ")"

    def _postfix(self) -> str:
        text = self._primary()
        while sign := self.accept("[", ".", "(", "++", "--"):
            if sign.text == "[":
                text += "".join(f"[{one}]" for one in self._indices(sign))
            elif sign.text == ".":
                text += f".{self._member()}"
            elif sign.text == "(":
                text += f"({', '.join(self.list_until(')', self.expression))})"
            else:
                text += sign.text
        return text

    def _indices(self, sign: Token) -> list[str]:
        indices = self.list_until("]", self.expression)
        if len(indices) != 1:
            raise SourceError(sign, "one index belongs between brackets")
        return indices

    def _member(self) -> str:
        token = self.take()
        if token.kind != "name":
            raise SourceError(token, f"a member belongs here, not {token.text!r}")
        self.names.refuse(token)
        self.names.used.append(token)
        return token.text

    def _primary(self) -> str:
        token = self.take()
        literal = self._literal(token)
        if literal is not None:
            return literal
        if token.text == "(":
            inner = self.expression()
            self.expect(")")
            return f"({inner})"
        if token.text == "sizeof":
            return self._sizeof(token)
        if token.text == "::":
            return self._name(self.take())
        if token.kind != "name":
            raise SourceError(token, f"an expression belongs here, not {token.text or 'the end'!r}")
        return self._name(token)

    def _literal(self, token: Token) -> str | None:
        if token.kind == "string":
            value = string_value(token)
            while self.peek().kind == "string":
                value += string_value(self.take())
            return f"mql::text({quoted(value)})"
        if token.kind == "char":
            return f"ushort({char_value(token)})"
        if token.kind == "time":
            return f"datetime({time_value(token)}L)"
        if token.kind == "color":
            return f"color({color_value(token)}u)"
        return token.text if token.kind in ("integer", "real") else None

    def _sizeof(self, token: Token) -> str:
        self.expect("(")
        kind = self.take()
        self.expect(")")
        if kind.text not in SCALARS - {"string"}:
            raise SourceError(token, f"sizeof({kind.text}) is not in the subset")
        return f"int(sizeof({kind.text}))"

    def _name(self, token: Token) -> str:
        word = token.text
        if word in ("__FUNCTION__", "__FUNCSIG__", "__FILE__", "__LINE__", "__DATE__"):
            return self._said(token)
        if word in _VARIABLES:
            return _VARIABLES[word]
        if word == "this":
            return "(*this)"
        if self.names.is_type(word):
            return self._of_type(token)
        self.names.refuse(token)
        self.names.used.append(token)
        if self.sees("::"):
            raise self.wrong("a plain name")
        return self._call(token) if self.sees("(") else word

    def _said(self, token: Token) -> str:
        said = {
            "__FUNCTION__": quoted(self.function),
            "__FUNCSIG__": quoted(self.function),
            "__FILE__": quoted(token.file.rsplit("/", 1)[-1]),
            "__LINE__": str(token.line),
            "__DATE__": "0L",
        }[token.text]
        return f"mql::text({said})" if said.startswith('"') else said

    def _of_type(self, token: Token) -> str:
        """Read ``int(x)``, ``matrix::Zeros(2,3)``, ``CRule::Method(x)`` or ``CRule::field``."""
        if self.accept("::"):
            return f"{token.text}::{self._member()}"
        self.expect("(")
        arguments = self.list_until(")", self.expression)
        if token.text in ALGEBRA:
            return f"{token.text}({', '.join(arguments)})"
        if len(arguments) != 1:
            raise SourceError(token, f"{token.text}() makes a value of one argument")
        return f"mql::cast<{token.text}>({arguments[0]})"

    def _call(self, token: Token) -> str:
        """Read a call; the terminal's own are held to the table."""
        self.expect("(")
        arguments = self.list_until(")", self.expression)
        word = token.text
        if word in signatures() and word not in self.names.declared:
            if not takes(word, len(arguments)):
                forms = "; ".join(one.text for one in signatures()[word])
                raise SourceError(
                    token, f"{word} does not take {len(arguments)} arguments: {forms}"
                )
            if word in _FORMATTED:
                arguments[0] = _checked(arguments, token.line)
            # Enums of the program have a form of their own, beside it.
            scope = "" if word == "EnumToString" else "mql::"
            return f"{scope}{word}({', '.join(arguments)})"
        return f"{word}({', '.join(arguments)})"


def _checked(arguments: list[str], line: int) -> str:
    """Return the format; a literal one is held to its arguments when it is compiled."""
    literal = _LITERAL.fullmatch(arguments[0])
    if literal is None:
        return arguments[0]
    kinds = ", ".join(f"decltype({one})" for one in arguments[1:])
    return f"mql::form<mql::fits<{kinds}>({literal.group(1)}), {line}>({arguments[0]})"
