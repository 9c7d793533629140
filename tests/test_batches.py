"""Large tables, read batch by batch into packed columns.

In:  small tables of any cells, read in batches of odd sizes, and the same tables read at once.
Out: the same Dataset, or the same sentence; packed columns in the smallest types; what the memory cannot hold is said
before it is full."""

from __future__ import annotations

import datetime
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spinney as sp
from messy_tables import messy
from spinney import packed, table, text_blocks
from spinney.errors import FileFormatError, SpinneyError
from spinney.formats import arrow
from spinney.overview import overview
from spinney.packed import Packed, Packing
from spinney.reading import Reading
from spinney.table import read_table

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@contextmanager
def batches(rows: int, values: int = 65_536):
    """Every file is a large one, and a batch has so many rows; columns of more values are not packed."""
    with (
        patch.object(arrow, "LARGE", 0),
        patch.object(arrow, "_ROWS", rows),
        patch.object(text_blocks, "LARGE", 0),
        patch.object(text_blocks, "BLOCK", 40 * rows),
        patch.object(text_blocks, "_PIECE", 7 * rows),
        patch.object(packed, "MOST_VALUES", values),
        patch.object(packed, "PIECE", rows),
    ):
        yield


def read(path: Path, **options):
    """What there is to know about the data set, or the sentence that refuses it."""
    try:
        data = sp.Dataset.read(path, **options)
    except SpinneyError as error:
        return str(error)
    cells = {name: data._data[name].tolist() for name in data.names}
    types = {name: data._data[name].dtype for name in data.names}
    return (data.kinds, data.reasons, data.notes, data.left_out, data.rows_dropped, data.fingerprint, cells, types)


def viewed(path: Path) -> object:
    try:
        return overview(read_table(path), Reading())
    except SpinneyError as error:
        return str(error)


def columns(path: Path) -> list[object]:
    return list(read_table(path).columns)


CELLS = [
    ["a", "b", "c"],
    ["1", "2", "3", "4"],
    ["1", "2", "", "NA", "x"],
    ["1.5", "2.25", "-3", "+4", " 7"],
    ["007", "12", "3"],
    ["1,5", "2,75", "10,0"],
    ["1.234,5", "12.000,25", "?", "3,5"],
    ["10 kg", "12.5 kg", "-", "9 kg"],
    ["2024-05-31", "2023-01-02", "1999-12-31"],
    ["31.05.2024", "01.02.2023", "k.A."],
    ["yes", "no", " yes", "?"],
    ["", " "],
    ["Yes", "yes", "no"],
    ["inf", "1", "2"],
    ["99999999999999999999", "1", "3"],
    ["9223372036854775807", "9007199254740993", "1"],
    ["missing", "a", ""],
    ["ä", "ö", "€"],
]


@st.composite
def tables(draw) -> dict[str, list[str]]:
    rows = draw(st.integers(1, 60))
    texts = {}
    for place in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            cells = st.sampled_from(draw(st.sampled_from(CELLS)))
        else:  # many different ones
            style = draw(st.sampled_from(["{}", "{}.5", "{},25", "id{}", "{} cm"]))
            cells = st.integers(-50, 3000).map(style.format)
        texts[draw(st.sampled_from(["", "x", "id", "Größe"])) + str(place) * (place > 0)] = draw(
            st.lists(cells, min_size=rows, max_size=rows)
        )
    return texts


def as_csv(texts: dict[str, list[str]], end: str) -> str:
    rows = [list(texts), *zip(*texts.values(), strict=True)]
    return "".join(";".join(f'"{cell}"' if len(cell) == 5 else cell for cell in row) + end for row in rows)


CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "missing": st.sampled_from(["refuse", "drop", "level"]),
        "min_count": st.integers(2, 4),
        "keep_all": st.booleans(),
        "decimal": st.sampled_from([",", "."]),
        "kinds": st.dictionaries(
            st.sampled_from(["x", "id", "x1"]),
            st.sampled_from(["continuous", "categorical", "ordinal", sp.Categorical(["a", "b", "1", "2", ""])]),
            max_size=2,
        ),
        "ignore_absent": st.just(True),
        "unseen": st.just("allow"),
    },
)


@given(
    tables(),
    st.sampled_from([1, 3, 7, 100]),
    st.sampled_from([2, 5, 65_536]),
    st.sampled_from(["\n", "\r\n"]),
    CHOICES,
)
@QUICK
def test_text_in_blocks_is_the_text_at_once(tmp_path, texts, rows, values, end, choices):
    path = tmp_path / "t.csv"
    path.write_bytes(as_csv(texts, end).encode())
    whole = read(path, **choices)
    with batches(rows, values):
        assert read(path, **choices) == whole


@pytest.mark.parametrize("name", sorted(messy()))
@pytest.mark.parametrize("rows", [3, 64])
def test_messy_files_in_blocks(tmp_path, name, rows):
    path = tmp_path / "t.csv"
    path.write_bytes(messy()[name].content)
    whole, seen = read(path), viewed(path)
    with batches(rows):
        assert read(path) == whole
        assert viewed(path) == seen


def typed(draw, rows: int) -> pa.Array:
    """A column of a Parquet file, with holes or without."""
    kind = draw(
        st.sampled_from(["text", "few", "small", "large", "float", "bool", "day", "categories", "ordered", "odd"])
    )
    holes = st.none() if draw(st.booleans()) else st.nothing()

    def cells(values):
        return draw(st.lists(values | holes, min_size=rows, max_size=rows))

    if kind == "text":
        return pa.array(
            cells(st.sampled_from(draw(st.sampled_from(CELLS)))),
            draw(st.sampled_from([pa.string(), pa.large_string()])),
        )
    if kind == "few":
        return pa.array(cells(st.integers(0, 3)), pa.int64())
    if kind == "small":
        return pa.array(cells(st.integers(-300, 300)), draw(st.sampled_from([pa.int16(), pa.int64()])))
    if kind == "large":
        return pa.array(cells(st.integers(0, 2**64 - 1)), pa.uint64())
    if kind == "float":
        return pa.array(cells(st.sampled_from([0.5, -0.0, 1e300, float("inf"), float("nan"), 7.0])), pa.float64())
    if kind == "bool":
        return pa.array(cells(st.booleans()), pa.bool_())
    if kind == "day":
        return pa.array(cells(st.dates(datetime.date(1900, 1, 1), datetime.date(2030, 1, 1))), pa.date32())
    if kind == "odd":
        return pa.array([[1, 2]] * rows)
    levels = draw(st.permutations(["low", "mid", "high", "1"]))
    places = pa.array(cells(st.integers(0, 3)), pa.int8())
    return pa.DictionaryArray.from_arrays(places, pa.array(levels), ordered=kind == "ordered")


@st.composite
def frames(draw) -> pa.Table:
    rows = draw(st.integers(1, 40))
    return pa.table({f"c{place}": typed(draw, rows) for place in range(draw(st.integers(1, 4)))})


@given(
    frames(),
    st.sampled_from([1, 3, 11]),
    st.sampled_from([2, 5, 65_536]),
    st.integers(1, 40),
    st.sampled_from(
        [
            {},
            {"missing": "level"},
            {"missing": "refuse"},
            {"kinds": {"c0": "continuous"}},
            {"kinds": {"c0": "categorical"}},
            {"kinds": {"c0": "ordinal"}, "keep_all": True},
        ]
    ),
)
@QUICK
def test_parquet_in_batches_is_the_file_at_once(tmp_path, frame, rows, values, group, choices):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(frame, path, row_group_size=group)
    whole = read(path, **choices)
    with batches(rows, values):
        assert read(path, **choices) == whole


def test_large_files_are_packed_and_small_ones_are_not(tmp_path):
    frame = pa.table({"t": pa.array(["a", "b", None] * 50), "n": pa.array([1, 2, 300] * 50, pa.int64())})
    pyarrow.parquet.write_table(frame, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("t,n\n" + "a,1\nb,2\n" * 50)
    for name in ("t.parquet", "t.csv"):
        assert not any(isinstance(column, Packed) for column in columns(tmp_path / name))
    with batches(7):
        text, numbers = columns(tmp_path / "t.parquet")
        assert isinstance(text, Packed) and text.codes.dtype == np.uint8 and text.null_count == 50
        assert text.counts.tolist() == [50, 50, 50] and numbers.type == pa.int16()
        assert all(isinstance(column, Packed) for column in columns(tmp_path / "t.csv"))


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3\n4,5\n",  # a short row
        'a,b\n1,"two\nlines"\n3,4\n',
        "a b\n1 2\n3 4\n",
        "a,b\n1,\x80\n2,ü\n",
    ],
)
def test_what_takes_the_whole_file_is_read_at_once(tmp_path, content):
    path = tmp_path / "t.txt"
    path.write_bytes(content.encode("latin-1"))
    whole = read(path, keep_all=True)
    with batches(2):
        assert read(path, keep_all=True) == whole
        assert not any(isinstance(column, Packed) for column in columns(path))


def test_a_value_too_many_unpacks():
    with batches(4, values=3):
        packing = Packing(pa.string())
        for text in ("ab", "bc", "cd"):
            packing.add(pa.array(list(text)))
        column = packing.finish()
    assert not isinstance(column, Packed) and column.to_pylist() == list("abbccd")


def test_codes_become_wider_when_they_must():
    packing = Packing(pa.string())
    texts = [str(place) for place in range(300)]
    packing.add(pa.array(texts[:10]))
    packing.add(pa.array(texts))
    column = packing.finish()
    assert isinstance(column, Packed) and column.codes.dtype == np.uint16
    assert column.expanded().to_pylist() == texts[:10] + texts


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_the_memory_cannot_hold_is_said_at_the_beginning(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    sp.simulate.mixed(4, 1, 2000, seed=1).write(path)
    said = pytest.raises(FileFormatError, match=r"its cells, packed, need about .* GB .*; take fewer rows")
    with batches(100), patch.object(table, "available_memory", lambda: 5000.0), said:
        read_table(path)
