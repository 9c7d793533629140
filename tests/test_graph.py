"""DAG and CPDAG: all small graphs against plain definitions, and the checks at the door."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slow.graphs import Parents, all_dags, equivalence_class
from spinney.errors import ChoiceError
from spinney.graph import CPDAG, DAG

NAMES = ("a", "b", "c", "d")


@pytest.mark.parametrize(("n", "dags", "classes"), [(1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185)])
def test_cpdag_of_every_dag_is_the_union_of_its_class(n: int, dags: int, classes: int) -> None:
    """Counts of DAGs: Robinson (1973); of classes: Gillispie & Perlman (2001)."""
    members: dict[tuple, list[Parents]] = {}
    for parents in all_dags(list(NAMES[:n])):
        members.setdefault(equivalence_class(parents), []).append(parents)
    assert sum(map(len, members.values())) == dags
    assert len(members) == classes
    seen = set()
    for (skeleton, _), group in members.items():
        arrows = [{(parent, child) for child, found in parents.items() for parent in found} for parents in group]
        always = frozenset(set.intersection(*arrows))
        expected = CPDAG(NAMES[:n], always, skeleton - {frozenset(arrow) for arrow in always})
        for parents in group:
            assert DAG(NAMES[:n], parents).cpdag() == expected
        seen.add(expected)
    assert len(seen) == classes


@st.composite
def random_dags(draw: st.DrawFn) -> DAG:
    n = draw(st.integers(1, 9))
    names = draw(st.lists(st.text(max_size=4), min_size=n, max_size=n, unique=True))
    parents = {name: draw(st.sets(st.sampled_from(names[:i]))) if i else set() for i, name in enumerate(names)}
    return DAG(draw(st.permutations(names)), parents)


@given(random_dags())
def test_order_puts_parents_first_and_breaks_ties_by_name(dag: DAG) -> None:
    done: set[str] = set()
    for name in dag.order():
        ready = [other for other in dag.names if other not in done and set(dag.parents[other]) <= done]
        assert name == min(ready)
        done.add(name)
    assert done == set(dag.names)


@given(random_dags())
def test_order_of_names_does_not_matter(dag: DAG) -> None:
    names = sorted(dag.names)
    again = DAG(names, {name: sorted(dag.parents[name]) for name in names})
    assert again == dag and hash(again) == hash(dag)
    assert again.order() == dag.order()
    assert again.cpdag() == dag.cpdag() and hash(again.cpdag()) == hash(dag.cpdag())


@given(random_dags())
def test_views_tell_the_same_edges(dag: DAG) -> None:
    assert dag.edges == sorted((p, c) for c in dag.names for p in dag.parents[c])
    assert dag.edges == sorted((p, c) for p, found in dag.children.items() for c in found)
    assert dag.skeleton() == {frozenset(edge) for edge in dag.edges} == dag.cpdag().skeleton()


def colliders(arrows: set[tuple[str, str]], skeleton: frozenset[frozenset[str]]) -> set[tuple[frozenset[str], str]]:
    """Pairs of parents that are not adjacent, with their child."""
    pairs = combinations(sorted(arrows), 2)
    return {(frozenset({a, b}), c) for (a, c), (b, d) in pairs if c == d and frozenset({a, b}) not in skeleton}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_an_extension_is_there_exactly_when_some_dag_is_one(n: int) -> None:
    """All graphs in which a pair is not joined, directed one way or the other, or undirected; all DAGs beside them."""
    names = NAMES[:n]
    dags = [{(p, c) for c, own in parents.items() for p in own} for parents in all_dags(list(names))]
    by_skeleton: dict[frozenset[frozenset[str]], list[set[tuple[str, str]]]] = {}
    for arrows in dags:
        by_skeleton.setdefault(frozenset(map(frozenset, arrows)), []).append(arrows)
    pairs, refused = list(combinations(names, 2)), 0
    for states in product(range(4), repeat=len(pairs)):
        joined = list(zip(pairs, states, strict=True))
        directed = {pair for pair, state in joined if state == 1} | {pair[::-1] for pair, state in joined if state == 2}
        graph = CPDAG(names, directed, [pair for pair, state in joined if state == 3])
        skeleton = graph.skeleton()
        right = [
            arrows
            for arrows in by_skeleton[skeleton]
            if directed <= arrows and colliders(arrows, skeleton) == colliders(directed, skeleton)
        ]
        if right:
            assert set(graph.extension().edges) in right
        else:
            refused += 1
            with pytest.raises(ChoiceError, match="no DAG has these"):
                graph.extension()
    assert bool(refused) == (n > 2)


def test_the_extension_of_every_class_on_five_nodes_is_in_it() -> None:
    """8,782 classes: Gillispie & Perlman (2001)."""
    names = (*NAMES, "e")
    classes = {DAG(names, parents).cpdag() for parents in all_dags(list(names))}
    assert len(classes) == 8782
    assert all(graph.extension().cpdag() == graph for graph in classes)


@given(random_dags(), st.randoms(use_true_random=False))
def test_the_extension_is_in_the_class_and_does_not_depend_on_the_order_of_names(dag: DAG, chance: Random) -> None:
    graph = dag.cpdag()
    member = graph.extension()
    assert member.cpdag() == graph
    names = list(graph.names)
    chance.shuffle(names)
    assert CPDAG(names, graph.directed, graph.undirected).extension().edges == member.edges


def test_an_extension_goes_to_the_later_name() -> None:
    assert CPDAG(["b", "a", "c"], [], [("a", "b"), ("b", "c")]).extension().edges == [("a", "b"), ("b", "c")]


def test_cycle_is_named() -> None:
    with pytest.raises(ChoiceError, match=r"cycle, 'b' -> 'c' -> 'd' -> 'b'"):
        DAG(("a", "b", "c", "d", "e"), {"b": ["a", "d"], "c": ["b"], "d": ["c"], "e": ["d"]})
    with pytest.raises(ChoiceError, match="'a' -> 'a'"):
        DAG(("a",), {"a": ["a"]})


@pytest.mark.parametrize(
    ("names", "parents", "word"),
    [
        (("a", "a"), {}, "twice"),
        (("a",), {"a": ["b"]}, "not among the names"),
        (("a",), {"b": []}, "not among the names"),
        (("a", "b"), {"b": ["a", "a"]}, "twice"),
        (("a", "b"), {"b": "a"}, "write a list"),
        ("ab", {}, "one text"),
    ],
)
def test_bad_graphs_are_refused(names: tuple[str, ...], parents: dict, word: str) -> None:
    with pytest.raises(ChoiceError, match=word):
        DAG(names, parents)


def test_bad_cpdags_are_refused() -> None:
    with pytest.raises(ChoiceError, match="two different names"):
        CPDAG(("a",), [("a", "b")], [])
    with pytest.raises(ChoiceError, match="joined twice"):
        CPDAG(("a", "b"), [("a", "b")], [("a", "b")])


def test_long_chain_is_no_deep_recursion() -> None:
    names = [f"x{i:05d}" for i in range(5000)]
    chain = DAG(names, {b: [a] for a, b in pairwise(names)})
    assert chain.order() == tuple(names)
    assert len(chain.cpdag().undirected) == 4999
