"""Parameters of the Gaussian models, from data.

In:  a Dataset, a family, and the score that it was chosen by: cg, cgd, dg, bf or bge.
Out: a Regression, GaussianBayes, StudentRegression, Embedded, CutTable or Table.
The models are what the scores imply, by maximum likelihood (bge: the posterior predictive), so that for cg, dg and bge
the log-probabilities of the rows add up to the log-likelihood of the family wherever that is one. mn has the tables of
cgd where the child is discrete, and trees where it is not (scores/gaussian.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spinney._core import Stop
from spinney.dataset import Dataset
from spinney.errors import ChoiceError
from spinney.fitted.cells import split_parents, too_many_cells
from spinney.fitted.cut_table import CutTable
from spinney.fitted.embedded import Embedded
from spinney.fitted.gaussian import GaussianBayes, Regression, StudentRegression
from spinney.fitted.model import Columns, Floats, Ints, Levels, LocalModel
from spinney.fitted.table import Table
from spinney.kinds import intervals
from spinney.scores.mixed_columns import three_cuts
from spinney.standard import standardised

DEPENDENT = 1e-10  # of a column's variance: with less, given other columns, it is a function of them
_LARGEST = float(np.finfo(np.float64).max)
_SMALLEST = float(np.nextafter(0.0, 1.0))


@dataclass(frozen=True)
class Settings:
    """The options of the scores, as the core has them."""

    df: str = "full"  # of cg and cgd; "paper": cells of k + 1 rows have their own Gaussian
    degree: int = 3  # of bf
    alpha_mu: float = 1.0  # of bge
    above: float = 2.0  # of bge: alpha_w less the number of columns


USUAL = Settings()


def fit_gaussian(
    data: Dataset,
    child: str,
    parents: Iterable[str],
    score: str = "cg",
    settings: Settings = USUAL,
    *,
    value: float | None = None,
    stop: Stop | None = None,
) -> LocalModel:
    """The model of a family. `value`: its local score. `stop` may be set by another thread: TimeoutError."""
    stop = stop or Stop()
    order = tuple(sorted(parents))
    levels = tuple(_levels(data, name) for name in order)
    continuous = split_parents(order, levels)[1]
    if score == "bge":
        return _student(data, child, order, settings.alpha_mu, settings.above, value)
    if score in ("dg", "bf"):
        return _embedded(data, child, order, levels, settings.degree if score == "bf" else 1, value, stop)
    if score not in ("cg", "cgd"):
        raise ChoiceError(f"{score!r} has no Gaussian models; choose cg, cgd, dg, bf or bge")
    if not data.kinds[child].discrete:
        return _regression(data, child, order, levels, settings.df == "paper", value, stop)
    if continuous and score == "cg":
        return _bayes(data, child, order, levels, settings.df == "paper", value, stop)
    cuts = {name: tuple(three_cuts(data.values(name)).tolist()) for name in continuous}
    table = _table(data, child, order, cuts, value)
    return CutTable(table, cuts) if continuous else table


def _levels(data: Dataset, name: str) -> Levels:
    return data.levels(name) if data.kinds[name].discrete else None


def pivots(columns: Floats, stop: Stop) -> Floats:
    """The variance of each column given those kept before it; 0 where at most DEPENDENT is left, and it is not kept.

    Columns are centred and made orthogonal, twice, so that small variances have their digits."""
    rest = columns - columns.mean(axis=0)
    rest = rest - rest.mean(axis=0)
    n, found = len(columns), np.zeros(columns.shape[1])
    basis: list[Floats] = []
    for j in range(columns.shape[1]):
        x = rest[:, j]
        for _ in range(2):
            for unit in basis:
                stop.check()
                x = x - (unit @ x) * unit
        variance = float(x @ x) / n
        if variance > DEPENDENT:
            found[j] = variance
            basis.append(x / np.sqrt(x @ x))
    return found


def _regressed(y: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Means (of y, then x), slopes, and the mean square that is left. REQUIRES: no column of x depends on others."""
    means = np.concatenate([[y.mean()], x.mean(axis=0)])
    away, inside = y - means[0], x - means[1:]
    away, inside = away - away.mean(), inside - inside.mean(axis=0)
    slopes = np.linalg.lstsq(inside, away, rcond=None)[0] if x.shape[1] else np.empty(0)
    left = away - inside @ slopes
    return means, slopes, np.mean(left * left)


def _finite(values: Floats) -> Floats:
    return np.clip(np.nan_to_num(values, nan=0.0), -_LARGEST, _LARGEST)


def _grouped(code: Ints) -> tuple[Ints, list[Ints]]:
    """The cells that occur, and the rows of each."""
    order = np.argsort(code, kind="stable")
    codes, starts = np.unique(code[order], return_index=True)
    return codes, np.split(order, starts[1:])


def _joint(data: Dataset, child: str, discrete: Sequence[str]) -> Ints:
    code, size = np.zeros(data.n_rows, dtype=np.int64), 1
    for name in discrete:
        size *= len(data.levels(name))
        if size >= 2**62:
            raise too_many_cells(child)
        code = code * len(data.levels(name)) + data.codes(name)
    return code


def _regression(
    data: Dataset,
    child: str,
    parents: tuple[str, ...],
    levels: tuple[Levels, ...],
    paper: bool,
    value: float | None,
    stop: Stop,
) -> Regression:
    discrete, continuous = split_parents(parents, levels)
    names = sorted((child, *continuous))  # the order in which the score looks for dependent columns
    units = {name: standardised(name, data.values(name), wanted=True) for name in names}
    x = np.column_stack([units[name][0] for name in continuous]) if continuous else np.empty((data.n_rows, 0))
    y = units[child][0]
    kept = np.flatnonzero(pivots(x, stop))
    used = x[:, kept]
    means, slopes, left = _regressed(y, used)
    constant = y.min() == y.max()
    dependent = bool(left <= DEPENDENT)
    fits = [(means, slopes, max(float(left), DEPENDENT), data.n_rows)]
    codes: list[int] = []
    if discrete and not dependent:
        place = [names.index(child), *(names.index(continuous[i]) for i in kept)]
        together = np.column_stack([y, used])[:, np.argsort(place)]
        least = len(kept) + 1 + (0 if paper else 1)
        for code, rows in zip(*_grouped(_joint(data, child, discrete)), strict=True):
            if len(rows) > least and pivots(together[rows], stop).all():
                *own, rest = _regressed(y[rows], used[rows])
                fits.insert(-1, (own[0], own[1], float(rest), len(rows)))
                codes.append(int(code))
    shift = np.array([units[name][1] for name in (child, *continuous)])
    scale = np.array([units[name][2] for name in (child, *continuous)])
    all_means, all_slopes = np.zeros((len(fits), len(continuous) + 1)), np.zeros((len(fits), len(continuous)))
    for row, (own_means, own_slopes, _, _) in enumerate(fits):
        all_means[row, np.concatenate([[0], kept + 1])] = own_means
        all_slopes[row, kept] = own_slopes
    deviations = np.sqrt([fit[2] for fit in fits]) * scale[0]
    if constant:
        deviations[:] = 1e-5 * (abs(float(shift[0])) or 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        return Regression(
            child,
            parents,
            levels,
            np.array(codes, dtype=np.int64),
            _finite(shift + scale * all_means),
            _finite(all_slopes * scale[0] / scale[1:]),
            np.clip(deviations, _SMALLEST, _LARGEST),
            np.array([fit[3] for fit in fits], dtype=np.int64),
            value,
        )


def _bayes(
    data: Dataset,
    child: str,
    parents: tuple[str, ...],
    levels: tuple[Levels, ...],
    paper: bool,
    value: float | None,
    stop: Stop,
) -> GaussianBayes:
    discrete, continuous = split_parents(parents, levels)
    units = [standardised(name, data.values(name), wanted=True) for name in continuous]
    x = np.column_stack([unit[0] for unit in units])
    kept = np.flatnonzero(pivots(x, stop)).tolist()
    x, k, r = x[:, kept], len(kept), len(data.levels(child))
    y = data.codes(child).astype(np.int64)
    least = k + (0 if paper else 1)
    of_all = _gaussian(x)

    def by_level(rows: Ints) -> tuple[Floats, Floats, Floats]:
        shares = np.bincount(y[rows], minlength=r).astype(np.float64)
        means, factors = np.tile(of_all[0], (r, 1)), np.tile(of_all[1], (r, 1, 1))
        for level in np.flatnonzero(shares > least).tolist():
            mine = x[rows[y[rows] == level]]
            if pivots(mine, stop).all():
                means[level], factors[level] = _gaussian(mine)
        return shares, means, factors

    codes: Ints = np.empty(0, dtype=np.int64)
    fits = [by_level(np.arange(data.n_rows))]
    if discrete:
        codes, groups = _grouped(_joint(data, child, discrete))
        fits = [*map(by_level, groups), *fits]
    shares, means, factors = (np.array([fit[i] for fit in fits]) for i in range(3))
    return GaussianBayes(
        child,
        parents,
        data.levels(child),
        levels,
        tuple(continuous[i] for i in kept),
        np.array([units[i][1] for i in kept]),
        np.array([units[i][2] for i in kept]),
        codes,
        shares,
        means,
        factors,
        value,
    )


def _gaussian(x: Floats) -> tuple[Floats, Floats]:
    """Mean, and the lower triangle of the maximum likelihood covariance, by QR of the centred rows."""
    mean = x.mean(axis=0)
    away = x - mean
    triangle = np.linalg.qr(away - away.mean(axis=0), mode="r") / np.sqrt(len(x))
    signs = np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
    full = np.zeros((x.shape[1], x.shape[1]))
    full[: len(triangle)] = triangle * signs[:, None]
    return mean, full.T


def _table(
    data: Dataset, child: str, parents: tuple[str, ...], cuts: dict[str, tuple[float, ...]], value: float | None
) -> Table:
    """Relative frequencies over levels and bins; uniform where there are no rows."""
    own, r = data.levels(child), len(data.levels(child))
    levels, code, size = [], np.zeros(data.n_rows, dtype=np.int64), 1
    for parent in parents:
        if parent in cuts:
            names = intervals(cuts[parent]).levels or ()
            codes = np.searchsorted(cuts[parent], data.values(parent), side="right")
        else:
            names, codes = data.levels(parent), data.codes(parent).astype(np.int64)
        size *= len(names)
        if size >= 2**62:
            raise too_many_cells(child)
        levels.append(names)
        code = code * len(names) + codes
    seen, place = np.unique(code, return_inverse=True)
    counts = np.bincount(place * r + data.codes(child), minlength=len(seen) * r).reshape(len(seen), r)
    probabilities = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return Table(child, parents, own, tuple(levels), seen, probabilities, np.full(r, 1 / r), counts, value)


def _embedded(
    data: Dataset,
    child: str,
    parents: tuple[str, ...],
    levels: tuple[Levels, ...],
    degree: int,
    value: float | None,
    stop: Stop,
) -> Embedded:
    usual, lows, highs = [], [], []
    for name, own in zip(parents, levels, strict=True):
        if own is not None:
            usual.append(int(np.bincount(data.codes(name), minlength=len(own)).argmax()))
            lows.append(0.0)
            highs.append(0.0)
        else:
            usual.append(-1)
            lows.append(float(data.values(name).min()))
            highs.append(float(data.values(name).max()))
    wide = sum(degree if own is None else len(own) - 1 for own in levels)
    of_child = _levels(data, child)
    outputs = 1 if of_child is None else len(of_child)
    blank = Embedded(
        child, parents, of_child, levels, degree, np.array(usual), np.array(lows), np.array(highs), np.zeros(wide),
        np.zeros((wide, outputs)), np.zeros(outputs), deviation=1.0 if of_child is None else None,
        least=None if of_child is None else 1.0 / outputs,
    )  # fmt: skip
    given = {name: data.values(name) if _levels(data, name) is None else data.codes(name) for name in parents}
    columns = Columns(data.n_rows, given)
    x = blank.embed(columns)
    stop.check()
    means = x.mean(axis=0)
    scales = x.std(axis=0)
    scaled = (x - means) / np.where(scales > 0, scales, 1.0)
    kept = np.flatnonzero(pivots(scaled, stop))
    shift, scale, least, deviation = 0.0, 1.0, None, None
    stop.check()
    if of_child is None:
        standard, shift, scale = standardised(child, data.values(child), wanted=True)
        y = standard[:, None]
        centre = y.mean(axis=0)
    else:
        y = data.codes(child)[:, None] == np.arange(outputs)
        centre = np.bincount(data.codes(child), minlength=outputs) / max(data.n_rows, 1)
        least = 1.0 / (data.n_rows + outputs)
    coefficients = np.zeros((wide, outputs))
    if len(kept):
        coefficients[kept] = np.linalg.lstsq(scaled[:, kept], y - centre, rcond=None)[0]
    if of_child is None:
        left = y - centre - scaled @ coefficients
        deviation = float(np.sqrt(max(float(np.mean(left * left)), DEPENDENT)) * scale)
        if y.min() == y.max():
            deviation = 1e-5 * (abs(shift) or 1.0)
        deviation = min(max(deviation, _SMALLEST), _LARGEST)
    with np.errstate(over="ignore", invalid="ignore"):
        slopes = _finite(coefficients / np.where(scales > 0, scales, 1.0)[:, None] * scale)
        intercepts = _finite(shift + scale * centre)
    return Embedded(
        child, parents, of_child, levels, degree, blank.usual, blank.lows, blank.highs, means, slopes, intercepts,
        deviation=deviation, least=least, score=value,
    )  # fmt: skip


def _student(
    data: Dataset, child: str, parents: tuple[str, ...], alpha_mu: float, above: float, value: float | None
) -> StudentRegression:
    """Normal-Wishart posterior on standardised columns; its predictive is a multivariate Student t, and so is the
    child's given the parents (Geiger and Heckerman 2002; DeGroot 1970)."""
    names = (child, *parents)
    if any(data.kinds[name].discrete for name in names):
        raise ChoiceError(f"bge is for continuous columns, and the family of {child!r} has others; choose cg or dg")
    units = [standardised(name, data.values(name), wanted=data.standardise) for name in names]
    x = np.column_stack([unit[0] for unit in units])
    n, k = data.n_rows, len(parents)
    mean = x.mean(axis=0)
    away = x - mean
    scatter = away.T @ away + n * alpha_mu / (n + alpha_mu) * np.outer(mean, mean)
    scatter += alpha_mu * (above - 1) / (alpha_mu + 1) * np.eye(k + 1)
    freedom, weight = n + above + 1, n + alpha_mu
    shape = scatter * (weight + 1) / (weight * freedom)
    slopes = np.linalg.solve(shape[1:, 1:], shape[1:, 0]) if k else np.empty(0)
    return StudentRegression(
        child,
        parents,
        np.array([unit[1] for unit in units]),
        np.array([unit[2] for unit in units]),
        n * mean / weight,
        slopes,
        np.linalg.inv(shape[1:, 1:]) if k else np.empty((0, 0)),
        float(np.sqrt(max(shape[0, 0] - shape[0, 1:] @ slopes, _SMALLEST))),
        float(freedom),
        value,
    )
