"""Greedy equivalence search.

In:  a Problem; scores come from its parent sets, or are computed as they are asked for.
Out: Found with a class: its CPDAG, and the score of a member that honours the constraints. Ctrl-C and the time limit
return the best class so far.

If Markov equivalent DAGs score the same, so does every member. If not, an operator is chosen by its gain in the member
that it is about (as other programs do), it is made only if the member that it leads to scores more than the present
one, and the score is that of the member alone."""

from __future__ import annotations

import time

from spinney import _core
from spinney.graph import CPDAG, DAG
from spinney.progress import reporting
from spinney.search.found import Found, Problem
from spinney.search.greedy import reached


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    allowed, sets = problem.allowed, problem.sets
    args = _core.GesArgs(
        problem.start_lists(),
        allowed.for_core,
        sets is None and problem.source.equivalent,
        problem.method["extended"],
        problem.time_limit or 0.0,
        problem.threads,
    )
    with reporting(problem.progress, "ges search") as report:
        if sets is not None:
            found = _core.ges(_core.list_scores(sets.arrays), args, report)
        else:
            problem.source.check_search(allowed)
            found = problem.source.ask(_core.ges, args, report)
    parents, score, stopped = problem.named(found["parents"]), found["score"], found["stopped"]
    if sets is not None:  # a set that is not listed has the score, and is replaced by, the best listed set within it
        parents, score = reached(problem, parents, stopped)
        cpdag = DAG(allowed.names, parents).cpdag()
    else:
        directed, undirected = problem.named(found["directed"]), problem.named(found["undirected"])
        cpdag = CPDAG(
            allowed.names,
            [(parent, child) for child, own in directed.items() for parent in own],
            [(a, b) for b, own in undirected.items() for a in own],
        )
    bound = max(problem.bound(), score)
    return Found(
        parents,
        score,
        bound,
        str(problem.method),
        time.perf_counter() - began,
        tuple((seconds, value, bound) for seconds, value in found["trace"]),
        stopped,
        local=None if sets is not None else dict(zip(allowed.names, found["local"], strict=True)),
        left_out=found["left_out"],
        cpdag=cpdag,
    )
