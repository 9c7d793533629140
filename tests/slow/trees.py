"""Trees and full tables over mixed parents, by looking at all of them (Talvitie, Eggeling and Koivisto 2019).

In:  Columns (codes with a declared number of levels, or numbers with their range), Hyper, the number of halvings s.
Out: `best_tree`: max over all trees of [leaves * log gamma + log marginal likelihood], with the number of leaves;
     `log_c`: the normaliser of the tree prior; `pcart`: their sum, the local score; `ft`: the best full table.
Nothing is pruned: empty nodes are split on like the others. `every_tree` names the trees one by one, for tiny cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from math import comb, fsum, log
from typing import Any

from slow.leaves import PAPER, Hyper, leaf

CATEGORICAL, ORDINAL, CONTINUOUS = "categorical", "ordinal", "continuous"


@dataclass(frozen=True)
class Column:
    """Codes 0..levels-1 of a discrete column; numbers within lo..hi of a continuous one, halved at most s times."""

    kind: str
    values: tuple[float, ...]
    levels: int = 0
    lo: float = 0.0
    hi: float = 0.0
    s: int = 5

    def cell(self, row: int) -> int:
        """Which of the 2^s finest intervals, in doubles as formulas.md has it; a midpoint goes right."""
        if self.lo == self.hi:
            return 0
        share: float = (self.values[row] - self.lo) / (self.hi - self.lo)
        return min(math.floor(share * (1 << self.s)), (1 << self.s) - 1)

    def whole(self) -> Part:
        return (0, 0) if self.kind == CONTINUOUS else tuple(range(self.levels))

    def splits(self, part: Part) -> list[tuple[Part, Part]]:
        """All ways to cut a part in two, each once."""
        if self.kind == CONTINUOUS:
            depth, place = part
            return [((depth + 1, 2 * place), (depth + 1, 2 * place + 1))] if depth < self.s else []
        if self.kind == ORDINAL:
            return [(part[:cut], part[cut:]) for cut in range(1, len(part))]
        lefts = [some for size in range(1, len(part)) for some in combinations(part, size) if part[0] in some]
        return [(left, tuple(level for level in part if level not in left)) for left in lefts]

    def holds(self, part: Part, row: int) -> bool:
        if self.kind == CONTINUOUS:
            depth, place = part
            return self.cell(row) >> (self.s - depth) == place
        return self.values[row] in part

    def share(self, part: Part) -> Fraction:
        """How much of the parent's levels, or of its range."""
        return Fraction(1, 2 ** part[0]) if self.kind == CONTINUOUS else Fraction(len(part), self.levels)

    def shape(self) -> tuple[str, int]:
        return (self.kind, self.s if self.kind == CONTINUOUS else self.levels)


def discrete(kind: str, codes: Sequence[int], levels: int) -> Column:
    return Column(kind, tuple(codes), levels)


def numbers(values: Sequence[float], lo: float | None = None, hi: float | None = None, s: int = 5) -> Column:
    """A continuous column; its range is that of the values where none is given."""
    ends = (min(values) if lo is None else lo, max(values) if hi is None else hi)
    return Column(CONTINUOUS, tuple(values), 0, *ends, s)


Part = tuple[int, ...]  # the levels of a discrete parent, or (depth, place) of a dyadic interval
Node = tuple[Part, ...]  # one part per parent
Shape = tuple[tuple[str, int], ...]  # kind with the number of levels or the halvings left, per parent


def splits(parents: Sequence[Column], node: Node) -> Iterator[tuple[Node, Node]]:
    for u, parent in enumerate(parents):
        for left, right in parent.splits(node[u]):
            yield (*node[:u], left, *node[u + 1 :]), (*node[:u], right, *node[u + 1 :])


def rows_in(parents: Sequence[Column], node: Node, n_rows: int) -> list[int]:
    return [row for row in range(n_rows) if all(p.holds(part, row) for p, part in zip(parents, node, strict=True))]


def share_of(parents: Sequence[Column], node: Node) -> float:
    """The node's part of the parents' configurations."""
    return float(math.prod(parent.share(part) for parent, part in zip(parents, node, strict=True)))


# The prior


def log_gamma(shape: Shape) -> float:
    """log 1/(4C); a lone leaf, the only tree where no parent can be split, has prior 1."""
    c = sum({CONTINUOUS: 1, CATEGORICAL: 2 ** (size - 1) - 1, ORDINAL: size - 1}[kind] for kind, size in shape)
    return -log(4 * c) if c else 0.0


def split_shapes(kind: str, size: int) -> list[tuple[int, int, int]]:
    """(left, right, how many splits have these sizes)."""
    if kind == CONTINUOUS:
        return [(size - 1, size - 1, 1)] if size else []
    # The split {A, B} is counted at the part with the first level, which is called left.
    return [(left, size - left, 1 if kind == ORDINAL else comb(size - 1, left - 1)) for left in range(1, size)]


def log_c(shape: Shape) -> float:
    """-log of the sum over all trees of gamma^leaves: a node is a leaf, or one of its splits."""
    gamma = math.exp(log_gamma(shape))
    known: dict[Shape, float] = {}

    def total(node: Shape) -> float:
        if node not in known:
            terms = [gamma]
            for u, (kind, size) in enumerate(node):
                for left, right, times in split_shapes(kind, size):
                    halves = [(*node[:u], (kind, half), *node[u + 1 :]) for half in (left, right)]
                    terms.append(times * total(halves[0]) * total(halves[1]))
            known[node] = fsum(terms)
        return known[node]

    return -log(total(shape))


def every_tree(parents: Sequence[Column], node: Node | None = None) -> Iterator[tuple[Node, ...]]:
    """Every tree as the tuple of its leaves; two trees with the same leaves but other splits are two trees."""
    node = tuple(parent.whole() for parent in parents) if node is None else node
    yield (node,)
    for left, right in splits(parents, node):
        for below_left in every_tree(parents, left):
            for below_right in every_tree(parents, right):
                yield below_left + below_right


def log_c_by_enumeration(parents: Sequence[Column]) -> float:
    gamma = math.exp(log_gamma(shape_of(parents)))
    return -log(fsum(gamma ** len(tree) for tree in every_tree(parents)))


def shape_of(parents: Sequence[Column]) -> Shape:
    return tuple(parent.shape() for parent in parents)


# The best tree

Best = tuple[float, int]  # value, number of leaves


def better(first: Best, second: Best) -> Best:
    """The larger value; of (nearly) equal ones the smaller tree."""
    if abs(first[0] - second[0]) <= 1e-11 * max(1.0, abs(first[0])):
        return (max(first[0], second[0]), min(first[1], second[1]))
    return max(first, second)


def leaf_value(child: Column, rows: Sequence[int], hyper: Hyper, part: float = 1.0) -> float:
    return leaf(child.kind, [child.values[row] for row in rows], child.levels, hyper, part)


def best_tree(child: Column, parents: Sequence[Column], hyper: Hyper = PAPER, structure_prior: bool = True) -> Best:
    """Every node's best subtree, remembered; sets of rows are the bits of an integer."""
    penalty = log_gamma(shape_of(parents)) if structure_prior else 0.0
    everyone = (1 << len(child.values)) - 1
    bits: list[dict[Part, int]] = [_rows_per_part(parent) for parent in parents]
    leaves: dict[tuple[int, float], float] = {}
    known: dict[Node, Best] = {}

    def value_as_leaf(node: Node) -> float:
        rows = everyone
        for u, part in enumerate(node):
            rows &= bits[u][part]
        key = rows, share_of(parents, node) if hyper.ess else 1.0
        if key not in leaves:
            inside = [row for row in range(len(child.values)) if rows >> row & 1]
            leaves[key] = leaf_value(child, inside, hyper, key[1])
        return leaves[key]

    def best(node: Node) -> Best:
        if node not in known:
            answer = (penalty + value_as_leaf(node), 1)
            for left, right in splits(parents, node):
                below_left, below_right = best(left), best(right)
                answer = better(answer, (below_left[0] + below_right[0], below_left[1] + below_right[1]))
            known[node] = answer
        return known[node]

    return best(tuple(parent.whole() for parent in parents))


def _rows_per_part(parent: Column) -> dict[Part, int]:
    """Every part that splits can reach, with its rows."""
    found: dict[Part, int] = {}
    waiting = [parent.whole()]
    while waiting:
        part = waiting.pop()
        if part not in found:
            found[part] = sum(1 << row for row in range(len(parent.values)) if parent.holds(part, row))
            waiting += [half for pair in parent.splits(part) for half in pair]
    return found


def best_tree_by_enumeration(
    child: Column, parents: Sequence[Column], hyper: Hyper = PAPER, structure_prior: bool = True
) -> Best:
    """The same without a memory: all trees one by one, their leaves' rows read anew."""
    penalty = log_gamma(shape_of(parents)) if structure_prior else 0.0
    answer: Best | None = None
    for tree in every_tree(parents):
        each = [
            leaf_value(child, rows_in(parents, node, len(child.values)), hyper, share_of(parents, node))
            for node in tree
        ]
        this = (fsum(each) + penalty * len(tree), len(tree))
        answer = this if answer is None else better(answer, this)
    assert answer is not None
    return answer


def pcart(child: Column, parents: Sequence[Column], hyper: Hyper = PAPER, structure_prior: bool = True) -> float:
    value, _ = best_tree(child, parents, hyper, structure_prior)
    return value + (log_c(shape_of(parents)) if structure_prior else 0.0)


# The full table


def quantile_cuts(values: Sequence[float], bins: int) -> list[Fraction]:
    """Position N i/k - 1/2 in the sorted values, linear between neighbours, the ends beyond them; equal cuts once."""
    ordered = [Fraction(value) for value in sorted(values)]
    cuts = []
    for i in range(1, bins):
        position = Fraction(len(ordered) * i, bins) - Fraction(1, 2)
        position = min(max(position, Fraction(0)), Fraction(len(ordered) - 1))
        below = math.floor(position)
        above = min(below + 1, len(ordered) - 1)
        cuts.append(ordered[below] + (position - below) * (ordered[above] - ordered[below]))
    return sorted(set(cuts))


def bin_of(value: float, cuts: Sequence[Fraction]) -> int:
    return sum(Fraction(value) >= cut for cut in cuts)


def ft_table(child: Column, keys: Sequence[Sequence[int]], n_cells: int, hyper: Hyper = PAPER) -> float:
    """One leaf per joint configuration, of n_cells in all; keys has the configuration of every row."""
    cells: dict[tuple[int, ...], list[int]] = {}
    for row, key in enumerate(keys):
        cells.setdefault(tuple(key), []).append(row)
    return fsum(leaf_value(child, rows, hyper, 1 / n_cells) for rows in cells.values())


def ft(child: Column, parents: Sequence[Column], hyper: Hyper = PAPER, max_bins: int = 7) -> float:
    """max over the joint numbers of bins; the uniform prior over them is (max_bins - 1)^-(parents that are cut)."""
    choices: list[list[tuple[list[int], int]]] = []  # per parent, per choice: the code of every row, how many codes
    for parent in parents:
        if parent.kind == CATEGORICAL:
            choices.append([([int(code) for code in parent.values], parent.levels)])
        else:
            cuts = [quantile_cuts(parent.values, bins) for bins in range(2, max_bins + 1)]
            choices.append([([bin_of(value, some) for value in parent.values], len(some) + 1) for some in cuts])
    n_rows = len(child.values)
    best = max(
        ft_table(
            child,
            [[codes[row] for codes, _ in chosen] for row in range(n_rows)],
            math.prod(size for _, size in chosen),
            hyper,
        )
        for chosen in product(*choices)
    )
    return best - log(max_bins - 1) * sum(parent.kind != CATEGORICAL for parent in parents)


# From and to the tables of the outside world


def standardised(child: Column) -> Column:
    """Mean 0 and (population) standard deviation 1; a constant column becomes 0."""
    if child.kind != CONTINUOUS:
        return child
    exact = [Fraction(value) for value in child.values]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact) / len(exact)
    scale = math.sqrt(variance)
    return replace(child, values=tuple(float(value - mean) / scale if scale else 0.0 for value in exact))


def dataset(columns: dict[str, Column], standardise: bool = False) -> Any:
    """The same table as a spinney Dataset."""
    import spinney as sp

    kinds: dict[str, Any] = {}
    cells: dict[str, list[Any]] = {}
    for name, column in columns.items():
        if column.kind == CONTINUOUS:
            kinds[name] = sp.Continuous(column.lo, column.hi)
            cells[name] = [float(value) for value in column.values]
        else:
            levels = [f"{name}{code}" for code in range(column.levels)]
            kinds[name] = (sp.Categorical if column.kind == CATEGORICAL else sp.Ordinal)(levels)
            cells[name] = [levels[int(code)] for code in column.values]
    return sp.Dataset.from_frame(cells, kinds=kinds, standardise=standardise)


GOLDEN_KINDS = {"cat": CATEGORICAL, "cat_bdeu": CATEGORICAL, "ord": ORDINAL, "real": CONTINUOUS}


def from_golden(description: dict[str, Any], values: Sequence[float]) -> Column:
    """A column of golden/pcart_shared.json."""
    fields = {field: description[field] for field in ("lo", "hi", "s") if field in description}
    return Column(GOLDEN_KINDS[description["type"]], tuple(values), description.get("k", 0), **fields)


def golden_hyper(response: dict[str, Any]) -> Hyper:
    names = {"alpha": "alpha", "mu": "mu0", "a": "a", "nu": "nu", "lambda": "lam", "kappa": "kappa", "ess": "ess"}
    return Hyper(**{ours: response[theirs] for theirs, ours in names.items() if theirs in response})
