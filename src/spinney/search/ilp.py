"""Exact search over scored parent sets, from a handful of variables to a thousand.

In:  a Problem with parent sets.
Out: Found: the best DAG, proven; or, stopped early, the best so far and a true bound.

The sets are cleaned and split into strongly connected parts, which are solved apart. Every part goes from stage to
stage until its bound meets its score: climbs over orders for the score, dual ascent over clusters, a linear program
with cluster cuts, branch and cut. After each of them, sets that no better DAG can hold are dropped by their reduced
costs, and what is left is split again.

A part for which dynamic programming has the memory goes there as soon as that is expected to be quicker: at once when
it is small, else when the linear program, or the tree of branch and cut, has done about as much work as n 2^n sums.
Work is counted, not timed, so that the same lists take the same way on every day."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from spinney import _core
from spinney.progress import telling
from spinney.search import branch, relaxation
from spinney.search.found import Found, NoNetwork, Problem, memory_for
from spinney.search.parts import Clock, Node, Stopped, topological

DP_AT_ONCE = 18  # variables: dynamic programming takes a few hundredths of a second
DP_AT_LAST = 28  # and here half a minute, for what the linear program has not settled,
MANY = 500  # where so many sets are left that branch and cut may take longer
SHORT = 1e8  # or where its n 2^n sums take half a second
LP_SHARE = 0.5  # of these sums: what the linear program may do before; both do about 2e8 a second
LP_PER_NODE = 5e7  # of a limit on nodes: about a quarter of a second each
SUMS_PER_NODE = 4e6  # a node of branch and cut with fewer sets takes about as long
FEW = 100  # variables: climbs from random orders take a fraction of a second
STAGES = ("climb", "ascent", "dp", "lp", "branch")


def run(problem: Problem) -> Found:
    return solve(problem, STAGES)


def solve(problem: Problem, stages: Iterable[str]) -> Found:
    """The pipeline with some of its stages; the last one that is there must settle everything or leave a gap."""
    search = _Search(problem, frozenset(stages))
    try:
        search.run()
    except (Stopped, KeyboardInterrupt) as why:
        search.stopped = why.args[0] if isinstance(why, Stopped) else "interrupted"
    return search.found()


class _Search:
    def __init__(self, problem: Problem, stages: frozenset[str]) -> None:
        assert problem.sets is not None
        self.problem, self.stages = problem, stages
        self.clock = Clock(problem.time_limit)
        whole = _core.Part(problem.sets.arrays)
        order = whole.placed
        if len(order) < len(problem.allowed.names):
            raise NoNetwork()
        if problem.start is not None:
            order = self._started(whole, order)
        self.root = Node(whole, order)
        self.trace: list[tuple[float, float, float]] = []
        self.counts: list[tuple[str, float, int]] = [("listed", 0.0, len(whole))]
        self.stopped = ""
        self.lp_cut_short = False  # of some part

    def _started(self, whole: _core.Part, fallback: list[int]) -> list[int]:
        """The order of the DAG to start from, if its variables all have a listed set along it."""
        parents = self.problem.allowed.numbers(self.problem.start or {})
        order = topological(parents)
        return order if min(whole.along(order)) >= 0 else fallback

    def run(self) -> None:
        with telling(self.problem.progress) as tell:
            self.tell = tell
            self.root.divide(np.ones(len(self.root.part), np.bool_))
            self.note("clean")
            if "climb" in self.stages:
                self.each(self.climb)
                self.note("climb")
            if "ascent" in self.stages:
                self.each(self.ascend)
                self.note("ascent")
            if "dp" in self.stages:
                self.each(self.dp, DP_AT_ONCE)
            if "lp" in self.stages:
                self.each(self.relax)
                self.note("lp")
            if "dp" in self.stages:
                self.each(self.dp_at_last, DP_AT_LAST)
            if "branch" in self.stages:
                self.each(self.branch)
                self.note("branch")

    def each(self, stage: Callable[[Node], None], most: int | None = None) -> None:
        """The stage on every part that is not settled, small ones first; on the parts it leaves behind as well."""
        done: set[int] = set()
        while True:
            waiting = [node for node in self.root.open() if id(node) not in done]
            waiting = [node for node in waiting if most is None or len(node.part.variables) <= most]
            if not waiting:
                return
            node = min(waiting, key=lambda node: len(node.part))
            self.clock.check()
            stage(node)
            done.add(id(node))
            self.report()

    def climb(self, node: Node) -> None:
        """A first score: climbs from the end of the dual ascent and, where they are cheap, from random orders."""
        if node.parent is not self.root:
            return
        found = node.part.ascend(self.clock.left(0.3))
        node.learn(found)
        self.clock.note(found)
        few = len(node.part.variables) <= FEW
        orders = [found["order"] or node.order]
        if few or self.problem.start is not None:
            orders.append(node.order)
        self._climbed(node, orders, random=3 if few else 0, patience=10 if few else 3)
        if "ascent" in self.stages:
            node.divide()

    def ascend(self, node: Node) -> None:
        if "climb" in self.stages and not node.shrunk():
            return  # the bound from before is about as good
        found = node.part.ascend(self.clock.left())
        node.learn(found)
        self.clock.note(found)
        node.propose(found["order"])
        node.divide()

    def _climbed(
        self, node: Node, orders: list[list[int]], weights: Sequence[float] = (), random: int = 0, patience: int = 3
    ) -> None:
        seed, threads, limit = self.problem.seed, self.problem.threads, self.clock.left(0.3)
        found = node.part.climb(orders, list(weights), random, patience, seed, threads, limit)
        node.propose(found["order"])
        self.clock.note(found)

    def dp_sums(self, node: Node) -> float:
        """The work of dynamic programming on this part; infinite where it is not to be used."""
        n = len(node.part.variables)
        if "dp" not in self.stages or n > DP_AT_LAST:
            return math.inf
        fits = _core.dp_bytes(n, self.problem.threads) <= 0.5 * memory_for(self.problem.method)
        return n * 2.0**n if fits else math.inf

    def dp(self, node: Node) -> None:
        if self.dp_sums(node) == math.inf:
            return
        found = _core.dp(node.part.arrays, self.problem.threads, None, self.clock.left())
        self.clock.note(found)
        if found["stopped"]:
            raise Stopped(found["stopped"])
        node.propose(topological(found["parents"]))
        node.settle()

    def dp_at_last(self, node: Node) -> None:
        if len(node.part) >= MANY or self.dp_sums(node) <= SHORT:
            self.dp(node)

    def relax(self, node: Node) -> None:
        if node.parent is not None and len(node.parent.weights) and not node.shrunk():
            return

        def climb(weights: list[float]) -> None:
            if "climb" in self.stages:
                self._climbed(node, [], weights, patience=1)

        # Where nodes are limited so is the linear program: it may take as long as the nodes, and nodes after it longer.
        most = min(LP_SHARE * self.dp_sums(node), LP_PER_NODE * (self.problem.method["nodes"] or math.inf))
        if not relaxation.tighten(node, self.clock, self.report, climb, most):
            self.lp_cut_short = True
        if node.is_open() and "climb" in self.stages:
            self._climbed(node, [node.order], node.weights.tolist(), patience=10)
        node.divide()

    def branch(self, node: Node) -> None:
        nodes, sums = self.problem.method["nodes"], self.dp_sums(node)
        if nodes and sums == math.inf and self.lp_cut_short:
            self.stopped = "node limit"
            return
        if sums < math.inf:
            nodes = min(nodes or math.inf, max(1, int(sums / SUMS_PER_NODE)))
        branch.settle(node, self.clock, self.report, nodes)
        if nodes and node.is_open():
            if sums < math.inf:
                self.dp(node)
            else:
                self.stopped = "node limit"

    def report(self) -> None:
        score, bound = self.root.score(), self.root.bound()
        if not self.trace or self.trace[-1][1:] != (score, bound):
            self.trace.append((self.clock.seconds(), score, bound))
        gap = self.problem.method["gap"]
        if gap and self.root.open() and bound - score <= gap * abs(score):
            raise Stopped("gap reached")
        settled = sum(len(node.part.variables) for node in self.root.leaves() if not node.is_open())
        percent = 100 * (bound - score) / abs(score) if score else math.inf
        news = f"exact search: score {score:.6f}, bound {bound:.6f}, gap {percent:.4f} %"
        self.tell(news, settled, len(self.root.part.variables))

    def note(self, stage: str) -> None:
        self.report()
        self.counts.append((stage, self.clock.seconds(), sum(len(node.part) for node in self.root.open())))

    def found(self) -> Found:
        names = self.problem.allowed.names
        assert self.problem.sets is not None
        parents: dict[str, tuple[str, ...]] = {}
        for v, place in self.root.places():
            _, sizes, members = self.problem.sets.arrays[v]
            end = int(sizes[: place + 1].sum())
            parents[names[v]] = tuple(names[p] for p in members[end - sizes[place] : end])
        parents = {name: parents[name] for name in names}
        score = self.problem.sets.total(parents)
        bound = max(score, self.root.bound()) if self.root.open() else score
        seconds = self.clock.seconds()
        trace = (*((t, min(s, score), max(b, bound)) for t, s, b in self.trace), (seconds, score, bound))
        return Found(parents, score, bound, str(self.problem.method), seconds, trace, self.stopped, tuple(self.counts))
