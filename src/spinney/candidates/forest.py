"""Random forests that rank the parents of each child.

In:  a Job, whose data has columns of any kinds.
Out: per child the k columns that matter most in a forest that predicts it.

Sharma and van Beek (2021), Algorithm 2, with a screen before: a forest sees the columns that are most associated with
the child, not all. A column matters by what its splits explain of rows that the tree was not grown on (Li, Wang, Basu,
Kumbier and Yu 2019): like permutation importance it is fair to columns of many levels, and takes less time.

Every forest begins from the same seed, and its rows and columns stand in an order that their content alone decides: so
neither threads nor names nor the order of rows or columns changes what is chosen."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from spinney.candidates import Picked, screen
from spinney.choices import Choice
from spinney.dataset import Dataset
from spinney.job import Job
from spinney.progress import reporting

LEAF = 5  # rows at the least
SHARE = 1 / 3  # of the columns that each split looks at
ROWS = 2000  # of a tree, at the most; and of those that it is judged by
BITS = 62  # of a word that rows are sorted by
AHEAD = 4  # children per thread that are handed out at a time

Numbers = npt.NDArray[np.float64]


def run(job: Job, method: Choice, time_limit: float | None) -> Picked:
    """`time_limit`: children whose turn has not come by then have the best of the screen."""
    assert job.source is not None
    data, k = job.source.data, int(method["k"])
    end = math.inf if time_limit is None else time.perf_counter() + time_limit
    half = None if time_limit is None else time_limit / 2
    screened, _ = screen.within(job, max(k, int(method["screen"])), half)
    waiting = [child for child, own in screened.items() if len(own) > k]
    ranks = {name: screen.ranks(data, name).astype(np.float32) for name in data.order if not data.kinds[name].discrete}
    stop = threading.Event()
    most = float(method["seconds"]) or math.inf

    def best(child: str) -> tuple[str, ...] | None:
        forest = _Forest(data, child, screened[child], ranks, job.seed)
        own_end = min(end, time.perf_counter() + most)
        for tree in range(int(method["trees"])):
            now = time.perf_counter()
            if stop.is_set() or now >= end or (tree == 0 and now >= own_end):
                return None
            if now >= own_end:
                break
            forest.grow()
        return forest.best(k)

    done, stopped = _in_threads(best, waiting, job, stop)
    finished = {child: own for child, own in done.items() if own is not None}
    return Picked(
        {child: finished.get(child, own[:k]) for child, own in screened.items()},
        tuple(child for child in waiting if child not in finished),
        stopped or ("time limit" if len(finished) < len(waiting) else ""),
    )


def _in_threads(
    work: Callable[[str], tuple[str, ...] | None], children: Sequence[str], job: Job, stop: threading.Event
) -> tuple[dict[str, tuple[str, ...] | None], str]:
    """The answer for each child that there was time for. Ctrl-C stops the rest."""
    done: dict[str, tuple[str, ...] | None] = {}
    running: dict[Future[tuple[str, ...] | None], str] = {}
    left, stopped = iter(children), ""
    # A tree is grown without Python's lock, but most of the time is around it: on two busy cores two threads took 0.96
    # of the time of one, two processes 0.74. They would need the table each, and a main module that can be imported.
    with reporting(job.progress, "forests") as report, threadpool_limits(1, "blas"):
        pool = ThreadPoolExecutor(job.threads)
        try:
            while True:
                while len(running) < AHEAD * job.threads and (child := next(left, None)) is not None:
                    running[pool.submit(work, child)] = child
                if not running:
                    break
                for future in wait(running, timeout=0.1, return_when=FIRST_COMPLETED).done:
                    done[running.pop(future)] = future.result()
                if report is not None:
                    report(len(done), len(children))
        except KeyboardInterrupt:
            stopped = "interrupted"
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
    return done, stopped


class _Forest:
    """Of one child, tree by tree."""

    def __init__(
        self, data: Dataset, child: str, columns: Sequence[str], ranks: Mapping[str, npt.NDArray[np.float32]], seed: int
    ) -> None:
        self.columns = columns
        self.rng = np.random.default_rng(seed)
        self.gains = np.zeros(len(columns))
        self.classes = data.kinds[child].discrete
        target: npt.NDArray[Any]
        if self.classes:
            target = _by_frequency(data.codes(child))
            centred = np.eye(int(target.max(initial=0)) + 1)[target]
            centred -= centred.mean(axis=0)
        else:
            target = screen.normal_scores(data, child)
            centred = target[:, None]
        cells = [
            _ordered(data.codes(name), centred)
            if data.kinds[name].word == "categorical"
            else (data.codes(name) if data.kinds[name].discrete else ranks[name])
            for name in columns
        ]
        order = _by_content([target if self.classes else ranks[child], *cells])
        self.target, self.centred = target[order], centred[order]
        self.cells = np.empty((len(order), len(columns)), np.float32)
        for place, column in enumerate(cells):
            self.cells[:, place] = column[order]

    def grow(self) -> None:
        """One more tree, and what its splits explain of rows that are not in it."""
        n = len(self.target)
        inside = self.rng.integers(0, n, min(n, ROWS))
        outside = np.ones(n, np.bool_)
        outside[inside] = False
        judges = np.flatnonzero(outside)
        if len(judges) > ROWS:
            judges = self.rng.choice(judges, ROWS, replace=False)
        kind = DecisionTreeClassifier if self.classes else DecisionTreeRegressor
        model = kind(max_features=SHARE, min_samples_leaf=LEAF, random_state=int(self.rng.integers(2**31)))
        model.fit(self.cells[inside], self.target[inside], check_input=False)
        self.judge(model, judges)

    def judge(self, model: Any, judges: npt.NDArray[Any]) -> None:
        """Add what each column's splits explain of these rows."""
        tree = model.tree_
        inner = np.flatnonzero(tree.children_left >= 0)
        if len(judges) == 0 or len(inner) == 0:
            return
        means = self._means(model, tree)
        sums = tree.decision_path(self.cells[judges]).T @ self.centred[judges]  # per node, over the rows that pass it
        gain = np.zeros(len(inner))
        for child in (tree.children_left[inner], tree.children_right[inner]):
            gain += np.einsum("ij,ij->i", sums[child], means[child] - means[inner])
        np.add.at(self.gains, tree.feature[inner], gain / len(judges))

    def _means(self, model: Any, tree: Any) -> Numbers:
        """Of the target in every node, among the rows that the tree was grown on."""
        values: Numbers = tree.value[:, 0, :]
        if not self.classes:
            return values
        means = np.zeros((len(values), self.centred.shape[1]))
        means[:, model.classes_] = values / values.sum(axis=1, keepdims=True)
        return means

    def best(self, k: int) -> tuple[str, ...]:
        """The k columns that gain most; equal ones as the screen had them."""
        places = np.argsort(-np.round(self.gains, 9), kind="stable")[:k]
        return tuple(self.columns[place] for place in places)


def _by_frequency(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Levels that occur, numbered from the most frequent one: by content, not by name."""
    counts = np.bincount(codes)
    place = np.empty(len(counts), np.int64)
    place[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.take(place, codes)


def _ordered(codes: npt.NDArray[Any], centred: Numbers) -> npt.NDArray[Any]:
    """The levels of a categorical parent in the order of the child's mean; of several classes, along the first
    principal component of their shares (Coppersmith, Hong and Hosking 1999)."""
    counts = np.bincount(codes)
    means = np.column_stack([np.bincount(codes, own) for own in centred.T]) / np.maximum(counts, 1)[:, None]
    means = np.round(means, 9)  # sums in another order of the rows are equal
    if means.shape[1] > 1:
        axis = np.linalg.eigh((means * counts[:, None]).T @ means)[1][:, -1]
        means = means @ (axis if axis @ np.arange(len(axis), 0, -1) >= 0 else -axis)[:, None]
    place = np.empty(len(counts), np.float32)
    place[np.argsort(np.round(means[:, 0], 9), kind="stable")] = np.arange(len(counts))
    return np.take(place, codes)


def _by_content(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """An order of the rows that only their cells decide: by the first column, then the second, and so on."""
    words, used = [], BITS
    for column in columns:
        whole = np.rint(2 * np.asarray(column, np.float64)).astype(np.int64)  # ranks may be halves
        bits = max(1, int(whole.max(initial=0)).bit_length())
        if used + bits > BITS:
            words.append(np.zeros(len(whole), np.int64))
            used = 0
        words[-1] = (words[-1] << bits) | whole
        used += bits
    order: npt.NDArray[np.int64] = np.lexsort(words[::-1])
    return order
