"""Decision graphs: trees whose leaves can be merged, grown greedily over the parents; any mix of kinds.

In:  a Dataset, the score graph, and a Prior on parent sets.
Out: local scores, scored parent sets, a fitted Partition, a source that greedy search can ask, or a whole network grown
at once. The growing is in core/decision_graph.cpp. Columns stand in sorted order of names, so that nothing depends on
the order in the file; continuous parents are cut at quantiles, continuous children standardised."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney import _core
from spinney.choices import Choice
from spinney.constraints import Allowed
from spinney.dataset import Dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, way
from spinney.fitted.partition import Partition, Splits
from spinney.kinds import Continuous
from spinney.machine import available_memory
from spinney.priors import Prior
from spinney.progress import Report
from spinney.scores.columns import (
    Codes,
    Floats,
    Preparing,
    in_row_order,
    leaf_sums,
    quantile_cuts,
    standardised,
)
from spinney.scores.tabular import check_sets_memory, prior_network

_LITTLE = 2**28  # bytes that need no asking
_LEAVES = 8  # of a graph in a network, for foreseeing memory
_BYTES_PER_ROW = {False: 24.0, True: 40.0}  # of a child: row numbers twice, tables of its leaves; continuous: its sums


@dataclass(frozen=True)
class Column:
    """A column as the core wants it, and what is needed to put it back into the user's units."""

    levels: int  # or bins
    ordered: bool
    codes: Codes
    values: Floats | None = None  # continuous: standardised, less `centre`
    centre: float = 0.0
    shift: float = 0.0
    scale: float = 1.0
    cuts: Floats | None = None  # continuous: between the bins, in the user's units

    def facts(self) -> tuple[Any, ...]:
        return self.levels, self.ordered, self.codes, self.values, self.centre


@dataclass(frozen=True)
class Grown:
    models: dict[str, Partition]
    trace: list[tuple[float, float]]
    ending: dict[str, Any]


class Graphs:
    """One data set under decision graphs."""

    notes: tuple[str, ...] = ()  # what becomes of columns, for the user
    grown_again = True

    def family_cost(self, parents: int) -> float:
        """Nanoseconds to score a family of so many parents, foreseen."""
        return 20_000.0 + 45.0 * self.data.n_rows

    def __init__(self, data: Dataset, choice: Choice, prior: Prior, deadline: Deadline | None = None) -> None:
        self.data = data = in_row_order(data, deadline)
        self.choice = choice
        self.names = data.order
        self._index = {name: i for i, name in enumerate(self.names)}
        self._preparing = Preparing(deadline)
        self._columns = [self._column(name) for name in self.names]
        self.uncut = self._preparing.uncut
        self._facts = [column.facts() for column in self._columns]
        self._prior = prior
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
            **self._normal,
        )

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
        return [c.levels for c in self._columns], [
            ([self._index[p] for p in tables[name].parents], np.ascontiguousarray(tables[name].expanded().ravel()))
            for name in self.names
        ]

    def _column(self, name: str) -> Column:
        kind = self.data.kinds[name]
        if not isinstance(kind, Continuous):
            codes = self.data.codes(name).astype(np.uint16)
            return Column(len(self.data.levels(name)), kind.word == "ordinal", codes)
        values = self.data.values(name)
        standard, shift, scale = standardised(name, values, self.data.standardise)
        centre = float(standard.mean()) if len(values) else 0.0
        if not self._preparing.time_for(name):  # one bin: of no use as a parent, and no cost
            nothing: Codes = np.zeros(len(values), np.uint16)
            return Column(1, True, nothing, standard - centre, centre, shift, scale, np.empty(0))
        cuts = quantile_cuts(np.sort(values), self.choice["bins"])
        codes = np.searchsorted(cuts, values, side="right").astype(np.uint16)
        return Column(len(cuts) + 1, True, codes, standard - centre, centre, shift, scale, cuts)

    def family(self, child: str, parents: Sequence[str]) -> tuple[int, list[int]]:
        return self._index[child], sorted(self._index[p] for p in parents)

    def local_scores(
        self,
        families: Sequence[tuple[str, Sequence[str]]],
        threads: int = 1,
        report: Report | None = None,
        time_limit: float | None = None,
    ) -> Floats:
        """In one call of the core. NaN for what was not scored within the time limit."""
        for child, parents in families:
            self._check_parents(child, parents, len(parents))
        numbered = [self.family(child, parents) for child, parents in families]
        with self._limits():
            return _core.graph_scores(self._facts, self._spec, numbered, threads, report, time_limit or 0.0)

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
        """`bounds` says nothing here: what a greedy graph over more parents gains has none."""
        self._check_all(allowed)
        check_sets_memory(allowed, prune)
        with self._limits():
            return _core.score_graph_sets(
                self._facts,
                self._spec,
                allowed.for_core,
                prune,
                threads,
                report,
                time_limit or 0.0,
            )

    def greedy(self, args: _core.GreedyArgs, report: Report | None) -> dict[str, Any]:
        for child, own, most in zip(self.names, args.allowed.candidates, args.allowed.most, strict=True):
            if most > 0:
                self._check_parents(child, [self.names[p] for p in own], 0)
        if self.choice["optimal"]:
            raise ChoiceError(
                "graph(optimal=True) takes few configurations, and hc and tabu ask for any",
                way("use {}", "search", "exact"),
                way("lower {}", "max_parents"),
                "leave optimal out",
            )
        with self._limits():
            return _core.greedy_graphs(self._facts, self._spec, args, report)

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> Partition:
        """`stop` may be set by another thread: TimeoutError."""
        order = tuple(sorted(parents))
        number, numbers = self.family(child, order)
        # The core looks through every column it is given; a prior network needs them all.
        named = sorted([number, *numbers]) if self.choice["prior"] != "pn" else list(range(len(self.names)))
        place = {v: i for i, v in enumerate(named)}
        if not order and self._columns[number].values is not None:  # one leaf: cheap over a million rows
            return self._partition(child, order, {"nodes": [(-1, -1, -1, 0, 0)]}, score)
        with self._limits():
            graph = _core.fit_graph(
                [self._facts[v] for v in named], self._spec, place[number], [place[p] for p in numbers], stop
            )
        graph["nodes"] = [(named[node[0]] if node[0] >= 0 else -1, *node[1:]) for node in graph["nodes"]]
        return self._partition(child, order, graph, score)

    def on_the_way(
        self, child: str, parents: Sequence[str], steps: int, then: int = -1
    ) -> tuple[Partition, list[tuple[str, float]]]:
        """The graph after so many steps (-1: all) and one more operator, the `then`-th of those offered there (-1:
        none); and all operators that were offered, as C, B or M with what they gain."""
        order = tuple(sorted(parents))
        number, numbers = self.family(child, order)
        found = _core.graph_moves(self._facts, self._spec, number, numbers, steps, then)
        return self._partition(child, order, found, found["value"]), found["moves"]

    def local_global(self, allowed: Allowed, threads: int, report: Report | None, time_limit: float | None) -> Grown:
        if self.choice["optimal"]:
            raise ChoiceError("search local-global grows graphs step by step; leave optimal=True out")
        self._check_all(allowed)
        n = len(self.names)
        need = sum(self.data.n_rows * _BYTES_PER_ROW[c.values is not None] + _LEAVES * n * 48.0 for c in self._columns)
        if need > _LITTLE and need > 0.8 * (there := available_memory()):
            raise LimitError(
                f"growing the graphs of {n} columns at once needs about {need / 2**30:,.1f} GiB of memory and "
                f"{there / 2**30:,.1f} GiB are free",
                "take fewer rows",
                way("give {}", "candidates"),
                way("use {}", "search", "tabu"),
            )
        with self._limits():
            found = _core.local_global(
                self._facts,
                self._spec,
                allowed.for_core,
                threads,
                report,
                time_limit or 0.0,
            )
        models = {}
        for child, numbers, graph in zip(self.names, found["parents"], found["graphs"], strict=True):
            by_size = self._prior.by_size
            score = graph["value"] + (by_size[min(len(numbers), len(by_size) - 1)] if by_size else 0.0)
            models[child] = self._partition(child, tuple(self.names[p] for p in numbers), graph, score)
        return Grown({name: models[name] for name in self.data.names}, found["trace"], found)

    def _partition(self, child: str, parents: tuple[str, ...], graph: dict[str, Any], score: float) -> Partition:
        column = self._columns[self._index[child]]
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
            sums=leaf_sums(self.data, parents, splits, column),
            shift=column.shift,
            scale=column.scale,
            score=score,
            alphas=None if column.values is not None else np.array(graph["exponents"]),
            **splits.arrays | self._normal,
        )

    def _threshold(self, feature: int, goes_left: int) -> float:
        """The cut above the highest bin that goes left; of a leaf or a discrete parent, none."""
        cuts = self._columns[feature].cuts if feature >= 0 else None
        return math.nan if cuts is None else float(cuts[goes_left.bit_length() - 1])

    def _sides(self, feature: int, goes_left: int) -> Any:
        if feature < 0 or self._columns[feature].cuts is not None:
            return None
        return np.array([goes_left >> level & 1 for level in range(self._columns[feature].levels)], bool)

    @contextmanager
    def _limits(self) -> Iterator[None]:
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
            sizes.append(self._columns[self._index[name]].levels)
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

    def _check_all(self, allowed: Allowed) -> None:
        for child in allowed.names:
            if allowed.most[child] > 0:
                self._check_parents(child, allowed.candidates[child], allowed.most[child])
