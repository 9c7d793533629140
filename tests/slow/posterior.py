"""The class of a row, by the joint probability of the row with every class.

In:  rows of a table as plain dictionaries, a graph, and the pseudo-count of a cell.
Out: P(class | attributes), from counts taken anew for every question; no table, no logarithm, no Markov blanket."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

Row = Mapping[str, str]
PseudoCount = Callable[[int, int], float]  # levels of the child, configurations of its parents


def class_posterior(
    rows: Sequence[Row],
    levels: Mapping[str, Sequence[str]],
    parents: Mapping[str, Sequence[str]],
    pseudo: PseudoCount,
    target: str,
    asked: Row,
) -> list[float]:
    """A family of which a member has a level that `levels` lacks is left out."""
    joint = []
    for guess in levels[target]:
        row = {**asked, target: guess}
        known = [name for name in parents if all(row[v] in levels[v] for v in (name, *parents[name]))]
        joint.append(prod(_factor(rows, levels, name, parents[name], pseudo, row) for name in known))
    return [value / sum(joint) for value in joint]


def _factor(
    rows: Sequence[Row],
    levels: Mapping[str, Sequence[str]],
    child: str,
    parents: Sequence[str],
    pseudo: PseudoCount,
    row: Row,
) -> float:
    alike = [other for other in rows if all(other[parent] == row[parent] for parent in parents)]
    cell = pseudo(len(levels[child]), prod(len(levels[parent]) for parent in parents))
    right = sum(other[child] == row[child] for other in alike)
    return (right + cell) / (len(alike) + cell * len(levels[child]))
