"""Intersection-validation: features, distances, subsamples, and networks of other programs.

In:  graphs of three and four columns written by hand, random graphs, a small table.
Out: distances counted by hand and by a slow twin; the structural Hamming distance where all pairs are agreed on."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from slow import intersection as slow
from spinney.draws import by_content, subsample
from spinney.evaluate.structures import agreed, partial_distance, states

NAMES = ("a", "b", "c", "d")


def dag(**parents: str) -> sp.CPDAG:
    return sp.DAG(NAMES, {child: list(own) for child, own in parents.items()}).cpdag()


COLLIDER = dag(c="ab")  # a -> c <- b
CHAIN = dag(c="a", b="c")  # a - c - b
FORK = dag(a="c", b="c", d="c")  # a - c - b, c - d
EMPTY = dag()


@pytest.mark.parametrize(
    ("whole_table", "pairs", "learned", "distance"),
    [
        # One method, or equal graphs: every pair is agreed on, and the distance is the structural Hamming distance.
        ([COLLIDER], 6, COLLIDER, 0),
        ([COLLIDER], 6, CHAIN, 2),  # both edges have lost their direction
        ([COLLIDER], 6, EMPTY, 2),
        ([COLLIDER, COLLIDER], 6, FORK, 3),  # and c - d is too much
        # A collider and a chain agree on the four pairs that neither joins, and on no edge.
        ([COLLIDER, CHAIN], 4, COLLIDER, 0),
        ([COLLIDER, CHAIN], 4, EMPTY, 0),
        ([COLLIDER, CHAIN], 4, FORK, 1),
        ([COLLIDER, CHAIN], 4, dag(b="a", d="c"), 2),
        # A chain and a fork differ in c - d only; the edges a - c and c - b are agreed on.
        ([CHAIN, FORK], 5, CHAIN, 0),
        ([CHAIN, FORK], 5, dag(d="c"), 2),
        ([CHAIN, FORK], 5, COLLIDER, 2),
        ([CHAIN, FORK], 5, dag(c="ab", d="abc"), 4),  # a -> c, b -> c directed; a, b to d are too much
        ([CHAIN, EMPTY], 4, FORK, 1),
    ],
)
def test_distances_counted_by_hand(whole_table: list[sp.CPDAG], pairs: int, learned: sp.CPDAG, distance: int) -> None:
    full = [states(graph, NAMES) for graph in whole_table]
    on = agreed(full)
    assert int(on.sum()) == pairs
    assert [partial_distance(own, on, states(learned, NAMES)) for own in full] == [distance] * len(full)
    assert slow.partial_distance(whole_table, learned) == distance
    assert [partial_distance(own, on, other) for own in full for other in full] == [0] * len(full) ** 2


def random_class(draw: random.Random) -> sp.CPDAG:
    order = draw.sample("edcba", 5)
    parents = {child: [p for p in order[:i] if draw.random() < 0.4] for i, child in enumerate(order)}
    return sp.DAG(list("abcde"), parents).cpdag()


def test_random_graphs_equal_the_slow_twin_and_the_structural_hamming_distance() -> None:
    draw = random.Random(2)
    for _ in range(200):
        graphs = [random_class(draw) for _ in range(3)]
        first, other, learned = (states(graph, list("edcba")) for graph in graphs)
        assert partial_distance(first, agreed([first, other]), learned) == slow.partial_distance(graphs[:2], graphs[2])
        assert partial_distance(first, agreed([first]), learned) == sp.compare(graphs[0], graphs[2]).shd


@pytest.fixture(scope="module")
def data() -> sp.Dataset:
    return sp.Network.read(Path(__file__).resolve().parent.parent / "examples" / "clinic.bif").sample(240, seed=1)


def test_the_answer_is_what_a_plain_loop_gives(data: sp.Dataset) -> None:
    found = sp.evaluate.stability(data, ["bdeu", "bic"], search="exact", parts=(8, 2), repeats=3, seed=4, n_jobs=1)
    order = by_content(data)
    full = {s: sp.find(data, s, search="exact").graph.cpdag() for s in ("bdeu", "bic")}  # type: ignore[union-attr]
    for own in ("bdeu", "bic"):
        for part, rows in ((8, 30), (2, 120)):
            wanted = []
            for repeat in range(3):
                taken = data.take(subsample(order, rows, 4, repeat))
                learned = sp.find(taken, own, search="exact").graph.cpdag()  # type: ignore[union-attr]
                wanted.append(slow.partial_distance(list(full.values()), learned))
            assert found.distances[own][part].tolist() == wanted
            assert found.mean(own, part) == pytest.approx(np.mean(wanted))
    assert sp.evaluate.stability(
        data.take(np.random.default_rng(1).permutation(240)).select(sorted(data.names, reverse=True)),
        ["bdeu", "bic"], search="exact", parts=(8, 2), repeats=3, seed=4, n_jobs=4,
    ).as_dict() == found.as_dict()  # fmt: skip


def test_smaller_subsamples_are_parts_of_larger_ones(data: sp.Dataset) -> None:
    order = by_content(data)
    for repeat in range(3):
        small, large = (set(subsample(order, rows, 7, repeat).tolist()) for rows in (10, 100))
        assert small < large and (len(small), len(large)) == (10, 100)
    assert subsample(order, 50, 7, 0).tolist() != subsample(order, 50, 7, 1).tolist()


def test_networks_of_other_programs_are_a_method(data: sp.Dataset, tmp_path: Path) -> None:
    options: dict[str, Any] = {"parts": (8, 2), "repeats": 2, "seed": 3}
    files = sp.evaluate.write_subsamples(data, tmp_path, **options)
    assert [Path(file).stem for file in files] == ["full", "part8-rep1", "part8-rep2", "part2-rep1", "part2-rep2"]
    for file in map(Path, files):
        kinds = dict(data.kinds)
        sp.learn(sp.Dataset.read(file, kinds=kinds), "bic", search="exact").network.export(file.with_suffix(".bif"))
    found = sp.evaluate.stability(data, "bic", search="exact", networks={"outside": tmp_path}, **options)
    assert found.methods == ("bic", "outside") and found.pairs_agreed == found.pairs_total
    for part in (8, 2):
        assert found.distances["bic"][part].tolist() == found.distances["outside"][part].tolist()
    alone = sp.evaluate.stability(data, networks={"outside": tmp_path, "again": tmp_path}, **options)
    assert alone.distances["again"][8].tolist() == found.distances["outside"][8].tolist()
    (tmp_path / "part8-rep2.bif").unlink()
    with pytest.raises(sp.FileFormatError, match="part8-rep2"):
        sp.evaluate.stability(data, "bic", networks={"outside": tmp_path}, **options)


def test_what_is_shown_and_written(data: sp.Dataset, tmp_path: Path) -> None:
    found = sp.evaluate.stability(data, ["bdeu", "bic", "aic"], parts=(8, 2), repeats=2)
    assert "bdeu against aic" in str(found) and "1/8" in str(found)
    found.save(tmp_path / "curves.json.gz")
    found.plot().savefig(tmp_path / "curves.svg")
    record = json.loads(json.dumps(found.as_dict()))
    assert [point["rows"] for point in record["curves"]["aic"]] == [30, 120]
    assert len(record["pairs"]["8"]) == 3 and len(record["edges_agreed"]) == len(found.edges_agreed)
    assert found._repr_html_().count("<table>") == 4
    empty = sp.evaluate.stability(data, ["bdeu", "bic"], max_parents=0, parts=(2,), repeats=1)
    assert "agree on no edge" in str(empty) and empty.mean("bdeu", 2) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scores": "bic"}, "name two or more"),
        ({"scores": []}, "name two or more"),
        ({"parts": (1,)}, "parts are"),
        ({"parts": (2, 2)}, "parts are"),
        ({"parts": ()}, "parts are"),
        ({"parts": 2}, "parts are"),
        ({"parts": (0.5,)}, "parts are"),
        ({"repeats": 0}, "repeats must be"),
        ({"networks": {"bic": "."}}, "needs a network called full|names a score"),
    ],
)
def test_what_cannot_be_is_refused_before_computing(data: sp.Dataset, options: dict[str, Any], words: str) -> None:
    with pytest.raises(sp.SpinneyError, match=words):
        sp.evaluate.stability(data, **{"scores": ["bdeu", "bic"], **options})
