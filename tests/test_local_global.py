"""The search `local-global` (Figure 5 of the paper): arcs come from splits, over all nodes at once.

In:  small tables of every kind.
Out: fast == slow, with every set of operators and every constraint; the network that comes out is the one that was
found, without arcs that change nothing; the same whatever the threads, the hash seed, the order of rows and columns."""

from __future__ import annotations

import json
import os
import random
import subprocess
from dataclasses import replace
from itertools import pairwise
from math import comb, log
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.decision_graphs import (
    OPERATORS,
    Columns,
    Family,
    Leaves,
    choice,
    depends,
    descendants,
    network_ends,
)
from slow.graphs import acyclic
from slow.trees import CATEGORICAL, CONTINUOUS, ORDINAL, Column, dataset, discrete, numbers
from spinney.errors import ChoiceError
from test_decision_graphs import graph_of
from test_laws import spinney_command
from test_trees import columns

NEAR = {"rel": 1e-10, "abs": 1e-9}
ALL_OPERATORS = pytest.mark.parametrize("operators", OPERATORS)


def twin(
    table: dict[str, Column], leaves: Leaves, candidates: dict[str, list[str]] | None = None, **rest: Any
) -> Columns:
    possible = {
        child: tuple(sorted(set(table if candidates is None else candidates.get(child, table)) - {child}))
        for child in table
    }
    families = {
        child: Family(table[child], [table[parent] for parent in possible[child]], leaves) for child in sorted(table)
    }
    return Columns(families, possible, **rest)


def plain(parents: Any) -> dict[str, frozenset[str]]:
    return {child: frozenset(own) for child, own in parents.items()}


def twins_agree(columns: Columns, result: Any) -> bool:
    """The network is one that the search can end with. False where equal gains lead to more than the twin follows."""
    ended = network_ends(columns)
    if ended is None:
        return False
    found = plain(result.found.parents)
    matching = [end for end in ended if plain(end.parents) == found]
    assert matching, (found, result.found.score, [(dict(end.parents), columns.score(end)) for end in ended])
    assert any(result.found.score == pytest.approx(columns.score(end), **NEAR) for end in matching)
    assert_whole(columns, result)
    return True


def assert_whole(columns: Columns, result: Any) -> None:
    """The network is the one found: the same DAG, the same score, graphs that give it, no arc for nothing."""
    assert acyclic(result.found.parents)
    assert result.network.score == pytest.approx(result.found.score, **NEAR)
    assert plain(result.network.parents) == plain(result.found.parents)
    for child, of in columns.families.items():
        model = result.network.models[child]
        own = [of.parents[columns.candidates[child].index(parent)] for parent in model.parents]
        small = Family(of.child, own, of.leaves)
        graph = graph_of(model, small)
        assert small.score(graph) + columns.by_size(len(own)) == pytest.approx(model.score, **NEAR)
        for place, parent in enumerate(model.parents):
            assert depends(graph, place) or parent in columns.required.get(child, ())


def mixed_table(seed: int, n_rows: int = 50) -> dict[str, Column]:
    """Five columns, each but the first two leaning on two earlier ones; one of them is continuous, one ordinal."""
    rng = random.Random(seed)
    codes: dict[str, list[int]] = {}
    for name, size in {"a": 2, "b": 3, "c": 3, "d": 2}.items():
        earlier = sorted(codes)[-2:] if len(codes) > 1 else []
        codes[name] = [
            rng.randrange(size) if not earlier or rng.random() < 0.2 else sum(codes[e][row] for e in earlier) % size
            for row in range(n_rows)
        ]
    kinds = {"a": CATEGORICAL, "b": ORDINAL, "c": CATEGORICAL, "d": CATEGORICAL}
    table = {name: discrete(kinds[name], own, max(own) + 1) for name, own in codes.items()}
    table["e"] = numbers([rng.gauss(2.0 * (codes["b"][row] == 1), 0.5) for row in range(n_rows)])
    return table


def learned(table: dict[str, Column], asked: Any, **rest: Any) -> Any:
    """A time limit, because a search that goes round in circles would take all memory."""
    usual = {"max_parents": None, "n_jobs": 1, "time_limit": 3.0}
    result = sp.learn(dataset(table), score=asked, search="local-global", **{**usual, **rest})
    assert not result.found.stopped, result.found.stopped
    return result


# Fast == slow


@ALL_OPERATORS
@pytest.mark.parametrize("leaves", [Leaves(bins=3), Leaves("upn", 5.0, bins=2)], ids=["uniform", "upn"])
def test_equals_slow_twin(operators, leaves):
    for seed in range(4):
        table = mixed_table(seed)
        slow = twin(table, leaves, operators=operators)
        assert twins_agree(slow, learned(table, choice(leaves, operators)))


@ALL_OPERATORS
@settings(max_examples=15)
@given(draw=st.data())
def test_any_small_table_equals_slow_twin(operators, draw):
    n_rows = draw.draw(st.integers(1, 12))
    kinds = draw.draw(
        st.lists(st.sampled_from([CATEGORICAL, CATEGORICAL, ORDINAL, CONTINUOUS]), min_size=1, max_size=3)
    )
    table = {f"v{i}": draw.draw(columns(kind, n_rows, top_size=3)) for i, kind in enumerate(kinds)}
    leaves = draw.draw(
        st.sampled_from([Leaves(bins=2), Leaves("upn", 2.0, bins=2), Leaves(log_kappa=log(0.5), bins=3)])
    )
    slow = twin(table, leaves, operators=operators)
    assume(twins_agree(slow, learned(table, choice(leaves, operators))))


@pytest.mark.parametrize("prior", ["sizes", "kappa(k=0.3)"])
def test_a_prior_on_parent_sets_takes_part(prior):
    per_parameter = log(0.3) if prior.startswith("kappa") else 0.0

    def by_size(size: int) -> float:
        return 0.0 if per_parameter else -log(comb(4, size))

    for seed in range(3):
        table = mixed_table(seed)
        slow = twin(table, Leaves(bins=3, log_kappa=per_parameter), by_size=by_size)
        result = learned(table, sp.Graph(bins=3), prior=prior)
        assert twins_agree(slow, result)


@pytest.mark.parametrize("prior", ["uniform", "sizes", "binomial(r=1.5)", "kappa(k=0.3)"])
def test_no_step_lowers_the_score_and_the_search_ends(prior):
    """Also where the prior likes more parents, so that an arc for nothing is worth something (sizes: 2 of 2)."""
    for seed in range(12):
        rng = random.Random(seed)
        table = {name: discrete(CATEGORICAL, [rng.randrange(2) for _ in range(12)], 2) for name in "abc"}
        found = learned(table, "graph", prior=prior).found
        values = [value for _, value, _ in found.trace]
        assert all(after > before for before, after in pairwise(values)), seed
        assert values[-1] == pytest.approx(found.score, **NEAR)


# What the user knows


def test_constraints_and_candidates_equal_slow_twin():
    for seed in range(3):
        table, leaves = mixed_table(seed), Leaves(bins=3)
        asked = choice(leaves)
        for given_to_both, constraints, rest in (
            ({"most": 1}, None, {"max_parents": 1}),
            ({"candidates": {"c": ["a", "e"], "d": []}}, None, {"candidates": {"c": ["a", "e"], "d": []}}),
            (
                {"candidates": {"a": [], "b": [], "c": ["a", "b"], "d": ["a", "b"], "e": ["a", "b", "c", "d"]}},
                sp.Constraints(
                    tiers=[["a", "b"], ["c", "d"], ["e"]],
                    forbidden=[("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")],
                ),
                {},
            ),
            ({"required": {"a": frozenset("e")}}, sp.Constraints(required=[("e", "a")]), {}),
        ):
            slow = twin(table, leaves, **given_to_both)  # type: ignore[arg-type]
            result = learned(table, asked, constraints=constraints, **rest)
            assert twins_agree(slow, result)


def test_tiers_hold_and_an_order_can_be_given():
    table = mixed_table(5)
    order = ["e", "d", "c", "b", "a"]
    result = learned(table, "graph", constraints=sp.Constraints(tiers=[[name] for name in order]))
    assert all(order.index(parent) < order.index(child) for parent, child in result.network.edges)
    alike = learned(table, "graph", candidates={child: order[:i] for i, child in enumerate(order)})
    assert alike.network.parents == result.network.parents


def test_more_rows_of_freedom_never_score_less_at_the_first_step_than_no_arcs():
    for seed in range(5):
        table = mixed_table(seed)
        data = dataset(table)
        assert learned(table, "graph").found.score >= sp.score(data, {}, score="graph") - 1e-9


# The same answer every time


def test_no_order_and_no_number_of_threads_changes_the_network():
    for seed in range(4):
        table = mixed_table(seed)
        expected = learned(table, "graph")
        order = random.Random(seed).sample(range(50), 50)
        shuffled = {name: replace(c, values=tuple(c.values[row] for row in order)) for name, c in table.items()}
        for other, jobs in ((table, 2), (dict(reversed(table.items())), 1), (shuffled, 2)):
            again = learned(other, "graph", n_jobs=jobs)
            assert again.network.parents == expected.network.parents
            assert again.found.score == pytest.approx(expected.found.score, rel=1e-12)


def test_the_command_gives_the_same_bytes_whatever_the_hash_seed_and_the_threads(tmp_path):
    table = {name: column for name, column in mixed_table(6).items() if column.kind != CONTINUOUS}
    rows = zip(*([f"{name}{code}" for code in column.values] for name, column in table.items()), strict=True)
    file = tmp_path / "table.csv"
    file.write_text("\n".join([",".join(table), *(",".join(row) for row in rows)]) + "\n")
    answers = []
    for hash_seed, jobs in (("0", "1"), ("1", "2")):
        done = subprocess.run(
            [
                *(spinney_command(), "learn", str(file), "--score", "graph", "--search", "local-global"),
                *("--json", "--n-jobs", jobs),
            ],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr.decode()
        answers.append(done.stdout)
    assert isinstance(json.loads(answers[0]), dict)
    assert answers[0] == answers[1]


# The result


def test_a_learned_network_comes_back_from_its_file_and_predicts(tmp_path):
    table = mixed_table(7)
    data = dataset(table)
    network = learned(table, "graph").network
    network.save(tmp_path / "net.json")
    back = sp.Network.load(tmp_path / "net.json")
    assert back == network and (back.log_prob(data) == network.log_prob(data)).all()
    assert set(network.sample(20, seed=1).names) == set(table)


def test_an_arc_whose_parent_no_longer_matters_is_not_kept():
    """Many tables with merges: the fitted graphs are asked about every parent."""
    for seed in range(30):
        rng = random.Random(100 + seed)
        table = {name: discrete(CATEGORICAL, [rng.randrange(3) for _ in range(25)], 3) for name in "abcd"}
        slow = twin(table, Leaves("upn", 20.0))
        assert_whole(slow, learned(table, choice(Leaves("upn", 20.0))))


def test_it_is_a_search_for_decision_graphs_only():
    table = mixed_table(8)
    discrete_only = {name: column for name, column in table.items() if column.kind != CONTINUOUS}
    for score in ("bdeu", "pcart"):
        with pytest.raises(ChoiceError) as caught:
            sp.learn(dataset(discrete_only), score=score, search="local-global")
        assert "graph" in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(ChoiceError, match="leave optimal=True out"):
        sp.learn(dataset(table), score="graph(optimal=True)", search="local-global")
    sets = sp.score_parent_sets(dataset(discrete_only), "graph", max_parents=1)
    with pytest.raises(ChoiceError):
        sp.search(sets, method="local-global")


def test_the_twin_knows_descendants():
    parents = {"a": [], "b": ["a"], "c": ["b"], "d": ["a", "c"], "e": []}
    assert descendants(parents, "b") == {"c", "d"} and descendants(parents, "e") == set()
    assert descendants(parents, "a") == {"b", "c", "d"}
