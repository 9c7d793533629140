"""The table scores: one probability table per family, scored from its counts.

In:  a Dataset, a chosen score and a Prior. Families are of discrete columns.
Out: a Source; its local models are Tables. The formulas are in core/table_score.cpp."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.choices import Choice
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, way
from spinney.fitted.table import MAX_DENSE, Table
from spinney.machine import available_memory
from spinney.packed import pieces
from spinney.priors import Prior
from spinney.scores.source import Source

if TYPE_CHECKING:
    from spinney.network import Network

_DENSE = 1_000_000  # numbers; larger tables keep only the configurations that occur
_BYTES_PER_NUMBER = 40.0  # of a table while it is fitted: counts, probabilities, the table's own copies, their checks


class Tabular(Source):
    """One data set under one table score and prior."""

    def family_cost(self, parents: int) -> float:
        return 0.2 * self.data.n_rows

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        super().__init__(data, choice, prior, deadline)
        self._name = self.entry.same_as or choice.name
        named = self.entry.parameter
        self._parameter: float = choice[named] if isinstance(named, str) else named
        self._network = prior_network(choice["network"], data, "bde") if self._name == "bde" else None
        self._spec = self._make_spec(prior)

    def _build(self) -> _core.Scores:
        return _core.table_scores(self.data.for_core, self._spec)

    @property
    def _levels(self) -> list[int]:
        return [len(self.data.levels(name)) for name in self.names]

    def _make_spec(self, prior: Prior) -> _core.Spec:
        own = (self._name, self._parameter, prior.by_size, prior.per_parameter)
        if self._network is None:
            return _spec(*own)
        tables: list[tuple[list[int], NDArray[np.float64]]] = []
        prior_tables = self._network.tables("score bde")
        for child in self.names:
            table = prior_tables[child]
            tables.append(([self._index[p] for p in table.parents], np.ascontiguousarray(table.expanded().ravel())))
        return _core.Spec(*own, self._levels, tables)

    @contextmanager
    def limits(self) -> Iterator[None]:
        """The core's word that a joint table of the prior network outgrows it, as a sentence for the user."""
        try:
            yield
        except ValueError as error:
            if self._network is None:
                raise
            raise LimitError(
                f"score bde: {error}", "use bdeu", "name fewer parents", way("lower {}", "max_parents")
            ) from None

    def most_bytes(self, threads: int) -> float:
        return 0.0  # no family is left out

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> Table:
        """Posterior means where the score is Bayesian, else relative frequencies; uniform where there are no rows."""
        order = tuple(sorted(parents))
        levels, parent_levels = self.data.levels(child), tuple(self.data.levels(p) for p in order)
        r, q = len(levels), math.prod(map(len, parent_levels))
        if q > 2**62:
            raise LimitError(
                f"the table of {child!r} has {q} parent configurations, too many to number",
                "name fewer parents",
                way("lower {}", "max_parents"),
            )
        if self._network is not None and q * r > MAX_DENSE:
            raise LimitError(
                f"the prior network's table of {child!r} would have {q * r} numbers",
                "name fewer parents",
                way("lower {}", "max_parents"),
            )
        codes, flat = self._counted(child, order, q, r)
        counts = flat.reshape(len(codes), r)
        weights = counts + self._pseudo_counts(child, order, counts, q)
        total = weights.sum(axis=1, keepdims=True)
        probabilities = np.divide(weights, total, out=weights, where=total > 0)
        probabilities[total[:, 0] == 0] = 1.0 / r
        return Table(child, order, levels, parent_levels, codes, probabilities, np.full(r, 1.0 / r), counts, score)

    def _dense(self, q: int, r: int) -> bool:
        """Are all configurations of the parents kept, whether they occur or not?"""
        return q * r <= _DENSE or self._network is not None

    def _counted(
        self, child: str, order: tuple[str, ...], q: int, r: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The configurations of the parents, and how many rows have each with each level of the child."""
        if self._dense(q, r):
            flat = np.zeros(q * r, np.int64)
            for piece in pieces(self.data.n_rows):
                flat += np.bincount(self._joint((*order, child), piece), minlength=q * r)
            return np.arange(q, dtype=np.int64), flat
        codes, place = np.unique(self._joint(order, slice(None)), return_inverse=True)
        _check_table_memory(child, order, len(codes) * r)
        return codes, np.bincount(place * r + self.data.codes(child), minlength=len(codes) * r)

    def _joint(self, names: Sequence[str], rows: slice) -> NDArray[np.int64]:
        """A number for the levels of these columns together, in some rows."""
        code = np.zeros(len(range(*rows.indices(self.data.n_rows))), np.int64)
        for name in names:
            code *= len(self.data.levels(name))
            code += self.data.codes(name)[rows]
        return code

    def _pseudo_counts(self, child: str, parents: tuple[str, ...], counts: NDArray[np.int64], q: int) -> Any:
        if self._network is not None:
            # BDe's own pseudo-counts: the prior network's joint over (parents, child), which the core computes.
            child_number, numbers = self.family(child, parents)
            order = sorted([child_number, *numbers])
            joint = np.asarray(_core.prior_joint(self._spec, order)).reshape([self._levels[v] for v in order])
            joint = np.moveaxis(joint, order.index(child_number), -1)
            return self._parameter * joint.reshape(counts.shape)
        seen = int(np.count_nonzero(counts.sum(axis=1)))
        return self._spec.pseudo_count(counts.shape[1], q, seen)


@lru_cache(maxsize=256)
def _spec(name: str, parameter: float, by_size: tuple[float, ...], per_parameter: float) -> _core.Spec:
    return _core.Spec(name, parameter, by_size, per_parameter, [], [])


def _check_table_memory(child: str, parents: tuple[str, ...], numbers: int) -> None:
    need = _BYTES_PER_NUMBER * numbers
    if need > 2**28 and need > 0.8 * (there := available_memory()):
        raise LimitError(
            f"the table of {child!r} with parents {', '.join(map(repr, parents))} needs {need / 2**30:,.1f} GiB of "
            f"memory and {there / 2**30:,.1f} GiB are free",
            "merge rare levels",
            way("lower {}", "max_parents"),
            way("use {}", "score", "pcart"),
        )


def prior_network(given: Any, data: Dataset, score: str) -> Network:
    from spinney.network import Network

    if given is None:
        raise ChoiceError(
            f"score {score} needs a prior network: add network=prior.bif, or choose the uniform one (bdeu, upn)"
        )
    if not isinstance(given, (Network, str, PathLike)):
        raise ChoiceError(f"score {score}: network is {given!r}; give a Network, or the path of a file that holds one")
    network = given if isinstance(given, Network) else Network.read(given)
    if set(network.names) != set(data.names):
        different = sorted(set(network.names) ^ set(data.names))
        raise ChoiceError(
            f"the prior network and the table differ in column {different[0]!r}; they must have the same columns"
        )
    prior_tables = network.tables(f"score {score}")
    for name in data.names:
        if network.levels(name) != data.levels(name):
            raise ChoiceError(
                f"column {name!r} has levels {list(data.levels(name))} in the table and "
                f"{list(network.levels(name))} in the prior network; give both the same levels in the same order"
            )
        if not (prior_tables[name].expanded() > 0).all():
            raise ChoiceError(
                f"the prior network gives probability 0 to a level of {name!r}; score {score} needs positive ones, "
                f"smooth it"
            )
    return network
