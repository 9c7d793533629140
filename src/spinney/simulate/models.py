"""Random networks of tables and of trees.

In:  a DAG, the kinds of its variables, a seed.
Out: a Network: it samples, gives log-probabilities, predicts, and is saved, as a network that was learned does.
A tree asks every parent at least once, or an edge of the graph would mean nothing. Where a continuous parent is cut is
decided on rows drawn from the nodes before (PILOT of them), so that no leaf is beyond reach; the same rows give every
continuous column mean 0 and standard deviation 1, so that units do not tell the causal order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spinney.fitted.model import Columns, Floats, Ints, LocalModel, Numbers
from spinney.fitted.partition import Partition
from spinney.fitted.table import Table
from spinney.graph import DAG
from spinney.kinds import Continuous, Kind, Ordinal
from spinney.network import Network
from spinney.simulate.graphs import PARAMETERS, PILOT, check_cells, generator, level_counts, ordered_rows

PILOT_ROWS = 4000
_GAUSSIAN = 1e6  # rows of a leaf: its Student t is then a Gaussian, as far as anybody can tell
_FEW = 20  # pilot rows; a leaf with fewer is not split where another can be
_LEAST = 1e-12  # a probability; 0 could be no pseudo-count


def table_network(dag: DAG, kinds: Mapping[str, Kind], alpha: float, seed: int) -> Network:
    """A table for every node, its rows from a Dirichlet distribution. REQUIRES: all kinds are discrete."""
    models: dict[str, LocalModel] = {}
    for at, name in enumerate(dag.names):
        parents = dag.parents[name]
        levels = [tuple(getattr(kinds[one], "levels", ()) or ()) for one in (name, *parents)]
        rows = math.prod(level_counts(kinds, parents))
        check_cells(name, rows)
        shares = _shares(kinds[name], rows, alpha, generator(seed, PARAMETERS, at))
        models[name] = Table.full(name, parents, levels[0], tuple(levels[1:]), shares)
    return Network(kinds, models)


def _shares(kind: Kind, rows: int, alpha: float, rng: np.random.Generator) -> Floats:
    k = len(getattr(kind, "levels", None) or ())
    return ordered_rows(rng, rows, k) if isinstance(kind, Ordinal) else rng.dirichlet(np.full(k, alpha), rows)


def tree_network(dag: DAG, kinds: Mapping[str, Kind], alpha: float, seed: int) -> Network:
    """A decision tree for every node, over any mix of parents."""
    number = {name: at for at, name in enumerate(dag.names)}
    drawn = Columns(PILOT_ROWS, {})
    models: dict[str, LocalModel] = {}
    for name in dag.order():
        rng, at = generator(seed, PARAMETERS, number[name]), number[name]
        parents = dag.parents[name]
        tree = _Tree([kinds[parent] for parent in parents], [drawn[parent] for parent in parents], rng)
        models[name] = _partition(name, parents, kinds, tree, alpha, rng)
        drawn.put(name, models[name].sample(drawn, generator(seed, PILOT, at)))
    return Network(kinds, models)


def _partition(
    name: str, parents: tuple[str, ...], kinds: Mapping[str, Kind], tree: _Tree, alpha: float, rng: np.random.Generator
) -> Partition:
    kind, leaves = kinds[name], tree.leaf_rows
    more: dict[str, Any] = {}
    if isinstance(kind, Continuous):
        centre, deviation = rng.uniform(-2.0, 2.0, len(leaves)), rng.uniform(0.4, 1.0, len(leaves))
        weight = np.array([len(rows) for rows in leaves]) / PILOT_ROWS
        mean = float((weight * centre).sum())
        spread = math.sqrt(float((weight * (deviation**2 + (centre - mean) ** 2)).sum()))
        centre, deviation = (centre - mean) / spread, deviation / spread
        sums = _GAUSSIAN * np.column_stack([np.ones(len(leaves)), centre, centre**2 + deviation**2])
    else:
        shares = _shares(kind, len(leaves), alpha, rng)
        sums, more = np.zeros_like(shares), {"alphas": np.maximum(shares, _LEAST)}
    return Partition(
        name, parents, kind, tuple(kinds[parent] for parent in parents), **tree.arrays(), sums=sums, **more
    )


class _Tree:
    """Splits drawn at random. Node 0 is the root; a leaf knows the pilot rows that reach it."""

    def __init__(self, kinds: Sequence[Kind], columns: Sequence[Numbers], rng: np.random.Generator) -> None:
        self._kinds, self._columns, self._rng = kinds, columns, rng
        self._feature, self._left, self._right = [-1], [-1], [-1]
        self._threshold: list[float] = [math.nan]
        self._goes_left: list[Any] = [None]
        self._rows: list[Ints] = [np.arange(PILOT_ROWS)]
        n = len(kinds)
        further = rng.integers(n, size=rng.integers(n + 1)) if n else np.empty(0, dtype=np.int64)
        for parent in rng.permutation(n).tolist():
            if not self._split_somewhere(parent):
                self._split_blindly(parent)
        for parent in further.tolist():
            self._split_somewhere(parent)

    def _leaves(self) -> list[int]:
        return [node for node, feature in enumerate(self._feature) if feature < 0]

    @property
    def leaf_rows(self) -> list[Ints]:
        return [self._rows[node] for node in self._leaves()]

    def _split_somewhere(self, parent: int) -> bool:
        """Split a leaf, drawn by how many rows reach it, that this parent divides."""
        leaves = [node for node in self._leaves() if len(self._rows[node]) >= _FEW] or self._leaves()
        weights = np.array([len(self._rows[node]) for node in leaves], dtype=np.float64)
        # The order of exponential waiting times is that of drawing without replacement by weight.
        waiting = self._rng.exponential(size=len(leaves)) / np.maximum(weights, 1e-9)
        return any(self._split(leaves[at], parent) for at in np.argsort(waiting).tolist())

    def _split(self, node: int, parent: int) -> bool:
        column, kind = self._columns[parent][self._rows[node]], self._kinds[parent]
        present = np.unique(column)
        if len(present) < 2:
            return False
        if isinstance(kind, Continuous):
            cut = float(np.quantile(column, self._rng.uniform(0.25, 0.75)))
            if not present[0] < cut <= present[-1]:
                return False
            self._put(node, parent, cut, None, column < cut)
        else:
            side = self._side(kind, present.astype(np.int64))
            self._put(node, parent, math.nan, side, side[column.astype(np.int64)])
        return True

    def _side(self, kind: Kind, present: Ints) -> Any:
        """Which levels go left: some of those present, but not all; ordered levels up to one of them."""
        k = len(getattr(kind, "levels", None) or ())
        if isinstance(kind, Ordinal):
            return np.arange(k) < present[self._rng.integers(1, len(present))]
        side = self._rng.random(k) < 0.5
        chosen = self._rng.permutation(present)[: self._rng.integers(1, len(present))]
        side[present] = np.isin(present, chosen)
        return side

    def _split_blindly(self, parent: int) -> None:
        """Of a discrete parent that has one level in all pilot rows: divide its levels where most rows are."""
        kind, node = self._kinds[parent], max(self._leaves(), key=lambda leaf: len(self._rows[leaf]))
        side = self._side(kind, np.arange(len(getattr(kind, "levels", None) or ())))
        self._put(node, parent, math.nan, side, side[self._columns[parent][self._rows[node]].astype(np.int64)])

    def _put(self, node: int, parent: int, cut: float, side: Any, to_left: Any) -> None:
        rows, new = self._rows[node], len(self._feature)
        self._feature[node], self._left[node], self._right[node] = parent, new, new + 1
        self._threshold[node], self._goes_left[node] = cut, side
        for below in (rows[to_left], rows[~to_left]):
            self._feature.append(-1)
            self._left.append(-1)
            self._right.append(-1)
            self._threshold.append(math.nan)
            self._goes_left.append(None)
            self._rows.append(below)

    def arrays(self) -> dict[str, Any]:
        """As Partition takes them."""
        leaf = np.full(len(self._feature), -1)
        leaf[self._leaves()] = np.arange(len(self._leaves()))
        return {
            "feature": np.array(self._feature),
            "left": np.array(self._left),
            "right": np.array(self._right),
            "threshold": np.array(self._threshold),
            "goes_left": tuple(self._goes_left),
            "leaf": leaf,
        }
