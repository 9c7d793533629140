"""Scores of rows that live on several machines.

In:  Partitions, a chosen score and a Prior.
Out: a Source that asks the workers for sums over the files: table scores for counts of sets of columns, dg and bge for
one matrix of moments. Counts are laid out as for one table (core/total_counts.hpp), so table scores of Step 1 are those
of one machine in every digit; moments agree but for their last digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.choices import Choice, loaded
from spinney.cluster import Outcome, keep
from spinney.constraints import Allowed
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError
from spinney.fitted.model import LocalModel
from spinney.partitions import SETS, Partitions
from spinney.priors import Prior
from spinney.progress import Report
from spinney.scores.gaussian import Gaussians
from spinney.scores.source import Source
from spinney.scores.tabular import Tabular
from spinney.store_files import Families

MOST_CODES = 2**62
FEW_PAIRS = 20_000  # of columns: their counts are asked for together


def elsewhere(data: Partitions, choice: Choice, prior: Prior) -> Source:
    """The source, if this score can be had from sums."""
    group = loaded(choice.entry.source)  # type: ignore[attr-defined]
    if group is Tabular and choice.name not in ("bde", "mit"):
        return CountsElsewhere(data, choice, prior)
    if group is Gaussians and choice.name in ("dg", "bge"):
        return MomentsElsewhere(data, choice, prior)
    raise ChoiceError(
        f"score {choice.name} reads the rows, and they are on several machines; use a table score (bdeu, bic and "
        "others) for discrete columns, dg for any mix, or bge"
    )


class CountsElsewhere(Tabular):
    """Table scores from sums of counts."""

    data: Partitions
    here = False

    def family_cost(self, parents: int) -> float:
        return 1e6  # most of it is on the way

    def _build(self) -> _core.Scores:
        def together(child: int, parents: tuple[int, ...], others: Sequence[int]) -> list[float]:
            n = len(self.names)
            if not parents and n * n <= FEW_PAIRS:  # the beginning of every search
                self.data.counts(itertools.combinations(range(n), 2))
            return self._scored(child, [(*parents, other) for other in others])

        def one(child: int, parents: tuple[int, ...]) -> float:
            return self._scored(child, [parents])[0]

        return _core.called_scores(one, len(self.names), self.data.n_rows, together)

    @cached_property
    def _totals(self) -> _core.TotalScores:
        return _core.TotalScores(self._levels, self.data.n_rows, self._spec)

    def _scored(self, child: int, families: Sequence[tuple[int, ...]]) -> list[float]:
        sets = [tuple(sorted((child, *parents))) for parents in families]
        small = [self._countable(own) for own in sets]
        found = iter(self.data.counts(own for own, counted in zip(sets, small, strict=True) if counted))
        return [
            self._totals.score([child], own, *next(found))[0] if counted else -math.inf
            for own, counted in zip(sets, small, strict=True)
        ]

    def _countable(self, variables: Sequence[int]) -> bool:
        return math.prod(self._levels[v] for v in variables) < MOST_CODES

    def score_blocks(
        self,
        allowed: Allowed,
        known: _core.KnownScores,
        take: Callable[[Families], None],
        time_limit: float | None,
        report: Report | None,
    ) -> Outcome:
        """Step 1, set by set: one count serves all children. What is scored is added to `known`, and handed to
        `take`."""
        outcome, deadline = Outcome(), Deadline(time_limit)
        try:
            for size in range(max(allowed.most.values(), default=0) + 1):
                sets = _sets(allowed, size)
                while block := list(itertools.islice(sets, SETS)):
                    families = self._block(allowed, size, block)
                    keep(known, allowed, families)
                    take(families)
                    outcome.scored += len(families)
                    if report is not None:
                        report(min(outcome.scored, allowed.families), allowed.families)
                    if deadline.over():
                        outcome.stopped = "time limit"
                        return outcome
        except KeyboardInterrupt:
            outcome.stopped = "interrupted"
        return outcome

    def _block(self, allowed: Allowed, size: int, block: Sequence[tuple[tuple[int, ...], list[int]]]) -> Families:
        counted = [(own, children) for own, children in block if self._countable(own)]
        places = [_places(allowed, child) for child in range(len(allowed.names))]
        children_: list[int] = []
        ranks: list[int] = []
        scores: list[float] = []
        for (own, children), (codes, counts) in zip(counted, self.data.counts(s for s, _ in counted), strict=True):
            scores += self._totals.score(children, own, codes, counts)
            children_ += children
            ranks += [_rank(places[child], own) for child in children]
        return Families(
            np.array(children_, np.int32),
            np.full(len(children_), size, np.uint8),
            np.array(ranks, np.uint64),
            np.array(scores, np.float64),
            np.zeros(len(children_), np.uint8),
        )

    def _counted(
        self, child: str, order: tuple[str, ...], q: int, r: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        numbers = sorted(self._index[name] for name in (child, *order))
        if not self._countable(numbers):
            raise LimitError(
                f"the table of {child!r} has too many parent configurations to number", "name fewer parents"
            )
        codes, counts = self.data.counts([tuple(numbers)])[0]
        digits: dict[int, NDArray[np.int64]] = {}
        rest = codes.astype(np.int64)
        for v in reversed(numbers):
            rest, digits[v] = np.divmod(rest, self._levels[v])
        place = np.zeros(len(codes), np.int64)
        for name in order:
            place = place * self._levels[self._index[name]] + digits[self._index[name]]
        occurring, place = (
            (np.arange(q, dtype=np.int64), place) if self._dense(q, r) else np.unique(place, return_inverse=True)
        )
        flat = np.zeros(len(occurring) * r, np.int64)
        flat[place * r + digits[self._index[child]]] = counts
        return occurring, flat


class MomentsElsewhere(Gaussians):
    """dg and bge from one matrix of moments."""

    data: Partitions
    fits = False

    @cached_property
    def _gaussians(self) -> _core.GaussianScores:
        levels = [len(self.data.levels(name)) if self.data.kinds[name].discrete else 0 for name in self.names]
        mean, matrix = self.data.moments()
        return _core.GaussianScores.of_moments(levels, self.data.n_rows, mean, matrix.ravel(), self._spec)

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> LocalModel:
        raise ChoiceError(f"score {self.choice.name} is fitted from rows, and they are on several machines; use find()")


def _sets(allowed: Allowed, size: int) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Sets of one column more than this, each with the children that may have the others as parents."""
    names, number = allowed.names, allowed.index
    may = [{number[p] for p in allowed.candidates[name]} if size <= allowed.most[name] else None for name in names]
    must = [{number[p] for p in allowed.required[name]} for name in names]
    for own in itertools.combinations(range(len(names)), size + 1):
        there = set(own)
        children = [v for v in own if (able := may[v]) is not None and must[v] < there and there - {v} <= able]
        if children:
            yield own, children


def _rank(places: Mapping[int, int], own: Sequence[int]) -> int:
    """Of the parents of a child among the sets of their size (core/known.hpp)."""
    parents = [places[v] for v in own if v in places]
    return sum(math.comb(place, len(parents) - i) for i, place in enumerate(parents))


def _places(allowed: Allowed, child: int) -> dict[int, int]:
    """Of the candidates, counted from the last one."""
    candidates = allowed.candidates[allowed.names[child]]
    return {allowed.index[name]: len(candidates) - 1 - i for i, name in enumerate(candidates)}
