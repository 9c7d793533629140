"""Fitted trees: what `fit` returns is the tree that `local_score` scored.

In:  random mixed tables.
Out: the leaves of the fitted partition, scored again by the slow twins, give the local score."""

from __future__ import annotations

import numpy as np
import pytest

import spinney as sp
from slow.leaves import leaf as leaf_twin
from spinney import _core


def mixed(rows: int, seed: int) -> sp.Dataset:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=rows), rng.exponential(size=rows)
    g = rng.integers(0, 4, rows)
    grade = np.clip((x > 0.2).astype(int) + (g == 2) + rng.integers(0, 2, rows), 0, 3)
    y = np.where(g == 1, z, -x) + rng.normal(size=rows) * 0.3
    frame = {"x": x, "z": z, "g": [f"g{v}" for v in g], "grade": [f"{v}" for v in grade], "y": y * 100 + 7}
    return sp.Dataset.from_frame(frame, kinds={"grade": sp.Ordinal(["0", "1", "2", "3"])})


def prior_of(data: sp.Dataset, parents: list[str], splits: int) -> tuple[float, float]:
    shapes = [(data.kinds[p].word, len(data.levels(p)) if data.kinds[p].discrete else splits) for p in sorted(parents)]
    return _core.tree_prior(shapes)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("child", ["x", "g", "grade", "y"])
def test_the_leaves_of_the_fitted_tree_give_the_score(child, seed):
    data = mixed(120, seed)
    parents = [n for n in data.names if n != child][: 2 + seed % 3]
    network = sp.fit(data, {child: parents}, score="pcart(max_splits=3)")
    tree = network.models[child]
    score = sp.local_score(data, child, parents, score="pcart(max_splits=3)")
    assert tree.score == score
    price, normaliser = prior_of(data, parents, 3)
    leaf = tree.leaf_of(data)
    if data.kinds[child].discrete:
        column, levels = data.codes(child).tolist(), len(data.levels(child))
    else:
        column, levels = ((data.values(child) - tree.shift) / tree.scale).tolist(), 0
    total = normaliser
    for number in range(len(tree.sums)):
        inside = [v for v, at in zip(column, leaf, strict=True) if at == number]
        total += price + leaf_twin(data.kinds[child].word, inside, levels)
        assert tree.sums[number].sum() == pytest.approx(len(inside)) or not data.kinds[child].discrete
    assert total == pytest.approx(score, rel=1e-9)


def test_a_parent_of_one_level_among_continuous_ones():
    x = np.random.default_rng(5).normal(size=60)
    data = sp.Dataset.from_frame({"x": x, "one": ["a"] * 60, "y": np.sign(x) * 3}, keep_all=True)
    tree = sp.fit(data, {"y": ["one", "x"]}, score="pcart").models["y"]
    assert tree.score == sp.local_score(data, "y", ["one", "x"], score="pcart")
    assert len(tree.sums) > 1


@pytest.mark.parametrize("score", ["pcart", "ft"])
def test_the_walk_on_a_mixed_table(score, tmp_path):
    data = mixed(200, 11)
    result = sp.learn(data, score=score, prior="sizes", max_parents=2)
    assert result.found.optimal
    assert result.network.score == pytest.approx(result.found.score, rel=1e-12)
    for child, model in result.network.models.items():
        assert model.score == sp.local_score(data, child, result.found.parents[child], score=score, prior="sizes")
    result.network.save(tmp_path / "net.json")
    assert sp.Network.load(tmp_path / "net.json") == result.network
    assert np.isfinite(result.network.log_prob(data)).all()
    fresh = result.network.sample(50, seed=3)
    assert np.isfinite(result.network.log_prob(fresh)).all()


@pytest.mark.parametrize("score", ["pcart", "ft"])
@pytest.mark.parametrize("method", ["hc", "tabu"])
def test_greedy_search_over_trees_is_never_better_than_exact(score, method):
    data = mixed(100, 5)
    best = sp.find(data, score=score, search="dp", max_parents=2)
    found = sp.find(data, score=score, search=method, max_parents=2)
    assert found.score <= best.score + 1e-9
    assert found.score == pytest.approx(sp.score(data, found.parents, score=score), rel=1e-10)


def test_threads_change_nothing():
    data = mixed(150, 2)
    one, two = (sp.score_parent_sets(data, "pcart", max_parents=3, n_jobs=n) for n in (1, 2))
    assert one == two


@pytest.mark.parametrize("prior", ["ebic", "kappa(0.5)"])
def test_priors_that_count_parameters_are_refused(prior):
    with pytest.raises(sp.ChoiceError, match="count parameters"):
        sp.local_score(mixed(20, 0), "y", ["x"], score="pcart", prior=prior)


def test_too_many_continuous_parents_for_trees():
    rng = np.random.default_rng(0)
    data = sp.Dataset.from_frame({f"v{i}": rng.normal(size=8) for i in range(9)})
    with pytest.raises(sp.LimitError, match="continuous parents"):
        sp.local_score(data, "v0", data.names[1:], score="pcart(max_splits=1)")
    sets = sp.score_parent_sets(data, score="pcart(max_splits=1)", max_parents=8, prune=False)
    assert sets.left_out == 9 * (8 + 1)  # sets of seven and eight
    assert max(len(parents) for _, parents, _ in sets) == 6
    assert "fit into memory" in sets.over
