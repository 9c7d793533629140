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
from spinney.progress import reporting
from spinney.search import ges
from spinney.search.found import Found, Problem
from spinney.search.greedy import MOST, reached

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
