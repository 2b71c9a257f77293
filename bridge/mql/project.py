"""A folder to be copied over ``MQL5``: written, written again, and checked."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path

from bridge.errors import ConfigError, ContractError, StateMismatch
from bridge.model.load import LoadedModel
from bridge.mql.include import include
from bridge.mql.inputs import Settings, values_of
from bridge.mql.preset import RunOfTester, ini_of, preset
from bridge.mql.program import SELF_TEST, TEMPLATES, filled, hand_edits, with_edits, without_edits
from bridge.mql.readme import readme
from bridge.mql.recipe import RECIPE, Recipe, check_same_program, sha256_of
from bridge.settings import decision_settings
from bridge.share import share_dir

_LIBRARY = "Include/OnnxBridge"
_GENERATED = f"{_LIBRARY}/Generated"
_COMPILE = "compile.ps1"


def model_path(folder: Path, name: str) -> Path:
    """Return where the program's copy of its model lies."""
    return folder / _GENERATED / f"{name}.onnx"


def settings_of(recipe: Recipe, model: LoadedModel) -> Settings:
    """Return what the program is told."""
    decision = decision_settings(model.contract.decision, recipe.strategy.decision)
    return Settings(recipe.strategy, decision, recipe.limits)


def render(recipe: Recipe, model: LoadedModel) -> dict[str, bytes]:
    """Return every file of a program, by its path below ``MQL5``; no hand edits in them.

    Raises:
        ConfigError: A setting can't be written in MQL5.
    """
    share, template, name = share_dir("mql5"), TEMPLATES[recipe.template], recipe.name
    settings = settings_of(recipe, model)
    values = values_of(settings)
    files = {
        f"{_LIBRARY}/{each.name}": each.read_text(encoding="ascii")
        for each in sorted((share / _LIBRARY).glob("*.mqh"))
    }
    files[f"{_GENERATED}/{name}.mqh"] = include(model, name, values, recipe.golden)
    files[f"{template.folder}/{name}.mq5"] = filled(share / template.source, name, name)
    test = f"{name}_SelfTest"
    files[f"Scripts/OnnxBridge/{test}.mq5"] = filled(share / SELF_TEST, test, name)
    if template.is_expert:
        inputs = files[f"{_LIBRARY}/Inputs.mqh"]
        steps = model.contract.output.kind != "forecast"
        run = RunOfTester(
            name,
            f"OnnxBridge\\{name}",
            recipe.strategy.symbol,
            recipe.strategy.timeframe,
            recipe.deposit,
        )
        files[f"Presets/OnnxBridge_{name}.set"] = preset(name, name, inputs, values, steps=steps)
        files[f"Presets/OnnxBridge_{name}.ini"] = ini_of(run, optimises=False)
        if template.trades:
            files[f"Presets/OnnxBridge_{name}_Optimize.ini"] = ini_of(run, optimises=True)
    files[_COMPILE] = (share / _COMPILE).read_text(encoding="utf-8")
    files["README.md"] = readme(recipe, model, settings)
    encoded = {path: text.encode("utf-8") for path, text in files.items()}
    return {**encoded, f"{_GENERATED}/{name}.onnx": model.path.read_bytes()}


def write(folder: Path, recipe: Recipe, model: LoadedModel, *, force: bool) -> list[str]:
    """Write a program into ``folder``, or write it again: marked hand edits stay.

    Args:
        folder: New, empty, or of the same program.
        recipe: ``written`` in it is filled in.
        model: Whose file is copied.
        force: Whether edits outside the marked parts are overwritten.

    Returns:
        Paths below the folder, those that have changed.

    Raises:
        ConfigError: The folder holds something else, or can't be written.
        StateMismatch: It holds another program, or edits that would be lost.
    """
    known = check_same_program(folder, recipe.name, recipe.template)
    files = render(recipe, model)
    if known is None:
        _check_free(folder, files)
    elif not force:
        _check_untouched(folder, known)
    final = {path: _with_own(folder / path, data) for path, data in files.items()}
    written = {path: sha256_of(data) for path, data in files.items()}
    final[RECIPE] = replace(recipe, written=written).as_json().encode("utf-8")
    changed = [path for path, data in final.items() if _read(folder / path) != data]
    try:
        for path in changed:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(final[path])
    except OSError as error:
        raise ConfigError(f"{folder} can't be written ({error}): name another folder") from error
    return changed


def _check_free(folder: Path, files: dict[str, bytes]) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file: name a folder")
    taken = [path for path, data in files.items() if _read(folder / path) not in (None, data)]
    if taken:
        raise ConfigError(
            f"{folder} holds {taken[0]} already, which no recipe there tells of: name a new folder"
        )


def _check_untouched(folder: Path, known: Recipe) -> None:
    for path, sha256 in known.written.items():
        found = _read(folder / path)
        if found is not None and sha256_of(_without_own(path, found)) != sha256:
            raise StateMismatch(
                f"{folder / path} was edited outside the marked parts, and would be overwritten: "
                "move the edits between //--- hand edits marks, or repeat with --force"
            )


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path} can't be read ({error.strerror}): look at its rights") from error


def _text(path: Path | str, data: bytes) -> str:
    """Return what an editor on Windows has saved: other line ends, a mark, or UTF-16.

    Raises:
        StateMismatch: It is in a code page, of which nobody knows which.
    """
    is_wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return data.decode("utf-16" if is_wide else "utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise StateMismatch(
            f"{path} is saved in a code page, so its letters beyond ASCII are not known: save it "
            "as UTF-8 in MetaEditor"
        ) from error


def _bytes(text: str) -> bytes:
    # MetaEditor takes UTF-8 without a mark for the computer's code page.
    return text.encode("utf-8" if text.isascii() else "utf-8-sig")


def _with_own(path: Path, data: bytes) -> bytes:
    """Return a program with the hand edits that the file on the disk has."""
    found = _read(path) if path.suffix == ".mq5" else None
    if found is None:
        return data
    edits = hand_edits(_text(path, found), path)
    return _bytes(with_edits(_text(path, data), edits, path))


def _without_own(path: str, data: bytes) -> bytes:
    if path.endswith(".onnx"):
        return data
    text = _text(path, data)
    return (without_edits(text) if path.endswith(".mq5") else text).encode("utf-8")


@dataclass(frozen=True, slots=True)
class Finding:
    """A file that is not as it would be written now.

    Attributes:
        what: missing, edited (by somebody) or outdated (by another model, setting or library).
        diff: Lines of the difference, from the disk to what would be written.
    """

    path: str
    what: str
    diff: tuple[str, ...]


def check(folder: Path, recipe: Recipe, wanted: Recipe, model: LoadedModel) -> list[Finding]:
    """Return what differs in ``folder`` from what would be written now.

    Args:
        folder: That ``ea new`` has written.
        recipe: In it.
        wanted: The same, or with the settings of now.
        model: The program's copy.

    Raises:
        ContractError: The model is not the recipe's.
    """
    if model.sha256 != recipe.sha256:
        raise ContractError(
            f"{model.path} has sha256 {model.sha256}, the program was written for {recipe.sha256}: "
            "put that file back, or write the program again with mt5-onnx ea new"
        )
    files = render(wanted, model)
    return list(_findings(folder, recipe, files))


def _findings(folder: Path, recipe: Recipe, files: dict[str, bytes]) -> Iterator[Finding]:
    for path, data in files.items():
        found = _read(folder / path)
        if found is None:
            yield Finding(path, "missing", ())
            continue
        bare = _without_own(path, found)
        if bare == data:
            continue
        is_ours = sha256_of(bare) == recipe.written.get(path)
        yield Finding(path, "outdated" if is_ours else "edited", _diff(path, bare, data))


def _diff(path: str, found: bytes, wanted: bytes) -> tuple[str, ...]:
    sides = (_text(path, found).splitlines(), _text(path, wanted).splitlines())
    lines = unified_diff(*sides, f"{path} (on the disk)", f"{path} (new)", lineterm="", n=1)
    return tuple(lines)
