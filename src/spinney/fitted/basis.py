"""Fitted MARS models: the child as a sum of products of hinges in its parents.

In:  terms and coefficients of a fit of core/mars_families.cpp, in standard units.
Out: log-probabilities, distributions, means and draws of the child for rows of data, and the formula in words.
A continuous child has a normal residual, whose variance is the GCV of the fit. A discrete one has its fitted indicators
as probabilities: those below one row's share are raised to it, and all are divided by their sum."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spinney.errors import ChoiceError
from spinney.fitted.model import Columns, Floats
from spinney.fitted.plain import whole_number
from spinney.fitted.standard_model import FAR, StandardModel
from spinney.hinges import Factor, Term, repaired, term_text, values_of
from spinney.kinds import Kind
from spinney.layout import ROWS, counted, cut, shown_number, word


@dataclass(frozen=True, eq=False)
class Basis(StandardModel):
    """P(child | parents), one regression on common basis functions per response.

    `columns` are what factors number: a parent's place and None for its values (standardised; of an ordinal parent the
    codes), or the level whose indicator it is. `coefficients` has an entry per response, the child or each of its
    levels, with a number per term; None: a level that did not occur. `variance` is that of a continuous child,
    standardised."""

    word: ClassVar[str] = "basis"

    child: str
    parents: tuple[str, ...]
    kind: Kind
    parent_kinds: tuple[Kind, ...]
    shifts: tuple[float, ...]
    scales: tuple[float, ...]
    columns: tuple[tuple[int, int | None], ...]
    terms: tuple[Term, ...]
    coefficients: tuple[tuple[float, ...] | None, ...]
    variance: float
    rows: int
    score: float | None = None

    def __post_init__(self) -> None:
        self._check_columns(("columns", "terms", "coefficients"))
        where = self._where
        numbers = [self.variance, *(f.knot for term in self.terms for f in term)]
        numbers += [value for own in self.coefficients if own is not None for value in own]
        if not all(map(math.isfinite, numbers)):
            raise ChoiceError(f"{where} has a number that is not finite: correct it")
        if self.rows < 0 or (not self.kind.discrete and not self.variance > 0):
            raise ChoiceError(f"{where} has a variance or a number of rows that is not above 0: correct it")
        levels = [getattr(kind, "levels", None) for kind in self.parent_kinds]
        for parent, level in self.columns:
            known = 0 <= parent < len(self.parents)
            if not known or (level is not None and not 0 <= level < len(levels[parent] or ())):
                raise ChoiceError(f"{where} has a column of no parent, or of no level of it: correct it")
        if any(not 0 <= f.column < len(self.columns) or f.direction not in (-1, 0, 1) for t in self.terms for f in t):
            raise ChoiceError(f"{where} has a factor without a column, or of no direction: correct it")
        responses = len(getattr(self.kind, "levels", None) or (None,))
        if len(self.coefficients) != responses or any(
            own is not None and len(own) != len(self.terms) for own in self.coefficients
        ):
            raise ChoiceError(f"{where} needs a coefficient per term for each of {responses} responses: correct it")

    # --- answers ----------------------------------------------------------------------------------------------------

    def _numbers(self, columns: Columns) -> list[Floats]:
        """The columns that factors read."""
        place = {parent: i for i, parent in enumerate(self._continuous)}
        found: list[Floats] = []
        for parent, level in self.columns:
            name = self.parents[parent]
            if not self.parent_kinds[parent].discrete:
                found.append(self._standard(place[name], columns.values(name)))
            else:
                codes = columns.codes(name)
                found.append((codes if level is None else codes == level).astype(np.float64))
        return found

    def _fitted(self, columns: Columns) -> Floats:
        """One column per response."""
        own = np.array([row if row is not None else (0.0,) * len(self.terms) for row in self.coefficients])
        with np.errstate(over="ignore", invalid="ignore"):
            fitted = values_of(self.terms, self._numbers(columns), columns.n_rows) @ own.T
        answer: Floats = np.clip(np.nan_to_num(fitted), -FAR, FAR)
        return answer

    def _normal(self, columns: Columns) -> tuple[Floats, Floats]:
        return self._fitted(columns)[:, 0], np.full(columns.n_rows, math.sqrt(self.variance))

    def _log_conditional(self, columns: Columns) -> Floats:
        return np.log(repaired(self._fitted(columns), self.rows))

    def cuts(self, parent: str) -> Floats | None:
        """None: the model changes smoothly along the parent; none at all where no term uses it."""
        place = self.parents.index(parent)
        used = any(self.columns[factor.column][0] == place for term in self.terms for factor in term)
        return None if used else np.empty(0)

    # --- files ------------------------------------------------------------------------------------------------------

    def to_plain(self) -> dict[str, object]:
        return {
            "shifts": list(self.shifts),
            "scales": list(self.scales),
            "columns": [list(column) for column in self.columns],
            "terms": [[list(factor) for factor in term] for term in self.terms],
            "coefficients": [None if own is None else list(own) for own in self.coefficients],
            "variance": self.variance,
            "rows": self.rows,
        }

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Basis:
        return cls(
            **cls._columns_from(node, kinds),
            columns=tuple(
                (whole_number(p), None if level is None else whole_number(level)) for p, level in node["columns"]
            ),
            terms=tuple(
                tuple(Factor(whole_number(c), whole_number(d), float(t)) for c, d, t in term) for term in node["terms"]
            ),
            coefficients=tuple(None if own is None else tuple(map(float, own)) for own in node["coefficients"]),
            variance=float(node["variance"]),
            rows=whole_number(node["rows"]),
        )

    # --- words ------------------------------------------------------------------------------------------------------

    def text(self, rows: int | None = ROWS) -> str:
        """The formula of every response, in the user's names and units; ordinal parents by their codes from 0."""
        return "\n".join([self.title, *cut([f"  {line}" for line in self._lines()], rows, "line")])

    def _lines(self) -> Iterator[str]:
        levels = self.family[self.child]
        place = {parent: i for i, parent in enumerate(self._continuous)}
        names, shifts, scales = [], [], []
        for parent, level in self.columns:
            name, known = self.parents[parent], self.family[self.parents[parent]] or ()
            names.append(word(name) if level is None else f"[{word(name)} is {word(known[level])}]")
            at = place.get(name)
            shifts.append(0.0 if at is None else self.shifts[at])
            scales.append(1.0 if at is None else self.scales[at])
        terms, units = [], []
        for term in self.terms:
            own = tuple(Factor(c, d, shifts[c] + scales[c] * t if d or t else shifts[c]) for c, d, t in term)
            terms.append(term_text(own, names, scales))
            units.append([scales[factor.column] for factor in term])
        if levels is None:
            deviation = math.sqrt(self.variance) * self.scales[-1]
            yield (
                f"({counted(self.rows, 'row')}): {word(self.child)} = "
                f"{self._sum(0, terms, units, deviation)}, deviation {deviation:.6g}"
            )
            return
        yield f"({counted(self.rows, 'row')}), raised to 1/rows where it is less, and divided by the sum:"
        for response, own_level in enumerate(levels):
            if self.coefficients[response] is not None:
                yield f"  {word(own_level)}: {self._sum(response, terms, units, 0.01)}"

    def _sum(self, response: int, terms: list[str], units: list[list[float]], precision: float) -> str:
        own = self.coefficients[response] or ()
        shift, scale = (0.0, 1.0) if self.kind.discrete else (self.shifts[-1], self.scales[-1])
        text = shown_number(shift + scale * (own[0] if own else 0.0), precision / 100)
        for value, term, unit in zip(own[1:], terms[1:], units[1:], strict=True):
            factor = value * scale
            for size in unit:
                factor /= size
            text += f" {'-' if factor < 0 else '+'} {shown_number(abs(factor), 0.0)} {term}"
        return text

    def as_dict(self) -> dict[str, object]:
        levels = self.family[self.child]
        return {
            "node": self.child,
            "model": self.word,
            "parents": list(self.parents),
            "levels": None if levels is None else list(levels),
            "score": self.score,
            "terms": len(self.terms),
            "text": list(self._lines()),
            **({} if levels is not None else {"deviation": math.sqrt(self.variance) * self.scales[-1]}),
        }

    def attributes(self) -> dict[str, object]:
        return {"levels": self.family[self.child], "parents": self.parents, "equations": "\n".join(self._lines())}
