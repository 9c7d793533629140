"""Writing files so that a reader never sees half of one, and unpacking them within the memory.

In:  bytes and a path.
Out: the file in its place; if anything fails, or the process is killed, the old file is still there."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import PurePath

from spinney.errors import ChoiceError, FileFormatError

_PIECE = 1 << 24  # bytes that are unpacked at a time


def as_path(path: object) -> str:
    """The path as text; whatever is no path is refused."""
    try:
        name = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        raise ChoiceError(f"{path!r} is not a path; give the name of a file") from None
    text = os.fsdecode(name)
    if "\0" in text:
        raise ChoiceError(f"{text!r} is no path of a file, because it holds a zero byte; correct it")
    return text


def split_suffix(path: str) -> tuple[str, bool]:
    """The suffix that names the format, in small letters, and whether .gz follows it."""
    lower = path.lower()
    zipped = lower.endswith(".gz")
    return PurePath(lower[:-3] if zipped else lower).suffix, zipped


def unzipped(raw: bytes, check_size: Callable[[int], None]) -> bytes:
    """Piece by piece, so that a small file with gigabytes in it is refused before the memory is full."""
    pieces, size = [], 0
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            check_size(size)
    return b"".join(pieces)


def write_bytes(content: bytes | memoryview, path: str | PathLike[str]) -> None:
    """Every file that spinney writes, networks and tables, goes through here."""
    name = fspath(path)
    try:
        _replace(content, name)
    except OSError as error:
        raise FileFormatError(
            f"{name}: cannot be written ({error.strerror}); check the folder and the permissions"
        ) from None
    except ValueError:  # a NUL in it, or a lone surrogate
        raise FileFormatError(f"{name[:200]!r} cannot be the name of a file; choose another") from None


def _replace(content: bytes | memoryview, name: str) -> None:
    if os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):
        with open(name, "wb") as pipe:  # a pipe or a device, which nothing may be renamed to
            pipe.write(content)
        return
    folder, base = os.path.split(os.path.realpath(name))
    handle, temporary = tempfile.mkstemp(prefix=f".{base[:40]}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _usual_mode(name))
        os.replace(temporary, name if not os.path.islink(name) else os.path.realpath(name))
    except BaseException:
        os.unlink(temporary)
        raise


def _usual_mode(name: str) -> int:
    """The mode of the file that is replaced, or of a new file: temporary files are private, results are not."""
    try:
        return os.stat(name).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
