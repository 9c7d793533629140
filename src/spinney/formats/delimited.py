"""Text tables: cells separated by commas, tabs or another character.

In:  the bytes of a file; or a Dataset, or a simulated table, which may have empty cells.
Out: a RawTable, by text_table.py; or the bytes, such that continuous columns are read back as continuous."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from spinney.files import split_suffix
from spinney.raw_table import RawTable
from spinney.settle import FEW_INTEGERS
from spinney.text_table import read_text_table

if TYPE_CHECKING:
    from spinney.dataset import Dataset
    from spinney.simulate import Simulated


def read(raw: bytes, label: str, delimiter: str | None, encoding: str | None) -> RawTable:
    return read_text_table(raw, label, delimiter, encoding, split_suffix(label)[0])


def write(data: Dataset | Simulated, suffix: str) -> memoryview:
    sink = io.BytesIO()
    table = data.to_arrow()
    columns = {name: _text_column(table.column(name)) for name in table.column_names}
    options = pyarrow.csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ",")
    pyarrow.csv.write_csv(pa.table(columns), sink, options)
    return sink.getbuffer()


def _text_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    distinct = column.drop_null().unique()
    values = distinct.to_numpy()
    if len(values) <= FEW_INTEGERS and (values == np.floor(values)).all():
        # Written as 1, they would be read back as few integers, that is, categories.
        texts = pa.array([repr(float(value)) for value in values], pa.string())
        return texts.take(pc.index_in(column, value_set=distinct))
    return column
