"""Networks and their tables as text: labels, cuts of long tables, counts with their noun, and the command show.

In:  networks whose probabilities are known.
Out: text that is read back cell by cell and compared with the network's own answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spinney as sp
from spinney.catalog import CANDIDATES, PRIORS, SCORES, SEARCHES, choose_score
from spinney.cli import main
from spinney.fitted.table import Table
from spinney.layout import counted

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
CLINIC = sp.Dataset.read(EXAMPLES / "clinic.csv")
NET = sp.learn(CLINIC, "bdeu").network


def _rows(text: str) -> list[list[str]]:
    """The cells below the title and the head. Names here have no spaces."""
    return [line.split() for line in text.splitlines()[2:]]


@pytest.mark.parametrize("node", [name for name in NET.names if name != "ecg"])  # whose levels have spaces
def test_each_line_of_a_table_is_what_the_network_answers(node: str) -> None:
    model = NET.models[node]
    text = str(model)
    assert text.splitlines()[0] == f"P({node}{' | ' if model.parents else ''}{', '.join(model.parents)})"
    assert text.splitlines()[1].split() == [*model.parents, *CLINIC.levels(node), "rows"]
    rows = _rows(text)
    k = len(model.parents)
    for row in rows:
        given_parents = {name: [level] for name, level in zip(model.parents, row[:k], strict=True)}
        frame = sp.Dataset.from_frame(
            given_parents or {"row": ["0"]}, kinds={name: CLINIC.kinds[name] for name in model.parents}
        )
        shares = model.conditional(frame)[0]
        assert [float(cell) for cell in row[k:-1]] == pytest.approx(shares.tolist(), abs=5.1e-5)
        like = np.ones(CLINIC.n_rows, dtype=bool)
        for name, level in zip(model.parents, row[:k], strict=True):
            like &= CLINIC.codes(name) == CLINIC.levels(name).index(level)
        assert int(row[-1]) == like.sum()
    assert len(rows) == np.prod([len(CLINIC.levels(name)) for name in model.parents])


def _wide_table(levels: int, configurations: int, stored: int) -> Table:
    rows = np.full((stored, levels), 1 / levels)
    return Table(
        "child",
        ("parent",),
        tuple(f"l{i}" for i in range(levels)),
        (tuple(f"p{i}" for i in range(configurations)),),
        np.arange(stored),
        rows,
        rows[0],
    )


@given(st.integers(1, 30), st.integers(1, 120), st.integers(1, 60))
def test_a_long_table_is_cut_and_says_how_much_is_missing(levels: int, configurations: int, most: int) -> None:
    table = _wide_table(levels, configurations, configurations)
    lines = table.text(most).splitlines()
    more = configurations - most
    if more > 0:
        assert lines[-1] == f"  ... and {counted(more, 'more row')}" and len(lines) == most + 3
    else:
        assert len(lines) == configurations + 2
    assert len(table.text(None).splitlines()) == configurations + 2
    assert lines[1].split()[-2:] == ([f"{levels - 10}", "more"] if levels > 10 else lines[1].split()[-2:])
    # Whatever is left out of the levels, a line's probabilities sum to one.
    assert sum(map(float, lines[2].split()[1:])) == pytest.approx(1, abs=1e-3)


def test_a_sparse_table_shows_the_row_of_all_other_configurations() -> None:
    lines = _wide_table(2, 5, 3).text().splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["p0", "p1", "p2", "other"]


def test_small_probabilities_are_not_shown_as_zero() -> None:
    table = Table.full("x", (), ("a", "b"), (), np.array([[1e-7, 1 - 1e-7]]))
    assert "1.0e-07" in str(table) and " 0.0000" not in str(table)


def test_a_tree_is_shown_with_its_size_and_the_units_of_the_data() -> None:
    rng = np.random.default_rng(1)
    age = rng.uniform(20, 80, 300)
    data = sp.Dataset.from_frame({"age": age, "ill": np.where(age > 50, "yes", "no").tolist()})
    model = sp.fit(data, {"ill": ["age"]}, "pcart").models["ill"]
    lines = str(model).splitlines()
    assert lines[0].startswith("P(ill | age), decision tree with ") and lines[0].endswith(" leaves")
    assert any("if age < 50" in line or "if age < 49" in line for line in lines)
    assert model.text(1).splitlines()[-1].strip().startswith("... and")


def test_the_network_lists_its_nodes_with_parents_and_scores() -> None:
    assert repr(NET) == "Network(8 nodes, 9 edges)"
    lines = str(NET).splitlines()
    assert lines[0] == "Bayesian network: 8 nodes, 9 edges, learned from 1,000 rows"
    listed = {line.split()[0]: line for line in lines[1:-1]}
    assert set(listed) == set(NET.names)
    for name, line in listed.items():
        parents = line.partition("<- ")[2].rpartition(" ")[0].strip()
        assert set(filter(None, parents.split(", "))) == set(NET.parents[name])
    assert sum(float(line.split()[-1]) for line in listed.values()) == pytest.approx(NET.score, abs=1e-3)
    assert lines[-1] == f"score   {NET.score:.4f}  (bdeu)"
    assert NET.text(3).splitlines()[4] == "  ... and 5 more nodes"


def test_notebooks_get_tables_with_every_name_escaped() -> None:
    html = NET._repr_html_()
    assert html.count("<tr>") == 9 and "<td>heart</td>" in html
    table = Table.full("<x>", (), ("a&b", "c"), (), np.array([[0.5, 0.5]]))
    assert "<x>" not in table._repr_html_() and "&lt;x&gt;" in table._repr_html_() and "a&amp;b" in table._repr_html_()


@pytest.mark.parametrize(("count", "text"), [(0, "0 edges"), (1, "1 edge"), (2, "2 edges"), (1000, "1,000 edges")])
def test_a_count_has_its_noun_in_the_right_number(count: int, text: str) -> None:
    assert counted(count, "edge") == text


def test_the_short_form_of_a_choice_names_what_is_not_the_default_and_reads_back() -> None:
    assert choose_score("pcart").short == "pcart"
    assert choose_score("pcart(alpha=1, kappa=0.25)").short == "pcart(alpha=1.0)"
    for table in (SCORES, PRIORS, CANDIDATES, SEARCHES):
        assert all("(" not in name for name in table)
    for text in ("bdeu(ess=10)", "graph(prior=upn(7), bins=4)", "ft(max_bins=9)"):
        assert str(choose_score(choose_score(text).short)) == str(choose_score(text))


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def file(tmp_path: Path) -> str:
    NET.save(tmp_path / "net.json")
    return str(tmp_path / "net.json")


def test_show_prints_what_python_prints(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(capsys, "show", file) == (0, f"{NET}\n", "")
    assert _run(capsys, "show", file, "heart") == (0, f"{NET.models['heart']}\n", "")
    assert _run(capsys, "show", file, "heart", "--rows", "1")[1] == f"{NET.models['heart'].text(1)}\n"
    assert _run(capsys, "show", str(EXAMPLES / "clinic.bif"), "heart")[0] == 0


def test_show_gives_json_and_refuses_a_node_that_is_not_there(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, "show", file, "--json")
    record = json.loads(out)
    assert code == 0 and {child: tuple(own) for child, own in record["parents"].items()} == NET.parents
    node = json.loads(_run(capsys, "show", file, "heart", "--json")[1])
    assert [row["probabilities"] for row in node["rows"]] == NET.models["heart"].probabilities.tolist()
    code, out, err = _run(capsys, "show", file, "hart")
    assert code == 2 and out == "" and err.count("\n") == 1 and "'hart'" in err


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_no_line_of_list_is_wider_than_the_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = _run(capsys, "list")
    assert code == 0 and max(map(len, out.splitlines())) <= columns
    for name in (*SCORES, *PRIORS, *CANDIDATES, *SEARCHES):
        assert any(line.strip().split("(")[0] == name for line in out.splitlines())
    every = " ".join(out.split())
    assert all(" ".join(entry.help.split()) in every for entry in (*SCORES.values(), *SEARCHES.values()))


def test_learn_prints_only_what_differs_from_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    table = str(EXAMPLES / "clinic.csv")
    plain = _run(capsys, "learn", table, "--score", "pcart", "--search", "hc")[1]
    assert "(pcart)\n" in plain and "search  hc\n" in plain and "no proof (local search)" in plain
    chosen = _run(capsys, "learn", table, "--score", "pcart(alpha=1)", "--prior", "sizes", "--search", "hc(shake=2)")[1]
    assert "(pcart(alpha=1.0), prior sizes)\n" in chosen and "search  hc(shake=2)\n" in chosen
