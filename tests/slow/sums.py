"""Posterior probabilities by looking at every graph, and at every order.

In:  per child a score for every set of parents that may be.
Out: the probability of every edge, and the log of the sum, by adding up e^score one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations

from slow.graphs import all_dags

Scores = Mapping[str, Mapping[tuple[str, ...], float]]
Edges = dict[tuple[str, str], float]


def over_graphs(scores: Scores) -> tuple[Edges, float]:
    """Every acyclic graph whose parent sets are all listed counts once."""
    names = tuple(sorted(scores))
    logs = []
    for graph in all_dags(names):
        own = [scores[child].get(tuple(sorted(parents))) for child, parents in graph.items()]
        known = [score for score in own if score is not None]
        if len(known) == len(names):
            logs.append((math.fsum(known), [(p, child) for child, parents in graph.items() for p in parents]))
    return _summed(logs)


def over_orders(scores: Scores) -> tuple[Edges, float]:
    """Every order counts with every graph that it allows: a graph counts as often as it has orders."""
    logs = []
    for order in permutations(sorted(scores)):
        allowed = [
            [(child, parents, value) for parents, value in scores[child].items() if set(parents) <= set(order[:place])]
            for place, child in enumerate(order)
        ]
        chosen: list[tuple[float, list[tuple[str, str]]]] = [(0.0, [])]
        for own in allowed:
            chosen = [
                (log + value, [*edges, *((p, child) for p in parents)])
                for log, edges in chosen
                for child, parents, value in own
            ]
        logs += chosen
    return _summed(logs)


def _summed(logs: Sequence[tuple[float, list[tuple[str, str]]]]) -> tuple[Edges, float]:
    most = max(log for log, _ in logs)
    total = math.fsum(math.exp(log - most) for log, _ in logs)
    found: Edges = {}
    for log, edges in logs:
        for edge in edges:
            found[edge] = found.get(edge, 0.0) + math.exp(log - most) / total
    return found, most + math.log(total)
