"""Trees whose leaves hold a Bayesian linear regression of a continuous child (formulas.md, 3b).

In:  a continuous child and its parents as slow.trees.Columns, Hyper, tau.
Out: `linear_leaf`: the log marginal likelihood of the child's values in some rows; `best_linear_tree`: the best of all
     trees; `linear_pcart`: the local score, with the same prior on trees as pcart.
Decided here:
* The regressors of every leaf are all continuous parents of the family, wherever the tree splits, standardised over all
  rows (standardise=False: as they are). Splits read the parents' own values and ranges, as in pcart. A constant parent
  becomes 0 and then changes nothing, for its part of |L0|/|Ln| is 1. The child is taken as given, as in slow.trees.
* Ordinal parents are split on and never regressors. A discrete child has no linear leaf.
* mu0 of Hyper is the prior mean of the intercept: y - mu0 is regressed. Slopes have prior mean 0.
* A leaf without rows has log marginal likelihood 0. Fewer rows than coefficients, equal rows and collinear parents need
  no rule: Ln >= L0 is never singular, and s >= nu lambda.
* Two equal trees: slow.trees.better (the fewer leaves).

`linear_leaf` is computed in fractions up to its logarithms, so offsets of 1e6 cost no digit; `linear_leaf_as_student`
is the density of a multivariate Student t with matrix lambda (I + X L0^-1 X'), and `linear_leaf_row_by_row` the product
of the predictive densities: three ways to one number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import fsum, lgamma, log, pi

import numpy as np
from scipy.stats import multivariate_t

from slow.leaves import PAPER, Hyper, student_log_density
from slow.trees import (
    CONTINUOUS,
    Best,
    Column,
    Node,
    better,
    every_tree,
    log_c,
    log_gamma,
    rows_in,
    shape_of,
    splits,
    standardised,
)

Matrix = list[list[Fraction]]


def regressors(parents: Sequence[Column], n_rows: int, standardise: bool = True) -> list[list[float]]:
    """X: per row the constant and the family's continuous parents."""
    numeric = [parent for parent in parents if parent.kind == CONTINUOUS]
    if standardise:
        numeric = [standardised(parent) for parent in numeric]
    return [[1.0, *(parent.values[row] for parent in numeric)] for row in range(n_rows)]


def prior_precision(size: int, hyper: Hyper, tau: float) -> list[Fraction]:
    """The diagonal of L0."""
    return [Fraction(hyper.a), *[Fraction(tau)] * (size - 1)]


def log_of(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator)


def solved(matrix: Matrix, right: list[Fraction]) -> tuple[list[Fraction], Fraction]:
    """The solution and the determinant, by elimination. REQUIRES: positive definite."""
    work = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size, determinant = len(work), Fraction(1)
    for j in range(size):
        determinant *= work[j][j]
        work[j] = [entry / work[j][j] for entry in work[j]]
        for i in range(size):
            if i != j:
                work[i] = [entry - work[i][j] * pivot for entry, pivot in zip(work[i], work[j], strict=True)]
    return [row[-1] for row in work], determinant


def posterior(
    y: Sequence[float], x: Sequence[Sequence[float]], size: int, hyper: Hyper, tau: float
) -> tuple[Matrix, list[Fraction], Fraction, Fraction]:
    """Ln, m, s and |L0|/|Ln|, exactly."""
    values = [Fraction(value) - Fraction(hyper.mu0) for value in y]
    exact = [[Fraction(entry) for entry in row] for row in x]
    prior = prior_precision(size, hyper, tau)
    precision = [
        [sum((row[i] * row[j] for row in exact), prior[i] if i == j else Fraction(0)) for j in range(size)]
        for i in range(size)
    ]
    cross = [sum((row[i] * value for row, value in zip(exact, values, strict=True)), Fraction(0)) for i in range(size)]
    m, determinant = solved(precision, cross)
    explained = sum((a * b for a, b in zip(m, cross, strict=True)), Fraction(0))  # m' Ln m = m' X'y
    s = Fraction(hyper.nu) * Fraction(hyper.lam) + sum((value * value for value in values), Fraction(0)) - explained
    ratio = Fraction(1)
    for entry in prior:
        ratio *= entry
    return precision, m, s, ratio / determinant


def linear_leaf(y: Sequence[float], x: Sequence[Sequence[float]], hyper: Hyper = PAPER, tau: float = 1.0) -> float:
    """The formula of formulas.md."""
    n = len(y)
    if n == 0:
        return 0.0
    _, _, s, ratio = posterior(y, x, len(x[0]), hyper, tau)
    return (
        -n / 2 * log(pi)
        + hyper.nu / 2 * log(hyper.nu * hyper.lam)
        + log_of(ratio) / 2
        + lgamma((n + hyper.nu) / 2)
        - lgamma(hyper.nu / 2)
        - (n + hyper.nu) / 2 * log_of(s)
    )


def linear_leaf_as_student(
    y: Sequence[float], x: Sequence[Sequence[float]], hyper: Hyper = PAPER, tau: float = 1.0
) -> float:
    if not y:
        return 0.0
    rows = np.array(x)
    prior = np.array([float(entry) for entry in prior_precision(rows.shape[1], hyper, tau)])
    shape = hyper.lam * (np.eye(len(y)) + (rows / prior) @ rows.T)
    return float(multivariate_t.logpdf(np.array(y), loc=[hyper.mu0] * len(y), shape=shape, df=hyper.nu))


def predictive(
    y: Sequence[float], x: Sequence[Sequence[float]], new: Sequence[float], hyper: Hyper = PAPER, tau: float = 1.0
) -> tuple[float, float, float]:
    """Location, squared scale and degrees of freedom of the Student t of the next value, at the regressors `new`."""
    precision, m, s, _ = posterior(y, x, len(new), hyper, tau)
    exact = [Fraction(entry) for entry in new]
    leaned, _ = solved(precision, exact)
    spread = 1 + sum((a * b for a, b in zip(exact, leaned, strict=True)), Fraction(0))
    location = Fraction(hyper.mu0) + sum((a * b for a, b in zip(exact, m, strict=True)), Fraction(0))
    freedom = hyper.nu + len(y)
    return float(location), float(s * spread / Fraction(freedom)), freedom


def linear_leaf_row_by_row(
    y: Sequence[float], x: Sequence[Sequence[float]], hyper: Hyper = PAPER, tau: float = 1.0
) -> float:
    return fsum(student_log_density(y[row], *predictive(y[:row], x[:row], x[row], hyper, tau)) for row in range(len(y)))


# The tree


def best_linear_tree(
    child: Column,
    parents: Sequence[Column],
    hyper: Hyper = PAPER,
    tau: float = 1.0,
    structure_prior: bool = True,
    standardise: bool = True,
) -> Best:
    """As slow.trees.best_tree: every node is a leaf or any of its splits, also with an empty side."""
    penalty = log_gamma(shape_of(parents)) if structure_prior else 0.0
    y, x = child.values, regressors(parents, len(child.values), standardise)
    leaves: dict[tuple[int, ...], float] = {}
    known: dict[Node, Best] = {}

    def best(node: Node) -> Best:
        if node not in known:
            rows = tuple(rows_in(parents, node, len(y)))
            if rows not in leaves:
                leaves[rows] = linear_leaf([y[row] for row in rows], [x[row] for row in rows], hyper, tau)
            answer = (penalty + leaves[rows], 1)
            for left, right in splits(parents, node):
                below_left, below_right = best(left), best(right)
                answer = better(answer, (below_left[0] + below_right[0], below_left[1] + below_right[1]))
            known[node] = answer
        return known[node]

    return best(tuple(parent.whole() for parent in parents))


def best_linear_tree_by_enumeration(
    child: Column, parents: Sequence[Column], hyper: Hyper = PAPER, tau: float = 1.0, structure_prior: bool = True
) -> Best:
    """All trees one by one, their leaves as Student t densities; for tiny cases."""
    penalty = log_gamma(shape_of(parents)) if structure_prior else 0.0
    y, x = child.values, regressors(parents, len(child.values))
    answer: Best | None = None
    for tree in every_tree(parents):
        each = []
        for node in tree:
            rows = rows_in(parents, node, len(y))
            each.append(linear_leaf_as_student([y[row] for row in rows], [x[row] for row in rows], hyper, tau))
        this = (fsum(each) + penalty * len(tree), len(tree))
        answer = this if answer is None else better(answer, this)
    assert answer is not None
    return answer


def linear_pcart(
    child: Column,
    parents: Sequence[Column],
    hyper: Hyper = PAPER,
    tau: float = 1.0,
    structure_prior: bool = True,
    standardise: bool = True,
) -> float:
    value, _ = best_linear_tree(child, parents, hyper, tau, structure_prior, standardise)
    return value + (log_c(shape_of(parents)) if structure_prior else 0.0)
