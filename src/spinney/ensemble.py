"""Predictions averaged over networks.

In:  fitted networks with weights; or a Posterior, or a Found with the k best networks, and the data to fit them to.
Out: Ensemble: log-probabilities of rows under the mixture, and predictions of one column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from spinney.choices import Choice
from spinney.dataset import Data, as_dataset
from spinney.errors import ChoiceError, way
from spinney.fitted.model import LocalModel
from spinney.graph import DAG
from spinney.layout import counted
from spinney.network import Network
from spinney.posterior import Posterior
from spinney.scores import build_source
from spinney.search.found import Found

Floats = NDArray[np.float64]


class Ensemble:
    """Networks over the same columns, each with a weight; the weights sum to 1."""

    def __init__(self, networks: Iterable[Network], weights: Iterable[float] | None = None) -> None:
        self.networks = tuple(networks)
        if not self.networks or not all(isinstance(one, Network) for one in self.networks):
            raise ChoiceError("an ensemble holds one fitted sp.Network or more")
        first = self.networks[0].kinds
        for one in self.networks:
            if one.kinds != first:
                raise ChoiceError("the networks of an ensemble have other columns or kinds; fit all to the same table")
        given = [1.0] * len(self.networks) if weights is None else list(weights)
        if len(given) != len(self.networks) or not all(isinstance(w, Real) and 0 <= w < math.inf for w in given):
            raise ChoiceError(f"weights are {len(self.networks)} numbers of at least 0, one per network")
        total = math.fsum(given)
        if total <= 0:
            raise ChoiceError("the weights of an ensemble are all 0; give one of them at least a number above 0")
        self.weights = tuple(w / total for w in given)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.networks[0].names

    def log_prob(self, data: Data) -> Floats:
        """Per row the log of the weighted mean of its probabilities."""
        with np.errstate(divide="ignore"):
            logs = np.array([one.log_prob(data) for one in self.networks]) + np.log(self.weights)[:, None]
        mixed: Floats = np.logaddexp.reduce(logs, axis=0)
        return mixed

    def predict_proba(self, data: Data, target: str) -> Floats:
        """P(target | all other columns): the weighted mean over the networks, one column per level."""
        return self._mean([one.predict_proba(data, target) for one in self.networks])

    def predict(self, data: Data, target: str) -> list[str] | Floats:
        """The most probable level per row; of a continuous target the weighted mean of the predictions."""
        if self.networks[0].kinds[target].discrete if target in self.names else True:
            levels = self.networks[0].levels(target)
            return [levels[code] for code in self.predict_proba(data, target).argmax(axis=1)]
        return self._mean([np.asarray(one.predict(data, target), dtype=np.float64) for one in self.networks])

    def _mean(self, each: Sequence[Floats]) -> Floats:
        total: Floats = np.tensordot(self.weights, np.array(each), 1)
        return total

    def __repr__(self) -> str:
        edges = sum(w * len(one.edges) for w, one in zip(self.weights, self.networks, strict=True))
        return f"Ensemble({counted(len(self.networks), 'network')}, {edges:.1f} edges on average)"


def average(
    networks: Iterable[Network] | Posterior | Found,
    data: Data | None = None,
    score: str | Choice = "auto",
    weights: Iterable[float] | None = None,
) -> Ensemble:
    """Networks averaged, for predictions that do not hang on one graph.

    networks: fitted networks, as those of bootstrap(); a Posterior, whose graphs are fitted to the data; or a Found,
        whose k best networks are fitted and weigh as e^score (of search="dp" or "ilp" with k above 1).
    score: whose local models fill the nodes of a Posterior or a Found.

    >>> sp.average(sp.posterior(data, method="mcmc", samples=50), data).log_prob(data)
    """
    if isinstance(networks, Posterior):
        if not networks.networks:
            raise ChoiceError("this posterior is a sum and holds no graphs; ask for one by mcmc, which draws some")
        graphs: list[Mapping[str, tuple[str, ...]]] = list(networks.networks)
    elif isinstance(networks, Found):
        graphs = [networks.parents, *(other.parents for other in networks.alternatives)]
        best = networks.score
        weights = [1.0, *(math.exp(o.score - best) for o in networks.alternatives)] if weights is None else weights
    else:
        return Ensemble(networks, weights)
    if data is None:
        raise ChoiceError("graphs must be fitted before they are averaged", way("give the rows as {}", "data"))
    return Ensemble(_fitted(graphs, data, score), weights)


def _fitted(graphs: Sequence[Mapping[str, tuple[str, ...]]], data: Data, score: str | Choice) -> list[Network]:
    """Every family is fitted once, in however many graphs it stands."""
    table = as_dataset(data)
    source = build_source(table, score)
    named = [
        {child: tuple(sorted(own)) for child, own in DAG(table.names, dict(graph)).parents.items()} for graph in graphs
    ]
    families = list(dict.fromkeys(family for graph in named for family in graph.items()))
    scores = source.local_scores(families)
    known: dict[tuple[str, tuple[str, ...]], LocalModel] = {
        family: source.fit(*family, float(value)) for family, value in zip(families, scores, strict=True)
    }
    networks = []
    for graph in named:
        models = {child: known[child, parents] for child, parents in graph.items()}
        total = math.fsum(model.score or 0.0 for model in models.values())
        networks.append(Network(dict(table.kinds), models, score=total, cuts=table.cuts))
    return networks
