"""Columns on their way into the core, and leaves on their way out: what trees and decision graphs share.

In:  values or codes of a column.
Out: its units, its cuts at quantiles, the cells of its range, and the sums of the child in every leaf."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError
from spinney.fitted.partition import Splits

SHARE_FOR_CUTTING = 0.25  # of the time limit
SORT_PER_CELL = 1e-8  # seconds

Codes = NDArray[np.uint16]
Floats = NDArray[np.float64]


_SORTED: WeakKeyDictionary[Dataset, Dataset] = WeakKeyDictionary()  # data set -> the same with its rows in order


def in_row_order(data: Dataset, deadline: Deadline | None = None) -> Dataset:
    """The same rows in an order of their own, whatever their order was: by the continuous columns, then the others.

    Sums of numbers depend on their order in the last digits, and between equal networks these would decide. Counts do
    not, so a table without continuous columns stays as it is. Where sorting
    would take more than a tenth of the time limit it is left out: the limit decides the answer there in any case."""
    continuous = [name for name in data.order if not data.kinds[name].discrete]
    if not continuous or data.n_rows < 2:
        return data
    cells = data.n_rows * len(data.names)
    if deadline is not None and deadline.seconds is not None and SORT_PER_CELL * cells > 0.1 * deadline.seconds:
        return data
    if data not in _SORTED:
        first = data.values(continuous[0])
        order = np.argsort(first, kind="stable")
        ranked = first[order]
        if (ranked[1:] == ranked[:-1]).any():
            discrete = [name for name in data.order if data.kinds[name].discrete]
            keys = [*map(data.values, continuous), *map(data.codes, discrete)]
            order = np.lexsort(keys[::-1])  # the last key counts first there
        _SORTED[data] = data.take(order)
    return _SORTED[data]


_LARGE = 2.0**1000  # differences and sums of larger numbers may overflow, so they are taken of a part of them
_PART = 2.0**-64  # a power of two: no digit is lost
_MOST_PLAIN = 1e100  # of a column that is not standardised: its squares must be numbers


def standardised(name: str, values: Floats, wanted: bool) -> tuple[Floats, float, float]:
    """(values - shift) / scale, with the shift and the scale; not `wanted`: the values as they are."""
    if wanted:
        shift, scale = shift_and_scale(values)
        part = _part(values)
        return (values * part - shift * part) / (scale * part), shift, scale
    if len(values) and np.abs(values).max() > _MOST_PLAIN:
        raise ChoiceError(
            f"column {name!r} has values beyond {_MOST_PLAIN:g}, and without standardising their squares are too large "
            f"for numbers; leave standardise=True, or measure the column in another unit"
        )
    return values, 0.0, 1.0


class Preparing:
    """Cutting the columns of a large table takes its time too: past a share of the limit, columns are left uncut, and
    are no parents."""

    def __init__(self, deadline: Deadline | None) -> None:
        self._end = math.inf if deadline is None else deadline.end(SHARE_FOR_CUTTING)
        self.uncut: list[str] = []

    def time_for(self, name: str) -> bool:
        if time.perf_counter() < self._end:
            return True
        self.uncut.append(name)
        return False


def shift_and_scale(values: Floats) -> tuple[float, float]:
    """Mean and population standard deviation; a constant column keeps its scale.

    Both are taken of the values over a power of two near the largest of them, so that no square overflows or vanishes:
    the answer scales with the column, in every digit."""
    if len(values) == 0 or values.min() == values.max():
        return (float(values[0]) if len(values) else 0.0), 1.0
    exponent = int(np.frexp(np.abs(values).max())[1])
    units = np.ldexp(values, -exponent)
    mean = units.mean()
    spread = np.sqrt(np.mean((units - mean) ** 2))
    smallest = float(np.nextafter(0.0, 1.0))  # where the spread itself is below all numbers
    return float(np.ldexp(mean, exponent)), max(float(np.ldexp(spread, exponent)), smallest)


def _part(values: Floats) -> float:
    return _PART if len(values) and np.abs(values).max() > _LARGE else 1.0


def quantile_cuts(ordered: Floats, bins: int) -> Floats:
    """Cuts at position N i/bins - 0.5 of the sorted values, linear in between; equal ones collapse."""
    if len(ordered) == 0:
        return np.empty(0)
    position = np.clip(len(ordered) * np.arange(1, bins) / bins - 0.5, 0, len(ordered) - 1)
    low = np.floor(position).astype(np.int64)
    high = np.minimum(low + 1, len(ordered) - 1)
    part = _part(ordered)
    below, above = ordered[low] * part, ordered[high] * part
    return np.unique((below + (above - below) * (position - low)) / part)


def halving_cells(values: Floats, lo: float | None, hi: float | None, halvings: int) -> Codes:
    """The cell of every value when the range from lo to hi is halved so often; what lies outside is in an end cell."""
    if lo is None or hi is None or hi <= lo:
        return np.zeros(len(values), np.uint16)
    cells = 2**halvings
    with np.errstate(over="ignore"):  # far outside of the range: an end cell
        codes: Codes = np.clip(np.floor(_place(values, lo, hi, cells)), 0, cells - 1).astype(np.uint16)
    return codes


def first_of_cell(lo: float, hi: float, halvings: int, cell: int) -> float:
    """The smallest number that halving_cells puts into `cell` (of at least 1) or beyond it.

    The place never falls when the value grows, so numbers between the ends are halved in their order: 64 steps."""
    if hi <= lo:
        return float(np.nextafter(lo, np.inf))  # nothing lies right of it
    below, found = _rank(lo), _rank(hi)
    while found - below > 1:
        middle = (below + found) // 2
        if _place(_ranked(middle), lo, hi, 2**halvings) >= cell:
            found = middle
        else:
            below = middle
    return _ranked(found)


def _place(value: Any, lo: float, hi: float, cells: int) -> Any:
    """Where a value lies in the range, in cells from its lower end: the one rule for rows and for thresholds."""
    part = 0.25 if max(abs(lo), abs(hi)) > _LARGE else 1.0
    return (value * part - lo * part) / (hi * part - lo * part) * cells


def _rank(number: float) -> int:
    """The place of a number in the order of all numbers; 0 has 0."""
    bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _ranked(rank: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", abs(rank)))[0]
    return number if rank >= 0 else -number


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


class ChildColumn(Protocol):
    """What the sums of leaves are made of."""

    @property
    def levels(self) -> int: ...

    @property
    def codes(self) -> Codes: ...

    @property
    def values(self) -> Floats | None: ...

    @property
    def centre(self) -> float: ...


def leaf_sums(data: Dataset, parents: Sequence[str], splits: Splits, child: ChildColumn) -> Floats:
    """Of the rows that the finished partition sends to each leaf: counts of levels, or rows, sum and sum of squares.

    They are counted here, once and for every score alike, so that they are those of the leaves in which prediction
    will put the same rows; the core knows cells, bins and groups of levels, and not the thresholds."""
    kinds = data.kinds
    leaf = splits.leaf_of([data.codes(p) if kinds[p].discrete else data.values(p) for p in parents], data.n_rows)
    leaves = int(splits.leaf.max()) + 1
    if child.values is None:
        counted = np.bincount(leaf * child.levels + child.codes, minlength=leaves * child.levels)
        return counted.reshape(leaves, child.levels).astype(np.float64)
    standard = child.values + child.centre
    if leaves == 1:
        return np.array([[len(standard), standard.sum(), (standard**2).sum()]], np.float64)
    rows = np.bincount(leaf, minlength=leaves).astype(np.float64)
    sums = [np.bincount(leaf, weights, minlength=leaves) for weights in (standard, standard**2)]
    return np.stack([rows, *sums], axis=1)
