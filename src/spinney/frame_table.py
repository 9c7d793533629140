"""Data frames.

In:  a pandas, polars or Arrow frame, or a mapping from names to columns.
Out: a RawTable: named Arrow columns; or one sentence for what is no table.
Columns whose values have several types, or are integers beyond 64 bits, become text, and a note says so."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spinney.errors import DataError
from spinney.kinds import level_text
from spinney.raw_table import RawTable, first_line, refuse_duplicates

_SCALARS = (str, bool, int, float, Decimal, datetime.date, datetime.time, datetime.timedelta, np.generic)
_NUMBERS = (int, float, Decimal, np.integer, np.floating)
_REFUSED = (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError, KeyError, NotImplementedError)


def read_frame(frame: Any) -> RawTable:
    """The table in a pandas, polars or Arrow frame, or in a mapping from names to columns."""
    if isinstance(frame, (pa.Table, pa.RecordBatch)):
        return from_arrow(pa.table(frame))
    if isinstance(frame, Mapping):
        return _from_mapping(frame)
    if hasattr(frame, "collect"):
        raise DataError(f"a {type(frame).__name__} is not a table in memory yet; collect() it first")
    names = _names(_columns_of(frame))
    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise _no_table(frame) from None
    columns, notes = [], []
    for name, series in zip(names, eager.iter_columns(), strict=True):
        column, note = _from_series(name, series)
        if eager.implementation.is_polars() and series.dtype == nw.Categorical:
            # A polars Categorical numbers its levels as they come up; that order says nothing, so it is text.
            column = pc.cast(column, pa.large_string())
        columns.append(column)
        notes += note
    return RawTable(names, tuple(columns), notes=tuple(notes))


def _columns_of(frame: Any) -> Iterable[Any]:
    columns = getattr(frame, "columns", ())
    return columns if isinstance(columns, Iterable) else ()


def _no_table(frame: Any) -> DataError:
    what = type(frame).__name__
    remedy = "give a pandas, polars or Arrow table, or a dict of columns"
    if isinstance(frame, np.ndarray):
        remedy = "give its columns names: pandas.DataFrame(array, columns=[...])"
    elif isinstance(frame, (list, tuple)):
        remedy = "give a list of rows as pandas.DataFrame(rows), or a dict of columns"
    elif isinstance(frame, str):
        remedy = "read a file with Dataset.read(path)"
    return DataError(f"a {what} is no table; {remedy}")


def _names(given: Iterable[Any]) -> tuple[str, ...]:
    """The names as text, checked here because narwhals would stop at duplicates in its own words."""
    names = []
    for name in given:
        if isinstance(name, tuple):
            raise DataError(f"column {name!r} has a name of several parts; give every column one name")
        names.append(str(name))
    refuse_duplicates(tuple(names))
    return tuple(names)


def _from_series(name: str, series: nw.Series[Any]) -> tuple[pa.ChunkedArray, list[str]]:
    try:
        column = _chunked(series.to_arrow())
        if pa.types.is_dictionary(column.type) and isinstance(column.type.value_type, pa.BaseExtensionType):
            column = _chunked(series.to_native().cat.rename_categories(str))  # the intervals of pandas.cut
        return column, []
    except _REFUSED as error:
        native = series.to_native()
        if str(getattr(native, "dtype", "")) == "category":  # categories of several types: their texts
            categories = native.cat.categories
            return _chunked(native.cat.rename_categories([level_text(value) for value in categories])), []
        return _plain(name, series.to_list(), error)


def from_arrow(table: pa.Table) -> RawTable:
    names = tuple(table.column_names)
    refuse_duplicates(names)
    try:
        table.validate(full=True)  # pyarrow trusts offsets and indices, and a wrong one ends the process
    except pa.ArrowException as error:
        raise DataError(f"the Arrow table contradicts itself ({first_line(error)}); make it again") from None
    kept, notes = without_index(table.schema)
    return RawTable(tuple(names[place] for place in kept), tuple(table.column(place) for place in kept), notes=notes)


def without_index(schema: pa.Schema) -> tuple[list[int], tuple[str, ...]]:
    """The places of the columns that pandas did not write for its index, and a note if there are others."""
    index = [name for name in _pandas_index(schema) if name in schema.names]
    notes = (f"the pandas index {', '.join(map(repr, index[:5]))} was left out of the columns",) if index else ()
    return [place for place, name in enumerate(schema.names) if name not in index], notes


def _pandas_index(schema: pa.Schema) -> list[str]:
    """The columns that pandas wrote for its index: row labels, not data. What cannot be read there names none."""
    described = (schema.metadata or {}).get(b"pandas")
    if described is None:
        return []
    try:
        listed = json.loads(described)["index_columns"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []


def _from_mapping(frame: Mapping[Any, Any]) -> RawTable:
    names = _names(frame)
    columns: list[pa.ChunkedArray] = []
    notes = []
    for name, values in zip(names, frame.values(), strict=True):
        _check_column(name, values)
        try:
            column = _chunked(values)
        except _REFUSED as error:
            column, note = _plain(name, values, error)
            notes += note
        columns.append(column)
        if len(columns[-1]) != len(columns[0]):
            raise DataError(
                f"column {name!r} has {len(columns[-1]):,} cells and {names[0]!r} has {len(columns[0]):,}; "
                "give all columns the same length"
            )
    return RawTable(names, tuple(columns), notes=tuple(notes))


def _check_column(name: str, values: Any) -> None:
    """One value per row, in an order: not the keys of a dict, nor a set."""
    if isinstance(values, Mapping):
        raise DataError(
            f"column {name!r} is a dict, not a list of cells; give one value per row (pandas: frame.to_dict('list'))"
        )
    if isinstance(values, Set):
        raise DataError(f"column {name!r} is a set, whose cells have no order; give one value per row, in a list")
    if getattr(values, "ndim", 1) != 1 or isinstance(values, (str, bytes, bytearray)) or not hasattr(values, "__len__"):
        raise DataError(f"column {name!r} is not a list of cells; give every column one value per row")


def _chunked(values: Any) -> pa.ChunkedArray:
    if isinstance(values, pa.ChunkedArray):
        return values
    column = pa.array(values, from_pandas=True)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _plain(name: str, values: Iterable[Any], error: Exception) -> tuple[pa.ChunkedArray, list[str]]:
    """A column that Arrow refuses: as numbers if all are, else as text; a cell that is no single value is refused."""
    cells = [None if _is_missing(value) else value for value in values]
    present = [value for value in cells if value is not None]
    if not all(isinstance(value, _SCALARS) and not isinstance(value, np.complexfloating) for value in present):
        raise DataError(
            f"column {name!r} holds values that do not go together ({first_line(error)}); "
            "make all of them numbers or all of them text"
        )
    types = sorted({type(value).__name__ for value in present})
    why = f"values of several types ({', '.join(types[:4])})"
    if all(isinstance(value, _NUMBERS) and not isinstance(value, bool) for value in present):
        if not all(isinstance(value, (int, np.integer)) for value in present):
            return pa.chunked_array([pa.array([None if cell is None else _float(cell) for cell in cells])]), []
        if all(-(2**63) <= value < 2**63 for value in present):
            return pa.chunked_array([pa.array(cells, pa.int64())]), []
        why = "integers beyond 64 bits"
    try:
        texts = pa.array([None if cell is None else level_text(cell) for cell in cells], pa.string())
    except UnicodeEncodeError:
        raise DataError(f"column {name!r} holds text with half a character (a lone surrogate); correct it") from None
    return pa.chunked_array([texts]), [f"column {name!r} holds {why}, so it was taken as text"]


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, Decimal, np.floating)) and bool(value != value)
