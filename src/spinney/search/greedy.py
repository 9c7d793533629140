"""Hill climbing and tabu search.

In:  a Problem; scores come from its parent sets, or are counted as they are asked for.
Out: Found. Ctrl-C and the time limit return the best DAG so far."""

from __future__ import annotations

import math
import time

from spinney import _core
from spinney.errors import ChoiceError, way
from spinney.progress import reporting
from spinney.search.found import Found, Problem, why_stopped

MOST = 2**31 - 1  # the core's int32


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    options = {name: min(value, MOST) for name, value in problem.method.values.items()}
    allowed = problem.allowed
    args = _core.GreedyArgs(
        problem.start_lists(),
        allowed.for_core,
        options.get("length", 0),
        options.get("patience", 0),
        options["restarts"],
        options["shake"],
        problem.seed % 2**64,
        problem.time_limit or 0.0,
        problem.threads,
    )
    with reporting(problem.progress, f"{problem.method.name} search") as report:
        if problem.sets is not None:
            found = _core.greedy_listed(problem.sets.arrays, args, report)
        else:
            assert problem.source is not None
            found = problem.source.greedy(args, report)
    parents = {
        child: tuple(allowed.names[p] for p in own) for child, own in zip(allowed.names, found["parents"], strict=True)
    }
    score = found["score"]
    if problem.sets is not None:
        parents, score = reached(problem, parents, why_stopped(found))
    bound = max(problem.bound(), score)
    trace = tuple((seconds, value, bound) for seconds, value in found["trace"])
    local = None if problem.sets is not None else dict(zip(allowed.names, found["local"], strict=True))
    return Found(
        parents,
        score,
        bound,
        str(problem.method),
        time.perf_counter() - began,
        trace,
        why_stopped(found),
        local=local,
        left_out=found.get("left_out", 0),
    )


def reached(
    problem: Problem, parents: dict[str, tuple[str, ...]], stopped: str
) -> tuple[dict[str, tuple[str, ...]], float]:
    """The graph with its score. A stop may come before listed sets, or what the search starts from, were reached: then
    the start, or the required edges alone, if they score more."""
    known = [parents, *([dict(problem.start or {}), dict(problem.allowed.required)] if stopped else [])]
    scored, refused = [], None
    for graph in known:
        if graph:
            try:
                scored.append((graph, added(problem, graph)))
            except ChoiceError as error:
                refused = refused or error
    if not scored:
        assert refused is not None
        raise refused
    return max(scored, key=lambda one: one[1])


def added(problem: Problem, parents: dict[str, tuple[str, ...]]) -> float:
    """The total, added up again from the listed scores."""
    assert problem.sets is not None
    scores = []
    for child, own in parents.items():
        score = problem.sets.score_of(child, own)
        if score is None:
            raise ChoiceError(
                f"no network was reached in which {child!r} has one of its listed parent sets",
                way("use {}", "search", "exact"),
                "list more sets",
            )
        scores.append(score)
    return math.fsum(scores)
