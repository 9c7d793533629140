"""Parquet and Feather (Arrow) tables.

In:  the bytes of a file; or a Dataset, or a simulated table, which may have empty cells.
Out: a RawTable; or the bytes. Kinds and levels are kept, as dictionary columns."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from spinney.errors import FileFormatError, SpinneyError
from spinney.frame_table import from_arrow
from spinney.raw_table import RawTable, damaged

if TYPE_CHECKING:
    from spinney.dataset import Dataset
    from spinney.simulate import Simulated


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
    try:
        table = read(pa.BufferReader(pa.py_buffer(raw)))
        table.validate(full=True)
        return from_arrow(table)
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
