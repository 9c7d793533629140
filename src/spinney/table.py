"""Reading tables.

In:  a CSV, TSV, Parquet or Feather file, gzipped or not, standard input, or a data frame.
Out: a RawTable: named Arrow columns. No opinion: the cells of a text file stay text, exactly as they stand there.
What they mean is decided in the hall (dataset.py)."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
import mmap
import os
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from spinney.errors import ChoiceError, DataError, FileFormatError

# The one table of file names: suffix -> format. A text file's delimiter is sniffed unless the suffix says it.
FORMATS = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".parquet": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
}
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

# How a file of each format begins, whatever its name is.
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather"}
_NOT_TABLES = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"%PDF": "a PDF",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}
_GZIP = b"\x1f\x8b"
_SNIFFED = 65_536  # bytes of the beginning that the delimiter is sniffed from

Raw = bytes | mmap.mmap


@dataclass(frozen=True)
class RawTable:
    """Named columns as they were read; `text` says that the cells are those of a text file."""

    names: tuple[str, ...]
    columns: tuple[pa.ChunkedArray, ...]
    text: bool = False
    notes: tuple[str, ...] = ()


def suffixes(path: str) -> tuple[str, bool]:
    """The suffix that names the format, in small letters, and whether .gz follows it."""
    lower = path.lower()
    zipped = lower.endswith(".gz")
    return Path(lower[:-3] if zipped else lower).suffix, zipped


def read_table(
    path: str | os.PathLike[str],
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> RawTable:
    """The table in a file; '-' is standard input."""
    label = os.fspath(path)
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise ChoiceError(f"delimiter {delimiter!r} cannot separate cells; give one character, such as ';'")
    raw = _raw_bytes(label)
    if label == "-":
        label = "standard input"
    if raw[:2] == _GZIP:
        raw = _unzipped(raw, label)
    if len(raw) == 0:
        raise FileFormatError(f"{label} is empty; give a table with a header line and at least one row")
    suffix, _ = suffixes(label)
    found, named = _format(raw, label), FORMATS.get(suffix)
    if named is not None and found != named:
        article = "a text" if found == "text" else f"a {found.capitalize()}"
        raise FileFormatError(f"{label} holds {article} file, which {suffix} does not say; give it the right suffix")
    if found == "text":
        return _read_text(raw, label, delimiter or ("\t" if suffix == ".tsv" else None), suffix)
    source = pa.BufferReader(pa.py_buffer(raw))
    try:
        if found == "parquet":
            return _from_arrow(pyarrow.parquet.ParquetFile(source).read())
        return _from_arrow(pyarrow.feather.read_table(source, memory_map=False))
    except (pa.ArrowException, OSError) as error:
        raise _damaged(label, found, error) from None


def read_frame(frame: Any) -> RawTable:
    """The table in a pandas, polars or Arrow frame, or in a mapping from names to columns."""
    if isinstance(frame, (pa.Table, pa.RecordBatch)):
        return _from_arrow(pa.table(frame))
    if isinstance(frame, Mapping):
        return _from_mapping(frame)
    if hasattr(frame, "collect"):
        raise DataError(f"a {type(frame).__name__} is not a table in memory yet; collect() it first")
    names = _names(getattr(frame, "columns", ()))
    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        what = type(frame).__name__
        raise DataError(f"a {what} is no table; give a pandas, polars or Arrow table, or a dict of columns") from None
    columns = []
    for name, series in zip(names, eager.iter_columns(), strict=True):
        try:
            column = _chunked(series.to_arrow())
            if pa.types.is_dictionary(column.type) and isinstance(column.type.value_type, pa.BaseExtensionType):
                column = _chunked(series.to_native().cat.rename_categories(str))  # the intervals of pandas.cut
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise _unlike(name, error) from None
        if eager.implementation.is_polars() and series.dtype == nw.Categorical:
            # A polars Categorical numbers its levels as they come up; that order says nothing, so it is text.
            column = pc.cast(column, pa.large_string())
        columns.append(column)
    return RawTable(names, tuple(columns))


def _names(given: Iterable[Any]) -> tuple[str, ...]:
    """The names as text, checked here because narwhals would stop at duplicates in its own words."""
    names = []
    for name in given:
        if isinstance(name, tuple):
            raise DataError(f"column {name!r} has a name of several parts; give every column one name")
        names.append(str(name))
    refuse_duplicates(tuple(names))
    return tuple(names)


def refuse_duplicates(names: tuple[str, ...], remedy: str = "rename one of them") -> None:
    if len(set(names)) == len(names):
        return
    twice = next(name for name in names if names.count(name) > 1)
    places = " and ".join(str(place) for place, name in enumerate(names, 1) if name == twice)
    raise DataError(f"columns {places} have the same name {twice!r}; {remedy}")


def _from_arrow(table: pa.Table) -> RawTable:
    refuse_duplicates(tuple(table.column_names))
    index = [name for name in _pandas_index(table) if name in table.column_names]
    notes = (f"the pandas index {', '.join(map(repr, index))} was left out of the columns",) if index else ()
    table = table.drop_columns(index)
    return RawTable(tuple(table.column_names), tuple(table.columns), notes=notes)


def _pandas_index(table: pa.Table) -> list[str]:
    """The columns that pandas wrote for its index: row labels, not data."""
    described = (table.schema.metadata or {}).get(b"pandas")
    if described is None:
        return []
    return [name for name in json.loads(described).get("index_columns", []) if isinstance(name, str)]


def _from_mapping(frame: Mapping[Any, Any]) -> RawTable:
    names = _names(frame)
    columns = []
    for name, values in zip(names, frame.values(), strict=True):
        if getattr(values, "ndim", 1) != 1 or isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise DataError(f"column {name!r} is not a list of cells; give every column one value per row")
        try:
            columns.append(_chunked(values))
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise _unlike(name, error) from None
        if len(columns[-1]) != len(columns[0]):
            raise DataError(
                f"column {name!r} has {len(columns[-1]):,} cells and {names[0]!r} has {len(columns[0]):,}; "
                "give all columns the same length"
            )
    return RawTable(names, tuple(columns))


def _chunked(values: Any) -> pa.ChunkedArray:
    if isinstance(values, pa.ChunkedArray):
        return values
    column = pa.array(values, from_pandas=True)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _unlike(name: str, error: Exception) -> DataError:
    return DataError(
        f"column {name!r} holds values that do not go together ({_first(error)}); "
        "make all of them numbers or all of them text"
    )


def _first(error: Exception) -> str:
    text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    return text.strip().split("\n")[0].rstrip(".").replace(";", ",")[:120]


def _raw_bytes(path: str) -> Raw:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            try:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except (ValueError, OSError):  # an empty file or a pipe cannot be mapped
                return file.read()
    except FileNotFoundError:
        raise FileFormatError(f"{path}: there is no such file; check the path") from None
    except IsADirectoryError:
        raise FileFormatError(f"{path} is a directory; give the path of one table in it") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None


def _unzipped(raw: Raw, label: str) -> bytes:
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(label, "gzip", error) from None


def _damaged(label: str, what: str, error: Exception) -> FileFormatError:
    return FileFormatError(f"{label}: the {what} data is damaged or cut short ({_first(error)}); fetch the file anew")


def _format(raw: Raw, label: str) -> str:
    for magic, what in _NOT_TABLES.items():
        if raw[: len(magic)] == magic:
            raise FileFormatError(f"{label} is {what}, not a table; save the table as CSV or Parquet")
    for magic, name in _MAGIC.items():
        if raw[: len(magic)] == magic:
            return name
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FileFormatError(f"{label} is UTF-16, not UTF-8; save it as UTF-8")
    if b"\0" in raw[:_SNIFFED]:
        raise FileFormatError(f"{label} is neither text nor Parquet nor Feather; save the table as one of these")
    return "text"


def _read_text(raw: Raw, label: str, delimiter: str | None, suffix: str) -> RawTable:
    delimiter = delimiter or _sniffed(raw, suffix)
    names = _header(raw, label, delimiter)
    refuse_duplicates(names, "rename one of them, or give the file a header line if it has none")
    options = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, quoted_strings_can_be_null=False
    )
    parsing = pyarrow.csv.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=raw.find(b'"') >= 0,
        ignore_empty_lines=len(names) > 1,  # in a table of one column an empty line is an empty cell
    )
    # The names are ours, so that the first record is skipped and never guessed about.
    reading = pyarrow.csv.ReadOptions(column_names=list(names), skip_rows_after_names=1, block_size=1 << 22)
    try:
        table = pyarrow.csv.read_csv(pa.BufferReader(_from_header(raw)), reading, parsing, options)
    except pa.ArrowException as error:
        raise _text_error(raw, label, delimiter, len(names), error) from None
    notes: tuple[str, ...] = ()
    if all(_is_number(name) for name in names):
        notes = (f"the first line of {label} was taken as column names, though all of them are numbers",)
    return RawTable(names, tuple(table.columns), text=True, notes=notes)


def _from_header(raw: Raw) -> pa.Buffer:
    """Without the empty lines above the header, the first of which Arrow would skip in its stead."""
    start = 3 if raw[:3] == codecs.BOM_UTF8 else 0
    while raw[start : start + 1] in (b"\n", b"\r"):
        start += 1
    return pa.py_buffer(raw).slice(start)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _sniffed(raw: Raw, suffix: str) -> str:
    """The delimiter under which the first lines have one number of cells, the larger the better."""
    sample = raw[:_SNIFFED].decode("utf-8-sig", errors="replace")
    best, most = ",", (False, 1)
    for delimiter in DELIMITERS:
        records = itertools.islice(csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter), 50)
        widths = [len(record) for record in records if record]
        if len(sample) == _SNIFFED:
            widths = widths[:-1] or widths  # the last one may be cut
        if not widths or widths[0] == 1:
            continue
        if suffix == ".csv" and delimiter == ",":  # the suffix says comma, and there is one in the header
            return ","
        if (len(set(widths)) == 1, widths[0]) > most:
            best, most = delimiter, (len(set(widths)) == 1, widths[0])
    return best


def _header(raw: Raw, label: str, delimiter: str) -> tuple[str, ...]:
    binary = io.BytesIO(raw) if isinstance(raw, bytes) else io.BytesIO(raw[: 1 << 24])
    try:
        lines = io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
        record = next(record for record in csv.reader(lines, delimiter=delimiter) if record)
    except StopIteration:
        raise FileFormatError(f"{label} holds only empty lines; give a table with a header line") from None
    except UnicodeDecodeError:
        raise _not_utf8(raw, label) from None
    except csv.Error as error:
        raise FileFormatError(f"{label}, line 1: unreadable header ({_first(error)}); mend its quotes") from None
    return tuple(record)


def _text_error(raw: Raw, label: str, delimiter: str, width: int, error: Exception) -> FileFormatError:
    """What is wrong with a text file that pyarrow refused: it does not say in which line, so look again, slowly."""
    try:
        text = bytes(raw).decode("utf-8-sig")
    except UnicodeDecodeError:
        return _not_utf8(raw, label)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    try:
        for record in reader:
            if len(record) != width and record:
                return FileFormatError(
                    f"{label}, line {line}: the header has {width} cells and this line {len(record)}; "
                    f"mend the line, put cells with a {DELIMITERS.get(delimiter, repr(delimiter))} in double quotes, "
                    "or name another delimiter"
                )
            line = reader.line_num + 1
    except csv.Error as failure:
        return FileFormatError(f"{label}, line {line}: {_first(failure)}; mend the quotes in that line")
    return FileFormatError(f"{label} cannot be read as a table ({_first(error)}); mend the file")


def _not_utf8(raw: Raw, label: str) -> FileFormatError:
    try:
        bytes(raw).decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        return FileFormatError(
            f"{label}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8 "
            "(iconv -f latin1 -t utf-8 turns Latin-1 into it)"
        )
    raise AssertionError("asked where a UTF-8 text is not UTF-8: our bug")
