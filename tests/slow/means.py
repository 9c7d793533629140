"""The mean of a density, slowly: panels graded about every peak that could matter.

In:  the log-density of one row, places and a width that the densities are about.
Out: the mean, the mean distance from it, and the largest log-density."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_X, _W = np.polynomial.legendre.leggauss(20)


def mean_of(log_density: Callable[[Floats], Floats], places: list[float], width: float) -> tuple[float, float, float]:
    """Panels double in width on either side of every place, from 2^-26 to 2^61 widths; then finer ones are put about
    every local maximum of their ends, which golden sections find."""
    ends = _graded(places, width, np.arange(-26, 62, 0.5))
    heights = np.maximum(log_density(ends), -1e300)
    peaks = np.flatnonzero((heights[1:-1] >= heights[:-2]) & (heights[1:-1] >= heights[2:])) + 1
    tops = [_highest(log_density, ends[peak - 1], ends[peak + 1]) for peak in peaks.tolist()]
    ends = np.union1d(ends, _graded(tops, width, np.arange(-40, 3, 0.5)))
    half = np.diff(ends)[:, None] / 2
    values = (ends[1:] + ends[:-1])[:, None] / 2 + half * _X
    logs = log_density(values)
    weights = np.exp(logs - logs.max()) * _W * half
    near = values.ravel()[logs.argmax()]
    mean = ((values - near) * weights).sum() / weights.sum()
    distance = (np.abs(values - near - mean) * weights).sum() / weights.sum()
    return float(near + mean), float(distance), float(logs.max())


def _graded(places: list[float], width: float, powers: Floats) -> Floats:
    steps = width * np.concatenate([[0.0], 2.0**powers])
    return np.unique(np.concatenate([place + side * steps for place in places for side in (-1, 1)]))


def _highest(log_density: Callable[[Floats], Floats], low: float, high: float) -> float:
    for _ in range(90):
        one, other = low + (high - low) * 0.382, low + (high - low) * 0.618
        rises = log_density(np.array([one]))[0] < log_density(np.array([other]))[0]
        low, high = (one, high) if rises else (low, other)
    return (low + high) / 2
