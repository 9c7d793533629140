"""Text files, whole: plain or gzip, UTF-8, and written so that a reader never sees half a file.

In:  a path, and for writing the text.
Out: the text, or the file in its place."""

from __future__ import annotations

import gzip
import os
import zlib
from os import PathLike

from spinney.errors import FileFormatError
from spinney.files import as_path, split_suffix, unzipped, write_bytes
from spinney.machine import available_memory

_TIMES_THE_BYTES = 10  # of memory, for what is made from the text


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file; gzip is recognised by its first bytes, line ends are left as they are."""
    name = as_path(path)
    try:
        with open(name, "rb") as file:
            _check_size(os.fstat(file.fileno()).st_size, name)
            content = file.read()
    except OSError as error:
        raise FileFormatError(
            f"{name}: cannot be read ({error.strerror}): check the name and the permissions"
        ) from None
    except ValueError:  # a lone surrogate in it
        raise FileFormatError(f"{name[:200]!r} cannot be the name of a file; check the path") from None
    try:
        if content[:2] == b"\x1f\x8b":
            content = unzipped(content, lambda size: _check_size(size, name))
        return content.decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FileFormatError(f"{name}: the gzip data is cut short or damaged: fetch or write the file again") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileFormatError(f"{name}, line {line}: the text is not UTF-8: convert the file to UTF-8") from None


def _check_size(size: int, name: str) -> None:
    if size * _TIMES_THE_BYTES > (memory := available_memory()):
        raise FileFormatError(
            f"{name}: a text of {size / 1e9:,.1f} GB or more needs about {_TIMES_THE_BYTES} times as much memory, and "
            f"{memory / 1e9:,.1f} GB are available; is it the right file?"
        )


def write_text(text: str, path: str | PathLike[str]) -> None:
    """Write beside the target and rename: the old file or the new one is there at any time. A suffix .gz compresses."""
    name = as_path(path)
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        odd = text[error.start]
        raise FileFormatError(
            f"{name}: a name holds {odd!r}, which is no character of a text file: rename it"
        ) from None
    if split_suffix(name)[1]:
        content = gzip.compress(content, mtime=0)  # no time inside: the same network gives the same bytes
    write_bytes(content, name)
