"""What every column of a table is taken for, and why.

In:  a table as it was read, and the choices.
Out: one view per column, those that are left out or wrong included, and what is to be said of the table as a whole.
Nothing is refused here: what learn would refuse stands in the view of its column, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinney.columns import Encoded
from spinney.errors import DataError
from spinney.kinds import Kind, LeftOut
from spinney.packed import Cells
from spinney.prepare import Prepared, prepare
from spinney.reading import Reading
from spinney.table import RawTable


@dataclass(frozen=True)
class ColumnView:
    """A column as it is understood."""

    name: str
    kind: Kind | LeftOut
    reason: str
    distinct: int
    missing: int
    example: str
    doubts: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        return {
            "distinct": self.distinct,
            "doubts": self.doubts,
            "example": self.example,
            "missing": self.missing,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Overview:
    """All columns of a table, in its order, and what is said of the table."""

    columns: tuple[ColumnView, ...]
    notes: tuple[str, ...]
    rows: int  # of the table
    used: int  # of these, that learn would use


def overview(table: RawTable, reading: Reading) -> Overview:
    """The columns as learn would take them."""
    problems: dict[str, list[str]] = {}
    found = Prepared(n_rows=len(table.columns[0]) if table.columns else 0)
    notes: list[str] = []
    try:
        prepare(table, reading, lambda name, error: problems.setdefault(name, []).append(str(error)), found)
    except DataError as error:
        notes.append(str(error))
    cells = dict(zip(table.names, table.columns, strict=True))
    names = [*cells] if not found.encoded and not problems else [*(name for name in found.names)]
    views = tuple(_view(name, found, problems.get(name, ()), cells) for name in names)
    rows = len(table.columns[0]) if table.columns else 0
    return Overview(views, (*found.notes, *notes, *problems.get("", ())), rows, found.n_rows)


def _view(name: str, found: Prepared, problems: list[str] | tuple[str, ...], cells: Mapping[str, Cells]) -> ColumnView:
    column, encoded = found.columns.get(name), found.encoded.get(name)
    distinct, missing = _counts(encoded)
    example = _example(cells.get(name))
    if column is not None:
        return ColumnView(name, column.kind, column.reason, distinct, missing, example, column.notes)
    why = found.left_out.get(name, "it is refused" if problems else "nothing can be learned from it")
    remedy = () if problems or name not in found.left_out else ("to keep the column, declare its kind",)
    notes = encoded.notes if encoded is not None else ()
    return ColumnView(name, LeftOut(), why, distinct, missing, example, (*problems, *notes, *remedy))


def _counts(encoded: Encoded | None) -> tuple[int, int]:
    if encoded is None:
        return 0, 0
    missing = 0 if encoded.missing is None else int(encoded.missing.sum())
    return len(set(encoded.present().tolist())), missing


def _example(column: Cells | None) -> str:
    """The first cell that is not empty."""
    if column is None:
        return ""
    for cell in column.slice(0, 1000):
        text = "" if cell.as_py() is None else str(cell.as_py()).strip()
        if text:
            return text if len(text) <= 24 else text[:21] + "..."
    return ""
