"""Parquet and Feather (Arrow) tables.

In:  the bytes of a file; or a Dataset, or a simulated table, which may have empty cells.
Out: a RawTable; or the bytes. Kinds and levels are kept, as dictionary columns."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from spinney.errors import FileFormatError, SpinneyError
from spinney.frame_table import from_arrow, without_index
from spinney.packed import Packing
from spinney.raw_table import RawTable, damaged, refuse_duplicates
from spinney.text_blocks import Room

if TYPE_CHECKING:
    from spinney.dataset import Dataset
    from spinney.simulate import Simulated


LARGE = 10_000_000  # cells; a smaller file is read at once
_ROWS = 1 << 17  # of a large file, at a time


def read_parquet(raw: bytes, label: str) -> RawTable:
    def read(source: pa.BufferReader) -> pa.Table:
        # In this thread only: when a part of a damaged file is refused while pyarrow's threads still read others, they
        # can end the process.
        return pyarrow.parquet.ParquetFile(source, pre_buffer=False).read(use_threads=False)

    return _read(raw, label, "parquet", read)


def read_feather(raw: bytes, label: str) -> RawTable:
    def read(source: pa.BufferReader) -> pa.Table:
        return pyarrow.feather.read_table(source, memory_map=False, use_threads=False)

    return _read(raw, label, "feather", read)


def _read(raw: bytes, label: str, name: str, read: Callable[[pa.BufferReader], pa.Table]) -> RawTable:
    """From bytes in memory: a mapped file that another program truncates would end the process."""
    with _refused(label, name):
        table = read(pa.BufferReader(pa.py_buffer(raw)))
        table.validate(full=True)
        return from_arrow(table)


def read_parquet_batches(path: str, label: str, room: Room) -> RawTable | None:
    """Some rows at a time, each column packed as they come."""
    with _refused(label, "parquet"), pyarrow.parquet.ParquetFile(path, pre_buffer=False) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
        if rows * len(schema) < LARGE:
            return None
        refuse_duplicates(tuple(schema.names))
        kept, notes = without_index(schema)
        columns = {place: Packing(schema.field(place).type) for place in kept}
        done = 0
        for batch in file.iter_batches(_ROWS, use_threads=False):
            batch.validate(full=True)
            for place, column in columns.items():
                column.add(batch.column(place))
            done += len(batch)
            if done % (8 * _ROWS) < len(batch):
                pa.default_memory_pool().release_unused()
            room(sum(column.nbytes for column in columns.values()), done / rows)
        packed = tuple(column.finish() for column in columns.values())
        pa.default_memory_pool().release_unused()
        return RawTable(
            tuple(schema.names[place] for place in kept),
            packed,
            notes=notes,
        )
    raise AssertionError("either of the two was left above")


@contextmanager
def _refused(label: str, name: str) -> Iterator[None]:
    """What pyarrow says of a damaged file, in a sentence."""
    try:
        yield
    except MemoryError:
        raise FileFormatError(
            f"{label}: the {name} data asks for more memory than there is here; it is damaged, or too large"
        ) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        if isinstance(error, SpinneyError):
            raise
        raise damaged(label, name, error) from None


def write_parquet(data: Dataset | Simulated, suffix: str) -> memoryview:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(data.to_arrow(), sink)
    return sink.getbuffer()


def write_feather(data: Dataset | Simulated, suffix: str) -> memoryview:
    sink = io.BytesIO()
    pyarrow.feather.write_feather(data.to_arrow(), sink)
    return sink.getbuffer()
