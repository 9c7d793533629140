"""How sure is an edge? The same learning on rows that are drawn anew.

In:  a table and a way of learning.
Out: Bootstrap: of how many replicates each pair of columns is joined, and in which direction.

A replicate is as many rows as the table has, each drawn from all of them (Friedman, Goldszmidt and Wyner 1999). Edges
are those of the equivalence class, so that a direction counts where the data gives it: an undirected edge counts half
for either direction.

The averaged network holds the edges whose confidence is above a threshold (Scutari and Nagarajan 2013). If every pair
were sure, confidences would be 0 and 1, and their distribution function a step at t between 0 and 1. The t that is
nearest to the one observed, F, by the area between both, is the median of F(x) over x from 0 to 1, and as F only rises
that is F(1/2). The threshold is its quantile: the largest confidence that is not above 1/2, whatever the other ones
are. So the edges are those of the majority, and the threshold says where the gap below them begins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from typing import Any

from spinney.candidates import CandidateParents
from spinney.choices import Choice
from spinney.constraints import Constraints
from spinney.dataset import Data, as_dataset
from spinney.deadline import Deadline
from spinney.draws import by_content, own_seed, part, resample
from spinney.errors import ChoiceError, FileFormatError
from spinney.formats.plain import json_line, json_value
from spinney.formats.text import read_text, write_text
from spinney.graph import CPDAG, DAG, Edge
from spinney.layout import ROWS, aligned, counted, cut, html_table, word
from spinney.limits import check_limits, whole
from spinney.methods import one_method
from spinney.progress import Progress
from spinney.tasks import Worker, nothing_done, side_by_side

FORMAT, VERSION = "spinney-bootstrap", 1
SHOWN = 0.05  # rarer edges are not shown


@dataclass(frozen=True)
class Confidence:
    """A pair of columns that is joined in some replicates, in its more frequent direction (else by name)."""

    parent: str
    child: str
    adjacency: float  # the share of replicates in which the two are joined
    edge: float  # joined in this direction; an undirected edge counts half
    direction: float  # edge / adjacency


@dataclass(frozen=True)
class Bootstrap:
    """The edges of networks that were learned from resampled rows."""

    names: tuple[str, ...]
    rows: int
    replicates: int  # that are done
    wanted: int
    seed: int
    directed: Mapping[Edge, int] = field(repr=False)  # replicates with parent -> child
    undirected: Mapping[Edge, int] = field(repr=False)  # with an edge without direction, the two in order
    choices: Mapping[str, Any] = field(repr=False)  # what it learned with
    stopped: str = ""  # why not all replicates are done: "time limit" or "interrupted"

    def adjacency(self, one: str, other: str) -> float:
        """The share of replicates in which the two are joined."""
        first, second = self._pair(one, other)
        both = self.directed.get((first, second), 0) + self.directed.get((second, first), 0)
        return (both + self.undirected.get((first, second), 0)) / self.replicates

    def edge(self, parent: str, child: str) -> float:
        """The share of replicates with this edge; an undirected one counts half."""
        half = self.undirected.get(self._pair(parent, child), 0) / 2
        return (self.directed.get((parent, child), 0) + half) / self.replicates

    def direction(self, parent: str, child: str) -> float:
        """Of the replicates in which the two are joined, the share in this direction; 1/2 where they never are."""
        joined = self.adjacency(parent, child)
        return self.edge(parent, child) / joined if joined else 0.5

    def _pair(self, one: str, other: str) -> Edge:
        for name in (one, other):
            if name not in self.names:
                raise ChoiceError(f"there is no column {name!r}; name two columns of the table")
        return (one, other) if one < other else (other, one)

    @cached_property
    def edges(self) -> list[Confidence]:
        """Every pair that is joined in some replicate, the most frequent first."""
        joined = {self._pair(*edge) for edge in (*self.directed, *self.undirected)}
        found = []
        for one, other in sorted(joined):
            forward, back = self.edge(one, other), self.edge(other, one)
            parent, child = (other, one) if back > forward else (one, other)
            confidence = self.adjacency(one, other)
            found.append(Confidence(parent, child, confidence, max(forward, back), max(forward, back) / confidence))
        return sorted(found, key=lambda own: (-own.adjacency, own.parent, own.child))

    @property
    def threshold(self) -> float:
        """Edges with a higher confidence are significant (Scutari and Nagarajan 2013)."""
        pairs = math.comb(len(self.names), 2)
        return significant_above([own.adjacency for own in self.edges] + [0.0] * (pairs - len(self.edges)))

    def averaged(self, threshold: float | None = None) -> DAG:
        """The graph of the edges above the threshold, each in its more frequent direction.

        An edge that would close a cycle is turned, the surer ones first. sp.fit(data, boot.averaged()) makes a network
        of it."""
        if threshold is None:
            threshold = self.threshold
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold < 1:
            raise ChoiceError(f"the threshold is a share from 0 to below 1, not {threshold!r}")
        above = [own for own in self.edges if own.adjacency > threshold]
        ancestors: dict[str, set[str]] = {name: {name} for name in self.names}
        parents: dict[str, list[str]] = {name: [] for name in self.names}
        for own in sorted(above, key=lambda one: (-one.edge, -one.adjacency, one.parent, one.child)):
            parent, child = own.parent, own.child
            if child in ancestors[parent]:
                parent, child = child, parent  # one of the two directions never closes a cycle
            parents[child].append(parent)
            for before in ancestors.values():
                if child in before:
                    before |= ancestors[parent]
        return DAG(self.names, {child: sorted(own) for child, own in parents.items()})

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (word(own.parent), "->", word(own.child), *(f"{n:.3f}" for n in (own.adjacency, own.edge, own.direction)))
            for own in self.edges
            if own.adjacency >= SHOWN
        ]

    def text(self, rows: int | None = ROWS) -> str:
        """The edges with their frequencies; longer lists are cut after so many rows."""
        lines = aligned([_HEAD, *self._rows()], head=True)
        return "\n".join([self._title(), lines[0], *cut(lines[1:], rows, "edge"), self._about()])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Bootstrap({counted(self.replicates, 'replicate')}, {counted(len(self.edges), 'pair')} joined)"

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = self._rows()
        more = f"... and {counted(len(rows) - ROWS, 'more edge')}. " if len(rows) > ROWS else ""
        return html_table(self._title(), _HEAD, rows[:ROWS], more + self._about())

    def _title(self) -> str:
        early = f" of {self.wanted:,} ({self.stopped})" if self.stopped else ""
        return f"edges in {self.replicates:,}{early} replicates of {counted(self.rows, 'row')}"

    def _about(self) -> str:
        above = sum(own.adjacency > self.threshold for own in self.edges)
        return f"threshold {self.threshold:.3f}: {counted(above, 'edge')} above it"

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON: the counts, and what follows from them."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "names": list(self.names),
            "rows": self.rows,
            "replicates": self.replicates,
            "wanted": self.wanted,
            "seed": self.seed,
            "stopped": self.stopped,
            "learned_with": dict(self.choices),
            "directed": [[*edge, count] for edge, count in sorted(self.directed.items())],
            "undirected": [[*pair, count] for pair, count in sorted(self.undirected.items())],
            "threshold": self.threshold,
            "edges": [
                {
                    "parent": own.parent,
                    "child": own.child,
                    "adjacency": own.adjacency,
                    "edge": own.edge,
                    "direction": own.direction,
                }
                for own in self.edges
            ],
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything as JSON: .json or .json.gz."""
        write_text(json_line(self.as_dict()) + "\n", path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Bootstrap:
        """Read what save() wrote."""
        name = fspath(path)
        record = json_value(name, read_text(path))
        if not isinstance(record, dict) or record.get("format") != FORMAT or record.get("version") != VERSION:
            raise FileFormatError(f"{name}: this is no bootstrap that this spinney wrote; write it again")
        try:
            directed, undirected = (
                {(str(a), str(b)): int(n) for a, b, n in record[key]} for key in ("directed", "undirected")
            )
            return cls(
                tuple(map(str, record["names"])),
                int(record["rows"]),
                int(record["replicates"]),
                int(record["wanted"]),
                int(record["seed"]),
                directed,
                undirected,
                dict(record["learned_with"]),
                str(record["stopped"]),
            )
        except (TypeError, ValueError, KeyError) as error:
            raise FileFormatError(
                f"{name}: an entry is missing or not of its kind ({error}); write the file again"
            ) from None


_HEAD = ("parent", "", "child", "joined", "edge", "direction")


def significant_above(confidences: list[float]) -> float:
    """The threshold of Scutari and Nagarajan (2013), as explained above; 0 where no confidence is at most 1/2."""
    return max((own for own in confidences if own <= 0.5), default=0.0)


def bootstrap(
    data: Data,
    score: str | Choice = "auto",
    prior: str | Choice = "uniform",
    search: str | Choice = "auto",
    max_parents: int | None = 3,
    constraints: Constraints | None = None,
    candidates: CandidateParents = None,
    replicates: int = 200,
    seed: int = 0,
    n_jobs: int = -1,
    time_limit: float | None = None,
    progress: Progress = False,
) -> Bootstrap:
    """How sure is every edge: learn from rows that are drawn anew, again and again, and count.

    score, prior, search, max_parents, constraints, candidates: as in learn().
    replicates: how many times.
    n_jobs: how many are learned at a time; the answer does not depend on it.
    time_limit: seconds; at the limit, and at Ctrl-C, the replicates that are done count, and .replicates says how many.

    >>> boot = sp.bootstrap(data, score="bdeu", replicates=20)
    >>> print(boot)
    >>> boot.edges[0].adjacency, boot.threshold
    >>> averaged = sp.fit(data, boot.averaged(), score="bdeu")
    """
    deadline = Deadline(time_limit)
    check_limits(time_limit, seed)
    if not whole(replicates) or replicates < 1:
        raise ChoiceError(f"replicates must be a whole number from 1 on, not {replicates!r}")
    data = as_dataset(data)
    limits = {"max_parents": max_parents, "constraints": constraints, "candidates": candidates}
    method = one_method(data, score, prior, search, **limits)
    order = by_content(data)

    def work(number: int, worker: Worker) -> CPDAG:
        rows = resample(order, seed, number)
        return method.find(part(data, rows), own_seed(seed, number), worker)

    done = side_by_side(range(replicates), work, n_jobs=n_jobs, deadline=deadline, progress=progress, what="replicates")
    if not done.answers:
        raise nothing_done(done.stopped, "the first replicate")
    directed: dict[Edge, int] = {}
    undirected: dict[Edge, int] = {}
    for graph in done.answers.values():
        for edge in graph.directed:
            directed[edge] = directed.get(edge, 0) + 1
        for pair in graph.undirected:
            one, other = sorted(pair)
            undirected[one, other] = undirected.get((one, other), 0) + 1
    return Bootstrap(
        data.names,
        data.n_rows,
        len(done.answers),
        int(replicates),
        int(seed),
        dict(sorted(directed.items())),
        dict(sorted(undirected.items())),
        method.as_dict(),
        done.stopped,
    )
