"""PC and conservative PC once more, from the papers: Colombo and Maathuis (2014); Ramsey, Spirtes and Zhang (2006).

In:  names, and a function (x, y, given) -> p-value.
Out: the adjacent pairs, what parts the others, the colliders; and all DAGs that have these and no other colliders.
Written for a handful of names: every set is tried, and DAGs are found by trying all directions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product

from slow.graphs import Parents, acyclic, equivalence_class

Pair = frozenset[str]
Triple = tuple[Pair, str]  # two ends that are not adjacent, and what is between them
Test = Callable[[str, str, tuple[str, ...]], float]


def given_sets(around: Mapping[str, set[str]], x: str, y: str, size: int) -> set[tuple[str, ...]]:
    return {given for end in (x, y) for given in combinations(sorted(around[end] - {x, y}), size)}


def skeleton(names: list[str], test: Test, alpha: float, most: int) -> tuple[set[Pair], dict[Pair, tuple[str, ...]]]:
    """The adjacent pairs; of the others the set with the largest p-value at the first size that has one above alpha."""
    joined = {frozenset(pair) for pair in combinations(names, 2)}
    parted: dict[Pair, tuple[str, ...]] = {}
    for size in range(most + 1):
        around = {name: {other for pair in joined if name in pair for other in pair - {name}} for name in names}
        for pair in sorted(joined, key=sorted):
            x, y = sorted(pair)
            p = {given: test(x, y, given) for given in given_sets(around, x, y, size)}
            if p and max(p.values()) > alpha:
                joined.discard(pair)
                parted[pair] = max(sorted(p), key=p.__getitem__)
    return joined, parted


def triples(names: list[str], joined: set[Pair]) -> Iterator[Triple]:
    for x, y in combinations(sorted(names), 2):
        if frozenset((x, y)) not in joined:
            for z in names:
                if frozenset((x, z)) in joined and frozenset((y, z)) in joined:
                    yield frozenset((x, y)), z


def colliders_by_one_set(names: list[str], joined: set[Pair], parted: Mapping[Pair, tuple[str, ...]]) -> set[Triple]:
    return {(ends, z) for ends, z in triples(names, joined) if z not in parted[ends]}


def colliders_by_all_sets(names: list[str], joined: set[Pair], test: Test, alpha: float, most: int) -> set[Triple]:
    around = {name: {other for pair in joined if name in pair for other in pair - {name}} for name in names}
    found = set()
    for ends, z in triples(names, joined):
        x, y = sorted(ends)
        parting = [g for size in range(most + 1) for g in given_sets(around, x, y, size) if test(x, y, g) > alpha]
        if parting and all(z not in given for given in parting):
            found.add((ends, z))
    return found


def members(names: list[str], joined: set[Pair], colliders: set[Triple]) -> list[Parents]:
    """All DAGs with these edges and exactly these colliders."""
    pairs = sorted(map(sorted, joined))
    found = []
    for turned in product((False, True), repeat=len(pairs)):
        parents: dict[str, list[str]] = {name: [] for name in names}
        for (a, b), turn in zip(pairs, turned, strict=True):
            parents[a if turn else b].append(b if turn else a)
        dag = {name: tuple(sorted(own)) for name, own in parents.items()}
        if acyclic(dag) and equivalence_class(dag)[1] == colliders:
            found.append(dag)
    return found
