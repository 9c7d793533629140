"""Simulated tables whose network is known.

In:  how many variables, edges and rows; kinds; a seed.
Out: Simulated: the rows, and the graph that they were drawn from.
mixed() is the simulation of Andrews, Ramsey and Cooper (2018). It is made of the models that the score cg assumes, so
random_network() has others: tables, trees, linear functions and splines."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa

from spinney.choices import Choice, loaded
from spinney.dataset import Dataset
from spinney.errors import ChoiceError, way
from spinney.files import as_path, split_suffix, write_bytes
from spinney.formats import formats_of
from spinney.graph import DAG
from spinney.kinds import Continuous, Kind
from spinney.network import Network
from spinney.sample import check_memory, drawn_kind
from spinney.search.found import Found
from spinney.simulate import functions, holes, models, partitioned
from spinney.simulate.functions import RandomNetwork
from spinney.simulate.graphs import (
    check_kinds,
    check_range,
    check_share,
    check_truth,
    check_whole,
    random_dag,
    random_kinds,
)

__all__ = ["RandomNetwork", "Simulated", "from_network", "mixed", "random_network"]

_LOCALS = {  # the kinds of local models, with the shares of the kinds of columns that they have unless told
    "table": {"categorical": 1.0},
    "tree": {"continuous": 0.5, "categorical": 0.5},
    "linear": {"continuous": 0.5, "categorical": 0.5},
    "spline": {"continuous": 0.5, "categorical": 0.5},
}


@dataclass(frozen=True, eq=False)
class Simulated:
    """Rows, and the graph that they were drawn from. A Dataset has no empty cells. So where cells are missing, `frame`
    is the table with them, `data` what Dataset.from_frame(frame) makes of it, and `complete` the table before."""

    complete: Dataset  # all cells
    truth: DAG
    network: Network | RandomNetwork | None = None  # where the rows are a sample of one
    missing: Mapping[str, holes.Mask] = field(default_factory=dict)  # per column with empty cells: which

    @cached_property
    def frame(self) -> pa.Table:
        """The table as Arrow has it: discrete columns as dictionaries, missing cells null."""
        return holes.frame(self.complete, self.missing)

    @cached_property
    def data(self) -> Dataset:
        """The rows to learn from: all of them, or what reading makes of a table with missing cells (missing="auto")."""
        return Dataset.from_frame(self.frame) if self.missing else self.complete

    def to_arrow(self) -> pa.Table:
        """The same as `frame`."""
        return self.frame

    def to_pandas(self) -> Any:
        """`frame` as a pandas frame."""
        return self.frame.to_pandas() if self.missing else self.complete.to_pandas()

    def write(self, path: str | PathLike[str]) -> None:
        """The table, missing cells empty, in the format that the suffix names: .csv, .parquet and others."""
        if not self.missing:
            self.complete.write(path)
            return
        label = as_path(path)
        suffix, zipped = split_suffix(label)
        able = formats_of("table", "write")
        if suffix not in able:
            raise ChoiceError(f"{label}: {suffix!r} is no table's suffix; choose one of {', '.join(able)}")
        content: bytes | memoryview = loaded(able[suffix].write)(self, suffix)
        write_bytes(gzip.compress(content, mtime=0) if zipped else content, label)

    def write_truth(self, path: str | PathLike[str]) -> None:
        """The true graph, for `spinney compare`: .json or .dot; with its tables or trees where there is a Network."""
        if isinstance(self.network, Network):
            self.network.export(path)
        else:
            parents = {name: tuple(own) for name, own in self.truth.parents.items()}
            Found(parents, math.nan, math.inf, "simulate", 0.0, notes=("the true graph of a simulation",)).write(path)

    def __repr__(self) -> str:
        empty = sum(int(mask.sum()) for mask in self.missing.values())
        return f"Simulated({self.complete.n_rows:,} rows of {self.truth!r}, {empty:,} missing cells)"


def mixed(
    n_variables: int,
    avg_degree: float,
    n_rows: int,
    max_degree: int = 5,
    nonlinear: bool = False,
    discrete_share: float = 0.5,
    seed: int = 0,
    missing: str | Choice | None = None,
    *,
    ordinal_share: float = 0.0,
    levels: tuple[int, int] = (2, 5),
    bins: tuple[int, int] = (2, 5),
    standardise: bool = True,
) -> Simulated:
    """Continuous and discrete columns as in Andrews, Ramsey and Cooper (2018), section 6.

    avg_degree, max_degree: neighbours per variable, on average and at most.
    nonlinear: continuous children depend on squares and cubes of their continuous parents too.
    discrete_share: the probability that a variable is discrete; ordinal_share: that a discrete one is ordinal.
    missing: None, 'mcar(0.1)', 'mar(0.1)' or 'mnar(0.1)': completely at random, depending on another column, or
        depending on the value itself, with the share of cells.
    levels: the fewest and the most of a discrete variable; bins: of a continuous parent of a discrete child.
    standardise: continuous columns have mean 0 and standard deviation 1, as in the paper.

    >>> sp.simulate.mixed(20, 2, 500, seed=1).truth
    """
    _check_seed(seed)
    rows = check_whole(n_rows, "the number of rows", 1)
    discrete, ordinal = check_share(discrete_share, "the share of discrete variables"), ordinal_share
    ordinal = check_share(ordinal, "the share of ordinal variables among the discrete ones")
    sizes, pieces = (
        check_range(levels, "the number of levels", 2),
        check_range(bins, "the number of bins", 1),
    )
    curved, standard = check_truth(nonlinear, "nonlinear"), check_truth(standardise, "standardise")
    truth = random_dag(n_variables, avg_degree, max_degree, seed)
    way_of_holes = holes.chosen(missing, len(truth.names))
    check_memory(rows, len(truth.names))
    shares = {"continuous": 1 - discrete, "categorical": discrete * (1 - ordinal), "ordinal": discrete * ordinal}
    kinds = random_kinds(truth.names, shares, sizes, seed)
    drawn = partitioned.draw(truth, kinds, rows, nonlinear=curved, bins=pieces, seed=seed)
    columns = {name: drawn[name] for name in truth.names}
    if standard:
        for name, kind in kinds.items():
            if isinstance(kind, Continuous):
                columns[name] = partitioned.standardised(columns[name].astype(np.float64))
    complete = Dataset.from_columns({name: drawn_kind(kinds[name], columns[name]) for name in kinds}, columns)
    return Simulated(complete, truth, None, holes.masks(complete, way_of_holes, seed))


def random_network(
    n_variables: int,
    avg_degree: float,
    kinds: str | Mapping[str, float] | Iterable[str] | None = None,
    local: str = "table",
    max_degree: int = 5,
    seed: int = 0,
    *,
    levels: tuple[int, int] = (2, 5),
    alpha: float = 1.0,
) -> Network | RandomNetwork:
    """A random graph with random local models, to sample from.

    kinds: one of categorical, ordinal, continuous; or their shares, {"continuous": 0.5, "ordinal": 0.5}; or a list with
        one for each variable. Without it, all are categorical for 'table', and half are continuous for the others.
    local: 'table' (probability tables), 'tree' (decision trees), 'linear' (linear regressions, softmax and proportional
        odds) or 'spline' (the same with smooth curves). Tables and trees are a Network, the others a RandomNetwork.
    levels: the fewest and the most of a discrete variable.
    alpha: of the Dirichlet distribution of the probabilities in tables and trees; below 1 they are more extreme.

    >>> sp.simulate.random_network(10, 2, local="tree", seed=1).sample(100)
    """
    _check_seed(seed)
    if not isinstance(local, str) or local not in _LOCALS:
        raise ChoiceError(f"there is no local model {local!r}; choose one of {', '.join(_LOCALS)}")
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0.01 <= alpha <= 1e6:
        raise ChoiceError(f"alpha must be a number from 0.01 to 1000000, not {alpha!r}")
    sizes = check_range(levels, "the number of levels", 2)
    truth = random_dag(n_variables, avg_degree, max_degree, seed)
    drawn = random_kinds(truth.names, check_kinds(kinds, len(truth.names), _LOCALS[local]), sizes, seed)
    if local == "table":
        _check_discrete(drawn)
        return models.table_network(truth, drawn, float(alpha), seed)
    if local == "tree":
        return models.tree_network(truth, drawn, float(alpha), seed)
    return functions.function_network(truth, drawn, local, seed)


def from_network(net: Network | RandomNetwork, n: int, seed: int = 0, missing: str | Choice | None = None) -> Simulated:
    """Rows of a network, read, learned or random, with its graph as the truth; missing as in mixed().

    >>> sp.simulate.from_network(net, 200, seed=1, missing="mar(0.1)").frame
    """
    if not isinstance(net, (Network, RandomNetwork)):
        raise ChoiceError(f"cannot draw rows from a {type(net).__name__}; give a Network or a random_network()")
    rows = check_whole(n, "the number of rows", 1)
    way_of_holes = holes.chosen(missing, len(net.names))
    complete = net.sample(rows, seed)
    return Simulated(complete, net.dag, net, holes.masks(complete, way_of_holes, seed))


def _check_seed(seed: Any) -> None:
    check_whole(seed, "the seed", 0)


def _check_discrete(kinds: Mapping[str, Kind]) -> None:
    for name, kind in kinds.items():
        if isinstance(kind, Continuous):
            raise ChoiceError(
                f"tables have discrete variables only, and {name} is continuous",
                "ask for categorical or ordinal ones",
                way("choose {}", "local", "tree"),
            )
