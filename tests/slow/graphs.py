"""All DAGs, and what can be said by looking at every one of them.

In:  names, and a table of local scores.
Out: every DAG, its Markov equivalence class, the best of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import combinations

Parents = dict[str, tuple[str, ...]]


def acyclic(parents: Mapping[str, Iterable[str]]) -> bool:
    """Take away nodes without remaining parents until nothing is left, or nothing can go."""
    left = {child: set(of_child) for child, of_child in parents.items()}
    while left:
        free = [child for child, of_child in left.items() if not of_child & left.keys()]
        if not free:
            return False
        for child in free:
            del left[child]
    return True


@cache
def all_masks(n: int) -> tuple[tuple[int, ...], ...]:
    """Every DAG on n nodes as one bit mask of parents per node: 1, 3, 25, 543, 29281 of them."""
    found = []

    def extend(masks: tuple[int, ...]) -> None:
        node = len(masks)
        if node == n:
            found.append(masks)
            return
        for mask in range(1 << n):
            if not mask >> node & 1 and not _closes_cycle((*masks, mask), node):
                extend((*masks, mask))

    extend(())
    return tuple(found)


def _closes_cycle(masks: tuple[int, ...], start: int) -> bool:
    """Can `start` be reached from itself by going to parents, over the nodes decided so far?"""
    seen, todo = 0, masks[start]
    while todo:
        if todo >> start & 1:
            return True
        node = (todo & -todo).bit_length() - 1
        seen |= 1 << node
        todo = (todo | (masks[node] if node < len(masks) else 0)) & ~seen
    return False


def members(names: list[str], mask: int) -> tuple[str, ...]:
    return tuple(name for bit, name in enumerate(names) if mask >> bit & 1)


def all_dags(names: list[str]) -> list[Parents]:
    return [
        {name: members(names, mask) for name, mask in zip(names, masks, strict=True)} for masks in all_masks(len(names))
    ]


def equivalence_class(parents: Parents) -> tuple[frozenset[frozenset[str]], frozenset[tuple[frozenset[str], str]]]:
    """Skeleton and v-structures; equal for two DAGs exactly when they are equivalent (Verma and Pearl 1990)."""
    skeleton = frozenset(frozenset((parent, child)) for child, of_child in parents.items() for parent in of_child)
    colliders = frozenset(
        (frozenset(pair), child)
        for child, of_child in parents.items()
        for pair in combinations(of_child, 2)
        if frozenset(pair) not in skeleton
    )
    return skeleton, colliders


def best_of_all(
    names: list[str],
    scores: Mapping[str, Mapping[frozenset[str], float]],
    allowed: Callable[[Parents], bool] = lambda parents: True,
) -> tuple[float, list[Parents]]:
    """The largest total over all DAGs, and every DAG that reaches it up to rounding.

    A parent set without a score is not available; a graph that uses one does not count."""
    tables = [{_mask(names, of_child): value for of_child, value in scores[name].items()} for name in names]
    totals = []
    for masks in all_masks(len(names)):
        if all(mask in table for mask, table in zip(masks, tables, strict=True)):
            parents = {name: members(names, mask) for name, mask in zip(names, masks, strict=True)}
            if allowed(parents):
                totals.append((sum(table[mask] for mask, table in zip(masks, tables, strict=True)), parents))
    if not totals:
        raise ValueError("no DAG satisfies the constraints")
    top = max(total for total, _ in totals)
    return top, [parents for total, parents in totals if total >= top - 1e-9 * max(1.0, abs(top))]


def _mask(names: list[str], chosen: Iterable[str]) -> int:
    return sum(1 << names.index(name) for name in chosen)
