"""Step 1: the local scores of all parent sets up to a size.

In:  data and a score; or a Job.
Out: ParentSets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

from spinney import _core
from spinney.candidates import CandidateParents, listed_or_chosen, with_chosen
from spinney.choices import Choice
from spinney.cluster import Cluster, Outcome, connected, score_blocks
from spinney.constraints import Constraints, allowed_by
from spinney.dataset import Data, as_dataset
from spinney.deadline import Deadline
from spinney.job import Job
from spinney.limits import check_limits
from spinney.machine import threads_for
from spinney.parent_sets import ParentSets
from spinney.progress import Progress, Report, reporting
from spinney.scores import build_source, resolved
from spinney.scores.source import Portion
from spinney.store import Session, Store, StoreAt
from spinney.store_files import Families


def score_parent_sets(
    data: Data,
    score: str | Choice = "auto",
    prior: str | Choice = "uniform",
    max_parents: int | None = 3,
    candidates: CandidateParents = None,
    constraints: Constraints | None = None,
    prune: bool = True,
    bounds: bool = True,
    n_jobs: int = -1,
    progress: Progress = False,
    time_limit: float | None = None,
    seed: int = 0,
    store: StoreAt = None,
    cluster: Cluster | None = None,
) -> ParentSets:
    """Step 1: the local scores of all parent sets up to max_parents.

    candidates: as in learn(); seed is that of a method that draws rows.
    store: a folder that keeps the scores as they are made; what it has is not scored again. See docs/large.md.
    cluster: a dask.distributed Client, or the address of a scheduler, whose workers score the sets.
    prune drops a set that is no better than one of its subsets (it is in no best network); bounds leaves out, unscored,
    sets for which that can be proven beforehand (table scores, and pcart for discrete children). Neither changes the
    best network. When the time is up, the sets that have been scored come back, with `unscored` saying how many have
    not: small sets come first, and every child has its smallest one. Ctrl-C raises KeyboardInterrupt."""
    data = as_dataset(data)
    check_limits(time_limit, seed)
    deadline = Deadline(time_limit)
    listed, method = listed_or_chosen(candidates)
    allowed = allowed_by(constraints, data.names, max_parents, listed)
    threads = threads_for(n_jobs)
    own = build_source(data, resolved(data, score, deadline, threads, progress), prior)
    kept = None if store is None else Store(store, make=True)
    with connected(cluster) as client:
        job = Job(own.restrict(allowed), own, threads, deadline, seed, progress, store=kept, cluster=client)
        job = with_chosen(job, method, constraints, max_parents)
        sets = scored_sets(job, prune, bounds, deadline.left())
    if sets.interrupted or (job.chosen is not None and job.chosen.stopped == "interrupted"):
        raise KeyboardInterrupt
    return sets


def scored_sets(
    job: Job, prune: bool = True, bounds: bool = True, time_limit: float | None = None, keep: bool = False
) -> ParentSets:
    """`keep`: after Ctrl-C, hand out what had been scored; else there is nothing in it."""
    assert job.source is not None
    with reporting(job.progress, "scoring parent sets") as report:
        found, elsewhere = _scored(job, prune, bounds, time_limit, keep, report)
    stopped = elsewhere.stopped or found.stopped
    if elsewhere.stopped == "interrupted" and not keep:
        raise KeyboardInterrupt
    unscored = found.families - (found.known if elsewhere.stopped else found.looked)
    return ParentSets(
        job.source.data.names,
        found,
        families=found.families,
        scored=found.scored + elsewhere.scored,
        pruned_for=dict(job.allowed.required) if prune else None,
        complete=not prune and not stopped,
        unscored=max(1, unscored) if stopped else 0,
        left_out=found.left_out,
        interrupted=stopped == "interrupted",
        among="" if job.chosen is None else job.chosen.among,
        known=max(0, found.known - elsewhere.scored),
        notes=[] if job.store is None else job.store.damages,
    )


def _scored(
    job: Job, prune: bool, bounds: bool, time_limit: float | None, keep: bool, report: Report | None
) -> tuple[_core.ScoredSets, Outcome]:
    """The sets, and what the workers of a cluster did for them."""
    source, store = job.source, job.store
    assert source is not None
    run = partial(source.parent_sets, job.allowed, prune=prune, bounds=bounds, threads=job.threads)
    if store is None and job.cluster is None and source.here:
        return run(report=report, time_limit=time_limit, keep=keep), Outcome()
    with nullcontext() if store is None else store.session(source, job.allowed, job.threads) as session:
        known, log = (None, None) if session is None else (session.known, session.log)
        if session is not None:
            report = session.reporting(report)
        if job.cluster is None and source.here:
            return run(report=report, time_limit=time_limit, keep=keep, portion=Portion(known, log)), Outcome()
        source.check_sets(job.allowed, prune)
        known = known or _core.KnownScores(job.allowed.for_core)
        deadline = Deadline(time_limit)
        take: Callable[[Families], None] = session.take if isinstance(session, Session) else (lambda families: None)
        if not source.here:
            from spinney.scores.elsewhere import CountsElsewhere

            assert isinstance(source, CountsElsewhere)
            elsewhere = source.score_blocks(job.allowed, known, take, time_limit, report)
        else:
            elsewhere = score_blocks(
                job.cluster,
                job,
                known,
                take,
                prune=prune,
                bounds=bounds,
                time_limit=time_limit,
                report=report,
            )
        if elsewhere.stopped:
            return run(keep=True, portion=Portion(known, log, only_known=True)), elsewhere
        # All that is left is to put them together; what a worker had no memory for is tried here.
        return run(report=report, time_limit=deadline.left(), keep=keep, portion=Portion(known, log)), elsewhere
