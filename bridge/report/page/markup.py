"""HTML that can't be broken by what it shows: text is escaped unless a tag made it."""

import html

Attribute = str | int | float | bool | None


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, /, *inside: object, **attributes: Attribute) -> Html:
    """Return an element.

    Args:
        name: Of the tag.
        inside: Its content: :class:`Html` as it is, all else as escaped text.
        attributes: By name; ``class_`` is class, ``_`` becomes ``-``; True has no value, False and
            None are left out.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        parts.append(label if value is True else f'{label}="{html.escape(str(value))}"')
    opening = " ".join(parts)
    if name in _EMPTY:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{joined(*inside)}</{name}>")


_EMPTY = frozenset({"meta", "link", "br", "input"})


def joined(*parts: object) -> Html:
    """Return ``parts`` one after the other, escaped where they are text."""
    return Html(
        "".join(part if isinstance(part, Html) else html.escape(str(part)) for part in parts)
    )


def table(
    headings: list[str],
    rows: list[list[object]],
    *,
    caption: str,
    narrow: bool = False,
) -> Html:
    """Return a table; its cells right-aligned but for the first of a row.

    Args:
        headings: Of the columns.
        rows: Cells; a cell that is a ``td`` or ``th`` already stays; the first names its row.
        caption: For people who can't see it; hidden from others.
        narrow: Whether it does not take the whole width.
    """
    head = tag("tr", *(tag("th", each, scope="col") for each in headings))
    lines = [tag("tr", *_cells(row)) for row in rows]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption, class_="unseen"),
            tag("thead", head),
            tag("tbody", *lines),
        ),
        class_="scroll narrow" if narrow else "scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def _cells(row: list[object]) -> list[Html]:
    cells = []
    for number, cell in enumerate(row):
        if isinstance(cell, Html) and cell.startswith(("<td", "<th")):
            cells.append(cell)
        elif number == 0:
            cells.append(tag("th", cell, scope="row"))
        else:
            cells.append(tag("td", cell))
    return cells
