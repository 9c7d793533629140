"""Greedy equivalence search.

In:  scores that are random, perfect, or computed from small tables.
Out: it walks as the book says, ends in the CPDAG of a DAG, recovers the class from a perfect score, honours constraints
inside the search, and depends on nothing but scores and names."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import spinney as sp
from slow.case import dependent_case
from slow.ges import SlowGes
from slow.graphs import acyclic, all_dags, equivalence_class
from slow.oracle import Oracle, random_dag, random_dags

NAMES = ["a", "b", "c", "d", "e"]


def continuous(rows: int, names: list[str], seed: int) -> sp.Dataset:
    rng = np.random.default_rng(seed)
    return sp.Dataset.from_frame(pa.table({name: rng.normal(size=rows) for name in names}))


def set_score(seed: int, names: list[str], sparse: float):
    """Any function of sets makes an equivalent score: f(family) - f(parents)."""
    rng = np.random.default_rng(seed)
    values = {
        frozenset(own): float(rng.normal()) * 3 - sparse * size * size
        for size in range(len(names) + 1)
        for own in combinations(names, size)
    }
    return lambda child, parents: values[frozenset((child, *parents))] - values[frozenset(parents)]


def found_by_ges(names: list[str], score, equivalent: bool = True, **more):
    custom = sp.CustomScore(lambda data, child, parents: score(child, parents), equivalent=equivalent, model="bge")
    return sp.find(continuous(20, names, 0), score=custom, search="ges", **{"max_parents": None, "n_jobs": 1, **more})


def check(found) -> None:
    """What every answer owes: its class is that of its member."""
    assert acyclic(found.parents)
    assert found.cpdag == sp.DAG(tuple(found.parents), found.parents).cpdag()


# The book


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_equals_the_slow_twin(seed, extended):
    names = NAMES[: 3 + seed % 3]
    score = set_score(seed, names, sparse=(0.0, 0.3, 0.8)[seed // 3 % 3])
    found = found_by_ges(names, score, extended=extended)
    check(found)
    slow = SlowGes(names, score)
    number = slow.run(extended)
    assert found.score == pytest.approx(slow.total(number), abs=1e-9)
    assert equivalence_class(found.parents) in {equivalence_class(slow.parents(m)) for m in slow.lists[number]}


def test_the_slow_twin_makes_every_kind_of_step():
    kinds = {kind for seed in range(40) for kind, _ in _walk(seed).steps}
    assert kinds == {"delete", "turn", "insert"}


def _walk(seed: int) -> SlowGes:
    slow = SlowGes(NAMES[:4], set_score(seed, NAMES[:4], 0.3))
    slow.run()
    return slow


def test_forced_deletes_never_end_lower():
    gains = []
    for seed in range(30):
        score = set_score(seed, NAMES, 0.3)
        plain, extended = (found_by_ges(NAMES, score, extended=own).score for own in (False, True))
        gains.append(extended - plain)
    assert min(gains) >= -1e-9
    assert max(gains) > 0.1, "and sometimes higher"


# A perfect score


@pytest.mark.parametrize("part", range(5))
def test_a_perfect_score_recovers_the_class(part):
    for seed, parents in enumerate(random_dags(100, seed=part)):
        oracle = Oracle(parents, seed)
        found = sp.find(oracle.data(), score=oracle.custom(), search="ges", max_parents=None, n_jobs=1)
        assert found.cpdag == oracle.cpdag(), parents
        check(found)


# Equivalent scores


@pytest.mark.parametrize("score", ["bic", "bdeu", "qnml", "mn", "cg", "dg"])
def test_all_members_of_the_class_score_the_same(score):
    case = dependent_case({"b": 3, "a": 2, "d": 2, "c": 2}, n_rows=60, seed=3)
    data = case.data()
    found = sp.find(data, score=score, search="ges", max_parents=None)
    check(found)
    own = equivalence_class(found.parents)
    for parents in all_dags(sorted(case.names)):
        if equivalence_class(parents) == own:
            total = sum(sp.local_score(data, child, list(of), score) for child, of in parents.items())
            assert total == pytest.approx(found.score, rel=1e-9)


@pytest.mark.parametrize("score", ["k2", "pcart", "cgd", "mvp", "bf"])
def test_a_score_that_is_not_equivalent_ends_and_tells_the_score_of_its_member(score):
    rng = np.random.default_rng(2)
    a = rng.integers(0, 3, 80)
    x = a + rng.normal(size=80)
    table = {"a": pa.array(a.astype(str)), "x": x, "y": x**2 + rng.normal(size=80), "b": pa.array((x > 1).astype(str))}
    if score == "k2":
        table = {
            name: pa.array(np.where(np.asarray(v) == np.asarray(v)[0], "u", "w"))
            for name, v in table.items()
            if name in "ab"
        }
    data = sp.Dataset.from_frame(pa.table(table))
    found = sp.find(data, score=score, search="ges")
    check(found)
    total = sum(sp.local_score(data, child, list(own), score) for child, own in found.parents.items())
    assert total == pytest.approx(found.score, rel=1e-9)


def test_gains_that_are_not_those_of_the_member_lead_in_no_circle():
    """Where every operator was made that gains in the member that it is about, this climb had no end."""
    data = sp.simulate.mixed(100, 2, 200, seed=0).data
    found = sp.find(data, score="mvp", search="ges(extended=False)", time_limit=60)
    assert not found.stopped


# Constraints


def random_constraints(rng: np.random.Generator, names: list[str]) -> sp.Constraints:
    order = list(rng.permutation(names))
    pairs = [(order[i], order[j]) for j in range(len(order)) for i in range(j)]
    required = [pair for pair in pairs if rng.random() < 0.12]
    forbidden = [
        (b, a) if rng.random() < 0.6 else (a, b) for a, b in pairs if (a, b) not in required and rng.random() < 0.3
    ]
    cut = int(rng.integers(0, len(order)))
    tiers = [order[:cut], order[cut:]] if rng.random() < 0.4 and cut > 0 else []
    limit = int(rng.integers(1, 4))
    own = [sum(child == name for _, child in required) for name in names]
    most = {name: max(limit, n) for name, n in zip(names, own, strict=True)} if rng.random() < 0.5 else None
    return sp.Constraints(required=required, forbidden=forbidden, tiers=tiers, max_parents=most)


@pytest.mark.parametrize("part", range(5))
def test_constraints_are_honoured(part):
    rng = np.random.default_rng(part)
    edges = 0
    for _ in range(100):
        names = NAMES[: int(rng.integers(3, 6))]
        constraints = random_constraints(rng, names)
        allowed = constraints.allowed(names)
        score = set_score(int(rng.integers(1 << 30)), names, 0.2)
        found = found_by_ges(names, score, constraints=constraints)
        check(found)
        assert all(allowed.permits(child, own) for child, own in found.parents.items()), constraints
        assert found.score >= sum(score(c, allowed.required[c]) for c in names) - 1e-9, "never below the required edges"
        edges += sum(map(len, found.parents.values()))
    assert edges > 100


def test_one_limit_on_parents_holds_in_every_member():
    for seed in range(30):
        found = found_by_ges(NAMES, set_score(seed, NAMES, 0.0), max_parents=2)
        check(found)
        own = equivalence_class(found.parents)
        for parents in all_dags(NAMES):
            if equivalence_class(parents) == own:
                assert max(map(len, parents.values())) <= 2


def test_a_perfect_score_with_true_constraints_recovers_the_class():
    rng = np.random.default_rng(5)
    for seed in range(40):
        oracle = Oracle(random_dag(rng, 6, 2.5), seed)
        edges = [(parent, child) for child, own in oracle.parents.items() for parent in own]
        constraints = sp.Constraints(
            required=[edge for edge in edges if rng.random() < 0.3],
            forbidden=[(b, a) for a, b in edges if rng.random() < 0.3],
        )
        found = sp.find(
            oracle.data(), score=oracle.custom(), search="ges", max_parents=None, constraints=constraints, n_jobs=1
        )
        assert found.cpdag == oracle.cpdag()
        assert all(a in found.parents[b] for a, b in constraints.required)


# Where it starts, what it reads


def test_a_start_is_where_it_begins():
    oracle = Oracle(random_dag(np.random.default_rng(1), 6, 3), 1)
    plain = sp.find(oracle.data(), score=oracle.custom(), search="ges", max_parents=None)
    complete = {name: sorted(oracle.names)[:place] for place, name in enumerate(sorted(oracle.names))}
    for start in (oracle.parents, complete):
        found = sp.find(oracle.data(), score=oracle.custom(), search="ges", max_parents=None, start=start)
        assert found.cpdag == plain.cpdag == oracle.cpdag()


def test_scored_sets_serve_as_well_as_the_data():
    data = dependent_case({"b": 3, "a": 2, "d": 2, "c": 2, "e": 2}, n_rows=80, seed=7).data()
    asked = sp.find(data, score="bdeu", search="ges", max_parents=None)
    listed = sp.search(sp.score_parent_sets(data, score="bdeu", max_parents=4, prune=False), method="ges")
    check(listed)
    assert listed.score == pytest.approx(asked.score)
    assert listed.cpdag == asked.cpdag


def test_a_time_limit_returns_a_class():
    data = continuous(200, [f"x{i:03}" for i in range(150)], 1)
    found = sp.find(data, score="dg", search="ges", max_parents=None, time_limit=1e-3)
    check(found)
    assert found.stopped == "time limit"


# Nothing else matters


def mixed(seed: int, names: list[str]) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    columns: dict[str, object] = {}
    last = rng.normal(size=150)
    for place, name in enumerate(names):
        last = 0.7 * last + rng.normal(size=150)
        columns[name] = pa.array((last > 0).astype(str)) if place % 3 == 0 else last
    return columns


@pytest.mark.parametrize("score", ["cg", "dg", "mvp"])
def test_threads_and_the_order_of_columns_change_nothing(score):
    columns = mixed(1, [f"v{i:02}" for i in range(14)])
    backwards = dict(reversed(columns.items()))
    answers = [
        sp.find(sp.Dataset.from_frame(pa.table(own)), score=score, search="ges", n_jobs=jobs)
        for own, jobs in ((columns, 1), (columns, 3), (backwards, 2))
    ]
    assert len({(a.cpdag, a.score, tuple(sorted(a.parents.items()))) for a in answers}) == 1


def test_hash_seeds_change_nothing():
    code = (
        "import numpy as np, pyarrow as pa, spinney as sp\n"
        "r = np.random.default_rng(1); z = r.normal(size=(100, 1)); x = z + r.normal(size=(100, 9))\n"
        "d = sp.Dataset.from_frame(pa.table({f'v{i}': x[:, i] for i in range(9)}))\n"
        "f = sp.find(d, score='bge', search='ges'); print(sorted(f.parents.items()), repr(f.score))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1 and "v0" in answers.pop()
