"""Decision graphs: trees whose leaves can be merged, grown greedily over the parents; any mix of kinds.

In:  a Dataset, the score graph, and a Prior on parent sets.
Out: a Source; its local models are Partitions. Or a whole network, grown at once. The growing is in
core/decision_graph.cpp; continuous parents are cut at quantiles here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spinney import _core
from spinney.choices import Choice
from spinney.constraints import Allowed
from spinney.cuts import Codes, quantile_cuts
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, way
from spinney.fitted.partition import Partition, Splits
from spinney.kinds import Continuous
from spinney.machine import available_memory
from spinney.priors import Prior
from spinney.progress import Report
from spinney.scores.columns import Preparing, leaf_sums
from spinney.scores.source import LITTLE, Source
from spinney.scores.tabular import prior_network
from spinney.standard import Floats

_LEAVES = 8  # of a graph in a network, for foreseeing memory
_BYTES_PER_ROW = {False: 24.0, True: 40.0}  # of a child: row numbers twice, tables of its leaves; continuous: its sums


@dataclass(frozen=True)
class Part:
    """A column as a parent of decision graphs."""

    levels: int  # or bins
    ordered: bool
    bins: Codes | None = None  # of a continuous column
    cuts: Floats | None = None  # between its bins, in the user's units


@dataclass(frozen=True)
class Grown:
    models: dict[str, Partition]
    trace: list[tuple[float, float]]
    stopped: str


class Graphs(Source):
    """One data set under decision graphs."""

    fit_grows = True

    def family_cost(self, parents: int) -> float:
        return 20_000.0 + 45.0 * self.data.n_rows

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        super().__init__(data, choice, prior, deadline)
        if choice["structure_prior"] and choice["optimal"]:
            raise ChoiceError("graph(structure_prior=True) is a prior on how a graph grows; leave optimal=True out")
        self._preparing = Preparing(deadline)
        self._parts = [self._part(name) for name in self.names]
        self.uncut = self._preparing.uncut
        self._normal = {option: float(choice[option]) for option in ("mu0", "a", "nu", "lam")}
        levels, tables = self._network()
        self._spec = _core.GraphSpec(
            operators=choice["operators"],
            splits_first=choice["steps"] == "splits-first",
            filled=choice["filled"],
            optimal=choice["optimal"],
            prior=choice["prior"],
            ess=choice["ess"],
            network_levels=levels,
            network_tables=tables,
            per_parameter=math.log(choice["kappa"]) + prior.per_parameter,
            size_prior=list(prior.by_size),
            structure_prior=choice["structure_prior"],
            **self._normal,
        )

    @cached_property
    def _graphs(self) -> _core.GraphScores:
        parts = [(part.levels, part.ordered, part.bins) for part in self._parts]
        return _core.GraphScores(self.data.for_core, self._spec, parts)

    def _build(self) -> _core.Scores:
        return self._graphs

    def _network(self) -> tuple[list[int], list[tuple[list[int], Floats]]]:
        if self.choice["prior"] != "pn":
            if self.choice["network"] is not None:
                raise ChoiceError(
                    "score graph reads a prior network with prior=pn only; add that, or leave network out"
                )
            return [], []
        for name in self.names:
            if not self.data.kinds[name].discrete:
                raise ChoiceError(
                    f"score graph: column {name!r} is continuous, and a prior network (pn) is for discrete ones; take "
                    f"graph(prior=upn) or graph(prior=uniform), or cut the column into levels"
                )
        tables = prior_network(self.choice["network"], self.data, "graph(prior=pn)").tables("score graph")
        return [part.levels for part in self._parts], [
            ([self._index[p] for p in tables[name].parents], np.ascontiguousarray(tables[name].expanded().ravel()))
            for name in self.names
        ]

    def prepare(self, names: Sequence[str]) -> None:
        assert "_graphs" not in self.__dict__, "the core has the columns already"
        for name in names:
            self._preparing.need(name)
            self._parts[self._index[name]] = self._part(name)

    def _part(self, name: str) -> Part:
        kind = self.data.kinds[name]
        if not isinstance(kind, Continuous):
            return Part(len(self.data.levels(name)), kind.word == "ordinal")
        values = self.data.values(name)
        if not self._preparing.time_for(name):  # one bin: of no use as a parent, and no cost
            return Part(1, True, np.zeros(len(values), np.uint16), np.empty(0))
        cuts = quantile_cuts(np.sort(values), self.choice["bins"])
        return Part(len(cuts) + 1, True, np.searchsorted(cuts, values, side="right").astype(np.uint16), cuts)

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> Partition:
        order = tuple(sorted(parents))
        number, numbers = self.family(child, order)
        if not order and not self.data.kinds[child].discrete:  # one leaf: cheap over a million rows
            return self._partition(child, order, {"nodes": [(-1, -1, -1, 0, 0)]}, score)
        with self.limits():
            return self._partition(child, order, self._graphs.fit(number, numbers, stop), score)

    def partial_graph(
        self, child: str, parents: Sequence[str], steps: int, then: int = -1
    ) -> tuple[Partition, list[tuple[str, float]]]:
        """The graph after so many steps (-1: all) and one more operator, the `then`-th of those offered there (-1:
        none); and all operators that were offered, as C, B or M with what they gain."""
        order = tuple(sorted(parents))
        number, numbers = self.family(child, order)
        found = self._graphs.moves(number, numbers, steps, then)
        return self._partition(child, order, found, found["value"]), found["moves"]

    def local_global(self, allowed: Allowed, threads: int, report: Report | None, time_limit: float | None) -> Grown:
        for option in ("optimal", "structure_prior"):
            if self.choice[option]:
                raise ChoiceError(f"search local-global grows the graphs of all nodes at once; leave {option}=True out")
        self._check_all(allowed)
        n = len(self.names)
        need = sum(self.data.n_rows * _BYTES_PER_ROW[p.bins is not None] + _LEAVES * n * 48.0 for p in self._parts)
        if need > LITTLE and need > 0.8 * (there := available_memory()):
            raise LimitError(
                f"growing the graphs of {n} columns at once needs about {need / 2**30:,.1f} GiB of memory and "
                f"{there / 2**30:,.1f} GiB are free",
                "take fewer rows",
                way("give {}", "candidates"),
                way("use {}", "search", "tabu"),
            )
        with self.limits():
            found = self._graphs.local_global(allowed.for_core, threads, report, time_limit or 0.0)
        models = {}
        for child, numbers, graph in zip(self.names, found["parents"], found["graphs"], strict=True):
            score = graph["value"] + self.prior.of_size(len(numbers))
            models[child] = self._partition(child, tuple(self.names[p] for p in numbers), graph, score)
        return Grown({name: models[name] for name in self.data.names}, found["trace"], found["stopped"])

    def _partition(self, child: str, parents: tuple[str, ...], graph: dict[str, Any], score: float) -> Partition:
        column = None if self.data.kinds[child].discrete else self.data.standard(child)
        place = {self._index[name]: at for at, name in enumerate(parents)}
        nodes = graph["nodes"]
        splits = Splits(
            np.array([place.get(feature, -1) for feature, *_ in nodes], np.int32),
            np.array([node[1] for node in nodes], np.int32),
            np.array([node[2] for node in nodes], np.int32),
            np.array([self._threshold(feature, goes_left) for feature, _, _, goes_left, _ in nodes], np.float64),
            tuple(self._sides(feature, goes_left) for feature, _, _, goes_left, _ in nodes),
            np.array([node[4] for node in nodes], np.int32),
        )
        return Partition(
            child,
            parents,
            self.data.kinds[child],
            tuple(self.data.kinds[p] for p in parents),
            sums=leaf_sums(self.data, parents, splits, child),
            shift=0.0 if column is None else column.shift,
            scale=1.0 if column is None else column.scale,
            score=score,
            alphas=np.array(graph["exponents"]) if column is None else None,
            **splits.arrays | self._normal,
        )

    def _threshold(self, feature: int, goes_left: int) -> float:
        """The cut above the highest bin that goes left; of a leaf or a discrete parent, none."""
        cuts = self._parts[feature].cuts if feature >= 0 else None
        return math.nan if cuts is None else float(cuts[goes_left.bit_length() - 1])

    def _sides(self, feature: int, goes_left: int) -> Any:
        if feature < 0 or self._parts[feature].cuts is not None:
            return None
        return np.array([goes_left >> level & 1 for level in range(self._parts[feature].levels)], bool)

    @contextmanager
    def limits(self) -> Iterator[None]:
        """The core's word that a joint table of the prior network outgrows it, as a sentence for the user."""
        try:
            yield
        except ValueError as error:
            if self.choice["prior"] != "pn":
                raise
            raise LimitError(f"score graph: {error}; take graph(prior=upn)") from None

    def _check_parents(self, child: str, parents: Iterable[str], most: int) -> None:
        """Whether up to `most` of these can be the parents of a graph."""
        sizes = []
        for name in parents:
            sizes.append(self._parts[self._index[name]].levels)
            if sizes[-1] > _core.most_graph_levels:
                raise LimitError(
                    f"column {name!r} has {sizes[-1]} levels, and decision graphs take parents of at most "
                    f"{_core.most_graph_levels}; merge levels, or forbid it as a parent of {child!r}"
                )
        largest = math.prod(sorted(sizes, reverse=True)[:most])
        if self.choice["optimal"] and largest > _core.most_graph_configurations:
            raise LimitError(
                f"the parents of {child!r} may have {largest:,} joint levels, and the best of all partitions is found "
                f"for at most {_core.most_graph_configurations:g}; name fewer parents, or leave optimal out",
                way("lower {}", "max_parents"),
            )

    def check_family(self, child: str, parents: Sequence[str]) -> None:
        self._check_parents(child, parents, len(parents))

    def check_sets(self, allowed: Allowed, prune: bool) -> None:
        self._check_all(allowed)
        super().check_sets(allowed, prune)

    def check_search(self, allowed: Allowed) -> None:
        for child in allowed.names:
            if allowed.most[child] > 0:
                self._check_parents(child, allowed.candidates[child], 0)
        if self.choice["optimal"]:
            raise ChoiceError(
                "graph(optimal=True) takes few configurations, and hc and tabu ask for any",
                way("use {}", "search", "exact"),
                way("lower {}", "max_parents"),
                "leave optimal out",
            )

    def _check_all(self, allowed: Allowed) -> None:
        for child in allowed.names:
            if allowed.most[child] > 0:
                self._check_parents(child, allowed.candidates[child], allowed.most[child])
