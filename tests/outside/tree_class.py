"""A search from outside the package, in one file: the best undirected tree, as a Markov equivalence class.

In:  a Problem; pairs are scored by its source, or read off its parent sets.
Out: Found with a class: the edges of a maximum spanning tree, none of them directed."""

from __future__ import annotations

import math
import time

import spinney as sp
from spinney.catalog import Search
from spinney.search.found import Found, Problem


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    names = problem.allowed.names
    families = [(child, ()) for child in names] + [(b, (a,)) for b in names for a in names if a < b]
    if problem.sets is None:
        values = problem.source.local_scores(families, problem.threads)
        local = {family: float(value) for family, value in zip(families, values, strict=True)}
    else:
        alone = {child: problem.sets.score_of(child, ()) or 0.0 for child in names}
        local = {(b, own): problem.sets.score_of(b, own) or alone[b] for b, own in families}
    reached, edges, score = {names[0]}, [], math.fsum(local[name, ()] for name in names)
    while len(reached) < len(names):
        pairs = [(min(a, b), max(a, b)) for a in reached for b in names if b not in reached]
        gain, a, b = max((local[b, (a,)] - local[b, ()], a, b) for a, b in pairs)
        reached |= {a, b}
        if gain > 0:
            edges.append((a, b))
            score += gain
    graph = sp.CPDAG(names, (), edges)
    return Found.of_class(graph, score, math.inf, str(problem.method), time.perf_counter() - began)


sp.register(Search("tree-class", "the best undirected tree", run=run, reads="scores", returns="class"))
