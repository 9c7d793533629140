"""Columns on their way into the core, and leaves on their way out: what trees and decision graphs share.

In:  values or codes of a column.
Out: its units, its cuts at quantiles, and the sums of the child in every leaf."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint16]
Floats = NDArray[np.float64]


def shift_and_scale(values: Floats) -> tuple[float, float]:
    """Mean and population standard deviation; a constant column keeps its scale."""
    if len(values) == 0 or values.min() == values.max():
        return (float(values[0]) if len(values) else 0.0), 1.0
    shift = float(values.mean())
    scale = float(np.sqrt(np.mean((values - shift) ** 2)))
    return shift, scale if scale > 0 and math.isfinite(scale) else 1.0


def quantile_cuts(ordered: Floats, bins: int) -> Floats:
    """Cuts at position N i/bins - 0.5 of the sorted values, linear in between; equal ones collapse."""
    if len(ordered) == 0:
        return np.empty(0)
    position = np.clip(len(ordered) * np.arange(1, bins) / bins - 0.5, 0, len(ordered) - 1)
    low = np.floor(position).astype(np.int64)
    high = np.minimum(low + 1, len(ordered) - 1)
    return np.unique(ordered[low] + (ordered[high] - ordered[low]) * (position - low))


def leaf_counts(codes: Codes, leaf: NDArray[Any], shape: tuple[int, ...]) -> Floats:
    """Rows per leaf and level."""
    counted = np.bincount(leaf * shape[1] + codes, minlength=shape[0] * shape[1])
    return counted.reshape(shape).astype(np.float64)


def leaf_moments(standard: Floats, leaf: NDArray[Any], leaves: int) -> Floats:
    """Rows, sum and sum of squares per leaf."""
    return np.stack(
        [np.bincount(leaf, w, minlength=leaves) for w in (np.ones_like(standard), standard, standard**2)], axis=1
    )
