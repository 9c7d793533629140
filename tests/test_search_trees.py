"""chow-liu and tan: against all branchings, all trees and all TANs.

In:  random weights; small tables under every score.
Out: no tree is better; where scores are equivalent the root does not matter and networkx finds the same total;
constraints are honoured or refused; the same tree from data and from parent sets, whatever the order of rows and the
threads."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.branchings import all_branchings, best_branchings, total
from slow.case import Case, cases, dependent_case
from slow.scores import EQUIVALENT, ONE_OF_EACH, choice, local_score
from spinney import _core
from spinney.catalog import SCORES
from spinney.cli import main
from spinney.errors import ChoiceError, SpinneyError

Scores = Callable[[str, tuple[str, ...]], float]
SIZES = {"d": 3, "a": 2, "c": 4, "b": 2, "e": 3}


def branching(weights: Any, may_be_root: list[bool], forest: bool = False, tie: float = 0.0) -> list[int]:
    return _core.branching(np.array(weights, np.float64).ravel(), may_be_root, forest, tie)


# Edmonds


def test_there_are_as_many_branchings_as_cayley_says() -> None:
    assert [len(all_branchings(n)) for n in range(1, 7)] == [1, 3, 16, 125, 1296, 16807]


@st.composite
def weighted(draw: Any) -> tuple[list[list[float]], list[bool]]:
    """Small whole numbers, so that ties abound, or any; some edges and some roots not allowed."""
    n = draw(st.sampled_from([1, 2, 3, 4, 5, 5, 6]))
    whole = st.integers(-2, 3).map(float)
    weight = draw(st.sampled_from([whole, st.floats(-1e3, 1e3, width=32)]))
    edge = draw(st.sampled_from([weight, st.one_of(weight, st.just(-math.inf))]))
    weights = draw(st.lists(st.lists(edge, min_size=n, max_size=n), min_size=n, max_size=n))
    may_be_root = draw(st.one_of(st.just([True] * n), st.lists(st.booleans(), min_size=n, max_size=n)))
    return weights, may_be_root


@settings(max_examples=300)
@given(case=weighted(), forest=st.booleans())
def test_no_branching_is_better(case: tuple[list[list[float]], list[bool]], forest: bool) -> None:
    weights, may_be_root = case
    top, best = best_branchings(weights, may_be_root, forest)
    found = tuple(branching(weights, may_be_root, forest))
    if not best:
        assert found == ()
        return
    assert total(found, weights, may_be_root) == pytest.approx(top, rel=1e-9, abs=1e-9)
    assert found in best
    if forest:
        assert all(p < 0 or weights[i][p] > 0 or not may_be_root[i] for i, p in enumerate(found))


@settings(max_examples=150)
@given(
    weights=st.integers(2, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(-1, 2), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_ties_go_to_earlier_roots_then_to_earlier_parents(weights: list[list[float]]) -> None:
    n = len(weights)
    _, best = best_branchings(weights, [True] * n, False)

    def taste(parents: Iterable[int]) -> tuple[int, int]:
        own = list(parents)
        return sum(i for i, p in enumerate(own) if p < 0), sum(p for p in own if p >= 0)

    assert taste(branching(weights, [True] * n)) == min(map(taste, best))


def test_what_differs_by_less_than_the_tie_is_equal() -> None:
    rng = np.random.default_rng(3)
    for n in (3, 8, 30):
        weights = rng.integers(0, 4, (n, n)).astype(float)
        weights += weights.T
        noisy = weights + 1e-13 * rng.standard_normal((n, n))
        assert branching(noisy, [True] * n, tie=1e-11) == branching(weights, [True] * n)


@pytest.mark.parametrize("n", [12, 40])
def test_networkx_finds_no_better_one(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(5):
        weights = rng.normal(size=(n, n)).round(1)
        graph = nx.DiGraph()
        graph.add_weighted_edges_from((j, i, weights[i, j]) for i in range(n) for j in range(n) if i != j)
        for forest, solve in ((False, nx.maximum_spanning_arborescence), (True, nx.maximum_branching)):
            found = branching(weights, [True] * n, forest)
            own = sum(weights[i, p] for i, p in enumerate(found) if p >= 0)
            assert own == pytest.approx(solve(graph).size("weight"), rel=1e-9)


# The best of all trees


def trees(names: list[str], target: str | None, forest: bool) -> Iterable[dict[str, tuple[str, ...]]]:
    """Every tree (or forest) over the names, or every TAN."""
    nodes = [name for name in names if name != target]
    stem = () if target is None else (target,)
    for parents in all_branchings(len(nodes)) if nodes else [()]:
        if forest or parents.count(-1) <= 1:
            graph = {
                child: (*stem, *(nodes[p] for p in [at] if p >= 0)) for child, at in zip(nodes, parents, strict=True)
            }
            yield {**graph, **dict.fromkeys(stem, ())}


def best_of(graphs: Iterable[dict[str, tuple[str, ...]]], scores: Scores) -> float:
    known: dict[tuple[str, frozenset[str]], float] = {}

    def local(child: str, parents: tuple[str, ...]) -> float:
        key = (child, frozenset(parents))
        if key not in known:
            known[key] = scores(child, parents)
        return known[key]

    return max(sum(local(child, own) for child, own in graph.items()) for graph in graphs)


def is_tree(parents: dict[str, tuple[str, ...]], target: str | None = None) -> bool:
    graph = nx.Graph()
    graph.add_nodes_from(name for name in parents if name != target)
    graph.add_edges_from((p, child) for child, own in parents.items() for p in own if p != target)
    return graph.number_of_nodes() == 0 or nx.is_tree(graph)


@pytest.mark.parametrize("forest", [False, True])
@pytest.mark.parametrize("score", ONE_OF_EACH)
@settings(max_examples=6)
@given(case=cases(columns=(1, 5), rows=(1, 25)))
def test_no_tree_and_no_tan_is_better(score: str, forest: bool, case: Case) -> None:
    for target in (None, case.names[0]):
        options = {} if target is None else {"target": target}
        search = "chow-liu" if target is None else "tan"
        result = sp.learn(case.data(), choice(score, case), search=search, forest=forest, max_parents=2, **options)
        top = best_of(trees(case.names, target, forest), lambda child, own: local_score(case, child, own, score))
        assert result.found.score == pytest.approx(top, rel=1e-9, abs=1e-9)
        assert result.network.score == pytest.approx(top, rel=1e-9, abs=1e-9)
        if target is not None:
            assert result.found.parents[target] == ()
            assert all(target in own for child, own in result.found.parents.items() if child != target)
        assert forest or is_tree(result.found.parents, target)


def mixed(rows: int, seed: int) -> sp.Dataset:
    """Five columns of all kinds that lean on one another."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 3, rows)
    x = k + rng.normal(size=rows)
    y = np.where(k == 1, -x, x) + rng.normal(size=rows)
    o = np.clip(np.round(x + rng.normal(size=rows)), 0, 3).astype(int)
    frame = {"k": k.astype(str), "x": x, "y": y, "o": o.astype(str), "z": rng.normal(size=rows)}
    kinds = {"k": sp.Categorical(list("012")), "o": sp.Ordinal(list("0123"))}
    return sp.Dataset.from_frame(pd.DataFrame(frame), kinds=kinds)


@pytest.mark.parametrize("forest", [False, True])
@pytest.mark.parametrize("score", [name for name, row in SCORES.items() if len(row.kinds) == 3])
def test_no_tree_and_no_tan_of_mixed_columns_is_better(score: str, forest: bool) -> None:
    for seed in range(3):
        data = mixed(60, seed)
        for target in (None, "k", "x"):
            options = {} if target is None else {"target": target}
            found = sp.find(data, score, search="chow-liu" if target is None else "tan", forest=forest, **options)
            graphs = trees(list(data.names), target, forest)
            top = best_of(graphs, lambda child, own, data=data: sp.local_score(data, child, own, score))
            assert found.score == pytest.approx(top, rel=1e-10)
            assert forest or is_tree(found.parents, target)


@pytest.mark.parametrize("score", EQUIVALENT)
def test_the_root_does_not_matter_where_scores_are_equivalent(score: str) -> None:
    case = dependent_case(SIZES, n_rows=60, seed=3)
    for search, options, nodes in (("chow-liu", {}, "abcde"), ("tan", {"target": "c"}, "abde")):
        found = {root: sp.find(case.data(), choice(score, case), search=search, root=root, **options) for root in nodes}
        free = sp.find(case.data(), choice(score, case), search=search, **options)
        for root, own in found.items():
            assert own.score == pytest.approx(free.score, rel=1e-12)
            assert own.parents[root] == (() if search == "chow-liu" else ("c",))
        assert free.parents == found["a"].parents, "among equals the first name is the root"


@pytest.mark.parametrize("score", ["bic", "bdeu(ess=1)", "qnml"])
def test_chow_lius_total_is_that_of_networkx(score: str) -> None:
    sizes = {f"v{i:02}": 2 + i % 3 for i in range(25)}
    data = dependent_case(sizes, n_rows=80, seed=5).data()
    pairs = list(permutations(data.names, 2))
    alone = dict(zip(data.names, sp.local_scores(data, [(v, ()) for v in data.names], score), strict=True))
    joint = dict(zip(pairs, sp.local_scores(data, [(v, (u,)) for u, v in pairs], score), strict=True))
    graph = nx.Graph()
    graph.add_weighted_edges_from((u, v, joint[u, v] - alone[v]) for u, v in pairs)
    for forest in (False, True):
        weights = [w for _, _, w in nx.maximum_spanning_tree(graph).edges(data="weight")]
        best = math.fsum(alone.values()) + math.fsum(w for w in weights if w > 0 or not forest)
        assert sp.find(data, score, search="chow-liu", forest=forest).score == pytest.approx(best, rel=1e-12)


# Parent sets


@pytest.mark.parametrize("score", ["bic", "k2", "bdeu"])
def test_the_same_tree_from_data_and_from_parent_sets(score: str) -> None:
    for seed in range(4):
        data = dependent_case(SIZES, n_rows=50, seed=seed).data()
        full = sp.score_parent_sets(data, score, max_parents=2, prune=False)
        for search, options in (("chow-liu", {}), ("tan", {"target": "c"})):
            for forest in (False, True):
                asked = sp.find(data, score, search=search, forest=forest, **options)
                listed = sp.search(full, search, forest=forest, **options)
                assert asked.parents == listed.parents
                assert asked.score == pytest.approx(listed.score, rel=1e-12)
                assert asked.bound == math.inf and listed.bound >= sp.search(full, "dp").score


def test_a_pruned_list_gives_the_best_forest() -> None:
    """What was dropped for the empty set stands for it."""
    for seed in range(5):
        data = dependent_case(SIZES, n_rows=40, seed=seed, noise=0.7).data()
        sets = sp.score_parent_sets(data, "bic")
        forest = sp.find(data, "bic", search="chow-liu", forest=True)
        for chosen in (sp.search(sets, "chow-liu"), sp.search(sets, "chow-liu", forest=True)):
            assert chosen.score == pytest.approx(forest.score, rel=1e-12)
            listed = {child: dict(sets.of(child)) for child in sets.names}
            assert math.fsum(listed[c][own] for c, own in chosen.parents.items()) == pytest.approx(chosen.score)


def test_tan_refuses_lists_that_were_pruned_without_the_class() -> None:
    data = dependent_case(SIZES, n_rows=40, seed=1).data()
    sets = sp.score_parent_sets(data, "bic")
    with pytest.raises(ChoiceError, match="without pruning"):
        sp.search(sets, "tan", target="c")
    required = sp.Constraints(required=[("c", name) for name in "abde"])
    sets = sp.score_parent_sets(data, "bic", constraints=required)
    forest = sp.find(data, "bic", search="tan", target="c", forest=True)
    assert sp.search(sets, "tan", target="c").score == pytest.approx(forest.score, rel=1e-12)


def test_lists_without_the_empty_set() -> None:
    lists = {"a": [(("b",), -1.0), (("c",), -5.0)], "b": [(("c",), -1.0), (("a",), -0.5)], "c": [((), -9.0)]}
    found = sp.search(sp.ParentSets.from_lists(lists), "chow-liu")
    assert found.parents == {"a": ("b",), "b": ("c",), "c": ()} and found.score == -11.0
    lists["c"] = [(("a",), -1.0)]
    for forest in (False, True):
        with pytest.raises(ChoiceError, match=r"no tree|without a cycle"):
            sp.search(sp.ParentSets.from_lists(lists), "chow-liu", forest=forest)


# Constraints


@pytest.mark.parametrize("forest", [False, True])
@pytest.mark.parametrize("target", [None, "a"])
@settings(max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_constraints_are_honoured_or_refused(target: str | None, forest: bool, seed: int) -> None:
    """Refused exactly when no tree satisfies them."""
    rng = random.Random(seed)
    names = list("abcde")
    data = dependent_case(dict.fromkeys(names, 2), n_rows=30, seed=seed).data()
    edges = list(permutations(names, 2))
    rule: dict[str, Any] = {
        "required": rng.sample(edges, rng.randrange(3)),
        "forbidden": rng.sample(edges, rng.randrange(6)),
    }
    if rng.random() < 0.4:
        tiers = rng.sample(names, 5)
        rule["tiers"] = [tiers[:3], tiers[3:]]
    if rng.random() < 0.4:
        rule["max_parents"] = {rng.choice(names): rng.randrange(3)}

    def fits(graph: dict[str, tuple[str, ...]]) -> bool:
        own = {(parent, child) for child, parents in graph.items() for parent in parents}
        tier = {name: i for i, group in enumerate(rule.get("tiers", ())) for name in group}
        return (
            set(rule["required"]) <= own
            and not set(rule["forbidden"]) & own
            and all(tier[p] <= tier[c] for p, c in own if tier)
            and all(len(graph[c]) <= most for c, most in rule.get("max_parents", {}).items())
        )

    able = [graph for graph in trees(names, target, forest) if fits(graph)]
    options = {} if target is None else {"target": target}
    search = "chow-liu" if target is None else "tan"
    full = sp.score_parent_sets(data, "k2", max_parents=2, prune=False)
    for run in (
        lambda: sp.find(data, "k2", search=search, constraints=sp.Constraints(**rule), forest=forest, **options),
        lambda: sp.search(full, search, sp.Constraints(**rule), forest=forest, **options),
    ):
        if not able:
            with pytest.raises(SpinneyError) as told:
                run()
            assert "\n" not in str(told.value)
            continue
        found = run()
        assert fits(found.parents)
        top = best_of(able, lambda child, own: sp.local_score(data, child, own, "k2"))
        assert found.score == pytest.approx(top, rel=1e-10)


@pytest.mark.parametrize(
    ("search", "rule", "words"),
    [
        ("tan", {}, "target"),
        ("tan(target=nobody)", {}, "'nobody'"),
        ("chow-liu(root=nobody)", {}, "'nobody'"),
        ("tan(target=a, root=a)", {}, "'a'"),
        ("chow-liu(target=a)", {}, "target"),
        ("tan(target=a)", {"required": [("b", "a")]}, "'b' -> 'a'"),
        ("tan(target=a)", {"forbidden": [("a", "b")]}, "'a' -> 'b'"),
        ("tan(target=a)", {"max_parents": 0}, "max_parents"),
        ("tan(target=a)", {"max_parents": 1}, "forest=True"),
        ("tan(target=a)", {"required": [("b", "c"), ("d", "c")]}, "'c'"),
        ("tan(target=a, root=b)", {"required": [("c", "b")]}, "'b'"),
        ("chow-liu", {"required": [("a", "c"), ("b", "c")]}, "'c'"),
        ("chow-liu", {"max_parents": 0}, "forest=True"),
        ("chow-liu(root=a)", {"max_parents": {"b": 0}}, "forest=True"),
        ("chow-liu(forest=perhaps)", {}, "forest"),
        ("chow-liu(forest=True, root=b)", {"required": [("a", "b")]}, "'b'"),
    ],
)
def test_what_no_tree_can_have_is_one_sentence(search: str, rule: dict[str, Any], words: str) -> None:
    data = dependent_case({"a": 2, "b": 2, "c": 2, "d": 2}, n_rows=20, seed=1).data()
    with pytest.raises(ChoiceError) as told:
        sp.find(data, "bic", search=search, constraints=sp.Constraints(**rule))
    assert words in str(told.value) and "\n" not in str(told.value)


def test_one_parent_for_tan_is_naive_bayes_where_a_forest_will_do() -> None:
    data = dependent_case(SIZES, n_rows=40, seed=2).data()
    found = sp.find(data, "bic", search="tan", target="e", max_parents=1, forest=True)
    assert found.parents == {name: () if name == "e" else ("e",) for name in data.names}


# The same answer every time


@pytest.mark.parametrize("score", ["bdeu", "k2", "pcart", "fnml"])
def test_rows_levels_columns_and_threads_in_another_order(score: str) -> None:
    rng = random.Random(7)
    sizes = {name: 2 + i % 4 for i, name in enumerate("hcagbfed")}
    case = dependent_case(sizes, n_rows=300, seed=11)
    for search, options in (("chow-liu", {}), ("tan", {"target": "g"})):
        first = sp.find(case.data(), score, search=search, n_jobs=1, **options)
        for _ in range(6):
            rows = rng.sample(range(300), 300)
            other = case.with_rows_in_order(rows).with_columns_in_order(rng.sample(case.names, 8))
            for name in other.names:
                turned = rng.sample(range(sizes[name]), sizes[name])
                other = other.with_column(name, [turned[code] for code in other.columns[name]])
            found = sp.find(other.data(), score, search=search, n_jobs=2, **options)
            assert found.parents == first.parents


def test_equal_columns_are_a_tie_that_names_decide() -> None:
    base = dependent_case({"b": 3, "c": 2, "d": 3}, n_rows=80, seed=2)
    case = Case({**base.sizes, "a": 3}, {**base.columns, "a": base.columns["b"]})
    found = sp.find(case.data(), "bic", search="chow-liu")
    assert found.parents["b"] == ("a",) and found.parents["a"] == () and "b" not in found.parents["c"]


# Lists of families


@pytest.mark.parametrize("score", ["bdeu", "fnml", "mit", "pcart", "ft"])
def test_a_list_of_families_is_scored_as_each_alone(score: str) -> None:
    """Whatever order and company, and with an entry twice."""
    rng = random.Random(1)
    data = mixed(80, 4) if score in ("pcart", "ft") else dependent_case(SIZES, n_rows=70, seed=6).data()
    every = [(c, p) for c in data.names for k in range(4) for p in permutations(sorted(set(data.names) - {c}), k)]
    families = [(child, tuple(sorted(parents))) for child, parents in rng.choices(every, k=60)]
    together = sp.local_scores(data, families, score)
    for family, value in zip(families, together, strict=True):
        assert value == pytest.approx(sp.local_score(data, *family, score), rel=1e-12)


@pytest.mark.parametrize(("search", "options"), [("tan", {"target": "a"}), ("chow-liu", {})])
def test_scoring_past_the_time_limit_gives_the_best_of_what_was_scored(search: str, options: dict[str, str]) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20_000, 16)), columns=list("abcdefghijklmnop"))
    data = sp.Dataset.from_frame(frame.assign(a=np.where(frame["a"] > 0, "yes", "no")))
    found = sp.find(data, "ft", search=search, time_limit=0.01, n_jobs=1, **options)
    # Columns that there was no time to cut are no parents, and families without parents are scored in no time.
    assert found.stopped == "time limit" or any("no time to cut" in note for note in found.notes)
    assert all(len(own) <= 2 for own in found.parents.values())
    assert found.score == pytest.approx(sp.score(data, found.parents, "ft"), rel=1e-9)


def test_the_best_tree_is_not_called_a_local_search(tmp_path, capsys) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "x,u,p\ny,v,q\nx,v,p\ny,u,q\n" * 5)
    for search in ("chow-liu", "tan(target=a)"):
        assert main(["learn", str(path), "--search", search]) == 0
        assert "no proof (the best tree; other networks may score more)" in capsys.readouterr().out
