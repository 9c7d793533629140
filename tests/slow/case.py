"""A table small enough to enumerate, and how it is drawn at random.

In:  names, declared numbers of levels, columns of codes.
Out: a Case for the slow twins; `case.data()` is the same table as a spinney Dataset."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st


@dataclass(frozen=True)
class Case:
    """Columns of codes 0..size-1; a size may be larger than what occurs (declared but unseen levels)."""

    sizes: dict[str, int]
    columns: dict[str, list[int]]

    @property
    def names(self) -> list[str]:
        return list(self.sizes)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def levels(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name}{code}" for code in range(self.sizes[name]))

    def row(self, index: int) -> dict[str, int]:
        return {name: self.columns[name][index] for name in self.names}

    def data(self) -> Any:
        import numpy as np

        from spinney.dataset import Dataset

        return Dataset.from_codes(
            self.names,
            [np.asarray(self.columns[name], dtype=np.uint8) for name in self.names],
            [self.levels(name) for name in self.names],
        )

    def with_column(self, name: str, codes: list[int]) -> Case:
        return replace(self, columns={**self.columns, name: codes})

    def with_row(self, row: dict[str, int]) -> Case:
        return replace(self, columns={name: [*self.columns[name], row[name]] for name in self.names})

    def with_rows_in_order(self, order: list[int]) -> Case:
        return replace(self, columns={name: [column[row] for row in order] for name, column in self.columns.items()})

    def with_columns_in_order(self, order: list[str]) -> Case:
        return Case({name: self.sizes[name] for name in order}, {name: self.columns[name] for name in order})


def dependent_case(sizes: dict[str, int], n_rows: int, seed: int, noise: float = 0.4, unseen: bool = False) -> Case:
    """Every column leans on the sum of up to two earlier ones, so that scores have something to find.

    With `unseen`, the highest level of every column of three or more levels never occurs."""
    rng = random.Random(seed)
    columns: dict[str, list[int]] = {}
    for position, name in enumerate(sizes):
        earlier = rng.sample(sorted(columns), min(2, position))
        top = sizes[name] - 1 if unseen and sizes[name] > 2 else sizes[name]
        columns[name] = [
            rng.randrange(top) if not earlier or rng.random() < noise else sum(columns[e][row] for e in earlier) % top
            for row in range(n_rows)
        ]
    return Case(dict(sizes), columns)


@st.composite
def cases(draw: Any, columns: tuple[int, int] = (1, 4), rows: tuple[int, int] = (1, 12), top_size: int = 4) -> Case:
    """Any table within the limits; single-level columns, unseen levels and equal columns all come up."""
    names = draw(st.permutations("abcdefgh"))[: draw(st.integers(*columns))]
    n_rows = draw(st.integers(*rows))
    sizes = {name: draw(st.integers(1, top_size)) for name in names}
    codes = {
        name: draw(st.lists(st.integers(0, size - 1), min_size=n_rows, max_size=n_rows)) for name, size in sizes.items()
    }
    return Case(sizes, codes)
