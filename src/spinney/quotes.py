"""Quotes in a text table: where a cell that opens with a quote ends.

In:  the bytes of the table (UTF-8) and its delimiter.
Out: whether cells hold line ends, and a note on them; or one sentence, for a quote that is never closed.
A parser takes everything after such a quote for one cell, so rows would disappear without a word. The rule: a quoted
cell ends with a quote before a delimiter, a line end or the end of the file. A cell that goes
beyond a delimiter or a line end is refused if its closing quote has other text after it, or if there is none, and one
over several lines if these look like rows of the table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spinney.errors import FileFormatError
from spinney.text_bytes import line_of

_QUOTE, _LINE, _RETURN = b'"', b"\n", b"\r"
_LIKE_ROWS = 0.9  # the share of lines in a cell, with the cells of a row, that makes it rows that were swallowed
_LINES_TO_JUDGE = 3  # whole lines in one cell; fewer do not show what they are
_MANY_LINES = 1_000  # in one cell of a table of one column, whose lines cannot be told from rows

Positions = npt.NDArray[np.int64]


def line_ends_in_cells(data: bytes, delimiter: str, width: int, label: str) -> tuple[bool, list[str]]:
    """Whether quoted cells hold line ends, and the note about them. `width`: cells in a row."""
    if data.find(_QUOTE) < 0:
        return False, []
    array = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(array == _QUOTE[0])
    trouble = _first_irregular(array, quotes, delimiter)
    if trouble is None:
        starts, ends, counts = _long_cells(array, quotes)
    else:
        starts, ends, counts = _careful(data, quotes, trouble, delimiter, label)
    if len(starts) == 0:
        return False, []
    for start, end, lines in zip(starts, ends, counts, strict=True):
        if lines > _LINES_TO_JUDGE and _looks_like_rows(data[start + 1 : end], delimiter, width):
            raise _unclosed(data, start, label)
    first = line_of(data, starts[0])
    cells = "1 cell holds" if len(starts) == 1 else f"{len(starts):,} cells hold"
    return True, [f"{cells} line ends inside quotes (the first opens in line {first})"]


def _first_irregular(array: npt.NDArray[np.uint8], quotes: Positions, delimiter: str) -> int | None:
    """The number of the first quote that neither opens nor closes a cell nor doubles another; None if all do.

    In a regular file every second quote opens: what stands before it is a delimiter, a line end or the quote it
    doubles, and what stands after the others likewise."""
    near = np.zeros(256, dtype=bool)
    near[list(b'"\n\r' + delimiter.encode())] = True
    before = np.ones(len(quotes), dtype=bool)
    inner = quotes > 0
    before[inner] = near[array[quotes[inner] - 1]]
    after = np.ones(len(quotes), dtype=bool)
    inner = quotes < len(array) - 1
    after[inner] = near[array[quotes[inner] + 1]]
    regular = after
    regular[0::2] = before[0::2]
    if len(quotes) % 2:
        regular[-1] = False
    return None if regular.all() else int(regular.argmin())


def _long_cells(array: npt.NDArray[np.uint8], quotes: Positions) -> tuple[list[int], list[int], list[int]]:
    """Where cells with line ends begin and end, and how many they hold. REQUIRES: the quotes are regular."""
    ends = np.flatnonzero(array == _LINE[0])
    if len(ends) == 0:
        ends = np.flatnonzero(array == _RETURN[0])
    behind = np.searchsorted(quotes, ends)
    cells, counts = np.unique(behind[behind % 2 == 1], return_counts=True)
    return quotes[cells - 1].tolist(), quotes[cells].tolist(), counts.tolist()


def _careful(
    data: bytes, quotes: Positions, trouble: int, delimiter: str, label: str
) -> tuple[list[int], list[int], list[int]]:
    """The same one quote after another: quotes inside a cell that does not open with one are text."""
    opens, mark = ("\n", "\r", delimiter), delimiter.encode()
    starts: list[int] = []
    ends: list[int] = []
    counts: list[int] = []
    begin = trouble - trouble % 2
    while begin and quotes[begin] == quotes[begin - 1] + 1:
        begin -= 2  # from the quote that opens the cell, not from a doubled one in it
    if begin:
        regular = quotes[:begin]
        starts, ends, counts = _long_cells(np.frombuffer(data, np.uint8)[: regular[-1] + 1], regular)
    places = quotes.tolist()
    at = begin
    while at < len(places):
        place = places[at]
        if place and chr(data[place - 1]) not in opens:
            at += 1
            continue
        at += 1
        while at + 1 < len(places) and places[at + 1] == places[at] + 1:
            at += 2  # a doubled quote is one in the text
        if at >= len(places):
            raise _unclosed(data, place, label)
        close = places[at]
        lines = data.count(_LINE, place, close) or data.count(_RETURN, place, close)
        rest = data[close + 1 : close + 81].lstrip(b" ")[:1]
        if rest and rest.decode("latin-1") not in opens and (lines or data.find(mark, place, close) >= 0):
            raise _unclosed(data, place, label)
        if lines:
            starts.append(place)
            ends.append(close)
            counts.append(lines)
        at += 1
    return starts, ends, counts


def _looks_like_rows(inside: bytes, delimiter: str, width: int) -> bool:
    lines = inside.splitlines()[1:-1]  # the first and the last are parts of lines
    if width == 1:
        return len(lines) > _MANY_LINES
    mark = delimiter.encode()
    alike = sum(line.count(mark) == width - 1 for line in lines)
    return len(lines) >= _LINES_TO_JUDGE and alike >= _LIKE_ROWS * len(lines)


def _unclosed(data: bytes, position: int, label: str) -> FileFormatError:
    return FileFormatError(
        f"{label}, line {line_of(data, position)}: the quote that opens a cell here is not closed; close it, or write "
        'two quotes ("") for one that belongs to the text'
    )
