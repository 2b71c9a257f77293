"""Declarations: enums, structs, classes, functions, globals and inputs, written as C++."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from mql5.host.cursor import Line
from mql5.host.names import ALGEBRA, SCALARS, Names
from mql5.host.statements import Statements
from mql5.host.tokens import SourceError, Token
from mql5.host.variables import Variable, array_type


@dataclass(frozen=True, slots=True)
class Function:
    """A function's head.

    Attributes:
        owner: Its class, or empty.
        parameters: In C++, with and without default values.
    """

    token: Token
    result: str
    owner: str
    name: str
    parameters: tuple[str, ...]
    bare: tuple[str, ...]
    tail: str

    def text(self, *, is_body: bool) -> str:
        """Return the head of its prototype, or of its body."""
        owner = f"{self.owner}::" if is_body and self.owner else ""
        inside = ", ".join(self.bare if is_body else self.parameters)
        result = f"{self.result} " if self.result else ""
        return f"{result}{owner}{self.name}({inside}){self.tail}"


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the program."""

    name: str
    type: str
    place: Token


@dataclass
class Unit:
    """A program as C++, in the parts in which it is put together.

    Attributes:
        types: Enums, structs and classes.
        heads: Prototypes of functions.
        bodies: Globals and bodies, in the order of the source.
        enums: Enums and their members, for ``EnumToString``.
        handlers: Functions that the terminal calls.
    """

    types: list[Line] = field(default_factory=list)
    heads: list[Line] = field(default_factory=list)
    bodies: list[Line] = field(default_factory=list)
    enums: dict[str, list[str]] = field(default_factory=dict)
    inputs: list[Input] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)


class Declarations(Statements):
    """Reads the declarations of a program."""

    def __init__(self, tokens: Sequence[Token], names: Names) -> None:
        super().__init__(tokens, names)
        self.unit = Unit()
        self._scan_types(tokens)

    def _scan_types(self, tokens: Sequence[Token]) -> None:
        """Know the types beforehand: a bracketed name may be one."""
        for word, name in pairwise(tokens):
            if word.text in ("enum", "struct", "class", "union") and name.kind == "name":
                self.names.types[name.text] = word.text

    def program(self) -> Unit:
        """Read everything."""
        while self.peek().kind != "end":
            self._declaration_at_top()
        return self.unit

    def _declaration_at_top(self) -> None:
        if self.sees("enum"):
            self._enum()
        elif self.sees("struct", "class", "union"):
            self._class()
        elif self.sees("input", "sinput"):
            self._input()
        else:
            self._global()

    # Types

    def _enum(self) -> None:
        opening = self.take()
        name = self.names.declare(self.take())
        self.expect("{")
        members: list[str] = []
        texts: list[str] = []
        while not self.accept("}"):
            member = self.names.declare(self.take())
            value = f" = {self._binary(0)}" if self.accept("=") else ""
            members.append(member)
            texts.append(member + value)
            if not self.sees("}"):
                self.expect(",")
        self.expect(";")
        self.unit.enums[name] = members
        self._type(opening, f"enum {name} : int {{ {', '.join(texts)} }};")

    def _type(self, token: Token, text: str) -> None:
        self.unit.types.append(Line(token.file, token.line, text))

    def _class(self) -> None:
        word = self.take()
        name = self.names.declare(self.take())
        if self.accept(";"):
            self._type(word, f"{word.text} {name};")
            return
        base = ""
        if self.accept(":"):
            self.expect("public")
            base = f" : public {self.take().text}"
        self.expect("{")
        self._type(word, f"{word.text} {name}{base} {{")
        members: list[Variable] = []
        while not self.accept("}"):
            self._member_of(name, members)
        self.expect(";")
        if word.text == "struct":
            self._zero(word, base, members)
        self._type(word, "};")

    def _zero(self, word: Token, base: str, members: list[Variable]) -> None:
        inner = f"{base.removeprefix(' : public ')}::mql_zero(); " if base else ""
        each = "".join(f"mql::zero({one.name}); " for one in members)
        self._type(word, f"void mql_zero() {{ {inner}{each}}}")

    def _member_of(self, owner: str, members: list[Variable]) -> None:
        if self.sees("public", "protected", "private"):
            word = self.take()
            self.expect(":")
            self._type(word, f"{word.text}:")
            return
        first = self.peek()
        head = "virtual " * bool(self.accept("virtual")) + "static " * bool(self.accept("static"))
        if self.accept("~"):
            self.expect(owner)
            self._method(first, head, owner, "", f"~{owner}")
        elif first.text == owner and self.peek(1).text == "(":
            self.take()
            self._method(first, head, owner, "", owner)
        else:
            self._typed_member(first, head, owner, members)

    def _typed_member(self, first: Token, head: str, owner: str, members: list[Variable]) -> None:
        const = "const " * bool(self.accept("const"))
        kind = "void" if self.accept("void") else self.type_name()
        if self.sees("*", "&"):
            raise self.wrong("no pointer and no reference")
        if self.peek(1).text == "(":
            name = self.names.declare(self.take())
            self._method(first, head, owner, const + kind, name)
            return
        if head:
            raise SourceError(first, "static members are not in the subset")
        for one in self.variables(kind):
            members.append(one)
            fill = "" if self.names.types[owner] == "union" else one.value or _poison(one)
            self._type(one.token, f"{const}{one.type} {one.name}{fill};")

    def _method(self, first: Token, head: str, owner: str, result: str, name: str) -> None:
        function = self._head(first, result, owner, name)
        after = " override" * bool(self.accept("override"))
        if self.accept("="):
            if self.take().text != "0" or not head:
                raise SourceError(first, "only a virtual method is without a body")
            self.expect(";")
            self._type(first, f"{head}{function.text(is_body=False)} = 0;")
            return
        self._type(first, f"{head}{function.text(is_body=False)}{after};")
        if not self.accept(";"):
            self._body_of(function)

    # Functions

    def _head(self, first: Token, result: str, owner: str, name: str) -> Function:
        self.expect("(")
        pairs: list[tuple[str, str]] = []
        if self.sees("void") and self.peek(1).text == ")":
            self.take()
            self.take()
        else:
            pairs = self.list_until(")", self._parameter)
        tail = " const" if self.accept("const") else ""
        bare = tuple(head for head, _ in pairs)
        full = tuple(head + value for head, value in pairs)
        return Function(first, result, owner, name, full, bare, tail)

    def _parameter(self) -> tuple[str, str]:
        first = self.peek()
        const = "const " * bool(self.accept("const"))
        kind = self.type_name()
        if self.sees("*"):
            raise self.wrong("no pointer")
        by_reference = bool(self.accept("&"))
        name = self.names.declare(self.take())
        sizes = self.dimensions()
        if sizes and not by_reference:
            raise SourceError(first, f"array {name} is passed by reference only")
        if self.names.is_object(kind) and not by_reference:
            raise SourceError(first, f"{kind} {name} is passed by reference only")
        made = kind
        if sizes:
            made = f"mql::array<{array_type(kind, sizes[1:]) if sizes[1:] else kind}>"
        value = f" = {self.expression()}" if self.accept("=") else ""
        return f"{const}{made} {'&' * by_reference}{name}", value

    def _body_of(self, function: Function) -> None:
        owner = f"{function.owner}::" if function.owner else ""
        self.function = f"{owner}{function.name}"
        first = function.token
        head = function.text(is_body=True)
        if function.name == function.owner and self.accept(":"):
            head += f" : {', '.join(self._first_values())}"
        lines = [Line(first.file, first.line, head)]
        opening, *rest = self.block()
        began = Line(opening.file, opening.line, f"{opening.text} mql::caller mql_back;")
        self.unit.bodies += [*lines, began, *rest]

    def _first_values(self) -> list[str]:
        found = [self._first_value()]
        while self.accept(","):
            found.append(self._first_value())
        return found

    def _first_value(self) -> str:
        token = self.take()
        self.names.used.append(token)
        self.expect("(")
        return f"{token.text}({', '.join(self.list_until(')', self.expression))})"

    # Globals

    def _input(self) -> None:
        word = self.take()
        if self.sees("group"):
            self.take()
            if self.take().kind != "string":
                raise SourceError(word, "a group of inputs has a string")
            self.accept(";")
            return
        kind = self.type_name()
        if kind in ALGEBRA or self.names.is_object(kind):
            raise SourceError(word, f"an input can't be a {kind}")
        for one in self.variables(kind):
            if one.is_array:
                raise SourceError(one.token, "an input can't be an array")
            if not one.value:
                raise SourceError(one.token, f"input {one.name} has no value")
            self.unit.inputs.append(Input(one.name, kind, one.token))
            text = f"static {kind} mql_in_{one.name}{one.value}; "
            text += f"static const {kind} &{one.name} = mql_in_{one.name};"
            self.unit.bodies.append(Line(one.token.file, one.token.line, text))

    def _global(self) -> None:
        first = self.peek()
        if self.accept("~") or (self.peek(1).text == "::" and self.names.is_type(first.text)):
            self._special(first)
            return
        head = "static " * bool(self.accept("static")) + "const " * bool(self.accept("const"))
        kind = "void" if self.accept("void") else self.type_name()
        if self.sees("*", "&"):
            raise self.wrong("no pointer and no reference")
        if self.peek(1).text == "::":
            owner = self.take().text
            self.take()
            name = self.take().text
            self._body_of(self._head(first, head + kind, owner, name))
        elif self.peek(1).text == "(" and self._is_function():
            self._function(first, head + kind)
        else:
            for one in self.variables(kind):
                text = f"static {head.removeprefix('static ')}{one.type} {one.name}{one.value};"
                self.unit.bodies.append(Line(one.token.file, one.token.line, text))

    def _is_function(self) -> bool:
        inside = self.peek(2)
        return inside.text in (")", "void", "const") or self.names.is_type(inside.text)

    def _special(self, first: Token) -> None:
        """Read the body of a constructor or destructor outside of its class."""
        owner = self.take().text
        self.expect("::")
        tilde = "~" if self.accept("~") else ""
        self.expect(owner)
        self._body_of(self._head(first, "", owner, tilde + owner))

    def _function(self, first: Token, result: str) -> None:
        name = self.names.declare(self.take())
        function = self._head(first, result, "", name)
        if name not in self.unit.functions:
            head = f"{function.text(is_body=False)};"
            self.unit.heads.append(Line(first.file, first.line, head))
        else:
            self._again(first, function)
        self.unit.functions[name] = function
        if not self.accept(";"):
            self._body_of(function)

    def _again(self, first: Token, function: Function) -> None:
        """Declare an overload; of one with its prototype before nothing is declared."""
        if function.bare != self.unit.functions[function.name].bare:
            head = f"{function.text(is_body=False)};"
            self.unit.heads.append(Line(first.file, first.line, head))


def _poison(one: Variable) -> str:
    return f" = mql::unset<{one.type}>()" if one.type in SCALARS - {"string"} else ""
