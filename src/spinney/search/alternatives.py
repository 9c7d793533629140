"""The best networks, not only the best one.

In:  a Problem, how many networks, and an exact search.
Out: Found, with the next best networks as its alternatives; or the best networks of the next best equivalence classes.

Lawler (1972): what is left without the best network falls into as many disjoint problems as there are variables: in
the i-th the variables before i keep their sets and variable i may not. Each is solved exactly; the best of their
answers is the next network, and its problem is divided in the same way. Every stage of the search holds for each of
them, which a cut against one network would not allow.

Where classes are asked for, networks are listed in the same way and one that is Markov equivalent to a better one is
passed over: this takes as many steps as these classes have members.

A list from which dominated sets were dropped still holds the best network, but not always the second."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ChoiceError
from spinney.graph import CPDAG, DAG
from spinney.parent_sets import ParentSets
from spinney.progress import Tell, telling
from spinney.search.found import Alternative, Found, NoNetwork, Problem

Solve = Callable[[Problem], Found]
CLASSES = "classes"  # the value of option distinct
PRUNED = "the list of parent sets was pruned: networks after the best may be missing"
MAYBE_PRUNED = "if the list of parent sets was pruned, networks after the best may be missing"

Keep = list[NDArray[np.bool_]]  # per variable, which of its listed sets are left


class _Candidate(NamedTuple):
    loss: float  # the best first
    came: int
    found: Found
    keep: Keep
    fixed: int  # the variables before keep their sets


def best(problem: Problem, k: int, solve: Solve) -> Found:
    with telling(problem.progress) as tell:
        return _best(problem, k, solve, tell)


def _best(problem: Problem, k: int, solve: Solve, tell: Tell) -> Found:
    began = time.perf_counter()
    assert problem.sets is not None
    names, sets = problem.allowed.names, problem.sets
    came = itertools.count()
    first, index = solve(problem), {name: i for i, name in enumerate(names)}
    networks: list[Found] = []
    classes: set[CPDAG] | None = set() if problem.method.values.get("distinct") == CLASSES else None
    waiting: list[_Candidate] = []
    if first.optimal:
        everything = [np.ones(len(scores), np.bool_) for scores, _, _ in sets.arrays]
        waiting.append(_Candidate(-first.score, next(came), first, everything, 0))
    stopped = "" if first.optimal else first.stopped
    try:
        while waiting and len(networks) < k and not stopped:
            _, _, found, keep, fixed = heapq.heappop(waiting)
            if _is_new(found, classes):
                networks.append(found)
            keep = list(keep)
            for i in range(fixed, len(names) if len(networks) < k else fixed):
                own = _place(sets, i, [index[p] for p in found.parents[names[i]]])
                without = keep[i].copy()
                without[own] = False
                here = [*keep[:i], without, *keep[i + 1 :]]
                stopped = _late(problem, began)
                try:
                    answer = _solved(problem, here, solve, began) if without.any() and not stopped else None
                except ChoiceError:  # the time was up before one of the listed networks was reached
                    answer, stopped = None, _late(problem, began)
                    if not stopped:
                        raise
                if answer is not None and (answer.stopped or not answer.optimal):
                    stopped = answer.stopped or "not proven"
                if stopped:
                    break
                if answer is not None:
                    heapq.heappush(waiting, _Candidate(-answer.score, next(came), answer, here, i))
                keep[i] = np.zeros_like(keep[i])
                keep[i][own] = True
            tell(f"network {len(networks)} of {k}", len(networks), k)
    except KeyboardInterrupt:
        stopped = "interrupted"
    others = tuple(Alternative(found.parents, found.score) for found in networks[1:])
    return dataclasses.replace(
        first,
        alternatives=others,
        stopped=stopped,
        seconds=time.perf_counter() - began,
        notes=_notes(sets),
    )


def _late(problem: Problem, began: float) -> str:
    over = problem.time_limit is not None and time.perf_counter() - began > problem.time_limit
    return "time limit" if over else ""


def _is_new(found: Found, classes: set[CPDAG] | None) -> bool:
    """Whether it counts: always, or when its equivalence class, which is remembered, is another than all before."""
    if classes is None:
        return True
    own = DAG(tuple(found.parents), found.parents).cpdag()
    if own in classes:
        return False
    classes.add(own)
    return True


def _notes(sets: ParentSets) -> tuple[str, ...]:
    if sets.pruned is None:
        return (MAYBE_PRUNED,)
    return (PRUNED,) if sets.pruned else ()


def _solved(problem: Problem, keep: Keep, solve: Solve, began: float) -> Found | None:
    """The best network with the sets that are left; None where there is none."""
    assert problem.sets is not None
    arrays = [
        (scores[own], sizes[own], parents[np.repeat(own, sizes)])
        for (scores, sizes, parents), own in zip(problem.sets.arrays, keep, strict=True)
    ]
    left = problem.time_limit
    if left is not None:
        left = max(1e-3, left - (time.perf_counter() - began))
    sets = ParentSets(problem.sets.names, arrays)
    part = dataclasses.replace(problem, job=problem.job.quiet(), sets=sets, start=None, time_limit=left)
    try:
        return solve(part)
    except NoNetwork:
        return None


def _place(sets: ParentSets, variable: int, parents: list[int]) -> int:
    """Where this set stands in the variable's list."""
    _, sizes, members = sets.arrays[variable]
    ends = np.cumsum(sizes)
    place: int = next(
        i
        for i in np.flatnonzero(sizes == len(parents)).tolist()
        if sorted(members[ends[i] - sizes[i] : ends[i]].tolist()) == sorted(parents)
    )
    return place
