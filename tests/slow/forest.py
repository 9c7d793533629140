"""A random forest that ranks columns, in plain Python, one row and one split at a time.

In:  a child (numbers, or classes), columns as codes with or without an order, and a seed.
Out: per column what its splits explain of rows outside their trees, summed over the trees."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

LEAF, ROWS, GROUPS, CLASSES = 3, 2000, 256, 64
WORD = 2**64

Column = Sequence[int]


def draws(seed: int) -> Iterator[int]:
    """The upper halves of splitmix64 (Steele, Lea and Flood 2014)."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) % WORD
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        yield (z ^ (z >> 31)) >> 32


def classes_of(child: Column) -> list[int]:
    """Numbered by falling frequency; from the 64th on they are one."""
    counts = Counter(child)
    by_frequency = sorted(counts, key=lambda code: (-counts[code], code))
    return [min(by_frequency.index(code), CLASSES - 1) for code in child]


def indicators(child: Column, classes: bool) -> list[list[float]]:
    """What is regressed: the number, or an indicator per class; of two classes the second one's."""
    if not classes:
        return [[float(y)] for y in child]
    own = classes_of(child)
    many = max(own) + 1
    return [[float(y)] for y in own] if many <= 2 else [[float(y == c) for c in range(many)] for y in own]


def in_order(codes: Column, ordered: bool, target: list[list[float]]) -> list[int]:
    """A place of each code: its own, or that of the mean of the child in this level."""
    levels = max(codes) + 1
    place = list(range(levels))
    if not ordered:
        mean = np.mean(target, axis=0)
        rows = [[own for code, own in zip(codes, target, strict=True) if code == level] for level in range(levels)]
        means = np.array([np.mean(own, axis=0) - mean if own else 0 * mean for own in rows])
        axis = np.ones(1)
        if len(mean) > 1:  # power iteration, from the class that varies most
            matrix = sum(len(r) * np.outer(m, m) for r, m in zip(rows, np.round(means, 9), strict=True))
            axis = np.eye(len(mean))[int(np.argmax(np.round(matrix.diagonal(), 9)))]
            for _ in range(50 if matrix.any() else 0):
                axis = matrix @ axis / np.linalg.norm(matrix @ axis)
        else:
            means += mean * np.array([[bool(own)] for own in rows])
        value = np.round(means @ axis, 9)
        for rank, level in enumerate(sorted(range(levels), key=lambda level: (value[level], level))):
            place[level] = rank
    if levels > GROUPS:
        count = Counter(place[code] for code in codes)
        below = np.cumsum([0] + [count[rank] for rank in range(levels)])
        place = [min(GROUPS - 1, int(below[rank] * GROUPS / len(codes))) for rank in place]
    return [place[code] for code in codes]


def forest_gains(
    child: Column, classes: bool, columns: Sequence[tuple[Column, bool]], trees: int, seed: int
) -> list[float]:
    """`columns`: codes, and whether they are in order."""
    target = indicators(child, classes)
    cells = list(zip(*(in_order(codes, ordered, target) for codes, ordered in columns), strict=True))
    first = classes_of(child) if classes else child
    rows = sorted(range(len(child)), key=lambda row: (first[row], cells[row]))
    forest = _Forest([target[row] for row in rows], [cells[row] for row in rows], seed)
    for _ in range(trees):
        forest.grow()
    return forest.gains


class _Forest:
    def __init__(self, target: list[list[float]], cells: list[tuple[int, ...]], seed: int) -> None:
        self.target, self.cells, self.draws = target, cells, draws(seed)
        self.mean = np.mean(target, axis=0)
        self.features = list(range(len(cells[0])))
        self.gains = [0.0] * len(cells[0])

    def below(self, n: int) -> int:
        return next(self.draws) * n >> 32

    def swap(self, items: list[int], i: int) -> None:
        j = i + self.below(len(items) - i)
        items[i], items[j] = items[j], items[i]

    def grow(self) -> None:
        n = len(self.target)
        order = list(range(n))
        inside = min(ROWS, n - 3 * n // 8)
        self.judges = min(ROWS, n - inside)
        for i in range(inside + self.judges):
            self.swap(order, i)
        self.visit(order[:inside], order[inside : inside + self.judges], None)

    def visit(self, rows: list[int], judges: list[int], above: int | None) -> None:
        if not judges:
            return
        y = np.array([self.target[row] for row in rows])
        value = float(np.sum([self.target[row] - self.mean for row in judges], axis=0) @ y.mean(axis=0)) / self.judges
        if above is not None:
            self.gains[above] += value
        if len(rows) < 2 * LEAF or (y == y[0]).all():
            return
        most, best = max(1, len(self.features) // 3), None
        for start in range(0, len(self.features), most):
            end = min(start + most, len(self.features))
            for i in range(start, end):
                self.swap(self.features, i)
            for feature in self.features[start:end]:
                for split in self.splits(rows, feature):
                    if best is None or split[0] > best[0]:
                        best = split
            if best is not None:
                break
        if best is None:
            return
        _, feature, cut = best
        self.gains[feature] -= value
        for side in (True, False):
            self.visit(
                [row for row in rows if (self.cells[row][feature] <= cut) == side],
                [row for row in judges if (self.cells[row][feature] <= cut) == side],
                feature,
            )

    def splits(self, rows: list[int], feature: int) -> Iterator[tuple[float, int, int]]:
        """(squares of the sums over the numbers of rows, column, the last code on the left)."""
        codes = sorted({self.cells[row][feature] for row in rows})
        for low, high in itertools.pairwise(codes):
            sides = [[self.target[row] for row in rows if (self.cells[row][feature] <= low) == side] for side in (1, 0)]
            if all(len(side) >= LEAF for side in sides):
                value = sum(float((np.sum(own, axis=0) ** 2).sum()) * (1 / len(own)) for own in sides)
                yield value, feature, (low + high) // 2
