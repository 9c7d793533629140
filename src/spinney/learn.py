"""The walk, one line a room: data -> scores -> search -> network.

In:  a Dataset and the choices.
Out: Result; or a number, or a fitted Network for a graph that is given."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spinney.catalog import SEARCHES, Choice, Search, choose_prior, choose_search, made
from spinney.constraints import Constraints, allowed_by, listed_candidates
from spinney.dataset import Data, Dataset, as_dataset
from spinney.errors import ChoiceError, LimitError
from spinney.fitted.model import LocalModel
from spinney.graph import DAG
from spinney.machine import check_limits, threads_for
from spinney.network import Network
from spinney.parent_sets import ParentSets, score_parent_sets
from spinney.plan import Plan
from spinney.progress import Progress
from spinney.scores import check_family, resolved, source, why_resolved
from spinney.search import Found, automatic, check_options, exact, run, started
from spinney.search.found import Problem, memory_for
from spinney.version import __version__

Parents = Mapping[str, Iterable[str]] | DAG | Network


@dataclass(frozen=True, repr=False)
class Result:
    """What learn() gives back."""

    network: Network
    found: Found
    plan: Plan
    seconds: dict[str, float]  # per step: score, search, fit
    sets: ParentSets | None = None  # the scored parent sets, where the search used them
    notes: tuple[str, ...] = ()  # what was decided about the columns and rows of the data

    def __repr__(self) -> str:
        return f"Result({self.network!r}, score {self.found.score:.4f}, {self.found.certainty})"


def learn(
    data: Data,
    score: str | Choice = "auto",
    prior: str | Choice = "uniform",
    search: str | Choice = "auto",
    max_parents: int | None = 3,
    constraints: Constraints | None = None,
    candidates: Mapping[str, Iterable[str]] | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    progress: Progress = False,
    start: Parents | None = None,
    **options: Any,
) -> Result:
    """Learn a network from data.

    score: the score of a family; see docs/scores.md.
    prior: the prior on parent sets; see docs/searches.md.
    search: the search method; its options are further keywords, as in search="tabu", restarts=10.
    max_parents: the most parents of a node; None is no limit.
    constraints: required and forbidden edges, tiers.
    candidates: per child the columns that may be its parents; children that are not named may have all.
    time_limit: seconds for scoring, search and fit. At the limit, and at Ctrl-C, the best network so far is returned,
        and result.found.stopped says so.
    n_jobs: the number of threads; -1 uses all cores. The result does not depend on it.
    start: a graph that the search starts from.

    >>> result = sp.learn(frame, score="bdeu", max_parents=2)
    >>> result.network, result.found.optimal
    """
    data = as_dataset(data)
    candidates = listed_candidates(candidates)
    why_score, score = why_resolved(data, score), resolved(data, score)
    graph = _find(
        data,
        score,
        prior,
        search,
        max_parents,
        constraints,
        candidates,
        time_limit,
        n_jobs,
        seed,
        progress,
        start,
        options,
    )
    began = time.perf_counter()
    plan = Plan(
        str(score),
        str(choose_prior(prior)),
        str(graph.method),
        max_parents,
        constraints.as_dict() if constraints else None,
        {child: sorted(parents) for child, parents in candidates.items()} if candidates else None,
        seed,
        __version__,
        why_score,
    )
    network = _of_found(data, graph.found, score, prior, plan.as_dict())
    seconds = {"score": graph.scoring, "search": graph.found.seconds, "fit": time.perf_counter() - began}
    return Result(network, graph.found, plan, seconds, graph.sets, (*data.notes, *graph.notes))


def find(
    data: Data,
    score: str | Choice = "auto",
    prior: str | Choice = "uniform",
    search: str | Choice = "auto",
    max_parents: int | None = 3,
    constraints: Constraints | None = None,
    candidates: Mapping[str, Iterable[str]] | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    progress: Progress = False,
    start: Parents | None = None,
    **options: Any,
) -> Found:
    """The graph alone: as learn(), without fitting parameters.

    >>> sp.find(data).parents
    """
    candidates = listed_candidates(candidates)
    return _find(
        as_dataset(data),
        score,
        prior,
        search,
        max_parents,
        constraints,
        candidates,
        time_limit,
        n_jobs,
        seed,
        progress,
        start,
        options,
    ).found


@dataclass(frozen=True)
class _Graph:
    found: Found
    method: Choice
    sets: ParentSets | None
    scoring: float  # seconds
    notes: tuple[str, ...] = ()  # of the score, about columns


def _find(
    data: Dataset,
    score: str | Choice,
    prior: str | Choice,
    search: str | Choice,
    max_parents: int | None,
    constraints: Constraints | None,
    candidates: Mapping[str, Iterable[str]] | None,
    time_limit: float | None,
    n_jobs: int,
    seed: int,
    progress: Progress,
    start: Parents | None,
    options: Mapping[str, Any],
) -> _Graph:
    check_limits(time_limit, seed)
    check_options(options)
    began = time.perf_counter()
    allowed = allowed_by(constraints, data.names, max_parents, candidates)
    room, sets = source(data, score, prior), None
    method = choose_search(search)
    left_open = method.name == "auto"
    if left_open:
        method = automatic.pick(allowed, room.family_cost, options)
    method = choose_search(method, **options)
    assert isinstance(method.entry, Search)
    threads, first = threads_for(n_jobs), started(start, allowed)
    if method.entry.needs_sets:
        if method.entry.room == "exact":
            exact.check_size(len(data.names), threads, memory_for(method))
        try:
            sets = score_parent_sets(
                data,
                score,
                prior,
                max_parents,
                candidates,
                constraints,
                prune=method.values.get("k", 1) == 1,  # the second best network may hold a dominated set
                n_jobs=n_jobs,
                progress=progress,
                time_limit=time_limit / 2 if left_open and time_limit is not None else time_limit,
            )
        except LimitError:  # a method that was left open may still be another, if that has what the user asked for
            if not left_open or not {option.name for option in SEARCHES["tabu"].options} >= set(options):
                raise
            method = made(SEARCHES["tabu"], {})
    scoring = time.perf_counter() - began
    left = None if time_limit is None else max(1e-3, time_limit - scoring)
    found = run(
        Problem(
            allowed,
            method,
            sets=sets,
            source=room if sets is None else None,
            start=first,
            time_limit=left,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    )
    return _Graph(found, method, sets, scoring, room.notes)


def local_score(
    data: Data, child: str, parents: Iterable[str], score: str | Choice = "auto", prior: str | Choice = "uniform"
) -> float:
    """The score of one family: natural log, larger is better.

    >>> sp.local_score(data, "heart", ["smoker", "pressure"])
    """
    return local_scores(data, [(child, parents)], score, prior)[0]


def local_scores(
    data: Data,
    families: Iterable[tuple[str, Iterable[str]]],
    score: str | Choice = "auto",
    prior: str | Choice = "uniform",
) -> list[float]:
    """The scores of many families (child, parents), in one call of the core.

    >>> sp.local_scores(data, [("heart", ["smoker"]), ("heart", [])])
    """
    data = as_dataset(data)
    checked = [(child, check_family(data, child, parents)) for child, parents in families]
    if not checked:
        return []
    return [float(value) for value in source(data, score, prior).local_scores(checked)]


def score(data: Data, parents: Parents, score: str | Choice = "auto", prior: str | Choice = "uniform") -> float:
    """The score of a whole network: the sum over its families.

    >>> sp.score(data, {"heart": ["smoker"], "pain": ["heart"]})
    """
    data = as_dataset(data)
    graph = _graph(data, parents)
    return math.fsum(local_scores(data, graph.items(), score, prior))


def fit(data: Data, parents: Parents, score: str | Choice = "auto", prior: str | Choice = "uniform") -> Network:
    """The parameters for a given graph: posterior means where the score is Bayesian, else relative frequencies.

    >>> sp.fit(data, {"heart": ["smoker"], "pain": ["heart"]}).log_prob(data)
    """
    data = as_dataset(data)
    return _fitted(data, _graph(data, parents), score, prior, _plan(data, score, prior))


fit_structure = fit  # with local structure: the best tree or graph in every node of a given DAG


def fit_found(data: Dataset, found: Found, score: str | Choice, prior: str | Choice) -> Network:
    """The parameters of a graph that find() found with this score: those that it grew with, or as fit()."""
    return _of_found(data, found, score, prior, _plan(data, score, prior))


def _plan(data: Dataset, score: str | Choice, prior: str | Choice) -> dict[str, Any]:
    return {"score": str(resolved(data, score)), "prior": str(choose_prior(prior)), "version": __version__}


def _of_found(data: Dataset, found: Found, score: str | Choice, prior: str | Choice, plan: dict[str, Any]) -> Network:
    if found.models is None:
        return _fitted(data, found.parents, score, prior, plan)
    return _network(data, found.models, found.score, plan)


def _fitted(
    data: Dataset,
    parents: Mapping[str, tuple[str, ...]],
    score: str | Choice,
    prior: str | Choice,
    plan: dict[str, Any],
) -> Network:
    room = source(data, score, prior)
    families = [(child, tuple(sorted(parents[child]))) for child in data.names]
    values = room.local_scores(families)
    models = {child: room.fit(child, own, float(value)) for (child, own), value in zip(families, values, strict=True)}
    return _network(data, models, math.fsum(values), plan)


def _network(data: Dataset, models: Mapping[str, LocalModel], score: float, plan: dict[str, Any]) -> Network:
    facts = {"fingerprint": data.fingerprint, "rows": data.n_rows}
    return Network(dict(data.kinds), models, plan=plan, score=score, data=facts, cuts=data.cuts)


def _graph(data: Dataset, parents: Any) -> dict[str, tuple[str, ...]]:
    given = parents.parents if hasattr(parents, "parents") else parents
    if not isinstance(given, Mapping):
        raise ChoiceError("parents is a dict from a column to its parents, a DAG or a Network")
    dag = DAG(data.names, dict(given))
    return {child: tuple(dag.parents[child]) for child in data.names}
