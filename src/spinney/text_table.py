"""Text tables: CSV and its relatives.

In:  the bytes of a text file, as people and programs write them.
Out: a RawTable whose cells are the text in the file, exactly as it stands there, with notes on what was guessed.
pyarrow parses; what it would guess or refuse without a line number is decided here first."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv

from spinney.errors import FileFormatError, way
from spinney.header import Header, find_header, is_number, usual_width
from spinney.quotes import line_ends_in_cells
from spinney.raw_table import RawTable, counted, first_line, from_cells
from spinney.text_bytes import as_utf8, line_of

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SPACE = " "  # R separates cells by it; looked for where none of the others separates anything, except in a .csv
_SPACES_AROUND = re.compile(rb"(?m)^ +| +(?=\r?$)")
_SPACES_BETWEEN = re.compile(rb" {2,}")

_SAMPLE = 65_536  # bytes of the beginning that delimiter and header are found in; more if its lines are long
LARGEST_SAMPLE = 1 << 25
_LINES = 20  # that the sample should hold
_RECORDS = 200  # that are looked at
_LONGEST_NAME = 10_000
_MOST_COLUMNS = 200_000
BLOCK = 1 << 22  # bytes that pyarrow parses at a time; a longer row needs a larger block
_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9.]*[0-9],[0-9]+\s*")


@dataclass(frozen=True)
class _Sample:
    """The first records, and where each ends."""

    records: list[list[str]]
    ends: list[int]
    text: str


@dataclass(frozen=True)
class Beginning:
    """What the first lines say of a text table."""

    delimiter: str
    header: Header
    start: int  # the byte at which the rows begin
    notes: tuple[str, ...]


def read_text_table(raw: bytes, label: str, delimiter: str | None, encoding: str | None, suffix: str) -> RawTable:
    data, notes = as_utf8(raw, encoding, label)
    head = head_of(data)
    delimiter = delimiter or found_delimiter(head, suffix)
    if delimiter == SPACE:
        notes.append("cells are separated by spaces")
        if b'"' not in data:  # columns may be aligned by several spaces
            data = _SPACES_BETWEEN.sub(b" ", _SPACES_AROUND.sub(b"", data))
            head = head_of(data)
    begun = beginning(data, head, delimiter, label)
    notes += begun.notes
    long_cells, said = line_ends_in_cells(data, delimiter, len(begun.header.names), label)
    body = pa.py_buffer(data).slice(begun.start)
    table = _parsed(body, delimiter, len(begun.header.names), long_cells)
    if table is None:
        table = _mended(data, begun.start, label, delimiter, begun.header, notes)
    return from_cells(begun.header.names, table.columns, [*notes, *said])


def found_delimiter(head: str, suffix: str) -> str:
    return "\t" if suffix == ".tsv" and "\t" in head else _sniffed(head, suffix)


def beginning(data: bytes, head: str, delimiter: str, label: str, whole: bool = True) -> Beginning:
    """The header and where the rows begin. `data`: the text, or, if not `whole`, more of it than `head`."""
    notes = []
    sample = _split(head, delimiter, whole=whole and len(head.encode()) == len(data))
    header = find_header(sample.records)
    if header is None:
        raise FileFormatError(f"{label} holds only empty lines; give a table with a header line")
    start = len(head[: sample.ends[header.record]].encode())
    line = line_of(data, len(head[: sample.ends[header.record - 1]].encode())) if header.record else 1
    _check_names(header.names, label, line)
    if header.skipped:
        notes.append(f"skipped {counted(header.skipped, 'line')} before the header")
    if all(is_number(name) for name in header.names):
        notes.append(f"the first line of {label} was taken as column names, though all of them are numbers")
    return Beginning(delimiter, header, start, tuple(notes))


def _check_names(names: tuple[str, ...], label: str, line: int) -> None:
    longest = max(map(len, names))
    if longest > _LONGEST_NAME:
        raise FileFormatError(
            f"{label}, line {line}: a column name in the header is {longest:,} characters long; "
            "is a line end missing after the header, or is this file no table? Correct the header line"
        )
    if len(names) > _MOST_COLUMNS:
        raise FileFormatError(
            f"{label}, line {line}: the header names {len(names):,} columns and {_MOST_COLUMNS:,} are the most; "
            "select some, or exchange rows and columns if each line is a variable"
        )


def head_of(data: bytes) -> str:
    """The beginning, as long as it takes to hold some lines."""
    size = _SAMPLE
    while size < min(len(data), LARGEST_SAMPLE):
        head = data[:size]
        if head.count(b"\n") + head.count(b"\r") >= _LINES:
            break
        size *= 8
    return data[:size].decode("utf-8", errors="ignore")  # the last character may be cut


def _split(text: str, delimiter: str, whole: bool) -> _Sample:
    """The first records as any reader of CSV splits them; a last one that may be cut off is left out."""
    mark = re.escape(delimiter)
    cell = re.compile(rf'(?:"([^"]*(?:""[^"]*)*)"?([^{mark}\r\n]*)|([^{mark}\r\n]*))({mark}|\r\n|\r|\n|\Z)')
    records: list[list[str]] = []
    ends: list[int] = []
    record: list[str] = []
    place = 0
    while len(records) < _RECORDS and (place < len(text) or record):
        found = cell.match(text, place)
        assert found is not None  # the pattern takes any text
        quoted, rest, plain, end = found.groups()
        record.append(plain if quoted is None else quoted.replace('""', '"') + rest)
        place = found.end()
        if end == delimiter:
            continue
        if end == "" and not whole and records:
            break
        records.append(record)
        ends.append(place)
        record = []
    return _Sample(records, ends, text)


def _sniffed(head: str, suffix: str) -> str:
    """The delimiter under which most first records have one number of cells; among equals the more cells."""
    best, most = ",", (0.0, 1)
    found: dict[str, tuple[float, int]] = {}
    for delimiter in DELIMITERS:
        if delimiter not in head:
            continue
        width, share = usual_width(_split(head, delimiter, whole=len(head) < _SAMPLE).records)
        if width > 1:
            found[delimiter] = (share, width)
            if (share, width) > most:
                best, most = delimiter, (share, width)
    if not found:
        return SPACE if suffix != ".csv" and _separated_by_spaces(head) else ","
    if best == ",":
        # Every number of "1,5;2,5" has a comma, so commas may look as regular as the delimiter.
        for delimiter, (share, _) in found.items():
            if delimiter != "," and share >= most[0] and _has_decimal_commas(head, delimiter):
                return delimiter
    return best


def _separated_by_spaces(head: str) -> bool:
    """Do spaces split every line into the same number of cells? In R's files the header may lack one."""
    if '"' not in head:
        head = re.sub(" +", " ", re.sub(r"(?m)^ +| +(?=\r?$)", "", head))
    records = [record for record in _split(head, SPACE, whole=len(head) < _SAMPLE).records if record != [""]]
    widths = {len(record) for record in records[1:]}
    header = find_header(records)
    return len(records) > 2 and len(widths) == 1 and header is not None and {len(header.names)} == widths != {1}


def _has_decimal_commas(head: str, delimiter: str) -> bool:
    records = _split(head, delimiter, whole=True).records[1:]
    with_comma = [cell for record in records for cell in record if "," in cell]
    return 2 * sum(_DECIMAL_COMMA.fullmatch(cell) is not None for cell in with_comma) > len(with_comma)


def _parsed(body: pa.Buffer, delimiter: str, width: int, long_cells: bool) -> pa.Table | None:
    """All rows as columns of text; None if a row has more or fewer cells than the header."""
    names = [str(place) for place in range(width)]
    if body.size == 0:
        return pa.table({name: pa.array([], pa.string()) for name in names})
    parsing, converting = as_text_cells(delimiter, width, long_cells)
    for block in (BLOCK, body.size + 1):
        reading = pyarrow.csv.ReadOptions(column_names=names, block_size=min(max(block, 1), 2**31 - 1))
        try:
            return pyarrow.csv.read_csv(pa.BufferReader(body), reading, parsing, converting)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):  # a row longer than a block
                return None
    return None


def as_text_cells(
    delimiter: str, width: int, long_cells: bool
) -> tuple[pyarrow.csv.ParseOptions, pyarrow.csv.ConvertOptions]:
    """How pyarrow is to parse: every cell as the text that it is. The columns are called by their place."""
    parsing = pyarrow.csv.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=long_cells,
        ignore_empty_lines=width > 1,  # in a table of one column an empty line is an empty cell
    )
    converting = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(map(str, range(width)), pa.string()),
        strings_can_be_null=False,
        quoted_strings_can_be_null=False,
    )
    return parsing, converting


def _mended(data: bytes, start: int, label: str, delimiter: str, header: Header, notes: list[str]) -> pa.Table:
    """The rows again, one by one: short ones are filled with empty cells, cells beyond the header refused."""
    width = len(header.names)
    offset = line_of(data, start) - 1
    text = data[start:].decode("utf-8")
    limit = csv.field_size_limit(max(len(text), 131_072))  # the module refuses longer cells otherwise
    mended = io.StringIO(newline="")
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        writer = csv.writer(mended, lineterminator="\n")
        rows = short = first = 0
        line = 1
        for record in reader:
            if len(record) > width:
                if any(cell.strip() for cell in record[width:]):
                    raise _too_long(label, line + offset, width, len(record), delimiter)
                record = record[:width]
            elif record and len(record) < width:
                short, first = short + 1, first or line
                record += [""] * (width - len(record))
            if record:
                rows += 1
                writer.writerow(record)
            line = reader.line_num + 1
    except csv.Error as error:
        raise FileFormatError(
            f"{label}, line {line + offset}: {first_line(error)}; correct the quotes in that line"
        ) from None
    finally:
        csv.field_size_limit(limit)
    if 2 * short > rows and short > 1:
        raise _too_short(label, first + offset, width, short, rows)
    if short:
        filled = "1 row has" if short == 1 else f"{short:,} rows have"
        notes.append(
            f"{filled} fewer cells than the header (the first is line {first + offset}); the rest was taken as missing"
        )
    table = _parsed(pa.py_buffer(mended.getvalue().encode()), ",", width, long_cells=True)
    if table is None:
        raise FileFormatError(f"{label} cannot be read as a table; check its quotes and its delimiter")
    return table


def _too_long(label: str, line: int, width: int, cells: int, delimiter: str) -> FileFormatError:
    return FileFormatError(
        f"{label}, line {line}: the header has {counted(width, 'cell')} and this line {cells}",
        "correct the line",
        f"put cells with a {DELIMITERS.get(delimiter, repr(delimiter))} in double quotes",
        way("give another {}", "delimiter"),
    )


def _too_short(label: str, line: int, width: int, short: int, rows: int) -> FileFormatError:
    return FileFormatError(
        f"{label}, line {line}: the header has {width} cells, and this line and {short - 1:,} others of {rows:,} have "
        "fewer",
        "correct the header or the lines",
        way("give another {}", "delimiter"),
    )
