"""Fitted regressions on powers of the continuous parents, one per cell of the discrete ones: mvp and lr.

In:  per cell that occurred: coefficients of Legendre polynomials of the parents (core/polynomial.hpp).
Out: log-probabilities, distributions, means and draws of the child for rows of data, and equations in words.
A continuous child has a normal residual. A discrete one has, by the rule of its cell, its frequencies; fitted values
that are shrunk towards 1/r until the smallest is 1/n (mvp: Andrews, Ramsey and Cooper 2018, for new rows too); or a
softmax of them (lr). A cell that did not occur has the distribution of the child over all rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from spinney.errors import ChoiceError, LimitError
from spinney.fitted.equations import equation
from spinney.fitted.model import Columns, Floats, Ints
from spinney.fitted.plain import whole_number
from spinney.fitted.standard_model import FAR, StandardModel
from spinney.kinds import Kind
from spinney.layout import LEVELS, ROWS, counted, cut, probability, word

RULES = ("gaussian", "frequencies", "shrunk", "softmax")
_MOST_DEGREE = 64  # as in core/bind_polynomial.cpp


@dataclass(frozen=True)
class Powers:
    """The Legendre polynomials 1 to degree of a parent, its standardised values mapped from low..high to -1..1.

    Degree 0: the parent is not used."""

    low: float = 0.0
    high: float = 0.0
    degree: int = 0

    def values(self, standard: Floats) -> list[Floats]:
        """Far outside of the range they are taken at an end, where they are numbers."""
        if self.degree == 0:
            return []
        end = FAR ** (1 / self.degree)
        with np.errstate(over="ignore"):
            x = np.clip(((standard - self.low) - (self.high - standard)) / (self.high - self.low), -end, end)
        found = [np.ones_like(x), x]
        for k in range(1, self.degree):
            found.append(((2 * k + 1) * x * found[k] - k * found[k - 1]) / (k + 1))
        return found[1:]


@dataclass(frozen=True)
class Cell:
    """One cell. `coefficients` has an entry per response, the child or each of its levels: the constant, then those of
    the polynomials, parent after parent; None: a level that has probability 0 here. `variance` is that of a continuous
    child, standardised."""

    levels: tuple[int, ...]
    rows: int
    rule: str
    powers: tuple[Powers, ...]
    coefficients: tuple[tuple[float, ...] | None, ...]
    variance: float = 0.0

    def fitted(self, columns: Sequence[Floats], n_rows: int) -> Floats:
        """One column per response, from the standardised values of the continuous parents."""
        used = [q for own, column in zip(self.powers, columns, strict=True) for q in own.values(column)]
        answer = np.full((n_rows, len(self.coefficients)), -np.inf)
        for place, own in enumerate(self.coefficients):
            if own is not None:
                answer[:, place] = own[0]
                for factor, q in zip(own[1:], used, strict=True):
                    answer[:, place] += factor * q
        return answer

    def log_probabilities(self, columns: Sequence[Floats], n_rows: int) -> Floats:
        """Of the levels, one column each. REQUIRES: the child is discrete."""
        fitted = self.fitted(columns, n_rows)
        if self.rule == "softmax":
            logs: Floats = fitted - logsumexp(fitted, axis=1, keepdims=True)
            return logs
        fitted = np.where(np.isneginf(fitted), 0.0, fitted)
        if self.rule == "shrunk":
            low, middle = 1 / self.rows, 1 / fitted.shape[1]
            smallest = np.minimum(fitted.min(axis=1, keepdims=True), low)
            shrink = (low - middle) / (smallest - middle)
            fitted = shrink * fitted + (1 - shrink) * middle
            fitted /= fitted.sum(axis=1, keepdims=True)  # 1 but for rounding
        with np.errstate(divide="ignore"):
            return np.log(fitted)


@dataclass(frozen=True, eq=False)
class Polynomial(StandardModel):
    """P(child | parents), one regression per cell of the discrete parents.

    A standardised value is (value - shift) / scale: `shifts` and `scales` have one number for each continuous parent,
    and for a continuous child one more at the end. `overall` is used where no cell of `cells` fits."""

    word: ClassVar[str] = "polynomial"

    child: str
    parents: tuple[str, ...]
    kind: Kind
    parent_kinds: tuple[Kind, ...]
    shifts: tuple[float, ...]
    scales: tuple[float, ...]
    cells: tuple[Cell, ...]
    overall: Cell
    score: float | None = None

    def __post_init__(self) -> None:
        self._check_columns(("cells",))
        if math.prod(self._sizes) > 2**62:
            raise LimitError(f"{self._where} has more cells than can be numbered: give {self.child!r} fewer parents")
        for cell in (*self.cells, self.overall):
            self._check(cell)
        if len(self._codes) and (np.diff(self._codes) <= 0).any():
            raise ChoiceError(f"{self._where} has cells that are not in order, or twice: sort them by their levels")

    # --- checks -----------------------------------------------------------------------------------------------------

    def _check(self, cell: Cell) -> None:
        levels = None if not self.kind.discrete else self.family[self.child]
        if cell.rule not in RULES or (cell.rule == "gaussian") != (levels is None):
            raise ChoiceError(f"{self._where} has a cell with the rule {cell.rule!r}, which its child cannot have")
        if cell is not self.overall and (
            len(cell.levels) != len(self._sizes)
            or not all(0 <= level < size for level, size in zip(cell.levels, self._sizes, strict=True))
        ):
            raise ChoiceError(f"{self._where} has a cell of levels {cell.levels}: give one level per discrete parent")
        width = 1 + sum(own.degree for own in cell.powers)
        known = [own for own in cell.coefficients if own is not None]
        fits = (
            len(cell.powers) == len(self._continuous)
            and len(cell.coefficients) == (1 if levels is None else len(levels))
            and all(len(own) == width for own in known)
            and all(0 <= own.degree <= _MOST_DEGREE for own in cell.powers)
            and len(known) >= 1
        )
        if not fits:
            raise ChoiceError(f"{self._where} has a cell whose numbers do not fit its parents: write the model again")
        plain = [cell.rows, cell.variance, *(x for own in known for x in own)]
        plain += [x for own in cell.powers for x in (own.low, own.high, own.high - own.low)]
        if not _finite(plain) or any(own.degree and own.high <= own.low for own in cell.powers):
            raise ChoiceError(f"{self._where} has a number that is not finite, or a range without a width: correct it")
        if cell.rows < 0 or (levels is None and not cell.variance > 0):
            raise ChoiceError(f"{self._where} has a variance or a number of rows that is not above 0: correct it")
        if cell.rule == "shrunk" and (levels is None or cell.rows <= len(levels)):
            raise ChoiceError(f"{self._where} has a cell that is too small for its rule: use the rule 'frequencies'")
        if cell.rule == "frequencies":
            shares = [own[0] for own in known]
            if width > 1 or min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
                raise ChoiceError(f"{self._where} has frequencies that do not sum to 1: correct them")

    # --- answers ----------------------------------------------------------------------------------------------------

    @cached_property
    def _discrete(self) -> tuple[str, ...]:
        return tuple(p for p, kind in zip(self.parents, self.parent_kinds, strict=True) if kind.discrete)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(self.family[p] or ()) for p in self._discrete)

    @cached_property
    def _codes(self) -> Ints:
        """The joint code of every cell, the last discrete parent varying fastest."""
        codes = np.zeros(len(self.cells), dtype=np.int64)
        for place, size in enumerate(self._sizes):
            codes = codes * size + np.array([cell.levels[place] for cell in self.cells], dtype=np.int64)
        return codes

    def _by_cell(self, columns: Columns) -> Iterator[tuple[Cell, Ints, list[Floats]]]:
        """The cells that rows fall into, with these rows and the standardised values of their continuous parents."""
        code = np.zeros(columns.n_rows, dtype=np.int64)
        for parent, size in zip(self._discrete, self._sizes, strict=True):
            code = code * size + columns.codes(parent)
        place = np.searchsorted(self._codes, code)
        if len(self.cells):
            inside = np.minimum(place, len(self.cells) - 1)
            place = np.where(self._codes[inside] == code, inside, len(self.cells))
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.diff(place[order], prepend=-1))
        for rows in np.split(order, starts[1:]) if columns.n_rows else []:
            at = int(place[rows[0]])
            own = [self._standard(i, columns.values(p)[rows]) for i, p in enumerate(self._continuous)]
            yield (self.cells[at] if at < len(self.cells) else self.overall), rows, own

    def _log_conditional(self, columns: Columns) -> Floats:
        logs = np.empty((columns.n_rows, len(self.family[self.child] or ())))
        for cell, rows, own in self._by_cell(columns):
            logs[rows] = cell.log_probabilities(own, len(rows))
        return logs

    def _normal(self, columns: Columns) -> tuple[Floats, Floats]:
        mean, deviation = np.empty(columns.n_rows), np.empty(columns.n_rows)
        for cell, rows, own in self._by_cell(columns):
            mean[rows] = cell.fitted(own, len(rows))[:, 0]
            deviation[rows] = math.sqrt(cell.variance)
        return mean, deviation

    def cuts(self, parent: str) -> Floats | None:
        """None: the model changes smoothly along the parent; none at all where no cell uses it."""
        place = self._continuous.index(parent)
        return None if any(cell.powers[place].degree for cell in self.cells) else np.empty(0)

    # --- files ------------------------------------------------------------------------------------------------------

    def to_plain(self) -> dict[str, object]:
        return {
            "shifts": list(self.shifts),
            "scales": list(self.scales),
            "cells": [_to_plain(cell) for cell in self.cells],
            "overall": _to_plain(self.overall),
        }

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Polynomial:
        return cls(
            **cls._columns_from(node, kinds),
            cells=tuple(map(_from_plain, node["cells"])),
            overall=_from_plain(node["overall"]),
        )

    # --- words ------------------------------------------------------------------------------------------------------

    def text(self, rows: int | None = ROWS) -> str:
        """One equation per cell and response, in the user's names and units."""
        lines = [f"  {line}" for cell in self._shown for line in self._lines(cell)]
        return "\n".join([self.title, *cut(lines, rows, "line")])

    @property
    def _shown(self) -> tuple[Cell, ...]:
        """All cells, and last the one for all others, where there can be others."""
        return self.cells if len(self.cells) == math.prod(self._sizes) else (*self.cells, self.overall)

    def _named(self, cell: Cell) -> dict[str, str]:
        return {p: (self.family[p] or ())[level] for p, level in zip(self._discrete, cell.levels, strict=True)}

    def _lines(self, cell: Cell) -> Iterator[str]:
        named = (
            " and ".join(f"{word(p)} is {word(level)}" for p, level in self._named(cell).items())
            if (cell is not self.overall)
            else "otherwise"
        )
        start = f"{named} " if named else ""
        levels = self.family[self.child]
        if levels is None:
            deviation = math.sqrt(cell.variance) * self.scales[-1]
            yield (
                f"{start}({counted(cell.rows, 'row')}): {word(self.child)} = "
                f"{self._equation(cell, 0, deviation)}, deviation {deviation:.6g}"
            )
            return
        if cell.rule == "frequencies":
            shares = [f"{word(levels[i])} {probability(own[0])}" for i, own in enumerate(cell.coefficients) if own]
            more = [f"{len(shares) - LEVELS:,} more"] if len(shares) > LEVELS else []
            yield f"{start}({counted(cell.rows, 'row')}): {', '.join(shares[:LEVELS] + more)}"
            return
        how = "in proportion to exp of" if cell.rule == "softmax" else f"shrunk towards 1/{len(levels)} until all >="
        yield f"{start}({counted(cell.rows, 'row')}), {how}{'' if cell.rule == 'softmax' else f' 1/{cell.rows}'}:"
        for place, level in enumerate(levels):
            if cell.coefficients[place] is not None:
                yield f"  {word(level)}: {self._equation(cell, place, 0.01)}"

    def _equation(self, cell: Cell, place: int, precision: float) -> str:
        """`precision`: a difference of the response that matters."""
        own = cell.coefficients[place]
        assert own is not None
        shift, scale = (0.0, 1.0) if self.kind.discrete else (self.shifts[-1], self.scales[-1])
        terms, at = [], 1
        for i, (parent, powers) in enumerate(zip(self._continuous, cell.powers, strict=True)):
            factors = own[at : at + powers.degree]
            at += powers.degree
            if factors:
                centre = self.shifts[i] + self.scales[i] * (powers.low / 2 + powers.high / 2)
                terms.append((word(parent), centre, self.scales[i] * (powers.high - powers.low) / 2, factors))
        return equation(shift + scale * own[0], scale, terms, precision / 100)

    def as_dict(self) -> dict[str, object]:
        levels = self.family[self.child]
        cells = [
            {
                "parents": None if cell is self.overall else self._named(cell),
                "rows": cell.rows,
                "rule": cell.rule,
                "text": list(self._lines(cell)),
                **({} if levels is not None else {"deviation": math.sqrt(cell.variance) * self.scales[-1]}),
            }
            for cell in self._shown
        ]
        return {
            "node": self.child,
            "model": self.word,
            "parents": list(self.parents),
            "levels": None if levels is None else list(levels),
            "score": self.score,
            "cells": cells,  # one whose parents are null stands for all that are not listed
        }

    def attributes(self) -> dict[str, object]:
        text = "\n".join(line for cell in self._shown for line in self._lines(cell))
        return {"levels": self.family[self.child], "parents": self.parents, "equations": text}


def _finite(numbers: Sequence[float]) -> bool:
    return all(math.isfinite(number) for number in numbers)


def _to_plain(cell: Cell) -> dict[str, object]:
    return {
        "levels": list(cell.levels),
        "rows": cell.rows,
        "rule": cell.rule,
        "powers": [[own.low, own.high, own.degree] for own in cell.powers],
        "coefficients": [None if own is None else list(own) for own in cell.coefficients],
        "variance": cell.variance,
    }


def _from_plain(plain: Mapping[str, Any]) -> Cell:
    powers = tuple(Powers(float(low), float(high), whole_number(degree)) for low, high, degree in plain["powers"])
    return Cell(
        tuple(map(whole_number, plain["levels"])),
        whole_number(plain["rows"]),
        str(plain["rule"]),
        powers,
        tuple(None if own is None else tuple(map(float, own)) for own in plain["coefficients"]),
        float(plain["variance"]),
    )
