"""What the bindings offer. Arrays are C-contiguous; variables are numbers in sorted order of names."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Sets = Sequence[tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]]
Columns = Sequence[NDArray[np.uint8] | NDArray[np.uint16]]
Lists = Sequence[Sequence[int]]
Report = Callable[[int, int], None] | None

most_dp_variables: int
most_cuttings: float

def dp_bytes(variables: int, threads: int) -> float: ...

class Spec:
    def __init__(
        self,
        name: str,
        parameter: float,
        size_prior: Sequence[float],
        per_parameter: float,
        network_levels: Sequence[int],
        network_tables: Sequence[tuple[Sequence[int], NDArray[np.float64]]],
    ) -> None: ...

class Stop:
    def __init__(self) -> None: ...
    def set(self) -> None: ...

class ScoredSets:
    @property
    def looked(self) -> int: ...
    @property
    def left_out(self) -> int: ...
    @property
    def families(self) -> int: ...
    @property
    def scored(self) -> int: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def late(self) -> bool: ...
    def of(self, child: int) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...

class Table:
    def __init__(self, columns: Columns, levels: Sequence[int]) -> None: ...

class Allowed:
    def __init__(self, candidates: Sequence[Sequence[int] | None], required: Lists, most: Sequence[int]) -> None: ...
    @property
    def candidates(self) -> list[list[int]]: ...
    @property
    def most(self) -> list[int]: ...

class GreedyArgs:
    def __init__(
        self,
        start: Lists,
        allowed: Allowed,
        tabu: int,
        patience: int,
        restarts: int,
        shake: int,
        seed: int,
        time_limit: float,
        threads: int,
    ) -> None: ...
    @property
    def allowed(self) -> Allowed: ...
    @property
    def threads(self) -> int: ...

def prior_joint(spec: Spec, variables: Sequence[int]) -> NDArray[np.float64]: ...
def local_scores(
    table: Table,
    spec: Spec,
    families: Sequence[tuple[int, Sequence[int]]],
    threads: int = 1,
    progress: Report = None,
    time_limit: float = 0.0,
) -> NDArray[np.float64]: ...
def score_parent_sets(
    table: Table,
    spec: Spec,
    allowed: Allowed,
    prune: bool,
    bounds: bool,
    threads: int,
    progress: Report,
    time_limit: float,
) -> ScoredSets: ...
def greedy_counted(table: Table, spec: Spec, args: GreedyArgs, progress: Report) -> dict[str, Any]: ...
def greedy_listed(sets: Sets, args: GreedyArgs, progress: Report) -> dict[str, Any]: ...
def dp(sets: Sets, threads: int, progress: Report, time_limit: float) -> dict[str, Any]: ...
def branching(weights: NDArray[np.float64], may_be_root: Sequence[bool], forest: bool, tie: float) -> list[int]: ...
def order(
    sets: Sets,
    start: Lists,
    runs: int,
    patience: int,
    seed: int,
    threads: int,
    progress: Report,
    time_limit: float,
) -> dict[str, Any]: ...

class TreeSpec:
    def __init__(
        self,
        binned: bool,
        alpha: float,
        mu0: float,
        a: float,
        nu: float,
        lam: float,
        kappa: float,
        ess: float,
        structure_prior: bool,
        log_cuttings: float,
        size_prior: Sequence[float],
    ) -> None: ...

Facts = Sequence[tuple[Any, ...]]

def tree_scores(
    columns: Facts,
    spec: TreeSpec,
    families: Sequence[tuple[int, Sequence[int]]],
    threads: int = 1,
    progress: Report = None,
    time_limit: float = 0.0,
) -> NDArray[np.float64]: ...
def fit_tree(
    columns: Facts, spec: TreeSpec, child: int, parents: Sequence[int], stop: Stop | None = None
) -> dict[str, Any]: ...
def fit_bins(
    columns: Facts, spec: TreeSpec, child: int, parents: Sequence[int], stop: Stop | None = None
) -> list[int]: ...
def score_tree_sets(
    columns: Facts,
    spec: TreeSpec,
    allowed: Allowed,
    prune: bool,
    bounds: bool,
    threads: int,
    progress: Report,
    time_limit: float,
    most_bytes: float = 0.0,
) -> ScoredSets: ...
def greedy_trees(
    columns: Facts, spec: TreeSpec, args: GreedyArgs, progress: Report, most_bytes: float = 0.0
) -> dict[str, Any]: ...
def tree_prior(parents: Sequence[tuple[str, int]]) -> tuple[float, float]: ...

most_graph_levels: int
most_graph_configurations: float

class GraphSpec:
    def __init__(
        self,
        operators: str,
        splits_first: bool,
        filled: bool,
        optimal: bool,
        prior: str,
        ess: float,
        network_levels: Sequence[int],
        network_tables: Sequence[tuple[Sequence[int], NDArray[np.float64]]],
        per_parameter: float,
        mu0: float,
        a: float,
        nu: float,
        lam: float,
        size_prior: Sequence[float],
    ) -> None: ...

def graph_scores(
    columns: Facts,
    spec: GraphSpec,
    families: Sequence[tuple[int, Sequence[int]]],
    threads: int = 1,
    progress: Report = None,
    time_limit: float = 0.0,
) -> NDArray[np.float64]: ...
def fit_graph(
    columns: Facts, spec: GraphSpec, child: int, parents: Sequence[int], stop: Stop | None = None
) -> dict[str, Any]: ...
def graph_moves(
    columns: Facts, spec: GraphSpec, child: int, parents: Sequence[int], steps: int, then: int
) -> dict[str, Any]: ...
def score_graph_sets(
    columns: Facts,
    spec: GraphSpec,
    allowed: Allowed,
    prune: bool,
    threads: int,
    progress: Report,
    time_limit: float,
) -> ScoredSets: ...
def greedy_graphs(columns: Facts, spec: GraphSpec, args: GreedyArgs, progress: Report) -> dict[str, Any]: ...
def local_global(
    columns: Facts,
    spec: GraphSpec,
    allowed: Allowed,
    threads: int,
    progress: Report,
    time_limit: float,
) -> dict[str, Any]: ...

Cluster = tuple[list[int], int]

class Part:
    """Variables that may lie on common cycles, and their families: a child with one of its listed sets."""

    def __init__(self, sets: Sets) -> None: ...
    def __len__(self) -> int: ...
    @property
    def variables(self) -> list[int]: ...
    @property
    def origin(self) -> list[list[int]]: ...
    @property
    def first(self) -> NDArray[np.int32]: ...
    @property
    def child(self) -> NDArray[np.int32]: ...
    @property
    def cost(self) -> NDArray[np.float64]: ...
    @property
    def parents(self) -> list[NDArray[np.int32]]: ...
    @property
    def arrays(self) -> Sets: ...
    @property
    def placed(self) -> list[int]: ...
    def split(self, keep: NDArray[np.bool_]) -> list[Part]: ...
    def ascend(self, time_limit: float) -> dict[str, Any]: ...
    def climb(
        self,
        orders: Lists,
        weights: Sequence[float],
        random: int,
        patience: int,
        seed: int,
        threads: int,
        time_limit: float,
    ) -> dict[str, Any]: ...
    def price(self, clusters: Sequence[Cluster], weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]: ...
    def violated(self, x: NDArray[np.float64], by: float, most: int) -> list[Cluster]: ...
    def rows(self, clusters: Sequence[Cluster]) -> list[tuple[NDArray[np.int32], float, float]]: ...
    def columns(
        self, chosen: NDArray[np.int32], clusters: Sequence[Cluster], at_least: Sequence[bool]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def closing(self, alive: NDArray[np.bool_]) -> list[int]: ...
    def along(self, order: Sequence[int]) -> list[int]: ...
