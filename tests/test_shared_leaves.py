"""pcart(ess=...) and ft(ess=...): categorical leaves that share out one pseudo-count.

In:  small mixed tables with a categorical child, with unseen levels and splits that leave a side empty.
Out: fast == slow; probabilities that sum to one; ft is bdeu on categorical columns; the fitted leaves' pseudo-counts
make up ess, give the score again, and come back from a file."""

from __future__ import annotations

import json
from itertools import product
from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.leaves import Hyper, categorical, leaf
from slow.trees import CATEGORICAL, CONTINUOUS, ORDINAL, best_tree, dataset, discrete, log_c, log_gamma, shape_of
from spinney.errors import ChoiceError, FileFormatError
from test_trees import KINDS, MIXES, NEAR, assert_twins_agree, dependent_table, fast, named, numbers, tables

SCORES = pytest.mark.parametrize("score", ["pcart(ess=3,max_splits=3)", "ft(ess=3,max_bins=4)"])


@pytest.mark.parametrize("mix", MIXES, ids="+".join)
@settings(max_examples=8)
@given(draw=st.data())
def test_equals_slow_twin(mix, draw):
    table = draw.draw(tables(CATEGORICAL, mix, rows=(1, 20)))
    assert_twins_agree(table, Hyper(ess=draw.draw(st.sampled_from([1e-3, 0.5, 1.0, 7.0, 1e4]))))


@pytest.mark.parametrize("ess", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("mix", [mix for mix in MIXES if mix], ids="+".join)
def test_equals_slow_twin_where_trees_are_worth_it(mix, ess):
    table = dependent_table(CATEGORICAL, mix, n_rows=80, seed=len(mix))
    assert best_tree(*table, Hyper(ess=ess))[1] > 1
    assert_twins_agree(table, Hyper(ess=ess))


@pytest.mark.parametrize(
    "parent",
    [discrete(CATEGORICAL, [2] * 9, 4), discrete(ORDINAL, [2] * 9, 4), numbers([0.3] * 9, 0.0, 1.0, 3)],
    ids=lambda parent: parent.kind,
)
def test_a_split_that_leaves_a_side_empty_can_gain(parent):
    """A smaller leaf has a sharper prior, which rows of one level like."""
    table = discrete(CATEGORICAL, [1] * 9, 3), [parent]
    assert_twins_agree(table, Hyper(ess=8.0))
    bare = sp.PCART(ess=8.0, max_splits=3, structure_prior=False)
    smallest = 1 / 8 if parent.kind == CONTINUOUS else 1 / 4
    assert fast(table, bare) == pytest.approx(leaf(CATEGORICAL, [1] * 9, 3, Hyper(ess=8.0), smallest), **NEAR)


def test_many_rows():
    rng = np.random.default_rng(3)
    parents = [discrete(CATEGORICAL, rng.integers(0, 3, 5000).tolist(), 3), discrete(ORDINAL, [1] * 5000, 3)]
    child = discrete(CATEGORICAL, np.where(rng.random(5000) < 0.7, parents[0].values, 3).tolist(), 4)
    assert_twins_agree((child, parents), Hyper(ess=50.0), near={"rel": 1e-10})


@pytest.mark.parametrize("ess", [0.2, 1.0, 30.0])
def test_leaves_and_tables_sum_to_one(ess):
    for part in (1.0, 0.25, 1 / 3):
        every = product(range(3), repeat=4)
        total = fsum(exp(leaf(CATEGORICAL, column, 3, Hyper(ess=ess), part)) for column in every)
        assert total == pytest.approx(1.0, abs=1e-12)
    _, parents = dependent_table(CATEGORICAL, (CATEGORICAL, ORDINAL), n_rows=5, seed=8)
    for score, some in ((sp.FT(max_bins=2, ess=ess), parents), (sp.PCART(ess=ess), [])):
        every = product(range(3), repeat=5)
        total = fsum(exp(fast((discrete(CATEGORICAL, column, 3), some), score)) for column in every)
        assert total == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("ess", [0.3, 1.0, 12.0])
@pytest.mark.parametrize("prior", ["uniform", "sizes"])
def test_full_tables_over_categorical_parents_are_bdeu(ess, prior):
    table = dependent_table(CATEGORICAL, (CATEGORICAL,) * 3, n_rows=60, seed=5)
    for size in range(4):
        some = table[0], table[1][:size]
        assert fast(some, sp.FT(ess=ess), prior=prior) == pytest.approx(
            fast(some, sp.BDeu(ess=ess), prior=prior), **NEAR
        )
    assert fast((table[0], []), sp.PCART(ess=ess)) == pytest.approx(fast((table[0], []), sp.BDeu(ess=ess)), **NEAR)


@pytest.mark.parametrize("kind", [ORDINAL, CONTINUOUS])
def test_other_children_do_not_read_it(kind):
    table = dependent_table(kind, (CATEGORICAL, ORDINAL, CONTINUOUS), n_rows=40, seed=6)
    for name in ("pcart", "ft"):
        assert fast(table, f"{name}(ess=5)") == fast(table, name)


@pytest.mark.parametrize("name", ["pcart", "ft"])
def test_it_is_a_number_of_at_least_0(name):
    table = dependent_table(CATEGORICAL, (CATEGORICAL,), n_rows=20, seed=6)
    assert fast(table, f"{name}(ess=0)") == fast(table, name)
    for wrong in ("-1", "nan", "inf", "much"):
        with pytest.raises(ChoiceError, match="ess must be a number of at least 0"):
            fast(table, f"{name}(ess={wrong})")


@SCORES
def test_bounds_and_searches(score):
    """Children of all kinds at once: bounds are off for those that share, greedy search is no better than exact."""
    data = dataset(named(dependent_table(CATEGORICAL, (CATEGORICAL, ORDINAL, CONTINUOUS, CATEGORICAL), 60, seed=7)))
    bounded, plain = (sp.score_parent_sets(data, score, max_parents=3, bounds=bounds) for bounds in (True, False))
    for child in data.names:
        assert dict(bounded.of(child)) == dict(plain.of(child))
        for parents, value in plain.of(child):
            assert value == pytest.approx(sp.local_score(data, child, parents, score=score), **NEAR)
    best = sp.find(data, score=score, search="dp", max_parents=2)
    found = sp.find(data, score=score, search="hc", max_parents=2)
    assert found.score <= best.score + 1e-9
    assert found.score == pytest.approx(sp.score(data, found.parents, score=score), **NEAR)


# What is fitted


@SCORES
@pytest.mark.parametrize("mix", [mix for mix in MIXES if len(mix) < 3], ids="+".join)
def test_the_fitted_leaves_share_ess_and_give_the_score(score, mix):
    child, parents = dependent_table(CATEGORICAL, mix, n_rows=70, seed=len(mix) + 20, s=3)
    data = dataset(named((child, parents)))
    names = [f"p{u}" for u in range(len(parents))]
    model = sp.fit(data, {"child": names}, score=score).models["child"]
    assert model.score == sp.local_score(data, "child", names, score=score)
    assert child.levels * model.alphas.sum() == pytest.approx(3.0, rel=1e-12)
    assert model.probabilities.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    weights = model.sums + model.alphas[:, None]
    assert model.probabilities == pytest.approx(weights / weights.sum(axis=1, keepdims=True), rel=1e-12)
    total = 0.0
    for counts, alpha in zip(model.sums.astype(int), model.alphas, strict=True):
        total += categorical(np.repeat(np.arange(child.levels), counts).tolist(), child.levels, Hyper(alpha=alpha))
    if score.startswith("pcart"):
        total += len(model.sums) * log_gamma(shape_of(parents)) + log_c(shape_of(parents))
    else:
        total -= log(3) * sum(parent.kind != CATEGORICAL for parent in parents)
    assert total == pytest.approx(model.score, rel=1e-9)


@SCORES
def test_a_network_comes_back_from_its_file(score, tmp_path):
    data = dataset(named(dependent_table(CATEGORICAL, KINDS, n_rows=60, seed=30)))
    network = sp.learn(data, score=score, max_parents=2).network
    network.save(tmp_path / "net.json")
    back = sp.Network.load(tmp_path / "net.json")
    assert back == network
    assert (back.log_prob(data) == network.log_prob(data)).all()
    assert {name for name in data.names if back.models[name].alphas is not None} == {"child", "p0"}


def test_alphas_of_a_file_are_checked(tmp_path):
    data = dataset(named(dependent_table(CATEGORICAL, (CATEGORICAL,), n_rows=60, seed=31)))
    path = tmp_path / "net.json"
    sp.fit(data, {"child": ["p0"]}, score="ft(ess=1)").save(path)
    whole = json.loads(path.read_text())
    (place,) = (i for i, node in enumerate(whole["nodes"]) if node["child"] == "child")
    for wrong, said in (([0.1], "one for each of 4 leaves"), ([0.1, 0.1, 0.1, 0.0], "numbers from above 0")):
        whole["nodes"][place]["alphas"] = wrong
        path.write_text(json.dumps(whole))
        with pytest.raises(FileFormatError, match=said):
            sp.Network.load(path)
