"""Missing cells in a simulated table.

In:  a complete Dataset, a word with a share ("mar(0.2)"), a seed.
Out: per column which cells are missing; and the table as an Arrow table with these cells empty.
Rubin (1976) names the three ways. The probability that a cell is missing rises (or falls, by chance) along the ranks
of a column, from 0 to twice the share; the mean over the rows is the share, whatever the column's distribution."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spinney.choices import Choice, Entry, Option, Rows
from spinney.dataset import Dataset
from spinney.errors import ChoiceError
from spinney.kinds import Ordinal
from spinney.simulate.graphs import HOLES, generator

Mask = npt.NDArray[np.bool_]

_SHARE = (Option("share", 0.1, "the expected share of empty cells in a column that has any", low=0, high=1),)
MISSING: Rows[Entry] = Rows(
    "way in which cells are missing",
    (
        Entry("mcar", "completely at random: every cell with the same probability", options=_SHARE),
        Entry("mar", "at random: depending on another column, which has no empty cells", options=_SHARE),
        Entry("mnar", "not at random: depending on the value of the cell itself", options=_SHARE),
    ),
)
_COMPLETE = 4  # mar: one column in so many has no empty cells


def chosen(missing: str | Choice | None, n_variables: int) -> Choice | None:
    """The choice that is named, checked before anything is drawn."""
    if missing is None:
        return None
    choice = MISSING.choose(missing)
    if choice.name == "mar" and n_variables < 2:
        raise ChoiceError("mar empties cells depending on another column, and there is only one; ask for two or more")
    return choice


def masks(data: Dataset, missing: Choice | None, seed: int) -> dict[str, Mask]:
    """Per column with empty cells: which. Each column has its own generator."""
    if missing is None:
        return {}
    share, rng = float(missing["share"]), generator(seed, HOLES)
    names = data.names
    never = -(-len(names) // _COMPLETE) if missing.name == "mar" else 0
    complete = rng.permutation(len(names))[:never].tolist()
    found = {}
    for at, name in enumerate(names):
        own = generator(seed, HOLES, at)
        if at in complete:
            continue
        if missing.name == "mcar":
            probability = np.full(data.n_rows, share)
        else:
            decides = name if missing.name == "mnar" else names[int(own.choice(complete))]
            rank = _ranks(data, decides)
            probability = _along(rank if own.random() < 0.5 else 1 - rank, share)
        found[name] = own.random(data.n_rows) < probability
    return found


def _ranks(data: Dataset, name: str) -> npt.NDArray[np.float64]:
    """From 0 to 1, equal values in the middle of their places, so that the mean is 1/2."""
    column = data.codes(name) if data.kinds[name].discrete else data.values(name)
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(column)
    ranks: npt.NDArray[np.float64] = middle[place]
    return ranks


def _along(rank: npt.NDArray[np.float64], share: float) -> npt.NDArray[np.float64]:
    """Probabilities with this mean: 0 to twice the share; where that is above 1, to 1, from what keeps the mean."""
    return 2 * share * rank if share <= 0.5 else 1 - 2 * (1 - share) * (1 - rank)


def frame(data: Dataset, empty: Mapping[str, Mask]) -> pa.Table:
    """As Dataset.to_arrow(), with these cells empty."""
    if not empty:
        return data.to_arrow()
    return pa.table({name: _column(data, name, empty.get(name)) for name in data.names})


def _column(data: Dataset, name: str, empty: Mask | None) -> pa.Array:
    kind = data.kinds[name]
    if not kind.discrete:
        return pa.array(data.values(name), mask=empty)
    indices = pa.array(data.codes(name).astype(np.int32), mask=empty)
    return pa.DictionaryArray.from_arrays(
        indices, pa.array(data.levels(name), pa.string()), ordered=isinstance(kind, Ordinal)
    )
