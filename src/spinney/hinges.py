"""Basis functions of MARS: products of hinges and lines, and what is made of them.

In:  terms as factors (column, direction, knot) in the user's units; columns of numbers.
Out: the values of the terms, their words, and fitted indicators as probabilities. Shared by the estimators of
regress.py and the local model of fitted/basis.py; fits are computed in core/mars.cpp."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.layout import shown_number

Floats = NDArray[np.float64]
_FAR = 1e150  # products of two are numbers


class Factor(NamedTuple):
    """One hinge: max(0, x - knot) for direction 1, max(0, knot - x) for -1; for 0 the line x - knot."""

    column: int
    direction: int
    knot: float

    def values(self, x: Floats) -> Floats:
        with np.errstate(over="ignore"):
            away = self.knot - x if self.direction < 0 else x - self.knot
            return np.clip(away, -_FAR if self.direction == 0 else 0.0, _FAR)

    def text(self, name: str, spread: float = 0.0) -> str:
        """`spread`: of the column, so that the knot has digits enough."""
        knot = shown_number(self.knot, spread / 100)
        if self.direction < 0:
            return f"h({knot} - {name})"
        if self.knot == 0:
            return name if self.direction == 0 else f"h({name})"
        sign, size = ("-", knot) if self.knot > 0 else ("+", shown_number(-self.knot, spread / 100))
        return f"({name} {sign} {size})" if self.direction == 0 else f"h({name} {sign} {size})"


Term = tuple[Factor, ...]  # () is the constant


def values_of(terms: Sequence[Term], columns: Sequence[Floats], n_rows: int) -> Floats:
    """One column per term."""
    answer = np.ones((n_rows, len(terms)))
    for place, term in enumerate(terms):
        for factor in term:
            with np.errstate(over="ignore"):
                answer[:, place] = np.clip(answer[:, place] * factor.values(columns[factor.column]), -_FAR, _FAR)
    return answer


def term_text(term: Term, names: Sequence[str], spreads: Sequence[float]) -> str:
    words = [factor.text(names[factor.column], spreads[factor.column]) for factor in term]
    return " * ".join(words) if words else "1"


def repaired(fitted: Floats, rows: int) -> Floats:
    """Fitted indicators as probabilities: what is below one row's share is raised to it, and all are divided by their
    sum. One column per level; `rows` is how many the fit had."""
    least = 1.0 / max(rows, 2 * fitted.shape[1])
    raised = np.clip(fitted, least, _FAR)
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares


def importances(terms: Sequence[Term], subsets: Sequence[Sequence[int]], gcv: Sequence[float], selected: int) -> Floats:
    """Per column: by how much GCV falls, subset by subset up to the selected one, where the column is in the larger.

    As the criterion gcv of earth's evimp; the largest total is 1 where any is above 0."""
    columns = 1 + max((factor.column for term in terms for factor in term), default=-1)
    found = np.zeros(columns)
    for size in range(2, selected + 1):
        gain = gcv[size - 2] - gcv[size - 1]
        if math.isfinite(gain):
            found[sorted({factor.column for member in subsets[size - 1] for factor in terms[member]})] += gain
    return np.maximum(found, 0.0)
