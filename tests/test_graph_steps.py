"""The steps of a growing decision graph: which operators there are, what each gains, and which is taken.

In:  small mixed tables that the slow twin can look through.
Out: the operators of every graph on the way are the twin's, no more and no fewer; every gain is the difference of two
full scores; greedy in turns ends where the twin can end."""

from __future__ import annotations

from dataclasses import replace
from math import log

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from slow.decision_graphs import OPERATORS, Leaves, choice, ends_in_turns, moves, offered
from slow.trees import CATEGORICAL, CONTINUOUS, ORDINAL, dataset
from spinney.scores import build_source
from test_decision_graphs import ALL_OPERATORS, LEAVES, case_of, family_of, fitted, graph_of
from test_trees import NEAR, Table, dependent_table, named, tables

SIZE = 2  # parents, for which all operators are tried


def assert_every_operator_gains_what_it_says(table: Table, leaves: Leaves, operators: str, steps: int) -> int:
    """All operators of the graph after so many steps; how many there are."""
    of, network = family_of(table, leaves)
    graphs = build_source(dataset(named(table), standardise=False), choice(leaves, operators, network=network))
    parents = [f"p{u}" for u in range(len(table[1]))]
    partition, listed = graphs.partial_graph("child", parents, steps)
    graph = graph_of(partition, of)
    now = of.score(graph)
    assert partition.score == pytest.approx(now, **NEAR)
    met = set()
    for number, (_, gain) in enumerate(listed):
        after = graph_of(graphs.partial_graph("child", parents, steps, number)[0], of)
        assert after != graph
        assert gain == pytest.approx(of.score(after) - now, rel=1e-9, abs=1e-9)
        met.add(after)
    assert met == {move.after for move in offered(of, graph, operators)}
    return len(listed)


@ALL_OPERATORS
@pytest.mark.parametrize("leaves", LEAVES, ids=lambda leaves: f"{leaves.prior}-{leaves.ess:g}")
@settings(max_examples=6)
@given(draw=st.data())
def test_every_operator_gains_the_difference_of_two_full_scores(leaves, operators, draw):
    table = draw.draw(tables(size=SIZE))
    assert_every_operator_gains_what_it_says(table, leaves, operators, draw.draw(st.integers(0, 4)))


@ALL_OPERATORS
@settings(max_examples=4)
@given(draw=st.data())
def test_every_operator_gains_it_with_a_prior_network(operators, draw):
    kind, mix = draw.draw(st.sampled_from([(CATEGORICAL, (CATEGORICAL, ORDINAL)), (ORDINAL, (CATEGORICAL,))]))
    table = draw.draw(tables(kind, mix))
    assume(case_of(table))
    assert_every_operator_gains_what_it_says(table, Leaves("pn", 3.0), operators, draw.draw(st.integers(0, 3)))


@ALL_OPERATORS
@pytest.mark.parametrize("kind", [CATEGORICAL, CONTINUOUS])
def test_every_operator_where_graphs_are_worth_it(kind, operators):
    table = dependent_table(kind, (CATEGORICAL, ORDINAL), 60, seed=5)
    for steps in range(0, 9, 2):
        assert assert_every_operator_gains_what_it_says(table, Leaves(bins=3), operators, steps) > 0


def test_gains_of_merged_leaves_count_every_box():
    """After merges a leaf is no box: its levels are those of all its boxes, its part their sum."""
    table = dependent_table(CATEGORICAL, (CATEGORICAL, CATEGORICAL, CATEGORICAL), 120, seed=3)
    leaves = Leaves("upn", 10.0)
    counts = [assert_every_operator_gains_what_it_says(table, leaves, "CBM", steps) for steps in (4, 8, -1)]
    assert len(set(counts)) > 1


@pytest.mark.parametrize("operators", [word for word in OPERATORS if "M" in word])
@pytest.mark.parametrize("leaves", [LEAVES[0], LEAVES[2], replace(LEAVES[0], log_kappa=log(0.5))])
@settings(max_examples=8)
@given(draw=st.data())
def test_splits_first_ends_where_the_twin_can_end(leaves, operators, draw):
    table = draw.draw(tables(size=SIZE))
    of, network = family_of(table, leaves)
    expected = ends_in_turns(of, operators, most=100)
    assume(expected is not None)
    model = fitted(table, choice(leaves, operators, network=network, steps="splits-first"))
    graph = graph_of(model, of)
    assert model.score == pytest.approx(of.score(graph), **NEAR)
    assert graph in expected


def test_splits_first_ends_elsewhere():
    """The two ways differ, and no operator gains where either ends."""
    table = dependent_table(CATEGORICAL, (CATEGORICAL, CATEGORICAL, ORDINAL), 200, seed=1)
    of, _ = family_of(table, Leaves())
    graphs = []
    for steps in ("best", "splits-first"):
        graphs.append(graph_of(fitted(table, choice(Leaves(), steps=steps)), of))
        assert max(move.gain for move in moves(of, graphs[-1])) <= 1e-9
    assert graphs[0] != graphs[1]
