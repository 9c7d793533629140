"""Random forests that rank the parents of each child.

In:  a Job, whose data has columns of any kinds.
Out: per child the k columns that matter most in a forest that predicts it.

Sharma and van Beek (2021), Algorithm 2, with a screen before: a forest sees the columns that are most associated with
the child, not all. A column matters by what its splits explain of rows that the tree was not grown on (Li, Wang, Basu,
Kumbier and Yu 2019): like permutation importance it is fair to columns of many levels, and takes less time.

The core grows the forests of all children in one call (core/forest.hpp). It reads codes: continuous columns come as
intervals of equally many rows where they are parents, and as normal scores where they are the child."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from spinney import _core
from spinney.candidates import Picked, screen
from spinney.choices import Choice
from spinney.dataset import Dataset
from spinney.job import Job
from spinney.progress import reporting

INTERVALS = 32  # of a continuous column
SCALE = 2**14  # normal scores times SCALE, as whole numbers: their sums are exact
NO_NUMBERS = np.empty(0, np.int32)

Numbers = npt.NDArray[np.float64]


def run(job: Job, method: Choice, time_limit: float | None) -> Picked:
    """`time_limit`: children whose forest is not finished by then have the best of the screen."""
    assert job.source is not None
    began, data, k = time.perf_counter(), job.source.data, int(method["k"])
    half = None if time_limit is None else time_limit / 2
    screened, _ = screen.within(job, max(k, int(method["screen"])), half)
    waiting = [child for child, own in screened.items() if len(own) > k] if data.n_rows else []
    lists = {child: own[:k] for child, own in screened.items()}
    left = math.inf if time_limit is None else time_limit - (time.perf_counter() - began)
    if not waiting or left <= 0:
        return Picked(lists, tuple(waiting), "time limit" if waiting else "")
    found, stopped = gains(data, {child: screened[child] for child in waiting}, method, job, left)
    lists |= {child: best(screened[child], own, k) for child, own in found.items()}
    return Picked(lists, tuple(child for child in waiting if child not in found), stopped)


def gains(
    data: Dataset, columns: dict[str, tuple[str, ...]], method: Choice, job: Job, time_limit: float
) -> tuple[dict[str, Numbers], str]:
    """What splits by each column explain of its child, where there was time for it, and why there was no more."""
    place = {name: i for i, name in enumerate(data.order)}
    kinds = [data.kinds[name] for name in data.order]
    continuous = {name for name in data.order if not data.kinds[name].discrete}
    with reporting(job.progress, "forests") as report:
        found, stopped = _core.forest_gains(
            [codes(data, name) for name in data.order],
            [INTERVALS if name in continuous else len(data.levels(name)) for name in data.order],
            [numbers(data, name) if name in continuous and name in columns else NO_NUMBERS for name in data.order],
            [kind.word != "categorical" for kind in kinds],
            [(place[child], [place[name] for name in own]) for child, own in columns.items()],
            int(method["trees"]),
            float(method["seconds"]),
            job.seed % 2**64,
            job.threads,
            report,
            0.0 if time_limit == math.inf else time_limit,
        )
    return {child: own for child, own in zip(columns, found, strict=True) if own is not None}, stopped


def codes(data: Dataset, name: str) -> npt.NDArray[Any]:
    """A column as a parent: of a continuous one the intervals of equally many rows; equal values are together."""
    if data.kinds[name].discrete:
        return data.codes(name)
    return ((screen.ranks(data, name) - 0.5) * INTERVALS // data.n_rows).astype(np.uint8)


def numbers(data: Dataset, name: str) -> npt.NDArray[np.int32]:
    """What a continuous column is as the child."""
    return np.rint(SCALE * screen.normal_scores(data, name)).astype(np.int32)


def best(columns: tuple[str, ...], gains: Numbers, k: int) -> tuple[str, ...]:
    """The k columns that gain most; equal ones as the screen had them."""
    places = np.argsort(-np.round(gains / max(float(np.abs(gains).max()), math.ulp(0.0)), 9), kind="stable")[:k]
    return tuple(columns[place] for place in places)
