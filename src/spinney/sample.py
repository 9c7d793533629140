"""Drawing rows from a network.

In:  a network, a number of rows and a seed.
Out: a Dataset with the columns, kinds and levels of the network; see drawn_kind() for ranges.
Ancestral sampling, a whole column at a time, parents first. The order of drawing depends on the graph and the names
alone, so the same seed gives the same rows however the columns are ordered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spinney.dataset import Dataset
from spinney.errors import ChoiceError, LimitError
from spinney.fitted.model import Columns, LocalModel, Numbers
from spinney.kinds import Continuous, Kind
from spinney.machine import available_memory

if TYPE_CHECKING:
    from spinney.network import Network
    from spinney.simulate.functions import RandomNetwork

_BYTES_PER_CELL = 24  # a drawn value, its copy in the Dataset, and what drawing it takes


def sample(network: Network | RandomNetwork, n: int, seed: int) -> Dataset:
    """Draw n rows."""
    for word, value in (("the number of rows", n), ("the seed", seed)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise ChoiceError(f"{word} to sample must be a whole number of at least 0, not {value!r}")
    check_memory(int(n), len(network.names))
    rng = np.random.default_rng(seed)
    columns = Columns(n, {})
    for name in network.dag.order():
        model = network.models[name]
        drawn_now = model.sample(columns, rng)
        columns.put(name, _checked(model, drawn_now, int(n)) if isinstance(model, LocalModel) else drawn_now)
    drawn = {name: columns[name] for name in network.names}
    kinds = {name: drawn_kind(network.kinds[name], column) for name, column in drawn.items()}
    return Dataset.from_columns(kinds, drawn)


def check_memory(rows: int, columns: int) -> None:
    needed = rows * columns * _BYTES_PER_CELL
    if needed > available_memory():
        raise LimitError(
            f"{rows:,} rows of {columns:,} columns need {needed / 1e9:,.1f} GB of memory; ask for fewer rows"
        )


def _checked(model: LocalModel, drawn: Numbers, n: int) -> Numbers:
    """What a model drew; a model from outside may draw by mistake what no column can hold."""
    levels, right = model.family[model.child], drawn.shape == (n,)
    if right and levels is None:
        right = bool(np.isfinite(drawn).all())
    elif right and n and levels is not None:
        right = drawn.dtype.kind in "iu" and int(drawn.min()) >= 0 and int(drawn.max()) < len(levels)
    if not right:
        what = "finite number" if levels is None else "code of a level"
        raise ChoiceError(
            f"the model of {model.child!r} ({model.word}) drew something else than {n} values: its sample() must give "
            f"one {what} per row; correct it"
        )
    return drawn


def drawn_kind(kind: Kind, drawn: Numbers) -> Kind:
    """The network's kind; if values were drawn outside its range, the range drawn, as if the table had been read."""
    if not isinstance(kind, Continuous) or len(drawn) == 0:
        return kind
    lo, hi = float(drawn.min()), float(drawn.max())
    inside = (kind.lo is None or kind.lo <= lo) and (kind.hi is None or hi <= kind.hi)
    return kind if inside and kind.lo is not None and kind.hi is not None else Continuous(lo, hi)
