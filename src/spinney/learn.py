"""All steps: data -> scores -> search -> network.

In:  a Dataset and the choices.
Out: Result; or a number, or a fitted Network for a graph that is given."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spinney.candidates import CandidateParents, listed_or_chosen, with_chosen
from spinney.catalog import SEARCHES, Search, choose_prior, choose_search
from spinney.choices import Choice, build_choice
from spinney.constraints import Constraints, allowed_by
from spinney.dataset import Data, Dataset, as_dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError
from spinney.fitted.model import LocalModel
from spinney.graph import DAG
from spinney.job import Job
from spinney.layout import counted, some_names
from spinney.limits import check_limits
from spinney.machine import threads_for
from spinney.network import Network
from spinney.parameters import fit_models
from spinney.parent_sets import ParentSets
from spinney.plan import Plan
from spinney.progress import Progress
from spinney.scores import build_source, check_family, resolved, why_resolved
from spinney.search import Found, automatic, check_options, exact, run, started
from spinney.search.found import Problem, memory_for
from spinney.step1 import scored_sets
from spinney.version import __version__

if TYPE_CHECKING:
    from spinney.scores.source import Source

STEP_1_SHARE = 0.6  # of the time limit: what remains is for the search
FIT_SHARE = 0.1  # of the time limit, where fitting a family takes as long as scoring it
FIT_PER_CELL = 30e-9  # seconds for a row of a table's family, and of the fingerprint
FIT_PER_COLUMN = 2e-4
AFTER_INTERRUPT = 1.0  # seconds that the search may take after Ctrl-C during Step 1

Parents = Mapping[str, Iterable[str]] | DAG | Network


@dataclass(frozen=True, repr=False)
class Result:
    """What learn() gives back."""

    network: Network
    found: Found
    plan: Plan
    seconds: dict[str, float]  # per step: candidates, where they were chosen, score, search, fit
    sets: ParentSets | None = None  # the scored parent sets, where the search used them
    notes: tuple[str, ...] = ()  # what was decided about the columns and rows of the data
    why: str = ""  # why auto took another search than it had chosen

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

    >>> result = sp.learn(frame, score="bdeu", max_parents=2)
    >>> result.network, result.found.optimal
    """
    why_score = why_resolved(data := as_dataset(data), score)
    job = _job(data, score, prior, _Limits(max_parents, constraints, candidates, time_limit, n_jobs, seed, progress))
    graph = _find(job, search, start, options, FIT_SHARE)
    began = time.perf_counter()
    assert job.source is not None
    plan = Plan(
        str(job.source.choice),
        str(choose_prior(prior)),
        str(graph.method),
        max_parents,
        constraints.as_dict() if constraints else None,
        {child: sorted(parents) for child, parents in job.named.items()} if job.named else None,
        seed,
        __version__,
        why_score,
        None if job.chosen is None else job.chosen.method,
    )
    found, models = _fit_found(job, graph)
    network = _network(data, models, found.score, plan.as_dict())
    seconds = {"score": graph.scoring, "search": found.seconds, "fit": time.perf_counter() - began}
    notes = (*data.notes, *job.source.notes, *job.source.after_fit(models))
    if job.chosen is not None:
        seconds = {"candidates": job.chosen.seconds, **seconds, "score": graph.scoring - job.chosen.seconds}
        notes += job.chosen.notes
    return Result(network, found, plan, seconds, graph.sets, notes, graph.why)


def _fit_found(job: Job, graph: _Graph) -> tuple[Found, Mapping[str, LocalModel]]:
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
    **options: Any,
) -> Found:
    """The graph alone: as learn(), without fitting parameters.

    >>> sp.find(data).parents
    """
    limits = _Limits(max_parents, constraints, candidates, time_limit, n_jobs, seed, progress)
    return _find(_job(as_dataset(data), score, prior, limits), search, start, options).found


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


def _job(data: Dataset, score: str | Choice, prior: str | Choice, limits: _Limits) -> Job:
    """The job: the score source is built once, here."""
    check_limits(limits.time_limit, limits.seed)
    deadline = Deadline(limits.time_limit)
    listed, method = listed_or_chosen(limits.candidates)
    allowed = allowed_by(limits.constraints, data.names, limits.max_parents, listed)
    threads = threads_for(limits.n_jobs)
    own = build_source(data, score, prior, deadline)
    job = Job(own.restrict(allowed), own, threads, deadline, limits.seed, limits.progress, listed)
    return with_chosen(job, method, limits.constraints, limits.max_parents)


@dataclass(frozen=True)
class _Graph:
    found: Found
    method: Choice
    sets: ParentSets | None
    scoring: float  # seconds
    why: str = ""  # why auto took another search than it had chosen


def _find(
    job: Job, search: str | Choice, start: Parents | None, options: Mapping[str, Any], fit_share: float = 0.0
) -> _Graph:
    check_options(options)
    assert job.source is not None
    own, deadline, sets, why = job.source, job.deadline, None, ""
    method = choose_search(search)
    left_open = method.name == "auto"
    if left_open:
        method = automatic.pick(job.allowed, own.family_cost, options)
    method = choose_search(method, **options)
    assert isinstance(method.entry, Search)
    first = started(start, job.allowed)
    reserve = _for_the_fit(job, fit_share)
    if method.entry.reads == "sets":
        if method.name == "dp":
            exact.check_size(len(job.allowed.names), job.threads, memory_for(method))
        prune = method.values.get("k", 1) == 1  # the second best network may hold a dominated set
        limit = deadline.left(0.5 if left_open else STEP_1_SHARE, reserve)
        sets = scored_sets(job, prune, time_limit=limit, keep=True)
        if left_open and sets.unscored and not sets.interrupted and _tabu_is_better(sets, options):
            why = _too_many(sets)
            method, sets = build_choice(SEARCHES["tabu"], {}), None
    scoring, left = deadline.passed(), deadline.left(1.0, reserve)
    if sets is not None and sets.interrupted:
        left = min(AFTER_INTERRUPT, left or AFTER_INTERRUPT)
    found = run(Problem(job, method, sets, first, left))
    return _Graph(_with_notes(found, own, sets), method, sets, scoring, why)


def _for_the_fit(job: Job, share: float) -> float:
    """Seconds to keep back for the fit. A table is a pass over the rows; a tree, once more what its family took to be
    scored, which is about one in as many as there are columns."""
    own, seconds = job.source, job.deadline.seconds
    if own is None or seconds is None or share == 0:
        return 0.0
    columns = len(own.names)
    need = FIT_PER_CELL * own.data.n_rows * columns / job.threads + FIT_PER_COLUMN * columns
    if own.fit_grows:
        need += seconds * (share + 1 / columns)
    return min(need, seconds / 2)


def _tabu_is_better(sets: ParentSets, options: Mapping[str, Any]) -> bool:
    """It has what the user asked for, and time for a look at all pairs of columns."""
    return sets.families is not None and (
        {option.name for option in SEARCHES["tabu"].options} >= set(options)
        and sets.families - sets.unscored >= len(sets.names) ** 2
    )


def _too_many(sets: ParentSets) -> str:
    assert sets.families is not None
    scored = sets.families - sets.unscored
    return f"scoring all {sets.families:,} parent sets needs more than half of the time limit ({scored:,} were scored)"


def _with_notes(found: Found, own: Source, sets: ParentSets | None) -> Found:
    left_out = found.left_out if sets is None else sets.left_out
    notes = []
    if left_out:
        gib = own.most_bytes(1) / 2**30
        notes.append(
            f"left out {counted(left_out, 'parent set')} that would need more than the {gib:,.1f} GiB that are free, "
            "or more steps than can be taken"
        )
    if own.uncut:
        notes.append(
            f"there was no time to cut {counted(len(own.uncut), 'column')} as parents: {some_names(own.uncut, 5)}"
        )
    return replace(found, notes=(*found.notes, *notes)) if notes else found


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
    return {"score": str(resolved(data, score)), "prior": str(choose_prior(prior)), "version": __version__}


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
