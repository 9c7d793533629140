"""Cuts of a column, straight from the definitions.

In:  the values and the classes of the rows.
Out: the thresholds of Fayyad and Irani (1993), every cut between two different values tried; quantiles by counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import log2


def entropy(classes: Sequence[int]) -> float:
    return -sum(n / len(classes) * log2(n / len(classes)) for n in Counter(classes).values())


def mdl_thresholds(rows: Sequence[tuple[float, int]]) -> list[float]:
    """rows: (value, class), in any order."""
    values = sorted({value for value, _ in rows})
    all_classes = [c for _, c in rows]
    best = None
    for low, high in pairwise(values):
        sides = [[c for v, c in rows if v <= low], [c for v, c in rows if v > low]]
        after = sum(len(side) / len(rows) * entropy(side) for side in sides)
        if best is None or after < best[0] - 1e-12:
            best = (after, low, high, sides)
    if best is None:
        return []
    after, low, high, sides = best
    k, k1, k2 = len(set(all_classes)), len(set(sides[0])), len(set(sides[1]))
    delta = log2(3**k - 2) - (k * entropy(all_classes) - k1 * entropy(sides[0]) - k2 * entropy(sides[1]))
    if entropy(all_classes) - after <= (log2(len(rows) - 1) + delta) / len(rows):
        return []
    below, above = [r for r in rows if r[0] <= low], [r for r in rows if r[0] > low]
    return [*mdl_thresholds(below), (low + high) / 2, *mdl_thresholds(above)]


def quantile(values: Sequence[float], share: Fraction) -> Fraction:
    """At position N share - 1/2 of the sorted values, linear in between."""
    ordered = [Fraction(value) for value in sorted(values)]
    position = min(max(len(ordered) * share - Fraction(1, 2), Fraction(0)), Fraction(len(ordered) - 1))
    low = int(position)
    return ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * (position - low)
