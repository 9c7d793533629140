"""A population whose independences are exactly those of a DAG, and a perfect score of it.

In:  a DAG, as the parents of each of some ten names at the most.
Out: d-separation; a score that is decomposable, equal on Markov equivalent DAGs and locally consistent (Chickering
2002): an edge gains exactly when its two ends are dependent given the other parents.

The score is the limit of BIC: the log-likelihood of many rows of a linear Gaussian population with this DAG, less 1 per
edge. Its covariance is known, so there is no sampling; it is checked for every pair given every
set that the variables are independent exactly where the DAG separates them (weights are drawn again otherwise), and the
number of rows is as large as the weakest of all dependences needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import numpy as np
import pyarrow as pa

import spinney as sp
from slow.graphs import Parents

INDEPENDENT, DEPENDENT = 1e-11, 1e-7  # mutual information: rounding, and the least that counts as a dependence


def random_dag(rng: np.random.Generator, n: int, degree: float) -> Parents:
    """n names in a random order; each pair is an edge with the probability that gives this mean degree."""
    names = [chr(ord("a") + place) for place in range(n)]
    order = [names[place] for place in rng.permutation(n)]
    share = min(1.0, degree / max(n - 1, 1))
    drawn = {child: tuple(sorted(p for p in order[:k] if rng.random() < share)) for k, child in enumerate(order)}
    return {name: drawn[name] for name in names}


def random_dags(count: int, seed: int, most: int = 7) -> Iterator[Parents]:
    """Sparse ones, dense ones, complete ones: 2 to `most` names, mean degrees 0.5 to n - 1."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(2, most + 1))
        yield random_dag(rng, n, float(rng.uniform(0.5, n - 1) if n > 2 else rng.uniform(0, 1)))


def d_separated(parents: Mapping[str, Iterable[str]], one: str, other: str, given: Iterable[str] = ()) -> bool:
    """No way between them in the moral graph of their and the given ones' ancestors (Lauritzen et al. 1990)."""
    given = set(given)
    ancestors, todo = set(), {one, other} | given
    while todo:
        ancestors.add(node := todo.pop())
        todo |= set(parents[node]) - ancestors
    joined: dict[str, set[str]] = {node: set() for node in ancestors}
    for child in ancestors:
        for a, b in combinations((child, *parents[child]), 2):
            joined[a].add(b)
            joined[b].add(a)
    reached, todo = set(), {one}
    while todo:
        reached.add(node := todo.pop())
        todo |= joined[node] - reached - given
    return other not in reached


class Oracle:
    """The independences of a DAG, as a test and as a score."""

    def __init__(self, parents: Mapping[str, Iterable[str]], seed: int = 0) -> None:
        self.parents: Parents = {child: tuple(own) for child, own in parents.items()}
        self.names = list(self.parents)
        self._place = {name: place for place, name in enumerate(self.names)}
        rng = np.random.default_rng(seed)
        for _ in range(1000):
            self._entropy = self._entropies(rng)
            if weakest := self._weakest_dependence():
                self.rows = 4 / weakest  # the weakest dependence gains 4, less the 1 that the edge costs
                return
        raise ValueError(f"no faithful weights in 1000 tries for {self.parents}")

    def separated(self, one: str, other: str, given: Iterable[str] = ()) -> bool:
        return d_separated(self.parents, one, other, given)

    def score(self, child: str, parents: Iterable[str]) -> float:
        given = self._set(parents)
        family = given | 1 << self._place[child]
        return -self.rows * (self._entropy[family] - self._entropy[given]) - given.bit_count()

    def total(self, parents: Mapping[str, Iterable[str]]) -> float:
        return math.fsum(self.score(child, own) for child, own in parents.items())

    def custom(self):
        """For sp.learn(oracle.data(), score=oracle.custom(), ...)."""
        return sp.CustomScore(lambda data, child, parents: self.score(child, parents), equivalent=True, model="bge")

    def data(self) -> sp.Dataset:
        """A table with these columns. The score does not look at its numbers."""
        rng = np.random.default_rng(0)
        return sp.Dataset.from_frame(pa.table({name: rng.normal(size=30) for name in self.names}))

    def cpdag(self) -> sp.CPDAG:
        return sp.DAG(self.names, self.parents).cpdag()

    def _set(self, names: Iterable[str]) -> int:
        return sum(1 << self._place[name] for name in names)

    def _entropies(self, rng: np.random.Generator) -> np.ndarray:
        """Of every set: half the log-determinant of its correlations, the set as bits."""
        n = len(self.names)
        weights = np.zeros((n, n))
        for child, own in self.parents.items():
            for parent in own:
                weights[self._place[child], self._place[parent]] = rng.uniform(0.4, 1.2) * rng.choice([-1, 1])
        ways = np.linalg.inv(np.eye(n) - weights)
        covariance = ways @ np.diag(rng.uniform(0.5, 1.5, n)) @ ways.T
        scale = 1 / np.sqrt(np.diag(covariance))
        correlation = covariance * np.outer(scale, scale)
        members = [[v for v in range(n) if bits >> v & 1] for bits in range(1 << n)]
        return np.array([np.linalg.slogdet(correlation[np.ix_(own, own)])[1] / 2 if own else 0.0 for own in members])

    def _weakest_dependence(self) -> float:
        """The least mutual information of two variables that are not separated; 0 if some pair is dependent where it
        is separated, or as good as independent where it is not."""
        weakest, h = math.inf, self._entropy
        for one, other in combinations(self.names, 2):
            rest = [name for name in self.names if name not in (one, other)]
            a, b = self._set([one]), self._set([other])
            for size in range(len(rest) + 1):
                for given in combinations(rest, size):
                    s = self._set(given)
                    information = h[s | a] + h[s | b] - h[s | a | b] - h[s]
                    if self.separated(one, other, given):
                        if abs(information) > INDEPENDENT:
                            return 0.0
                    elif information < DEPENDENT:
                        return 0.0
                    else:
                        weakest = min(weakest, information)
        return min(weakest, 1.0)
