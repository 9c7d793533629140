"""The table scores of Carvalho (2009) and the priors on parent sets, one row of data at a time.

In:  a Case, a child, its parents.
Out: the local score; natural log, larger is better.
Bayesian scores are computed as what they claim to be, the product over the rows of the predictive probability of the
child's value given the rows before: no gamma function is needed, hence none can be wrong. Information scores are sums
over rows of log frequencies. NML normalisers follow their recurrence; `normaliser_by_definition` is what it sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, exp, fsum, inf, lgamma, log, prod
from typing import Any

from scipy.stats import chi2

from slow.case import Case
from slow.network import PlainNetwork, random_network

Configuration = tuple[int, ...]
PseudoCount = Callable[[Configuration, int], float]


def configurations(case: Case, parents: Iterable[str]) -> list[Configuration]:
    """The parents' codes in every row."""
    parents = list(parents)
    return [tuple(case.columns[parent][row] for parent in parents) for row in range(case.n_rows)]


def declared(case: Case, parents: Iterable[str]) -> int:
    """q: all joint configurations of the declared levels, seen or not."""
    return prod(case.sizes[parent] for parent in parents)


def free_parameters(case: Case, child: str, parents: Iterable[str]) -> int:
    return (case.sizes[child] - 1) * declared(case, parents)


# Information scores


def ll(case: Case, child: str, parents: tuple[str, ...]) -> float:
    rows = list(zip(configurations(case, parents), case.columns[child], strict=True))
    together, alone = Counter(rows), Counter(j for j, _ in rows)
    return fsum(log(together[j, k] / alone[j]) for j, k in rows)


def aic(case: Case, child: str, parents: tuple[str, ...]) -> float:
    return ll(case, child, parents) - free_parameters(case, child, parents)


def bic(case: Case, child: str, parents: tuple[str, ...]) -> float:
    return ll(case, child, parents) - log(case.n_rows) / 2 * free_parameters(case, child, parents)


def mit(case: Case, child: str, parents: tuple[str, ...], alpha: float) -> float:
    if not parents:
        return 0.0
    rows = list(zip(configurations(case, parents), case.columns[child], strict=True))
    together, above, below = Counter(rows), Counter(j for j, _ in rows), Counter(k for _, k in rows)
    information = fsum(log(together[j, k] * case.n_rows / (above[j] * below[k])) for j, k in rows)
    penalty, before = 0.0, 1
    for size in sorted((case.sizes[parent] for parent in parents), reverse=True):
        freedom = (case.sizes[child] - 1) * (size - 1) * before
        # A chi-squared variable without degrees of freedom is the constant 0 (scipy answers nan).
        penalty += float(chi2.ppf(alpha, float(freedom))) if freedom else 0.0
        before *= size
    return 2 * information - penalty


# Normalised maximum likelihood


def normaliser_by_definition(levels: int, rows: int) -> Fraction:
    """C(levels, rows): the maximum likelihood of every sequence, summed."""
    total = Fraction(0)
    for sequence in product(range(levels), repeat=rows):
        counts = Counter(sequence)
        total += prod((Fraction(counts[value], rows) for value in sequence), start=Fraction(1))
    return total


@cache
def binary_normaliser(rows: int) -> float:
    """C(2, rows): exact integers divided once; in logs where those integers grow long (still good to 1e-11)."""
    if rows <= 300:
        return fsum(comb(rows, h) * h**h * (rows - h) ** (rows - h) / rows**rows for h in range(rows + 1))
    share = [0.0, *(h * log(h / rows) - lgamma(h + 1) for h in range(1, rows + 1))]
    return fsum(exp(lgamma(rows + 1) + share[h] + share[rows - h]) for h in range(rows + 1))


@cache
def log_normaliser(levels: int, rows: int) -> float:
    """log C(levels, rows) by Kontkanen and Myllymaki's recurrence (Algorithm 1 of the paper)."""
    if rows == 0 or levels == 1:
        return 0.0
    older, newer, scale = 1.0, binary_normaliser(rows), 0.0
    for level in range(3, levels + 1):
        older, newer = newer, newer + rows / (level - 2) * older
        if newer > 1e200:  # C(l, m) grows like l^m / m!
            older, newer, scale = older / 1e200, newer / 1e200, scale + log(1e200)
    return scale + log(newer)


def fnml(case: Case, child: str, parents: tuple[str, ...]) -> float:
    sizes = Counter(configurations(case, parents))
    return ll(case, child, parents) - fsum(log_normaliser(case.sizes[child], rows) for rows in sizes.values())


def qnml(case: Case, child: str, parents: tuple[str, ...]) -> float:
    q = declared(case, parents)
    regret = log_normaliser(case.sizes[child] * q, case.n_rows) - log_normaliser(q, case.n_rows)
    return ll(case, child, parents) - regret


# Bayesian scores


def one_row_after_another(case: Case, child: str, parents: tuple[str, ...], pseudo: PseudoCount) -> float:
    """log P(child's column | parents' columns): Dirichlet with pseudo(j, k) per cell, predicted row by row."""
    together: Counter[tuple[Configuration, int]] = Counter()
    alone: Counter[Configuration] = Counter()
    mass = {j: fsum(pseudo(j, k) for k in range(case.sizes[child])) for j in sorted(set(configurations(case, parents)))}
    terms = []
    for j, k in zip(configurations(case, parents), case.columns[child], strict=True):
        probability = (together[j, k] + pseudo(j, k)) / (alone[j] + mass[j])
        terms.append(log(probability) if probability > 0 else -inf)
        together[j, k] += 1
        alone[j] += 1
    return fsum(terms)


def bd(case: Case, child: str, parents: tuple[str, ...], alpha: float) -> float:
    return one_row_after_another(case, child, parents, lambda j, k: alpha)


def bdeu(case: Case, child: str, parents: tuple[str, ...], ess: float) -> float:
    return bd(case, child, parents, ess / (case.sizes[child] * declared(case, parents)))


def bds(case: Case, child: str, parents: tuple[str, ...], ess: float) -> float:
    seen = len(set(configurations(case, parents)))
    return bd(case, child, parents, ess / (case.sizes[child] * seen))


def bde(case: Case, child: str, parents: tuple[str, ...], network: PlainNetwork, ess: float) -> float:
    joint = network.marginal((*parents, child))
    return one_row_after_another(case, child, parents, lambda j, k: ess * joint[(*j, k)])


# Every choice as the user writes it, beside its twin

BDE = "bde"
BDE_ESS = 2.5

TWINS: dict[str, Callable[[Case, str, tuple[str, ...]], float]] = {
    "ll": ll,
    "aic": aic,
    "bic": bic,
    "mdl": bic,
    "k2": lambda case, child, parents: bd(case, child, parents, 1.0),
    "bd(alpha=0.5)": lambda case, child, parents: bd(case, child, parents, 0.5),
    BDE: lambda case, child, parents: bde(case, child, parents, random_network(case), BDE_ESS),
    "bdeu(ess=1)": lambda case, child, parents: bdeu(case, child, parents, 1.0),
    "bdeu(ess=7.5)": lambda case, child, parents: bdeu(case, child, parents, 7.5),
    "bds(ess=1)": lambda case, child, parents: bds(case, child, parents, 1.0),
    "bds(ess=10)": lambda case, child, parents: bds(case, child, parents, 10.0),
    "fnml": fnml,
    "qnml": qnml,
    "mit(alpha=0.99)": lambda case, child, parents: mit(case, child, parents, 0.99),
    "mit(alpha=0.9)": lambda case, child, parents: mit(case, child, parents, 0.9),
}
ONE_OF_EACH = [name for name in TWINS if name not in ("bdeu(ess=7.5)", "bds(ess=10)", "mit(alpha=0.9)")]
WITH_GRAPHS = [*ONE_OF_EACH, "graph", "graph(operators=BM, prior=upn, ess=5)"]  # their twin is in decision_graphs.py
BAYESIAN = ["k2", "bd(alpha=0.5)", BDE, "bdeu(ess=1)", "bdeu(ess=7.5)", "bds(ess=1)", "bds(ess=10)"]
EQUIVALENT = ["ll", "aic", "bic", "mdl", BDE, "bdeu(ess=1)", "bdeu(ess=7.5)", "qnml"]
NOT_EQUIVALENT = ["k2", "bd(alpha=0.5)", "bds(ess=1)", "fnml", "mit(alpha=0.99)", "graph"]


def choice(name: str, case: Case) -> Any:
    """What the user passes as score=; bde carries the same prior network as its twin."""
    import spinney as sp

    return sp.BDe(network=random_network(case).spinney(), ess=BDE_ESS) if name == BDE else name


# Priors on parent sets


def _binomial(case: Case, parents: tuple[str, ...], r: float) -> float:
    others = len(case.names) - 1
    if others == 0:
        return 0.0
    chance = r / others
    parts = ((len(parents), chance), (others - len(parents), 1 - chance))
    return fsum(times * (log(p) if p > 0 else -inf) for times, p in parts if times)


PRIORS: dict[str, Callable[[Case, str, tuple[str, ...]], float]] = {
    "uniform": lambda case, child, parents: 0.0,
    "sizes": lambda case, child, parents: -log(comb(len(case.names) - 1, len(parents))),
    "binomial(r=1)": lambda case, child, parents: _binomial(case, parents, 1.0),
    "binomial(r=0.5)": lambda case, child, parents: _binomial(case, parents, 0.5),
    "ebic(gamma=0.5)": lambda case, child, parents: -0.5 * free_parameters(case, child, parents) * log(len(case.names)),
    "ebic(gamma=1)": lambda case, child, parents: -free_parameters(case, child, parents) * log(len(case.names)),
    # Chickering, Heckerman and Meek (1997), eq. 6, with the r-1 distinct parameters of their footnote 1.
    "kappa(k=0.1)": lambda case, child, parents: free_parameters(case, child, parents) * log(0.1),
}


def local_score(case: Case, child: str, parents: Iterable[str], score: str, prior: str = "uniform") -> float:
    parents = tuple(sorted(parents))
    return TWINS[score](case, child, parents) + PRIORS[prior](case, child, parents)


def network_score(case: Case, parents: dict[str, Iterable[str]], score: str, prior: str = "uniform") -> float:
    return fsum(local_score(case, child, of_child, score, prior) for child, of_child in parents.items())
