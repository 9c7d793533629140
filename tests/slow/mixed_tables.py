"""Mixed tables for tests, as the slow twins and as the package see them.

In:  a seed.
Out: a Table of the twins, harmless or full of special cases; the same as a spinney Dataset."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

from slow.gaussian import Table
from slow.trees import CONTINUOUS, discrete, numbers

Family = tuple[str, tuple[str, ...]]


def random_table(seed: int, names: str = "abcdef", rows: tuple[int, int] = (1, 60)) -> Table:
    """Any kinds: unseen and single levels, copies, sums, constants, ties, columns that a level fixes, offsets and tiny
    scales all come up."""
    rng = random.Random(seed)
    n = rng.randint(*rows)
    table: Table = {}
    earlier: list[list[float]] = []  # before offsets and scales: columns depend on each other, or clearly do not
    for name in names:
        if rng.random() < 0.5:
            seen = rng.randint(1, 3)
            table[name] = discrete("categorical", [rng.randrange(seen) for _ in range(n)], seen + (rng.random() < 0.2))
            continue
        coded = [own for own in table.values() if own.kind != CONTINUOUS]
        noise = [rng.gauss(0, 1) for _ in range(n)]
        what = rng.random()
        if earlier and what < 0.12:
            values = [3 * x + 1 for x in earlier[0]]
        elif earlier and what < 0.24:
            values = [x - 2 * y for x, y in zip(earlier[0], earlier[-1], strict=True)]
        elif what < 0.3:
            values = [2.5] * n
        elif coded and what < 0.5:
            values = [x / 2 + code for x, code in zip(noise, coded[0].values, strict=True)]
        elif coded and what < 0.56:
            values = [float(code) for code in coded[-1].values]
        elif what < 0.7:
            values = [float(round(x)) for x in noise]
        else:
            values = noise
        earlier.append(values)
        offset, scale = rng.choice([0, 0, 0, 1e6]), rng.choice([1, 1, 1, 1e-8, 1e9])
        table[name] = numbers([(x + offset) * scale for x in values])
    return table


def smooth_table(seed: int, names: str, n: int, levels: tuple[int, ...] = (2, 3)) -> Table:
    """Names in capitals are continuous, the others discrete; each leans on the two before it, and every cell of two
    discrete columns has many rows."""
    rng = random.Random(seed)
    values: dict[str, list[float]] = {}
    table: Table = {}
    for position, name in enumerate(names):
        before = list(values.values())[-2:]
        lean = [sum(column[row] for column in before) / 2 + rng.gauss(0, 1) for row in range(n)]
        if name.isupper():
            values[name] = lean
            table[name] = numbers(lean)
        else:
            r = levels[position % len(levels)]
            order = sorted(range(n), key=lean.__getitem__)
            codes = [0] * n
            for rank, row in enumerate(order):
                codes[row] = rank * r // n
            values[name] = [float(code) for code in codes]
            table[name] = discrete("categorical", codes, r)
    return table


def dataset_of(table: Table) -> Any:
    import numpy as np

    from spinney.dataset import Dataset
    from spinney.kinds import Categorical, Continuous, Ordinal

    kinds: dict[str, Any] = {}
    for name, column in table.items():
        levels = [f"{name}{code}" for code in range(column.levels)]
        if column.kind == CONTINUOUS:
            kinds[name] = Continuous(min(column.values), max(column.values))
        else:
            kinds[name] = Ordinal(levels) if column.kind == "ordinal" else Categorical(levels)
    return Dataset.from_columns(kinds, {name: np.array(column.values) for name, column in table.items()})


def families_of(table: Table, most: int, share: float = 1.0, seed: int = 0) -> list[Family]:
    rng = random.Random(seed)
    every = (
        (child, parents)
        for child in table
        for size in range(most + 1)
        for parents in combinations([name for name in table if name != child], size)
    )
    return [family for family in every if rng.random() < share]
