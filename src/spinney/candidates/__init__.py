"""Candidate parents, chosen from the data.

In:  the name of a method with its options, "forest(k=5)", and a Job: the data, and who may be whose parent at all.
Out: Chosen: per child the columns that may be its parents from now on. Required ones always are among them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from spinney.catalog import Candidates, choose_candidates
from spinney.choices import Choice, loaded
from spinney.constraints import Constraints, allowed_by, listed_candidates
from spinney.job import Job
from spinney.layout import counted

SHARE = 0.3  # of the time limit: what remains is for Step 1, the search and the fit


@dataclass(frozen=True)
class Picked:
    """What a method returns: columns that may be parents, for every child."""

    lists: Mapping[str, Sequence[str]]
    unfinished: tuple[str, ...] = ()  # children that there was no time for: a quicker rule chose for them
    stopped: str = ""  # why: "time limit", "interrupted"
    instead: str = "the candidates of screen"  # what these children have


@dataclass(frozen=True)
class Chosen:
    """Candidates that a method chose."""

    lists: dict[str, tuple[str, ...]]  # sorted
    by: str  # the method, for people
    method: str  # and with all its options
    stopped: str
    notes: tuple[str, ...]  # one line on what was chosen; another on what there was no time for
    seconds: float

    @property
    def among(self) -> str:
        """What a bound is about."""
        return f"the candidate sets of {self.by}"


CandidateParents = Mapping[str, Iterable[str]] | str | Choice | None  # lists, or a method
Run = Callable[[Job, Choice, float | None], Picked]


def listed_or_chosen(given: CandidateParents) -> tuple[dict[str, tuple[str, ...]] | None, Choice | None]:
    """The lists that the user gave, or the method that is to make them."""
    if isinstance(given, (str, Choice)):
        return None, choose_candidates(given)
    return listed_candidates(given), None


def with_chosen(job: Job, method: Choice | None, constraints: Constraints | None, max_parents: int | None) -> Job:
    """The job with the candidates that the method chooses; without a method, as it is."""
    if method is None:
        return job
    assert job.source is not None
    own = _chosen(method, job)
    allowed = allowed_by(constraints, job.allowed.names, max_parents, own.lists)
    return replace(job, allowed=job.source.restrict(allowed), named=own.lists, chosen=own)


def _chosen(choice: Choice, job: Job) -> Chosen:
    """Run the method; it may take its share of the time that the job has."""
    began = time.perf_counter()
    assert isinstance(choice.entry, Candidates)
    run: Run = loaded(choice.entry.run)
    picked = run(job, choice, job.deadline.left(SHARE))
    allowed = job.allowed
    lists = {}
    for child in allowed.names:
        may = set(picked.lists[child]) & set(allowed.candidates[child])
        lists[child] = tuple(sorted(may | set(allowed.required[child])))
    sizes = sorted({len(own) for own in lists.values()})
    shown = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    by = _shown(choice)
    notes = [f"candidates: {by} chose {shown} of {len(allowed.names) - 1:,} columns for each child"]
    if picked.unfinished:
        when = "before the interrupt" if picked.stopped == "interrupted" else "within the time limit"
        notes.append(
            f"{choice.name} was not finished {when} for {counted(len(picked.unfinished), 'column')}, which have "
            f"{picked.instead}"
        )
    return Chosen(lists, by, str(choice), picked.stopped, tuple(notes), time.perf_counter() - began)


def _shown(choice: Choice) -> str:
    """The method with its k, and with the options that are not the default."""
    usual = {option.name: option.default for option in choice.entry.options}
    return str(Choice(choice.entry, {n: v for n, v in choice.values.items() if n == "k" or v != usual[n]}))
