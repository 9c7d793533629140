"""The kind of a column.

In:  an Encoded column, the kind the user declared for it, if any, and how missing cells and rare levels are treated.
Out: a Column: the kind with its levels or range, the reason, codes or values, and notes.
What looks odd but is allowed is noted here; what is not worth reading is decided in doubts.py."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spinney import cells
from spinney.columns import Codes, Column, Encoded, Floats, Rows
from spinney.doubts import odd_texts
from spinney.errors import DataError, named, way
from spinney.kinds import MAX_LEVELS, Categorical, Continuous, Kind, Ordinal, code_type
from spinney.packed import counted, pieces, small_codes, spread
from spinney.reading import shown

FEW_INTEGERS = 10  # an integer column with at most so many distinct values is categorical
MANY_LEVELS = 1_000  # more are noted, with the memory a count table would take
MOST_LEVELS = 100  # of a column without a declared kind; the rarest become one
MISSING_LEVEL = "missing"  # the level of missing cells
OTHER_LEVEL = "other"  # the level of rare ones
_EXACT_INTEGERS = 2**53  # larger integers are not exact as float64
_NUMBER = re.compile(cells.NUMBER)
_YES_OR_NO = {("no", "yes"), ("false", "true"), ("ja", "nein"), ("n", "y"), ("f", "t"), ("j", "n"), ("non", "oui")}


@dataclass(frozen=True)
class Rules:
    """How a column is settled, beside what its cells say."""

    missing_level: bool = False  # missing cells become a level
    add_levels: bool = False  # levels that kinds does not name are added
    min_count: int = 1  # rarer levels become "other"
    most_levels: int | None = MOST_LEVELS  # so many at the most, without a declared kind; None: any number
    every_row: bool = False  # no row may be dropped
    single: bool = False  # values in single precision


def settle(name: str, column: Encoded, declared: Kind | None, rows: Rows, rules: Rules) -> Column:
    """The kind of a column, its reason, and its codes or values. REQUIRES: no missing cells unless missing_level."""
    if declared is None:
        column = few_integers(column)
    if column.texts is None:
        settled = _settle_continuous(name, column, declared, rows, rules)
    else:
        settled = _settle_discrete(name, column, declared, rows, rules)
    return replace(settled, notes=(*column.notes, *settled.notes))


def few_integers(column: Encoded) -> Encoded:
    """Integers as levels if few are distinct, or if float64 does not tell them apart; else the column as it is."""
    if column.source != "integers" or column.texts is not None:
        return column
    present = column.present()
    few = len(np.unique(present[:1000])) <= FEW_INTEGERS
    if not few and (len(present) == 0 or max(-float(present.min()), float(present.max())) <= _EXACT_INTEGERS):
        return column
    distinct = np.asarray(pc.unique(pa.array(present)).sort().to_numpy())
    if len(distinct) > FEW_INTEGERS and len(np.unique(distinct.astype(np.float64))) == len(distinct):
        return column
    codes = np.full(len(column.values), -1, small_codes(len(distinct)))
    if len(distinct):
        for piece in pieces(len(codes)):
            codes[piece] = np.minimum(np.searchsorted(distinct, column.values[piece]), len(distinct) - 1)
    if column.missing is not None:
        codes[column.missing] = -1
    return replace(column, values=codes, texts=tuple(str(value) for value in distinct))


def _settle_continuous(name: str, column: Encoded, declared: Kind | None, rows: Rows, rules: Rules) -> Column:
    if column.missing is not None:
        assert rules.missing_level, "missing cells past the door: our bug"
        raise _no_level_for_numbers(name, rows.number(int(column.missing.argmax())), rules)
    # Adding 0.0 makes -0.0 and 0.0 one number, and a copy: until here the array may be the memory of the user's frame.
    values = column.values.astype(np.float64, copy=False) + 0.0
    lo, hi = float(values.min()), float(values.max())
    notes = []
    if column.source == "integers":
        reason = f"integers, more than {FEW_INTEGERS} distinct"
        if max(abs(int(column.values.min())), abs(int(column.values.max()))) > _EXACT_INTEGERS:
            notes.append(f"column {name!r} has integers beyond 2^53, which are rounded to 53 bits")
    else:
        reason = "decimal numbers"
        if declared is None and column.reason is None and lo < hi and _few_whole_numbers(values):
            notes.append(
                f"column {name!r} has at most {FEW_INTEGERS} distinct whole numbers written as decimals and is "
                f"taken as continuous; declare it categorical in {named('kinds')} if they are categories"
            )
    if declared is not None:
        assert isinstance(declared, Continuous)
        _refuse_outside(name, values, declared, rows)
        lo = lo if declared.lo is None else declared.lo
        hi = hi if declared.hi is None else declared.hi
    if rules.single:
        values = _single(name, values)
        if declared is None or declared.lo is None:
            lo = float(values.min())
        if declared is None or declared.hi is None:
            hi = float(values.max())
        values = _within(values, lo, hi)
    if values.min() == values.max():
        notes.append(f"column {name!r} is constant: every row has {lo!r}")
    reason = "user" if declared is not None else column.reason or reason
    return Column(Continuous(lo, hi), reason, values, tuple(notes))


def _single(name: str, values: Floats) -> Any:
    most = float(np.finfo(np.float32).max)
    if max(-values.min(), values.max()) > most:
        raise DataError(
            f"column {name!r} has numbers beyond {most:.3g}, which single precision does not hold; read it in double "
            f"precision, without {named('single')}"
        )
    return values.astype(np.float32)


def _within(values: Any, lo: float, hi: float) -> Any:
    """Rounding may have led out of the range that the user has declared."""
    low, high = values < np.float64(lo), values > np.float64(hi)
    values[low] = np.nextafter(values[low], np.float32(np.inf))
    values[high] = np.nextafter(values[high], np.float32(-np.inf))
    return values


def _no_level_for_numbers(name: str, row: int, rules: Rules) -> DataError:
    if rules.every_row:
        return DataError(
            f"column {name!r}, row {row}: missing, and the network has no level for missing cells of a continuous "
            "column; fill the cell, or leave the row out"
        )
    return DataError(
        f"column {name!r}, row {row}: missing, and the level 'missing' is for discrete columns, while this one is "
        "continuous",
        "fill the cells",
        way("choose {}", "missing", "auto"),
        way("choose {}", "missing", "drop"),
    )


def _few_whole_numbers(values: Floats) -> bool:
    head = values[:1000]
    if len(np.unique(head)) > FEW_INTEGERS or not (head == np.floor(head)).all():
        return False
    return len(np.unique(values)) <= FEW_INTEGERS and bool((values == np.floor(values)).all())


def _refuse_outside(name: str, values: Floats, declared: Continuous, rows: Rows) -> None:
    lo = -np.inf if declared.lo is None else declared.lo
    hi = np.inf if declared.hi is None else declared.hi
    outside = (values < lo) | (values > hi)
    if outside.any():
        bad = int(outside.argmax())
        raise DataError(
            f"column {name!r}, row {rows.number(bad)}: {float(values[bad])!r} is outside the range {lo!r} to {hi!r} "
            "that kinds gives it; correct the cell or widen the range"
        )


def _settle_discrete(name: str, column: Encoded, declared: Kind | None, rows: Rows, rules: Rules) -> Column:
    assert column.texts is not None and not isinstance(declared, Continuous)
    codes = column.values
    counts = counted(codes, len(column.texts), column.missing)
    seen = [text for text, count in zip(column.texts, counts, strict=True) if count]
    notes: list[str] = []
    if declared is not None and declared.levels is not None:
        levels = declared.levels
        place = _places(column, levels)
        unknown = np.flatnonzero((place[:-1] < 0) & (counts > 0))
        if len(unknown) and OTHER_LEVEL in levels:
            place[unknown] = levels.index(OTHER_LEVEL)
            notes.append(_taken_as_other(name, column, unknown))
            unknown = unknown[:0]
        if len(unknown) and not rules.add_levels:
            raise _not_a_level(name, column, levels, unknown, rows)
        place[unknown] = range(len(levels), len(levels) + len(unknown))
        levels += tuple(column.texts[code] for code in unknown)
    else:
        if declared is None and column.source == "text":
            notes = odd_texts(name, seen, column, rows, _NUMBER)
        levels = _level_order(name, column, seen, declared)
        rare = _rare(column, counts, declared, rules)
        if rare:
            levels = (*(level for level in levels if level not in rare and level != OTHER_LEVEL), OTHER_LEVEL)
            notes.append(_merged(name, len(rare), int(counts[[text in rare for text in column.texts]].sum()), rules))
        position = {level: at for at, level in enumerate(levels)}
        where = [position.get(OTHER_LEVEL if text in rare else text, -1) for text in column.texts]
        place = np.array([*where, -1], np.int32)
    if column.missing is not None:
        assert rules.missing_level, "missing cells past the door: our bug"
        levels = _with_missing_level(name, levels, declared, column, notes, rows, rules)
        place[-1] = levels.index(MISSING_LEVEL)
    if len(levels) > MAX_LEVELS:
        raise DataError(
            f"column {name!r} has {len(levels):,} levels and {MAX_LEVELS:,} is the most",
            "merge levels",
            "leave the column out if it is an identifier",
            way("pass {} if it holds numbers", "kinds", {name: "continuous"}),
        )
    assert int(place[:-1][counts > 0].min(initial=0)) >= 0, "a cell without a level: our bug"
    assert column.missing is None or place[-1] >= 0, "a missing cell without a level: our bug"
    final = spread(place.astype(code_type(levels)), codes)
    if final.min() == final.max():
        notes.append(f"column {name!r} is constant: every row has {levels[int(final[0])]!r}")
    if len(levels) > MANY_LEVELS:
        megabytes = 8 * len(levels) ** 2 / 1e6
        notes.append(
            f"column {name!r} has {len(levels):,} levels: a count table of it and another column like it "
            f"takes {megabytes:,.0f} MB"
        )
    ordinal = isinstance(declared, Ordinal) or (declared is None and column.source == "ordered categories")
    kind = Ordinal(levels) if ordinal else Categorical(levels)
    return Column(kind, _reason(column, declared, seen), final, tuple(notes))


def _reason(column: Encoded, declared: Kind | None, seen: list[str]) -> str:
    if declared is not None:
        return "user"
    if column.source == "integers":
        return f"{len(seen)} distinct integer{'s' * (len(seen) != 1)}, at most {FEW_INTEGERS} are taken as categories"
    if column.source == "text" and seen and all(_NUMBER.match(text) for text in seen):
        return "numbers written as text"
    if column.source == "text" and tuple(sorted(text.lower() for text in seen)) in _YES_OR_NO:
        return "yes or no"
    return column.reason or column.source


def _rare(column: Encoded, counts: npt.NDArray[np.intp], declared: Kind | None, rules: Rules) -> set[str]:
    """The levels that become "other": those rarer than min_count, and, if it has no declared kind, all beyond the
    most frequent ones. An order of levels is not broken up."""
    assert column.texts is not None
    if isinstance(declared, Ordinal) or (declared is None and column.source == "ordered categories"):
        return set()
    rare = {text for text, count in zip(column.texts, counts, strict=True) if 0 < count < rules.min_count}
    seen = int((counts > 0).sum())
    if declared is None and rules.most_levels is not None and seen - len(rare) > rules.most_levels:
        order = sorted(range(len(counts)), key=lambda at: (-int(counts[at]), column.texts[at]))  # type: ignore[index]
        rare |= {column.texts[at] for at in order[rules.most_levels - 1 :] if counts[at]}
    return rare - {OTHER_LEVEL}


def _merged(name: str, levels: int, cells: int, rules: Rules) -> str:
    why = f"beyond the {rules.most_levels} most frequent" if levels > 1 and rules.min_count == 1 else "rarer ones"
    return f"column {name!r}: {levels:,} rare levels ({cells:,} cells) are merged into {OTHER_LEVEL!r}, {why}"


def _taken_as_other(name: str, column: Encoded, unknown: npt.NDArray[np.intp]) -> str:
    assert column.texts is not None
    count = int(np.isin(column.values, unknown).sum())
    example = column.texts[int(unknown[0])]
    return f"column {name!r}: {count:,} cells with other levels, such as {example[:60]!r}, are taken as {OTHER_LEVEL!r}"


def _places(column: Encoded, levels: tuple[str, ...]) -> Codes:
    """For each text its place among the levels declared; -1 if it has none, and, last, for what is missing."""
    assert column.texts is not None
    position = {level: at for at, level in enumerate(levels)}
    place = np.array([position.get(text, position.get(text.strip(), -1)) for text in column.texts] + [-1], np.int32)
    if column.source in ("integers", "numbers"):
        # A frame may hold 1 as 1.0, because another row was missing once: the number decides, not how it is held.
        by_number = {number_of(level): at for at, level in enumerate(levels) if _NUMBER.match(level)}
        for at, text in enumerate(column.texts):
            if place[at] < 0 and _NUMBER.match(text):
                place[at] = by_number.get(number_of(text), -1)
    return place


def _not_a_level(
    name: str, column: Encoded, levels: tuple[str, ...], unknown: npt.NDArray[np.intp], rows: Rows
) -> DataError:
    assert column.texts is not None
    bad = int(np.isin(column.values, unknown).argmax())
    text = column.texts[int(column.values[bad])]
    return DataError(
        f"column {name!r}, row {rows.number(bad)}: {text!r} is not among its levels {shown(levels)}; "
        "correct the cell, leave the row out, or add the level to kinds and learn anew"
    )


def number_of(text: str) -> int | float:
    """An int if the text is one, so that large ones stay apart."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _level_order(name: str, column: Encoded, seen: list[str], declared: Kind | None) -> tuple[str, ...]:
    assert column.texts is not None
    categories = column.source in ("categories", "ordered categories")
    numeric = all(_NUMBER.match(text) for text in seen)
    if isinstance(declared, Ordinal) and not numeric and column.source not in ("ordered categories", "true or false"):
        raise DataError(
            f"column {name!r} is declared ordinal and its levels are text; give the levels in order, "
            f"as in Ordinal({sorted(seen)[:3]!r}) or, in a kinds file, levels: [low, high]"
        )
    if categories and not (isinstance(declared, Ordinal) and column.source == "categories"):
        return column.texts
    if numeric:
        return tuple(sorted(seen, key=lambda text: (number_of(text), text)))
    return tuple(sorted(seen))


def _with_missing_level(
    name: str,
    levels: tuple[str, ...],
    declared: Kind | None,
    column: Encoded,
    notes: list[str],
    rows: Rows,
    rules: Rules,
) -> tuple[str, ...]:
    """The levels with one for the missing cells. Levels that the user named are not added to."""
    assert column.missing is not None
    if declared is not None and declared.discrete and getattr(declared, "levels", None) is not None:
        if MISSING_LEVEL in levels:
            return levels
        row = rows.number(int(column.missing.argmax()))
        if rules.every_row:
            raise DataError(
                f"column {name!r}, row {row}: missing, and the network has no level {MISSING_LEVEL!r} of it; fill the "
                "cell, or leave the row out"
            )
        raise DataError(
            f"column {name!r}, row {row}: missing, and kinds names its levels without {MISSING_LEVEL!r}; "
            f"add the level {MISSING_LEVEL!r} in its place",
            way("choose {}", "missing", "drop"),
        )
    ordinal = isinstance(declared, Ordinal) or column.source == "ordered categories"
    last = ", as the last in the order" if ordinal else ""
    count = int(column.missing.sum())
    cells = f"missing cells ({count:,})"
    if MISSING_LEVEL in levels:
        notes.append(f"column {name!r}: {cells} join the level {MISSING_LEVEL!r} that it has")
        return levels
    notes.append(f"column {name!r}: {cells} are the level {MISSING_LEVEL!r}{last}")
    return (*levels, MISSING_LEVEL)
