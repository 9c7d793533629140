"""Fitted Gaussian models of mixed families: regressions per cell, Bayes' rule over Gaussians, Student regressions.

In:  parameters per cell of the discrete parents, from fit_gaussian.py or a file.
Out: log-probabilities, distributions, means and draws of the child for rows of data, and equations in words.
Cells without a Gaussian of their own, and cells never seen, use the parameters that were fitted to all rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import log_ndtr

from spinney.errors import ChoiceError
from spinney.fitted.cells import CellIndex, clipped, numbers, split_parents, standard, total_of
from spinney.fitted.equations import NO_NUMBERS
from spinney.fitted.leaves import Student
from spinney.fitted.model import Columns, Floats, Ints, Levels, LocalModel, align, draw_codes
from spinney.kinds import Kind
from spinney.layout import LEVELS, ROWS, counted, cut, probability, shown_number, word

if TYPE_CHECKING:
    from spinney.dataset import Dataset

_LOG_TWO_PI = math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class Regression(LocalModel):
    """A continuous child: per cell of the discrete parents a linear regression on the continuous ones.

    `codes` are the cells that have their own, as mixed-radix codes of the discrete parents' levels, the last varies
    fastest. `means` has a row per cell: the mean of the child, then those of the continuous parents; `slopes` one slope
    per continuous parent; `deviations` the standard deviation of what is left; `rows` how many there were. The last row
    of each belongs to all other cells. All are maximum likelihood, in the user's units."""

    word: ClassVar[str] = "regression"

    child: str
    parents: tuple[str, ...]
    parent_levels: tuple[Levels, ...]
    codes: Ints
    means: Floats
    slopes: Floats
    deviations: Floats
    rows: Ints
    score: float | None = None

    def __post_init__(self) -> None:
        numbers(self, floats=("means", "slopes", "deviations"), ints=("codes", "rows"))
        cells, wide = len(self.codes) + 1, len(self.continuous)
        shapes = {"means": (cells, wide + 1), "slopes": (cells, wide), "deviations": (cells,), "rows": (cells,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ChoiceError(f"{self._where} has {name} of shape {getattr(self, name).shape}: give {shape}")
        if not (self.deviations > 0).all():
            raise ChoiceError(f"{self._where} has a deviation that is not above 0: give positive numbers")

    @property
    def _where(self) -> str:
        return f"the regression of {self.child!r}"

    @cached_property
    def index(self) -> CellIndex:
        return CellIndex(self.child, self.parents, self.parent_levels, self.codes)

    @property
    def continuous(self) -> tuple[str, ...]:
        return split_parents(self.parents, self.parent_levels)[1]

    @property
    def family(self) -> dict[str, Levels]:
        return {self.child: None, **dict(zip(self.parents, self.parent_levels, strict=True))}

    def mean(self, data: Dataset | Columns) -> Floats:
        return self.spread(data)[0]

    def spread(self, data: Dataset | Columns) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of the child given the parents of each row."""
        columns = align(data, {name: levels for name, levels in self.family.items() if name != self.child})
        cell = self.index.of(columns)
        terms = [self.means[cell, 0]]
        with np.errstate(over="ignore"):
            for i, name in enumerate(self.continuous):
                terms.append(self.slopes[cell, i] * (columns.values(name) - self.means[cell, i + 1]))
        return total_of(terms), self.deviations[cell]

    def log_prob(self, data: Dataset | Columns) -> Floats:
        columns = align(data, self.family)
        mean, deviation = self.spread(columns)
        z = standard(columns.values(self.child), mean, deviation)
        logs: Floats = -(z * z + _LOG_TWO_PI) / 2 - np.log(deviation)
        return logs

    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Floats:
        mean, deviation = self.spread(data)
        with np.errstate(over="ignore"):
            return clipped(mean + deviation * rng.standard_normal(len(mean)))

    def pieces(self, data: Dataset | Columns, cuts: Floats) -> tuple[Floats, Floats]:
        mean, deviation = (column[:, None] for column in self.spread(data))
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        z = standard(ends[None, :], mean, deviation)
        lower, upper = z[:, :-1], z[:, 1:]
        mirrored = lower > 0  # from the tail on the piece's own side, so that small masses keep their digits
        low, high = np.where(mirrored, -upper, lower), np.where(mirrored, -lower, upper)
        top = log_ndtr(high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            logs = top + np.log1p(-np.exp(np.minimum(log_ndtr(low) - top, 0.0)))
            moment = (np.exp(-(lower**2) / 2) - np.exp(-(upper**2) / 2)) / math.sqrt(2 * math.pi)
            inner = moment / np.exp(logs)
        near = np.clip(0.0, lower, upper)  # where a far piece has its mass
        inner = np.clip(np.where(np.isfinite(inner), inner, near), lower, upper)
        return logs, clipped(mean + deviation * inner)

    def cuts(self, parent: str) -> Floats | None:
        """Smooth along every continuous parent."""
        return None

    def __eq__(self, other: object) -> bool:
        """The same parameters; rows and score are not compared."""
        if not isinstance(other, Regression):
            return NotImplemented
        arrays = ("codes", "means", "slopes", "deviations")
        return self.family == other.family and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    def to_plain(self) -> dict[str, object]:
        return {
            "cells": self.codes.tolist(),
            "means": self.means.tolist(),
            "slopes": self.slopes.tolist(),
            "deviations": self.deviations.tolist(),
            "rows": self.rows.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Regression:
        parents = tuple(node["parents"])
        slopes = np.array(node["slopes"], dtype=np.float64)
        return cls(
            child=node["child"],
            parents=parents,
            parent_levels=tuple(getattr(kinds[parent], "levels", None) for parent in parents),
            codes=np.array(node["cells"], dtype=np.int64),
            means=np.array(node["means"], dtype=np.float64),
            slopes=slopes.reshape(len(slopes), -1) if slopes.size else slopes.reshape(len(node["slopes"]), 0),
            deviations=np.array(node["deviations"], dtype=np.float64),
            rows=np.array(node["rows"], dtype=np.int64),
            score=node["score"],
        )

    @property
    def title(self) -> str:
        cells = f", a regression for each of {counted(len(self.codes), 'cell')}" if self.index.discrete else ""
        return f"{super().title}{cells}"

    def text(self, rows: int | None = ROWS) -> str:
        return "\n".join([self.title, *cut([f"  {line}" for line in self._lines()], rows, "cell")])

    def describe(self) -> str:
        """One equation per cell, in the user's names and units."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for place in range(len(self.deviations)):
            last = place == len(self.codes)
            if last and len(self.codes) == self.index.configurations:
                continue  # every cell has its own
            where = "" if not self.index.discrete else "  otherwise" if last else f"  if {self.index.words(place)}"
            yield f"{self.equation(place)}{where}"

    def equation(self, place: int) -> str:
        """child = a + b parent  (sd s)"""
        deviation = float(self.deviations[place])
        intercept, terms = float(self.means[place, 0]), []
        for i, name in enumerate(self.continuous):
            slope, centre = float(self.slopes[place, i]), float(self.means[place, i + 1])
            intercept -= slope * centre
            size = shown_number(abs(slope), deviation / 100 / max(abs(centre), 1e-300))
            terms.append(f" {'-' if slope < 0 else '+'} {size} {word(name)}")
        start = shown_number(intercept, deviation / 100)
        return f"{word(self.child)} = {start}{''.join(terms)}  (sd {deviation:.6g})"

    def as_dict(self) -> dict[str, object]:
        cells = [
            {
                "if": None if place == len(self.codes) else self.index.levels_at(place),
                "rows": int(self.rows[place]),
                "intercept": float(self.means[place, 0] - self.slopes[place] @ self.means[place, 1:]),
                "slopes": dict(zip(self.continuous, self.slopes[place].tolist(), strict=True)),
                "sd": float(self.deviations[place]),
            }
            for place in range(len(self.deviations))
        ]
        return {
            "node": self.child,
            "model": self.word,
            "parents": list(self.parents),
            "levels": None,
            "score": self.score,
            "cells": cells,  # the one whose "if" is null stands for all that are not listed
            "text": self.describe(),
        }

    def attributes(self) -> dict[str, object]:
        return {"levels": None, "parents": self.parents, "equations": self.describe()}


@dataclass(frozen=True, eq=False)
class GaussianBayes(LocalModel):
    """A discrete child with continuous parents, by Bayes' rule: P(level | x) ~ share of the level * its Gaussian at x.

    Per cell of the discrete parents (`codes`; the last row of every array is for cells never seen) and level: `shares`,
    the weight; `means` and `factors`, the Gaussian of the continuous parents `used` (those that are no function of
    others), standardised by `shifts` and `scales`; a factor is the lower Cholesky triangle of a covariance."""

    word: ClassVar[str] = "gaussian-bayes"

    child: str
    parents: tuple[str, ...]
    levels: tuple[str, ...]
    parent_levels: tuple[Levels, ...]
    used: tuple[str, ...]
    shifts: Floats
    scales: Floats
    codes: Ints
    shares: Floats
    means: Floats
    factors: Floats
    score: float | None = None

    def __post_init__(self) -> None:
        numbers(self, floats=("shifts", "scales", "shares", "means", "factors"), ints=("codes",))
        object.__setattr__(self, "used", tuple(self.used))
        cells, r, k = len(self.codes) + 1, len(self.levels), len(self.used)
        shapes: dict[str, tuple[int, ...]] = {"shares": (cells, r), "means": (cells, r, k), "factors": (cells, r, k, k)}
        for name, shape in {**shapes, "shifts": (k,), "scales": (k,)}.items():
            if getattr(self, name).shape != shape:
                raise ChoiceError(f"{self._where} has {name} of shape {getattr(self, name).shape}: give {shape}")
        if not set(self.used) <= set(split_parents(self.parents, self.parent_levels)[1]):
            raise ChoiceError(f"{self._where} uses {self.used}: name continuous parents only")
        if (self.shares < 0).any() or not (self.shares.sum(axis=1) > 0).all() or not (self.scales > 0).all():
            raise ChoiceError(f"{self._where} has shares or scales that are no weights: give positive numbers")
        if not (np.diagonal(self.factors, axis1=2, axis2=3) > 0).all():
            raise ChoiceError(f"{self._where} has a covariance that is singular: give positive diagonals")

    @property
    def _where(self) -> str:
        return f"the model of {self.child!r} by Bayes' rule"

    @cached_property
    def index(self) -> CellIndex:
        return CellIndex(self.child, self.parents, self.parent_levels, self.codes)

    @property
    def family(self) -> dict[str, Levels]:
        return {self.child: self.levels, **dict(zip(self.parents, self.parent_levels, strict=True))}

    def log_conditional(self, data: Dataset | Columns) -> Floats:
        """log P(level | parents of the row), one column per level; never above 0."""
        columns = align(data, {name: levels for name, levels in self.family.items() if name != self.child})
        cell = self.index.of(columns)
        x = np.empty((columns.n_rows, len(self.used)))
        for i, name in enumerate(self.used):
            x[:, i] = standard(columns.values(name), self.shifts[i], self.scales[i])
        logs = np.full((columns.n_rows, len(self.levels)), -np.inf)
        for place in np.unique(cell).tolist():
            mine = np.flatnonzero(cell == place)
            for level in np.flatnonzero(self.shares[place]).tolist():
                logs[mine, level] = math.log(self.shares[place, level]) + self._log_density(place, level, x[mine])
        logs -= logs.max(axis=1, keepdims=True)
        normal: Floats = np.minimum(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)), 0.0)
        return normal

    def _log_density(self, place: int, level: int, x: Floats) -> Floats:
        """Without the powers of 2 pi, which all levels share. Forward substitution, column after column."""
        factor, z = self.factors[place, level], x - self.means[place, level]
        total = np.zeros(len(x))
        with np.errstate(over="ignore"):
            for j in range(z.shape[1]):
                here = np.clip((z[:, j] - z[:, :j] @ factor[j, :j]) / factor[j, j], -1e150, 1e150)
                z[:, j] = here
                total += here * here
        density: Floats = -np.minimum(total, 1e300) / 2 - np.log(np.diagonal(factor)).sum()
        return density

    def conditional(self, data: Dataset | Columns) -> Floats:
        probabilities: Floats = np.exp(self.log_conditional(data))
        return probabilities

    def log_prob(self, data: Dataset | Columns) -> Floats:
        columns = align(data, self.family)
        picked: Floats = self.log_conditional(columns)[np.arange(columns.n_rows), columns.codes(self.child)]
        return picked

    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Ints:
        probabilities = self.conditional(data)
        return draw_codes(probabilities, np.arange(len(probabilities)), rng)

    def cuts(self, parent: str) -> Floats | None:
        """Smooth along every continuous parent; one that is not used changes nothing."""
        return None if parent in self.used else np.empty(0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GaussianBayes):
            return NotImplemented
        arrays = ("shifts", "scales", "codes", "shares", "means", "factors")
        return (self.family, self.used) == (other.family, other.used) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    def to_plain(self) -> dict[str, object]:
        return {
            "used": list(self.used),
            "cells": self.codes.tolist(),
            **{name: getattr(self, name).tolist() for name in ("shifts", "scales", "shares", "means", "factors")},
        }

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> GaussianBayes:
        parents = tuple(node["parents"])
        cells, k = len(node["cells"]) + 1, len(node["used"])
        levels = getattr(kinds[node["child"]], "levels", None) or ()
        r = len(levels)
        return cls(
            child=node["child"],
            parents=parents,
            levels=levels,
            parent_levels=tuple(getattr(kinds[parent], "levels", None) for parent in parents),
            used=tuple(node["used"]),
            shifts=np.array(node["shifts"], dtype=np.float64),
            scales=np.array(node["scales"], dtype=np.float64),
            codes=np.array(node["cells"], dtype=np.int64),
            shares=np.array(node["shares"], dtype=np.float64),
            means=np.array(node["means"], dtype=np.float64).reshape(cells, r, k),
            factors=np.array(node["factors"], dtype=np.float64).reshape(cells, r, k, k),
            score=node["score"],
        )

    @property
    def title(self) -> str:
        return f"{super().title}, Bayes' rule over a Gaussian per level"

    def text(self, rows: int | None = ROWS) -> str:
        return "\n".join([self.title, *cut([f"  {line}" for line in self._lines()], rows, "line")])

    def describe(self) -> str:
        """Per cell and level: the share, and mean and standard deviation of every continuous parent."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for place in range(len(self.shares)):
            last = place == len(self.codes)
            if last and len(self.codes) == self.index.configurations:
                continue
            indent = "  " if self.index.discrete else ""
            if indent:
                yield "otherwise:" if last else f"if {self.index.words(place)}:"
            shares = self.shares[place] / self.shares[place].sum()
            for level in range(min(len(self.levels), LEVELS)):
                about = f"{indent}{word(self.levels[level])}  share {probability(float(shares[level]))}"
                yield about if shares[level] == 0 else about + "".join(self._parent(place, level, i) for i in self._all)
            if len(self.levels) > LEVELS:
                yield f"{indent}{counted(len(self.levels) - LEVELS, 'more level')}"

    @property
    def _all(self) -> range:
        return range(len(self.used))

    def _parent(self, place: int, level: int, i: int) -> str:
        deviation = math.sqrt(float((self.factors[place, level, i] ** 2).sum())) * float(self.scales[i])
        mean = float(self.shifts[i] + self.scales[i] * self.means[place, level, i])
        return f", {word(self.used[i])} {shown_number(mean, deviation / 100)} (sd {deviation:.6g})"

    def as_dict(self) -> dict[str, object]:
        return {
            "node": self.child,
            "model": self.word,
            "parents": list(self.parents),
            "levels": list(self.levels),
            "score": self.score,
            "text": self.describe(),
            **self.to_plain(),
        }

    def attributes(self) -> dict[str, object]:
        return {"levels": self.levels, "parents": self.parents, "gaussians": self.describe()}


@dataclass(frozen=True, eq=False)
class StudentRegression(LocalModel):
    """A continuous child of continuous parents under bge: the posterior predictive Student t.

    In columns standardised by `shifts` and `scales` (the child first): given x the location is location[0] + slopes
    (x - location[1:]), and the squared scale is scale^2 (freedom + d) / (freedom + k), where d is the distance of x
    from location[1:] by `precision`, k the number of parents, and freedom + k are the degrees of freedom."""

    word: ClassVar[str] = "student-regression"

    child: str
    parents: tuple[str, ...]
    shifts: Floats
    scales: Floats
    location: Floats
    slopes: Floats
    precision: Floats
    scale: float
    freedom: float
    score: float | None = None

    def __post_init__(self) -> None:
        numbers(self, floats=("shifts", "scales", "location", "slopes", "precision"), ints=())
        k = len(self.parents)
        shapes = {"shifts": (k + 1,), "scales": (k + 1,), "location": (k + 1,), "slopes": (k,), "precision": (k, k)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ChoiceError(f"{self._where} has {name} of shape {getattr(self, name).shape}: give {shape}")
        if not (self.scales > 0).all() or not 0 < self.scale < math.inf or not 0 < self.freedom < math.inf:
            raise ChoiceError(f"{self._where} has a scale or freedom that is not above 0: give positive numbers")

    @property
    def _where(self) -> str:
        return f"the Student regression of {self.child!r}"

    @property
    def family(self) -> dict[str, Levels]:
        return dict.fromkeys((self.child, *self.parents), None)

    def student(self, data: Dataset | Columns) -> Student:
        """One Student t per row, in the user's units."""
        columns = align(data, dict.fromkeys(self.parents, None))
        n, k = columns.n_rows, len(self.parents)
        x = np.empty((n, k))
        for i, name in enumerate(self.parents):
            x[:, i] = np.clip(standard(columns.values(name), self.shifts[i + 1], self.scales[i + 1]), -1e100, 1e100)
        x -= self.location[1:]
        away = np.maximum(np.einsum("ni,ij,nj->n", x, self.precision, x), 0.0)
        scale = self.scale * np.sqrt((self.freedom + away) / (self.freedom + k))
        centre = self.location[0] + x @ self.slopes
        return Student(centre, scale, np.full(n, self.freedom + k)).moved(float(self.shifts[0]), float(self.scales[0]))

    def log_prob(self, data: Dataset | Columns) -> Floats:
        columns = align(data, self.family)
        return self.student(columns).log_density(columns.values(self.child))

    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Floats:
        return self.student(data).draw(rng)

    def mean(self, data: Dataset | Columns) -> Floats:
        return self.student(data).location

    def spread(self, data: Dataset | Columns) -> tuple[Floats, Floats]:
        student = self.student(data)
        return student.location, student.scale

    def pieces(self, data: Dataset | Columns, cuts: Floats) -> tuple[Floats, Floats]:
        return self.student(data).pieces(cuts)

    def cuts(self, parent: str) -> Floats | None:
        """Smooth along every parent."""
        return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StudentRegression):
            return NotImplemented
        arrays = ("shifts", "scales", "location", "slopes", "precision")
        return (self.family, self.scale, self.freedom) == (other.family, other.scale, other.freedom) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    def to_plain(self) -> dict[str, object]:
        arrays = ("shifts", "scales", "location", "slopes", "precision")
        return {
            **{name: getattr(self, name).tolist() for name in arrays},
            "scale": self.scale,
            "freedom": self.freedom,
        }

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> StudentRegression:
        k = len(node["parents"])
        return cls(
            child=node["child"],
            parents=tuple(node["parents"]),
            **{name: np.array(node[name], np.float64) for name in ("shifts", "scales", "location", "slopes")},
            precision=np.array(node["precision"], np.float64).reshape(k, k),
            scale=float(node["scale"]),
            freedom=float(node["freedom"]),
            score=node["score"],
        )

    def text(self, rows: int | None = ROWS) -> str:
        return f"{self.title}\n  {self.describe()}"

    def describe(self) -> str:
        """child = a + b parent, with the scale at the parents' means and the degrees of freedom."""
        with np.errstate(all="ignore"):
            slopes = self.slopes * self.scales[0] / self.scales[1:]
            centres = self.shifts + self.scales * self.location
            if not np.isfinite([centres[0] - slopes @ centres[1:], *slopes]).all():
                return f"{word(self.child)} = {NO_NUMBERS}"
        wide = self.scale * float(self.scales[0]) * math.sqrt(self.freedom / (self.freedom + len(self.parents)))
        terms = "".join(
            f" {'-' if slope < 0 else '+'} {shown_number(abs(slope), wide / 100 / max(abs(at), 1e-300))} {word(name)}"
            for slope, at, name in zip(slopes.tolist(), centres[1:].tolist(), self.parents, strict=True)
        )
        start = shown_number(float(centres[0] - slopes @ centres[1:]), wide / 100)
        freedom = self.freedom + len(self.parents)
        return f"{word(self.child)} = {start}{terms}  (Student t, scale {wide:.6g}, {freedom:.6g} degrees of freedom)"

    def as_dict(self) -> dict[str, object]:
        return {
            "node": self.child,
            "model": self.word,
            "parents": list(self.parents),
            "levels": None,
            "score": self.score,
            "text": self.describe(),
            **self.to_plain(),
        }

    def attributes(self) -> dict[str, object]:
        return {"levels": None, "parents": self.parents, "equations": self.describe()}
