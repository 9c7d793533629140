"""Where a table begins, in a text file or a sheet as people write it.

In:  the first records: lists of cells.
Out: the number of cells in a row, and which record is the header. Lines of a title above it are skipped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_MANY_CELLS = 5  # in a row, from which on a line with two cells ("Date:", "1 May") may be part of a title
_NUMBER = re.compile(r"\s*[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?\s*")

Record = Sequence[str]


@dataclass(frozen=True)
class Header:
    record: int  # its place among the records
    names: tuple[str, ...]
    skipped: int  # records above it that hold text


def usual_width(records: Sequence[Record]) -> tuple[int, float]:
    """How many cells most records have, and the share of records that have so many. Empty ones do not count."""
    widths = Counter(len(record) for record in records if filled(record))
    if not widths:
        return 0, 0.0
    width, times = widths.most_common(1)[0]
    return width, times / widths.total()


def filled(record: Record) -> int:
    return sum(1 for cell in record if cell.strip())


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def find_header(records: Sequence[Record]) -> Header | None:
    """The header is the first record with text, unless that is a title; None if no record holds anything."""
    width, _ = usual_width(records)
    there = [place for place, record in enumerate(records) if filled(record)]
    if not there:
        return None
    if not _has_row_names(records, there, width):
        titles = 0
        while titles < len(there) - 1 and _may_be_title(records[there[titles]], width):
            titles += 1
        if titles and _may_be_header(records, there[: titles + 1], width):
            below = there[titles:]
            return Header(below[0], _names(records, below, width), titles)
    return Header(there[0], _names(records, there, width), 0)


def _may_be_title(record: Record, width: int) -> bool:
    """A line with one cell where rows have several; or that holds a cell or two and delimiters only."""
    if width < 2 or not record[0].strip():
        return False
    few = 2 if width >= _MANY_CELLS else 1
    return len(record) == 1 or filled(record) <= few or (record[0].startswith("#") and len(record) != width)


def _may_be_header(records: Sequence[Record], there: Sequence[int], width: int) -> bool:
    """Does the record below the titles name columns? A number is seldom a name; below a plain line it may be a year."""
    *titles, header = (records[place] for place in there)
    numbers = sum(is_number(cell) for cell in header)
    plain = all(len(title) == 1 or title[0].startswith("#") for title in titles)
    names = numbers < len(header) if plain else numbers == 0
    return names and len(header) in (width, width - 1) and filled(header) > max(filled(title) for title in titles)


def _has_row_names(records: Sequence[Record], there: Sequence[int], width: int) -> bool:
    """R leaves the numbers of the rows without a name, so its header is one cell short."""
    rows = [records[place] for place in there[1:]]
    numbered = all(len(row) == width and row[0].strip() == str(number) for number, row in enumerate(rows, 1))
    return len(records[there[0]]) == width - 1 and bool(rows) and numbered


def _names(records: Sequence[Record], there: Sequence[int], width: int) -> tuple[str, ...]:
    names = tuple(records[there[0]])
    if _has_row_names(records, there, width):
        return ("", *names)
    rows = [records[place] for place in there[1:]]
    if len(names) == width - 1 and rows and all(len(row) < width or not row[-1].strip() for row in rows):
        return (*names, "")  # every row ends with a delimiter
    return names
