"""A model from outside the package, in one file: a continuous child that is a line in its parents, plus normal noise.

In:  intercept, one slope per continuous parent, one shift per level of every discrete parent, and the noise's sd.
Out: LinearGaussian, known to spinney by sp.register."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import spinney as sp
from spinney.fitted.model import Columns, Floats, Levels, LocalModel, align


@dataclass(frozen=True)
class LinearGaussian(LocalModel):
    """child ~ N(intercept + slopes . continuous parents + shifts of the discrete parents' levels, sd^2)."""

    word = "linear-gaussian"

    child: str
    slopes: dict[str, float]  # of the continuous parents
    intercept: float
    sd: float
    shifts: dict[str, dict[str, float]]  # of the discrete parents: per level
    score: float | None = None

    @property
    def parents(self) -> tuple[str, ...]:
        return (*self.slopes, *self.shifts)

    @property
    def family(self) -> dict[str, Levels]:
        levels = {parent: tuple(own) for parent, own in self.shifts.items()}
        return {self.child: None, **dict.fromkeys(self.slopes), **levels}

    def mean(self, data: sp.Dataset | Columns) -> Floats:
        columns = align(data, {name: levels for name, levels in self.family.items() if name != self.child})
        centre = np.full(columns.n_rows, self.intercept)
        for parent, slope in self.slopes.items():
            centre = centre + slope * columns.values(parent)
        for parent, own in self.shifts.items():
            centre = centre + np.array(list(own.values()))[columns.codes(parent)]
        return centre

    def spread(self, data: sp.Dataset | Columns) -> tuple[Floats, Floats]:
        centre = self.mean(data)
        return centre, np.full(len(centre), self.sd)

    def log_prob(self, data: sp.Dataset | Columns) -> Floats:
        columns = align(data, self.family)
        away = (columns.values(self.child) - self.mean(columns)) / self.sd
        density: Floats = -(away**2) / 2 - math.log(self.sd) - math.log(2 * math.pi) / 2
        return density

    def sample(self, data: sp.Dataset | Columns, rng: np.random.Generator) -> Floats:
        centre = self.mean(data)
        return centre + self.sd * rng.standard_normal(len(centre))

    def cuts(self, parent: str) -> None:
        return None  # a line changes everywhere

    def to_plain(self) -> dict[str, object]:
        return {"slopes": self.slopes, "intercept": self.intercept, "sd": self.sd, "shifts": self.shifts}

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Any]) -> LinearGaussian:
        own = {name: node[name] for name in ("child", "slopes", "intercept", "sd", "shifts", "score")}
        return cls(**own)

    def text(self, rows: int | None = 20) -> str:
        terms = [f"{slope:+g} {parent}" for parent, slope in self.slopes.items()]
        return f"{self.title}: {self.child} = {' '.join([f'{self.intercept:g}', *terms])}, sd {self.sd:g}"

    def as_dict(self) -> dict[str, object]:
        return {"node": self.child, "model": self.word, "parents": list(self.parents), **self.to_plain()}

    def attributes(self) -> dict[str, object]:
        return {"parents": self.parents, "slopes": self.slopes, "sd": self.sd}


sp.register(LinearGaussian)
