"""All branchings on a few nodes: every node has one parent or none, and no cycle.

In:  the number of nodes; weights of edges.
Out: every branching as a row of parents, -1 for a root; the best of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import product


@cache
def all_branchings(n: int) -> tuple[tuple[int, ...], ...]:
    """(n + 1)^(n - 1) of them (Cayley): 1, 3, 16, 125, 1296, 16807."""
    choices = [[-1, *(parent for parent in range(n) if parent != child)] for child in range(n)]
    return tuple(parents for parents in product(*choices) if all(_ends(parents, child) for child in range(n)))


def _ends(parents: tuple[int, ...], node: int) -> bool:
    for _ in parents:
        node = parents[node]
        if node < 0:
            return True
    return False


def total(parents: Sequence[int], weights: Sequence[Sequence[float]], may_be_root: Sequence[bool]) -> float:
    """-inf where an edge, or a root, is not allowed."""
    parts = [
        weights[child][parent] if parent >= 0 else (0.0 if may_be_root[child] else -math.inf)
        for child, parent in enumerate(parents)
    ]
    return sum(parts)


def best_branchings(
    weights: Sequence[Sequence[float]], may_be_root: Sequence[bool], forest: bool
) -> tuple[float, list[tuple[int, ...]]]:
    """The largest total, and all that reach it; none where nothing is allowed. A tree has one root."""
    able = [p for p in all_branchings(len(weights)) if forest or p.count(-1) <= 1]
    totals = [(total(parents, weights, may_be_root), parents) for parents in able]
    top = max((value for value, _ in totals), default=-math.inf)
    near = 1e-9 * max(1.0, abs(top))
    return top, [parents for value, parents in totals if value > -math.inf and value >= top - near]
