"""A score and its model from outside the package, in one file: lines with normal noise, by BIC.

In:  a Dataset. A continuous child has continuous and categorical parents, a categorical one only categorical parents.
Out: the score `lines` and the model LinearGaussian (intercept, one slope per continuous parent, one shift per level of
every discrete parent, the noise's sd); sp.register makes them known to spinney."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import spinney as sp
from spinney.catalog import Score
from spinney.fitted.model import Columns, Floats, Levels, LocalModel, align
from spinney.scores import build_source
from spinney.scores.source import Source


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


class Lines(Source):
    """One data set under `lines`."""

    def _regressed(self, child: str, parents: Sequence[str]) -> tuple[Any, float, int]:
        columns = [np.ones(self.data.n_rows)]
        for parent in parents:
            if self.data.kinds[parent].discrete:
                codes = self.data.codes(parent)
                columns += [(codes == level).astype(float) for level in range(1, len(self.data.levels(parent)))]
            else:
                columns.append(self.data.values(parent))
        x, y = np.column_stack(columns), self.data.values(child)
        coefficients = np.linalg.lstsq(x, y, rcond=None)[0]
        return coefficients, max(float(np.mean((y - x @ coefficients) ** 2)), 1e-300), x.shape[1] + 1

    def family_score(self, child: str, parents: tuple[str, ...]) -> float:
        if self.data.kinds[child].discrete:
            return sp.local_score(self.data[[child, *parents]], child, parents, "bic")
        rows, (_, variance, free) = self.data.n_rows, self._regressed(child, parents)
        return -rows / 2 * (math.log(2 * math.pi * variance) + 1) - free / 2 * math.log(rows)

    def fit(self, child: str, parents: Sequence[str], score: float, stop: Any = None) -> LocalModel:
        if self.data.kinds[child].discrete:
            return self._table(child, tuple(sorted(parents)), score)
        numbers, variance, _ = self._regressed(child, parents)
        rest = iter(numbers[1:].tolist())
        slopes, shifts = {}, {}
        for parent in parents:
            if self.data.kinds[parent].discrete:
                levels = self.data.levels(parent)
                shifts[parent] = dict(zip(levels, [0.0, *(next(rest) for _ in levels[1:])], strict=True))
            else:
                slopes[parent] = next(rest)
        return LinearGaussian(child, slopes, float(numbers[0]), math.sqrt(variance), shifts, score)

    def _table(self, child: str, parents: tuple[str, ...], score: float) -> LocalModel:
        of = self.data[[child, *parents]]  # tables are spinney's own: fitted to the discrete columns alone
        return build_source(of, "bic").fit(child, parents, score)


sp.register(LinearGaussian)


def plug_in() -> None:
    """The row of the score; what an entry point of the group spinney.plugins would name."""
    sp.register(
        Score(
            "lines",
            "lines with normal noise, by BIC",
            "a test",
            source=Lines,
            label="Lines",
            parents={"continuous": ("continuous", "categorical"), "categorical": ("categorical",)},
        )
    )
