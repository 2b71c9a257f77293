"""How a text file is laid out: what separates, what the columns are, how numbers are written."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bridge.market.importer.columns import (
    KNOWN,
    MOMENTS,
    PRICES,
    QUOTES,
    SAID,
    columns_of_row,
    header_of,
    zone_of,
)
from bridge.market.importer.fault import Fault
from bridge.market.importer.stated import Stated

_LOOK_AT = 60
_LOOK_AT_BYTES = 1 << 16
_NUMBER = re.compile(r"[+-]?\d+([.,]\d*)?([eE][+-]?\d+)?$|[+-]?[.,]\d+$")
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$")
_TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?$")
_BOTH = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}[ T]\d|\d{8} \d{4,6}$|\d{9,19}$")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a text file is to be read.

    Attributes:
        delimiter: Between cells.
        names: What each column is; None for one that is not needed.
        header: The line that names the columns, as bytes; None for none.
        skip: Lines before the first bar.
        decimal: The decimal mark.
        ticks: Whether rows are ticks.
        zone: What the header says of the times' clock: ``utc``, ``local``, or None.
        left_out: Header cells of the columns that are not needed.
    """

    delimiter: str
    names: tuple[str | None, ...]
    header: bytes | None
    skip: int
    decimal: str
    ticks: bool
    zone: str | None = None
    left_out: tuple[str, ...] = ()


def layout_of(data: bytes, stated: Stated) -> Layout:
    """Return the layout of a text.

    Raises:
        Fault: It has no bars, or its columns can't be told; what to state is said.
    """
    lines = list(_first_lines(data, stated.skip_lines))
    if not lines:
        raise Fault("no bars: the file has no lines to read, export the bars again")
    delimiter = _delimiter([line for _, line in lines])
    rows = [_cells(line, delimiter) for _, line in lines]
    headed = _is_header(rows[0])
    names = _names(rows, stated, headed=headed)
    _check_names(names, rows[0])
    body = rows[1:] if headed else rows
    if not body:
        raise Fault("no bars: there is nothing below the header, export the bars again")
    return Layout(
        delimiter,
        names,
        header=lines[0][1].encode() if headed else None,
        skip=lines[0][0] + 1 if headed else lines[0][0],
        decimal=_decimal(body, names, delimiter),
        ticks="open" not in names,
        zone=zone_of(rows[0]) if headed else None,
        left_out=tuple(
            cell
            for cell, name in zip(rows[0], names, strict=False)
            if headed and name is None and cell
        ),
    )


def _first_lines(data: bytes, skip: int) -> Iterator[tuple[int, str]]:
    """Return the first lines that are not empty, each with its number from 0."""
    start = data[:_LOOK_AT_BYTES]
    if len(data) > len(start):
        start = start[: start.rfind(b"\n") + 1] or start
    found = 0
    for number, line in enumerate(start.decode(errors="replace").split("\n")):
        if number >= skip and line.strip():
            yield number, line.rstrip("\r")
            found += 1
            if found == _LOOK_AT:
                return


def _delimiter(lines: Sequence[str]) -> str:
    for mark in ("\t", ";", ","):
        if all(line.count(mark) >= 2 for line in lines[:2]):
            return mark
    raise Fault(
        f"the first line {_short(lines[0])} has not three cells separated by tabs, semicolons or "
        "commas: export the bars as CSV, or leave out what stands before them with --skip-lines"
    )


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        cells = next(csv.reader([line], delimiter=delimiter))
    except csv.Error:  # a stray control character; its line is named when cells are read
        cells = line.split(delimiter)
    return [cell.strip() for cell in cells]


def _is_header(cells: Sequence[str]) -> bool:
    """Whether a line names columns: of bars almost all cells are numbers."""
    words = [cell for cell in cells if cell and not _NUMBER.match(cell)]
    return len(words) > max(2, len([cell for cell in cells if cell]) // 2)


def _names(
    rows: Sequence[Sequence[str]], stated: Stated, *, headed: bool
) -> tuple[str | None, ...]:
    if stated.columns:
        return _stated_names(stated.columns, len(rows[0]))
    if headed:
        names = header_of(rows[0])
        if names is None:
            raise Fault(
                f"the header {_short(' '.join(rows[0]))} names no columns of bars: say what they "
                "are with --columns, as in --columns time,open,high,low,close,tick_volume",
            )
        return names
    # The first line may be damaged; then it is to be named, not the file refused as a whole.
    kinds = [_kinds(row) for row in rows[:5]]
    names = next((found for each in kinds if (found := columns_of_row(each))), None)
    if names is None:
        raise Fault(
            f"there is no header, and the line {_short(' '.join(rows[0]))} does not tell its "
            "columns: name them with --columns, as in --columns date,time,open,high,low,close,-"
        )
    return names


def _stated_names(columns: Sequence[str], count: int) -> tuple[str | None, ...]:
    if unknown := [name for name in columns if name != "-" and name not in KNOWN]:
        raise Fault(
            f"--columns names {unknown[0]!r}, which is no column of bars: use "
            f"{', '.join(KNOWN)}, or - for one to leave out"
        )
    if len(columns) > count:
        raise Fault(
            f"--columns names {len(columns)} columns, the first line has {count}: name them all, "
            "in the file's order"
        )
    names = [None if name == "-" else name for name in columns]
    plain = "real_volume" if "tick_volume" in names else "tick_volume"
    renamed = [plain if name == "volume" and "open" in names else name for name in names]
    return (*renamed, *(None for _ in range(count - len(columns))))


def _check_names(names: Sequence[str | None], first: Sequence[str]) -> None:
    needed = QUOTES[:2] if "bid" in names and "open" not in names else PRICES
    missing = [name for name in needed if name not in names]
    if not set(MOMENTS) & set(names):
        missing.insert(0, "time")
    if missing:
        raise Fault(
            f"there is no column {missing[0]} in {_short(' '.join(first))}: name the columns with "
            "--columns, as in --columns time,open,high,low,close,tick_volume"
        )


def _kinds(cells: Sequence[str]) -> str:
    def kind(cell: str) -> str:
        for letter, pattern in (("m", _BOTH), ("d", _DATE), ("t", _TIME), ("n", _NUMBER)):
            if pattern.match(cell):
                return letter
        return "?" if cell else "-"

    found = "".join(kind(cell) for cell in cells)
    # 20240102 170000: a date and a time without marks look like numbers.
    return f"d{found[1:]}" if re.match(r"n[tn]", found) and _is_date_number(cells[0]) else found


def _is_date_number(cell: str) -> bool:
    return bool(re.match(r"(19|20)\d{2}(0[1-9]|1[0-2])[0-3]\d$", cell))


def _decimal(rows: Sequence[Sequence[str]], names: Sequence[str | None], delimiter: str) -> str:
    wanted = [number for number, name in enumerate(names) if name and name not in (*MOMENTS, *SAID)]
    cells = [row[number] for row in rows for number in wanted if number < len(row)]
    marks = {mark for mark in ".," for cell in cells if mark in cell and _NUMBER.match(cell)}
    if len(marks) == 2:
        raise Fault(
            "some numbers have a decimal point and others a decimal comma: two exports in one "
            "file; export the bars again"
        )
    return "," if marks == {","} and delimiter != "," else "."


def _short(text: str) -> str:
    return repr(text if len(text) <= 70 else text[:67] + "...")
