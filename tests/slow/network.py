"""A discrete network as plain dictionaries; every probability by summing the whole joint.

In:  a Case (for names and sizes) and a seed, or tables written by hand.
Out: a PlainNetwork; `spinney()` is the same network as a spinney Network."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from slow.case import Case


@dataclass(frozen=True, eq=False)
class PlainNetwork:
    """tables[name][parent codes] is the list of probabilities of name's levels."""

    case: Case
    parents: dict[str, tuple[str, ...]]
    tables: dict[str, dict[tuple[int, ...], list[float]]]

    def joint(self, row: dict[str, int]) -> float:
        answer = 1.0
        for name, table in self.tables.items():
            answer *= table[tuple(row[parent] for parent in self.parents[name])][row[name]]
        return answer

    @cache  # noqa: B019  a twin lives as long as one test
    def marginal(self, names: tuple[str, ...]) -> dict[tuple[int, ...], float]:
        """P(names = codes) for all codes, by brute force over all joint assignments."""
        answer: dict[tuple[int, ...], float] = {}
        for codes in product(*(range(size) for size in self.case.sizes.values())):
            row = dict(zip(self.case.sizes, codes, strict=True))
            key = tuple(row[name] for name in names)
            answer[key] = answer.get(key, 0.0) + self.joint(row)
        return answer

    def spinney(self) -> Any:
        import numpy as np

        from spinney.fitted.table import Table
        from spinney.kinds import Categorical
        from spinney.network import Network

        models = {}
        for name, parents in self.parents.items():
            configurations = list(product(*(range(self.case.sizes[parent]) for parent in parents)))
            size = self.case.sizes[name]
            models[name] = Table(
                child=name,
                parents=parents,
                levels=self.case.levels(name),
                parent_levels=tuple(self.case.levels(parent) for parent in parents),
                codes=np.arange(len(configurations), dtype=np.int64),
                probabilities=np.array([self.tables[name][configuration] for configuration in configurations]),
                default=np.full(size, 1.0 / size),
                counts=None,
                score=None,
            )
        return Network({name: Categorical(self.case.levels(name)) for name in self.case.names}, models)


def random_network(case: Case, seed: int = 7) -> PlainNetwork:
    """Up to two parents per node, in sorted-name order; all probabilities positive."""
    rng = random.Random(seed)
    parents: dict[str, tuple[str, ...]] = {}
    tables: dict[str, dict[tuple[int, ...], list[float]]] = {}
    for name in sorted(case.names):
        parents[name] = tuple(sorted(rng.sample(sorted(parents), min(2, len(parents)))))
        tables[name] = {}
        for configuration in product(*(range(case.sizes[parent]) for parent in parents[name])):
            weights = [rng.uniform(0.2, 1.0) for _ in range(case.sizes[name])]
            tables[name][configuration] = [weight / sum(weights) for weight in weights]
    return PlainNetwork(case, parents, tables)
