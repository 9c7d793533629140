"""DAG and CPDAG: all DAGs on up to four nodes against plain definitions, and the checks at the door."""

from __future__ import annotations

from itertools import pairwise

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
