"""Grow-shrink and the best places in an order, in plain Python.

In:  a score of families score(child, parents), an order, who may be and who must be whose parent.
Out: the parents that every variable takes of those before it; the score of every order that is one move away."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence

from slow.graphs import Parents

Score = Callable[[str, tuple[str, ...]], float]
SLACK = 1e-10
FEW = 4


def grow_shrink(
    score: Score, child: str, available: Collection[str], required: Collection[str] = (), most: int = 99
) -> tuple[str, ...]:
    """The best one more while that gains, then the best one less, then (of a few, or at the limit) the best exchange;
    all again until nothing gains. Equal scores: the earlier name."""
    parents = tuple(sorted(required))
    while True:
        now = score(child, parents)
        others = sorted(set(available) - set(parents))
        free = [p for p in parents if p not in required]
        more = [plus(parents, one) for one in others] if len(parents) < most else []
        fewer = [minus(parents, one) for one in free]
        swap = len(parents) >= most or len(parents) <= FEW
        exchanged = [plus(minus(parents, p), one) for one in others for p in free] if swap else []
        for sets in (more, fewer, exchanged):
            best = max(sets, key=lambda own: score(child, own), default=parents)
            if score(child, best) > now + SLACK * (1 + abs(now)):
                parents = best
                break
        else:
            return parents


def plus(parents: tuple[str, ...], one: str) -> tuple[str, ...]:
    return tuple(sorted((*parents, one)))


def minus(parents: tuple[str, ...], one: str) -> tuple[str, ...]:
    return tuple(p for p in parents if p != one)


def projected(
    score: Score, order: Sequence[str], candidates: Parents, required: Parents, most: dict[str, int]
) -> Parents:
    """The parents that every variable takes of those before it."""
    return {
        child: grow_shrink(score, child, set(order[:i]) & set(candidates[child]), required[child], most[child])
        for i, child in enumerate(order)
    }


def moved(order: Sequence[str], required: Parents) -> Iterator[list[str]]:
    """Every order with one variable elsewhere, required parents first."""
    for v in order:
        rest = [u for u in order if u != v]
        for i in range(len(rest) + 1):
            one = [*rest[:i], v, *rest[i:]]
            if all(one.index(p) < one.index(c) for c in one for p in required[c]):
                yield one


def total(score: Score, parents: Parents) -> float:
    return math.fsum(score(child, own) for child, own in parents.items())
