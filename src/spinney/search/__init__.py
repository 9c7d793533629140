"""Searches: from local scores to a network.

In:  ParentSets and Constraints; no data, no kinds.
Out: Found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from spinney.catalog import Search, choose_search
from spinney.choices import Choice, loaded
from spinney.constraints import Allowed, Constraints, allowed_by
from spinney.deadline import Deadline
from spinney.errors import ChoiceError
from spinney.graph import DAG
from spinney.job import Job
from spinney.limits import check_limits
from spinney.machine import threads_for
from spinney.parent_sets import ParentSets
from spinney.progress import Progress
from spinney.search import alternatives, automatic
from spinney.search.alternatives import Solve
from spinney.search.found import Found, Problem

__all__ = ["Found", "check_options", "run", "search", "started"]

_OF_CONSTRAINTS = ("required", "forbidden", "tiers")


def search(
    sets: ParentSets,
    method: str | Choice = "auto",
    constraints: Constraints | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    progress: Progress = False,
    start: Mapping[str, Iterable[str]] | DAG | None = None,
    **options: Any,
) -> Found:
    """Step 2: the best DAG over these scored parent sets that the method finds. Options of the method are keywords."""
    if not isinstance(sets, ParentSets):
        raise ChoiceError(
            f"search takes scored parent sets, not a {type(sets).__name__}; make them with sp.score_parent_sets(data)"
        )
    check_limits(time_limit, seed)
    check_options(options)
    allowed = allowed_by(constraints, sets.names)
    choice = choose_search(method)
    if choice.name == "auto":
        choice = automatic.over_sets(allowed, options)
    choice = choose_search(choice, **options)
    assert isinstance(choice.entry, Search)
    if choice.entry.reads in ("data", "tests"):
        raise ChoiceError(
            f"search {choice.name} needs the data, not scored parent sets; use sp.learn(data, search=...)"
        )
    if constraints is not None:
        sets = sets.within(allowed)
    job = Job(allowed, None, threads_for(n_jobs), Deadline(time_limit), seed, progress)
    return run(Problem(job, choice, sets, started(start, allowed), time_limit))


def check_options(options: Iterable[str]) -> None:
    """Refuse keywords that belong to Constraints, with the place where they go."""
    for name in options:
        if name in _OF_CONSTRAINTS:
            raise ChoiceError(f"{name!r} is no option of a search; put it into sp.Constraints({name}=...)")


def run(problem: Problem) -> Found:
    assert isinstance(problem.method.entry, Search)
    solve: Solve = loaded(problem.method.entry.run)
    k = problem.method.values.get("k", 1)
    found = solve(problem) if k == 1 else alternatives.best(problem, k, solve)
    sets, chosen = problem.sets, problem.job.chosen
    early = "" if chosen is None else chosen.stopped
    if sets is None:
        over = "" if chosen is None else chosen.among
    else:
        over = sets.over
        early = "interrupted" if sets.interrupted else "time limit" if sets.unscored else early
    return replace(found, over=over, stopped=found.stopped or early) if over else found


def started(start: Any, allowed: Allowed) -> dict[str, tuple[str, ...]] | None:
    """The DAG to start from, checked against the constraints."""
    if start is None:
        return None
    given = start.parents if hasattr(start, "parents") else start
    if not isinstance(given, Mapping) or not all(isinstance(own, Iterable) for own in given.values()):
        raise ChoiceError("start is a DAG, a Network, or a dict from a column to its parents")
    dag = DAG(allowed.names, dict(given))
    for child in allowed.names:
        if not allowed.permits(child, dag.parents[child]):
            raise ChoiceError(
                f"the start gives {child!r} the parents {sorted(dag.parents[child])}, which the constraints or "
                f"max_parents do not allow; change one of the two"
            )
    return {child: tuple(sorted(dag.parents[child])) for child in allowed.names}
