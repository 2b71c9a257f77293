"""Directives: what is included, defined, embedded and said about the program."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from mql5.host.tokens import SourceError, Token, string_value, tokens_of

_PROPERTIES = frozenset(
    [
        "icon",
        "link",
        "copyright",
        "version",
        "description",
        "stacksize",
        "library",
        "script_show_confirm",
        "script_show_inputs",
        "tester_indicator",
        "tester_file",
        "tester_library",
        "tester_set",
        "tester_no_cache",
        "tester_everytick_calculate",
        "optimization_chart_mode",
    ]
)
_INDICATOR = re.compile(
    r"indicator_(?:applied_price|chart_window|separate_window|height|buffers|plots|minimum|maximum"
    r"|(?:label|color|width|style|type)\d+|level\d+|levelcolor|levelwidth|levelstyle)"
)
_RESOURCE = re.compile(r'"((?:\\.|[^"\\])*)"(?:\s+as\s+(?:const\s+)?(\w+)\s+(\w+)\s*(\[\s*\])?)?')
_INCLUDE = re.compile(r'<([^<>"]+)>|"([^"]+)"')
_DEFINE = re.compile(r"(\w+)(\()?\s*(.*)", re.DOTALL)
_LONGEST_PATH = 63
_KNOWN = {"__MQL5__": "1", "__MQL__": "1"}


@dataclass(frozen=True, slots=True)
class Resource:
    """A file that the program embeds."""

    name: str
    type: str
    is_array: bool
    path: Path
    place: Token


@dataclass
class Source:
    """A program after its directives.

    Attributes:
        tokens: Of all files, in the order in which they are read.
        properties: Name and text; those of included files do not count in a terminal.
    """

    tokens: list[Token] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    properties: list[tuple[str, str]] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


class Preprocessor:
    """Reads a program and what it includes.

    Args:
        root: The folder that is ``MQL5`` in a terminal.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._defines: dict[str, tuple[Token, ...]] = {
            name: tokens_of(text, "")[:-1] for name, text in _KNOWN.items()
        }
        self._is_on: list[bool] = []
        self.source = Source()

    def read(self, path: Path) -> Source:
        """Return the program whose main file is ``path``."""
        self._file(path)
        last = self.source.tokens[-1] if self.source.tokens else Token("end", "", str(path), 1)
        self.source.tokens.append(Token("end", "", last.file, last.line))
        return self.source

    def _file(self, path: Path) -> None:
        self.source.files.append(path)
        raw = path.read_bytes()
        if not raw.isascii() or b"\r" in raw:
            raise SourceError(Token("", "", str(path), 1), "sources are ASCII with LF")
        depth = len(self._is_on)
        for token in tokens_of(raw.decode("ascii"), str(path))[:-1]:
            if token.kind == "directive":
                self._directive(token, path)
            elif all(self._is_on):
                self.source.tokens.extend(self._expanded(token, frozenset()))
        if len(self._is_on) != depth:
            raise SourceError(Token("", "", str(path), 1), "#ifdef without #endif")

    def _expanded(self, token: Token, inside: frozenset[str]) -> list[Token]:
        if token.kind != "name" or token.text not in self._defines or token.text in inside:
            return [token]
        return [
            done
            for part in self._defines[token.text]
            for done in self._expanded(
                Token(part.kind, part.text, token.file, token.line), inside | {token.text}
            )
        ]

    def _directive(self, token: Token, path: Path) -> None:
        word, _, rest = token.text[1:].strip().partition(" ")
        rest = rest.strip()
        if word in ("ifdef", "ifndef"):
            self._is_on.append((rest in self._defines) == (word == "ifdef"))
        elif word in ("else", "endif"):
            self._branch(token, word)
        elif all(self._is_on):
            action = {
                "define": self._define,
                "undef": self._undef,
                "include": self._include,
                "property": self._property,
                "resource": self._resource,
            }.get(word)
            if action is None:
                raise SourceError(token, f"#{word} is not in the subset")
            action(token, rest, path)

    def _branch(self, token: Token, word: str) -> None:
        if not self._is_on:
            raise SourceError(token, f"#{word} without #ifdef")
        last = self._is_on.pop()
        if word == "else":
            self._is_on.append(not last)

    def _define(self, token: Token, rest: str, path: Path) -> None:
        match = _DEFINE.fullmatch(rest)
        if match is None or match.group(2):
            raise SourceError(token, "only constants may be defined")
        name, body = match.group(1), match.group(3)
        if name in self._defines:
            raise SourceError(token, f"{name} is defined twice")
        parts = tokens_of(body, token.file)[:-1]
        if any(part.text in (";", "{", "}") for part in parts):
            raise SourceError(token, f"{name} is more than a constant")
        self._defines[name] = parts

    def _undef(self, token: Token, rest: str, path: Path) -> None:
        if self._defines.pop(rest, None) is None:
            raise SourceError(token, f"{rest} is not defined")

    def _include(self, token: Token, rest: str, path: Path) -> None:
        match = _INCLUDE.fullmatch(rest)
        if match is None:
            raise SourceError(token, f"malformed #include {rest}")
        base = self._root / "Include" if match.group(1) else path.parent
        found = base / str(match.group(1) or match.group(2)).replace("\\", "/")
        if not found.is_file():
            raise SourceError(token, f"no file {found} to include")
        if found.resolve() not in [one.resolve() for one in self.source.files]:
            self._file(found)

    def _property(self, token: Token, rest: str, path: Path) -> None:
        name, _, value = rest.partition(" ")
        if name not in _PROPERTIES and not _INDICATOR.fullmatch(name):
            raise SourceError(token, f"unknown #property {name}")
        if name == "version" and not re.fullmatch(r'"\d+\.\d+"', value.strip()):
            raise SourceError(token, f"a version is N.NN, not {value}")
        if path != self.source.files[0]:
            raise SourceError(token, "#property in an included file is ignored")
        self.source.properties.append((name, value.strip().strip('"')))

    def _resource(self, token: Token, rest: str, path: Path) -> None:
        match = _RESOURCE.fullmatch(rest.rstrip("; "))
        if match is None or not match.group(3):
            raise SourceError(token, f"malformed #resource {rest}")
        literal, kind, name, dims = match.groups()
        said = string_value(Token("string", f'"{literal}"', token.file, token.line))
        if len(literal) > _LONGEST_PATH:
            raise SourceError(token, f"a resource's path has at most {_LONGEST_PATH} characters")
        said = said.replace("\\", "/")
        if "../" in said or ":" in said:
            raise SourceError(token, f"a resource's path has no .. and no drive: {said}")
        base = self._root if said.startswith("/") else path.parent
        file = base / said.lstrip("/")
        if not file.is_file():
            raise SourceError(token, f"no file {file} to embed")
        self.source.resources.append(Resource(name, kind, bool(dims), file, token))
