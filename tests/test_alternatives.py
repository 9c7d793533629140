"""The k best networks, an early end at a gap, and a start, against all DAGs.

In:  random lists of parent sets over a few variables.
Out: the same scores, in the same order, as when every network is written down."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

import spinney as sp
from slow.graphs import acyclic, all_dags, equivalence_class
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
    with pytest.raises(sp.SpinneyError, match=r"0\.0 GiB are free or allowed; use method='ilp'"):
        sp.search(hard(), method="dp", memory_limit=1e-6)
    assert sp.search(hard(), method="ilp", memory_limit=1e-6).optimal


def test_k_is_for_exact_searches() -> None:
    with pytest.raises(ChoiceError, match="hc has no option 'k'"):
        sp.search(hard(), method="hc", k=2)


# from data: nothing that may be in the second best network is left out


def small_table(seed: int, n: int, rows: int = 60) -> sp.Dataset:
    rng = random.Random(seed)
    names = "abcde"[:n]
    columns: dict[str, list[str]] = {name: [] for name in names}
    for _ in range(rows):
        before = 0
        for name in names:
            before = (before if rng.random() < 0.7 else rng.randrange(3)) % (2 if name in "ad" else 3)
            columns[name].append(str(before))
    return sp.Dataset.from_frame(columns, kinds=dict.fromkeys(names, "categorical"))


def ranked(data: sp.Dataset, score: str, by_class: bool) -> list[float]:
    """The totals of all DAGs, best first; or of the best DAG of every equivalence class."""
    names = list(data.names)
    families = [
        (child, own)
        for child in names
        for size in range(len(names))
        for own in itertools.combinations([name for name in names if name != child], size)
    ]
    local = dict(zip(families, sp.local_scores(data, families, score), strict=True))
    best: dict[object, float] = {}
    for place, dag in enumerate(all_dags(names)):
        total = sum(local[child, own] for child, own in dag.items())
        key = equivalence_class(dag) if by_class else place
        best[key] = max(total, best.get(key, total))
    return sorted(best.values(), reverse=True)


@pytest.mark.parametrize("distinct", ["networks", "classes"])
@pytest.mark.parametrize("method", ["dp", "exact"])
@pytest.mark.parametrize(
    ("score", "seed", "n"), [("bdeu", 1, 4), ("bdeu", 2, 5), ("bic", 3, 4), ("k2", 4, 4), ("k2", 5, 5), ("pcart", 6, 4)]
)
def test_learn_gives_the_true_k_best(score: str, seed: int, n: int, method: str, distinct: str) -> None:
    data = small_table(seed, n)
    k = 12 if distinct == "networks" else 6
    found = sp.learn(data, score, search=method, max_parents=None, k=k, distinct=distinct).found
    networks = [found.parents, *(other.parents for other in found.alternatives)]
    totals = [found.score, *(other.score for other in found.alternatives)]
    assert totals == pytest.approx(ranked(data, score, distinct == "classes")[:k], abs=1e-8)
    keys = [
        equivalence_class(parents) if distinct == "classes" else tuple(sorted(parents.items())) for parents in networks
    ]
    assert len(set(keys)) == k
    for total, parents in zip(totals, networks, strict=True):
        assert acyclic(parents) and sp.score(data, parents, score) == pytest.approx(total, abs=1e-8)
    assert found.notes == ()


def test_from_a_pruned_list_it_is_said_that_networks_may_be_missing(tmp_path: Path) -> None:
    data = small_table(7, 4)
    sets = sp.score_parent_sets(data)
    sets.write(tmp_path / "pruned.jkl")
    whole = sp.score_parent_sets(data, prune=False)
    whole.write(tmp_path / "whole.jkl")
    assert len(sets) < len(whole)
    for listed in (sets, sp.ParentSets.read(tmp_path / "pruned.jkl")):
        assert "was pruned" in " ".join(sp.search(listed, k=2).as_dict()["notes"])
        assert sp.search(listed, k=1).notes == ()
    for listed in (whole, sp.ParentSets.read(tmp_path / "whole.jkl")):
        assert sp.search(listed, k=2).notes == ()
    unmarked = (tmp_path / "pruned.jkl").read_text().split("#")[0]  # as another program would write it
    (tmp_path / "other.jkl").write_text(unmarked)
    assert "if the list" in " ".join(sp.search(sp.ParentSets.read(tmp_path / "other.jkl"), k=2).notes)


def test_the_clinic_has_its_fifth_best_network() -> None:
    """An outside figure: all networks over the families of up to three parents, scored without pruning."""
    data = sp.Dataset.read(Path(__file__).parent.parent / "examples" / "clinic.csv")
    found = sp.learn(data, "bdeu", k=5).found
    assert found.score - found.alternatives[3].score == pytest.approx(7.20, abs=0.005)
