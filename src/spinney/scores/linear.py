"""Trees with linear leaves: from the splits of a fitted tree to the regressions of its leaves.

In:  a Dataset, a Partition of it, the prior weight of the slopes.
Out: LinearLeaves, with the means and the scatter of the regressors and the child in every leaf."""

from __future__ import annotations

import numpy as np

from spinney.dataset import Dataset
from spinney.fitted.linear_leaves import LinearLeaves
from spinney.fitted.partition import Partition
from spinney.standard import Floats


def linear_leaves(data: Dataset, partition: Partition, tau: float) -> LinearLeaves:
    """REQUIRES: a continuous child with a continuous parent or more, fitted to this data."""
    leaf, leaves = partition.leaf_of(data), len(partition.sums)
    columns = [data.standard(p) for p in partition.parents if not data.kinds[p].discrete]
    rows = np.maximum(partition.rows, 1)

    def by_leaf(values: Floats) -> Floats:
        return np.bincount(leaf, values, minlength=leaves).astype(np.float64)

    means, centred = [], []
    for column in (*columns, data.standard(partition.child)):
        mean = by_leaf(column.values) / rows
        means.append(mean + np.where(partition.rows > 0, column.centre, 0.0))
        centred.append(column.values - mean[leaf])
    d = len(columns)
    scatter = np.empty((leaves, d, d + 1))
    for j in range(d + 1):
        for i in range(min(j + 1, d)):
            scatter[:, i, j] = by_leaf(centred[i] * centred[j])
            if j < d:
                scatter[:, j, i] = scatter[:, i, j]
    regression = {
        "x_shift": [column.shift for column in columns],
        "x_scale": [column.scale for column in columns],
        "x_means": np.stack(means[:d], axis=1),
        "x_scatter": scatter[:, :, :d],
        "xy_scatter": scatter[:, :, d],
        "tau": tau,
    }
    return LinearLeaves.of(partition, regression)
