"""Would the same structure have been found on fewer rows? Intersection-validation (Viinikka, Eggeling, Koivisto 2018).

In:  a table and two or more ways of learning; or the networks that other programs learned from its subsamples.
Out: Stability: per method and size of subsample the partial Hamming distance, with its standard error.

Features: the state of every pair of columns in the graph of the equivalence class, which is one of: not joined, joined
without a direction, directed one way, directed the other way. The pairs whose state is the same in the graphs that all
methods learn from the whole table are agreed on; these states stand for the truth. The partial Hamming distance of a
graph is the number of agreed pairs that have another state in it: the structural Hamming distance of the classes,
restricted to these pairs. On the whole table it is 0 for every method, by definition.

It compares methods with each other. It says nothing of a mistake that all of them share, and where they agree on no
edge, the sparsest method is the nearest one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spinney.candidates import CandidateParents
from spinney.constraints import Constraints
from spinney.dataset import Data, Dataset, as_dataset
from spinney.deadline import Deadline
from spinney.draws import by_content, own_seed, part, subsample
from spinney.errors import ChoiceError, FileFormatError
from spinney.evaluate.answers import Answer, Shown, cell, new_figure
from spinney.evaluate.held_out import pair_table
from spinney.evaluate.pairs import Floats, Pair, mean_and_error, pairs_of
from spinney.formats import formats_of, read_graph
from spinney.graph import CPDAG
from spinney.layout import counted
from spinney.limits import check_limits, whole
from spinney.methods import Method, Scores, Several, methods, shared_by, side_by_prior
from spinney.network import Network
from spinney.progress import Progress
from spinney.search import Found
from spinney.tasks import Worker, nothing_done, side_by_side

PARTS = (64, 32, 16, 8, 4, 2)  # 1/64 of the rows to 1/2
WHOLE = "full"  # the name of the whole table among files of subsamples

States = npt.NDArray[np.int8]  # of all pairs of columns, in sorted order
APART, JOINED, FORWARD, BACKWARD = range(4)  # forward: from the earlier name to the later one


def states(graph: CPDAG, names: Sequence[str]) -> States:
    """The state of every pair of these names."""
    ordered = sorted(names)
    place = {pair: number for number, pair in enumerate(combinations(ordered, 2))}
    found = np.full(len(place), APART, np.int8)
    for pair in graph.undirected:
        one, other = sorted(pair)
        found[place[one, other]] = JOINED
    for parent, child in graph.directed:
        forward = parent < child
        found[place[(parent, child) if forward else (child, parent)]] = FORWARD if forward else BACKWARD
    return found


def agreed(whole_table: Sequence[States]) -> npt.NDArray[np.bool_]:
    """The pairs that are in the same state in all graphs."""
    first = whole_table[0]
    same: npt.NDArray[np.bool_] = np.all([own == first for own in whole_table], axis=0)
    return same


def partial_distance(truth: States, on: npt.NDArray[np.bool_], learned: States) -> int:
    """How many of the pairs `on` which all agree have another state."""
    return int(((truth != learned) & on).sum())


@dataclass(frozen=True, eq=False)
class Stability(Answer):
    """Partial Hamming distances of what is learned from subsamples, per method and part of the rows."""

    rows: int
    seed: int
    repeats: int
    parts: tuple[int, ...]  # 64 stands for 1/64 of the rows
    distances: dict[str, dict[int, Floats]] = field(repr=False)  # per method and part, of every repetition
    pairs_agreed: int  # pairs of columns that are in the same state in all graphs from the whole table
    pairs_total: int
    edges_agreed: tuple[tuple[str, str, str], ...] = field(repr=False)  # of these the edges: (a, "->" or "--", b)
    edges: dict[str, int] = field(repr=False)  # per method, in its graph from the whole table
    choices: dict[str, dict[str, Any]] = field(repr=False)
    stopped: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of what is compared."""
        return tuple(self.distances)

    def mean(self, method: str, part: int) -> float:
        """The mean distance over the repetitions with 1/part of the rows."""
        return mean_and_error(self._values(method, part))[0]

    def error(self, method: str, part: int) -> float:
        """Its standard error."""
        return mean_and_error(self._values(method, part))[1]

    def _values(self, method: str, part: int) -> Floats:
        if method not in self.distances:
            raise ChoiceError(f"there is no method {method!r}; choose one of {', '.join(map(repr, self.methods))}")
        if part not in self.parts:
            raise ChoiceError(f"1/{part} of the rows was not tried; choose one of {', '.join(map(str, self.parts))}")
        return self.distances[method][part]

    def pairs(self, part: int) -> list[Pair]:
        """Every two methods on 1/part of the rows; "win" means that the first is nearer to what all agree on."""
        return pairs_of({method: self._values(method, part) for method in self.methods})

    def tables(self) -> list[Shown]:
        """For people: the distances, and every two methods per size."""
        rows = [
            (
                f"1/{part}", f"{size(self.rows, part):,}",
                *(f"{cell(self.mean(m, part), 2)} ± {cell(self.error(m, part), 2)}" for m in self.methods),
            )
            for part in self.parts
        ]  # fmt: skip
        agreed = f"{len(self.edges_agreed)} of them edges"
        title = (
            f"partial Hamming distance over {counted(self.repeats, 'repetition')} to what all methods agree on: "
            f"{self.pairs_agreed} of {counted(self.pairs_total, 'pair')}, {agreed} (smaller is better)"
        )
        tables = [Shown(title, ("part", "rows", *self.methods), rows)]
        for one, other in combinations(self.methods, 2):
            lines = []
            for own in self.parts:
                (pair,) = pairs_of({name: self.distances[name][own] for name in (one, other)})
                lines.append((f"1/{own}", *pair_table([pair]).rows[0][2:]))
            head = ("part", "difference", "s.e.", "by bars", "by Wilcoxon", "p")
            tables.append(Shown(f"{one} against {other}", head, lines))
        return tables

    def notes(self) -> list[str]:
        """What a reader should know."""
        notes = []
        if not self.edges_agreed:
            notes.append("the methods agree on no edge, only on pairs that are not joined: the sparsest one is nearest")
        if self.stopped:
            done = min(len(own) for by_part in self.distances.values() for own in by_part.values())
            notes.append(f"ended early ({self.stopped}): {done} of {self.repeats} repetitions are complete")
        return notes

    def as_dict(self) -> dict[str, Any]:
        """All numbers by name: the learning curves, and who wins."""
        curves = {
            name: [
                {
                    "part": part,
                    "rows": size(self.rows, part),
                    "mean": self.mean(name, part),
                    "error": self.error(name, part),
                    "distances": [int(own) for own in self.distances[name][part]],
                }
                for part in self.parts
            ]
            for name in self.methods
        }
        return {
            "rows": self.rows,
            "seed": self.seed,
            "repeats": self.repeats,
            "stopped": self.stopped,
            "pairs_agreed": self.pairs_agreed,
            "pairs_total": self.pairs_total,
            "edges_agreed": [list(edge) for edge in self.edges_agreed],
            "edges": self.edges,
            "curves": curves,
            "learned_with": self.choices,
            "pairs": {str(part): [pair.as_dict() for pair in self.pairs(part)] for part in self.parts},
        }

    def plot(self) -> Any:
        """The learning curves with error bars, as a matplotlib Figure (extra `plot`)."""
        figure = new_figure(5.2, 3.6)
        axes = figure.add_subplot()
        sizes = [size(self.rows, part) for part in self.parts]
        for name, marker in zip(self.methods, "osv^Dx+*<>ph" * len(self.methods), strict=False):
            means, errors = ([f(name, part) for part in self.parts] for f in (self.mean, self.error))
            axes.errorbar(
                [*sizes, self.rows], [*means, 0.0], yerr=[*np.nan_to_num(errors), 0.0], marker=marker, capsize=3,
                label=name.replace("$", r"\$"),
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_xticks([*sizes, self.rows], [f"{own:,}" for own in (*sizes, self.rows)], rotation=30)
        axes.minorticks_off()
        axes.set(xlabel="rows", ylabel="partial Hamming distance", ylim=(0, None))
        axes.legend(fontsize=8)
        return figure


def size(rows: int, part: int) -> int:
    """The rows of a subsample."""
    return max(1, rows // part)


def stability(
    data: Data,
    scores: Scores = (),
    *,
    prior: Several = "uniform",
    search: Several = "auto",
    max_parents: int | None = 3,
    constraints: Constraints | None = None,
    candidates: CandidateParents = None,
    networks: Mapping[str, str | PathLike[str]] | None = None,
    parts: Sequence[int] = PARTS,
    repeats: int = 10,
    seed: int = 0,
    n_jobs: int = -1,
    time_limit: float | None = None,
    progress: Progress = False,
) -> Stability:
    """Intersection-validation: which method finds, from fewer rows, the structure that all find from all rows?

    scores, prior, search, max_parents, constraints, candidates: as in log_loss(); every combination is a method.
    networks: methods of other programs: from names to folders with the networks that they learned from the files of
        write_subsamples(), called as there: full.bif, part64-rep1.bif, ...
    parts: 64 stands for subsamples of 1/64 of the rows; repeats: how many of each.
    time_limit: seconds; at the limit, and at Ctrl-C, the repetitions that are done for all methods count.

    >>> found = sp.evaluate.stability(data, ["bdeu", "bic"], parts=(8, 2), repeats=3)
    >>> print(found)
    >>> found.mean("bdeu", 8), found.error("bdeu", 8), found.pairs(8)[0].by_bars
    """
    deadline = Deadline(time_limit)
    data = as_dataset(data)
    check_limits(time_limit, seed)
    parts = _checked_parts(parts, repeats)
    limits = {"max_parents": max_parents, "constraints": constraints, "candidates": candidates}
    given = isinstance(scores, (str, Mapping)) or not isinstance(scores, Sequence) or len(scores) > 0
    ways = methods(data, scores, prior, search, **limits) if given else {}
    outside = {name: _graphs(name, folder, data, parts, repeats) for name, folder in (networks or {}).items()}
    _check_several(ways, outside)
    order = by_content(data)
    tables = [(0, 0), *((p, repeat) for repeat in range(repeats) for p in sorted(parts, reverse=True))]
    groups = side_by_prior(ways.values())
    tasks = [(number, table, group) for number, table in enumerate(tables) for group in groups]

    def work(task: tuple[int, tuple[int, int], tuple[Method, ...]], worker: Worker) -> dict[str, States]:
        number, (own, repeat), group = task
        rows = order if own == 0 else subsample(order, size(data.n_rows, own), seed, repeat)
        drawn, shared = part(data, rows), shared_by(group)
        return {
            method.name: states(method.find(drawn, own_seed(seed, number), worker, shared), data.names)
            for method in group
        }

    done = side_by_side(tasks, work, n_jobs=n_jobs, deadline=deadline, progress=progress, what="tables x scores")
    learned: list[dict[str, States]] = [{} for _ in tables]
    for at, answer in done.answers.items():
        learned[at // len(groups)].update(answer)
    found = {
        table: {**{name: own[name] for name in ways}, **{name: graphs[table] for name, graphs in outside.items()}}
        for table, own in zip(tables, learned, strict=True)
        if len(own) == len(ways)
    }
    complete = [repeat for repeat in range(repeats) if all((p, repeat) in found for p in parts)]
    if (0, 0) not in found or not complete:
        raise nothing_done(done.stopped, "the first repetition")
    return _stability(data, seed, repeats, parts, complete, found, ways, done.stopped)


def _stability(
    data: Dataset,
    seed: int,
    repeats: int,
    parts: tuple[int, ...],
    complete: Sequence[int],
    found: Mapping[tuple[int, int], Mapping[str, States]],
    ways: Mapping[str, Method],
    stopped: str,
) -> Stability:
    full = found[0, 0]
    on = agreed(list(full.values()))
    truth = next(iter(full.values()))
    words = {JOINED: "--", FORWARD: "->", BACKWARD: "<-"}
    edges = tuple(
        (one, words[int(state)], other) if state != BACKWARD else (other, "->", one)
        for (one, other), state, sure in zip(combinations(sorted(data.names), 2), truth, on, strict=True)
        if sure and state != APART
    )
    return Stability(
        data.n_rows,
        seed,
        repeats,
        parts,
        {
            name: {
                p: np.array([float(partial_distance(truth, on, found[p, r][name])) for r in complete]) for p in parts
            }
            for name in full
        },
        int(on.sum()),
        len(on),
        edges,
        {name: int((own != APART).sum()) for name, own in full.items()},
        {name: ways[name].as_dict() if name in ways else {"networks": "from files"} for name in full},
        stopped,
    )


def _checked_parts(parts: Sequence[int], repeats: int) -> tuple[int, ...]:
    if not whole(repeats) or repeats < 1:
        raise ChoiceError(f"repeats must be a whole number from 1 on, not {repeats!r}")
    given = tuple(parts) if isinstance(parts, (list, tuple)) else ()
    if not given or not all(whole(p) and p >= 2 for p in given) or len(set(given)) < len(given):
        raise ChoiceError(
            f"parts are different whole numbers from 2 on, as in (64, 8, 2) for 1/64 to 1/2, not {parts!r}"
        )
    return tuple(int(p) for p in given)


def _check_several(ways: Mapping[str, Method], outside: Mapping[str, Any]) -> None:
    both = ways.keys() & outside.keys()
    if both:
        raise ChoiceError(f"{min(both)!r} names a score and a folder of networks; give the folder another name")
    if len(ways) + len(outside) < 2:
        raise ChoiceError(
            "stability compares methods with each other: name two or more scores, priors, searches or folders of "
            "networks"
        )


# --- networks of other programs ---------------------------------------------------------------------------------------


def table_names(parts: Sequence[int], repeats: int) -> dict[str, tuple[int, int]]:
    """The names of the files of subsamples, with the part and the repetition."""
    return {WHOLE: (0, 0)} | {f"part{own}-rep{repeat + 1}": (own, repeat) for own in parts for repeat in range(repeats)}


def write_subsamples(
    data: Data,
    folder: str | PathLike[str],
    *,
    parts: Sequence[int] = PARTS,
    repeats: int = 10,
    seed: int = 0,
) -> list[str]:
    """Write the table and its subsamples as CSV, so that other programs can learn from what stability() learns from.

    The files are called full.csv, part64-rep1.csv and so on. Their names come back.

    >>> sp.evaluate.write_subsamples(data, ".", parts=(8, 2), repeats=2)
    """
    data = as_dataset(data)
    check_limits(None, seed)
    place = Path(folder)
    if not place.is_dir():
        raise FileFormatError(f"{fspath(folder)}: there is no such folder; make it, or choose another place")
    order, written = by_content(data), []
    for name, (own, repeat) in table_names(_checked_parts(parts, repeats), repeats).items():
        rows = order if own == 0 else subsample(order, size(data.n_rows, own), seed, repeat)
        file = place / f"{name}.csv"
        data.take(rows).write(file)
        written.append(str(file))
    return written


def _graphs(
    name: str, folder: str | PathLike[str], data: Dataset, parts: Sequence[int], repeats: int
) -> dict[tuple[int, int], States]:
    """The graphs in a folder, all of which must be there."""
    endings = {**formats_of("network", "read"), **formats_of("graph", "read")}
    found = {}
    for stem, table in table_names(parts, repeats).items():
        files = [Path(folder) / f"{stem}{ending}{zipped}" for ending in endings for zipped in ("", ".gz")]
        file = next((own for own in files if own.is_file()), None)
        if file is None:
            raise FileFormatError(
                f"{fspath(folder)}: method {name!r} needs a network called {stem} there ({', '.join(endings)}); learn "
                f"it from {stem}.csv of write_subsamples()"
            )
        graph = _class(read_graph(file))
        apart = set(graph.names) ^ set(data.names)
        if apart:
            raise FileFormatError(
                f"{file}: {min(apart)!r} is in the network or in the data only; both need all columns"
            )
        found[table] = states(graph, data.names)
    return found


def _class(given: Network | Found) -> CPDAG:
    if isinstance(given, Network):
        return given.cpdag()
    return given.graph if isinstance(given.graph, CPDAG) else given.graph.cpdag()
