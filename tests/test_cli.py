"""The command: what it prints is what the library says.

In:  one small table, commands in this process, and a few real processes for streams and signals.
Out: answers equal to the API's, files that read back, exit codes, and JSON that is the same from run to run."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import spinney as sp
from spinney import cli
from spinney.catalog import CANDIDATES, PRIORS, SCORES, SEARCHES
from spinney.cli import main

NAMES = ("smoker", "lung", "cough", "place, or street")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    draw = random.Random(7)
    with open(tmp_path / "table.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(NAMES)
        for _ in range(300):
            smoker = draw.random() < 0.4
            lung = draw.random() < (0.6 if smoker else 0.1)
            cough = draw.random() < (0.8 if lung else 0.3)
            rows.writerow([*("yes" if v else "no" for v in (smoker, lung, cough)), draw.choice("NESW")])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(folder: Path) -> sp.Dataset:
    return sp.Dataset.read("table.csv")


@pytest.fixture
def said(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command that succeeds; its standard output."""

    def run(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main(arguments) == code, capsys.readouterr().err
        return capsys.readouterr().out

    return run


def strict(text: str) -> Any:
    """JSON as the standard has it, one object on one line."""
    assert text.count("\n") == 1 and text.endswith("}\n")

    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


# learn


def test_learn_says_what_the_library_says(said: Any, data: sp.Dataset) -> None:
    answer = strict(said("learn", "table.csv", "--score", "bic", "--prior", "sizes", "--max-parents", "2", "--json"))
    result = sp.learn(data, score="bic", prior="sizes", max_parents=2)
    assert answer["parents"] == {child: list(parents) for child, parents in result.found.parents.items()}
    assert answer["score"] == result.found.score == answer["bound"]
    assert answer["optimal"] is True and answer["gap"] == 0
    assert answer["plan"] == result.plan.as_dict()
    assert answer["local_scores"] == {name: model.score for name, model in result.network.models.items()}
    assert answer["data"] == {"fingerprint": data.fingerprint, "rows": 300}


def test_learn_in_text_names_every_node_and_the_proof(said: Any, data: sp.Dataset) -> None:
    text = said("learn", "table.csv")
    for name in NAMES:
        assert name in text
    assert f"{sp.learn(data).found.score:.4f}" in text
    assert "proven optimal" in text and "search  dp, chosen by auto" in text
    assert "no proof (local search)" in said("learn", "table.csv", "--search", "hc")


def test_json_is_the_same_from_run_to_run_unless_timing_is_asked_for(said: Any) -> None:
    for command in (["learn", "table.csv", "--search", "tabu"], ["families", "table.csv"]):
        assert said(*command, "--json") == said(*command, "--json", "--n-jobs", "2")
        assert "seconds" not in strict(said(*command, "--json"))
        assert strict(said(*command, "--json", "--timing"))["seconds"]
        assert "seconds" in said(*command, "-o", "out.json" if command[0] == "learn" else "out.jkl", "--timing")


@pytest.mark.parametrize("name", ["net.json", "net.json.gz", "net.bif", "net.bif.gz", "net.dot"])
def test_learn_writes_every_format(name: str, said: Any, data: sp.Dataset, folder: Path) -> None:
    said("learn", "table.csv", "-o", name)
    network = sp.learn(data).network
    network.export("api." + name)
    assert (folder / name).read_bytes() == (folder / ("api." + name)).read_bytes()


def test_constraints_by_option_by_file_and_by_object_are_the_same(said: Any, data: sp.Dataset, folder: Path) -> None:
    (folder / "c.yaml").write_text("required: [[smoker, 'place, or street']]\nforbidden: [[lung, cough]]\n")
    (folder / "c.json").write_text('{"tiers": [["cough"], ["lung", "smoker"]]}')
    (folder / "t.yaml").write_text("- [cough]\n- [lung, smoker]\n")
    edges = ["--required", "smoker -> place, or street", "--forbidden", "lung->cough"]
    made = sp.Constraints(
        required=[("smoker", NAMES[3])], forbidden=[("lung", "cough")], tiers=[["cough"], ["lung", "smoker"]]
    )
    wanted = sp.learn(data, constraints=made)
    for given in (
        ["--constraints", "c.yaml", "--tiers", "t.yaml"],
        ["--constraints", "c.json", *edges],
        ["--tiers", "t.yaml", *edges],
    ):
        answer = strict(said("learn", "table.csv", "--json", *given))
        assert answer["score"] == wanted.found.score
        assert answer["plan"]["constraints"] == made.as_dict()
    assert ("smoker", NAMES[3]) in wanted.network.edges and ("lung", "cough") not in wanted.network.edges


@pytest.mark.parametrize("text", ['{"lung": ["smoker"], "cough": []}', "lung: [smoker]\ncough: []\n"])
def test_candidates_by_file_and_by_dict_are_the_same(text: str, said: Any, data: sp.Dataset, folder: Path) -> None:
    (folder / "may.yaml").write_text(text)
    wanted = sp.learn(data, candidates={"lung": ["smoker"], "cough": []}).found
    assert wanted.score < sp.learn(data).found.score and wanted.parents["cough"] == ()
    answer = strict(said("learn", "table.csv", "--candidates", "may.yaml", "--json"))
    assert answer["score"] == wanted.score
    sets = strict(said("families", "table.csv", "--candidates", "may.yaml", "--json"))["sets"]
    assert {tuple(own) for own, _ in sets["lung"]} <= {(), ("smoker",)} and len(sets["cough"]) == 1


def test_score_names_only_options_that_are_not_the_default(said: Any) -> None:
    said("learn", "table.csv", "-o", "net.json")
    for asked, shown in (("auto", "(bdeu)"), ("bdeu(ess=3)", "(bdeu(ess=3.0))"), ("pcart", "(pcart)")):
        assert shown in said("score", "table.csv", "net.json", "--score", asked)
    assert "(bdeu, prior sizes)" in said("score", "table.csv", "net.json", "--prior", "sizes")


def test_an_edge_between_names_with_arrows_in_them(said: Any, folder: Path) -> None:
    (folder / "arrows.csv").write_text("a->b,c,a\n" + "x,y,z\ny,x,z\nx,x,u\n" * 3)
    assert ["a->b", "c"] in strict(said("learn", "arrows.csv", "--required", "a->b->c", "--json"))["edges"]


def test_notes_go_to_standard_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gaps.csv").write_text("a,b\n1,x\n,y\n2,y\n")
    assert main(["learn", "gaps.csv", "--missing", "drop", "--json"]) == 0
    out, err = capsys.readouterr()
    assert strict(out)["data"]["rows"] == 2
    assert "note: rows with missing cells dropped: 1 of 3\n" in err
    assert "rows with missing cells dropped: 1 of 3" in strict(out)["notes"]


def test_a_delimiter_by_name(said: Any, folder: Path) -> None:
    (folder / "t.txt").write_text("a\tb\n1,5\tx\n2,5\ty\n1,5\ty\n")
    (folder / "k.yaml").write_text("a: categorical\n")
    assert strict(said("kinds", "t.txt", "--delimiter", "tab", "--kinds", "k.yaml", "--json"))["names"] == ["a", "b"]


# kinds and score


def test_the_kinds_file_reads_back_to_the_same_data(said: Any, data: sp.Dataset, folder: Path) -> None:
    (folder / "kinds.yaml").write_text(said("kinds", "table.csv"))
    assert "# yes or no" in (folder / "kinds.yaml").read_text()
    answer = strict(said("learn", "table.csv", "--kinds", "kinds.yaml", "--json"))
    assert answer["data"]["fingerprint"] == data.fingerprint
    columns = strict(said("kinds", "table.csv", "--kinds", "kinds.yaml", "--json"))["columns"]
    assert columns["lung"].items() >= {"kind": "categorical", "levels": ["no", "yes"], "reason": "user"}.items()


def test_score_of_a_network_is_the_sum_of_its_families(said: Any, data: sp.Dataset) -> None:
    network = sp.learn(data).network
    network.save("net.json")
    network.export("net.bif")
    for file in ("net.json", "net.bif"):
        answer = strict(said("score", "table.csv", file, "--score", "k2", "--prior", "sizes", "--json"))
        assert answer["score"] == sp.score(data, network, "k2", "sizes")
        for child, family in answer["families"].items():
            assert family["score"] == sp.local_score(data, child, network.parents[child], "k2", "sizes")
    assert f"{sp.score(data, network):.4f}" in said("score", "table.csv", "net.json")


def test_score_takes_the_kinds_of_the_network(said: Any, folder: Path) -> None:
    """Twelve integers are continuous by themselves, and levels in the network."""
    (folder / "months.csv").write_text("month,wet\n" + "".join(f"{m},{'yn'[m % 2]}\n" for m in range(1, 13)) * 2)
    data = sp.Dataset.read("months.csv", kinds={"month": "categorical"})
    sp.fit(data, {"wet": ["month"]}).save("net.json")
    answer = strict(said("score", "months.csv", "net.json", "--json"))
    assert answer["score"] == sp.score(data, {"wet": ["month"]})


def test_score_of_one_family(said: Any, data: sp.Dataset) -> None:
    wanted = sp.local_score(data, "cough", ["lung", "smoker"], "bdeu(ess=10)")
    common = ("score", "table.csv", "--child", "cough", "--score", "bdeu(ess=10)", "--json")
    assert strict(said(*common, "--parents", "smoker, lung"))["score"] == wanted
    assert strict(said(*common, "--parent", "smoker", "--parent", "lung"))["score"] == wanted
    wanted = sp.local_score(data, "cough", [NAMES[3]], "bdeu(ess=10)")
    assert strict(said(*common, "--parents", NAMES[3]))["score"] == wanted
    assert strict(said(*common, "--parent", NAMES[3]))["score"] == wanted


# families and solve


def test_families_then_solve_is_learn(said: Any, folder: Path) -> None:
    learned = strict(said("learn", "table.csv", "--score", "bic", "--json"))
    summary = said("families", "table.csv", "--score", "bic", "-o", "sets.jkl.gz")
    sets = sp.ParentSets.read("sets.jkl.gz")
    assert f"{len(sets):,} parent sets of 4 variables" in summary
    found = strict(said("solve", "sets.jkl.gz", "-o", "graph.json", "--json"))
    for word in ("parents", "score", "bound", "gap", "optimal", "edges", "local_scores"):
        assert found[word] == learned[word]
    assert json.loads((folder / "graph.json").read_text()) == found
    said("learn", "table.csv", "--score", "bic", "-o", "net.json")
    assert "equivalent" in said("compare", "net.json", "graph.json")
    assert strict(said("score", "table.csv", "graph.json", "--score", "bic", "--json"))["score"] == learned["score"]
    said("solve", "sets.jkl.gz", "-o", "graph.dot")
    said("learn", "table.csv", "--score", "bic", "-o", "net.dot")
    assert (folder / "graph.dot").read_text() == (folder / "net.dot").read_text()


def test_families_on_standard_output_are_the_file(said: Any, folder: Path) -> None:
    text = said("families", "table.csv", "--no-bounds")
    said("families", "table.csv", "-o", "sets.jkl")
    assert (folder / "sets.jkl").read_text() == text
    answer = strict(said("families", "table.csv", "--no-prune", "--max-parents", "none", "--json"))
    assert answer["kept"] == answer["families"] == 4 * 8 == sum(map(len, answer["sets"].values()))


def test_solve_by_climbing_says_how_far_it_can_be(said: Any) -> None:
    said("families", "table.csv", "-o", "sets.jkl")
    found = strict(said("solve", "sets.jkl", "--method", "hc", "--seed", "3", "--json"))
    best = strict(said("solve", "sets.jkl", "--method", "dp", "--json"))
    assert found["score"] <= best["score"] <= found["bound"]
    text = said("solve", "sets.jkl", "--method", "hc")
    assert "above the bound" in text and "hc(" in text


def test_solve_goes_on_from_a_saved_network_and_names_the_next_best(said: Any) -> None:
    said("families", "table.csv", "-o", "sets.jkl")
    said("learn", "table.csv", "-o", "net.json")
    best = strict(said("solve", "sets.jkl", "--json"))
    again = strict(said("solve", "sets.jkl", "--method", "ilp", "--start", "net.json", "--k", "3", "--json"))
    assert again["score"] == best["score"] and again["optimal"]
    scores = [other["score"] for other in again["alternatives"]]
    assert len(scores) == 2 and best["score"] >= scores[0] >= scores[1]
    text = said("solve", "sets.jkl", "--k", "3")
    assert "next    2. score" in text and "next    3. score" in text


def test_a_killed_solve_leaves_the_scored_sets_as_they_were(folder: Path) -> None:
    draw, names = random.Random(4), [f"v{i}" for i in range(9)]
    lists = {child: [((), -5.0), *(((p,), -5 * draw.random()) for p in names if p != child)] for child in names}
    sp.ParentSets.from_lists(lists).write("sets.jkl")  # so many networks that the solver is at them for hours
    before = (folder / "sets.jkl").read_bytes()
    command = [
        sys.executable,
        "-c",
        "import sys; from spinney.cli import main; sys.exit(main())",
        "solve",
        "sets.jkl",
        "-o",
        "graph.json",
        "--k",
        "100000",
    ]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None and b"network" in process.stderr.readline()  # it is at work
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert (folder / "sets.jkl").read_bytes() == before
    assert not (folder / "graph.json").exists()


# predict, sample, compare, convert, list


def test_predict_says_what_the_library_says(said: Any, data: sp.Dataset) -> None:
    network = sp.learn(data).network
    network.save("net.json")
    for target in NAMES:  # the last one is on its own: nothing to predict from
        rows = list(csv.reader(io.StringIO(said("predict", "net.json", "table.csv", "--target", target))))
        assert rows[0] == [target, *(f"P({target}={level})" for level in network.levels(target))]
        assert [row[0] for row in rows[1:]] == network.predict(data, target)
        shares = network.predict_proba(data, target).tolist()
        assert [[float(cell) for cell in row[1:]] for row in rows[1:]] == shares
        answer = strict(said("predict", "net.json", "table.csv", "--target", target, "--json"))
        assert answer["probabilities"] == shares and answer["predicted"] == network.predict(data, target)


def test_predict_to_a_file(said: Any, data: sp.Dataset, folder: Path) -> None:
    sp.learn(data).network.save("net.json")
    text = said("predict", "net.json", "table.csv", "--target", "lung")
    assert said("predict", "net.json", "table.csv", "--target", "lung", "-o", "out.csv") == ""
    assert (folder / "out.csv").read_text() == text


def test_sample_is_the_same_for_the_same_seed(said: Any, data: sp.Dataset, folder: Path) -> None:
    network = sp.learn(data).network
    network.save("net.json")
    text = said("sample", "net.json", "-n", "50", "--seed", "3")
    assert text == said("sample", "net.json", "-n", "50", "--seed", "3") != said("sample", "net.json", "-n", "50")
    (folder / "drawn.csv").write_text(text)
    drawn = sp.Dataset.read("drawn.csv", kinds=network.kinds)
    assert drawn.fingerprint == network.sample(50, seed=3).fingerprint
    for name in ("rows.csv", "rows.parquet", "rows.tsv.gz"):
        assert "50 rows" in said("sample", "net.json", "-n", "50", "--seed", "3", "-o", name)
        assert sp.Dataset.read(name, kinds=network.kinds).fingerprint == drawn.fingerprint
    answer = strict(said("sample", "net.json", "-n", "2", "--json"))
    assert list(answer["columns"]) == sorted(NAMES) and len(answer["columns"]["lung"]) == 2


def test_compare_exits_1_when_they_differ(said: Any, data: sp.Dataset) -> None:
    chain = sp.fit(data, {"lung": ["smoker"], "cough": ["lung"]})
    chain.save("chain.json")
    sp.fit(data, {"lung": ["cough"], "smoker": ["lung"]}).export("back.bif")
    fork = sp.fit(data, {"lung": ["smoker", "cough"]})
    fork.save("fork.json")
    assert "are equivalent" in said("compare", "chain.json", "back.bif")
    assert "differ" in said("compare", "chain.json", "fork.json", code=1)
    answer = strict(said("compare", "chain.json", "fork.json", "--json", code=1))
    assert answer == {**sp.compare(chain, fork).as_dict(), "equivalent": False}


def test_convert_there_and_back(said: Any, data: sp.Dataset) -> None:
    network = sp.learn(data).network
    network.save("net.json")
    said("convert", "net.json", "net.bif.gz")
    said("convert", "net.bif.gz", "again.json")
    assert sp.Network.load("again.json").edges == network.edges
    assert strict(said("convert", "net.json", "net.dot", "--json")) == {"edges": len(network.edges), "nodes": 4}
    said("families", "table.csv", "-o", "sets.jkl")
    said("convert", "sets.jkl", "sets.jkl.gz")
    assert sp.ParentSets.read("sets.jkl.gz") == sp.ParentSets.read("sets.jkl")


def test_list_is_the_catalog(said: Any) -> None:
    answer = strict(said("list", "--json"))
    tables = {"scores": SCORES.choices, "priors": PRIORS, "candidates": CANDIDATES, "searches": SEARCHES}
    for word, table in tables.items():
        assert [row["name"] for row in answer[word]] == list(table)
        text = said("list", word)
        assert all(name in text for name in table) and text.startswith(word)
    assert {".json", ".bif", ".dot", ".jkl", ".csv", ".parquet"} <= {row["name"] for row in answer["formats"]}


# the program itself


def test_version_and_help(said: Any) -> None:
    assert said("--version") == sp.__version__ + "\n"
    for arguments in ((), ("--help",), ("-h",)):
        text = said(*arguments)
        assert all(name.split()[0] in text for name in cli.COMMANDS)
    for name in cli.COMMANDS:
        assert "--json" in said(*name.split(), "--help")


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (RuntimeError("odd"), 70, "fault of spinney itself (RuntimeError: odd)"),
        (MemoryError(), 2, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (sp.DataError("one\nsentence"), 2, "spinney: one sentence\n"),
    ],
)
def test_whatever_goes_wrong_is_one_sentence(
    raised: BaseException,
    code: int,
    words: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise raised

    monkeypatch.setattr("spinney.cli.learn.run", fail)
    assert main(["learn", "table.csv"]) == code
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("spinney: ") and err.count("\n") == 1 and words in err


def process(*arguments: str, **more: Any) -> subprocess.Popen[str]:
    code = "import sys; from spinney_start import main; sys.exit(main())"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code, *arguments], **{**pipes, "encoding": "utf-8", **more})


def test_standard_input_and_a_poor_locale(folder: Path) -> None:
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    out, err = process("learn", "-", "--json", env=env).communicate("größe,木\nx,é\ny,b\nx,b\n", timeout=60)
    assert strict(out)["parents"].keys() == {"größe", "木"}, err
    assert err == ""


def test_a_reader_that_leaves_is_no_error(folder: Path, data: sp.Dataset) -> None:
    sp.learn(data).network.save("net.json")
    running = process("sample", "net.json", "-n", "200000")
    assert running.stdout is not None and running.stderr is not None
    assert "lung" in running.stdout.readline()
    running.stdout.close()
    assert running.stderr.read() == ""
    assert running.wait(timeout=60) == 141


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to the whole console")
def test_ctrl_c_gives_the_best_network_so_far(folder: Path) -> None:
    draw = random.Random(3)
    lines = [",".join(f"v{i}" for i in range(30))]
    lines += [",".join(draw.choice("abc") for _ in range(30)) for _ in range(2000)]
    (folder / "wide.csv").write_text("\n".join(lines) + "\n")
    running = process("learn", "wide.csv", "--search", "tabu(patience=1e9, restarts=1e9)", "--json", "-o", "net.json")
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    if running.returncode == 130:
        pytest.skip("this machine was too slow to come to the search in three seconds")
    assert running.returncode == 0, err
    assert strict(out)["stopped"] == "interrupted"
    assert err == "note: the search ended early (interrupted); this is the best network so far\n"
    assert sp.Network.load(folder / "net.json").score == pytest.approx(strict(out)["score"])
