"""Directed acyclic graphs and their equivalence classes.

In:  names and the parents of each.
Out: DAG (checked, immutable), its order, its skeleton, and CPDAG, the graph of its Markov equivalence class, with a
member of it.
A graph has names and edges only: no data, no kinds, no scores."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

from spinney.errors import ChoiceError
from spinney.layout import counted

Edge = tuple[str, str]


class DAG:
    """A directed acyclic graph. `parents` keeps the order of the parents as given; equality ignores it.

    >>> sp.DAG(["a", "b"], {"b": ["a"]}).edges
    """

    __slots__ = ("_names", "_order", "_parents")

    def __init__(self, names: Sequence[str], parents: Mapping[str, Iterable[str]]) -> None:
        self._names = _checked_names(names)
        self._parents = MappingProxyType(_checked_parents(self._names, parents))
        order = _topological_order(self._parents)
        if len(order) < len(self._names):
            cycle = " -> ".join(map(repr, find_cycle(self._parents)))
            raise ChoiceError(f"the edges form a cycle, {cycle}; remove one of these edges")
        self._order = tuple(order)

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes, in the order given."""
        return self._names

    @property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Per node its parents."""
        return self._parents

    @property
    def edges(self) -> list[Edge]:
        """All (parent, child), sorted."""
        return sorted((parent, child) for child, parents in self._parents.items() for parent in parents)

    @property
    def children(self) -> dict[str, tuple[str, ...]]:
        """The children of every node, sorted by name."""
        children: dict[str, list[str]] = {name: [] for name in self._names}
        for parent, child in self.edges:
            children[parent].append(child)
        return {name: tuple(found) for name, found in children.items()}

    def order(self) -> tuple[str, ...]:
        """Every node after its parents; among those that may come next, the earliest name first."""
        return self._order

    def skeleton(self) -> frozenset[frozenset[str]]:
        """The adjacent pairs."""
        return frozenset(frozenset(edge) for edge in self.edges)

    def cpdag(self) -> CPDAG:
        """The equivalence class: an edge is directed when every DAG of the class has it.

        Chickering (1995), "A transformational characterization of equivalent Bayesian network structures", labels the
        edges compelled or reversible, children in topological order. Seen per child, the parent that is last in that
        order decides for all edges into the child."""
        position = {name: place for place, name in enumerate(self._order)}
        parents = {name: frozenset(found) for name, found in self._parents.items()}
        compelled: dict[str, frozenset[str]] = {}
        for child in self._order:
            last = max(parents[child], key=position.__getitem__, default=None)
            if last is None:
                compelled[child] = frozenset()
            elif compelled[last] <= parents[child] <= parents[last] | {last}:
                compelled[child] = compelled[last]
            else:
                compelled[child] = parents[child]
        directed = frozenset((parent, child) for child, found in compelled.items() for parent in found)
        undirected = frozenset(frozenset(edge) for edge in self.edges if edge not in directed)
        return CPDAG(self._names, directed, undirected)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DAG):
            return NotImplemented
        return set(self._names) == set(other._names) and self.edges == other.edges

    def __hash__(self) -> int:
        return hash((frozenset(self._names), tuple(self.edges)))

    def __reduce__(self) -> tuple[type[DAG], tuple[tuple[str, ...], dict[str, tuple[str, ...]]]]:
        """For pickle, which does not know read-only mappings."""
        return DAG, (self._names, dict(self._parents))

    def __repr__(self) -> str:
        return f"DAG({counted(len(self._names), 'node')}, {counted(sum(map(len, self._parents.values())), 'edge')})"


class CPDAG:
    """A graph with directed and undirected edges that represents a Markov equivalence class of DAGs."""

    __slots__ = ("_directed", "_names", "_undirected")

    def __init__(self, names: Sequence[str], directed: Iterable[Edge], undirected: Iterable[Iterable[str]]) -> None:
        self._names = _checked_names(names)
        self._directed = frozenset((a, b) for a, b in directed)
        self._undirected = frozenset(frozenset(pair) for pair in undirected)
        pairs = [frozenset(edge) for edge in self._directed] + list(self._undirected)
        for pair in pairs:
            if len(pair) != 2 or not pair <= set(self._names):
                raise ChoiceError(f"edge between {sorted(pair)}: an edge joins two different names of the graph")
        if len(set(pairs)) < len(pairs):
            twice = sorted(next(pair for pair in pairs if pairs.count(pair) > 1))
            raise ChoiceError(
                f"{twice[0]!r} and {twice[1]!r} are joined twice: give one directed or one undirected edge"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes, in the order given."""
        return self._names

    @property
    def directed(self) -> frozenset[Edge]:
        """The directed edges, as (parent, child)."""
        return self._directed

    @property
    def undirected(self) -> frozenset[frozenset[str]]:
        """The undirected edges, as pairs."""
        return self._undirected

    def skeleton(self) -> frozenset[frozenset[str]]:
        """The adjacent pairs."""
        return self._undirected | {frozenset(edge) for edge in self._directed}

    def extension(self) -> DAG:
        """A member of the class: its undirected edges get directions, without a cycle and without a new collider of two
        parents that are not adjacent. Where there is a choice, the edge goes to the later name.

        Dor and Tarsi (1992), "A simple algorithm to construct a consistent extension of a partially oriented graph":
        take away a node that can be last, its undirected edges directed into it, as long as there is one. A node that
        can be last still can when others have gone, so only the neighbours of the one that went are looked at again."""
        rest, parents = _Rest(self), {}
        by_name = sorted(self._names)
        place = {name: -number for number, name in enumerate(by_name)}  # a heap gives the last name first
        ready = [place[name] for name in by_name if rest.can_be_last(name)]
        heapq.heapify(ready)
        seen = set(ready)
        while ready:
            last = by_name[-heapq.heappop(ready)]
            parents[last] = sorted(rest.take(last))
            for other in parents[last]:
                if place[other] not in seen and rest.can_be_last(other):
                    seen.add(place[other])
                    heapq.heappush(ready, place[other])
        if len(parents) < len(self._names):
            left = counted(len(self._names) - len(parents), "node")
            raise ChoiceError(
                f"no DAG has these directed and undirected edges: {left} cannot be ordered without a cycle or a new "
                "collider; give the graph of an equivalence class"
            )
        return DAG(self._names, parents)

    def with_arrows(self, arrows: Iterable[Edge]) -> CPDAG:
        """The members of the class that have these arrows: all edges are directed that are the same in all of them.

        Meek (1995), "Causal inference and causal explanation with background knowledge": four rules, as long as one
        applies. REQUIRES: a member has all these arrows."""
        around: dict[str, set[str]] = {name: set() for name in self._names}
        for one, other in map(tuple, self.skeleton()):
            around[one].add(other)
            around[other].add(one)
        parents: dict[str, set[str]] = {name: set() for name in self._names}
        todo = list(arrows)
        for parent, child in (*self._directed, *todo):
            parents[child].add(parent)
        while todo:
            new = todo.pop()
            # Only edges near a new arrow can be directed by it.
            for one in {*new} | around[new[0]] | around[new[1]]:
                for other in around[one] - parents[one]:
                    if one not in parents[other] and _follows(one, other, parents, around):
                        parents[other].add(one)
                        todo.append((one, other))
        directed = {(parent, child) for child, own in parents.items() for parent in own}
        return CPDAG(self._names, directed, self.skeleton() - {frozenset(edge) for edge in directed})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CPDAG):
            return NotImplemented
        same_names = set(self._names) == set(other._names)
        return same_names and self._directed == other._directed and self._undirected == other._undirected

    def __hash__(self) -> int:
        return hash((frozenset(self._names), self._directed, self._undirected))

    def __repr__(self) -> str:
        return (
            f"CPDAG({counted(len(self._names), 'node')}, {counted(len(self._directed), 'directed edge')}, "
            f"{counted(len(self._undirected), 'undirected edge')})"
        )


def _follows(a: str, b: str, parents: Mapping[str, set[str]], around: Mapping[str, set[str]]) -> bool:
    """Whether a - b must be a -> b: else there were a new collider at a (rule 1), a cycle (2), or one of the two
    whichever way further edges go (3 and 4)."""
    if any(c not in around[b] for c in parents[a] if c != b):
        return True
    if any(a in parents[c] for c in parents[b]):
        return True
    open_to_a = [c for c in around[a] if a not in parents[c] and c not in parents[a]]
    into_b = [c for c in open_to_a if c in parents[b]]
    if any(d not in around[c] for c, d in combinations(into_b, 2)):
        return True
    # c -> d -> b with c - a, d adjacent to a, and c not adjacent to b.
    return any(c in parents[d] and c not in around[b] for d in parents[b] & around[a] for c in open_to_a)


class _Rest:
    """What is left of a partially directed graph when nodes are taken away."""

    def __init__(self, graph: CPDAG) -> None:
        self._adjacent: dict[str, set[str]] = {name: set() for name in graph.names}
        self._undirected: dict[str, set[str]] = {name: set() for name in graph.names}
        self._children: dict[str, set[str]] = {name: set() for name in graph.names}
        for one, other in map(sorted, graph.skeleton()):
            self._adjacent[one].add(other)
            self._adjacent[other].add(one)
        for one, other in map(sorted, graph.undirected):
            self._undirected[one].add(other)
            self._undirected[other].add(one)
        for parent, child in graph.directed:
            self._children[parent].add(child)

    def can_be_last(self, node: str) -> bool:
        """No edge leaves it, and its undirected neighbours are adjacent to all its neighbours."""
        around = self._adjacent[node]
        return not self._children[node] and all(
            around <= self._adjacent[other] | {other} for other in self._undirected[node]
        )

    def take(self, node: str) -> set[str]:
        """Take this node away; the nodes that it was adjacent to."""
        around = self._adjacent[node]
        for other in around:
            for lists in (self._adjacent, self._undirected, self._children):
                lists[other].discard(node)
        return around


def _checked_names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ChoiceError(f"{names!r} is one text, not a list of names: write [{names!r}]")
    names = tuple(names) if isinstance(names, Iterable) else (names,)
    if not all(isinstance(name, str) for name in names):
        raise ChoiceError(f"the names of a graph are texts, not {names!r}: give a list of texts")
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ChoiceError(f"the name {twice!r} occurs twice: every node needs a name of its own")
    return names


def _checked_parents(names: tuple[str, ...], parents: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    known = set(names)
    if not isinstance(parents, Mapping):
        raise ChoiceError(f"the parents of a graph are a dict child -> parents, not {parents!r}: give a dict")
    for child, given in parents.items():
        if child not in known:
            raise ChoiceError(f"{child!r} has parents but is not among the names: add it to the names")
        if isinstance(given, str):
            raise ChoiceError(f"the parents of {child!r} are one text, {given!r}: write a list, [{given!r}]")
        if not isinstance(given, Iterable):
            raise ChoiceError(f"the parents of {child!r} are {given!r}: give a list of names")
    checked = {name: tuple(parents.get(name, ())) for name in names}
    for child, found in checked.items():
        for parent in found:
            if not isinstance(parent, str) or parent not in known:
                raise ChoiceError(f"{parent!r} is a parent of {child!r} but not among the names: add it to the names")
        if len(set(found)) < len(found):
            raise ChoiceError(f"the parents of {child!r} name a node twice: {list(found)}; name each once")
    return checked


def _topological_order(parents: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Every node after its parents, ties by name; nodes on cycles, and after them, are left out."""
    children: dict[str, list[str]] = {name: [] for name in parents}
    for child, found in parents.items():
        for parent in found:
            children[parent].append(child)
    waiting = {name: len(found) for name, found in parents.items()}
    ready = [name for name, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        name = heapq.heappop(ready)
        order.append(name)
        for child in children[name]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, child)
    return order


def find_cycle(parents: Mapping[str, tuple[str, ...]]) -> list[str]:
    """A cycle of edges, its first node again at the end; empty when there is none. REQUIRES: parents are keys too."""
    outside = set(_topological_order(parents))
    if len(outside) == len(parents):
        return []
    # Each node without a place in the order has a parent without one, so following parents ends in a cycle.
    node = min(name for name in parents if name not in outside)
    walk: list[str] = []
    while node not in walk:
        walk.append(node)
        node = min(parent for parent in parents[node] if parent not in outside)
    cycle = walk[walk.index(node) :][::-1]
    return [cycle[-1], *cycle]
