"""Local models that compute in standard units: a normal child, or the probabilities of its levels.

In:  from a subclass, mean and deviation of the standardised child, or the log-probabilities of its levels, per row.
Out: densities, draws, means and pieces in the user's units, which never overflow."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_ndtr

from spinney.errors import ChoiceError
from spinney.fitted.model import Columns, Floats, Levels, LocalModel, Numbers, align, draw_codes
from spinney.kinds import Kind

if TYPE_CHECKING:
    from spinney.dataset import Dataset

_LARGEST, _SMALLEST = float(np.finfo(np.float64).max), float(np.nextafter(0.0, 1.0))
_LARGE, _PART = 2.0**1000, 2.0**-64  # differences of larger numbers may overflow: they are taken of a part of them
FAR = 1e150  # its square is a number
_LOG_TWO_PI = math.log(2 * math.pi)


class StandardModel(LocalModel):
    """P(child | parents) in standard units, (value - shift) / scale. `shifts` and `scales` have one number for each
    continuous parent, and for a continuous child one more at the end."""

    if TYPE_CHECKING:

        @property
        def kind(self) -> Kind: ...

        @property
        def parent_kinds(self) -> tuple[Kind, ...]: ...

        @property
        def shifts(self) -> tuple[float, ...]: ...

        @property
        def scales(self) -> tuple[float, ...]: ...

    @property
    def _where(self) -> str:
        return f"the {self.word} of {self.child!r}"

    @cached_property
    def _continuous(self) -> tuple[str, ...]:
        return tuple(p for p, kind in zip(self.parents, self.parent_kinds, strict=True) if not kind.discrete)

    def _check_columns(self, names: Sequence[str]) -> None:
        """Make these fields tuples, and refuse parents, shifts and scales that do not fit together."""
        for name in ("parents", "parent_kinds", "shifts", "scales", *names):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.parents) != len(self.parent_kinds) or len({self.child, *self.parents}) <= len(self.parents):
            raise ChoiceError(f"{self._where} has a variable twice, or parents without a kind: name every parent once")
        wanted = len(self._continuous) + (not self.kind.discrete)
        numbers = (*self.shifts, *self.scales)
        if not len(self.shifts) == len(self.scales) == wanted or not all(map(math.isfinite, numbers)):
            raise ChoiceError(f"{self._where} needs {wanted} finite shifts and scales: give one per continuous column")
        if min(self.scales, default=1.0) <= 0:
            raise ChoiceError(f"{self._where} has a scale that is not above 0: give positive numbers")

    @staticmethod
    def _columns_from(node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> dict[str, Any]:
        """The arguments that say what columns there are, from a file."""
        return {
            "child": node["child"],
            "parents": tuple(node["parents"]),
            "kind": kinds[node["child"]],
            "parent_kinds": tuple(kinds[parent] for parent in node["parents"]),
            "shifts": tuple(map(float, node["shifts"])),
            "scales": tuple(map(float, node["scales"])),
            "score": node["score"],
        }

    def __eq__(self, other: object) -> bool:
        """The same parts and numbers; the score is not compared."""
        if type(other) is not type(self):
            return NotImplemented
        names = [entry.name for entry in fields(self) if entry.name != "score"]  # type: ignore[arg-type]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    @abstractmethod
    def _normal(self, columns: Columns) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the standardised child in every row. REQUIRES: the child is continuous."""

    @abstractmethod
    def _log_conditional(self, columns: Columns) -> Floats:
        """The log-probabilities of the levels, one column each. REQUIRES: the child is discrete."""

    @property
    def family(self) -> dict[str, Levels]:
        kinds = zip((self.child, *self.parents), (self.kind, *self.parent_kinds), strict=True)
        return {name: getattr(kind, "levels", None) for name, kind in kinds}

    def _standard(self, place: int, values: Floats) -> Floats:
        shift, scale = self.shifts[place], self.scales[place]
        part = _PART if abs(shift) > _LARGE or (np.abs(values) > _LARGE).any() else 1.0
        with np.errstate(over="ignore"):
            return np.clip((values * part - shift * part) / (scale * part), -_LARGEST, _LARGEST)

    def _parents(self, data: Dataset | Columns) -> Columns:
        family = self.family
        return align(data, {parent: family[parent] for parent in self.parents})

    def conditional(self, data: Dataset | Columns) -> Floats:
        return np.exp(self._log_conditional(self._parents(data))) if self.kind.discrete else super().conditional(data)

    def log_prob(self, data: Dataset | Columns) -> Floats:
        columns = align(data, self.family)
        if self.kind.discrete:
            logs: Floats = self._log_conditional(columns)[np.arange(columns.n_rows), columns.codes(self.child)]
            return logs
        mean, deviation = self._normal(columns)
        value = self._standard(-1, columns.values(self.child))
        with np.errstate(over="ignore"):
            away = np.clip((value / 2 - mean / 2) / deviation * 2, -FAR, FAR)
        density: Floats = -(_LOG_TWO_PI + away**2) / 2 - np.log(deviation) - math.log(self.scales[-1])
        return density

    def spread(self, data: Dataset | Columns) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of the child, in the user's units."""
        if self.kind.discrete:
            raise ChoiceError(f"{self.child!r} is discrete and has no spread: use conditional()")
        mean, deviation = self._normal(self._parents(data))
        with np.errstate(over="ignore"):
            centre = np.clip(self.shifts[-1] + self.scales[-1] * mean, -_LARGEST, _LARGEST)
            return centre, np.clip(self.scales[-1] * deviation, _SMALLEST, _LARGEST)

    def mean(self, data: Dataset | Columns) -> Floats:
        return super().mean(data) if self.kind.discrete else self.spread(data)[0]

    def pieces(self, data: Dataset | Columns, cuts: Floats) -> tuple[Floats, Floats] | None:
        """In closed form: what a normal has between two cuts."""
        if self.kind.discrete:
            return super().pieces(data, cuts)
        mean, deviation = (column[:, None] for column in self._normal(self._parents(data)))
        ends = np.concatenate([[-np.inf], self._standard(-1, cuts), [np.inf]])
        z = (ends - mean) / deviation
        low, high = z[:, :-1], z[:, 1:]
        turned = low > 0  # from the tail on the piece's own side, so that small masses keep their digits
        low, high = np.where(turned, -high, low), np.where(turned, -low, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            larger, smaller = log_ndtr(high), log_ndtr(low)
            mass = np.where(high > low, larger + np.log1p(-np.exp(np.minimum(smaller - larger, 0))), -np.inf)
            # phi(low) - phi(high), over the mass: the mean of the piece
            first = np.exp(-(low**2) / 2 - mass) - np.exp(-(high**2) / 2 - mass)
        inside = np.where(np.isfinite(first), first / math.sqrt(2 * math.pi), np.clip(0.0, low, high))
        inside = np.clip(inside, low, high) * np.where(turned, -1, 1)
        with np.errstate(over="ignore"):
            centre = self.shifts[-1] + self.scales[-1] * (mean + deviation * inside)
        return mass, np.clip(centre, -_LARGEST, _LARGEST)

    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Numbers:
        columns = self._parents(data)
        if self.kind.discrete:
            return draw_codes(self.conditional(columns), np.arange(columns.n_rows), rng)
        mean, deviation = self.spread(columns)
        with np.errstate(over="ignore"):
            return np.clip(mean + deviation * rng.standard_normal(columns.n_rows), -_LARGEST, _LARGEST)


def columns_of(data: Dataset, child: str, parents: Sequence[str]) -> dict[str, Any]:
    """The arguments of a StandardModel that say what columns there are."""
    kinds = data.kinds
    units = [data.standard(name) for name in (*parents, child) if not kinds[name].discrete]
    return {
        "child": child,
        "parents": tuple(parents),
        "kind": kinds[child],
        "parent_kinds": tuple(kinds[parent] for parent in parents),
        "shifts": tuple(unit.shift for unit in units),
        "scales": tuple(unit.scale for unit in units),
    }
