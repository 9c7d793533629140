"""What local searches share: where they ask for scores, and how the core's answer becomes a Found.

In:  a Problem; a search of the core with its arguments.
Out: what the core found, by numbers; Found, by names."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from spinney import _core
from spinney.errors import ChoiceError
from spinney.progress import reporting
from spinney.search.found import Found, Problem


def ask(problem: Problem, search: Callable[..., dict[str, Any]], args: Any) -> dict[str, Any]:
    """Run a search of the core over the parent sets, or, without any, over the source of the job."""
    with reporting(problem.progress, f"{problem.method.name} search") as report:
        if problem.sets is not None:
            return search(_core.list_scores(problem.sets.arrays), args, report)
        problem.source.check_search(problem.allowed)
        return problem.source.ask(search, args, report)


def as_found(problem: Problem, answer: Mapping[str, Any], began: float) -> Found:
    """The DAG that a search of the core found, with its score."""
    parents, score, stopped = problem.named(answer["parents"]), answer["score"], answer["stopped"]
    local = None
    if problem.sets is not None:
        parents, score = reached(problem, parents, stopped)
    else:
        local = dict(zip(problem.allowed.names, answer["local"], strict=True))
    bound = max(problem.bound(), score)
    return Found(
        parents,
        score,
        bound,
        str(problem.method),
        time.perf_counter() - began,
        tuple((seconds, value, bound) for seconds, value in answer["trace"]),
        stopped,
        local=local,
        left_out=answer["left_out"],
    )


def reached(
    problem: Problem, parents: dict[str, tuple[str, ...]], stopped: str
) -> tuple[dict[str, tuple[str, ...]], float]:
    """The graph with its score. A stop may come before listed sets, or what the search starts from, were reached: then
    the start, or the required edges alone, if they score more."""
    assert problem.sets is not None
    known = [parents, *([dict(problem.start or {}), dict(problem.allowed.required)] if stopped else [])]
    scored, refused = [], None
    for graph in known:
        if graph:
            try:
                scored.append((graph, problem.sets.total(graph)))
            except ChoiceError as error:
                refused = refused or error
    if not scored:
        assert refused is not None
        raise refused
    return max(scored, key=lambda one: one[1])
