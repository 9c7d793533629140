"""Search over orders, against dp and against its own promises.

In:  parent sets drawn at random or written by hand.
Out: mostly the optimum and never above it; a network of the listed sets; no single insertion betters its order; the
same whatever the number of threads; a start is never made worse."""

from __future__ import annotations

import os
import random
import signal
import threading
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.graphs import acyclic
from slow.parent_sets import write_jkl
from spinney import _core
from spinney.errors import ChoiceError

NAMES = "abcdefghijklmnopqrstuvwxyz"
Lists = dict[str, list[tuple[tuple[str, ...], float]]]


def drawn(n: int, seed: int, most: int = 3, empty: float = 1.0, candidates: int = 99, whole: bool = False) -> Lists:
    """Random lists; about half of all sets are there, the empty one at times; whole scores tie often."""
    rng = random.Random(seed)
    names = [f"v{i:04}" for i in range(n)] if n > len(NAMES) else list(NAMES[:n])
    lists: Lists = {}
    for child in names:
        others = [name for name in names if name != child]
        others = sorted(rng.sample(others, min(candidates, len(others))))
        sets = [s for k in range(1, most + 1) for s in combinations(others, k) if rng.random() < 0.5]
        if rng.random() < empty or not sets:
            sets.append(())
        lists[child] = [(s, float(rng.randrange(-5, 3) + len(s)) if whole else rng.gauss(len(s), 2)) for s in sets]
    return lists


@pytest.fixture
def read(tmp_path):
    def reading(lists: Lists) -> sp.ParentSets:
        path = tmp_path / "drawn.jkl"
        path.write_text(write_jkl(lists))
        return sp.ParentSets.read(path)

    return reading


def score_of_order(lists: Lists, order: list[str]) -> float:
    """By definition: every variable has the best listed set among those before it."""
    return sum(
        max((s for own, s in lists[v] if set(own) <= set(order[:i])), default=float("-inf"))
        for i, v in enumerate(order)
    )


def check(found: sp.Found, lists: Lists) -> None:
    assert list(found.parents) == sorted(lists)
    assert acyclic(found.parents)
    total = sum(dict(lists[child])[tuple(sorted(own))] for child, own in found.parents.items())
    assert found.score == pytest.approx(total, rel=1e-12, abs=1e-12), "the parents re-add to the score"
    assert found.bound >= found.score


# The optimum


@pytest.mark.parametrize("whole", [False, True], ids=["real", "ties"])
def test_mostly_the_optimum_and_never_above(read, whole):
    hits = 0
    for seed in range(60):
        lists = drawn(2 + seed % 6, seed, whole=whole)
        sets = read(lists)
        best, found = sp.search(sets, method="dp"), sp.search(sets, method="order", seed=seed)
        check(found, lists)
        assert found.score <= best.score + 1e-9
        assert found.bound >= best.score - 1e-9
        hits += found.score >= best.score - 1e-9
    assert hits >= 59


def test_the_optimum_where_sets_are_missing(read):
    """Without empty sets most orders are no network at all."""
    feasible = hits = 0
    for seed in range(60):
        lists = drawn(5, seed, empty=0.3)
        sets = read(lists)
        try:
            best = sp.search(sets, method="dp")
        except ChoiceError:
            with pytest.raises(ChoiceError, match="listed parent sets"):
                sp.search(sets, method="order")
            continue
        feasible += 1
        found = sp.search(sets, method="order")
        check(found, lists)
        assert found.score <= best.score + 1e-9
        hits += found.score >= best.score - 1e-9
    assert 10 <= feasible < 60 and hits >= feasible - 1


@settings(max_examples=30)
@given(n=st.integers(1, 12), seed=st.integers(0, 10**6), patience=st.sampled_from([0, 20]))
def test_no_single_insertion_betters_the_order(tmp_path_factory, n, seed, patience):
    lists = drawn(n, seed, most=2)
    path = tmp_path_factory.mktemp("drawn") / "drawn.jkl"
    path.write_text(write_jkl(lists))
    sets = sp.ParentSets.read(path)
    found = _core.order(sets.arrays, [], 1, patience, seed, 1, None, 0.0)
    order = [sets.names[v] for v in found["order"]]
    assert sorted(order) == sorted(lists)
    total = score_of_order(lists, order)
    parents = {sets.names[v]: tuple(sets.names[p] for p in own) for v, own in enumerate(found["parents"])}
    assert total == pytest.approx(sum(dict(lists[v])[own] for v, own in parents.items()), rel=1e-12, abs=1e-12)
    for v in order:
        rest = [u for u in order if u != v]
        for at in range(len(order)):
            assert score_of_order(lists, [*rest[:at], v, *rest[at:]]) <= total + 1e-9


def test_many_candidates_take_several_words(read):
    """A child with more than 64 candidates, among 150 variables; a chain whose order is known scores best."""
    names = [f"v{i:04}" for i in range(150)]
    rng = random.Random(5)
    mixed = rng.sample(names, len(names))
    place = {name: i for i, name in enumerate(mixed)}
    lists: Lists = {
        child: [
            ((), 0.0),
            *(
                ((other,), 1.0 if place[other] == place[child] - 1 else 0.5 * rng.random())
                for other in names
                if other != child
            ),
        ]
        for child in names
    }
    found = sp.search(read(lists), method="order(runs=1, patience=20)")
    check(found, lists)
    assert found.score == pytest.approx(149.0)
    assert all(found.parents[child] == ((mixed[place[child] - 1],) if place[child] else ()) for child in names)


# The same answer


def test_threads_do_not_matter(read):
    sets = read(drawn(12, 3, most=2))
    one, two, three = (sp.search(sets, method="order", n_jobs=jobs, seed=7) for jobs in (1, 2, 3))
    assert one.parents == two.parents == three.parents and one.score == two.score == three.score


def test_another_seed_takes_another_way(read):
    sets = read(drawn(60, 4, most=2, candidates=8))
    scores = {sp.search(sets, method="order(runs=1, patience=0)", seed=seed).score for seed in range(6)}
    assert len(scores) > 1, "the seed is heard"


def test_more_patience_and_more_runs_are_never_worse(read):
    sets = read(drawn(60, 4, most=2, candidates=8))
    plain = sp.search(sets, method="order(runs=1, patience=0)")
    patient = sp.search(sets, method="order(runs=1, patience=50)")
    many = sp.search(sets, method="order(runs=3, patience=50)")
    assert plain.score < patient.score <= many.score


# The start


def test_a_start_is_never_made_worse(read):
    for seed in range(10):
        lists = drawn(40, seed, most=2, candidates=6)
        sets = read(lists)
        start = sp.search(sets, method="order(runs=1, patience=5)", seed=seed)
        again = sp.search(sets, method="order(runs=1, patience=0)", seed=seed + 1, start=start.parents)
        elsewhere = sp.search(sets, method="order(runs=1, patience=0)", seed=seed + 1)
        assert again.score >= start.score - 1e-9
        assert again.score > elsewhere.score, "it began at the start and not at random"


def test_the_best_is_not_left(read):
    lists = drawn(10, 1, most=2)
    sets = read(lists)
    best = sp.search(sets, method="dp")
    found = sp.search(sets, method="order(runs=1, patience=0)", start=best.parents)
    assert found.score == pytest.approx(best.score, rel=1e-12)


# Ends


def test_a_time_limit_returns_the_best_so_far(read):
    lists = drawn(200, 2, most=2, candidates=10)
    sets = read(lists)
    found = sp.search(sets, method="order(runs=100, patience=100000)", time_limit=0.5)
    check(found, lists)
    assert found.stopped == "time limit" and found.seconds < 5
    scores = [score for _, score, _ in found.trace]
    assert scores == sorted(scores) and scores[-1] == pytest.approx(found.score)
    at_once = sp.search(sets, method="order", time_limit=1e-9)
    check(at_once, lists)
    assert at_once.stopped == "time limit"


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to itself, which needs a POSIX system")
def test_ctrl_c_returns_the_best_so_far(read):
    lists = drawn(200, 2, most=2, candidates=10)
    sets = read(lists)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    found = sp.search(sets, method="order(runs=100, patience=1000000)")
    timer.join()
    check(found, lists)
    assert found.stopped == "interrupted"


def test_progress_is_told(read):
    told: list[int] = []
    sets = read(drawn(200, 2, most=2, candidates=10))
    sp.search(
        sets, method="order(patience=100000)", time_limit=0.5, progress=lambda what, done, total: told.append(done)
    )
    assert told and told == sorted(told) and told[-1] > 0


def test_more_variables_than_dp_takes():
    rng = random.Random(1)
    columns: dict[str, list[str]] = {"c00": [rng.choice("xy") for _ in range(200)]}
    for i in range(1, 40):
        columns[f"c{i:02}"] = [value if rng.random() < 0.8 else rng.choice("xy") for value in columns[f"c{i - 1:02}"]]
    result = sp.learn(sp.Dataset.from_frame(columns), score="bic", search="order", max_parents=2)
    edges = {frozenset((child, p)) for child, own in result.network.parents.items() for p in own}
    chain = {frozenset((f"c{i - 1:02}", f"c{i:02}")) for i in range(1, 40)}
    assert len(edges & chain) >= 35
