"""Predicting one column from all others.

In:  a network, rows in its codes, and a target.
Out: the posterior of the target, row by row.
Given all other columns only the target's Markov blanket matters: P(t | rest) is proportional to P(t | parents of t)
times the product over its children c of P(c | parents of c). A row whose blanket has probability 0 at every level of
the target contradicts the network; its answer is P(t | parents of t), which is always defined: there is never a NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spinney.errors import ChoiceError
from spinney.fitted.table import Columns, Floats
from spinney.graph import DAG

if TYPE_CHECKING:
    from spinney.network import Network


def markov_blanket(dag: DAG, target: str) -> tuple[str, ...]:
    """The target's parents, children and the other parents of its children, sorted by name."""
    if target not in dag.parents:
        raise ChoiceError(
            f"the target {target!r} is not a variable of this network: name one of its {len(dag.names)} variables"
        )
    blanket = set(dag.parents[target])
    for child in dag.children[target]:
        blanket |= {child, *dag.parents[child]}
    return tuple(sorted(blanket - {target}))


def posterior(network: Network, columns: Columns, target: str) -> Floats:
    """P(target | blanket), one row per row of data. REQUIRES: `columns` hold the Markov blanket."""
    prior = network.models[target].conditional(columns)
    with np.errstate(divide="ignore"):
        logs = np.log(prior)
    children = [network.models[child] for child in network.dag.children[target]]
    for level in range(prior.shape[1]):
        assumed = columns.replaced(target, level)
        for child in children:
            logs[:, level] += child.log_prob(assumed)
    largest = logs.max(axis=1, keepdims=True)
    possible = np.isfinite(largest[:, 0])
    result: Floats = prior.copy()
    weights = np.exp(logs[possible] - largest[possible])
    result[possible] = weights / weights.sum(axis=1, keepdims=True)
    return result
