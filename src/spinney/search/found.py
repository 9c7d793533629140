"""What a search is given, and what it gives back.

In:  Problem: scored parent sets or a source to ask, the constraints resolved, the chosen method and its limits.
Out: Found: a DAG or a class of them, its score, a true upper bound, and the way there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from spinney.choices import Choice
from spinney.constraints import Allowed
from spinney.errors import ChoiceError
from spinney.graph import CPDAG, DAG
from spinney.job import Job
from spinney.machine import available_memory
from spinney.parent_sets import ParentSets
from spinney.progress import Progress

if TYPE_CHECKING:
    from spinney.fitted.model import LocalModel
    from spinney.scores.source import Source

FORMAT, VERSION = "spinney-found", 1  # of the file
ROUNDING = 1e-15  # sums of the same numbers in another order differ by about this share of their sizes


def memory_for(method: Choice) -> float:
    """Bytes that the search may take."""
    free, limit = available_memory(), float(method.values.get("memory_limit", 0.0)) * 2**30
    return min(free, limit) if limit else free


@dataclass(frozen=True)
class Problem:
    """What a search works on: scored parent sets, or the source of a job to ask as it goes."""

    job: Job
    method: Choice
    sets: ParentSets | None = None
    start: Mapping[str, tuple[str, ...]] | None = None
    time_limit: float | None = None  # seconds for this search

    @property
    def allowed(self) -> Allowed:
        return self.job.allowed

    @property
    def source(self) -> Source:
        """REQUIRES: there are no sets."""
        assert self.job.source is not None
        return self.job.source

    @property
    def threads(self) -> int:
        return self.job.threads

    @property
    def seed(self) -> int:
        return self.job.seed % 2**64

    @property
    def progress(self) -> Progress:
        return self.job.progress

    def named(self, numbers: Sequence[Sequence[int]]) -> dict[str, tuple[str, ...]]:
        """The parents of every child by name."""
        names = self.allowed.names
        return {child: tuple(names[p] for p in own) for child, own in zip(names, numbers, strict=True)}

    def bound(self) -> float:
        """Every child with its best set, cycles or not: no DAG scores above. Infinite when the sets are not known."""
        if self.sets is None:
            return math.inf
        return math.fsum(float(scores[0]) for scores, _, _ in self.sets.arrays)

    def start_lists(self) -> list[list[int]]:
        return self.allowed.numbers(self.start if self.start is not None else self.allowed.required)


class NoNetwork(ChoiceError):
    """The listed parent sets allow no network without a cycle."""

    def __init__(self) -> None:
        super().__init__(
            "the listed parent sets allow no network without a cycle; list more sets, or the empty one for every "
            "variable"
        )


@dataclass(frozen=True)
class Alternative:
    parents: dict[str, tuple[str, ...]]
    score: float


@dataclass(frozen=True)
class Separation:
    """Two columns that are independent given others, by a test."""

    x: str
    y: str
    given: tuple[str, ...]
    p_value: float


@dataclass(frozen=True)
class Found:
    """What a search found. bound is over the candidate parent sets that were scored (`over` names them where that is
    not all); gap is (bound - score) / |score|."""

    parents: dict[str, tuple[str, ...]]
    score: float
    bound: float
    method: str
    seconds: float
    trace: tuple[tuple[float, float, float], ...] = ()  # (seconds, score, bound)
    stopped: str = ""  # why it ended before its time: "time limit", "interrupted", "gap reached", "node limit"
    counts: tuple[tuple[str, float, int], ...] = ()  # (stage, seconds, sets left), where a search has stages
    alternatives: tuple[Alternative, ...] = ()  # the next best networks, best first, where k asked for them
    notes: tuple[str, ...] = ()  # what a reader of the result should know
    models: Mapping[str, LocalModel] | None = None  # the local models, where the search makes them on its way
    local: Mapping[str, float] | None = None  # the local scores, where the search knows them
    left_out: int = 0  # families that would have needed too much memory
    over: str = ""  # what the bound is about, where some parent sets were not scored; nothing: all candidate sets
    cpdag: CPDAG | None = None  # where the search returns a class; `parents` is then a member of it
    # Where tests decided: the pairs that are not joined, with what parts them; those that nothing need be given for are
    # not listed.
    separations: tuple[Separation, ...] | None = None

    @classmethod
    def of_class(cls, cpdag: CPDAG, score: float, bound: float, method: str, seconds: float, **more: Any) -> Found:
        """The answer of a search that returns a Markov equivalence class; its member is the consistent extension."""
        parents = {name: tuple(own) for name, own in cpdag.extension().parents.items()}
        return cls(parents, score, bound, method, seconds, cpdag=cpdag, **more)

    @property
    def graph(self) -> DAG | CPDAG:
        """The DAG, or the graph of the class where the search returns one."""
        return DAG(tuple(self.parents), self.parents) if self.cpdag is None else self.cpdag

    def write(self, path: str | PathLike[str]) -> None:
        """Write it in the format that the suffix names: .json (all but the timings) or .dot (the graph only)."""
        from spinney import formats

        formats.write(self, path, "graph")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Found:
        """Read what write() wrote as .json."""
        from spinney import formats

        found: Found = formats.read(path, "graph")
        return found

    @property
    def optimal(self) -> bool:
        """Proven the best of all candidate parent sets."""
        return self.closed and not self.over

    @property
    def closed(self) -> bool:
        """The bound meets the score: the best over the sets that were scored."""
        return self.bound - self.score <= 10 * ROUNDING * abs(self.score)

    @property
    def certainty(self) -> str:
        """How far the score can be from the best, in a few words."""
        if self.closed:
            return f"the best over {self.over}" if self.over else "proven optimal"
        return f"gap {100 * self.gap:.2f} %" if math.isfinite(self.bound) else self.unproven

    @property
    def unproven(self) -> str:
        """Why there is no bound: chow-liu and tan find the best tree, and other networks may score more."""
        if self.separations is not None:
            return "no proof (tests of independence decide the edges)"
        tree = self.method.startswith(("chow-liu", "tan")) and not self.stopped
        return "no proof (the best tree; other networks may score more)" if tree else "no proof (local search)"

    @property
    def gap(self) -> float:
        """(bound - score) / |score|: no network is better by more than this share."""
        if self.closed:
            return 0.0
        return (self.bound - self.score) / abs(self.score) if self.score else math.inf

    def as_dict(self) -> dict[str, Any]:
        """For JSON: no timing, and null for what is not known, so that equal runs give equal bytes."""
        known = math.isfinite(self.bound)
        graph = self.graph
        directed, undirected = (graph.edges, ()) if isinstance(graph, DAG) else (graph.directed, graph.undirected)
        return {
            "format": FORMAT,
            "version": VERSION,
            "returns": "dag" if self.cpdag is None else "class",
            "edges": [list(edge) for edge in sorted(directed)],
            "undirected": sorted(sorted(pair) for pair in undirected),
            "method": self.method,
            "score": self.score,
            "bound": self.bound if known else None,
            "gap": self.gap if known else None,
            "optimal": self.optimal,
            "over": self.over,
            "stopped": self.stopped,
            "notes": list(self.notes),
            "parents": {child: list(parents) for child, parents in self.parents.items()},
            "alternatives": [
                {"score": other.score, "parents": {child: list(own) for child, own in other.parents.items()}}
                for other in self.alternatives
            ],
            **({} if self.local is None else {"local_scores": dict(self.local)}),
            **({} if self.separations is None else {"separations": [_plain(own) for own in self.separations]}),
        }


def _plain(separation: Separation) -> dict[str, Any]:
    pair = [separation.x, separation.y]
    return {"pair": pair, "given": list(separation.given), "p_value": separation.p_value}
