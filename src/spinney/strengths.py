"""What every edge of a network is worth.

In:  a network and data.
Out: per edge, the nats per row that the score of its child loses when the parent is left out: the score of the family
less that of the family without the parent, under the score and the prior that the network was learned with. Below 0:
the score would rather do without the edge (a required one, or one that a local search or other data left)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from spinney.catalog import choose_prior, choose_score
from spinney.choices import Choice
from spinney.dataset import Data, Dataset, as_dataset
from spinney.errors import ChoiceError, DataError, way
from spinney.graph import Edge
from spinney.kinds import Continuous
from spinney.machine import threads_for
from spinney.reading import Reading
from spinney.sample import drawn_kind
from spinney.scores import build_source

if TYPE_CHECKING:
    from spinney.network import Network


def edge_strengths(
    network: Network,
    data: Data,
    score: str | Choice | None = None,
    prior: str | Choice | None = None,
    n_jobs: int = -1,
    time_limit: float | None = None,
) -> dict[Edge, float]:
    """As Network.edge_strengths(); past the time limit NaN."""
    table = as_learned(network, data)
    plan = network.plan or {}
    if table.n_rows == 0:
        raise DataError("the data has no rows; the strengths of edges need at least one")
    source = build_source(table, _chosen(score, plan.get("score")), prior or _prior(plan.get("prior")))
    full = {child: tuple(sorted(parents)) for child, parents in network.parents.items() if parents}
    edges = [(parent, child) for child, parents in full.items() for parent in parents]
    without = [(child, tuple(p for p in full[child] if p != parent)) for parent, child in edges]
    families = [*full.items(), *dict.fromkeys(without)]
    scores = {}
    if families:
        values = source.local_scores(families, threads_for(n_jobs), None, time_limit)
        scores = dict(zip(families, map(float, values), strict=True))
    found = {
        edge: (scores[edge[1], full[edge[1]]] - scores[less]) / table.n_rows
        for edge, less in zip(edges, without, strict=True)
    }
    return dict(sorted(found.items(), key=lambda item: (-item[1] if item[1] == item[1] else math.inf, item[0])))


def _chosen(score: str | Choice | None, planned: object) -> str | Choice:
    """The score that is asked for, or that of the plan; a network from elsewhere has none, and auto is taken."""
    if score is not None:
        return score
    if planned is None:
        return "auto"
    try:
        return choose_score(str(planned))
    except ChoiceError:
        raise ChoiceError(
            f"the network was learned with the score {planned!r}, which is not known here",
            way("use {}", "score", "auto"),
        ) from None


def _prior(planned: object) -> str | Choice:
    return "uniform" if planned is None else choose_prior(str(planned))


def as_learned(network: Network, data: Data) -> Dataset:
    """The columns of the network with its kinds, levels and cuts; rows with missing cells are left out as learn() does.

    A range of the data that goes beyond that of the network is taken as it is."""
    if isinstance(data, Dataset) and dict(data.kinds) == network.kinds:
        return data
    table = as_dataset(data, Reading(declared=network.accepts, only_named=True, ignore_absent=True))
    missing = [name for name in network.names if name not in table.kinds]
    if missing:
        raise DataError(f"column {missing[0]!r} is missing from the data; the network needs it: add the column")
    uncut = {name: own for name, own in network.cuts.items() if isinstance(table.kinds[name], Continuous)}
    table = table.cut(uncut) if uncut else table
    aligned = network._columns(table, network.names)
    columns = {name: aligned[name] for name in network.names}
    kinds = {name: drawn_kind(network.kinds[name], column) for name, column in columns.items()}
    return Dataset.from_columns(kinds, columns, standardise=table.standardise)
