"""Tables as people have them: encodings, delimiters, headers, quotes, sheets, damaged files, odd frames.

In:  one small table, written in many ways, and files that are wrong.
Out: the same cells whatever the file looks like, what was guessed in a note, or one sentence that names the line.
Outside readings: Python's csv and codecs, openpyxl; damaged files are read in a process of their own."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import os
import random
import subprocess
import sys
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spinney as sp
from spinney import files, quotes, table
from spinney.cli import main
from spinney.errors import ChoiceError, DataError, FileFormatError, LimitError, SpinneyError
from spinney.formats import text
from spinney.table import RawTable, read_frame, read_table

pd = pytest.importorskip("pandas", reason="pandas is not installed: no frames to read")


def read(folder: Path, content: str | bytes, name: str = "t.csv", **options) -> RawTable:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, **options)


def rows(found: RawTable) -> list[tuple[str, ...]]:
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def says(call, kind: type[SpinneyError] = FileFormatError) -> str:
    """The sentence of the error: one line, short, with a remedy."""
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message and len(message) <= 500 and (";" in message or "?" in message)
    return message


# --- one table, written in many ways --------------------------------------------------------------------------------

NAMES = ("Größe", "Ort", "n")
CELLS = [("1,5", "Köln", "1"), ("1,75", "Bonn, am Rhein", "2"), ("", 'das "Dorf"', "3"), ("2,0", "Zürich", "5")]


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("above", ["", "\n\n", "Patienten im Mai\n\nStation Süd\n"])
@pytest.mark.parametrize("last", [True, False])
def test_every_coat_gives_the_same_cells(tmp_path, delimiter, end, encoding, above, last):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([NAMES, *CELLS])
    content = (above + text.getvalue()).replace("\n", end)
    found = read(tmp_path, (content if last else content.removesuffix(end)).encode(encoding))
    assert found.names == NAMES and rows(found) == CELLS and found.text
    notes = ["skipped 2 lines before the header"] if above.strip() else []
    if encoding == "cp1252":
        line = 3 if above.strip() else 1 + above.count("\n")
        notes.insert(
            0, f"read as cp1252, because line {line} is not valid UTF-8; if that is wrong, give the right encoding"
        )
    if encoding.endswith(("le", "be")):
        notes.insert(0, f"read as {encoding.upper()}, which has no byte order mark")
    assert list(found.notes) == notes


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6)] * 3),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["utf-8", "utf-16"]),
)
def test_cells_are_those_that_python_writes(tmp_path_factory, cells, delimiter, quoting, encoding):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writerows([("a", "b", "c"), *cells])
    found = read(tmp_path_factory.mktemp("t"), text.getvalue().encode(encoding), delimiter=delimiter)
    assert rows(found) == [row for row in cells if "".join(row).strip(" \t")]


EMPTY = "left out 1 empty column without a name"
SKIPPED = "skipped 1 line before the header"
NUMBERED = "left out the first column, which has no name and numbers the rows"
TWICE = "column names that occur more than once: "


@pytest.mark.parametrize(
    ("content", "names", "first", "notes"),
    [
        ("a,b,\n1,2,\n3,4,\n", "a b", "1 2", [EMPTY]),
        ("a,b\n1,2,\n3,4,\n", "a b", "1 2", [EMPTY]),
        ("a;b;;\n1;2;;\n;;;\n", "a b", "1 2", ["left out 1 empty row", "left out 2 empty columns without a name"]),
        ("Report;;\na;b;c\n1;2;3\n", "a b c", "1 2 3", [SKIPPED]),
        ("# made by hand, in May\na,b,c\n1,2,3\n4,5,6\n", "a b c", "1 2 3", [SKIPPED]),
        ("Sales\nx;2019;2020\nDE;1;2\n", "x 2019 2020", "DE 1 2", [SKIPPED]),
        (",a\n0,x\n1,y\n", "a", "x", [NUMBERED]),
        ("Unnamed: 0,a\n1,x\n2,y\n", "a", "x", [NUMBERED.replace("has no name", "is called 'Unnamed: 0'")]),
        ('"a","b"\n"1",5,6\n"2",7,8\n', "a b", "5 6", [NUMBERED]),
        (",a\nx,1\ny,2\n", "column_1 a", "x 1", ["1 column without a name: now called 'column 1'"]),
        ("x,x,x\n1,2,3\n", "x x.2 x.3", "1 2 3", [TWICE + "'x' is now 'x.2', 'x' is now 'x.3'"]),
        ("x,x,x.2\n1,2,3\n", "x x.3 x.2", "1 2 3", [TWICE + "'x' is now 'x.3'"]),
        ("a,b\n1,2\n3,4,,\n", "a b", "1 2", []),
        ('a,b\n1,"x\ny"\n', "a b", "1 x\ny", ["1 cell holds line ends inside quotes (the first opens in line 2)"]),
        ('a,b\n1,5"pipe\n', "a b", '1 5"pipe', []),
    ],
)
def test_what_people_write(tmp_path, content, names, first, notes):
    found = read(tmp_path, content)
    assert [name.replace(" ", "_") for name in found.names] == names.split()
    assert list(rows(found)[0]) == first.split(" ") and list(found.notes) == notes


def test_short_rows_are_filled_and_empty_rows_left_out(tmp_path):
    found = read(tmp_path, "a,b,c\n1,2,3\n4,5\n,,\n6\n7,8,9\n1,1,1\n")
    assert rows(found) == [("1", "2", "3"), ("4", "5", ""), ("6", "", ""), ("7", "8", "9"), ("1", "1", "1")]
    assert "2 rows have fewer cells" in found.notes[0] and found.notes[1] == "left out 1 empty row"


def test_spaces_separate_where_nothing_else_does(tmp_path):
    found = read(tmp_path, '"a" "b"\n"1" 2 "x y"\n"2" 5 "z"\n', "t.txt")  # as R's write.table writes
    assert found.names == ("a", "b") and rows(found) == [("2", "x y"), ("5", "z")]
    found = read(tmp_path, "a   b\n 1.0  2\n10.0 30\n", "t.dat")
    assert found.names == ("a", "b") and rows(found) == [("1.0", "2"), ("10.0", "30")]
    assert read(tmp_path, "name\nAnn Lee\nJo\nJohn Smith\n", "t.txt").names == ("name",)
    assert read(tmp_path, "full name\nAnn Lee\nJohn Smith\n").names == ("full name",)


def test_the_five_bytes_without_meaning_in_cp1252_are_latin_1(tmp_path):
    assert rows(read(tmp_path, b"a,b\n\x81\x8d,\x93q\x94\n")) == [("\x81\x8d", "“q”")]
    whole = bytes(range(0x80, 0x100))
    text = rows(read(tmp_path, b"a,b\n" + whole + b",x\n"))[0][0]
    assert text.encode("cp1252", errors="ignore") == bytes(b for b in whole if b not in b"\x81\x8d\x8f\x90\x9d")


def test_one_wrong_byte_does_not_spoil_a_utf8_file(tmp_path):
    found = read(tmp_path, b"a,b\n" + "é,ü\n".encode() * 20 + b"caf\xe9,x\n")
    assert rows(found)[0] == ("é", "ü") and rows(found)[-1] == ("café", "x") and "line 22" in found.notes[0]


def test_the_encoding_that_is_named_counts(tmp_path):
    content = "a,b\nПриём,x\n"
    assert rows(read(tmp_path, content.encode("cp1251"), encoding="cp1251")) == [("Приём", "x")]
    assert rows(read(tmp_path, content.encode("utf-16"), encoding="utf-16")) == [("Приём", "x")]
    assert rows(read(tmp_path, content.encode("utf-8-sig"), encoding="UTF8")) == [("Приём", "x")]
    message = says(lambda: read(tmp_path, content.encode("cp1251"), encoding="utf-8"))
    assert "line 2: byte 0xcf is not UTF-8" in message
    for unknown in ("klingon", "rot13", "base64", "x\0", ""):
        assert "is not known" in says(lambda unknown=unknown: read(tmp_path, content, encoding=unknown), ChoiceError)


def test_a_file_of_the_hospital_by_one_command(tmp_path, capsys):
    path = tmp_path / "station.csv"
    path.write_bytes("Größe;Ort\nja;Köln\nnein;Bonn\n".encode("cp1252") * 1)
    assert main(["kinds", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "Größe" in out and "Köln" in out and "--encoding" in err
    assert main(["kinds", str(path), "--encoding", "cp1252"]) == 0
    assert "cp1252" not in capsys.readouterr().err


# --- quotes ---------------------------------------------------------------------------------------------------------

LINES = [f"{i},x{i},u{i % 3}" for i in range(1000)]


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("at", [0, 9, 500, 999])
@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("later", [None, "opening", "closing"])
def test_an_unclosed_quote_is_refused_with_its_line(tmp_path, quoted, at, column, later):
    """Rows must never disappear without a word; `later`: another quote far below, which could close it."""
    table = [line.split(",") for line in LINES]
    if quoted:
        table = [[f'"{cell}"' for cell in row] for row in table]
    table[at][column] = table[at][column].removesuffix('"') if quoted else '"' + table[at][column]
    if later is not None and at + 300 < len(table) and not quoted:
        cell = table[at + 300][column]
        table[at + 300][column] = f'"{cell}"' if later == "opening" else f'{cell}"'
    content = "a,b,c\n" + "".join(",".join(row) + "\n" for row in table)
    assert f"line {at + 2}: the quote that opens a cell here is not closed" in says(lambda: read(tmp_path, content))


def test_cells_over_several_lines_stay_whole(tmp_path):
    story = "first, a line\nthen another\n\nand, with, commas\n" + "a longer line of prose, with a comma\n" * 3
    cells = [("1", story), ("2", 'he said "no",\nand left'), ("3", "plain")]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows([("n", "said"), *cells])
    found = read(tmp_path, text.getvalue())
    assert rows(found) == cells
    assert list(found.notes) == ["2 cells hold line ends inside quotes (the first opens in line 2)"]


@pytest.mark.parametrize("piece", [1, 2, 3, 7])
def test_quotes_are_followed_from_piece_to_piece(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(quotes, "_PIECE", piece)
    cells = [("1", "a\nb"), ("2", '""'), ("3", 'x ""\n"" y\n'), ("4", "")]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("n", "said"), *cells])
    assert rows(read(tmp_path, text.getvalue())) == cells
    assert "line 4: the quote" in says(lambda: read(tmp_path, text.getvalue().replace('"2"', '"2')))


@given(st.text(alphabet='ab,"\n', max_size=40), st.sampled_from([1, 3, 1 << 20]))
def test_rows_are_those_of_python_or_the_file_is_refused(tmp_path_factory, body, piece):
    """Whatever the quotes: nothing but what Python's csv reads, and that only where every quote is closed."""
    content = "p,q\nv,w\n" + body
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quotes, "_PIECE", piece)
        try:
            found = rows(read(tmp_path_factory.mktemp("q"), content, delimiter=","))
        except SpinneyError:
            return
    expected = []
    for record in list(csv.reader(io.StringIO(content, newline="")))[1:]:
        record = [*record, "", ""][: max(2, len(record))]
        if any(cell.strip(" \t") for cell in record):
            expected.append(tuple(record[:2]))
    assert found == expected


# --- long lines, sizes ----------------------------------------------------------------------------------------------


def test_a_name_of_megabytes_and_a_header_of_megabytes(tmp_path):
    message = says(lambda: read(tmp_path, "x" * 5_000_000 + "\n1\n"))
    assert "line 1: a column name in the header is 5,000,000 characters long" in message
    wide = [f"a rather long name of a column {i}" for i in range(3000)]
    found = read(tmp_path, ",".join(wide) + "\n" + ",".join("1" * 3000) + "\n")
    assert found.names == tuple(wide)
    long = "y" * 6_000_000  # more than pyarrow parses at a time
    assert rows(read(tmp_path, f"a,b\n1,{long}\n2,x\n")) == [("1", long), ("2", "x")]


def test_gzip_that_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch):
    content = gzip.compress(b"a,b\n" + b"1,2\n" * 20_000_000)  # 80 MB in 80 kB
    monkeypatch.setattr(table, "available_memory", lambda: 1e8)
    message = says(lambda: read(tmp_path, content, "t.csv.gz"))
    assert "after unpacking" in message and "0.1 GB are available" in message
    (tmp_path / "large.csv").write_bytes(b"a,b\n" + b"1,2\n" * 10_000_000)
    assert "GB are available" in says(lambda: read_table(tmp_path / "large.csv"))
    monkeypatch.undo()
    assert len(read(tmp_path, gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"), "t.csv.gz").columns[0]) == 2


def test_a_network_that_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch):
    (tmp_path / "net.json.gz").write_bytes(gzip.compress(b" " * 80_000_000))
    monkeypatch.setattr(text, "available_memory", lambda: 1e8)
    assert "0.1 GB are available" in says(lambda: sp.Network.read(tmp_path / "net.json.gz"))
    (tmp_path / "net.json").write_bytes(b" " * 20_000_000)
    assert "0.1 GB are available" in says(lambda: sp.Network.read(tmp_path / "net.json"))


def test_integers_beyond_64_bits_stay_apart(tmp_path):
    ids = [f"1234567890123456{i:04d}" for i in range(15)] * 2
    path = tmp_path / "t.csv"
    path.write_text("id,b\n" + "".join(f"{value},x\n" for value in ids))
    data = sp.Dataset.read(path, kinds={"id": "categorical"})
    assert [data.levels("id")[code] for code in data.codes("id")] == ids
    found = sp.Dataset.read(path)  # nobody says what they are: they may be left out as identifiers, never be one number
    assert "id" not in found.names or len(found.levels("id")) == 15


# --- Excel ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: no workbook to read")
    pytest.importorskip("python_calamine", reason="python-calamine is not installed: Excel files are not read")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "May"
    sheet.append(["Patients in May"])
    sheet.append([])
    sheet.append(["age", "sex", "seen", "ok", "dose", "code"])
    sheet.append([31, "f", datetime.date(2024, 5, 31), True, 1.5, "007"])
    sheet.append([45, "m", datetime.datetime(2024, 6, 1, 12, 30), False, 2, "010"])
    sheet.append([None, None, None, None, None, None])
    sheet.append([7, "f", None, True, 0.25, "x"])
    book.create_sheet("June").append(["a", "b"])
    book["June"].append([1, "y"])
    book.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_excel_cells_are_those_of_the_sheet_saved_as_csv(workbook):
    found = read_table(workbook)
    assert found.names == ("age", "sex", "seen", "ok", "dose", "code") and found.text
    assert rows(found) == [
        ("31", "f", "2024-05-31", "True", "1.5", "007"),
        ("45", "m", "2024-06-01 12:30:00.000000", "False", "2", "010"),
        ("7", "f", "", "True", "0.25", "x"),
    ]
    assert list(found.notes) == [
        "read the first sheet, 'May'; the others are 'June'",
        "skipped 1 line before the header",
        "left out 1 empty row",
    ]
    june = read_table(workbook, sheet="June")
    assert june.names == ("a", "b") and rows(june) == [("1", "y")] and june.notes == ()


def test_excel_that_cannot_be_read(workbook, tmp_path, monkeypatch):
    message = says(lambda: read_table(workbook, sheet="July"), ChoiceError)
    assert "no sheet 'July'; its sheets are 'May', 'June'" in message
    assert "has no sheets" in says(lambda: read(tmp_path, "a,b\n1,2\n", sheet="May"), ChoiceError)
    content = workbook.read_bytes()
    assert "damaged" in says(lambda: read(tmp_path, content[: len(content) // 2], "cut.xlsx"))
    assert "holds an Excel file, which .csv does not say" in says(lambda: read(tmp_path, content, "t.csv"))
    assert "zip archive" in says(lambda: read(tmp_path, b"PK\x03\x04" + b"z" * 60, "t.zip"))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert "pip install 'spinney[excel]'" in says(lambda: read_table(workbook))


# --- Parquet and Feather, damaged -----------------------------------------------------------------------------------

ARROW = pa.table(
    {
        "s": ["a", "bb", None, "dd"] * 20,
        "i": list(range(80)),
        "d": pa.array(["x", "y", "z", "x"] * 20).dictionary_encode(),
        "b": [True, False, None, True] * 20,
    }
)

READ_ALL = """
import sys
from spinney.dataset import Dataset
from spinney.errors import SpinneyError
for path in sys.argv[1:]:
    try:
        Dataset.read(path, missing="level")
    except SpinneyError as error:
        assert len(str(error)) <= 500, path
"""


@pytest.mark.parametrize("kind", ["feather", "parquet"])
def test_damaged_files_do_not_end_the_process(tmp_path, kind):
    sink = io.BytesIO()
    if kind == "feather":
        pyarrow.feather.write_feather(ARROW, sink, compression="uncompressed")
    else:
        pyarrow.parquet.write_table(ARROW, sink)
    whole, draw = sink.getvalue(), random.Random(7)
    for number in range(150):
        mutant = bytearray(whole)
        for _ in range(draw.choice([1, 2, 5, 20])):
            place = draw.randrange(4, len(mutant))
            mutant[place : place + 1] = draw.choice([b"\xff" * 8, b"\0" * 4, bytes([draw.randrange(256)]), b""])
        (tmp_path / f"{number}.{kind}").write_bytes(mutant[: draw.choice([len(mutant), len(mutant), len(mutant) // 2])])
    paths = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run([sys.executable, "-c", READ_ALL, *paths], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]


def test_dictionary_indices_out_of_range_are_refused(tmp_path):
    wrong = pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int8()), pa.array(["x", "y"]), safe=False)
    pyarrow.feather.write_feather(pa.table({"a": wrong}), str(tmp_path / "t.feather"), compression="uncompressed")
    assert "damaged" in says(lambda: read_table(tmp_path / "t.feather"))
    assert "contradicts itself" in says(lambda: read_frame(pa.table({"a": wrong})), DataError)


@pytest.mark.parametrize(
    "metadata",
    [b"", b"{", b"\xff\xfe", b"[]", b"5", b"{}", b'{"index_columns": 5}', b'{"index_columns": [[], {}, null]}',
     b'{"index_columns": {"a": 1}}', b'{"index_columns": "a"}', b"[" * 100_000],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["feather", "parquet"])
def test_odd_pandas_metadata_is_no_obstacle(tmp_path, metadata, kind):
    told = pa.table({"a": [1, 2]}).replace_schema_metadata({b"pandas": metadata})
    path = tmp_path / f"t.{kind}"
    if kind == "feather":
        pyarrow.feather.write_feather(told, str(path))
    else:
        pyarrow.parquet.write_table(told, path)
    assert read_table(path).names == ("a",)


def test_a_file_that_is_cut_short_after_reading_does_no_harm(tmp_path):
    path = tmp_path / "t.arrow"
    pyarrow.feather.write_feather(pa.table({"a": np.arange(300_000.0)}), str(path), compression="uncompressed")
    program = (
        "import os, sys; from spinney.table import read_table; found = read_table(sys.argv[1]); "
        "os.truncate(sys.argv[1], 100); print(int(found.columns[0].to_numpy().sum()))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and int(done.stdout) == 300_000 * 299_999 // 2


# --- frames ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "what"),
    [
        (pd.DataFrame({"a": [1, 2]}).to_dict(), "column 'a' is a dict"),
        ({"a": {1, 2}}, "column 'a' is a set"),
        ({"a": frozenset("x")}, "column 'a' is a set"),
        ({"a": (i for i in range(3))}, "column 'a' is not a list of cells"),
        ({"a": 5}, "column 'a' is not a list of cells"),
        ({"a": None}, "column 'a' is not a list of cells"),
        (None, "a NoneType is no table"),
        ([[1, 2], [3, 4]], "pandas.DataFrame(rows)"),
        ([{"a": 1}], "pandas.DataFrame(rows)"),
        (np.zeros((2, 2)), "columns=[...]"),
        ("t.csv", "Dataset.read"),
        ({"a": ["\ud800"]}, "half a character"),
        ({"a": [object()]}, "do not go together"),
    ],
)
def test_what_is_no_table(frame, what):
    assert what in says(lambda: read_frame(frame), DataError)


@pytest.mark.parametrize(
    ("values", "cells", "note"),
    [
        ([10**30, 1], [str(10**30), "1"], "integers beyond 64 bits"),
        ([2**63, 2**63 + 1, None], [str(2**63), str(2**63 + 1), None], "integers beyond 64 bits"),
        (["x", 1, 2.5, True, None], ["x", "1", "2.5", "True", None], "values of several types (bool, float, int, str)"),
        ([datetime.date(2024, 5, 31), "later"], ["2024-05-31", "later"], "values of several types (date, str)"),
        ([Decimal("1.5"), 2, 2.25, None], [1.5, 2.0, 2.25, None], None),
        ([True, None], [True, None], None),
        ([1, None], [1, None], None),
    ],
)
def test_columns_of_python_values(values, cells, note):
    for frame in ({"a": values}, pd.DataFrame({"a": pd.Series(values, dtype=object)})):
        found = read_frame(frame)
        assert found.columns[0].to_pylist() == cells
        assert list(found.notes) == ([] if note is None else [f"column 'a' holds {note}, so it was taken as text"])


def test_types_of_pandas():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], dtype="Int64"),
            "truth": pd.array([True, None], dtype="boolean"),
            "text": pd.array(["x", None], dtype="string"),
            "span": pd.to_timedelta([1, 2], unit="D"),
            "mixed": pd.Categorical([1, "x"]),
            "sparse": pd.arrays.SparseArray([1, 0]),
            "zone": pd.to_datetime(["2024-05-31", None]).tz_localize("Europe/Berlin"),
        }
    )
    found = {name: column.to_pylist() for name, column in zip(frame, read_frame(frame).columns, strict=True)}
    assert found["whole"] == [1, None] and found["truth"] == [True, None] and found["text"] == ["x", None]
    assert found["span"] == [datetime.timedelta(1), datetime.timedelta(2)] and found["mixed"] == ["1", "x"]
    assert found["sparse"] == [1, 0] and found["zone"][1] is None


# --- standard input, paths, writing ---------------------------------------------------------------------------------


def test_closed_standard_input_and_paths_that_cannot_be(tmp_path, capsys):
    command = [sys.executable, "-c", "from spinney.cli import main; raise SystemExit(main(['kinds', '-']))"]
    closed = partial(os.close, 0)
    done = subprocess.run(command, preexec_fn=closed, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "standard input is closed" in done.stderr
    for path in ("a\0b.csv", "\ud800.csv", "x" * 5000 + ".csv"):
        says(lambda path=path: read_table(path), SpinneyError)
    (tmp_path / "t.csv").write_text("a,b\nx,u\ny,v\n")
    for option in ("--kinds", "--constraints", "--tiers", "--candidates"):
        assert main(["learn", str(tmp_path / "t.csv"), option, "\ud800"]) == 2
        assert "cannot be the name of a file" in capsys.readouterr().err
    data = sp.Dataset.from_frame({"a": ["x", "y"]})
    assert "path of a file" in says(lambda: data.write(tmp_path / "a\0b.csv"), SpinneyError)


def test_more_rows_than_can_be_drawn(tmp_path, capsys):
    network = sp.fit(sp.Dataset.from_frame({"a": ["x", "y"]}), {})
    for count in (9223372036854775808, 10**30, 10**14):
        assert "GB of memory" in says(lambda count=count: network.sample(count), LimitError)
    network.save(tmp_path / "net.json")
    assert main(["sample", str(tmp_path / "net.json"), "-n", "9223372036854775808"]) == 2
    assert "ask for fewer rows" in capsys.readouterr().err


class Killed(BaseException):
    """As if the process ended here."""


@pytest.mark.parametrize("step", ["write", "fsync", "chmod", "replace"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".csv.gz"])
def test_the_old_table_is_there_until_the_new_one_is(tmp_path, monkeypatch, step, suffix):
    data = sp.Dataset.from_frame({"a": ["x", "y"] * 500})
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"the old file")
    network = sp.fit(data, {})
    network.save(tmp_path / "net.json")

    def fail(*_: object) -> None:
        assert path.read_bytes() == b"the old file"
        raise OSError(28, "No space left on device") if step == "fsync" else Killed

    if step == "write":
        monkeypatch.setattr(files.os, "fdopen", fail)
    else:
        monkeypatch.setattr(files.os, step, fail)
    with pytest.raises((Killed, FileFormatError)):
        data.write(path)
    if step == "fsync":
        assert main(["sample", str(tmp_path / "net.json"), "-o", str(path)]) == 2
    monkeypatch.undo()
    assert path.read_bytes() == b"the old file"
    assert sorted(os.listdir(tmp_path)) == sorted(["net.json", path.name])  # nothing is left beside it
    data.write(path)
    assert sp.Dataset.read(path).n_rows == 1000


# --- the fingerprint ------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 3), st.floats(-5, 5)), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_the_fingerprint_is_that_of_the_rows_in_any_order(cells, draw):
    kinds = {"a": sp.Categorical(["x", "y", "z"]), "b": sp.Ordinal(["0", "1", "2", "3"]), "c": sp.Continuous(-9, 9)}

    def print_of(these: list[tuple[str, int, float]]) -> str:
        columns = dict(zip("abc", zip(*these, strict=True), strict=True))
        return sp.Dataset.from_frame({name: list(column) for name, column in columns.items()}, kinds=kinds).fingerprint

    shuffled = draw.sample(cells, len(cells))
    assert print_of(cells) == print_of(shuffled)
    changed = [*cells]
    place = draw.randrange(len(cells))
    a, b, c = cells[place]
    changed[place] = draw.choice([("y" if a == "x" else "x", b, c), (a, (b + 1) % 4, c), (a, b, c / 2 + 2.6)])
    if sorted(changed) != sorted(cells):
        assert print_of(changed) != print_of(cells)
    assert print_of([*cells, cells[0]]) != print_of(cells)


def test_cells_exchanged_between_rows_or_columns_change_the_fingerprint():
    def print_of(a: list[str], b: list[str]) -> str:
        kinds = dict.fromkeys("ab", sp.Categorical(["x", "y"]))
        return sp.Dataset.from_frame({"a": a, "b": b}, kinds=kinds).fingerprint

    assert print_of(["x", "y"], ["x", "y"]) != print_of(["y", "x"], ["x", "y"])  # the same columns, other rows
    assert print_of(["x", "x"], ["y", "y"]) != print_of(["y", "y"], ["x", "x"])
