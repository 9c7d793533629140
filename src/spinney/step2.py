"""Step 2: the search of a learning job, with Step 1 where the search reads scored sets.

In:  a Job, the search and its options, and a start.
Out: Graph: what was found, by which search, over which sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spinney.catalog import SEARCHES, Search, choose_search
from spinney.choices import Choice, build_choice
from spinney.graph import DAG
from spinney.job import Job
from spinney.layout import counted, some_names
from spinney.network import Network
from spinney.parent_sets import ParentSets
from spinney.search import Found, automatic, check_options, exact, run, started
from spinney.search.automatic import Ways
from spinney.search.found import Problem, memory_for
from spinney.step1 import scored_sets

LOCAL_SHARE = 0.3  # of the time limit: of each local search that is not the last step
QUICK_SHARE = 0.1  # of the time limit: of the search that only gives ilp a start
STEP_1_SHARE = 0.6  # of what is left of it: the rest is for the search
ROUNDED = 1e-12  # of a score: two sums of the same local scores differ by less
FIT_PER_CELL = 30e-9  # seconds for a row of a table's family, and of the fingerprint
FIT_PER_COLUMN = 2e-4
AFTER_INTERRUPT = 1.0  # seconds that the search may take after Ctrl-C during Step 1

Parents = Mapping[str, Iterable[str]] | DAG | Network
Start = Mapping[str, tuple[str, ...]] | None


@dataclass(frozen=True)
class Graph:
    found: Found
    method: Choice
    sets: ParentSets | None = None
    scoring: float = 0.0  # seconds
    why: str = ""  # what auto took, and why


def search_job(
    job: Job, search: str | Choice, start: Parents | None, options: Mapping[str, Any], fit_share: float = 0.0
) -> Graph:
    """`fit_share`: of the time limit, for the fit where fitting a family takes as long as scoring it."""
    check_options(options)
    assert job.source is not None
    own, method = job.source, choose_search(search)
    reserve = _for_the_fit(job, fit_share)
    if method.name == "auto":
        left = job.deadline.left(1.0, reserve)
        limit = math.inf if left is None else 1e9 * left * job.threads
        ways = automatic.from_data(job.allowed, own.family_cost, options, limit)
        graph = _by_auto(job, ways, started(start, job.allowed), reserve)
    else:
        method = choose_search(method, **options)
        assert isinstance(method.entry, Search)
        graph = _as_asked(job, method, started(start, job.allowed), reserve)
    return replace(graph, found=_with_notes(graph.found, job, graph.sets))


def _scored(job: Job, method: Choice, reserve: float) -> ParentSets:
    if method.name == "dp":
        exact.check_size(len(job.allowed.names), job.threads, memory_for(method))
    prune = method.values.get("k", 1) == 1  # the second best network may hold a dominated set
    return scored_sets(job, prune, time_limit=job.deadline.left(STEP_1_SHARE, reserve), keep=True)


def _searched(job: Job, method: Choice, sets: ParentSets | None, start: Start, reserve: float) -> Graph:
    scoring, left = job.deadline.passed(), job.deadline.left(1.0, reserve)
    if sets is not None and sets.interrupted:
        left = min(AFTER_INTERRUPT, left or AFTER_INTERRUPT)
    return Graph(run(Problem(job, method, sets, start, left)), method, sets, scoring)


def _as_asked(job: Job, method: Choice, start: Start, reserve: float) -> Graph:
    """A time limit may end ilp early: it then begins with what a quick search from data finds, as auto does. Where not
    all sets were scored in time, the rest of the time is for a search from there that asks as it goes."""
    assert isinstance(method.entry, Search)
    if method.entry.reads != "sets":
        return _searched(job, method, None, start, reserve)
    many = len(job.allowed.names) > automatic.FEW_VARIABLES
    if method.name not in ("exact", "ilp") or not many or start is not None or job.deadline.seconds is None:
        return _searched(job, method, _scored(job, method, reserve), start, reserve)
    boss, before = build_choice(SEARCHES["boss"], {"patience": 0}), job.deadline.passed()
    found = run(Problem(job, boss, None, None, job.deadline.left(QUICK_SHARE, reserve)))
    quick = Graph(found, boss, None, before)
    if found.stopped == "interrupted":
        return quick
    sets = _scored(job, method, reserve)
    graph = _searched(job, method, sets, found.parents, reserve)
    seconds = found.seconds + graph.found.seconds
    best = graph if graph.found.score >= found.score - ROUNDED * abs(found.score) else quick
    stopped = graph.found.stopped
    if sets.unscored and not sets.interrupted and stopped != "interrupted":
        more = _searched(job, boss, None, best.found.parents, reserve)
        seconds += more.found.seconds
        stopped = "interrupted" if more.found.stopped == "interrupted" else stopped
        if more.found.score > best.found.score + ROUNDED * abs(best.found.score):
            best = more
    return (
        best if best is graph else replace(_ended(best, stopped, seconds), why=_too_many(sets) if sets.unscored else "")
    )


def _by_auto(job: Job, ways: Ways, start: Start, reserve: float) -> Graph:
    """The best of the local searches; then, if Step 1 ends in time, what the exact search finds from there."""
    best, seconds, before = None, 0.0, job.deadline.passed()
    for method in ways.local:
        share = 1.0 if ways.exact is None and method is ways.local[-1] else LOCAL_SHARE
        found = run(Problem(job, method, None, start, job.deadline.left(share, reserve)))
        seconds += found.seconds
        best = _better(best, Graph(found, method, None, before, ways.why()))
        if found.stopped == "interrupted":
            return _ended(best, found.stopped, seconds)
    if ways.exact is None:
        assert best is not None
        return _ended(best, best.found.stopped, seconds)
    sets = _scored(job, ways.exact, reserve)
    if best is None:
        return replace(_searched(job, ways.exact, sets, start, reserve), why=ways.why())
    if sets.interrupted:
        return _ended(best, "interrupted", seconds)
    if sets.unscored:
        more = _searched(job, build_choice(SEARCHES["boss"], {}), None, best.found.parents, reserve)
        best = _better(best, replace(more, why=_too_many(sets)))
        return _ended(replace(best, why=_too_many(sets)), more.found.stopped, seconds + more.found.seconds)
    last = _searched(job, ways.exact, sets, best.found.parents, reserve)
    found = last.found
    gain = found.score - best.found.score
    if gain < -ROUNDED * abs(found.score):
        return replace(_ended(best, found.stopped, seconds + found.seconds), sets=sets)
    why = ways.why(gain if gain > ROUNDED * abs(found.score) else 0.0)
    found = replace(found, seconds=seconds + found.seconds)
    return replace(last, found=found, scoring=last.scoring - seconds, why=why)


def _better(best: Graph | None, other: Graph) -> Graph:
    return other if best is None or other.found.score > best.found.score else best


def _ended(graph: Graph, stopped: str, seconds: float) -> Graph:
    return replace(graph, found=replace(graph.found, stopped=stopped, seconds=seconds))


def _too_many(sets: ParentSets) -> str:
    assert sets.families is not None
    scored = sets.families - sets.unscored
    return f"there was no time to score all {sets.families:,} parent sets ({scored:,} were scored)"


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


def _with_notes(found: Found, job: Job, sets: ParentSets | None) -> Found:
    own = job.source
    assert own is not None
    left_out = found.left_out if sets is None else sets.left_out
    notes = [] if sets is None else [*sets.notes]
    if job.store is not None and not job.store.used:
        notes.append("the store was not used: it keeps scores of listed parent sets, and this search asks as it goes")
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
        over = found.over or "the parents that there was time to cut"
        found = replace(found, over=over, stopped=found.stopped or "time limit")
    return replace(found, notes=(*found.notes, *notes)) if notes else found
