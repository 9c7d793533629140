"""Files and frames to typed columns.

In:  tables as people have them, right and wrong.
Out: the same Dataset whatever the table came in; one sentence for what is wrong.
Outside readings: Python's csv and float, pandas and polars; a slow twin decides kinds cell by cell."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import math
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import spinney as sp
from lazy_polars import pl
from spinney.cells import MISSING_TEXTS
from spinney.dataset import Dataset
from spinney.errors import ChoiceError, DataError, FileFormatError, SpinneyError
from spinney.kinds import Categorical, Continuous, Ordinal

pd = pytest.importorskip("pandas", reason="pandas is not installed: nothing to compare with")

# What can stand in a text table: no lone surrogates (not UTF-8), no NUL (not text).
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def same(a: Dataset, b: Dataset) -> bool:
    alike = a.names == b.names and a.kinds == b.kinds and a.n_rows == b.n_rows and a.fingerprint == b.fingerprint
    return alike and all(np.array_equal(cells(a, name), cells(b, name)) for name in a.names)


def cells(data: Dataset, name: str) -> np.ndarray:
    return data.codes(name) if data.kinds[name].discrete else data.values(name)


def write(tmp_path: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(tmp_path: Path, content: str | bytes, name: str = "t.csv", **options) -> Dataset:
    return Dataset.read(write(tmp_path, content, name), **options)


def texts(data: Dataset, name: str) -> list[str]:
    return [data.levels(name)[code] for code in data.codes(name)]


def error_of(call, kind: type[SpinneyError] = DataError) -> str:
    """The sentence of the error: one line, of our own kind, with a remedy after a semicolon."""
    with pytest.raises(SpinneyError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is kind
    assert "\n" not in message and ";" in message
    return message


# --- one table, many coats ------------------------------------------------------------------------------------------

PLAIN = {
    "sex": ["m", "f", "f", "m"] * 5,
    "count": list(range(0, 40, 2)),
    "few": [1, 10, 2, 10] * 5,
    "size": [0.1 * i for i in range(20)],
    "said": ["a,b", 'q"q', "x\ny", "é"] * 5,
    "ok": [True, False, False, False] * 5,
}


@pytest.fixture
def plain() -> Dataset:
    return Dataset.from_frame(PLAIN)


def test_kinds_of_the_plain_table(plain):
    assert plain.kinds == {
        "sex": Categorical(["f", "m"]),
        "count": Continuous(0, 38),
        "few": Categorical(["1", "2", "10"]),
        "size": Continuous(0, 0.1 * 19),
        "said": Categorical(["a,b", 'q"q', "x\ny", "é"]),
        "ok": Categorical(["False", "True"]),
    }
    assert plain.reasons["few"] == "3 distinct integers, at most 10 are taken as categories"
    assert plain.reasons["count"] == "integers, more than 10 distinct"
    assert plain.notes == () and len(plain) == plain.n_rows == 20
    assert repr(plain).splitlines()[:3] == [
        "Dataset(20 rows, 6 columns: 4 categorical, 2 continuous)",
        "  sex    categorical  f, m",
        "  count  continuous   0 to 38",
    ]
    assert texts(plain, "few") == [str(value) for value in PLAIN["few"]]
    assert plain.values("size").tolist() == PLAIN["size"] and plain.values("count").dtype == np.float64
    assert plain.codes("sex").dtype == np.uint8


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, lambda table: pa.table(table).to_batches()[0]])
def test_every_frame_gives_the_same_dataset(plain, frame):
    assert same(Dataset.from_frame(frame(PLAIN)), plain)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV", "t.txt", "t.dat"])
def test_pandas_csv_gives_the_same_dataset(plain, tmp_path, name):
    path = tmp_path / name
    pd.DataFrame(PLAIN).to_csv(path, index=False)
    assert same(Dataset.read(path), plain)
    assert same(Dataset.read(str(path)), plain)


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_delimiters_line_ends_and_quotes_do_not_matter(plain, tmp_path, delimiter, ending, quoting):
    frame = pd.DataFrame(PLAIN)
    options = {"index": False, "sep": delimiter, "lineterminator": ending, "quoting": quoting}
    frame.to_csv(tmp_path / "t.txt", encoding="utf-8-sig", **options)
    assert same(Dataset.read(tmp_path / "t.txt"), plain)
    assert same(Dataset.read(tmp_path / "t.txt", delimiter=delimiter), plain)


def test_parquet_and_feather_of_others_give_the_same_dataset(plain, tmp_path):
    pd.DataFrame(PLAIN, index=range(7, 27)).to_parquet(tmp_path / "pandas.parquet")
    pl.DataFrame(PLAIN).write_parquet(tmp_path / "polars.parquet")
    pyarrow.feather.write_feather(pa.table(PLAIN), str(tmp_path / "t.feather"))
    pl.DataFrame(PLAIN).write_ipc(tmp_path / "t.arrow")
    for path in tmp_path.iterdir():
        assert same(Dataset.read(path), plain), path


def test_standard_input(plain, tmp_path, monkeypatch):
    for suffix in (".csv", ".csv.gz", ".parquet"):
        plain.write(tmp_path / f"t{suffix}")
        content = io.TextIOWrapper(io.BytesIO((tmp_path / f"t{suffix}").read_bytes()))
        monkeypatch.setattr(sys, "stdin", content)
        assert same(Dataset.read("-"), plain)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".csv.gz", ".parquet", ".feather", ".arrow", ".parquet.gz"])
def test_written_table_is_read_back(plain, tmp_path, suffix):
    plain.write(tmp_path / f"t{suffix}")
    assert same(Dataset.read(tmp_path / f"t{suffix}"), plain)


@given(st.lists(FLOATS, min_size=1, max_size=30))
def test_written_floats_are_read_back_exactly(tmp_path_factory, values):
    data = Dataset.from_frame({"x": np.array(values)}, keep_all=True)
    path = tmp_path_factory.mktemp("floats") / "t.csv"
    data.write(path)
    assert Dataset.read(path, keep_all=True).values("x").tolist() == [value + 0.0 for value in values]


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_binary_files_keep_order_and_unseen_levels(tmp_path, suffix):
    kinds = {"a": Ordinal(["low", "never", "high"]), "b": Categorical(["z", "y", "x"])}
    data = Dataset.from_frame({"a": ["high", "low"], "b": ["x", "z"]}, kinds=kinds)
    data.write(tmp_path / f"t{suffix}")
    again = Dataset.read(tmp_path / f"t{suffix}")
    assert again.kinds == kinds and same(again, data)


def test_same_table_gives_the_same_file(plain, tmp_path):
    plain.write(tmp_path / "a.csv.gz")
    plain.write(tmp_path / "b.csv.gz")
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


# --- cells, against Python's own reading ----------------------------------------------------------------------------


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=20), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_declared_discrete_cells_are_the_text_in_the_file(tmp_path_factory, rows, quoting):
    path = tmp_path_factory.mktemp("cells") / "t.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=quoting)
        writer.writerow(["a", "b"])
        writer.writerows(rows)
    with open(path, encoding="utf-8", newline="") as file:
        seen = [row for row in list(csv.reader(file))[1:] if "".join(row).strip(" \t")]  # empty rows are left out
    assume(seen)
    kinds = {name: Categorical(sorted({row[at] for row in seen})) for at, name in enumerate("ab")}
    data = Dataset.read(path, kinds=kinds)
    assert [texts(data, "a"), texts(data, "b")] == [[row[0] for row in seen], [row[1] for row in seen]]


NUMBER_LIKE = ["0", "1", "2", "-3", "+4", "007", "00", "0.5", "1.0", "1e5", ".5", "5.", "-0", " 6", "7 ", "0x1F"]
CELLS = st.sampled_from([*NUMBER_LIKE, *MISSING_TEXTS, " NA ", "x", "True", "1 2", "--1", "+", "1_0", "NAN"])


def slow_kind(cells: list[str]) -> str:
    """The rules of docs/data-kinds.md, one cell at a time."""
    present = [cell.strip() for cell in cells if cell.strip() not in (*MISSING_TEXTS, "NAN")]
    numbers = [cell for cell in present if number(cell)]
    odd = len(present) - len(numbers)
    if not numbers or any(re.match(r"[+-]?0\d", cell) for cell in numbers):
        return "categorical"
    if odd and (odd > 0.01 * len(present) and not (odd == 1 and len(present) > 20)):
        return "categorical"
    if odd and len({float(cell) for cell in numbers}) <= 10:
        return "categorical"
    if all(re.fullmatch(r"[+-]?\d+", cell) for cell in numbers):
        return "categorical" if len({int(cell) for cell in numbers}) <= 10 else "continuous"
    return "continuous"


def number(cell: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", cell.strip()) is not None


@given(st.lists(CELLS, min_size=1, max_size=12), st.booleans(), st.sampled_from([0, 7, 8, 9]))
def test_kinds_equal_the_slow_twin(tmp_path_factory, cells, beyond_the_head, more):
    if beyond_the_head:  # the first thousand rows are looked at first
        cells = ["1"] * 1200 + cells
    cells = cells + [str(i) for i in range(3, 3 + more)]
    content = "a,b\n" + "".join(f'"{cell}",y\n' for cell in cells)
    path = write(tmp_path_factory.mktemp("twin"), content)
    if all(cell.strip() in MISSING_TEXTS for cell in cells):
        assert "no row would be left" in error_of(lambda: Dataset.read(path, missing="drop", keep_all=True))
        return
    data = Dataset.read(path, missing="drop", keep_all=True)
    here = [cell.strip() for cell in cells if cell.strip() not in MISSING_TEXTS]
    if not data.reasons["a"].startswith(("text", "numbers written")):
        here = [cell for cell in here if number(cell)]
    assert data.kinds["a"].word == slow_kind(cells)
    if data.kinds["a"].discrete and data.reasons["a"].startswith(("text", "numbers written")):
        assert texts(data, "a") == here
    elif data.kinds["a"].discrete:
        assert texts(data, "a") == [str(int(cell)) for cell in here]
    else:
        assert data.values("a").tolist() == [float(cell) for cell in here]


@given(st.lists(FLOATS, min_size=1, max_size=30))
def test_numbers_are_those_that_python_reads(tmp_path_factory, values):
    path = write(tmp_path_factory.mktemp("numbers"), "a\n" + "".join(f"{value!r}\n" for value in values))
    data = Dataset.read(path, kinds={"a": "continuous"})
    assert data.values("a").tolist() == values
    assert data.kinds["a"] == Continuous(min(values), max(values))


@pytest.mark.parametrize("cells", [["1", "2"], ["007", "010"], ["1.5", "2"], ["x", "y"], ["1", "x"]])
def test_rows_in_another_order_have_the_same_kinds(tmp_path, cells):
    rng = np.random.default_rng(0)
    rows = [f"{cell},{i}\n" for i, cell in enumerate(cells * 20)]
    first = read(tmp_path, "a,b\n" + "".join(rows))
    order = rng.permutation(len(rows))
    second = read(tmp_path, "a,b\n" + "".join(rows[i] for i in order))
    assert first.kinds == second.kinds and first.reasons == second.reasons
    assert same(first.take(order), second)
    assert first.fingerprint == second.fingerprint


def test_declared_kinds_overrule(tmp_path):
    content = "a,b,c\n1.0,007,NA\n2,010,yes\n1,007,yes\n"
    kinds = {"a": "categorical", "b": "continuous", "c": Ordinal(["yes", "NA"])}
    data = read(tmp_path, content, kinds=kinds)
    assert texts(data, "a") == ["1.0", "2", "1"] and data.levels("a") == ("1", "1.0", "2")
    assert data.values("b").tolist() == [7.0, 10.0, 7.0]
    assert texts(data, "c") == ["NA", "yes", "yes"] and data.kinds["c"] == Ordinal(["yes", "NA"])
    assert set(data.reasons.values()) == {"user"}


def test_kinds_from_a_file_and_from_an_earlier_dataset(tmp_path):
    kinds = write(tmp_path, "a: {kind: ordinal, levels: [low, high]}\n", "kinds.yaml")
    data = read(tmp_path, "a,b\nhigh,1.5\nlow,2.5\n", kinds=kinds)
    assert data.levels("a") == ("low", "high")
    later = read(tmp_path, "b,a\n2.0,high\n", kinds=data.kinds)
    assert later.kinds == {"b": data.kinds["b"], "a": data.kinds["a"]} and later.names == ("b", "a")
    assert read(tmp_path, "a,x\nlow,1\n", kinds=data.kinds, ignore_absent=True, only_named=True).names == ("a",)
    assert read(tmp_path, "a,x\nlow,1\n", kinds=data.kinds, ignore_absent=True).names == ("a", "x")
    says = error_of(lambda: read(tmp_path, "a,x\nlow,1\n", kinds=data.kinds))
    assert says == "kinds names column 'b' which the table does not have; its columns are 'a', 'x'"
    says = error_of(lambda: read(tmp_path, "x\n1\n", kinds=data.kinds, ignore_absent=True, only_named=True))
    assert "none of the columns" in says


def test_ordinal_without_levels(tmp_path):
    assert read(tmp_path, "a\n10\n2\n1.5\n", kinds={"a": "ordinal"}).kinds["a"] == Ordinal(["1.5", "2", "10"])
    assert Dataset.from_frame({"a": [10, 2]}, kinds={"a": "ordinal"}).kinds["a"] == Ordinal(["2", "10"])
    assert Dataset.from_frame({"a": [True, False]}, kinds={"a": "ordinal"}).kinds["a"] == Ordinal(["False", "True"])
    assert "give the levels in order" in error_of(lambda: read(tmp_path, "a\nlow\nhigh\n", kinds={"a": "ordinal"}))


def test_many_levels(tmp_path):
    frame = {"a": [f"k{i % 300:03}" for i in range(900)]}
    many = Dataset.from_frame(frame, kinds={"a": "categorical"})
    assert many.codes("a").dtype == np.uint16 and len(many.levels("a")) == 300 and many.notes == ()
    most = Dataset.from_frame({"a": np.arange(65_536)}, kinds={"a": "categorical"})
    assert most.codes("a").tolist() == list(range(65_536))
    assert any("takes 34,360 MB" in note for note in most.notes)
    says = error_of(lambda: Dataset.from_frame({"a": np.arange(65_537)}, kinds={"a": "categorical"}))
    assert "column 'a' has 65,537 levels and 65,536 is the most" in says
    says = error_of(lambda: Dataset.from_frame({"a": ["x"]}, kinds={"a": Categorical(range(65_537))}))
    assert "65,537" in says or "'x' is not among" in says
    data = read(tmp_path, "a\n" + "".join(f"{i}.5\n" for i in range(70_000)) + "?\n")
    assert data.n_rows == 70_000 and "column 'a': 1 cell '?' is taken as missing" in data.notes


# --- categories of data frames --------------------------------------------------------------------------------------


def dictionary(values: list, indices: list, ordered: bool = False) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(values), ordered=ordered)


def test_categories_keep_their_order_and_their_unseen_levels():
    order = ["z", "y", "x"]
    for frame in (
        pd.DataFrame({"o": pd.Categorical(["x", "y"], order, ordered=True), "u": pd.Categorical(["x", "y"], order)}),
        pa.table({"o": dictionary(order, [2, 1], True), "u": dictionary(order, [2, 1])}),
    ):
        data = Dataset.from_frame(frame)
        assert data.kinds == {"o": Ordinal(order), "u": Categorical(order)}
        assert data.codes("o").tolist() == data.codes("u").tolist() == [2, 1]
    enum = pl.DataFrame({"o": pl.Series(["x", "y"], dtype=pl.Enum(order))})
    assert Dataset.from_frame(enum).kinds == {"o": Ordinal(order)}


def test_a_polars_categorical_is_text_because_its_order_is_that_of_appearance():
    frame = pl.DataFrame({"a": pl.Series(["b", "a"], dtype=pl.Categorical)})
    assert Dataset.from_frame(frame).kinds["a"] == Categorical(["a", "b"])


def test_dictionaries_that_differ_between_chunks():
    chunks = pa.chunked_array([dictionary(["x", "y"], [0, 1]), dictionary(["z", "x"], [0, 1])])
    data = Dataset.from_frame(pa.table({"a": chunks}))
    assert texts(data, "a") == ["x", "y", "z", "x"]
    says = error_of(
        lambda: Dataset.from_frame(
            {"a": pa.chunked_array([dictionary(["x", "y"], [0, 1], True), dictionary(["y", "x"], [0, 1], True)])}
        )
    )
    assert "column 'a': the order of its categories differs" in says


def test_odd_dictionaries():
    assert texts(Dataset.from_frame({"a": dictionary(["x", "x", "y"], [0, 1, 2])}), "a") == ["x", "x", "y"]
    assert "'a' 1" in error_of(lambda: Dataset.from_frame({"a": dictionary(["x", None], [0, 1])}, missing="refuse"))
    assert Dataset.from_frame({"a": dictionary([3, 1], [0, 1])}).levels("a") == ("3", "1")
    cut = pd.DataFrame({"a": pd.cut([1, 2, 3], [0, 1, 3])})
    assert Dataset.from_frame(cut).kinds["a"] == Ordinal(["(0, 1]", "(1, 3]"])


def test_pandas_index_and_nullable_types():
    frame = pd.DataFrame({"a": pd.array([1, 2], dtype="Int64"), "b": pd.array([True, None], dtype="boolean")})
    frame.index = ["r1", "r2"]
    data = Dataset.from_frame(frame, missing="level")
    assert data.names == ("a", "b") and data.levels("a") == ("1", "2")
    assert data.levels("b") == ("True", "missing") and texts(data, "b") == ["True", "missing"]


def test_pandas_index_in_parquet_is_left_out_and_noted(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y"]}, index=pd.Index(["r1", "r2"], name="who"))
    frame.to_parquet(tmp_path / "t.parquet")
    data = Dataset.read(tmp_path / "t.parquet")
    assert data.names == ("a",) and "the pandas index 'who'" in data.notes[0]


def test_the_numbers_of_a_frame_match_levels_however_they_are_held():
    kinds = {"a": Categorical(["0", "1"])}
    for column in ([0, 1], [0.0, 1.0], np.array([0, 1], np.uint8), pd.array([0, 1], dtype="Int64")):
        assert Dataset.from_frame({"a": column}, kinds=kinds).codes("a").tolist() == [0, 1]
    assert Dataset.from_frame({"a": [0, 1]}, kinds={"a": Categorical(["0.0", "1.0"])}).codes("a").tolist() == [0, 1]


def test_large_integers():
    exact = Dataset.from_frame({"a": [2**53 + 1, 2**53, 2**63 - 1]})
    assert exact.levels("a") == (str(2**53), str(2**53 + 1), str(2**63 - 1))
    assert Dataset.from_frame({"a": pa.array([2**64 - 1, 0], pa.uint64())}).levels("a") == ("0", str(2**64 - 1))
    rounded = Dataset.from_frame({"a": [2**53 + i for i in range(20)]}, kinds={"a": "continuous"})
    assert rounded.kinds["a"].word == "continuous" and "beyond 2^53" in rounded.notes[0]


def test_dates(tmp_path):
    days = [datetime.date(1970, 1, 2), datetime.date(1970, 1, 3)]
    noon = [datetime.datetime(1970, 1, 2, 12), datetime.datetime(1970, 1, 3)]
    for frame, values in ((pl.DataFrame({"d": days}), [1.0, 2.0]), (pd.DataFrame({"d": noon}), [1.5, 2.0])):
        data = Dataset.from_frame(frame)
        assert data.values("d").tolist() == values and data.reasons["d"] == "dates, as days since 1970-01-01"
    assert Dataset.from_frame({"d": [datetime.timedelta(1)]}).reasons["d"] == "durations, in days"
    assert Dataset.from_frame({"d": noon}, kinds={"d": "continuous"}).values("d").tolist() == [1.5, 2.0]
    assert Dataset.from_frame({"d": days}, kinds={"d": "categorical"}).levels("d") == ("1970-01-02", "1970-01-03")
    assert Dataset.from_frame({"d": [datetime.time(6)]}, kinds={"d": "continuous"}).values("d").tolist() == [0.25]
    content = "d,x\n1970-01-02,a\n1970-01-03 12:00,b\n"
    assert read(tmp_path, content).values("d").tolist() == [1.0, 2.5]
    assert read(tmp_path, content, kinds={"d": "continuous"}).values("d").tolist() == [1.0, 2.5]
    assert read(tmp_path, content, kinds={"d": "categorical"}).levels("d") == ("1970-01-02", "1970-01-03 12:00")
    assert read(tmp_path, "d\n1970-02-31\n1970-01-01\n").kinds["d"].word == "categorical"  # there is no such day


# --- missing cells --------------------------------------------------------------------------------------------------


def test_missing_is_refused_with_counts(tmp_path):
    says = error_of(lambda: read(tmp_path, "a,b,c\n1,,x\nNA,y,x\n2, null ,y\n", missing="refuse"))
    assert "of 3 rows: 'a' 1, 'b' 2 (the first: column 'a', row 2)" in says and "missing='auto'" in says
    assert "declare it in kinds" in says
    says = error_of(lambda: Dataset.from_frame({f"c{i}": [1, None, 2] for i in range(12)}, missing="refuse"))
    assert "and 7 more columns" in says and "declare it" not in says


def test_every_missing_text_is_missing_in_a_file_and_a_value_in_a_frame(tmp_path):
    promised = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "#N/A", "<NA>", "NaT")  # by docs/data-kinds.md
    assert promised == MISSING_TEXTS
    for text in MISSING_TEXTS:
        says = error_of(lambda text=text: read(tmp_path, f"a,b\nx,1\n{text},2\n", missing="refuse"))
        assert "'a' 1 (the first: column 'a', row 2)" in says
        declared = {"a": Categorical(["x", text])}
        assert texts(read(tmp_path, f"a,b\nx,1\n{text},2\n", kinds=declared), "a") == ["x", text]
        assert texts(Dataset.from_frame({"a": ["x", text]}), "a") == ["x", text]
    assert read(tmp_path, "a\nnone\nunknown\n-\n").levels("a") == ("-", "none", "unknown")


@given(st.lists(st.tuples(*[st.sampled_from(["x", "y", "1.5", None])] * 3), min_size=1, max_size=15))
def test_drop_is_what_dropping_beforehand_gives(rows):
    complete = [row for row in rows if None not in row]
    columns = {name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate("abc")}
    options = {"missing": "drop", "keep_all": True}
    if not complete:
        assert "no row would be left" in error_of(lambda: Dataset.from_frame(columns, **options))
        return
    data = Dataset.from_frame(columns, **options)
    beforehand = {name: [row[at] for row in complete] for at, name in enumerate("abc")}
    assert same(data, Dataset.from_frame(beforehand, keep_all=True))
    note = f"rows with missing cells dropped: {len(rows) - len(complete)} of {len(rows)}"
    assert any(said.startswith(note) for said in data.notes) == (len(complete) < len(rows))


def test_rows_in_messages_are_those_of_the_table_also_after_dropping(tmp_path):
    content = "a,b\n,x\n1.5,y\n,x\n99.5,y\n"
    says = error_of(lambda: read(tmp_path, content, missing="drop", kinds={"a": Continuous(0, 9)}))
    assert "column 'a', row 4: 99.5" in says
    kinds = {"b": Categorical(["x", "y"])}
    says = error_of(lambda: read(tmp_path, "a,b\n,x\n1.5,y\n2.5,z\n", missing="drop", kinds=kinds))
    assert "column 'b', row 3: 'z' is not among its levels 'x', 'y'" in says


def test_levels_that_kinds_does_not_name_may_be_added(tmp_path):
    content, kinds = "a,b\nx,1\nz,2\nw,1\n", {"a": Categorical(["y", "x"]), "b": Ordinal(["1"])}
    data = read(tmp_path, content, kinds=kinds, unseen="allow")
    assert data.kinds == {"a": Categorical(["y", "x", "z", "w"]), "b": Ordinal(["1", "2"])}
    assert data.codes("a").tolist() == [1, 2, 3] and data.codes("b").tolist() == [0, 1, 0]
    known = read(tmp_path, "a\nx\n", kinds={"a": kinds["a"]}, unseen="allow")
    assert known.kinds["a"] == kinds["a"]


def test_missing_level(tmp_path):
    data = read(tmp_path, "a,b,c\nx,1,2.5\n,NA,3.5\n", missing="level")
    assert data.levels("a") == ("x", "missing") and data.levels("b") == ("1", "missing")
    assert texts(data, "a") == ["x", "missing"]
    assert "column 'a': missing cells (1) are the level 'missing'" in data.notes
    later = read(tmp_path, "a,b,c\n,1,3\n", missing="level", kinds=data.kinds)
    assert texts(later, "a") == ["missing"]
    assert texts(read(tmp_path, "a,b,c\nmissing,1,3\n", kinds=data.kinds), "a") == ["missing"]
    says = error_of(lambda: read(tmp_path, "a,c\nx,\n,1.5\nx,2.5\n", missing="level"))
    assert "column 'c', row 1: missing" in says and "missing='auto'" in says
    data = read(tmp_path, "a,b\nmissing,1\n,2\nx,3\n", missing="level")
    assert data.levels("a") == ("missing", "x") and "(1) join the level 'missing'" in data.notes[0]
    says = error_of(lambda: read(tmp_path, "a,b\nx,1\n,2\n", missing="level", kinds={"a": Categorical(["x"])}))
    assert "without 'missing'" in says
    ordered = pd.DataFrame({"a": pd.Categorical(["lo", None, "hi"], ["lo", "hi"], ordered=True)})
    data = Dataset.from_frame(ordered, missing="level")
    assert data.kinds["a"] == Ordinal(["lo", "hi", "missing"]) and "last in the order" in data.notes[0]
    empty = Dataset.from_frame({"a": [None, None]}, missing="level", keep_all=True, drop_missing_above=1.0)
    assert empty.levels("a") == ("missing",)


# --- what is wrong, in one sentence ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a,b,c\n1,2,3\n3\n4,5\n6\n", "line 3: the header has 3 cells, and this line and 2 others of 4 have fewer"),
        ('a,b\n"1\n\n",2\n3,4,5\n', "line 5: the header has 2 cells and this line 3"),
        ('a,b\n1,2\n"x,1\n2,3\n', "line 3: "),
        ("", "is empty"),
        ("\n\r\n", "only empty lines"),
        (b"a,b\n\0\n", "neither text nor Parquet"),
        (b"PAR1....", "holds a Parquet file, which .csv does not say"),
        (b"ARROW1\0\0", "holds a Feather file, which .csv does not say"),
        (b"PK\x03\x04....", "is a zip archive"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9], "gzip data is damaged or cut short"),
    ],
)
def test_wrong_text_file(tmp_path, content, says):
    message = error_of(lambda: read(tmp_path, content), FileFormatError)
    assert says in message and "t.csv" in message


def test_wrong_binary_file_or_place(tmp_path):
    assert "holds a text file" in error_of(lambda: read(tmp_path, "a\n1\n", "t.parquet"), FileFormatError)
    assert "damaged or cut short" in error_of(lambda: read(tmp_path, b"PAR1" * 9, "t.parquet"), FileFormatError)
    assert "damaged or cut short" in error_of(lambda: read(tmp_path, b"ARROW1\0\0" * 9, "t.arrow"), FileFormatError)
    assert "is a directory" in error_of(lambda: Dataset.read(tmp_path), FileFormatError)
    assert "no such file" in error_of(lambda: Dataset.read(tmp_path / "none.csv"), FileFormatError)


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("a,b\n", {}, "no rows"),
        ("a\n1.5\n2\n-inf\n", {"missing": "refuse"}, "column 'a': 1 infinite cell taken as missing (row 3)"),
        ("a\n1.5\n2\n1e999\n", {"missing": "refuse"}, "column 'a': 1 infinite cell taken as missing (row 3)"),
        ("a,b\nx,1\nx,1\n", {}, "nothing can be learned from this table, every column was left out"),
        ("a\n1.5\nx\n", {"kinds": {"a": "continuous"}}, "column 'a', row 2: 'x' is not a number"),
        ("a\n1\n7\n", {"kinds": {"a": Continuous(0, 5)}}, "column 'a', row 2: 7.0 is outside the range 0.0 to 5.0"),
        ("a\n1\n-7\n", {"kinds": {"a": Continuous(lo=0)}}, "column 'a', row 2: -7.0 is outside the range 0.0 to inf"),
        ("a\nx\nz\n", {"kinds": {"a": Categorical(["x", "y"])}}, "column 'a', row 2: 'z' is not among its levels"),
        ("a\n1\n", {"kinds": {"a": "nominal"}}, "column 'a': 'nominal' is not a kind"),
        ("a\n1\n", {"kinds": 3}, "kinds is a int"),
        ("a\n1\n", {"kinds": {"b": "ordinal"}}, "kinds names column 'b' which the table does not have"),
    ],
)
def test_wrong_table(tmp_path, content, options, says):
    assert says in error_of(lambda: read(tmp_path, content, **options))


def test_wrong_choices(tmp_path):
    for options in (
        {"missing": "keep"},
        {"delimiter": "::"},
        {"delimiter": "\n"},
        {"delimiter": "é"},
        {"delimiter": "\0"},
    ):
        error_of(lambda options=options: read(tmp_path, "a\n1\n", **options), ChoiceError)


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns 1 and 2 have the same name 'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "columns 1 and 2 have the same name '1'"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "name of several parts"),
        (pd.DataFrame({"a": [1j]}), "column 'a' holds values that do not go together"),
        (pd.DataFrame(), "no columns"),
        (pd.DataFrame({"a": []}), "no rows"),
        (pl.LazyFrame({"a": [1]}), "collect() it first"),
        (pl.DataFrame({"a": [[1], [2]]}), "'a': it holds large_list"),
        (pa.table({"a": [{"x": 1}]}), "'a': it holds struct"),
        (pa.table({"a": [b"x"]}), "'a': it holds binary"),
        (pd.DataFrame({"a": pd.period_range("2020", periods=2)}), "'a': it holds"),
        (pd.Series([1]), "a Series is no table"),
        (np.zeros((2, 2)), "a ndarray is no table"),
        ([1, 2], "a list is no table"),
        ({"a": [1, 2], "b": [1]}, "column 'b' has 1 cells and 'a' has 2"),
        ({"a": np.zeros((2, 2))}, "column 'a' is not a list of cells"),
        ({"a": "xyz"}, "column 'a' is not a list of cells"),
        ({"a": [math.inf, math.inf]}, "'a': all of its cells are empty"),
    ],
)
def test_wrong_frame(frame, says):
    assert says in error_of(lambda: Dataset.from_frame(frame))


# --- what is noted --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a,b\nx,1\nx,2\n", "left out 'a': constant (every row has 'x')"),
        ("a,b\n1.5,1\n1.5,2\n", "left out 'a': constant (every row has '1.5')"),
        ("a\n1.5\n2\n-inf\n", "column 'a': 1 infinite cell taken as missing (row 3)"),
        ("a\nx\n", "the table has one row"),
        ("a,b\n" + "".join(f"k{i},{i % 2}\n" for i in range(30)), "left out 'a': an identifier (30 different texts"),
        ("a\n" + "".join(f"k{i // 4}\n" for i in range(3000)), "651 rare levels (2,604 cells) are merged into 'other'"),
        ("a\n" + "".join(f"{i}.5\n" for i in range(30)) + "?\n", "column 'a': 1 cell '?' is taken as missing"),
        ("a\nx\n x\ny\n", "column 'a': spaces around its values were taken away (1 cell)"),
        ("a\nYes\nyes\nno\n", "the levels 'Yes' and 'yes' differ only in small and capital letters"),
        ("a, b\n1,2\n2,3\n", "column ' b' has spaces around its name"),
        ("1,2\n3,4\n4,5\n", "taken as column names, though all of them are numbers"),
        ("a\n1.0\n2.0\n", "at most 10 distinct whole numbers written as decimals"),
    ],
)
def test_notes(tmp_path, content, says):
    assert any(says in note for note in read(tmp_path, content).notes)


def test_quoted_line_ends_across_the_blocks_that_are_parsed_side_by_side(tmp_path):
    cell = "x" * 99 + "\n" + "y" * 99
    data = read(tmp_path, "a,b\n" + f'"{cell}",1\n' * 50_000, keep_all=True)  # 10 MB
    assert data.n_rows == 50_000 and data.levels("a") == (cell,)


def test_empty_lines(tmp_path):
    assert read(tmp_path, "\n\na,b\n1,x\n\n2,y\n\n").n_rows == 2
    says = error_of(lambda: read(tmp_path, "a\n1\n\n2\n", missing="refuse"))
    assert "'a' 1 (the first: column 'a', row 2)" in says  # a cell, if alone
    assert read(tmp_path, "\na\n1\n2\n").n_rows == 2


# --- the Dataset itself ---------------------------------------------------------------------------------------------


def test_columns_in_another_order_have_the_same_fingerprint(plain):
    turned = plain.select(reversed(plain.names))
    assert turned.fingerprint == plain.fingerprint and turned.names == plain.names[::-1]
    assert plain.select(["sex"]).fingerprint != plain.fingerprint


@pytest.mark.parametrize(
    "other",
    [{"a": ["x", "y"], "b": [1.5, 2.25]}, {"a": ["x", "x"], "b": [1.5, 2.5]}, {"c": ["x", "y"], "b": [1.5, 2.5]}],
)
def test_other_tables_have_other_fingerprints(other):
    table = {"a": ["x", "y"], "b": [1.5, 2.5]}
    first = Dataset.from_frame(table)
    assert first.fingerprint == Dataset.from_frame(table).fingerprint != Dataset.from_frame(other).fingerprint
    assert first.fingerprint != Dataset.from_frame(table, kinds={"a": Ordinal(["x", "y"])}).fingerprint
    assert first.fingerprint != Dataset.from_frame(table, kinds={"a": Categorical(["x", "y", "z"])}).fingerprint


def test_zero_has_no_sign():
    minus, plus = Dataset.from_frame({"a": [-0.0, 1.5]}), Dataset.from_frame({"a": [0.0, 1.5]})
    assert same(minus, plus)


def test_take_keeps_kinds(plain):
    some = plain.take([3, 3, 0])
    assert some.kinds == plain.kinds and some.n_rows == 3
    assert texts(some, "sex") == ["m", "m", "m"] and some.values("count").tolist() == [6.0, 6.0, 0.0]
    assert plain.take(np.arange(20) % 2 == 0).values("count").tolist() == list(range(0, 40, 4))
    for wrong in ([], [20], [-1], [0.5], [[0]], [True]):
        with pytest.raises(DataError, match="rows to take"):
            plain.take(wrong)


def test_nothing_in_it_changes():
    mine = np.array([1.5, 2.5])
    frame = pd.DataFrame({"a": mine, "b": ["x", "y"]})
    data = Dataset.from_frame(frame)
    before = data.fingerprint
    frame.loc[0, "a"] = 9.0
    mine[:] = 9.0
    assert data.values("a").tolist() == [1.5, 2.5]
    for array in (data.values("a"), data.codes("b"), data.take([0]).values("a")):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert data.select(data.names).fingerprint == before


def test_asking_the_wrong_column(plain):
    assert "is continuous and has no levels" in error_of(lambda: plain.levels("size"))
    assert "is categorical and has no numbers" in error_of(lambda: plain.values("sex"))
    assert "there is no column 'x'" in error_of(lambda: plain.codes("x"))
    assert "same name 'sex'" in error_of(lambda: plain.select(["sex", "sex"]))
    assert "no column is selected" in error_of(lambda: plain.select([]))
    for no_name in ([1], {"sex"}, np.zeros(2)):  # which cannot be looked up
        assert "there is no column" in error_of(lambda no_name=no_name: plain.select([no_name]))


def test_from_codes():
    data = Dataset.from_codes("ab", [np.array([0, 1]), np.array([2, 0])], [("x", "y"), ("l", "m", "h")], ordinal={"b"})
    assert data.kinds == {"a": Categorical(["x", "y"]), "b": Ordinal(["l", "m", "h"])}
    twin = Dataset.from_frame({"a": ["x", "y"], "b": ["h", "l"]}, kinds=data.kinds)
    assert same(data, twin) and data.codes("b").dtype == np.uint8


def test_to_arrow_is_read_by_others(plain):
    table = plain.to_arrow()
    frame = table.to_pandas()
    assert frame["said"].tolist() == PLAIN["said"] and frame["size"].tolist() == PLAIN["size"]
    assert pl.from_arrow(table)["few"].cast(pl.String).to_list() == [str(value) for value in PLAIN["few"]]


def test_writing_to_a_wrong_place(plain, tmp_path):
    assert "no table's suffix" in error_of(lambda: plain.write(tmp_path / "t.xlsx"), ChoiceError)
    assert "cannot be written" in error_of(lambda: plain.write(tmp_path / "no" / "t.csv"), FileFormatError)


def test_standardise_is_kept(plain):
    assert plain.standardise and not Dataset.from_frame(PLAIN, standardise=False).take([0]).standardise


def test_cells_that_lie_anywhere_in_memory_are_moved_to_where_the_core_reads_them() -> None:
    """Messages between processes hold the bytes of arrays at any place, not at multiples of a number's size."""
    data = sp.Dataset.from_frame({"x": [0.5, 1.5, 2.5] * 20, "k": ["a", "b", "c", "a"] * 15})
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(data, protocol=5, buffer_callback=buffers.append)
    odd = [memoryview(b"." + buffer.raw().tobytes())[1:] for buffer in buffers]
    again = pickle.loads(text, buffers=odd)
    assert odd and all(array.flags.aligned and not array.flags.writeable for array in again._data.values())
    assert sp.local_score(again, "x", ["k"], "pcart") == sp.local_score(data, "x", ["k"], "pcart")
