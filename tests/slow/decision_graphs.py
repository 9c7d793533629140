"""Decision graphs by definition (Chickering, Heckerman and Meek 1997): every operator applied, every leaf scored anew.

In:  a child and its parents as Columns, and a Leaves: the exponents' prior, kappa, bins.
Out: `moves`: all operators with their gains; `ends`: where greedy search can end; `optimum`: the best of all set
     partitions; `network_ends`: where the search of Figure 5 can end.
A graph is what it says about parameters, a set of leaves; a leaf is its set of the parents' configurations, named one
by one (Cells). Where they are too many to name, it is a set of disjoint boxes, with the same five questions (Boxes).
Greedy search may meet equal gains. A tie rule is the fast path's own affair: all ways on are followed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from math import exp, fsum, inf, prod

from slow.leaves import Hyper, continuous, log_rising
from slow.trees import CATEGORICAL, CONTINUOUS, Column, bin_of, quantile_cuts

EQUAL = 1e-9  # gains that differ by less are equal; one that is not above it is none
OPERATORS = ("C", "B", "CB", "CM", "BM", "CBM")

Configuration = tuple[int, ...]
Joint = Callable[[Configuration, int], float]  # P(parents = configuration, child = level)


# Leaves


@dataclass(frozen=True)
class Cells:
    """A set of configurations of parents with these numbers of levels."""

    sizes: tuple[int, ...]
    cells: frozenset[Configuration]

    @classmethod
    def whole(cls, sizes: Iterable[int]) -> Cells:
        sizes = tuple(sizes)
        return cls(sizes, frozenset(product(*map(range, sizes))))

    def levels(self, place: int) -> list[int]:
        """The levels of one parent that are possible here."""
        return sorted({cell[place] for cell in self.cells})

    def part(self, place: int, levels: Iterable[int]) -> Cells:
        wanted = set(levels)
        return replace(self, cells=frozenset(cell for cell in self.cells if cell[place] in wanted))

    def joined(self, other: Cells) -> Cells:
        return replace(self, cells=self.cells | other.cells)

    def holds(self, cell: Configuration) -> bool:
        return cell in self.cells

    def share(self) -> Fraction:
        return Fraction(len(self.cells), prod(self.sizes))


@dataclass(frozen=True)
class Boxes:
    """The same as boxes without common cells: a set of levels per parent."""

    sizes: tuple[int, ...]
    boxes: frozenset[tuple[frozenset[int], ...]]

    @classmethod
    def whole(cls, sizes: Iterable[int]) -> Boxes:
        sizes = tuple(sizes)
        return cls(sizes, frozenset([tuple(frozenset(range(size)) for size in sizes)]))

    def levels(self, place: int) -> list[int]:
        return sorted(frozenset[int]().union(*(box[place] for box in self.boxes)))

    def part(self, place: int, levels: Iterable[int]) -> Boxes:
        wanted = frozenset(levels)
        cut = ((*box[:place], box[place] & wanted, *box[place + 1 :]) for box in self.boxes)
        return replace(self, boxes=frozenset(box for box in cut if box[place]))

    def joined(self, other: Boxes) -> Boxes:
        return replace(self, boxes=self.boxes | other.boxes)

    def holds(self, cell: Configuration) -> bool:
        return any(all(level in some for level, some in zip(cell, box, strict=True)) for box in self.boxes)

    def share(self) -> Fraction:
        return Fraction(sum(prod(map(len, box)) for box in self.boxes), prod(self.sizes))


Region = Cells | Boxes
Graph = frozenset[Region]


@dataclass(frozen=True)
class Leaves:
    """What a leaf is worth: the parameters' prior, and the price of each of them."""

    prior: str = "uniform"
    ess: float = 1.0
    log_kappa: float = 0.0  # per free parameter
    bins: int = 8
    filled: bool = False  # a split sends rows into two leaves at least
    hyper: Hyper = field(default_factory=Hyper)


@dataclass(frozen=True)
class Family:
    """A child and its parents; continuous parents are cut into bins."""

    child: Column
    parents: Sequence[Column]
    leaves: Leaves = field(default_factory=Leaves)
    joint: Joint | None = None  # of the prior network, where there is one

    def __post_init__(self) -> None:
        coded = [_cut(parent, self.leaves.bins) for parent in self.parents]
        object.__setattr__(self, "sizes", tuple(size for _, size in coded))
        codes = [codes for codes, _ in coded]
        object.__setattr__(self, "rows", [tuple(c[row] for c in codes) for row in range(len(self.child.values))])

    sizes: tuple[int, ...] = field(init=False)
    rows: list[Configuration] = field(init=False)  # every row's configuration

    @property
    def parameters(self) -> int:
        """Free ones of one leaf: mean and variance, or r - 1."""
        return 2 if self.child.kind == CONTINUOUS else self.child.levels - 1

    def exponents(self, region: Region) -> list[float]:
        r = self.child.levels
        if self.leaves.prior == "uniform":
            return [1.0] * r
        if self.leaves.prior == "upn":
            return [float(Fraction(self.leaves.ess) * region.share() / r)] * r
        assert isinstance(region, Cells) and self.joint is not None
        return [self.leaves.ess * fsum(self.joint(cell, c) for cell in region.cells) for c in range(r)]

    def leaf(self, region: Region) -> float:
        """Equation 5, one leaf: the rows are looked through anew."""
        inside = [value for value, cell in zip(self.child.values, self.rows, strict=True) if region.holds(cell)]
        price = self.parameters * self.leaves.log_kappa
        if self.child.kind == CONTINUOUS:
            return price + continuous(inside, self.leaves.hyper)
        return price + dirichlet([inside.count(c) for c in range(self.child.levels)], self.exponents(region))

    def score(self, graph: Iterable[Region]) -> float:
        return fsum(self.leaf(region) for region in graph)


def dirichlet(counts: Sequence[int], exponents: Sequence[float]) -> float:
    """log probability of values with these counts, in their order."""
    if any(count and not exponent for count, exponent in zip(counts, exponents, strict=True)):
        return -inf
    seen = fsum(log_rising(exponent, count) for exponent, count in zip(exponents, counts, strict=True) if count)
    return seen - (log_rising(fsum(exponents), sum(counts)) if any(counts) else 0.0)


def _cut(column: Column, bins: int) -> tuple[list[int], int]:
    """Codes and how many there can be."""
    if column.kind != CONTINUOUS:
        return [int(code) for code in column.values], column.levels
    cuts = quantile_cuts(column.values, bins)
    return [bin_of(value, cuts) for value in column.values], len(cuts) + 1


# Operators


@dataclass(frozen=True)
class Move:
    """One operator: C, B or M, the parent that it splits on, the graph after it, and what that gains."""

    operator: str
    place: int | None
    after: Graph
    gain: float = 0.0


def offered(of: Family, graph: Graph, operators: str = "CBM", places: Iterable[int] | None = None) -> list[Move]:
    """Every operator that changes the graph; of those that lead to one graph the first, C before B."""
    found: dict[Graph, Move] = {}
    every = range(len(of.parents)) if places is None else places
    for kind, does in (("C", _complete_splits), ("B", _binary_splits)):
        for leaf, place in product(graph, every) if kind in operators else ():
            for parts in does(of, leaf, place):
                if of.leaves.filled and sum(any(map(part.holds, of.rows)) for part in parts) < 2:
                    continue
                after = graph - {leaf} | set(parts)
                found.setdefault(after, Move(kind, place, after))
    for one, other in combinations(graph, 2) if "M" in operators else ():
        after = graph - {one, other} | {one.joined(other)}  # type: ignore[arg-type]
        found.setdefault(after, Move("M", None, after))
    return list(found.values())


def _complete_splits(of: Family, leaf: Region, place: int) -> Iterator[list[Region]]:
    possible = leaf.levels(place)
    if len(possible) > 1:
        yield [leaf.part(place, [level]) for level in possible]


def _binary_splits(of: Family, leaf: Region, place: int) -> Iterator[list[Region]]:
    """One level against the others; of ordered levels, the lower against the upper ones."""
    possible = leaf.levels(place)
    for level in possible if len(possible) > 1 else ():
        one = [level] if of.parents[place].kind == CATEGORICAL else [low for low in possible if low <= level]
        if len(one) < len(possible):
            yield [leaf.part(place, one), leaf.part(place, set(possible) - set(one))]


def moves(of: Family, graph: Graph, operators: str = "CBM", places: Iterable[int] | None = None) -> list[Move]:
    """The offered operators with their gains, best first: everything is scored anew for each."""
    now = of.score(graph)
    found = [replace(move, gain=of.score(move.after) - now) for move in offered(of, graph, operators, places)]
    return sorted(found, key=lambda move: (-move.gain, move.operator))


def best_moves(found: Sequence[Move]) -> list[Move]:
    """Those that greedy search may take: within EQUAL of the best, C before B before M; none where none gains."""
    top = max((move.gain for move in found), default=-inf)
    if top <= EQUAL:
        return []
    tied = [move for move in found if move.gain >= top - EQUAL]
    first = min("CBM".index(move.operator) for move in tied)
    return [move for move in tied if "CBM".index(move.operator) == first]


# Greedy search


def start(of: Family, region: type[Cells] | type[Boxes] = Cells) -> Graph:
    return frozenset([region.whole(of.sizes)])


def ends(of: Family, operators: str = "CBM", most: int = 300) -> list[Graph] | None:
    """Every graph that greedy search can end with, by what it does at equal gains; None if too many are met."""
    met, waiting, found = {start(of)}, [start(of)], []
    while waiting:
        graph = waiting.pop()
        onwards = best_moves(moves(of, graph, operators))
        if not onwards:
            found.append(graph)
        new = [move.after for move in onwards if move.after not in met]
        met.update(new)
        waiting += new
        if len(met) > most:
            return None
    return found


def ends_in_turns(of: Family, operators: str = "CBM", most: int = 300) -> list[Graph] | None:
    """As ends(), but splits as long as one gains, then merges as long as one gains, and so on in turns."""
    first = (start(of), "CB")
    met, waiting, found = {first}, [first], []
    while waiting:
        graph, turn = waiting.pop()
        other = "M" if turn == "CB" else "CB"
        for kinds in (turn, other):
            onwards = best_moves(moves(of, graph, "".join(set(kinds) & set(operators))))
            if onwards:
                new = [(move.after, kinds) for move in onwards if (move.after, kinds) not in met]
                break
        else:
            found.append(graph)
            new = []
        met.update(new)
        waiting += new
        if len(met) > most:
            return None
    return found


def greedy(of: Family, operators: str = "CBM", region: type[Cells] | type[Boxes] = Boxes) -> tuple[Graph, bool]:
    """One walk, and whether gains were equal somewhere."""
    graph, tied = start(of, region), False
    while onwards := best_moves(moves(of, graph, operators)):
        tied |= len(onwards) > 1
        graph = onwards[0].after
    return graph, tied


# The best graph of all


def set_partitions(things: Sequence[Configuration]) -> Iterator[list[list[Configuration]]]:
    """Every way to put the first thing alone or with others: Bell's numbers 1, 1, 2, 5, 15, 52, 203, 877, 4140."""
    if not things:
        yield []
        return
    first, *rest = things
    for size in range(len(rest) + 1):
        for company in combinations(rest, size):
            others = [thing for thing in rest if thing not in company]
            for below in set_partitions(others):
                yield [[first, *company], *below]


def optimum(of: Family) -> float:
    """Any sets of configurations may share a leaf. A leaf's worth is computed once."""
    known: dict[frozenset[Configuration], float] = {}

    def worth(cells: Iterable[Configuration]) -> float:
        key = frozenset(cells)
        if key not in known:
            known[key] = of.leaf(Cells(of.sizes, key))
        return known[key]

    every = sorted(Cells.whole(of.sizes).cells)
    return max(fsum(map(worth, partition)) for partition in set_partitions(every))


# Local and global structure at once (Figure 5)


@dataclass(frozen=True)
class Network:
    """Per child its parents, and its graph over all columns that may be its parents."""

    parents: Mapping[str, frozenset[str]]
    graphs: Mapping[str, Graph]

    def key(self) -> frozenset[tuple[str, frozenset[str], Graph]]:
        return frozenset((child, self.parents[child], self.graphs[child]) for child in self.parents)


@dataclass(frozen=True)
class Columns:
    """A table, and what may be done with it: the candidates of every child, required parents, how many at the most."""

    families: Mapping[str, Family]  # child -> the family of all its candidates
    candidates: Mapping[str, tuple[str, ...]]
    operators: str = "CBM"
    required: Mapping[str, frozenset[str]] = field(default_factory=dict)
    most: int | None = None
    by_size: Callable[[int], float] = lambda size: 0.0

    def first(self) -> Network:
        return Network(
            {child: self.required.get(child, frozenset()) for child in self.families},
            {child: start(of) for child, of in self.families.items()},
        )

    def score(self, network: Network) -> float:
        return fsum(
            of.score(network.graphs[child]) + self.by_size(len(network.parents[child]))
            for child, of in self.families.items()
        )

    def onwards(self, network: Network) -> list[tuple[Move, Network]]:
        """Steps 2 to 8: every operator of every child, splits on its parents and on its non-descendants."""
        found = []
        for child, of in self.families.items():
            own, below = network.parents[child], descendants(network.parents, child)
            full = self.most is not None and len(own) >= self.most
            open_to = [p for p in self.candidates[child] if p in own or (p not in below and not full)]
            places = [self.candidates[child].index(p) for p in open_to]
            now = of.score(network.graphs[child]) + self.by_size(len(own))
            for move in offered(of, network.graphs[child], self.operators, places):
                parents = own | ({self.candidates[child][move.place]} if move.place is not None else set())
                parents = frozenset(p for p in parents if self._needed(child, p, move.after))
                gain = of.score(move.after) + self.by_size(len(parents)) - now
                changed = Network(
                    {**network.parents, child: parents},
                    {**network.graphs, child: move.after},
                )
                found.append((replace(move, gain=gain), changed))
        return found

    def _needed(self, child: str, parent: str, graph: Graph) -> bool:
        required = self.required.get(child, frozenset())
        return parent in required or depends(graph, self.candidates[child].index(parent))


def network_ends(columns: Columns, most: int = 200) -> list[Network] | None:
    """Every network that the search can end with, by what it does at equal gains; None if too many are met."""
    first = columns.first()
    met, waiting, found = {first.key()}, [first], []
    while waiting:
        network = waiting.pop()
        every = columns.onwards(network)
        best = best_moves([move for move, _ in every])
        onwards = [after for move, after in every if any(move is one for one in best)]
        if not onwards:
            found.append(network)
        for after in onwards:
            if after.key() not in met:
                met.add(after.key())
                waiting.append(after)
        if len(met) > most:
            return None
    return found


def descendants(parents: Mapping[str, Iterable[str]], of: str) -> set[str]:
    found: set[str] = set()
    while more := {child for child, own in parents.items() if ({of} | found) & set(own)} - found:
        found |= more
    return found


def depends(graph: Graph, place: int) -> bool:
    """Do two configurations that differ at this place only lie in different leaves?"""
    leaf_of: dict[Configuration, Region] = {}
    for region in graph:
        assert isinstance(region, Cells)
        leaf_of.update(dict.fromkeys(region.cells, region))
    first: dict[Configuration, Region] = {}
    return any(
        first.setdefault((*cell[:place], *cell[place + 1 :]), region) != region for cell, region in leaf_of.items()
    )


# From and to the library


def choice(
    leaves: Leaves, operators: str = "CBM", optimal: bool = False, network: object = None, steps: str = "best"
) -> object:
    """The same as the user's choice. `kappa` of the Leaves must be the option's, not a prior's on parent sets."""
    import spinney as sp

    hyper = {name: getattr(leaves.hyper, name) for name in ("mu0", "a", "nu", "lam")}
    return sp.Graph(
        operators=operators,
        prior=leaves.prior,
        ess=leaves.ess,
        network=network,
        kappa=exp(leaves.log_kappa),
        bins=leaves.bins,
        filled=leaves.filled,
        optimal=optimal,
        steps=steps,
        **hyper,
    )
