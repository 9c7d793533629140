"""The best tree: Chow-Liu, and tree-augmented naive Bayes.

In:  a Problem; scores come from its parent sets, or all families that a tree can have are scored.
Out: Found. No tree scores more; the bound is over all listed sets, trees or not, as that of every search. When the time
is up, the best tree over the families that have been scored, or the best forest where they allow no tree. Ctrl-C ends
the scoring, before which there is no tree to give back."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.constraints import Allowed
from spinney.deadline import Deadline
from spinney.errors import ChoiceError, LimitError, named, way
from spinney.layout import some_names
from spinney.machine import available_memory
from spinney.progress import reporting
from spinney.search.found import Found, NoNetwork, Problem

Floats = NDArray[np.float64]

FAMILIES_AT_ONCE = 200_000
BYTES_PER_PAIR = 40.0  # a score, its weight, a copy of each on the way
SECONDS_PER_PAIR = 1.5e-7  # for the tree itself
TIE = 1e-12  # of the largest local score: weights that differ by less are equal, so that rounding decides nothing


@dataclass(frozen=True)
class _Shape:
    """The trees that there may be: every node has the stem as parents and one more node, or no more."""

    allowed: Allowed  # narrowed to them
    stem: tuple[str, ...]  # none, or the class
    nodes: tuple[str, ...]  # all columns but the stem

    def may_be_alone(self, child: str) -> bool:
        return len(self.allowed.required[child]) == len(self.stem)

    def extras(self, child: str) -> tuple[str, ...]:
        """Who may be the one more parent."""
        if self.allowed.most[child] == len(self.stem):
            return ()
        names = self.allowed.candidates[child] if self.may_be_alone(child) else self.allowed.required[child]
        return tuple(name for name in names if name not in self.stem)


@dataclass(frozen=True)
class _Scores:
    """alone[i]: node i with the stem; joint[i, j]: with node j too; -inf where that may not be."""

    stem: float  # of the class itself
    alone: Floats
    joint: Floats
    listed: NDArray[np.bool_]  # False: the list has no such set any more, the stem alone stands for it
    bare: NDArray[np.bool_]  # True: there was no time to score the node with the stem, it stands without parents
    late: bool = False  # the time was up before all families were scored

    def weights(self) -> Floats:
        """What the one more parent adds; for a node that must have one, what is lost against its best."""
        best = self.joint.max(axis=1, initial=-math.inf)
        against = np.where(np.isfinite(self.alone), self.alone, np.where(np.isfinite(best), best, 0.0))
        return np.ascontiguousarray((self.joint - against[:, None]).ravel())

    def tie(self) -> float:
        return TIE * max(float(np.abs(s[np.isfinite(s)]).max(initial=0.0)) for s in (self.alone, self.joint))


def run(problem: Problem) -> Found:
    began = time.perf_counter()
    if problem.start is not None:
        raise ChoiceError(
            f"search {problem.method.name} computes the best of all trees and does not use a start",
            way("leave out {}", "start"),
        )
    target, forest = problem.method.values.get("target"), problem.method["forest"]
    uncut = () if problem.job.source is None else problem.job.source.uncut
    if target in uncut:
        return _without_class(problem, began)
    shape = _shape(problem)
    scores = _listed(problem, shape) if problem.sets is not None else _counted(problem, shape)
    roots = np.isfinite(scores.alone).tolist()
    chosen = _core.branching(scores.weights(), roots, forest, scores.tie())
    if shape.nodes and not chosen and (scores.late or uncut):
        chosen = _core.branching(scores.weights(), roots, True, scores.tie())
    if shape.nodes and not chosen:
        raise NoNetwork() if forest else _no_tree(problem)
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(shape.allowed.names, ())
    local = [scores.stem]
    for i, (child, parent) in enumerate(zip(shape.nodes, chosen, strict=True)):
        extra = (shape.nodes[parent],) if parent >= 0 and scores.listed[i, parent] else ()
        parents[child] = () if scores.bare[i] else tuple(sorted((*shape.stem, *extra)))
        local.append(float(scores.joint[i, parent] if parent >= 0 else scores.alone[i]))
    score = math.fsum(local)
    bound, seconds = max(problem.bound(), score), time.perf_counter() - began
    trace, stopped = ((seconds, score, bound),), "time limit" if scores.late else ""
    known = (
        None
        if problem.sets is not None
        else dict(zip((*shape.stem, *shape.nodes), local[not shape.stem :], strict=True))
    )
    return Found(parents, score, bound, str(problem.method), seconds, trace, stopped, local=known)


def _without_class(problem: Problem, began: float) -> Found:
    """There was no time to make the class ready as a parent."""
    parents = dict(problem.allowed.required)
    local = dict(zip(parents, map(float, problem.source.local_scores(list(parents.items()))), strict=True))
    score, seconds = math.fsum(local.values()), time.perf_counter() - began
    return Found(parents, score, math.inf, str(problem.method), seconds, stopped="time limit", local=local)


def _shape(problem: Problem) -> _Shape:
    """The constraints with the shape of a tree added to them, where both can hold."""
    allowed, method = problem.allowed, problem.method
    target, root = method.values.get("target"), method["root"]
    if method.name == "tan" and target is None:
        example = allowed.names[-1]
        raise ChoiceError("search tan needs the class column", f"name it in the search as in 'tan(target={example})'")
    for option, name in (("target", target), ("root", root)):
        if name is not None and name not in allowed.index:
            known = some_names(allowed.names, 8)
            raise ChoiceError(f"{method.name}: {option} is {name!r}, which is no column; the columns are {known}")
    if root is not None and root == target:
        raise ChoiceError(f"tan: {root!r} is the class and cannot be the root; name an attribute")
    stem = () if target is None else (target,)
    candidates, required, most = dict(allowed.candidates), dict(allowed.required), dict(allowed.most)
    for child in allowed.names:
        if child != target:
            required[child] = tuple(sorted({*required[child], *stem}))
        if child in (target, root):
            candidates[child] = stem if child == root else ()
        most[child] = min(most[child], 0 if child == target else len(stem) + 1, len(candidates[child]))
    shape = _Shape(
        Allowed(allowed.names, candidates, required, most), stem, tuple(n for n in allowed.names if n not in stem)
    )
    _check(problem, shape)
    return shape


def _check(problem: Problem, shape: _Shape) -> None:
    given, method = problem.allowed, problem.method
    for child in shape.stem:
        for parent in given.required[child]:
            raise ChoiceError(
                f"edge {parent!r} -> {child!r} is required, but the class of tan has no parents; drop the edge"
            )
    for child in shape.nodes:
        for parent in shape.stem:
            if parent not in given.candidates[child] or given.most[child] == 0:
                raise ChoiceError(
                    f"tan has the class as a parent of every attribute, but the constraints, the candidates or "
                    f"{named('max_parents')} forbid {parent!r} -> {child!r}; allow it, or leave the column out"
                )
        wanted = shape.allowed.required[child]
        if len(wanted) > len(shape.stem) and child == method["root"]:
            raise ChoiceError(
                f"{method.name}: the root is to be {child!r}, but parents of it are required; drop one of the two"
            )
        if len(wanted) > shape.allowed.most[child]:
            raise ChoiceError(
                f"column {child!r} cannot have the parents {', '.join(map(repr, wanted))} in {method.name}, which "
                f"allows {len(shape.stem) + 1} at the most",
                "drop a required edge",
                way("raise {}", "max_parents"),
                "use another search",
            )


def _counted(problem: Problem, shape: _Shape) -> _Scores:
    """From the data: first every node with the stem alone, then with one more parent, some children at a time."""
    nodes, limit = shape.nodes, problem.time_limit
    deadline = Deadline(None if limit is None else max(limit / 2, limit - SECONDS_PER_PAIR * len(nodes) ** 2))
    _check_memory(problem, len(nodes))
    place = {name: i for i, name in enumerate(nodes)}
    extras = [shape.extras(child) for child in nodes]
    with_one = [(*shape.stem, extra) for extra in nodes]
    total, done = sum(map(len, extras)), 0
    with reporting(problem.progress, "scoring families") as report:

        def ask(families: list[tuple[str, tuple[str, ...]]], free: bool = False) -> Floats:
            if not families:
                return np.empty(0)
            told = None if report is None else lambda some, _: report(done + some, total)
            left = None if free else deadline.left()
            return np.asarray(problem.source.local_scores(families, problem.threads, told, left))

        scores = _nothing(math.fsum(ask([(name, ()) for name in shape.stem], free=True)), len(nodes))
        alone = [i for i, child in enumerate(nodes) if shape.may_be_alone(child)]
        scores.alone[alone] = ask([(nodes[i], shape.stem) for i in alone], free=not shape.stem)
        late = np.isnan(scores.alone)
        if late.any():
            scores.bare[late] = True
            scores.alone[late] = ask([(nodes[i], ()) for i in np.flatnonzero(late)], free=True)
        for block in _blocks([len(own) for own in extras]):
            if deadline.over():
                break
            pairs = [(i, place[extra]) for i in block if not scores.bare[i] for extra in extras[i]]
            if not pairs:
                continue
            rows, columns = np.array(pairs, np.intp).T
            values = ask([(nodes[i], with_one[j]) for i, j in pairs])
            scores.joint[rows, columns] = np.where(np.isnan(values), -math.inf, values)
            scores.listed[rows, columns] = True
            done += int(np.isfinite(values).sum())
        _with_required(shape, scores, place, ask)
    return dataclasses.replace(scores, late=bool(late.any()) or (deadline.over() and done < total))


def _with_required(shape: _Shape, scores: _Scores, place: dict[str, int], ask: Callable[..., Floats]) -> None:
    """A node that must have one more parent gets it, however late it is."""
    for i, child in enumerate(shape.nodes):
        if shape.may_be_alone(child) or np.isfinite(scores.joint[i]).any():
            continue
        [extra] = shape.extras(child)
        scores.joint[i, place[extra]] = ask([(child, (*shape.stem, extra))], free=True)[0]
        scores.listed[i, place[extra]] = True


def _blocks(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Neighbours that have about FAMILIES_AT_ONCE families together: lists of all pairs of columns outgrow memory."""
    block: list[int] = []
    for i, size in enumerate(sizes):
        if block and sum(sizes[j] for j in block) + size > FAMILIES_AT_ONCE:
            yield block
            block = []
        block.append(i)
    if block:
        yield block


def _check_memory(problem: Problem, nodes: int) -> None:
    need = BYTES_PER_PAIR * float(nodes) ** 2
    if need > 2**28 and need > 0.8 * (there := available_memory()):
        raise LimitError(
            f"{problem.method.name} over {nodes:,} columns needs {need / 2**30:,.1f} GiB of memory and "
            f"{there / 2**30:,.1f} GiB are free",
            "take fewer columns",
            way("use {}", "search", "hc"),
        )


def _listed(problem: Problem, shape: _Shape) -> _Scores:
    """From parent sets; a set that is not listed is no better than the stem alone, and stands for it."""
    assert problem.sets is not None
    sets, index = problem.sets.within(shape.allowed), shape.allowed.index
    place = np.full(len(index), -1, np.intp)
    place[[index[name] for name in shape.nodes]] = np.arange(len(shape.nodes))
    scores = _nothing(sum(float(sets.arrays[index[name]][0][0]) for name in shape.stem), len(shape.nodes))
    more = len(shape.stem) + 1
    for i, child in enumerate(shape.nodes):
        values, sizes, members = sets.arrays[index[child]]
        if (sizes < more).any():
            scores.alone[i] = values[sizes < more][0]
            scores.joint[i, [place[index[name]] for name in shape.extras(child)]] = scores.alone[i]
        whole = members[np.repeat(sizes == more, sizes)].reshape(-1, more)
        others = place[whole].max(axis=1)  # the stem has no place
        scores.joint[i, others] = values[sizes == more]
        scores.listed[i, others] = True
    return scores


def _nothing(stem: float, nodes: int) -> _Scores:
    pairs = (nodes, nodes)
    bare = np.zeros(nodes, np.bool_)
    return _Scores(stem, np.full(nodes, -math.inf), np.full(pairs, -math.inf), np.zeros(pairs, np.bool_), bare)


def _no_tree(problem: Problem) -> ChoiceError:
    return ChoiceError(
        f"{problem.method.name}: the constraints, max_parents or the listed parent sets leave no tree that holds all "
        f"columns; loosen them, or write {problem.method.name}(forest=True)"
    )
