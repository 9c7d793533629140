"""All steps: data -> scores -> search -> network.

In:  a Dataset and the choices.
Out: Result; or a number, or a fitted Network for a graph that is given."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

from spinney.candidates import CandidateParents, listed_or_chosen, with_chosen
from spinney.catalog import choose_candidates, choose_prior
from spinney.choices import Choice
from spinney.cluster import Cluster, connected
from spinney.constraints import Constraints, allowed_by
from spinney.dataset import Data, Dataset, as_dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError
from spinney.fitted.model import LocalModel
from spinney.graph import DAG
from spinney.job import Job
from spinney.layout import some_names
from spinney.limits import check_limits
from spinney.machine import memory_limited, threads_for
from spinney.network import Network
from spinney.parameters import fit_models
from spinney.parent_sets import ParentSets
from spinney.progress import Progress
from spinney.record import Plan
from spinney.scores import build_source, check_family, resolved, why_resolved
from spinney.search import Found
from spinney.shared_scores import SharedScores
from spinney.step2 import Graph, Parents, search_job
from spinney.store import Store, StoreAt
from spinney.version import __version__

FIT_SHARE = 0.1  # of the time limit, where fitting a family takes as long as scoring it


@dataclass(frozen=True, repr=False)
class Result:
    """What learn() gives back."""

    network: Network
    found: Found
    plan: Plan
    seconds: dict[str, float]  # per step: candidates, where they were chosen, score, search, fit
    sets: ParentSets | None = None  # the scored parent sets, where the search used them
    notes: tuple[str, ...] = ()  # what was decided about the columns and rows of the data
    why: str = ""  # what auto took, and why
    data: Dataset | None = field(default=None, compare=False)  # what the network was learned from

    def report(
        self,
        path: str | PathLike[str],
        target: str | None = None,
        *,
        command: str | None = None,
        source: str | None = None,
    ) -> None:
        """Write one page of HTML that shows the network, explains it and answers questions; it needs no other file.

        target: the column that the page opens with.
        command, source: the line that made the network, and the file that it was learned from, to be shown.

        >>> result.report("report.html")
        """
        from spinney.report import write_report

        write_report(path, self.network, self.data, result=self, target=target, command=command, source=source)

    def _repr_html_(self) -> str:
        """For notebooks: the network, and what is known about its score."""
        return f"{self.network._repr_html_()}<p>{html.escape(repr(self))}</p>"

    def __repr__(self) -> str:
        return f"Result({self.network!r}, score {self.found.score:.4f}, {self.found.certainty})"


def learn(
    data: Data,
    score: str | Choice = "auto",
    prior: str | Choice = "uniform",
    search: str | Choice = "auto",
    max_parents: int | None = 3,
    constraints: Constraints | None = None,
    candidates: CandidateParents = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    progress: Progress = False,
    start: Parents | None = None,
    store: StoreAt = None,
    cluster: Cluster | None = None,
    memory_limit: float | None = None,
    **options: Any,
) -> Result:
    """Learn a network from data.

    score: the score of a family; see docs/scores.md.
    prior: the prior on parent sets; see docs/searches.md.
    search: the search method; its options are further keywords, as in search="tabu", restarts=10.
    max_parents: the most parents of a node; None is no limit.
    constraints: required and forbidden edges, tiers.
    candidates: per child the columns that may be its parents; children that are not named may have all. Or the method
        that chooses them from the data, "forest(k=5)" or "screen(k=20)"; see docs/candidates.md.
    time_limit: seconds for scoring, search and fit. At the limit, and at Ctrl-C, the best network so far is returned,
        and result.found.stopped says so.
    n_jobs: the number of threads; -1 uses all cores. The result does not depend on it.
    start: a graph that the search starts from.
    store: a folder that keeps the scores of Step 1 as they are made; a later run takes them from there.
    cluster: a dask.distributed Client, or the address of a scheduler, whose workers do Step 1. See docs/large.md.
    memory_limit: GiB of the process. A job that would take more is made smaller, which a note says, or refused.

    >>> result = sp.learn(frame, score="bdeu", max_parents=2)
    >>> result.network, result.found.optimal
    """
    data = as_dataset(data)
    memory_limit = memory_limit or None  # 0 is no limit, as in the option of exact searches
    check_limits(time_limit, seed, memory_limit)
    with memory_limited(memory_limit), connected(cluster) as client:
        limits = _Limits(
            max_parents, constraints, candidates, time_limit, n_jobs, seed, progress, store, client, memory_limit
        )
        job, limits, search, note = _fitting(data, score, prior, search, limits, options)
        if job.source is not None and not job.source.fits:
            raise ChoiceError(
                f"score {job.source.choice.name} is fitted from rows, and they are on several machines; use find()"
            )
        graph = search_job(job, search, start, options, FIT_SHARE)
    began = time.perf_counter()
    assert job.source is not None
    plan = Plan(
        str(job.source.choice),
        str(choose_prior(prior)),
        str(graph.method),
        limits.max_parents,
        constraints.as_dict() if constraints else None,
        {child: sorted(parents) for child, parents in job.named.items()} if job.named else None,
        seed,
        __version__,
        job.why_score,
        None if job.chosen is None else job.chosen.method,
    )
    found, models = _fit_found(job, graph)
    network = _network(data, models, found.score, plan.as_dict())
    seconds = {"score": graph.scoring, "search": found.seconds, "fit": time.perf_counter() - began}
    notes = (*data.notes, *job.source.notes, *job.source.after_fit(models), *([note] if note else []))
    if job.chosen is not None:
        seconds = {"candidates": job.chosen.seconds, **seconds, "score": graph.scoring - job.chosen.seconds}
        notes += job.chosen.notes
    return Result(network, found, plan, seconds, graph.sets, notes, graph.why, data)


def _fit_found(job: Job, graph: Graph) -> tuple[Found, Mapping[str, LocalModel]]:
    """The local models; where there was no time for a family, the graph is the one that was fitted, and says so."""
    found = graph.found
    if found.models is not None:
        return found, found.models
    assert job.source is not None
    local = found.local
    if local is None and graph.sets is not None:
        listed = {child: graph.sets.score_of(child, own) for child, own in found.parents.items()}
        local = {child: math.nan if score is None else score for child, score in listed.items()}
    fitted = fit_models(job.source, found.parents, local, job.allowed.required, job.threads, job.deadline)
    if not fitted.without:
        return found, fitted.models
    note = (
        f"there was no time to fit {some_names(fitted.without, 5)} with their parents: they stand without; raise the "
        f"time limit"
    )
    stopped = "interrupted" if fitted.interrupted else "time limit"
    parents = {child: fitted.models[child].parents for child in found.parents}
    bound = max(found.bound, fitted.score)
    return replace(
        found,
        parents=parents,
        score=fitted.score,
        bound=bound,
        stopped=stopped,
        notes=(*found.notes, note),
        cpdag=None,
    ), fitted.models


def find(
    data: Data,
    score: str | Choice = "auto",
    prior: str | Choice = "uniform",
    search: str | Choice = "auto",
    max_parents: int | None = 3,
    constraints: Constraints | None = None,
    candidates: CandidateParents = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    progress: Progress = False,
    start: Parents | None = None,
    store: StoreAt = None,
    cluster: Cluster | None = None,
    memory_limit: float | None = None,
    **options: Any,
) -> Found:
    """The graph alone: as learn(), without fitting parameters.

    >>> sp.find(data).parents
    """
    memory_limit = memory_limit or None  # 0 is no limit, as in the option of exact searches
    check_limits(time_limit, seed, memory_limit)
    with memory_limited(memory_limit), connected(cluster) as client:
        limits = _Limits(
            max_parents, constraints, candidates, time_limit, n_jobs, seed, progress, store, client, memory_limit
        )
        job, limits, search, note = _fitting(as_dataset(data), score, prior, search, limits, options)
        found = search_job(job, search, start, options).found
        return replace(found, notes=(*found.notes, note)) if note else found


@dataclass(frozen=True)
class _Limits:
    """What learn() and find() are told beside the data, the score and the search."""

    max_parents: int | None
    constraints: Constraints | None
    candidates: CandidateParents
    time_limit: float | None
    n_jobs: int
    seed: int
    progress: Progress
    store: StoreAt | SharedScores
    cluster: Any  # a connected Client
    memory_limit: float | None


def _fitting(
    data: Dataset,
    score: str | Choice,
    prior: str | Choice,
    search: str | Choice,
    limits: _Limits,
    options: Mapping[str, Any],
) -> tuple[Job, _Limits, str | Choice, str]:
    """The job: the score source is built once, here, and candidates are chosen once. Made smaller where it would not
    keep a limit of memory, with a note of what was changed."""
    deadline = Deadline(limits.time_limit)
    listed, method = listed_or_chosen(limits.candidates)
    threads = threads_for(limits.n_jobs)
    own = build_source(data, score, prior, deadline, threads, limits.progress)
    why_score = why_resolved(data, score, deadline)
    at = limits.store
    store = at if at is None or isinstance(at, SharedScores) else Store(at, make=True)

    def job_of(most: int | None) -> Job:
        allowed = own.restrict(allowed_by(limits.constraints, data.names, most, listed))
        return Job(
            allowed,
            own,
            threads,
            deadline,
            limits.seed,
            limits.progress,
            listed,
            why_score=why_score,
            store=store,
            cluster=limits.cluster,
        )

    job, note = job_of(limits.max_parents), ""
    if limits.memory_limit is not None:
        from spinney.plan import fitting

        changed, note = fitting(job, search, options, method, limits.time_limit, limits.memory_limit)
        if "candidates" in changed:  # of those that were listed, where some were
            method = choose_candidates(changed["candidates"])
        search = changed.get("search", search)
        limits = replace(limits, max_parents=changed.get("max_parents", limits.max_parents))
        job = job_of(limits.max_parents)
    return with_chosen(job, method, limits.constraints, limits.max_parents), limits, search, note


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
    return [float(value) for value in build_source(data, score, prior).local_scores(checked)]


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


fit_structure = fit  # the name that users of decision graphs look for


def fit_found(data: Dataset, found: Found, score: str | Choice, prior: str | Choice) -> Network:
    """The parameters of a graph that find() found with this score: those that it grew with, or as fit()."""
    return _of_found(data, found, score, prior, _plan(data, score, prior))


def _plan(data: Dataset, score: str | Choice, prior: str | Choice) -> dict[str, Any]:
    choice = resolved(data, score)
    plan = {"score": str(choice), "prior": str(choose_prior(prior)), "version": __version__}
    return {**plan, "why_score": choice.why} if choice.why else plan


def _of_found(data: Dataset, found: Found, score: str | Choice, prior: str | Choice, plan: dict[str, Any]) -> Network:
    if found.models is None:
        return _fitted(data, found.parents, score, prior, plan, found.local)
    return _network(data, found.models, found.score, plan)


def _fitted(
    data: Dataset,
    parents: Mapping[str, tuple[str, ...]],
    score: str | Choice,
    prior: str | Choice,
    plan: dict[str, Any],
    local: Mapping[str, float] | None = None,
) -> Network:
    fitted = fit_models(build_source(data, score, prior), parents, local)
    return _network(data, fitted.models, fitted.score, plan)


def _network(data: Dataset, models: Mapping[str, LocalModel], score: float, plan: dict[str, Any]) -> Network:
    facts: dict[str, Any] = {"fingerprint": data.fingerprint, "rows": data.n_rows}
    if data.rows_dropped:
        facts["rows_dropped"] = data.rows_dropped
    return Network(dict(data.kinds), models, plan=plan, score=score, data=facts, cuts=data.cuts)


def _graph(data: Dataset, parents: Any) -> dict[str, tuple[str, ...]]:
    given = parents.parents if hasattr(parents, "parents") else parents
    if not isinstance(given, Mapping):
        raise ChoiceError("parents is a dict from a column to its parents, a DAG or a Network")
    dag = DAG(data.names, dict(given))
    return {child: tuple(dag.parents[child]) for child in data.names}
