"""The k best networks, an early end at a gap, and a start, against all DAGs.

In:  random lists of parent sets over a few variables.
Out: the same scores, in the same order, as when every network is written down."""

from __future__ import annotations

import itertools
import random

import pytest

import spinney as sp
from slow.graphs import acyclic
from spinney.errors import ChoiceError

Lists = dict[str, list[tuple[tuple[str, ...], float]]]


def lists_of(seed: int, n: int = 4, steps: bool = False) -> Lists:
    rng = random.Random(seed)
    names = "abcdef"[:n]
    return {
        child: [
            (own, float(-rng.randint(0, 3)) if steps else -10 * rng.random())
            for size in range(3)
            for own in itertools.combinations([p for p in names if p != child], size)
            if size == 0 or rng.random() < 0.7
        ]
        for child in names
    }


def all_networks(lists: Lists) -> list[float]:
    names = sorted(lists)
    totals = [
        sum(score for _, score in chosen)
        for chosen in itertools.product(*(lists[name] for name in names))
        if acyclic({name: own for name, (own, _) in zip(names, chosen, strict=True)})
    ]
    return sorted(totals, reverse=True)


@pytest.mark.parametrize("method", ["dp", "ilp", "auto"])
@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_k_best_are_those_of_all_networks(seed: int, steps: bool, method: str) -> None:
    lists = lists_of(seed, 3 + seed % 2, steps)
    found = sp.search(sp.ParentSets.from_lists(lists), method=method, k=8)
    totals = [found.score, *(other.score for other in found.alternatives)]
    assert totals == pytest.approx(all_networks(lists)[:8], abs=1e-9)
    networks = [found.parents, *(other.parents for other in found.alternatives)]
    assert len({tuple(sorted(parents.items())) for parents in networks}) == 8
    for total, parents in zip(totals, networks, strict=True):
        assert acyclic(parents)
        assert total == pytest.approx(sum(dict(lists[child])[own] for child, own in parents.items()), abs=1e-9)


def test_fewer_networks_than_asked_for_are_all_there_are() -> None:
    lists: Lists = {"a": [((), -1.0), (("b",), -0.5)], "b": [((), -2.0), (("a",), -1.0)]}
    found = sp.search(sp.ParentSets.from_lists(lists), method="ilp", k=10)
    assert [found.score, *(o.score for o in found.alternatives)] == pytest.approx([-2.0, -2.5, -3.0])


def test_constraints_hold_for_every_alternative() -> None:
    lists = lists_of(3)
    rules = sp.Constraints(forbidden=[("a", "b")], tiers=[["c"], ["d"]])
    found = sp.search(sp.ParentSets.from_lists(lists), method="ilp", constraints=rules, k=6)
    assert len(found.alternatives) == 5
    for other in found.alternatives:
        assert "a" not in other.parents["b"] and "d" not in other.parents["c"]


def test_alternatives_stand_in_the_record() -> None:
    found = sp.search(sp.ParentSets.from_lists(lists_of(1)), method="dp", k=3)
    assert [other["score"] for other in found.as_dict()["alternatives"]] == [o.score for o in found.alternatives]


def hard(n: int = 18) -> sp.ParentSets:
    """Pairs and triples that pull in all directions: the bound without cycles is far off."""
    rng = random.Random(5)
    names = [f"v{i:02}" for i in range(n)]
    lists = {}
    for child in names:
        others = [p for p in names if p != child]
        sets = {(): -30.0}
        for _ in range(60):
            own = tuple(sorted(rng.sample(others, rng.randint(1, 3))))
            sets[own] = -20 * rng.random() - 3 * (3 - len(own))
        lists[child] = list(sets.items())
    return sp.ParentSets.from_lists(lists)


def test_a_gap_ends_the_search_with_a_true_bound() -> None:
    best = sp.search(hard(), method="ilp")
    assert best.optimal
    early = sp.search(hard(), method="ilp", gap=0.5)
    assert early.stopped == "gap reached" and not early.optimal
    assert early.gap <= 0.5 and early.score <= best.score <= early.bound


def test_a_start_that_is_the_best_is_kept() -> None:
    sets = hard()
    best = sp.search(sets, method="dp")
    again = sp.search(sets, method="ilp", start=best.parents, time_limit=1e-3)
    assert again.score >= best.score - 1e-9


def test_memory_that_dp_may_not_take() -> None:
    with pytest.raises(sp.SpinneyError, match=r"0\.0 GiB are free or allowed; use search='ilp'"):
        sp.search(hard(), method="dp", memory_limit=1e-6)
    assert sp.search(hard(), method="ilp", memory_limit=1e-6).optimal


def test_k_is_for_exact_searches() -> None:
    with pytest.raises(ChoiceError, match="hc has no option 'k'"):
        sp.search(hard(), method="hc", k=2)
