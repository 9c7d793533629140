"""Formats: what is written reads back equal for any names; foreign dialects; every broken file has its sentence."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spinney as sp
from slow.drawn_networks import joint, networks, random_network
from spinney import formats
from spinney.errors import ChoiceError, FileFormatError
from spinney.fitted.table import Table
from spinney.formats import bif, dot
from spinney.graph import DAG
from spinney.kinds import Categorical, Ordinal
from spinney.network import Network

# Nodes, edges, parameters as the bnlearn repository lists them.
REPOSITORY = {
    "alarm": (37, 46, 509),
    "andes": (223, 338, 1157),
    "asia": (8, 8, 18),
    "barley": (48, 84, 114005),
    "cancer": (5, 4, 10),
    "child": (20, 25, 230),
    "diabetes": (413, 602, 429409),
    "earthquake": (5, 4, 10),
    "hailfinder": (56, 66, 2656),
    "hepar2": (70, 123, 1453),
    "insurance": (27, 52, 1008),
    "link": (724, 1125, 14211),
    "mildew": (35, 46, 540150),
    "munin": (1041, 1397, 80592),
    "munin1": (186, 273, 15622),
    "munin2": (1003, 1244, 69431),
    "munin3": (1041, 1306, 71059),
    "munin4": (1038, 1388, 80352),
    "pathfinder": (109, 195, 72079),
    "pigs": (441, 592, 5618),
    "sachs": (11, 17, 178),
    "survey": (6, 6, 21),
    "water": (32, 66, 10083),
    "win95pts": (76, 112, 574),
}

DOG = """// the dog problem of Charniak (1991), in the dialect of JavaBayes\r
network "Dog-Problem" { // 5 variables
  property "credal-set constant-density-bounded 1.1" ;
}
variable "light-on" { type discrete[2] { "true" "false" }; property "position = (218, 195)" ; }
variable "bowel-problem" { type discrete[2] { "true" "false" }; property position = (335, 99) ; }
variable "dog-out" { type discrete[2] { "true" "false" }; }
variable "hear-bark" { type discrete[2] { "true" "false" }; }
/* a comment over
   two lines */
probability ( "light-on" "family-out" ) { (true) 0.6 0.4 ; (false) 0.05 0.95 ; }
probability ( "bowel-problem" ) { table 0.01 0.99 ; }
probability ( "dog-out" "bowel-problem" "family-out" ) { //3 variable(s) and 8 values
  table 0.99 0.97 // p(true | ...)
        0.9 0.3 0.01 0.03 0.1 0.7 ;
}
probability ( "hear-bark" | "dog-out" ) { default 0.01 0.99 ; (true) 0.7 0.3 ; property "x" ; }
variable family-out { type discrete [ 2 ] { true, false }; }
probability ( "family-out" ) { table 0.15, 0.85 ; }
"""

SMALL = """network unknown {
}
variable a {
  type discrete [ 2 ] { n, y };
}
variable b {
  type discrete [ 3 ] { <5, 12+, Asy/Patch };
}
probability ( a ) {
  table 0.25, 0.75;
}
probability ( b | a ) {
  (n) 0.2, 0.3, 0.5;
  (y) 0.1, 0.3, 0.6;
}
"""


def written(folder: Path, text: str, name: str = "net.bif") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


# Round trips


@pytest.mark.parametrize("suffix", [".bif", ".json", ".bif.gz", ".json.gz"])
@given(network=networks())
def test_any_network_reads_back_equal(tmp_path_factory: pytest.TempPathFactory, suffix: str, network: Network) -> None:
    path = tmp_path_factory.mktemp("trip") / f"net{suffix}"
    network.export(path)
    again = Network.read(path)
    assert again == network and again.kinds == network.kinds
    for name, model in network.models.items():
        assert again.parents[name] == model.parents
        assert again.models[name].probabilities.tobytes() == model.probabilities.tobytes()
    first = path.read_bytes()
    again.export(path)
    assert path.read_bytes() == first


def test_json_keeps_plan_counts_scores_and_data(tmp_path: Path) -> None:
    table = Table(
        child="a",
        parents=(),
        levels=("n", "y"),
        parent_levels=(),
        codes=np.arange(1),
        probabilities=np.array([[1 / 3, 2 / 3]]),
        default=np.array([0.1, 0.9]),
        counts=np.array([[1, 2]]),
        score=-1.0986122886681098,
    )
    plan = {"score": "bdeu", "ess": np.float64(0.1), "tiers": (("a",),), "seed": np.int64(3)}
    data = {"fingerprint": "00ff", "rows": 3}
    network = Network({"a": Ordinal(("n", "y"))}, {"a": table}, plan=plan, score=-0.1 - 0.2, data=data)
    network.save(tmp_path / "net.json")
    again = Network.load(tmp_path / "net.json")
    assert again == network and isinstance(again.kinds["a"], Ordinal)
    assert again.plan == {"score": "bdeu", "ess": 0.1, "tiers": [["a"]], "seed": 3}
    assert (again.score, again.data, again.models["a"].score) == (-0.1 - 0.2, data, table.score)
    counts = again.models["a"].counts
    assert counts is not None and counts.tolist() == [[1, 2]] and counts.dtype == np.int64
    assert again.models["a"].default.tolist() == [0.1, 0.9]


@pytest.mark.parametrize("suffix", [".json", ".bif"])
def test_sparse_table_over_a_huge_space_survives(tmp_path: Path, suffix: str) -> None:
    levels, parents = tuple(f"s{i}" for i in range(50)), tuple(f"p{i}" for i in range(10))
    uniform = np.full((1, 50), 1 / 50)
    models = {name: Table.full(name, (), levels, (), uniform) for name in parents}
    codes, rows = np.array([5, 50**10 - 1]), np.array([[1.0, 0.0], [0.0, 1.0]])
    models["c"] = Table("c", parents, ("n", "y"), (levels,) * 10, codes, rows, np.array([0.4, 0.6]))
    network = Network({name: Categorical(model.levels) for name, model in models.items()}, models)
    network.export(tmp_path / f"net{suffix}")
    assert Network.read(tmp_path / f"net{suffix}") == network


def test_ordinal_survives_bif_and_others_can_skip_it(tmp_path: Path) -> None:
    network = random_network(np.random.default_rng(0), {"a": ("lo", "hi"), "b": ("lo", "hi")}, ordinal=1)
    network.export(tmp_path / "net.bif")
    text = (tmp_path / "net.bif").read_text()
    assert 'property kind = "ordinal" ;' in text
    assert Network.read(tmp_path / "net.bif").kinds == network.kinds
    earlier = written(tmp_path, text.replace('kind = "ordinal"', '"kind = ordinal"'), "earlier.bif")
    assert Network.read(earlier).kinds == network.kinds


# BIF of other programs


def test_javabayes_dialect(tmp_path: Path) -> None:
    network = Network.read(written(tmp_path, DOG))
    assert network.names == ("light-on", "bowel-problem", "dog-out", "hear-bark", "family-out")
    assert network.parents["dog-out"] == ("bowel-problem", "family-out")
    # The comments of the original file: p(true | true true) = 0.99, p(true | true false) = 0.97, ...
    assert network.models["dog-out"].probabilities.tolist() == [[0.99, 0.01], [0.97, 0.03], [0.9, 0.1], [0.3, 0.7]]
    assert network.models["hear-bark"].expanded().tolist() == [[0.7, 0.3], [0.01, 0.99]]
    assert sum(joint(network).values()) == pytest.approx(1)


def test_windows_line_ends_gzip_and_byte_order_mark(tmp_path: Path) -> None:
    plain = Network.read(written(tmp_path, SMALL))
    assert plain.levels("b") == ("<5", "12+", "Asy/Patch")
    windows = tmp_path / "windows.bif.gz"
    windows.write_bytes(gzip.compress(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode()))
    assert Network.read(windows) == plain


def test_rounded_rows_are_normalised_once(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL.replace("0.2, 0.3, 0.5", "0.3333333, 0.3333333, 0.3333333"))
    network = Network.read(path)
    assert network.models["b"].probabilities.sum(axis=1) == pytest.approx(1, abs=1e-15)
    network.export(path)
    assert Network.read(path) == network


def test_rows_that_are_one_almost_read_back_equal(tmp_path: Path) -> None:
    rows = np.array([[0.1, 0.2, 0.7 + 3e-11], [0.1, 0.2, 0.7 - 4e-13]])
    network = Network.read(written(tmp_path, SMALL))
    table = Table.full("b", ("a",), network.levels("b"), (("n", "y"),), rows)
    network = Network(network.kinds, {**network.models, "b": table})
    network.export(tmp_path / "again.bif")
    assert Network.read(tmp_path / "again.bif") == network


def test_backslashes_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    network = Network.read(written(tmp_path, SMALL.replace("n, y", r'"C:\new", y').replace("(n)", r'("C:\new")')))
    assert network.levels("a") == (r"C:\new", "y")
    network.export(tmp_path / "again.bif")
    assert Network.read(tmp_path / "again.bif") == network


BROKEN = [
    # what to replace, by what, line, words of the sentence
    ("0.2, 0.3, 0.5", "0.2, 0.3, 0.51", 13, r"'b', row \(n\): the probabilities sum to 1.01"),
    ("0.2, 0.3, 0.5", "0.2, -0.3, 1.1", 13, r"'b', row \(n\): -0.3 is not a probability"),
    ("0.1, 0.3, 0.6", "0.1, nan, 0.6", 14, r"'b', row \(y\): nan is not a probability"),
    ("0.1, 0.3, 0.6", "0.1, inf, 0.6", 14, r"'b', row \(y\): the probabilities sum to inf"),
    ("0.25, 0.75", "0.25, 0.7", 10, "'a', row table: the probabilities sum to 0.95"),
    ("0.2, 0.3, 0.5", "0.2, 0.8", 13, "2 numbers where 3 are needed"),
    ("0.2, 0.3, 0.5;", "0.2, 0.3, 0.5", 14, r"\( is not a number.*semicolon"),
    ("0.2, 0.3, 0.5", "0.2, x, 0.5", 13, "x is not a number"),
    ("  (y) 0.1, 0.3, 0.6;\n", "", 12, r"'b' has rows for 1 of 2 configurations.*\(y\) is missing"),
    ("(y) 0.1", "(n) 0.1", 14, "two rows for one configuration"),
    ("(y) 0.1", "(z) 0.1", 14, "'z' is not a level of 'a'"),
    ("(y) 0.1", "(y, n) 0.1", 14, "2 levels for 1 parents"),
    ("b | a", "b | c", 12, "'c' has no variable block"),
    ("b | a", "b | b", 12, "names a variable twice"),
    ("probability ( b | a )", "probability ( a )", 12, "two probability blocks"),
    ("variable b", "variable a", 6, "'a' is declared twice"),
    ("[ 3 ]", "[ 4 ]", 7, "declares 4 levels but lists 3"),
    ("12+", "<5", 7, "names one twice"),
    ("discrete [ 3 ]", "continuous", 7, "only discrete"),
    ("  type discrete [ 2 ] { n, y };\n", "", 3, "'a' has no type line"),
    ("probability ( a ) {\n  table 0.25, 0.75;\n}\n", "", 12, "'a' has no probability block"),
    ("network unknown", "netwerk unknown", 1, "netwerk is not the start"),
    ("variable b {", 'variable "b {', 6, "not closed"),
    ("table 0.25", "tabel 0.25", 10, "tabel starts no row"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), BROKEN)
def test_broken_bif_names_file_line_and_remedy(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert SMALL.count(old) == 1
    path = written(tmp_path, SMALL.replace(old, new))
    with pytest.raises(FileFormatError, match=words) as caught:
        Network.read(path)
    assert str(caught.value).startswith(f"{path}, line ")
    found = re.search(r"line (\d+):", str(caught.value))
    assert found and int(found[1]) == line


def test_cycle_in_a_file(tmp_path: Path) -> None:
    text = SMALL.replace("probability ( a ) {\n  table 0.25, 0.75;", "probability ( a | b ) {\n  default 0.25, 0.75;")
    with pytest.raises(FileFormatError, match=r"net.bif, line 9: .*cycle: (a -> b -> a|b -> a -> b)"):
        Network.read(written(tmp_path, text))


@pytest.mark.parametrize("text", [SMALL, DOG])
def test_bif_cut_short_anywhere_is_refused(tmp_path: Path, text: str) -> None:
    whole = Network.read(written(tmp_path, text))
    for end in range(len(text.rstrip()) - 1):
        with pytest.raises(FileFormatError, match=r"net.bif, line \d+: "):
            Network.read(written(tmp_path, text[:end]))
    assert Network.read(written(tmp_path, text.rstrip())) == whole


@given(
    st.text(alphabet='abny{}()[];,|"/*\\ \n0.125 tabledefaultvariableprobabilitynetwork', max_size=60),
    st.integers(0, 400),
)
def test_scrambled_bif_gives_a_network_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, noise: str, at: int
) -> None:
    path = written(tmp_path_factory.mktemp("noise"), SMALL[:at] + noise + SMALL[at:])
    try:
        Network.read(path)
    except FileFormatError as error:
        assert str(path) in str(error)


# JSON doors


def test_json_is_strict_json_without_infinities(tmp_path: Path) -> None:
    network = random_network(np.random.default_rng(0), {"a": ("n", "y"), "b": ("n", "y")}, zeros=0.5)
    network.save(tmp_path / "net.json")
    record = json.loads((tmp_path / "net.json").read_text(), parse_constant=lambda word: pytest.fail(word))
    assert (record["format"], record["version"]) == ("spinney-network", 1)
    bad = Network(network.kinds, network.models, score=float("-inf"))
    with pytest.raises(ChoiceError, match="finite"):
        bad.save(tmp_path / "bad.json")
    assert not (tmp_path / "bad.json").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.update(format="other"), "not a spinney network"),
        (lambda r: r.update(version=2), "upgrade spinney"),
        (lambda r: r.update(version="1"), "version '1'"),
        (lambda r: r.pop("nodes"), "'nodes' is missing"),
        (lambda r: r["nodes"][0].pop("parents"), "'parents' is missing"),
        (lambda r: r["nodes"][0].update(model="forest"), "'forest'"),
        (lambda r: r["nodes"][0].update(parents=["z"]), "'z'"),
        (lambda r: r["nodes"][0].update(probabilities=[[0.5]]), "do not fit"),
        (lambda r: r["nodes"][0].update(probabilities=[["x", "y"]]), "not of its kind|normalise"),
        (lambda r: r["nodes"].pop(), "not both"),
        (lambda r: r["columns"].append(r["columns"][0]), "occurs twice"),
        (lambda r: r["columns"][0].update(kind="odd"), "'odd'"),
        (lambda r: r.update(columns=3), "not of its kind"),
        (lambda r: r.update(cuts=3), "not of its kind"),
        (lambda r: r.update(cuts={"a": [2.0, 1.0]}), "rising thresholds"),
        (lambda r: r.update(cuts={"a": "low"}), "not of its kind"),
    ],
)
def test_broken_json_has_a_sentence(tmp_path: Path, change, words: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "net.json"
    random_network(np.random.default_rng(4), {"a": ("n", "y"), "b": ("n", "y")}).save(path)
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    with pytest.raises(FileFormatError, match=words) as caught:
        Network.load(path)
    assert str(path) in str(caught.value)


def test_json_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    random_network(np.random.default_rng(4), {"a": ("n", "y")}).save(path)
    text = path.read_text().rstrip()
    for end in range(len(text)):
        path.write_text(text[:end])
        with pytest.raises(FileFormatError, match=r"net\.json"):
            Network.load(path)


def test_missing_rows_are_not_taken_for_a_sparse_table(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    table = Table.full("b", ("a",), ("n", "y"), (("n", "y"),), np.array([[0.5, 0.5], [0.25, 0.75]]))
    root = Table.full("a", (), ("n", "y"), (), np.array([[0.5, 0.5]]))
    Network({name: Categorical(("n", "y")) for name in "ab"}, {"a": root, "b": table}).save(path)
    record = json.loads(path.read_text())
    record["nodes"][1]["probabilities"].pop()
    path.write_text(json.dumps(record))
    with pytest.raises(FileFormatError, match="1 rows for 2 configurations"):
        Network.load(path)


# Files


def test_damaged_gzip_missing_file_and_other_encodings(tmp_path: Path) -> None:
    packed = gzip.compress(SMALL.encode())
    for name, content in [("cut.bif.gz", packed[:-20]), ("odd.bif.gz", packed[:12] + b"\xff" * 30)]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError, match="cut short or damaged"):
            Network.read(tmp_path / name)
    with pytest.raises(FileFormatError, match="cannot be read"):
        Network.read(tmp_path / "absent.bif")
    (tmp_path / "latin.bif").write_bytes(SMALL.replace("Asy", "Ås").encode("latin-1"))
    with pytest.raises(FileFormatError, match="line 7: the text is not UTF-8"):
        Network.read(tmp_path / "latin.bif")
    with pytest.raises(FileFormatError, match="declares no variables"):
        Network.read(written(tmp_path, " \n// nothing\n"))


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network(np.random.default_rng(4), {"a": ("n", "y")})
    path = tmp_path / "net.json"
    network.save(path)
    before = path.read_bytes()

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(FileFormatError, match="No space left"):
        Network(network.kinds, network.models, score=1.0).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["net.json"]
    with pytest.raises(FileFormatError, match="cannot be written"):
        network.save(tmp_path / "absent" / "net.json")


def test_suffixes(tmp_path: Path) -> None:
    network = random_network(np.random.default_rng(4), {"a": ("n", "y")})
    assert formats.suffix("x/Net.BIF.gz") == ".bif"
    with pytest.raises(ChoiceError, match=r"use one of \.json, \.bif, \.dot"):
        network.export(tmp_path / "net.xyz")
    with pytest.raises(ChoiceError, match="cannot read"):
        Network.read(tmp_path / "net.dot")
    with pytest.raises(ChoiceError, match=r"export\(\)"):
        network.save(tmp_path / "net.bif")
    with pytest.raises(ChoiceError, match=r"Network.read\(\)"):
        Network.load(tmp_path / "net.bif")


# DOT


def test_dot_of_a_dag_and_its_class(tmp_path: Path) -> None:
    graph = DAG(("c", "a", "b", "d"), {"c": ["a", "b"]})
    assert dot.text(graph) == 'digraph {\n  "c";\n  "a";\n  "b";\n  "d";\n  "a" -> "c";\n  "b" -> "c";\n}\n'
    assert '"a" -> "b" [dir=none];' in dot.text(DAG(("a", "b"), {"a": ["b"]}).cpdag())
    dot.write(graph, tmp_path / "graph.dot")
    assert (tmp_path / "graph.dot").read_text() == dot.text(graph)


@given(st.lists(st.text(max_size=6), min_size=2, max_size=2, unique=True))
def test_dot_quotes_any_name(names: list[str]) -> None:
    a, b = names
    lines = dot.text(DAG(names, {b: [a]})).split("\n")
    quoted = r'"((?:[^"\\\n]|\\[\s\S])*)"'
    found = re.fullmatch(rf"  {quoted} -> {quoted};", lines[3])
    unescaped = {"\\\\": "\\", '\\"': '"', "\\n": "\n", "\\r": "\r"}
    assert found and [re.sub(r"\\.", lambda m: unescaped[m[0]], text) for text in found.groups()] == [a, b]


# The 24 networks of the repository


@pytest.mark.parametrize("name", sorted(REPOSITORY))
def test_repository_networks(shared: Path, tmp_path: Path, name: str) -> None:
    source = shared / "data" / "networks" / f"{name}.bif.gz"
    if not source.is_file():
        pytest.skip(f"{source} is not there; the shared folder has other data")
    network = bif.read(source)
    parameters = sum(len(model.codes) * (len(model.levels) - 1) for model in network.models.values())
    assert (len(network.names), len(network.edges), parameters) == REPOSITORY[name]
    for suffix in (".bif", ".json.gz"):
        network.export(tmp_path / f"net{suffix}")
        assert Network.read(tmp_path / f"net{suffix}") == network
    sample = network.sample(100, seed=1)
    assert np.isfinite(network.log_prob(sample)).all()
    assert network.cpdag().skeleton() == network.dag.skeleton()


def test_dot_of_a_decision_graph(tmp_path: Path) -> None:
    """Every node once, also one that two splits lead to; every split has a yes and a no."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 3, 300), rng.integers(0, 2, 300)
    y = ((a == 1) ^ (b == 1)) ^ (rng.random(300) < 0.05)
    columns = {"a": a, "b": b, 'say "y"': y.astype(int)}
    data = sp.Dataset.from_frame({name: [f"{name}{code}" for code in codes] for name, codes in columns.items()})
    network = sp.fit_structure(data, {'say "y"': ["a", "b"]}, score="graph")
    model = network.models['say "y"']
    network.export(tmp_path / "y.dot", node='say "y"')
    lines = (tmp_path / "y.dot").read_text().splitlines()
    splits = int((model.feature >= 0).sum())
    assert sum("shape=box" in line for line in lines) == 2 == len(model.sums)
    assert sum("shape=ellipse" in line for line in lines) == splits >= 3
    assert [sum(f'[label="{word}"]' in line for line in lines) for word in ("yes", "no")] == [splits, splits]
    assert any('say \\"y\\"' in line for line in lines)
    for wrong, words in (("x.bif", "is written as .dot"), ("x.dot", "has a table")):
        with pytest.raises(ChoiceError, match=words):
            sp.fit(data, {}, score="bic").export(tmp_path / wrong, node="a")
    with pytest.raises(ChoiceError, match="not a variable"):
        network.export(tmp_path / "x.dot", node="z")
