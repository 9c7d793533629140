"""mvp and lr: regressions on powers of the continuous parents in every cell of the discrete ones; any mix of kinds.

In:  a Dataset, the score mvp or lr, and a Prior on parent sets.
Out: a Source; its local models are Polynomials. The regressions are in core/polynomial.cpp, with what was decided where
the paper (Andrews, Ramsey and Cooper 2018, section 4) says nothing. Log-likelihoods are in the user's units, so another
unit changes all scores of a child alike. Ordinal columns are taken by their levels, as children and as parents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from spinney import _core
from spinney.errors import LimitError, way
from spinney.fitted.polynomial import Cell, Polynomial, Powers
from spinney.fitted.standard_model import columns_of
from spinney.machine import available_memory
from spinney.scores.source import LITTLE, Source

_MOST_LOGITS = 1500  # as in core/polynomial.cpp


class Polynomials(Source):
    """One data set under mvp or lr."""

    @cached_property
    def _polynomials(self) -> _core.PolynomialScores:
        data, degree = self.data, self.choice["degree"]
        spec = _core.PolynomialSpec(
            self.choice.name == "lr",
            0 if degree == "log" else degree,
            self.choice["count_variance"],
            list(self.prior.by_size),
            self.prior.per_parameter,
        )
        scales = [0.0 if data.kinds[name].discrete else math.log(data.standard(name).scale) for name in self.names]
        return _core.PolynomialScores(data.for_core, spec, scales)

    def _build(self) -> _core.Scores:
        return self._polynomials

    def likelihood(self, child: str, parents: Sequence[str], stop: _core.Stop | None = None) -> tuple[float, float]:
        """The log-likelihood of a family in the user's units, and its free parameters."""
        self.check_family(child, parents)
        return self._polynomials.likelihood(*self.family(child, parents), stop)

    def parameters(self, child: str, parents: Sequence[str]) -> float:
        return self.likelihood(child, parents)[1]

    def family_cost(self, parents: int) -> float:
        """Nanoseconds; measured on tables of half continuous, half discrete columns."""
        kinds = [self.data.kinds[name].discrete for name in self.names]
        powers = 1 if self.choice["degree"] != "log" else max(1.0, math.log(max(1, self.data.n_rows)))
        continuous = parents * kinds.count(False) / max(1, len(kinds)) * powers
        per_row = 2 + 2 * continuous + 0.5 * continuous**2
        if self.choice.name == "lr":
            levels = [len(self.data.levels(name)) for name in self.names if self.data.kinds[name].discrete]
            free = sum(levels) / max(1, len(levels)) - 1
            per_row += len(levels) / max(1, len(kinds)) * 4 * free * (5 + free * (1 + continuous) ** 2 / 4)
        return 1000 + per_row * self.data.n_rows

    def check_family(self, child: str, parents: Sequence[str]) -> None:
        """Refuse a family whose columns do not fit the memory, or whose logits are too many to be solved for."""
        kinds, degree, n_rows = self.data.kinds, self.choice["degree"], self.data.n_rows
        powers = max(1, math.floor(math.log(max(1, n_rows)))) if degree == "log" else degree
        columns = powers * sum(not kinds[p].discrete for p in parents)
        need = 16.0 * columns * n_rows
        if need > LITTLE and need > 0.8 * (there := available_memory()):
            raise LimitError(
                f"the {columns} columns of the regression of {child!r} need {need / 2**30:,.1f} GiB of memory and "
                f"{there / 2**30:,.1f} GiB are free",
                "name fewer parents",
                "lower the degree",
            )
        if self.choice.name != "lr" or not kinds[child].discrete or columns == 0:
            return
        logits = (min(len(self.data.levels(child)), n_rows) - 1) * (columns + 1)
        if logits > _MOST_LOGITS:
            raise LimitError(
                f"the logistic regression of {child!r} would have {logits:,} coefficients in a cell, more than "
                f"{_MOST_LOGITS:,}",
                "name fewer continuous parents",
                way("use {}", "score", "mvp"),
            )

    def fit(self, child: str, parents: Sequence[str], score: float, stop: _core.Stop | None = None) -> Polynomial:
        order = tuple(sorted(parents))
        data, kinds = self.data, self.data.kinds
        units = [data.standard(p) for p in order if not kinds[p].discrete]
        continuous_child = not kinds[child].discrete
        centre = data.standard(child).centre if continuous_child else 0.0
        cells = []
        for levels, rows, rule, ranges, coefficients, variance in self._polynomials.fit(
            *self.family(child, order), stop
        ):
            if continuous_child:
                coefficients[0][0] += centre
            cells.append(
                Cell(
                    tuple(levels),
                    rows,
                    rule,
                    tuple(
                        Powers(low + unit.centre, high + unit.centre, degree) if degree else Powers()
                        for (low, high, degree), unit in zip(ranges, units, strict=True)
                    ),
                    tuple(tuple(own) if own else None for own in coefficients),
                    # A child that is constant in the table has density 1 there, in its own units.
                    (variance or 1 / (2 * math.pi)) if continuous_child else 0.0,
                )
            )
        return Polynomial(
            **columns_of(data, child, order),
            cells=tuple(cells),
            overall=self._overall(child, len(units)),
            score=score,
        )

    def _overall(self, child: str, continuous: int) -> Cell:
        """The child over all rows, for cells that did not occur; without rows a standard normal, or equal shares."""
        powers = (Powers(),) * continuous
        if self.data.kinds[child].discrete:
            levels, rows = len(self.data.levels(child)), self.data.n_rows
            counts = np.bincount(self.data.codes(child), minlength=levels)
            shares = counts / rows if rows else np.full(levels, 1 / levels)
            own = tuple((float(share),) if share else None for share in shares)
            return Cell((), rows, "frequencies", powers, own)
        values = self.data.standard(child).values
        spread = float(np.var(values)) if len(values) else 1.0
        mean = self.data.standard(child).centre + (float(values.mean()) if len(values) else 0.0)
        return Cell((), len(values), "gaussian", powers, ((mean,),), spread or 1 / (2 * math.pi))
