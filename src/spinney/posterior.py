"""How probable every edge is: exact sums over all graphs, or Markov chains where there are too many variables for that.

In:  scored parent sets that hold dominated sets too, or data and a score that is the log of a probability.
Out: Posterior: the probability of every edge with its error, of every listed parent set, graphs drawn from the chains.

Two priors on graphs. `modular`: every acyclic graph has the weight that the prior on parent sets gives it, so the
answer is the sum over all graphs. `order`: every order of the variables counts with all graphs that it allows, so a
graph that many orders allow weighs more; this sum is O(n 2^n) where the other one is O(3^n).
"""

from __future__ import annotations

import html
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.candidates import CandidateParents
from spinney.catalog import Score, choose_score
from spinney.choices import Choice
from spinney.constraints import Constraints, allowed_by
from spinney.dataset import Data, Dataset, as_dataset
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, named, way
from spinney.formats.plain import json_line
from spinney.formats.text import write_text
from spinney.layout import aligned, counted, cut, html_table, probability, word
from spinney.limits import LARGEST, check_limits, whole
from spinney.machine import available_memory, threads_for
from spinney.parent_sets import ParentSets
from spinney.progress import Progress, reporting
from spinney.scores import resolved
from spinney.search.found import NoNetwork
from spinney.step1 import score_parent_sets

Floats = NDArray[np.float64]

METHODS = ("auto", "exact", "mcmc")
OVER = ("modular", "order")
_EXACT = {"modular": 18, "order": 22}  # variables up to which auto sums exactly: some ten seconds at the most
_MOST_EXACT = {"modular": 21, "order": _core.most_posterior_variables}  # beyond, exact sums take an hour
_APART = 0.05  # chains that differ by less agree, whatever their errors say


@dataclass(frozen=True)
class Chains:
    """What is known of the chains."""

    chains: int
    samples: tuple[int, ...]  # sweeps that were recorded, per chain
    burn_in: int
    moved: float  # the share of moves of a node to another place
    reversed: float | None  # the share of reversals of an edge that were accepted; None: chains over orders have none
    effective: float  # independent samples that would give the same error, median over the edges in doubt
    least_effective: float  # of the edge that has fewest
    difference: float  # the largest difference between two chains in the probability of an edge
    edge: tuple[str, str] | None  # where that is
    agree: bool

    def as_dict(self) -> dict[str, Any]:
        """All of it by name."""
        return {
            "chains": self.chains,
            "samples": list(self.samples),
            "burn_in": self.burn_in,
            "moved": self.moved,
            "reversed": self.reversed,
            "effective": self.effective,
            "least_effective": self.least_effective,
            "difference": self.difference,
            "edge": None if self.edge is None else list(self.edge),
            "agree": self.agree,
        }


@dataclass(frozen=True, repr=False, eq=False)
class Posterior:
    """The probability of every edge. Rows of matrices are parents and columns are children, in the order of `names`."""

    names: tuple[str, ...]
    edges: Floats  # [parent, child]
    errors: Floats  # one standard error of each; of exact sums a bound on the rounding
    method: str  # exact or mcmc
    over: str  # modular or order
    sets: dict[str, tuple[tuple[tuple[str, ...], float], ...]]  # per child: parent sets by falling probability
    score: str = ""  # of the families; nothing where sets were given
    log_sum: float | None = None  # exact: the log of the sum of e^score over all graphs (or orders and graphs)
    chains: Chains | None = None
    # mcmc: graphs drawn from the chains, in turn; child -> parents
    networks: tuple[dict[str, tuple[str, ...]], ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()
    stopped: str = ""  # why it ended before its time: "time limit", "interrupted"
    seconds: float = 0.0

    def probability(self, parent: str, child: str) -> float:
        """Of the edge parent -> child."""
        return float(self.edges[self._place(parent), self._place(child)])

    def error(self, parent: str, child: str) -> float:
        """One standard error of the edge's probability; of an exact sum a bound on its rounding."""
        return float(self.errors[self._place(parent), self._place(child)])

    @property
    def adjacency(self) -> Floats:
        """The probability that two columns are joined, in either direction."""
        joined: Floats = self.edges + self.edges.T
        return joined

    def table(self, least: float = 0.05) -> list[tuple[str, str, float, float]]:
        """(parent, child, probability, error) of the edges of at least this probability, the most probable first."""
        rows = [
            (self.names[p], self.names[c], float(self.edges[p, c]), float(self.errors[p, c]))
            for p, c in zip(*np.nonzero(self.edges >= least), strict=True)
            if p != c
        ]
        return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ChoiceError(f"there is no column {name!r}; the columns are {', '.join(map(repr, self.names[:8]))}")
        return self.names.index(name)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: no timing, so that equal runs give equal bytes."""
        return {
            "names": list(self.names),
            "edges": self.edges.tolist(),
            "errors": self.errors.tolist(),
            "method": self.method,
            "over": self.over,
            "score": self.score,
            "log_sum": self.log_sum,
            "sets": {child: [[list(own), share] for own, share in sets] for child, sets in self.sets.items()},
            "chains": None if self.chains is None else self.chains.as_dict(),
            "notes": list(self.notes),
            "stopped": self.stopped,
        }

    def write(self, path: str | PathLike[str]) -> None:
        """Write it as JSON: .json or .json.gz."""
        write_text(json_line(self.as_dict()) + "\n", path)

    @property
    def how(self) -> str:
        """How the numbers were made, and how sure they are, in a few words."""
        prior = "every graph counts once" if self.over == "modular" else "every order counts with the graphs it allows"
        if self.chains is None:
            return f"exact sums; {prior}; no probability is off by more than {float(self.errors.max()):.1e}"
        own = self.chains
        agree = "that agree" if own.agree else "THAT DISAGREE"
        return (
            f"{counted(own.chains, 'chain')} {agree}, {counted(sum(own.samples), 'sample')}, about "
            f"{own.effective:,.0f} independent ones; {prior}; largest error {float(self.errors.max()):.2g}"
        )

    def _rows(self, least: float = 0.05) -> list[tuple[str, str, str, str]]:
        return [(word(p), word(c), probability(share), f"{error:.1g}") for p, c, share, error in self.table(least)]

    def text(self, least: float = 0.05, most: int | None = None) -> str:
        """How it was found, and the edges of at least this probability; the first `most` of them."""
        head = f"Posterior of {counted(len(self.names), 'variable')}: {self.how}"
        cells = [(f"{a} -> {b}", share, f"+- {error}") for a, b, share, error in self._rows(least)]
        return "\n".join([head, *cut(aligned(cells), most, "edge")])

    def __repr__(self) -> str:
        return "\n".join([self.text(most=20), *self.notes])

    def _repr_html_(self) -> str:
        """For notebooks: the edges in order, and how they were found."""
        table = html_table(
            f"Edges of {counted(len(self.names), 'variable')}",
            ("parent", "child", "probability", "error"),
            self._rows(),
        )
        return f"{table}<p>{html.escape(self.how)}</p>" + "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)


def posterior(
    data: Data | ParentSets,
    score: str | Choice = "auto",
    prior: str | Choice = "uniform",
    *,
    over: str = "modular",
    method: str = "auto",
    max_parents: int | None = 3,
    constraints: Constraints | None = None,
    candidates: CandidateParents = None,
    samples: int = 1000,
    burn_in: int | None = None,
    chains: int = 2,
    networks: int = 100,
    time_limit: float | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    progress: Progress = False,
) -> Posterior:
    """The probability of every edge, summed over all graphs.

    data: a table; or scored parent sets, of score_parent_sets(..., prune=False) with a Bayesian score.
    score: of a table; it must be the log of a probability. auto: bdeu where all columns are discrete, else
        pcart(average=True).
    prior: on parent sets, as in learn().
    over: "modular", every graph counts once under the prior on parent sets; or "order", every order of the columns
        counts with all graphs that it allows.
    method: "exact" sums, "mcmc", or "auto": exact up to 18 columns (22 over orders).
    samples, burn_in, chains: of mcmc, sweeps that are recorded and that are not (half as many), and independent chains.
    networks: of mcmc, how many graphs are kept for Posterior.networks.
    time_limit: seconds. At the limit, and at Ctrl-C, chains give what they have; exact sums have nothing to give.

    >>> found = sp.posterior(data)
    >>> found.probability("smoker", "heart"), found.table(least=0.5)
    """
    check_limits(time_limit, seed)
    _check(over, method, samples, burn_in, chains, networks)
    began, deadline, threads = time.perf_counter(), Deadline(time_limit), threads_for(n_jobs)
    notes: list[str] = []
    asked = ""
    if isinstance(data, ParentSets):
        sets = data if constraints is None else data.within(allowed_by(constraints, data.names, max_parents))
        notes += _of_the_list(sets)
    else:
        table = as_dataset(data)
        choice = resolved(table, score_for_sums(table, score), Deadline(deadline.left(0.5)), threads)
        asked = str(choice)
        sets = score_parent_sets(
            table,
            choice,
            prior,
            max_parents,
            candidates,
            constraints,
            prune=False,
            bounds=False,
            n_jobs=n_jobs,
            progress=progress,
            time_limit=deadline.left(0.5),
            seed=seed,
        )
        notes += [*table.notes, *([choice.why] if choice.why else [])]
    if sets.over:
        notes.append(f"the sum is over {sets.over}")
    n = len(sets.names)
    way_of = method if method != "auto" else "exact" if n <= _EXACT[over] else "mcmc"
    half = max(1, samples // 2) if burn_in is None else burn_in
    with reporting(progress, "summing over graphs" if way_of == "exact" else "walking over graphs") as report:
        if way_of == "exact":
            _check_exact(n, over, threads)
            found = _exact(sets, over, threads, report, deadline)
        else:
            found = _walked(sets, over, threads, report, deadline, (chains, half, samples, networks, seed % 2**64))
    return _named(sets, found, way_of, over, asked, notes, time.perf_counter() - began)


def score_for_sums(data: Dataset, score: str | Choice) -> Choice:
    """The score whose e^score may be summed: a probability, and not that of the best local model of many."""
    choice = choose_score(score)
    if choice.name == "auto":
        discrete = all(kind.discrete for kind in data.kinds.values())
        return resolved(data, "auto") if discrete else choose_score("pcart(average=True)")
    entry = choice.entry
    assert isinstance(entry, Score)
    if entry.as_evidence(choice) is None:
        raise ChoiceError(
            f"score {choice.name} is not the log of a probability, so sums over graphs mean nothing",
            way("use {}", "score", "bdeu"),
            way("use {}", "score", "pcart(average=True)"),
        )
    if entry.best_of and not (isinstance(entry.best_of, str) and choice[entry.best_of]):
        raise ChoiceError(
            f"score {choice.name} is that of the best local model of each family, and a sum over graphs needs the sum "
            f"over all of them",
            way("use {}", "score", "pcart(average=True)"),
            way("use {} where all columns are discrete", "score", "bdeu"),
        )
    asked = entry.as_evidence(choice)
    assert asked is not None
    return asked


def _of_the_list(sets: ParentSets) -> list[str]:
    if sets.pruned_for is not None:
        raise ChoiceError(
            "the parent sets were pruned: sets that are in no best network are missing, but they belong to a sum",
            "score them with sp.score_parent_sets(data, prune=False)",
        )
    if sets.pruned is None:
        return ["the parent sets may have been pruned; the sum is over those that are listed"]
    return []


def _check(over: str, method: str, samples: int, burn_in: int | None, chains: int, networks: int) -> None:
    for name, value, words in (("over", over, OVER), ("method", method, METHODS)):
        if value not in words:
            raise ChoiceError(f"{named(name)} is one of {', '.join(words)}, not {value!r}")
    for name, number, least in (
        ("samples", samples, 1),
        ("burn_in", 0 if burn_in is None else burn_in, 0),
        ("chains", chains, 2),
        ("networks", networks, 0),
    ):
        if not whole(number) or not least <= number <= (1000 if name == "chains" else LARGEST):
            raise ChoiceError(f"{named(name)} must be a whole number of at least {least}, not {number!r}")


def _check_exact(n: int, over: str, threads: int) -> None:
    if n > _MOST_EXACT[over]:
        raise LimitError(
            f"exact sums over {n} columns ({over}) would take too long: they are for {_MOST_EXACT[over]} at the most",
            way("use {}", "method", "mcmc"),
        )
    need, there = _core.exact_posterior_bytes(n, over == "order", threads), available_memory()
    if need > 0.8 * there:
        raise LimitError(
            f"exact sums over {n} columns need {need / 2**30:,.1f} GiB of memory and {there / 2**30:,.1f} GiB are free",
            way("use {}", "method", "mcmc"),
            way("lower {}", "n_jobs"),
        )


@dataclass
class _Sums:
    """What a method found: per child the probability of every listed set, and of every edge with its error."""

    sets: list[Floats]
    edges: Floats
    errors: Floats
    log_sum: float | None = None
    chains: Chains | None = None
    networks: list[list[list[int]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped: str = ""


def _exact(sets: ParentSets, over: str, threads: int, report: Any, deadline: Deadline) -> _Sums:
    found = _core.exact_posterior(sets.arrays, over == "order", threads, report, deadline.left() or 0.0)
    if found["stopped"] == "interrupted":
        raise KeyboardInterrupt
    if found["stopped"]:
        raise LimitError(
            "the time limit came before the exact sums were ready, and they have no first answer",
            way("use {}", "method", "mcmc"),
            way("raise {}", "time_limit"),
        )
    if not found["feasible"]:
        raise NoNetwork
    n = len(sets.names)
    edges = np.zeros((n, n))
    for child, ((_, sizes, members), shares) in enumerate(zip(sets.arrays, found["sets"], strict=True)):
        np.add.at(edges[:, child], members, np.repeat(shares, sizes))
    errors = np.full((n, n), min(1.0, found["rounding"]))
    np.fill_diagonal(errors, 0.0)
    return _Sums(found["sets"], np.clip(edges, 0.0, 1.0), errors, found["log_sum"])


def _walked(
    sets: ParentSets, over: str, threads: int, report: Any, deadline: Deadline, choices: tuple[int, int, int, int, int]
) -> _Sums:
    chains, burn_in, samples, networks, seed = choices
    n = len(sets.names)
    if n > _core.most_chain_variables:
        raise LimitError(
            f"chains are for {_core.most_chain_variables} columns at the most, not {n}; take fewer columns"
        )
    found = _core.posterior_chains(
        sets.arrays, over == "order", chains, burn_in, samples, seed, -(-networks // chains), min(threads, chains),
        report, deadline.left() or 0.0,
    )  # fmt: skip
    if not found["feasible"]:
        raise NoNetwork
    walks = found["chains"]
    if any(len(walk["batches"]) < 4 for walk in walks) and found["stopped"]:
        if found["stopped"] == "interrupted":
            raise KeyboardInterrupt
        raise LimitError(
            "the time limit came before every chain had four samples",
            way("raise {}", "time_limit"),
            way("lower {}", "burn_in"),
        )
    total = sum(walk["samples"] for walk in walks)
    means = np.array([_mean(walk) for walk in walks]).reshape(chains, n, n)
    weights = np.array([walk["samples"] / total for walk in walks])
    edges = np.tensordot(weights, means, 1)
    own = np.array([_variance(walk) for walk in walks]).reshape(chains, n, n)
    within = np.tensordot(weights**2, own, 1)
    between = means.var(axis=0, ddof=1) / chains
    shares = [
        sum(walk["sets"][child] for walk in walks) / total for child in range(n)
    ]  # of every listed set, over all chains
    drawn = [one for turn in zip(*(walk["networks"] for walk in walks), strict=False) for one in turn][:networks]
    known = _diagnosed(sets.order, walks, burn_in, means, own, edges, within, over)
    notes = []
    if not known.agree and known.edge is not None:
        parent, child = known.edge
        notes.append(
            f"the chains disagree: the edge {parent!r} -> {child!r} differs by {known.difference:.2f} between two of "
            f"them, so no probability is to be relied on; raise samples"
        )
    errors = np.sqrt(np.maximum(within, between))
    return _Sums(shares, edges, errors, None, known, drawn, notes, found["stopped"])


def _batches(walk: dict[str, Any]) -> Floats:
    """The means of the whole batches."""
    length, whole_ones = walk["batch_length"], walk["samples"] // walk["batch_length"]
    batches: Floats = np.array(walk["batches"][:whole_ones]) / length
    return batches


def _mean(walk: dict[str, Any]) -> Floats:
    total: Floats = np.sum(walk["batches"], axis=0) / walk["samples"]
    return total


def _variance(walk: dict[str, Any]) -> Floats:
    """Of the mean, from the means of batches, which are long enough to be nearly independent (Geyer 1992)."""
    batches = _batches(walk)
    variance: Floats = (
        batches.var(axis=0, ddof=1) / len(batches) if len(batches) > 1 else np.full(batches.shape[1:], 0.25)
    )
    return variance


def _diagnosed(
    names: Sequence[str],
    walks: Sequence[dict[str, Any]],
    burn_in: int,
    means: Floats,
    own: Floats,
    edges: Floats,
    within: Floats,
    over: str,
) -> Chains:
    apart = means.max(axis=0) - means.min(axis=0)
    allowed = np.maximum(_APART, 4 * np.sqrt(own.sum(axis=0)))
    place = np.unravel_index(int(np.argmax(apart)), apart.shape)
    doubtful = (edges > 0.05) & (edges < 0.95)
    samples = tuple(walk["samples"] for walk in walks)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where(within > 0, edges * (1 - edges) / within, np.inf)[doubtful]
    effective = effective if effective.size else np.array([float(sum(samples))])
    moves = np.sum([walk["moves"] for walk in walks], axis=0)
    return Chains(
        len(walks),
        samples,
        burn_in,
        float(moves[1] / moves[0]) if moves[0] else 0.0,
        None if over == "order" else float(moves[3] / moves[2]) if moves[2] else 0.0,
        _finite(float(np.median(effective)), samples),
        _finite(float(effective.min()), samples),
        float(apart.max()),
        (names[int(place[0])], names[int(place[1])]) if apart.max() > 0 else None,
        bool((apart <= allowed).all()),
    )


def _finite(value: float, samples: Sequence[int]) -> float:
    return value if math.isfinite(value) else float(sum(samples))


def _named(
    sets: ParentSets, found: _Sums, method: str, over: str, score: str, notes: list[str], seconds: float
) -> Posterior:
    """By name, in the order of the columns."""
    order, names = sets.order, sets.names
    rank = [order.index(name) for name in names]
    probable = {}
    for child in names:
        at = order.index(child)
        _, sizes, members = sets.arrays[at]
        ends = np.cumsum(sizes)
        likely = [i for i in np.argsort(-found.sets[at], kind="stable").tolist() if found.sets[at][i] >= 1e-6]
        probable[child] = tuple(
            (tuple(order[p] for p in members[ends[i] - sizes[i] : ends[i]]), float(found.sets[at][i])) for i in likely
        )
    drawn = tuple(
        {name: tuple(order[p] for p in graph[order.index(name)]) for name in names} for graph in found.networks
    )
    return Posterior(
        names,
        np.ascontiguousarray(found.edges[np.ix_(rank, rank)]),
        np.ascontiguousarray(found.errors[np.ix_(rank, rank)]),
        method,
        over,
        probable,
        score,
        found.log_sum,
        found.chains,
        drawn,
        (*notes, *found.notes),
        found.stopped,
        seconds,
    )
