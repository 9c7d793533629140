"""Scores that are shared by jobs that differ by the prior on parent sets.

In:  tables of any kinds, two priors.
Out: the same sets, the same graphs and losses as without sharing, to the last digit; and nothing scored twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.methods import methods, shared_by, side_by_prior
from spinney.shared_scores import SharedScores


def frame(seed: int, rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, rows)
    x = rng.normal(a, 1.0)
    b = (x + rng.normal(0, 1, rows) > 1).astype(int)
    return pd.DataFrame({
        "a": np.array(["u", "v", "w"])[a], "x": x, "b": np.array(["no", "yes"])[b], "z": rng.normal(size=rows) + b,
        "c": np.array(["p", "q"])[rng.integers(0, 2, rows)], "y": rng.normal(size=rows) * x,
    })  # fmt: skip


@pytest.mark.parametrize("second", ["sizes", "binomial(r=2)"])
@pytest.mark.parametrize("score", ["pcart", "ft", "pcart(leaf=linear, structure_prior=False)", "pcart(average=True)"])
def test_sets_under_another_prior_are_those_without_sharing(score: str, second: str) -> None:
    for seed in range(4):
        data = sp.Dataset.from_frame(frame(seed))
        limits: dict[str, Any] = {"search": "exact", "max_parents": 4, "n_jobs": 1}
        shared = SharedScores()
        first = sp.learn(data, score, "uniform", store=shared, **limits)  # type: ignore[arg-type]
        found = sp.learn(data, score, second, store=shared, **limits)  # type: ignore[arg-type]
        for own, prior in ((first, "uniform"), (found, second)):
            alone = sp.learn(data, score, prior, **limits)
            assert own.sets == alone.sets and own.found.parents == alone.found.parents
            assert own.found.score == alone.found.score and own.network.score == alone.network.score
            assert own.found.notes == alone.found.notes
        assert first.sets is not None and found.sets is not None
        assert first.sets.known == 0 and found.sets.known > 0
        if score == "ft":  # no bounds: every family was scored by the first
            assert found.sets.scored == 0 and found.sets.known == found.sets.families


def test_candidates_of_their_own_share_nothing() -> None:
    data = sp.Dataset.from_frame(frame(1))
    shared, limits = SharedScores(), {"search": "exact", "max_parents": 2}
    sp.learn(data, "ft", "uniform", store=shared, **limits)  # type: ignore[arg-type]
    options: dict[str, Any] = {**limits, "candidates": {"x": ["a", "b"]}}
    found = sp.learn(data, "ft", "sizes", store=shared, **options)  # type: ignore[arg-type]
    assert found.sets == sp.learn(data, "ft", "sizes", **options).sets and found.sets is not None
    assert found.sets.known == 0


def test_other_scores_and_other_data_share_nothing() -> None:
    data, others = (sp.Dataset.from_frame(frame(seed)) for seed in (1, 2))
    shared, limits = SharedScores(), {"search": "exact", "max_parents": 2, "n_jobs": 1}
    for table, score in ((data, "ft"), (data, "pcart"), (data, "pcart(nu=2)"), (others, "ft"), (data, "ft")):
        for prior in ("uniform", "sizes"):
            found = sp.learn(table, score, prior, store=shared, **limits)  # type: ignore[arg-type]
            assert found.sets == sp.learn(table, score, prior, **limits).sets  # type: ignore[arg-type]


def test_those_that_differ_by_the_prior_alone_are_together() -> None:
    data = sp.Dataset.from_frame(frame(1))
    ways = methods(data, ["pcart", "ft", "pcart(nu=2)"], ["sizes", "uniform"], "exact")
    groups = side_by_prior(ways.values())
    assert [[str(own.choices["prior"].name) for own in group] for group in groups] == [["uniform", "sizes"]] * 3
    assert sorted(own.name for group in groups for own in group) == sorted(ways)
    assert all(shared_by(group) is not None for group in groups)
    alone = side_by_prior(methods(data, ["pcart", "ft"], "sizes", "exact").values())
    assert [len(group) for group in alone] == [1, 1] and shared_by(alone[0]) is None


def test_losses_and_distances_are_those_of_each_method_alone() -> None:
    data = sp.Dataset.from_frame(frame(2))
    ways: dict[str, Any] = {
        "PCARTp": {"score": "pcart", "prior": "sizes"}, "FT": "ft", "PCART": "pcart", "best": "best",
        "FTp": {"score": "ft", "prior": "sizes"}, "bestp": {"score": "best", "prior": "sizes"},
        "no parents": {"score": "ft", "max_parents": 0},
    }  # fmt: skip
    options: dict[str, Any] = {"search": "exact", "folds": 3, "repeats": 1, "seed": 4}
    together = sp.evaluate.log_loss(data, ways, **options)
    assert together.methods == tuple(ways)
    for name, own in ways.items():
        alone = sp.evaluate.log_loss(data, {name: own}, **options)
        assert np.array_equal(together.losses[name], alone.losses[name])
        assert together.columns[name].keys() == alone.columns[name].keys()
    several = sp.evaluate.stability(data, ways, search="exact", parts=(4, 2), repeats=2)
    turned = sp.evaluate.stability(data, dict(reversed(ways.items())), search="exact", parts=(4, 2), repeats=2)
    assert several.methods == tuple(ways)
    for name in ways:
        assert all(np.array_equal(several.distances[name][p], turned.distances[name][p]) for p in (4, 2))
