"""PCART and FT: the best decision tree, or the best cut table, over the parents; any mix of kinds.

In:  a Dataset, the score pcart or ft, and a Prior on parent sets.
Out: local scores, scored parent sets, a fitted Partition, or a source that greedy search can ask.
The tree search is in core/local_tree.cpp, the leaves in core/leaf.hpp. Columns stand in sorted order of names, so that
nothing depends on the order in the file; continuous children are standardised, continuous parents cut into cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.choices import Choice
from spinney.constraints import Allowed
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, way
from spinney.fitted.partition import Partition, Splits
from spinney.kinds import Continuous
from spinney.machine import available_memory
from spinney.priors import Prior
from spinney.progress import Report
from spinney.scores.columns import (
    Codes,
    Floats,
    Preparing,
    first_of_cell,
    frequency_ranks,
    frequent_levels,
    halving_cells,
    in_row_order,
    leaf_sums,
    neighbouring_levels,
    quantile_cuts,
    standardised,
)

_MOST_LEVELS = 14  # of a categorical parent: 2^14 level sets, 2.4 million ways to split them; see tree_families.cpp
_MOST_BINS = 64  # ft: levels of a categorical parent
_MOST_CONTINUOUS = 6  # as in core/local_tree.cpp
_MOST_BOXES = 2.0**16  # joint level sets of a family
_PER_ROW = (45.0, 50.0, 120.0, 1000.0)  # nanoseconds, by the number of continuous parents
_LITTLE = 2**28  # bytes that need no asking
_BYTES_PER_SET = 200


@dataclass(frozen=True)
class Column:
    """A column as the core wants it, and what is needed to put it back into the user's units."""

    kind: str
    levels: int  # or halvings
    codes: Codes
    values: Floats | None = None  # standardised, less `centre`
    centre: float = 0.0
    shift: float = 0.0
    scale: float = 1.0
    cuts: tuple[Floats, ...] = ()  # ft: per cutting its cuts, in the user's units or in level codes
    cuttings: tuple[tuple[int, Codes], ...] = ()
    groupings: tuple[tuple[int, Codes], ...] = ()  # ways to group its levels, the finest first

    def facts(self) -> tuple[Any, ...]:
        cuttings, groupings = list(self.cuttings), list(self.groupings)
        return self.kind, self.levels, self.codes, self.values, self.centre, cuttings, groupings


class Trees:
    """One data set under pcart or ft."""

    grown_again = True

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        if prior.per_parameter != 0:
            raise ChoiceError(
                f"the priors ebic and kappa count parameters of tables; score {choice.name} takes the others"
            )
        self.data = data = in_row_order(data, deadline)
        self.choice = choice
        self.names = data.order
        self._index = {name: i for i, name in enumerate(self.names)}
        self._binned = choice.name == "ft"
        self._preparing = Preparing(deadline)
        self._columns = [self._column(name) for name in self.names]
        self.uncut = self._preparing.uncut
        self._facts = [column.facts() for column in self._columns]
        bins = choice["max_bins"] - 1 if self._binned else 1
        self._leaf = {option: float(choice[option]) for option in ("alpha", "mu0", "a", "nu", "lam", "kappa")}
        structure = self._binned or choice["structure_prior"]
        self._spec = _core.TreeSpec(
            self._binned,
            structure_prior=structure,
            log_cuttings=-math.log(bins),
            size_prior=list(prior.by_size),
            ess=choice["ess"],
            **self._leaf,
        )

    def family_cost(self, parents: int) -> float:
        """Nanoseconds to score a family of so many parents, foreseen: the mean over children and parents as they come.

        Per row measured with no, one, two, three continuous parents; three times that where the child is ordinal; a
        fifth of a nanosecond for every split of a block of level sets: most cells hold few rows."""
        columns = self._columns
        continuous = sum(column.kind == "continuous" for column in columns) / max(1, len(columns))
        ordinal = sum(column.kind == "ordinal" for column in columns) / max(1, len(columns))
        sets = [_level_sets(column) for column in columns if column.kind != "continuous"]
        nodes = math.exp(sum(math.log(own) for own, _ in sets) / len(sets)) if sets else 1.0
        splits = sum(own for _, own in sets) / len(sets) if sets else 0.0
        total = 0.0
        for halved in range(parents + 1):
            share = math.comb(parents, halved) * continuous**halved * (1 - continuous) ** (parents - halved)
            if share == 0:
                continue
            per_row = _PER_ROW[min(halved, 3)] * 8.0 ** max(0, halved - 3)
            discrete = parents - halved
            blocks = min(63.0**halved, 6.0**halved * self.data.n_rows / 2 + 1)
            most = 3.0 ** min(14, max(1, 16 - 3 * halved)) / 2  # of as many levels as a lone parent keeps there
            work = min(discrete * splits * nodes ** max(0, discrete - 1), most)
            total += share * (30_000 + self.data.n_rows * per_row + 0.2 * blocks * work)
        return total * (1 + 2 * ordinal)

    def _column(self, name: str) -> Column:
        kind = self.data.kinds[name]
        if isinstance(kind, Continuous):
            return self._continuous(name, kind)
        codes = self.data.codes(name).astype(np.uint16)
        levels = len(self.data.levels(name))
        counts = np.bincount(codes, minlength=levels)
        if kind.word == "categorical":
            rank = frequency_ranks(counts, self.data.levels(name))
            if self._binned:
                bins = np.minimum(rank, _MOST_BINS - 1) if levels > _MOST_BINS else np.arange(levels, dtype=np.uint16)
                cutting = (min(levels, _MOST_BINS), bins[codes])
                return Column("categorical", levels, codes, cuttings=(cutting,), groupings=((cutting[0], bins),))
            return Column("categorical", levels, codes, groupings=frequent_levels(rank, _MOST_LEVELS))
        cuts, cuttings = self._cuttings(codes.astype(np.float64))
        groupings = () if self._binned else neighbouring_levels(counts)
        return Column("ordinal", levels, codes, cuts=cuts, cuttings=cuttings, groupings=groupings)

    @property
    def notes(self) -> tuple[str, ...]:
        """What becomes of columns with many levels as parents."""
        most, what = (_MOST_BINS, "tables tell") if self._binned else (_MOST_LEVELS, "trees split")
        return tuple(
            f"column {name!r} has {column.levels:,} levels; as a parent, {what} its {most - 1} most frequent ones and "
            f"treat the others as one"
            for name, column in zip(self.names, self._columns, strict=True)
            if column.kind == "categorical" and column.levels > most
        )

    def _continuous(self, name: str, kind: Continuous) -> Column:
        values = self.data.values(name)
        halvings = 0 if self._binned else self.choice["max_splits"]
        standard, shift, scale = standardised(name, values, self.data.standardise)
        centre = float(standard.mean()) if len(values) else 0.0
        if not self._preparing.time_for(name):  # one cell: of no use as a parent, and no cost
            nothing: Codes = np.zeros(len(values), np.uint16)
            uncut = ((1, nothing),) if self._binned else ()
            return Column("continuous", 0, nothing, standard - centre, centre, shift, scale, (np.empty(0),), uncut)
        cuts, cuttings = self._cuttings(values)
        cells = halving_cells(values, kind.lo, kind.hi, halvings)
        return Column("continuous", halvings, cells, standard - centre, centre, shift, scale, cuts, cuttings)

    def _cuttings(self, values: Floats) -> tuple[tuple[Floats, ...], tuple[tuple[int, Codes], ...]]:
        """All ways to cut at quantiles that differ; equal cuts collapse."""
        if not self._binned:
            return (), ()
        found: dict[bytes, Floats] = {}
        ordered = np.sort(values)
        for bins in range(2, self.choice["max_bins"] + 1):
            cuts = quantile_cuts(ordered, bins)
            found.setdefault(cuts.tobytes(), cuts)
        cuttings = tuple(
            (len(c) + 1, np.searchsorted(c, values, side="right").astype(np.uint16)) for c in found.values()
        )
        return tuple(found.values()), cuttings

    def family(self, child: str, parents: Sequence[str]) -> tuple[int, list[int]]:
        return self._index[child], sorted(self._index[p] for p in parents)

    def local_scores(
        self,
        families: Sequence[tuple[str, Sequence[str]]],
        threads: int = 1,
        report: Report | None = None,
        time_limit: float | None = None,
    ) -> Floats:
        """In one call of the core. NaN for what was not scored within the time limit."""
        for child, parents in families:
            self._check_size(child, parents)
        facts, numbered = self._named([self.family(child, parents) for child, parents in families])
        return _core.tree_scores(facts, self._spec, numbered, threads, report, time_limit or 0.0)

    def _named(
        self, families: Sequence[tuple[int, Sequence[int]]]
    ) -> tuple[list[tuple[Any, ...]], list[tuple[int, list[int]]]]:
        """The columns that the families name, and the families in their numbers: the core looks through every column
        it is given."""
        named = sorted({v for child, parents in families for v in (child, *parents)})
        place = {v: i for i, v in enumerate(named)}
        numbered = [(place[child], [place[p] for p in parents]) for child, parents in families]
        return [self._facts[v] for v in named], numbered

    def parent_sets(
        self,
        allowed: Allowed,
        *,
        prune: bool,
        bounds: bool,
        threads: int,
        report: Report | None,
        time_limit: float | None,
    ) -> _core.ScoredSets:
        self._check_all(allowed)
        for child in allowed.names:
            self._check_size(child, allowed.required[child])
        return _core.score_tree_sets(
            self._facts,
            self._spec,
            allowed.for_core,
            prune,
            bounds,
            threads,
            report,
            time_limit or 0.0,
            self.most_bytes(threads),
        )

    @staticmethod
    def most_bytes(threads: int) -> float:
        """Of one family: as many as there are threads are scored at the same time."""
        return max(_LITTLE, 0.8 * available_memory() / threads)

    def greedy(self, args: _core.GreedyArgs, report: Report | None) -> dict[str, Any]:
        return _core.greedy_trees(self._facts, self._spec, args, report, self.most_bytes(args.threads))

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> Partition:
        """`stop` may be set by another thread: TimeoutError."""
        order = tuple(sorted(parents))
        number, numbers = self.family(child, order)
        facts, [own] = self._named([(number, numbers)])
        if not order:  # one leaf: nothing to search for, and cheap over a million rows
            nodes = [_Node(leaf=0)]
        elif self._binned:
            choice = _core.fit_bins(facts, self._spec, *own, stop)
            nodes = _table_nodes([self._columns[v] for v in numbers], choice)
        else:
            nodes = [
                _tree_node(node, [self._threshold(v) for v in numbers])
                for node in _core.fit_tree(facts, self._spec, *own, stop)["nodes"]
            ]
        return self._partition(child, order, nodes, score)

    def _threshold(self, number: int) -> Any:
        """From a cell's number to the user's units."""
        kind = self.data.kinds[self.names[number]]
        if not isinstance(kind, Continuous):
            return None
        lo, hi, halvings = float(kind.lo or 0.0), float(kind.hi or 0.0), self._columns[number].levels
        # The smallest number that the coding puts into the cell: rounding must not move a row to the other side.
        return lambda cut: first_of_cell(lo, hi, halvings, cut)

    def _partition(self, child: str, parents: tuple[str, ...], nodes: list[_Node], score: float) -> Partition:
        column = self._columns[self._index[child]]
        splits = Splits(
            np.array([n.feature for n in nodes], np.int32),
            np.array([n.left for n in nodes], np.int32),
            np.array([n.right for n in nodes], np.int32),
            np.array([n.threshold for n in nodes], np.float64),
            tuple(n.goes_left for n in nodes),
            np.array([n.leaf for n in nodes], np.int32),
        )
        sums = leaf_sums(self.data, parents, splits, column)
        parts = np.array([n.part for n in sorted(nodes, key=lambda n: n.leaf) if n.leaf >= 0])
        shared = self.choice["ess"] > 0 and column.kind == "categorical"
        return Partition(
            child,
            parents,
            self.data.kinds[child],
            tuple(self.data.kinds[p] for p in parents),
            sums=sums,
            shift=column.shift,
            scale=column.scale,
            score=score,
            alphas=self.choice["ess"] * parts / sums.shape[1] if shared else None,
            **splits.arrays | self._leaf,
        )

    def _check_size(self, child: str, parents: Iterable[str]) -> None:
        columns = [self._columns[self._index[p]] for p in parents]
        if not self._binned and sum(column.kind == "continuous" for column in columns) > _MOST_CONTINUOUS:
            raise LimitError(
                f"trees of {child!r} over more than {_MOST_CONTINUOUS} continuous parents cannot be scored",
                "name fewer",
                way("lower {}", "max_parents"),
                way("use {}", "score", "ft"),
            )
        ways = math.prod(len(column.cuttings) for column in columns) if self._binned else 1
        if ways * self.data.n_rows > _core.most_cuttings:
            raise LimitError(
                f"score ft would try {ways:,} joint ways to cut the {len(columns)} parents of {child!r}",
                "name fewer parents",
                "lower max_bins of the score",
            )
        need = self._bytes(columns)
        if need > _LITTLE and need > 0.8 * (there := available_memory()):
            raise LimitError(
                f"the trees of {child!r} over {len(list(parents))} parents need {need / 2**30:,.1f} GiB of memory and "
                f"{there / 2**30:,.1f} GiB are free; name fewer parents, or ones with fewer levels"
            )

    def _check_all(self, allowed: Allowed) -> None:
        need, there = allowed.families * _BYTES_PER_SET, available_memory()
        if need > _LITTLE and need > 0.8 * there:
            raise LimitError(
                f"scoring {allowed.families:,} parent sets needs {need / 2**30:,.1f} GiB of memory and "
                f"{there / 2**30:,.1f} GiB are free",
                way("lower {}", "max_parents"),
                way("give {}", "candidates"),
                "take fewer columns",
            )

    def _bytes(self, parents: Sequence[Column]) -> float:
        """What the core's tables for one family take at the most."""
        if self._binned:
            return 16.0 * self.data.n_rows * (len(parents) + 1)
        boxes, vectors = 1.0, 1.0
        for column in parents:
            if column.kind == "continuous":
                vectors *= column.levels + 1
            else:
                boxes = min(boxes * _level_sets(column)[0], _MOST_BOXES)
        cells = vectors * self.data.n_rows / 2 if vectors > 1 else 1.0
        return boxes * 64 + cells * boxes * 8 + vectors * self.data.n_rows * 4


def _level_sets(column: Column) -> tuple[float, float]:
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
    feature, left, right, cut, goes_left, leaf, _, part = node
    if feature < 0:
        return _Node(leaf=leaf, part=part)
    if thresholds[feature] is not None:
        return _Node(feature, left, right, threshold=thresholds[feature](cut))
    return _Node(feature, left, right, goes_left=np.array(goes_left, np.bool_))


def _table_nodes(parents: Sequence[Column], choice: Sequence[int]) -> list[_Node]:
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
