"""Step 1: the local scores of all parent sets up to a size.

In:  data and a score; or a Job.
Out: ParentSets."""

from __future__ import annotations

from spinney.candidates import CandidateParents, listed_or_chosen, with_chosen
from spinney.choices import Choice
from spinney.constraints import Constraints, allowed_by
from spinney.dataset import Data, as_dataset
from spinney.deadline import Deadline
from spinney.job import Job
from spinney.limits import check_limits
from spinney.machine import threads_for
from spinney.parent_sets import ParentSets
from spinney.progress import Progress, reporting
from spinney.scores import build_source


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
) -> ParentSets:
    """Step 1: the local scores of all parent sets up to max_parents.

    candidates: as in learn(); seed is that of a method that draws rows.
    prune drops a set that is no better than one of its subsets (it is in no best network); bounds leaves out, unscored,
    sets for which that can be proven beforehand (table scores, and pcart for discrete children). Neither changes the
    best network. When the time is up, the sets that have been scored come back, with `unscored` saying how many have
    not: small sets come first, and every child has its smallest one. Ctrl-C raises KeyboardInterrupt."""
    data = as_dataset(data)
    check_limits(time_limit, seed)
    deadline = Deadline(time_limit)
    listed, method = listed_or_chosen(candidates)
    allowed = allowed_by(constraints, data.names, max_parents, listed)
    own = build_source(data, score, prior)
    job = Job(own.restrict(allowed), own, threads_for(n_jobs), deadline, seed, progress)
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
        found = job.source.parent_sets(
            job.allowed,
            prune=prune,
            bounds=bounds,
            threads=job.threads,
            report=report,
            time_limit=time_limit,
            keep=keep,
        )
    return ParentSets(
        job.source.data.names,
        found,
        families=found.families,
        scored=found.scored,
        pruned_for=dict(job.allowed.required) if prune else None,
        complete=not prune and not found.stopped,
        unscored=max(1, found.families - found.looked) if found.stopped else 0,
        left_out=found.left_out,
        interrupted=found.stopped == "interrupted",
        among="" if job.chosen is None else job.chosen.among,
    )
