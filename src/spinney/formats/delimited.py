"""Text tables: cells separated by commas, tabs or another character.

In:  the bytes of a file; or a Dataset.
Out: a RawTable, by text_table.py; or the bytes, such that continuous columns are read back as continuous."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv

from spinney.files import split_suffix
from spinney.raw_table import RawTable
from spinney.settle import FEW_INTEGERS
from spinney.text_table import read_text_table

if TYPE_CHECKING:
    from spinney.dataset import Dataset


def read(raw: bytes, label: str, delimiter: str | None, encoding: str | None) -> RawTable:
    return read_text_table(raw, label, delimiter, encoding, split_suffix(label)[0])


def write(data: Dataset, suffix: str) -> memoryview:
    sink = io.BytesIO()
    columns = pa.table({name: _text_column(data, name) for name in data.names})
    pyarrow.csv.write_csv(columns, sink, pyarrow.csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ","))
    return sink.getbuffer()


def _text_column(data: Dataset, name: str) -> pa.Array:
    if data.kinds[name].discrete:
        return pa.array(data.levels(name), pa.string()).take(pa.array(data.codes(name)))
    values = data.values(name)
    distinct = np.unique(values)
    if len(distinct) <= FEW_INTEGERS and (distinct == np.floor(distinct)).all():
        # Written as 1, they would be read back as few integers, that is, categories.
        place = np.searchsorted(distinct, values)
        return pa.array([repr(float(value)) for value in distinct]).take(pa.array(place))
    return pa.array(values)
