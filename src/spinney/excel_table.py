"""Excel sheets.

In:  the bytes of a workbook (.xlsx .xlsm .xlsb .xls .ods), and the sheet that the user named, if any.
Out: a RawTable of text, as if the sheet had been saved as CSV with points as decimal marks and dates as 2024-05-31, so
that cells mean the same in both. The cells are read by python-calamine, the extra `excel`."""

from __future__ import annotations

import datetime
import io
import zipfile
from typing import Any

import pyarrow as pa

from spinney.errors import ChoiceError, FileFormatError, way
from spinney.header import find_header
from spinney.machine import available_memory
from spinney.raw_table import RawTable, counted, damaged, from_cells

_LOOKED_AT = 200  # rows that the header is found in
_BYTES_TO_CELLS = 8  # a sheet in memory takes so many times its XML, at the least


def read_excel(raw: bytes, label: str, sheet: str | None) -> RawTable:
    try:
        import python_calamine
    except ImportError:
        raise FileFormatError(
            f"{label}: Excel files need python-calamine; install it with pip install 'spinney[excel]', or save as CSV"
        ) from None
    _check_size(raw, label)
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
        names = book.sheet_names
        if sheet is None or sheet in names:
            rows: list[list[Any]] = book.get_sheet_by_name(names[0] if sheet is None else sheet).to_python()
    except BaseException as error:  # a panic of the library is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        raise damaged(label, "Excel", error) from None
    if sheet is not None and sheet not in names:
        raise ChoiceError(f"{label} has no sheet {sheet[:60]!r}; its sheets are {_listed(names)}")
    return _from_rows(rows, label, [_other_sheets(names, sheet)] if len(names) > 1 and sheet is None else [])


def _check_size(raw: bytes, label: str) -> None:
    """A sheet is a zip archive: a small file may hold a large table."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError):
        return  # an old .xls, or damaged: the reader says so
    if size * _BYTES_TO_CELLS > available_memory():
        raise FileFormatError(
            f"{label}: the workbook takes {size / 1e9:.1f} GB unpacked, more than fits in memory here"
        )


def _other_sheets(names: list[str], sheet: str | None) -> str:
    return f"read the first sheet, {names[0]!r}; the others are {_listed(names[1:])}"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(repr(name[:40]) for name in names[:5]) + more


def _from_rows(rows: list[list[Any]], label: str, notes: list[str]) -> RawTable:
    records = [[_text(cell) for cell in row] for row in rows[:_LOOKED_AT]]
    header = find_header(records)
    if header is None:
        raise FileFormatError(f"{label}: the sheet is empty", way("choose another {}", "sheet"), "fill it")
    if header.skipped:
        notes.append(f"skipped {counted(header.skipped, 'line')} before the header")
    width = max(map(len, rows))
    names = [*header.names, *[""] * (width - len(header.names))]
    body = rows[header.record + 1 :]
    columns = []
    for place in range(width):
        cells = [_text(row[place]) if place < len(row) else "" for row in body]
        columns.append(pa.chunked_array([pa.array(cells, pa.string())]))
    return from_cells(names, columns, notes)


def _text(cell: Any) -> str:
    """The cell as it would stand in a CSV file."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float):  # Excel knows no other numbers
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime.datetime):
        day = cell.time() == datetime.time()
        return cell.date().isoformat() if day else cell.replace(tzinfo=None).isoformat(" ", "microseconds")
    if isinstance(cell, datetime.timedelta):
        return repr(cell / datetime.timedelta(days=1))
    return "" if cell is None else str(cell)
