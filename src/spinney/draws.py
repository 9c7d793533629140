"""Parts of a table that are drawn by chance: folds, subsamples, resampled rows.

In:  a Dataset and a seed.
Out: positions of rows, and the Dataset of these rows. The order of the rows and of the columns decides nothing: chance
acts on the rows in an order that their cells decide, where only equal rows are interchangeable."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from spinney.columns import Column
from spinney.dataset import Dataset
from spinney.fingerprint import row_hashes
from spinney.kinds import Continuous, Kind

Rows = npt.NDArray[np.int64]
_WORD = 2**64


def chance(seed: int, *numbers: int) -> np.random.Generator:
    """A generator for the job with these numbers, whichever thread does it, and whenever."""
    return np.random.default_rng([seed % _WORD, *numbers])


def own_seed(seed: int, *numbers: int) -> int:
    """The seed of a search within the job with these numbers."""
    return int(chance(seed, *numbers).integers(2**63))


def by_content(data: Dataset) -> Rows:
    """The positions of the rows in an order that their cells decide."""
    columns = {name: data.codes(name) if data.kinds[name].discrete else data.values(name) for name in data.names}
    return np.argsort(row_hashes(columns, data.order), kind="stable").astype(np.int64)


def folds(order: Rows, count: int, seed: int, repeat: int) -> list[Rows]:
    """The test rows of each fold: every row once."""
    shuffled = chance(seed, repeat).permutation(len(order))
    return [np.sort(order[part]) for part in np.array_split(shuffled, count)]


def subsample(order: Rows, rows: int, seed: int, repeat: int) -> Rows:
    """So many rows without repetition; of one repetition, smaller ones are parts of larger ones."""
    return np.sort(order[chance(seed, repeat).permutation(len(order))[:rows]])


def resample(order: Rows, seed: int, number: int) -> Rows:
    """As many rows as there are, each drawn from all of them."""
    return np.sort(order[chance(seed, number).integers(0, len(order), len(order))])


def part(data: Dataset, rows: npt.NDArray[np.int64]) -> Dataset:
    """These rows as if they had been read alone, but for their levels, which stay.

    An end of a range that the data reaches was found in the data, and is found again in the rows; one beyond the data
    was declared, and stays."""
    taken = data.take(rows)
    columns: dict[str, Column] = {}
    for name in data.names:
        own = taken.values(name) if isinstance(data.kinds[name], Continuous) else taken.codes(name)
        kind = _range_of(data.kinds[name], data.values(name), own) if own.dtype == np.float64 else data.kinds[name]
        columns[name] = Column(kind, data.reasons[name], own)
    return Dataset(columns, len(rows), left_out=data.left_out, cuts=data.cuts, standardise=data.standardise)


def _range_of(kind: Kind, values: npt.NDArray[np.float64], own: npt.NDArray[np.float64]) -> Kind:
    assert isinstance(kind, Continuous) and kind.lo is not None and kind.hi is not None
    low = kind.lo if kind.lo < values.min() else float(own.min())
    high = kind.hi if kind.hi > values.max() else float(own.max())
    return Continuous(low, high)


def others(rows: int, test: Iterable[int]) -> Rows:
    """All rows but these."""
    known = np.ones(rows, dtype=bool)
    known[list(test) if not isinstance(test, np.ndarray) else test] = False
    return np.flatnonzero(known)
