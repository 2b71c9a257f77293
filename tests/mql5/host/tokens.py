"""The lexer: MQL5 text to tokens. What is no token of the subset is an error."""

import calendar
import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache


class SourceError(Exception):
    """A source says what the subset does not have; the message begins with file and line."""

    def __init__(self, where: "Token | Place", message: str) -> None:
        super().__init__(f"{where.file}:{where.line}: {message}")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the source.

    Attributes:
        kind: name, integer, real, string, char, time, color, sign, directive, end.
        text: As written; a directive without its continuation marks and comments.
    """

    kind: str
    text: str
    file: str
    line: int


_PATTERNS = (
    ("space", r"[ \t\r\n\f]+"),
    ("comment", r"//[^\n]*|/\*.*?\*/"),
    ("directive", r"\#(?:[^\n\\]|\\\r?\n|\\.)*"),
    ("time", r"[Dd]'[^'\n]*'"),
    ("color", r"[Cc]'[^'\n]*'"),
    ("string", r'"(?:\\.|[^"\\\n])*"'),
    ("char", r"'(?:\\.|[^'\\\n])+'"),
    ("real", r"(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?|\d+[eE][+-]?\d+[fF]?"),
    ("integer", r"0[xX][0-9a-fA-F]+|\d+"),
    ("name", r"[A-Za-z_]\w*"),
    (
        "sign",
        r"<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||::|[-+*/%&|^]=|[{}()\[\];,.<>+\-*/%&|^!~?:=]",
    ),
)
_TOKEN = re.compile("|".join(f"(?P<{kind}>{text})" for kind, text in _PATTERNS), re.DOTALL)
_GLUED = re.compile(r"[A-Za-z_0-9]")
_COMMENT_IN_DIRECTIVE = re.compile(r'("(?:\\.|[^"\\])*"|<[^>]*>)|//.*|/\*.*?\*/', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "0": "\0"}


@lru_cache(maxsize=256)
def tokens_of(text: str, file: str) -> tuple[Token, ...]:
    """Return the tokens of ``text``, with one of kind ``end`` at its end."""
    found: list[Token] = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise SourceError(Place(file, line), f"unknown character {text[at]!r}")
        kind, word = str(match.lastgroup), match.group()
        token = Token(kind, _bare(word) if kind == "directive" else word, file, line)
        line, at = line + word.count("\n"), match.end()
        if kind in ("real", "integer") and _GLUED.match(text, at):
            raise SourceError(token, f"number with a suffix: {word}{text[at]}")
        if kind not in ("space", "comment"):
            found.append(token)
    found.append(Token("end", "", file, line))
    return tuple(found)


def _bare(directive: str) -> str:
    joined = re.sub(r"\\\r?\n", " ", directive)
    return _COMMENT_IN_DIRECTIVE.sub(lambda match: match.group(1) or " ", joined).strip()


def string_value(token: Token) -> str:
    """Return what a string or char literal stands for."""

    def plain(match: re.Match[str]) -> str:
        if match.group(1) not in _ESCAPES:
            raise SourceError(token, f"unknown escape \\{match.group(1)}")
        return _ESCAPES[match.group(1)]

    if not token.text.isascii():
        raise SourceError(token, "a literal that is not ASCII")
    return re.sub(r"\\(.)", plain, token.text[1:-1])


def char_value(token: Token) -> int:
    """Return the code of a char literal."""
    value = string_value(token)
    if len(value) != 1:
        raise SourceError(token, f"not one character: {token.text}")
    return ord(value)


def time_value(token: Token) -> int:
    """Return the seconds of ``D'2024.01.31 12:30'``."""
    body = token.text[2:-1].strip()
    for form in ("%Y.%m.%d %H:%M:%S", "%Y.%m.%d %H:%M", "%Y.%m.%d %H", "%Y.%m.%d"):
        try:
            return calendar.timegm(datetime.strptime(body, form).timetuple())  # noqa: DTZ007
        except ValueError:
            continue
    raise SourceError(token, f"not a time: {token.text}")


def color_value(token: Token) -> int:
    """Return the number of ``C'255,0,0'``: red in the lowest byte."""
    parts = [part.strip() for part in token.text[2:-1].split(",")]
    if len(parts) != 3 or not all(re.fullmatch(r"0[xX][0-9a-fA-F]{1,2}|\d{1,3}", p) for p in parts):
        raise SourceError(token, f"not a color: {token.text}")
    red, green, blue = (int(part, 0) for part in parts)
    if max(red, green, blue) > 255:
        raise SourceError(token, f"not a color: {token.text}")
    return red | green << 8 | blue << 16
