"""A regression on embedded columns: the fitted model of dg and bf.

In:  coefficients of the embedded columns of the parents, from fit_gaussian.py or a file.
Out: of a continuous child a normal distribution, of a discrete one the probabilities of its levels.
A discrete parent stands for one indicator per level but its most frequent one, a continuous parent for its Legendre
polynomials of degree 1 to `degree` (dg: 1), scaled from the range of the data to [-1, 1]; beyond the range they stay
as at its end if the degree is above 1. The indicators of a discrete child's levels are regressed, one by one. What
comes out sums to 1 but may be negative: each row is drawn towards equal probabilities until none is below `least`.
This is an approximation; neither dg nor bf says what the probabilities of a discrete child are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spinney.errors import ChoiceError
from spinney.fitted.cells import clipped, numbers, standard
from spinney.fitted.equations import NO_NUMBERS
from spinney.fitted.model import Columns, Floats, Ints, Levels, LocalModel, align, draw_codes
from spinney.kinds import Kind
from spinney.layout import ROWS, cut, shown_number, word

if TYPE_CHECKING:
    from spinney.dataset import Dataset

_LOG_TWO_PI = math.log(2 * math.pi)


def legendre(x: Floats, degree: int) -> list[Floats]:
    """The polynomials of degree 1 to `degree` at x, by their recursion."""
    found = [np.ones_like(x), x]
    for j in range(1, degree):
        found.append(((2 * j + 1) * x * found[j] - j * found[j - 1]) / (j + 1))
    return found[1:]


@dataclass(frozen=True, eq=False)
class Embedded(LocalModel):
    """P(child | parents). `usual` has, per parent, the code of the level without an indicator (-1: continuous); `lows`
    and `highs` the ranges of continuous parents. `means` and `coefficients` have one entry, or row, per embedded
    column, parent after parent; `intercepts` is what the child has at these means. A continuous child has one output,
    in the user's units, and a `deviation`; a discrete one an output per level, and `least`, the smallest
    probability."""

    word: ClassVar[str] = "embedded-regression"

    child: str
    parents: tuple[str, ...]
    levels: Levels
    parent_levels: tuple[Levels, ...]
    degree: int
    usual: Ints
    lows: Floats
    highs: Floats
    means: Floats
    coefficients: Floats
    intercepts: Floats
    deviation: float | None = None
    least: float | None = None
    score: float | None = None

    def __post_init__(self) -> None:
        arrays = ("lows", "highs", "means", "coefficients", "intercepts")
        own = self.levels
        object.__setattr__(self, "levels", () if own is None else tuple(own))
        numbers(self, floats=arrays, ints=("usual",))
        object.__setattr__(self, "levels", None if own is None else tuple(own))
        k, outputs, wide = len(self.parents), 1 if own is None else len(own), len(self.names)
        shapes: dict[str, tuple[int, ...]] = {"usual": (k,), "lows": (k,), "highs": (k,), "means": (wide,)}
        for name, shape in {**shapes, "coefficients": (wide, outputs), "intercepts": (outputs,)}.items():
            if getattr(self, name).shape != shape:
                raise ChoiceError(f"{self._where} has {name} of shape {getattr(self, name).shape}: give {shape}")
        if own is None and not (self.deviation is not None and 0 < self.deviation < math.inf):
            raise ChoiceError(f"{self._where} has the deviation {self.deviation!r}: give a number above 0")
        if own is not None and not (self.least is not None and 0 < self.least * len(own) <= 1):
            raise ChoiceError(f"{self._where} has {self.least!r} as least probability: give one above 0")

    @property
    def _where(self) -> str:
        return f"the embedded regression of {self.child!r}"

    @property
    def family(self) -> dict[str, Levels]:
        return {self.child: self.levels, **dict(zip(self.parents, self.parent_levels, strict=True))}

    @property
    def names(self) -> list[str]:
        """Of the embedded columns: [sex = m], height, P2(height)."""
        found = []
        for parent, levels, usual in zip(self.parents, self.parent_levels, self.usual.tolist(), strict=True):
            if levels is not None:
                found += [f"[{word(parent)} = {word(level)}]" for code, level in enumerate(levels) if code != usual]
            elif self.degree == 1:
                found.append(word(parent))
            else:
                found += [f"P{degree}({word(parent)})" for degree in range(1, self.degree + 1)]
        return found

    def embed(self, columns: Columns) -> Floats:
        """The embedded columns of the parents, one column each."""
        found: list[Any] = []
        for place, (parent, levels) in enumerate(zip(self.parents, self.parent_levels, strict=True)):
            if levels is not None:
                codes = columns.codes(parent)
                found += [codes == code for code in range(len(levels)) if code != self.usual[place]]
                continue
            low, high = float(self.lows[place]), float(self.highs[place])
            if low == high:
                found += [np.zeros(columns.n_rows)] * self.degree
                continue
            if high - low < np.inf:
                x = 2 * standard(columns.values(parent), low, high - low) - 1
            else:
                x = standard(columns.values(parent), low, high / 2 - low / 2) - 1
            if self.degree > 1:
                x = np.clip(x, -1, 1)
            found += legendre(x, self.degree)
        return np.column_stack(found).astype(np.float64) if found else np.empty((columns.n_rows, 0))

    def outputs(self, data: Dataset | Columns) -> Floats:
        """What the regression gives, one column per output."""
        columns = align(data, {name: levels for name, levels in self.family.items() if name != self.child})
        with np.errstate(over="ignore", invalid="ignore"):
            away = clipped(self.embed(columns) - self.means)
            out = self.intercepts + away @ self.coefficients
        return np.nan_to_num(out, nan=0.0, posinf=1e300, neginf=-1e300)

    def mean(self, data: Dataset | Columns) -> Floats:
        return super().mean(data) if self.levels is not None else self.outputs(data)[:, 0]

    def spread(self, data: Dataset | Columns) -> tuple[Floats, Floats]:
        mean = self.mean(data)
        return mean, np.full(len(mean), self.deviation)

    def conditional(self, data: Dataset | Columns) -> Floats:
        if self.levels is None:
            return super().conditional(data)
        assert self.least is not None
        raw, r = self.outputs(data), len(self.levels)
        raw = np.clip(raw, -1e100, 1e100)
        lowest = raw.min(axis=1, keepdims=True)
        total = raw.sum(axis=1, keepdims=True) - r * lowest
        # Where all are equal there is nothing to draw towards; else (p - lowest) shares what `least` leaves.
        share = np.where(total > 0, (raw - lowest) / np.where(total > 0, total, 1.0), 1.0 / r)
        repaired = self.least + (1 - r * self.least) * share
        inside = (lowest >= self.least) & (np.abs(raw.sum(axis=1, keepdims=True) - 1) < 1e-9)
        probabilities: Floats = np.where(inside, raw, repaired)
        probabilities /= probabilities.sum(axis=1, keepdims=True)  # 1 but for rounding
        return probabilities

    def log_prob(self, data: Dataset | Columns) -> Floats:
        columns = align(data, self.family)
        logs: Floats
        if self.levels is not None:
            logs = np.log(self.conditional(columns)[np.arange(columns.n_rows), columns.codes(self.child)])
            return logs
        mean, deviation = self.spread(columns)
        z = standard(columns.values(self.child), mean, deviation)
        logs = -(z * z + _LOG_TWO_PI) / 2 - np.log(deviation)
        return logs

    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Floats | Ints:
        if self.levels is not None:
            probabilities = self.conditional(data)
            return draw_codes(probabilities, np.arange(len(probabilities)), rng)
        mean, deviation = self.spread(data)
        with np.errstate(over="ignore"):
            return clipped(mean + deviation * rng.standard_normal(len(mean)))

    def cuts(self, parent: str) -> Floats | None:
        """Smooth along every continuous parent."""
        return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Embedded):
            return NotImplemented
        arrays = ("usual", "lows", "highs", "means", "coefficients", "intercepts")
        plain = ("family", "degree", "deviation", "least")
        return all(getattr(self, name) == getattr(other, name) for name in plain) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    def to_plain(self) -> dict[str, object]:
        arrays = ("usual", "lows", "highs", "means", "coefficients", "intercepts")
        return {
            "degree": self.degree,
            **{name: getattr(self, name).tolist() for name in arrays},
            "deviation": self.deviation,
            "least": self.least,
        }

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Embedded:
        parents = tuple(node["parents"])
        levels = getattr(kinds[node["child"]], "levels", None)
        outputs = 1 if levels is None else len(levels)
        return cls(
            child=node["child"],
            parents=parents,
            levels=levels,
            parent_levels=tuple(getattr(kinds[parent], "levels", None) for parent in parents),
            degree=int(node["degree"]),
            usual=np.array(node["usual"], np.int64),
            **{name: np.array(node[name], np.float64) for name in ("lows", "highs", "means", "intercepts")},
            coefficients=np.array(node["coefficients"], np.float64).reshape(-1, outputs),
            deviation=node["deviation"],
            least=node["least"],
            score=node["score"],
        )

    @property
    def title(self) -> str:
        about = "" if self.levels is None else ", of indicators, repaired to probabilities (an approximation)"
        return f"{super().title}, regression on embedded columns{about}"

    def text(self, rows: int | None = ROWS) -> str:
        return "\n".join([self.title, *cut([f"  {line}" for line in self._lines()], rows, "line")])

    def describe(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        slopes, starts = self._in_units()
        precise = (self.deviation if self.deviation is not None else 1.0) / 100
        for output in range(len(starts)):
            left = word(self.child) if self.levels is None else f"P({word(self.child)} = {word(self.levels[output])})"
            terms = "".join(
                f" {'-' if slope < 0 else '+'} {abs(slope):.6g} {name}"
                for slope, name in zip(slopes[:, output].tolist(), self.names, strict=True)
            )
            if not np.isfinite([starts[output], *slopes[:, output]]).all():
                yield f"{left} = {NO_NUMBERS}"
                continue
            end = "" if self.deviation is None else f"  (sd {self.deviation:.6g})"
            yield f"{left} = {shown_number(float(starts[output]), precise)}{terms}{end}"
        for place, parent in enumerate(self.parents):
            if self.parent_levels[place] is None and self.degree > 1:
                low, high = float(self.lows[place]), float(self.highs[place])
                yield f"P1({word(parent)}) runs from -1 at {low:.6g} to 1 at {high:.6g}; P2, ... are Legendre's"

    def _in_units(self) -> tuple[Floats, Floats]:
        """Coefficients and intercepts of the columns as they are named: of degree 1 in the parent's own units."""
        slopes, starts = self.coefficients.copy(), self.intercepts - self.means @ self.coefficients
        at = 0
        for place, levels in enumerate(self.parent_levels):
            if levels is None and self.degree == 1:
                low, high = float(self.lows[place]), float(self.highs[place])
                if high > low:
                    half = np.float64(high / 2 - low / 2)
                    with np.errstate(all="ignore"):
                        starts = starts - slopes[at] * (low / half + 1)
                        slopes[at] /= half
            at += self.degree if levels is None else len(levels) - 1
        return slopes, starts

    def as_dict(self) -> dict[str, object]:
        return {
            "node": self.child,
            "model": self.word,
            "parents": list(self.parents),
            "levels": None if self.levels is None else list(self.levels),
            "score": self.score,
            "columns": self.names,
            "text": self.describe(),
            **self.to_plain(),
        }

    def attributes(self) -> dict[str, object]:
        return {"levels": self.levels, "parents": self.parents, "equations": self.describe()}
