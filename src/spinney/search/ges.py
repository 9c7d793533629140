"""Greedy equivalence search.

In:  a Problem; scores come from its parent sets, or are computed as they are asked for.
Out: Found with a class: its CPDAG, and the score of a member that honours the constraints. Ctrl-C and the time limit
return the best class so far.

If Markov equivalent DAGs score the same, so does every member. If not, an operator is chosen by its gain in the member
that it is about (as other programs do), it is made only if the member that it leads to scores more than the present
one, and the score is that of the member alone."""

from __future__ import annotations

import time
from dataclasses import replace

from spinney import _core
from spinney.graph import CPDAG, DAG
from spinney.search.found import Found, Problem
from spinney.search.local import as_found, ask


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    names, sets = problem.allowed.names, problem.sets
    args = _core.GesArgs(
        problem.start_lists(),
        problem.allowed.for_core,
        problem.time_limit or 0.0,
        problem.threads,
        equivalent=sets is None and problem.source.equivalent,
        extended=problem.method["extended"],
    )
    answer = ask(problem, _core.ges, args)
    found = as_found(problem, answer, began)
    if sets is not None:  # a set that is not listed has the score, and is replaced by, the best listed set within it
        return replace(found, cpdag=DAG(names, found.parents).cpdag())
    directed, undirected = problem.named(answer["directed"]), problem.named(answer["undirected"])
    cpdag = CPDAG(
        names,
        [(parent, child) for child, own in directed.items() for parent in own],
        [(a, b) for b, own in undirected.items() for a in own],
    )
    return replace(found, cpdag=cpdag)
