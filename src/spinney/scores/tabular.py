"""The table scores: one probability table per family, scored from its counts.

In:  a Dataset whose columns are all discrete, a chosen score and a Prior.
Out: local scores, scored parent sets, a fitted Table, or a source that greedy search can ask.
The formulas are in core/table_score.cpp; here columns are put into sorted order of names, so that
nothing depends on the order in the file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.catalog import Score
from spinney.choices import Choice
from spinney.constraints import Allowed
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, way
from spinney.fitted.table import MAX_DENSE, Table
from spinney.machine import available_memory
from spinney.priors import Prior
from spinney.progress import Report

if TYPE_CHECKING:
    from spinney.network import Network

_DENSE = 1_000_000  # numbers; larger tables keep only the configurations that occur
_LITTLE = 2**28  # bytes that need no asking
_BYTES_PER_SET = 64  # of a set that stays: score, size, parents, and a turn at being sorted


class Tabular:
    """One data set under one table score and prior."""

    notes: tuple[str, ...] = ()  # what becomes of columns, for the user

    def family_cost(self, parents: int) -> float:
        """Nanoseconds to score a family of so many parents, foreseen."""
        return 0.2 * self.data.n_rows

    grown_again = False  # does a fit take as long as scoring the family?
    uncut: Sequence[str] = ()  # columns that there was no time to prepare as parents

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        self.data = data
        self.choice = choice
        self.names = data.order
        self._index = {name: i for i, name in enumerate(self.names)}
        assert isinstance(choice.entry, Score)
        self._name = choice.entry.same_as or choice.name
        named = choice.entry.parameter
        self._parameter: float = choice[named] if isinstance(named, str) else named
        self._network = prior_network(choice["network"], data, "bde") if self._name == "bde" else None
        self._spec = self._make_spec(prior)

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

    def _limits(self) -> AbstractContextManager[None]:
        return nullcontext() if self._network is None else _joint_too_large()

    def family(self, child: str, parents: Sequence[str]) -> tuple[int, list[int]]:
        numbers = [self._index[p] for p in parents]
        return self._index[child], sorted(numbers) if len(numbers) > 1 else numbers

    def local_scores(
        self,
        families: Sequence[tuple[str, Sequence[str]]],
        threads: int = 1,
        report: Report | None = None,
        time_limit: float | None = None,
    ) -> NDArray[np.float64]:
        """In one call of the core. NaN for what was not scored within the time limit."""
        numbered = [self.family(child, parents) for child, parents in families]
        with self._limits():
            return _core.local_scores(self.data.for_core, self._spec, numbered, threads, report, time_limit or 0.0)

    def parent_sets(
        self,
        allowed: Allowed,
        *,
        prune: bool,
        bounds: bool,
        threads: int,
        report: Report | None,
        time_limit: float | None,
    ) -> _core.ScoredSets:
        check_sets_memory(allowed, prune)
        with self._limits():
            return _core.score_parent_sets(
                self.data.for_core,
                self._spec,
                allowed.for_core,
                prune,
                bounds,
                threads,
                report,
                time_limit or 0.0,
            )

    @staticmethod
    def most_bytes(threads: int) -> float:
        """Of one family, where families are left out that would need more."""
        return available_memory()

    def greedy(self, args: _core.GreedyArgs, report: Report | None) -> dict[str, Any]:
        with self._limits():
            return _core.greedy_counted(self.data.for_core, self._spec, args, report)

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
        code = np.zeros(self.data.n_rows, np.int64)
        for parent, names in zip(order, parent_levels, strict=True):
            code = code * len(names) + self.data.codes(parent)
        if q * r <= _DENSE or self._network is not None:
            if q * r > MAX_DENSE:
                raise LimitError(
                    f"the prior network's table of {child!r} would have {q * r} numbers",
                    "name fewer parents",
                    way("lower {}", "max_parents"),
                )
            codes, place = np.arange(q, dtype=np.int64), code
        else:
            codes, place = np.unique(code, return_inverse=True)
        counts = np.bincount(place * r + self.data.codes(child), minlength=len(codes) * r).reshape(len(codes), r)
        weights = counts + self._pseudo_counts(child, order, counts, q)
        total = weights.sum(axis=1, keepdims=True)
        probabilities = np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / r)
        return Table(child, order, levels, parent_levels, codes, probabilities, np.full(r, 1.0 / r), counts, score)

    def _pseudo_counts(self, child: str, parents: tuple[str, ...], counts: NDArray[np.int64], q: int) -> Any:
        r = counts.shape[1]
        if self._name == "bd":
            return self._parameter
        if self._name == "bdeu":
            return self._parameter / (r * q)
        if self._name == "bds":
            return self._parameter / (r * max(1, np.count_nonzero(counts.sum(axis=1))))
        if self._network is not None:
            # BDe's own pseudo-counts: the prior network's joint over (parents, child), which the core computes.
            child_number, numbers = self.family(child, parents)
            order = sorted([child_number, *numbers])
            joint = np.asarray(_core.prior_joint(self._spec, order)).reshape([self._levels[v] for v in order])
            joint = np.moveaxis(joint, order.index(child_number), -1)
            return self._parameter * joint.reshape(counts.shape)
        return 0.0


@contextmanager
def _joint_too_large() -> Iterator[None]:
    """The core's word that a joint table of the prior network outgrows it, as a sentence for the user."""
    try:
        yield
    except ValueError as error:
        raise LimitError(
            f"score bde: {error}", "use bdeu", "name fewer parents", way("lower {}", "max_parents")
        ) from None


@lru_cache(maxsize=256)
def _spec(name: str, parameter: float, by_size: tuple[float, ...], per_parameter: float) -> _core.Spec:
    return _core.Spec(name, parameter, by_size, per_parameter, [], [])


def check_sets_memory(allowed: Allowed, prune: bool) -> None:
    families = allowed.families
    need = 17 * families - 9 * allowed.largest  # score, best of the subsets, flags; of the largest sets the score only
    need += 0 if prune else _BYTES_PER_SET * families
    if need < _LITTLE:
        return
    there = available_memory()
    if need > 0.8 * there:
        raise LimitError(
            f"scoring {families:,} parent sets needs {need / 2**30:,.1f} GiB of memory and {there / 2**30:,.1f} GiB "
            f"are free",
            way("lower {}", "max_parents"),
            way("give {}", "candidates"),
            way("use {}, which scores as it goes", "search", "tabu"),
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
