"""The files of a store of family scores.

In:  batches of families as they are scored, and the head that says what they are scores of.
Out: Arrow IPC streams that only grow (one per writer), Parquet files that are written whole; and batches again.
A batch carries the sum of its words, so that bytes that changed are found. What a killed writer left half written is
cut off without a word; a batch that is damaged is left out, and said."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from spinney.errors import FileFormatError
from spinney.layout import counted

STREAM, PARQUET = ".arrows", ".parquet"
SYNC = 10.0  # seconds: how often what was written is pressed on to the disk, for the day that the power fails
_HEAD, _SUM = b"spinney", "sum"
_MARK = b"\xff\xff\xff\xff"  # before every message of a stream
_END = _MARK + b"\0\0\0\0"
_SCHEMA = pa.schema(
    [
        ("child", pa.int32()),
        ("size", pa.uint8()),
        (
            "rank",
            pa.uint64(),
        ),  # of the parents among the sets of this size over the child's candidates (core/known.hpp)
        ("score", pa.float64()),
        ("closed", pa.uint8()),  # whether a bound showed that no larger set need be scored
    ]
)

Head = dict[str, Any]


class Families(NamedTuple):
    """Scored families, a number each."""

    child: NDArray[np.int32]
    size: NDArray[np.uint8]
    rank: NDArray[np.uint64]
    score: NDArray[np.float64]
    closed: NDArray[np.uint8]

    def __len__(self) -> int:
        return int(self.rank.shape[0])

    def of(self, rows: NDArray[Any]) -> Families:
        return Families(*(column[rows] for column in self))

    def batch(self) -> pa.RecordBatch:
        return pa.record_batch(list(map(pa.array, self)), schema=_SCHEMA)

    def sum(self) -> str:
        """Of all words, modulo 2^64, column by column: a changed bit changes it, and it costs next to nothing."""
        words = (self.rank, self.score.view(np.uint64), self.child, self.size, self.closed)
        return " ".join(str(int(word.sum(dtype=np.uint64))) for word in words)


def _families(table: pa.Table | pa.RecordBatch) -> Families:
    columns = (table.column(name) for name in _SCHEMA.names)
    return Families(*(np.asarray(column.to_numpy()) for column in columns))


def joined(parts: Sequence[Families]) -> Families:
    if not parts:
        return Families(*(np.empty(0, field.type.to_pandas_dtype()) for field in _SCHEMA))
    return Families(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def by_layer(families: Families) -> Iterator[tuple[int, int, Families]]:
    """Children and numbers of parents, each with its families."""
    most = int(families.size.max(initial=0)) + 1
    key = families.child.astype(np.int64) * most + families.size
    order = np.argsort(key, kind="stable")
    families, key = families.of(order), key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1)).tolist()
    for begin, end in zip(starts, [*starts[1:], len(key)] if starts else [], strict=True):
        child, size = divmod(int(key[begin]), most)
        part: Any = (column[begin:end] for column in families)
        yield child, size, Families(*part)


class Writer:
    """One growing file. It appears with the first batch."""

    def __init__(self, folder: Path, head: Head) -> None:
        self._folder, self._head = folder, head
        self._file: Any = None
        self._stream: pa.RecordBatchStreamWriter | None = None
        self._synced = time.perf_counter()

    def write(self, families: Families) -> None:
        if not len(families):
            return
        try:
            if self._stream is None:
                self._open()
            assert self._stream is not None
            self._stream.write_batch(families.batch(), custom_metadata={_SUM: families.sum()})
            self._file.flush()
            if time.perf_counter() - self._synced > SYNC:
                os.fsync(self._file.fileno())
                self._synced = time.perf_counter()
        except OSError as error:
            raise FileFormatError(
                f"{self._folder}: the scores cannot be written ({error.strerror or error}); make room, or choose "
                f"another folder for the store"
            ) from None

    def _open(self) -> None:
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{secrets.token_hex(4)}{STREAM}"
        self._file = open(self._folder / name, "xb")  # noqa: SIM115
        _lock(self._file)
        self._stream = pa.ipc.new_stream(self._file, _SCHEMA.with_metadata({_HEAD: json.dumps(self._head)}))

    def close(self) -> None:
        if self._stream is None:
            return
        with contextlib.suppress(OSError):
            self._stream.close()
            os.fsync(self._file.fileno())
        self._file.close()
        self._stream = None


def _lock(file: Any) -> bool:
    """Whether this process has the file to itself. Where files cannot be locked, nobody is known to hold it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


def growing(path: Path) -> bool:
    """Whether somebody is writing to it."""
    if path.suffix != STREAM:
        return False
    with open(path, "rb") as file:
        return not _lock(file)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in (STREAM, PARQUET) and path.name[0] != ".")


def read_head(path: Path) -> Head | None:
    """What the scores of a file are scores of; None if that cannot be read."""
    try:
        if path.suffix == PARQUET:
            schema = pq.read_schema(path)
        else:
            with pa.OSFile(str(path)) as file:
                schema = pa.ipc.open_stream(file).schema
        head: Head = json.loads((schema.metadata or {})[_HEAD])
        return head if schema.names == _SCHEMA.names and head["format"] == 1 else None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None


def begun(path: Path) -> bool:
    """Is it a stream whose writer was killed before its head was whole?"""
    with open(path, "rb") as file:
        start = file.read(8)
    size = path.stat().st_size
    return path.suffix == STREAM and (
        size < 8 or (start[:4] == _MARK and size < 8 + int.from_bytes(start[4:], "little"))
    )


def read_families(path: Path, damages: list[str]) -> Families:
    """All families of a file. What is damaged is left out, with a sentence among `damages`."""
    if path.suffix == PARQUET:
        return _read_parquet(path, damages)
    parts: list[Families] = []
    lost = 0
    with pa.memory_map(str(path)) as file:
        everything = file.read_buffer()
        for found in _batches(everything):
            if found is None:
                lost += 1
            else:
                parts.append(found)
        families = joined(parts)  # copied, before the file is let go
    if lost:
        damages.append(f"{path}: {counted(lost, 'batch', 'batches')} of scores damaged, and left out")
    return families


def _read_parquet(path: Path, damages: list[str]) -> Families:
    try:
        return _families(pq.ParquetFile(path, page_checksum_verification=True).read())
    except (OSError, pa.ArrowException) as error:
        damages.append(f"{path}: its scores are damaged, and left out ({str(error).splitlines()[0][:80]})")
        return joined([])


def _batches(everything: pa.Buffer) -> Iterator[Families | None]:
    """The batches of a stream; None for one that is damaged. The end of a killed writer's stream is no damage."""
    reader = pa.BufferReader(everything)
    try:
        stream = pa.ipc.open_stream(reader)
    except pa.ArrowException:
        return
    after_schema = reader.tell()
    schema = everything.slice(0, after_schema)
    base, begin = 0, after_schema
    while True:
        try:
            batch, metadata = stream.read_next_batch_with_custom_metadata()
            families = _families(batch)
            good = metadata is not None and metadata.get(_SUM, b"").decode() == families.sum()
            begin = reader.tell() + base
            yield families if good else None
        except StopIteration:
            if begin + 8 >= everything.size:  # the mark of the end, or nothing
                return
            again = _next_good(everything, schema, begin + 1)
        except (pa.ArrowException, OSError, ValueError):
            again = _next_good(everything, schema, begin + 1)
        else:
            continue
        if again < 0:  # nothing after it: a batch that was being written, unless the writer said that it was done
            if everything.size >= len(_END) and everything.slice(everything.size - len(_END)).to_pybytes() == _END:
                yield None
            return
        yield None
        reader = pa.BufferReader(_from(everything, schema, again))
        stream = pa.ipc.open_stream(reader)
        base, begin = again - after_schema, again


def _from(everything: pa.Buffer, schema: pa.Buffer, begin: int) -> pa.Buffer:
    return pa.py_buffer(schema.to_pybytes() + everything.slice(begin).to_pybytes())


def _next_good(everything: pa.Buffer, schema: pa.Buffer, begin: int) -> int:
    """Where the next batch begins that can be read; -1: nowhere."""
    text = everything.slice(begin).to_pybytes()
    at = text.find(_MARK)
    while at >= 0:
        if int.from_bytes(text[at + 4 : at + 8], "little") > 0:
            with contextlib.suppress(pa.ArrowException, OSError, ValueError, StopIteration):
                stream = pa.ipc.open_stream(pa.BufferReader(schema.to_pybytes() + text[at:]))
                batch, metadata = stream.read_next_batch_with_custom_metadata()
                if metadata is not None and metadata.get(_SUM, b"").decode() == _families(batch).sum():
                    return int(begin + at)
        at = text.find(_MARK, at + 1)
    return -1


def write_parquet(folder: Path, head: Head, families: Families) -> Path:
    """Written beside, on the disk, then renamed: there is never half a file."""
    order = np.lexsort((families.rank, families.size, families.child))
    table = pa.table([*families.of(order)], schema=_SCHEMA.with_metadata({_HEAD: json.dumps(head)}))
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=PARQUET, dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            pq.write_table(table, file, compression="zstd", write_page_checksum=True)
            file.flush()
            os.fsync(file.fileno())
        place = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}{PARQUET}"
        os.chmod(temporary, 0o644)
        os.replace(temporary, place)
    except BaseException:
        os.unlink(temporary)
        raise
    with contextlib.suppress(OSError):  # not every system opens folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return place
