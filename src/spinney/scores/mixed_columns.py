"""The columns of a mixed table as the core's Gaussian scores want them.

In:  a Dataset.
Out: per column, in sorted order of names: levels and codes, or standardised values, bins and the log of the scale.
With the scales, cg and cgd are log-likelihoods in the user's units: another unit changes all scores of a child by the
same amount."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.dataset import Dataset
from spinney.standard import Floats, standardised

Facts = tuple[int, NDArray[np.uint16] | None, Floats | None, int, float]


def three_cuts(values: Floats) -> Floats:
    """Thresholds of three bins of about as many rows each; a value on a threshold is above it.

    Andrews, Ramsey and Cooper (2018) have b = 3. Of N sorted values those at N//3 and 2 (N//3) are the thresholds; one
    at the smallest value moves to the next larger, so that only a constant column has one bin."""
    if len(values) == 0 or values.min() == values.max():
        return np.empty(0)
    third = len(values) // 3
    ordered = np.sort(values)
    above = ordered[np.searchsorted(ordered, ordered[0], side="right")]
    cuts: Floats = np.unique(np.maximum(ordered[[third, 2 * third]], above))
    return cuts


def mixed_columns(
    data: Dataset, names: Sequence[str] | None = None, *, bins: bool = False, plain: bool = False
) -> list[Facts]:
    """For _core: (levels, codes, values, bins, log of the scale) of each column. `bins` are read by cgd only; `plain`:
    where the data is not to be standardised, it is not (bge, whose prior has a scale)."""
    return [_facts(data, name, bins, plain) for name in (data.order if names is None else names)]


def binned_columns(data: Dataset, names: Sequence[str] | None = None) -> tuple[list[Any], list[int]]:
    """Codes and numbers of levels, continuous columns cut into three bins: the table that mn counts."""
    codes, levels = [], []
    for name in data.order if names is None else names:
        if data.kinds[name].discrete:
            codes.append(data.codes(name))
            levels.append(len(data.levels(name)))
        else:
            cuts = three_cuts(data.values(name))
            codes.append(np.searchsorted(cuts, data.values(name), side="right").astype(np.uint8))
            levels.append(len(cuts) + 1)
    return codes, levels


def _facts(data: Dataset, name: str, bins: bool, plain: bool) -> Facts:
    if data.kinds[name].discrete:
        return len(data.levels(name)), data.codes(name).astype(np.uint16), None, 0, 0.0
    raw = data.values(name)
    if data.standardise:
        standard, log_scale = data.standard(name).values, math.log(data.standard(name).scale)
    elif plain:
        standard, log_scale = standardised(name, raw, wanted=False)[0], 0.0
    else:  # the formulas want mean 0 and variance 1, whatever the scale that the user keeps
        standard, _, scale = standardised(name, raw, wanted=True)
        log_scale = math.log(scale)
    if not bins:
        return 0, None, standard, 0, log_scale
    cuts = three_cuts(raw)
    return 0, np.searchsorted(cuts, raw, side="right").astype(np.uint16), standard, len(cuts) + 1, log_scale
