"""A table as it was read, before its columns get kinds.

In:  names and columns from a file or a frame; from text files and Excel sheets as people write them.
Out: a RawTable: every column has one name of its own; what was left out or renamed is said in its notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spinney.errors import DataError, FileFormatError
from spinney.packed import Cells, Packed, distinct, spread, truths

_INDEX_NAMES = ("", "Unnamed: 0")  # how pandas and R name the numbers of the rows in a text file
_SHOWN = 3  # names that a note lists


@dataclass(frozen=True)
class RawTable:
    """Named columns as they were read; `text` says that the cells are those of a text file or an Excel sheet."""

    names: tuple[str, ...]
    columns: tuple[Cells, ...]
    text: bool = False
    notes: tuple[str, ...] = ()


def from_cells(names: Sequence[str], columns: Sequence[Cells], notes: Iterable[str] = ()) -> RawTable:
    """The table of columns of text: without empty rows, empty columns and row numbers, every column with a name."""
    said = list(notes)
    kept = dict(enumerate(columns))  # by position in the file, which gives names to columns that have none
    if len(kept) > 1:
        kept = _without_empty_rows(kept, said)
    _leave_out_empty_columns(names, kept, said)
    _leave_out_row_numbers(names, kept, said)
    given = _named({position: names[position] for position in kept}, said)
    return RawTable(tuple(given), tuple(kept.values()), text=True, notes=tuple(said))


def _without_empty_rows(columns: dict[int, Cells], notes: list[str]) -> dict[int, Cells]:
    rows = None  # those that are empty in all columns so far
    for column in columns.values():
        here = column if rows is None else column.take(rows)
        empty = np.flatnonzero(_is_empty(here))
        rows = pa.array(empty if rows is None else rows.to_numpy()[empty])
        if len(rows) == 0:
            return columns
    assert rows is not None
    full = np.ones(len(column), dtype=bool)
    full[rows.to_numpy()] = False
    notes.append(f"left out {counted(len(rows), 'empty row')}")
    return {position: column.filter(pa.array(full)) for position, column in columns.items()}


def _is_empty(column: Cells) -> np.ndarray[Any, np.dtype[np.bool_]]:
    empty = truths(pc.equal(pc.utf8_trim(distinct(column), " \t"), ""))
    return spread(empty, column.codes) if isinstance(column, Packed) else empty


def _leave_out_empty_columns(names: Sequence[str], columns: dict[int, Cells], notes: list[str]) -> None:
    """Columns without a name and without cells, such as a delimiter at the end of every line makes."""
    nameless = [position for position in columns if not names[position].strip()]
    gone = [position for position in nameless if bool(_is_empty(columns[position]).all())]
    if len(gone) == len(columns):
        return
    for position in gone:
        del columns[position]
    if gone:
        notes.append(f"left out {counted(len(gone), 'empty column')} without a name")


def _leave_out_row_numbers(names: Sequence[str], columns: dict[int, Cells], notes: list[str]) -> None:
    if len(columns) < 2 or 0 not in columns or names[0].strip() not in _INDEX_NAMES:
        return
    if len(distinct(columns[0])) < len(columns[0]):
        return
    try:
        numbers = pc.cast(distinct(columns[0]), pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return
    if len(numbers) and numbers[0] >= 0 and bool((np.diff(numbers) > 0).all()):
        del columns[0]
        called = "has no name" if not names[0].strip() else f"is called {names[0].strip()!r}"
        notes.append(f"left out the first column, which {called} and numbers the rows")


def _named(names: dict[int, str], notes: list[str]) -> list[str]:
    """Every column with a name of its own: 'column 3' where there is none, 'x.2' for the second 'x'."""
    taken = {name for name in names.values() if name.strip()}
    given: list[str] = []
    nameless, renamed, used = [], [], set()
    for position, name in names.items():
        base = name if name.strip() else f"column {position + 1}"
        new, number = base, 1
        while new in used or (new != name and new in taken):
            number += 1
            new = f"{base}.{number}"
        used.add(new)
        given.append(new)
        if not name.strip():
            nameless.append(new)
        elif new != name:
            renamed.append(f"{name[:40]!r} is now {new[:50]!r}")
    if nameless:
        notes.append(f"{counted(len(nameless), 'column')} without a name: now called {_some(map(repr, nameless))}")
    if renamed:
        notes.append(f"column names that occur more than once: {_some(renamed)}")
    return given


def _some(texts: Iterable[str]) -> str:
    listed = list(texts)
    more = f" and {len(listed) - _SHOWN:,} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def refuse_duplicates(names: tuple[str, ...], remedy: str = "rename one of them") -> None:
    if len(set(names)) == len(names):
        return
    seen: set[str] = set()
    twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    first, second = [place for place, name in enumerate(names, 1) if name == twice][:2]
    raise DataError(f"columns {first} and {second} have the same name {twice[:80]!r}; {remedy}")


def first_line(error: BaseException) -> str:
    """What a library says about an error, short and without a semicolon, for the brackets of our sentence."""
    text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    return " ".join(text.strip().split("\n")[0].rstrip(".").replace(";", ",").split())[:120]


def damaged(label: str, what: str, error: BaseException) -> FileFormatError:
    return FileFormatError(
        f"{label}: the {what} data is damaged or cut short ({first_line(error)}); fetch or write the file again"
    )
