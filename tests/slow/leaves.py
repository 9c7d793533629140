"""The marginal likelihood of the child values in one leaf, for the three kinds of child.

In:  the values (codes, or numbers already standardised if that is wanted), the child's number of levels, Hyper.
Out: log probability (density) of the values in their order.
No gamma function: a Dirichlet is a product of rising factorials, a normal with unknown mean and variance a product of
Student t densities, one observation after another, and an ordinal child the plain sum over all its histograms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import exp, fsum, log

from scipy.stats import t as student


@dataclass(frozen=True)
class Hyper:
    """What PCART and FT let the user choose about leaves, with the paper's values."""

    alpha: float = 0.5
    mu0: float = 0.0
    a: float = 1.0
    nu: float = 1.0
    lam: float = 1.0
    kappa: float = 0.25
    ess: float = 0.0  # 0: alpha in every leaf of a categorical child


PAPER = Hyper()


@cache
def log_rising(start: float, steps: int) -> float:
    """log of start (start + 1) ... (start + steps - 1)."""
    return fsum(log(start + step) for step in range(steps))


def categorical(codes: Sequence[int], levels: int, hyper: Hyper = PAPER) -> float:
    assert all(0 <= code < levels for code in codes)
    seen = fsum(log_rising(hyper.alpha, count) for count in Counter(codes).values())
    return seen - log_rising(levels * hyper.alpha, len(codes))


def continuous(values: Sequence[float], hyper: Hyper = PAPER) -> float:
    """Each value under the Student t that the values before it predict (formulas.md, posterior predictive)."""
    mean, a, nu, lam = hyper.mu0, hyper.a, hyper.nu, hyper.lam
    terms = []
    for value in values:
        terms.append(student_log_density(value, mean, lam * (a + 1) / a, nu))
        lam = (nu * lam + a / (a + 1) * (value - mean) ** 2) / (nu + 1)
        mean = (a * mean + value) / (a + 1)
        a, nu = a + 1, nu + 1
    return fsum(terms)


@cache
def student_at_zero(nu: float) -> float:
    return float(student.logpdf(0.0, nu))


def student_log_density(value: float, location: float, squared_scale: float, nu: float) -> float:
    """scipy's own logpdf takes 0.1 ms a call: its height at 0 is asked once per nu, the shape is written out."""
    squared = (value - location) ** 2 / squared_scale
    return student_at_zero(nu) - log(squared_scale) / 2 - (nu + 1) / 2 * log(1 + squared / nu)


def segmentations(levels: int) -> Iterator[tuple[range, ...]]:
    """All ways to cut 0..levels-1 into runs: every gap is cut or not."""
    for cuts in range(2 ** (levels - 1)):
        ends = [0, *(gap + 1 for gap in range(levels - 1) if cuts >> gap & 1), levels]
        yield tuple(range(start, end) for start, end in pairwise(ends))


def ordinal(codes: Sequence[int], levels: int, hyper: Hyper = PAPER) -> float:
    assert all(0 <= code < levels for code in codes)
    counts = Counter(codes)

    @cache
    def run_term(start: int, stop: int) -> float:
        within = sum(counts[level] for level in range(start, stop))
        return log_rising((stop - start) * hyper.alpha, within) - within * log(stop - start)

    terms = []
    for runs in segmentations(levels):
        prior = (len(runs) - 1) * log(hyper.kappa) - (levels - 1) * log(1 + hyper.kappa)
        terms.append(prior + sum(run_term(run.start, run.stop) for run in runs))
    return log_sum(terms) - log_rising(levels * hyper.alpha, len(codes))


def log_sum(terms: Sequence[float]) -> float:
    top = max(terms)
    return top + log(fsum(exp(term - top) for term in terms))


def leaf(kind: str, values: Sequence[float], levels: int, hyper: Hyper = PAPER, part: float = 1.0) -> float:
    """The one table of the three; `levels` of a continuous child is not read. `part` is the leaf's, for ess."""
    if kind == "categorical" and hyper.ess > 0:
        hyper = replace(hyper, alpha=hyper.ess * part / levels)
    if kind == "continuous":
        return continuous(values, hyper)
    return {"categorical": categorical, "ordinal": ordinal}[kind]([int(code) for code in values], levels, hyper)
