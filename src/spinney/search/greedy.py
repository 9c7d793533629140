"""Hill climbing and tabu search.

In:  a Problem; scores come from its parent sets, or are counted as they are asked for.
Out: Found. Ctrl-C and the time limit return the best DAG so far."""

from __future__ import annotations

import time

from spinney import _core
from spinney.constraints import check_pairs
from spinney.errors import ChoiceError
from spinney.progress import reporting
from spinney.search.found import Found, Problem

MOST = 2**31 - 1  # the core's int32


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    options = {name: min(value, MOST) for name, value in problem.method.values.items()}
    allowed = problem.allowed
    check_pairs(len(allowed.names))
    args = _core.GreedyArgs(
        problem.start_lists(),
        allowed.for_core,
        options.get("length", 0),
        options.get("patience", 0),
        options["restarts"],
        options["shake"],
        problem.seed,
        problem.time_limit or 0.0,
        problem.threads,
    )
    listed = problem.sets is not None
    with reporting(problem.progress, f"{problem.method.name} search") as report:
        if problem.sets is not None:
            found = _core.greedy(_core.list_scores(problem.sets.arrays), args, report)
        else:
            problem.source.check_search(allowed)
            found = problem.source.ask(_core.greedy, args, report)
    parents, stopped = problem.named(found["parents"]), found["stopped"]
    score = found["score"]
    if listed:
        parents, score = reached(problem, parents, stopped)
    bound = max(problem.bound(), score)
    trace = tuple((seconds, value, bound) for seconds, value in found["trace"])
    local = None if listed else dict(zip(allowed.names, found["local"], strict=True))
    return Found(
        parents,
        score,
        bound,
        str(problem.method),
        time.perf_counter() - began,
        trace,
        stopped,
        local=local,
        left_out=found["left_out"],
    )


def reached(
    problem: Problem, parents: dict[str, tuple[str, ...]], stopped: str
) -> tuple[dict[str, tuple[str, ...]], float]:
    """The graph with its score. A stop may come before listed sets, or what the search starts from, were reached: then
    the start, or the required edges alone, if they score more."""
    assert problem.sets is not None
    known = [parents, *([dict(problem.start or {}), dict(problem.allowed.required)] if stopped else [])]
    scored, refused = [], None
    for graph in known:
        if graph:
            try:
                scored.append((graph, problem.sets.total(graph)))
            except ChoiceError as error:
                refused = refused or error
    if not scored:
        assert refused is not None
        raise refused
    return max(scored, key=lambda one: one[1])
