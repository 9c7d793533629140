"""What the cells of a column of text mean.

In:  a column of text cells, as the file or the frame has them.
Out: the same column as integers, decimal numbers, dates or text, with the missing cells missing; a reason and notes.
pyarrow would guess types itself, but it drops the zeros of 007, reads 0x1F as 31 and does not hand the text back;
reading text and casting it here is no slower. What is neither plain numbers nor ISO dates is read in messy.py."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spinney.packed import Cells, distinct, per_value

# A cell with one of these, spaces around it or not, is missing, unless the user declared the text as a level.
MISSING_TEXTS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "#N/A", "<NA>", "NaT")

NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_TIME = r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?"
_DATE = rf"^\s*[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{_TIME}\s*$"
_ZONED = r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})\s*$"
_THOUSANDS_BY_POINT = r"^[+-]?[0-9]{1,3}(\.[0-9]{3})+$"
_HEAD = 1000  # rows that may show at once that a column is text


@dataclass(frozen=True)
class Found:
    """A column as it was understood; the reason where the type alone does not say it."""

    column: Cells
    reason: str | None = None
    notes: tuple[str, ...] = ()


def as_plain(column: Cells) -> Cells | None:
    """Numbers if all cells are, else ISO dates if all are, else None. A cell such as 007 is a code, so text.

    Missing cells may be null already, or one of the missing texts."""
    if len(column) > _HEAD and as_plain(column.slice(0, _HEAD)) is None:
        return None  # one cell that is neither number nor date decides
    plain: Cells | None = _all_plain(column)
    return plain


@per_value
def _all_plain(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    tidied = column
    numbers = _cast(column)
    if numbers is None:
        column = as_text(column, ())
        tidied = _tidied(column)
        numbers = _cast(tidied)
    if numbers is None:
        return as_dates(tidied)
    return None if _has_leading_zero(tidied) or _beyond_integers(tidied, numbers) else numbers


def thousands_by_point(column: Cells) -> bool:
    """Whether every point in the column may separate thousands, and one does."""
    tidied = _tidied(as_text(distinct(column), ()))
    pointed = tidied.filter(pc.match_substring(tidied, "."))
    return len(pointed) > 0 and bool(pc.all(pc.match_substring_regex(pointed, _THOUSANDS_BY_POINT)).as_py())


@per_value
def as_text(column: pa.ChunkedArray, levels: Collection[str]) -> pa.ChunkedArray:
    """The text exactly as in the file; missing where it says so and is not one of the levels declared."""
    missing = pc.is_in(pc.utf8_trim_whitespace(column), value_set=pa.array(MISSING_TEXTS, column.type))
    if levels:
        missing = pc.and_not(missing, pc.is_in(column, value_set=pa.array(list(levels), column.type)))
    return pc.if_else(missing, pa.scalar(None, column.type), column) if pc.any(missing).as_py() else column


@per_value
def as_float(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Decimal numbers, however many digits and zeros they begin with, or None if a cell is none."""
    tidied = _tidied(column)
    if not pc.all(pc.match_substring_regex(tidied, NUMBER)).as_py():
        return None
    return pc.cast(tidied, pa.float64())


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


def _beyond_integers(column: pa.ChunkedArray, numbers: pa.ChunkedArray) -> bool:
    """Integers that int64 does not hold: as decimals, different ones would be the same."""
    if not pa.types.is_floating(numbers.type) or len(numbers) == numbers.null_count:
        return False
    if pc.max(pc.abs(numbers)).as_py() < 2.0**63:
        return False
    return bool(pc.all(pc.match_substring_regex(column, r"^-?[0-9]+$")).as_py())


def as_dates(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """ISO dates, with times and zones or not, as a timestamp."""
    if column.null_count == len(column):
        return None
    for pattern, kind in ((_DATE, pa.timestamp("us")), (_ZONED, pa.timestamp("us", "UTC"))):
        if pc.all(pc.match_substring_regex(column, pattern)).as_py():
            try:
                return pc.cast(column, kind)
            except pa.ArrowInvalid:  # the 31st of February
                return None
    return None


@per_value
def days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates as days since 1970-01-01, times of day and durations as days.

    In the column's own unit, which holds every date that it has; float64 alone would round beyond 2^53 of them."""
    kind = column.type
    if pa.types.is_date32(kind):
        return pc.cast(pc.cast(column, pa.int32()), pa.float64())
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    per_day = 86_400 * {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}[unit]
    whole = pc.cast(column, pa.int32() if pa.types.is_time32(kind) else pa.int64())
    missing = np.asarray(pc.is_null(whole).to_numpy())
    counted = np.asarray(pc.fill_null(whole, 0).to_numpy()).astype(np.int64)
    values = (counted // per_day).astype(np.float64) + (counted % per_day) / per_day
    return pa.chunked_array([pa.array(values, mask=missing)])
