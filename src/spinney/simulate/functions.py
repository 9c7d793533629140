"""Random networks whose nodes are functions of their parents: linear, or smooth curves.

In:  a DAG, the kinds of its variables, a seed.
Out: RandomNetwork, which samples and gives log-probabilities; it is not fitted to data, and has no file format.
A node adds up one effect per parent: a multiple of a number, a shift per level, or a spline. The sum is the mean of a
continuous child, the log-odds of a categorical one (softmax), the location of an ordinal one (proportional odds).
Continuous columns are divided by their standard deviation as soon as they are drawn, so that neither variances nor
signal-to-noise ratios grow along the causal order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import expit, log_softmax, logit

from spinney import sample
from spinney.dataset import Data, Dataset, as_dataset
from spinney.fitted.model import Columns, Floats, Numbers, align, draw_codes
from spinney.graph import DAG, Edge
from spinney.kinds import Continuous, Kind, Ordinal, open_range
from spinney.layout import counted
from spinney.reading import Reading
from spinney.simulate.graphs import PARAMETERS, PILOT, generator
from spinney.simulate.models import PILOT_ROWS

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

SIZES = (0.5, 1.5)  # of the effect of one parent: the standard deviation that it gives to the sum
DEVIATIONS = (0.5, 1.0)  # of the noise of a continuous child
_KNOTS = (0.02, 0.25, 0.5, 0.75, 0.98)  # of a spline, as shares of the parent's rows
_LOGISTIC = math.pi / math.sqrt(3)  # the standard deviation of logistic noise: discrete children have larger effects


class Effect(Protocol):
    """What a parent adds: one column, or one for every level of the child."""

    def at(self, column: Numbers) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Multiple:
    """Of a number; an ordinal parent is the number of its level, scaled as if its levels were equally frequent."""

    coefficients: Floats
    levels: int = 0  # 0: the parent is continuous

    def at(self, column: Numbers) -> Floats:
        x = column.astype(np.float64)
        if self.levels:
            x = (x - (self.levels - 1) / 2) / math.sqrt((self.levels**2 - 1) / 12)
        return x[:, None] * self.coefficients


@dataclass(frozen=True, eq=False)
class Shift:
    """By a level."""

    table: Floats  # a row per level

    def at(self, column: Numbers) -> Floats:
        return self.table[column.astype(np.int64)]


@dataclass(frozen=True, eq=False)
class Curve:
    """A natural cubic spline, straight beyond its outer knots."""

    spline: CubicSpline
    centre: Floats
    factor: Floats

    def at(self, column: Numbers) -> Floats:
        ends = self.spline.x[[0, -1]]
        inside = np.clip(column, *ends)
        slopes = self.spline(ends, 1)
        beyond = np.where((column < ends[0])[:, None], slopes[0], slopes[1]) * (column - inside)[:, None]
        curve: Floats = (self.spline(inside) + beyond - self.centre) * self.factor
        return curve


@dataclass(frozen=True, eq=False)
class Function:
    """P(child | parents): the sum of the parents' effects, and noise."""

    child: str
    parents: tuple[str, ...]
    kind: Kind
    effects: tuple[Effect, ...]
    base: Floats  # one number, or one for every level of a categorical child
    deviation: float = 1.0  # of the noise, for a continuous child
    shift: float = 0.0  # a continuous child is (sum + noise - shift) / scale
    scale: float = 1.0
    cuts: Floats | None = None  # of the location of an ordinal child

    def total(self, columns: Columns) -> Floats:
        result: Floats = np.tile(self.base, (columns.n_rows, 1))
        for parent, effect in zip(self.parents, self.effects, strict=True):
            result += effect.at(columns[parent])
        return result

    def mean(self, columns: Columns) -> Floats:
        """Of a continuous child."""
        return (self.total(columns)[:, 0] - self.shift) / self.scale

    def conditional(self, columns: Columns) -> Floats:
        """Of a child with levels: their probabilities, one row each."""
        total = self.total(columns)
        if self.cuts is None:
            shares: Floats = np.exp(log_softmax(total, axis=1))
            return shares
        ends = np.zeros((len(total), 1))
        return np.diff(np.hstack([ends, expit(self.cuts - total), ends + 1]), axis=1)

    def sample(self, columns: Columns, rng: np.random.Generator) -> Numbers:
        if isinstance(self.kind, Continuous):
            return self.mean(columns) + self.deviation / self.scale * rng.standard_normal(columns.n_rows)
        return draw_codes(self.conditional(columns), np.arange(columns.n_rows), rng)

    def log_prob(self, columns: Columns) -> Floats:
        if isinstance(self.kind, Continuous):
            deviation = self.deviation / self.scale
            z = (columns.values(self.child) - self.mean(columns)) / deviation
            return -(z**2) / 2 - math.log(deviation) - math.log(2 * math.pi) / 2
        shares = self.conditional(columns)[np.arange(columns.n_rows), columns.codes(self.child)]
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(shares)
        return logs


class RandomNetwork:
    """A network of random functions: what random_network() gives for 'linear' and 'spline'. It samples and gives
    log-probabilities as a Network does; it was not learned, and there is no file format for it."""

    def __init__(self, dag: DAG, kinds: Mapping[str, Kind], models: Mapping[str, Function], local: str) -> None:
        """From functions that fit together; random_network() makes them."""
        self.dag = dag
        self.kinds: dict[str, Kind] = dict(kinds)
        self.models: dict[str, Function] = dict(models)
        self.local = local

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of the columns."""
        return self.dag.names

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """Per variable its parents."""
        return dict(self.dag.parents)

    @property
    def edges(self) -> list[Edge]:
        """All (parent, child), sorted."""
        return self.dag.edges

    def sample(self, n: int, seed: int = 0) -> Dataset:
        """Draw n rows, as a Dataset; the same seed gives the same rows."""
        return sample.sample(self, n, seed)

    def log_prob(self, data: Data) -> Floats:
        """The natural log of each row's probability, times the density of its continuous columns."""
        kinds = {name: open_range(kind) for name, kind in self.kinds.items()}
        data = as_dataset(data, Reading(declared=kinds, only_named=True, every_row=True))
        columns = align(data, {name: getattr(kind, "levels", None) for name, kind in kinds.items()})
        total = np.zeros(columns.n_rows)
        for model in self.models.values():
            total += model.log_prob(columns)
        return total

    def __repr__(self) -> str:
        return (
            f"RandomNetwork({self.local}, {counted(len(self.names), 'node')}, {counted(len(self.dag.edges), 'edge')})"
        )


def function_network(dag: DAG, kinds: Mapping[str, Kind], local: str, seed: int) -> RandomNetwork:
    """A function for every node; `local` is linear or spline."""
    number = {name: at for at, name in enumerate(dag.names)}
    drawn = Columns(PILOT_ROWS, {})
    models: dict[str, Function] = {}
    for name in dag.order():
        rng, pilot = generator(seed, PARAMETERS, number[name]), generator(seed, PILOT, number[name])
        models[name] = _function(name, dag.parents[name], kinds, drawn, local == "spline", rng)
        drawn.put(name, models[name].sample(drawn, pilot))
    return RandomNetwork(dag, kinds, models, local)


def _function(
    name: str,
    parents: tuple[str, ...],
    kinds: Mapping[str, Kind],
    drawn: Columns,
    curved: bool,
    rng: np.random.Generator,
) -> Function:
    kind = kinds[name]
    k = len(getattr(kind, "levels", None) or ())
    width = 1 if isinstance(kind, (Continuous, Ordinal)) else k
    factor = 1.0 if isinstance(kind, Continuous) else _LOGISTIC
    effects = tuple(_effect(kinds[parent], drawn[parent], width, factor, curved, rng) for parent in parents)
    make = partial(Function, name, parents, kind, effects)
    if isinstance(kind, Continuous):
        deviation = float(rng.uniform(*DEVIATIONS))
        total = make(np.zeros(1)).total(drawn)[:, 0]
        return make(np.zeros(1), deviation, float(total.mean()), math.sqrt(float(total.var()) + deviation**2))
    if isinstance(kind, Ordinal):
        # Cut so that each level has its share of the rows, about the same for all.
        noisy = (
            make(np.zeros(1)).total(drawn)[:, 0]
            + logit((np.arange(PILOT_ROWS) + 0.5) / PILOT_ROWS)[rng.permutation(PILOT_ROWS)]
        )
        return make(np.zeros(1), cuts=np.quantile(noisy, np.cumsum(rng.dirichlet(np.full(k, 10.0)))[:-1]))
    return make(rng.uniform(-0.5, 0.5, k))


def _effect(kind: Kind, column: Numbers, width: int, factor: float, curved: bool, rng: np.random.Generator) -> Effect:
    """Of one parent on a child that takes `width` numbers."""
    size = factor * rng.uniform(*SIZES, width)
    levels = len(getattr(kind, "levels", None) or ())
    if not kind.discrete and curved:
        from scipy.interpolate import CubicSpline  # a tenth of a second to import

        knots = np.quantile(column, _KNOTS)
        spline = CubicSpline(knots, rng.standard_normal((len(knots), width)), bc_type="natural")
        there = Curve(spline, np.zeros(width), np.ones(width)).at(column)
        return Curve(spline, there.mean(axis=0), size / there.std(axis=0))
    if not kind.discrete or (isinstance(kind, Ordinal) and not curved):
        return Multiple(size * rng.choice([-1.0, 1.0], width), levels)
    table = rng.standard_normal((levels, width))
    table -= table.mean(axis=0)
    return Shift(table * size / table.std(axis=0))
