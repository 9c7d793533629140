"""Best order score search: local search over the orders of the variables, from any score.

In:  a Problem; scores come from its parent sets, or are asked for as they are needed.
Out: Found. Ctrl-C and the time limit return the best DAG so far; a start is never made worse."""

from __future__ import annotations

import time

from spinney import _core
from spinney.progress import reporting
from spinney.search.found import Found, Problem
from spinney.search.greedy import MOST, reached


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    allowed, sets = problem.allowed, problem.sets
    settings = (
        [] if problem.start is None else problem.start_lists(),
        allowed.for_core,
        min(problem.method["runs"], MOST),
        min(problem.method["patience"], MOST),
        problem.seed,
        problem.threads,
    )
    limit = problem.time_limit or 0.0
    with reporting(problem.progress, "boss search") as report:
        if sets is not None:
            found = _core.boss(_core.list_scores(sets.arrays), *settings, report, limit)
        else:
            source = problem.source
            source.check_search(allowed)
            with source.limits():
                found = _core.boss(source.scores, *settings, report, limit, source.most_bytes(problem.threads))
    parents, score, local = problem.named(found["parents"]), found["score"], None
    if sets is not None:
        parents, score = reached(problem, parents, found["stopped"])
    else:
        local = dict(zip(allowed.names, found["local"], strict=True))
    bound = max(problem.bound(), score)
    trace = tuple((seconds, value, bound) for seconds, value in found["trace"])
    return Found(
        parents,
        score,
        bound,
        str(problem.method),
        time.perf_counter() - began,
        trace,
        found["stopped"],
        local=local,
        left_out=found["left_out"],
    )
