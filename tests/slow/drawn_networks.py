"""Small networks to test with, and the plain joint distribution they stand for.

In:  a number generator or hypothesis' draw.
Out: Networks of tables; their joint as a dict row -> probability, multiplied out one row at a time."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from spinney.fitted.table import Table
from spinney.kinds import Categorical, Ordinal
from spinney.network import Network

names = st.text(max_size=6)


def random_table(
    rng: np.random.Generator,
    child: str,
    parents: tuple[str, ...],
    levels: dict[str, tuple[str, ...]],
    zeros: float,
    sparse: bool,
) -> Table:
    """Dirichlet rows, some entries exactly 0; a sparse table stores about half of the configurations."""
    r = len(levels[child])
    q = int(np.prod([len(levels[parent]) for parent in parents], dtype=np.int64))

    def rows(count: int) -> np.ndarray:
        weights = rng.dirichlet(np.ones(r), size=count)
        weights[rng.random(weights.shape) < zeros] = 0.0
        weights[weights.sum(axis=1) == 0, 0] = 1.0
        return weights / weights.sum(axis=1, keepdims=True)

    codes = np.flatnonzero(rng.random(q) < 0.5) if sparse else np.arange(q)
    parent_levels = tuple(levels[parent] for parent in parents)
    return Table(child, parents, levels[child], parent_levels, codes, rows(len(codes)), rows(1)[0])


def random_network(
    rng: np.random.Generator,
    levels: dict[str, tuple[str, ...]],
    *,
    zeros: float = 0.0,
    sparse: bool = False,
    ordinal: int = 0,
) -> Network:
    """A random DAG over the variables; the first `ordinal` of them are ordinal."""
    order = [str(name) for name in rng.permutation(np.array(list(levels), dtype=object))]
    models = {}
    for place, child in enumerate(order):
        size = int(rng.integers(0, min(place, 3) + 1))
        chosen = rng.choice(place, size=size, replace=False) if size else []
        parents = tuple(order[i] for i in chosen)
        models[child] = random_table(rng, child, parents, levels, zeros, sparse)
    kinds = {
        name: Ordinal(found) if i < ordinal else Categorical(found) for i, (name, found) in enumerate(levels.items())
    }
    return Network(kinds, models)


@st.composite
def networks(draw: st.DrawFn, text: st.SearchStrategy[str] = names, max_nodes: int = 4) -> Network:
    variables = draw(st.lists(text, min_size=1, max_size=max_nodes, unique=True))
    levels = {name: tuple(draw(st.lists(text, min_size=1, max_size=4, unique=True))) for name in variables}
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    zeros, sparse = draw(st.sampled_from([0.0, 0.4])), draw(st.booleans())
    return random_network(rng, levels, zeros=zeros, sparse=sparse, ordinal=draw(st.integers(0, len(levels))))


def probability(network: Network, row: dict[str, str]) -> float:
    """P(row), one factor per variable, looked up the long way."""
    result = 1.0
    for name, model in network.models.items():
        every = list(product(*model.parent_levels))
        wanted = every.index(tuple(row[parent] for parent in model.parents))
        stored = model.codes.tolist()
        factors = model.probabilities[stored.index(wanted)] if wanted in stored else model.default
        result *= float(factors[model.levels.index(row[name])])
    return result


def joint(network: Network) -> dict[tuple[str, ...], float]:
    """Every row, in the order of the network's names, and its probability."""
    every = product(*(network.models[name].levels for name in network.names))
    return {row: probability(network, dict(zip(network.names, row, strict=True))) for row in every}
