"""Exact search by dynamic programming: the best DAG over the scored parent sets, proven.

In:  a Problem with parent sets.
Out: Found with bound == score; stopped early (Ctrl-C, time limit), the best DAG of a quick climb and the bound that
forgets about cycles."""

from __future__ import annotations

import dataclasses
import time

from spinney import _core
from spinney.catalog import SEARCHES
from spinney.choices import build_choice
from spinney.errors import LimitError, way
from spinney.progress import reporting
from spinney.search import greedy
from spinney.search.found import Found, NoNetwork, Problem, memory_for

DP_SHARE = 0.8  # of the time limit: past it there is a quick climb


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    assert problem.sets is not None
    check_size(len(problem.allowed.names), problem.threads, memory_for(problem.method))
    with reporting(problem.progress, "dynamic programming") as report:
        limit = DP_SHARE * problem.time_limit if problem.time_limit else 0.0
        found = _core.dp(problem.sets.arrays, problem.threads, report, limit)
    if found["stopped"]:
        plain = build_choice(SEARCHES["hc"], {"restarts": 0})  # quick: the user has waited long enough
        left = 1.0 if not problem.time_limit else max(1e-3, problem.time_limit - (time.perf_counter() - began))
        climb = greedy.run(dataclasses.replace(problem, method=plain, time_limit=min(1.0, left)))
        return dataclasses.replace(
            climb, method=str(problem.method), stopped=found["stopped"], seconds=time.perf_counter() - began
        )
    if not found["feasible"]:
        raise NoNetwork()
    parents = problem.named(found["parents"])
    score = problem.sets.total(parents)
    seconds = time.perf_counter() - began
    return Found(parents, score, score, str(problem.method), seconds, ((seconds, score, score),))


def check_size(variables: int, threads: int, memory: float) -> None:
    if variables > _core.most_dp_variables:
        raise LimitError(
            f"exact search by dp takes at most {_core.most_dp_variables} variables and there are {variables}",
            way("use {}", "search", "ilp"),
        )
    need = _core.dp_bytes(variables, threads)
    if need > 0.8 * memory:
        raise LimitError(
            f"exact search by dp over {variables} variables needs {need / 2**30:,.1f} GiB of memory and "
            f"{memory / 2**30:,.1f} GiB are free or allowed",
            way("use {}", "search", "ilp"),
        )
