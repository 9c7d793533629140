"""Hill climbing and tabu search.

In:  a Problem; scores come from its parent sets, or are counted as they are asked for.
Out: Found. Ctrl-C and the time limit return the best DAG so far."""

from __future__ import annotations

import time

from spinney import _core
from spinney.constraints import check_pairs
from spinney.limits import LARGEST
from spinney.search.found import Found, Problem
from spinney.search.local import as_found, ask


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    options = {name: min(value, LARGEST) for name, value in problem.method.values.items()}
    allowed = problem.allowed
    check_pairs(len(allowed.names))
    args = _core.GreedyArgs(
        problem.start_lists(),
        allowed.for_core,
        problem.time_limit or 0.0,
        problem.threads,
        tabu=options.get("length", 0),
        patience=options.get("patience", 0),
        restarts=options["restarts"],
        shake=options["shake"],
        seed=problem.seed,
    )
    return as_found(problem, ask(problem, _core.greedy, args), began)
