"""What is done about missing cells.

In:  the Encoded columns, how the user wants missing cells treated, and which columns he declared.
Out: which columns are left out, which get the level 'missing', which rows stay; each step said with its count.
The rules of missing="auto" stand in docs/data-kinds.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from spinney.cells import MISSING_TEXTS
from spinney.columns import Encoded
from spinney.errors import DataError, way
from spinney.kinds import Continuous, Kind
from spinney.reading import Reading
from spinney.settle import MISSING_LEVEL

MANY_HOLES = 0.05  # a discrete column with a larger share of missing cells gets a level for them
ROWS_TO_KEEP = 0.5  # below this share of complete rows, columns go before rows

Mask = npt.NDArray[np.bool_]


@dataclass
class Holes:
    """What was decided."""

    left_out: dict[str, str] = field(default_factory=dict)
    as_level: set[str] = field(default_factory=set)
    kept: npt.NDArray[np.int64] | None = None  # the rows that stay; None: all
    notes: list[str] = field(default_factory=list)


def decide(encoded: Mapping[str, Encoded], n_rows: int, reading: Reading, text_file: bool) -> Holes:
    """What to do about every missing cell. Refused: what the user wants refused, and a table without a complete row."""
    found = Holes()
    masks = {name: column.missing for name, column in encoded.items() if column.missing is not None}
    if not masks:
        return found
    if reading.missing == "refuse":
        raise _refused(masks, n_rows, reading, text_file, encoded)
    if not reading.every_row:
        _leave_out_the_emptiest(masks, n_rows, reading, found)
    if reading.missing == "level" or reading.every_row:
        found.as_level = set(masks)
        return found
    if reading.missing == "auto":
        _choose_levels(masks, encoded, n_rows, reading, found)
        _leave_out_the_costliest(masks, len(encoded) - len(found.left_out), n_rows, reading, found)
    _drop_rows(masks, n_rows, reading, found)
    return found


def _leave_out_the_emptiest(masks: dict[str, Mask], n_rows: int, reading: Reading, found: Holes) -> None:
    for name, mask in list(masks.items()):
        share = mask.mean()
        if name not in reading.declared and not reading.keep_all and share > reading.drop_missing_above:
            found.left_out[name] = f"{percent(share)} of its cells are empty"
            del masks[name]


def _choose_levels(
    masks: dict[str, Mask], encoded: Mapping[str, Encoded], n_rows: int, reading: Reading, found: Holes
) -> None:
    """Discrete columns with many holes; all with holes where too few complete rows would be left otherwise."""
    able = [name for name in masks if _takes_level(encoded[name], reading.declared.get(name))]
    named = {name for name in able if MISSING_LEVEL in (getattr(reading.declared.get(name), "levels", None) or ())}
    found.as_level = {name for name in able if name in named or masks[name].mean() > MANY_HOLES}
    holes = [mask for name, mask in masks.items() if name not in found.as_level]
    if holes and 1 - np.logical_or.reduce(holes).mean() < ROWS_TO_KEEP:
        found.as_level = set(able)
    for name in found.as_level:
        del masks[name]


def _takes_level(column: Encoded, declared: Kind | None) -> bool:
    """Whether missing cells may become a level: levels that the user named are not added to."""
    if isinstance(declared, Continuous):
        return False
    if declared is not None and declared.levels is not None:
        return MISSING_LEVEL in declared.levels
    return declared is not None or column.discrete


def _leave_out_the_costliest(masks: dict[str, Mask], columns: int, n_rows: int, reading: Reading, found: Holes) -> None:
    """While less than half of the rows are complete: the column without which most cells are kept, if more than now."""
    names = [name for name in masks if name not in reading.declared and not reading.keep_all]
    if not names:
        return
    holes = np.stack([masks[name] for name in names], axis=1)
    per_row = np.logical_or.reduce([mask for name, mask in masks.items() if name not in names] or [holes[:, 0] & False])
    counts = holes.sum(axis=1) + per_row  # a hole in a declared column cannot be mended
    while names and (complete := int((counts == 0).sum())) < ROWS_TO_KEEP * n_rows:
        alone = (counts == 1) & ~per_row
        gains = holes[alone].sum(axis=0)
        best = int(np.lexsort((holes.sum(axis=0), gains))[-1])
        if complete and (complete + int(gains[best])) * (columns - 1) <= complete * columns:
            return
        counts = counts - holes[:, best]
        name = names.pop(best)
        cost = percent(masks.pop(name).mean())
        found.left_out[name] = f"{cost} of its cells are empty, and too few rows would be complete with it"
        holes = np.delete(holes, best, axis=1)
        columns -= 1


def _drop_rows(masks: dict[str, Mask], n_rows: int, reading: Reading, found: Holes) -> None:
    if not masks:
        return
    kept = np.flatnonzero(~np.logical_or.reduce(list(masks.values())))
    if len(kept) == 0:
        raise DataError(
            f"every row has a missing cell ({_counted(masks)} of {n_rows:,}), so no row would be left",
            way("name the columns that are missing most in {}", "exclude"),
            "fill the cells",
        )
    found.kept = kept
    note = f"rows with missing cells dropped: {n_rows - len(kept):,} of {n_rows:,}"
    if len(kept) < ROWS_TO_KEEP * n_rows:
        most = max(masks, key=lambda name: int(masks[name].sum()))
        note += f"; column {most!r} alone costs {int(masks[most].sum()):,} of them"
    found.notes.append(note)


def _refused(
    masks: dict[str, Mask], n_rows: int, reading: Reading, text_file: bool, encoded: Mapping[str, Encoded]
) -> DataError:
    first = next(iter(masks))
    tokens = ", ".join(text for text in MISSING_TEXTS[:4] if text)
    notes = encoded[first].notes
    where = f"column {first!r}, row {int(masks[first].argmax()) + 1}"
    if reading.every_row:
        return DataError(f"{where}: missing{_because(notes)}; fill the cell, or leave the row out")
    return DataError(
        f"missing cells, of {n_rows:,} rows: {_counted(masks)} (the first: {where}){_because(notes)}",
        "fill them",
        way("choose {}", "missing", "auto"),
        way("choose {} to leave such rows out", "missing", "drop"),
        way("choose {} to give discrete columns the level 'missing'", "missing", "level"),
        *([f"declare it in kinds if {tokens} or nothing is a level"] if text_file else []),
    )


def _because(notes: tuple[str, ...]) -> str:
    return f" ({notes[0]})" if notes else ""


def _counted(masks: Mapping[str, Mask]) -> str:
    counts = [f"{name!r} {int(mask.sum()):,}" for name, mask in list(masks.items())[:5]]
    return ", ".join(counts) + (f" and {len(masks) - 5:,} more columns" if len(masks) > 5 else "")


def percent(share: float) -> str:
    """A share for a sentence: never 100 % unless it is, never 0 % either."""
    text = f"{100 * share:.0f}"
    if text in ("100", "0") and 0 < share < 1:
        text = f"{min(max(100 * share, 0.01), 99.99):.2f}"
    return f"{text} %"
