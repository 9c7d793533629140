"""From cells to numbers, column by column.

In:  an Arrow column, the kind the user declared for it, if any, and the decimal mark of the file.
Out: an Encoded column: codes into its texts, or values; what is missing; what had to be assumed.
Two steps, because rows with missing cells may leave in between: encode() here, settle() decides the kind."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spinney import cells, messy
from spinney.cells import Found
from spinney.errors import DataError, way
from spinney.kinds import Categorical, Continuous, Kind, Ordinal, level_text
from spinney.packed import Cells, Packed, distinct, how_many, small_codes, spread

_YEAR_9000 = 2_567_722  # days from 1970-01-01 to 9000-01-01
_FAR_MARKERS = (-99.0, 99.0, -999.0, 999.0, -9999.0, 9999.0, -99999.0, 99999.0)

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Encoded:
    """A column as numbers: codes into `texts` (-1: missing), or, where texts is None, the values themselves.

    Both in the smallest type that holds them, where that spares memory."""

    source: str  # text, true or false, categories, ordered categories, integers, numbers
    values: npt.NDArray[np.generic]
    missing: npt.NDArray[np.bool_] | None = None
    texts: tuple[str, ...] | None = None
    reason: str | None = None  # where the source does not say it: dates, percentages, a unit
    notes: tuple[str, ...] = ()

    @property
    def discrete(self) -> bool:
        return self.texts is not None

    def present(self) -> npt.NDArray[np.generic]:
        """The cells that are there."""
        return self.values if self.missing is None else self.values[~self.missing]

    def keep(self, rows: npt.NDArray[np.int64], with_holes: bool = False) -> Encoded:
        """Only these rows. REQUIRES: none of them is missing here, unless with_holes."""
        missing = self.missing[rows] if with_holes and self.missing is not None else None
        if missing is not None and not missing.any():
            missing = None
        return replace(self, values=self.values[rows], missing=missing)


@dataclass(frozen=True)
class Column:
    """A column with its kind settled: codes if the kind is discrete, values in the user's units if not."""

    kind: Kind
    reason: str
    data: npt.NDArray[np.generic]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rows:
    """Where the rows that are left stood in the user's table, for the messages."""

    kept: npt.NDArray[np.int64] | None = None

    def number(self, position: int) -> int:
        return 1 + (position if self.kept is None else int(self.kept[position]))


class Unusable(DataError):
    """Cells that are not one number or text each."""


def encode(name: str, column: Cells, declared: Kind | None, text_file: bool, decimal: str | None = None) -> Encoded:
    """Cells to numbers. `text_file`: the cells are text as it stands in a file, and numbers among them are numbers."""
    if pa.types.is_dictionary(column.type):
        if not isinstance(declared, Continuous):
            return _encode_categories(name, column)
        column = pc.cast(_expanded(column), column.type.value_type)
    _refuse_type(name, column.type)
    if pa.types.is_null(column.type):
        column = pc.cast(column, pa.string())
    if pa.types.is_string_view(column.type):
        column = pc.cast(column, pa.large_string())
    found = Found(column)
    if _is_text(column.type):
        found = _read_text(name, column, declared, text_file, decimal)
    if isinstance(declared, (Categorical, Ordinal)):
        return _encode_levels(name, found.column)
    encoded = _encode_found(name, found, isinstance(declared, Continuous))
    encoded = replace(encoded, reason=found.reason or encoded.reason, notes=(*found.notes, *encoded.notes))
    if (encoded.reason or "").startswith("dates"):
        return _far_dates(name, encoded)
    return _far_markers(name, encoded) if encoded.source in ("integers", "numbers") else encoded


def _encode_found(name: str, found: Found, measured: bool) -> Encoded:
    column = found.column
    if _is_time(column.type):
        numbers = replace(_encode_numbers(name, cells.days(column)), reason=_time_reason(column.type))
        return replace(numbers, source="numbers")
    if pa.types.is_boolean(column.type) and measured:
        column = pc.cast(_expanded(column), pa.float64())
    if _is_text(column.type) or pa.types.is_boolean(column.type):
        return _encode_levels(name, column)
    return _encode_numbers(name, column)


def _expanded(column: Cells) -> pa.ChunkedArray:
    return column.expanded() if isinstance(column, Packed) else column


def _far_dates(name: str, column: Encoded) -> Encoded:
    """9999-12-31 stands for "no end" in many tables: it is a date like any other here, which is said."""
    far = int((column.present().astype(np.float64) >= _YEAR_9000).sum())
    hold = "1 cell holds" if far == 1 else f"{far:,} cells hold"
    note = f"column {name!r}: {hold} a date of the year 9000 or later, taken as it stands"
    return replace(column, notes=(*column.notes, note)) if far else column


def _far_markers(name: str, column: Encoded) -> Encoded:
    """-999 and the like stand for missing in many tables. Where they lie farther from the others than these from one
    another, that is said; they are numbers all the same."""
    values = column.present()
    notes = []
    lowest, highest = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    for marker in _FAR_MARKERS:
        if not lowest <= marker <= highest:
            continue
        here = values == marker
        if here.sum() < 2:
            continue
        others = values[~here]
        if len(np.unique(others)) <= messy.FEW:  # few different integers are categories
            continue
        low, high = float(others.min()), float(others.max())
        if max(low - marker, marker - high) > max(high - low, 1.0):
            notes.append(
                f"column {name!r}: {int(here.sum()):,} cells are {marker:g}, far from all others, and are taken as "
                "numbers; if that means missing, empty these cells"
            )
    return replace(column, notes=(*column.notes, *notes))


def _time_reason(kind: pa.DataType) -> str:
    if pa.types.is_duration(kind):
        return "durations, in days"
    return "times of day, as a share of the day" if pa.types.is_time(kind) else "dates, as days since 1970-01-01"


def _refuse_type(name: str, found: pa.DataType) -> None:
    plain = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
    if not _is_text(found) and not _is_time(found) and not any(is_type(found) for is_type in plain):
        raise Unusable(
            f"column {name!r} holds {str(found)[:60]} in each cell, not one number or text; "
            "spread it over several columns, turn it into text, or leave it out"
        )


def _is_text(found: pa.DataType) -> bool:
    return bool(pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found))


def _is_time(found: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(found) and not pa.types.is_interval(found))


# --- text -----------------------------------------------------------------------------------------------------------


def _read_text(name: str, column: Cells, declared: Kind | None, text_file: bool, decimal: str | None) -> Found:
    """What the texts are: numbers, dates or texts, in a declared column what the user says."""
    if isinstance(declared, Continuous):
        return _measured(name, column, decimal)
    if declared is not None:
        return Found(cells.as_text(column, declared.levels or ()) if text_file else column)
    if not text_file and pc.count_distinct(distinct(column)).as_py() <= messy.FEW:
        return _tidied_text(name, column, column)  # few texts of a frame are meant as texts, numbers or not
    plain = cells.as_plain(column)
    if plain is not None and not (decimal == "," and cells.thousands_by_point(column)):
        return Found(plain)
    holed = cells.as_text(column, ())
    found = messy.understood(name, holed, decimal, forced=False)
    return _tidied_text(name, holed if text_file else column, column) if found is None else found


def _tidied_text(name: str, column: Cells, before: Cells) -> Found:
    """Levels without the spaces around them; a question mark is a missing cell."""
    tidied = messy.question_marks(column)
    notes = []
    marks = tidied.null_count - column.null_count
    if marks:
        are = "cell '?' is" if marks == 1 else "cells '?' are"
        notes.append(f"column {name!r}: {marks:,} {are} taken as missing")
    changed = how_many(column, pc.not_equal(distinct(tidied), distinct(column)))
    if changed:
        count = f"{changed:,} cell{'s' * (changed != 1)}"
        notes.append(f"column {name!r}: spaces around its values were taken away ({count})")
    return Found(tidied, None, tuple(notes))


def _measured(name: str, column: Cells, decimal: str | None) -> Found:
    """A column that the user calls continuous, as numbers."""
    column = cells.as_text(column, ())
    plain = cells.as_plain(column)
    if plain is None:
        plain = cells.as_float(column)  # 007 and integers of any length are numbers if the user says so
    if plain is not None and not (decimal == "," and cells.thousands_by_point(column)):
        return Found(plain)
    if column.null_count == len(column):
        return Found(pc.cast(_expanded(column), pa.float64()))
    found = messy.understood(name, column, decimal, forced=True)
    if found is None:
        texts = distinct(column)
        bad = pc.index(pc.match_substring_regex(texts, cells.NUMBER), False).as_py()
        row = 1 + (column.row_of(bad) if isinstance(column, Packed) else bad)
        raise DataError(
            f"column {name!r}, row {row}: {texts[bad].as_py()[:60]!r} is not a number",
            "write numbers as 1.5",
            way("pass {} if the column is categorical", "kinds", {name: "categorical"}),
        )
    return found


# --- numbers and levels ---------------------------------------------------------------------------------------------


def _encode_numbers(name: str, column: Cells) -> Encoded:
    column = _expanded(column)
    missing = None
    if column.null_count:
        missing = np.asarray(pc.is_null(column).to_numpy())
    if pa.types.is_integer(column.type):
        whole = column.to_numpy() if missing is None else pc.fill_null(column, pa.scalar(0, column.type)).to_numpy()
        return Encoded("integers", whole, missing)
    values = pc.cast(column, pa.float64()).to_numpy()
    absent = ~np.isfinite(values)
    infinite = int(np.isinf(values).sum())
    notes: tuple[str, ...] = ()
    if infinite:
        row = int(np.isinf(values).argmax()) + 1
        notes = (f"column {name!r}: {infinite:,} infinite cell{'s' * (infinite > 1)} taken as missing (row {row})",)
    return Encoded("numbers", values, absent if absent.any() else None, notes=notes)


def _encode_levels(name: str, column: Cells) -> Encoded:
    """Any column as codes, its levels named by the text of the values."""
    source = "text"
    if pa.types.is_boolean(column.type):
        source = "true or false"
    elif pa.types.is_integer(column.type):
        source = "integers"
    elif not _is_text(column.type):
        source = "numbers"
    if _is_time(column.type) or pa.types.is_decimal(column.type):
        column = pc.cast(column, pa.string())
    return _encode_dictionary(source, column if isinstance(column, Packed) else pc.dictionary_encode(column))


def _encode_categories(name: str, column: Cells) -> Encoded:
    """Categories of a data frame, in their order, those that no row has included."""
    ordered = column.type.ordered
    _refuse_type(name, column.type.value_type)
    source = "ordered categories" if ordered else "categories"
    if isinstance(column, Packed):
        if not column.in_order:
            raise _several_orders(name)
        return _encode_dictionary(source, column)
    unified = column.unify_dictionaries()
    if ordered and unified.num_chunks:
        place = {level: position for position, level in enumerate(unified.chunk(0).dictionary.to_pylist())}
        for chunk in column.chunks:
            places = [place[level] for level in chunk.dictionary.to_pylist()]
            if places != sorted(places):
                raise _several_orders(name)
    return _encode_dictionary(source, unified)


def _several_orders(name: str) -> DataError:
    return DataError(
        f"column {name!r}: the order of its categories differs from one part of the table to another; "
        "turn the column into text and declare it ordinal with its levels in order"
    )


def _encode_dictionary(source: str, column: Cells) -> Encoded:
    if isinstance(column, Packed):
        dictionary, positions = column.values, column.codes
    elif not column.num_chunks:
        return Encoded(source, np.zeros(0, np.int32), None, ())
    else:
        whole = column.combine_chunks()
        dictionary = whole.dictionary
        positions = np.asarray(pc.fill_null(pc.cast(whole.indices, pa.int32()), -1).to_numpy())
    floating = pa.types.is_floating(dictionary.type)
    values = list(dictionary.to_numpy(zero_copy_only=False)) if floating else dictionary.to_pylist()
    # Two categories may have one text (an Arrow dictionary may hold a value twice; 1 and "1"): they are one level.
    texts: dict[str, int] = {}
    place = np.full(len(values) + 1, -1, np.int32)  # the last one is where index -1, missing, looks
    for position, value in enumerate(values):
        if value is not None and value == value:  # NaN is not itself
            place[position] = texts.setdefault(level_text(value), len(texts))
    if isinstance(column, Packed) and (place[:-1] == np.arange(len(values))).all():
        return Encoded(source, positions, None, tuple(texts))  # no copy
    codes = spread(place.astype(small_codes(len(texts))), positions)
    missing = codes < 0
    return Encoded(source, codes, missing if missing.any() else None, tuple(texts))
