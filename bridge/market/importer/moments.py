"""Times as programs write them.

A history repeats few different dates and times of day; each is looked at once, exactly, and
whole columns are made of the results.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.market.importer.fault import Fault
from bridge.market.importer.stated import DateOrder
from bridge.market.store.arrow import library

Ints = NDArray[np.int64]

_DAY_MS = 86_400_000
_DATE = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})$")
_DATE_NUMBER = re.compile(r"(\d{4})(\d{2})(\d{2})$")
_TIME = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(?P<half>[AaPp][Mm])?\s*"
    r"(?P<zone>Z|(?:GMT|UTC)?\s?[+-]\d{1,2}:?(?:\d{2})?|GMT|UTC)?$"
)
_TIME_NUMBER = re.compile(r"(\d{2})(\d{2})(\d{2})?(\d{3})?$")
_ZONE = re.compile(r"(?:GMT|UTC)?\s?([+-])(\d{1,2}):?(\d{2})?$")
# Epoch numbers by their size: the unit that puts them between 1970 and 5138.
_UNITS = ((10**11, 1_000, 1), (10**14, 1, 1), (10**17, 1, 1_000), (2**63, 1, 1_000_000))


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Times of the rows, as they are written.

    Attributes:
        ms: What the labels say, milliseconds since 1970 as if they were UTC; shape ``(n,)``.
        offsets: Milliseconds that each label is ahead of UTC, where it says; shape ``(n,)``.
    """

    ms: Ints
    offsets: Ints | None = None


def of_text(dates: Any, times: Any, order: DateOrder | None) -> Moments:
    """Return the moments of text columns.

    Args:
        dates: Column of dates; None when ``times`` holds both.
        times: Column of times of day, or of both, or of epoch numbers; None for days only.
        order: Of dates that end with the year.

    Raises:
        Fault: A cell is none, formats are mixed, or day and month can't be told apart.
    """
    if dates is None:
        if _is_epoch(times):
            return Moments(_epoch(times))
        dates, times = _parted(times)
    elif times is not None and _holds_both(times):
        return of_text(None, times, order)
    days = _days(dates, order)
    if times is None:
        return Moments(days * _DAY_MS)
    of_day, offsets = _times(times)
    return Moments(days * _DAY_MS + of_day, offsets)


def of_epoch(numbers: Ints) -> Ints:
    """Return epoch numbers of any unit as milliseconds.

    Raises:
        Fault: They are of two units, or of none.
    """
    low, high = int(np.abs(numbers).min()), int(np.abs(numbers).max())
    for limit, times, part in _UNITS:
        if high < limit:
            if low < limit // 1_000 and limit > _UNITS[0][0]:
                row = int(np.argmin(np.abs(numbers)))
                raise Fault(f"the time {numbers[row]} is of another unit than the others", row)
            return numbers * times // part
    row = int(np.argmax(np.abs(numbers)))
    raise Fault(f"the time {numbers[row]} is no number of seconds or parts of them", row)


def _is_epoch(cells: Any) -> bool:
    first = str(cells[0].as_py() or "").strip()
    return bool(re.match(r"-?\d{1,19}(\.\d+)?$", first)) and not _DATE_NUMBER.match(first)


def _holds_both(cells: Any) -> bool:
    first = str(cells[0].as_py() or "").strip()
    return bool(re.match(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{9,19}$", first))


def _epoch(cells: Any) -> Ints:
    compute, arrow = library("compute"), library("")
    text = _plain(cells)
    try:
        return of_epoch(compute.cast(text, arrow.int64()).to_numpy(zero_copy_only=False))
    except (arrow.lib.ArrowInvalid, ValueError):
        pass  # a fraction, or no number
    numbers = np.array([_epoch_number(cell) for cell in text.to_pylist()])
    if (wrong := ~(np.abs(numbers) < _UNITS[-1][0])).any():
        row = int(np.argmax(wrong))
        raise Fault(f"{text[row].as_py() or ''!r} is no epoch time, as the others are", row)
    return of_epoch(numbers.astype(np.int64))


def _epoch_number(cell: str | None) -> float:
    written = (cell or "").strip()
    return float(written) if re.match(r"-?\d{1,19}(\.\d*)?$", written) else np.nan


def _plain(cells: Any) -> Any:
    """Return a column as one array of strings."""
    arrow = library("")
    array = cells.combine_chunks() if isinstance(cells, arrow.ChunkedArray) else cells
    if isinstance(array, arrow.ChunkedArray):
        array = arrow.concat_arrays(array.chunks) if array.num_chunks else arrow.array([], "string")
    return array.cast(arrow.string()) if arrow.types.is_dictionary(array.type) else array


def _parted(cells: Any) -> tuple[Any, Any]:
    """Return the dates and the times of day of one column; no times where it has days only."""
    compute = library("compute")
    text = _plain(cells)
    places = compute.find_substring_regex(text, "[ T]")
    ends = compute.min_max(places).as_py()
    if ends["min"] is None or ends["max"] == -1:
        return text, None
    if ends["min"] == ends["max"] and not text.null_count:
        place = ends["min"]
        return (
            compute.utf8_slice_codeunits(text, 0, place),
            compute.utf8_slice_codeunits(text, place + 1),
        )
    parts = compute.extract_regex(text, r"^(?P<d>[^ T]*)[ T]?(?P<t>.*)$")
    return compute.struct_field(parts, "d"), compute.struct_field(parts, "t")


def _unique(cells: Any) -> tuple[list[Any], Ints]:
    """Return the different values of a column, and for each row which it has."""
    arrow, compute = library(""), library("compute")
    array = cells.combine_chunks() if isinstance(cells, arrow.ChunkedArray) else cells
    if isinstance(array, arrow.ChunkedArray):
        array = _plain(array)
    if not arrow.types.is_dictionary(array.type):
        array = compute.dictionary_encode(array, null_encoding="encode")
    indices = array.indices
    if indices.null_count:
        raise Fault("the time is missing", int(np.argmax(indices.is_null().to_numpy(False))))
    return array.dictionary.to_pylist(), indices.to_numpy().astype(np.int64)


def _each(cells: Any, look: Callable[[str], Any], what: str) -> tuple[list[Any], Ints, list[str]]:
    """Look at each different cell; a cell that is none is a fault of its first row."""
    values, which = _unique(cells)
    found = []
    for number, value in enumerate(values):
        seen = look(str(value or "").strip())
        if seen is None:
            raise Fault(f"{value or ''!r} is no {what}", int(np.argmax(which == number)))
        found.append(seen)
    return found, which, [str(value) for value in values]


def _days(cells: Any, order: DateOrder | None) -> Ints:
    parts, which, written = _each(cells, _date_parts, "date")
    kinds = {kind for kind, _ in parts}
    if len(kinds) > 1:
        other = next(n for n, (kind, _) in enumerate(parts) if kind != parts[0][0])
        raise Fault(
            f"the date {written[other]} is written otherwise than {written[0]}: two exports in one "
            "file; export the bars again",
            int(np.argmax(which == other)),
        )
    if parts and parts[0][0][1] == "last":
        numbers = _ordered([numbers for _, numbers in parts], order, written, which)
    else:
        numbers = [each for _, each in parts]
    days = []
    for number, (year, month, day) in enumerate(numbers):
        try:
            days.append(date(year, month, day).toordinal() - _EPOCH)
        except ValueError:
            row = int(np.argmax(which == number))
            raise Fault(f"{written[number]!r} is no date that there is", row) from None
    return np.array(days, dtype=np.int64)[which]


_EPOCH = date(1970, 1, 1).toordinal()
_Numbers = tuple[int, int, int]


def _date_parts(written: str) -> tuple[tuple[str, str], _Numbers] | None:
    """Return how a date is written, and its three numbers."""
    if found := _DATE_NUMBER.match(written):
        return ("", "first"), (int(found[1]), int(found[2]), int(found[3]))
    found = _DATE.match(written)
    if not found or (len(found[1]) == 4) == (len(found[4]) == 4):
        return None
    where = "first" if len(found[1]) == 4 else "last"
    return (found[2], where), (int(found[1]), int(found[3]), int(found[4]))


def _ordered(
    parts: Sequence[_Numbers], order: DateOrder | None, written: Sequence[str], which: Ints
) -> list[_Numbers]:
    """Return year, month and day of dates that end with the year."""
    can_be = {
        DateOrder.DAY_FIRST: all(month <= 12 for _, month, _ in parts),
        DateOrder.MONTH_FIRST: all(month <= 12 for month, _, _ in parts),
    }
    able = [each for each in DateOrder if can_be[each]]
    if order is None and len(able) == 2:
        raise Fault(
            f"whether {written[0]} is day or month first can't be told, no day is above 12: say "
            "--date-order dmy or --date-order mdy",
            0,
        )
    chosen = order or (able[0] if able else DateOrder.DAY_FIRST)
    if not can_be[chosen]:
        place = 1 if chosen is DateOrder.DAY_FIRST else 0
        bad = next(number for number, each in enumerate(parts) if each[place] > 12)
        row = int(np.argmax(which == bad))
        said = "" if order is None else f", and --date-order says {chosen.value}"
        raise Fault(f"the date {written[bad]} has no month {parts[bad][place]}{said}", row)
    if chosen is DateOrder.DAY_FIRST:
        return [(year, month, day) for day, month, year in parts]
    return [(year, month, day) for month, day, year in parts]


def _times(cells: Any) -> tuple[Ints, Ints | None]:
    found, which, written = _each(cells, _time_parts, "time of day")
    zoned = [offset is not None for _, offset in found]
    if any(zoned) and not all(zoned):
        other = zoned.index(not zoned[0])
        raise Fault(
            f"the time {written[other]} and the time {written[0]} differ in saying a zone: two "
            "exports in one file; export the bars again",
            int(np.argmax(which == other)),
        )
    of_day = np.array([ms for ms, _ in found], dtype=np.int64)[which]
    if not found or found[0][1] is None:
        return of_day, None
    return of_day, np.array([offset for _, offset in found], dtype=np.int64)[which]


def _time_parts(written: str) -> tuple[int, int | None] | None:
    """Return the milliseconds of a day, and those that the zone is ahead of UTC."""
    found = _TIME.match(written)
    if found is None:
        number = _TIME_NUMBER.match(written)
        if number is None:
            return None
        hour, minute, second, ms = (int(each or 0) for each in number.groups())
        return _ms(hour, minute, second, ms), None
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return _ms(hour, minute, second, int((found[4] or "")[:3].ljust(3, "0"))), _offset(
        found["zone"]
    )


def _ms(hour: int, minute: int, second: int, ms: int) -> int:
    return ((hour * 60 + minute) * 60 + second) * 1_000 + ms


def _offset(zone: str | None) -> int | None:
    if zone is None:
        return None
    found = _ZONE.match(zone)
    if not found:
        return 0  # Z, GMT, UTC
    ms = (int(found[2]) * 60 + int(found[3] or 0)) * 60_000
    return -ms if found[1] == "-" else ms


def text_ms(ms: int) -> str:
    """Return milliseconds as the terminal writes times."""
    return datetime.fromtimestamp(ms // 1_000, UTC).strftime("%Y.%m.%d %H:%M:%S")
