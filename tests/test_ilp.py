"""Exact search by clusters, against dynamic programming and against all DAGs.

In:  random lists of parent sets: with ties, forced cycles of best sets, equal scores, no empty sets, huge scores.
Out: the same optimum whatever stages are there; a true bound at any moment."""

from __future__ import annotations

import dataclasses
import random
import signal
from math import inf

import pytest

import spinney as sp
from slow.graphs import acyclic, all_masks
from spinney.errors import SpinneyError
from spinney.job import Job
from spinney.machine import threads_for
from spinney.search import branch, ilp, relaxation
from spinney.search.found import Problem
from spinney.search.ilp import STAGES

KINDS = ["plain", "dense", "ties", "equal", "cycles", "no empty sets", "huge", "required"]
Lists = dict[str, list[tuple[tuple[str, ...], float]]]


def instance(seed: int, kind: str, n: int | None = None) -> Lists:
    """Random lists over 2 to 8 variables."""
    rng = random.Random(f"{kind} {seed}")
    names = "abcdefgh"[: n or (8 if kind == "dense" else rng.randint(2, 8))]
    lists: Lists = {}
    for v, child in enumerate(names):
        others = [name for name in names if name != child]
        sets = {() if kind != "no empty sets" or v == 0 or rng.random() < 0.3 else (others[0],)}
        if kind == "no empty sets":
            sets = {tuple(sorted(rng.sample(names[:v], min(v, rng.randint(1, 2)))))}  # one order is always there
        if kind == "cycles" and len(names) > 1:
            sets.add((names[(v + 1) % len(names)],))
        for _ in range(40 if kind == "dense" else rng.randint(1, 12)):
            sets.add(tuple(sorted(rng.sample(others, rng.randint(0, min(4, len(others)))))))
        if kind == "required" and child == names[-1]:
            sets = {tuple(sorted({*own, names[0]})) for own in sets}
        lists[child] = [(own, score(rng, kind, own, names, v)) for own in sorted(sets)]
    return lists


def score(rng: random.Random, kind: str, own: tuple[str, ...], names: str, v: int) -> float:
    if kind == "ties":
        return float(-rng.randint(0, 3))
    if kind == "equal":
        return -1.5
    if kind == "cycles" and own == (names[(v + 1) % len(names)],):
        return 0.0
    if kind == "huge":
        return -1e6 - rng.randint(0, 100) * 1e-4
    return (-10 if kind == "dense" else -20) * rng.random() + 4 * len(own)


def solved(lists: Lists, stages=STAGES, **limits) -> sp.Found:
    sets = sp.ParentSets.from_lists(lists)
    choice = sp.catalog.choose_search("ilp")
    of_job = {name: limits.pop(name) for name in ("threads", "seed", "progress") if name in limits}
    job = Job(sp.Constraints().allowed(sets.names), **{"threads": threads_for(1), **of_job})
    return ilp.solve(dataclasses.replace(Problem(job, choice, sets=sets), **limits), stages)


def check(found, lists: Lists) -> None:
    assert acyclic(found.parents)
    total = sum(dict(lists[child])[parents] for child, parents in found.parents.items())
    assert found.score == pytest.approx(total, rel=1e-14, abs=1e-12), "the parents re-add to the score"
    assert found.bound >= found.score
    times, scores, bounds = zip(*found.trace, strict=True)
    assert list(times) == sorted(times)
    assert all(bound >= found.score for bound in bounds) and all(score <= found.bound for score in scores)


def brute(lists: Lists) -> float:
    names = sorted(lists)
    tables = [{frozenset(own): value for own, value in lists[name]} for name in names]
    best = -inf
    for masks in all_masks(len(names)):
        own = [frozenset(names[p] for p in range(len(names)) if mask >> p & 1) for mask in masks]
        best = max(best, sum(table.get(parents, -inf) for table, parents in zip(tables, own, strict=True)))
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_equals_dp_on_500_random_lists(kind):
    for seed in range(63):  # times eight kinds
        lists = instance(seed, kind)
        best = sp.search(sp.ParentSets.from_lists(lists), method="dp").score
        found = solved(lists)
        check(found, lists)
        assert found.optimal and found.bound == found.score
        assert found.score == pytest.approx(best, rel=1e-13, abs=1e-9), (kind, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_best_of_all_dags(kind):
    for seed in range(8):
        lists = instance(seed, kind, n=2 + seed % 3)
        assert solved(lists).score == pytest.approx(brute(lists), rel=1e-13, abs=1e-9), (kind, seed)


@pytest.mark.parametrize(
    "stages", [("branch",), ("lp", "branch"), ("ascent", "branch"), ("climb", "lp", "branch"), ("dp",)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_stage_alone_reaches_the_same_optimum(kind, stages):
    """Without dp the other stages see small lists too; without climbs they must find the optimum themselves."""
    for seed in range(10):
        lists = instance(seed, kind)
        best = sp.search(sp.ParentSets.from_lists(lists), method="dp").score
        found = solved(lists, stages)
        check(found, lists)
        assert found.optimal, (kind, seed)
        assert found.score == pytest.approx(best, rel=1e-13, abs=1e-6), (kind, seed)


@pytest.mark.parametrize("stages", [(), ("climb",), ("climb", "ascent"), ("lp",), ("ascent", "lp")])
def test_a_stage_that_settles_nothing_leaves_a_true_bound(stages):
    for seed in range(40):
        lists = instance(seed, "cycles")
        best = sp.search(sp.ParentSets.from_lists(lists), method="dp").score
        found = solved(lists, stages)
        check(found, lists)
        assert found.bound >= best - 1e-9


def test_stopped_at_random_moments_the_bound_is_true():
    rng = random.Random(1)
    for seed in range(40):
        lists = instance(seed, "dense")
        best = sp.search(sp.ParentSets.from_lists(lists), method="dp").score
        found = solved(lists, ("ascent", "lp", "branch"), time_limit=10 ** rng.uniform(-5, -1.5))
        check(found, lists)
        assert found.bound >= best - 1e-9 and found.score <= best + 1e-9
        assert found.optimal or found.stopped == "time limit"


def large(n: int, seed: int = 1) -> Lists:
    rng = random.Random(seed)
    names = [f"v{i:02}" for i in range(n)]
    lists: Lists = {}
    for name in names:
        others = [other for other in names if other != name]
        sets = {(), *(tuple(sorted(rng.sample(others, rng.randint(1, 3)))) for _ in range(40))}
        lists[name] = [(own, len(own) * 5 - 10 * rng.random()) for own in sorted(sets)]
    return lists


@pytest.mark.parametrize("at", [1, 6])
def test_ctrl_c_returns_the_best_so_far(at):
    lists, heard = tangled(45), []

    def progress(what: str, done: int, total: int) -> None:
        heard.append(what)
        if len(heard) == at:  # in the middle of the work, whatever the machine
            signal.raise_signal(signal.SIGINT)

    found = sp.search(sp.ParentSets.from_lists(lists), method="ilp", n_jobs=1, progress=progress)
    assert len(heard) >= at
    check(found, lists)
    assert found.stopped == "interrupted" and not found.optimal


def test_threads_and_repetition_do_not_matter():
    lists = large(14)
    one = solved(lists)
    for threads in (1, 3):
        again = solved(lists, threads=threads)
        assert again.parents == one.parents and again.score == one.score and again.optimal


def tangled(n: int, seed: int = 1) -> Lists:
    """So many sets that pull in all directions that the linear program and the tree take long."""
    rng = random.Random(seed)
    names = [f"v{i:02}" for i in range(n)]
    lists: Lists = {}
    for name in names:
        others = [other for other in names if other != name]
        sets = {(), *(tuple(sorted(rng.sample(others, rng.randint(1, 3)))) for _ in range(150))}
        lists[name] = [(own, 0.3 * len(own) + rng.random()) for own in sorted(sets)]
    return lists


@pytest.mark.parametrize("n", [16, 20])
def test_a_part_that_dp_settles_sooner_does_not_wait_for_the_linear_program(n, monkeypatch):
    """Work is counted: the linear program never does more than dp would have done, and one round over."""
    lists, solves = tangled(n), []
    solve = relaxation._Program.solve

    def counted(program, clock):
        assert program.work <= ilp.LP_SHARE * n * 2**n
        solves.append(program)
        return solve(program, clock)

    def refused(*_):
        raise AssertionError("branch and cut although dp takes less")

    monkeypatch.setattr(relaxation._Program, "solve", counted)
    monkeypatch.setattr(branch, "settle", refused)
    found = solved(lists)
    best = sp.search(sp.ParentSets.from_lists(lists), method="dp")
    assert found.optimal and found.score == pytest.approx(best.score, abs=1e-9)
    assert bool(solves) == (n > ilp.DP_AT_ONCE)


def test_a_tree_that_grows_too_long_gives_way_to_dp(monkeypatch):
    lists, settled = tangled(14, seed=4), []
    for name, value in {"DP_AT_ONCE": 0, "MANY": 10**9, "SHORT": 0.0, "SUMS_PER_NODE": 1e300}.items():
        monkeypatch.setattr(ilp, name, value)
    settle = branch.settle

    def once(node, clock, report, nodes):
        settle(node, clock, report, nodes)
        settled.append((nodes, node.is_open()))

    monkeypatch.setattr(branch, "settle", once)
    found = solved(lists, ("dp", "branch"))
    assert (1, True) in settled, "the tree was stopped before the proof"
    best = sp.search(sp.ParentSets.from_lists(lists), method="dp")
    assert found.optimal and not found.stopped and found.score == pytest.approx(best.score, abs=1e-9)


def test_without_the_memory_for_dp_the_answer_is_the_same():
    lists = tangled(9)
    choice = sp.catalog.choose_search("ilp", memory_limit=1e-9)
    assert solved(lists, method=choice).score == pytest.approx(solved(lists).score, abs=1e-9)


def test_lists_that_force_a_cycle_are_one_sentence():
    lists: Lists = {"a": [(("b",), -1.0)], "b": [(("a",), -1.0)], "c": [((), 0.0)]}
    with pytest.raises(SpinneyError, match="no network without a cycle"):
        solved(lists)


def test_one_variable_and_one_set_each():
    assert solved({"a": [((), -2.0)]}).score == -2.0
    found = solved({"a": [((), -2.0)], "b": [(("a",), -1.0)]})
    assert found.optimal and found.parents == {"a": (), "b": ("a",)}


def test_stages_leave_fewer_and_fewer_sets():
    found = solved(large(14))
    stages = [stage for stage, _, _ in found.counts]
    sets = [count for _, _, count in found.counts]
    assert stages[0] == "listed" and sets == sorted(sets, reverse=True)


def test_a_start_is_never_lost():
    lists = instance(3, "plain", n=6)
    sets = sp.ParentSets.from_lists(lists)
    best = sp.search(sets, method="dp")
    found = sp.search(sets, method="ilp", start=best.parents, time_limit=1e-6)
    assert found.score >= best.score - 1e-9


def test_progress_hears_of_score_and_bound_and_its_errors_come_out():
    heard: list[tuple[str, int, int]] = []
    found = solved(large(14), progress=lambda *news: heard.append(news))
    assert all("score" in what and "bound" in what and 0 <= done <= total == 14 for what, done, total in heard)
    assert heard[-1][1] == 14 and found.optimal

    def fail(what: str, done: int, total: int) -> None:
        if len(told := [*failed, what]) > 3:
            raise RuntimeError("no more news, please")
        failed[:] = told

    for stages in (STAGES, ("branch",)):
        failed: list[str] = []
        with pytest.raises(RuntimeError, match="no more news"):
            solved(large(16), stages, progress=fail)
