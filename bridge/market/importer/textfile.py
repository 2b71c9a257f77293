"""Text of bars or ticks, read column by column; what does not fit is looked for line by line."""

import re
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from bridge.market.importer.columns import MOMENTS, PRICES, QUOTES, SAID
from bridge.market.importer.fault import Fault
from bridge.market.importer.layout import Layout
from bridge.market.importer.moments import of_text
from bridge.market.importer.raw import Raw
from bridge.market.importer.stated import DateOrder
from bridge.market.store.arrow import library

_BLOCK = 1 << 23
_PRICE_COLUMNS = (*PRICES, *QUOTES)
# As they are in most files; what has a decimal mark is read again as a number with one.
_WHOLE = {"tick_volume": "uint64", "real_volume": "uint64", "volume": "uint64", "flags": "uint64"}
_DECIMALS = re.compile(r"[.,](\d+)$")
_WRITTEN = 40
_AGAIN = "export the bars again"
_TWO = f"two exports in one file; {_AGAIN}"


def read_text(data: bytes, layout: Layout, order: DateOrder | None) -> Raw:
    """Return the rows of a text.

    Args:
        data: UTF-8.
        layout: Of it.
        order: Of dates whose year comes last.

    Raises:
        Fault: The first row that is wrong, and why.
        ConfigError: pyarrow is missing.
    """
    body, headers = _without_headers(data, layout)
    if not body[:_BLOCK].strip() and not body.strip():
        raise Fault("no bars: there is nothing below the header, export the bars again")
    table = _table(body, layout)
    columns = {
        name: _numbers(table.column(name))
        for name in table.column_names
        if name not in (*MOMENTS, *SAID)
    }
    return Raw(
        of_text(
            table.column("date") if "date" in layout.names else None,
            table.column("time") if "time" in layout.names else None,
            order,
        ),
        layout.zone,
        columns,
        {name: _one(table.column(name), name) for name in SAID if name in layout.names},
        layout.ticks,
        _decimals(body, layout),
        headers,
        layout.left_out,
    )


def _without_headers(data: bytes, layout: Layout) -> tuple[bytes, int]:
    """Return the text below the header, and how often the header came again in it."""
    start = 0
    for _ in range(layout.skip):
        start = data.find(b"\n", start) + 1 or len(data)
    body = data[start:] if start else data
    if not layout.header or layout.header not in body:
        return body, 0
    pattern = re.compile(rb"(?m)^" + re.escape(layout.header) + rb"\r?(\n|\Z)")
    return pattern.subn(b"", body)


def _table(body: bytes, layout: Layout) -> Any:
    """Return the needed columns; if they can't be read as they should be, find out why."""
    if layout.ticks:
        body = _padded(body, layout)
    arrow = library("")
    for whole in (True, False):
        try:
            return _parse(body, layout, whole=whole)
        except arrow.lib.ArrowInvalid:
            continue
    raise _explained(body, layout)


def _parse(body: bytes, layout: Layout, *, whole: bool) -> Any:
    arrow, table = library(""), library("csv")
    names = [name or f"-{number}" for number, name in enumerate(layout.names)]
    wanted = [name for name in layout.names if name]
    types = {
        name: arrow.float64()
        if name in _PRICE_COLUMNS or not (whole and name in _WHOLE)
        else getattr(arrow, _WHOLE[name])()
        for name in wanted
    }
    for name in (*MOMENTS, *SAID):
        types[name] = arrow.string()
    if "date" in layout.names:  # a day has many bars, and its times come every day
        types["date"] = types["time"] = arrow.dictionary(arrow.int32(), arrow.string())
    return table.read_csv(
        arrow.BufferReader(body),
        read_options=table.ReadOptions(column_names=names, block_size=_BLOCK),
        parse_options=table.ParseOptions(delimiter=layout.delimiter),
        convert_options=table.ConvertOptions(
            include_columns=wanted,
            column_types=types,
            null_values=[""],
            decimal_point=layout.decimal,
        ),
    )


def _padded(body: bytes, layout: Layout) -> bytes:
    """Return ticks with the cells that programs leave away at a line's end."""
    mark = layout.delimiter.encode()
    least = 1 + max(
        layout.names.index(name) for name in (*QUOTES[:2], *MOMENTS) if name in layout.names
    )
    count = len(layout.names)
    lines = body.split(b"\n")
    if all(line.count(mark) == count - 1 for line in lines if line.strip()):
        return body
    for number, line in enumerate(lines):
        cells = line.count(mark) + 1
        if line.strip() and least <= cells < count:
            lines[number] = line.rstrip(b"\r") + mark * (count - cells)
    return b"\n".join(lines)


def _numbers(column: Any) -> NDArray[Any]:
    """Return a column of numbers; empty cells are NaN, or 0 among whole numbers."""
    if column.null_count and not library("").types.is_floating(column.type):
        column = column.fill_null(0)
    found: NDArray[Any] = column.to_numpy()
    return found


def _one(column: Any, name: str) -> str:
    different = [value for value in column.unique().to_pylist() if value]
    if len(different) > 1:
        row = next(n for n, value in enumerate(column.to_pylist()) if value != different[0])
        raise Fault(
            f"the {name} is {different[1]}, and was {different[0]} before: keep one in a file", row
        )
    return str(different[0]) if different else ""


def _decimals(body: bytes, layout: Layout) -> int:
    prices = [n for n, name in enumerate(layout.names) if name in (*PRICES, *QUOTES[:2])]
    found = 0
    for _, line in zip(range(_WRITTEN), _lines(body), strict=False):
        cells = line.split(layout.delimiter)
        for number in prices:
            mark = _DECIMALS.search(cells[number].strip()) if number < len(cells) else None
            found = max(found, len(mark[1]) if mark else 0)
    return found


def _lines(body: bytes) -> Iterator[str]:
    start = 0
    while start < len(body):
        end = body.find(b"\n", start)
        end = len(body) if end < 0 else end
        yield body[start:end].decode(errors="replace").rstrip("\r")
        start = end + 1


def where(data: bytes, layout: Layout, row: int) -> str:
    """Return the line of a row; empty lines and headers are no rows."""
    header = layout.header.decode() if layout.header else None
    left = row
    for number, line in enumerate(_lines(data)):
        if number < layout.skip or not line or line == header:
            continue
        if not left:
            return f"line {number + 1}"
        left -= 1
    return f"row {row + 1}"


def _explained(body: bytes, layout: Layout) -> Fault:
    """Return what is wrong with the first line that is no row."""
    row = -1
    for row, line in enumerate(line for line in _lines(body) if line):
        if reason := _reason(line, layout):
            return Fault(reason, row)
    return Fault("the file can't be read as rows of bars: export the bars again", max(row, 0))


def _reason(line: str, layout: Layout) -> str | None:
    cells = [cell.strip().strip('"') for cell in line.split(layout.delimiter)]
    if len(cells) != len(layout.names):
        return _count_reason(line, len(cells), layout)
    for name, cell in zip(layout.names, cells, strict=True):
        if name is None or name in (*MOMENTS, *SAID):
            continue
        number = cell.replace(layout.decimal, ".") if layout.decimal != "." else cell
        try:
            if number:
                float(number)
        except ValueError:
            if not re.search(r"\d", line):
                return f"{_short(line)} is a header other than the first: {_TWO}"
            return f"{cell!r} is no number for {name}: {_AGAIN}"
        if re.search(r"[^\d.eE+-]", number):
            return f"{cell!r} is no number for {name}: {_AGAIN}"
    return None


def _count_reason(line: str, cells: int, layout: Layout) -> str:
    for mark, said in (("\t", "tabs"), (";", "semicolons"), (",", "commas")):
        if mark != layout.delimiter and line.count(mark) >= len(PRICES) and cells < len(PRICES):
            return f"{_short(line)} is separated by {said}, unlike the lines before: {_TWO}"
    return f"{_short(line)} has {cells} cells instead of {len(layout.names)}: {_AGAIN}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
