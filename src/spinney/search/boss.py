"""Best order score search: local search over the orders of the variables, from any score.

In:  a Problem; scores come from its parent sets, or are asked for as they are needed.
Out: Found. Ctrl-C and the time limit return the best DAG so far; a start is never made worse. With `polish`, ges goes
on from the class of the result, and the better of both is kept."""

from __future__ import annotations

import time
from dataclasses import replace

from spinney import _core
from spinney.catalog import SEARCHES
from spinney.choices import build_choice
from spinney.limits import LARGEST
from spinney.search import ges
from spinney.search.found import Found, Problem
from spinney.search.local import as_found, ask

LEAST = 0.001  # seconds of a polish, where the orders have taken all of the limit


def run(problem: Problem) -> Found:
    found = _over_orders(problem)
    return _polished(problem, found) if problem.method["polish"] and not found.stopped else found


def _polished(problem: Problem, found: Found) -> Found:
    """A DAG comes back, whichever is better: a class cannot hold required edges and tiers."""
    left = None if problem.time_limit is None else max(problem.time_limit - found.seconds, LEAST)
    method = build_choice(SEARCHES["ges"], {})
    after = ges.run(replace(problem, method=method, start=found.parents, time_limit=left))
    seconds = found.seconds + after.seconds
    if after.score <= found.score:
        return replace(found, seconds=seconds, stopped=after.stopped)
    later = tuple((found.seconds + when, score, bound) for when, score, bound in after.trace if score > found.score)
    return replace(after, method=found.method, seconds=seconds, trace=(*found.trace, *later), cpdag=None)


def _over_orders(problem: Problem) -> Found:
    began = time.perf_counter()
    args = _core.BossArgs(
        [] if problem.start is None else problem.start_lists(),
        problem.allowed.for_core,
        problem.time_limit or 0.0,
        problem.threads,
        runs=min(problem.method["runs"], LARGEST),
        patience=min(problem.method["patience"], LARGEST),
        seed=problem.seed,
    )
    return as_found(problem, ask(problem, _core.boss, args), began)
