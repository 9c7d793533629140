"""Local search over the orders of the variables.

In:  a Problem with parent sets.
Out: Found. Ctrl-C and the time limit return the best DAG so far; a start is never made worse."""

from __future__ import annotations

import time

from spinney import _core
from spinney.limits import LARGEST
from spinney.progress import reporting
from spinney.search.found import Found, Problem
from spinney.search.local import reached


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    assert problem.sets is not None
    with reporting(problem.progress, "order search") as report:
        found = _core.order(
            problem.sets.arrays,
            [] if problem.start is None else problem.start_lists(),
            min(problem.method["runs"], LARGEST),
            min(problem.method["patience"], LARGEST),
            problem.seed,
            problem.threads,
            report,
            problem.time_limit or 0.0,
        )
    parents, score = reached(problem, problem.named(found["parents"]), found["stopped"])
    bound = max(problem.bound(), score)
    trace = tuple((seconds, value, bound) for seconds, value in found["trace"])
    return Found(parents, score, bound, str(problem.method), time.perf_counter() - began, trace, found["stopped"])
