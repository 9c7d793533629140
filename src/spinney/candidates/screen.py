"""The association of every column with every other, from one matrix product.

In:  a Dataset and who may be whose parent.
Out: per child the columns that are most associated with it, the strongest first.

Every column becomes the indicators of its levels (continuous ones are cut into a few quantile bins) and, where its
values are ordered, normal scores of its ranks. The products of all these hold the counts of every pair's table, the
sums of every score in every level, and the correlations of the scores. Each gives a likelihood ratio against
independence, with its degrees of freedom: tables see any dependence, scores see weak trends. Of each pair the most
significant one counts. Significance is what is fair between kinds and between numbers of levels: the log of a tail
probability, by Chernoff's bound for chi-square, which is close where it matters and never underflows.

All features are small whole numbers, so their sums are exact: neither threads nor the order of columns changes one."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, xlogy
from threadpoolctl import threadpool_limits

from spinney.candidates import Picked
from spinney.choices import Choice
from spinney.constraints import Allowed
from spinney.dataset import Dataset
from spinney.job import Job

BINS = 5  # of a continuous column
RARE = 0.01  # a level with a smaller share of the rows is counted together with the other rare ones,
FEWEST = 5  # and one with fewer rows: two rows that happen to be alone in both columns are no association
SCALE, LARGEST = 32, 127  # normal scores times SCALE, as whole numbers
ROWS = 1024  # at a time: ROWS * LARGEST^2 < 2^24, so that sums of single precision are exact
CELLS = 2**23  # of the product at a time
AT_ONCE = 512  # columns whose correlations with all are held

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


def run(job: Job, method: Choice, time_limit: float | None) -> Picked:
    """The method `screen`. It takes seconds for a thousand columns, and a hundred times as many for ten thousand."""
    lists, unfinished = within(job, int(method["k"]), time_limit)
    return Picked(lists, unfinished, "time limit" if unfinished else "", "the largest correlations")


def ranks(data: Dataset, name: str) -> Numbers:
    """From 1; equal values share the mean of theirs. Of a discrete column: of its codes."""
    cells = data.codes(name) if data.kinds[name].discrete else data.values(name)
    _, place, counts = np.unique(cells, return_inverse=True, return_counts=True)
    mean: Numbers = np.cumsum(counts) - 0.5 * (counts - 1)
    return mean[place]


def normal_scores(data: Dataset, name: str) -> Numbers:
    """What values of these ranks would be under a normal distribution, whatever the units and the tails."""
    scores: Numbers = ndtri((ranks(data, name) - 0.5) / max(1, data.n_rows))
    return scores


@dataclass(frozen=True)
class _Features:
    """Of the columns in sorted order of names."""

    codes: list[Codes]
    first: Codes  # the place of a column's first indicator; the last entry is how many there are
    scored: Codes  # the columns that have scores
    scores: npt.NDArray[np.int8]  # one row per scored column

    def blocks(self) -> list[tuple[int, int]]:
        """Columns whose products with all features are held at a time."""
        total = int(self.first[-1]) + len(self.scored)
        most, found, begin = max(1, CELLS // total), [], 0
        while begin < len(self.codes):
            end = begin + 1
            while end < len(self.codes) and self.first[end + 1] - self.first[begin] + (end + 1 - begin) <= most:
                end += 1
            found.append((begin, end))
            begin = end
        return found

    @cached_property
    def few_rows(self) -> npt.NDArray[np.float32]:
        """All rows, where they are no more than are taken at a time."""
        return self.rows(0)

    def rows(self, start: int) -> npt.NDArray[np.float32]:
        """Some rows of the table, one feature after another: indicators of all columns, then scores."""
        end = min(start + ROWS, len(self.codes[0]))
        indicators = int(self.first[-1])
        block = np.zeros((end - start, indicators + len(self.scored)), np.float32)
        each = np.arange(end - start)
        for first, codes in zip(self.first, self.codes, strict=False):
            block[each, first + codes[start:end]] = 1
        block[:, indicators:] = self.scores[:, start:end].T
        return block


def strongest(job: Job, k: int) -> dict[str, tuple[str, ...]]:
    """Per child the k allowed columns that are most associated with it; equal ones by name."""
    return within(job, k, None)[0]


def within(job: Job, k: int, time_limit: float | None) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The same within a time limit. Children that there is no time for have the columns of the largest correlations
    with them, one score per column; they come second."""
    assert job.source is not None
    end = math.inf if time_limit is None else time.perf_counter() + time_limit
    with threadpool_limits(job.threads, "blas"):
        return _within(job.source.data, job.allowed, k, end)


def _within(data: Dataset, allowed: Allowed, k: int, end: float) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    quick: dict[str, tuple[str, ...]] = {}
    features = _features(data)
    blocks, began = features.blocks(), time.perf_counter()
    for done, (begin, own_end) in enumerate(blocks):
        now = time.perf_counter()
        if done == 1 and now + (now - began) * (len(blocks) - 1) > end:
            quick = {
                child: _best(allowed, child, own, k)
                for child, own in zip(allowed.names, _correlations(data), strict=True)
            }
        if done and time.perf_counter() + (now - began) / done > end:
            break
        for child, own in zip(allowed.names[begin:own_end], _block(features, begin, own_end, data.n_rows), strict=True):
            found[child] = _best(allowed, child, own, k)
    return {**quick, **found}, tuple(child for child in allowed.names if child not in found)


def _best(allowed: Allowed, child: str, measures: Numbers, k: int) -> tuple[str, ...]:
    own = allowed.candidates[child]
    if len(own) == len(allowed.names) - 1:  # all others, in the same order
        values = np.delete(measures, allowed.index[child])
    else:
        values = measures[np.fromiter((allowed.index[name] for name in own), np.int64, len(own))]
    values = np.round(values, 6)  # so that sums of the same numbers in another order are equal
    places = np.arange(len(own))
    if len(own) > k:  # only the best need be sorted; of equal ones the first
        least = np.partition(values, len(own) - k)[len(own) - k]
        above = np.flatnonzero(values > least)
        places = np.sort(np.concatenate([above, np.flatnonzero(values == least)[: k - len(above)]]))
    return tuple(own[i] for i in places[np.argsort(-values[places], kind="stable")])


def _correlations(data: Dataset) -> Iterator[Numbers]:
    """For every column, in sorted order of names, the size of its correlation with each: of normal scores, and of
    categorical columns of whether they have their most frequent level."""
    n = data.n_rows
    scores = np.empty((n, len(data.order)), np.float32)
    for place, name in enumerate(data.order):
        if data.kinds[name].word == "categorical":
            codes = data.codes(name)
            scores[:, place] = SCALE * (codes == np.bincount(codes).argmax())
        else:
            scores[:, place] = _whole_scores(data, name)
    sums = scores.sum(axis=0, dtype=np.float64)
    spread = np.einsum("ij,ij->j", scores, scores, dtype=np.float64) - sums**2 / n
    spread[spread <= 0] = np.inf
    for begin in range(0, len(sums), AT_ONCE):
        end = begin + AT_ONCE
        products = np.zeros((len(sums[begin:end]), len(sums)))
        for start in range(0, n, ROWS):
            rows = scores[start : start + ROWS]
            products += rows[:, begin:end].T @ rows
        both = products - np.outer(sums[begin:end], sums) / n
        yield from both**2 / np.outer(spread[begin:end], spread)


def _features(data: Dataset) -> _Features:
    codes, scored, scores = [], [], []
    for place, name in enumerate(data.order):
        kind = data.kinds[name]
        if kind.discrete:
            codes.append(_merged(data.codes(name)))
        else:
            cuts = (ranks(data, name) - 0.5) * BINS // max(1, data.n_rows)
            codes.append(np.unique(cuts, return_inverse=True)[1].astype(np.int64))
        if kind.word != "categorical":
            scored.append(place)
            scores.append(_whole_scores(data, name))
    sizes = [int(own.max(initial=0)) + 1 for own in codes]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    table = np.array(scores, np.int8).reshape(len(scores), data.n_rows)
    return _Features(codes, first, np.array(scored, np.int64), table)


def _whole_scores(data: Dataset, name: str) -> npt.NDArray[np.int8]:
    whole: npt.NDArray[np.int8] = np.clip(np.rint(SCALE * normal_scores(data, name)), -LARGEST, LARGEST).astype(np.int8)
    return whole


def _merged(codes: npt.NDArray[Any]) -> Codes:
    """The levels that occur, with all rare ones as one."""
    counts = np.bincount(codes)
    rare = counts < max(FEWEST, RARE * len(codes))
    rare &= counts > 0
    label = np.arange(len(counts))
    if rare.sum() > 1:
        label[rare] = np.flatnonzero(rare)[0]
    return np.unique(label[codes], return_inverse=True)[1].astype(np.int64)


def _block(features: _Features, begin: int, end: int, n: int) -> Numbers:
    """The measures of these columns (rows of the answer) with all."""
    first, scored = features.first, features.scored
    indicators = int(first[-1])
    of_scores = np.flatnonzero((scored >= begin) & (scored < end))
    own = np.concatenate([np.arange(first[begin], first[end]), indicators + of_scores])
    products = np.zeros((len(own), indicators + len(scored)))
    counts, sums, squares = np.zeros(indicators), np.zeros(len(scored)), np.zeros(len(scored))
    for start in range(0, n, ROWS):
        rows = features.rows(start) if n > ROWS else features.few_rows
        products += rows[:, own].T @ rows
        total = rows.sum(axis=0, dtype=np.float64)
        counts += total[:indicators]
        sums += total[indicators:]
        squares += np.einsum("ij,ij->j", rows[:, indicators:], rows[:, indicators:], dtype=np.float64)
    split = int(first[end] - first[begin])
    of_tables, of_levels = products[:split, :indicators], products[:split, indicators:]
    of_trends, of_pairs = products[split:, :indicators], products[split:, indicators:]
    starts, here = first[:-1], first[begin:end] - first[begin]
    levels = np.diff(first)
    entropy = np.add.reduceat(xlogy(counts, counts), starts)

    ratio = np.add.reduceat(np.add.reduceat(_x_log_x(of_tables, n), starts, axis=1), here, axis=0)
    ratio += float(xlogy(n, n)) - entropy[begin:end, None] - entropy
    best = _significance(ratio, 0.5 * np.outer(levels[begin:end] - 1, levels - 1))
    spread = np.maximum(squares - sums**2 / n, 1e-9)
    # Scores of the others in the levels of these; scores of these in the levels of the others; scores with scores.
    one = np.add.reduceat(of_levels**2 / counts[first[begin] : first[end], None], here, axis=0) - sums**2 / n
    best[:, scored] = np.maximum(
        best[:, scored], _significance(_ratio(one / spread, n), 0.5 * (levels[begin:end, None] - 1.0))
    )
    if len(of_scores):
        mine, mean = scored[of_scores] - begin, sums[of_scores, None]
        other = np.add.reduceat(of_trends**2 / counts, starts, axis=1) - mean**2 / n
        best[mine] = np.maximum(
            best[mine], _significance(_ratio(other / spread[of_scores, None], n), 0.5 * (levels - 1.0))
        )
        both = (of_pairs - mean * sums / n) ** 2 / (spread[of_scores, None] * spread)
        at = np.ix_(mine, scored)
        best[at] = np.maximum(best[at], _significance(_ratio(both, n), np.full(1, 0.5)))
    return best


def _x_log_x(counts: Numbers, n: int) -> Numbers:
    """By a table: counts are whole numbers."""
    values = np.arange(n + 1.0)
    table: Numbers = xlogy(values, values)
    return table[counts.astype(np.int32)]


def _ratio(r2: Numbers, n: int) -> Numbers:
    """The log of the likelihood ratio that goes with a share of explained variance."""
    return -0.5 * n * np.log1p(-np.clip(r2, 0.0, 1 - 1e-12))


def _significance(ratio: Numbers, half_df: Numbers) -> Numbers:
    """Minus the log of Chernoff's bound on P(chi-square > 2 ratio), negative below the mean; 0 where nothing varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = ratio - half_df - half_df * np.log(np.maximum(ratio, 1e-9) / half_df)
    signed: Numbers = np.where(half_df > 0, np.where(ratio > half_df, excess, -excess), 0.0)
    return signed
