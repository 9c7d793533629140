"""Where continuous columns are cut: at quantiles, or by halving their range.

In:  the values of a column, its range.
Out: cuts in the user's units; the cell of every value, and the smallest number of a cell."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.standard import LARGE, Floats, part_of

Codes = NDArray[np.uint16]


def quantile_cuts(ordered: Floats, bins: int) -> Floats:
    """Cuts at position N i/bins - 0.5 of the sorted values, linear in between; equal ones collapse."""
    if len(ordered) == 0:
        return np.empty(0)
    position = np.clip(len(ordered) * np.arange(1, bins) / bins - 0.5, 0, len(ordered) - 1)
    low = np.floor(position).astype(np.int64)
    high = np.minimum(low + 1, len(ordered) - 1)
    part = part_of(ordered)
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
    part = 0.25 if max(abs(lo), abs(hi)) > LARGE else 1.0
    return (value * part - lo * part) / (hi * part - lo * part) * cells


def _rank(number: float) -> int:
    """The place of a number in the order of all numbers; 0 has 0."""
    bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _ranked(rank: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", abs(rank)))[0]
    return number if rank >= 0 else -number
