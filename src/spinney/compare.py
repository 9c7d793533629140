"""The distance between a learned graph and the true one.

In:  two graphs over the same variables: DAG, CPDAG, Network, Found, or a dict child -> parents.
Out: a Comparison; counts of edges and the ratios that papers report.

Edges are compared between the CPDAGs (Tsamardinos, Brown & Aliferis 2006): there a DAG stands for its class.
Arrowheads are those of the graphs as they are handed in: compare(dag, learned.cpdag()) is what Andrews, Ramsey & Cooper
(2018) report, and compare(x, x) is perfect for every x.
A ratio whose denominator is 0 is 1: there was nothing to get wrong, or nothing to find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

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


def compare(truth: Graph, learned: Graph) -> Comparison:
    """Compare a learned graph with the true one, which comes first.

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
    )


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
