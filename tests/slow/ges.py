"""Greedy equivalence search by the book, over all classes of at most five variables.

In:  a score that is equal on Markov equivalent DAGs.
Out: the class where the search ends, step by step as core/search_ges.cpp walks, with nothing of its methods: every
class is the list of all its DAGs, and a neighbour is what some member becomes when one edge is added, removed or
turned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache

from slow.graphs import Parents, all_masks, equivalence_class, members

Masks = tuple[int, ...]
Score = Callable[[str, tuple[str, ...]], float]
LEAST = 1e-9  # a gain
KINDS = ("delete", "turn", "insert")


@cache
def _classes(n: int) -> tuple[dict[Masks, int], list[list[Masks]]]:
    """The number of every DAG's class, and the members of every class."""
    names = [str(v) for v in range(n)]
    numbers: dict[object, int] = {}
    of: dict[Masks, int] = {}
    lists: list[list[Masks]] = []
    for masks in all_masks(n):
        key = equivalence_class({name: members(names, mask) for name, mask in zip(names, masks, strict=True)})
        number = numbers.setdefault(key, len(lists))
        if number == len(lists):
            lists.append([])
        lists[number].append(masks)
        of[masks] = number
    return of, lists


def _changed(masks: Masks, kind: str) -> Iterator[tuple[int, int, Masks]]:
    """(x, y, what becomes of it): x -> y is added or removed, or was y -> x."""
    n = len(masks)
    for y in range(n):
        for x in range(n):
            new = list(masks)
            if kind == "insert" and x != y and not (masks[y] >> x | masks[x] >> y) & 1:
                new[y] |= 1 << x
            elif kind == "delete" and masks[y] >> x & 1:
                new[y] ^= 1 << x
            elif kind == "turn" and masks[x] >> y & 1:
                new[x] ^= 1 << y
                new[y] |= 1 << x
            else:
                continue
            yield x, y, tuple(new)


class SlowGes:
    def __init__(self, names: list[str], score: Score, allowed: Callable[[Parents], bool] | None = None) -> None:
        self.names, self.n = names, len(names)
        self.of, self.lists = _classes(self.n)
        self.local = [[score(name, members(names, mask)) for mask in range(1 << self.n)] for name in names]
        self.allowed = allowed
        self.steps: list[tuple[str, int]] = []

    def total(self, number: int) -> float:
        return sum(self.local[v][mask] for v, mask in enumerate(self.lists[number][0]))

    def parents(self, masks: Masks) -> Parents:
        return {name: members(self.names, mask) for name, mask in zip(self.names, masks, strict=True)}

    def possible(self, number: int) -> bool:
        return self.allowed is None or any(self.allowed(self.parents(masks)) for masks in self.lists[number])

    def neighbours(self, number: int, kind: str) -> Iterator[tuple[int, int, Masks, int]]:
        """(x, y, member before, class after)."""
        for masks in self.lists[number]:
            for x, y, new in _changed(masks, kind):
                after = self.of.get(new)
                if after is not None and after != number:
                    yield x, y, masks, after

    def climb(self, number: int, blocked: frozenset[frozenset[int]], full: bool) -> int:
        while True:
            for kind in KINDS:
                best = (LEAST, -1)
                for x, y, _, after in self.neighbours(number, kind):
                    if kind == "insert" and (frozenset((x, y)) in blocked or not (full or self.near(x, y))):
                        continue
                    gain = self.total(after) - self.total(number)
                    if gain > best[0] and self.possible(after):
                        best = (gain, after)
                if best[1] >= 0:
                    self.steps.append((kind, best[1]))
                    number = best[1]
                    break
            else:
                return number

    def near(self, x: int, y: int) -> bool:
        return self.local[y][1 << x] - self.local[y][0] > LEAST

    def deletes(self, number: int) -> list[tuple[float, int, int, tuple[int, ...], int]]:
        """(loss, y, x, neighbours of y that are its parents, class after), the smallest loss first."""
        joined: dict[int, set[int]] = defaultdict(
            set
        )  # per y: who is its parent in one member and its child in another
        for y in range(self.n):
            parents = {x for masks in self.lists[number] for x in range(self.n) if masks[y] >> x & 1}
            children = {x for masks in self.lists[number] for x in range(self.n) if masks[x] >> y & 1}
            joined[y] = parents & children
        found = set()
        for x, y, masks, after in self.neighbours(number, "delete"):
            above = tuple(v for v in sorted(joined[y] - {x}) if masks[y] >> v & 1)
            found.add((round(self.total(number) - self.total(after), 7), y, x, above, after))
        return sorted(found)

    def run(self, extended: bool = True) -> int:
        number = self.climb(self.of[(0,) * self.n], frozenset(), full=False)
        number = self.climb(number, frozenset(), full=True)
        better = extended
        while better:
            while better:
                number, better = self.without_each(number)
            for v in range(self.n):
                number, won = self.without_several(number, v)
                better = better or won
        return number

    def without_each(self, number: int) -> tuple[int, bool]:
        better = False
        for _, y, x, above, _ in self.deletes(number):
            now = [one for one in self.deletes(number) if one[1:4] == (y, x, above)]
            if not now or not self.possible(now[0][4]):
                continue
            reached = self.climb(now[0][4], frozenset([frozenset((x, y))]), full=True)
            if self.total(reached) > self.total(number) + LEAST:
                number, better = self.climb(reached, frozenset(), full=True), True
        return number, better

    def adjacent(self, number: int, x: int, y: int) -> bool:
        masks = self.lists[number][0]
        return bool((masks[y] >> x | masks[x] >> y) & 1)

    def without_several(self, number: int, v: int) -> tuple[int, bool]:
        """Two edges of v whose other ends are joined, one pair after another; if there was one, all edges of v."""
        before = number
        near = [u for u in range(self.n) if self.adjacent(number, u, v)]
        triangles = False
        for i, a in enumerate(near):
            for b in near[:i]:
                if all(self.adjacent(number, *pair) for pair in ((a, v), (b, v), (a, b))):
                    triangles = True
                    number = self.forced(number, [(a, v), (b, v)])
        near = [u for u in range(self.n) if self.adjacent(number, u, v)]
        if triangles and len(near) > 2:
            number = self.forced(number, [(u, v) for u in near])
        return number, number != before

    def forced(self, number: int, pairs: list[tuple[int, int]]) -> int:
        reached = number
        for pair in pairs:
            cheapest = next((one for one in self.deletes(reached) if {one[1], one[2]} == set(pair)), None)
            if cheapest is None or not self.possible(cheapest[4]):
                return number
            reached = cheapest[4]
        reached = self.climb(reached, frozenset(map(frozenset, pairs)), full=True)
        if self.total(reached) <= self.total(number) + LEAST:
            reached = self.climb(reached, frozenset(), full=True)
        if self.total(reached) <= self.total(number) + LEAST:
            return number
        return self.climb(reached, frozenset(), full=True)
