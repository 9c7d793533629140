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

_PIECE = 1 << 20  # bytes that are looked at together: what is worked on then stays in the cache

Bytes = npt.NDArray[np.uint8]


def line_ends_in_cells(data: bytes, delimiter: str, width: int, label: str) -> tuple[bool, list[str]]:
    """Whether quoted cells hold line ends, and the note about them. `width`: cells in a row."""
    if data.find(_QUOTE) < 0:
        return False, []
    cells, doubtful = _regular_cells(data, delimiter)
    if doubtful is not None:
        cells = {start for start in cells if start < doubtful} | _careful(data, doubtful, delimiter, label)
    if not cells:
        return False, []
    first = many = 0
    end = -1
    for start in sorted(cells):
        if start < end:
            continue  # a doubled quote of the cell before
        start = _opening(data, start)
        end = _closing(data, start)
        first, many = first or start, many + 1
        if _looks_like_rows(data[start + 1 : end], delimiter, width):
            raise _unclosed(data, start, label)
    hold = "1 cell holds" if many == 1 else f"{many:,} cells hold"
    return True, [f"{hold} line ends inside quotes (the first opens in line {line_of(data, first)})"]


def lines_are_whole(data: bytes, delimiter: str) -> bool:
    """Whether every quote opens or closes a cell of one line, or is one of two in it, as far as can be seen at once."""
    return data.find(_QUOTE) < 0 or _regular_cells(data, delimiter) == (set(), None)


def _regular_cells(data: bytes, delimiter: str) -> tuple[set[int], int | None]:
    """Where cells with line ends open, or a doubled quote in them stands; and from where on to look more carefully.

    In a regular file every second quote opens a cell or doubles the one before it: what stands before it is a
    delimiter, a line end or a quote, and so is what stands after the others. The place is outside of cells, or the
    quote that opens one."""
    array = np.frombuffer(data, np.uint8)
    near = np.zeros(256, dtype=bool)
    near[list(b'"\n\r' + delimiter.encode())] = True
    line_end = _LINE if data.find(_LINE) >= 0 else _RETURN
    cells: set[int] = set()
    inside, opened = False, 0  # at the beginning of the piece: is it in a cell, and where did that open
    for begin in range(0, len(array), _PIECE):
        piece = array[begin : begin + _PIECE]
        quotes = np.flatnonzero(piece == _QUOTE[0]) + begin
        opening, closing = quotes[int(inside) :: 2], quotes[1 - int(inside) :: 2]
        before, after = array[np.maximum(opening, 1) - 1], array[np.minimum(closing, len(array) - 2) + 1]
        regular = (near[before] | (opening == 0)).all() and (near[after] | (closing == len(array) - 1)).all()
        if not regular:
            split = data[begin : begin + 1] == _QUOTE  # it may be the second of two
            return cells, _opening(data, opened if inside else begin) if inside or split else begin
        ends = np.flatnonzero(piece == line_end[0]) + begin
        passed = np.searchsorted(quotes, ends) + int(inside)  # quotes before it, the open one included
        opens = np.concatenate([[opened], quotes]) if inside else quotes
        cells.update(opens[passed[passed % 2 == 1] - 1].tolist())
        if len(quotes) % 2:
            inside = not inside
        if inside and len(quotes):
            opened = int(quotes[-1])
    return cells, _opening(data, opened) if inside else None


def _careful(data: bytes, place: int, delimiter: str, label: str) -> set[int]:
    """The same from here on, one quote after another: those in a cell that does not open with one are text."""
    opens, mark = ("\n", "\r", delimiter), delimiter.encode()
    cells = set()
    start = data.find(_QUOTE, place)
    while start >= 0:
        if start and chr(data[start - 1]) not in opens:
            start = data.find(_QUOTE, start + 1)
            continue
        close = _closing(data, start)
        if close < 0:
            raise _unclosed(data, start, label)
        lines = data.find(_LINE, start, close) >= 0 or data.find(_RETURN, start, close) >= 0
        rest = data[close + 1 : close + 81].lstrip(b" ")[:1]
        if rest and rest.decode("latin-1") not in opens and (lines or data.find(mark, start, close) >= 0):
            raise _unclosed(data, start, label)
        if lines:
            cells.add(start)
        start = data.find(_QUOTE, close + 1)
    return cells


def _opening(data: bytes, place: int) -> int:
    """The quote that opens the cell in which this quote opens it or is the second of two."""
    while place and data[place - 1 : place] == _QUOTE:
        place = data.rfind(_QUOTE, 0, place - 1)
    return place


def _closing(data: bytes, start: int) -> int:
    """The quote that closes the cell which opens here, or -1; two quotes are one in the text."""
    place = data.find(_QUOTE, start + 1)
    while place >= 0 and data[place + 1 : place + 2] == _QUOTE:
        place = data.find(_QUOTE, place + 2)
    return place


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
