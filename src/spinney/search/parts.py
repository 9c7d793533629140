"""The parts of an exact search, and the time it has.

In:  a strongly connected part of the problem with an order of its variables.
Out: a tree of parts: each with its score, a true bound, and the parts it fell into when sets were dropped."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.search.found import ROUNDING

Cluster = tuple[list[int], int]  # members, k: see core/clusters.hpp


class Stopped(Exception):
    """The time is up, or Ctrl-C."""


class Clock:
    def __init__(self, limit: float | None) -> None:
        self._began, self._limit = time.perf_counter(), limit

    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def left(self, share: float = 1.0) -> float:
        """Seconds that a step may take, at most this share of what is left; 0 is no limit."""
        return 0.0 if self._limit is None else max(1e-3, share * (self._limit - self.seconds()))

    def check(self) -> None:
        if self._limit is not None and self.seconds() >= self._limit:
            raise Stopped("time limit")

    def note(self, found: dict[str, Any]) -> None:
        """What the core says of an early end; a time limit may have been the step's own."""
        if found["stopped"] == "interrupted":
            raise Stopped(found["stopped"])
        self.check()


class Node:
    """Costs are losses against the best listed set of every variable, so a part's score is best - cost. `slack` is the
    tolerance: a DAG that is better by less may be missed."""

    def __init__(self, part: _core.Part, order: list[int], parent: Node | None = None) -> None:
        self.part, self.parent = part, parent
        tops = [abs(float(scores[0])) for scores, _, _ in part.arrays]
        self.slack = ROUNDING * (math.fsum(tops) + float(part.cost.max(initial=0.0)))
        self.cost = part.cost
        self.best = math.fsum(float(scores[0]) for scores, _, _ in part.arrays)
        self.lower = 0.0  # no DAG of this part costs less
        self.priced, self.reduced = 0.0, self.cost  # none with family f less than priced + reduced[f]
        self.clusters: list[Cluster] = []
        self.weights: NDArray[np.float64] = np.zeros(0)  # from a linear program
        self.parts: list[Node] = []
        self.order: list[int] = []
        self.upper = math.inf
        self.propose(order)

    def propose(self, order: list[int]) -> None:
        """Take the order if its DAG is better than the one at hand."""
        if not order:
            return
        chosen = self.part.along(order)
        if min(chosen) < 0:
            return
        cost = math.fsum(self.cost[chosen])
        if cost < self.upper:
            self.order, self.chosen, self.upper = order, chosen, cost

    def learn(self, found: dict[str, Any]) -> None:
        """A bound with its reduced costs and the clusters it is made of."""
        self.clusters = found["clusters"]
        self.raise_lower(found["bound"], found["reduced"])

    def raise_lower(self, bound: float, reduced: NDArray[np.float64]) -> None:
        self.lower = max(self.lower, bound)
        if bound >= self.priced:
            self.priced, self.reduced = bound, reduced

    def settle(self) -> None:
        self.lower = self.upper

    def is_open(self) -> bool:
        return self.gap() > self.tolerance()

    def gap(self) -> float:
        return self.upper - self.lower

    def tolerance(self) -> float:
        return self.slack + 1e-11 * self.upper

    def kept(self) -> NDArray[np.bool_]:
        """Reduced-cost fixing: a DAG with one of the other families costs more than the one at hand."""
        keep: NDArray[np.bool_] = self.reduced <= self.upper - self.priced + self.tolerance()
        keep[self.chosen] = True
        return keep

    def divide(self, keep: NDArray[np.bool_] | None = None) -> None:
        """Into the parts that are left when other families are dropped."""
        if keep is None:
            if not self.is_open():
                return
            keep = self.kept()
            if keep.all():
                return
        place = {v: i for i, v in enumerate(self.part.variables)}
        rank = {v: i for i, v in enumerate(self.order)}
        parts: list[Node] = []
        for part in self.part.split(keep):
            local = [place[v] for v in part.variables]
            order = sorted(range(len(local)), key=lambda i: rank[local[i]])
            node = Node(part, order, self)
            renamed = {v: i for i, v in enumerate(local)}
            within = ((sorted(renamed[v] for v in own if v in renamed), k) for own, k in self.clusters)
            node.clusters = [cluster for cluster in within if len(cluster[0]) > cluster[1]]
            parts.append(node)
        bound, score = self.best - self.lower, math.fsum(node.score() for node in parts)
        for node in parts:  # what the others score at least is not left for this one
            node.lower = max(0.0, min(node.upper, node.best - (bound - (score - node.score()))))
        self.parts = parts  # at once: Ctrl-C may come at any moment

    def shrunk(self) -> bool:
        """Whether it is so much less than the part it comes from that a bound is worth computing again."""
        return self.parent is None or len(self.part) <= 0.8 * len(self.parent.part)

    def leaves(self) -> list[Node]:
        return [leaf for part in self.parts for leaf in part.leaves()] if self.parts else [self]

    def open(self) -> list[Node]:
        """Parts that are not settled. When a part's own bound meets its score, so do those inside it."""
        if not self.parts:
            return [self] if self.is_open() else []
        if self.bound() - self.score() <= self.slack:
            return []
        return [node for part in self.parts for node in part.open()]

    def score(self) -> float:
        return math.fsum(part.score() for part in self.parts) if self.parts else self.best - self.upper

    def bound(self) -> float:
        """No DAG scores more: by the own bound, or by those of the parts."""
        own = self.best - self.lower
        if self.parts:
            own = min(own, math.fsum(part.bound() for part in self.parts))
        return max(own, self.score())

    def places(self) -> list[tuple[int, int]]:
        """(variable, place of its set in the list), both of the whole problem."""
        if self.parts:
            return [pair for part in self.parts for pair in part.places()]
        first, origin = self.part.first, self.part.origin
        return [(v, origin[i][self.chosen[i] - first[i]]) for i, v in enumerate(self.part.variables)]


def topological(parents: list[list[int]]) -> list[int]:
    """Parents before children. REQUIRES: no cycle."""
    waiting = [len(own) for own in parents]
    children: list[list[int]] = [[] for _ in parents]
    for v, own in enumerate(parents):
        for p in own:
            children[p].append(v)
    order = [v for v, left in enumerate(waiting) if not left]
    for v in order:  # which grows
        for child in children[v]:
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    return order
