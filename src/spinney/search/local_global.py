"""One greedy search over the decision graphs of all nodes and the arcs between them.

In:  a Problem with a source of decision graphs.
Out: Found, with the graphs as models. Ctrl-C and the time limit return the network of that moment."""

from __future__ import annotations

import math
import time

from spinney.errors import ChoiceError, way
from spinney.progress import reporting
from spinney.scores.graph import Graphs
from spinney.search.found import Found, Problem


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    source = problem.source
    if not isinstance(source, Graphs):
        raise ChoiceError("search local-global grows decision graphs", way("use it with {}", "score", "graph"))
    if problem.start is not None:
        raise ChoiceError("search local-global starts without arcs and takes no start; leave start out")
    with reporting(problem.progress, "local-global search") as report:
        grown = source.local_global(problem.allowed, problem.threads, report, problem.time_limit)
    score = math.fsum(float(model.score or 0.0) for model in grown.models.values())
    trace = tuple((seconds, value, math.inf) for seconds, value in grown.trace)
    return Found(
        {child: model.parents for child, model in grown.models.items()},
        score,
        math.inf,
        str(problem.method),
        time.perf_counter() - began,
        trace,
        grown.stopped,
        models=grown.models,
    )
