"""Best order score search, against grow-shrink in plain Python and against its own promises.

In:  scores of small tables, perfect scores of random graphs, constraints drawn at random.
Out: the projection of an order is the slow one; no single move betters the order it ends with; the class of the graph
under a perfect score; constraints honoured; the same whatever the threads and the order of the columns; a start is
never made worse; a network after a stop."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from slow.boss import moved, projected, total
from slow.graphs import acyclic
from slow.oracle import Oracle, random_dags
from spinney import _core
from spinney.constraints import allowed_by
from spinney.scores import build_source
from spinney.search import ges


def table(seed: int, n: int = 6, rows: int = 60, discrete: float = 0.5) -> sp.Dataset:
    """Columns that depend on some before them, about `discrete` of them with levels."""
    rng = np.random.default_rng(seed)
    columns: dict[str, np.ndarray] = {}
    values: list[np.ndarray] = []
    for i in range(n):
        value = rng.normal(size=rows) + sum(rng.choice([-1, 0, 0, 1]) * other for other in values)
        values.append(value / value.std())
        cut = rng.random() < discrete
        columns["abcdefgh"[i]] = np.array(["x", "y", "z"])[np.digitize(values[-1], [-0.5, 0.6])] if cut else values[-1]
    return sp.Dataset.from_frame(pa.table(columns))


def drawn_constraints(rng: np.random.Generator, names: list[str]) -> sp.Constraints:
    """Some required edges along a random order, some forbidden ones, at times tiers, at times a limit."""
    order = [names[i] for i in rng.permutation(len(names))]
    forward = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    required = [edge for edge in forward if rng.random() < 0.15]
    backward = [(b, a) for a, b in forward]
    forbidden = [edge for edge in (*forward, *backward) if edge not in required and rng.random() < 0.2]
    tiers = [order[: len(order) // 2], order[len(order) // 2 :]] if rng.random() < 0.4 else []
    most = max([sum(child == b for _, b in required) for child in names] + [int(rng.integers(1, 4))])
    return sp.Constraints(required, forbidden, tiers, most if rng.random() < 0.5 else None)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["cg", "bdeu", "pcart"]), st.booleans())
def test_the_projection_of_an_order_is_slow_grow_shrink(seed, score, constrained):
    rng = np.random.default_rng(seed)
    data = table(seed, int(rng.integers(1, 7)), discrete=1.0 if score == "bdeu" else 0.5)
    allowed = allowed_by(drawn_constraints(rng, list(data.names)) if constrained else None, data.names, None)
    source = build_source(data, score, "uniform")
    order = list(map(str, rng.permutation(data.names)))
    order.sort(key=lambda name: _depth(allowed.required, name))
    numbers = [allowed.index[name] for name in order]
    fast = _core.project_order(source.scores, allowed.for_core, numbers)
    slow = projected(_known(source), order, allowed.candidates, allowed.required, allowed.most)
    assert [tuple(allowed.names[p] for p in own) for own in fast] == [slow[child] for child in allowed.names]


def _depth(required, name) -> int:
    return 1 + max((_depth(required, p) for p in required[name]), default=0)


def _known(source):
    known: dict = {}

    def score(child, parents):
        if (child, parents) not in known:
            known[child, parents] = float(source.local_scores([(child, parents)])[0])
        return known[child, parents]

    return score


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0, 3]))
def test_no_single_move_betters_the_order(seed, constrained, patience):
    rng = np.random.default_rng(seed)
    data = table(seed, 5)
    allowed = allowed_by(drawn_constraints(rng, list(data.names)) if constrained else None, data.names, None)
    source = build_source(data, "cg", "uniform")
    found = _core.boss(source.scores, _core.BossArgs([], allowed.for_core, 0.0, 1, 2, patience, seed), None)
    score, order = _known(source), [allowed.names[v] for v in found["order"]]
    limits = allowed.candidates, allowed.required, allowed.most
    assert found["score"] >= total(score, projected(score, order, *limits)) - 1e-9
    for one in moved(order, allowed.required):
        assert total(score, projected(score, one, *limits)) <= found["score"] + 1e-6


def test_a_perfect_score_gives_the_class():
    for i, dag in enumerate(random_dags(500, seed=15)):
        oracle = Oracle(dag, seed=i)
        found = sp.find(oracle.data(), score=oracle.custom(), search="boss", max_parents=None, n_jobs=1)
        assert found.graph.cpdag() == oracle.cpdag(), dag


def test_constraints_are_honoured():
    tables = [table(seed) for seed in range(10)]
    for seed in range(500):
        rng, data = np.random.default_rng(seed), tables[seed % 10]
        limits = drawn_constraints(rng, list(data.names))
        found = sp.find(
            data, score="cg", search="boss", max_parents=None, constraints=limits, seed=seed, n_jobs=1, runs=2
        )
        allowed = allowed_by(limits, data.names)
        assert acyclic(found.parents)
        assert all(allowed.permits(child, own) for child, own in found.parents.items())


@pytest.mark.parametrize("score", ["cg", "pcart"])
def test_the_score_is_that_of_the_network_and_a_start_is_never_made_worse(score):
    data = table(3, 7, rows=100)
    result = sp.learn(data, score=score, search="boss", max_parents=None)
    assert result.found.score == pytest.approx(sp.score(data, result.found.parents, score=score), rel=1e-12)
    assert result.network.score == pytest.approx(result.found.score, rel=1e-12)
    again = sp.find(data, score=score, search="boss", max_parents=None, start=result.found.parents, patience=0)
    assert again.score >= result.found.score - 1e-9


@pytest.mark.parametrize("score", ["cg", "lr"])
def test_ges_polishes_the_result_and_makes_it_never_worse(score):
    """After a plain climb from a random order some results can be bettered; constraints hold, and the score is true."""
    better = 0
    for seed in range(30):
        rng, data = np.random.default_rng(seed), table(seed, 8)
        limits = drawn_constraints(rng, list(data.names)) if seed % 2 else None
        plain, polished = (
            sp.find(data, score=score, search="boss", constraints=limits, seed=seed, patience=0, polish=polish)
            for polish in (False, True)
        )
        assert polished.score >= plain.score
        better += polished.score > plain.score + 1e-6
        assert polished.cpdag is None and acyclic(polished.parents)
        allowed = allowed_by(limits, data.names)
        assert all(allowed.permits(child, own) for child, own in polished.parents.items())
        assert polished.score == pytest.approx(sp.score(data, polished.parents, score=score), rel=1e-12)
        assert [value for _, value, _ in polished.trace] == sorted(value for _, value, _ in polished.trace)
    assert better


@pytest.mark.parametrize(("score", "equivalent"), [("cg", True), ("bge", True), ("lr", False), ("pcart", False)])
def test_the_polish_is_taken_where_equivalent_graphs_score_the_same(score, equivalent, monkeypatch):
    data = table(7, 6, discrete=0.0) if score == "bge" else table(7, 6)
    plain, calls = ges.run, []

    def counted(problem):
        calls.append(problem)
        return plain(problem)

    monkeypatch.setattr(ges, "run", counted)
    taken = []
    for polish in ("auto", True, False):
        before = len(calls)
        sp.find(data, score=score, search="boss", seed=1, polish=polish)
        taken.append(len(calls) > before)
    assert taken == [equivalent, True, False]
    with pytest.raises(sp.ChoiceError, match="polish must be auto, True or False, not 'maybe'"):
        sp.find(data, score=score, search="boss", polish="maybe")


def test_listed_sets_are_searched_too():
    data = table(5, 7, rows=200)
    sets = sp.score_parent_sets(data, score="cg", max_parents=3)
    best = sp.search(sets, "dp")
    found = sp.search(sets, "boss", patience=20, runs=4)
    assert found.score <= best.score + 1e-9
    assert found.score >= best.score - 0.01 * abs(best.score)
    assert math.fsum(sets.score_of(child, own) for child, own in found.parents.items()) == pytest.approx(found.score)


def test_threads_and_the_order_of_columns_change_nothing():
    rng = np.random.default_rng(11)
    x = rng.normal(size=(150, 8)) @ rng.normal(size=(8, 8))
    columns = {"abcdefgh"[i]: x[:, i] for i in range(8)}
    backward = {name: columns[name] for name in reversed(columns)}
    answers = [
        sp.find(pa.table(table), score="cg", search="boss", runs=3, n_jobs=threads, seed=4)
        for table, threads in ((columns, 1), (columns, 2), (backward, 2))
    ]
    assert len({(str(sorted(found.parents.items())), found.score) for found in answers}) == 1


def test_hash_seeds_change_nothing():
    code = (
        "import numpy as np, pyarrow as pa, spinney as sp; r = np.random.default_rng(0); x = r.normal(size=(80, 6)); "
        "x[:, 3] += x[:, 1]; x[:, 5] += x[:, 3] - x[:, 0]; "
        "print(sp.find(pa.table({f'v{i}': x[:, i] for i in range(6)}), score='cg', search='boss').as_dict())"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


def large(rows: int = 2000, n: int = 60) -> sp.Dataset:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, n))
    for i in range(1, n):
        x[:, i] += x[:, rng.integers(0, i, 3)].sum(axis=1)
    return sp.Dataset.from_frame(pa.table({f"v{i:03}": x[:, i] / x[:, i].std() for i in range(n)}))


@pytest.mark.parametrize("score", ["cg", "pcart"])
def test_a_time_limit_gives_a_network(score):
    data = large(rows=500, n=30)
    for limit in (0.001, 0.3):
        found = sp.find(data, score=score, search="boss", patience=10**6, time_limit=limit)
        assert found.stopped == "time limit"
        assert acyclic(found.parents)
        assert found.score == pytest.approx(sp.score(data, found.parents, score=score), rel=1e-9)


def test_an_interrupt_gives_a_network():
    data = large()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        found = sp.find(data, score="cg", search="boss", patience=10**6, time_limit=60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.stopped == "interrupted"
    assert acyclic(found.parents)
    assert found.score == pytest.approx(sp.score(data, found.parents, score="cg"), rel=1e-9)
