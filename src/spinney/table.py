"""Reading tables.

In:  a CSV, TSV, Parquet, Feather or Excel file, gzipped or not, standard input, or a data frame.
Out: a RawTable: named Arrow columns. Nothing is interpreted: the cells of a text file stay text, exactly as written.
What they mean is decided in dataset.py."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from spinney.errors import ChoiceError, FileFormatError, SpinneyError, named
from spinney.excel_table import SUFFIXES as EXCEL
from spinney.excel_table import read_excel
from spinney.files import as_path
from spinney.frame_table import from_arrow
from spinney.frame_table import read_frame as read_frame
from spinney.machine import available_memory
from spinney.raw_table import RawTable as RawTable
from spinney.raw_table import damaged
from spinney.raw_table import refuse_duplicates as refuse_duplicates
from spinney.text_bytes import known_encoding
from spinney.text_table import read_text_table

# The one table of file names that can be read and written: suffix -> format; those of Excel can only be read. The
# delimiter of a text file is found from its content.
FORMATS = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".parquet": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
}
_NAMED = {**FORMATS, **dict.fromkeys(EXCEL, "excel")}

# How a file of each format begins, whatever its name is.
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather", b"\xd0\xcf\x11\xe0": "excel"}
_ZIP = b"PK\x03\x04"
_IN_WORKBOOKS = (b"[Content_Types].xml", b"xl/", b"_rels/", b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet")
_NOT_TABLES = {
    b"%PDF": "a PDF",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}
_GZIP = b"\x1f\x8b"
_PIECE = 1 << 24  # bytes that are unpacked at a time
_TIMES_THE_BYTES = 3  # memory that a table takes while it is read, as a multiple of its bytes


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
    label = as_path(path)
    if isinstance(label, bytes):
        label = os.fsdecode(label)
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise ChoiceError(f"delimiter {delimiter[:20]!r} cannot separate cells; give one character, such as ';'")
    if encoding is not None:
        known_encoding(encoding)
    raw = _raw_bytes(label)
    if label == "-":
        label = "standard input"
    if raw[:2] == _GZIP:
        raw = _unzipped(raw, label)
    if len(raw) == 0:
        raise FileFormatError(f"{label} is empty; give a table with a header line and at least one row")
    suffix, _ = suffixes(label)
    found, expected = _format(raw, label, suffix), _NAMED.get(suffix)
    if expected is not None and found != expected:
        article = {"text": "a text", "excel": "an Excel"}.get(found, f"a {found.capitalize()}")
        raise FileFormatError(f"{label} holds {article} file, which {suffix} does not say; give it the right suffix")
    if sheet is not None and found != "excel":
        raise ChoiceError(f"{label} is not an Excel file and has no sheets; leave {named('sheet')} {sheet!r} out")
    if found == "text":
        return read_text_table(raw, label, delimiter, encoding, suffix)
    return read_excel(raw, label, sheet) if found == "excel" else _read_arrow(raw, label, found)


def _read_arrow(raw: bytes, label: str, found: str) -> RawTable:
    """From bytes in memory: a mapped file that another program truncates would end the process."""
    source = pa.BufferReader(pa.py_buffer(raw))
    try:
        if found == "parquet":
            table = pyarrow.parquet.ParquetFile(source).read()
        else:
            table = pyarrow.feather.read_table(source, memory_map=False)
        table.validate(full=True)
        return from_arrow(table)
    except MemoryError:
        raise FileFormatError(
            f"{label}: the {found} data asks for more memory than there is here; it is damaged, or too large"
        ) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        if isinstance(error, SpinneyError):
            raise
        raise damaged(label, found, error) from None


def _raw_bytes(path: str) -> bytes:
    if path == "-":
        return _standard_input()
    try:
        _check_size(os.stat(path).st_size, path)
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise FileFormatError(f"{path}: there is no such file; check the path") from None
    except IsADirectoryError:
        raise FileFormatError(f"{path} is a directory; give the path of one table in it") from None
    except OSError as error:
        raise FileFormatError(f"{path[:200]}: cannot be read ({error.strerror}); check its permissions") from None
    except ValueError:  # a NUL in it, or a lone surrogate
        raise FileFormatError(f"{path[:200]!r} cannot be the name of a file; check the path") from None


def _standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise FileFormatError("standard input is closed; give the path of a table, or send one to standard input")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise FileFormatError(f"standard input cannot be read ({error.strerror}); give the path of a table") from None


def _check_size(size: int, label: str, unpacked: str = "") -> None:
    memory = available_memory()
    if size * _TIMES_THE_BYTES > memory:
        raise FileFormatError(
            f"{label}: {size / 1e9:,.1f} GB{unpacked} need about {_TIMES_THE_BYTES} times as much memory, and "
            f"{memory / 1e9:,.1f} GB are available; take fewer rows or columns, or a machine with more memory"
        )


def _unzipped(raw: bytes, label: str) -> bytes:
    """Piece by piece, so that a small file with gigabytes in it is refused before the memory is full."""
    pieces, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            while piece := file.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                _check_size(size, label, " or more after unpacking")
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(label, "gzip", error) from None
    return b"".join(pieces)


def _format(raw: bytes, label: str, suffix: str) -> str:
    for magic, what in _NOT_TABLES.items():
        if raw.startswith(magic):
            raise FileFormatError(f"{label} is {what}, not a table; save the table as CSV or Parquet")
    if raw.startswith(_ZIP):
        if suffix in EXCEL or raw.startswith(_IN_WORKBOOKS, 30) or b"xl/workbook" in raw:
            return "excel"
        raise FileFormatError(f"{label} is a zip archive, not a table; unpack it, and give one of the files in it")
    return next((name for magic, name in _MAGIC.items() if raw.startswith(magic)), "text")
