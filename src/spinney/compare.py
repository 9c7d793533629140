"""The distance between a learned graph and the true one.

In:  two graphs over the same variables: DAG, CPDAG, Network, Found, or a dict child -> parents.
Out: a Comparison; counts of edges and the ratios that papers report.

Edges are compared between the CPDAGs (Tsamardinos, Brown & Aliferis 2006): there a DAG stands for its class.
Arrowheads are those of the graphs as they are handed in: compare(dag, learned.cpdag()) is what Andrews, Ramsey & Cooper
(2018) report, and compare(x, x) is perfect for every x.
A ratio whose denominator is 0 is 1: there was nothing to get wrong, or nothing to find.
Two graphs can also be compared by what they say of interventions: of how many ordered pairs (x, y) would the effect of
x on y be computed wrongly with the learned graph? Peters and Bühlmann (2015) adjust for the parents of x; Henckel,
Würtzen and Weichwald (2024) for other sets too, and for classes. The package gadjid counts them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ChoiceError
from spinney.graph import CPDAG, DAG
from spinney.network import Network
from spinney.search.found import Found

Graph = DAG | CPDAG | Network | Found | Mapping[str, Iterable[str]]


@dataclass(frozen=True)
class Comparison:
    """Counts are over adjacent pairs of the CPDAGs; tp + wd + fn are the true ones, tp + wd + fp the learned ones."""

    shd: int  # structural Hamming distance of the CPDAGs: wd + fp + fn
    shd_dag: int | None  # the same between the DAGs, a reversed edge counts 1; None when a CPDAG was given
    tp: int  # in both, with the same direction
    wd: int  # in both, but with another direction, or directed in one only
    fp: int  # learned only
    fn: int  # true only
    precision: float  # of the skeleton: right among the learned adjacencies
    recall: float  # of the skeleton: found among the true adjacencies
    f1: float
    ahp: float  # arrowheads: right among the learned
    ahr: float  # arrowheads: found among the true
    ahr_common: float  # the same among true arrowheads whose adjacency was found
    # Where asked for: ordered pairs of which the learned graph gives a wrong effect.
    sid: int | None = None  # adjusting for parents, between DAGs; None when a CPDAG was given
    parent_aid: int | None = None  # the same for DAGs and classes
    ancestor_aid: int | None = None  # for ancestors
    oset_aid: int | None = None  # for the sets of the least variance

    @property
    def ap(self) -> float:
        """Adjacency precision, another name of the skeleton's precision."""
        return self.precision

    @property
    def ar(self) -> float:
        """Adjacency recall, another name of the skeleton's recall."""
        return self.recall

    def as_dict(self) -> dict[str, int | float | None]:
        """All numbers by name."""
        return {**asdict(self), "ap": self.ap, "ar": self.ar}


def compare(truth: Graph, learned: Graph, interventions: bool = False) -> Comparison:
    """Compare a learned graph with the true one, which comes first.

    interventions: whether to count the effects that the learned graph gives wrongly (sid and the three aid); it needs
        the package gadjid.

    >>> sp.compare(sp.Network.read("examples/clinic.bif"), net).shd
    """
    true, found = _graph(truth), _graph(learned)
    _check_same_names(true, found)
    agree, wd, fp, fn = _pairs(_cpdag(true), _cpdag(found))
    common = agree + wd
    arrows, found_arrows = _arrows(true), _arrows(found)
    right = len(arrows & found_arrows)
    reachable = len({frozenset(arrow) for arrow in arrows} & found.skeleton())
    both_dags = isinstance(true, DAG) and isinstance(found, DAG)
    return Comparison(
        shd=wd + fp + fn,
        shd_dag=sum(_pairs(true, found)[1:]) if both_dags else None,
        tp=agree,
        wd=wd,
        fp=fp,
        fn=fn,
        precision=_ratio(common, common + fp),
        recall=_ratio(common, common + fn),
        f1=_ratio(common, common + (fp + fn) / 2),
        ahp=_ratio(right, len(found_arrows)),
        ahr=_ratio(right, len(arrows)),
        ahr_common=_ratio(right, reachable),
        **(_interventions(true, found) if interventions else {}),
    )


def _interventions(true: DAG | CPDAG, found: DAG | CPDAG) -> dict[str, int]:
    try:
        import gadjid
    except ImportError:
        raise ChoiceError(
            "distances of interventions need the package gadjid: install it with pip install gadjid"
        ) from None
    for graph, whose in ((true, "true"), (found, "learned")):
        if isinstance(graph, CPDAG) and graph.extension().cpdag() != graph:
            raise ChoiceError(
                f"the {whose} graph has directions that constraints gave, and interventions are compared between DAGs "
                f"and equivalence classes; compare a member of it, such as found.parents"
            )
    place = {name: number for number, name in enumerate(sorted(true.names))}
    pair = [_matrix(graph, place) for graph in (true, found)]
    ways = ["parent_aid", "ancestor_aid", "oset_aid"]
    if isinstance(true, DAG) and isinstance(found, DAG):
        ways.append("sid")
    return {way: int(getattr(gadjid, way)(*pair, edge_direction="from row to column")[1]) for way in ways}


def _matrix(graph: DAG | CPDAG, place: Mapping[str, int]) -> NDArray[np.int8]:
    """1: an edge from the row to the column; 2: one without direction, written once."""
    matrix = np.zeros((len(place), len(place)), np.int8)
    for parent, child in _arrows(graph):
        matrix[place[parent], place[child]] = 1
    for one, other in () if isinstance(graph, DAG) else map(sorted, graph.undirected):
        matrix[place[one], place[other]] = 2
    return matrix


def _graph(given: Graph) -> DAG | CPDAG:
    if isinstance(given, (DAG, CPDAG)):
        return given
    if isinstance(given, Network):
        return given.dag
    if isinstance(given, Found):
        return given.graph
    if isinstance(given, Mapping):
        return DAG(tuple(given), given)
    raise ChoiceError(
        f"cannot compare a {type(given).__name__}: give a DAG, a CPDAG, a Network, a Found or a dict child -> parents"
    )


def _check_same_names(true: DAG | CPDAG, found: DAG | CPDAG) -> None:
    for one, other, whose in ((true, found, "the true graph"), (found, true, "the learned graph")):
        alone = sorted(set(one.names) - set(other.names))
        if alone:
            raise ChoiceError(
                f"{len(alone)} variables are only in {whose} ({alone[0]!r} is the first): compare graphs over the same "
                f"variables, with an entry for the isolated ones too"
            )


def _cpdag(graph: DAG | CPDAG) -> CPDAG:
    return graph.cpdag() if isinstance(graph, DAG) else graph


def _arrows(graph: DAG | CPDAG) -> frozenset[tuple[str, str]]:
    return frozenset(graph.edges) if isinstance(graph, DAG) else graph.directed


def _pairs(true: DAG | CPDAG, found: DAG | CPDAG) -> tuple[int, int, int, int]:
    """Adjacent pairs: the same in both, different in both, only in `found`, only in `true`."""
    here, there = true.skeleton(), found.skeleton()
    common = here & there
    # An undirected edge is the same when neither graph directs the pair.
    different = {frozenset(arrow) for arrow in _arrows(true) ^ _arrows(found)} & common
    return len(common) - len(different), len(different), len(there - here), len(here - there)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 1.0
