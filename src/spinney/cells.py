"""What the cells of a text file mean.

In:  a column of text cells, as the porch read it.
Out: the same column as integers, decimal numbers, dates or text, with the missing cells missing.
pyarrow would guess types itself, but it drops the zeros of 007, reads 0x1F as 31 and does not hand the text back;
reading text and casting it here is no slower."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

# A cell with one of these, spaces around it or not, is missing, unless the user declared the text as a level.
MISSING_TEXTS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")

NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_DATE = r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?\s*$"
_HEAD = 1000  # rows that may show at once that a column is text


def as_found(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers if all cells are, else dates if all are, else text. A cell such as 007 is a code, so text."""
    if len(column) > _HEAD and pa.types.is_string(as_found(column.slice(0, _HEAD)).type):
        return as_text(column, ())  # one cell that is neither number nor date decides
    tidied = column
    numbers = _cast(column)
    if numbers is None:
        column = as_text(column, ())
        tidied = _tidied(column)
        numbers = _cast(tidied)
    if numbers is None:
        dates = as_dates(tidied)
        return column if dates is None else dates
    return as_text(column, ()) if _has_leading_zero(tidied) else numbers


def as_text(column: pa.ChunkedArray, levels: Collection[str]) -> pa.ChunkedArray:
    """The text exactly as in the file; missing where it says so and is not one of the levels declared."""
    missing = pc.is_in(pc.utf8_trim_whitespace(column), value_set=pa.array(MISSING_TEXTS, pa.string()))
    if levels:
        missing = pc.and_not(missing, pc.is_in(column, value_set=pa.array(list(levels), pa.string())))
    return pc.if_else(missing, pa.scalar(None, pa.string()), column) if pc.any(missing).as_py() else column


def as_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """int64 or float64, or None if a cell is not a number."""
    numbers = _cast(column)
    return _cast(_tidied(column)) if numbers is None else numbers


def _cast(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    try:
        return pc.cast(column, pa.int64())
    except pa.ArrowInvalid:
        if pc.any(pc.starts_with(column, "+")).as_py():
            return None  # Arrow reads +1 as a decimal only; tidied first, it is an integer
    try:
        numbers = pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return None
    return None if pc.any(pc.is_nan(numbers)).as_py() else numbers  # nan is a missing cell's text, not a number's


def _tidied(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(pc.utf8_trim_whitespace(column), r"^\+([0-9.])", r"\1")


def _has_leading_zero(column: pa.ChunkedArray) -> bool:
    # Two cheap looks spare the pattern most of the cells.
    longer = pc.and_(pc.starts_with(column, "0"), pc.greater(pc.binary_length(column), 1))
    return bool(pc.any(pc.match_substring_regex(column.filter(longer), "^0[0-9xX]")).as_py())


def as_dates(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    if column.null_count == len(column) or not pc.all(pc.match_substring_regex(column, _DATE)).as_py():
        return None
    try:
        return pc.cast(column, pa.timestamp("us"))
    except pa.ArrowInvalid:  # the 31st of February
        return None
