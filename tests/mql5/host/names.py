"""What a source may name: the terminal's words, and its own."""

from dataclasses import dataclass, field

from mql5.host.tokens import SourceError, Token

SCALARS = frozenset(
    [
        "bool",
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "float",
        "double",
        "string",
        "datetime",
        "color",
    ]
)
ALGEBRA = frozenset(["vector", "matrix", "vectorf", "matrixf"])
# Words of C++ or of the host that would mean something else there than in MQL5.
_OTHER = frozenset(
    [
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "char16_t",
        "char32_t",
        "char8_t",
        "compl",
        "concept",
        "constexpr",
        "const_cast",
        "decltype",
        "dynamic_cast",
        "explicit",
        "extern",
        "friend",
        "goto",
        "inline",
        "int8_t",
        "mutable",
        "mql",
        "namespace",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "nullptr",
        "or",
        "or_eq",
        "reinterpret_cast",
        "register",
        "requires",
        "restrict",
        "signed",
        "size_t",
        "static_assert",
        "static_cast",
        "std",
        "thread_local",
        "throw",
        "try",
        "catch",
        "typedef",
        "typeid",
        "typename",
        "unsigned",
        "using",
        "volatile",
        "wchar_t",
        "xor",
        "xor_eq",
        "delete",
        "template",
        "operator",
        "import",
        "interface",
        "export",
        "package",
    ]
)
WORDS = (
    SCALARS
    | ALGEBRA
    | frozenset(
        [
            "if",
            "else",
            "for",
            "while",
            "do",
            "switch",
            "case",
            "default",
            "break",
            "continue",
            "return",
            "const",
            "static",
            "virtual",
            "override",
            "final",
            "class",
            "struct",
            "union",
            "enum",
            "public",
            "private",
            "protected",
            "this",
            "void",
            "true",
            "false",
            "NULL",
            "sizeof",
            "input",
            "sinput",
            "group",
        ]
    )
)


@dataclass
class Names:
    """The words that are known so far.

    Attributes:
        types: Names of structs, classes and enums, to what they are.
        declared: Every name that something in the source or the terminal has.
        used: Where a name stands that was not declared when it was read.
    """

    types: dict[str, str] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    used: list[Token] = field(default_factory=list)

    def is_type(self, word: str) -> bool:
        """Whether ``word`` names a type."""
        return word in SCALARS or word in ALGEBRA or word in self.types

    def is_object(self, word: str) -> bool:
        """Whether values of the type are passed by reference only."""
        return self.types.get(word) in ("struct", "class", "union")

    def declare(self, token: Token) -> str:
        """Take ``token`` as a new name, and return its text."""
        if token.kind != "name" or token.text in WORDS:
            raise SourceError(token, f"a name belongs here, not {token.text!r}")
        self.refuse(token)
        if len(token.text) > 63:
            raise SourceError(token, "a name has at most 63 characters")
        self.declared.add(token.text)
        return token.text

    def refuse(self, token: Token) -> None:
        """Refuse words that are C++, not MQL5, or not in the subset."""
        if token.text in _OTHER:
            raise SourceError(token, f"{token.text!r} is not in the subset")

    def check(self) -> None:
        """Refuse names that nothing has declared."""
        for token in self.used:
            if token.text not in self.declared:
                raise SourceError(token, f"undeclared name {token.text}")
