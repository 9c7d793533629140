"""What is doubtful about a column.

In:  an Encoded column without a declared kind, and its name.
Out: why nothing can be learned from it, if that is so: it is then left out; or what looks odd about its texts.
The rules are those of docs/data-kinds.md, and a declared kind overrules each of them."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from spinney.columns import Encoded, Rows
from spinney.packed import counted

ROWS_TO_JUDGE = 20  # fewer rows do not make an identifier
NEARLY_ALL = 0.9  # the share of different values that makes one
LEAST_COVERED = 0.1  # the most frequent levels together have at least this share of the rows, or it is free text
_BEYOND_FLOATS = 2**53  # integers above it are not exact as float64

_IDS = {"id", "ids", "uid", "uuid", "guid", "pid", "sid", "nr", "key", "rowid", "caseid", "patid", "userid", "ssn"}
_NUMBERS = {"no", "num", "number", "nummer", "index", "idx", "code"}  # of a thing, not a count or a measure
_THINGS = {
    "row", "record", "case", "patient", "patienten", "subject", "sample", "customer", "kunden", "fall", "order",
    "account", "serial", "line", "entry", "invoice", "lfd", "laufende", "obs", "observation", "member", "client",
}  # fmt: skip
_TIMES = {
    "year", "jahr", "time", "zeit", "date", "datum", "day", "days", "tag", "tage", "month", "monat", "week", "woche",
    "hour", "stunde", "minute", "second", "epoch", "step", "t",
}  # fmt: skip


def useless(name: str, column: Encoded, most_levels: int) -> str | None:
    """Why nothing can be learned from the column, or None. REQUIRES: its kind is not declared."""
    present = column.present()
    if len(present) == 0:
        return "all of its cells are empty"
    if len(column.values) == 1:
        return None  # of one row every column is constant
    if (present == present[0]).all():
        value = column.texts[int(present[0])] if column.texts is not None else present[0]
        holes = column.missing is not None
        if holes and column.texts is not None:
            return None  # that it is missing may say something
        return f"constant ({'every cell that is not empty' if holes else 'every row'} has {_short(str(value))!r})"
    if len(present) < ROWS_TO_JUDGE:
        return None
    return _text_identifier(name, column, present, most_levels) if column.texts else _number_identifier(name, present)


def _text_identifier(name: str, column: Encoded, codes: npt.NDArray[np.generic], most_levels: int) -> str | None:
    if column.source not in ("text", "categories", "integers"):
        return None
    assert column.texts is not None
    counts = counted(codes, len(column.texts))
    rows, distinct = len(codes), int((counts > 0).sum())
    count = f"{distinct:,} different {'integers' if column.source == 'integers' else 'texts'} in {rows:,} rows"
    if distinct > NEARLY_ALL * rows:
        return f"an identifier ({count})"
    if distinct > most_levels and named_like_an_identifier(name):
        return f"an identifier by its name ({count})"
    if distinct > most_levels:
        covered = int(np.sort(counts)[1 - most_levels :].sum())
        if covered < LEAST_COVERED * rows:
            return f"free text ({count}, the {most_levels - 1} most frequent in {covered:,} rows)"
    return None


def _number_identifier(name: str, values: npt.NDArray[np.generic]) -> str | None:
    """Whole numbers that number the rows. An income, all different too, does neither run nor call itself an id."""
    if np.issubdtype(values.dtype, np.floating):
        if not (np.isfinite(values) & (values == np.floor(values))).all():
            return None
        if float(np.abs(values).max()) >= _BEYOND_FLOATS:
            return None
        values = values.astype(np.int64)
    rows, lowest, highest = len(values), int(values.min()), int(values.max())
    if highest - lowest == rows - 1 and not set(words_of(name)) & _TIMES and len(np.unique(values)) == rows:
        return f"a running number ({lowest} to {highest}, each once)"
    beyond = max(-lowest, highest) > _BEYOND_FLOATS
    if not beyond and not named_like_an_identifier(name):
        return None
    distinct = len(np.unique(values))
    if distinct <= NEARLY_ALL * rows:
        return None
    why = "integers beyond 2^53" if beyond else "by its name"
    return f"an identifier ({why}, {distinct:,} different integers in {rows:,} rows)"


def words_of(name: str) -> list[str]:
    """The words of a name: 'PatientenID_2' -> patienten, id, 2."""
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[^\W\d_]+|\d+", apart)]


def named_like_an_identifier(name: str) -> bool:
    words = words_of(name)
    if not words:
        return False
    if set(words) & _IDS or words[-1].endswith(("nummer", "kennung")) or re.fullmatch(r"[a-zäöü]{3,}nr", words[-1]):
        return True
    return words[-1] in _NUMBERS and (len(words) == 1 or bool(set(words) & _THINGS))


def odd_texts(name: str, seen: list[str], column: Encoded, rows: Rows, is_number: re.Pattern[str]) -> list[str]:
    """What looks odd about the texts of a column without a declared kind."""
    assert column.texts is not None
    notes = []
    numbers = [text for text in seen if is_number.match(text)]
    if len(seen) > len(numbers) >= NEARLY_ALL * len(seen):
        others = set(seen) - set(numbers)
        bad = int(np.isin(column.values, [at for at, text in enumerate(column.texts) if text in others]).argmax())
        text = column.texts[int(column.values[bad])]
        notes.append(
            f"column {name!r} is text because of row {rows.number(bad)}, {_short(text)!r}, while nearly all its "
            f"values are numbers; declare it continuous to take such cells as missing"
        )
    if len(seen) > 1 and named_like_an_identifier(name) and len(column.values) >= ROWS_TO_JUDGE:
        notes.append(f"column {name!r} is named like an identifier; exclude it if it is one")
    small: dict[str, str] = {}
    for text in seen:
        twin = small.setdefault(text.casefold(), text)
        if twin != text:
            notes.append(
                f"column {name!r}: the levels {_short(twin)!r} and {_short(text)!r} differ only in small and capital "
                "letters and stay two levels"
            )
            break
    return notes


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
