"""Corners of the searches where a tolerance, a limit or a fallback could give a wrong answer.

In:  small lists and tables.
Out: the best network, or one sentence."""

from __future__ import annotations

import os
import random
import time

import pandas as pd
import pytest

import spinney as sp
from spinney.errors import SpinneyError


@pytest.mark.parametrize("method", ["dp", "ilp"])
def test_a_listed_set_that_nobody_would_take_does_not_blur_the_others(method: str) -> None:
    lists = {
        "a": [((), -1.0), (("b",), -0.9975), (("c",), -1e10)],
        "b": [((), -1.0), (("a",), -0.999), (("c",), -1e10)],
        "c": [((), -1.0), (("a", "b"), -1e10)],
    }
    found = sp.search(sp.ParentSets.from_lists(lists), method=method)
    assert found.optimal and found.score == pytest.approx(-2.9975, abs=1e-12)


def table(columns: int, rows: int, seed: int = 1) -> sp.Dataset:
    rng = random.Random(seed)
    return sp.Dataset.from_frame(
        pd.DataFrame({f"x{i:02}": [rng.choice("abc") for _ in range(rows)] for i in range(columns)})
    )


def test_auto_does_not_forget_what_was_asked_for() -> None:
    """k is an option of exact searches alone: too little time for all sets does not turn it into tabu."""
    found = sp.find(table(24, 400), max_parents=4, search="auto", k=3, time_limit=0.05)
    assert "tabu" not in found.method and found.stopped and "within the time limit" in found.over


def test_few_rows_and_many_families_keep_the_time_limit() -> None:
    began = time.perf_counter()
    sets = sp.score_parent_sets(table(45, 20), score="qnml", max_parents=4, time_limit=0.1, n_jobs=1)
    assert time.perf_counter() - began < 30  # without an end it would take minutes
    assert sets.unscored > 0 and all(sets.of(child)[-1][0] == () for child in sets.names)


def test_an_optimal_network_was_not_stopped() -> None:
    for seed in range(20):
        rng = random.Random(seed)
        names = [f"v{i}" for i in range(9)]
        lists = {
            child: [((), -5.0), *(((p,), -5 * rng.random()) for p in names if p != child and rng.random() < 0.6)]
            for child in names
        }
        found = sp.search(sp.ParentSets.from_lists(lists), method="ilp", k=2)
        assert found.optimal and not found.stopped and len(found.alternatives) == 1


def test_scores_too_large_to_add_up_are_refused() -> None:
    with pytest.raises(SpinneyError, match="between -1e15"):
        sp.ParentSets.from_lists({"a": [((), -1e308)], "b": [((), 1e308)]})


@pytest.mark.parametrize("kind", ["categorical", "ordinal"])
@pytest.mark.parametrize("child", ["categorical", "ordinal", "continuous"])
def test_unseen_levels_change_the_price_of_a_tree_and_not_the_tree(kind: str, child: str) -> None:
    """The same rows with levels that do not occur: the score is the price of leaves apart from c(P)."""
    rng = random.Random(3)
    codes = [rng.choice([0, 2, 3]) for _ in range(60)]
    other = [rng.choice([1, 2]) for _ in range(60)]
    values = [a + b + rng.random() for a, b in zip(codes, other, strict=True)]
    make = sp.Categorical if kind == "categorical" else sp.Ordinal
    own = {
        "categorical": sp.Categorical(["0", "1"]),
        "ordinal": sp.Ordinal(["0", "1"]),
        "continuous": sp.Continuous(),
    }[child]
    y = values if child == "continuous" else [str(int(v > 4)) for v in values]
    data = sp.Dataset.from_frame(
        pd.DataFrame({"p": [str(c) for c in codes], "q": [str(c) for c in other], "y": y}),
        kinds={"p": make(list("0123")), "q": make(list("0123")), "y": own},
    )
    score = sp.local_score(data, "y", ["p", "q"], "pcart")
    network = sp.fit(data, {"y": ["p", "q"], "p": [], "q": []}, "pcart")
    assert network.models["y"].score == pytest.approx(score, abs=1e-12)
    sets = sp.score_parent_sets(data, "pcart", prune=False, bounds=False)
    assert sets.score_of("y", ("p", "q")) == pytest.approx(score, abs=1e-12)


def test_small_differences_between_large_scores_count() -> None:
    lists = {
        "a": [((), -1e9), (("b",), -1e9 + 2e-4)],
        "b": [((), -1e9), (("a",), -1e9 + 4e-4)],
        "c": [((), -1e9)],
    }
    for method in ("dp", "ilp"):
        found = sp.search(sp.ParentSets.from_lists(lists), method=method)
        assert found.parents == {"a": (), "b": ("a",), "c": ()}


def pairs(n: int = 8) -> sp.ParentSets:
    rng = random.Random(4)
    names = [f"v{i}" for i in range(n)]
    lists = {child: [((), -5.0), *(((p,), -5 * rng.random()) for p in names if p != child)] for child in names}
    return sp.ParentSets.from_lists(lists)


def test_k_best_keeps_the_time_limit() -> None:
    began = time.perf_counter()
    limit = 3.0 if "SPINNEY_SANITIZER" in os.environ else 1.0  # within which there are some
    found = sp.search(pairs(), method="dp", k=100_000, time_limit=limit)
    assert found.optimal and found.stopped == "time limit" and found.alternatives
    assert time.perf_counter() - began < 30  # all of them would take hours
    scores = [other.score for other in found.alternatives]
    assert scores == sorted(scores, reverse=True)


def test_ctrl_c_keeps_the_networks_so_far() -> None:
    def progress(what: str, done: int, total: int) -> None:
        if what.startswith("network 3"):
            raise KeyboardInterrupt

    found = sp.search(pairs(), method="dp", k=50, progress=progress)
    assert found.optimal and found.stopped == "interrupted" and len(found.alternatives) == 2


def test_a_long_chain_as_a_start_is_no_work() -> None:
    names = [f"v{i:04}" for i in range(2000)]
    lists = {name: [((), -1.0), *([((names[i + 1],), -0.5)] if i + 1 < 2000 else [])] for i, name in enumerate(names)}
    start = {name: (names[i + 1],) for i, name in enumerate(names[:-1])}
    found = sp.search(sp.ParentSets.from_lists(lists), method="ilp", start=start, time_limit=20)
    assert found.optimal and found.score == pytest.approx(-0.5 * 1999 - 1)


def test_constraints_in_another_shape_are_refused_everywhere() -> None:
    data, wrong = table(3, 20), {"required": [("x00", "x01")]}
    sets = sp.score_parent_sets(data)
    for call in (
        lambda: sp.learn(data, constraints=wrong),
        lambda: sp.score_parent_sets(data, constraints=wrong),
        lambda: sp.search(sets, constraints=wrong),
    ):
        with pytest.raises(SpinneyError, match=r"sp\.Constraints"):
            call()
