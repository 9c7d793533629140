"""Empirical Bayes, slowly: every value by a call of its own.

In:  a table, a score with the values of some options, and the values to try.
Out: the values whose best forest scores highest, option by option until none changes, and that score."""

from __future__ import annotations

import math
from typing import Any

import spinney as sp


def forest(data: Any, score: str, values: dict[str, float], fixed: str = "") -> float:
    """The score of the best network with at most one parent per node."""
    options = ", ".join([*(f"{name}={value!r}" for name, value in values.items()), *([fixed] if fixed else [])])
    return float(sp.find(data, f"{score}({options})", search="chow-liu(forest=True)", max_parents=1).score)


def chosen(
    data: Any, score: str, grids: dict[str, tuple[float, ...]], usual: dict[str, float], fixed: str = ""
) -> tuple[dict[str, float], float]:
    """`usual`: where it starts. The nearest value to it is tried first, and a later one must be better."""
    values, best = dict(usual), forest(data, score, usual, fixed)
    changed = True
    while changed:
        changed = False
        for name, grid in grids.items():
            for value in sorted(grid, key=lambda one: abs(math.log(one / usual[name]))):
                total = forest(data, score, {**values, name: value}, fixed)
                if total > best + 1e-9 * max(1.0, abs(best)):
                    values, best, changed = {**values, name: value}, total, True
    return values, best
