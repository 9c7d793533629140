"""mars: every child by multivariate adaptive regression splines of its parents; any mix of kinds.

In:  a Dataset, the score mars, and a Prior on parent sets.
Out: a Source; its local models are Basis. The fits are in core/mars.cpp, what becomes of columns and the score in
core/mars_families.cpp (Sharma and van Beek 2021, with GCV as Friedman 1991 has it). Continuous and ordinal columns are
standardised, so units change nothing; objective "gcv" alone is in the child's own units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from spinney import _core
from spinney.fitted.basis import Basis
from spinney.fitted.standard_model import columns_of
from spinney.hinges import Factor, Floats
from spinney.kinds import Ordinal
from spinney.scores.source import Source, check_memory

_CONSTANT = 1 / (2 * math.pi)  # variance of a child that is constant in the table: density 1, in its own units
_THRESHOLD, _FAST_K, _FAST_BETA = 0.001, 20, 1.0  # earth's


class Mars(Source):
    """One data set under mars."""

    @cached_property
    def _mars(self) -> _core.MarsScores:
        data, kinds = self.data, self.data.kinds
        columns = sum(
            len(data.levels(name)) if kinds[name].discrete and not isinstance(kinds[name], Ordinal) else 1
            for name in self.names
        )
        check_memory(f"the {columns:,} columns of the regressions", 12.0 * columns * data.n_rows)
        spec = _core.MarsSpec(
            self.choice["degree"],
            0 if self.choice["max_terms"] == "auto" else self.choice["max_terms"],
            self._penalty,
            _THRESHOLD,
            0,
            0,
            _FAST_K,
            _FAST_BETA,
            True,
            True,
        )
        return _core.MarsScores(
            data.for_core,
            spec,
            self.choice["objective"] == "gcv",
            list(self.prior.by_size),
            self.prior.per_parameter,
            [isinstance(kinds[name], Ordinal) for name in self.names],
            [1.0 if kinds[name].discrete else data.standard(name).scale for name in self.names],
        )

    @property
    def _penalty(self) -> float:
        given = self.choice["penalty"]
        return (3.0 if self.choice["degree"] > 1 else 2.0) if given == "auto" else float(given)

    def _build(self) -> _core.Scores:
        return self._mars

    def parameters(self, child: str, parents: Sequence[str]) -> float:
        """Coefficients: terms times responses."""
        return float(self._mars.fit(*self.family(child, parents))[2])

    def family_cost(self, parents: int) -> float:
        """Nanoseconds; fitted to the 0.3 to 0.45 ms per family of bench/mars.py (1,000 rows, up to three parents)."""
        degree: int = self.choice["degree"]
        return 10_000.0 + (20 + 60 * parents * min(degree, 3)) * self.data.n_rows

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> Basis:
        order = tuple(sorted(parents))
        data, kinds = self.data, self.data.kinds
        columns, occurring, _, found = self._mars.fit(*self.family(child, order), stop)
        terms, selected, coefficients, _, _, gcv, total, _ = found
        at = {self._index[name]: i for i, name in enumerate(order)}
        own = [(at[variable], None if level < 0 else level) for variable, level in columns]
        numbers = [self._numbers(order[parent], level) for parent, level in own]
        origins = [_origin(column, level) for column, (_, level) in zip(numbers, own, strict=True)]
        kept = [
            tuple(Factor(c, d, origins[c] if d == 0 else float(numbers[c][row])) for c, d, row in terms[place])
            for place in selected
        ]
        fitted: list[tuple[float, ...] | None]
        variance = 0.0
        if kinds[child].discrete:
            fitted = self._by_level(child, occurring, coefficients)
        else:
            column = data.standard(child)
            values = coefficients[0] if coefficients else [0.0]
            kept = kept or [()]
            fitted = [(values[0] + column.centre, *values[1:])]
            variance = 1.0 if data.n_rows == 0 else gcv[len(kept) - 1] if total > 0 else _CONSTANT
        return Basis(
            **columns_of(data, child, order),
            columns=tuple(own),
            terms=tuple(kept),
            coefficients=tuple(fitted),
            variance=variance,
            rows=data.n_rows,
            score=score,
        )

    def _numbers(self, name: str, level: int | None) -> Floats:
        """A column as factors of the model read it."""
        if not self.data.kinds[name].discrete:
            column = self.data.standard(name)
            return column.values + column.centre
        codes = self.data.codes(name)
        return (codes if level is None else codes == level).astype(np.float64)

    def _by_level(
        self, child: str, occurring: Sequence[int], coefficients: Sequence[Sequence[float]]
    ) -> list[tuple[float, ...] | None]:
        """Per declared level. Of two that occur the first was fitted, and the other is what is left of 1."""
        found: list[tuple[float, ...] | None] = [None] * len(self.data.levels(child))
        for level, own in zip(occurring, coefficients, strict=False):
            found[level] = tuple(own)
        if len(occurring) == 2:
            first = coefficients[0]
            found[occurring[1]] = (1 - first[0], *(-value for value in first[1:]))
        return found


def _origin(numbers: Floats, level: int | None) -> float:
    """Lines in numbers start at their mean, those in indicators at 0."""
    return float(numbers.mean()) if level is None and len(numbers) else 0.0
