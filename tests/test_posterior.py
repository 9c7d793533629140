"""Posterior probabilities of edges.

In:  random scores of few columns, whose graphs and orders can be listed; tables of the catalog's kinds.
Out: exact sums are those over all graphs and all orders; chains agree with them within their own error; what is
refused; trees summed up one by one."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import spinney as sp
from slow import trees
from slow.sums import over_graphs, over_orders

Listed = dict[str, dict[tuple[str, ...], float]]


def drawn(n: int, scale: float, seed: int, most: int = 9, missing: float = 0.0) -> Listed:
    """Scores of all sets of at most so many parents, some of them missing; the empty one never."""
    rng = np.random.default_rng([n, seed])
    names = [f"v{i}" for i in range(n)]
    return {
        child: {
            own: float(rng.normal() * scale)
            for k in range(min(n, most + 1))
            for own in combinations([other for other in names if other != child], k)
            if k == 0 or rng.random() >= missing
        }
        for child in names
    }


def smooth(n: int, scale: float, seed: int) -> Listed:
    """As scores of data are: sums of what each parent brings, the same for both directions, and a little more."""
    rng = np.random.default_rng([n, seed, 7])
    names = [f"v{i}" for i in range(n)]
    worth = {frozenset(pair): float(rng.normal() * scale) for pair in combinations(names, 2)}
    return {
        child: {
            own: sum(worth[frozenset((child, p))] for p in own) + float(rng.normal()) - len(own)
            for k in range(n)
            for own in combinations([other for other in names if other != child], k)
        }
        for child in names
    }


def listed(scores: Listed) -> sp.ParentSets:
    return sp.ParentSets.from_lists({child: list(own.items()) for child, own in scores.items()})


def matrix(names: tuple[str, ...], edges: dict[tuple[str, str], float]) -> np.ndarray:
    return np.array([[edges.get((p, c), 0.0) for c in names] for p in names])


@pytest.mark.parametrize("over", ["modular", "order"])
@pytest.mark.parametrize(
    ("n", "scale", "missing"),
    [(1, 1, 0), (2, 3, 0), (3, 1, 0), (3, 900, 0), (4, 2, 0), (4, 50, 0.4), (5, 1, 0), (5, 20, 0.5), (5, 900, 0)],
)
def test_exact_sums_are_those_over_all_graphs(n: int, scale: float, missing: float, over: str) -> None:
    if over == "order" and n == 5 and missing == 0:
        pytest.skip("all orders of five columns with all their graphs are too many to list")
    scores = drawn(n, scale, 3, missing=missing)
    found = sp.posterior(listed(scores), over=over)
    edges, log_sum = (over_graphs if over == "modular" else over_orders)(scores)
    assert found.method == "exact" and found.over == over
    assert np.abs(found.edges - matrix(found.names, edges)).max() <= max(1e-14, found.errors.max())
    assert found.errors.max() < 1e-9
    assert found.log_sum == pytest.approx(log_sum, rel=1e-13, abs=1e-12)
    for child, sets in found.sets.items():
        assert math.fsum(share for _, share in sets) == pytest.approx(1.0, abs=1e-5), child


def test_the_two_priors_differ_and_graphs_of_many_orders_weigh_more() -> None:
    """Two columns, all scores 0: three graphs, but the empty one has both orders."""
    scores = {"a": {(): 0.0, ("b",): 0.0}, "b": {(): 0.0, ("a",): 0.0}}
    assert sp.posterior(listed(scores)).probability("a", "b") == pytest.approx(1 / 3)
    assert sp.posterior(listed(scores), over="order").probability("a", "b") == pytest.approx(1 / 4)


@pytest.mark.parametrize("seed", range(20))
def test_chains_agree_with_the_exact_sums_within_their_own_error(seed: int) -> None:
    over = "order" if seed % 4 == 3 else "modular"
    sets = listed(smooth(5 + seed % 3, 1.5, seed))
    exact = sp.posterior(sets, over=over, method="exact")
    found = sp.posterior(sets, over=over, method="mcmc", samples=3000, seed=seed, n_jobs=1)
    assert found.chains is not None and found.chains.agree and found.chains.effective > 300
    assert (np.abs(found.edges - exact.edges) <= 5 * found.errors + 1e-3).all()
    assert np.abs(found.edges - exact.edges).max() < 0.03
    assert found.errors.max() < 0.03
    assert len(found.networks) == 100
    mean = matrix(found.names, {})
    for graph in found.networks:
        mean += matrix(found.names, {(p, child): 0.01 for child, own in graph.items() for p in own})
    assert np.abs(mean - exact.edges).max() < 0.25  # a hundred graphs, not independent


def test_chains_do_not_depend_on_threads_and_know_when_they_disagree() -> None:
    sets = listed(smooth(6, 2.0, 1))
    same = [sp.posterior(sets, method="mcmc", samples=50, chains=3, seed=4, n_jobs=n).as_dict() for n in (1, 3)]
    assert json.dumps(same[0]) == json.dumps(same[1])
    apart = sp.posterior(listed(drawn(6, 60, 2)), method="mcmc", samples=20, burn_in=0, chains=8, seed=1)
    assert apart.chains is not None and not apart.chains.agree
    assert "disagree" in apart.notes[-1] and "DISAGREE" in repr(apart)
    assert apart.errors.max() > 0.1  # the error knows of it too


def test_wide_lists_are_walked_in_words_of_bits() -> None:
    """70 columns, two words: a chain of strong edges is found, whatever the width."""
    names = [f"v{i:02d}" for i in range(70)]
    scores = {
        child: {(): 0.0, **({(names[i - 1],): 12.0} if i else {}), **({(names[i + 1],): 12.0} if i < 69 else {})}
        for i, child in enumerate(names)
    }
    found = sp.posterior(listed(scores), samples=60, seed=2)
    assert found.method == "mcmc"
    joined = [found.adjacency[i, i + 1] for i in range(69)]
    # Each of 69 pairs is joined in either direction, e^12 each, against none.
    assert min(joined) > 0.97


def test_constraints_hold() -> None:
    data = table()
    limits = sp.Constraints(required=[("a", "b")], forbidden=[("a", "c")], tiers=[["a", "b", "c"], ["d"]])
    exact = sp.posterior(data, "bdeu", constraints=limits)
    walked = sp.posterior(data, "bdeu", constraints=limits, method="mcmc", samples=1500, n_jobs=1)
    for found in (exact, walked):
        assert found.probability("a", "b") == pytest.approx(1.0)
        assert found.probability("a", "c") == 0.0
        assert found.probability("d", "a") == 0.0
    assert np.abs(walked.edges - exact.edges).max() < 0.05


def table(rows: int = 120) -> sp.Dataset:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, rows)
    b = (a + (rng.random(rows) < 0.25)) % 2
    c = (b + (rng.random(rows) < 0.3)) % 2
    d = np.where(rng.random(rows) < 0.8, a & c, 1 - (a & c))
    return sp.Dataset.from_frame({name: column.astype(str) for name, column in zip("abcd", (a, b, c, d), strict=True)})


def test_a_table_is_scored_unpruned_and_pruned_lists_are_refused() -> None:
    data = table()
    whole = sp.posterior(data, max_parents=3)
    assert whole.score.startswith("bdeu")
    sets = sp.score_parent_sets(data, "bdeu", prune=False)
    assert np.array_equal(sp.posterior(sets).edges, whole.edges)
    pruned = sp.score_parent_sets(data, "bdeu")
    with pytest.raises(sp.ChoiceError, match=r"pruned.*prune=False"):
        sp.posterior(pruned)
    # From a file nobody knows: it says so.
    few = sp.ParentSets.from_lists({"a": [((), 0.0)], "b": [((), 0.0), (("a",), 1.0)]})
    assert "may have been pruned" in sp.posterior(few).notes[0]


@pytest.mark.parametrize(
    ("score", "words"),
    [
        ("pcart", r"best local model.*average"),
        ("ft", "best local model"),
        ("graph", "best local model"),
        ("best", "best local model"),
        ("bic", "not the log of a probability"),
    ],
)
def test_scores_that_cannot_be_summed_are_refused(score: str, words: str) -> None:
    with pytest.raises(sp.ChoiceError, match=words):
        sp.posterior(table(), score)


def test_numbers_that_make_no_sense_are_refused() -> None:
    sets = listed(drawn(3, 1, 0))
    for wrong in ({"over": "dags"}, {"method": "exakt"}, {"samples": 0}, {"chains": 1}, {"burn_in": -1}):
        with pytest.raises(sp.ChoiceError):
            sp.posterior(sets, **wrong)  # type: ignore[arg-type]
    many = sp.ParentSets.from_lists({f"v{i}": [((), 0.0)] for i in range(30)})
    with pytest.raises(sp.LimitError, match="mcmc"):
        sp.posterior(many, method="exact")
    cycle = sp.ParentSets.from_lists({"a": [(("b",), 0.0)], "b": [(("a",), 0.0)]})
    for method in ("exact", "mcmc"):
        with pytest.raises(sp.ChoiceError, match="without a cycle"):
            sp.posterior(cycle, method=method)


def test_a_posterior_is_shown_and_written(tmp_path: Path) -> None:
    found = sp.posterior(table())
    assert "exact sums" in repr(found) and " -> " in repr(found)
    assert "<table" in found._repr_html_()
    found.write(tmp_path / "edges.json")
    again = json.loads((tmp_path / "edges.json").read_text())
    assert again["edges"] == found.edges.tolist() and again["over"] == "modular"
    assert found.adjacency == pytest.approx(found.adjacency.T)
    assert found.table(0.2) == sorted(found.table(0.2), key=lambda row: -row[2])
    with pytest.raises(sp.ChoiceError, match="no column"):
        found.probability("a", "x")


def test_a_time_limit_keeps_what_the_chains_have() -> None:
    sets = listed(smooth(7, 1.0, 0))
    found = sp.posterior(sets, method="mcmc", samples=10**9, burn_in=5, time_limit=0.5)
    assert found.stopped == "time limit" and found.chains is not None and min(found.chains.samples) > 4


# The sum over all trees


KINDS = (trees.CATEGORICAL, trees.ORDINAL, trees.CONTINUOUS)


def tree_column(kind: str, rows: int, rng: np.random.Generator, levels: int, s: int) -> trees.Column:
    if kind == trees.CONTINUOUS:
        return trees.Column(kind, tuple(rng.random(rows)), lo=0.0, hi=1.0, s=s)
    return trees.Column(kind, tuple(map(int, rng.integers(0, levels, rows))), levels)


def sum_over_trees(child: trees.Column, parents: list[trees.Column]) -> tuple[float, int]:
    """By naming every tree."""
    gamma = trees.log_gamma(trees.shape_of(parents))
    rows = len(child.values)
    logs = []
    for tree in trees.every_tree(parents):
        leaves = [trees.leaf_value(child, trees.rows_in(parents, node, rows), trees.PAPER) for node in tree]
        logs.append(math.fsum(leaves) + gamma * len(tree))
    most = max(logs)
    total = most + math.log(math.fsum(math.exp(log - most) for log in logs))
    return total + trees.log_c(trees.shape_of(parents)), len(logs)


@pytest.mark.parametrize("kinds", [*product(KINDS, repeat=3)])
def test_averaged_trees_are_the_sum_over_all_trees(kinds: tuple[str, ...]) -> None:
    rng = np.random.default_rng(list(map(ord, "".join(kinds)))[:8])
    child = trees.standardised(tree_column(kinds[0], 9, rng, 3, 5))
    if kinds[0] == trees.CONTINUOUS:
        child = replace(child, lo=-9.0, hi=9.0)
    halved = 1 if kinds[2] == trees.CONTINUOUS else 2
    parents = [tree_column(kinds[1], 9, rng, 3, halved), tree_column(kinds[2], 9, rng, 2, halved)]
    wanted, count = sum_over_trees(child, parents)
    data = trees.dataset({"y": child, "x1": parents[0], "x2": parents[1]})
    score = f"pcart(average=True, max_splits={halved})"
    found = sp.local_score(data, "y", ["x1", "x2"], score)
    assert found == pytest.approx(wanted, rel=1e-10)
    best = sp.local_score(data, "y", ["x1", "x2"], f"pcart(max_splits={halved})")
    assert best < found < best + math.log(count)


def test_averaged_trees_are_a_probability_of_the_child() -> None:
    """Summed over all columns of the child it is 1, where the best tree stays below."""
    rng = np.random.default_rng(1)
    total = best = 0.0
    parents = {"x": [str(v) for v in rng.integers(0, 3, 4)], "u": rng.random(4).tolist()}
    kinds = {"y": sp.Categorical(["0", "1"]), "x": sp.Categorical(["0", "1", "2"]), "u": sp.Continuous(0.0, 1.0)}
    for cells in product("01", repeat=4):
        data = sp.Dataset.from_frame({"y": list(cells), **parents}, kinds=kinds)
        total += math.exp(sp.local_score(data, "y", ["x", "u"], "pcart(average=True)"))
        best += math.exp(sp.local_score(data, "y", ["x", "u"], "pcart"))
    assert total == pytest.approx(1.0, rel=1e-10)
    assert best < total


def test_averaged_trees_refuse_what_they_do_not_sum() -> None:
    for score in ("pcart(average=True, ess=1)", "pcart(average=True, structure_prior=False)"):
        with pytest.raises(sp.ChoiceError, match="leave out"):
            sp.local_score(table(), "a", ["b"], score)


def test_a_mixed_table_has_a_posterior_by_averaged_trees() -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(size=150)
    b, c, d = a + rng.normal(size=150) / 2, np.where(a > 0, "yes", "no"), rng.normal(size=150)
    found = sp.posterior(sp.Dataset.from_frame({"a": a, "b": b, "c": c, "d": d}), max_parents=2)
    assert found.score.startswith("pcart(") and "average=True" in found.score
    place = found.names.index
    assert found.adjacency[place("a"), place("c")] > 0.99 > 0.5 > found.adjacency[place("a"), place("d")]
