"""Read a settings file: bytes to text, text to tables, tables to ``BridgeSettings``.

Nothing is guessed: what can't be meant as written is refused, in a sentence that shows how to
write it. Secrets come from the environment or the keyring and are never in the file.
"""

import codecs
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from bridge.errors import ConfigError
from bridge.settings.faults import Place, first_fault_of, in_words, is_secret
from bridge.settings.secrets import Keyring, find_password, no_keyring
from bridge.settings.strategy import DecisionSettings, decision_settings
from bridge.settings.tables import BridgeSettings, Mode

_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What TOML made of a backslash in double quotes -> what was typed.
_TYPED = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r"}
_BACKSLASHED = re.compile(r'"([^"\']*\\[^"\']*)"')
_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def load_settings(
    path: Path, environ: Mapping[str, str], keyring: Keyring = no_keyring
) -> BridgeSettings:
    """Return the settings that ``path`` holds, completed by the environment.

    Args:
        path: A TOML file; UTF-8, or UTF-16 with its mark. Relative paths inside are taken from
            its folder, and come back absolute.
        environ: MT5_LOGIN, MT5_SERVER and MT5_PATH replace what the file's terminal table says;
            MT5_PASSWORD is the password. Empty is absent.
        keyring: Asked for the password where the environment has none, unless bars are recorded.

    Raises:
        ConfigError: The file, the key, its value, and what is allowed.
    """
    try:
        tables = _tables(_text(path))
        _check_keys(tables)
        settings = _settings(_with_environment(tables, environ))
    except _Refused as refusal:
        # From None: the cause would carry the file's text into a traceback.
        raise ConfigError(f"{path}: {refusal}") from None
    terminal = settings.terminal
    asked = no_keyring if settings.mode is Mode.PAPER else keyring
    password = find_password(environ, asked, terminal.login, terminal.server)
    terminal = terminal.with_password(SecretStr(password) if password else None)
    return _anchored(settings.model_copy(update={"terminal": terminal}), path.absolute().parent)


class _Refused(Exception):
    """What is wrong with the file, without its name."""


def _text(path: Path) -> str:
    try:
        stored = path.read_bytes()
    except FileNotFoundError:
        raise _Refused("there is no such file: make one with mt5-onnx init") from None
    except OSError as error:
        hint = "it is a folder, name the file in it" if path.is_dir() else str(error.strerror)
        raise _Refused(f"can't be read: {hint}") from None
    encoding = next((name for mark, name in _ENCODINGS if stored.startswith(mark)), "utf-8")
    try:
        text = stored.decode(encoding)
    except UnicodeDecodeError as error:
        line = stored[: error.start].count(b"\n") + 1
        raise _Refused(f"line {line} is not {encoding.upper()}: save the file as UTF-8") from None
    if "\0" in text:
        raise _Refused("is neither UTF-8 nor UTF-16 with its mark: save the file as UTF-8")
    return text


def _tables(text: str) -> dict[str, Any]:
    try:
        tables = tomllib.loads(text)
    except ValueError as error:  # a TOMLDecodeError, or a number of thousands of digits
        raise _Refused(_syntax(str(error), text)) from None
    except RecursionError:
        raise _Refused(
            "is nested too deeply: keep to the tables that mt5-onnx init writes"
        ) from None
    if not tables:
        raise _Refused("is empty: fill it with mt5-onnx init")
    return tables


def _syntax(message: str, text: str) -> str:
    found = _POSITION.search(message)
    said = message[: found.start()] if found else message
    if found is None or found[1] is None:
        return f"is no TOML at its end: {said}"
    line = text.split("\n")[int(found[1]) - 1]
    sentence = f"line {found[1]}, column {found[2]} is no TOML: {said}"
    key = line.partition("=")[0].strip()
    typed = _BACKSLASHED.search(line)
    if typed is None or is_secret(line):
        return sentence
    return f"{sentence}; write backslashes in single quotes: {key} = '{typed[1]}'"


def _check_keys(tables: Mapping[str, Any]) -> None:
    for place, value in _leaves((), tables):
        if not all(str(part).isprintable() for part in place):
            raise _Refused(f"the key {place!r} holds a character that can't be seen: type it again")
        if any(is_secret(str(part)) for part in place):
            raise _Refused(
                f"{in_words(place)} may not stand in the file: remove it; the account's password "
                "comes from the environment variable MT5_PASSWORD, or from the system's keyring"
            )
        if isinstance(value, str) and not value.isprintable():
            raise _Refused(_unprintable(place, value))


def _leaves(place: Place, value: object) -> Iterator[tuple[Place, object]]:
    inner: Iterator[tuple[int | str, object]]
    if isinstance(value, Mapping):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = iter(enumerate(value))
    else:
        yield place, value
        return
    if place and not value:  # an empty table has a name, too
        yield place, None
    for key, each in inner:
        yield from _leaves((*place, key), each)


def _unprintable(place: Place, value: str) -> str:
    typed = "".join(_TYPED.get(each, each) for each in value)
    where = in_words(place)
    if not typed.isprintable() or "'" in typed:
        return f"{where} = {value!r} holds a character that can't be seen: type it again"
    return (
        f"{where} = {value!r} holds control characters, which double quotes make of backslashes: "
        f"write it in single quotes, {place[-1]} = '{typed}'"
    )


def _with_environment(tables: dict[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    changes: dict[str, object] = {}
    for key, variable in (("server", "MT5_SERVER"), ("path", "MT5_PATH")):
        if text := environ.get(variable):
            if not text.isprintable():
                raise _Refused(f"{variable} holds a character that can't be seen: set it again")
            changes[key] = text
    if login := environ.get("MT5_LOGIN"):
        # Not shown: a person who mixes the variables up puts the password there.
        if not (login.isascii() and login.isdigit() and 1 <= int(login[:20]) < 2**63):
            raise _Refused("MT5_LOGIN is no account number: set it to digits only")
        changes["login"] = int(login)
    terminal = tables.get("terminal", {})
    if not changes or not isinstance(terminal, dict):
        return tables
    return tables | {"terminal": terminal | changes}


def _settings(tables: Mapping[str, Any]) -> BridgeSettings:
    # Through JSON: strict validation refuses "0.1" for a number and yet reads a mode by its name.
    # TOML's dates are none of JSON's values; as text they are refused where they stand.
    text = json.dumps(tables, default=str)
    try:
        settings = BridgeSettings.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise _Refused(first_fault_of(error, BridgeSettings)) from None
    for number, each in enumerate(settings.strategy, start=1):
        try:
            decision_settings(DecisionSettings(), each.decision)
        except ConfigError as error:
            raise _Refused(f"strategy {number}, {error}") from None
    return settings


def _anchored(settings: BridgeSettings, folder: Path) -> BridgeSettings:
    def at(path: str) -> str:
        return str(folder / path)

    paper = settings.paper.model_copy(
        update={
            "profile": settings.paper.profile and at(settings.paper.profile),
            "store": settings.paper.store and at(settings.paper.store),
            "bars": tuple(
                each.model_copy(
                    update={
                        "path": each.path and at(each.path),
                        "ticks": each.ticks and at(each.ticks),
                    }
                )
                for each in settings.paper.bars
            ),
        }
    )
    strategies = tuple(
        each.model_copy(update={"model": at(each.model)}) for each in settings.strategy
    )
    news = settings.limits.news_csv
    return settings.model_copy(
        update={
            "state": at(settings.state),
            "limits": settings.limits.model_copy(update={"news_csv": news and at(news)}),
            "paper": paper,
            "backtest": settings.backtest.model_copy(
                update={"folder": at(settings.backtest.folder)}
            ),
            "strategy": strategies,
        }
    )
