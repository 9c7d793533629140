"""Numbers and dates as people write them.

In:  a column of text that is neither plain numbers nor ISO dates, and the decimal mark of the file.
Out: its numbers, days or texts, what had to be assumed, and which cells are taken as missing; None: it is text.
All is decided on the distinct texts: 1.234,50 EUR, 37.5 cm, 12 %, <0.5, 25.05.2023 14:30, 05/25/2023, 08:15."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spinney.cells import Found
from spinney.packed import Cells, Packed, distinct, per_value

# In a column of numbers or dates a cell with one of these, in small or capital letters, is missing.
MARKERS = (
    "?", "-", "--", "---", ".", "..", "...", "–", "—", "none", "nil", "null", "na", "n/a", "n.a.",
    "nan", "nd", "n.d.", "unknown", "unbekannt", "missing", "fehlt", "k.a.", "k. a.", "ka", "keine angabe",
    "not available", "not known", "not measured", "not done", "undefined", "(null)", "#n/a", "#na", "#div/0!",
    "#value!", "#wert!", "#ref!", "#bezug!", "#name?", "#num!", "#zahl!", "#null!",
)  # fmt: skip

FEW = 10  # with units, at most so many different numbers stay text: 10mg, 20mg, 40mg are categories
_ODD_SHARE = 0.01  # other texts in a column of numbers: so many are mistakes, more make it text
_ONE_ODD = 20  # from so many numbers on, a single other text is a mistake too
_CURRENCIES = r"[$€£¥]|US\$|USD|EUR|CHF|GBP|Fr\.|Euro"
_UNIT = r"%|‰|°\s?[CFK]?|[A-Za-zµμΩäöüÄÖÜß]{1,12}[²³23]?\.?(?:\s?/\s?[A-Za-zµμ0-9²³]{1,12})?"
_SPACES = "\u00a0\u2009\u202f "
_DIGITS = rf"[0-9][0-9.,'’{_SPACES}]*[0-9]|[0-9]"
# Other ways to write -12.50: with the minus before the currency or, with two decimals, at the end; a typographic minus.
_MINUS = (
    ("^−", "-"),
    (rf"^-\s*({_CURRENCIES})\s*({_DIGITS})$", r"\1-\2"),
    (rf"^({_CURRENCIES})?\s*((?:{_DIGITS})[.,][0-9]{{2}})\s?-$", r"\1-\2"),
)
_BRACKETS = rf"^\(\s*({_CURRENCIES})?\s*({_DIGITS})\s*({_CURRENCIES})?\s*\)$"  # of accountants
_PATTERN = (
    r"^(?P<sign>[<>≤≥]=?|ca\.|~)?\s*"
    rf"(?P<before>{_CURRENCIES})?\s*"
    rf"(?P<number>[+-]?(?:[0-9][0-9.,'’{_SPACES}]*[0-9]|[0-9][.,]?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?)\s*"
    rf"(?P<after>{_CURRENCIES}|{_UNIT})?$"
)
_GROUPED = r"[0-9]+|[0-9]{{1,3}}(?:[{}][0-9]{{3}})+"
_EXPONENT = r"(?:[eE][+-]?[0-9]+)?$"
_STYLES = {
    ".": rf"^[+-]?(?:(?:{_GROUPED.format(',' + chr(39) + '’' + _SPACES)})(?:\.[0-9]*)?|\.[0-9]+){_EXPONENT}",
    ",": rf"^[+-]?(?:(?:{_GROUPED.format('.' + chr(39) + '’' + _SPACES)})(?:,[0-9]*)?|,[0-9]+){_EXPONENT}",
}
# Texts that only one of the two decimal marks can have written.
_SURELY = {
    ".": r"^[^,]*\.(?:[0-9]{1,2}|[0-9]{4,})(?:[^0-9.,].*)?$|[0-9],[0-9]{3}\.|^[^0-9]*0?\.[0-9]",
    ",": r"^[^.]*,(?:[0-9]{1,2}|[0-9]{4,})(?:[^0-9.,].*)?$|[0-9]\.[0-9]{3},|^[^0-9]*0?,[0-9]",
}
_DATE = (
    r"^(?P<a>[0-9]{1,4})(?P<mark>[./-])(?P<b>[0-9]{1,2})[./-](?P<c>[0-9]{2,4})"
    r"(?:[T,\s]+(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,][0-9]+)?)?\s*(?P<half>[AaPp][Mm])?)?$"
)
_TIME = (
    r"^(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,][0-9]+)?)?"
    r"(?:\s*(?P<half>[AaPp][Mm])|\s*Uhr)?$"
)
_SHORT_YEAR = 69  # two digits below it are 20.., the others 19.., as in POSIX

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass
class _Texts:
    """The distinct texts of a column, how often each occurs, and which are markers of a missing cell."""

    codes: npt.NDArray[np.int64]  # of the cells, or of a packed column's values; -1: missing
    texts: pa.Array
    counts: npt.NDArray[np.int64]
    marked: Mask
    packed: Packed | None = None

    @classmethod
    def of(cls, column: Cells) -> _Texts:
        tidied = pc.utf8_trim_whitespace(pc.cast(distinct(column), pa.string()))
        whole = pc.dictionary_encode(tidied).combine_chunks()
        if isinstance(whole, pa.ChunkedArray):
            whole = whole.chunk(0)
        codes = np.asarray(pc.fill_null(pc.cast(whole.indices, pa.int64()), -1).to_numpy())
        texts = whole.dictionary
        packed = column if isinstance(column, Packed) else None
        counts = np.zeros(len(texts), np.int64)
        if packed is None:
            counts += np.bincount(codes[codes >= 0], minlength=len(texts))
        else:
            np.add.at(counts, codes[codes >= 0], packed.counts[codes >= 0])
        marked = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(["", *MARKERS]))
        return cls(codes, texts, counts, _mask(marked), packed)

    def first_row(self, of_text: Mask) -> tuple[int, str]:
        """The first row that has one of these texts, and the text."""
        place = int(np.append(of_text, False)[self.codes].argmax())
        text: str = self.texts[int(self.codes[place])].as_py()
        return place if self.packed is None else self.packed.row_of(place), text


@dataclass
class _Read:
    """One way to understand the texts: a value per distinct text, NaN where it has none."""

    values: Floats
    reason: str
    notes: list[str] = field(default_factory=list)
    measured: bool = True  # few distinct values are still numbers
    whole: bool = False  # integers, written so


def understood(name: str, column: Cells, decimal: str | None, forced: bool) -> Found | None:
    """The column as numbers or days, if that is what it holds; `forced`: the user says that it does."""
    if len(column) == column.null_count:
        return None
    texts = _Texts.of(column)
    rest = ~texts.marked
    if not rest.any():
        return None
    for read in (_numbers(name, texts, decimal, forced), _dates(name, texts), _times(texts)):
        if read is not None and _good(texts, read, forced):
            return _found(name, texts, read)
    return None


@per_value
def question_marks(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of text in which a cell that is only a question mark is missing, and spaces around are taken away."""
    tidied = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(tidied, "?"), pa.scalar(None, tidied.type), tidied)


def file_decimal(columns: Iterable[Cells]) -> str | None:
    """The decimal mark that most columns surely have; None if no column has a comma in its numbers, or all may have
    both."""
    votes = {",": 0, ".": 0, "either": 0, "none": 0}
    pointed = []
    for cells in columns:
        column = distinct(cells)
        if pc.any(pc.match_substring(column, ",")).as_py():
            votes[_vote(pc.unique(column))] += 1
        elif pc.any(pc.match_substring(column, ".")).as_py():
            pointed.append(column)
    if not votes[","] and not votes["either"]:
        return None
    for column in pointed:
        votes["."] += _vote(pc.unique(column)) == "."
    if not votes[","] and not votes["."]:
        return None
    return "," if votes[","] >= votes["."] else "."


def _vote(distinct: pa.Array) -> str:
    """The mark that the texts surely have; 'either' if they are numbers with both, 'none' if they are no numbers."""
    texts = pc.utf8_trim_whitespace(distinct.drop_null())
    numbers = texts.filter(pc.match_substring_regex(texts, _PATTERN))
    if 2 * len(numbers) <= len(texts):
        return "none"
    surely = {mark: int(pc.sum(pc.match_substring_regex(numbers, _SURELY[mark])).as_py() or 0) for mark in _SURELY}
    if surely[","] == surely["."]:
        return "either"
    return "," if surely[","] > surely["."] else "."


# --- numbers --------------------------------------------------------------------------------------------------------


def _numbers(name: str, texts: _Texts, decimal: str | None, forced: bool) -> _Read | None:
    written, bracketed = _with_minus(texts.texts)
    parts = pc.extract_regex(written, _PATTERN)
    fits = _mask(pc.is_valid(parts)) & ~texts.marked
    if not fits.any():
        return None
    sign, before, number, after = (_part(parts, part) for part in ("sign", "before", "number", "after"))
    units = _one_unit(before, after, fits)
    if units is None:
        return None
    style, ambiguous = _style(number, fits, decimal)
    if style is None:
        return None
    fits &= _mask(pc.match_substring_regex(number, _STYLES[style]))
    if not units and bool((fits & _mask(pc.match_substring_regex(number, "^[+-]?0[0-9]"))).any()):
        return None  # codes such as 007
    plain = _plain(number, style, fits)
    values = np.asarray(pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    whole = not pc.any(pc.match_substring_regex(plain, "[.eE]")).as_py()
    if whole and not units and not forced and (np.abs(values[fits]) > 2**53).any():
        return None  # as decimals, different ones would be the same
    notes = []
    signed = fits & ~_mask(pc.equal(sign, ""))
    if signed.any():
        count, example = int(texts.counts[signed].sum()), texts.texts[int(signed.argmax())].as_py()
        notes.append(f"column {name!r}: {_cells(count)} such as {example!r} {_are(count)} taken as the number itself")
    if (bracketed & fits).any():
        count, example = (
            int(texts.counts[bracketed & fits].sum()),
            texts.texts[int((bracketed & fits).argmax())].as_py(),
        )
        notes.append(f"column {name!r}: {_cells(count)} such as {example!r} {_are(count)} taken as negative numbers")
    if ambiguous:
        example = texts.texts[int(ambiguous[0])].as_py()
        value = f"{values[ambiguous[0]]:.15g}"
        why = " as in the other columns" if decimal else ""
        notes.append(f"column {name!r}: {example!r} is read as {value}{why}; name the decimal mark if that is wrong")
    return _Read(values, _how(units, style, number, fits), notes, not units, whole and not units and not forced)


def _with_minus(texts: pa.Array) -> tuple[pa.Array, Mask]:
    """The texts with every minus before its number, and which of them had brackets instead. If all have brackets, they
    mean something else."""
    for pattern, plain in _MINUS:
        texts = pc.replace_substring_regex(texts, pattern, plain)
    bracketed = _mask(pc.match_substring_regex(texts, _BRACKETS))
    if not bracketed.any() or not (~bracketed & _mask(pc.match_substring_regex(texts, _PATTERN))).any():
        return texts, np.zeros(len(texts), np.bool_)
    return pc.replace_substring_regex(texts, _BRACKETS, r"\1-\2\3"), bracketed


def _one_unit(before: pa.Array, after: pa.Array, fits: Mask) -> str | None:
    """The unit or currency that all numbers have that have one; '' for none, None if there are several."""
    found: set[str] = set()
    for part in (before, after):
        here = pc.unique(part.filter(pa.array(fits))).to_pylist()
        found |= {text.strip().rstrip(".").lower() for text in here if text}
    if len(found) > 1:
        return None
    shown = [text for part in (after, before) for text in pc.unique(part.filter(pa.array(fits))).to_pylist() if text]
    return str(shown[0]) if shown else ""


def _style(number: pa.Array, fits: Mask, decimal: str | None) -> tuple[str | None, list[int]]:
    """The decimal mark of the column, and the numbers that could be read with the other one too."""
    able = {mark: _mask(pc.match_substring_regex(number, _STYLES[mark])) & fits for mark in _STYLES}
    totals = {mark: int(mask.sum()) for mark, mask in able.items()}
    if not any(totals.values()):
        return None, []
    if totals[","] != totals["."]:
        return ("," if totals[","] > totals["."] else "."), []
    style = decimal or "."
    doubtful = able[","] & able["."] & _mask(pc.match_substring_regex(number, "[.,]"))
    return style, np.flatnonzero(doubtful)[:1].tolist()


def _plain(number: pa.Array, style: str, fits: Mask) -> pa.Array:
    """The numbers as Python writes them."""
    plain = pc.replace_substring_regex(number, rf"[{'.' if style == ',' else ','}'’{_SPACES}]", "")
    if style == ",":
        plain = pc.replace_substring(plain, ",", ".")
    plain = pc.replace_substring(plain, "+", "")
    return pc.if_else(pa.array(fits), plain, pa.scalar(None, pa.string()))


def _how(units: str, style: str, number: pa.Array, fits: Mask) -> str:
    here = number.filter(pa.array(fits))
    comma = style == "," and bool(pc.any(pc.match_substring(here, ",")).as_py())
    words = "numbers with a decimal comma" if comma else "numbers"
    if units == "%":
        return words.replace("numbers", "percentages")
    return f"{words} in {units}" if units else words


# --- dates and times ------------------------------------------------------------------------------------------------


def _dates(name: str, texts: _Texts) -> _Read | None:
    parts = pc.extract_regex(texts.texts, _DATE)
    fits = _mask(pc.is_valid(parts)) & ~texts.marked
    if not fits.any():
        return None
    first, second, third = (_integers(parts, part) for part in "abc")
    year_first = fits & _mask(pc.equal(pc.utf8_length(_part(parts, "a")), 4))
    if (year_first[fits]).all():
        order, note = "year first", []
        year, month, day = first, second, third
    elif not year_first.any():
        marks = set(_part(parts, "mark").filter(pa.array(fits)).to_pylist())
        day_first = _day_first(first[fits], second[fits], marks)
        if day_first is None:
            return None
        order = "day first" if day_first else "month first"
        sure = bool((first[fits] > 12).any() or (second[fits] > 12).any() or marks == {"."})
        example = texts.texts[int(fits.argmax())].as_py()
        note = [] if sure else [f"column {name!r}: dates such as {example!r} are read with the {order}"]
        day, month = (first, second) if day_first else (second, first)
        year = np.where(third < 100, np.where(third < _SHORT_YEAR, 2000, 1900) + third, third)
    else:
        return None
    values = _days(year, month, day, fits)
    clock = _clock(parts)
    values += np.where(np.isnan(clock), 0.0, clock)
    return _Read(values, f"dates ({order}), as days since 1970-01-01", note)


def _day_first(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], marks: set[str]) -> bool | None:
    if (first > 12).any() and (second > 12).any():
        return None
    if (first > 12).any():
        return True
    if (second > 12).any():
        return False
    return "/" not in marks  # 05/06/2023 is American more often than not, 05.06.2023 and 05-06-2023 are not


def _days(year: npt.NDArray[np.int64], month: npt.NDArray[np.int64], day: npt.NDArray[np.int64], fits: Mask) -> Floats:
    """Days since 1970-01-01; NaN where there is no such day."""
    able = fits & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    months = (np.where(able, year, 1970) - 1970) * 12 + np.where(able, month, 1) - 1
    dates = months.astype("datetime64[M]").astype("datetime64[D]") + (np.where(able, day, 1) - 1)
    able &= dates.astype("datetime64[M]").astype(np.int64) == months
    return np.where(able, dates.astype(np.int64).astype(np.float64), np.nan)


def _times(texts: _Texts) -> _Read | None:
    parts = pc.extract_regex(texts.texts, _TIME)
    if not (_mask(pc.is_valid(parts)) & ~texts.marked).any():
        return None
    return _Read(_clock(parts), "times of day, as a share of the day")


def _clock(parts: pa.StructArray) -> Floats:
    """Hour, minute and second as a share of a day; NaN where there is no such time."""
    hour, minute, second = (_integers(parts, part) for part in ("hour", "minute", "second"))
    half = [text.lower() for text in _part(parts, "half").to_pylist()]
    afternoon = np.array([text == "pm" for text in half], dtype=bool)
    twelve = np.array([text != "" for text in half], dtype=bool) & (hour == 12)
    hour = hour + 12 * (afternoon & ~twelve) - 12 * (twelve & ~afternoon)
    able = (hour >= 0) & (hour <= 24) & (minute < 60) & (np.maximum(second, 0) < 60)
    return np.where(able, (3600 * hour + 60 * minute + np.maximum(second, 0)) / 86_400, np.nan)


# --- what is missing, what is odd -----------------------------------------------------------------------------------


def _good(texts: _Texts, read: _Read, forced: bool) -> bool:
    """Whether nearly all cells, the markers of missing ones apart, have a value."""
    known = ~np.isnan(read.values)
    present = int(texts.counts[~texts.marked].sum())
    valued = int(texts.counts[known].sum())
    odd = present - valued
    if forced:
        return 2 * valued > present
    distinct = len(np.unique(read.values[known]))
    if odd and (distinct <= FEW or (odd > _ODD_SHARE * present and not (odd == 1 and present > _ONE_ODD))):
        return False
    return distinct > (0 if read.measured else FEW)


def _found(name: str, texts: _Texts, read: _Read) -> Found:
    unknown = np.isnan(read.values)
    values = np.append(read.values, np.nan)[texts.codes]  # the last one is where -1, missing, looks
    notes = list(read.notes)
    for at in np.flatnonzero(texts.marked & (texts.counts > 0)):
        text, count = texts.texts[int(at)].as_py(), int(texts.counts[at])
        if text:
            notes.append(f"column {name!r}: {_cells(count)} {text!r} {_are(count)} taken as missing")
    odd = unknown & ~texts.marked
    if odd.any():
        count = int(texts.counts[odd].sum())
        row, text = texts.first_row(odd)
        more = f" and {count - 1:,} more such cells" if count > 1 else ""
        notes.append(
            f"column {name!r}, row {row + 1}: {text[:60]!r}{more} {_are(count)} taken as missing, the others are "
            f"{read.reason.split(',')[0].split(' (')[0]}"
        )
    column: pa.Array = pa.array(values, from_pandas=True)
    if read.whole:
        column = pc.cast(column, pa.int64())
    cells = pa.chunked_array([column]) if texts.packed is None else texts.packed.with_values(column)
    return Found(cells, None if read.reason == "numbers" else read.reason, tuple(notes))


def _cells(count: int) -> str:
    return f"{count:,} cell{'s' * (count != 1)}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _mask(values: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), dtype=bool)


def _part(parts: pa.StructArray, name: str) -> pa.Array:
    return pc.fill_null(pc.struct_field(parts, name), "")


def _integers(parts: pa.StructArray, name: str) -> npt.NDArray[np.int64]:
    """The part as integers; -1 where it is absent."""
    texts = _part(parts, name)
    return np.asarray(pc.cast(pc.if_else(pc.equal(texts, ""), "-1", texts), pa.int64()).to_numpy())
