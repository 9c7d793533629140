"""Mixed data as in Andrews, Ramsey and Cooper (2018), "Scoring Bayesian networks of mixed variables", section 6.

In:  a DAG, the kinds of its variables, a number of rows and a seed.
Out: one column per variable.
A continuous child has a linear regression on its continuous parents in every cell of its discrete ones. A discrete
child has a multinomial distribution in every cell of its discrete parents and of its continuous ones, which are cut
into 2 to 5 bins of equal frequency for this purpose. What the paper leaves open is decided here, and listed in
docs/simulate.md."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from spinney.errors import LimitError
from spinney.fitted.model import Floats, Ints, Numbers, draw_codes
from spinney.graph import DAG
from spinney.kinds import Continuous, Kind, Ordinal
from spinney.simulate.graphs import AGAIN, PARAMETERS, ROWS, check_cells, generator, level_counts, ordered_rows

SLOPES = (0.2, 1.5)  # the size of a coefficient; its sign is random
CENTRES = (-1.5, 1.5)  # intercepts, and the means of variables without parents
DEVIATIONS = (0.5, 1.5)  # standard deviations of the noise
TOO_LARGE = 1000.0  # a polynomial with a value beyond is drawn again with roots in place of powers


def draw(
    dag: DAG, kinds: Mapping[str, Kind], n_rows: int, *, nonlinear: bool, bins: tuple[int, int], seed: int
) -> dict[str, Numbers]:
    """A column of codes or values for every variable."""
    number = {name: at for at, name in enumerate(dag.names)}
    columns: dict[str, Numbers] = {}
    cells: dict[str, tuple[Ints, int]] = {}  # of every variable: codes as a discrete child sees them, how many
    for name in dag.order():
        kind, at = kinds[name], number[name]
        if isinstance(kind, Continuous):
            columns[name] = _continuous(name, dag.parents[name], kinds, columns, n_rows, nonlinear, (seed, at))
            k = int(generator(seed, PARAMETERS, at, 1).integers(bins[0], bins[1] + 1))
            cells[name] = equal_frequency(columns[name].astype(np.float64), k), k
        else:
            k = level_counts(kinds, [name])[0]
            where, count = _joint(name, [cells[parent] for parent in dag.parents[name]], n_rows)
            rng = generator(seed, PARAMETERS, at)
            ordinal = isinstance(kind, Ordinal)
            rows = ordered_rows(rng, count, k) if ordinal else rng.dirichlet(np.ones(k), count)
            columns[name] = draw_codes(rows, where, generator(seed, ROWS, at))
            cells[name] = columns[name].astype(np.int64), k
    return columns


def equal_frequency(values: Floats, k: int) -> Ints:
    """Bins 0 to k-1 that hold the same number of rows, or one fewer."""
    rank = np.empty(len(values), dtype=np.int64)
    rank[np.argsort(values, kind="stable")] = np.arange(len(values))
    return rank * k // len(values)


def _joint(child: str, parts: list[tuple[Ints, int]], n_rows: int) -> tuple[Ints, int]:
    """The configuration of each row, and how many configurations there are."""
    check_cells(child, math.prod(count for _, count in parts))
    code, total = np.zeros(n_rows, dtype=np.int64), 1
    for codes, count in parts:
        code = code * count + codes
        total *= count
    return code, total


def _continuous(
    name: str,
    parents: tuple[str, ...],
    kinds: Mapping[str, Kind],
    columns: Mapping[str, Numbers],
    n_rows: int,
    nonlinear: bool,
    key: tuple[int, int],
) -> Floats:
    discrete = [parent for parent in parents if kinds[parent].discrete]
    levels = level_counts(kinds, discrete)
    codes = [columns[parent].astype(np.int64) for parent in discrete]
    where, count = _joint(name, list(zip(codes, levels, strict=True)), n_rows)
    given = [columns[parent].astype(np.float64) for parent in parents if not kinds[parent].discrete]
    seed, at = key
    with np.errstate(over="ignore", invalid="ignore"):
        if not nonlinear or not given:
            values = _regression(given, where, count, (seed, PARAMETERS, at), (seed, ROWS, at))
        else:
            terms = [power for x in given for power in (x, x**2, x**3)]
            values = _regression(terms, where, count, (seed, PARAMETERS, at), (seed, ROWS, at))
            if not np.abs(values).max() <= TOO_LARGE:
                terms = [root for x in given for root in (x, np.sqrt(np.abs(x)), np.cbrt(x))]
                values = _regression(terms, where, count, (seed, AGAIN, at, 0), (seed, AGAIN, at, 1))
    if not np.isfinite(values).all():
        raise LimitError(
            f"the values of {name} are too large for a computer, because they grow from parent to child; ask for a "
            f"lower average degree, or for fewer variables"
        )
    return values


def _regression(
    terms: list[Floats], where: Ints, cells: int, parameters: tuple[int, ...], rows: tuple[int, ...]
) -> Floats:
    """In every cell its own intercept, coefficients and standard deviation. Sums are taken term by term: a matrix
    product would add in an order that depends on the machine."""
    rng = generator(*parameters)
    intercept = rng.uniform(*CENTRES, cells)
    deviation = rng.uniform(*DEVIATIONS, cells)
    slopes = rng.uniform(*SLOPES, (cells, len(terms))) * rng.choice([-1.0, 1.0], (cells, len(terms)))
    values = intercept[where] + deviation[where] * generator(*rows).standard_normal(len(where))
    for place, term in enumerate(terms):
        values += slopes[where, place] * term
    return values


def standardised(values: Floats) -> Floats:
    """Mean 0 and standard deviation 1; a constant becomes 0."""
    size = np.abs(values).max()
    shrunk = values / size if size > 1e100 else values  # whose squares are numbers
    centred = shrunk - shrunk.mean()
    deviation = centred.std()
    result: Floats = centred / deviation if deviation > 0 else np.zeros_like(values)
    return result
