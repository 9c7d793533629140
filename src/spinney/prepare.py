"""From a table as it was read to columns of known kinds.

In:  a RawTable and a Reading.
Out: Prepared: the columns that are kept, settled; the rows that are kept; what was left out and why; notes.
Every doubt about data is decided here, by the rules of docs/data-kinds.md, and said."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from spinney import holes
from spinney.columns import Column, Encoded, Rows, Unusable, encode
from spinney.doubts import useless
from spinney.errors import DataError
from spinney.messy import file_decimal
from spinney.packed import Cells
from spinney.reading import Reading, shown
from spinney.settle import MOST_LEVELS, Rules, few_integers, settle
from spinney.table import RawTable

_ALIKE = 5  # more columns with the same note share one

Problem = Callable[[str, DataError], None]


@dataclass
class Prepared:
    """A table whose columns are settled."""

    columns: dict[str, Column] = field(default_factory=dict)
    n_rows: int = 0
    notes: list[str] = field(default_factory=list)  # about the table; those of a column are with it
    left_out: dict[str, str] = field(default_factory=dict)
    encoded: dict[str, Encoded] = field(default_factory=dict)  # all columns, as they were read
    names: list[str] = field(default_factory=list)  # of the columns that were asked for

    def all_notes(self) -> tuple[str, ...]:
        """What there is to say, once for columns that are alike."""
        noted = ((name, note) for name, column in self.columns.items() for note in column.notes)
        return (*said_left_out(self.left_out), *self.notes, *alike(noted))


def prepare(
    table: RawTable, reading: Reading, problem: Problem | None = None, found: Prepared | None = None
) -> Prepared:
    """The columns of a table, settled. What is wrong is raised, or, column by column, handed to `problem`; `found`
    then holds how far it went."""
    overview = found is not None
    names, notes = _names(table.names)
    columns = dict(zip(names, table.columns, strict=True))
    found = Prepared() if found is None else found
    found.names = chosen = reading.kept(names)
    found.n_rows = len(table.columns[0])
    found.notes += [*table.notes, *notes]
    if found.n_rows == 0:
        raise DataError("the table has columns but no rows; give at least one row")
    found.notes += [f"column {name!r} has spaces around its name" for name in chosen if name != name.strip()]
    found.encoded = _encoded({name: columns[name] for name in chosen}, table.text, reading, found, problem)
    kept = _worth_reading(found, reading)
    if not overview:
        found.encoded = {}  # of very many rows, memory that is needed
    if found.n_rows == 1:
        found.notes.append("the table has one row, from which no dependence can be learned")
    decided = _decided(kept, found.n_rows, reading, table.text, problem)
    found.left_out |= decided.left_out
    found.notes += decided.notes
    kept = {name: column for name, column in kept.items() if name not in decided.left_out}
    rows = Rows(decided.kept)
    if decided.kept is not None:
        kept = {name: column.keep(decided.kept, name in decided.as_level) for name, column in kept.items()}
        found.n_rows = len(decided.kept)
        kept = _still_worth_reading(kept, found, reading)
    found.columns = _settled(kept, rows, decided.as_level, reading, problem)
    if not found.columns:
        raise DataError(_nothing_left(found.left_out))
    return found


def _names(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """A name for every column; one without is called by its place."""
    if not given:
        raise DataError("the table has no columns; give at least one")
    names, notes = list(given), []
    for place, name in enumerate(given, 1):
        if not name.strip():
            names[place - 1] = new = next(
                text for text in (f"column {place}", f"unnamed column {place}", "\u00a0" * place) if text not in names
            )
            notes.append(f"column {place} has no name and is called {new!r}")
    return names, notes


def _encoded(
    columns: Mapping[str, Cells], text: bool, reading: Reading, found: Prepared, problem: Problem | None
) -> dict[str, Encoded]:
    """Columns side by side in threads: the work is Arrow's, which lets go of the interpreter lock."""
    decimal = reading.decimal
    if decimal is None and text:
        decimal = file_decimal(columns.values())

    def one(name: str) -> Encoded | DataError:
        try:
            return encode(name, columns[name], reading.declared.get(name), text, decimal)
        except DataError as error:
            return error

    encoded = {}
    for name, result in zip(columns, _side_by_side(one, columns), strict=True):
        if isinstance(result, Encoded):
            encoded[name] = result
        elif isinstance(result, Unusable) and name not in reading.declared and not reading.keep_all:
            found.left_out[name] = f"it holds {str(columns[name].type)[:60]} in each cell, not one number or text"
        elif problem is not None:
            problem(name, result)
        else:
            raise result
    return encoded


def _side_by_side(one: Callable[[str], Encoded | DataError], names: Iterable[str]) -> list[Encoded | DataError]:
    try:
        with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
            return [*pool.map(one, names)]
    except RuntimeError:  # no thread can be started
        return [one(name) for name in names]


def _worth_reading(found: Prepared, reading: Reading) -> dict[str, Encoded]:
    """The columns from which something can be learned, those that are declared in any case."""
    kept = {}
    for name, column in found.encoded.items():
        if name in reading.declared:
            kept[name] = column
            continue
        column = few_integers(column)
        why = None if reading.keep_all else useless(name, column, MOST_LEVELS)
        if why is None:
            kept[name] = column
        else:
            found.left_out[name] = why
    return kept


def _still_worth_reading(kept: dict[str, Encoded], found: Prepared, reading: Reading) -> dict[str, Encoded]:
    """A column may be constant in the rows that are left."""
    if reading.keep_all or found.n_rows == 1:
        return kept
    for name, column in list(kept.items()):
        if name not in reading.declared and column.missing is None and (column.values == column.values[0]).all():
            found.left_out[name] = "constant (in the rows without missing cells)"
            del kept[name]
    return kept


def _decided(
    kept: dict[str, Encoded], n_rows: int, reading: Reading, text: bool, problem: Problem | None
) -> holes.Holes:
    try:
        return holes.decide(kept, n_rows, reading, text)
    except DataError as error:
        if problem is None:
            raise
        problem("", error)
        for name, column in kept.items():  # each column as its own cells are, so that all can be shown
            if column.missing is not None:
                kept[name] = column.keep(np.flatnonzero(~column.missing))
        return holes.Holes()


def _settled(
    kept: dict[str, Encoded], rows: Rows, as_level: set[str], reading: Reading, problem: Problem | None
) -> dict[str, Column]:
    rules = Rules(
        add_levels=reading.unseen == "allow",
        min_count=reading.min_count,
        most_levels=None if reading.keep_all else MOST_LEVELS,
        every_row=reading.every_row,
        single=reading.single,
    )
    settled = {}
    for name in list(kept):
        column = kept.pop(name)
        own = replace(rules, missing_level=name in as_level)
        try:
            settled[name] = settle(name, column, reading.declared.get(name), rows, own)
        except DataError as error:
            if problem is None:
                raise
            problem(name, error)
    return settled


def _nothing_left(left_out: Mapping[str, str]) -> str:
    listed = [f"{name[:40]!r}: {why}" for name, why in list(left_out.items())[:3]]
    more = f" and {len(left_out) - 3:,} more" if len(left_out) > 3 else ""
    return (
        f"nothing can be learned from this table, every column was left out ({'; '.join(listed)}{more}); declare the "
        "kind of a column to keep it"
    )


# --- what is said ---------------------------------------------------------------------------------------------------


def said_left_out(left_out: Mapping[str, str]) -> list[str]:
    """One line for each column that was left out, or for many with the same reason; then how to keep one."""
    if not left_out:
        return []
    lines = alike((name, f"left out {name!r}: {why}") for name, why in left_out.items())
    return [*lines, "a column that was left out is kept when its kind is declared"]


def alike(noted: Iterable[tuple[str, str]]) -> list[str]:
    """Notes about columns; where many columns have the same one but for names and numbers, the first stands for all."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, note in noted:
        template = re.sub(r"\d[\d,.]*", "0", re.sub(r" \(.*", "", note.replace(repr(name), "")))
        groups.setdefault(re.sub(r"'[^']*'", "''", template), []).append((name, note))
    lines = []
    for group in groups.values():
        if len(group) <= _ALIKE:
            lines += [note for _, note in group]
        else:
            others = shown(tuple(name for name, _ in group[1:]), 3)
            lines.append(f"{group[0][1]} (likewise {others})")
    return lines
