"""The translator refuses what the subset does not have, and says where."""

from pathlib import Path

import pytest

from mql5.host.signatures import TABLE, signatures
from mql5.host.tokens import SourceError
from mql5.host.translate import translate, types_header
from mql5.support import tree

_HEAD = "double ExtValue=1.0;\nvoid OnTick()\n  {\n"

# A line of a handler -> what the refusal says.
STATEMENTS = {
    "int x=1": "';' belongs here",
    "auto x=1;": "'auto' is not in the subset",
    "int *p;": "pointers and local references",
    "int &r=x;": "pointers and local references",
    "CTrade t;": "';' belongs here",
    "for(int i : list) Print(i);": "';' belongs here",
    "int a[3]{1,2,3};": "';' belongs here",
    "Print([](int x) { return x; });": "an expression belongs here",
    "goto done;": "'goto' is not in the subset",
    "try { Print(1); } catch(...) {}": "'try' is not in the subset",
    "delete ExtValue;": "'delete' is not in the subset",
    "ExtValue=new double;": "'new' is not in the subset",
    "int vector=1;": "can't name a variable",
    "int matrix[2];": "can't name a variable",
    'string input="a";': "can't name a variable",
    "Print(std::max(1,2));": "'std' is not in the subset",
    'printf("x");': "undeclared name printf",
    "OnnxFit(1);": "undeclared name OnnxFit",
    "Print(ExtValu);": "undeclared name ExtValu",
    "PositionGetTicket();": "PositionGetTicket does not take 0 arguments",
    "OnnxSetInputShape(1,0,1,26);": "OnnxSetInputShape does not take 4 arguments",
    "datetime d=D'2024.13.01';": "not a time",
    "color c=C'256,0,0';": "not a color",
    "long x=5L;": "number with a suffix",
    'string s="a\\q";': "unknown escape",
    "int x=sizeof(string);": "sizeof(string) is not in the subset",
    "int a[][];": "only the first dimension may be open",
    "MqlTick t={1,2};": "only structs begin with braces, and only",
    "ExtValue->x=1;": "';' belongs here",
    "if(ExtValue>0.0);": "an empty statement",
    "Print(_Digit);": "undeclared name _Digit",
    "static_cast<int>(ExtValue);": "'static_cast' is not in the subset",
}

# Text of a whole program -> what the refusal says.
DECLARATIONS = {
    "void F(double a[]) {}": "array a is passed by reference only",
    "void F(MqlTick t) {}": "MqlTick t is passed by reference only",
    "void F(double *p) {}": "no pointer",
    "int &F() { return 1; }": "no pointer and no reference",
    "class A : public B, public C { };": "'{' belongs here",
    "class A { static int s; };": "static members are not in the subset",
    "template<typename T> T F(T x) { return x; }": "a type belongs here, not 'template'",
    "#import \"user32.dll\"\n": "#import is not in the subset",
    "#define MAX(a,b) ((a)>(b)?(a):(b))\n": "only constants may be defined",
    "#define A 1\n#define A 2\n": "A is defined twice",
    "#define A { 1 }\n": "A is more than a constant",
    "#pragma once\n": "#pragma is not in the subset",
    "#if 1\n#endif\n": "#if is not in the subset",
    "#ifdef A\n": "#ifdef without #endif",
    "#property strict\n": "unknown #property strict",
    "#property version \"1\"\n": "a version is N.NN",
    "#resource \"a.onnx\"\n": "malformed #resource",
    "#resource \"..\\\\a.onnx\" as uchar A[]\n": "no .. and no drive",
    "#resource \"missing.onnx\" as uchar A[]\n": "to embed",
    "#include <Trade\\Trade.mqh>\n": "to include",
    "input double InpA[2]={1,2};": "an input can't be an array",
    "input MqlTick InpT;": "an input can't be a MqlTick",
    "input int InpA;": "input InpA has no value",
    "int OnTick() { return 0; }": "OnTick has another head",
    "void OnBookEvent(const string &s) {}": "the host calls no OnBookEvent",
    "int x=1;;": "a type belongs here",
    "enum A { ONE TWO };": "',' belongs here",
    "string ExtS=\"caf\\u00e9\";": "unknown escape",
}  # fmt: skip


def _refused(folder: Path, text: str) -> str:
    root = tree(folder, Test=text)
    with pytest.raises(SourceError) as caught:
        translate(root / "Experts" / "Test.mq5", root)
    return str(caught.value)


@pytest.mark.parametrize("line", STATEMENTS)
def test_a_statement_that_is_none_is_refused_where_it_stands(tmp_path: Path, line: str) -> None:
    said = _refused(tmp_path, f"{_HEAD}{line}\n  }}\n")
    assert STATEMENTS[line] in said
    place = said.split(": ")[0]
    # A missing end shows at the next word.
    assert place.endswith(("Test.mq5:4", "Test.mq5:5"))


@pytest.mark.parametrize("text", DECLARATIONS)
def test_a_declaration_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    said = _refused(tmp_path, text)
    assert DECLARATIONS[text] in said
    assert "Test.mq5:" in said


def test_a_source_is_ascii_with_line_feeds(tmp_path: Path) -> None:
    root = tree(tmp_path)
    for raw in (b"int x=1;\r\n", "//\u00e9\n".encode(), b"\xff\xfei\0"):
        (root / "Experts" / "Test.mq5").write_bytes(raw)
        with pytest.raises(SourceError, match="ASCII with LF"):
            translate(root / "Experts" / "Test.mq5", root)


def test_the_shim_has_what_the_table_says() -> None:
    shim = types_header() + "".join(path.read_text() for path in TABLE.parent.glob("*.hpp"))
    for name, forms in signatures().items():
        assert f" {name}(" in shim, f"{name} of the table is not in the shim"
        for one in forms:
            page = one.page.split("/")
            assert len(page) == 2
            assert page[1] == name.lower() or page[0] == "matrix"
