"""PCART and FT: the best decision tree, or the best cut table, over the parents; any mix of kinds.

In:  a Dataset, the score pcart or ft, and a Prior on parent sets.
Out: a Source; its local models are Partitions. The tree search is in core/local_tree.cpp, the sum over all trees in
core/tree_sum.cpp, the leaves in core/leaf.hpp.
Continuous parents are cut into cells here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.choices import Choice, build_choice
from spinney.constraints import Allowed
from spinney.cuts import Codes, first_of_cell, halving_cells, quantile_cuts
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, way
from spinney.fitted.partition import Partition, Splits
from spinney.kinds import Continuous
from spinney.machine import available_memory
from spinney.priors import Prior
from spinney.scores.columns import Preparing, frequency_ranks, frequent_levels, leaf_sums, neighbouring_levels
from spinney.scores.linear import linear_leaves
from spinney.scores.source import LITTLE, Source, check_memory
from spinney.standard import Floats

_MOST_LEVELS = 14  # of a categorical parent: 2^14 level sets, 2.4 million ways to split them; see tree_families.cpp
_MOST_BINS = 64  # ft: levels of a categorical parent
_MOST_CONTINUOUS = 6  # as in core/local_tree.hpp
_MOST_BOXES = 2.0**16  # joint level sets of a family
_PER_POINT = (45.0, 50.0, 120.0, 1000.0)  # nanoseconds, by the number of continuous parents
_BYTES_PER_SET = 200
_SUM = 8.0  # how much longer the sum over all trees takes than the best one


@dataclass(frozen=True)
class Part:
    """A column as a parent of trees."""

    kind: str
    levels: int  # or halvings
    cells: Codes | None = None  # of a continuous column
    cuts: tuple[Floats, ...] = ()  # ft: per cutting its cuts, in the user's units or in level codes
    cuttings: tuple[tuple[int, Codes], ...] = ()
    groupings: tuple[tuple[int, Codes], ...] = ()  # ways to group its levels, the finest first

    def for_core(self) -> tuple[Any, ...]:
        return self.kind, self.levels, self.cells, list(self.cuttings), list(self.groupings)


class Trees(Source):
    """One data set under pcart or ft."""

    fit_grows = True
    prior_last = True

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        if prior.per_parameter != 0:
            raise ChoiceError(
                f"the priors ebic and kappa count parameters of tables; score {choice.name} takes the others"
            )
        super().__init__(data, choice, prior, deadline)
        self._binned = choice.name == "ft"
        self._average = not self._binned and choice["average"]
        if self._average and choice["ess"] > 0:
            raise ChoiceError("pcart(average=True) sums over trees whose leaves are alike; leave out its ess")
        if self._average and not choice["structure_prior"]:
            raise ChoiceError("pcart(average=True) sums over trees by their prior; leave out structure_prior=False")
        self._linear = not self._binned and choice["leaf"] == "linear"
        self._preparing = Preparing(deadline)
        self._parts = [self._part(name) for name in self.names]
        self.uncut = self._preparing.uncut
        bins = choice["max_bins"] - 1 if self._binned else 1
        self._leaf = {option: float(choice[option]) for option in ("alpha", "mu0", "a", "nu", "lam", "kappa")}
        self._spec = _core.TreeSpec(
            self._binned,
            structure_prior=self._binned or choice["structure_prior"],
            log_cuttings=-math.log(bins),
            size_prior=list(prior.by_size),
            ess=choice["ess"],
            linear=self._linear,
            tau=choice["tau"] if self._linear else 1.0,
            average=self._average,
            **self._leaf,
        )

    @cached_property
    def _trees(self) -> _core.TreeScores:
        return _core.TreeScores(self.data.for_core, self._spec, [part.for_core() for part in self._parts])

    def _build(self) -> _core.Scores:
        return self._trees

    def choice_for(self, word: str) -> Choice:
        if not self._linear or word == "continuous":
            return self.choice
        return build_choice(self.entry, {**self.choice.values, "leaf": "constant", "tau": 1.0})

    def family_cost(self, parents: int) -> float:
        """Nanoseconds to score a family of so many parents, foreseen: the mean over children and parents as they come.

        Two nanoseconds per row; per joint finest cell that holds rows measured with no, one, two, three continuous
        parents; three times that where the child is ordinal; a fifth of a nanosecond for every split of a block of
        level sets where most cells hold few rows, up to 2.5 where all hold many. A linear leaf takes up to twice as
        long as a plain one."""
        columns = self._parts
        continuous = sum(column.kind == "continuous" for column in columns) / max(1, len(columns))
        ordinal = sum(column.kind == "ordinal" for column in columns) / max(1, len(columns))
        if self._binned:
            return self._table_cost(parents, continuous + ordinal) * (1 + 2 * ordinal)
        sets = [_level_sets(column) for column in columns if column.kind != "continuous"]
        nodes = math.exp(sum(math.log(own) for own, _ in sets) / len(sets)) if sets else 1.0
        splits = sum(own for _, own in sets) / len(sets) if sets else 0.0
        total = 0.0
        for halved in range(parents + 1):
            share = math.comb(parents, halved) * continuous**halved * (1 - continuous) ** (parents - halved)
            if share == 0:
                continue
            per_point = _PER_POINT[min(halved, 3)] * 8.0 ** max(0, halved - 3)
            discrete = parents - halved
            blocks = min(63.0**halved, 6.0**halved * self.data.n_rows / 2 + 1)
            most = 3.0 ** min(14, max(1, 16 - 3 * halved)) / 2  # of as many levels as a lone parent keeps there
            work = min(discrete * splits * nodes ** max(0, discrete - 1), most)
            points = min(self.data.n_rows, 32.0**halved * 4.0**discrete)
            cells = math.log2(nodes + 1) ** discrete
            per_split = 0.2 if halved else 0.2 + 2.3 * min(1.0, self.data.n_rows / (8 * cells))
            total += share * (5_000 + 2 * self.data.n_rows + points * per_point + per_split * blocks * work)
        return total * (1 + 2 * ordinal) * (1 + continuous if self._linear else 1) * (_SUM if self._average else 1)

    def _table_cost(self, parents: int, cut: float) -> float:
        """ft, where so large a share of the columns is cut: 8 nanoseconds per joint cutting and finest cell with rows,
        of which a cut parent has about twelve, another about four."""
        ways = self.choice["max_bins"] - 1
        total = 0.0
        for k in range(parents + 1):
            share = math.comb(parents, k) * cut**k * (1 - cut) ** (parents - k)
            points = min(self.data.n_rows, 12.0**k * 4.0 ** (parents - k))
            total += share * (5_000 + 2 * self.data.n_rows + 8 * points * float(ways) ** k)
        return total

    def prepare(self, names: Sequence[str]) -> None:
        assert "_trees" not in self.__dict__, "the core has the columns already"
        for name in names:
            self._preparing.need(name)
            self._parts[self._index[name]] = self._part(name)

    def _part(self, name: str) -> Part:
        kind = self.data.kinds[name]
        if isinstance(kind, Continuous):
            return self._continuous(name, kind)
        codes = self.data.codes(name)
        levels = len(self.data.levels(name))
        counts = np.bincount(codes, minlength=levels)
        if kind.word == "categorical":
            rank = frequency_ranks(counts, self.data.levels(name))
            if self._binned:
                bins = np.minimum(rank, _MOST_BINS - 1) if levels > _MOST_BINS else np.arange(levels, dtype=np.uint16)
                cutting = (min(levels, _MOST_BINS), bins[codes])
                return Part("categorical", levels, cuttings=(cutting,), groupings=((cutting[0], bins),))
            return Part("categorical", levels, groupings=frequent_levels(rank, _MOST_LEVELS))
        cuts, cuttings = self._cuttings(codes.astype(np.float64)) if self._binned else ((), ())
        groupings = () if self._binned else neighbouring_levels(counts)
        return Part("ordinal", levels, cuts=cuts, cuttings=cuttings, groupings=groupings)

    @property
    def notes(self) -> tuple[str, ...]:
        """What becomes of columns with many levels as parents."""
        most, what = (_MOST_BINS, "tables tell") if self._binned else (_MOST_LEVELS, "trees split")
        fitted = ("the score sums over all trees of a family; the fitted network has the best one",)
        return (fitted if self._average else ()) + tuple(
            f"column {name!r} has {column.levels:,} levels; as a parent, {what} its {most - 1} most frequent ones and "
            f"treat the others as one"
            for name, column in zip(self.names, self._parts, strict=True)
            if column.kind == "categorical" and column.levels > most
        )

    def _continuous(self, name: str, kind: Continuous) -> Part:
        values = self.data.values(name)
        halvings = 0 if self._binned else self.choice["max_splits"]
        if not self._preparing.time_for(name):  # one cell: of no use as a parent, and no cost
            nothing: Codes = np.zeros(len(values), np.uint16)
            return Part("continuous", 0, nothing, (np.empty(0),), ((1, nothing),) if self._binned else ())
        cuts, cuttings = self._cuttings(values) if self._binned else ((), ())
        return Part("continuous", halvings, halving_cells(values, kind.lo, kind.hi, halvings), cuts, cuttings)

    def _cuttings(self, values: Floats) -> tuple[tuple[Floats, ...], tuple[tuple[int, Codes], ...]]:
        """All ways to cut at quantiles that differ; equal cuts collapse."""
        found: dict[bytes, Floats] = {}
        ordered = np.sort(values)
        for bins in range(2, self.choice["max_bins"] + 1):
            cuts = quantile_cuts(ordered, bins)
            found.setdefault(cuts.tobytes(), cuts)
        cuttings = tuple(
            (len(c) + 1, np.searchsorted(c, values, side="right").astype(np.uint16)) for c in found.values()
        )
        return tuple(found.values()), cuttings

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> Partition:
        order = tuple(sorted(parents))
        number, numbers = self.family(child, order)
        if not order:  # one leaf: nothing to search for, and cheap over a million rows
            nodes = [_Node(leaf=0)]
        elif self._binned:
            choice = self._trees.fit_bins(number, numbers, stop)
            nodes = _table_nodes([self._parts[v] for v in numbers], choice)
        else:
            thresholds = [self._threshold(v) for v in numbers]
            nodes = [_tree_node(node, thresholds) for node in self._trees.fit_tree(number, numbers, stop)]
        partition = self._partition(child, order, nodes, score)
        if self._linear and not partition.kind.discrete and not all(kind.discrete for kind in partition.parent_kinds):
            return linear_leaves(self.data, partition, self.choice["tau"])
        return partition

    def _threshold(self, number: int) -> Any:
        """From a cell's number to the user's units."""
        kind = self.data.kinds[self.names[number]]
        if not isinstance(kind, Continuous):
            return None
        lo, hi, halvings = float(kind.lo or 0.0), float(kind.hi or 0.0), self._parts[number].levels
        # The smallest number that the coding puts into the cell: rounding must not move a row to the other side.
        return lambda cut: first_of_cell(lo, hi, halvings, cut)

    def _partition(self, child: str, parents: tuple[str, ...], nodes: list[_Node], score: float) -> Partition:
        continuous = not self.data.kinds[child].discrete
        splits = Splits(
            np.array([n.feature for n in nodes], np.int32),
            np.array([n.left for n in nodes], np.int32),
            np.array([n.right for n in nodes], np.int32),
            np.array([n.threshold for n in nodes], np.float64),
            tuple(n.goes_left for n in nodes),
            np.array([n.leaf for n in nodes], np.int32),
        )
        sums = leaf_sums(self.data, parents, splits, child)
        parts = np.array([n.part for n in sorted(nodes, key=lambda n: n.leaf) if n.leaf >= 0])
        shared = self.choice["ess"] > 0 and self.data.kinds[child].word == "categorical"
        return Partition(
            child,
            parents,
            self.data.kinds[child],
            tuple(self.data.kinds[p] for p in parents),
            sums=sums,
            shift=self.data.standard(child).shift if continuous else 0.0,
            scale=self.data.standard(child).scale if continuous else 1.0,
            score=score,
            alphas=self.choice["ess"] * parts / sums.shape[1] if shared else None,
            **splits.arrays | self._leaf,
        )

    def check_family(self, child: str, parents: Sequence[str]) -> None:
        parts = [self._parts[self._index[p]] for p in parents]
        if not self._binned and sum(part.kind == "continuous" for part in parts) > _MOST_CONTINUOUS:
            raise LimitError(
                f"trees of {child!r} over more than {_MOST_CONTINUOUS} continuous parents cannot be scored",
                "name fewer",
                way("lower {}", "max_parents"),
                way("use {}", "score", "ft"),
            )
        ways = math.prod(len(part.cuttings) for part in parts) if self._binned else 1
        if ways * self.data.n_rows > _core.most_cuttings:
            raise LimitError(
                f"score ft would try {ways:,} joint ways to cut the {len(parts)} parents of {child!r}",
                "name fewer parents",
                "lower max_bins of the score",
            )
        need = self._bytes(parts)
        if need > LITTLE and need > 0.8 * (there := available_memory()):
            raise LimitError(
                f"the trees of {child!r} over {len(parents)} parents need {need / 2**30:,.1f} GiB of memory and "
                f"{there / 2**30:,.1f} GiB are free; name fewer parents, or ones with fewer levels"
            )

    def check_sets(self, allowed: Allowed, prune: bool) -> None:
        check_memory(
            f"scoring {allowed.families:,} parent sets", _BYTES_PER_SET * allowed.families, "take fewer columns"
        )

    def _bytes(self, parents: Sequence[Part]) -> float:
        """What the core's tables for one family take at the most."""
        if self._binned:
            return 16.0 * self.data.n_rows * (len(parents) + 1)
        boxes, vectors, points = 1.0, 1.0, 1.0
        for column in parents:
            continuous = column.kind == "continuous"
            points = min(self.data.n_rows, points * (2**column.levels if continuous else column.levels))
            if continuous:
                vectors *= column.levels + 1
            else:
                boxes = min(boxes * _level_sets(column)[0], _MOST_BOXES)
        if vectors == 1:
            return boxes * 64
        d = sum(column.kind == "continuous" for column in parents) if self._linear else 0
        return boxes * 64 + vectors * points * (boxes * 4 + 4) + points * 12 * (d + 2) * (d + 3)


def _level_sets(column: Part) -> tuple[float, float]:
    """How many level sets a discrete parent has, and how many ways to split them all."""
    k = float(column.levels)
    if column.kind == "ordinal":
        k = min(k, 180.0)  # more have over 2^14 sets, and are grouped
        return k * (k + 1) / 2, k * (k * k - 1) / 6
    k = min(k, _MOST_LEVELS)
    return 2.0**k - 1, (3.0**k + 1) / 2 - 2.0**k


@dataclass
class _Node:
    feature: int = -1
    left: int = -1
    right: int = -1
    threshold: float = math.nan
    goes_left: NDArray[np.bool_] | None = None
    leaf: int = -1
    part: float = 1.0  # of a leaf, of the parents' configurations


def _tree_node(node: tuple[Any, ...], thresholds: Sequence[Any]) -> _Node:
    feature, left, right, cut, goes_left, leaf, part = node
    if feature < 0:
        return _Node(leaf=leaf, part=part)
    if thresholds[feature] is not None:
        return _Node(feature, left, right, threshold=thresholds[feature](cut))
    return _Node(feature, left, right, goes_left=np.array(goes_left, np.bool_))


def _table_nodes(parents: Sequence[Part], choice: Sequence[int]) -> list[_Node]:
    """A table as a tree: one parent after another, its bins or levels split off one by one."""
    nodes: list[_Node] = []
    leaves = 0

    def grow(depth: int) -> int:
        nonlocal leaves
        if depth == len(parents):
            nodes.append(_Node(leaf=leaves))
            leaves += 1
            return len(nodes) - 1
        column = parents[depth]
        bins = column.groupings[0][0] if column.kind == "categorical" else len(column.cuts[choice[depth]]) + 1
        return part(depth, 0, bins)

    def part(depth: int, first: int, end: int) -> int:
        """The subtree for the bins first..end-1 of this parent."""
        if end - first == 1:
            return grow(depth + 1)
        node, here = _Node(depth), len(nodes)
        nodes.append(node)
        column = parents[depth]
        if column.kind == "continuous":
            node.threshold = float(column.cuts[choice[depth]][first])
        else:
            bins = (
                column.groupings[0][1]
                if column.kind == "categorical"
                else np.searchsorted(column.cuts[choice[depth]], np.arange(column.levels), side="right")
            )
            node.goes_left = bins <= first
        node.left = grow(depth + 1)
        node.right = part(depth, first + 1, end)
        return here

    grow(0)
    for node in nodes:
        node.part = 1 / leaves
    return nodes
