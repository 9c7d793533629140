"""Small partitions to test with, a row's plain walk through one, and the rows behind its leaves.

In:  a number generator.
Out: Partitions whose leaves hold the sums of drawn values, with those values kept beside them."""

from __future__ import annotations

import numpy as np

from slow.leaves import Hyper
from spinney.fitted.partition import Partition
from spinney.kinds import Continuous, Kind
from spinney.network import Network

SHIFT, SCALE = 40.0, 2.5


def random_partition(
    rng: np.random.Generator,
    child: str,
    parents: tuple[str, ...],
    kinds: dict[str, Kind],
    *,
    splits: int = 4,
    graph: bool = False,
    hyper: Hyper | None = None,
    most: int = 6,
) -> tuple[Partition, list[list[float]]]:
    """A random tree (or, with graph, a DAG: some splits share a node below); leaves have 0 to `most` rows."""
    hyper = hyper or Hyper()
    feature, left, right, threshold, goes_left = [-1], [-1], [-1], [np.nan], [None]
    for _ in range(splits if parents else 0):
        node = int(rng.choice([i for i, f in enumerate(feature) if f < 0]))
        place = int(rng.integers(len(parents)))
        kind = kinds[parents[place]]
        feature[node] = place
        if isinstance(kind, Continuous):
            threshold[node] = float(rng.uniform(kind.lo, kind.hi))
        else:
            goes_left[node] = rng.random(len(kind.levels)) < 0.5
        others = [i for i, f in enumerate(feature) if f < 0]
        share = int(rng.choice(others)) if graph and others and rng.random() < 0.5 else None
        below = []
        for side in range(2):
            if side == 1 and share is not None:
                below.append(share)
                continue
            below.append(len(feature))
            for array, value in zip(
                (feature, left, right, threshold, goes_left), (-1, -1, -1, np.nan, None), strict=True
            ):
                array.append(value)
        left[node], right[node] = below
    leaf = np.cumsum(np.array(feature) < 0) - 1
    leaf[np.array(feature) >= 0] = -1
    kind = kinds[child]
    held: list[list[float]] = []
    sums = []
    for _ in range(int(leaf.max()) + 1):
        n = int(rng.integers(0, most + 1))
        if isinstance(kind, Continuous):
            values = rng.normal(rng.normal(), rng.uniform(0.1, 1.5), n)
            sums.append([n, values.sum(), (values**2).sum()])
        else:
            values = rng.integers(0, len(kind.levels), n)
            sums.append(np.bincount(values, minlength=len(kind.levels)))
        held.append(values.tolist())
    continuous = isinstance(kind, Continuous)
    made = Partition(
        child=child,
        parents=parents,
        kind=kind,
        parent_kinds=tuple(kinds[parent] for parent in parents),
        feature=np.array(feature),
        left=np.array(left),
        right=np.array(right),
        threshold=np.array(threshold),
        goes_left=tuple(goes_left),
        leaf=leaf,
        sums=np.array(sums, dtype=float),
        alpha=hyper.alpha,
        mu0=hyper.mu0,
        a=hyper.a,
        nu=hyper.nu,
        lam=hyper.lam,
        kappa=hyper.kappa,
        shift=SHIFT if continuous else 0.0,
        scale=SCALE if continuous else 1.0,
    )
    return made, held


def random_mixed_network(rng: np.random.Generator, kinds: dict[str, Kind], graph: bool = False) -> Network:
    """A partition in every node, up to three parents each, in a random order."""
    order = [str(name) for name in rng.permutation(np.array(list(kinds), dtype=object))]
    models = {}
    for place, child in enumerate(order):
        size = int(rng.integers(0, min(place, 3) + 1))
        parents = tuple(order[i] for i in rng.choice(place, size=size, replace=False)) if size else ()
        models[child], _ = random_partition(rng, child, parents, kinds, graph=graph)
    return Network(kinds, models)


def walk(partition: Partition, row: dict[str, float | str], node: int = 0) -> int:
    """The leaf of one row, given as level names and numbers, by asking one node after the other."""
    if partition.feature[node] < 0:
        return int(partition.leaf[node])
    place = int(partition.feature[node])
    value, kind = row[partition.parents[place]], partition.parent_kinds[place]
    if isinstance(kind, Continuous):
        to_right = value >= partition.threshold[node]
    else:
        to_right = not partition.goes_left[node][kind.levels.index(value)]
    return walk(partition, row, int((partition.right if to_right else partition.left)[node]))
