"""spinney simulate: the command draws what the library draws, and compare reads the truth that it writes.

In:  the words of the command.
Out: tables and graphs that are those of sp.simulate with the same numbers; one sentence for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import spinney as sp
from spinney.cli import main

LOCALS = ("table", "tree", "linear", "spline")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_draws_what_the_library_draws(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "simulate mixed --variables 9 --degree 2 --rows 60 --nonlinear --discrete-share 0.4 --ordinal-share 0.5"
    assert main([*words.split(), "--seed", "7", "-o", "data.csv", "--truth", "truth.json"]) == 0
    assert capsys.readouterr().out == "data.csv: 60 rows of 9 columns\ntruth.json: 9 edges\n"
    drawn = sp.simulate.mixed(9, 2, 60, 5, True, 0.4, 7, ordinal_share=0.5)
    assert sp.Dataset.read("data.csv", kinds=drawn.data.kinds).fingerprint == drawn.data.fingerprint
    assert sp.Found.read("truth.json").graph == drawn.truth
    assert main([*words.split(), "--seed", "7"]) == 0
    assert capsys.readouterr().out == (desk / "data.csv").read_text()
    assert main([*words.split(), "--seed", "7", "--missing", "mnar(0.2)", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    holed = sp.simulate.mixed(9, 2, 60, 5, True, 0.4, 7, "mnar(0.2)", ordinal_share=0.5)
    assert answer["columns"] == holed.frame.to_pydict() and answer["missing"] == sum(
        map(np.sum, holed.missing.values())
    )
    assert [tuple(edge) for edge in answer["edges"]] == drawn.truth.edges and answer["rows"] == 60
    assert answer["kinds"] == {name: kind.word for name, kind in drawn.data.kinds.items()}


@pytest.mark.parametrize("local", LOCALS)
def test_the_truth_of_every_network_is_read_by_compare(
    local: str, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["simulate", "network", "--local", local, "--variables", "7", "-n", "40", "--seed", "2", "-o", "data.csv"]
    assert main([*words, "--truth", "truth.json"]) == main([*words, "--truth", "truth.dot"]) == 0
    net = sp.simulate.random_network(7, 2, local=local, seed=2)
    drawn = sp.simulate.from_network(net, 40, 2)
    assert sp.Dataset.read("data.csv", kinds=net.kinds).to_arrow().equals(drawn.data.to_arrow())
    capsys.readouterr()
    assert main(["compare", "truth.json", "truth.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tp"] == len(net.edges) == 7
    if isinstance(net, sp.Network):
        assert sp.Network.load("truth.json") == net
    arrows = [line for line in (desk / "truth.dot").read_text().splitlines() if "->" in line]
    assert len(arrows) == 7
    assert main([*words, "--truth", "truth.bif"]) == (0 if local == "table" else 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("mixed --degree 7", "raise --max-degree"),
        ("mixed --rows 0", "number of rows"),
        ("mixed --variables few", "--variables must be a whole number, not 'few'"),
        ("mixed --degree high", "--degree must be a number, not 'high'"),
        ("mixed --discrete-share 2", "0 to 1"),
        ("mixed --truth truth.bif", "truth.bif"),
        ("mixed -o data.xyz", "data.xyz"),
        ("mixed -o no/data.csv", "no/data.csv"),
        ("network --kinds continuous", "choose --local tree"),
        ("network --kinds continuous=x --local tree", "--kinds must be kinds with shares"),
        ("network --local forest", "'forest'"),
        ("network --missing mar(0)", "share"),
        ("network --seed -1", "the seed"),
    ],
)
def test_bad_words_of_the_command(words: str, said: str, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and said in err
    assert not list(desk.iterdir())


def test_shares_of_kinds_on_the_command_line(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "network", "--local", "tree", "--variables", "9", "-n", "3", "--json", "--kinds"]
    assert main([*words, "ordinal"]) == 0
    assert set(json.loads(capsys.readouterr().out)["kinds"].values()) == {"ordinal"}
    assert main([*words, "ordinal=0.5, continuous=0.5"]) == 0
    kinds = json.loads(capsys.readouterr().out)["kinds"]
    net = sp.simulate.random_network(9, 2, {"ordinal": 0.5, "continuous": 0.5}, "tree")
    assert kinds == {name: kind.word for name, kind in net.kinds.items()}
