"""Regression in every cell of the discrete parents: mvp (Andrews, Ramsey and Cooper 2018, section 4) and lr.

In:  a Table (see slow.gaussian), a child, its parents, the degree: a number, or "log" for floor(log n_p).
Out: a Local: log-likelihood, degrees of freedom, rows.
A cell p has n_p rows; c continuous parents in powers 1..g make c g + 1 columns with the constant. Decided here, where
formulas.md leaves it open; "golden" marks what tetrad_shared.json (`paper`) shows:

* Cells: discrete parents, categorical or ordinal, by their levels. Empty cells add nothing, neither to the
  log-likelihood nor to df (golden: family 8 | 0, 6, 7 has 15 cells, 14 with rows, and df 28 = 14 * 2). An ordinal
  child is categorical.
* g = floor(log n_p), at least `least_degree`. formulas.md says at least 1, the default. Golden counts 0 in cells of one
  or two rows (df 1 per cell and level): least_degree=0. The log-likelihood is the same, see the next rule; three of
  the 44 families (2 | 0, 4, 5; 3 | 0, 4, 9; 8 | 0, 6, 7) differ in df.
* n_p <= c g + 1 (no row left over): only the constant is fitted, df stays c g + 1 (golden).
* Columns that depend on earlier ones of the cell (constant parents, copies, fewer different values than powers) are
  skipped: the fitted values do not need them. Dependent: the squared length that is left after removing the earlier
  columns is at most 1e-10 of what it was. df stays. Powers are taken as Legendre polynomials of the parent mapped from
  its range in the cell to [-1, 1]: the same fitted values, well conditioned at any degree.
* Continuous child: variance = RSS/n_p. df_p = c g + 1; `variance=True` counts the variance too.
  A cell of one row has density 1 per standard deviation of the child (divisor N - 1), so that units cancel; golden has
  density 1, in columns with that standard deviation 1. It counts in df. Where two or more rows leave a variance of at
  most 1e-10 s^2 (s^2 the child's variance over all rows; a child that is constant there, a perfect fit) the variance of
  the family is used: RSS of all cells / N, with the true density of the rows. Where that is not above 1e-10 s^2 either,
  the variance is e 1e-10 s^2, again with the true density: rows at their fitted values then have the density that rows
  with a residual of 1e-5 s have on average. So a cell that is constant by chance gains little, a child that is a
  function of its parents in all cells gets the residual of 1e-5 s, nothing is infinite, and the log-likelihood is
  always that of a fitted density. A child that is constant over all rows has log-likelihood 0.
* Discrete child with r declared levels: least squares on the indicators; in every row the fitted values f are shrunk
  towards 1/r until the smallest is 1/n_p: a f + (1 - a)/r with a = (1/n_p - 1/r)/(m - 1/r), m = min(1/n_p, min f).
  This needs 1/n_p < 1/r. With n_p <= r rows, and without continuous columns (none, or n_p <= c g + 1), the frequencies
  of the cell are taken as they are (golden). All probabilities of a row are at least 0 and sum to 1, so the
  log-likelihood is never above 0.
* lr: continuous child as in mvp; discrete child: maximum likelihood of the multinomial logistic regression over the
  levels that occur in the cell (a level that does not occur gets probability 0, the limit of its coefficients),
  same columns, same df; n_p <= c g + 1: frequencies. Separation: where a parent separates levels the likelihood has no
  maximum. We take the log-likelihood (without the penalty) at the maximum of loglik - 1e-6/2 * (sum of squared slopes),
  slopes of every level on the cell's orthonormal columns times sqrt(n_p), intercepts free. The maximum is unique, does
  not depend on units or on which basis spans the columns. Without separation the log-likelihood changes by 1e-10 or
  less. With it the value is always below 0, and below its supremum by more the closer the separated rows are: for
  evenly spaced values and one threshold by 6e-5 (6 rows), 5e-4 (20), 0.03 (200), 0.6 (2000).

Golden: MVP1_loglik and MVPlogn_loglik of all 44 families: mvp(degree=1), mvp(degree="log"); MVP1_dof: the same;
MVPlogn_dof and MVPlogn_sp0 = 2 score: mvp(degree="log", least_degree=0). No outside numbers for lr."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import e, floor, fsum, log, pi

import numpy as np

from slow.gaussian import TOLERANCE, Local, Rows, Table, by_kind, cells_of, legendre, rows_of, standard
from slow.trees import CONTINUOUS

PENALTY = 1e-6


def degree_in(n_p: int, degree: int | str, least_degree: int) -> int:
    return max(least_degree, floor(log(n_p))) if degree == "log" else int(degree)


def orthonormal(table: Table, continuous: Sequence[str], rows: Rows, degree: int) -> np.ndarray:
    """The constant and the powers of the parents in these rows, made orthogonal one after another, length 1."""
    columns = [[1.0] * len(rows)]
    for name in continuous:
        columns += legendre([table[name].values[row] for row in rows], degree) if degree else []
    basis: list[np.ndarray] = []
    for column in np.array(columns):
        left = column
        for _ in range(2):  # once more: the first pass leaves rounding of what was large
            for earlier in basis:
                left = left - (earlier @ left) * earlier
        if left @ left > TOLERANCE * (column @ column):
            basis.append(left / np.sqrt(left @ left))
    return np.array(basis).T


def design(table: Table, continuous: Sequence[str], rows: Rows, degree: int) -> np.ndarray:
    """What is fitted: all columns, or the constant alone where no row would be left over."""
    if len(rows) <= len(continuous) * degree + 1:
        return orthonormal(table, [], rows, degree)
    return orthonormal(table, continuous, rows, degree)


# Continuous child


def least_squares(table: Table, child: str, continuous: Sequence[str], cells: Sequence[tuple[Rows, int]]) -> float:
    """cells: rows with their degree."""
    values, deviation = standard(table[child].values)  # so that s^2 = 1 below
    if deviation == 0:
        return 0.0
    residuals = []
    for rows, degree in cells:
        columns, y = design(table, continuous, rows, degree), np.array([values[row] for row in rows])
        left = y - columns @ (columns.T @ y)
        residuals.append((len(rows), float(left @ left)))
    of_family = fsum(rss for _, rss in residuals) / rows_of(table)
    terms = []
    for n, rss in residuals:
        if n == 1:
            terms.append(-log(deviation) - log(rows_of(table) / (rows_of(table) - 1)) / 2)
            continue
        variance = rss / n
        if variance <= TOLERANCE:
            variance = of_family if of_family > TOLERANCE else e * TOLERANCE
        terms.append(-n / 2 * (log(2 * pi) + log(variance) + 2 * log(deviation)) - rss / (2 * variance))
    return fsum(terms)


# Discrete child


def frequencies(codes: Sequence[int]) -> float:
    return fsum(log(codes.count(code) / len(codes)) for code in codes)


def repaired(fitted: Sequence[float], n_p: int) -> list[float]:
    """The shrinking step, for one row."""
    r = len(fitted)
    smallest = min(1 / n_p, *fitted)
    a = (1 / n_p - 1 / r) / (smallest - 1 / r)
    return [a * value + (1 - a) / r for value in fitted]


def regressed_indicators(columns: np.ndarray, codes: Sequence[int], levels: int) -> float:
    n = len(codes)
    if columns.shape[1] == 1 or n <= levels:
        return frequencies(codes)
    indicators = np.array([[float(code == level) for level in range(levels)] for code in codes])
    fitted = columns @ (columns.T @ indicators)
    return fsum(log(repaired(fitted[row].tolist(), n)[codes[row]]) for row in range(n))


def logistic(columns: np.ndarray, codes: Sequence[int], levels: int) -> float:
    """Newton's method with halved steps. Parameters: intercepts of all seen levels but the first, then slopes."""
    n = len(codes)
    seen = sorted(set(codes))
    if columns.shape[1] == 1 or len(seen) == 1:
        return frequencies(codes)
    slopes = columns[:, 1:] * np.sqrt(n)
    r, m = len(seen), slopes.shape[1]
    # eta[row, level] = wide[row, level] @ parameters
    wide = np.zeros((n, r, r - 1 + r * m))
    for level in range(r):
        if level > 0:
            wide[:, level, level - 1] = 1.0
        wide[:, level, r - 1 + level * m : r - 1 + (level + 1) * m] = slopes
    penalty = np.array([0.0] * (r - 1) + [PENALTY] * (r * m))
    own = [seen.index(code) for code in codes]

    def loglik(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        eta = wide @ parameters
        top = eta.max(axis=1, keepdims=True)
        log_p = eta - top - np.log(np.exp(eta - top).sum(axis=1, keepdims=True))
        return fsum(log_p[row, own[row]] for row in range(n)), np.exp(log_p)

    parameters = np.zeros(r - 1 + r * m)
    value, p = loglik(parameters)
    for _ in range(200):
        objective = value - parameters @ (penalty * parameters) / 2
        gradient = -penalty * parameters
        hessian = np.diag(penalty)
        for row in range(n):
            expected = p[row] @ wide[row]
            gradient = gradient + wide[row, own[row]] - expected
            hessian = hessian + wide[row].T @ (p[row][:, None] * wide[row]) - np.outer(expected, expected)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-12:
            tried = parameters + size * step
            new_value, new_p = loglik(tried)
            if new_value - tried @ (penalty * tried) / 2 >= objective:
                break
            size /= 2
        else:
            break
        parameters, value, p = tried, new_value, new_p
        if gradient @ step < 1e-14 * max(1.0, abs(value)):
            break
    return value


# The scores


def partitioned(
    table: Table,
    child: str,
    parents: Iterable[str],
    degree: int | str,
    least_degree: int,
    variance: bool,
    of_discrete: Callable[[np.ndarray, Sequence[int], int], float],
) -> Local:
    discrete, continuous = by_kind(table, parents)
    cells = [
        (rows, degree_in(len(rows), degree, least_degree) if continuous else 0)
        for rows in cells_of(table, discrete).values()
    ]
    coefficients = sum(len(continuous) * g + 1 for _, g in cells)
    if table[child].kind == CONTINUOUS:
        df = coefficients + (len(cells) if variance else 0)
        return Local(least_squares(table, child, continuous, cells), df, rows_of(table))
    levels = table[child].levels
    terms = []
    for rows, g in cells:
        codes = [int(table[child].values[row]) for row in rows]
        terms.append(of_discrete(design(table, continuous, rows, g), codes, levels))
    return Local(fsum(terms), (levels - 1) * coefficients, rows_of(table))


def mvp(
    table: Table,
    child: str,
    parents: Iterable[str],
    degree: int | str = 1,
    least_degree: int = 1,
    variance: bool = False,
) -> Local:
    return partitioned(table, child, parents, degree, least_degree, variance, regressed_indicators)


def lr(
    table: Table,
    child: str,
    parents: Iterable[str],
    degree: int | str = 1,
    least_degree: int = 1,
    variance: bool = False,
) -> Local:
    return partitioned(table, child, parents, degree, least_degree, variance, logistic)
