"""compare: all pairs of DAGs on three nodes against a plain count, laws, and one case worked out by hand."""

from __future__ import annotations

import random
import sys
from itertools import combinations, permutations

import pytest

from slow.graphs import Parents, all_dags
from slow.oracle import d_separated
from spinney.compare import compare
from spinney.errors import ChoiceError
from spinney.graph import CPDAG, DAG


def mark(graph: DAG | CPDAG, a: str, b: str) -> str:
    """What a graph says about a pair: nothing, a line or an arrow."""
    arrows = set(graph.edges) if isinstance(graph, DAG) else graph.directed
    if (a, b) in arrows:
        return "->"
    if (b, a) in arrows:
        return "<-"
    return "--" if isinstance(graph, CPDAG) and frozenset((a, b)) in graph.undirected else ""


def plain_distance(one: DAG | CPDAG, other: DAG | CPDAG) -> int:
    return sum(mark(one, a, b) != mark(other, a, b) for a, b in combinations(one.names, 2))


DAGS = [DAG(("a", "b", "c"), parents) for parents in all_dags(["a", "b", "c"])]


@pytest.mark.parametrize("truth", DAGS)
def test_counts_and_distances_of_every_pair(truth: DAG) -> None:
    for learned in DAGS:
        result = compare(truth, learned)
        assert result.shd == plain_distance(truth.cpdag(), learned.cpdag()) == result.wd + result.fp + result.fn
        assert result.shd_dag == plain_distance(truth, learned)
        assert result.tp + result.wd + result.fn == len(truth.edges)
        assert result.tp + result.wd + result.fp == len(learned.edges)
        assert (result.shd == 0) == (truth.cpdag() == learned.cpdag())
        back = compare(learned, truth)
        assert (back.shd, back.shd_dag, back.f1) == (result.shd, result.shd_dag, result.f1)
        assert (back.fp, back.fn, back.precision, back.ahp) == (result.fn, result.fp, result.recall, result.ahr)
        assert 0 <= result.ahr <= result.ahr_common <= 1
        assert compare(truth.cpdag(), learned).shd == compare(truth, learned.cpdag()).shd == result.shd


@pytest.mark.parametrize("graph", [*DAGS, *(dag.cpdag() for dag in DAGS)])
def test_a_graph_equals_itself(graph: DAG | CPDAG) -> None:
    result = compare(graph, graph)
    assert (result.shd, result.wd, result.fp, result.fn) == (0, 0, 0, 0)
    assert {result.precision, result.recall, result.f1, result.ahp, result.ahr, result.ahr_common} == {1.0}


def test_worked_example() -> None:
    # Truth a -> c <- b, c -> d, all arrows compelled. Learned a -> c -> d and b -> d: c -> d <- b is the v-structure,
    # a - c is undirected in the CPDAG.
    truth = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"]}
    learned = DAG(("d", "c", "b", "a"), {"c": ["a"], "d": ["b", "c"]})
    result = compare(truth, learned)
    assert (result.tp, result.wd, result.fp, result.fn, result.shd, result.shd_dag) == (1, 1, 1, 1, 3, 2)
    assert (result.precision, result.recall, result.f1) == (2 / 3, 2 / 3, 2 / 3)
    assert (result.ahp, result.ahr, result.ahr_common) == (2 / 3, 2 / 3, 1.0)
    # Against the CPDAG, as papers report, the arrowhead at c of a -> c is not claimed.
    result = compare(truth, learned.cpdag())
    assert (result.ahp, result.ahr, result.ahr_common, result.shd_dag) == (1 / 2, 1 / 3, 1 / 2, None)


def test_the_four_ratios_of_andrews_ramsey_and_cooper_by_hand() -> None:
    # True: a -> c <- b, c -> d -> e. Learned: a -> c (right), c -> b (turned round), c - d (not directed), and
    # a -> d, b -> d, a -> e (not there); d - e is missed.
    truth = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": ["d"]}
    learned = CPDAG(tuple("abcde"), [("a", "c"), ("c", "b"), ("a", "d"), ("b", "d"), ("a", "e")], [("c", "d")])
    result = compare(truth, learned)
    assert result.ap == 3 / 6  # a-c, b-c and c-d of six learned adjacencies
    assert result.ar == 3 / 4  # the same of four true ones
    assert result.ahp == 1 / 5  # a -> c of five learned arrowheads
    assert result.ahr == 1 / 4  # of all true arrowheads, as the tables of the paper have it
    assert result.ahr_common == 1 / 3  # of those at found adjacencies, a-c, b-c, c-d, as the text of the paper has it
    # An arrowhead counts at its own end only: turned round it is neither found nor right.
    turned = compare({"a": [], "b": ["a"]}, {"a": ["b"], "b": []})
    assert (turned.ap, turned.ar, turned.ahp, turned.ahr, turned.ahr_common) == (1.0, 1.0, 0.0, 0.0, 0.0)
    # Nothing true was found: no arrowhead is at a found adjacency, and the two recalls part.
    elsewhere = compare({"a": [], "b": ["a"], "c": []}, {"a": [], "b": [], "c": ["a"]})
    assert (elsewhere.ahp, elsewhere.ahr, elsewhere.ahr_common) == (0.0, 0.0, 1.0)


def test_nothing_below_the_line_is_one() -> None:
    empty, arrow = DAG(("a", "b"), {}), DAG(("a", "b"), {"b": ["a"]})
    nothing_learned, nothing_true = compare(arrow, empty), compare(empty, arrow)
    assert (nothing_learned.precision, nothing_learned.recall, nothing_learned.f1) == (1.0, 0.0, 0.0)
    assert (nothing_true.precision, nothing_true.recall, nothing_true.f1) == (0.0, 1.0, 0.0)
    assert (nothing_learned.ahp, nothing_learned.ahr, nothing_learned.ahr_common) == (1.0, 0.0, 1.0)


def test_as_dict_has_every_number() -> None:
    found = compare(DAGS[3], DAGS[7]).as_dict()
    assert " ".join(found) == (
        "shd shd_dag tp wd fp fn precision recall f1 ahp ahr ahr_common sid parent_aid ancestor_aid oset_aid ap ar"
    )
    assert (found["ap"], found["ar"]) == (found["precision"], found["recall"])


def test_other_variables_are_refused() -> None:
    with pytest.raises(ChoiceError, match="'c' is the first"):
        compare({"a": [], "b": ["a"]}, {"a": [], "c": [], "b": []})
    with pytest.raises(ChoiceError, match="cannot compare a list"):
        compare([("a", "b")], {"a": []})  # type: ignore[arg-type]


# --- interventions ---------------------------------------------------------------------------------------------------


def descendants(parents: Parents, node: str) -> set[str]:
    found, todo = set(), {node}
    while todo:
        here = todo.pop()
        more = {child for child, own in parents.items() if here in own} - found
        found |= more
        todo |= more
    return found


def wrong_effects(truth: Parents, learned: Parents) -> int:
    """Peters and Bühlmann (2015): pairs (x, y) whose effect is wrong in the truth if one adjusts for the learned
    parents of x. Right are sets without a descendant of what lies on causal ways, that separate x and y once those ways
    are cut at x (Shpitser, VanderWeele and Robins 2010). A learned parent y has no effect from x."""
    wrong = 0
    for x, y in permutations(truth, 2):
        below = descendants(truth, x)
        if y in learned[x]:
            wrong += y in below
            continue
        causal = {node for node in below if node == y or y in descendants(truth, node)}
        forbidden = causal | {node for one in causal for node in descendants(truth, one)}
        cut = {child: tuple(p for p in own if p != x or child not in causal) for child, own in truth.items()}
        wrong += bool(forbidden & set(learned[x])) or not d_separated(cut, x, y, learned[x])
    return wrong


def test_effects_that_are_wrong_are_counted_as_by_hand() -> None:
    pytest.importorskip("gadjid")
    rng = random.Random(3)
    for names in (list("abc"), list("abcd")):
        graphs = all_dags(names)
        for _ in range(60):
            truth, learned = rng.choice(graphs), rng.choice(graphs)
            found = compare(truth, learned, interventions=True)
            assert found.sid == found.parent_aid == wrong_effects(truth, learned), (truth, learned)
            assert compare(truth, truth, interventions=True).sid == 0
            classes = compare(DAG(names, truth).cpdag(), DAG(names, learned).cpdag(), interventions=True)
            assert classes.sid is None and classes.parent_aid is not None
            assert (classes.shd == 0) <= (classes.parent_aid == classes.oset_aid == classes.ancestor_aid == 0)


def test_a_class_with_directions_of_constraints_is_refused_where_it_cannot_be_counted() -> None:
    pytest.importorskip("gadjid")
    known = CPDAG(("a", "b"), [("a", "b")], [])
    assert compare(known, known).shd == 0
    with pytest.raises(ChoiceError, match="directions that constraints gave"):
        compare(known, known, interventions=True)


def test_without_gadjid_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gadjid", None)
    with pytest.raises(ChoiceError, match="pip install gadjid"):
        compare(DAGS[3], DAGS[7], interventions=True)
