"""The outline as a picture: a tree of text, or an SVG."""

from textwrap import wrap
from xml.sax.saxutils import escape

from bridge.authoring.outline import Outline, Stage

_WIDTH, _LINE, _PAD, _GAP = 880, 18, 12, 26
# Characters of a monospaced 12 px font that fit into a box.
_FITS = 114


def as_tree(name: str, found: Outline) -> list[str]:
    """Return the outline as lines of a tree."""
    lines = [name]
    for number, stage in enumerate(found.stages, start=1):
        is_last = number == len(found.stages)
        lines.append(f"{'└─' if is_last else '├─'} {stage.title}")
        stem = "   " if is_last else "│  "
        for place, line in enumerate(stage.lines, start=1):
            lines.append(f"{stem}{'└─' if place == len(stage.lines) else '├─'} {line}")
    return lines


def as_svg(name: str, found: Outline) -> str:
    """Return the outline as an SVG: one box a stage, from the inputs down to the decision."""
    parts, top = [_text(_PAD, _PAD + 14, name, "name")], _PAD + 30
    for number, stage in enumerate(found.stages):
        if number:
            parts.append(_arrow(top - _GAP, top))
        box, height = _box(stage, top)
        parts += box
        top += height + _GAP
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" width="{_WIDTH}" '
        f'height="{top}">\n<style>text{{font:12px monospace;fill:#222}}.title,.name{{font-weight:'
        "bold}rect{fill:#f4f7fb;stroke:#5b7ba5;rx:6}line{stroke:#5b7ba5;stroke-width:2}"
        'rect.page{fill:#fff;stroke:none}</style>\n<rect class="page" width="100%" height="100%"/>'
        f"\n{body}\n</svg>\n"
    )


def _box(stage: Stage, top: int) -> tuple[list[str], int]:
    lines = [part for line in stage.lines for part in _wrapped(line)]
    height = 2 * _PAD + _LINE * (len(lines) + 1)
    box = f'<rect x="{_PAD}" y="{top}" width="{_WIDTH - 2 * _PAD}" height="{height}"/>'
    texts = [_text(2 * _PAD, top + _PAD + 12, stage.title, "title")]
    for number, line in enumerate(lines, start=1):
        texts.append(_text(2 * _PAD, top + _PAD + 12 + _LINE * number, line, "line"))
    return [box, *texts], height


def _wrapped(line: str) -> list[str]:
    return wrap(line, _FITS, subsequent_indent="  ") or [""]


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" xml:space="preserve">{escape(text)}</text>'


def _arrow(start: int, end: int) -> str:
    x = _WIDTH // 2
    return (
        f'<line x1="{x}" y1="{start}" x2="{x}" y2="{end - 6}"/>'
        f'<path d="M{x - 5} {end - 7}L{x + 5} {end - 7}L{x} {end}Z" fill="#5b7ba5"/>'
    )
