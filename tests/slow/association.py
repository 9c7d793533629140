"""The measure of association of the method `screen`, pair by pair in plain Python.

In:  two columns: codes of levels, with the order of a continuous or ordinal one as numbers.
Out: the largest of the significances that the pair has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import log
from statistics import NormalDist


def significance(ratio: float, df: int) -> float:
    """Minus the log of Chernoff's bound on the tail of chi-square at twice the log likelihood ratio."""
    half = df / 2
    if half == 0:
        return 0.0
    bound = ratio - half - half * log(max(ratio, 1e-9) / half)
    return bound if ratio > half else -bound


def levels_of(codes: Sequence[int]) -> list[Hashable]:
    """Levels of a hundredth of the rows, or of four, are one."""
    count = Counter(codes)
    return ["rare" if count[code] < max(5, 0.01 * len(codes)) else code for code in codes]


def ranks(values: Sequence[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values
    ]


def bins_of(values: Sequence[float]) -> list[Hashable]:
    return [int((rank - 0.5) * 5 // len(values)) for rank in ranks(values)]


def scores_of(values: Sequence[float]) -> list[int]:
    """Normal scores in whole 32nds."""
    normal = NormalDist()
    return [max(-127, min(127, round(32 * normal.inv_cdf((rank - 0.5) / len(values))))) for rank in ranks(values)]


def of_table(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    n, both, left, right = len(one), Counter(zip(one, other, strict=True)), Counter(one), Counter(other)
    ratio = sum(count * log(count * n / (left[a] * right[b])) for (a, b), count in both.items())
    return significance(ratio, (len(left) - 1) * (len(right) - 1))


def explained(groups: Sequence[Hashable], scores: Sequence[int]) -> float:
    """By analysis of variance."""
    n, mean = len(scores), sum(scores) / len(scores)
    count, total = Counter(groups), Counter[Hashable]()
    for group, score in zip(groups, scores, strict=True):
        total[group] += score
    between = sum(count[g] * (total[g] / count[g] - mean) ** 2 for g in count)
    within = sum((score - mean) ** 2 for score in scores)
    return significance(-n / 2 * log(1 - min(between / within, 1 - 1e-12)), len(count) - 1)


def correlated(one: Sequence[int], other: Sequence[int]) -> float:
    n, a, b = len(one), sum(one) / len(one), sum(other) / len(other)
    joint = sum((x - a) * (y - b) for x, y in zip(one, other, strict=True))
    r2 = joint**2 / (sum((x - a) ** 2 for x in one) * sum((y - b) ** 2 for y in other))
    return significance(-n / 2 * log(1 - min(r2, 1 - 1e-12)), 1)


Column = tuple[str, Sequence[float]]  # the word of its kind, and codes or values


def association(one: Column, other: Column) -> float:
    groups = [
        bins_of(own) if word == "continuous" else levels_of([int(code) for code in own]) for word, own in (one, other)
    ]
    scores = [None if word == "categorical" else scores_of(own) for word, own in (one, other)]
    found = [of_table(*groups)]
    found += [explained(groups[1 - i], own) for i, own in enumerate(scores) if own is not None]
    if scores[0] is not None and scores[1] is not None:
        found.append(correlated(scores[0], scores[1]))
    return max(found)
