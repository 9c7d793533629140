"""Which of two methods is better: by error bars, and by a test.

In:  per method a value for each of the same repetitions; smaller is better.
Out: for every pair the mean difference with its standard error; win, tie or loss in two ways.

Error bars: a mean plus and minus its standard error; where the bars of two methods overlap it is a tie, else the
smaller mean wins. The test is Wilcoxon's signed-rank test (1945), two-sided: a tie where its p-value is above 0.05.
Talvitie, Eggeling and Koivisto (2019) report both. The difference with its standard error is of the pairs: what makes
a repetition hard for both methods drops out of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ALPHA = 0.05
MOST_COUNTED = 13  # differences, as in scipy
ROUNDING = 1e-12  # bars that touch, as those of whole numbers may, touch in spite of it


@dataclass(frozen=True)
class Pair:
    """The first method against the second; "win": the first is better."""

    first: str
    second: str
    difference: float  # mean of the first less mean of the second; below 0: the first is better
    error: float  # the standard error of the difference
    by_bars: str  # win, tie or loss
    p_value: float  # of Wilcoxon's test
    by_test: str  # win, tie or loss

    def as_dict(self) -> dict[str, Any]:
        """All numbers by name."""
        return asdict(self)


def mean_and_error(values: Floats) -> tuple[float, float]:
    """The mean with its standard error; of a single value, and beside an infinite one, the error is not known."""
    mean = float(values.mean())
    if len(values) < 2 or not math.isfinite(mean):
        return mean, math.nan
    return mean, float(values.std(ddof=1)) / math.sqrt(len(values))


def pairs_of(values: Mapping[str, Floats]) -> list[Pair]:
    """Every two methods, in the order given."""
    return [_pair(one, other, values[one], values[other]) for one, other in combinations(values, 2)]


def _pair(first: str, second: str, one: Floats, other: Floats) -> Pair:
    apart = differences(one, other)
    mean, error = mean_and_error(apart)
    p_value = wilcoxon(apart)
    means = one.mean(), other.mean()
    return Pair(first, second, mean, error, by_bars(one, other), p_value, "tie" if p_value > ALPHA else _better(*means))


def differences(one: Floats, other: Floats) -> Floats:
    """Two infinite losses are equal."""
    apart = np.zeros(len(one))
    np.subtract(one, other, out=apart, where=one != other)
    return apart


def _better(one: float, other: float) -> str:
    return "tie" if one == other else "win" if one < other else "loss"


def by_bars(one: Floats, other: Floats) -> str:
    """Win, tie or loss by whether the bars overlap; bars that touch do."""
    (a, own), (b, others) = mean_and_error(one), mean_and_error(other)
    reach = sum(error for error in (own, others) if not math.isnan(error))
    return "tie" if a == b or abs(a - b) <= reach * (1 + ROUNDING) else _better(a, b)


def _counted(apart: Floats) -> float:
    """All signs of the ranks are equally probable: count the ways to every sum. scipy does the same where there are
    ties, sign by sign, in a tenth of a second; tables have hundreds of such tests."""
    own = apart[apart != 0]
    sizes = np.abs(own)
    doubled = [int((sizes < size).sum() + (sizes <= size).sum() + 1) for size in sizes]  # twice the mean rank
    ways = [1] + [0] * sum(doubled)
    for rank in doubled:
        ways = [here + (ways[at - rank] if at >= rank else 0) for at, here in enumerate(ways)]
    positive = sum(rank for rank, value in zip(doubled, own, strict=True) if value > 0)
    tail = min(sum(ways[: positive + 1]), sum(ways[positive:]))
    return float(min(1.0, 2 * tail / 2 ** len(doubled)))


def wilcoxon(apart: Floats) -> float:
    """The two-sided p-value; where nothing differs it is 1."""
    if not apart.any():
        return 1.0
    if len(apart) <= MOST_COUNTED:
        return _counted(apart)
    from scipy.stats import wilcoxon as test  # half a second to import

    largest = np.abs(apart[np.isfinite(apart)]).max(initial=0.0)
    ranked = np.where(np.isinf(apart), np.copysign(2.0 * largest + 1.0, apart), apart)  # ranks alone matter
    return float(test(ranked).pvalue)
