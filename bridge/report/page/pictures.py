"""Small pictures that don't move, as SVG: bars, and points against a line.

Colours are classes of the page's style, so that they follow its light or dark mode.
"""

from collections.abc import Sequence

from bridge.report.page.markup import Html, tag
from bridge.report.tables import nice

_WIDTH, _HEIGHT = 480, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 8, 12, 30
_ACROSS = _WIDTH - _LEFT - _RIGHT
_UP = _HEIGHT - _TOP - _BOTTOM


class _Scale:
    """Values of the vertical axis to pixels, with round grid lines."""

    def __init__(self, values: Sequence[float], *, from_zero: bool = True) -> None:
        all_of = [0.0, *values] if from_zero or not values else list(values)
        low, high = min(all_of), max(all_of)
        self.step = nice((high - low or 1.0) / 4)
        self.low = self.step * (low // self.step)
        self.high = self.step * -(-high // self.step) or self.step

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(_TOP + _UP * (1 - share), 1)

    def grid(self) -> list[float]:
        count = round((self.high - self.low) / self.step)
        return [self.low + self.step * number for number in range(count + 1)]


def bars(
    labels: Sequence[str], values: Sequence[float], *, title: str, signed: bool = True
) -> Html:
    """Return a bar for each value, of either sign.

    Args:
        labels: Below the bars; some are left out where there are many.
        values: One a label.
        title: What it shows, for people who can't see it.
        signed: Whether bars above 0 are gains and below 0 losses, by colour.
    """
    scale, slot = _Scale(values), _ACROSS / max(len(values), 1)
    drawn = []
    for number, value in enumerate(values):
        top, bottom = sorted((scale(value), scale(0.0)))
        kind = ("gain" if value >= 0 else "loss") if signed else "plain"
        left, width = _LEFT + slot * (number + 0.12), slot * 0.76
        drawn.append(
            tag(
                "rect",
                tag("title", f"{labels[number]}: {value:g}"),
                x=round(left, 1),
                y=top,
                width=round(width, 1),
                height=round(bottom - top, 1),
                class_=kind,
            )
        )
    return _framed(scale, [*drawn, *_labels(labels, slot)], title)


def points(
    across: Sequence[float],
    up: Sequence[float],
    *,
    title: str,
    kinds: Sequence[str] = (),
    tips: Sequence[str] = (),
    level: float | None = None,
    chance: float = 0.0,
    from_zero: bool = True,
) -> Html:
    """Return a point for each pair.

    Args:
        across: Of the horizontal axis.
        up: Of the vertical one.
        title: What it shows.
        kinds: Class of each point; ``plain`` without.
        tips: What a point says of itself.
        level: A dashed horizontal line.
        chance: How far from it chance alone brings most points; a band.
        from_zero: Whether the axes begin at 0, or where the points do.
    """
    expected = [] if level is None else [level - chance, level, level + chance]
    scale = _Scale([*up, *expected], from_zero=from_zero)
    low, high = min([0.0, *across]), max([0.0, *across])
    reach = high - low or 1.0

    def right(value: float) -> float:
        return round(_LEFT + _ACROSS * (value - low) / reach, 1)

    drawn = [
        tag(
            "circle",
            *([tag("title", tips[number])] if tips else []),
            cx=right(x),
            cy=scale(y),
            r=4 if len(across) < 100 else 2.5,
            class_=kinds[number] if kinds else "plain",
        )
        for number, (x, y) in enumerate(zip(across, up, strict=True))
    ]
    ticks = [_label(right(value), f"{value:.6g}") for value in _round_values(low, high)]
    return _framed(scale, [*_expectation(scale, expected), *drawn, *ticks], title)


def _round_values(low: float, high: float) -> list[float]:
    step = nice((high - low or 1.0) / 6)
    first = -(-low // step)
    values = [step * (first + number) for number in range(13)]
    return [value for value in values if value <= high + step * 1e-9]


def _expectation(scale: _Scale, expected: list[float]) -> list[Html]:
    """Return the line of what is expected, and the band about it."""
    if not expected:
        return []
    bottom, at, top = map(scale, expected)
    band = tag(
        "rect", x=_LEFT, width=_ACROSS, y=top, height=round(bottom - top, 1), class_="chance"
    )
    return [band, tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=at, y2=at, class_="level")]


def _labels(labels: Sequence[str], slot: float) -> list[Html]:
    longest = max(map(len, labels), default=1)
    every = max(1, -(-int(longest * 8.5 + 6) // max(int(slot), 1)))
    return [
        _label(round(_LEFT + slot * (number + 0.5), 1), label)
        for number, label in enumerate(labels)
        if number % every == 0
    ]


def _label(at: float, words: str) -> Html:
    return tag("text", words, x=at, y=_HEIGHT - 8, class_="across")


def _framed(scale: _Scale, drawn: list[Html], title: str) -> Html:
    lines = []
    for value in scale.grid():
        at, kind = scale(value), "zero" if abs(value) < scale.step / 1e6 else "grid"
        lines.append(tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=at, y2=at, class_=kind))
        lines.append(tag("text", f"{value:.6g}", x=_LEFT - 7, y=at + 4, class_="up"))
    return tag(
        "svg",
        *lines,
        *drawn,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=title,
        class_="picture",
    )
