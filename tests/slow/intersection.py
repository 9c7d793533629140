"""Partial Hamming distances pair by pair, with sets of words instead of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import spinney as sp


def state(graph: sp.CPDAG, a: str, b: str) -> str:
    if frozenset((a, b)) in graph.undirected:
        return "--"
    return "->" if (a, b) in graph.directed else "<-" if (b, a) in graph.directed else ""


def partial_distance(whole_table: Sequence[sp.CPDAG], learned: sp.CPDAG) -> int:
    distance = 0
    for a, b in combinations(learned.names, 2):
        seen = {state(graph, a, b) for graph in whole_table}
        if len(seen) == 1 and state(learned, a, b) not in seen:
            distance += 1
    return distance


def nearest_step(confidences: Iterable[float]) -> float:
    """The threshold of the step function nearest to the distribution of confidences, by trying every height.

    The area between the step at height t and F is summed over the pieces where F is constant; the threshold is the
    smallest confidence whose F reaches the best t."""
    values = sorted(confidences)
    ends = [0.0, *values, 1.0]
    heights = [i / len(values) for i in range(len(values) + 1)]

    def area(t: float) -> float:
        return sum((high - low) * abs(height - t) for low, high, height in zip(ends, ends[1:], heights, strict=False))

    best = min(heights, key=lambda t: (round(area(t), 12), -t))
    return 0.0 if best == 0 else next(v for i, v in enumerate(values) if heights[i + 1] >= best - 1e-12)
