"""Tables as people have them: numbers and dates in every dress, holes, identifiers, rare levels.

In:  columns written by Python itself in the ways people write them, and small tables with holes.
Out: the numbers, days, kinds and rows that were meant; what was decided is said.
A slow twin decides about holes cell by cell; dates are compared with Python's own calendar."""

from __future__ import annotations

import datetime
import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spinney as sp
from lazy_polars import pl
from spinney.cli import main
from spinney.dataset import Dataset
from spinney.doubts import named_like_an_identifier
from spinney.errors import DataError
from spinney.kinds import Categorical, Continuous

EPOCH = datetime.date(1970, 1, 1)
ROWS = 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(**columns: list) -> str:
    """Columns as a text table; semicolons, because cells hold commas."""
    rows = zip(*columns.values(), strict=True)
    return ";".join(columns) + "\n" + "".join(";".join(map(str, row)) + "\n" for row in rows)


def read(content: str, **options) -> Dataset:
    Path("t.csv").write_text(content, encoding="utf-8")
    if ";" in content or "," not in content.split("\n")[0]:
        options["delimiter"] = ";"
    return Dataset.read("t.csv", **options)


def said(data: Dataset, *words: str) -> bool:
    return any(all(word in note for word in words) for note in data.notes)


AB = ["a", "b"] * (ROWS // 2)


# --- numbers --------------------------------------------------------------------------------------------------------


def written(value: float, mark: str, thousands: bool, before: str, after: str) -> str:
    text = f"{value:,.2f}" if thousands else f"{value:.2f}"
    swapped = {",": ".", ".": ","} if mark == "," else {}
    return before + "".join(swapped.get(letter, letter) for letter in text) + after


DRESSES = [
    ("", ""),
    ("$", ""),
    ("€ ", ""),
    ("", " EUR"),
    ("", " %"),
    ("", "%"),
    ("", " cm"),
    ("", "kg"),
    ("", " mg/dl"),
]


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=12, max_size=15, unique=True),
    st.sampled_from([",", "."]),
    st.booleans(),
    st.sampled_from(DRESSES),
)
def test_numbers_in_every_dress_are_the_numbers(tmp_path_factory, hundredths, mark, thousands, dress):
    values = [value / 100 for value in hundredths]
    cells = [written(value, mark, thousands, *dress) for value in values]
    path = tmp_path_factory.mktemp("dress") / "t.csv"
    path.write_text(table(x=cells), encoding="utf-8")
    data = Dataset.read(path, delimiter=";")
    assert data.values("x").tolist() == values
    declared = Dataset.read(path, delimiter=";", kinds={"x": "continuous"})
    assert declared.values("x").tolist() == values and declared.reasons["x"] == "user"


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("minus", ["-{}", "({})", "{}-", "−{}", "-$ {}", "$-{}", "-${}", "($ {})", "${}-"])
def test_every_way_to_write_a_minus(folder, minus, mark):
    values = [(-1) ** place * (1234.5 + 7 * place) for place in range(ROWS)]
    cells = [written(abs(value), mark, True, "$" if "$" in minus else "", "") for value in values]
    cells = [minus.format(cell.lstrip("$")) if value < 0 else cell for cell, value in zip(cells, values, strict=True)]
    data = read(table(y=AB, x=cells))
    assert data.values("x").tolist() == values
    assert said(data, "20 cells such as") == ("(" in minus)


def test_brackets_and_grades_are_no_minus(folder):
    codes = [f"({place % 15})" for place in range(ROWS)]
    grades = [f"{1 + place % 6}{'-' if place % 3 else ''}" for place in range(ROWS)]
    data = read(table(y=AB, codes=codes, grades=grades))
    assert data.reasons["codes"] == "text" and data.reasons["grades"] == "text"


@pytest.mark.parametrize("marker", [-999, 9999, -99])
def test_numbers_that_often_mean_missing_are_said(folder, marker):
    rng = random.Random(2)
    x = [marker if place % 9 == 0 else round(rng.uniform(20, 24), 2) for place in range(ROWS)]
    whole = [marker if place % 9 == 0 else rng.randint(1, 40) for place in range(ROWS)]
    wide = [marker if place % 9 == 0 else rng.randint(-60_000, 60_000) for place in range(ROWS)]
    data = read(table(y=AB, x=x, whole=whole, wide=wide))
    assert {note.split("'")[1] for note in data.notes if f"5 cells are {marker}, far from" in note} == {"x", "whole"}
    assert data.values("x")[0] == marker


def test_the_reason_names_the_dress(folder):
    rng = random.Random(1)
    cents = [rng.randint(100, 99_999) / 100 for _ in range(ROWS)]
    comma = [f"{value:.2f}".replace(".", ",") for value in cents]
    data = read(table(y=AB, a=[f"{cell} %" for cell in comma], b=[f"{cell} cm" for cell in comma], c=comma))
    assert data.reasons["a"] == "percentages with a decimal comma"
    assert data.reasons["b"] == "numbers with a decimal comma in cm"
    assert data.reasons["c"] == "numbers with a decimal comma"


def test_one_three_digit_group_is_decided_by_the_other_columns(folder):
    rng = random.Random(2)
    group = [f"{rng.randint(1, 99)}.{rng.randint(100, 999)}" for _ in range(ROWS)]
    comma = [f"{rng.randint(1, 99)},{rng.randint(10, 99)}" for _ in range(ROWS)]
    point = [cell.replace(",", ".") for cell in comma]
    as_thousands, as_decimals = [float(cell.replace(".", "")) for cell in group], [float(cell) for cell in group]
    german = read(table(x=group, z=comma))
    assert german.values("x").tolist() == as_thousands
    assert said(german, "'x'", "is read as", "as in the other columns")
    assert read(table(x=group, z=point)).values("x").tolist() == as_decimals
    assert read(table(x=group), decimal=",").values("x").tolist() == as_thousands
    american = [cell.replace(".", ",") for cell in group]
    assert read(table(x=american, z=point)).values("x").tolist() == as_thousands
    alone = read(table(x=american))
    assert alone.values("x").tolist() == as_thousands and said(alone, "'x'", "name the decimal mark")
    assert read(table(x=american), decimal=",").values("x").tolist() == as_decimals
    with pytest.raises(sp.ChoiceError, match="decimal"):
        read(table(x=group), decimal="x")


def test_few_numbers_with_a_unit_and_units_that_differ_stay_text(folder):
    data = read(table(dose=["10mg", "20mg", "40mg", "10mg"] * 10, mass=["50kg", "110lb"] * 20))
    assert data.levels("dose") == ("10mg", "20mg", "40mg") and data.levels("mass") == ("110lb", "50kg")


def test_codes_stay_text_and_large_integers_stay_exact(folder):
    """Distinct 20-digit numbers were one constant decimal number once."""
    large = [10**19 + 10**6 * place for place in range(3)] * 14
    data = read(table(code=["007", "010", "011"] * 14, large=large, y=["a", "b"] * 21))
    assert data.levels("code") == ("007", "010", "011")
    assert data.levels("large") == tuple(str(value) for value in sorted(set(large)))
    holed = read(table(large=[*map(str, large), "?"], y=["a", "b"] * 21 + ["a"]))
    assert set(holed.levels("large")) >= {str(value) for value in large}


def test_markers_of_missing_cells_and_a_single_odd_cell(folder):
    rng = random.Random(3)
    numbers = [rng.random() for _ in range(1000)]
    marked = ["?" if place % 100 == 0 else cell for place, cell in enumerate(numbers)]
    odd = ["soon" if place == 7 else cell for place, cell in enumerate(numbers)]
    few = ["-" if place % 50 == 3 else 1 + place % 3 for place in range(1000)]
    words = ["?" if place % 50 == 5 else "xyz"[place % 3] for place in range(1000)]
    data = read(table(marked=marked, odd=odd, few=few, words=words))
    assert [data.kinds[name].word for name in data.names] == ["continuous"] * 2 + ["categorical"] * 2
    assert data.n_rows == 1000 - 10 - 1 - 20 - 20
    assert "column 'marked': 10 cells '?' are taken as missing" in data.notes
    assert "column 'odd', row 8: 'soon' is taken as missing, the others are numbers" in data.notes
    assert "column 'words': 20 cells '?' are taken as missing" in data.notes
    assert data.levels("few") == ("1", "2", "3") and data.levels("words") == ("x", "y", "z")
    declared = read(table(words=words), kinds={"words": Categorical(["x", "y", "z", "?"])})
    assert declared.levels("words") == ("x", "y", "z", "?") and declared.n_rows == 1000


def test_many_odd_cells_make_text_unless_the_column_is_declared(folder):
    cells = [f"{place}.5" if place % 5 else f"word {place}" for place in range(1000)]
    assert read(table(x=cells, y=["a", "b"] * 500)).names == ("y",)
    declared = read(table(x=cells), kinds={"x": "continuous"})
    assert declared.n_rows == 800 and said(declared, "'x', row 1", "word 0", "199 more")


def test_comparison_signs_and_infinities(folder):
    cells = ["<0.5" if place % 10 == 0 else str(place / 7) for place in range(ROWS)]
    data = read(table(x=cells, z=["inf" if place == 4 else str(place / 3) for place in range(ROWS)]))
    assert data.values("x")[0] == 0.5 and said(data, "4 cells such as '<0.5' are taken as the number itself")
    assert data.n_rows == ROWS - 1 and "column 'z': 1 infinite cell taken as missing (row 5)" in data.notes


# --- dates ----------------------------------------------------------------------------------------------------------

DATES = st.dates(datetime.date(1000, 1, 1), datetime.date(9999, 12, 31))


@given(
    st.lists(DATES, min_size=12, max_size=15, unique=True).filter(lambda dates: any(date.day > 12 for date in dates)),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d"]),
    st.booleans(),
)
def test_dates_are_days_of_the_calendar(tmp_path_factory, dates, form, timed):
    """Up to 9999-12-31, which is no date in nanoseconds."""
    path = tmp_path_factory.mktemp("dates") / "t.csv"
    cells = [date.strftime(form).rjust(10, "0") + (" 18:00" if timed else "") for date in dates]
    path.write_text(table(d=cells), encoding="utf-8")
    expected = [(date - EPOCH).days + 0.75 * timed for date in dates]
    data = Dataset.read(path, delimiter=";")
    assert data.values("d").tolist() == expected and "days since 1970-01-01" in data.reasons["d"]
    assert Dataset.read(path, delimiter=";", kinds={"d": "continuous"}).values("d").tolist() == expected


def test_dates_that_could_be_either_are_said(folder):
    cells = [f"{1 + place % 12:02}/{1 + place % 11:02}/2023" for place in range(ROWS)]
    data = read(table(d=cells))
    assert data.values("d")[1] == (datetime.date(2023, 2, 2) - EPOCH).days
    assert said(data, "'d'", "month first")
    assert read("d\n1970-02-31\n1970-01-01\n").kinds["d"].word == "categorical"  # there is no such day


def test_times_and_clocks_of_twelve_hours(folder):
    data = read(table(t=[f"{place % 24:02}:30" for place in range(ROWS)]))
    assert data.values("t")[:2].tolist() == [0.5 / 24, 1.5 / 24]
    data = read(table(t=["12:00 AM", "1:00 AM", "12:00 PM", "1:00 PM"] * 10))
    assert (data.values("t")[:4] * 24).tolist() == [0, 1, 12, 13]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_any_size_are_their_days(unit):
    """Seconds beyond the range of microseconds were 0 once, and dates before 1684 no number at all."""
    counts = [-(2**62), -1, 0, 1, 2**62]
    per_day = 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    column = pa.array(counts, pa.timestamp(unit))
    for kinds in (None, {"t": "continuous"}):
        days = Dataset.from_frame(pa.table({"t": column}), kinds=kinds).values("t").tolist()
        assert days == pytest.approx([count / per_day for count in counts], rel=1e-15)
    far = [datetime.date(1, 1, 1), datetime.date(1600, 1, 1), datetime.date(9999, 12, 31)]
    data = Dataset.from_frame({"d": far})
    assert data.values("d").tolist() == [(date - EPOCH).days for date in far]
    assert said(data, "1 cell holds a date of the year 9000 or later")


# --- what is left out -----------------------------------------------------------------------------------------------


def test_identifiers_constants_and_empty_columns_are_left_out_and_kept_when_declared(folder):
    columns = {
        "name": [f"P{1000 + 7 * place}" for place in range(ROWS)],
        "running": list(range(5, 5 + ROWS)),
        "patient_id": [3 * place * place for place in range(ROWS)],
        "same": ["x"] * ROWS,
        "empty": [""] * ROWS,
        "y": AB,
    }
    data = read(table(**columns))
    assert data.names == ("y",) and set(data.left_out) == set(columns) - {"y"}
    assert data.left_out["name"] == "an identifier (40 different texts in 40 rows)"
    assert data.left_out["running"] == "a running number (5 to 44, each once)"
    assert data.left_out["same"] == "constant (every row has 'x')"
    assert "left out 'empty': all of its cells are empty" in data.notes
    with pytest.raises(DataError, match="'name' was left out: an identifier"):
        data.levels("name")
    kinds = {"name": "categorical", "running": "continuous", "patient_id": "continuous", "same": "categorical"}
    assert read(table(**columns), kinds=kinds).names == (*kinds, "y")
    everything = read(table(**columns), keep_all=True, missing="level", drop_missing_above=1.0)
    assert everything.names == tuple(columns) and not everything.left_out


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("income", [1000 + 37 * place * place for place in range(ROWS)]),  # all different, and a measure
        ("year", list(range(1980, 1980 + ROWS))),  # a running number, and a time
        ("bmi_index", [200 + 3 * place for place in range(ROWS)]),
        ("platelet_number", [5 * place * place for place in range(ROWS)]),
        ("acid", [7 * place for place in range(ROWS)]),
        ("id", [1, 2, 3, 4] * 10),
    ],
)
def test_measures_are_not_identifiers(folder, name, values):
    assert read(table(**{name: values, "y": AB})).names == (name, "y")


def test_names_of_identifiers():
    for name in ("id", "ID", "Patienten_ID", "PatientID", "Fallnr", "Fallnummer", "case number", "index", "row_no"):
        assert named_like_an_identifier(name), name
    for name in ("acid", "number of steps", "body mass index", "income", "Alter", "covid", "no", "humid")[:-2]:
        assert not named_like_an_identifier(name), name


def test_nothing_left_is_one_sentence(folder):
    with pytest.raises(DataError) as caught:
        read("a,b\nx,1\nx,1\n")
    assert "nothing can be learned from this table" in str(caught.value) and "declare the kind" in str(caught.value)
    assert len(str(caught.value)) < 500


def test_many_columns_with_one_reason_share_a_note(folder):
    data = read(table(y=AB, **{f"c{place}": ["x"] * ROWS for place in range(2000)}))
    assert len(data.left_out) == 2000 and len(data.notes) == 2
    assert data.notes[0] == "left out 'c0': constant (every row has 'x') (likewise 'c1', 'c2', 'c3' and 1,996 more)"


def test_cells_that_are_lists_leave_their_column_out():
    data = Dataset.from_frame(pa.table({"a": [[1], [2]], "b": ["x", "y"]}))
    assert data.names == ("b",) and "list<" in data.left_out["a"]


# --- missing="auto" -------------------------------------------------------------------------------------------------

CELL = st.sampled_from([None, None, "x", "y", "z"])
HOLED = st.lists(
    st.tuples(CELL, CELL, st.none() | st.floats(0, 1), st.none() | st.floats(0, 1)), min_size=2, max_size=12
)


def slow_auto(columns: dict[str, list]) -> tuple[set[str], set[str], list[int]]:
    """The rules of docs/data-kinds.md for missing="auto": columns left out, columns with the level, rows kept."""
    rows = range(len(columns["a"]))
    empty = {name: {row for row in rows if columns[name][row] is None} for name in columns}
    left_out = {name for name in columns if len(empty[name]) > 0.5 * len(rows)}
    here = [name for name in columns if name not in left_out and empty[name]]
    texts = [name for name in here if name in "ab"]
    levels = {name for name in texts if len(empty[name]) > 0.05 * len(rows)}
    complete = [row for row in rows if all(row not in empty[name] for name in here if name not in levels)]
    if len(complete) < 0.5 * len(rows):
        levels = set(texts)
    costly = [name for name in here if name not in levels]
    size = len(columns) - len(left_out)
    while costly:
        complete = [row for row in rows if all(row not in empty[name] for name in costly)]
        if len(complete) >= 0.5 * len(rows):
            break
        gain = {
            name: sum(all((row in empty[other]) == (other == name) for other in costly) for row in rows)
            for name in costly
        }
        best = max(costly, key=lambda name: (gain[name], len(empty[name]), costly.index(name)))
        if complete and (len(complete) + gain[best]) * (size - 1) <= len(complete) * size:
            break
        costly.remove(best)
        left_out.add(best)
        size -= 1
    return left_out, levels, [row for row in rows if all(row not in empty[name] for name in costly)]


@given(HOLED)
def test_holes_are_treated_as_the_slow_twin_says(rows):
    columns = {name: [row[place] for row in rows] for place, name in enumerate("abcd")}
    columns["e"] = [place / 7 for place in range(len(rows))]
    left_out, levels, kept = slow_auto(columns)
    frame = {name: pa.array(cells, pa.string() if name in "ab" else pa.float64()) for name, cells in columns.items()}
    data = Dataset.from_frame(frame)
    constant = {name for name, why in data.left_out.items() if "constant" in why or "all of its" in why}
    if constant:  # these go before holes are counted, or after rows were dropped: their own test is below
        return
    assert set(data.left_out) == left_out
    assert data.n_rows == len(kept) and data.values("e").tolist() == [kept_row / 7 for kept_row in kept]
    for name in levels & set(data.names):
        assert ("missing" in data.levels(name)) == any(columns[name][row] is None for row in kept)


def test_each_step_is_said_with_its_count(folder):
    """A column of 99 % empty cells ate 99 % of the rows once."""
    rng = random.Random(5)
    rows = 6000
    columns = {
        "y": [rng.choice("ab") for _ in range(rows)],
        "z": [f"{rng.random():.4f}" if rng.random() > 0.01 else "" for _ in range(rows)],
        "late": [f"{rng.random():.4f}" if rng.random() < 0.01 else "" for _ in range(rows)],
        "ward": [rng.choice("pqr") if rng.random() > 0.2 else "" for _ in range(rows)],
    }
    for missing in ("auto", "drop"):
        data = read(table(**columns), missing=missing)
        assert data.left_out["late"] == "99 % of its cells are empty" and data.n_rows > 4500
    data = read(table(**columns))
    holes = columns["z"].count("")
    assert f"rows with missing cells dropped: {holes} of 6,000" in data.notes and data.n_rows == rows - holes
    assert said(data, "'ward': missing cells", "are the level 'missing'")
    assert read(table(**columns), drop_missing_above=1.0, missing="drop", kinds={"late": "continuous"}).n_rows < 100
    assert "late" in read(table(**columns), kinds={"late": "continuous"}).names


# --- rare levels ----------------------------------------------------------------------------------------------------


def test_rare_levels_become_other(folder):
    cells = ["x"] * 20 + ["y"] * 17 + ["p", "q", "q"]
    data = read(table(a=cells, y=AB), min_count=3)
    assert data.levels("a") == ("x", "y", "other") and data.codes("a").tolist() == [0] * 20 + [1] * 17 + [2] * 3
    assert said(data, "'a': 2 rare levels (3 cells) are merged into 'other'")
    assert read(table(a=cells, y=AB)).levels("a") == ("p", "q", "x", "y")


def test_thousands_of_levels_become_a_hundred(folder):
    rng = random.Random(6)
    names = [f"town {min(int(rng.paretovariate(0.4)), 10**6)}" for _ in range(20_000)]
    frame = {"town": names, "y": [rng.choice("ab") for _ in names]}
    data = Dataset.from_frame(frame)
    kept = data.levels("town")
    assert len(kept) == 100 and kept[-1] == "other"
    counts = {name: names.count(name) for name in set(names)}
    least = min(counts[name] for name in kept[:-1])
    assert all(count <= least for name, count in counts.items() if name not in kept)
    declared = Dataset.from_frame(frame, kinds={"town": "categorical"})
    assert set(declared.levels("town")) == set(names)


def test_a_network_takes_the_table_it_was_learned_from(folder):
    """Merged levels, left out columns, units and holes: the kinds of the network read them again."""
    rng = random.Random(7)
    rows = 600
    columns = {
        "id": [f"P{place}" for place in range(rows)],
        "town": [f"t{int(rng.paretovariate(0.6)) % 500}" for _ in range(rows)],
        "smoker": [rng.choice(["yes", "no", "no ", ""]) for _ in range(rows)],
        "mass": [f"{rng.gauss(75, 9):.1f} kg".replace(".", ",") for _ in range(rows)],
    }
    content = table(**columns)
    data = read(content)
    network = sp.learn(data.discretised("quantile(3)"), score="bdeu").network
    again = read(content, kinds=network.accepts, only_named=True).cut(network.cuts)
    assert sp.score(again, network) == pytest.approx(network.score, rel=1e-12)
    network.save("net.json")
    assert main(["score", "t.csv", "net.json"]) == main(["predict", "net.json", "t.csv", "--target", "smoker"]) == 0


# --- prediction -----------------------------------------------------------------------------------------------------


def test_predict_takes_the_level_missing_or_says_what_exists(folder, capsys):
    rng = random.Random(8)
    Path("t.csv").write_text(table(a=[rng.choice(["x", "y", ""]) for _ in range(300)], b=["u", "v"] * 150))
    assert main(["learn", "t.csv", "-o", "net.json", "--required", "a->b"]) == 0
    Path("new.csv").write_text("a\nx\n\ny\n")
    capsys.readouterr()
    assert main(["predict", "net.json", "new.csv", "--target", "b", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["predicted"]) == 3
    Path("t.csv").write_text(table(a=[rng.choice("xy") for _ in range(300)], b=["u", "v"] * 150))
    assert main(["learn", "t.csv", "-o", "net.json", "--whitelist", "a->b"]) == 0
    capsys.readouterr()
    assert main(["predict", "net.json", "new.csv", "--target", "b"]) == 2
    sentence = capsys.readouterr().err
    assert "column 'a', row 2: missing, and the network has no level 'missing' of it; fill the cell" in sentence
    assert "--missing" not in sentence
    network = sp.Network.read("net.json")
    with pytest.raises(DataError, match="row 2: missing"):
        network.predict({"a": ["x", None]}, "b")


def test_a_network_of_cut_columns_takes_numbers_and_intervals_alike():
    rng = np.random.default_rng(9)
    x = rng.normal(size=400)
    frame = {"x": x, "y": np.where(x + rng.normal(size=400) > 0, "p", "q")}
    data = Dataset.from_frame(frame)
    for method in ("quantile(4)", "width(4)", "mdl(y)", "fayyad-irani(y)"):
        cut = data.discretised(method)
        network = sp.learn(cut, score="bdeu").network
        assert cut.kinds["x"].word == "ordinal" and network.cuts == cut.cuts
        assert cut.codes("x").tolist() == [sum(value >= place for place in cut.cuts["x"]) for value in x]
        assert network.predict_proba(frame, "y").tolist() == network.predict_proba(cut, "y").tolist()
    assert data.discretised("mdl(y)").cuts == data.discretised("fayyad-irani(y)").cuts
    for wrong in ("thirds", "quantile(0)", "quantile(x)", "mdl", ""):
        with pytest.raises(sp.ChoiceError):
            data.discretised(wrong)
    with pytest.raises(DataError, match="no column 'z'"):
        data.discretised("mdl(z)")


# --- spinney kinds --------------------------------------------------------------------------------------------------

UGLY = {
    "one row": "a,b\n1,x\n",
    "constant": "a,b\n1,x\n1,x\n",
    "only identifiers": "a\n" + "".join(f"k{place}\n" for place in range(50)),
    "all empty": "a,b\n,\nNA,\n",
    "holes everywhere": "a,b\n1.5,\n,2.5\n3.5,\n,4.5\n",
    "dates": "d,e\n31.12.2023,2023-02-30\n01.01.2024,2023-01-01\n",
    "header only": "a,b\n",
    "infinite": "a\ninf\n-inf\n",
    "many levels": "a,b\n" + "".join(f"k{place % 700},{place % 2}\n" for place in range(3000)),
    "numbers with text": "a\n" + "".join(f"{place}.5\n" for place in range(30)) + "x\ny\n",
}


@pytest.mark.parametrize("content", UGLY.values(), ids=UGLY.keys())
def test_kinds_never_refuses(folder, capsys, content):
    Path("t.csv").write_text(content)
    names = content.split("\n")[0].split(",")
    assert main(["kinds", "t.csv", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["names"] == names
    for column in answer["columns"].values():
        assert column.keys() >= {"kind", "reason", "distinct", "missing", "example", "doubts"}
    assert main(["kinds", "t.csv", "--table"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in names)
    assert main(["kinds", "t.csv", "-o", "kinds.yaml"]) == 0
    capsys.readouterr()
    assert main(["kinds", "t.csv", "--kinds", "kinds.yaml"]) in (0, 2)  # 2: the file leaves every column out


def test_kinds_shows_what_declared_kinds_refuse_all_at_once(folder, capsys):
    Path("t.csv").write_text("a,b,c\nx,1,u\ny,2,v\nz,30,u\n")
    Path("k.yaml").write_text("a: {kind: categorical, levels: [x]}\nb: {kind: continuous, hi: 5}\n")
    assert main(["kinds", "t.csv", "--kinds", "k.yaml", "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert "'y' is not among its levels" in columns["a"]["doubts"][0]
    assert "30.0 is outside the range" in columns["b"]["doubts"][0]
    assert columns["c"]["kind"] == "categorical"


def test_the_kinds_file_says_what_is_left_out_and_reads_back(folder, capsys):
    rng = random.Random(10)
    columns = {
        "id": [f"P{place}" for place in range(200)],
        "when": [f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.2023" for _ in range(200)],
        "crp": [f"{rng.random() * 50:.1f}".replace(".", ",") if rng.random() > 0.1 else "k.A." for _ in range(200)],
        "smoker": [rng.choice(["ja", "nein", ""]) for _ in range(200)],
    }
    data = read(table(**columns))
    assert main(["kinds", "t.csv"]) == 0
    text = capsys.readouterr().out
    assert '"id":  # an identifier (200 different texts in 200 rows)\n  kind: left out\n' in text
    assert "# 20" in text or "missing, for example" in text
    Path("kinds.yaml").write_text(text)
    again = read(table(**columns), kinds="kinds.yaml")
    assert again.names == data.names and again.fingerprint == data.fingerprint and not again.left_out
    Path("kinds.yaml").write_text("id: exclude\nwhen: left out\n")
    assert read(table(**columns), kinds="kinds.yaml").names == ("crp", "smoker")
    assert read(table(**columns), kinds={"id": "left out", "crp": "exclude"}).names == ("when", "smoker")


# --- options --------------------------------------------------------------------------------------------------------


def test_columns_and_exclude(folder, capsys):
    content = table(a=AB, b=AB, **{"c,d": AB})
    assert read(content, columns=["c,d", "a"]).names == ("a", "c,d")
    assert read(content, exclude="b").names == ("a", "c,d")
    with pytest.raises(DataError, match="columns names column 'x'"):
        read(content, columns=["x"])
    for words, names in ((["--columns", "a,b"], ["a", "b"]), (["--exclude", "c,d"], ["a", "b"])):
        assert main(["learn", "t.csv", "--json", *words]) == 0
        assert sorted(json.loads(capsys.readouterr().out)["parents"]) == names
    assert main(["learn", "t.csv", "--exclude", "x"]) == 2
    assert "--exclude names column 'x' which the table does not have" in capsys.readouterr().err


def test_options_of_reading_reach_every_command(folder, capsys):
    Path("t.csv").write_text(table(a=AB, b=AB, c=["x"] * 20 + ["y"] * 18 + ["u", "v"]))
    for command in (
        ["learn", "t.csv"],
        ["kinds", "t.csv"],
        ["families", "t.csv"],
        ["score", "t.csv", "--child", "a"],
        ["classify", "train", "t.csv", "--target", "a"],
        ["classify", "cv", "t.csv", "--target", "a"],
    ):
        assert main([*command, "--exclude", "b", "--min-count", "2", "--decimal", ",", "--json"]) == 0, command
        out, err = capsys.readouterr()
        assert "rare levels" in err + out
        assert main([*command, "--min-count", "0"]) == 2
        assert "--min-count" in capsys.readouterr().err
        assert main([*command, "--drop-missing-above", "2"]) == 2
        assert "--drop-missing-above" in capsys.readouterr().err


def test_a_dataset_goes_to_frames_and_back():
    pandas, frames = pytest.importorskip("pandas"), pl.DataFrame
    frame = {"a": ["x", "y", "x"], "b": [1.5, 2.5, 3.5]}
    data = Dataset.from_frame(frame, kinds={"a": sp.Ordinal(["y", "x"])})
    assert isinstance(data.to_pandas(), pandas.DataFrame) and isinstance(data.to_polars(), frames)
    for made in (data.to_pandas(), data.to_polars(), data.to_arrow()):
        assert Dataset.from_frame(made).fingerprint == data.fingerprint
    assert data.head(2).n_rows == 2 and data.head(99).n_rows == 3
    assert data["a"].names == ("a",) and data[["b", "a"]].names == ("b", "a")
    assert repr(data).splitlines() == [
        "Dataset(3 rows, 2 columns: 1 ordinal, 1 continuous)",
        "  a  ordinal     y < x",
        "  b  continuous  1.5 to 3.5",
    ]


def test_declared_kinds_are_never_left_out():
    frame = {"a": ["x"] * 30, "b": [None] * 20 + [1.5] * 10, "c": [f"k{place}" for place in range(30)]}
    data = Dataset.from_frame(frame, kinds={"a": "categorical", "b": Continuous(), "c": "categorical"})
    assert data.names == ("a", "b", "c") and data.n_rows == 10 and not data.left_out
