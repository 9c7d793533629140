"""From one column to its kind.

In:  an Arrow column, the kind the user declared for it, if any, and what to do with missing cells.
Out: a Column: the kind with its levels or range, the reason, codes or values, and notes.
Two steps, because rows with missing cells may leave in between: encode() turns cells into numbers, settle() decides."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spinney import cells
from spinney.errors import DataError, way
from spinney.kinds import MAX_LEVELS, Categorical, Continuous, Kind, Ordinal, code_type, level_text

MANY_LEVELS = 1_000  # more are noted, with the memory a count table would take
FEW_INTEGERS = 10  # an integer column with at most so many distinct values is categorical
MISSING_LEVEL = "missing"  # the level that missing="level" adds
_EXACT_INTEGERS = 2**53  # larger integers are not exact as float64
_NEARLY_ALL = 0.9  # the share of numbers among texts, or of texts among rows, that is worth a note
_ROWS_TO_JUDGE = 20  # fewer rows do not make an identifier
_NUMBER = re.compile(cells.NUMBER)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]+,[0-9]+\s*")
_DAY = 86_400_000_000  # microseconds

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Encoded:
    """A column as numbers: codes into `texts` (-1: missing), or, where texts is None, the values themselves."""

    source: str  # text, true or false, categories, ordered categories, integers, numbers
    values: npt.NDArray[np.generic]
    missing: npt.NDArray[np.bool_] | None = None
    texts: tuple[str, ...] | None = None

    def keep(self, rows: npt.NDArray[np.int64]) -> Encoded:
        """Only these rows. REQUIRES: none of them is missing here."""
        return replace(self, values=self.values[rows], missing=None)


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


# --- encode ---------------------------------------------------------------------------------------------------------


def encode(name: str, column: pa.ChunkedArray, declared: Kind | None, text_file: bool) -> Encoded:
    """Cells to numbers. `text_file`: the cells are text as it stands in a file, and numbers among them are numbers."""
    discrete = declared is not None and declared.discrete
    if text_file:
        if isinstance(declared, (Categorical, Ordinal)):
            column = cells.as_text(column, declared.levels or ())
        elif declared is None:
            column = cells.as_found(column)
        else:
            column = cells.as_text(column, ())
    kind_of_type = column.type
    if pa.types.is_dictionary(kind_of_type) and not isinstance(declared, Continuous):
        return _encode_categories(name, column)
    if pa.types.is_dictionary(kind_of_type):
        column = pc.cast(column, kind_of_type.value_type)
    _refuse_type(name, column.type, declared)
    if pa.types.is_null(column.type):
        column = pc.cast(column, pa.string())
    if isinstance(declared, Continuous):
        return _encode_numbers(_measured(name, column))
    if discrete or _is_text(column.type) or pa.types.is_boolean(column.type):
        return _encode_levels(name, column)
    return _encode_numbers(column)


def _refuse_type(name: str, found: pa.DataType, declared: Kind | None) -> None:
    if _is_time(found):
        if declared is None:
            raise DataError(
                f"column {name!r} holds dates or times ({found}), by themselves neither levels nor a measure",
                way("pass {} to take them as days", "kinds", {name: "continuous"}),
                way("pass {} to take each as a level", "kinds", {name: "categorical"}),
                "leave the column out",
            )
        return
    plain = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
    if not _is_text(found) and not any(is_type(found) for is_type in plain):
        raise DataError(
            f"column {name!r} holds {found} in each cell, not one number or text; "
            "spread it over several columns, turn it into text, or leave it out"
        )


def _is_text(found: pa.DataType) -> bool:
    return bool(pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found))


def _is_time(found: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(found) and not pa.types.is_interval(found))


def _days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates as days since 1970-01-01, times of day and durations as days."""
    micro = pa.timestamp("us")
    if pa.types.is_time(column.type):
        micro = pa.time64("us")
    elif pa.types.is_duration(column.type):
        micro = pa.duration("us")
    return pc.divide(pc.cast(pc.cast(column, micro, safe=False), pa.int64()), float(_DAY))


def _measured(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that the user calls continuous, as numbers."""
    if _is_text(column.type):
        column = pc.cast(column, pa.string())
        numbers = cells.as_numbers(column)
        numbers = cells.as_dates(column) if numbers is None else numbers
        if numbers is None:
            bad = pc.index(pc.match_substring_regex(column, cells.NUMBER), False).as_py()
            raise _no_number(name, bad, column[bad].as_py())
        column = numbers
    if _is_time(column.type):
        return _days(column)
    return pc.cast(column, pa.float64()) if pa.types.is_boolean(column.type) else column


def _no_number(name: str, position: int, text: str) -> DataError:
    return DataError(
        f"column {name!r}, row {position + 1}: {text!r} is not a number",
        "write numbers as 1.5",
        way("pass {} if the column is categorical", "kinds", {name: "categorical"}),
    )


def _encode_numbers(column: pa.ChunkedArray) -> Encoded:
    missing = None
    if column.null_count:
        missing = np.asarray(pc.is_null(column).to_numpy())
    if pa.types.is_integer(column.type):
        whole = column.to_numpy() if missing is None else pc.fill_null(column, pa.scalar(0, column.type)).to_numpy()
        return Encoded("integers", whole, missing)
    values = pc.cast(column, pa.float64()).to_numpy()
    absent = np.isnan(values)
    return Encoded("numbers", values, absent if absent.any() else None)


def _encode_levels(name: str, column: pa.ChunkedArray) -> Encoded:
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
    if pa.types.is_string_view(column.type):
        column = pc.cast(column, pa.large_string())
    return _encode_dictionary(name, source, pc.dictionary_encode(column))


def _encode_categories(name: str, column: pa.ChunkedArray) -> Encoded:
    """Categories of a data frame, in their order, those that no row has included."""
    ordered = column.type.ordered
    _refuse_type(name, column.type.value_type, Categorical())
    unified = column.unify_dictionaries()
    if ordered and unified.num_chunks:
        place = {level: position for position, level in enumerate(unified.chunk(0).dictionary.to_pylist())}
        for chunk in column.chunks:
            places = [place[level] for level in chunk.dictionary.to_pylist()]
            if places != sorted(places):
                raise DataError(
                    f"column {name!r}: the order of its categories differs from one part of the table to another; "
                    f"turn the column into text and declare it ordinal with its levels in order"
                )
    return _encode_dictionary(name, "ordered categories" if ordered else "categories", unified)


def _encode_dictionary(name: str, source: str, column: pa.ChunkedArray) -> Encoded:
    if not column.num_chunks:
        return Encoded(source, np.zeros(0, np.int32), None, ())
    whole = column.combine_chunks()
    dictionary = whole.dictionary
    if len(dictionary) > MAX_LEVELS:
        raise _too_many(name, len(dictionary)) if source != "text" else _too_many_texts(name, whole)
    floating = pa.types.is_floating(dictionary.type)
    values = list(dictionary.to_numpy(zero_copy_only=False)) if floating else dictionary.to_pylist()
    # Two categories may have one text (an Arrow dictionary may hold a value twice; 1 and "1"): they are one level.
    texts: dict[str, int] = {}
    place = np.full(len(values) + 1, -1, np.int32)  # the last one is where index -1, missing, looks
    for position, value in enumerate(values):
        if value is not None and value == value:  # NaN is not itself
            place[position] = texts.setdefault(level_text(value), len(texts))
    indices = whole.indices
    positions = np.asarray(pc.fill_null(pc.cast(indices, pa.int32()), -1).to_numpy())
    codes = place[positions]
    missing = codes < 0
    return Encoded(source, codes, missing if missing.any() else None, tuple(texts))


def _too_many_texts(name: str, column: pa.DictionaryArray) -> DataError:
    """If nearly all are numbers, the few that are not are the mistake."""
    numbers = pc.match_substring_regex(column.dictionary, cells.NUMBER)
    first = pc.index(numbers, False).as_py()
    if first < 0 or pc.mean(numbers).as_py() < _NEARLY_ALL:
        return _too_many(name, len(column.dictionary))
    # A dictionary is in order of appearance, so the first text that is no number is also the first in the column.
    return _no_number(name, pc.index(column.indices, first).as_py(), column.dictionary[first].as_py())


def _too_many(name: str, levels: int) -> DataError:
    return DataError(
        f"column {name!r} has {levels:,} levels and {MAX_LEVELS:,} is the most",
        "merge levels",
        "leave the column out if it is an identifier",
        way("pass {} if it holds numbers", "kinds", {name: "continuous"}),
    )


# --- settle ---------------------------------------------------------------------------------------------------------


def settle(
    name: str, column: Encoded, declared: Kind | None, rows: Rows, missing_level: bool, add_levels: bool
) -> Column:
    """The kind of a column, its reason, and its codes or values. REQUIRES: no missing cells unless missing_level."""
    if declared is None and column.source == "integers":
        column = _few_integers(column)
    if column.texts is None:
        return _settle_continuous(name, column, declared, rows, missing_level)
    return _settle_discrete(name, column, declared, rows, missing_level, add_levels)


def _few_integers(column: Encoded) -> Encoded:
    """The column as levels if it has few distinct integers, else as it is."""
    present = column.values if column.missing is None else column.values[~column.missing]
    if len(np.unique(present[:1000])) > FEW_INTEGERS:
        return column
    distinct = np.asarray(pc.unique(pa.array(present)).sort().to_numpy())
    if len(distinct) > FEW_INTEGERS:
        return column
    if len(distinct) == 0:
        codes = np.full(len(column.values), -1, np.int32)
    else:
        codes = np.minimum(np.searchsorted(distinct, column.values), len(distinct) - 1).astype(np.int32)
    if column.missing is not None:
        codes[column.missing] = -1
    return replace(column, values=codes, texts=tuple(str(value) for value in distinct))


def _settle_continuous(name: str, column: Encoded, declared: Kind | None, rows: Rows, missing_level: bool) -> Column:
    if column.missing is not None:
        assert missing_level, "missing cells past the door: our bug"
        raise DataError(
            f"column {name!r}, row {rows.number(int(column.missing.argmax()))}: missing, and the level 'missing' is "
            "for discrete columns, while this one is continuous",
            "fill the cells",
            way("choose {}", "missing", "drop"),
        )
    # Adding 0.0 makes -0.0 and 0.0 one number, and a copy: until here the array may be the memory of the user's frame.
    values = column.values.astype(np.float64, copy=False) + 0.0
    lo, hi = float(values.min()), float(values.max())
    if not np.isfinite(lo) or not np.isfinite(hi):
        bad = int(np.isinf(values).argmax())
        raise DataError(
            f"column {name!r}, row {rows.number(bad)}: {values[bad]} is not finite; "
            "write a number, leave the cell empty, or leave the row out"
        )
    notes = []
    if column.source == "integers":
        reason = f"integers, more than {FEW_INTEGERS} distinct"
        if max(abs(int(column.values.min())), abs(int(column.values.max()))) > _EXACT_INTEGERS:
            notes.append(f"column {name!r} has integers beyond 2^53, which are rounded to 53 bits")
    else:
        reason = "decimal numbers"
        if declared is None and lo < hi and _few_whole_numbers(values):
            notes.append(
                f"column {name!r} has at most {FEW_INTEGERS} distinct whole numbers written as decimals and is "
                f"taken as continuous; pass kinds={{{name!r}: 'categorical'}} if they are categories"
            )
    if declared is not None:
        assert isinstance(declared, Continuous)
        reason = "user"
        _refuse_outside(name, values, declared, rows)
        lo = lo if declared.lo is None else declared.lo
        hi = hi if declared.hi is None else declared.hi
    if values.min() == values.max():
        notes.append(f"column {name!r} is constant: every row has {lo!r}")
    return Column(Continuous(lo, hi), reason, values, tuple(notes))


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


def _settle_discrete(
    name: str, column: Encoded, declared: Kind | None, rows: Rows, missing_level: bool, add_levels: bool
) -> Column:
    assert column.texts is not None and not isinstance(declared, Continuous)
    codes = column.values.astype(np.int32, copy=False)
    present = codes if column.missing is None else codes[~column.missing]
    counts = np.bincount(present, minlength=len(column.texts))
    seen = [text for text, count in zip(column.texts, counts, strict=True) if count]
    notes: list[str] = []
    if declared is not None and declared.levels is not None:
        levels = declared.levels
        place = _places(column, levels)
        unknown = np.flatnonzero((place[:-1] < 0) & (counts > 0))
        if len(unknown) and not add_levels:
            raise _not_a_level(name, column, levels, unknown, rows)
        place[unknown] = range(len(levels), len(levels) + len(unknown))
        levels += tuple(column.texts[code] for code in unknown)
    else:
        if declared is None and column.source == "text":
            notes = _doubts_about_text(name, seen, column, rows)
        levels = _level_order(name, column, seen, declared)
        position = {level: at for at, level in enumerate(levels)}
        place = np.array([position.get(text, -1) for text in column.texts] + [-1], np.int32)
    if column.missing is not None:
        assert missing_level, "missing cells past the door: our bug"
        levels = _with_missing_level(name, levels, declared, seen, column, notes)
        place[-1] = levels.index(MISSING_LEVEL)
    if len(levels) > MAX_LEVELS:
        raise _too_many(name, len(levels))
    final = place[codes].astype(code_type(levels))
    assert int(place[codes].min()) >= 0, "a cell without a level: our bug"
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
    return column.source


def _places(column: Encoded, levels: tuple[str, ...]) -> Codes:
    """For each text its place among the levels declared; -1 if it has none, and, last, for what is missing."""
    assert column.texts is not None
    position = {level: at for at, level in enumerate(levels)}
    place = np.array([position.get(text, -1) for text in column.texts] + [-1], np.int32)
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
    name: str, levels: tuple[str, ...], declared: Kind | None, seen: list[str], column: Encoded, notes: list[str]
) -> tuple[str, ...]:
    """The levels with one for the missing cells. Levels that the user named are not added to."""
    if declared is not None and declared.discrete and getattr(declared, "levels", None) is not None:
        if MISSING_LEVEL in levels:
            return levels
        raise DataError(
            f"column {name!r} has missing cells, and kinds names its levels without {MISSING_LEVEL!r}; "
            f"add the level {MISSING_LEVEL!r} in its place",
            way("choose {}", "missing", "drop"),
        )
    if MISSING_LEVEL in levels:
        raise DataError(
            f"column {name!r} has missing cells and also a level {MISSING_LEVEL!r} of its own; rename that level, "
            f"or name all levels in kinds, {MISSING_LEVEL!r} among them, to make the two one"
        )
    assert column.missing is not None
    ordinal = isinstance(declared, Ordinal) or column.source == "ordered categories"
    last = ", as the last in the order" if ordinal else ""
    count = int(column.missing.sum())
    notes.append(f"column {name!r}: missing cells ({count:,}) are the level {MISSING_LEVEL!r}{last}")
    return (*levels, MISSING_LEVEL)


def _doubts_about_text(name: str, seen: list[str], column: Encoded, rows: Rows) -> list[str]:
    """What looks odd about text that nobody declared."""
    assert column.texts is not None
    commas = [text for text in seen if _DECIMAL_COMMA.fullmatch(text)]
    numbers = [text for text in seen if _NUMBER.match(text)]
    if commas and len(commas) + len(numbers) == len(seen):
        row = rows.number(int((column.values == column.texts.index(commas[0])).argmax()))
        raise DataError(
            f"column {name!r}, row {row}: {commas[0]!r} looks like a number with a decimal comma",
            "write it with a point",
            way("pass {} if it is a category", "kinds", {name: "categorical"}),
        )
    notes = []
    if len(seen) > len(numbers) >= _NEARLY_ALL * len(seen):
        others = set(seen) - set(numbers)
        bad = int(np.isin(column.values, [at for at, text in enumerate(column.texts) if text in others]).argmax())
        text = column.texts[int(column.values[bad])]
        notes.append(
            f"column {name!r} is text because of row {rows.number(bad)}, {text!r}, while nearly all its values are "
            f"numbers; correct the cell if the column is continuous"
        )
    if len(column.values) >= _ROWS_TO_JUDGE and len(seen) > _NEARLY_ALL * len(column.values):
        notes.append(
            f"column {name!r} has {len(seen):,} different texts in {len(column.values):,} rows: it looks like an "
            "identifier, from which nothing can be learned, and is better left out"
        )
    stripped: dict[str, str] = {}
    for text in seen:
        twin = stripped.setdefault(text.strip(), text)
        if twin != text:
            notes.append(f"column {name!r}: the levels {twin!r} and {text!r} differ only in the spaces around them")
            break
    return notes


def shown(names: tuple[str, ...], most: int = 10) -> str:
    """Names for a message: all, or the first few and how many more."""
    listed = ", ".join(repr(name) for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most:,} more"
