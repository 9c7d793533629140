"""Scores of mixed and continuous families that rest on Gaussians: cg, cgd, mn, dg, bf, bge.

In:  a Table (name -> slow.trees.Column), a child, its parents.
Out: a Local: log-likelihood, degrees of freedom, rows; `.score` = loglik - df/2 log N. bge has df 0: it is a density.
Values are taken as they are given; bge alone standardises. From formulas.md, sections 3 and 3b (Andrews, Ramsey and
Cooper 2018 and 2019; Geiger and Heckerman 2002; Kuipers, Moffa and Heckerman 2014), with these points decided here.

All set scores (cg, dg, bf, bge)
* The score of a family is L(child and parents) - L(parents), and L reads the *set* only. Columns of a set are taken in
  the order of their names, so where columns depend on each other the same ones are left out in every family. This
  makes the scores score equivalent on all tables, also degenerate ones.
* An ordinal column is its levels, as child and as parent: with ranks as parent and levels as child L would not be a
  function of the set.

cg
* df(set) = q (k(k+1)/2 + k + 1) - 1; q the product of the declared levels, k the number of continuous columns: empty
  cells, tiny cells, constant and dependent columns all count, so df does not depend on the data. df="paper": without
  the k means. An empty cell adds nothing to the log-likelihood.
* A cell has its *own* Gaussian if it has more than k + 1 rows and its covariance is not singular. Singular: in the
  order of names some column has, given the columns before it, a variance within the cell (divisor n_p) of at most
  1e-10 times its variance over all rows. tiny="k" asks for more than k rows only, which is what the paper's formula
  allows; it is the default with df="paper", because the golden numbers have cells of k + 1 rows.
* Any other cell uses the Gaussian of *all* rows of the table, mean and maximum-likelihood covariance, and is charged
  its true density: -n_p/2 (log|S| + k log 2 pi) - 1/2 sum_i (x_i - m)' S^-1 (x_i - m), plus n_p log(n_p/N) as ever.
  So L(set) is the log-likelihood of one probability density of the set. Why all rows and their mean, not the cell's:
  - m and S of a set are parts of those of any larger set, so families fit together;
  - a cell of one row around its own mean would have distance 0: every such row would gain k/2 for nothing.
* Columns that are constant over all rows add 0. Columns that depend on earlier ones of the set (over all rows, variance
  given those at most 1e-10 of their own, s^2) are left out of all covariances, and add -N/2 (log(1e-10 s^2) + log 2 pi
  + 1): the density of a residual with a hundred-thousandth of the standard deviation. A copy of a column is thus
  better explained than a column with small noise, never +inf, and units cancel in differences. The discrete columns
  keep their effect on the columns that remain, and S above is never singular.
* exact=True (Table 1 of the paper) changes discrete children with continuous parents only: the denominator of a row is
  the sum over the child's levels of the numerator's densities. df is the same.

Can the log-likelihood of a discrete child be above 0?
* exact=True: never; every row contributes the log of a share.
* exact=False: yes, and not because of tiny cells. l(v) (a table), l(x | v) (a regression per cell) and l(x) (one
  Gaussian) are all fixed by formulas.md and by the outside numbers. Score equivalence then leaves no choice:
  l(v | x) = l(v) + l(x | v) - l(x). For two clusters of equal size, standard deviation 1, at distance d this is
  N (log(1 + d^2/4)/2 - log 2), positive from d = 2 sqrt(3) on. bnlearn's clgaussian.test has such families (A given D,
  E, F, G: thousands above 0). Lowering L(v, x) to L(x) would keep both laws, but change l(x | v), a plain regression.
  So cg keeps score equivalence and the plain likelihoods; whoever wants probabilities takes exact=True.
* What the treatment of tiny cells guarantees: let p be a cell of the parents, split by the child into cells (p, y).
  (1) p has no own Gaussian: then no (p, y) has (fewer rows; a part of exactly singular rows is singular), all these
  rows have the same density in both sets, and p adds sum_y n_y log(n_y/n_p) <= 0. (2) p has its own, no (p, y) has:
  p's Gaussian is the best of all for p's rows, so p adds at most the same sum. Only cells (p, y) with their own
  Gaussian can bring it above 0, or tiny ones beside them whose rows are near the mean of all rows while p is far wider
  than the table. (S >= (n_p/N) S_p, so a row gains at most k/2 log(N/n_p) and half its squared distance under p's own
  Gaussian, and pays log(n_p/n_y).) Many continuous parents do it by chance: child and discrete parent of 3 levels each,
  100 rows of noise: with 8 continuous parents 42 of 60 tables were above 0; with 1, 2 or 4, none of 60.

cgd and mn
* Three bins from all rows: with m = floor(N/3) and the sorted values x_0.., the cuts are x_m and x_2m; v >= cut is to
  the right. (The bins of the golden numbers: 66, 66 and 68 of 200 rows.) A cut at the smallest value moves to the next
  larger value, so that only a constant column has one bin; equal cuts count once. Levels are the bins that hold rows.
* cgd of a discrete child is the BIC of the table over the bins; of a continuous child it is cg. Not score equivalent.
  mn bins the child too: a probability of bins, not a density.

dg and bf
* A column with r levels has r - 1 indicators; the most frequent level is left out (of equal ones the first). Constant
  columns, and columns with variance at most 1e-10 given those before them, count neither in |R| nor in k.
  The rank does not depend on the order, but |R| of the remaining columns does; names in order, levels in order.
  (With sum = x + y the set keeps sum and x: l(sum | x, y) is then log|R| of these less that of x and y, not 0.)
  So a copy of a column has log-likelihood 0 given the column, *less* than a copy with a little noise has. That
  dependent columns do not count is formulas.md's rule for dg; cg, for which it has none, counts them (above).
* bf: Legendre polynomials of the column mapped from [min, max] of all rows to [-1, 1].

bge
* Columns are standardised (mean 0, divisor N; constant ones become 0), so the prior mean 0 is the mean of the data.
  columns="centred" only shifts them: this is R bnlearn's bge with its defaults. alpha_w - n, hence the score, does not
  depend on n.

Which settings give which outside numbers (tests/test_slow_mixed.py)
* tetrad_shared.json, `paper`: CG_loglik, CG_dof: cg(df="paper"), which implies tiny="k"; CG_sp0 = 2 score. With
  tiny="k+1" 35 of the 36 numbers are the same; the other (X4 given X5, X9, X8: a cell of 3 rows, k = 2) is not.
  CG_loglik_plus1_form: + 1 for + k, `constant=1`. Families with null have singular cells: ours are finite.
  CGd_loglik, CGd_dof: cgd. CG_sp1 = 2 (score + log prior).
* bnlearn_shared.json: loglik-cg, bic-cg, loglik-g, bic-g: cg() with all defaults, to 1e-15 for discrete children (there
  they have discrete parents only). For continuous children bnlearn takes the log-likelihood not at its maximum but at
  the variance RSS/(n_p - k), k coefficients per cell: plus `at_unbiased_variance`, our number is bnlearn's to 1e-12;
  without it they differ by about k^2/(4 n_p) per cell (up to 4e-5 relative there). df is the same.
  bge: bge(columns="centred"), to 1e-13. ebic is another definition than ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from math import fsum, lgamma, log, pi, prod, sqrt
from typing import NamedTuple

import numpy as np

from slow.leaves import log_sum
from slow.trees import CONTINUOUS, Column

Table = dict[str, Column]
Rows = list[int]
Cells = dict[tuple[int, ...], Rows]

TOLERANCE = 1e-10


class Local(NamedTuple):
    loglik: float
    df: float
    n_rows: int

    @property
    def score(self) -> float:
        return self.loglik - self.df / 2 * log(self.n_rows)


def rows_of(table: Table) -> int:
    return len(next(iter(table.values())).values)


def by_kind(table: Table, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The discrete and the continuous ones, each in the order of names."""
    ordered = sorted(names)
    continuous = [name for name in ordered if table[name].kind == CONTINUOUS]
    return [name for name in ordered if name not in continuous], continuous


def cells_of(table: Table, discrete: Sequence[str]) -> Cells:
    """The rows of every configuration that occurs."""
    cells: Cells = {}
    for row in range(rows_of(table)):
        cells.setdefault(tuple(int(table[name].values[row]) for name in discrete), []).append(row)
    return cells


@cache
def standard(values: tuple[float, ...]) -> tuple[tuple[float, ...], float]:
    """The values with mean 0 and (divisor N) standard deviation 1, and what they were divided by; constant: 0 and 0."""
    if max(values) == min(values):
        return (0.0,) * len(values), 0.0
    mean = fsum(values) / len(values)
    centred = [value - mean for value in values]
    rest = fsum(centred) / len(values)  # the rounding of the first mean, which counts when it is 1e6 deviations
    centred = [value - rest for value in centred]
    deviation = sqrt(fsum(value * value for value in centred) / len(values))
    return tuple(value / deviation for value in centred), deviation


def covariance(columns: np.ndarray) -> np.ndarray:
    """Maximum likelihood: about the mean, divisor n. In: one row per observation."""
    centred = columns - columns.mean(axis=0)
    return centred.T @ centred / len(columns)


def pivots(matrix: np.ndarray) -> dict[int, float]:
    """The variance of each column given those kept before it; a column with at most TOLERANCE left is not kept."""
    left, kept = matrix.copy(), {}
    for j in range(len(left)):
        if left[j, j] > TOLERANCE:
            kept[j] = float(left[j, j])
            left = left - np.outer(left[:, j], left[j, :]) / left[j, j]
    return kept


# cg


class Gaussian(NamedTuple):
    mean: np.ndarray
    covariance: np.ndarray

    def log_densities(self, rows: np.ndarray) -> list[float]:
        k = len(self.mean)
        height = -(np.linalg.slogdet(self.covariance)[1] + k * log(2 * pi)) / 2
        away = rows - self.mean
        return [float(height - x @ np.linalg.solve(self.covariance, x) / 2) for x in away]


def independent(table: Table, continuous: Sequence[str]) -> list[str]:
    """Without columns that are constant, or a linear function of earlier ones, over all rows."""
    if not continuous:
        return []
    columns = np.array([standard(table[name].values)[0] for name in continuous]).T
    return [continuous[j] for j in pivots(covariance(columns))]


def gaussians(table: Table, discrete: Sequence[str], kept: Sequence[str], tiny: str) -> dict[tuple[int, ...], Gaussian]:
    """One per cell, in standardised columns: its own, or that of all rows."""
    columns = np.array([standard(table[name].values)[0] for name in kept]).T
    of_all = Gaussian(columns.mean(axis=0), covariance(columns))
    least = {"k+1": len(kept) + 1, "k": len(kept)}[tiny]
    answer = {}
    for key, rows in cells_of(table, discrete).items():
        inside = columns[rows]
        own = Gaussian(inside.mean(axis=0), covariance(inside))
        has_own = len(rows) > least and len(pivots(own.covariance)) == len(kept)
        answer[key] = own if has_own else of_all
    return answer


def cg_set(table: Table, names: Iterable[str], tiny: str = "k+1", constant: int | None = None) -> float:
    """L(set). `constant=1` is the paper's eq. 9 as printed: 1 in the place of k, where a cell has its own Gaussian."""
    discrete, continuous = by_kind(table, names)
    kept, n = independent(table, continuous), rows_of(table)
    cells = cells_of(table, discrete)
    terms = [len(rows) * log(len(rows) / n) for rows in cells.values()]
    for name in continuous:
        deviation = standard(table[name].values)[1]
        if name in kept:
            terms.append(-n * log(deviation))  # below, columns are standardised
        elif deviation > 0:
            terms.append(-n / 2 * (log(TOLERANCE) + 2 * log(deviation) + log(2 * pi) + 1))
    if kept:
        columns = np.array([standard(table[name].values)[0] for name in kept]).T
        of_cells = gaussians(table, discrete, kept, tiny)
        for key, rows in cells.items():
            terms += of_cells[key].log_densities(columns[rows])
            if constant is not None:
                terms.append(len(rows) / 2 * (len(kept) - constant))
    return fsum(terms)


def cg_df(table: Table, names: Iterable[str], df: str) -> int:
    discrete, continuous = by_kind(table, names)
    k, q = len(continuous), prod(table[name].levels for name in discrete)
    means = {"full": k, "paper": 0}[df]
    return q * (k * (k + 1) // 2 + means + 1) - 1


def cg(
    table: Table,
    child: str,
    parents: Iterable[str],
    df: str = "full",
    exact: bool = False,
    tiny: str | None = None,
    constant: int | None = None,
) -> Local:
    parents = list(parents)
    tiny = tiny or {"full": "k+1", "paper": "k"}[df]
    freedom = cg_df(table, [child, *parents], df) - cg_df(table, parents, df)
    if exact and table[child].kind != CONTINUOUS:
        loglik = cg_exact(table, child, parents, tiny)
    else:
        loglik = cg_set(table, [child, *parents], tiny, constant) - cg_set(table, parents, tiny, constant)
    return Local(loglik, freedom, rows_of(table))


def cg_exact(table: Table, child: str, parents: Sequence[str], tiny: str) -> float:
    """sum over rows of log of p(child's level, x | cell of the parents) / sum over levels of the same."""
    above, continuous = by_kind(table, parents)
    kept = independent(table, continuous)
    joint = cells_of(table, [*above, child])
    of_cells = gaussians(table, [*above, child], kept, tiny) if kept else {}
    columns = np.array([standard(table[name].values)[0] for name in kept]).T
    terms = []
    for cell, rows in cells_of(table, above).items():
        inside = {key[-1]: key for key in joint if key[:-1] == cell}
        log_joint = {}
        for level, key in inside.items():
            densities = of_cells[key].log_densities(columns[rows]) if kept else [0.0] * len(rows)
            log_joint[level] = [log(len(joint[key])) + density for density in densities]
        for place, row in enumerate(rows):
            together = log_sum([log_joint[level][place] for level in inside])
            terms.append(log_joint[int(table[child].values[row])][place] - together)
    return fsum(terms)


def at_unbiased_variance(table: Table, child: str, parents: Iterable[str]) -> float:
    """What R bnlearn's log-likelihood of a continuous child adds to the maximum: its variance is RSS/(n_p - k)."""
    if table[child].kind != CONTINUOUS:
        return 0.0
    discrete, continuous = by_kind(table, parents)
    k = len(continuous) + 1
    return fsum(k / 2 + len(rows) / 2 * log((len(rows) - k) / len(rows)) for rows in cells_of(table, discrete).values())


# cgd and mn: tables over bins


def three_bins(values: Sequence[float]) -> tuple[list[int], int]:
    """The bin of every row, numbered without gaps, and how many bins there are."""
    ordered = sorted(values)
    m = len(ordered) // 3
    cuts = [ordered[m], ordered[2 * m]]
    larger = [value for value in ordered if value > ordered[0]]
    if larger:
        cuts = [cut if cut > ordered[0] else larger[0] for cut in cuts]
    bins = [sum(value >= cut for cut in cuts) for value in values]
    seen = sorted(set(bins))
    return [seen.index(b) for b in bins], len(seen)


def binned(column: Column) -> Column:
    if column.kind != CONTINUOUS:
        return column
    codes, levels = three_bins(column.values)
    return Column("ordinal", tuple(codes), levels)


def table_bic(table: Table, child: str, parents: Iterable[str]) -> Local:
    parents = sorted(parents)
    alone, together = cells_of(table, parents), cells_of(table, [*parents, child])
    loglik = fsum(len(rows) * log(len(rows) / len(alone[key[:-1]])) for key, rows in together.items())
    df = (table[child].levels - 1) * prod(table[parent].levels for parent in parents)
    return Local(loglik, df, rows_of(table))


def cgd(table: Table, child: str, parents: Iterable[str], df: str = "full", tiny: str | None = None) -> Local:
    if table[child].kind == CONTINUOUS:
        return cg(table, child, parents, df, tiny=tiny)
    return mn(table, child, parents)


def mn(table: Table, child: str, parents: Iterable[str]) -> Local:
    parents = list(parents)
    return table_bic({name: binned(table[name]) for name in [child, *parents]}, child, parents)


# dg and bf: one correlation matrix


def indicators(column: Column) -> list[list[float]]:
    codes = [int(code) for code in column.values]
    most = max(range(column.levels), key=codes.count)  # of equal ones max takes the first
    return [[float(code == level) for code in codes] for level in range(column.levels) if level != most]


def legendre(values: Sequence[float], degree: int) -> list[list[float]]:
    """P_1 .. P_degree of the values mapped to [-1, 1]; (j + 1) P_(j+1) = (2j + 1) x P_j - j P_(j-1)."""
    low, high = min(values), max(values)
    if low == high:
        return []
    x = [2 * (value - low) / (high - low) - 1 for value in values]
    columns = [[1.0] * len(x), x]
    for j in range(1, degree):
        columns.append([((2 * j + 1) * x[i] * columns[j][i] - j * columns[j - 1][i]) / (j + 1) for i in range(len(x))])
    return columns[1:]


def embedded_set(table: Table, names: Iterable[str], degree: int | None) -> tuple[float, float]:
    """L(set) and df(set); degree None: a continuous column is itself."""
    n, columns = rows_of(table), []
    for name in sorted(names):
        column = table[name]
        if column.kind != CONTINUOUS:
            columns += indicators(column)
        elif degree is None:
            columns.append(list(column.values))
        else:
            columns += legendre(column.values, degree)
    if not columns:
        return 0.0, 0.0
    correlations = covariance(np.array([standard(tuple(column))[0] for column in columns]).T)
    kept = pivots(correlations)
    k = len(kept)
    log_determinant = fsum(log(pivot) for pivot in kept.values())
    return -n / 2 * (log_determinant + k * log(2 * pi) + k), k * (k + 1) / 2 + k


def embedded(table: Table, child: str, parents: Iterable[str], degree: int | None) -> Local:
    parents = list(parents)
    (both, df_both), (alone, df_alone) = (embedded_set(table, names, degree) for names in ([child, *parents], parents))
    return Local(both - alone, df_both - df_alone, rows_of(table))


def dg(table: Table, child: str, parents: Iterable[str]) -> Local:
    return embedded(table, child, parents, None)


def bf(table: Table, child: str, parents: Iterable[str], degree: int = 3) -> Local:
    return embedded(table, child, parents, degree)


# bge


def log_multivariate_gamma(size: int, x: float) -> float:
    return size * (size - 1) / 4 * log(pi) + fsum(lgamma(x - j / 2) for j in range(size))


def bge_set(table: Table, names: Iterable[str], alpha_mu: float, above: float, columns: str) -> float:
    """log p(d_Y); `above` is alpha_w - n."""
    names, n = sorted(names), rows_of(table)
    if not names:
        return 0.0
    y = []
    for name in names:
        values, deviation = standard(table[name].values)
        y.append(values if columns == "standardised" else tuple(value * deviation for value in values))
    y, size = np.array(y).T, len(names)
    mean = y.mean(axis=0)
    prior = alpha_mu * (above - 1) / (alpha_mu + 1) * np.eye(size)
    posterior = prior + n * covariance(y) + n * alpha_mu / (n + alpha_mu) * np.outer(mean, mean)
    return (
        -size * n / 2 * log(pi)
        + size / 2 * log(alpha_mu / (n + alpha_mu))
        + log_multivariate_gamma(size, (n + above + size) / 2)
        - log_multivariate_gamma(size, (above + size) / 2)
        + (above + size) / 2 * float(np.linalg.slogdet(prior)[1])
        - (n + above + size) / 2 * float(np.linalg.slogdet(posterior)[1])
    )


def bge(
    table: Table,
    child: str,
    parents: Iterable[str],
    alpha_mu: float = 1.0,
    above: float | None = None,
    columns: str = "standardised",
) -> Local:
    parents = list(parents)
    above = alpha_mu + 1 if above is None else above
    both, alone = (bge_set(table, names, alpha_mu, above, columns) for names in ([child, *parents], parents))
    return Local(both - alone, 0, rows_of(table))
