"""A partition of the parents' space with a linear regression in every leaf.

In:  the splits of a Partition, and per leaf the means and the scatter of the continuous parents and of the child.
Out: as a Partition; the Student t of a leaf depends on the continuous parents of the row, and the text has equations.
The regression is Bayesian: slopes ~ N(0, variance / tau), the rest as in the normal leaf (core/linear_leaf.hpp)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spinney.errors import ChoiceError
from spinney.fitted.leaves import Student
from spinney.fitted.model import Columns, Floats, Ints, Numbers, align
from spinney.fitted.partition import Partition
from spinney.kinds import Kind
from spinney.layout import shown_number

if TYPE_CHECKING:
    from spinney.dataset import Dataset

_FAR = 1e140  # of a regressor in standard units; beyond, squares are no numbers
_MOST_SUM = 1e150
_OWN = ("x_shift", "x_scale", "x_means", "x_scatter", "xy_scatter")


def _nothing() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class LinearLeaves(Partition):
    """P(child | parents) of a continuous child: in every leaf a regression on the d continuous parents, in their order.

    In addition to Partition: `x_shift` and `x_scale`, the units of the regressors, which are standardised as the child
    is; per leaf `x_means` (d), `x_scatter` (d, d) and `xy_scatter` (d): means of the regressors, and sums of products
    about the means; `tau`, the prior weight of the slopes."""

    word: ClassVar[str] = "linear-leaves"

    x_shift: Floats = field(default_factory=_nothing)
    x_scale: Floats = field(default_factory=_nothing)
    x_means: Floats = field(default_factory=_nothing)
    x_scatter: Floats = field(default_factory=_nothing)
    xy_scatter: Floats = field(default_factory=_nothing)
    tau: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        d, leaves = len(self.regressors), len(self.sums)
        shapes = {"x_shift": (d,), "x_scale": (d,), "x_means": (leaves, d), "x_scatter": (leaves, d, d)}
        for name, shape in (shapes | {"xy_scatter": (leaves, d)}).items():
            array = np.array(getattr(self, name), dtype=np.float64)
            if array.shape != shape:
                raise ChoiceError(f"the regressions of {self.child!r} have {name} of shape {array.shape}: give {shape}")
            most = np.finfo(np.float64).max if name in ("x_shift", "x_scale") else _MOST_SUM
            if not (np.abs(array) <= most).all():
                raise ChoiceError(f"the regressions of {self.child!r} have {name} that no rows can have: correct them")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.kind.discrete or d == 0:
            raise ChoiceError(f"{self.child!r} or all its parents are discrete: nothing is regressed; use a Partition")
        if not (self.x_scale > 0).all() or not 1e-100 <= self.tau <= 1e100:
            raise ChoiceError(f"the regressions of {self.child!r} need x_scale and tau above 0: correct them")
        if not np.array_equal(self.x_scatter, self.x_scatter.transpose(0, 2, 1)):
            raise ChoiceError(f"the regressions of {self.child!r} have x_scatter that is not symmetric: correct it")

    @property
    def regressors(self) -> tuple[str, ...]:
        return tuple(p for p, kind in zip(self.parents, self.parent_kinds, strict=True) if not kind.discrete)

    @cached_property
    def _regressions(self) -> _Regressions:
        return _Regressions.fitted(self)

    def _student(self, columns: Columns, leaf: Ints) -> Student:
        """One Student t per row, in the user's units."""
        x = np.empty((columns.n_rows, len(self.regressors)))
        with np.errstate(over="ignore"):
            for j, name in enumerate(self.regressors):
                values = columns.values(name)  # halved: differences may overflow
                x[:, j] = np.clip((values / 2 - self.x_shift[j] / 2) / self.x_scale[j] * 2, -_FAR, _FAR)
        return self._regressions.student(x, leaf).moved(self.shift, self.scale)

    def _at(self, data: Dataset | Columns) -> Student:
        family = self.family
        columns = align(data, {parent: family[parent] for parent in self.parents})
        return self._student(columns, self.leaf_of(columns))

    def log_prob(self, data: Dataset | Columns) -> Floats:
        columns = align(data, self.family)
        return self._at(columns).log_density(columns.values(self.child))

    def mean(self, data: Dataset | Columns) -> Floats:
        return self._at(data).location

    def spread(self, data: Dataset | Columns) -> tuple[Floats, Floats]:
        """Location and scale of the Student t of each row."""
        student = self._at(data)
        return student.location, student.scale

    def pieces(self, data: Dataset | Columns, cuts: Floats) -> tuple[Floats, Floats]:
        return self._at(data).pieces(cuts)

    def cuts(self, parent: str) -> Floats | None:
        """None: the model changes smoothly with every continuous parent."""
        return None

    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Numbers:
        return self._at(data).draw(rng)

    # --- files and words --------------------------------------------------------------------------------------------

    def to_plain(self) -> dict[str, object]:
        own = {"tau": self.tau, **{name: getattr(self, name).tolist() for name in _OWN}}
        return {**super().to_plain(), "regression": own}

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> LinearLeaves:
        return cls.of(Partition.from_plain(node, kinds), node["regression"])

    @classmethod
    def of(cls, partition: Partition, regression: Mapping[str, Any]) -> LinearLeaves:
        """A Partition with the regressions of its leaves."""
        base: dict[str, Any] = {entry.name: getattr(partition, entry.name) for entry in fields(Partition)}
        own = {name: np.array(regression[name], dtype=np.float64) for name in _OWN}
        return cls(**base | own, tau=regression["tau"])

    def _leaves_for_page(self) -> dict[str, object]:
        own = self._regressions
        return {
            "regressions": {entry.name: getattr(own, entry.name).tolist() for entry in fields(own)},
            **{name: getattr(self, name).tolist() for name in ("x_shift", "x_scale")},
            "shift": self.shift,
            "scale": self.scale,
            "equations": [self._leaf_in_words(leaf) for leaf in range(len(self.sums))],
        }

    @property
    def title(self) -> str:
        return f"{super().title}, linear in {', '.join(self.regressors)}"

    def _leaf_in_words(self, leaf: int) -> str:
        """The regression in the user's units, about the means of the regressors in the leaf."""
        rows, own = float(self.rows[leaf]), self._regressions
        student = own.student(self.x_means[[leaf]], np.array([leaf])).moved(self.shift, self.scale)
        location, scale, freedom = (float(x[0]) for x in (student.location, student.scale, student.freedom))
        equation = shown_number(location, scale / 100)
        for j, name in enumerate(self.regressors):
            with np.errstate(over="ignore"):
                slope = float(np.clip(own.slopes[leaf, j] / self.x_scale[j] * self.scale, -1e308, 1e308))
                middle = float(np.clip(self.x_shift[j] + self.x_means[leaf, j] * self.x_scale[j], -1e308, 1e308))
            if slope != 0:
                sign, size = "-" if middle > 0 else "+", shown_number(abs(middle), float(self.x_scale[j]) / 100)
                about = f"({name} {sign} {size})" if middle else name
                equation += f" {'-' if slope < 0 else '+'} {abs(slope):.6g} {about}"
        return (
            f"{self.child}: {rows:.10g} row{'' if rows == 1 else 's'}, mean {equation}, scale {scale:.6g}, "
            f"{freedom:.6g} degrees of freedom"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearLeaves):
            return False if isinstance(other, Partition) else NotImplemented
        same = all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _OWN)
        return same and self.tau == other.tau and super().__eq__(other) is True


@dataclass(frozen=True)
class _Regressions:
    """The posteriors of all leaves, in standard units.

    With x the regressors of a row less the pivot, the location is location + slopes'x, and the squared scale is
    scatter / freedom * (1 + base + x' spread x)."""

    location: Floats
    pivot: Floats
    slopes: Floats
    spread: Floats
    base: Floats
    scatter: Floats
    freedom: Floats

    @classmethod
    def fitted(cls, model: LinearLeaves) -> _Regressions:
        """As in core/linear_leaf.cpp: A = scatter + tau about the means; then the weight of the means themselves."""
        rows, total, squares = model.sums.T
        mean = np.divide(total, rows, out=np.zeros_like(total), where=rows > 0)
        sizes, axes = np.linalg.eigh(model.x_scatter)  # collinear regressors: sizes of 0, or below by rounding
        inverse = np.einsum("lik,lk,ljk->lij", axes, 1 / (np.maximum(sizes, 0.0) + model.tau), axes)
        slopes = np.einsum("lij,lj->li", inverse, model.xy_scatter)
        toward = np.einsum("lij,lj->li", inverse, model.x_means)
        weight = rows * model.a / (rows + model.a)
        whole = 1 + weight * np.einsum("li,li->l", model.x_means, toward)
        away = mean - model.mu0 - np.einsum("li,li->l", model.x_means, slopes)
        left = np.maximum(squares - rows * mean**2, 0.0) - np.einsum("li,li->l", slopes, model.xy_scatter)
        least = model.nu * model.lam
        scatter = np.maximum(left + least, least) + weight * away**2 / whole
        slopes = slopes + (weight * away / whole)[:, None] * toward
        spread = inverse - (weight / whole)[:, None, None] * toward[:, :, None] * toward[:, None, :]
        share = rows / (rows + model.a)
        location = (1 - share) * model.mu0 + share * mean
        pivot = share[:, None] * model.x_means
        return cls(location, pivot, slopes, spread, 1 / (rows + model.a), scatter, model.nu + rows)

    def student(self, x: Floats, leaf: Ints) -> Student:
        """Of one row per entry."""
        away = x - self.pivot[leaf]
        with np.errstate(over="ignore"):
            location = self.location[leaf] + np.einsum("ri,ri->r", away, self.slopes[leaf])
            wide = np.maximum(np.einsum("ri,rij,rj->r", away, self.spread[leaf], away), 0.0)
        freedom = self.freedom[leaf]
        return Student(location, np.sqrt(self.scatter[leaf] / freedom * (1 + self.base[leaf] + wide)), freedom)
