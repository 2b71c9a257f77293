"""The dependency rule of the house: imports point down the list only."""

import ast
from collections.abc import Iterator
from pathlib import Path

BRIDGE = Path(__file__).parents[1] / "bridge"

# Top to bottom; rooms on one line never import each other.
FLOORS = (
    {"__main__"},
    {"cli"},
    {"dashboard", "notify", "mql", "authoring", "doctor", "conformance"},
    {"report"},
    {"engine"},
    {"trade"},
    {"strategy", "risk"},
    {"terminal", "model", "journal"},
    {"market", "features"},
    {"mt5"},
    {"errors", "clock", "settings", "share"},
)
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
GROUND = len(FLOORS) - 1
# On the ground floor, errors is what all may raise.
GROUND_ALLOWED = {("clock", "errors"), ("settings", "errors"), ("share", "errors")}
# Libraries that only some rooms may know.
ONLY_IN = {
    "MetaTrader5": {"terminal"},
    "rpyc": {"terminal"},
    "sqlite3": {"journal", "terminal"},
    "onnxruntime": {"model", "authoring"},
    "onnx": {"model", "features", "authoring"},
    "sklearn": {"authoring"},
    "skl2onnx": {"authoring"},
    "pandas": {"authoring", "report"},
    "schedule": {"engine"},
    "typer": {"cli"},
    "rich": {"cli"},
}


def room_of(path: Path) -> str:
    inside = path.relative_to(BRIDGE)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield str(node.module)
            if node.module == "bridge":
                yield from (f"bridge.{name.name}" for name in node.names)


def all_imports() -> Iterator[tuple[Path, str, str]]:
    for path in sorted(BRIDGE.rglob("*.py")):
        if path == BRIDGE / "__init__.py":
            continue
        for name in imports_of(path):
            yield path, room_of(path), name


def may_import(room: str, other: str) -> bool:
    if room == other or FLOOR_OF[room] < FLOOR_OF[other]:
        return True
    return (room, other) in GROUND_ALLOWED


def test_every_room_has_its_floor() -> None:
    rooms = {room_of(path) for path in BRIDGE.rglob("*.py")} - {"__init__"}
    assert rooms <= set(FLOOR_OF)


def test_imports_point_down_only() -> None:
    wrong = [
        f"{path.relative_to(BRIDGE)} imports {name}"
        for path, room, name in all_imports()
        if name.startswith("bridge.") and name != "bridge.__version__"
        if not may_import(room, name.split(".")[1])
    ]
    assert wrong == []


def test_libraries_stay_in_their_rooms() -> None:
    wrong = [
        f"{path.relative_to(BRIDGE)} imports {name}"
        for path, room, name in all_imports()
        if room not in ONLY_IN.get(name.split(".")[0], {room})
    ]
    assert wrong == []


def test_the_rule_can_fail() -> None:
    assert may_import("engine", "trade")
    assert not may_import("trade", "engine")
    assert not may_import("risk", "strategy")
    assert not may_import("model", "terminal")
    assert not may_import("errors", "clock")


def test_a_blanket_except_stands_in_four_places_only() -> None:
    places = [
        str(path.relative_to(BRIDGE))
        for path in sorted(BRIDGE.rglob("*.py"))
        if "except Exception" in path.read_text(encoding="utf-8")
    ]
    assert places == [
        str(Path(each))
        for each in ("cli/main.py", "doctor/examine.py", "engine/jobs.py", "risk/guard.py")
    ]
