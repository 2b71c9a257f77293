"""Both runs in one HTML file that needs nothing else: balances, outputs, the first differences."""

from collections.abc import Callable, Mapping

from bridge.mql.cause import Cause
from bridge.mql.parity import Compared, shown
from bridge.mql.runs import Bar
from bridge.mt5.servertime import text
from bridge.report.page.markup import Html, joined, table, tag

_WIDTH, _HEIGHT, _LEFT, _PAD = 960, 240, 90, 14
_MOST_POINTS = 2_000
_SHOWN = 50
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; } polyline { fill: none; stroke-width: 1.5; }
.daemon { stroke: #1f77b4; } .expert { stroke: #d95f02; stroke-dasharray: 5 4; }
.apart { stroke: #7570b3; } .first { stroke: #c00; } text { font-size: 12px; fill: currentColor; }
.grid { stroke: #8884; } table { border-collapse: collapse; } td, th { padding: .15rem .7rem; }
th { text-align: left; } td { text-align: right; font-variant-numeric: tabular-nums; }
.unseen { position: absolute; left: -9999px; } .scroll { overflow-x: auto; }
"""


def page(compared: Compared, cause: Cause | None) -> str:
    """Return the HTML."""
    expert, first = compared.expert, compared.first
    mark = None if first is None else first.bar
    title = f"{expert.symbol} {expert.timeframe} {expert.magic}: EA and daemon"
    if cause is None or first is None:
        verdict: Html = tag("p", f"No difference in {len(expert.bars)} bars.")
    else:
        verdict = tag("p", tag("b", f"They part at the bar of {text(first.bar)}. "), cause.words)
    body = joined(
        tag("h1", title),
        verdict,
        tag("p", "Blue: the daemon. Orange, dashed: the EA. Red: where they part first."),
        tag("h2", "Balance"),
        _chart(
            "Balance of daemon and EA",
            {"daemon": _balances(compared.daemon.bars), "expert": _balances(expert.bars)},
            mark,
        ),
        tag("h2", "Largest difference of an output"),
        _chart("Difference of outputs", {"apart": _aparts(compared)}, mark),
        _table(compared),
    )
    head = joined(tag("meta", charset="utf-8"), tag("title", title), tag("style", Html(_STYLE)))
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"


Points = list[tuple[int, float]]


def _balances(bars: Mapping[int, Bar]) -> Points:
    return [(time, bar.balance) for time, bar in bars.items() if bar.balance is not None]


def _aparts(compared: Compared) -> Points:
    found = []
    for time, theirs in compared.expert.bars.items():
        ours = compared.daemon.bars.get(time)
        if ours is not None and len(ours.outputs) == len(theirs.outputs):
            pairs = zip(ours.outputs, theirs.outputs, strict=True)
            found.append((time, max((abs(a - b) for a, b in pairs), default=0.0)))
    return found


def _chart(title: str, lines: Mapping[str, Points], mark: int | None) -> Html:
    """Return a picture of lines over time; a line of many points keeps every so manyth."""
    every = [point for points in lines.values() for point in points if point[1] == point[1]]
    if not every:
        return tag("p", "Nothing to draw.")
    times, values = [time for time, _ in every], [value for _, value in every]
    low, high, start, end = min(values), max(values), min(times), max(times)

    def across(time: float) -> float:
        return round(_LEFT + (time - start) / ((end - start) or 1) * (_WIDTH - _LEFT - _PAD), 1)

    def up(value: float) -> float:
        share = (value - low) / ((high - low) or 1.0)
        return round(_HEIGHT - _PAD - share * (_HEIGHT - 2 * _PAD), 1)

    drawn = [_grid(up(value), f"{value:.6g}") for value in dict.fromkeys((low, high))]
    drawn += [_line(name, _thinned(points), across, up) for name, points in lines.items()]
    if mark is not None:
        at = across(min(max(mark, start), end))
        drawn.append(tag("line", x1=at, x2=at, y1=0, y2=_HEIGHT, class_="first"))
    return tag("svg", *drawn, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=title)


def _grid(at: float, label: str) -> Html:
    line = tag("line", x1=_LEFT, x2=_WIDTH - _PAD, y1=at, y2=at, class_="grid")
    return joined(line, tag("text", label, x=4, y=at + 4))


def _line(
    name: str, points: Points, across: Callable[[float], float], up: Callable[[float], float]
) -> Html:
    places = " ".join(f"{across(time)},{up(value)}" for time, value in points if value == value)
    return tag("polyline", points=places, class_=name)


def _thinned(points: Points) -> Points:
    step = max(1, len(points) // _MOST_POINTS)
    return points[::step] + points[-1:]


def _table(compared: Compared) -> Html:
    if not compared.differences:
        return Html("")
    rows: list[list[object]] = [
        [text(each.bar), f"{each.where} {each.what}", shown(each.daemon), shown(each.expert)]
        for each in compared.differences[:_SHOWN]
    ]
    heading = f"The first {len(rows)} of {len(compared.differences)} differences"
    return joined(
        tag("h2", heading),
        table(["bar", "what", "daemon", "EA"], rows, caption=heading),
    )
