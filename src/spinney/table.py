"""Reading tables.

In:  a CSV, TSV, Parquet, Feather or Excel file, gzipped or not, standard input, or a data frame.
Out: a RawTable: named Arrow columns. Nothing is interpreted: the cells of a text file stay text, exactly as written.
What they mean is decided in prepare.py."""

from __future__ import annotations

import os
import sys
import zlib

import pyarrow as pa

from spinney.catalog import FORMATS, Format
from spinney.choices import loaded
from spinney.errors import ChoiceError, FileFormatError
from spinney.errors import named as written
from spinney.files import as_path, split_suffix, unzipped
from spinney.frame_table import read_frame as read_frame
from spinney.machine import available_memory, check_threads
from spinney.raw_table import RawTable as RawTable
from spinney.raw_table import damaged
from spinney.raw_table import refuse_duplicates as refuse_duplicates
from spinney.text_bytes import known_encoding

_ZIP = b"PK\x03\x04"
_IN_WORKBOOKS = (b"[Content_Types].xml", b"xl/", b"_rels/", b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet")
_NOT_TABLES = {
    b"%PDF": "a PDF",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}
_GZIP = b"\x1f\x8b"
_TIMES_THE_BYTES = 3  # memory that a table takes while it is read, as a multiple of its bytes
_TIMES_PACKED = 2.2  # the same of packed columns: what was read, and what it was found to be


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
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise ChoiceError(f"delimiter {delimiter[:20]!r} cannot separate cells; give one character, such as ';'")
    if encoding is not None:
        known_encoding(encoding)
    given = {"delimiter": delimiter, "encoding": encoding, "sheet": sheet}
    if not check_threads():
        pa.set_cpu_count(1)
        pa.set_io_thread_count(1)
    large = None if label == "-" else _in_batches(label, given)
    if large is not None:
        return large
    raw = _raw_bytes(label)
    if label == "-":
        label = "standard input"
    if raw[:2] == _GZIP:
        raw = _unzipped(raw, label)
    if len(raw) == 0:
        raise FileFormatError(f"{label} is empty; give a table with a header line and at least one row")
    found, options = _chosen(raw, label, given)
    table = loaded(found.read)(raw, label, **options)
    return table if isinstance(table, RawTable) else read_frame(table)


def _in_batches(label: str, given: dict[str, str | None]) -> RawTable | None:
    """The table in a large file, in packed columns; None: it has to be read at once, or is not large."""
    try:
        if not os.path.isfile(label) or not os.path.getsize(label):
            return None
        with open(label, "rb") as file:
            beginning = file.read(1 << 12)
    except (OSError, ValueError):
        return None  # which reading at once says in a sentence
    if beginning.startswith((_GZIP, _ZIP)):
        return None
    found, options = _chosen(beginning, label, given)
    if not found.read_large:
        return None
    there = available_memory()

    def room(taken: int, share: float) -> None:
        needed = _TIMES_PACKED * taken / share
        if needed > there:
            raise FileFormatError(
                f"{label}: its cells, packed, need about {needed / 1e9:,.1f} GB while they are read, and "
                f"{there / 1e9:,.1f} GB are available; take fewer rows or columns, or a machine with more memory"
            )

    table: RawTable | None = loaded(found.read_large)(label, label, room, **options)
    return table


def _chosen(raw: bytes, label: str, given: dict[str, str | None]) -> tuple[Format, dict[str, str | None]]:
    """The format of a file that begins so, and its own ones of the options given."""
    suffix, _ = split_suffix(label)
    named = {ending: row for row in _formats() for ending in row.suffixes}
    found, expected = _format(raw, label, suffix), named.get(suffix)
    if expected is not None and found != expected:
        article = {"text": "a text", "excel": "an Excel"}.get(found.name, f"a {found.name.capitalize()}")
        raise FileFormatError(f"{label} holds {article} file, which {suffix} does not say; give it the right suffix")
    own = {option.name for option in found.options}
    if given["sheet"] is not None and "sheet" not in own:
        raise ChoiceError(
            f"{label} is not an Excel file and has no sheets; leave {written('sheet')} {given['sheet']!r} out"
        )
    return found, {name: value for name, value in given.items() if name in own}


def _formats() -> list[Format]:
    return [row for row in FORMATS.values() if "table" in row.holds and row.read]


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
    try:
        return unzipped(raw, lambda size: _check_size(size, label, " or more after unpacking"))
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(label, "gzip", error) from None


def _format(raw: bytes, label: str, suffix: str) -> Format:
    """By the first bytes; a file that begins like none of them is of the format that its suffix names, if that one
    begins in any way too, and else text."""
    for magic, what in _NOT_TABLES.items():
        if raw.startswith(magic):
            raise FileFormatError(f"{label} is {what}, not a table; save the table as CSV or Parquet")
    if raw.startswith(_ZIP):
        if suffix in FORMATS["excel"].suffixes or raw.startswith(_IN_WORKBOOKS, 30) or b"xl/workbook" in raw:
            return FORMATS["excel"]
        raise FileFormatError(f"{label} is a zip archive, not a table; unpack it, and give one of the files in it")
    known = _formats()
    by_content = (row for row in known if row.starts and raw.startswith(row.starts))
    by_suffix = (row for row in known if not row.starts and suffix in row.suffixes)
    return next(by_content, None) or next(by_suffix, FORMATS["text"])
