"""One source to one C++ file."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mql5.host import prelude
from mql5.host.cursor import Line
from mql5.host.declarations import Declarations, Function, Input, Unit
from mql5.host.expressions import quoted
from mql5.host.names import Names
from mql5.host.preprocess import Preprocessor, Resource
from mql5.host.signatures import signatures
from mql5.host.tokens import SourceError, tokens_of

# Handler -> how it is called with what the event carries.
_CALLS = {
    "OnInit": "",
    "OnDeinit": "int(e.first)",
    "OnTick": "",
    "OnTimer": "",
    "OnTrade": "",
    "OnStart": "",
    "OnTester": "",
}


@dataclass(frozen=True, slots=True)
class Program:
    """A translated program.

    Attributes:
        cpp: Its C++.
        inputs: Names and types.
        files: The source's files, the main one first; what is embedded is in ``resources``.
        places: The files by the index that the program notes at run time.
    """

    cpp: str
    inputs: tuple[Input, ...]
    properties: tuple[tuple[str, str], ...]
    files: tuple[Path, ...]
    resources: tuple[Path, ...]
    places: tuple[str, ...]
    handlers: tuple[str, ...]


@cache
def _terminal() -> tuple[Unit, Names]:
    names = Names()
    reader = Declarations(tokens_of(prelude.text(), "types.mqh"), names)
    unit = reader.program()
    names.declared |= {one.name for forms in signatures().values() for one in forms if one.owner}
    return unit, names


def types_header() -> str:
    """Return the C++ of the terminal's types."""
    unit, names = _terminal()
    guards = [f"#undef {name}" for name in sorted(names.declared) if name.isupper()]
    lines = [line.text for line in unit.types + unit.heads + unit.bodies]
    return "\n".join(
        [
            "#pragma once",
            "#pragma GCC system_header",
            '#include "base.hpp"',
            *guards,
            "namespace mql {",
            *lines,
            *_enum_texts(unit),
            "} // namespace mql",
            "",
        ]
    )


def translate(path: Path, root: Path) -> Program:
    """Translate the program at ``path``.

    Args:
        root: The folder that is ``MQL5`` in a terminal.

    Raises:
        SourceError: It says what the subset does not have.
    """
    source = Preprocessor(root).read(path)
    known = _terminal()[1]
    names = Names(dict(known.types), set(known.declared))
    names.declared |= {resource.name for resource in source.resources}
    reader = Declarations(source.tokens, names)
    unit = reader.program()
    _check_names(names)
    _check_handlers(unit)
    lines = [
        '#include "mql5.hpp"',
        "namespace ea {",
        "using namespace mql;",
        *_resources(source.resources),
        *_marked(unit.types),
        *_enum_texts(unit),
        *_marked(unit.heads),
        *_marked(unit.bodies),
        '#line 1 "generated"',
        *_entry(unit),
    ]
    return Program(
        "\n".join(lines),
        tuple(unit.inputs),
        tuple(source.properties),
        tuple(source.files),
        tuple(resource.path for resource in source.resources),
        tuple(reader.files),
        tuple(name for name in unit.functions if name in _CALLS or name == "OnCalculate"),
    )


def _check_names(names: Names) -> None:
    for token in names.used:
        if token.text not in names.declared and token.text not in signatures():
            raise SourceError(token, f"undeclared name {token.text}")


def _check_handlers(unit: Unit) -> None:
    for name, function in unit.functions.items():
        if name.startswith("On") and name[2:3].isupper():
            if name not in _CALLS and name != "OnCalculate":
                raise SourceError(function.token, f"the host calls no {name}")
            _check_handler(name, function)


def _check_handler(name: str, function: Function) -> None:
    results = {"OnInit": ("int", "void"), "OnTester": ("double",), "OnCalculate": ("int",)}
    count = {"OnDeinit": 1, "OnCalculate": 10}.get(name, 0)
    if function.result not in results.get(name, ("void",)) or len(function.bare) != count:
        raise SourceError(function.token, f"{name} has another head")


def _marked(lines: Iterable[Line]) -> list[str]:
    """Return lines with a note of the source's line wherever the count leaves it."""
    out: list[str] = []
    file, line = "", -1
    for one in lines:
        if one.file == file and one.line == line and out:
            out[-1] += " " + one.text
            continue
        if one.file != file or one.line != line + 1:
            out.append(f"#line {one.line} {quoted(one.file)}")
        out.append(one.text)
        file, line = one.file, one.line
    return out


def _enum_texts(unit: Unit) -> list[str]:
    lines = []
    for name, members in unit.enums.items():
        cases = "".join(
            f'if (v == {member}) return "{member}"; ' for member in dict.fromkeys(members)
        )
        lines.append(
            f"inline string EnumToString({name} v) {{ {cases}"
            f'return std::string("{name}::") + std::to_string(int(v)); }}'
        )
    return lines


def _resources(resources: Iterable[Resource]) -> list[str]:
    lines = []
    for index, one in enumerate(resources):
        label = f"mql_resource_{index}"
        lines.append(
            f'__asm__(".section .rodata\\n{label}: .incbin \\"{one.path}\\"\\n'
            f'{label}_end: .byte 0\\n.text\\n");'
        )
        lines.append(f"extern const uchar {label}[] asm({quoted(label)});")
        lines.append(f"extern const uchar {label}_end[] asm({quoted(label + '_end')});")
        if one.type == "uchar" and one.is_array:
            made = f"static const array<uchar> {one.name} = embedded({label}, {label}_end);"
        elif one.type == "string" and not one.is_array:
            text = f"std::string(reinterpret_cast<const char *>({label}), "
            text += f"size_t({label}_end - {label}))"
            made = f"static const string {one.name} = {text};"
        else:
            raise SourceError(one.place, "a resource is uchar[] or string here")
        lines.append(made)
    return lines


def _entry(unit: Unit) -> list[str]:
    slots = "".join(
        f'{{"{one.name}", set_input<{one.type}>, &mql_in_{one.name}}}, ' for one in unit.inputs
    )
    return [
        f"static const input inputs[] = {{{slots}{{nullptr, nullptr, nullptr}}}};",
        "static long handle(const std::string &name, const event &e) {",
        "(void)e;",
        *(_call(name, one) for name, one in unit.functions.items() if name in _CALLS),
        *(
            ['if (name == "OnCalculate") return calculated(OnCalculate, e.first, e.second);']
            if "OnCalculate" in unit.functions
            else []
        ),
        "return no_handler;",
        "}",
        "} // namespace ea",
        *_EXPORTS,
    ]


def _call(name: str, function: Function) -> str:
    call = f"ea::{name}({_CALLS[name]})"
    if function.result == "void":
        return f'if (name == "{name}") {{ {call}; return 0; }}'
    if function.result == "double":
        return (
            f'if (name == "{name}") {{ double d = {call}; long w; memcpy(&w, &d, 8); return w; }}'
        )
    return f'if (name == "{name}") return long({call});'


_EXPORTS = """
#define MQL_EXPORT extern "C" __attribute__((visibility("default")))
static std::string mql_said;
MQL_EXPORT void mql_attach(mql::host_call call) { mql::host() = call; }
MQL_EXPORT void mql_detach() { mql::at().is_closed = true; mql::host() = nullptr; }
MQL_EXPORT int mql_set(const char *name, const char *text) {
  for (const mql::input *one = ea::inputs; one->name; ++one)
    if (!strcmp(one->name, name)) { one->set(one->place, text); return 1; }
  return 0;
}
MQL_EXPORT int mql_event(const char *name, long first, long second, long *result) {
  return mql::run(ea::handle, name, mql::event{first, second}, result, &mql_said);
}
MQL_EXPORT const char *mql_words() { return mql_said.c_str(); }
MQL_EXPORT int mql_file() { return mql::at().died_file; }
MQL_EXPORT int mql_line() { return mql::at().died_line; }
MQL_EXPORT long mql_buffer(int index, double **numbers) {
  if (index >= int(mql::buffers().size())) return -1;
  *numbers = mql::buffers()[size_t(index)]->data();
  return mql::buffers()[size_t(index)]->size();
}
""".strip().splitlines()
