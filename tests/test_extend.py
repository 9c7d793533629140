"""A score with its model, a search that returns a class, and a format, each in one file outside the package.

In:  tests/outside/*.py, in a process of its own, so that no other test sees their rows.
Out: learn, save, load, predict, sample, log_prob, compare, the command line and the laws of the catalog run on them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spinney as sp

HERE = Path(__file__).parent

SCRIPT = """
import sys, numpy as np, spinney as sp
sys.path.insert(0, {outside!r})
import linear_gaussian, tree_class, edge_list
linear_gaussian.plug_in()

rng = np.random.default_rng(1)
group = rng.choice(["a", "b"], 400)
height = 170 + 9 * rng.normal(size=400) + 8 * (group == "b")
weight = 0.9 * height - 85 + 4 * rng.normal(size=400)
data = sp.Dataset.from_frame({{"group": group, "height": height, "weight": weight}})
for search in ("exact", "hc", "tabu", "order", "dp", "chow-liu", "auto"):
    result = sp.learn(data, score="lines", search=search)
    assert abs(result.network.score - sp.score(data, result.network, "lines")) < 1e-6, search
    # A continuous column is no parent of a discrete one under this score: no search proposes it.
    assert not set(result.network.parents["group"]) & {{"height", "weight"}}, search
result = sp.learn(data, score="lines", search="exact")
assert result.found.optimal and result.network.models["weight"].word == "linear-gaussian"
net = result.network
net.save("net.json")
again = sp.Network.load("net.json")
assert np.array_equal(net.log_prob(data), again.log_prob(data))
assert np.isfinite(net.log_prob(net.sample(100, seed=1))).all()
predicted = again.predict(data, "height")
assert np.corrcoef(np.asarray(predicted, float), height)[0, 1] > 0.8
assert set(again.predict(data, "group")) <= {{"a", "b"}}
for bad in (lambda: sp.local_score(data, "group", ["height"], "lines"),
            lambda: sp.learn(data, "lines", constraints=sp.Constraints(required=[("height", "group")]))):
    try:
        bad()
    except sp.ChoiceError as error:
        assert "group" in str(error)
    else:
        raise AssertionError

found = sp.find(data, "pcart", search="tree-class")
assert isinstance(found.graph, sp.CPDAG) and found.graph.undirected
fitted = sp.learn(data, "pcart", search="tree-class")
assert fitted.found.cpdag is not None and fitted.network.edges
found.write("found.edges")
assert sp.Found.read("found.edges").graph == found.graph
assert sp.compare(sp.Found.read("found.edges").graph, found.graph).shd == 0
sp.search(sp.score_parent_sets(data, "pcart"), method="tree-class")

from spinney.cli import main
data.write("table.csv")
assert main(["learn", "table.csv", "--score", "lines", "--search", "exact", "-o", "cli.json"]) == 0
assert main(["score", "table.csv", "cli.json", "--score", "lines"]) == 0
assert main(["predict", "cli.json", "table.csv", "--target", "weight", "-o", "out.csv"]) == 0
assert main(["show", "cli.json", "weight"]) == 0
assert main(["list", "scores"]) == 0
assert main(["convert", "found.edges", "found.dot"]) == 0
assert main(["compare", "found.edges", "cli.json"]) in (0, 1)
print("all of it")
"""

LAWS = """
import sys, pytest
sys.path.insert(0, {outside!r})
import linear_gaussian
linear_gaussian.plug_in()
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", "lines", {laws!r}]))
"""


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def test_what_comes_from_outside_works_everywhere(tmp_path: Path) -> None:
    done = run(SCRIPT.format(outside=str(HERE / "outside")), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all of it" in done.stdout and "lines" in done.stdout


def test_the_laws_of_the_catalog_hold_for_it(tmp_path: Path) -> None:
    done = run(LAWS.format(outside=str(HERE / "outside"), laws=str(HERE / "test_catalog_laws.py")), tmp_path)
    assert done.returncode == 0, done.stdout


def test_its_rows_are_in_those_processes_only() -> None:
    with pytest.raises(KeyError):
        sp.catalog.SCORES["lines"]
