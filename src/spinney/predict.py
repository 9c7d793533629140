"""Predicting one column from all others.

In:  a network, rows in its codes, and a target.
Out: the posterior of the target, row by row: of its levels, or its mean if it is continuous.
Given all other columns only the target's Markov blanket matters: P(t | rest) is proportional to P(t | parents of t)
times the product over its children c of P(c | parents of c). A row whose blanket has probability 0 at every level of
the target contradicts the network; its answer is P(t | parents of t), which is always defined: there is never a NaN.
The factor of a family that holds a level which the network does not know is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spinney.errors import ChoiceError, LimitError
from spinney.fitted.model import Columns, Floats, Ints, LocalModel, checked_logs
from spinney.graph import DAG
from spinney.quadrature import means

if TYPE_CHECKING:
    from spinney.network import Network


def markov_blanket(dag: DAG, target: str) -> tuple[str, ...]:
    """The target's parents, children and the other parents of its children, sorted by name."""
    if not isinstance(target, str) or target not in dag.parents:
        raise ChoiceError(
            f"the target {target!r} is not a variable of this network: name one of its {len(dag.names)} variables"
        )
    blanket = set(dag.parents[target])
    for child in dag.children[target]:
        blanket |= {child, *dag.parents[child]}
    return tuple(sorted(blanket - {target}))


def posterior(network: Network, columns: Columns, target: str) -> Floats:
    """P(target | blanket), one row per row of data. REQUIRES: `columns` hold the Markov blanket."""
    own, levels = network.models[target], len(network.levels(target))
    rows = columns.known(_discrete(own, target))
    prior = np.full((columns.n_rows, levels), 1.0 / levels)
    prior[rows] = own.conditional(columns.take(rows, own.parents))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(prior)
    children = [network.models[name] for name in network.dag.children[target]]
    for child in children:
        rows, factor = _factor(child, columns, target)
        logs[rows] += factor
    if not (logs < np.inf).all():  # looked at once, and again only to say whose fault it is
        for child in children:
            checked_logs(child, _factor(child, columns, target)[1])
        checked_logs(own, logs)
    largest = logs.max(axis=1, keepdims=True)
    possible = np.isfinite(largest[:, 0])
    result: Floats = prior.copy()
    weights = np.exp(logs[possible] - largest[possible])
    result[possible] = weights / weights.sum(axis=1, keepdims=True)
    return result


def _factor(child: LocalModel, columns: Columns, target: str) -> tuple[Ints | slice, Floats]:
    """The rows that hold no unknown level of the family, and there the child's log-probability at each level."""
    rows = columns.known(_discrete(child, target))
    family = [name for name in child.family if name != target]
    return rows, child.log_prob_at_each(columns.take(rows, family), target)


def _discrete(model: LocalModel, target: str) -> list[str]:
    """The discrete columns of a family, without the target."""
    return [name for name, levels in model.family.items() if levels is not None and name != target]


def posterior_mean(network: Network, columns: Columns, target: str) -> Floats:
    """The mean of a continuous target given its blanket. REQUIRES: `columns` hold the Markov blanket.

    Where the children's models change along the target only at their cuts, the posterior between two cuts is the
    target's own distribution times a constant: the mean is a sum over the pieces. Where one changes smoothly, or the
    pieces have no closed form, the mean is an integral (quadrature.py)."""
    model = network.models[target]
    children = [network.models[child] for child in network.dag.children[target]]
    steps = [child.cuts(target) for child in children]
    cuts = np.unique(np.concatenate([np.empty(0), *(own for own in steps if own is not None)]))
    smooth = any(own is None for own in steps)
    if not smooth and len(cuts) == 0:
        return model.mean(columns)
    pieces = None if smooth else model.pieces(columns, cuts)
    if pieces is None:
        return _integrated(model, children, columns, cuts)
    logs, centres = pieces
    for piece, value in enumerate([np.nextafter(cuts[0], -np.inf), *cuts]):  # a value on a cut is in the piece above
        assumed = columns.replaced(target, value)
        for child in children:
            logs[:, piece] += checked_logs(child, child.log_prob(assumed))
    largest = logs.max(axis=1, keepdims=True)
    possible = np.isfinite(largest[:, 0])
    result = model.mean(columns)
    weights = np.exp(logs[possible] - largest[possible])
    result[possible] = (weights * centres[possible]).sum(axis=1) / weights.sum(axis=1)
    return result


def _integrated(model: LocalModel, children: list[LocalModel], columns: Columns, cuts: Floats) -> Floats:
    """The same by quadrature. A row that contradicts the network has the target's own mean, if a discrete child says
    so; a density that is 0 wherever it was asked may be too narrow to be found, and is refused."""
    target = model.child
    names = {name for one in (model, *children) for name in one.family} - {target}

    def log_density(rows: Ints, values: Floats) -> Floats:
        assumed = columns.take(rows, names)
        assumed.put(target, values)
        total = np.zeros(len(rows))
        for one in (model, *children):
            with np.errstate(over="ignore"):  # squares of values far out; their density is 0
                logs = one.log_prob(assumed)
            total += checked_logs(one, logs)
        return total

    centre, scale = model.spread(columns)
    if not (np.isfinite(centre).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise ChoiceError(
            f"the model of {target!r} ({model.word}) has a spread() that is not finite, or a scale of 0: correct it"
        )
    found = means(log_density, centre, scale, cuts)
    result = np.where(found.empty, model.mean(columns), found.mean)
    may_be_narrow = any(child.family[child.child] is None for child in children)
    lost = found.failed | (found.empty & may_be_narrow)
    if lost.any():
        row = int(np.flatnonzero(lost)[0]) + 1
        what = "is 0 wherever it was tried" if found.empty[row - 1] else "is too irregular to be integrated"
        raise LimitError(
            f"row {row}: the density of {target!r} given the other columns {what}, so that its mean is not known; "
            f"leave the row out, or predict a discrete column"
        )
    return result
