"""Trees over many rows: rows are summed up by joint cells, in blocks, and the search goes over the cells.

In:  tables of hundreds of thousands of rows with few cells, whose best tree can be named by hand; tables of many cells.
Out: the scores of the closed formulas, with exact sums; cells beyond all numbers; the same scores for repeated rows."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln

import spinney as sp

N = 400_000  # more than a block of rows, and more than the tables of counts hold


def categorical(codes: np.ndarray, levels: int) -> float:
    counts = np.bincount(codes, minlength=levels)
    return float(sum(gammaln(counts + 0.5) - gammaln(0.5)) + gammaln(levels / 2) - gammaln(len(codes) + levels / 2))


def ordinal(codes: np.ndarray, levels: int) -> float:
    """The sum over all ways to cut the levels into runs, each cut with odds 1/4."""
    counts = np.bincount(codes, minlength=levels)
    terms = []
    for cuts in range(2 ** (levels - 1)):
        ends = [0, *(k + 1 for k in range(levels - 1) if cuts >> k & 1), levels]
        term = (len(ends) - 2) * math.log(0.25) - (levels - 1) * math.log(1.25)
        for start, end in pairwise(ends):
            n, size = counts[start:end].sum(), end - start
            term += gammaln(n + size / 2) - gammaln(size / 2) - n * math.log(size)
        terms.append(term)
    return float(np.logaddexp.reduce(terms) + gammaln(levels / 2) - gammaln(len(codes) + levels / 2))


def continuous(values: np.ndarray) -> float:
    n = len(values)
    mean = math.fsum(values) / n
    spread = math.fsum((values - mean) ** 2) + n * mean**2 / (n + 1) + 1
    return float(
        -n / 2 * math.log(math.pi)
        - math.log(n + 1) / 2
        + gammaln((n + 1) / 2)
        - gammaln(0.5)
        - (n + 1) / 2 * math.log(spread)
    )


def best_of_two(leaf, half: np.ndarray) -> float:
    """One parent with one split: a leaf or two; gamma = 1/4, and all trees together have 1/4 + 1/16."""
    gamma = math.log(0.25)
    together = gamma + leaf(np.full(len(half), True))
    parted = 2 * gamma + leaf(half) + leaf(~half)
    return max(together, parted) - math.log(0.25 + 0.0625)


@pytest.mark.parametrize("gap", [0.0, 0.02])
@pytest.mark.parametrize("parent", ["halved", "level"])
@pytest.mark.parametrize("child", ["categorical", "ordinal", "continuous"])
def test_closed_formulas(child, parent, gap):
    """With no gap one leaf is best, with one two are: both are compared."""
    rng = np.random.default_rng(3)
    half = rng.random(N) < 0.3
    signal = rng.normal(size=N) + gap * half
    frame = (
        pd.DataFrame({"x": np.where(half, 0.25, 0.75)}) if parent == "halved" else pd.DataFrame({"x": half.astype(str)})
    )
    kinds = {"x": sp.Continuous(0.0, 1.0) if parent == "halved" else sp.Categorical(["False", "True"])}
    if child == "continuous":
        frame["y"] = signal
        standard = (signal - signal.mean()) / signal.std()
        expected = best_of_two(lambda rows: continuous(standard[rows]), half)
    else:
        codes = np.digitize(signal, [-1.0, 1.5])
        frame["y"] = codes.astype(str)
        kinds["y"] = (sp.Categorical if child == "categorical" else sp.Ordinal)(["0", "1", "2"])
        leaf = categorical if child == "categorical" else ordinal
        expected = best_of_two(lambda rows: leaf(codes[rows], 3), half)
    data = sp.Dataset.from_frame(frame, kinds=kinds)
    assert sp.local_score(data, "y", ["x"], "pcart(max_splits=1)") == pytest.approx(expected, rel=1e-12)


def test_repeated_rows_are_one_point():
    """The rows of a small table, each so often, one after the other or in turns: the same counts, the same digits."""
    rng = np.random.default_rng(5)
    small = pd.DataFrame({"x": rng.normal(size=40), "w": rng.normal(size=40), "y": rng.integers(0, 3, 40).astype(str)})
    small["g"] = rng.integers(0, 4, 40).astype(str)
    often = [small.loc[np.repeat(np.arange(40), 700)], pd.concat([small] * 700)]
    families = [("y", p) for p in (["x"], ["g", "x"], ["w", "x"], ["g", "w", "x"], ["g"])]
    one, other = (
        [sp.local_score(frame, *family, score) for family in families for score in ("pcart", "ft")] for frame in often
    )
    assert one == other


def test_more_cells_than_numbers():
    """ft over 12 parents of 64 levels: 64^12 joint cells, of which 50 have rows."""
    rng = np.random.default_rng(6)
    names = [f"p{i:02d}" for i in range(12)]
    levels = [f"{level:02d}" for level in range(64)]
    rows = rng.integers(0, 64, (30, 12))[rng.integers(0, 30, 50)]
    codes = rng.integers(0, 2, 50)
    frame = pd.DataFrame({name: np.array(levels)[rows[:, i]] for i, name in enumerate(names)}).assign(
        y=codes.astype(str)
    )
    data = sp.Dataset.from_frame(
        frame, kinds={name: sp.Categorical(levels) for name in names} | {"y": sp.Categorical(["0", "1"])}
    )
    _, cell = np.unique(rows, axis=0, return_inverse=True)
    expected = sum(categorical(codes[cell.ravel() == c], 2) for c in range(cell.max() + 1))
    assert sp.local_score(data, "y", names, "ft") == pytest.approx(expected, rel=1e-12)
