"""The table scores against their slow twins, family by family.

In:  random families: declared levels that never occur, empty configurations, single levels, one row, many parents.
Out: fast == slow; and the twins' own parts against their definitions."""

from __future__ import annotations

from itertools import pairwise
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.case import Case, cases, dependent_case
from slow.network import PlainNetwork, random_network
from slow.scores import (
    BDE,
    PRIORS,
    TWINS,
    choice,
    local_score,
    log_normaliser,
    network_score,
    normaliser_by_definition,
    qnml,
)
from spinney.errors import SpinneyError

SCORES = pytest.mark.parametrize("score", TWINS)
NEAR = {"rel": 1e-10, "abs": 1e-10}


@SCORES
@settings(max_examples=40)
@given(case=cases(columns=(1, 5), rows=(1, 14)), draw=st.data())
def test_equals_slow_twin(score, case, draw):
    data = case.data()
    child = draw.draw(st.sampled_from(case.names))
    others = sorted(set(case.names) - {child})
    parents = draw.draw(st.lists(st.sampled_from(others), unique=True) if others else st.just([]))
    fast = sp.local_score(data, child, parents, score=choice(score, case))
    assert fast == pytest.approx(local_score(case, child, parents, score), **NEAR)


@SCORES
def test_one_row(score):
    case = dependent_case({"a": 3, "b": 2, "c": 4}, n_rows=1, seed=1)
    for parents in ((), ("b",), ("b", "c")):
        fast = sp.local_score(case.data(), "a", parents, score=choice(score, case))
        assert fast == pytest.approx(local_score(case, "a", parents, score), **NEAR)


@SCORES
def test_single_level_child_and_parents(score):
    case = dependent_case({"a": 1, "b": 1, "c": 3}, n_rows=9, seed=2)
    for child, parents in (("a", ()), ("a", ("b",)), ("a", ("c",)), ("c", ("a", "b"))):
        fast = sp.local_score(case.data(), child, parents, score=choice(score, case))
        assert fast == pytest.approx(local_score(case, child, parents, score), **NEAR)


@SCORES
def test_a_child_of_one_level_holds_no_information(score):
    """Its column has probability 1 whatever the parents, it has no parameter, and nothing to share."""
    case = dependent_case({"a": 1, "b": 2, "c": 3}, n_rows=9, seed=2)
    assert sp.local_score(case.data(), "a", ["b", "c"], score=choice(score, case)) == pytest.approx(0.0, abs=1e-12)


@SCORES
def test_a_parent_of_one_level_changes_nothing(score):
    case = dependent_case({"a": 3, "b": 2, "c": 1}, n_rows=20, seed=3)
    with_it = sp.local_score(case.data(), "a", ["b", "c"], score=choice(score, case))
    assert with_it == pytest.approx(sp.local_score(case.data(), "a", ["b"], score=choice(score, case)), **NEAR)


@SCORES
def test_unseen_levels_are_counted_where_the_formula_says_so(score):
    case = dependent_case({"a": 3, "b": 4, "c": 3}, n_rows=25, seed=4, unseen=True)
    fast = sp.local_score(case.data(), "a", ["b", "c"], score=choice(score, case))
    assert fast == pytest.approx(local_score(case, "a", ["b", "c"], score), **NEAR)


@pytest.mark.parametrize("score", [name for name in TWINS if name != BDE])
def test_sparse_table_of_many_parents(score):
    """4^8 configurations, at most 60 of them seen."""
    case = dependent_case(dict.fromkeys("abcdefghx", 4), n_rows=60, seed=5, noise=0.9)
    parents = tuple("abcdefgh")
    fast = sp.local_score(case.data(), "x", parents, score=score)
    assert fast == pytest.approx(local_score(case, "x", parents, score), **NEAR)


def test_sparse_table_of_bde():
    """The twin sums the whole joint, so the table is smaller: 2^8 configurations, at most 20 seen."""
    case = dependent_case(dict.fromkeys("abcdefghx", 2), n_rows=20, seed=5, noise=0.9)
    prior = random_network(case)
    fast = sp.local_score(case.data(), "x", tuple("abcdefgh"), score=sp.BDe(network=prior.spinney(), ess=2.5))
    assert fast == pytest.approx(local_score(case, "x", tuple("abcdefgh"), BDE), **NEAR)


def test_a_prior_network_that_forbids_a_value_is_refused():
    """A Dirichlet needs positive pseudo-counts."""
    case = Case({"a": 2, "b": 2}, {"a": [0, 1, 1], "b": [0, 0, 1]})
    prior = PlainNetwork(case, {"a": (), "b": ()}, {"a": {(): [1.0, 0.0]}, "b": {(): [0.5, 0.5]}})
    with pytest.raises(SpinneyError):
        sp.local_score(case.data(), "a", ["b"], score=sp.BDe(network=prior.spinney(), ess=1.0))


@pytest.mark.parametrize("score", [name for name in TWINS if name not in (BDE, "qnml")])
def test_configurations_beyond_a_machine_word(score):
    """70 binary parents: 2^70 configurations (50 for mit, whose quantiles take longer).
    qnml's normaliser over that many cells is out of the twin's reach."""
    parents = tuple(f"p{number:02d}" for number in range(50 if score.startswith("mit") else 70))
    case = dependent_case({**dict.fromkeys(parents, 2), "x": 3}, n_rows=30, seed=6, noise=0.9)
    fast = sp.local_score(case.data(), "x", parents, score=score)
    assert fast == pytest.approx(local_score(case, "x", parents, score), rel=1e-9)


@pytest.mark.parametrize("score", ["ll", "k2", "bdeu(ess=1)", "bds(ess=1)", "fnml", "qnml"])
def test_many_rows(score):
    """Where lgamma and the NML normaliser may take their approximations."""
    case = dependent_case({"a": 4, "b": 3, "c": 2}, n_rows=20_000, seed=7)
    for parents in ((), ("b",), ("b", "c")):
        fast = sp.local_score(case.data(), "a", parents, score=score)
        assert fast == pytest.approx(local_score(case, "a", parents, score), rel=1e-9)


@pytest.mark.parametrize("rows", [1, 2, 3, 10, 99, 100, 101, 500, 999, 1000, 1001, 3000])
@pytest.mark.parametrize("levels", [2, 3, 7, 40])
def test_the_normaliser_alone(rows, levels):
    """A constant column has maximum likelihood 1: fnml is then minus the log normaliser and nothing else."""
    case = dependent_case({"a": levels}, n_rows=rows, seed=8).with_column("a", [0] * rows)
    fast = sp.local_score(case.data(), "a", [], score="fnml")
    assert fast == pytest.approx(-log_normaliser(levels, rows), rel=1e-9)
    assert sp.local_score(case.data(), "a", [], score="qnml") == pytest.approx(fast, rel=1e-9)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("score", ["bic", "bdeu(ess=1)"])
@settings(max_examples=15)
@given(case=cases(columns=(3, 5), rows=(2, 10)), draw=st.data())
def test_priors_equal_their_twins(prior, score, case, draw):
    child = draw.draw(st.sampled_from(case.names))
    parents = draw.draw(st.lists(st.sampled_from(sorted(set(case.names) - {child})), unique=True))
    fast = sp.local_score(case.data(), child, parents, score=score, prior=prior)
    assert fast == pytest.approx(local_score(case, child, parents, score, prior), **NEAR)


@pytest.mark.parametrize("prior", ["uniform", "sizes", "binomial(r=0.5)", "ebic(gamma=0.5)", "kappa(k=0.1)"])
def test_network_score_is_the_sum_of_its_families(prior):
    case = dependent_case({"a": 3, "b": 2, "c": 4, "d": 2}, n_rows=40, seed=9)
    parents = {"a": (), "b": ("a",), "c": ("a", "b"), "d": ("c",)}
    for score in TWINS:
        fast = sp.score(case.data(), parents, score=choice(score, case), prior=prior)
        assert fast == pytest.approx(network_score(case, parents, score, prior), **NEAR)


def test_a_string_and_an_object_are_the_same_choice():
    case = dependent_case({"a": 3, "b": 2, "c": 2}, n_rows=30, seed=10)
    data = case.data()
    pairs = [
        ("ll", sp.LL()), ("aic", sp.AIC()), ("bic", sp.BIC()), ("mdl", sp.MDL()), ("k2", sp.K2()),
        ("bd(alpha=0.25)", sp.BD(alpha=0.25)), ("bdeu(ess=3)", sp.BDeu(ess=3)), ("bds(ess=3)", sp.BDs(ess=3)),
        ("fnml", sp.FNML()), ("qnml", sp.QNML()), ("mit(alpha=0.95)", sp.MIT(alpha=0.95)), ("mit", sp.MIT(alpha=0.99)),
        ("bdeu", sp.BDeu(ess=1)),
    ]  # fmt: skip
    for text, thing in pairs:
        assert sp.local_score(data, "a", ["b"], score=text) == sp.local_score(data, "a", ["b"], score=thing), text


@pytest.mark.parametrize(
    ("child", "parents", "score", "prior"),
    [
        ("nobody", [], "bic", "uniform"),
        ("a", ["nobody"], "bic", "uniform"),
        ("a", ["a"], "bic", "uniform"),
        ("a", ["b", "b"], "bic", "uniform"),
        ("a", ["b"], "nothing", "uniform"),
        ("a", ["b"], "bdeu(ess=0)", "uniform"),
        ("a", ["b"], "bdeu(ess=-1)", "uniform"),
        ("a", ["b"], "bdeu(ess=nan)", "uniform"),
        ("a", ["b"], "bd(alpha=0)", "uniform"),
        ("a", ["b"], "bdeu(alpha=1)", "uniform"),
        ("a", ["b"], "mit(alpha=1)", "uniform"),
        ("a", ["b"], "mit(alpha=-0.1)", "uniform"),
        ("a", ["b"], "bic", "nothing"),
        ("a", ["b"], "bic", "kappa(k=0)"),
        ("a", ["b"], "bic", "kappa(k=2)"),
        ("a", ["b"], "bic", "binomial(r=0)"),
        ("a", ["b"], "bic", "binomial(r=5)"),
        ("a", ["b"], "bic", "ebic(gamma=-1)"),
    ],
)
def test_a_wrong_choice_is_one_sentence(child, parents, score, prior):
    case = dependent_case({"a": 3, "b": 2, "c": 2}, n_rows=30, seed=10)
    with pytest.raises(SpinneyError) as told:
        sp.local_score(case.data(), child, parents, score=score, prior=prior)
    assert len(str(told.value)) > 10 and "\n" not in str(told.value)


# The twins' own parts


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_the_twins_normaliser_is_its_definition(levels, rows):
    assert log_normaliser(levels, rows) == pytest.approx(log(normaliser_by_definition(levels, rows)), abs=1e-13)


def test_the_twins_long_normaliser_joins_the_short_one():
    """C(2, m) changes its arithmetic after 300 rows; there it grows by the same step on both sides."""
    steps = [log_normaliser(2, rows + 1) - log_normaliser(2, rows) for rows in (298, 299, 300, 301, 302)]
    bends = [(later - earlier) for earlier, later in pairwise(steps)]
    assert max(bends) - min(bends) < 1e-6


def test_qnml_of_a_whole_table_is_one_nml():
    """Over a complete DAG the quotients telescope to the NML of the joint table (Silander et al. 2018)."""
    case = dependent_case({"a": 2, "b": 3, "c": 2}, n_rows=15, seed=11)
    total = qnml(case, "a", ()) + qnml(case, "b", ("a",)) + qnml(case, "c", ("a", "b"))
    rows = list(zip(*case.columns.values(), strict=True))
    likelihood = sum(log(rows.count(row) / len(rows)) for row in rows)
    assert total == pytest.approx(likelihood - log_normaliser(12, 15), rel=1e-12)
