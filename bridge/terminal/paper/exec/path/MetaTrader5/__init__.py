# ruff: noqa: N999  the name is the package's
"""The paper terminal under the package's name; ``mt5-onnx paper exec`` puts it on the path.

The program may run in another environment: the bridge is taken from the files around this one,
and a module of the program's own that is called ``bridge`` is left alone.
"""


def _names() -> "dict[str, object]":
    import sys
    from importlib import import_module
    from pathlib import Path
    from types import ModuleType

    if sys.version_info < (3, 11):  # noqa: UP036  the program's Python, not the command's
        raise ImportError("the paper terminal needs Python 3.11 or newer: run the program with it")
    try:
        import_module("numpy")
    except ImportError:
        raise ImportError(
            "MetaTrader5 needs numpy, as the real package does: python -m pip install numpy"
        ) from None

    def put_aside() -> "dict[str, ModuleType]":
        names = [name for name in sys.modules if name.split(".")[0] == "bridge"]
        return {name: sys.modules.pop(name) for name in names}

    known = put_aside()
    ours = ModuleType("bridge")
    ours.__path__ = [str(Path(__file__).resolve().parents[5])]
    sys.modules["bridge"] = ours
    try:
        shown: dict[str, object] = import_module("bridge.terminal.paper.exec.module").names()
    finally:
        put_aside()
        sys.modules.update(known)
    return shown


globals().update(_names())
del _names
