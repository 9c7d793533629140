"""Parents of trees and decision graphs on their way into the core, and leaves on their way out.

In:  counts of levels; a finished partition.
Out: ways to group the levels of a parent, and the sums of the child in every leaf."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spinney.cuts import Codes
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.fitted.partition import Splits
from spinney.standard import Floats

SHARE_FOR_CUTTING = 0.25  # of the time limit


class Preparing:
    """Cutting the columns of a large table takes its time too: past a share of the limit, columns are left uncut, and
    are no parents."""

    def __init__(self, deadline: Deadline | None) -> None:
        self._end = math.inf if deadline is None else deadline.end(SHARE_FOR_CUTTING)
        self._needed: set[str] = set()
        self.uncut: list[str] = []

    def need(self, name: str) -> None:
        """However little time there is."""
        self._needed.add(name)
        self.uncut.remove(name)

    def time_for(self, name: str) -> bool:
        if time.perf_counter() < self._end or name in self._needed:
            return True
        self.uncut.append(name)
        return False


def frequency_ranks(counts: NDArray[np.int64], levels: Sequence[str]) -> Codes:
    """The place of every level when the most frequent comes first; equal ones in the order of their texts."""
    order = sorted(range(len(levels)), key=lambda level: (-counts[level], levels[level]))
    rank = np.empty(len(levels), np.uint16)
    rank[order] = np.arange(len(levels))
    return rank


def frequent_levels(rank: Codes, most: int) -> tuple[tuple[int, Codes], ...]:
    """Ways to group levels: the most frequent by themselves, all others together; of `most` groups and fewer."""
    return tuple((groups, np.minimum(rank, groups - 1)) for groups in range(min(len(rank) - 1, most), 1, -1))


def neighbouring_levels(counts: NDArray[np.int64]) -> tuple[tuple[int, Codes], ...]:
    """Ways to group ordered levels: 128, 64 and so on groups of about as many rows each, halved every time."""
    weights = counts if counts.sum() else np.ones(len(counts))
    middle = (np.cumsum(weights) - weights / 2) / weights.sum()  # of every level, as a share of the rows
    sizes = [groups for groups in (128, 64, 32, 16, 8, 4, 2) if groups < len(counts)]
    return tuple((groups, np.minimum(middle * groups, groups - 1).astype(np.uint16)) for groups in sizes)


def leaf_sums(data: Dataset, parents: Sequence[str], splits: Splits, child: str) -> Floats:
    """Of the rows that the finished partition sends to each leaf: counts of levels, or rows, sum and sum of squares.

    They are counted here, once and for every score alike, so that they are those of the leaves in which prediction
    will put the same rows; the core knows cells, bins and groups of levels, and not the thresholds."""
    kinds = data.kinds
    leaf = splits.leaf_of([data.codes(p) if kinds[p].discrete else data.values(p) for p in parents], data.n_rows)
    leaves = int(splits.leaf.max()) + 1
    if kinds[child].discrete:
        levels = len(data.levels(child))
        counted = np.bincount(leaf * levels + data.codes(child), minlength=leaves * levels)
        return counted.reshape(leaves, levels).astype(np.float64)
    column = data.standard(child)
    standard = column.values + column.centre
    if leaves == 1:
        return np.array([[len(standard), standard.sum(), (standard**2).sum()]], np.float64)
    rows = np.bincount(leaf, minlength=leaves).astype(np.float64)
    sums = [np.bincount(leaf, weights, minlength=leaves) for weights in (standard, standard**2)]
    return np.stack([rows, *sums], axis=1)
