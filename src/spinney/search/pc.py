"""PC and conservative PC: tests of independence decide the edges and their directions.

In:  a Problem with a source, whose data is tested; the test and its level.
Out: Found, an equivalence class, with what parts the pairs that are not joined. The rules are in core/search_pc.hpp.
Its score is that of the member whose parameters are fitted, under the score of the problem. Ctrl-C and the time limit
keep the edges that no test has refuted so far.

The level is 0.01 unless told. On simulated mixed tables of 100 columns and 200 or 1,000 rows (cpc with cg, 20 tables)
levels 0.001, 0.01 and 0.05 have mean distances of 111, 109 and 107 to the true class, and 2, 4 and 6 in a hundred of
the edges that they join are wrong; 0.05 tests far more sets, and with more columns joins more of them by chance."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from spinney import _core
from spinney.dataset import Dataset
from spinney.errors import ChoiceError, way
from spinney.graph import DAG
from spinney.independence import IndependenceTests, test_of
from spinney.layout import counted
from spinney.limits import LARGEST
from spinney.progress import reporting
from spinney.search.found import Found, Problem, Separation


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    method, allowed, source = problem.method, problem.allowed, problem.source
    if problem.start is not None:
        raise ChoiceError(
            f"search {method.name} starts from all pairs and does not use a start", way("leave out {}", "start")
        )
    if source.data.n_rows == 0:
        raise ChoiceError(
            f"the table has no rows, and search {method.name} tests rows", way("use {}", "search", "tabu")
        )
    test, most_bytes = method["test"], 0.0
    limits: AbstractContextManager[None] = nullcontext()
    if callable(test):
        tests = _core.called_tests(_asked(test, source.data), len(source.names))
    else:
        own = IndependenceTests(source.data, test_of(source.choice) if test == "auto" else test)
        tests, limits, most_bytes = own.for_core(), own.source.limits(), own.source.most_bytes(problem.threads)
    most = LARGEST if method["max_conditioning"] == "all" else min(method["max_conditioning"], LARGEST)
    with reporting(problem.progress, f"{method.name} search") as report, limits:
        found = _core.pc(
            tests,
            allowed.for_core,
            method["alpha"],
            most,
            method.name == "cpc",
            problem.threads,
            report,
            problem.time_limit or 0.0,
            most_bytes,
        )
    parents, names = problem.named(found["parents"]), allowed.names
    local = dict(zip(names, map(float, source.local_scores(list(parents.items()), problem.threads)), strict=True))
    score = math.fsum(local.values())
    member = DAG(names, parents)
    return Found(
        parents,
        score,
        math.inf,
        str(method),
        time.perf_counter() - began,
        stopped=found["stopped"],
        notes=_notes(found),
        local=local,
        left_out=found["left_out"],
        cpdag=member.cpdag().with_arrows(allowed.one_way(member.edges)),
        separations=tuple(
            Separation(names[x], names[y], tuple(names[v] for v in given), p) for x, y, given, p in found["separations"]
        ),
    )


def _asked(test: Callable[..., Any], data: Dataset) -> Callable[[int, int, tuple[int, ...]], float]:
    names = data.order

    def p_value(x: int, y: int, given: tuple[int, ...]) -> float:
        asked = names[x], names[y], tuple(names[v] for v in given)
        found = test(data, *asked)
        if not hasattr(found, "__float__") or not 0 <= float(found) <= 1:
            raise ChoiceError(
                f"the test of {asked[0]!r} and {asked[1]!r} given {list(asked[2])} returned {found!r}; a p-value is a "
                f"number from 0 to 1"
            )
        return float(found)

    return p_value


def _notes(found: dict[str, Any]) -> tuple[str, ...]:
    """What was decided where tests do not agree, and what was not done."""
    notes = []
    if found["untested"]:
        notes.append(f"there was no time to test {counted(found['untested'], 'pair')} of columns; they are not joined")
    if found["overruled"]:
        notes.append(
            f"{counted(found['overruled'], 'collider')} that the tests found would contradict stronger ones, or the "
            f"constraints, and {'is' if found['overruled'] == 1 else 'are'} not directed"
        )
    if found["further"]:
        notes.append(
            f"no network has all and only the colliders that the tests found: this one has {found['further']:,} more"
        )
    if found["ambiguous"]:
        notes.append(f"the tests do not agree on {counted(found['ambiguous'], 'triple')}; taken as no colliders")
    if found["dropped"]:
        notes.append(
            f"left out {counted(found['dropped'], 'edge')} that the tests found, weakest first: the constraints or "
            f"max_parents do not allow all of them"
        )
    return tuple(notes)
