"""Drawing rows from a network.

In:  a network, a number of rows and a seed.
Out: a Dataset with the columns, kinds and levels of the network.
Ancestral sampling, a whole column at a time, parents first. The order of drawing depends on the graph and the names
alone, so the same seed gives the same rows however the columns are ordered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spinney.dataset import Dataset
from spinney.errors import ChoiceError
from spinney.fitted.table import Columns
from spinney.kinds import Ordinal, code_type

if TYPE_CHECKING:
    from spinney.network import Network


def sample(network: Network, n: int, seed: int) -> Dataset:
    """Draw n rows."""
    for word, value in (("the number of rows", n), ("the seed", seed)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise ChoiceError(f"{word} to sample must be a whole number of at least 0, not {value!r}")
    rng = np.random.default_rng(seed)
    columns = Columns(n, {})
    for name in network.dag.order():
        model = network.models[name]
        columns.put(name, model.sample(columns, rng).astype(code_type(model.levels)))
    names = list(network.names)
    return Dataset.from_codes(
        names,
        [columns.codes(name) for name in names],
        [network.models[name].levels for name in names],
        ordinal={name for name in names if isinstance(network.kinds[name], Ordinal)},
    )
