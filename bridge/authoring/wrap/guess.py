"""Draft the TOML file of a model: what its graph and the JSON files beside it say, and "?" else.

A draft is refused until each "?" is filled in. Names of features are hints for a person, who knows
the formula; they are never taken for one.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.authoring.wrap.scaling import NEEDS, read_constants
from bridge.authoring.wrap.source import Source, Tensor
from bridge.authoring.wrap.spec import UNKNOWN

_HINTS = (
    (r"rsi_?(\d+)?", "rsi(close, {0:14})"),
    (r"atr_?(\d+)?", "iATR(bars, {0:14}), or atr(bars, {0:14}) if it was Wilder's"),
    (r"atr_(norm|ratio|pct)", "atr_ratio(bars, 14)"),
    (r"macd(_main|_line)?", "iMACD(close, 12, 26), or macd(close, 12, 26) if over the close"),
    (r"ema_?(\d+)", "ema(close, {0})"),
    (r"s?ma_?(\d+)", "sma(close, {0})"),
    (r"returns?(_1)?", "simple_return(close)"),
    (r"returns?_?(\d+)", "simple_return(close, {0})"),
    (r"log_returns?", "log_return(close)"),
    (r"range_pct|candle_range", "bar_range(bars)"),
    (r"body(_pct)?", "body(bars)"),
    (r"upper_(shadow|wick)(_pct)?", "upper_wick(bars)"),
    (r"lower_(shadow|wick)(_pct)?", "lower_wick(bars)"),
    (r"tr|true_range", "true_range(bars)"),
    (r"bb_pos(ition)?", "bollinger_position(close, 20)"),
    (r"hour(_sin|_cos)?", "hour{0}()"),
    (r"(open|high|low|close|tick_volume|spread)", "{0}"),
    (r"vol_ratio|vol_regime", "volatility_ratio(close, 10, 50)"),
)
# A row of more numbers is a sequence laid flat.
_MOST = 500
_MOST_CLASSES = 20
_SIDES = {
    "long": re.compile(r"buy|long|up|bull", re.IGNORECASE),
    "short": re.compile(r"sell|short|down|bear", re.IGNORECASE),
    "flat": re.compile(r"hold|flat|neutral|wait", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class _Beside:
    """What the JSON files beside a model say.

    Attributes:
        constants: By the names of ``scaling.KEYS``.
        scaler: The file that has them.
        classes: Names by their number.
    """

    names: tuple[str, ...]
    constants: dict[str, Any]
    scaler: str | None
    classes: dict[int, str]


def draft(source: Source, *, today: str) -> str:
    """Return the text of a TOML file for ``source``.

    Args:
        source: The model as it came; files that begin with its name and end in .json are read.
        today: Day of the draft, ISO.

    Raises:
        ConfigError: A JSON file beside it is malformed.
    """
    beside = _beside(source.path)
    parts = [
        _head(source, today),
        *_input(source, beside),
        *_features(source, beside),
        *_scaler(beside),
        *_output(source, beside),
        _DECISION,
    ]
    return "\n".join(parts)


_DECISION = """[decision]
# How the answers are meant to be traded; settings override it. All keys: DecisionSettings.
# open_at = 0.5
# stop_points = 300
"""


def _head(source: Source, today: str) -> str:
    return f"""# Drafted from {source.path.name}; refused until every "{UNKNOWN}" is filled in.

[contract]
name = {_quoted(source.path.stem)}
symbol = "{UNKNOWN}"
timeframe = "{UNKNOWN}"
server_clock = "{UNKNOWN}"  # of the training's bars: utc, eet-eu, eet-us, utc+3 ...
created = "{today}"  # the day of this draft; better the day of the training
algorithm = "{UNKNOWN}"
licence = "{UNKNOWN}"
"""


def _input(source: Source, beside: _Beside) -> Iterator[str]:
    item = source.inputs[0] if source.inputs else None
    for other in source.inputs[1:]:
        yield f"# The input {other} needs a number: fixed = {{ {_quoted(other.name)} = 0.0 }}\n"
    if item is None:
        return
    steps, _ = _sizes(item, beside)
    yield f"[input]\nname = {_quoted(item.name)}  # {item}"
    yield f"steps = {steps if steps else _unknown('bars that one answer sees features of')}"
    if len(item.dims) > 2 and not _is_plain(item, beside):
        yield f'layout = "{UNKNOWN}"  # batch,steps,features or batch,features,steps'
    if len(item.dims) > 2:
        yield 'order = "oldest first"  # a guess: or newest first'
    yield ""


def _is_plain(item: Tensor, beside: _Beside) -> bool:
    """Whether the number of names tells which dimension is the features'."""
    free = item.dims[1:]
    return len(free) == 2 and len(beside.names) in free and free[0] != free[1]


def _unknown(why: str) -> str:
    return f'"{UNKNOWN}"  # {why}'


def _sizes(item: Tensor, beside: _Beside) -> tuple[int | None, int | None]:
    """Return steps and features, None where the shape leaves them open."""
    free = item.dims[1:] if len(item.dims) > 1 else item.dims
    if len(free) == 1:
        width = len(beside.names) or None
        if width and free[0] and free[0] % width == 0:
            return free[0] // width, width
        return 1, free[0]
    if len(free) == 2:
        first, second = free
        turned = len(beside.names) == first != second
        return (second, first) if turned else (first, second)
    return None, None


def _features(source: Source, beside: _Beside) -> Iterator[str]:
    _, width = _sizes(source.inputs[0], beside) if source.inputs else (None, None)
    names = list(beside.names)
    count = width or len(names) or 1
    if width is None and not names:
        yield "# How many features there are, the shape does not say.\n"
    if count > _MOST:
        yield f"# One row of {count} numbers: likely steps and features in one, such as"
        yield '# steps = 100 and layout = "batch,steps*features"; declare each feature once.\n'
        count = 1
    for place in range(count):
        name = names[place] if place < len(names) else f"feature {place + 1}"
        hint = _hint(name)
        yield "[[features]]"
        yield f"name = {_quoted(name)}"
        yield f'formula = "{UNKNOWN}"' + (f"  # perhaps {hint}" if hint else "")
        yield ""


def _hint(name: str) -> str | None:
    for pattern, text in _HINTS:
        if found := re.fullmatch(pattern, name.lower()):
            return _filled(text, [each or "" for each in found.groups()])
    return None


def _filled(text: str, groups: Sequence[str]) -> str:
    """Fill ``{0}`` and ``{0:14}``: a group of the name, or what stands behind the colon."""
    return re.sub(
        r"\{(\d)(?::(\d+))?\}",
        lambda hole: (groups[int(hole[1])] if int(hole[1]) < len(groups) else "") or hole[2] or "",
        text,
    )


def _scaler(beside: _Beside) -> Iterator[str]:
    kind = next(
        (kind for kind, keys in NEEDS.items() if all(key in beside.constants for key in keys)), None
    )
    yield "[scaler]"
    if kind is None:
        yield f'kind = "{UNKNOWN}"  # none, standard, minmax, window_standard, window_minmax'
    else:
        yield f'kind = "{kind}"'
        yield f"file = {_quoted(beside.scaler or '')}  # its constants are used as they stand"
    yield ""


def _output(source: Source, beside: _Beside) -> Iterator[str]:
    yield "[output]"
    names = [each.name for each in source.outputs]
    if len(names) == 1:
        yield f"name = {_quoted(names[0])}  # {source.outputs[0]}"
    else:
        yield f'name = "{UNKNOWN}"  # one of {", ".join(map(str, source.outputs))}'
    width = _width(source, beside)
    if 1 < width <= _MOST_CLASSES:
        yield from _shares(source, beside, width)
        return
    yield f'kind = "{UNKNOWN}"  # shares (of two classes), forecast or target'
    yield f'head = "{UNKNOWN}"  # none, sigmoid, tanh: what the graph does not do yet'
    if width > 1:
        yield f'column = "{UNKNOWN}"  # which of {width} numbers counts, from 0'
    yield "# classes = [ ... ]  # of shares: against, for"
    yield '# unit = "..."  # of a forecast\n'


def _shares(source: Source, beside: _Beside, width: int) -> Iterator[str]:
    yield 'kind = "shares"  # a guess by its width'
    yield f'head = "{UNKNOWN}"  # none if the numbers sum to 1, softmax for logits'
    yield "classes = ["
    for place in range(width):
        label = source.labels[place] if place < len(source.labels) else None
        name = beside.classes.get(place if label is None else label, "")
        side = next((side for side, words in _SIDES.items() if words.search(name)), UNKNOWN)
        said = "" if label is None else f"label = {label}, "
        asked = "" if side == UNKNOWN else "  # by its name: check"
        yield (
            f"    {{ {said}name = {_quoted(name or UNKNOWN)}, "
            f'side = "{UNKNOWN if "close" in name.lower() else side}" }},{asked}'
        )
    yield "]\n"


def _width(source: Source, beside: _Beside) -> int:
    if source.labels:
        return len(source.labels)
    if len(source.outputs) == 1 and len(source.outputs[0].dims) > 1:
        return source.outputs[0].dims[-1] or len(beside.classes) or 1
    return len(beside.classes) or 1


def _beside(path: Path) -> _Beside:
    names: tuple[str, ...] = ()
    numbers: dict[str, Any] = {}
    scaler = None
    classes: dict[int, str] = {}
    for each in sorted(path.parent.glob(f"{path.stem}*.json")):
        found = read_constants(each)
        if told := found.pop("names", None):
            names = tuple(str(name) for name in told)
        if found:
            numbers, scaler = found, each.name
        classes |= _classes(each)
    return _Beside(names, numbers, scaler, classes)


def _classes(path: Path) -> dict[int, str]:
    """Return what numbers mean, of a table such as {"0": "Hold", "1": "Buy"}."""
    told = json.loads(path.read_bytes().decode("utf-8-sig"))
    for table in told.values() if isinstance(told, dict) else ():
        if isinstance(table, dict) and table and all(str(key).isdigit() for key in table):
            return {int(key): str(value) for key, value in table.items()}
    return {}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
