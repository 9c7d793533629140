"""Files from elsewhere, and for elsewhere: names that other programs read, and hostile text that ends in a sentence.

In:  networks with any names; deep, long, repeated, cut text in every format.
Out: the same network read back; for other programs its numbers; for hostile text one sentence, at once. A hang would
show as a test that does not end, so hostile files are read in a process of their own with a generous limit."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spinney as sp
from slow.drawn_networks import networks, random_network
from spinney import kinds_file
from spinney.cli import main
from spinney.errors import ChoiceError, FileFormatError
from spinney.formats import bif
from spinney.network import Network

SEPARATORS = re.compile(r"[\s,;|{}()\[\]\"]")
NAMES = [
    "ST-T change",
    "ST T change",
    "ST_T_change",
    "ä",
    "1",
    "a b",
    "table",
    "true",
    "Network",
    "[37.5, 44.5)",
    "",
    "<5",
]
LEVELS = [
    ("ST-T change", "[37.5, 44.5)", "1"),
    ("a b", "ä", "true"),
    ("a-b", "a b", "a_b"),
    ("1e5", "1.5", "-1"),
    ("", "_"),
]


def odd_network() -> Network:
    levels = dict(zip(NAMES, itertools.cycle(LEVELS)))
    return random_network(np.random.default_rng(3), levels, ordinal=0.5)


# Names


@given(network=networks())
def test_every_word_of_a_file_is_safe_and_names_come_back(
    tmp_path_factory: pytest.TempPathFactory, network: Network
) -> None:
    path = tmp_path_factory.mktemp("safe") / "net.bif"
    network.export(path)
    assert Network.read(path) == network
    outside = re.sub(r'  property \w+ = "[\w.~%\- ]*" ;\n', "", path.read_text())
    words = [word for word in SEPARATORS.split(outside) if word]
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*|[0-9.e+-]+", word) for word in words), words
    network.export(path, exact_names=True)
    assert Network.read(path) == network
    assert "spinney_" not in path.read_text()


@given(st.lists(st.text(max_size=12), unique=True), st.booleans())
def test_safe_names_are_unique_and_keep_those_that_are_safe(names: list[str], numbers: bool) -> None:
    safe = bif._safe(names, numbers)
    assert list(safe) == names and len(set(safe.values())) == len(names)
    for name, written in safe.items():
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", written) or (numbers and written == name)
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in bif._KEYWORDS:
            assert written == name


def odd_files(folder: Path) -> list[Path]:
    odd_network().export(folder / "odd.bif")
    return [folder / "odd.bif", Path(__file__).parents[1] / "examples" / "clinic.bif"]


def test_pyagrum_reads_what_we_write(tmp_path: Path) -> None:
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed; it reads our BIF files here")
    for path in odd_files(tmp_path):
        ours, theirs = Network.read(path), gum.loadBN(str(path))
        _, variables, levels = written_names(ours)
        for name, model in ours.tables("test").items():
            assert tuple(theirs.variable(variables[name]).labels()) == tuple(levels[name])
            for place, row in zip(_places(model), model.expanded(), strict=True):
                given = {variables[p]: levels[p][code] for p, code in zip(model.parents, place, strict=True)}
                assert theirs.cpt(variables[name])[given] == pytest.approx(row) if given else True
        assert {(theirs.variable(a).name(), theirs.variable(b).name()) for a, b in theirs.arcs()} == {
            (variables[a], variables[b]) for a, b in ours.edges
        }


def test_pgmpy_reads_what_we_write(tmp_path: Path) -> None:
    readwrite = pytest.importorskip("pgmpy.readwrite", reason="pgmpy is not installed; it reads our BIF files here")
    for path in odd_files(tmp_path):
        ours, theirs = Network.read(path), readwrite.BIFReader(str(path)).get_model()
        _, variables, levels = written_names(ours)
        for name, model in ours.tables("test").items():
            table = theirs.get_cpds(variables[name])
            assert table.state_names[variables[name]] == levels[name]
            for place, row in zip(_places(model), model.expanded(), strict=True):
                given = {variables[p]: levels[p][code] for p, code in zip(model.parents, place, strict=True)}
                found = [table.get_value(**{variables[name]: level}, **given) for level in levels[name]]
                assert found == pytest.approx(row.tolist())
        assert set(theirs.edges()) == {(variables[a], variables[b]) for a, b in ours.edges}


def written_names(network: Network) -> tuple[Any, dict[str, str], dict[str, list[str]]]:
    names = bif._Names(network.tables("test"), False)
    return names, names.variables, names.levels


def _places(model: Any) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(len(levels)) for levels in model.parent_levels)))


def test_exact_names_are_for_bif_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd_network().export(tmp_path / "odd.bif")
    with pytest.raises(ChoiceError, match="exact_names"):
        odd_network().export(tmp_path / "odd.json", exact_names=True)
    assert main(["convert", str(tmp_path / "odd.bif"), str(tmp_path / "exact.bif"), "--exact-names"]) == 0
    assert '"ST-T change"' in (tmp_path / "exact.bif").read_text()
    assert Network.read(tmp_path / "exact.bif") == odd_network()


# Hostile text

MANY = 100_000
FAMILY = "network u {\n}\n" + "".join(f"variable v{i} {{\n type discrete [ 2 ] {{ a, b }};\n}}\n" for i in range(71))
FAMILY += "".join(f"probability ( v{i} ) {{ table 0.5, 0.5; }}\n" for i in range(1, 71))
FAMILY += f"probability ( v0 | {', '.join(f'v{i}' for i in range(1, 71))} ) {{\n default 0.5, 0.5;\n"
FAMILY += f" ({', '.join('b' for _ in range(70))}) 0.25, 0.75;\n}}\n"
BOMB = "\n".join(["a0: &a0 [x, x]", *(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60))]) + "\n"
NETS = {
    "deep.json": "[" * MANY,
    "deep-object.json": '{"a":' * MANY,
    "twice.json": '{"format": "spinney-network", "format": "spinney-network"}',
    "comments.bif": "/* " * MANY,
    "quotes.bif": 'network "' + '\\"' * MANY,
    "brackets.bif": "{" * MANY,
    "parents.bif": FAMILY,
    "long-word.bif": "a" * MANY * 10 + " " + "/" * MANY,
    "counts.jkl": "999999999\n" + "a 999999999\n" * 10,
    "spaces.jkl": "1\na 1\n-1" + " b" * MANY,
}
CHOICES = {
    "deep.yaml": "[" * 40_000,
    "deep-object.yaml": "{a: " * 40_000,
    "deep-block.yaml": "".join(" " * i + "- \n" for i in range(2000)),
    "bomb.yaml": BOMB,
    "deep.json": "[" * MANY,
    "deep-object.json": '{"a":' * MANY,
    "twice.yaml": "required: [[a, b]]\nforbidden: []\nrequired: []\n",
    "twice.json": '{"required": [["a", "b"]], "required": []}',
    "unclosed-text.json": '{"tiers": [["a' + "[" * 300,
    "unclosed-escape.json": '{"tiers": [["a' + "[" * 300 + "\\",
    "edge-of-a-mapping.yaml": "required: [{a: 1, b: 2}]\n",
    "edge-of-a-mapping.json": '{"required": [{"a": 1, "b": 2}]}',
    "edge-of-lists.json": '{"required": [[["a"], ["b"]]]}',
    "tiers-of-lists.yaml": "tiers: [[[[[a]]]]]\n",
}


MANY = "import sys; from spinney.cli import main; print(*[main(words.split()) for words in sys.argv[1:]])"


def refused(commands: list[str], folder: Path) -> list[str]:
    """The sentences of these commands, run one after another in one process, which survives them."""
    run = subprocess.run(
        [sys.executable, "-c", MANY, *commands], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, (run.returncode, run.stderr[:1000])
    assert run.stdout.split() == ["2"] * len(commands), run.stderr[:1000]
    sentences = run.stderr.splitlines()
    assert len(sentences) == len(commands) and max(map(len, sentences)) <= 520, run.stderr[:1000]
    return sentences


def test_hostile_networks_are_refused_at_once(tmp_path: Path) -> None:
    commands, named = [], []
    for name, text in NETS.items():
        (tmp_path / name).write_text(text)
        own = [f"convert {name} {'out.jkl' if name.endswith('.jkl') else 'out.json'}"]
        own += [f"compare {name} {name}"] if name.endswith(".json") else []
        commands += own
        named += [name] * len(own)
    for name, sentence in zip(named, refused(commands, tmp_path), strict=True):
        assert name in sentence


def test_hostile_constraints_tiers_and_kinds_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\nx,u\ny,v\nx,v\n")
    commands, named = [], []
    for name, text in CHOICES.items():
        (tmp_path / name).write_text(text)
        words = ["constraints"] if name == "edge-of-lists.json" else ["constraints", "kinds", "tiers"]
        commands += [f"learn t.csv --{word} {name}" for word in words]
        named += [name] * len(words)
    for name, sentence in zip(named, refused(commands, tmp_path), strict=True):
        assert name in sentence


def test_writing_a_long_name_takes_no_time(tmp_path: Path) -> None:
    code = (
        "import numpy as np; from slow.drawn_networks import random_network\n"
        "net = random_network(np.random.default_rng(0), {'a' * 5000 + ' ': ('b' * 5000 + ',', 'c')})\n"
        "net.export('net.bif'); net.export('exact.bif', exact_names=True)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    assert Network.read(tmp_path / "net.bif") == Network.read(tmp_path / "exact.bif")


def test_seventy_parents_are_refused_by_the_name_of_the_child(tmp_path: Path) -> None:
    (tmp_path / "net.bif").write_text(FAMILY)
    with pytest.raises(FileFormatError, match=r"'v0'.*2\^62"):
        Network.read(tmp_path / "net.bif")


# JSON networks whose numbers and names are none


def tree_file(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    data = sp.Dataset.from_frame({"x": x, "y": x + rng.normal(size=60), "c": np.where(x > 0, "u", "v")})
    sp.fit(data, {"y": ["x"], "c": ["x"]}, score="pcart").save(folder / "net.json")
    record: dict[str, Any] = json.loads((folder / "net.json").read_text())
    return record


def node_of(record: dict[str, Any], child: str) -> dict[str, Any]:
    return next(node for node in record["nodes"] if node["child"] == child)


ODD_NUMBERS = [1e308, -1e308, 1e-320, 1e300, -1.0, 0.0, 1e150, 1e-150, True, "1", None, 10**400]


@pytest.mark.parametrize("field", ["alpha", "mu0", "a", "nu", "lam", "kappa", "shift", "scale", "score", "sums"])
@pytest.mark.parametrize("child", ["y", "c"])
def test_odd_numbers_are_refused_or_give_numbers(tmp_path: Path, field: str, child: str) -> None:
    record = tree_file(tmp_path)
    rows = {"x": [0.5, -3.0, 1e9], "y": [0.0, 2.0, -1e9], "c": ["u", "v", "u"]}
    for value in ODD_NUMBERS:
        changed = json.loads(json.dumps(record))
        node = node_of(changed, child)
        if field == "sums":
            node["sums"][0][0] = value
        else:
            (node["prior"] if field in node["prior"] else node)[field] = value
        (tmp_path / "odd.json").write_text(json.dumps(changed))
        try:
            network = Network.read(tmp_path / "odd.json")
        except FileFormatError as error:
            assert len(str(error)) <= 500
            continue
        assert not np.isnan(network.log_prob(rows)).any(), (field, value)
        assert not np.isnan(network.predict_proba(rows, "c")).any(), (field, value)
        assert np.isfinite(network.sample(5).values("y")).all(), (field, value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"name": "x"', '"name": 3'),
        ('"child": "x"', '"child": 3'),
        ('"parents": ["x"]', '"parents": [3]'),
        ('"levels": ["u", "v"]', '"levels": [1, 2]'),
        ('"levels": ["u", "v"]', '"levels": ["\\ud800", "v"]'),
        ('"score": ', '"score": "high", "was": '),
        ('"score": ', '"score": [], "was": '),
    ],
)
def test_names_and_scores_of_another_type_are_refused(tmp_path: Path, old: str, new: str) -> None:
    tree_file(tmp_path)
    text = (tmp_path / "net.json").read_text()
    assert old in text
    (tmp_path / "odd.json").write_text(text.replace(old, new))
    with pytest.raises(FileFormatError, match=r"odd\.json"):
        Network.read(tmp_path / "odd.json")


def test_a_kinds_file_names_a_column_once(tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text("a: {kind: ordinal, levels: [x], levels: [y]}\n")
    with pytest.raises(FileFormatError, match="line 1: 'levels' is there twice"):
        kinds_file.read(tmp_path / "k.yaml")
