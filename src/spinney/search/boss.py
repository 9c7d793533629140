"""Best order score search: local search over the orders of the variables, from any score.

In:  a Problem; scores come from its parent sets, or are asked for as they are needed.
Out: Found. Ctrl-C and the time limit return the best DAG so far; a start is never made worse. With `polish`, ges goes
on from the class of what the climb finds, the perturbations from what ges finds, and ges once more from what they find;
the best is kept. A climb and ges are quick, and so spare the perturbations, which are not."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from spinney import _core
from spinney.catalog import SEARCHES
from spinney.choices import build_choice
from spinney.limits import LARGEST
from spinney.search import ges
from spinney.search.found import Found, Problem
from spinney.search.local import as_found, ask

LEAST = 0.001  # seconds of a stage, where those before have taken all of the limit


def run(problem: Problem) -> Found:
    """The climb, the polish of its result, the perturbations; what they find is polished too."""
    polish, patience = problem.method["polish"], problem.method["patience"]
    if polish == "auto":
        polish = problem.sets is None and problem.source.equivalent
    if not polish:
        return _over_orders(problem)
    stages = [_climb, _polish]
    if patience or problem.method["runs"] > 1:
        stages += [_over_orders, _polish]
    found: Found | None = None
    polished = -math.inf
    for stage in stages:
        if found is None:
            found = stage(problem)
        elif stage is not _polish or found.score > polished:
            found = _best(found, stage(_going_on(problem, found)))
            polished = found.score if stage is _polish else polished
        if found.stopped:
            break
    assert found is not None
    return found


def _going_on(problem: Problem, found: Found) -> Problem:
    left = None if problem.time_limit is None else max(problem.time_limit - found.seconds, LEAST)
    return replace(problem, start=found.parents, time_limit=left)


def _best(found: Found, after: Found) -> Found:
    """The better of both, with the seconds of both."""
    seconds = found.seconds + after.seconds
    if after.score <= found.score:
        return replace(found, seconds=seconds, stopped=after.stopped)
    later = tuple((found.seconds + when, score, bound) for when, score, bound in after.trace if score > found.score)
    return replace(after, method=found.method, seconds=seconds, trace=(*found.trace, *later))


def _polish(problem: Problem) -> Found:
    """A DAG comes back: a class cannot hold required edges and tiers."""
    return replace(ges.run(replace(problem, method=build_choice(SEARCHES["ges"], {}))), cpdag=None)


def _climb(problem: Problem) -> Found:
    return _over_orders(problem, runs=1, patience=0)


def _over_orders(problem: Problem, runs: int | None = None, patience: int | None = None) -> Found:
    began = time.perf_counter()
    args = _core.BossArgs(
        [] if problem.start is None else problem.start_lists(),
        problem.allowed.for_core,
        problem.time_limit or 0.0,
        problem.threads,
        runs=min(problem.method["runs"] if runs is None else runs, LARGEST),
        patience=min(problem.method["patience"] if patience is None else patience, LARGEST),
        seed=problem.seed,
    )
    return as_found(problem, ask(problem, _core.boss, args), began)
